//! The alert of a session that does not go on without a person.

use super::{AlertKey, NewAlert, RaisedBy, Subject};
use crate::domain::event::{count, excerpt};
use crate::domain::id::SessionId;
use crate::domain::marker::{Marker, SuspendReason};
use crate::domain::reset::ToldBlock;
use crate::domain::sanitize::one_line;
use crate::domain::session::HoldReason;
use crate::domain::spending::Reached;

/// Why a session needs a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionAlarm {
    /// It was given up.
    Suspended(SuspendReason),
    /// Its agent's backend fails again and again, and holds its queue.
    BackendDead,
    /// What was cut off is too old to go on by itself, and holds what waits behind it.
    LeftUnfinished,
    /// A daily limit is reached.
    Spent(Reached),
}

impl SessionAlarm {
    /// Decides from what a store keeps of a live session whether it needs a person. A probe that runs
    /// changes nothing: only its answer does.
    pub fn of(hold: Option<HoldReason>, spent: Option<Reached>, marker: Option<Marker>) -> Option<Self> {
        match (hold, spent, marker) {
            (_, _, Some(Marker::Suspended(given_up))) => Some(Self::Suspended(given_up.reason)),
            (_, Some(reached), _) => Some(Self::Spent(reached)),
            (Some(HoldReason::BackendError), None, _) => Some(Self::BackendDead),
            (Some(HoldReason::StaleMark), None, _) => Some(Self::LeftUnfinished),
            _ => None,
        }
    }

    /// The alert of a session that is called `name`; `error` is that of its last failed turn.
    pub fn alert(self, session: &SessionId, name: &str, error: Option<&str>) -> NewAlert {
        NewAlert {
            key: AlertKey::session(session),
            subject: Subject::Session(session.clone()),
            words: self.words(&one_line(name), error),
            times: None,
            by: match self {
                Self::Suspended(SuspendReason::Operator) => RaisedBy::Operator,
                Self::Suspended(SuspendReason::StuckLoop)
                | Self::BackendDead
                | Self::LeftUnfinished
                | Self::Spent(_) => RaisedBy::Itself,
            },
        }
    }

    fn words(self, name: &str, error: Option<&str>) -> String {
        match self {
            Self::Suspended(reason) => {
                format!("{name} is suspended: {}; /unsuspend lifts it, a message starts anew", reason.words())
            }
            Self::Spent(reached) => {
                let limit = reached.words();
                format!("{name} is held: {limit} is reached; it goes on the next day, or today by /continue")
            }
            Self::BackendDead => {
                let why =
                    error.map(excerpt).map(|error| format!(": {}", one_line(&error))).unwrap_or_default();
                format!("{name}: the agent's backend fails{why}; the next message tries it, or /continue")
            }
            Self::LeftUnfinished => format!(
                "{name}: what was cut off is too old to go on by itself, and what waits behind it is held; /continue goes on"
            ),
        }
    }
}

/// The alert of a session whose reset has been blocked for too long.
pub fn blocked_reset(session: &SessionId, name: &str, block: &ToldBlock) -> NewAlert {
    let (name, why) = (one_line(name), block.words());
    NewAlert {
        key: AlertKey::blocked_reset(session),
        subject: Subject::Session(session.clone()),
        words: format!(
            "{name}: a reset is due ({}) and not done: {}",
            block.block.reason.as_str(),
            one_line(&why)
        ),
        times: None,
        by: RaisedBy::Itself,
    }
}

/// The alert of items that were left waiting in `from`, for the session that took its place.
pub fn left_waiting(from: &SessionId, follows: &SessionId, name: &str, items: usize) -> NewAlert {
    NewAlert {
        key: AlertKey::left_waiting(from),
        subject: Subject::Session(follows.clone()),
        words: format!("{}: {}", one_line(name), left_waiting_words(from, items)),
        times: None,
        by: RaisedBy::Itself,
    }
}

/// `3 items were left waiting in …`, and what can be done.
pub fn left_waiting_words(from: &SessionId, items: usize) -> String {
    let were = if items == 1 { "was" } else { "were" };
    format!("{} {were} left waiting in {from} (kept, can be moved here)", count(items, "item"))
}

/// The alert of a boot guard that holds sessions after so many unclean starts in a row.
pub fn boot_guard(starts: u32, sessions: usize) -> NewAlert {
    NewAlert {
        key: AlertKey::boot_guard(),
        subject: Subject::BootGuard,
        words: format!(
            "the boot guard holds {} after {starts} unclean starts in a row; /continue in each goes on",
            count(sessions, "session")
        ),
        times: None,
        by: RaisedBy::Itself,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Time;
    use crate::domain::marker::{ResumePending, ResumeReason, Suspended};
    use crate::domain::spending::{Most, Whose};

    fn suspended(reason: SuspendReason) -> Option<Marker> {
        Some(Marker::Suspended(Suspended { reason, since: Time::UNIX_EPOCH }))
    }

    #[test]
    fn a_session_needs_a_person_when_it_was_given_up_or_its_backend_is_dead() {
        use HoldReason::{BackendError, BootGuard, Stopped};
        let since = Time::UNIX_EPOCH;
        let cut = Some(Marker::ResumePending(ResumePending { reason: ResumeReason::RestartTimeout, since }));
        let stuck = suspended(SuspendReason::StuckLoop);
        let given_up = Some(SessionAlarm::Suspended(SuspendReason::StuckLoop));
        let table = [
            (None, None, None),
            (Some(Stopped), None, None),
            (Some(BootGuard), cut, None),
            (None, cut, None),
            (Some(BackendError), None, Some(SessionAlarm::BackendDead)),
            (Some(BackendError), cut, Some(SessionAlarm::BackendDead)),
            (Some(HoldReason::Suspended), stuck, given_up),
            (Some(BackendError), stuck, given_up),
        ];
        for (hold, marker, alarm) in table {
            assert_eq!(SessionAlarm::of(hold, None, marker), alarm, "{hold:?} {marker:?}");
        }
        let reached = Reached { whose: Whose::All, most: Most::Tokens(5) };
        let spent = Some(SessionAlarm::Spent(reached));
        assert_eq!(SessionAlarm::of(Some(BackendError), Some(reached), None), spent);
        assert_eq!(SessionAlarm::of(None, Some(reached), stuck), given_up);
    }

    #[test]
    fn the_words_name_the_session_and_what_helps_in_one_harmless_line() {
        let session = SessionId::new(Time::UNIX_EPOCH, 1);
        let dead = SessionAlarm::BackendDead.alert(&session, "nightly\u{1b}[2J\nreport", Some("no\nroute"));
        assert!(dead.words.ends_with(
            "report: the agent's backend fails: no route; the next message tries it, or /continue"
        ));
        assert!(!dead.words.chars().any(char::is_control), "{}", dead.words);
        assert_eq!(dead.by, RaisedBy::Itself);
        let given_up = SessionAlarm::Suspended(SuspendReason::Operator).alert(&session, "scraper", None);
        assert!(given_up.words.starts_with("scraper is suspended: given up by the operator; "));
        assert_eq!(given_up.by, RaisedBy::Operator);
    }
}
