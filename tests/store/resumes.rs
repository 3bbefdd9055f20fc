//! What stands behind a mark for resume: when it begins, what waits for it, and what takes it away.

use switchboard::domain::id::{ItemId, SessionId, TurnId};
use switchboard::domain::marker::{Marker, ResumeReason};
use switchboard::domain::queue::{ItemState, Source};
use switchboard::domain::session::HoldReason;
use switchboard::domain::turn::{Outcome, StopCause};
use switchboard::store::NewGate;

use crate::conformance::{Bench, failed, on_each};
use crate::given::{at, end, message, queued, run};

const HOUR: i64 = 3600;
const DRAINED: Outcome = Outcome::Interrupted { cause: StopCause::Shutdown };

fn stopping() -> NewGate {
    NewGate::Stopping { why: "quit".to_owned(), mark: ResumeReason::ShutdownTimeout }
}

fn turn_of(bench: &Bench<'_>, session: &SessionId) -> TurnId {
    bench.running(session).unwrap()
}

fn hold_of(bench: &Bench<'_>, session: &SessionId) -> Option<HoldReason> {
    bench.ask(|q| q.session(session)).unwrap().session.hold.map(|hold| hold.reason)
}

fn marker_of(bench: &Bench<'_>, session: &SessionId) -> Option<Marker> {
    bench.ask(|q| q.session(session)).unwrap().session.marker
}

/// A session whose turn an evening's stop cut, with an item behind it, half a day later.
fn next_morning(bench: &mut Bench<'_>) -> (SessionId, ItemId) {
    let session = bench.send(message("a", "build the release", 1)).session;
    let later = bench.send(queued("a", "publish it", 2)).item;
    bench.step(|t| t.set_gate(&stopping(), at(3))).unwrap();
    let turn = turn_of(bench, &session);
    bench.finish(end(turn, DRAINED, 33));
    bench.step(|t| t.open_run(&run(2, 12 * HOUR))).unwrap();
    (session, later)
}

#[test]
fn what_waits_behind_work_that_is_too_old_to_go_on_by_itself_is_held_and_a_person_is_told() {
    on_each(|bench| {
        let (session, later) = next_morning(bench);
        assert_eq!((bench.running(&session), bench.state(later)), (None, ItemState::Waiting));
        assert_eq!(hold_of(bench, &session), Some(HoldReason::StaleMark));
        let alerts = bench.ask(|q| q.alerts(9));
        assert!(alerts[0].words.contains("too old to go on by itself"), "{alerts:?}");

        bench.step(|t| t.release_queue(&session, "/continue", at(12 * HOUR + 1))).unwrap();
        let resume = turn_of(bench, &session);
        assert_eq!((bench.state(later), bench.ask(|q| q.alerts(9)).len()), (ItemState::Waiting, 0));
        bench.finish(end(resume, Outcome::Done, 12 * HOUR + 2));
        assert_eq!(bench.state(later), ItemState::Running);
    });
}

#[test]
fn what_waits_behind_old_work_goes_on_once_a_message_of_a_person_is_answered() {
    on_each(|bench| {
        let (session, later) = next_morning(bench);
        bench.send(message("a", "good morning", 12 * HOUR + 1));
        assert_eq!(bench.state(later), ItemState::Waiting);
        let turn = turn_of(bench, &session);
        bench.finish(end(turn, Outcome::Done, 12 * HOUR + 2));
        assert_eq!((marker_of(bench, &session), hold_of(bench, &session)), (None, None));
        assert_eq!(bench.state(later), ItemState::Running);
    });
}

#[test]
fn the_long_turn_of_a_resumed_session_is_resumed_again_after_a_drain_has_cut_it() {
    on_each(|bench| {
        let session = bench.send(message("a", "build the release", 1)).session;
        bench.step(|t| t.open_run(&run(2, 10))).unwrap();
        turn_of(bench, &session);
        bench.step(|t| t.set_gate(&stopping(), at(2 * HOUR))).unwrap();
        bench.step(|t| t.stamp_run(at(2 * HOUR + 30))).unwrap();
        let resume = turn_of(bench, &session);
        bench.finish(end(resume, DRAINED, 2 * HOUR + 30));
        bench.step(|t| t.open_run(&run(3, 2 * HOUR + 40))).unwrap();
        assert!(bench.running(&session).is_some(), "its mark dates from the stop");
    });
}

#[test]
fn what_was_cut_and_is_run_again_or_taken_back_before_its_resume_began_is_not_gone_on_with() {
    for again in [true, false] {
        on_each(|bench| {
            let session = bench.send(message("a", "charge the card", 1)).session;
            bench.step(|t| t.set_gate(&NewGate::Hold("look first".to_owned()), at(2))).unwrap();
            bench.step(|t| t.open_run(&run(2, 10))).unwrap();
            assert!(marker_of(bench, &session).is_some());
            match again {
                true => drop(bench.step(|t| t.retry(&session, Source::Console, at(11))).unwrap()),
                false => drop(bench.step(|t| t.hide_turns(&session, 1, at(11))).unwrap()),
            }
            assert_eq!(marker_of(bench, &session), None);
            bench.step(|t| t.set_gate(&NewGate::Release, at(12))).unwrap();
            bench.finish_all(&session);
            let ran: &[&str] = if again { &["charge the card"] } else { &[] };
            assert_eq!(bench.worked_on(&session), ran);
        });
    }
}

#[test]
fn a_probe_of_a_dead_backend_does_not_overtake_the_resume_of_its_session() {
    on_each(|bench| {
        let dead = bench.send(message("a", "m1", 1)).session;
        for text in ["q1", "q2", "q3"] {
            bench.send(queued("a", text, 2));
        }
        for seconds in 3..6 {
            let turn = turn_of(bench, &dead);
            bench.finish(end(turn, failed(), seconds));
        }
        assert_eq!(hold_of(bench, &dead), Some(HoldReason::BackendError));
        bench.send(message("a", "slow work", 7));
        let other = bench.send(message("b", "slow too", 8)).session;
        bench.step(|t| t.open_run(&run(2, 60))).unwrap();
        assert!(bench.running(&other).is_some(), "one is resumed at a time");
        bench.step(|t| t.probe_queues(at(70))).unwrap();
        assert_eq!(bench.running(&dead), None);
        let resume = turn_of(bench, &other);
        bench.finish(end(resume, Outcome::Done, 71));
        assert!(bench.running(&dead).is_some(), "its resume comes next");
        assert!(marker_of(bench, &dead).is_some());
    });
}
