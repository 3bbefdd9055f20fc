//! The whole of a start: every session's verdict, what is resumed and in which order.

use std::cmp::Reverse;

use super::{
    After, BootGuard, Facts, Freshness, LastExit, Limits, Start, Verdict, boot_guard, in_row, judge,
};
use crate::domain::Time;
use crate::domain::id::SessionId;

/// What a start does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// What becomes of each session, in the order they were given.
    pub verdicts: Vec<(SessionId, Verdict)>,
    /// The sessions to resume, those that were active last first: their people are the likeliest to
    /// wait. Under a hold of the boot guard nothing of it begins by itself.
    pub to_resume: Vec<SessionId>,
    /// Whether the boot guard holds.
    pub guard: BootGuard,
    /// How many starts are in a row, this one the last of them.
    pub in_row: u32,
    /// This start, for the history.
    pub start: Start,
}

/// Decides what a start at `now` does: crash recovery, the stuck guard, then the boot guard.
///
/// `sessions` holds at least those that are marked, have a turn that was running, or were active
/// lately; `earlier` is the history of starts, newest first.
pub fn plan(sessions: &[Facts], exit: &LastExit, earlier: &[Start], limits: &Limits, now: Time) -> Plan {
    let judged: Vec<(&Facts, Verdict)> =
        sessions.iter().map(|facts| (facts, judge(facts, exit, limits, now))).collect();
    let mut due: Vec<&Facts> = judged
        .iter()
        .filter(|(_, verdict)| resumes_by_itself(verdict, limits, now))
        .map(|(facts, _)| *facts)
        .collect();
    due.sort_by_key(|facts| (Reverse(facts.last_activity_at), &facts.session));
    let start = Start { at: now, after: After::from(exit), to_resume: due.len() };
    Plan {
        guard: boot_guard(&start, earlier, limits),
        in_row: in_row(&start, earlier, limits).0,
        start,
        to_resume: due.into_iter().map(|facts| facts.session.clone()).collect(),
        verdicts: judged.into_iter().map(|(facts, verdict)| (facts.session.clone(), verdict)).collect(),
    }
}

fn resumes_by_itself(verdict: &Verdict, limits: &Limits, now: Time) -> bool {
    matches!(verdict, Verdict::Pending { mark, .. } if Freshness::of(mark, limits.freshness, now) == Freshness::Fresh)
}

#[cfg(test)]
mod tests {
    use super::super::given::{LIMITS, at, session};
    use super::*;
    use crate::domain::id::ChatType;
    use crate::domain::marker::{Marker, ResumePending, ResumeReason};
    use crate::domain::recovery::{Owed, Uncleanness};
    use pretty_assertions::assert_eq;

    const DIED: i64 = 10_000;
    const NOW: i64 = 10_010;

    fn facts(number: u32, owed: Owed, active: i64) -> Facts {
        Facts {
            session: session(number),
            chat_type: ChatType::Dm,
            last_activity_at: at(active),
            owed,
            marker: None,
            cuts: 0,
        }
    }

    fn marked(number: u32, since: i64) -> Facts {
        let mark = ResumePending { reason: ResumeReason::ShutdownTimeout, since: at(since) };
        Facts { marker: Some(Marker::ResumePending(mark)), ..facts(number, Owed::Unanswered, since) }
    }

    fn unclean() -> LastExit {
        LastExit::Unclean { why: Uncleanness::Missing, last_sign_of_life: at(DIED) }
    }

    #[test]
    fn sessions_are_resumed_in_order_of_activity_the_latest_first() {
        let sessions = [
            facts(1, Owed::Running, 9_000),
            facts(2, Owed::Nothing, DIED),
            facts(4, Owed::Running, 9_990),
            facts(3, Owed::Running, 9_990),
        ];
        let plan = plan(&sessions, &unclean(), &[], &LIMITS, at(NOW));
        assert_eq!(plan.to_resume, [session(3), session(4), session(1)]);
        assert_eq!(plan.verdicts.len(), 4);
        assert_eq!(plan.verdicts[1], (session(2), Verdict::OwesNothing));
        assert_eq!(plan.start, Start { at: at(NOW), after: After::UncleanExit, to_resume: 3 });
    }

    #[test]
    fn a_stale_mark_stays_and_is_not_resumed_by_itself() {
        let sessions = [marked(1, NOW - 3600), marked(2, NOW - 3601)];
        let plan = plan(&sessions, &LastExit::Clean { at: at(DIED), cut: Vec::new() }, &[], &LIMITS, at(NOW));
        assert_eq!(plan.to_resume, [session(1)]);
        assert!(plan.verdicts.iter().all(|(_, verdict)| matches!(verdict, Verdict::Pending { .. })));
    }

    #[test]
    fn a_poisoned_session_is_suspended_and_its_neighbours_that_wait_are_not() {
        let mut poisoned = facts(1, Owed::Running, DIED);
        let mut neighbour = facts(2, Owed::Running, DIED);
        for (start, third) in [(1, false), (2, false), (3, true)] {
            let plan = plan(&[poisoned.clone(), neighbour.clone()], &unclean(), &[], &LIMITS, at(NOW));
            let [(_, first), (_, second)] = plan.verdicts[..] else { panic!("two sessions") };
            assert_eq!(matches!(first, Verdict::Suspend { .. }), third, "start {start}: {first:?}");
            let Verdict::Pending { mark, cuts } = second else { panic!("start {start}: {second:?}") };
            assert_eq!(cuts, 1, "start {start}");
            assert!(plan.to_resume.contains(&session(2)));
            // The poisoned session kills the host before its neighbour's turn begins.
            neighbour =
                Facts { marker: Some(Marker::ResumePending(mark)), cuts, owed: Owed::Untouched, ..neighbour };
            if let Verdict::Pending { mark, cuts } = first {
                poisoned = Facts { marker: Some(Marker::ResumePending(mark)), cuts, ..poisoned };
            }
        }
    }

    #[test]
    fn the_boot_guard_comes_after_the_stuck_guard() {
        let earlier: Vec<Start> =
            (1..5).map(|n| Start { at: at(NOW - n * 60), after: After::UncleanExit, to_resume: 1 }).collect();
        let cut = |cuts| [Facts { cuts, ..facts(1, Owed::Running, DIED) }];
        let held = plan(&cut(0), &unclean(), &earlier, &LIMITS, at(NOW));
        assert_eq!(held.guard, BootGuard::Hold { starts: 5, since: at(NOW - 240) });
        assert_eq!(held.to_resume, [session(1)]);
        let suspended = plan(&cut(2), &unclean(), &earlier, &LIMITS, at(NOW));
        assert_eq!(suspended.guard, BootGuard::Open);
        assert!(suspended.to_resume.is_empty());
    }
}
