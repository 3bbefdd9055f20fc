//! The settings' word: whether a tool asks.

use super::command::begins_with;

/// Whether a tool may act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// A person is asked each time.
    Ask,
    /// It may.
    Auto,
    /// It may not.
    Deny,
}

impl Policy {
    /// All of them, by the words of the settings.
    pub const WORDS: &[&str] = &["ask", "auto", "deny"];

    /// The policy of a word.
    pub fn of(word: &str) -> Option<Self> {
        [Self::Ask, Self::Auto, Self::Deny].into_iter().find(|policy| policy.word() == word)
    }

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Auto => "auto",
            Self::Deny => "deny",
        }
    }
}

/// What the settings say of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is carried out.
    Run,
    /// A person is asked.
    Ask,
    /// It is not carried out.
    Refuse,
}

/// Judges a call by its tool's policy and, where it is a shell command, by the beginnings that are always
/// allowed. What is denied stays denied.
pub fn verdict(policy: Policy, command: Option<&str>, allowed: &[String]) -> Verdict {
    let listed = command.is_some_and(|command| allowed.iter().any(|prefix| begins_with(command, prefix)));
    match policy {
        Policy::Deny => Verdict::Refuse,
        Policy::Ask if !listed => Verdict::Ask,
        Policy::Ask | Policy::Auto => Verdict::Run,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_spares_a_question_and_lifts_no_ban() {
        let list = ["git status".to_owned()];
        let table = [
            (Policy::Ask, Some("git status -s"), Verdict::Run),
            (Policy::Ask, Some("git status; reboot"), Verdict::Ask),
            (Policy::Ask, Some("git push"), Verdict::Ask),
            (Policy::Ask, None, Verdict::Ask),
            (Policy::Auto, Some("git push"), Verdict::Run),
            (Policy::Deny, Some("git status"), Verdict::Refuse),
        ];
        for (policy, command, expected) in table {
            assert_eq!(verdict(policy, command, &list), expected, "{policy:?} {command:?}");
        }
    }
}
