//! The boot guard: it stops an agent that kills its own host.

use serde::{Deserialize, Serialize};

use super::{LastExit, Limits, age};
use crate::domain::Time;

/// A start of the engine, as its history is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// When.
    pub at: Time,
    /// How the engine before had ended.
    pub after: After,
    /// How many sessions it had to resume.
    pub to_resume: usize,
}

/// What a start came after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum After {
    /// A clean exit, or nothing at all.
    CleanExit,
    /// A crash, a kill or a power loss.
    UncleanExit,
}

impl From<&LastExit> for After {
    fn from(exit: &LastExit) -> Self {
        match exit {
            LastExit::First | LastExit::Clean { .. } => Self::CleanExit,
            LastExit::Unclean { .. } => Self::UncleanExit,
        }
    }
}

/// Whether a start may resume by itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "guard", rename_all = "snake_case")]
pub enum BootGuard {
    /// It may.
    #[default]
    Open,
    /// For this start automatic resume is held, and so are the waiting items of the sessions to resume
    /// and the catch-up of schedules. Everything else works.
    Hold {
        /// How many unclean starts with sessions to resume came in a row, this one among them.
        starts: u32,
        /// When the first of them was.
        since: Time,
    },
}

/// Decides whether this start may resume by itself. `earlier` is the history before it, newest first;
/// no more than [`Limits::boot_guard_starts`] of it are needed to decide.
///
/// Starts are in a row if each was unclean, had sessions to resume, and came less than the gap after
/// the one before. A clock that was set back counts as no gap: to hold is the safe side.
pub fn boot_guard(this: &Start, earlier: &[Start], limits: &Limits) -> BootGuard {
    match in_row(this, earlier, limits) {
        (starts, Some(since)) if starts >= limits.boot_guard_starts => BootGuard::Hold { starts, since },
        _ => BootGuard::Open,
    }
}

/// How many starts are in a row, this one the last of them, and when the first of them was.
pub fn in_row(this: &Start, earlier: &[Start], limits: &Limits) -> (u32, Option<Time>) {
    let mut first: Option<&Start> = None;
    let mut starts: u32 = 0;
    for start in std::iter::once(this).chain(earlier) {
        let close = first.is_none_or(|later| age(start.at, later.at) < limits.boot_guard_gap);
        if start.after == After::CleanExit || start.to_resume == 0 || !close {
            break;
        }
        first = Some(start);
        starts = starts.saturating_add(1);
    }
    (starts, first.map(|first| first.at))
}

impl BootGuard {
    /// The guard in words, with the way out.
    pub fn words(&self) -> String {
        match self {
            Self::Open => "the boot guard is open".to_owned(),
            Self::Hold { starts, .. } => format!(
                "the boot guard holds: {starts} unclean starts in a row with sessions to resume; \
                 nothing is resumed by itself, /continue releases a session"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::given::{LIMITS, at};
    use super::*;
    use proptest::prelude::*;

    fn start(second: i64) -> Start {
        Start { at: at(second), after: After::UncleanExit, to_resume: 1 }
    }

    /// Starts of one row, so far apart, newest first; the newest is at 10,000.
    fn row(apart: i64) -> Vec<Start> {
        (0..5).map(|n| start(10_000 - n * apart)).collect()
    }

    fn guard(starts: &[Start]) -> BootGuard {
        boot_guard(&starts[0], &starts[1..], &LIMITS)
    }

    #[test]
    fn the_5th_unclean_start_in_a_row_with_sessions_to_resume_holds() {
        let starts = row(60);
        assert_eq!(guard(&starts), BootGuard::Hold { starts: 5, since: at(9_760) });
        assert_eq!(guard(&starts[..4]), BootGuard::Open);
        assert_eq!(guard(&starts[1..]), BootGuard::Open);
    }

    #[test]
    fn each_must_come_less_than_5_minutes_after_the_one_before() {
        assert!(matches!(guard(&row(299)), BootGuard::Hold { .. }));
        assert_eq!(guard(&row(300)), BootGuard::Open);
        let mut one_late = row(60);
        one_late[4].at = one_late[3].at - chrono::TimeDelta::seconds(300);
        assert_eq!(guard(&one_late), BootGuard::Open);
    }

    #[test]
    fn one_clean_start_or_one_with_nothing_to_resume_ends_the_row() {
        for n in 0..5 {
            let mut clean = row(60);
            clean[n].after = After::CleanExit;
            assert_eq!(guard(&clean), BootGuard::Open, "{n}");
            let mut idle = row(60);
            idle[n].to_resume = 0;
            assert_eq!(guard(&idle), BootGuard::Open, "{n}");
        }
    }

    #[test]
    fn it_goes_on_holding_while_the_row_goes_on() {
        let mut starts = vec![start(10_060)];
        starts.extend(row(60));
        assert_eq!(guard(&starts), BootGuard::Hold { starts: 6, since: at(9_760) });
    }

    #[test]
    fn a_clock_that_was_set_back_does_not_open_it() {
        assert!(matches!(guard(&row(-86_400)), BootGuard::Hold { .. }));
    }

    #[test]
    fn number_and_gap_are_configurable() {
        let limits =
            Limits { boot_guard_starts: 2, boot_guard_gap: std::time::Duration::from_secs(60), ..LIMITS };
        let pair = |apart: i64| boot_guard(&start(1_000), &[start(1_000 - apart)], &limits);
        assert_eq!(pair(59), BootGuard::Hold { starts: 2, since: at(941) });
        assert_eq!(pair(60), BootGuard::Open);
    }

    #[test]
    fn a_first_start_and_one_after_a_clean_exit_are_clean() {
        let unclean = LastExit::Unclean {
            why: crate::domain::recovery::Uncleanness::Missing,
            last_sign_of_life: at(0),
        };
        assert_eq!(After::from(&LastExit::First), After::CleanExit);
        assert_eq!(After::from(&LastExit::Clean { at: at(0), cut: Vec::new() }), After::CleanExit);
        assert_eq!(After::from(&unclean), After::UncleanExit);
    }

    proptest! {
        #[test]
        fn only_the_last_starts_that_the_limit_needs_are_looked_at(
            history in prop::collection::vec((0_i64..600, any::<bool>(), 0_usize..3), 1..12),
        ) {
            let mut clock = 100_000;
            let starts: Vec<Start> = history
                .into_iter()
                .map(|(apart, clean, to_resume)| {
                    clock -= apart;
                    let after = if clean { After::CleanExit } else { After::UncleanExit };
                    Start { at: at(clock), after, to_resume }
                })
                .collect();
            let fifth = starts.len() >= 5
                && starts[..5].iter().all(|s| s.after == After::UncleanExit && s.to_resume > 0)
                && starts[..5].windows(2).all(|pair| (pair[0].at - pair[1].at).num_seconds() < 300);
            prop_assert_eq!(matches!(guard(&starts), BootGuard::Hold { .. }), fifth);
            let needed = &starts[..starts.len().min(6)];
            prop_assert_eq!(matches!(guard(needed), BootGuard::Hold { .. }), fifth);
        }
    }
}
