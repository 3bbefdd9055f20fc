//! What an agent is told of a conversation that it does not remember.

use crate::domain::history::{Asker, Step};

/// The most characters of a recap: enough to go on, little enough for any agent.
const MOST_CHARS: usize = 12_000;
/// The most characters of one step in it.
const MOST_OF_A_STEP: usize = 3_000;

/// What was said before, the newest whole, for a session that begins anew; none if nothing was.
pub(super) fn of_all(history: &[Step], asked_by: Asker) -> Option<String> {
    let mut told = Vec::new();
    let mut chars = 0;
    for step in history.iter().rev() {
        let step = told_step(step);
        chars += step.chars().count();
        if chars > MOST_CHARS && !told.is_empty() {
            break;
        }
        told.push(step);
    }
    let left_out = history.len() - told.len();
    let head = match left_out {
        _ if told.is_empty() => return None,
        0 => "This conversation goes on from an earlier session. What was said in it:".to_owned(),
        _ => format!(
            "This conversation goes on from an earlier session. The end of what was said in it, without the {left_out} entries before:"
        ),
    };
    told.push(head);
    told.reverse();
    told.push(what_follows(asked_by).to_owned());
    Some(told.join("\n\n"))
}

/// How the conversation stands, for a session that was taken up again after its process had ended: an agent
/// may still have a message that was cut off, and answer it with the next one.
pub(super) fn of_the_end(history: &[Step], asked_by: Asker) -> Option<String> {
    let Some(last @ Step::Agent { .. }) = history.last() else { return None };
    let (last, follows) = (told_step(last), what_follows(asked_by));
    Some(format!("This conversation was taken up again. It had come to this:\n\n{last}\n\n{follows}"))
}

/// What the message behind a recap is: a person's is all that is asked, the engine's has the agent go on.
fn what_follows(asked_by: Asker) -> &'static str {
    match asked_by {
        Asker::Person => "What was asked before is settled. Answer only the message that follows.",
        Asker::Engine => "How it goes on, the message that follows says.",
    }
}

fn told_step(step: &Step) -> String {
    match step {
        Step::User { text, .. } => format!("User: {}", shortened(text)),
        Step::Agent { text, .. } => format!("You: {}", shortened(text)),
    }
}

/// Head and tail of a long text.
fn shortened(text: &str) -> String {
    let count = text.chars().count();
    if count <= MOST_OF_A_STEP {
        return text.to_owned();
    }
    let half = MOST_OF_A_STEP / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(count - half).collect();
    format!("{head} […] {tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(pairs: usize, text: &str) -> Vec<Step> {
        let pair = |n: usize| [Step::user(format!("q{n}")), Step::agent(format!("a{n} {text}"))];
        (0..pairs).flat_map(pair).collect()
    }

    #[test]
    fn nothing_is_told_of_nothing() {
        assert_eq!(of_all(&[], Asker::Person), None);
        assert_eq!(of_the_end(&[], Asker::Person), None);
    }

    #[test]
    fn a_short_conversation_is_told_whole_and_a_long_one_from_its_end() {
        let short = of_all(&steps(2, ""), Asker::Person).unwrap();
        assert!(short.contains("User: q0\n\nYou: a0 \n\nUser: q1\n\nYou: a1"), "{short}");
        let long = of_all(&steps(100, &"x".repeat(5_000)), Asker::Person).unwrap();
        let told = ["You: a97", "You: a99", "without the 194 entries before"];
        assert!(told.iter().all(|part| long.contains(part)) && !long.contains("You: a96"));
        assert!(long.chars().count() < MOST_CHARS + 1_000);
    }

    #[test]
    fn how_it_ended_is_told_of_a_session_that_is_taken_up_again() {
        let cut = [Step::user("q"), Step::agent("[stopped by the operator]")];
        let told = of_the_end(&cut, Asker::Person).unwrap();
        assert!(told.contains("You: [stopped by the operator]") && told.contains("is settled"), "{told}");
    }

    #[test]
    fn what_the_engine_has_go_on_is_not_called_settled() {
        let cut = [Step::user("q"), Step::agent("[cut off: the engine died]")];
        for told in [of_all(&cut, Asker::Engine), of_the_end(&cut, Asker::Engine)] {
            let told = told.unwrap();
            assert!(told.contains("the engine died") && !told.contains("settled"), "{told}");
            assert!(told.ends_with("the message that follows says."), "{told}");
        }
    }
}
