//! Resets by themselves, as every store carries them out.

use rusqlite::Connection;
use switchboard::domain::Time;
use switchboard::domain::alert::{Alert, AlertKey, Subject};
use switchboard::domain::event::{EventKind, Level};
use switchboard::domain::history::Body;
use switchboard::domain::id::{ItemId, SessionId};
use switchboard::domain::marker::{Clearing, Marker};
use switchboard::domain::queue::{Intent, ItemState, Refusal, Source};
use switchboard::domain::reset::{Background, Blocker, Notice, ResetMode, ResetReason, ResetRule};
use switchboard::domain::session::{Beginning, EndReason, HoldReason};
use switchboard::domain::turn::{Outcome, StopCause};
use switchboard::store::sqlite::Database;
use switchboard::store::{LeftBehind, NewGate, NewMessage};

use crate::conformance::{Bench, on_each, refused};
use crate::given::{at, end, key, message, queued, rule, run};

const HOUR: i64 = 3600;
const IDLE: ResetMode = ResetMode::Idle;

/// A message that finds a session idle after an hour.
fn by(mode: ResetMode, text: &str, seconds: i64) -> NewMessage {
    NewMessage { reset: rule(mode, 60), ..message("a", text, seconds) }
}

/// A session with one answered turn at second 2.
fn answered(bench: &mut Bench<'_>) -> SessionId {
    let first = bench.send(by(ResetMode::None, "one", 1));
    bench.finish(end(first.begun.unwrap().turn, Outcome::Done, 2));
    first.session
}

/// The same with a message in the slot and two items behind it, which the engine's hold keeps.
fn with_waiting(bench: &mut Bench<'_>) -> (SessionId, Vec<ItemId>) {
    let session = answered(bench);
    bench.step(|t| t.set_gate(&NewGate::Hold("pause".to_owned()), at(3))).unwrap();
    let first = bench.send(queued("a", "second to run", 4)).item;
    let second = bench.send(queued("a", "third to run", 5)).item;
    let slot = bench.send(by(ResetMode::None, "first to run", 6)).item;
    (session, vec![slot, first, second])
}

fn log(bench: &Bench<'_>, session: &SessionId) -> Vec<EventKind> {
    let events = bench
        .ask(|q| q.events(switchboard::domain::api::EventPage::Newest, Level::Debug, Some(session), 100));
    events.into_iter().map(|event| event.kind).collect()
}

fn blocks(bench: &Bench<'_>, session: &SessionId) -> Vec<(Level, Blocker)> {
    let told = log(bench, session).into_iter().filter_map(|kind| match &kind {
        EventKind::ResetBlocked(told) => Some((kind.level(), told.block.by.clone())),
        _ => None,
    });
    told.collect()
}

fn notices(bench: &Bench<'_>, session: &SessionId) -> Vec<String> {
    let entries = bench.ask(|q| q.conversation(session, None, 100)).entries;
    let texts = entries.into_iter().filter_map(|entry| match entry.body {
        Body::Notice { text } => Some(text),
        _ => None,
    });
    texts.collect()
}

#[test]
fn a_message_after_the_limit_begins_a_new_memory_under_the_same_key() {
    on_each(|bench| {
        let old = answered(bench);
        bench
            .step(|t| t.set_busy_mode(&old, Some(switchboard::domain::queue::BusyMode::Queue), at(3)))
            .unwrap();
        let kept = bench.send(by(IDLE, "still the same", 2 + HOUR));
        assert_eq!(kept.session, old);
        bench.finish(end(kept.begun.unwrap().turn, Outcome::Done, 3 + HOUR));

        let new = bench.send(by(IDLE, "two", 4 + 2 * HOUR));
        assert_ne!(new.session, old);
        let row = bench.ask(|q| q.session(&new.session)).unwrap();
        let beginning = Beginning::AutoReset { reason: ResetReason::Idle, had_activity: true };
        assert_eq!(row.session.beginning, beginning);
        assert_eq!(row.session.previous.as_ref(), Some(&old));
        assert_eq!(row.session.key, key("a"));
        assert_eq!((row.session.busy_mode, row.session.turns), (None, 1));
        let before = bench.ask(|q| q.session(&old)).unwrap().session;
        assert_eq!(before.ended.unwrap().reason, EndReason::SessionReset);
        assert_eq!(before.last_activity_at, at(3 + HOUR), "what ends a session is no activity of it");
        assert!(log(bench, &new.session).iter().any(|kind| matches!(
            kind,
            EventKind::AutoReset { reason: ResetReason::Idle, previous, left: 0, .. } if *previous == old
        )));
        assert_eq!(bench.ask(|q| q.counts()).sessions, 1);
    });
}

#[test]
fn what_only_looks_or_restarts_resets_nothing_and_moves_no_time() {
    on_each(|bench| {
        let old = answered(bench);
        bench.step(|t| t.open_session(&key("a"), &SessionId::new(at(9), 9), at(9 * HOUR))).unwrap();
        bench.step(|t| t.open_run(&run(2, 10 * HOUR))).unwrap();
        let row = bench.ask(|q| q.session_at(&key("a"))).unwrap();
        assert_eq!((&row.session.id, row.session.last_activity_at), (&old, at(2)));
        assert_ne!(bench.send(by(IDLE, "now", 11 * HOUR)).session, old);
    });
}

#[test]
fn the_first_turn_of_the_new_memory_begins_with_one_notice_whenever_it_begins() {
    on_each(|bench| {
        let old = answered(bench);
        bench.step(|t| t.set_gate(&NewGate::Hold("pause".to_owned()), at(3))).unwrap();
        let new = bench.send(by(IDLE, "two", 26 * HOUR)).session;
        assert!(notices(bench, &new).is_empty());
        bench.step(|t| t.open_run(&run(2, 26 * HOUR + 5))).unwrap();
        bench.step(|t| t.set_gate(&NewGate::Release, at(26 * HOUR + 9))).unwrap();
        bench.finish_all(&new);
        bench.send(by(ResetMode::None, "three", 26 * HOUR + 20));
        let told = notices(bench, &new);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains("idle 25 h") && told[0].contains(old.as_str()), "{told:?}");
        let first = bench.ask(|q| q.conversation(&new, None, 100)).entries.remove(0);
        assert!(matches!(first.body, Body::Notice { .. }));
    });
}

#[test]
fn no_notice_is_given_where_it_is_withheld_or_nothing_was_lost_or_a_person_asked_for_it() {
    on_each(|bench| {
        answered(bench);
        let withheld = NewMessage { notice: Notice::Withheld, ..by(IDLE, "two", 26 * HOUR) };
        let new = bench.send(withheld).session;
        assert!(notices(bench, &new).is_empty());

        let unused = SessionId::new(at(1), 1);
        bench.step(|t| t.open_session(&key("b"), &unused, at(1))).unwrap();
        let new = bench.send(NewMessage { to: key("b"), ..by(IDLE, "hello", 26 * HOUR + 1) }).session;
        let row = bench.ask(|q| q.session(&new)).unwrap().session;
        assert_eq!(row.beginning, Beginning::AutoReset { reason: ResetReason::Idle, had_activity: false });
        assert!(notices(bench, &new).is_empty());

        let fresh = SessionId::new(at(2), 2);
        bench.step(|t| t.reset_session(&key("b"), &fresh, None, at(26 * HOUR + 2))).unwrap();
        bench.send(NewMessage { to: key("b"), ..by(IDLE, "hello", 26 * HOUR + 3) });
        assert_eq!(bench.ask(|q| q.session(&fresh)).unwrap().session.beginning, Beginning::Fresh);
        assert!(notices(bench, &fresh).is_empty());
    });
}

#[test]
fn what_still_waited_is_cleared_with_an_alert_and_can_be_moved_to_the_new_memory() {
    on_each(|bench| {
        let (old, left) = with_waiting(bench);
        let new = bench.send(by(IDLE, "two", 26 * HOUR)).session;
        for item in &left {
            let item = bench.ask(|q| q.item(*item)).unwrap();
            assert_eq!((item.state, &item.session), (ItemState::Cleared, &old));
            assert!(item.note.unwrap().contains("reset: idle"));
        }
        let alert = log(bench, &new).into_iter().find(|kind| matches!(kind, EventKind::AutoReset { .. }));
        assert_eq!(alert.unwrap().level(), Level::Error);
        let open: Vec<Alert> = bench.ask(|q| q.alerts(9));
        assert_eq!(open.len(), 1);
        assert_eq!(
            (&open[0].key, &open[0].subject),
            (&AlertKey::left_waiting(&old), &Subject::Session(new.clone()))
        );

        let moved = bench.step(|t| t.carry_over(&old, at(26 * HOUR + 1))).unwrap();
        assert_eq!(moved, left);
        assert_eq!(bench.ask(|q| q.alerts(9)), []);
        bench.step(|t| t.set_gate(&NewGate::Release, at(26 * HOUR + 2))).unwrap();
        bench.finish_all(&new);
        assert_eq!(bench.worked_on(&new), ["two", "first to run", "second to run", "third to run"]);
        assert_eq!(bench.worked_on(&old), ["one"]);
        let again = refused(bench.step(|t| t.carry_over(&old, at(26 * HOUR + 3))));
        assert!(again.to_string().contains("nothing was left waiting"), "{again}");
    });
}

#[test]
fn what_a_person_cleared_is_not_moved_with_what_a_reset_left() {
    on_each(|bench| {
        let (old, left) = with_waiting(bench);
        bench.step(|t| t.drop_item(left[1], at(7))).unwrap();
        bench.send(by(IDLE, "two", 26 * HOUR));
        let moved = bench.step(|t| t.carry_over(&old, at(26 * HOUR + 1))).unwrap();
        assert_eq!(moved, [left[0], left[2]]);
    });
}

#[test]
fn what_was_left_is_not_moved_where_the_old_memory_is_live_again() {
    on_each(|bench| {
        let (old, _) = with_waiting(bench);
        let new = bench.send(by(IDLE, "two", 26 * HOUR)).session;
        let left = bench.step(|t| t.switch_session(&key("a"), &old, at(26 * HOUR + 1))).unwrap();
        assert_eq!(left, Some(LeftBehind { session: new, items: 1 }));
        let refusal = refused(bench.step(|t| t.carry_over(&old, at(26 * HOUR + 2))));
        assert!(matches!(refusal, Refusal::NothingTo(_)), "{refusal}");
    });
}

#[test]
fn a_memory_that_was_brought_back_is_found_by_the_next_message() {
    on_each(|bench| {
        let old = answered(bench);
        bench.send(by(ResetMode::Both, "two", 50 * HOUR));
        bench.finish_all(&bench.ask(|q| q.session_at(&key("a"))).unwrap().session.id);
        bench.step(|t| t.switch_session(&key("a"), &old, at(50 * HOUR + 10))).unwrap();
        assert_eq!(bench.ask(|q| q.session(&old)).unwrap().session.last_activity_at, at(2));
        assert_eq!(bench.send(by(ResetMode::Both, "go on", 50 * HOUR + 20)).session, old);
    });
}

#[test]
fn a_message_to_a_suspended_session_starts_anew_whatever_the_policy() {
    on_each(|bench| {
        let old = answered(bench);
        bench.step(|t| t.suspend_session(&old, at(3))).unwrap();
        let new = bench.send(by(ResetMode::None, "two", 4)).session;
        assert_ne!(new, old);
        let row = bench.ask(|q| q.session(&new)).unwrap().session;
        let beginning = Beginning::AutoReset { reason: ResetReason::Suspended, had_activity: true };
        assert_eq!((row.beginning, row.hold, row.marker), (beginning, None, None));
        assert!(notices(bench, &new)[0].contains("suspended"));
        assert_eq!(bench.ask(|q| q.session(&old)).unwrap().session.marker, None);
        let cleared = EventKind::MarkerCleared { by: Clearing::NextMessage };
        assert!(log(bench, &old).contains(&cleared));
    });
}

#[test]
fn a_suspended_session_whose_turn_still_ends_is_left_at_once() {
    on_each(|bench| {
        let old = bench.send(by(ResetMode::None, "endless", 1));
        let turn = old.begun.unwrap().turn;
        bench.step(|t| t.suspend_session(&old.session, at(2))).unwrap();
        let new = bench.send(by(IDLE, "two", 3));
        assert_ne!(new.session, old.session);
        assert!(new.begun.is_some());
        assert!(!bench.finish(end(turn, Outcome::Done, 4)), "its turn has ended with it");
        let outcome = Outcome::Interrupted { cause: StopCause::Operator };
        assert!(
            log(bench, &old.session)
                .iter()
                .any(|kind| matches!(kind, EventKind::TurnEnded { outcome: ended, .. } if *ended == outcome))
        );
    });
}

#[test]
fn a_suspended_session_runs_nothing_that_is_put_back_or_tried_again() {
    on_each(|bench| {
        let session = answered(bench);
        bench.step(|t| t.set_gate(&NewGate::Hold("pause".to_owned()), at(3))).unwrap();
        let slot = bench.send(by(ResetMode::None, "two", 4)).item;
        let back = bench.step(|t| t.drop_item(slot, at(5))).unwrap();
        bench.step(|t| t.suspend_session(&session, at(6))).unwrap();
        bench.step(|t| t.set_gate(&NewGate::Release, at(7))).unwrap();
        bench.step(|t| t.restore_items(&[back], at(8))).unwrap();
        assert_eq!(bench.running(&session), None);
        let retried = refused(bench.step(|t| t.retry(&session, Source::Console, at(9))));
        assert!(retried.to_string().contains("suspended"), "{retried}");
        let hold = bench.ask(|q| q.session(&session)).unwrap().session.hold.unwrap();
        assert_eq!(hold.reason, HoldReason::Suspended);
        assert_eq!(bench.step(|t| t.unsuspend_session(&session, at(10))).unwrap(), 1);
        assert_eq!(bench.state(slot), ItemState::Waiting, "what waits is still held");
        bench.step(|t| t.release_queue(&session, "/continue", at(11))).unwrap();
        assert_eq!(bench.state(slot), ItemState::Running);
    });
}

#[test]
fn a_running_turn_is_never_cut_by_a_policy_and_the_block_is_told_once() {
    on_each(|bench| {
        let first = bench.send(by(IDLE, "long work", 1));
        for seconds in [2 * HOUR, 2 * HOUR + 60] {
            assert_eq!(bench.send(by(ResetMode::Both, "follow up", seconds)).session, first.session);
        }
        assert_eq!(blocks(bench, &first.session), [(Level::Warn, Blocker::RunningTurn)]);
        bench.finish(end(first.begun.unwrap().turn, Outcome::Done, 2 * HOUR + 90));
    });
}

#[test]
fn a_block_alarms_after_a_day_once() {
    on_each(|bench| {
        let daily = |text: &str, seconds| by(ResetMode::Daily, text, seconds);
        let first = bench.send(daily("endless", 1));
        for hours in [24, 30, 54, 60] {
            bench.send(NewMessage { intent: Intent::Queue, ..daily("more", hours * HOUR) });
        }
        let levels: Vec<Level> = blocks(bench, &first.session).into_iter().map(|(level, _)| level).collect();
        assert_eq!(levels, [Level::Warn, Level::Error]);
        let [alert] = &bench.ask(|q| q.alerts(10))[..] else { panic!("one alert tells of it") };
        assert_eq!((&alert.key, alert.raises), (&AlertKey::blocked_reset(&first.session), 1));
        assert!(alert.words.contains("a reset is due (daily) and not done"), "{}", alert.words);
        bench.step(|t| t.reset_session(&key("a"), &SessionId::new(at(9), 9), None, at(61 * HOUR))).unwrap();
        assert_eq!(bench.ask(|q| q.alerts(10)), []);
    });
}

#[test]
fn a_fresh_mark_blocks_and_a_stale_one_does_not() {
    on_each(|bench| {
        let first = bench.send(by(IDLE, "cut off", 1));
        bench.step(|t| t.set_gate(&NewGate::Hold("pause".to_owned()), at(2))).unwrap();
        bench.step(|t| t.open_run(&run(2, 5 * HOUR))).unwrap();
        let marker = bench.ask(|q| q.session(&first.session)).unwrap().session.marker;
        assert!(matches!(marker, Some(Marker::ResumePending(_))));
        let idle_soon =
            |text: &str, seconds| NewMessage { reset: rule(IDLE, 30), ..message("a", text, seconds) };
        assert_eq!(bench.send(idle_soon("fresh", 6 * HOUR)).session, first.session);
        assert_eq!(blocks(bench, &first.session), [(Level::Warn, Blocker::ResumePending)]);
        let new = bench.send(idle_soon("stale", 6 * HOUR + 1801)).session;
        assert_ne!(new, first.session);
        let before = bench.ask(|q| q.session(&first.session)).unwrap().session;
        assert_eq!(before.marker, None);
        assert!(
            log(bench, &first.session).contains(&EventKind::MarkerCleared { by: Clearing::ResetByPolicy })
        );
    });
}

/// A child process of the first turn that outlives it.
fn outlives(path: &std::path::Path, session: &SessionId, began: Time) {
    let sql = "INSERT INTO processes (process_group, started, boot, session, turn, program, at)
               VALUES (4711, 1, 'b', ?1, 1, 'sleep', ?2)";
    let began = began.timestamp_millis();
    Connection::open(path).unwrap().execute(sql, (session.as_str(), began)).unwrap();
}

#[test]
fn background_work_blocks_until_it_is_older_than_the_limit() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("state.db");
    let mut database = Database::open(&path).unwrap();
    let mut bench = Bench(&mut database);
    bench.step(|t| t.open_run(&run(1, 0))).unwrap();
    let session = answered(&mut bench);
    outlives(&path, &session, at(1));
    let row = bench.ask(|q| q.session(&session)).unwrap();
    assert!(matches!(row.background, Background::Active { .. }));

    let rule =
        ResetRule { background_max_age: Some(std::time::Duration::from_secs(24 * 3600)), ..rule(IDLE, 120) };
    let later = |seconds| NewMessage { reset: rule, ..message("a", "later", seconds) };
    assert_eq!(bench.send(later(18 * HOUR)).session, session);
    let told = blocks(&bench, &session);
    assert!(
        matches!(&told[..], [(Level::Warn, Blocker::Background { work })] if work[0].what.contains("sleep")),
        "{told:?}"
    );
    bench.finish_all(&session);
    assert_ne!(bench.send(later(42 * HOUR)).session, session);
}

#[test]
fn background_work_that_cannot_be_understood_counts_as_active() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("state.db");
    let mut database = Database::open(&path).unwrap();
    let mut bench = Bench(&mut database);
    bench.step(|t| t.open_run(&run(1, 0))).unwrap();
    let session = answered(&mut bench);
    outlives(&path, &session, at(1));
    let broken = "UPDATE processes SET at = 9223372036854775807";
    Connection::open(&path).unwrap().execute(broken, ()).unwrap();
    assert_eq!(bench.send(by(IDLE, "later", 90 * HOUR)).session, session);
    assert!(matches!(&blocks(&bench, &session)[..], [(_, Blocker::Unknown { .. })]));
}
