//! What the tests of the store begin with.

use std::time::Duration;

use chrono_tz::Tz;
use switchboard::domain::Time;
use switchboard::domain::agent::{AgentName, KnownAgent, Roster};
use switchboard::domain::conversation::key_of;
use switchboard::domain::id::{ItemId, RunId, SessionId, SessionKey, TurnId};
use switchboard::domain::queue::{BusyMode, Destination, Intent, PutBack, Source};
use switchboard::domain::recovery::{FoundReceipt, Limits};
use switchboard::domain::reset::{Notice, ResetMode, ResetPolicy, ResetRule};
use switchboard::domain::spending::Rules;
use switchboard::domain::turn::{Outcome, TurnEnd};
use switchboard::store::{Defaults, NewMessage, NewRun};

/// An instant, so many seconds after the tests' own beginning.
pub(crate) fn at(seconds: i64) -> Time {
    Time::from_timestamp(1_700_000_000 + seconds, 0).unwrap()
}

/// The key of a local session, or of a host's conversation `host-…`.
pub(crate) fn key(name: &str) -> SessionKey {
    match name.strip_prefix("host-") {
        Some(id) => key_of(id, None).unwrap(),
        None => SessionKey::local(name).unwrap(),
    }
}

/// What the configuration says in the tests: a small queue.
pub(crate) const DEFAULTS: Defaults = Defaults { busy_mode: BusyMode::Replace, max_queued: 5 };

/// The limits of recovery in the tests: one resume at a time, so that others wait for it.
pub(crate) const LIMITS: Limits = Limits {
    recent: Duration::from_secs(120),
    max_cuts: 3,
    freshness: Duration::from_secs(3600),
    max_parallel: 1,
    boot_guard_starts: 5,
    boot_guard_gap: Duration::from_secs(300),
};

/// The agents in the tests: the default one takes text while it runs, the other one does not; a platform has that.
pub(crate) fn agents() -> Roster {
    let known = |steerable| KnownAgent { label: "a label".to_owned(), steerable };
    let other: AgentName = "other".parse().unwrap();
    Roster {
        known: [(AgentName::default(), known(true)), (other.clone(), known(false))].into(),
        by_platform: [("telegram".to_owned(), other)].into(),
    }
}

/// A run of the engine that began after a crash.
pub(crate) fn run(number: usize, seconds: i64) -> NewRun {
    NewRun {
        run: RunId(format!("run-{number}")),
        pid: 7,
        version: "0".to_owned(),
        at: at(seconds),
        defaults: DEFAULTS,
        agents: agents(),
        receipt: FoundReceipt::Nothing,
        limits: LIMITS,
        spending: Rules::none(Tz::UTC),
    }
}

/// A plain message; its time also makes the id of its session if there is none.
pub(crate) fn message(to: &str, text: &str, seconds: i64) -> NewMessage {
    NewMessage {
        to: key(to),
        text: text.to_owned(),
        intent: Intent::Plain,
        source: Source::Console,
        fresh: SessionId::new(at(seconds), to.bytes().map(u32::from).sum()),
        at: at(seconds),
        reset: rule(ResetMode::None, 1440),
        notice: Notice::Given,
    }
}

/// A rule in Berlin, with the daily hour 4.
pub(crate) fn rule(mode: ResetMode, idle_minutes: u32) -> ResetRule {
    let policy = ResetPolicy { mode, idle_minutes, at_hour: 4 };
    ResetRule { policy, background_max_age: None, zone: chrono_tz::Europe::Berlin }
}

/// A `/queue` item.
pub(crate) fn queued(to: &str, text: &str, seconds: i64) -> NewMessage {
    NewMessage { intent: Intent::Queue, ..message(to, text, seconds) }
}

/// The end of a turn that said nothing new.
pub(crate) fn end(turn: TurnId, outcome: Outcome, seconds: i64) -> TurnEnd {
    TurnEnd {
        turn,
        outcome,
        tail: Vec::new(),
        written: String::new(),
        context: None,
        model: None,
        steered: Vec::new(),
        did_anything: false,
        handle: None,
        agent_session: None,
        at: at(seconds),
    }
}

pub(crate) fn to_tail(item: ItemId) -> PutBack {
    PutBack { item, to: Destination::Tail }
}
