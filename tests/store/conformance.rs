//! What every store guarantees: each sentence is held to by SQLite and by the model alike.

use switchboard::domain::agent::AgentName;
use switchboard::domain::api::Direction;
use switchboard::domain::event::EventKind;
use switchboard::domain::history::{Beginning, Body, Entry, steps};
use switchboard::domain::id::{ItemId, SessionId, TurnId};
use switchboard::domain::marker::{Clearing, ResumeReason};
use switchboard::domain::plan::{Plan, PlanStatus};
use switchboard::domain::queue::{Ack, BusyMode, Gate, Intent, ItemState, Lane, Refusal, Source};
use switchboard::domain::recovery::{RecoveryState, Verdict};
use switchboard::domain::session::{
    AgentSession, HandleUse, Health, HoldReason, Runtime, SessionState, ToldUse, Usage,
};
use switchboard::domain::turn::{Outcome, Output, Reach, StopCause, TurnEnd};
use switchboard::store::sqlite::Database;
use switchboard::store::{Accepted, NewGate, NewMessage, Queries, Result, StoreError, Transitions};

use crate::given::{DEFAULTS, at, end, key, message, queued, run, to_tail};
use crate::model::Model;

/// A store under test.
pub(crate) trait Subject {
    fn step(&mut self, step: &mut dyn FnMut(&mut dyn Transitions) -> Result<()>) -> Result<()>;
    fn ask(&self, question: &mut dyn FnMut(&dyn Queries));
}

impl Subject for Model {
    fn step(&mut self, step: &mut dyn FnMut(&mut dyn Transitions) -> Result<()>) -> Result<()> {
        Model::step(self, step)
    }

    fn ask(&self, question: &mut dyn FnMut(&dyn Queries)) {
        question(self);
    }
}

impl Subject for Database {
    fn step(&mut self, step: &mut dyn FnMut(&mut dyn Transitions) -> Result<()>) -> Result<()> {
        Database::step(self, step).map(|_| ())
    }

    fn ask(&self, question: &mut dyn FnMut(&dyn Queries)) {
        question(&self.queries());
    }
}

/// The subject with words for what tests do.
pub(crate) struct Bench<'s>(pub(crate) &'s mut dyn Subject);

impl Bench<'_> {
    pub(crate) fn step<T>(&mut self, mut step: impl FnMut(&mut dyn Transitions) -> Result<T>) -> Result<T> {
        let mut value = None;
        self.0.step(&mut |t| {
            value = Some(step(t)?);
            Ok(())
        })?;
        Ok(value.unwrap())
    }

    pub(crate) fn ask<T>(&self, question: impl Fn(&dyn Queries) -> Result<T>) -> T {
        let mut answer = None;
        self.0.ask(&mut |q| answer = Some(question(q).unwrap()));
        answer.unwrap()
    }

    pub(crate) fn send(&mut self, message: NewMessage) -> Accepted {
        self.step(|t| t.accept_message(&message)).unwrap()
    }

    pub(crate) fn finish(&mut self, end: TurnEnd) -> bool {
        self.step(|t| t.finish_turn(&end)).unwrap()
    }

    pub(crate) fn running(&self, session: &SessionId) -> Option<TurnId> {
        self.ask(|q| q.session(session)).unwrap().turn.map(|turn| turn.turn)
    }

    pub(crate) fn state(&self, item: ItemId) -> ItemState {
        self.ask(|q| q.item(item)).unwrap().state
    }

    pub(crate) fn worked_on(&self, session: &SessionId) -> Vec<String> {
        let entries = self.ask(|q| q.conversation(session, None, 1000)).entries;
        let words = entries.into_iter().filter_map(|entry| match entry.body {
            Body::User { text, .. } => Some(text),
            _ => None,
        });
        words.collect()
    }

    pub(crate) fn finish_all(&mut self, session: &SessionId) {
        while let Some(turn) = self.running(session) {
            self.finish(end(turn, Outcome::Done, 1000));
        }
    }
}

/// Runs a test on both stores.
pub(crate) fn on_each(test: impl Fn(&mut Bench<'_>)) {
    let mut model = Model::default();
    let mut bench = Bench(&mut model);
    bench.step(|t| t.open_run(&run(1, 0))).unwrap();
    test(&mut bench);

    let home = tempfile::tempdir().unwrap();
    let mut database = Database::open(&home.path().join("state.db")).unwrap();
    let mut bench = Bench(&mut database);
    bench.step(|t| t.open_run(&run(1, 0))).unwrap();
    test(&mut bench);
}

pub(crate) fn failed() -> Outcome {
    Outcome::Failed { error: "no answer".to_owned() }
}

fn tool_call() -> Output {
    Output::ToolCall { call: "c".to_owned(), name: "terminal".to_owned(), arguments: "pg_dump".to_owned() }
}

pub(crate) fn refused<T: std::fmt::Debug>(outcome: Result<T>) -> Refusal {
    match outcome {
        Err(StoreError::Refused(refusal)) => refusal,
        other => panic!("not refused: {other:?}"),
    }
}

fn plain(text: &str, seconds: i64) -> NewMessage {
    message("a", text, seconds)
}

fn stopping() -> NewGate {
    NewGate::Stopping { why: "quit".to_owned(), mark: ResumeReason::ShutdownTimeout }
}

#[test]
fn on_an_idle_session_a_message_and_an_item_start_at_once() {
    on_each(|bench| {
        let plain = bench.send(message("a", "hello", 1));
        assert!(matches!(plain.ack, Ack::Running { .. }));
        let item = bench.send(queued("b", "hello", 1));
        assert!(matches!(item.ack, Ack::Running { .. }));
        assert_eq!(bench.state(item.item), ItemState::Running);
    });
}

#[test]
fn queue_items_are_full_turns_in_order_and_the_answer_names_the_depth() {
    on_each(|bench| {
        let first = bench.send(plain("m1", 1));
        let acks: Vec<Ack> = ["A", "B", "C"].map(|text| bench.send(queued("a", text, 2)).ack).to_vec();
        let places: Vec<_> = acks
            .iter()
            .map(|ack| match ack {
                Ack::Queued { position, depth, .. } => (*position, *depth),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(places, [(1, 1), (2, 2), (3, 3)]);
        bench.finish_all(&first.session);
        assert_eq!(bench.worked_on(&first.session), ["m1", "A", "B", "C"]);
    });
}

#[test]
fn in_queue_mode_plain_messages_follow_in_order() {
    on_each(|bench| {
        let first = bench.send(plain("m1", 1));
        bench.step(|t| t.set_busy_mode(&first.session, Some(BusyMode::Queue), at(1))).unwrap();
        for text in ["m2", "m3", "m4", "m5"] {
            bench.send(plain(text, 2));
        }
        bench.finish_all(&first.session);
        assert_eq!(bench.worked_on(&first.session), ["m1", "m2", "m3", "m4", "m5"]);
    });
}

#[test]
fn a_replaced_message_is_kept_told_and_can_be_put_back() {
    on_each(|bench| {
        let first = bench.send(plain("m1", 1));
        let x1 = bench.send(plain("x1", 2));
        let x2 = bench.send(plain("x2", 3));
        assert_eq!(x2.ack, Ack::Replaces { item: x1.item, sent_at: at(2), interrupts: false });
        assert_eq!(bench.state(x1.item), ItemState::Superseded);
        bench.step(|t| t.restore_items(&[to_tail(x1.item)], at(4))).unwrap();
        bench.finish_all(&first.session);
        assert_eq!(bench.worked_on(&first.session), ["m1", "x2", "x1"]);
    });
}

#[test]
fn an_interrupting_message_stops_the_turn_once_and_runs_next() {
    on_each(|bench| {
        let first = bench.send(plain("m1", 1));
        bench.step(|t| t.set_busy_mode(&first.session, Some(BusyMode::Interrupt), at(1))).unwrap();
        let x1 = bench.send(plain("x1", 2));
        assert_eq!(x1.ack, Ack::Next { interrupts: true, gate: Gate::Open });
        let x2 = bench.send(plain("x2", 2));
        assert_eq!(x2.ack, Ack::Replaces { item: x1.item, sent_at: at(2), interrupts: false });
        let turn = bench.running(&first.session).unwrap();
        bench.finish(end(turn, Outcome::Interrupted { cause: StopCause::NewMessage }, 3));
        bench.finish_all(&first.session);
        assert_eq!(bench.worked_on(&first.session), ["m1", "x2"]);
    });
}

#[test]
fn the_cap_refuses_and_drops_nothing() {
    on_each(|bench| {
        let first = bench.send(plain("m1", 1));
        (1..=5).for_each(|n| drop(bench.send(queued("a", &format!("n{n}"), 2))));
        let refusal = refused(bench.step(|t| t.accept_message(&queued("a", "n6", 3))));
        assert_eq!(refusal, Refusal::QueueFull { max: 5 });
        bench.finish_all(&first.session);
        assert_eq!(bench.worked_on(&first.session), ["m1", "n1", "n2", "n3", "n4", "n5"]);
    });
}

#[test]
fn an_item_belongs_to_its_session_whatever_ends_first() {
    on_each(|bench| {
        let one = bench.send(message("s1", "work", 1));
        let two = bench.send(message("s2", "work", 1));
        bench.send(queued("s1", "only for s1", 2));
        bench.finish_all(&two.session);
        assert_eq!(bench.worked_on(&two.session), ["work"]);
        bench.finish_all(&one.session);
        assert_eq!(bench.worked_on(&one.session), ["work", "only for s1"]);
    });
}

#[test]
fn the_next_item_is_taken_on_every_path_that_ends_a_turn() {
    for outcome in [
        Outcome::Done,
        failed(),
        Outcome::Interrupted { cause: StopCause::NewMessage },
        Outcome::Interrupted { cause: StopCause::Shutdown },
        Outcome::Interrupted { cause: StopCause::HandleLost },
    ] {
        on_each(|bench| {
            let first = bench.send(plain("m1", 1));
            let item = bench.send(queued("a", "B", 2));
            bench.finish(end(first.begun.unwrap().turn, outcome.clone(), 3));
            assert_eq!(bench.state(item.item), ItemState::Running, "after {outcome:?}");
        });
    }
    on_each(|bench| {
        let first = bench.send(plain("m1", 1));
        let item = bench.send(queued("a", "B", 2));
        let opened = bench.step(|t| t.open_run(&run(2, 3))).unwrap();
        assert_eq!((opened.cut_turns.len(), opened.waiting), (1, 1));
        assert_eq!(bench.state(first.item), ItemState::Interrupted);
        assert_eq!(bench.state(item.item), ItemState::Waiting, "what was cut off goes on first");
        let resume = bench.ask(|q| q.session(&first.session)).unwrap().turn.unwrap().turn;
        bench.finish(end(resume, Outcome::Done, 4));
        assert_eq!(bench.state(item.item), ItemState::Running, "after a crash");
    });
}

#[test]
fn a_stop_clears_the_slot_holds_the_queue_and_a_crash_revives_nothing() {
    on_each(|bench| {
        let first = bench.send(plain("m1", 1));
        let slot = bench.send(plain("next", 2));
        let item = bench.send(queued("a", "later", 2));
        bench.step(|t| t.request_stop(&first.session, None, StopCause::Operator, at(3))).unwrap();
        bench.step(|t| t.open_run(&run(2, 4))).unwrap();
        assert_eq!(bench.state(slot.item), ItemState::Cleared);
        assert_eq!(bench.state(item.item), ItemState::Waiting);
        let row = bench.ask(|q| q.session(&first.session)).unwrap();
        assert_eq!((row.state, row.session.hold.unwrap().reason), (SessionState::Held, HoldReason::Stopped));

        // A plain message runs as its own turn, and the hold stays.
        let own = bench.send(plain("by itself", 5));
        bench.finish(end(own.begun.unwrap().turn, Outcome::Done, 6));
        assert_eq!(bench.running(&first.session), None);
        bench.step(|t| t.release_queue(&first.session, "/continue", at(7))).unwrap();
        assert_eq!(bench.state(item.item), ItemState::Running);
    });
}

#[test]
fn a_stop_names_its_turn_and_leaves_a_later_one_alone() {
    on_each(|bench| {
        let first = bench.send(plain("m1", 1));
        bench.send(queued("a", "B", 2));
        let old = first.begun.unwrap().turn;
        bench.finish(end(old, Outcome::Done, 3));
        let stop = bench.step(|t| t.request_stop(&first.session, Some(old), StopCause::Operator, at(4)));
        assert!(matches!(refused(stop), Refusal::NothingTo(_)));
        bench.finish_all(&first.session);
        let stop = bench.step(|t| t.request_stop(&first.session, None, StopCause::Operator, at(5)));
        assert_eq!(refused(stop), Refusal::NoTurn);
    });
}

#[test]
fn a_reset_ends_the_turn_clears_all_and_nothing_of_the_old_queue_runs() {
    on_each(|bench| {
        let first = bench.send(plain("m1", 1));
        let slot = bench.send(plain("s", 2));
        let item = bench.send(queued("a", "q", 2));
        let fresh = SessionId::new(at(9), 1);
        bench.step(|t| t.reset_session(&key("a"), &fresh, Some("new"), at(3))).unwrap();
        let states = [first.item, slot.item, item.item].map(|item| bench.state(item));
        assert_eq!(states, [ItemState::Interrupted, ItemState::Cleared, ItemState::Cleared]);
        let late = end(first.begun.unwrap().turn, Outcome::Done, 4);
        assert!(!bench.finish(late), "/new was faster");
        let live = bench.ask(|q| q.session_at(&key("a"))).unwrap();
        assert_eq!((live.session.id, live.session.previous, live.turn), (fresh, Some(first.session), None));
        assert!(matches!(
            refused(bench.step(|t| t.restore_items(&[to_tail(item.item)], at(5)))),
            Refusal::NothingTo(_)
        ));
    });
}

#[test]
fn a_refused_step_leaves_nothing_behind() {
    on_each(|bench| {
        let one = bench.send(message("a", "m", 1));
        bench.send(message("b", "m", 1));
        bench.step(|t| t.set_title(&one.session, "mine", at(2))).unwrap();
        let before = bench.ask(|q| q.counts());
        let fresh = SessionId::new(at(9), 1);
        let taken = bench.step(|t| t.reset_session(&key("b"), &fresh, Some("mine"), at(3)));
        assert_eq!(refused(taken), Refusal::TitleTaken("mine".to_owned()));
        assert_eq!(bench.ask(|q| q.counts()), before);
        assert!(bench.ask(|q| q.session(&fresh)).is_none());
    });
}

#[test]
fn steered_text_that_the_agent_did_not_take_in_waits_again_first_of_all() {
    on_each(|bench| {
        let first = bench.send(plain("m1", 1));
        let turn = first.begun.unwrap().turn;
        bench.send(queued("a", "q", 2));
        let taken = bench.send(NewMessage { intent: Intent::Steer, ..plain("taken", 3) });
        let left = bench.send(NewMessage { intent: Intent::Steer, ..plain("left", 4) });
        assert_eq!(taken.ack, Ack::Steered { turn });
        bench.finish(TurnEnd { steered: vec![taken.item], ..end(turn, Outcome::Done, 5) });
        assert_eq!(bench.state(taken.item), ItemState::Done);
        assert_eq!(bench.state(left.item), ItemState::Running);
        bench.finish_all(&first.session);
        assert_eq!(bench.worked_on(&first.session), ["m1", "taken", "left", "q"]);
    });
}

#[test]
fn a_dead_backend_holds_the_queue_is_probed_and_an_answer_releases_it() {
    on_each(|bench| {
        let first = bench.send(plain("m1", 1));
        let items: Vec<_> = (1..=4).map(|n| bench.send(queued("a", &format!("q{n}"), 2))).collect();
        for seconds in 3..6 {
            let turn = bench.running(&first.session).unwrap();
            bench.finish(end(turn, failed(), seconds));
        }
        assert_eq!(bench.running(&first.session), None, "a dead backend must not burn the queue");
        let row = bench.ask(|q| q.session(&first.session)).unwrap();
        assert_eq!((row.state, row.queued), (SessionState::NeedsYou, 2));
        assert_eq!(row.session.hold.unwrap().probe_at, Some(at(5 + 30)));

        assert_eq!(bench.step(|t| t.probe_queues(at(34))).unwrap(), Some(at(35)));
        bench.step(|t| t.probe_queues(at(35))).unwrap();
        let probe = bench.running(&first.session).unwrap();
        bench.finish(end(probe, failed(), 36));
        assert_eq!(bench.state(items[2].item), ItemState::Waiting, "a failed probe puts its item back");
        let hold = bench.ask(|q| q.session(&first.session)).unwrap().session.hold.unwrap();
        assert_eq!(hold.probe_at, Some(at(36 + 60)));

        bench.step(|t| t.probe_queues(at(96))).unwrap();
        let probe = bench.running(&first.session).unwrap();
        bench.finish(end(probe, Outcome::Done, 97));
        let row = bench.ask(|q| q.session(&first.session)).unwrap();
        assert_eq!((row.session.hold, row.session.dead_turns, row.last_error), (None, 0, None));
        assert_eq!(bench.state(items[3].item), ItemState::Running);
    });
}

#[test]
fn failures_after_the_agent_did_something_hold_nothing() {
    on_each(|bench| {
        let first = bench.send(plain("m1", 1));
        for seconds in 2..8 {
            bench.send(queued("a", "again", seconds));
            let turn = bench.running(&first.session).unwrap();
            bench.finish(TurnEnd { did_anything: true, ..end(turn, failed(), seconds) });
        }
        assert_eq!(bench.ask(|q| q.session(&first.session)).unwrap().session.hold, None);
    });
}

#[test]
fn behind_a_closed_gate_messages_wait_and_run_when_it_opens() {
    on_each(|bench| {
        bench.step(|t| t.set_gate(&NewGate::Hold("moving house".to_owned()), at(1))).unwrap();
        let slot = bench.send(plain("m1", 2));
        assert_eq!(slot.ack, Ack::Next { interrupts: false, gate: Gate::Held });
        let second = bench.send(plain("m2", 3));
        assert!(
            matches!(second.ack, Ack::Queued { position: 1, gate: Gate::Held, .. }),
            "none replaces another"
        );
        bench.step(|t| t.set_gate(&stopping(), at(4))).unwrap();
        refused(bench.step(|t| t.release_queue(&slot.session, "x", at(4))));
        bench.step(|t| t.set_gate(&NewGate::Release, at(5))).unwrap();
        assert_eq!(bench.ask(|q| q.counts()).gate, Gate::Stopping);
        assert_eq!(bench.running(&slot.session), None);
        bench.step(|t| t.set_gate(&NewGate::KeepRunning, at(6))).unwrap();
        bench.finish_all(&slot.session);
        assert_eq!(bench.worked_on(&slot.session), ["m1", "m2"]);
    });
}

#[test]
fn a_stop_that_is_called_off_takes_its_marks_away_though_the_clock_was_set_back_before_it() {
    on_each(|bench| {
        let session = bench.send(plain("m1", 100)).session;
        let marker = |bench: &Bench<'_>| bench.ask(|q| q.session(&session)).unwrap().session.marker;
        bench.step(|t| t.set_gate(&stopping(), at(5))).unwrap();
        assert!(marker(bench).is_some());
        bench.step(|t| t.set_gate(&NewGate::KeepRunning, at(6))).unwrap();
        assert_eq!(marker(bench), None);
    });
}

#[test]
fn the_operators_hold_outlives_the_engine_and_a_stop_does_not() {
    on_each(|bench| {
        bench.step(|t| t.set_gate(&NewGate::Hold("pause".to_owned()), at(1))).unwrap();
        bench.step(|t| t.set_gate(&stopping(), at(1))).unwrap();
        bench.send(plain("m1", 2));
        bench.step(|t| t.open_run(&run(2, 3))).unwrap();
        let counts = bench.ask(|q| q.counts());
        assert_eq!((counts.gate, counts.waiting, counts.running), (Gate::Held, 1, 0));
        assert_eq!(bench.ask(|q| q.engine_hold()).unwrap().why, "pause");
    });
}

#[test]
fn the_operator_moves_edits_drops_and_switches_waiting_items_and_no_others() {
    on_each(|bench| {
        let first = bench.send(plain("m1", 1));
        let items: Vec<ItemId> = ["A", "B", "C"].map(|text| bench.send(queued("a", text, 2)).item).to_vec();
        bench.step(|t| t.move_item(items[2], Direction::Up, at(3))).unwrap();
        bench.step(|t| t.move_item(items[2], Direction::Up, at(3))).unwrap();
        refused(bench.step(|t| t.move_item(items[2], Direction::Up, at(3))));
        bench.step(|t| t.edit_item(items[0], "A", "A2", at(3))).unwrap();
        let late = bench.step(|t| t.edit_item(items[0], "A", "A3", at(3)));
        assert_eq!(refused(late), Refusal::ItemEdited { now: "A2".to_owned() });
        bench.step(|t| t.drop_item(items[1], at(3))).unwrap();
        bench.step(|t| t.switch_lane(items[0], at(3))).unwrap();
        let row = bench.ask(|q| q.session(&first.session)).unwrap();
        assert_eq!((row.slot.unwrap().text.as_str(), row.queued), ("A2", 1));
        let running = bench.step(|t| t.edit_item(first.item, "m1", "late", at(4)));
        assert_eq!(refused(running), Refusal::ItemNotWaiting(ItemState::Running));
        refused(bench.step(|t| t.switch_lane(items[2], at(4))));
        bench.finish_all(&first.session);
        assert_eq!(bench.worked_on(&first.session), ["m1", "A2", "C"]);
    });
}

#[test]
fn what_is_taken_out_by_mistake_goes_back_to_where_it_stood() {
    on_each(|bench| {
        let first = bench.send(plain("m1", 1));
        let items: Vec<ItemId> = ["A", "B", "C"].map(|text| bench.send(queued("a", text, 2)).item).to_vec();
        let slot = bench.send(plain("S", 2)).item;
        for item in [items[0], items[1], items[2], slot] {
            let back = bench.step(|t| t.drop_item(item, at(3))).unwrap();
            bench.step(|t| t.restore_items(&[back], at(4))).unwrap();
        }
        let all = bench.step(|t| t.clear_queue(&first.session, at(5))).unwrap();
        bench.step(|t| t.restore_items(&all, at(6))).unwrap();
        let back = bench.step(|t| t.drop_item(slot, at(7))).unwrap();
        bench.send(plain("T", 8));
        bench.step(|t| t.restore_items(&[back], at(9))).unwrap();
        bench.finish_all(&first.session);
        assert_eq!(bench.worked_on(&first.session), ["m1", "T", "S", "A", "B", "C"]);
    });
}

#[test]
fn putting_back_is_all_or_nothing() {
    on_each(|bench| {
        let first = bench.send(plain("m1", 1));
        let a = bench.send(queued("a", "A", 2)).item;
        let b = bench.send(queued("a", "B", 2)).item;
        let cleared = bench.step(|t| t.clear_queue(&first.session, at(3))).unwrap();
        assert_eq!(cleared, [a, b].map(to_tail));
        refused(bench.step(|t| t.restore_items(&[b, a, b].map(to_tail), at(4))));
        assert_eq!([bench.state(a), bench.state(b)], [ItemState::Cleared; 2]);
        bench.step(|t| t.restore_items(&[b, a].map(to_tail), at(5))).unwrap();
        bench.finish_all(&first.session);
        assert_eq!(bench.worked_on(&first.session), ["m1", "B", "A"]);
    });
}

#[test]
fn what_goes_back_never_makes_a_queue_longer_than_its_cap() {
    on_each(|bench| {
        let full = Refusal::QueueFull { max: DEFAULTS.max_queued };
        let first = bench.send(plain("m1", 1));
        let dropped = bench.send(queued("a", "A", 2)).item;
        let back = bench.step(|t| t.drop_item(dropped, at(3))).unwrap();
        for text in ["B", "C", "D", "E", "F"] {
            bench.send(queued("a", text, 4));
        }
        assert_eq!(refused(bench.step(|t| t.restore_items(&[back], at(5)))), full);
        assert_eq!(bench.state(dropped), ItemState::Cleared);
        let slot = bench.send(plain("S", 6)).item;
        assert_eq!(refused(bench.step(|t| t.switch_lane(slot, at(7)))), full);
        // The slot is no part of the queue.
        let back_to_slot = bench.step(|t| t.drop_item(slot, at(8))).unwrap();
        bench.step(|t| t.restore_items(&[back_to_slot], at(9))).unwrap();
        bench.finish_all(&first.session);
        assert_eq!(bench.worked_on(&first.session), ["m1", "S", "B", "C", "D", "E", "F"]);
    });
}

#[test]
fn output_is_kept_in_order_with_its_place_in_the_stream() {
    on_each(|bench| {
        let first = bench.send(plain("m1", 1));
        let turn = first.begun.unwrap().turn;
        let text = |text: &str| Output::Text { text: text.to_owned() };
        let call = Output::ToolCall { call: "c".into(), name: "ls".into(), arguments: "{}".into() };
        let result = Output::ToolResult { call: "c".into(), ok: true, output: "two files".into() };
        bench.step(|t| t.append_turn(turn, &[text("Lö"), text("ok"), call.clone()], at(2))).unwrap();
        bench.step(|t| t.append_turn(turn, &[result.clone(), text("Done.")], at(3))).unwrap();
        bench.finish(TurnEnd { tail: vec![text(" Bye.")], ..end(turn, Outcome::Done, 4) });
        bench.step(|t| t.append_turn(turn, &[text("too late")], at(5))).unwrap();
        let entries = bench.ask(|q| q.conversation(&first.session, None, 10)).entries;
        let bodies: Vec<Body> = entries.into_iter().map(|entry| entry.body).collect();
        assert_eq!(bodies[1], Body::Agent { text: "Löok".into(), offset: 0 });
        assert!(matches!(&bodies[2], Body::Tool { result: Some(done), .. } if done.output == "two files"));
        assert_eq!(bodies[3], Body::Agent { text: "Done. Bye.".into(), offset: 5 });
        assert_eq!(bodies.len(), 4);
    });
}

#[test]
fn a_call_that_is_told_again_before_its_end_is_the_same_one_and_better_known() {
    on_each(|bench| {
        let first = bench.send(plain("m1", 1));
        let turn = first.begun.unwrap().turn;
        let call = |arguments: &str| Output::ToolCall {
            call: "c".into(),
            name: "ls".into(),
            arguments: arguments.into(),
        };
        let result = Output::ToolResult { call: "c".into(), ok: true, output: "two files".into() };
        bench.step(|t| t.append_turn(turn, &[call("List")], at(2))).unwrap();
        bench.step(|t| t.append_turn(turn, &[call("ls -l"), result.clone(), call("ls -a")], at(3))).unwrap();
        let entries = bench.ask(|q| q.conversation(&first.session, None, 10)).entries;
        let calls: Vec<(&str, bool)> = entries
            .iter()
            .filter_map(|entry| match &entry.body {
                Body::Tool { arguments, result, .. } => Some((arguments.as_str(), result.is_some())),
                _ => None,
            })
            .collect();
        assert_eq!(calls, [("ls -l", true), ("ls -a", false)]);
    });
}

#[test]
fn a_turn_has_one_plan_in_the_place_of_its_first_and_it_is_told_while_it_runs_however_long_it_gets() {
    on_each(|bench| {
        let first = bench.send(plain("m1", 1));
        let turn = first.begun.unwrap().turn;
        let plan = |done| {
            let status = |n| if n < done { PlanStatus::Completed } else { PlanStatus::InProgress };
            Plan::of([("look", status(0)), ("write", status(1))])
        };
        let text = || Output::Text { text: "word ".to_owned() };
        bench.step(|t| t.append_turn(turn, &[text(), Output::Plan(plan(0)), text()], at(2))).unwrap();
        bench.step(|t| t.append_turn(turn, &[text(), Output::Plan(plan(1)), text()], at(3))).unwrap();
        let page = |bench: &Bench<'_>, limit| bench.ask(|q| q.conversation(&first.session, None, limit));
        let bodies: Vec<Body> = page(bench, 10).entries.into_iter().map(|entry| entry.body).collect();
        assert_eq!(bodies[2], Body::Plan(plan(1)), "{bodies:?}");
        assert_eq!(bodies[3], Body::Agent { text: "word word word ".into(), offset: 5 });
        assert_eq!((bodies.len(), page(bench, 1).plan), (4, Some(plan(1))));
        bench.step(|t| t.append_turn(turn, &[Output::Plan(plan(2))], at(4))).unwrap();
        bench.finish(end(turn, Outcome::Done, 5));
        assert_eq!(page(bench, 10).plan, None);
        assert_eq!(page(bench, 10).entries[2].body, Body::Plan(plan(2)));
    });
}

#[test]
fn a_summary_is_kept_with_the_entry_that_it_reaches_to_until_a_turn_that_it_stands_for_is_hidden() {
    on_each(|bench| {
        let session = bench.send(plain("m1", 1)).session;
        bench.finish_all(&session);
        let turn = bench.send(plain("m2", 3)).begun.unwrap().turn;
        let call =
            |n: u8| Output::ToolCall { call: format!("c{n}"), name: "ls".into(), arguments: "{}".into() };
        let short = |reach, text: &str| Output::Shortened {
            results: 2,
            summary: Some((reach, text.to_owned())),
            before: 9_000,
            after: 3_000,
        };
        let kept = |bench: &Bench<'_>| bench.ask(|q| q.summary(&session)).map(|kept| (kept.up_to, kept.text));
        let id =
            |bench: &Bench<'_>, n: usize| bench.ask(|q| q.conversation(&session, None, 10)).entries[n].id;
        let first = id(bench, 0);
        let output = [call(1), call(2), short(Reach::Entry(first), "one")];
        bench.step(|t| t.append_turn(turn, &output, at(4))).unwrap();
        assert_eq!(kept(bench), Some((first, "one".to_owned())));
        bench.step(|t| t.append_turn(turn, &[short(Reach::Calls(2), "two")], at(5))).unwrap();
        let second_call = id(bench, 3);
        assert_eq!(kept(bench), Some((second_call, "two".to_owned())), "in the place of the one before");
        bench.step(|t| t.append_turn(turn, &[short(Reach::Calls(9), "of nothing")], at(6))).unwrap();
        assert_eq!(kept(bench), Some((second_call, "two".to_owned())));
        bench.finish_all(&session);
        let later = bench.send(plain("m3", 8)).begun.unwrap().turn;
        bench.finish(end(later, Outcome::Done, 9));
        bench.step(|t| t.hide_turns(&session, 1, at(10))).unwrap();
        assert!(kept(bench).is_some(), "the turn behind it is no part of it");
        bench.step(|t| t.hide_turns(&session, 1, at(11))).unwrap();
        assert_eq!(kept(bench), None);
    });
}

#[test]
fn what_is_known_of_a_handle_is_kept_with_the_end_of_each_turn_that_used_one() {
    on_each(|bench| {
        let session = bench.send(plain("m1", 1)).session;
        let runtime = |bench: &Bench<'_>| bench.ask(|q| q.session(&session)).unwrap().session.runtime;
        assert_eq!(runtime(bench), Runtime::default());
        let finish = |bench: &mut Bench<'_>, handle, seconds| {
            let turn = bench.running(&session).unwrap();
            bench.finish(TurnEnd { handle, ..end(turn, Outcome::Done, seconds) });
            bench.send(plain("more", seconds + 1));
        };
        finish(bench, Some(HandleUse { health: Health::Healthy, restarts: 0 }), 2);
        let first = Runtime { health: Some(Health::Healthy), restart_count: 0, last_used_at: Some(at(2)) };
        assert_eq!(runtime(bench), first);
        finish(bench, Some(HandleUse { health: Health::Failed, restarts: 1 }), 4);
        let second = Runtime { health: Some(Health::Failed), restart_count: 1, last_used_at: Some(at(4)) };
        assert_eq!(runtime(bench), second);
        finish(bench, None, 6);
        assert_eq!(runtime(bench), second, "a turn that kept no handle tells nothing of one");
        finish(bench, Some(HandleUse { health: Health::Healthy, restarts: 1 }), 8);
        assert_eq!(runtime(bench).restart_count, 2);
    });
}

#[test]
fn a_turn_is_its_agents_from_the_beginning_and_takes_text_if_that_one_does() {
    on_each(|bench| {
        let other: AgentName = "other".parse().unwrap();
        let agent = |bench: &Bench<'_>, session: &SessionId| {
            let row = bench.ask(|q| q.session(session)).unwrap();
            (row.session.agent.unwrap().to_string(), row.turn.unwrap().steerable)
        };
        let session = bench.send(plain("m1", 1)).session;
        assert_eq!(agent(bench, &session), ("default".to_owned(), true));
        bench.step(|t| t.choose_model(&session, Some("large"), at(2))).unwrap();
        bench.step(|t| t.choose_agent(&session, Some(&other), at(2))).unwrap();
        assert_eq!(agent(bench, &session), ("default".to_owned(), true), "what runs goes on as it began");
        let chosen = bench.ask(|q| q.session(&session)).unwrap().session;
        assert_eq!((chosen.chosen_agent, chosen.chosen_model), (Some(other.clone()), None));
        bench.finish_all(&session);
        bench.send(plain("m2", 3));
        assert_eq!(agent(bench, &session), ("other".to_owned(), false));
        bench.step(|t| t.choose_agent(&session, None, at(4))).unwrap();
        bench.finish_all(&session);
        bench.send(plain("m3", 5));
        assert_eq!(agent(bench, &session), ("default".to_owned(), true));
        let elsewhere = NewMessage { to: "agent:main:telegram:dm:7".parse().unwrap(), ..plain("m4", 6) };
        let elsewhere = bench.send(elsewhere).session;
        assert_eq!(agent(bench, &elsewhere), ("other".to_owned(), false), "the one of its platform");
    });
}

#[test]
fn the_agents_own_session_is_kept_while_it_knows_what_is_shown_and_no_longer() {
    let kept = |id: &str| Some(AgentSession::new("one", id));
    on_each(|bench| {
        let session = bench.send(plain("m1", 1)).session;
        let known = |bench: &Bench<'_>| bench.ask(|q| q.session(&session)).unwrap().session.agent_session;
        let finish = |bench: &mut Bench<'_>, agent_session: Option<AgentSession>, did_anything, seconds| {
            let turn = bench.running(&session).unwrap();
            let outcome = if did_anything { Outcome::Done } else { failed() };
            bench.finish(TurnEnd { agent_session, did_anything, ..end(turn, outcome, seconds) });
        };
        let turn = bench.running(&session).unwrap();
        let keep = |bench: &mut Bench<'_>, id| {
            let told = [Output::Session(kept(id).unwrap())];
            bench.step(|t| t.append_turn(turn, &told, at(1))).unwrap();
        };
        keep(bench, "s1");
        assert_eq!(known(bench), kept("s1"), "it is kept before the turn ends");
        finish(bench, kept("s2"), true, 2);
        assert_eq!(known(bench), kept("s2"), "what it ended with counts");
        keep(bench, "s3");
        assert_eq!(known(bench), kept("s2"), "the turn had ended");
        bench.send(plain("m2", 3));
        let last = Usage { input: 7, cost: 9, ..Usage::default() };
        let used = AgentSession { told: ToldUse { last, by_turn: true }, ..kept("s2").unwrap() };
        finish(bench, Some(used.clone()), true, 3);
        assert_eq!(known(bench), Some(used), "with what it told of its use");
        bench.send(plain("m2", 3));
        finish(bench, kept("s2"), true, 3);
        bench.send(plain("m2", 3));
        finish(bench, None, false, 4);
        assert_eq!(known(bench), kept("s2"), "a turn that never reached an agent changes nothing");
        bench.send(plain("m3", 5));
        finish(bench, None, true, 6);
        assert_eq!(known(bench), None, "another agent answered");
        for take_back in [true, false] {
            bench.send(plain("m4", 7));
            finish(bench, kept("s4"), true, 8);
            if take_back {
                bench.step(|t| t.hide_turns(&session, 1, at(9))).unwrap();
            } else {
                bench.step(|t| t.retry(&session, Source::Console, at(9))).unwrap();
            }
            assert_eq!(known(bench), None, "it remembers more than is shown");
        }
        finish(bench, kept("s5"), true, 10);
        let fresh = SessionId::new(at(11), 11);
        let key = bench.ask(|q| q.session(&session)).unwrap().session.key;
        bench.step(|t| t.reset_session(&key, &fresh, None, at(11))).unwrap();
        assert_eq!(bench.ask(|q| q.session(&fresh)).unwrap().session.agent_session, None);
        bench.step(|t| t.switch_session(&key, &session, at(12))).unwrap();
        assert_eq!(known(bench), kept("s5"), "it is brought back with all that it had");
    });
}

#[test]
fn a_turn_of_an_earlier_run_takes_no_output_and_is_not_ended_by_its_task() {
    on_each(|bench| {
        let first = bench.send(plain("m1", 1));
        let turn = first.begun.unwrap().turn;
        bench.step(|t| t.open_run(&run(2, 2))).unwrap();
        let before = bench.ask(|q| q.conversation(&first.session, None, 10)).entries;
        let late = Output::Text { text: "too late".to_owned() };
        bench.step(|t| t.append_turn(turn, std::slice::from_ref(&late), at(3))).unwrap();
        assert!(!bench.finish(TurnEnd { tail: vec![late.clone()], ..end(turn, Outcome::Done, 4) }));
        assert_eq!(bench.ask(|q| q.conversation(&first.session, None, 10)).entries, before);
        assert_eq!(bench.state(first.item), ItemState::Interrupted);
    });
}

#[test]
fn the_session_that_is_live_under_a_key_is_found_and_an_ended_one_is_not() {
    on_each(|bench| {
        let live = |bench: &Bench<'_>| bench.ask(|q| q.live_session(&key("a")));
        assert_eq!(live(bench), None);
        let (first, second) = (SessionId::new(at(1), 1), SessionId::new(at(2), 2));
        assert_eq!(bench.step(|t| t.open_session(&key("a"), &first, at(1))).unwrap(), first);
        assert_eq!(bench.step(|t| t.open_session(&key("a"), &second, at(2))).unwrap(), first);
        assert_eq!(live(bench), Some(first.clone()));
        bench.step(|t| t.reset_session(&key("a"), &second, None, at(3))).unwrap();
        assert_eq!(live(bench), Some(second.clone()));
    });
}

#[test]
fn what_a_failed_turn_leaves_is_the_question_marked_failed() {
    on_each(|bench| {
        let first = bench.send(plain("m1", 1));
        bench.finish(end(first.begun.unwrap().turn, failed(), 2));
        let again = bench.step(|t| t.retry(&first.session, first_source(), at(3))).unwrap();
        let turn = again.begun.unwrap().turn;
        assert_eq!(bench.ask(|q| q.history_before(turn, 10)).entries, [], "the turn before is hidden");
        bench.finish(end(turn, failed(), 4));
        let third = bench.send(plain("m3", 5)).begun.unwrap().turn;
        let history = steps(&bench.ask(|q| q.history_before(third, 10)).entries);
        assert_eq!(history.len(), 2, "a question and a note that it has no answer");
    });
}

#[test]
fn what_an_agent_is_given_of_a_long_turn_begins_with_the_question_and_says_whether_it_is_all() {
    on_each(|bench| {
        let long = bench.send(plain("m1", 1)).begun.unwrap().turn;
        let calls: Vec<Output> = (1..=4)
            .map(|n| Output::ToolCall { call: format!("c{n}"), name: "ls".into(), arguments: "{}".into() })
            .collect();
        bench.step(|t| t.append_turn(long, &calls, at(2))).unwrap();
        bench.finish(end(long, Outcome::Done, 3));
        let next = bench.send(plain("m2", 4)).begun.unwrap().turn;
        let given = |limit| {
            let excerpt = bench.ask(|q| q.history_before(next, limit));
            let question = excerpt.entries.first().is_some_and(Entry::is_question);
            (excerpt.entries.len(), question, excerpt.beginning)
        };
        assert_eq!(given(6), (5, true, Beginning::There));
        assert_eq!(given(5), (5, true, Beginning::There), "as many as there are");
        assert_eq!(given(4), (5, true, Beginning::LeftOut));
        assert_eq!(given(2), (3, true, Beginning::LeftOut));
    });
}

fn first_source() -> switchboard::domain::queue::Source {
    switchboard::domain::queue::Source::Console
}

#[test]
fn undo_hides_turns_and_shows_them_again() {
    on_each(|bench| {
        let session = bench.send(plain("m1", 1)).session;
        refused(bench.step(|t| t.hide_turns(&session, 1, at(2))));
        bench.finish_all(&session);
        bench.send(plain("m2", 3));
        bench.finish_all(&session);
        let hidden = bench.step(|t| t.hide_turns(&session, 5, at(4))).unwrap();
        assert_eq!(hidden.len(), 2);
        assert_eq!(bench.worked_on(&session), [""; 0]);
        bench.step(|t| t.show_turns(&session, &hidden, at(5))).unwrap();
        assert_eq!(bench.worked_on(&session), ["m1", "m2"]);
    });
}

#[test]
fn resume_brings_a_session_back_and_clears_what_waited_in_the_other() {
    on_each(|bench| {
        let old = bench.send(plain("m1", 1)).session;
        bench.finish_all(&old);
        let fresh = SessionId::new(at(9), 1);
        bench.step(|t| t.reset_session(&key("a"), &fresh, None, at(2))).unwrap();
        refused(bench.step(|t| t.switch_session(&key("a"), &fresh, at(3))));
        bench.step(|t| t.set_gate(&NewGate::Hold("x".into()), at(3))).unwrap();
        let waits = bench.send(plain("waits", 3));
        bench.step(|t| t.switch_session(&key("a"), &old, at(4))).unwrap();
        assert_eq!(bench.state(waits.item), ItemState::Cleared);
        let live = bench.ask(|q| q.session_at(&key("a"))).unwrap();
        assert_eq!(live.session.id, old);
        assert_eq!(bench.ask(|q| q.counts()).sessions, 1);
        let elsewhere = bench.step(|t| t.switch_session(&key("b"), &old, at(5)));
        assert!(matches!(refused(elsewhere), Refusal::LiveElsewhere(_)));
    });
}

#[test]
fn last_activity_moves_only_when_a_person_or_the_agent_acts() {
    on_each(|bench| {
        let session = bench.send(plain("m1", 1)).session;
        let activity =
            |bench: &Bench<'_>| bench.ask(|q| q.session(&session)).unwrap().session.last_activity_at;
        bench.step(|t| t.set_title(&session, "t", at(10)).map(|_| ())).unwrap();
        bench.step(|t| t.open_session(&key("a"), &SessionId::new(at(9), 1), at(11))).unwrap();
        bench.step(|t| t.open_run(&run(2, 12))).unwrap();
        assert_eq!(activity(bench), at(1));
        bench.send(plain("m2", 13));
        assert_eq!(activity(bench), at(13));
        let turn = bench.running(&session).unwrap();
        bench.step(|t| t.append_turn(turn, &[Output::Text { text: "x".into() }], at(14))).unwrap();
        // A turn that runs is activity all along; its end is when it was.
        assert_eq!(activity(bench), at(13));
        bench.finish(end(turn, Outcome::Done, 15));
        assert_eq!(activity(bench), at(15));
    });
}

#[test]
fn an_item_put_into_the_slot_of_a_held_session_runs() {
    on_each(|bench| {
        let first = bench.send(plain("m1", 1));
        let item = bench.send(queued("a", "q", 2)).item;
        bench.step(|t| t.request_stop(&first.session, None, StopCause::Operator, at(3))).unwrap();
        let turn = first.begun.unwrap().turn;
        bench.finish(end(turn, Outcome::Interrupted { cause: StopCause::Operator }, 4));
        assert_eq!(bench.state(item), ItemState::Waiting);
        bench.step(|t| t.switch_lane(item, at(5))).unwrap();
        assert_eq!(bench.state(item), ItemState::Running);
        assert_eq!(bench.ask(|q| q.item(item)).unwrap().lane, Lane::Slot);
    });
}

#[test]
fn what_was_cut_is_done_when_a_resume_answers_it_though_one_before_that_failed() {
    on_each(|bench| {
        let cut = bench.send(plain("m1", 1));
        bench.step(|t| t.open_run(&run(2, 2))).unwrap();
        let resume = |bench: &mut Bench<'_>| bench.running(&cut.session).unwrap();
        let first = resume(bench);
        bench.finish(end(first, failed(), 3));
        assert_eq!(bench.state(cut.item), ItemState::Interrupted);
        bench.step(|t| t.release_queue(&cut.session, "/continue", at(4))).unwrap();
        let second = resume(bench);
        bench.finish(end(second, Outcome::Done, 5));
        assert_eq!(bench.state(cut.item), ItemState::Done);
    });
}

#[test]
fn composers_remember_two_hundred_texts_and_one_draft() {
    on_each(|bench| {
        for n in 0..203 {
            bench.step(|t| t.remember_draft(&key("a"), &format!("t{n}"), at(1))).unwrap();
        }
        bench.step(|t| t.save_draft(&key("a"), "half", at(1))).unwrap();
        let memory = bench.ask(|q| q.composer(&key("a")));
        assert_eq!((memory.draft.as_str(), memory.history.len()), ("half", 200));
        assert_eq!((memory.history[0].as_str(), memory.history[199].as_str()), ("t3", "t202"));
        bench.step(|t| t.save_draft(&key("a"), "", at(1))).unwrap();
        assert_eq!(bench.ask(|q| q.composer(&key("a"))).draft, "");
    });
}

#[test]
fn old_events_are_pruned_and_their_numbers_never_used_again() {
    on_each(|bench| {
        bench.send(plain("m1", 1));
        let last = bench.ask(|q| q.counts()).last_event.unwrap();
        assert_eq!(bench.step(|t| t.prune_events(at(100), 2)).unwrap(), 2);
        bench.step(|t| t.prune_events(at(100), 100)).unwrap();
        assert_eq!(bench.ask(|q| q.counts()).last_event, Some(last));
        let notice = EventKind::EngineStopCalledOff;
        bench.step(|t| t.record(None, notice.clone(), at(200))).unwrap();
        assert!(bench.ask(|q| q.counts()).last_event.unwrap() > last);
    });
}

#[test]
fn each_start_keeps_what_it_found_and_how_that_stands_now() {
    on_each(|bench| {
        let nightly = bench.send(message("a", "back the database up", 1));
        let turn = bench.running(&nightly.session).unwrap();
        bench.step(|t| t.append_turn(turn, &[tool_call()], at(2))).unwrap();
        let idle = bench.send(message("b", "hello", 3));
        bench.finish_all(&idle.session);
        bench.step(|t| t.open_run(&run(2, 10))).unwrap();

        let page = bench.ask(|q| q.recovery(None, 10));
        let start = page.chosen.unwrap();
        assert_eq!((start.run.0.as_str(), start.in_row, page.starts.len()), ("run-2", 1, 2));
        assert_eq!(start.counts(), "1 resumed, 1 owed nothing");
        let [cut, owed] = &page.sessions[..] else { panic!("{:?}", page.sessions) };
        assert_eq!(cut.session, nightly.session);
        assert_eq!(cut.message.as_deref(), Some("back the database up"));
        assert_eq!(cut.tool.as_deref(), Some("terminal pg_dump"));
        assert!(matches!(cut.verdict, Some(Verdict::Pending { cuts: 1, .. })), "{cut:?}");
        assert!(matches!(cut.state, RecoveryState::Resuming { .. }), "{cut:?}");
        assert_eq!(owed.state, RecoveryState::Cleared { by: Clearing::NothingOwed, at: at(10) });

        // Cut off again: the first start's row ends, the second tells of the same work.
        bench.step(|t| t.open_run(&run(3, 20))).unwrap();
        let before = bench.ask(|q| q.recovery(Some(&start.run), 10));
        assert_eq!(before.sessions[0].state, RecoveryState::DecidedAnew);
        let again = bench.ask(|q| q.recovery(None, 10)).sessions.remove(0);
        assert_eq!((again.cuts, again.message, again.tool), (2, cut.message.clone(), cut.tool.clone()));
        let turn = bench.running(&nightly.session).unwrap();
        bench.finish(end(turn, failed(), 21));
        let failed = bench.ask(|q| q.recovery(None, 10)).sessions.remove(0);
        assert_eq!(failed.state, RecoveryState::Failed { turn, outcome: self::failed() });

        // At the third start it is given up, and lifting that is told in the same place.
        bench.step(|t| t.open_run(&run(4, 30))).unwrap();
        let given_up = bench.ask(|q| q.recovery(None, 10));
        assert_eq!(given_up.sessions[0].state, RecoveryState::GivenUp);
        assert_eq!(bench.ask(|q| q.counts()).marked, 1);
        bench.step(|t| t.unsuspend_session(&nightly.session, at(31))).unwrap();
        let lifted = bench.ask(|q| q.recovery(None, 10)).sessions.remove(0);
        assert_eq!(lifted.state, RecoveryState::Cleared { by: Clearing::Unsuspend, at: at(31) });
        assert_eq!(bench.ask(|q| q.counts()).marked, 0);
    });
}

#[test]
fn the_newest_start_also_tells_of_sessions_that_were_marked_before_or_since() {
    on_each(|bench| {
        let session = bench.send(plain("hello", 1)).session;
        bench.finish_all(&session);
        bench.step(|t| t.stamp_run(at(4000))).unwrap();
        bench.step(|t| t.open_run(&run(2, 5000))).unwrap();
        assert_eq!(bench.ask(|q| q.recovery(None, 10)).sessions, []);
        bench.step(|t| t.suspend_session(&session, at(5001))).unwrap();
        for next in [3, 4] {
            let page = bench.ask(|q| q.recovery(None, 10));
            let [row] = &page.sessions[..] else { panic!("{:?}", page.sessions) };
            assert_eq!((row.verdict, &row.state), (None, &RecoveryState::GivenUp));
            bench.step(|t| t.open_run(&run(next, 9000))).unwrap();
        }
    });
}

#[test]
fn what_a_drain_cut_is_told_as_resumed_by_the_next_start_with_what_it_was() {
    on_each(|bench| {
        let session = bench.send(plain("back the database up", 1)).session;
        let stop = NewGate::Stopping { why: "quit".to_owned(), mark: ResumeReason::ShutdownTimeout };
        bench.step(|t| t.set_gate(&stop, at(2))).unwrap();
        let turn = bench.running(&session).unwrap();
        let row = |bench: &Bench<'_>| bench.ask(|q| q.recovery(None, 10)).sessions.remove(0);
        assert_eq!(row(bench).state, RecoveryState::Runs { turn, since: at(1) });
        bench.finish(end(turn, Outcome::Interrupted { cause: StopCause::Shutdown }, 3));
        bench.step(|t| t.close_run(&run(1, 0).run, at(4))).unwrap();
        let cut = row(bench);
        assert_eq!(cut.state, RecoveryState::NextStart { until: at(3602) });
        assert_eq!(cut.interrupted().as_deref(), Some("\"back the database up\""));
    });
}
