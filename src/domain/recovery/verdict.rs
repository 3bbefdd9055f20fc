//! What a start decides about one session: crash recovery and the stuck guard.
//!
//! # What counts as a cut
//!
//! *A start counts for a session if it finds unfinished work there that the engine before had taken up.*
//!
//! - A turn that was running when the engine ended counts, whatever started it and however old it is,
//!   also where the receipt says that the exit was clean.
//! - A session that was merely active in the last two minutes and whose newest turn is answered was
//!   not cut off: it owes nothing, gets no turn and no count, and stays as it is.
//! - So does one whose newest turn a person ended, or told to end (`/stop`, a newer message), before the
//!   engine died: to go on with that work would be against their word.
//! - So does one without a mark whose newest turn failed: that turn ended, and was told, while the engine
//!   lived. `/retry` runs it again, a start does not.
//! - A recently active session whose newest turn lost its agent under the dead engine is marked and
//!   counts: what took the engine may have taken the agent a moment before. Where that turn was an earlier
//!   engine's and no mark stands, nothing was cut off: what was written since waits in the queue.
//! - A session that was marked before counts again if the engine before began a turn of it, also where
//!   that engine stopped in order (a drain that ended, a resume that failed). If it began none (it died
//!   with the session still behind others, or the boot guard held it), the count stays: one poisoned
//!   session must not get its neighbours suspended.
//!
//! Only a successful answer, or `/unsuspend`, sets the count to 0; a start that finds nothing owed
//! leaves it.
//!
//! # A mark's time
//!
//! A mark that exists keeps its reason. It keeps its time too, so that restarts don't keep a stale mark
//! fresh, except where a turn was cut again, or the long turn of a resumed session could not be resumed:
//! then it dates from this start, and from the stop where a drain cut it.

use serde::{Deserialize, Serialize};

use super::{LastExit, Limits, age};
use crate::domain::Time;
use crate::domain::id::{ChatType, SessionId};
use crate::domain::marker::{Clearing, Marker, ResumePending, ResumeReason, SuspendReason, Suspended};
use crate::domain::turn::{StopCause, TurnState};

/// A session as a start finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// Which.
    pub session: SessionId,
    /// What kind of place it is held in; the sessions of jobs are never resumed.
    pub chat_type: ChatType,
    /// When a person or the agent last acted in it.
    pub last_activity_at: Time,
    /// What it owes.
    pub owed: Owed,
    /// Its marker.
    pub marker: Option<Marker>,
    /// At how many starts in a row it was found cut off, with no successful answer since.
    pub cuts: u32,
}

/// What a session owes since the engine before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owed {
    /// A turn was running when the engine ended.
    Running,
    /// The newest turn was cut when the drain of the engine before ended.
    Drained,
    /// The newest turn lost its agent under the engine before.
    Unanswered,
    /// The newest turn failed under the engine before, which told so: only to a mark it is still owed.
    Failed,
    /// The newest turn has no answer, and the engine before began none here.
    Untouched,
    /// Nothing is owed.
    Nothing,
}

/// The newest turn of a session, before this start ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewestTurn {
    /// How it stands.
    pub state: TurnState,
    /// What cut it, or told it to stop while it still runs.
    pub cut_by: Option<StopCause>,
    /// When it began.
    pub began_at: Time,
}

impl Owed {
    /// Decides what is owed for the newest turn; the engine before began at `engine_began`.
    pub fn of(newest: Option<&NewestTurn>, engine_began: Time) -> Self {
        let Some(turn) = newest else { return Self::Nothing };
        let by_a_person =
            matches!(turn.cut_by, Some(StopCause::Operator | StopCause::NewMessage | StopCause::Reset));
        match turn.state {
            _ if by_a_person => Self::Nothing,
            TurnState::Done => Self::Nothing,
            TurnState::Running => Self::Running,
            TurnState::Failed | TurnState::Interrupted if turn.began_at < engine_began => Self::Untouched,
            TurnState::Interrupted if turn.cut_by == Some(StopCause::Shutdown) => Self::Drained,
            TurnState::Interrupted => Self::Unanswered,
            TurnState::Failed => Self::Failed,
        }
    }
}

/// What becomes of a session at a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing.
    Leave {
        /// Why.
        why: LeftAlone,
    },
    /// It owes nothing: it needs no mark, and one that it carries is cleared.
    OwesNothing,
    /// It carries this mark, and this count.
    Pending {
        /// The mark.
        mark: ResumePending,
        /// At how many starts in a row it was found cut off.
        cuts: u32,
    },
    /// It is given up, and its queue is held.
    Suspend {
        /// Since when and why.
        suspended: Suspended,
        /// At how many starts in a row it was found cut off.
        cuts: u32,
    },
}

/// Why a start leaves a session alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftAlone {
    /// Nothing was cut off, and it was not active lately.
    NotConcerned,
    /// It is suspended, which wins.
    Suspended,
    /// It is a job's: its execution ends as interrupted and is never run again.
    Job,
}

/// Decides what becomes of a session at a start.
pub fn judge(facts: &Facts, exit: &LastExit, limits: &Limits, now: Time) -> Verdict {
    let mark = match facts.marker {
        Some(Marker::Suspended(_)) => return Verdict::Leave { why: LeftAlone::Suspended },
        Some(Marker::ResumePending(mark)) => Some(mark),
        None => None,
    };
    if facts.chat_type == ChatType::Job {
        return Verdict::Leave { why: LeftAlone::Job };
    }
    if mark.is_none() && !concerned(facts, exit, limits) {
        return Verdict::Leave { why: LeftAlone::NotConcerned };
    }
    let cuts = match (facts.owed, mark) {
        (Owed::Nothing, _) | (Owed::Failed, None) => return Verdict::OwesNothing,
        (Owed::Untouched, _) => facts.cuts,
        (Owed::Running | Owed::Drained | Owed::Unanswered | Owed::Failed, _) => facts.cuts.saturating_add(1),
    };
    if facts.owed != Owed::Untouched && cuts >= limits.max_cuts {
        let suspended = Suspended { reason: SuspendReason::StuckLoop, since: now };
        return Verdict::Suspend { suspended, cuts };
    }
    Verdict::Pending { mark: marked(mark, facts.owed, exit, now), cuts }
}

/// Whether a session without a mark was cut off, or was active when the engine died.
fn concerned(facts: &Facts, exit: &LastExit, limits: &Limits) -> bool {
    match (facts.owed, exit) {
        (Owed::Running, _) => true,
        (Owed::Untouched, _) => false,
        (_, LastExit::Unclean { last_sign_of_life, .. }) => {
            age(facts.last_activity_at, *last_sign_of_life) <= limits.recent
        }
        (_, LastExit::First | LastExit::Clean { .. }) => false,
    }
}

fn marked(earlier: Option<ResumePending>, owed: Owed, exit: &LastExit, now: Time) -> ResumePending {
    match (earlier, owed) {
        (Some(mark), Owed::Running) => ResumePending { since: now, ..mark },
        (Some(mark), Owed::Drained) => {
            let since = exit.at().map_or(mark.since, |stopped| stopped.max(mark.since));
            ResumePending { since, ..mark }
        }
        (Some(mark), _) => mark,
        (None, _) => ResumePending { reason: ResumeReason::RestartInterrupted, since: now },
    }
}

/// Whether one more cut would suspend a session that was cut off `cuts` times: a restart warns of it.
pub fn next_cut_suspends(cuts: u32, limits: &Limits) -> bool {
    cuts.saturating_add(1) >= limits.max_cuts
}

impl Verdict {
    /// The verdict in words, with the attempts of so many.
    pub fn words(&self, limits: &Limits) -> String {
        match *self {
            Self::Leave { why } => why.words().to_owned(),
            Self::OwesNothing => Clearing::NothingOwed.words().to_owned(),
            Self::Pending { mark, cuts } => Marker::ResumePending(mark).words(cuts, limits.max_cuts),
            Self::Suspend { suspended, cuts } => Marker::Suspended(suspended).words(cuts, limits.max_cuts),
        }
    }
}

impl LeftAlone {
    /// The reason in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::NotConcerned => "not concerned: nothing was cut off here",
            Self::Suspended => "suspended already",
            Self::Job => "a job's session: its execution ends as interrupted and is not run again",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::given::{LIMITS, at, session};
    use super::*;
    use crate::domain::recovery::Uncleanness;
    use proptest::prelude::*;

    const DIED: i64 = 10_000;
    const NOW: i64 = 10_010;

    fn facts() -> Facts {
        Facts {
            session: session(1),
            chat_type: ChatType::Dm,
            last_activity_at: at(DIED - 30),
            owed: Owed::Nothing,
            marker: None,
            cuts: 0,
        }
    }

    fn unclean() -> LastExit {
        LastExit::Unclean { why: Uncleanness::Missing, last_sign_of_life: at(DIED) }
    }

    fn clean() -> LastExit {
        LastExit::Clean { at: at(DIED), cut: Vec::new() }
    }

    fn judged(facts: &Facts, exit: &LastExit) -> Verdict {
        judge(facts, exit, &LIMITS, at(NOW))
    }

    fn mark(reason: ResumeReason, since: i64) -> ResumePending {
        ResumePending { reason, since: at(since) }
    }

    fn pending(reason: ResumeReason, since: i64, cuts: u32) -> Verdict {
        Verdict::Pending { mark: mark(reason, since), cuts }
    }

    fn fresh_mark(cuts: u32) -> Verdict {
        pending(ResumeReason::RestartInterrupted, NOW, cuts)
    }

    fn stuck(cuts: u32) -> Verdict {
        Verdict::Suspend { suspended: Suspended { reason: SuspendReason::StuckLoop, since: at(NOW) }, cuts }
    }

    const NOT_CONCERNED: Verdict = Verdict::Leave { why: LeftAlone::NotConcerned };

    #[test]
    fn after_a_crash_the_idle_session_owes_nothing_and_the_busy_one_is_marked() {
        assert_eq!(judged(&facts(), &unclean()), Verdict::OwesNothing);
        assert_eq!(judged(&Facts { owed: Owed::Running, ..facts() }, &unclean()), fresh_mark(1));
    }

    #[test]
    fn the_window_is_counted_back_from_the_last_sign_of_life_of_the_dead_engine() {
        let cut = |ago| Facts { owed: Owed::Unanswered, last_activity_at: at(DIED - ago), ..facts() };
        assert_eq!(judged(&cut(120), &unclean()), fresh_mark(1));
        assert_eq!(judged(&cut(121), &unclean()), NOT_CONCERNED);
        assert_eq!(judged(&cut(-9), &unclean()), fresh_mark(1));
        let much_later = judge(&cut(120), &unclean(), &LIMITS, at(DIED + 86_400));
        assert_eq!(much_later, pending(ResumeReason::RestartInterrupted, DIED + 86_400, 1));
    }

    #[test]
    fn an_unfinished_turn_is_marked_however_old() {
        let old = Facts { owed: Owed::Running, last_activity_at: at(0), ..facts() };
        assert_eq!(judged(&old, &unclean()), fresh_mark(1));
        assert_eq!(judged(&old, &clean()), fresh_mark(1));
    }

    #[test]
    fn after_a_clean_exit_only_marked_sessions_are_looked_at() {
        for owed in [Owed::Unanswered, Owed::Failed, Owed::Untouched, Owed::Nothing] {
            assert_eq!(judged(&Facts { owed, ..facts() }, &clean()), NOT_CONCERNED, "{owed:?}");
            assert_eq!(judged(&Facts { owed, ..facts() }, &LastExit::First), NOT_CONCERNED, "{owed:?}");
        }
        let cut = Facts {
            owed: Owed::Unanswered,
            marker: Some(Marker::ResumePending(mark(ResumeReason::ShutdownTimeout, 9_000))),
            ..facts()
        };
        assert_eq!(judged(&cut, &clean()), pending(ResumeReason::ShutdownTimeout, 9_000, 1));
    }

    #[test]
    fn a_mark_that_exists_keeps_its_reason_and_a_turn_that_was_cut_again_renews_its_time() {
        let marked = |owed| Facts {
            owed,
            marker: Some(Marker::ResumePending(mark(ResumeReason::RestartTimeout, 9_000))),
            cuts: 1,
            ..facts()
        };
        assert_eq!(judged(&marked(Owed::Running), &unclean()), pending(ResumeReason::RestartTimeout, NOW, 2));
        let drained = judged(&marked(Owed::Drained), &clean());
        assert_eq!(drained, pending(ResumeReason::RestartTimeout, DIED, 2), "by the stop's time");
        for owed in [Owed::Unanswered, Owed::Failed] {
            let kept = pending(ResumeReason::RestartTimeout, 9_000, 2);
            assert_eq!(judged(&marked(owed), &unclean()), kept, "{owed:?}");
        }
    }

    #[test]
    fn a_start_that_did_not_get_to_a_marked_session_leaves_its_count() {
        for cuts in 0..5 {
            let waiting = Facts {
                owed: Owed::Untouched,
                marker: Some(Marker::ResumePending(mark(ResumeReason::RestartInterrupted, 9_000))),
                cuts,
                ..facts()
            };
            let kept = pending(ResumeReason::RestartInterrupted, 9_000, cuts);
            assert_eq!(judged(&waiting, &unclean()), kept);
            assert_eq!(judged(&waiting, &clean()), kept);
        }
    }

    #[test]
    fn a_session_whose_last_turn_only_failed_was_not_cut_off() {
        for cuts in 0..3 {
            let failed = Facts { owed: Owed::Failed, cuts, ..facts() };
            assert_eq!(judged(&failed, &unclean()), Verdict::OwesNothing);
        }
    }

    #[test]
    fn a_turn_that_failed_under_an_earlier_engine_and_left_no_mark_is_not_taken_up_again() {
        let old = Facts { owed: Owed::Untouched, cuts: 2, ..facts() };
        assert_eq!(judged(&old, &unclean()), NOT_CONCERNED);
        assert_eq!(judged(&old, &clean()), NOT_CONCERNED);
    }

    #[test]
    fn a_mark_on_a_session_that_owes_nothing_is_cleared_after_any_exit() {
        let answered = Facts {
            last_activity_at: at(0),
            marker: Some(Marker::ResumePending(mark(ResumeReason::ShutdownTimeout, 9_000))),
            cuts: 2,
            ..facts()
        };
        assert_eq!(judged(&answered, &unclean()), Verdict::OwesNothing);
        assert_eq!(judged(&answered, &clean()), Verdict::OwesNothing);
    }

    #[test]
    fn starts_1_and_2_resume_and_the_3rd_suspends() {
        let cut = |cuts| Facts { owed: Owed::Running, cuts, ..facts() };
        assert_eq!(judged(&cut(0), &unclean()), fresh_mark(1));
        assert_eq!(judged(&cut(1), &unclean()), fresh_mark(2));
        assert_eq!(judged(&cut(2), &unclean()), stuck(3));
        assert_eq!(judged(&cut(7), &unclean()), stuck(8));
        let warned: Vec<bool> = (0..4).map(|cuts| next_cut_suspends(cuts, &LIMITS)).collect();
        assert_eq!(warned, [false, false, true, true]);
    }

    #[test]
    fn the_limit_of_cuts_is_configurable() {
        let cut = Facts { owed: Owed::Running, ..facts() };
        let once = Limits { max_cuts: 1, ..LIMITS };
        assert_eq!(judge(&cut, &unclean(), &once, at(NOW)), stuck(1));
        assert!(next_cut_suspends(0, &once));
    }

    #[test]
    fn suspended_sessions_are_skipped() {
        for reason in SuspendReason::ALL {
            for owed in
                [Owed::Running, Owed::Drained, Owed::Unanswered, Owed::Failed, Owed::Untouched, Owed::Nothing]
            {
                let suspended = Some(Marker::Suspended(Suspended { reason, since: at(1) }));
                let facts = Facts { owed, marker: suspended, cuts: 2, ..facts() };
                assert_eq!(judged(&facts, &unclean()), Verdict::Leave { why: LeftAlone::Suspended });
            }
        }
    }

    #[test]
    fn sessions_of_jobs_are_not_marked() {
        let job = Facts { chat_type: ChatType::Job, owed: Owed::Running, cuts: 2, ..facts() };
        assert_eq!(judged(&job, &unclean()), Verdict::Leave { why: LeftAlone::Job });
        for chat_type in [ChatType::Group, ChatType::Thread] {
            let other = Facts { chat_type, owed: Owed::Running, ..facts() };
            assert_eq!(judged(&other, &unclean()), fresh_mark(1));
        }
    }

    #[test]
    fn what_is_owed_is_read_from_the_newest_turn() {
        use StopCause::{Crash, HandleLost, NewMessage, Operator, Reset, Shutdown};
        use TurnState::{Done, Failed, Interrupted, Running};
        let table = [
            (Running, None, Owed::Running, Owed::Running),
            (Running, Some(Shutdown), Owed::Running, Owed::Running),
            (Running, Some(Operator), Owed::Nothing, Owed::Nothing),
            (Running, Some(NewMessage), Owed::Nothing, Owed::Nothing),
            (Done, None, Owed::Nothing, Owed::Nothing),
            (Interrupted, Some(Operator), Owed::Nothing, Owed::Nothing),
            (Interrupted, Some(NewMessage), Owed::Nothing, Owed::Nothing),
            (Interrupted, Some(Reset), Owed::Nothing, Owed::Nothing),
            (Interrupted, Some(Shutdown), Owed::Drained, Owed::Untouched),
            (Interrupted, Some(Crash), Owed::Unanswered, Owed::Untouched),
            (Interrupted, Some(HandleLost), Owed::Unanswered, Owed::Untouched),
            (Failed, None, Owed::Failed, Owed::Untouched),
        ];
        for (state, cut_by, lately, earlier) in table {
            let newest = |began| NewestTurn { state, cut_by, began_at: at(began) };
            assert_eq!(Owed::of(Some(&newest(50)), at(50)), lately, "{state:?} {cut_by:?}");
            assert_eq!(Owed::of(Some(&newest(49)), at(50)), earlier, "{state:?} {cut_by:?}");
        }
        assert_eq!(Owed::of(None, at(50)), Owed::Nothing);
    }

    #[test]
    fn a_verdict_is_told_with_reason_and_attempts() {
        assert_eq!(
            fresh_mark(2).words(&LIMITS),
            "resume pending: cut off when the engine died, attempts 2/3"
        );
        assert_eq!(
            Verdict::OwesNothing.words(&LIMITS),
            "nothing is owed: the last turn was answered, failed, or was ended by a person"
        );
        assert_eq!(
            serde_json::to_string(&stuck(3)).unwrap(),
            r#"{"verdict":"suspend","suspended":{"reason":"stuck_loop","since":"1970-01-01T02:46:50Z"},"cuts":3}"#
        );
    }

    /// What happens to a session between two starts of the engine.
    #[derive(Debug, Clone, Copy)]
    enum Life {
        /// The engine dies before it comes to this session.
        NotReached,
        /// It is killed in the middle of a turn.
        KilledInTurn,
        /// A turn fails, then the engine is killed.
        Fails,
        /// The drain cuts a turn.
        DrainCuts,
        /// A turn is answered, then the engine is killed.
        Answers,
        /// A turn is answered, and the next one is killed.
        AnswersThenKilled,
        /// The operator suspends the session.
        GivenUp,
    }

    fn lives() -> impl Strategy<Value = Vec<Life>> {
        let life = prop_oneof![
            2 => Just(Life::NotReached),
            4 => Just(Life::KilledInTurn),
            2 => Just(Life::Fails),
            2 => Just(Life::DrainCuts),
            1 => Just(Life::Answers),
            1 => Just(Life::AnswersThenKilled),
            1 => Just(Life::GivenUp),
        ];
        prop::collection::vec(life, 1..30)
    }

    /// A session with the rows that a store would keep, and the engine's clock.
    struct World {
        facts: Facts,
        newest: Option<NewestTurn>,
        clock: i64,
    }

    impl World {
        fn turn(&mut self, state: TurnState, cut_by: Option<StopCause>) {
            self.newest = Some(NewestTurn { state, cut_by, began_at: at(self.clock + 1) });
            self.facts.last_activity_at = at(self.clock + 2);
        }

        fn answer(&mut self) {
            self.turn(TurnState::Done, None);
            self.facts.cuts = 0;
            self.facts.marker = self.facts.marker.and_then(|marker| marker.after(Clearing::Answered));
        }

        /// Lives one life of the engine and starts the next one.
        fn live(&mut self, life: Life) -> Verdict {
            let began = self.clock;
            let mut exit = LastExit::Unclean { why: Uncleanness::Missing, last_sign_of_life: at(began + 3) };
            match life {
                Life::NotReached => {}
                Life::KilledInTurn => self.turn(TurnState::Running, None),
                Life::Fails => self.turn(TurnState::Failed, None),
                Life::Answers => self.answer(),
                Life::AnswersThenKilled => {
                    self.answer();
                    self.turn(TurnState::Running, None);
                }
                Life::DrainCuts => {
                    self.turn(TurnState::Interrupted, Some(StopCause::Shutdown));
                    let reason = ResumeReason::ShutdownTimeout;
                    self.facts.marker = Some(Marker::for_resume(self.facts.marker, reason, at(began + 2)));
                    exit = LastExit::Clean { at: at(began + 3), cut: Vec::new() };
                }
                Life::GivenUp => {
                    let reason = SuspendReason::Operator;
                    let marker = Marker::for_suspension(self.facts.marker, reason, at(began + 1));
                    self.facts.marker = Some(marker);
                }
            }
            self.clock = began + 1000;
            self.facts.owed = Owed::of(self.newest.as_ref(), at(began));
            let verdict = judge(&self.facts, &exit, &LIMITS, at(self.clock));
            match verdict {
                Verdict::Leave { .. } => {}
                Verdict::OwesNothing => self.facts.marker = None,
                Verdict::Pending { mark, cuts } => {
                    (self.facts.marker, self.facts.cuts) = (Some(Marker::ResumePending(mark)), cuts);
                }
                Verdict::Suspend { suspended, cuts } => {
                    (self.facts.marker, self.facts.cuts) = (Some(Marker::Suspended(suspended)), cuts);
                }
            }
            if let Some(turn) = self.newest.as_mut().filter(|turn| turn.state == TurnState::Running) {
                (turn.state, turn.cut_by) = (TurnState::Interrupted, Some(StopCause::Crash));
            }
            verdict
        }
    }

    proptest! {
        #[test]
        fn a_session_is_suspended_exactly_at_the_third_cut_without_a_success(lives in lives()) {
            let mut world = World { facts: facts(), newest: None, clock: 0 };
            let (mut cuts, mut given_up) = (0, false);
            for life in lives {
                match life {
                    Life::NotReached => {}
                    Life::KilledInTurn | Life::DrainCuts => cuts += 1,
                    // Only to a mark a turn that failed is still owed.
                    Life::Fails => cuts += u32::from(cuts > 0),
                    Life::Answers => cuts = 0,
                    Life::AnswersThenKilled => cuts = 1,
                    Life::GivenUp => given_up = true,
                }
                let verdict = world.live(life);
                if given_up {
                    prop_assert_eq!(verdict, Verdict::Leave { why: LeftAlone::Suspended });
                    let reason = SuspendReason::Operator;
                    let wins = matches!(world.facts.marker, Some(Marker::Suspended(s)) if s.reason == reason);
                    prop_assert!(wins, "{:?}", world.facts.marker);
                    return Ok(());
                }
                prop_assert_eq!(world.facts.cuts, cuts);
                prop_assert_eq!(matches!(verdict, Verdict::Suspend { .. }), cuts == 3, "{:?}", verdict);
                prop_assert_eq!(world.facts.marker.is_some(), cuts > 0);
                if cuts == 3 {
                    // Suspended wins, whatever comes.
                    let suspended = world.facts.marker;
                    for later in [Life::NotReached, Life::KilledInTurn, Life::DrainCuts, Life::Answers] {
                        prop_assert_eq!(world.live(later), Verdict::Leave { why: LeftAlone::Suspended });
                        prop_assert_eq!(world.facts.marker, suspended);
                    }
                    return Ok(());
                }
            }
        }
    }
}
