//! Questions of agents: kept before anyone is asked, settled once, and never left open by a turn that ended.

use switchboard::domain::alert::AlertKey;
use switchboard::domain::api::EventPage;
use switchboard::domain::approval::{Always, Answer, Approval, Decision, Ending, Question};
use switchboard::domain::event::Level;
use switchboard::domain::history::{Body, Entry};
use switchboard::domain::id::{SessionId, TurnId};
use switchboard::domain::session::SessionState;
use switchboard::domain::turn::{Outcome, Output, StopCause, TurnEnd};
use switchboard::store::{NewApproval, NewMessage, Result};

use crate::conformance::{Bench, on_each, refused};
use crate::given::{at, end, key, message, run};

fn question(what: &str) -> Question {
    let (tool, folder) = ("terminal".to_owned(), "/srv/api".to_owned());
    Question { tool, what: what.to_owned(), folder, always: Always::of(what) }
}

fn ask(bench: &mut Bench<'_>, turn: TurnId, what: &str, seconds: i64) -> Result<Approval> {
    let new = NewApproval { turn, question: question(what), denies_at: at(seconds + 600) };
    bench.step(|t| t.ask_approval(&new, at(seconds)))
}

fn settle(bench: &mut Bench<'_>, asked: &Approval, ending: Ending, seconds: i64) -> Result<Approval> {
    bench.step(|t| t.settle_approval(asked.id, &ending, at(seconds)))
}

fn running(bench: &mut Bench<'_>) -> (SessionId, TurnId) {
    let session = bench.send(message("a", "deploy it", 1)).session;
    let turn = bench.running(&session).unwrap();
    (session, turn)
}

fn decision(bench: &Bench<'_>, asked: &Approval) -> Option<Decision> {
    bench.ask(|q| q.approval(asked.id)).unwrap().decision
}

#[test]
fn what_was_denied_in_a_turn_is_told_and_what_was_allowed_or_waits_is_not() {
    on_each(|bench| {
        let (session, turn) = running(bench);
        let [no, yes, late, _open] = [(2, "git push"), (3, "git pull"), (4, "git fetch"), (5, "git tag")]
            .map(|(at, what)| ask(bench, turn, what, at).unwrap());
        settle(bench, &late, Ending::TimedOut, 10).unwrap();
        settle(bench, &yes, Ending::Answered(Answer::Once), 11).unwrap();
        settle(bench, &no, Ending::Answered(Answer::Deny { why: None }), 12).unwrap();
        let denied: Vec<_> = bench.ask(|q| q.denied_in(turn)).into_iter().map(|asked| asked.id).collect();
        assert_eq!(denied, [no.id, late.id]);
        bench.step(|t| t.finish_turn(&end(turn, Outcome::Done, 20))).unwrap();
        assert_eq!(
            bench.ask(|q| q.denied_in(turn)).len(),
            2,
            "what the end of the turn took back is no denial"
        );
        bench.send(message("a", "again", 30));
        let next = bench.running(&session).unwrap();
        assert_eq!(bench.ask(|q| q.denied_in(next)), []);
    });
}

#[test]
fn a_question_is_forgotten_some_time_after_it_was_settled_and_never_before() {
    on_each(|bench| {
        let (_, turn) = running(bench);
        let [first, second, open] = [(2, "git push"), (3, "git pull"), (4, "git fetch")]
            .map(|(at, what)| ask(bench, turn, what, at).unwrap());
        settle(bench, &second, Ending::Answered(Answer::Once), 10).unwrap();
        settle(bench, &first, Ending::TimedOut, 11).unwrap();
        assert_eq!(bench.step(|t| t.prune_approvals(at(10), 9)).unwrap(), 0);
        assert_eq!(bench.step(|t| t.prune_approvals(at(100), 1)).unwrap(), 1, "the oldest first");
        assert_eq!(bench.ask(|q| q.approval(first.id)), None);
        assert_eq!(bench.step(|t| t.prune_approvals(at(100), 9)).unwrap(), 1);
        assert_eq!(bench.step(|t| t.prune_approvals(at(100), 9)).unwrap(), 0);
        assert_eq!(decision(bench, &open), None);
        let refused = settle(bench, &first, Ending::Answered(Answer::Once), 101).unwrap_err().to_string();
        assert!(refused.contains(&format!("there is no question {}", first.id)), "{refused}");
        let next = ask(bench, turn, "git tag", 102).unwrap();
        assert!(next.id > open.id, "no number is given twice");
    });
}

#[test]
fn a_question_makes_its_session_need_a_person_until_it_is_answered() {
    on_each(|bench| {
        let (session, turn) = running(bench);
        let asked = ask(bench, turn, "git push", 2).unwrap();
        let row = bench.ask(|q| q.session(&session)).unwrap();
        assert_eq!((row.state, &row.asks), (SessionState::NeedsYou, &vec![asked.clone()]));
        let counts = bench.ask(|q| q.counts());
        assert_eq!((counts.needs_you, counts.running, counts.asking), (1, 0, 1));
        let [alert] = &bench.ask(|q| q.alerts(9))[..] else { panic!("no alert") };
        assert_eq!(alert.key, AlertKey::approval(&session));
        assert_eq!(alert.words, "a asks: terminal: git push; /approve 1 or /deny 1 answers");

        let settled = settle(bench, &asked, Ending::Answered(Answer::Once), 3).unwrap();
        assert_eq!(settled.decision, Some(Decision::Once));
        let row = bench.ask(|q| q.session(&session)).unwrap();
        assert_eq!((row.state, row.asks), (SessionState::Runs, vec![]));
        assert_eq!(bench.ask(|q| q.alerts(9)), []);
        let again = settle(bench, &asked, Ending::TimedOut, 4).unwrap_err().to_string();
        assert!(again.contains("settled already: allowed once"), "{again}");
    });
}

#[test]
fn of_two_questions_the_alert_stays_until_both_are_answered() {
    on_each(|bench| {
        let (session, turn) = running(bench);
        let first = ask(bench, turn, "git push", 2).unwrap();
        let second = ask(bench, turn, "git tag v1", 3).unwrap();
        settle(bench, &first, Ending::TimedOut, 4).unwrap();
        let row = bench.ask(|q| q.session(&session)).unwrap();
        assert_eq!((row.state, row.asks), (SessionState::NeedsYou, vec![second.clone()]));
        assert_eq!(bench.ask(|q| q.alerts(9)).len(), 1);
        settle(bench, &second, Ending::Withdrawn, 5).unwrap();
        assert_eq!(bench.ask(|q| q.alerts(9)), []);
    });
}

#[test]
fn always_holds_for_its_session_and_ends_with_it() {
    on_each(|bench| {
        let (_, turn) = running(bench);
        let asked = ask(bench, turn, "git push origin main", 2).unwrap();
        settle(bench, &asked, Ending::Answered(Answer::Always), 3).unwrap();
        let again = ask(bench, turn, "git push --tags", 4).unwrap();
        assert_eq!(again.decision, Some(Decision::Before { prefix: "git push".to_owned() }));
        let other = ask(bench, turn, "git push && reboot", 5).unwrap();
        assert_eq!(other.decision, None);
        bench.step(|t| t.reset_session(&key("a"), &SessionId::new(at(6), 9), None, at(6))).unwrap();
        let session = bench.send(message("a", "again", 7)).session;
        let turn = bench.running(&session).unwrap();
        assert_eq!(ask(bench, turn, "git push", 8).unwrap().decision, None);
    });
}

#[test]
fn what_was_always_allowed_is_listed_and_asked_again_once_it_is_taken_back() {
    on_each(|bench| {
        let (session, turn) = running(bench);
        for (command, seconds) in [("git push", 2), ("git log -p", 4)] {
            let asked = ask(bench, turn, command, seconds).unwrap();
            settle(bench, &asked, Ending::Answered(Answer::Always), seconds + 1).unwrap();
        }
        let listed = |bench: &Bench<'_>, of: Option<&SessionId>| {
            let rows = bench.ask(|q| q.allowed(of, 9));
            rows.into_iter().map(|row| (row.allowed.prefix, row.allowed.since)).collect::<Vec<_>>()
        };
        let both = [("git log".to_owned(), at(5)), ("git push".to_owned(), at(3))];
        assert_eq!(listed(bench, None), both);
        let unknown = refused(bench.step(|t| t.disallow(&session, "git", at(6)))).to_string();
        assert!(unknown.contains("\"git\" is not always allowed") && unknown.contains("git log, git push"));
        bench.step(|t| t.disallow(&session, "git push", at(6))).unwrap();
        assert_eq!(ask(bench, turn, "git push", 7).unwrap().decision, None);
        let events = bench.ask(|q| q.events(EventPage::Newest, Level::Info, Some(&session), 99));
        let told = "not allowed without asking any more: git push";
        assert!(events.iter().any(|event| event.kind.words() == told));
        bench.step(|t| t.reset_session(&key("a"), &SessionId::new(at(8), 9), None, at(8))).unwrap();
        assert_eq!(listed(bench, None), []);
        assert_eq!(listed(bench, Some(&session)), both[..1], "it comes back with its session");
    });
}

#[test]
fn the_alert_of_several_questions_names_the_one_that_is_answered_first_and_is_new_for_each() {
    on_each(|bench| {
        let (_, turn) = running(bench);
        let [first, ..] = ["ls", "make x\nrm -rf /"].map(|command| ask(bench, turn, command, 2).unwrap());
        let alert = |bench: &Bench<'_>| bench.ask(|q| q.alerts(9)).remove(0);
        assert_eq!(
            alert(bench).words,
            "a asks: terminal: ls (the first of 2 questions); /approve 1 or /deny 1 answers"
        );
        settle(bench, &first, Ending::Answered(Answer::Once), 3).unwrap();
        let next = alert(bench);
        assert_eq!(next.words, "a asks: terminal: make x ⏎ rm -rf /; /approve 2 or /deny 2 answers");
        assert_eq!(
            (next.raised_at, next.raises),
            (at(3), 1),
            "who is told of alerts is told of this one too"
        );
    });
}

#[test]
fn the_end_of_a_turn_and_a_stop_settle_what_is_open() {
    on_each(|bench| {
        let (session, turn) = running(bench);
        let asked = ask(bench, turn, "git push", 2).unwrap();
        bench.step(|t| t.request_stop(&session, None, StopCause::Operator, at(3))).unwrap();
        let why = "the turn was told to stop".to_owned();
        assert_eq!(decision(bench, &asked), Some(Decision::Cancelled { why }));
        let late = ask(bench, turn, "git push", 4).unwrap();
        bench.finish(end(turn, Outcome::Done, 5));
        let why = "the turn has ended".to_owned();
        assert_eq!(decision(bench, &late), Some(Decision::Cancelled { why }));
        assert_eq!(bench.ask(|q| q.alerts(9)), []);
        assert!(refused(ask(bench, turn, "git push", 6)).to_string().contains("the turn has ended"));
    });
}

fn call(name: &str) -> Output {
    Output::ToolCall { call: name.to_owned(), name: "terminal".to_owned(), arguments: "{}".to_owned() }
}

fn denied(output: &str) -> Output {
    Output::ToolResult { call: "asks".to_owned(), ok: false, output: output.to_owned() }
}

/// What is recorded for each call of a stopped session.
fn results(bench: &Bench<'_>, session: &SessionId) -> Vec<String> {
    let entries = bench.ask(|q| q.conversation(session, None, 99)).entries;
    let result = |entry: Entry| match entry.body {
        Body::Tool { result, .. } => Some(result.unwrap().output),
        _ => None,
    };
    entries.into_iter().filter_map(result).collect()
}

#[test]
fn a_call_that_waited_when_its_turn_was_told_to_stop_is_not_done_and_any_other_may_have_been() {
    const NOT_DONE: &str = "not done: nobody had answered yet whether it may be";
    const UNKNOWN: &str = "interrupted, effect unknown";
    let told = "not done: the turn was told to stop";
    let cases: [(&[&str], &[Output], &[&str]); 4] = [
        (&["asks"], &[], &[NOT_DONE]),
        (&["runs", "asks"], &[], &[UNKNOWN, UNKNOWN]),
        (&["asks"], &[call("comes late")], &[UNKNOWN, UNKNOWN]),
        (&["runs", "asks"], &[denied(told)], &[UNKNOWN, told]),
    ];
    for (before, tail, expected) in cases {
        let calls: Vec<Output> = before.iter().map(|name| call(name)).collect();
        on_each(|bench| {
            let (session, turn) = running(bench);
            bench.step(|t| t.append_turn(turn, &calls, at(2))).unwrap();
            ask(bench, turn, "git push", 3).unwrap();
            bench.step(|t| t.request_stop(&session, None, StopCause::Operator, at(4))).unwrap();
            let stopped = Outcome::Interrupted { cause: StopCause::Operator };
            bench.finish(TurnEnd { tail: tail.to_vec(), ..end(turn, stopped, 5) });
            assert_eq!(results(bench, &session), expected);
        });
    }
}

#[test]
fn a_crash_settles_what_is_open_and_its_call_is_not_repeated() {
    on_each(|bench| {
        let (session, turn) = running(bench);
        let asked = ask(bench, turn, "git push", 2).unwrap();
        bench.step(|t| t.open_run(&run(2, 60))).unwrap();
        assert!(matches!(decision(bench, &asked), Some(Decision::Cancelled { .. })));
        let row = bench.ask(|q| q.session(&session)).unwrap();
        assert_eq!(row.asks, []);
        assert_eq!(bench.ask(|q| q.alerts(9)), []);
    });
}

#[test]
fn the_turn_of_a_scheduled_task_is_denied_at_once() {
    on_each(|bench| {
        let to = "agent:main:cron:job:backup".parse().unwrap();
        let session = bench.send(NewMessage { to, ..message("a", "back it up", 1) }).session;
        let turn = bench.running(&session).unwrap();
        let asked = ask(bench, turn, "git push", 2).unwrap();
        assert!(
            matches!(&asked.decision, Some(Decision::NobodyToAsk { why }) if why.contains("scheduled task"))
        );
        assert_eq!(bench.ask(|q| q.session(&session)).unwrap().state, SessionState::Runs);
        assert_eq!(bench.ask(|q| q.alerts(9)), []);
    });
}
