//! What a run says of itself: that nobody needs to hear of it, or that no agent is needed at all.

/// The line with which a run says that nobody needs to hear of it.
pub const SILENT: &str = "[SILENT]";

/// Whether an answer is not to be delivered: [`SILENT`] is all of it, or its first or last line.
pub fn is_silent(answer: &str) -> bool {
    let mut lines = answer.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.next() == Some(SILENT) || lines.next_back() == Some(SILENT)
}

/// Whether a script says that its agent need not be woken: `{"wakeAgent": false}` is its last line.
pub fn lets_agent_sleep(output: &str) -> bool {
    let last = output.lines().map(str::trim).rfind(|line| !line.is_empty());
    let said = last.and_then(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    said.is_some_and(|said| said.get("wakeAgent") == Some(&serde_json::Value::Bool(false)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silent_is_said_alone_or_in_the_first_or_last_line() {
        for silent in ["[SILENT]", " [SILENT]\n", "[SILENT]\nnothing new", "nothing new\n\n[SILENT]\n\n"] {
            assert!(is_silent(silent), "{silent:?}");
        }
        for told in ["", "news", "a\n[SILENT]\nb", "say [SILENT] if nothing is new", "[silent]"] {
            assert!(!is_silent(told), "{told:?}");
        }
    }

    #[test]
    fn an_agent_sleeps_on_if_the_last_line_of_its_script_says_so() {
        for sleeps in ["{\"wakeAgent\": false}", "checked\n {\"wakeAgent\":false, \"why\":\"x\"} \n\n"] {
            assert!(lets_agent_sleep(sleeps), "{sleeps:?}");
        }
        for wakes in [
            "",
            "{\"wakeAgent\": true}",
            "{\"wakeAgent\": 0}",
            "{\"wakeAgent\": false}\nmore",
            "wakeAgent: false",
            "[{\"wakeAgent\": false}]",
        ] {
            assert!(!lets_agent_sleep(wakes), "{wakes:?}");
        }
    }
}
