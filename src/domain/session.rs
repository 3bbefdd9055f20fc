//! Sessions: the entry, its hold, and the state that a list shows.

use serde::{Deserialize, Serialize};

use super::Time;
use super::agent::{AgentName, Roster};
use super::event::{count, short_number};
use super::id::{ChatType, SessionId, SessionKey};
use super::marker::Marker;
use super::queue::BusyMode;
use super::reset::ResetReason;
use super::spending::{Millionths, SpentHold};

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
    /// When this id began, or was taken up again by `/resume`: the daily boundary is counted from here.
    pub began_at: Time,
    /// How it came to be.
    pub beginning: Beginning,
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
    /// How full its model's window was when it was asked last.
    #[serde(default)]
    pub context: Option<ContextUse>,
    /// The agent of its newest turn.
    pub agent: Option<AgentName>,
    /// The agent that works in it from its next turn on (`/agent`); none: the setting's. A reset begins without it.
    pub chosen_agent: Option<AgentName>,
    /// The model of the last turn that named one.
    pub model: Option<String>,
    /// The model that its turns ask for (`/model`); none: the setting's. A reset begins without it.
    pub chosen_model: Option<String>,
    /// What a plain message does while a turn runs; none: the configured default.
    pub busy_mode: Option<BusyMode>,
    /// Why its queue stands still.
    pub hold: Option<Hold>,
    /// The daily limit that it is held by, over whatever else holds it.
    #[serde(default)]
    pub spent: Option<SpentHold>,
    /// Turns in a row that failed before the agent did anything.
    pub dead_turns: u32,
    /// What it carries from one life of the engine to the next.
    pub marker: Option<Marker>,
    /// At how many starts in a row it was found cut off, without a successful answer since.
    pub cuts: u32,
    /// What is known of its agent's handle.
    pub runtime: Runtime,
    /// The session of its agent in which the newest shown turn ran; none where the agent keeps none.
    pub agent_session: Option<AgentSession>,
}

impl Session {
    /// A session in which nothing has happened yet.
    pub fn new(id: SessionId, key: SessionKey, at: Time) -> Self {
        Self {
            id,
            key,
            conversation: None,
            title: None,
            created_at: at,
            began_at: at,
            beginning: Beginning::New,
            last_activity_at: at,
            ended: None,
            previous: None,
            turns: 0,
            usage: Usage::default(),
            context: None,
            agent: None,
            chosen_agent: None,
            model: None,
            chosen_model: None,
            busy_mode: None,
            hold: None,
            spent: None,
            dead_turns: 0,
            marker: None,
            cuts: 0,
            runtime: Runtime::default(),
            agent_session: None,
        }
    }

    /// The agent of its next turn; of a scheduled task, whose record says so, that of its newest one.
    pub fn next_agent(&self, roster: &Roster) -> AgentName {
        let of_job = self.agent.as_ref().filter(|_| self.key.parts().chat_type == ChatType::Job);
        roster.agent_of(&self.key, of_job, self.chosen_agent.as_ref())
    }

    /// What a person calls it: its title, else the chat's name in its key.
    pub fn name(&self) -> &str {
        self.title.as_deref().unwrap_or_else(|| self.key.parts().chat_id)
    }
}

/// How a session came to be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "beginning", rename_all = "snake_case")]
pub enum Beginning {
    /// As the first of its key, or after one that had ended before.
    #[default]
    New,
    /// By `/new` or `/reset` (`is_fresh_reset`): nobody is told that anything expired.
    Fresh,
    /// By a reset policy, or because the one before was given up (`was_auto_reset`).
    AutoReset {
        /// Why (`auto_reset_reason`).
        reason: ResetReason,
        /// Whether the one before had a turn (`reset_had_activity`): if not, no notice is due.
        had_activity: bool,
    },
}

/// What is known of a session's agent handle, and outlives the engine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runtime {
    /// How its last use ended; none before the first.
    pub health: Option<Health>,
    /// How often a failing handle was replaced by a new one.
    pub restart_count: u32,
    /// When a turn last used it.
    pub last_used_at: Option<Time>,
}

impl Runtime {
    /// What is known after a turn that ended at `at`.
    pub fn after(self, used: HandleUse, at: Time) -> Self {
        Self {
            health: Some(used.health),
            restart_count: self.restart_count.saturating_add(used.restarts),
            last_used_at: Some(at),
        }
    }

    /// `healthy, restarted 1 time, last used 14:02`; `clock` shows an instant as a person reads it.
    pub fn words(&self, clock: impl Fn(Time) -> String) -> String {
        let Some(health) = self.health else { return "none yet".to_owned() };
        let restarts = match self.restart_count {
            0 => "never restarted".to_owned(),
            restarts => format!("restarted {}", count(restarts as usize, "time")),
        };
        let used = self.last_used_at.map(|at| format!(", last used {}", clock(at))).unwrap_or_default();
        format!("{}, {restarts}{used}", health.word())
    }
}

/// A session that an agent keeps by itself: where its next handle goes on, after a restart of the engine too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentSession {
    /// The agent that knows it, as its backend tells agents apart.
    pub agent: String,
    /// The agent's own id of it.
    pub id: String,
    /// What it has told of its use.
    #[serde(default)]
    pub told: ToldUse,
}

impl AgentSession {
    /// One of whose use nothing was told.
    pub fn new(agent: impl Into<String>, id: impl Into<String>) -> Self {
        Self { agent: agent.into(), id: id.into(), told: ToldUse::default() }
    }
}

/// What an agent has told of the use of its own session, as it told it last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToldUse {
    /// The numbers.
    pub last: Usage,
    /// Whether it tells the tokens of each turn by themselves. Else they are sums, as far as is known.
    pub by_turn: bool,
}

/// How a turn's handle fared: what it adds to a session's [`Runtime`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandleUse {
    /// How its use ended.
    pub health: Health,
    /// How often during the turn a failing handle was replaced by a new one.
    pub restarts: u32,
}

/// How a handle fares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// Its last turn reached the agent, or a new one stands in its place.
    Healthy,
    /// None could be opened, or it failed and so did the one in its place: the next turn tries again.
    Failed,
}

impl Health {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Failed => "failed",
        }
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read by the model.
    pub input: u64,
    /// Tokens written by the model.
    pub output: u64,
    /// Input tokens that came from a cache.
    pub cache_read: u64,
    /// Input tokens that were put into a cache.
    pub cache_write: u64,
    /// What they cost, as far as that is known.
    #[serde(default)]
    pub cost: Millionths,
}

/// More of anything than a turn can use. What a server tells beyond it counts as this, so that sums over all
/// turns of a day or a session stay numbers that can be kept.
const MOST_OF_A_TURN: u64 = 1 << 40;

impl Usage {
    /// Input and output together.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// The use of one turn, as far as it can be believed.
    pub fn of_a_turn(self) -> Self {
        let Self { input, output, cache_read, cache_write, cost } = self;
        let [input, output, cache_read, cache_write, cost] =
            [input, output, cache_read, cache_write, cost].map(|count| count.min(MOST_OF_A_TURN));
        Self { input, output, cache_read, cache_write, cost }
    }

    /// What came since there was so much.
    pub fn since(&self, before: &Usage) -> Self {
        Self {
            input: self.input.saturating_sub(before.input),
            output: self.output.saturating_sub(before.output),
            cache_read: self.cache_read.saturating_sub(before.cache_read),
            cache_write: self.cache_write.saturating_sub(before.cache_write),
            cost: self.cost.saturating_sub(before.cost),
        }
    }

    /// Adds another turn's use.
    pub fn add(&mut self, other: &Usage) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.cost = self.cost.saturating_add(other.cost);
    }
}

/// How much of what its model takes at once a conversation took when it was sent last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextUse {
    /// The tokens that were sent.
    pub tokens: u64,
    /// How many the model takes; none where nobody says.
    pub window: Option<u64>,
}

impl ContextUse {
    /// What was told, as far as it can be believed.
    pub fn believable(self) -> Self {
        let most = |tokens: u64| tokens.min(MOST_OF_A_TURN);
        Self { tokens: most(self.tokens), window: self.window.map(most) }
    }

    /// The part of the window, in percent; none where that is not known.
    pub fn percent(&self) -> Option<u64> {
        let window = self.window.filter(|window| *window > 0)?;
        u64::try_from((u128::from(self.tokens) * 100 + u128::from(window) / 2) / u128::from(window)).ok()
    }

    /// `6.1k of 128.0k tokens, 5 %`.
    pub fn words(&self) -> String {
        let tokens = short_number(self.tokens);
        match (self.window, self.percent()) {
            (Some(window), Some(percent)) => {
                format!("{tokens} of {} tokens, {percent} %", short_number(window))
            }
            _ => format!("{tokens} tokens; how many the model takes at once is not known"),
        }
    }
}

/// A queue that stands still: `/queue` items wait, plain messages run as their own turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// Why.
    pub reason: HoldReason,
    /// Since when.
    pub since: Time,
    /// When the engine tries by itself whether it can go on (`backend_error`), or lets it go on (`spent`).
    pub probe_at: Option<Time>,
}

impl From<SpentHold> for Hold {
    fn from(spent: SpentHold) -> Self {
        Self { reason: HoldReason::Spent, since: spent.since, probe_at: Some(spent.until) }
    }
}

/// Why a queue is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HoldReason {
    /// Items waited when the session was stopped, lifted from a suspension, or taken up again.
    Stopped,
    /// Turns in a row failed before the agent did anything; probed with back-off.
    BackendError,
    /// The session was given up.
    Suspended,
    /// The boot guard holds automatic resumes, and what waits behind them, for this start.
    BootGuard,
    /// What was cut off is too old to go on by itself, and this waits behind it.
    StaleMark,
    /// A daily limit is reached.
    Spent,
}

impl HoldReason {
    /// Whether the slot's message waits too, and not only the queue behind it: what was accepted before
    /// the session was given up, or held by the boot guard, waits until that is lifted.
    pub fn holds_slot(self) -> bool {
        matches!(self, Self::Suspended | Self::BootGuard | Self::StaleMark | Self::Spent)
    }

    /// The reason as it is shown, with the way out.
    pub fn words(self) -> String {
        let joint = match self {
            Self::Stopped => ";",
            Self::BootGuard | Self::StaleMark => "",
            Self::BackendError | Self::Suspended | Self::Spent => ":",
        };
        format!("held{joint} {}", self.why())
    }

    /// The same where it is said already that it is held.
    pub fn why(self) -> &'static str {
        match self {
            Self::Stopped => "/continue releases it",
            Self::BackendError => "the agent's backend fails; what waits is tried by itself, or by /continue",
            Self::Suspended => "the session is suspended; /unsuspend lifts that",
            Self::BootGuard => "for this start by the boot guard; /continue goes on",
            Self::StaleMark => "behind what was cut off too long ago to go on by itself; /continue goes on",
            Self::Spent => "a daily limit is reached; it goes on the next day, or today by /continue",
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
    /// It was cut off and goes on by itself, or by `/continue`.
    Resumes,
    /// It was given up: the next message starts anew.
    Suspended,
    /// Items wait behind a hold of this session's queue.
    Held,
    /// Something waits, and no turn runs: the whole engine is on hold.
    Waits,
    /// Nothing runs and nothing waits.
    Idle,
}

impl SessionState {
    /// Every state, in the order of a list.
    pub const ALL: [Self; 7] =
        [Self::NeedsYou, Self::Runs, Self::Resumes, Self::Suspended, Self::Held, Self::Waits, Self::Idle];

    /// Decides the state from the facts that a store keeps beside a session. One whose turn runs ranks as
    /// `Runs`, or before it while its agent asks.
    pub fn of(
        running: usize,
        asks: usize,
        waiting: usize,
        hold: Option<HoldReason>,
        marker: Option<Marker>,
    ) -> Self {
        match (running, waiting, hold, marker) {
            (1.., ..) if asks > 0 => Self::NeedsYou,
            (1.., ..) => Self::Runs,
            (0, _, _, Some(Marker::Suspended(_))) => Self::Suspended,
            (0, _, _, Some(Marker::ResumePending(_))) => Self::Resumes,
            (0, _, Some(HoldReason::BackendError), None) => Self::NeedsYou,
            (0, _, Some(HoldReason::Spent), None) => Self::Held,
            (0, 1.., Some(_), None) => Self::Held,
            (0, 1.., None, None) => Self::Waits,
            (0, 0, _, None) => Self::Idle,
        }
    }

    /// Whether a person must act before anything goes on here: one badge counts them.
    pub fn needs_a_person(self) -> bool {
        matches!(self, Self::NeedsYou | Self::Suspended)
    }

    /// The word for filters (`state:runs`) and screens.
    pub fn word(self) -> &'static str {
        match self {
            Self::NeedsYou => "needs you",
            Self::Runs => "runs",
            Self::Resumes => "resumes",
            Self::Suspended => "suspended",
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
    use crate::domain::marker::{ResumePending, ResumeReason, SuspendReason, Suspended};

    #[test]
    fn the_state_says_what_a_person_should_look_at_first() {
        use HoldReason::{BackendError, Stopped};
        let (reason, since) = (ResumeReason::RestartInterrupted, Time::UNIX_EPOCH);
        let cut = Some(Marker::ResumePending(ResumePending { reason, since }));
        let given_up = Some(Marker::Suspended(Suspended { reason: SuspendReason::StuckLoop, since }));
        let table = [
            (0, 0, None, None, SessionState::Idle),
            (1, 0, None, None, SessionState::Runs),
            (1, 3, Some(Stopped), None, SessionState::Runs),
            (1, 0, Some(BackendError), None, SessionState::Runs),
            (0, 0, Some(BackendError), None, SessionState::NeedsYou),
            (0, 2, Some(BackendError), None, SessionState::NeedsYou),
            (0, 2, Some(Stopped), None, SessionState::Held),
            (0, 0, Some(Stopped), None, SessionState::Idle),
            (0, 1, None, None, SessionState::Waits),
            (0, 0, Some(HoldReason::Spent), None, SessionState::Held),
            (0, 1, None, cut, SessionState::Resumes),
            (1, 1, None, cut, SessionState::Runs),
            (0, 2, Some(HoldReason::Suspended), given_up, SessionState::Suspended),
        ];
        for (running, waiting, hold, marker, state) in table {
            let found = SessionState::of(running, 0, waiting, hold, marker);
            assert_eq!(found, state, "{running} {waiting} {hold:?} {marker:?}");
        }
        assert_eq!(SessionState::of(1, 1, 2, None, cut), SessionState::NeedsYou, "its agent asks");
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
        let mut sum = Usage { input: u64::MAX, output: 1, cache_read: 2, cache_write: 3, cost: 4 };
        sum.add(&Usage { input: 1, output: 1, cache_read: 1, cache_write: 1, cost: 1 });
        assert_eq!(sum, Usage { input: u64::MAX, output: 2, cache_read: 3, cache_write: 4, cost: 5 });
        assert_eq!(sum.total(), u64::MAX);
    }
}
