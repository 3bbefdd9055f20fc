//! Alerts: raised and resolved in the step that changes what they tell of.

use switchboard::domain::alert::{Acknowledgement, Alert, AlertKey, NewAlert, RaisedBy, Subject};
use switchboard::domain::api::EventPage;
use switchboard::domain::event::{EventKind, Level};
use switchboard::domain::id::{SessionId, TurnId};
use switchboard::domain::queue::ItemState;
use switchboard::domain::recovery::{FoundReceipt, Limits, Receipt};
use switchboard::domain::session::{HoldReason, SessionState};
use switchboard::domain::turn::{Outcome, StopCause};

use crate::conformance::{Bench, failed, on_each, refused};
use crate::given::{LIMITS, at, end, key, message, queued, run};
use switchboard::store::{LeftBehind, NewRun};

/// What the alerts that need a person are about.
fn about(bench: &Bench<'_>) -> Vec<Subject> {
    open(bench).into_iter().map(|alert| alert.subject).collect()
}

fn open(bench: &Bench<'_>) -> Vec<Alert> {
    bench.ask(|q| q.alerts(10))
}

fn need_you(bench: &Bench<'_>) -> usize {
    bench.ask(|q| q.counts()).needs_you
}

/// The words of what was told of alerts in a session, in order.
fn told(bench: &Bench<'_>, session: &SessionId) -> Vec<String> {
    let events = bench.ask(|q| q.events(EventPage::Newest, Level::Debug, Some(session), 100));
    events
        .into_iter()
        .filter_map(|event| match event.kind {
            EventKind::AlertRaised { raises, .. } => Some(format!("raised {raises}")),
            EventKind::AlertAcknowledged { what, .. } => Some(format!("acknowledged {what:?}")),
            EventKind::AlertResolved { .. } => Some("resolved".to_owned()),
            EventKind::AlertTold { times, .. } => Some(format!("told {times}")),
            EventKind::AlertNotTold { why, .. } => Some(format!("not told: {why}")),
            _ => None,
        })
        .collect()
}

/// A session whose backend failed three times, with one item that waits behind that.
fn with_a_dead_backend(bench: &mut Bench<'_>) -> SessionId {
    let session = bench.send(message("a", "m1", 1)).session;
    for text in ["q1", "q2", "q3"] {
        bench.send(queued("a", text, 2));
    }
    for seconds in 3..6 {
        assert_eq!(need_you(bench), 0);
        fail(bench, &session, seconds);
    }
    session
}

fn fail(bench: &mut Bench<'_>, session: &SessionId, seconds: i64) -> TurnId {
    let turn = bench.running(session).unwrap();
    bench.finish(end(turn, failed(), seconds));
    turn
}

#[test]
fn a_dead_backend_raises_one_alert_that_probes_leave_alone_and_an_answer_resolves() {
    on_each(|bench| {
        let session = with_a_dead_backend(bench);
        let [alert] = &open(bench)[..] else { panic!("{:?}", open(bench)) };
        assert_eq!(alert.key, AlertKey::session(&session));
        assert_eq!(alert.subject, Subject::Session(session.clone()));
        assert_eq!((alert.raised_at, alert.raises), (at(5), 1));
        assert!(alert.words.starts_with("a: the agent's backend fails: no answer"), "{}", alert.words);

        bench.step(|t| t.probe_queues(at(35))).unwrap();
        assert_eq!(need_you(bench), 1, "a probe that runs has proved nothing yet");
        fail(bench, &session, 36);
        assert_eq!(open(bench)[0].raises, 1, "nor does one more failure say anything new");

        bench.step(|t| t.probe_queues(at(96))).unwrap();
        let probe = bench.running(&session).unwrap();
        bench.finish(end(probe, Outcome::Done, 97));
        assert_eq!((open(bench).len(), need_you(bench)), (0, 0));
        assert_eq!(told(bench, &session), ["raised 1", "resolved"]);
    });
}

#[test]
fn whoever_holds_the_queue_of_a_dead_backend_or_leaves_its_session_resolves_the_alert() {
    on_each(|bench| {
        let session = with_a_dead_backend(bench);
        bench.step(|t| t.release_queue(&session, "/continue", at(10))).unwrap();
        assert_eq!(need_you(bench), 0);
        fail(bench, &session, 11);
        assert_eq!((need_you(bench), open(bench)[0].raised_at), (1, at(11)), "it failed again: anew");
        bench.step(|t| t.reset_session(&key("a"), &SessionId::new(at(12), 7), None, at(12))).unwrap();
        assert_eq!((open(bench).len(), need_you(bench)), (0, 0));
        assert_eq!(told(bench, &session), ["raised 1", "resolved", "raised 1", "resolved"]);
    });
}

#[test]
fn a_session_that_the_stuck_guard_gives_up_needs_you_and_unsuspend_resolves_that() {
    on_each(|bench| {
        let session = bench.send(message("a", "hangs", 1)).session;
        for start in 2..=4 {
            assert_eq!(need_you(bench), 0);
            bench.step(|t| t.open_run(&run(start, 1000 * start as i64))).unwrap();
        }
        let [alert] = &open(bench)[..] else { panic!("{:?}", open(bench)) };
        assert_eq!((alert.raised_at, need_you(bench)), (at(4000), 1));
        assert!(alert.words.starts_with("a is suspended: cut off at one start after another"));
        bench.step(|t| t.open_run(&run(5, 5000))).unwrap();
        assert_eq!(open(bench), std::slice::from_ref(alert), "another start finds it as it was");
        bench.step(|t| t.unsuspend_session(&session, at(5001))).unwrap();
        assert_eq!(told(bench, &session), ["raised 1", "resolved"]);
    });
}

#[test]
fn a_session_that_the_operator_gives_up_is_listed_and_not_counted() {
    on_each(|bench| {
        let session = bench.send(message("a", "one", 1)).session;
        bench.step(|t| t.suspend_session(&session, at(2))).unwrap();
        assert_eq!((open(bench).len(), need_you(bench)), (1, 0));
        assert_eq!(bench.ask(|q| q.alerts_to_tell(10)), []);
        // The message that starts anew ends what the alert was about.
        bench.send(message("a", "two", 3));
        assert_eq!(open(bench), []);
        assert_eq!(told(bench, &session), ["raised 1", "resolved"]);
    });
}

#[test]
fn a_dead_backend_that_is_given_up_is_still_the_same_alert() {
    on_each(|bench| {
        let session = with_a_dead_backend(bench);
        bench.step(|t| t.suspend_session(&session, at(9))).unwrap();
        let [alert] = &open(bench)[..] else { panic!("{:?}", open(bench)) };
        assert_eq!((alert.raises, alert.raised_at, alert.needs_you()), (2, at(5), true));
        assert!(alert.words.contains("given up by the operator"));
    });
}

#[test]
fn an_acknowledged_alert_is_open_and_not_counted_until_that_is_taken_back() {
    use Acknowledgement::{Given, TakenBack};
    on_each(|bench| {
        let session = with_a_dead_backend(bench);
        let alert = AlertKey::session(&session);
        let known = bench.step(|t| t.acknowledge_alert(&alert, Given, at(7))).unwrap();
        assert_eq!(known.acknowledged_at, Some(at(7)));
        assert_eq!((open(bench), need_you(bench)), (vec![known], 0));
        assert_eq!(bench.ask(|q| q.alerts_to_tell(10)), []);
        refused(bench.step(|t| t.acknowledge_alert(&alert, Given, at(8))));
        bench.step(|t| t.acknowledge_alert(&alert, TakenBack, at(9))).unwrap();
        assert_eq!(need_you(bench), 1);
        let row = bench.ask(|q| q.session(&session)).unwrap();
        assert_eq!(row.state, SessionState::NeedsYou, "what is wrong is still wrong");
        let other = AlertKey::session(&SessionId::new(at(0), 9));
        let refusal = refused(bench.step(|t| t.acknowledge_alert(&other, Given, at(9))));
        assert!(refusal.to_string().contains(other.as_str()));
        assert_eq!(told(bench, &session), ["raised 1", "acknowledged Given", "acknowledged TakenBack"]);
    });
}

#[test]
fn how_an_alert_was_told_is_kept_with_it_and_never_with_a_later_one() {
    on_each(|bench| {
        let session = with_a_dead_backend(bench);
        let alert = AlertKey::session(&session);
        bench.step(|t| t.alert_told(&alert, at(5), 1, Some("exit status 7"), at(6))).unwrap();
        bench.step(|t| t.alert_told(&alert, at(5), 1, None, at(7))).unwrap();
        let kept = bench.ask(|q| q.alerts_to_tell(10)).remove(0).told;
        assert_eq!((kept.times, kept.tried_at, kept.failure), (1, Some(at(7)), None));

        bench.step(|t| t.release_queue(&session, "/continue", at(10))).unwrap();
        fail(bench, &session, 11);
        bench.step(|t| t.alert_told(&alert, at(5), 1, None, at(12))).unwrap();
        assert_eq!(open(bench)[0].told.tried_at, None, "the command told the one before");
        let so_far = told(bench, &session);
        assert_eq!(so_far, ["raised 1", "not told: exit status 7", "told 1", "resolved", "raised 1"]);
    });
}

#[test]
fn open_alerts_are_listed_from_the_newest_and_told_from_the_one_that_waits_longest() {
    on_each(|bench| {
        let ids: Vec<SessionId> = ["a", "b", "c"]
            .iter()
            .zip(1..)
            .map(|(name, seconds)| bench.send(message(name, "hello", seconds)).session)
            .collect();
        for (session, seconds) in ids.iter().zip(10..) {
            let new = NewAlert {
                key: AlertKey::session(session),
                subject: Subject::Session(session.clone()),
                words: "look".to_owned(),
                times: None,
                by: RaisedBy::Itself,
            };
            bench.step(|t| t.raise_alert(&new, at(seconds))).unwrap();
        }
        let keys =
            |alerts: Vec<Alert>| -> Vec<AlertKey> { alerts.into_iter().map(|alert| alert.key).collect() };
        let [a, b, c] = [0, 1, 2].map(|n| AlertKey::session(&ids[n]));
        bench.step(|t| t.alert_told(&a, at(10), 1, None, at(20))).unwrap();
        assert_eq!(keys(open(bench)), [c.clone(), b.clone(), a.clone()]);
        assert_eq!(keys(bench.ask(|q| q.alerts(2))), [c.clone(), b.clone()]);
        assert_eq!(keys(bench.ask(|q| q.alerts_to_tell(10))), [b.clone(), c, a]);
        assert!(bench.step(|t| t.resolve_alert(&b, at(30))).unwrap());
        assert!(!bench.step(|t| t.resolve_alert(&b, at(31))).unwrap());
        assert_eq!(need_you(bench), 2);
    });
}

#[test]
fn an_alert_is_forgotten_some_time_after_it_was_resolved_and_never_before() {
    on_each(|bench| {
        let session = with_a_dead_backend(bench);
        assert_eq!(bench.step(|t| t.prune_alerts(at(1_000_000))).unwrap(), 0, "it is open");
        bench.step(|t| t.release_queue(&session, "/continue", at(10))).unwrap();
        assert_eq!(bench.step(|t| t.prune_alerts(at(10))).unwrap(), 0);
        assert_eq!(bench.step(|t| t.prune_alerts(at(11))).unwrap(), 1);
        let known = Acknowledgement::Given;
        let refusal =
            refused(bench.step(|t| t.acknowledge_alert(&AlertKey::session(&session), known, at(12))));
        assert!(refusal.to_string().contains("there is no alert"), "{refusal}");
    });
}

#[test]
fn what_a_reset_left_waiting_is_told_of_whoever_follows_until_it_is_moved() {
    on_each(|bench| {
        let first = bench.send(message("a", "one", 1)).session;
        bench.send(queued("a", "later", 2));
        bench.step(|t| t.suspend_session(&first, at(3))).unwrap();
        let second = bench.send(message("a", "two", 4)).session;
        let alert = AlertKey::left_waiting(&first);
        let about = |bench: &Bench<'_>| -> Vec<Subject> {
            let left = open(bench).into_iter().filter(|open| open.key == alert);
            left.map(|open| open.subject).collect()
        };
        assert_eq!(about(bench), [Subject::Session(second)]);
        let third = SessionId::new(at(5), 7);
        bench.step(|t| t.reset_session(&key("a"), &third, None, at(5))).unwrap();
        assert_eq!(about(bench), [Subject::Session(third)]);
        assert_eq!(bench.step(|t| t.carry_over(&first, at(6))).unwrap().len(), 1);
        assert_eq!(about(bench), []);
    });
}

#[test]
fn what_was_left_waiting_needs_nobody_once_its_own_session_is_taken_up_again() {
    on_each(|bench| {
        let first = bench.send(message("a", "one", 1)).session;
        bench.send(queued("a", "later", 2));
        bench.step(|t| t.suspend_session(&first, at(3))).unwrap();
        let second = bench.send(message("a", "two", 4)).session;
        let turn = bench.running(&second).unwrap();
        bench.finish(end(turn, Outcome::Done, 5));
        assert_eq!(need_you(bench), 1);
        bench.step(|t| t.switch_session(&key("a"), &first, at(6))).unwrap();
        assert_eq!(open(bench), []);
        let row = bench.ask(|q| q.session(&first)).unwrap();
        let hold = row.session.hold.map(|hold| hold.reason);
        assert_eq!((row.queued, hold), (1, Some(HoldReason::Stopped)), "it waits there again");
    });
}

#[test]
fn what_waits_when_a_resume_goes_elsewhere_needs_you_and_can_be_moved_or_taken_up_again() {
    on_each(|bench| {
        let first = bench.send(message("a", "one", 1)).session;
        bench.finish_all(&first);
        let second = SessionId::new(at(2), 2);
        bench.step(|t| t.reset_session(&key("a"), &second, None, at(2))).unwrap();
        bench.send(message("a", "two", 3));
        let later = bench.send(queued("a", "later", 4)).item;
        bench.step(|t| t.request_stop(&second, None, StopCause::Operator, at(5))).unwrap();
        let stopped = Outcome::Interrupted { cause: StopCause::Operator };
        bench.finish(end(bench.running(&second).unwrap(), stopped, 6));

        let left = bench.step(|t| t.switch_session(&key("a"), &first, at(7))).unwrap();
        assert_eq!(left, Some(LeftBehind { session: second.clone(), items: 1 }));
        assert_eq!(about(bench), [Subject::Session(first.clone())]);
        bench.step(|t| t.switch_session(&key("a"), &second, at(8))).unwrap();
        assert_eq!((bench.state(later), about(bench)), (ItemState::Waiting, vec![]));
        assert_eq!(bench.running(&second), None, "its queue is held as before");

        bench.step(|t| t.switch_session(&key("a"), &first, at(9))).unwrap();
        assert_eq!(bench.step(|t| t.carry_over(&second, at(10))).unwrap(), [later]);
        assert_eq!((bench.state(later), about(bench)), (ItemState::Running, vec![]));
    });
}

/// Starts again after a kill so often that the boot guard holds session `a`, in which an item waits.
fn with_the_boot_guard_shut(bench: &mut Bench<'_>) -> SessionId {
    let session = bench.send(message("a", "hangs", 1)).session;
    bench.send(queued("a", "later", 2));
    for start in 2..=6 {
        bench.step(|t| t.open_run(&patient(start))).unwrap();
    }
    session
}

/// A start that gives nobody up, a minute after the one before.
fn patient(start: usize) -> NewRun {
    let limits = Limits { max_cuts: 50, ..LIMITS };
    NewRun { limits, ..run(start, 60 * start as i64) }
}

fn hold(bench: &Bench<'_>, session: &SessionId) -> Option<HoldReason> {
    bench.ask(|q| q.session(session)).unwrap().session.hold.map(|hold| hold.reason)
}

#[test]
fn a_boot_guard_that_holds_needs_you_until_the_last_session_is_let_go() {
    on_each(|bench| {
        let session = with_the_boot_guard_shut(bench);
        assert_eq!(hold(bench, &session), Some(HoldReason::BootGuard));
        let [alert] = &open(bench)[..] else { panic!("{:?}", open(bench)) };
        assert_eq!((&alert.key, &alert.subject), (&AlertKey::boot_guard(), &Subject::BootGuard));
        let words =
            "the boot guard holds 1 session after 5 unclean starts in a row; /continue in each goes on";
        assert_eq!((alert.words.as_str(), need_you(bench)), (words, 1));
        bench.step(|t| t.release_queue(&session, "/continue", at(400))).unwrap();
        assert_eq!((open(bench), hold(bench, &session)), (vec![], None));
    });
}

#[test]
fn a_start_whose_guard_is_open_lets_all_go_that_an_earlier_one_held() {
    on_each(|bench| {
        let session = with_the_boot_guard_shut(bench);
        // Its message is answered: the session is marked no more, and its queue is held still.
        bench.send(message("a", "hello", 400));
        let turn = bench.running(&session).unwrap();
        bench.finish(end(turn, Outcome::Done, 401));
        assert_eq!(hold(bench, &session), Some(HoldReason::BootGuard));
        assert_eq!(bench.running(&session), None);
        let stopped =
            FoundReceipt::Whole(Receipt { run: run(6, 0).run, pid: 7, at: at(402), cut: Vec::new() });
        bench.step(|t| t.open_run(&NewRun { receipt: stopped.clone(), ..patient(7) })).unwrap();
        assert_eq!((open(bench), hold(bench, &session)), (vec![], None));
        assert!(bench.running(&session).is_some(), "what waited runs");
    });
}

#[test]
fn a_dead_backend_is_probed_only_while_something_waits_for_it() {
    on_each(|bench| {
        let session = bench.send(message("a", "m1", 1)).session;
        for seconds in 2..5 {
            fail(bench, &session, seconds);
            if seconds < 4 {
                bench.send(message("a", "again", seconds));
            }
        }
        assert_eq!(hold(bench, &session), Some(HoldReason::BackendError));
        assert_eq!(bench.step(|t| t.probe_queues(at(1000))).unwrap(), None, "nothing waits");
        bench.send(queued("a", "later", 2000));
        assert!(bench.step(|t| t.probe_queues(at(2001))).unwrap().is_none(), "its one item runs");
        assert!(bench.running(&session).is_some());
        fail(bench, &session, 2002);
        let next = bench.step(|t| t.probe_queues(at(2003))).unwrap();
        assert_eq!(next, Some(at(2062)), "it waits again");
    });
}
