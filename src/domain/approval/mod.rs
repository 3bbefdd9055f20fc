//! Approvals: what an agent may do only after a person has said so.
//!
//! The settings say for each tool whether it asks ([`policy`]). A question is kept from the moment it is
//! asked to the one decision that settles it: a person's answer, its time-out, or the end of its turn.
//! `always` is offered only for a single simple command ([`command`]) and holds for its session.

mod command;
mod policy;
mod programs;

use serde::{Deserialize, Serialize};

use super::Time;
use super::alert::{AlertKey, NewAlert, RaisedBy, Subject};
use super::event::excerpt;
use super::id::{ApprovalId, ChatType, SessionId, TurnId};
use super::queue::Refusal;
use super::sanitize::one_line;

pub use self::command::{NotSimple, begins_with, prefix};
pub use self::policy::{Policy, Verdict, verdict};

/// The most characters that a person can be asked about: all of them are shown, a page after the other.
pub const MOST_CHARS: usize = 50_000;

/// How what an agent is told of a denial begins.
const NOT_DONE: &str = "not done: ";

/// Why a call was denied, where its output says so, by itself or as the error of a tool.
pub fn denial(output: &str) -> Option<&str> {
    output.strip_prefix("error: ").unwrap_or(output).strip_prefix(NOT_DONE)
}

/// What an agent is told of a tool that the settings forbid.
pub fn forbidden(tool: &str, setting: &str) -> String {
    format!("{NOT_DONE}{tool} is forbidden by the operator's settings ({setting})")
}

/// What an agent wants to do, as a person is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// The tool.
    pub tool: String,
    /// What it would do, whole: a command, a file with its text.
    pub what: String,
    /// Where.
    pub folder: String,
    /// Whether the same may be allowed for the rest of the session.
    pub always: Always,
}

/// Whether a person may answer `always`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "always", rename_all = "snake_case")]
pub enum Always {
    /// Every command that begins so would be allowed.
    Offered {
        /// The beginning.
        prefix: String,
    },
    /// They may not.
    NotOffered {
        /// Why.
        why: String,
    },
}

impl Always {
    /// What is offered for a command.
    pub fn of(command: &str) -> Self {
        match prefix(command) {
            Ok(prefix) => Self::Offered { prefix },
            Err(why) => Self::NotOffered { why: why.to_string() },
        }
    }
}

/// A question with what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// Its number.
    pub id: ApprovalId,
    /// The session that waits for it.
    pub session: SessionId,
    /// The turn that waits for it.
    pub turn: TurnId,
    /// The question.
    pub question: Question,
    /// When it was asked.
    pub asked_at: Time,
    /// When it denies itself.
    pub denies_at: Time,
    /// What became of it; none while it waits.
    pub decision: Option<Decision>,
}

/// What became of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum Decision {
    /// A person allowed it, this once.
    Once,
    /// A person allowed it, and all that begins so for the rest of the session.
    Always {
        /// The beginning.
        prefix: String,
    },
    /// A person had allowed all that begins so.
    Before {
        /// The beginning.
        prefix: String,
    },
    /// A person denied it.
    Denied {
        /// Why, in their words.
        why: Option<String>,
    },
    /// Nobody answered in time.
    TimedOut,
    /// Nobody could be asked.
    NobodyToAsk {
        /// Why.
        why: String,
    },
    /// Its turn ended, or its agent does not wait any more.
    Cancelled {
        /// Why.
        why: String,
    },
}

/// What a person allowed for the rest of a session, with `always`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowed {
    /// The session.
    pub session: SessionId,
    /// Every single simple command that begins so.
    pub prefix: String,
    /// Since when.
    pub since: Time,
}

/// A person's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// Allow it, this once.
    Once,
    /// Allow it, and all that begins so for the rest of the session.
    Always,
    /// Deny it.
    Deny {
        /// Why, for the agent.
        why: Option<String>,
    },
}

/// What settles a question that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// A person answered.
    Answered(Answer),
    /// Its time is over.
    TimedOut,
    /// Its agent does not wait any more.
    Withdrawn,
}

impl Decision {
    /// Whether the agent may do it.
    pub fn allows(&self) -> bool {
        matches!(self, Self::Once | Self::Always { .. } | Self::Before { .. })
    }

    /// What was decided, for a person.
    pub fn words(&self) -> String {
        match self {
            Self::Once => "allowed once".to_owned(),
            Self::Always { prefix } => format!("allowed, and always in this session: {prefix}"),
            Self::Before { prefix } => format!("allowed, as always in this session: {prefix}"),
            Self::Denied { why: None } => "denied".to_owned(),
            Self::Denied { why: Some(why) } => format!("denied: {why}"),
            Self::TimedOut => "denied by itself, nobody answered in time".to_owned(),
            Self::NobodyToAsk { why } => format!("denied, nobody is asked: {why}"),
            Self::Cancelled { why } => format!("not done: {why}"),
        }
    }

    /// Why the agent may not do it, for the agent; none if it may.
    pub fn refusal(&self) -> Option<String> {
        let why = match self {
            Self::Once | Self::Always { .. } | Self::Before { .. } => return None,
            Self::Denied { why: None } => "the operator denied it".to_owned(),
            Self::Denied { why: Some(why) } => format!("the operator denied it and says: {why}"),
            Self::TimedOut => "the operator was asked and did not answer in time".to_owned(),
            Self::NobodyToAsk { why } | Self::Cancelled { why } => why.clone(),
        };
        Some(format!("{NOT_DONE}{why}"))
    }
}

impl Question {
    /// What is decided without asking: by what a person has allowed before, or because there is nobody to
    /// ask. None: a person is asked.
    pub fn decided_before(&self, asker: ChatType, allowed: &[String]) -> Option<Decision> {
        let offered = matches!(self.always, Always::Offered { .. });
        let known = allowed.iter().find(|prefix| offered && begins_with(&self.what, prefix));
        if let Some(prefix) = known {
            return Some(Decision::Before { prefix: prefix.clone() });
        }
        let why = match asker {
            ChatType::Job => {
                "a scheduled task never waits for a person; agent.approvals says what needs none".to_owned()
            }
            _ if self.what.chars().count() > MOST_CHARS => format!(
                "it is too long to be shown whole, at most {MOST_CHARS} characters; do it in smaller parts"
            ),
            _ => return None,
        };
        Some(Decision::NobodyToAsk { why })
    }

    /// The question in one harmless line: `terminal: git push`. A line break is no space: it may part commands.
    pub fn line(&self) -> String {
        let what = self.what.trim_end().replace('\n', " ⏎ ");
        format!("{}: {}", one_line(&self.tool), one_line(&excerpt(&what)))
    }
}

/// What answers a question, for a person who is told of it in a line.
pub fn answered_by(question: ApprovalId) -> String {
    format!("/approve {question} or /deny {question}")
}

/// The question that an answer without a number is for: the only one of a session that waits.
///
/// # Errors
///
/// None waits, or several: whoever answers has not seen which would be the next.
pub fn only(asks: &[Approval]) -> Result<ApprovalId, Refusal> {
    match asks {
        [] => Err(Refusal::NothingTo("the agent asks nothing here".to_owned())),
        [asked] => Ok(asked.id),
        [first, ..] => Err(Refusal::NothingTo(format!(
            "{} questions wait here, say which is meant, as {}: {}",
            asks.len(),
            answered_by(first.id),
            lines(asks)
        ))),
    }
}

/// The refusal of a number that is none of a session's questions, of which these wait.
pub fn not_asked_here(number: ApprovalId, asks: &[Approval]) -> Refusal {
    let waits = match asks {
        [] => "the agent asks nothing here".to_owned(),
        [first, ..] => format!(
            "what waits is {}; a reason that begins with a number goes behind the question's, \
             as /deny {} {number} …",
            lines(asks),
            first.id
        ),
    };
    Refusal::NothingTo(format!("question {number} is none of this session; {waits}"))
}

/// The questions that wait in a session, in one harmless line.
pub fn lines(asks: &[Approval]) -> String {
    asks.iter().map(Approval::line).collect::<Vec<_>>().join("; ")
}

/// The refusal to take back what a person has not allowed; `allowed` is what they have.
pub fn not_allowed(prefix: &str, allowed: &[String]) -> Refusal {
    let have = if allowed.is_empty() {
        "nothing is".to_owned()
    } else {
        format!("allowed are: {}", allowed.join(", "))
    };
    Refusal::NothingTo(format!("{prefix:?} is not always allowed in this session; {have}"))
}

impl Approval {
    /// It in one harmless line, with the number that an answer names: `question 12, terminal: git push`.
    pub fn line(&self) -> String {
        format!("question {}, {}", self.id, self.question.line())
    }

    /// The alert of its session, called `name`, that waits for the answer to this first, and to so many in all.
    pub fn alert(&self, name: &str, open: usize) -> NewAlert {
        let first = if open > 1 { format!(" (the first of {open} questions)") } else { String::new() };
        let (line, answers) = (self.question.line(), answered_by(self.id));
        NewAlert {
            key: AlertKey::approval(&self.session),
            subject: Subject::Session(self.session.clone()),
            words: format!("{} asks: {line}{first}; {answers} answers", one_line(name)),
            times: None,
            by: RaisedBy::Itself,
        }
    }

    /// What its alert says where its engine is gone and none runs; its session is called `name`.
    pub fn words_cut(&self, name: &str) -> String {
        let line = self.question.line();
        format!("{} asked: {line}; no engine runs: it was not done, the next start closes it", one_line(name))
    }

    /// Whether it was decided, and with a no.
    pub fn is_denied(&self) -> bool {
        let decision = self.decision.as_ref();
        decision.is_some_and(|decided| !decided.allows() && !matches!(decided, Decision::Cancelled { .. }))
    }

    /// What an ending decides.
    ///
    /// # Errors
    ///
    /// It is decided already, or `always` is not offered.
    pub fn decide(&self, ending: &Ending) -> Result<Decision, Refusal> {
        if let Some(decision) = &self.decision {
            let words = decision.words();
            return Err(Refusal::NothingTo(format!("question {} is settled already: {words}", self.id)));
        }
        Ok(match ending {
            Ending::TimedOut => Decision::TimedOut,
            Ending::Withdrawn => Decision::Cancelled { why: "the agent does not wait any more".to_owned() },
            Ending::Answered(Answer::Once) => Decision::Once,
            Ending::Answered(Answer::Deny { why }) => Decision::Denied { why: why.clone() },
            Ending::Answered(Answer::Always) => match &self.question.always {
                Always::Offered { prefix } => Decision::Always { prefix: prefix.clone() },
                Always::NotOffered { why } => {
                    return Err(Refusal::NothingTo(format!(
                        "always is not offered: {why}; /approve allows it once"
                    )));
                }
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(what: &str) -> Question {
        Question {
            tool: "terminal".to_owned(),
            what: what.to_owned(),
            folder: "/srv/api".to_owned(),
            always: Always::of(what),
        }
    }

    fn approval(what: &str) -> Approval {
        Approval {
            id: ApprovalId(7),
            session: SessionId::new(Time::UNIX_EPOCH, 1),
            turn: TurnId(3),
            question: question(what),
            asked_at: Time::UNIX_EPOCH,
            denies_at: Time::UNIX_EPOCH,
            decision: None,
        }
    }

    #[test]
    fn a_person_is_asked_unless_they_said_always_or_nobody_is_there() {
        let allowed = ["git log".to_owned()];
        let decided = |what: &str, asker| question(what).decided_before(asker, &allowed);
        assert_eq!(decided("git push", ChatType::Dm), None);
        let before = Some(Decision::Before { prefix: "git log".to_owned() });
        assert_eq!(decided("git log --oneline", ChatType::Dm), before);
        assert_eq!(decided("git log --oneline", ChatType::Job), before);
        assert_eq!(decided("git log | sh", ChatType::Dm), None);
        let job = decided("git push", ChatType::Job).unwrap();
        assert!(!job.allows() && job.words().contains("never waits for a person"), "{}", job.words());
        let long = decided(&"x".repeat(MOST_CHARS + 1), ChatType::Dm).unwrap();
        assert!(!long.allows() && long.refusal().unwrap().contains("too long"));
        assert_eq!(decided(&"x".repeat(MOST_CHARS), ChatType::Dm), None);
    }

    #[test]
    fn a_question_is_settled_once() {
        let open = approval("git push");
        let settled = Approval { decision: Some(Decision::TimedOut), ..open.clone() };
        let refused = settled.decide(&Ending::Answered(Answer::Once)).unwrap_err().to_string();
        assert!(refused.contains("question 7 is settled already: denied by itself"), "{refused}");
        let deny = Ending::Answered(Answer::Deny { why: Some("not today".to_owned()) });
        let denied = open.decide(&deny).unwrap();
        assert_eq!(denied.refusal().unwrap(), "not done: the operator denied it and says: not today");
        let why = "the operator denied it and says: not today";
        for told in [denied.refusal().unwrap(), format!("error: not done: {why}")] {
            assert_eq!(denial(&told), Some(why));
        }
        assert_eq!(denial("error: no"), None);
        assert!(denial(&forbidden("terminal", "agent.approvals.terminal")).is_some());
    }

    #[test]
    fn always_is_refused_where_it_is_not_offered() {
        let always = Ending::Answered(Answer::Always);
        let prefix = "git push".to_owned();
        assert_eq!(approval("git push -f").decide(&always).unwrap(), Decision::Always { prefix });
        let refused = approval("a && b").decide(&always).unwrap_err().to_string();
        assert!(refused.contains("more than one command"), "{refused}");
    }

    #[test]
    fn an_answer_without_a_number_is_for_the_only_question_that_waits() {
        let (first, second) = (approval("git push"), Approval { id: ApprovalId(8), ..approval("rm x") });
        assert_eq!(only(std::slice::from_ref(&first)).unwrap(), ApprovalId(7));
        assert!(only(&[]).unwrap_err().to_string().contains("asks nothing here"));
        let both = [first, second];
        let refused = only(&both).unwrap_err().to_string();
        assert_eq!(
            refused,
            "refused: 2 questions wait here, say which is meant, as /approve 7 or /deny 7: \
             question 7, terminal: git push; question 8, terminal: rm x"
        );
        let other = not_asked_here(ApprovalId(3), &both[..1]).to_string();
        assert_eq!(
            other,
            "refused: question 3 is none of this session; what waits is question 7, terminal: git push; \
             a reason that begins with a number goes behind the question's, as /deny 7 3 …"
        );
    }

    #[test]
    fn the_words_of_a_question_are_one_harmless_line() {
        let alert = approval("a\u{1b}[2J\nb").alert("deploy\nbot", 1);
        assert!(alert.words.starts_with("deploy bot asks: terminal: a"), "{}", alert.words);
        assert!(!alert.words.chars().any(char::is_control));
    }
}
