//! Sessions: the entry, its hold, and the state that a list shows.

use serde::{Deserialize, Serialize};

use super::Time;
use super::id::{SessionId, SessionKey};
use super::queue::BusyMode;

/// One memory of a conversation, as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// This memory's id.
    pub id: SessionId,
    /// The address that it was made under, or that it was resumed under last.
    pub key: SessionKey,
    /// The host application's id of the conversation.
    pub conversation: Option<String>,
    /// The operator's name for it: unique among live sessions.
    pub title: Option<String>,
    /// When it was made.
    pub created_at: Time,
    /// When a person or the agent last acted in it. Looking, loading and restarting never move it.
    pub last_activity_at: Time,
    /// When and why it ended; a live session has none.
    pub ended: Option<Ended>,
    /// The memory before it under the same key.
    pub previous: Option<SessionId>,
    /// How many turns were begun.
    pub turns: u32,
    /// What its turns used.
    pub usage: Usage,
    /// The model of the last turn that named one.
    pub model: Option<String>,
    /// What a plain message does while a turn runs; none: the configured default.
    pub busy_mode: Option<BusyMode>,
    /// Why its queue stands still.
    pub hold: Option<Hold>,
    /// Turns in a row that failed before the agent did anything.
    pub dead_turns: u32,
}

impl Session {
    /// What a person calls it: its title, else the chat's name in its key.
    pub fn name(&self) -> &str {
        self.title.as_deref().unwrap_or_else(|| self.key.parts().chat_id)
    }
}

/// When and why a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// The instant.
    pub at: Time,
    /// The reason.
    pub reason: EndReason,
}

/// Why a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// `/new` or `/reset`.
    SessionReset,
    /// `/resume` of another session under the same key.
    SessionSwitch,
}

/// Tokens and cost, added up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read by the model.
    pub input: u64,
    /// Tokens written by the model.
    pub output: u64,
    /// Input tokens that came from a cache.
    pub cache_read: u64,
    /// Input tokens that were put into a cache.
    pub cache_write: u64,
}

impl Usage {
    /// Input and output together.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// Adds another turn's use.
    pub fn add(&mut self, other: &Usage) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
    }
}

/// A queue that stands still: `/queue` items wait, plain messages run as their own turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// Why.
    pub reason: HoldReason,
    /// Since when.
    pub since: Time,
    /// When the engine tries by itself whether it can go on (`backend_error` only).
    pub probe_at: Option<Time>,
}

/// Why a queue is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HoldReason {
    /// `/stop` while items waited.
    Stopped,
    /// Turns in a row failed before the agent did anything; probed with back-off.
    BackendError,
}

impl HoldReason {
    /// The reason as it is shown, with the way out.
    pub fn words(self) -> &'static str {
        match self {
            Self::Stopped => "held since /stop; /continue releases it",
            Self::BackendError => {
                "held: the agent's backend fails; tried again by itself, /continue tries now"
            }
        }
    }
}

/// What a session is doing, most urgent first; a list sorts by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    /// Something is wrong that a person should look at.
    NeedsYou,
    /// A turn runs.
    Runs,
    /// Items wait behind a hold of this session's queue.
    Held,
    /// Something waits, and no turn runs: the whole engine is on hold.
    Waits,
    /// Nothing runs and nothing waits.
    Idle,
}

impl SessionState {
    /// Every state, in the order of a list.
    pub const ALL: [Self; 5] = [Self::NeedsYou, Self::Runs, Self::Held, Self::Waits, Self::Idle];

    /// Decides the state from the facts that a store keeps beside a session.
    pub fn of(running: usize, waiting: usize, hold: Option<HoldReason>) -> Self {
        match (running, waiting, hold) {
            (0, _, Some(HoldReason::BackendError)) => Self::NeedsYou,
            (0, 1.., Some(HoldReason::Stopped)) => Self::Held,
            (0, 1.., None) => Self::Waits,
            (0, 0, _) => Self::Idle,
            (1.., _, _) => Self::Runs,
        }
    }

    /// The word for filters (`state:runs`) and screens.
    pub fn word(self) -> &'static str {
        match self {
            Self::NeedsYou => "needs you",
            Self::Runs => "runs",
            Self::Held => "held",
            Self::Waits => "waits",
            Self::Idle => "idle",
        }
    }

    /// The place in a list: lower is shown first. Stored beside the session so that lists are read by an index.
    pub fn rank(self) -> u8 {
        self as u8
    }

    /// The state of a stored rank; an unknown one counts as idle.
    pub fn from_rank(rank: u8) -> Self {
        Self::ALL.get(usize::from(rank)).copied().unwrap_or(Self::Idle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_says_what_a_person_should_look_at_first() {
        use HoldReason::{BackendError, Stopped};
        let table = [
            (0, 0, None, SessionState::Idle),
            (1, 0, None, SessionState::Runs),
            (1, 3, Some(Stopped), SessionState::Runs),
            (1, 0, Some(BackendError), SessionState::Runs),
            (0, 0, Some(BackendError), SessionState::NeedsYou),
            (0, 2, Some(BackendError), SessionState::NeedsYou),
            (0, 2, Some(Stopped), SessionState::Held),
            (0, 0, Some(Stopped), SessionState::Idle),
            (0, 1, None, SessionState::Waits),
        ];
        for (running, waiting, hold, state) in table {
            assert_eq!(SessionState::of(running, waiting, hold), state, "{running} {waiting} {hold:?}");
        }
    }

    #[test]
    fn ranks_are_kept_in_files_and_read_back() {
        for (rank, state) in SessionState::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(state.rank()), rank);
            assert_eq!(SessionState::from_rank(state.rank()), state);
        }
        assert_eq!(SessionState::from_rank(99), SessionState::Idle);
    }

    #[test]
    fn use_adds_up_and_never_wraps() {
        let mut sum = Usage { input: u64::MAX, output: 1, cache_read: 2, cache_write: 3 };
        sum.add(&Usage { input: 1, output: 1, cache_read: 1, cache_write: 1 });
        assert_eq!(sum, Usage { input: u64::MAX, output: 2, cache_read: 3, cache_write: 4 });
        assert_eq!(sum.total(), u64::MAX);
    }
}
