//! Whatever happens in whatever order, SQLite does what the model does: nothing is lost, nothing
//! doubled, the order is kept, and every answer is the same.
//!
//! A failing sequence is printed and shrunk; `PROPTEST_RNG_SEED` repeats a run, `PROPTEST_CASES` sets
//! how many there are.

use chrono_tz::Tz;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::path::Path;

use switchboard::domain::alert::{Acknowledgement, Alert, AlertKey, NewAlert, RaisedBy, Subject};
use switchboard::domain::api::{Direction, EventPage, FileTrouble};
use switchboard::domain::approval::{Always, Answer as PersonsAnswer, Ending, Question};
use switchboard::domain::background::{Ended, Exit, StoppedBy, Which};
use switchboard::domain::cron::{
    ClaimKey, Counting, Definition, Delivery, DeliveryState, ExecutionState, JobId, Misfire, Overlap,
    SessionMode, Target,
};
use switchboard::domain::event::Level;
use switchboard::domain::filter::Filter;
use switchboard::domain::id::{ApprovalId, ExecutionId, ItemId, ProcessNumber, RunId, SessionId, TurnId};
use switchboard::domain::marker::ResumeReason;
use switchboard::domain::plan::{Plan, PlanStatus};
use switchboard::domain::process::{ChildProcess, Fate, ProcessIdentity};
use switchboard::domain::queue::{BusyMode, Destination, Intent, Item, ItemState, PutBack, Source};
use switchboard::domain::reset::{Notice, ResetMode};
use switchboard::domain::session::{AgentSession, ContextUse, HandleUse, Health, ToldUse, Usage};
use switchboard::domain::spending::{Limit, Rules, Scope};
use switchboard::domain::turn::{Outcome, Output, Reach, StopCause, TurnEnd};
use switchboard::store::sqlite::Database;
use switchboard::store::{
    ExecutionEnd, JobQueries, JobsSeen, NewApproval, NewBackground, NewClaim, NewGate, NewMessage, NewRun,
    Post, Queries, Result, RunTurn, SeenFile, SeenRecord, StoreError, Tick, Transitions,
};

use crate::given::{at, key, message, rule, run};
use crate::jobs::{claim, ended, job, record};
use crate::model::Model;

const KEYS: [&str; 3] = ["a", "b", "host-c"];
const STATES: [&str; 2] = [r#"{"runtime":"other" }"#, r#"{"runtime_state": {"other":{ }}}"#];

/// Something that happens. Numbers choose among what there is, by remainder.
#[derive(Debug, Clone)]
enum Op {
    Send { key: usize, intent: Intent, mode: ResetMode, notice: Notice },
    CarryOver { session: usize },
    AgentState { key: usize, state: usize },
    BusyMode { session: usize, mode: Option<BusyMode> },
    ChooseAgent { session: usize, agent: Option<&'static str> },
    ChooseModel { session: usize, model: Option<&'static str> },
    Append { turn: usize, output: Vec<Output> },
    AgentSession { turn: usize, session: usize },
    Finish { turn: usize, outcome: Outcome, tail: Vec<Output>, did_anything: bool, taken: usize },
    FinishAgain { turn: usize },
    Stop { session: usize, cause: StopCause },
    New { key: usize, titled: bool },
    Switch { key: usize, session: usize },
    Release { session: usize },
    Suspend { session: usize },
    Unsuspend { session: usize },
    Stamp,
    Look,
    KeepProcess { turn: usize, pid: u32 },
    SettleProcess { turn: usize, pid: u32, fate: Fate },
    KeepBackground { turn: usize, pid: u32 },
    StopBackground { session: usize, number: Option<i64>, by: StoppedBy },
    EndBackground { session: usize, number: i64, exit: Exit },
    PruneBackground { seconds: i64 },
    Ask { turn: usize, command: usize },
    Settle { approval: i64, ending: Ending },
    Disallow { session: usize, command: usize },
    Probe,
    Gate(NewGate),
    Move { item: usize, direction: Direction },
    Edit { item: usize, read_before: bool },
    Drop { item: usize },
    DropAndUndo { item: usize },
    Restore { first: usize, second: usize },
    SwitchLane { item: usize },
    Clear { session: usize },
    Title { session: usize, title: usize },
    Hide { session: usize, count: usize },
    Show { session: usize, turn: usize },
    Retry { session: usize },
    RaiseAlert { session: usize, by: RaisedBy },
    ResolveAlert { session: usize },
    AcknowledgeAlert { session: usize, what: Acknowledgement },
    AlertTold { alert: usize, failure: Option<String> },
    Prune { seconds: i64 },
    SyncJobs { records: usize },
    JobsUnreadable { column: usize },
    Tick { limit: usize },
    RunNow { job: usize, counting: Counting },
    Withdraw { run: i64 },
    Claim { max_parallel: usize },
    BeginRun { claim: usize },
    BeginRunTurn { claim: usize, session: SessionMode },
    BeatRun { claim: usize },
    EndRun { claim: usize, state: ExecutionState },
    SettleDelivery { pending: usize, state: DeliveryState },
    Free { dead: usize },
    RenameJob { job: usize, to: usize },
    PauseJob { job: usize },
    ResumeJob { job: usize },
    PruneJobs { keep: usize },
    Crash { with_work: bool },
    Pass { seconds: i64 },
}

fn output() -> impl Strategy<Value = Vec<Output>> {
    let words = prop_oneof![Just("word ".to_owned()), Just("ünicode…".to_owned()), Just(String::new())];
    let part = prop_oneof![
        4 => words.clone().prop_map(|text| Output::Text { text }),
        2 => words.clone().prop_map(|text| Output::Reasoning { text }),
        1 => (0..2_u8, words.clone()).prop_map(|(n, arguments)| Output::ToolCall {
            call: format!("c{n}"),
            name: "ls".to_owned(),
            arguments,
        }),
        1 => (0..3_usize).prop_map(|done| {
            let status = |n| if n < done { PlanStatus::Completed } else { PlanStatus::Pending };
            Output::Plan(Plan::of(["look", "write"].into_iter().enumerate().map(|(n, step)| (step, status(n)))))
        }),
        1 => (0..3_u8, any::<bool>(), words).prop_map(|(n, ok, output)| Output::ToolResult {
            call: format!("c{n}"),
            ok,
            output,
        }),
        2 => (0..9_u64).prop_map(|n| Output::Used(Usage { input: n, output: 5, cost: 7, ..Usage::default() })),
        1 => (0..4_usize, 0..3_usize).prop_map(|(results, calls)| Output::Shortened {
            results,
            summary: (calls > 0).then(|| (Reach::Calls(calls), format!("{calls} calls in short"))),
            before: 900,
            after: 300,
        }),
    ];
    proptest::collection::vec(part, 0..4)
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        3 => Just(Outcome::Done),
        4 => Just(Outcome::Failed { error: "no answer".to_owned() }),
        1 => cause().prop_map(|cause| Outcome::Interrupted { cause }),
    ]
}

fn cause() -> impl Strategy<Value = StopCause> {
    prop_oneof![
        4 => Just(StopCause::Operator),
        1 => Just(StopCause::NewMessage),
        1 => Just(StopCause::Shutdown),
        1 => Just(StopCause::HandleLost),
    ]
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![Just(Fate::Gone), Just(Fate::Killed), Just(Fate::Lives { why: "no".to_owned() })]
}

fn stopped_by() -> impl Strategy<Value = StoppedBy> {
    prop_oneof![Just(StoppedBy::Operator), Just(StoppedBy::Agent)]
}

fn exit() -> impl Strategy<Value = Exit> {
    prop_oneof![
        (0..2).prop_map(|code| Exit::Code { code }),
        Just(Exit::Signal { signal: 9 }),
        Just(Exit::Unknown { why: "nobody saw it".to_owned() }),
    ]
}

fn ending() -> impl Strategy<Value = Ending> {
    prop_oneof![
        2 => Just(Ending::Answered(PersonsAnswer::Once)),
        3 => Just(Ending::Answered(PersonsAnswer::Always)),
        1 => Just(Ending::Answered(PersonsAnswer::Deny { why: None })),
        1 => Just(Ending::Answered(PersonsAnswer::Deny { why: Some("no".to_owned()) })),
        1 => Just(Ending::TimedOut),
        1 => Just(Ending::Withdrawn),
    ]
}

fn question(command: usize) -> Question {
    let what = ["git push", "git log -p", "a && b", "git push --force"][command % 4];
    let (tool, folder) = ("terminal".to_owned(), "/srv".to_owned());
    Question { tool, what: what.to_owned(), folder, always: Always::of(what) }
}

fn child(turn: TurnId, pid: u32) -> ChildProcess {
    let identity = ProcessIdentity { pid, boot: "b".to_owned(), started: u64::from(pid) + 7 };
    ChildProcess { turn, program: "agent.sh".to_owned(), identity }
}

fn op() -> impl Strategy<Value = Op> {
    let n = || 0..64_usize;
    let reset = || prop::sample::select(&ResetMode::ALL[..]);
    let notice = prop_oneof![3 => Just(Notice::Given), 1 => Just(Notice::Withheld)];
    let intent = prop_oneof![3 => Just(Intent::Plain), 3 => Just(Intent::Queue), 1 => Just(Intent::Steer)];
    let mode = (0..=BusyMode::ALL.len()).prop_map(|index| BusyMode::ALL.get(index).copied());
    let gate = prop_oneof![
        1 => Just(NewGate::Hold("pause".to_owned())),
        3 => Just(NewGate::Release),
        1 => Just(NewGate::Stopping { why: "quit".to_owned(), mark: ResumeReason::ShutdownTimeout }),
        1 => Just(NewGate::Stopping { why: "restart".to_owned(), mark: ResumeReason::RestartTimeout }),
        3 => Just(NewGate::KeepRunning),
    ];
    let direction = prop_oneof![Just(Direction::Up), Just(Direction::Down)];
    prop_oneof![
        12 => (n(), intent, reset(), notice)
            .prop_map(|(key, intent, mode, notice)| Op::Send { key, intent, mode, notice }),
        2 => n().prop_map(|session| Op::CarryOver { session }),
        2 => (n(), n()).prop_map(|(key, state)| Op::AgentState { key, state }),
        2 => (n(), mode).prop_map(|(session, mode)| Op::BusyMode { session, mode }),
        1 => (n(), proptest::option::of(prop_oneof![Just("other"), Just("gone")]))
            .prop_map(|(session, agent)| Op::ChooseAgent { session, agent }),
        1 => (n(), proptest::option::of(Just("other"))).prop_map(|(session, model)| Op::ChooseModel { session, model }),
        3 => (n(), output()).prop_map(|(turn, output)| Op::Append { turn, output }),
        2 => (n(), n()).prop_map(|(turn, session)| Op::AgentSession { turn, session }),
        12 => (n(), outcome(), output(), any::<bool>(), n()).prop_map(
            |(turn, outcome, tail, did_anything, taken)| Op::Finish { turn, outcome, tail, did_anything, taken }
        ),
        1 => n().prop_map(|turn| Op::FinishAgain { turn }),
        3 => (n(), cause()).prop_map(|(session, cause)| Op::Stop { session, cause }),
        1 => (n(), any::<bool>()).prop_map(|(key, titled)| Op::New { key, titled }),
        1 => (n(), n()).prop_map(|(key, session)| Op::Switch { key, session }),
        3 => n().prop_map(|session| Op::Release { session }),
        1 => n().prop_map(|session| Op::Suspend { session }),
        1 => n().prop_map(|session| Op::Unsuspend { session }),
        1 => Just(Op::Stamp),
        1 => Just(Op::Look),
        2 => (n(), 0..4_u32).prop_map(|(turn, pid)| Op::KeepProcess { turn, pid }),
        1 => (n(), 0..4_u32, fate()).prop_map(|(turn, pid, fate)| Op::SettleProcess { turn, pid, fate }),
        4 => (n(), 10..14_u32).prop_map(|(turn, pid)| Op::KeepBackground { turn, pid }),
        2 => (n(), proptest::option::of(1..4_i64), stopped_by())
            .prop_map(|(session, number, by)| Op::StopBackground { session, number, by }),
        3 => (n(), 1..4_i64, exit())
            .prop_map(|(session, number, exit)| Op::EndBackground { session, number, exit }),
        1 => (0..100_i64).prop_map(|seconds| Op::PruneBackground { seconds }),
        5 => (n(), n()).prop_map(|(turn, command)| Op::Ask { turn, command }),
        4 => (0..9_i64, ending()).prop_map(|(approval, ending)| Op::Settle { approval, ending }),
        1 => (n(), n()).prop_map(|(session, command)| Op::Disallow { session, command }),
        3 => Just(Op::Probe),
        3 => gate.prop_map(Op::Gate),
        2 => (n(), direction).prop_map(|(item, direction)| Op::Move { item, direction }),
        1 => (n(), any::<bool>()).prop_map(|(item, read_before)| Op::Edit { item, read_before }),
        2 => n().prop_map(|item| Op::Drop { item }),
        2 => n().prop_map(|item| Op::DropAndUndo { item }),
        3 => (n(), n()).prop_map(|(first, second)| Op::Restore { first, second }),
        2 => n().prop_map(|item| Op::SwitchLane { item }),
        1 => n().prop_map(|session| Op::Clear { session }),
        1 => (n(), 0..3_usize).prop_map(|(session, title)| Op::Title { session, title }),
        1 => (n(), 0..3_usize).prop_map(|(session, count)| Op::Hide { session, count }),
        1 => (n(), n()).prop_map(|(session, turn)| Op::Show { session, turn }),
        2 => n().prop_map(|session| Op::Retry { session }),
        1 => (n(), raised_by()).prop_map(|(session, by)| Op::RaiseAlert { session, by }),
        1 => n().prop_map(|session| Op::ResolveAlert { session }),
        2 => (n(), acknowledgement()).prop_map(|(session, what)| Op::AcknowledgeAlert { session, what }),
        2 => (n(), any::<bool>()).prop_map(|(alert, failed)| Op::AlertTold {
            alert,
            failure: failed.then(|| "exit status 1".to_owned()),
        }),
        1 => (0..100_i64).prop_map(|seconds| Op::Prune { seconds }),
        20 => job_op(),
        2 => any::<bool>().prop_map(|with_work| Op::Crash { with_work }),
        2 => (1..200_i64).prop_map(|seconds| Op::Pass { seconds }),
        2 => (1..60_000_i64).prop_map(|seconds| Op::Pass { seconds }),
    ]
}

fn job_op() -> impl Strategy<Value = Op> {
    let n = || 0..64_usize;
    let counting = prop_oneof![Just(Counting::Counts), Just(Counting::Beside)];
    let session = prop_oneof![3 => Just(SessionMode::Fresh), 1 => Just(SessionMode::Keep)];
    let state = prop_oneof![
        2 => Just(ExecutionState::Succeeded),
        3 => Just(ExecutionState::Failed),
        1 => Just(ExecutionState::BlockedConfig),
        1 => Just(ExecutionState::Interrupted),
    ];
    let settled = prop_oneof![Just(DeliveryState::Delivered), Just(DeliveryState::Failed)];
    prop_oneof![
        4 => (0..30_000_000_usize).prop_map(|records| Op::SyncJobs { records }),
        1 => (0..2_usize).prop_map(|column| Op::JobsUnreadable { column }),
        8 => (1..4_usize).prop_map(|limit| Op::Tick { limit }),
        2 => (n(), counting).prop_map(|(job, counting)| Op::RunNow { job, counting }),
        2 => (1..40_i64).prop_map(|run| Op::Withdraw { run }),
        6 => (1..4_usize).prop_map(|max_parallel| Op::Claim { max_parallel }),
        5 => n().prop_map(|claim| Op::BeginRun { claim }),
        4 => (n(), session).prop_map(|(claim, session)| Op::BeginRunTurn { claim, session }),
        1 => n().prop_map(|claim| Op::BeatRun { claim }),
        5 => (n(), state).prop_map(|(claim, state)| Op::EndRun { claim, state }),
        2 => (n(), settled).prop_map(|(pending, state)| Op::SettleDelivery { pending, state }),
        2 => n().prop_map(|dead| Op::Free { dead }),
        2 => (n(), n()).prop_map(|(job, to)| Op::RenameJob { job, to }),
        1 => n().prop_map(|job| Op::PauseJob { job }),
        2 => n().prop_map(|job| Op::ResumeJob { job }),
        1 => (0..4_usize).prop_map(|keep| Op::PruneJobs { keep }),
    ]
}

/// Records by a number: which jobs are there, and what each says.
fn records(mut number: usize) -> Vec<SeenRecord> {
    let mut choose = |of: usize| {
        let chosen = number % of;
        number /= of;
        chosen
    };
    let mut records = Vec::new();
    for id in ["a", "b", "c"] {
        let schedule = ["* * * * *", "every 5m", "in 3m", "2023-11-14T22:30", "0 * * * *", "no"][choose(6)];
        let definition = Definition {
            overlap: [Overlap::Skip, Overlap::Queue, Overlap::Allow, Overlap::Replace][choose(4)],
            enabled: choose(4) > 0,
            repeat: [None, Some(2)][choose(2)],
            misfire: [Misfire::Once, Misfire::Skip, Misfire::All(2)][records.len()],
            jitter_seconds: 20,
            agent: [None, Some("other".to_owned())][choose(2)].clone(),
            ..job(id, schedule)
        };
        let runs = choose(3);
        let record = |definition| with_runs(record(definition), runs);
        match choose(7) {
            0 => {}
            1 => records.push(SeenRecord {
                id: None,
                definition: None,
                faults: vec!["id: missing".to_owned()],
                ..record(&definition)
            }),
            _ => records.push(record(&definition)),
        }
    }
    records
}

/// The same record, in which another program wrote that it ran the job so often.
fn with_runs(record: SeenRecord, runs: usize) -> SeenRecord {
    if runs == 0 {
        return record;
    }
    let wrote = format!("{{\"last_run_at\":\"2023-11-1{runs}T00:00:00Z\",");
    SeenRecord { text: record.text.replacen('{', &wrote, 1), ..record }
}

fn raised_by() -> impl Strategy<Value = RaisedBy> {
    prop_oneof![3 => Just(RaisedBy::Itself), 1 => Just(RaisedBy::Operator)]
}

fn acknowledgement() -> impl Strategy<Value = Acknowledgement> {
    prop_oneof![2 => Just(Acknowledgement::Given), 1 => Just(Acknowledgement::TakenBack)]
}

/// What the choices of an operation mean now: the same for both stores.
struct Choices {
    sessions: Vec<SessionId>,
    running: Vec<TurnId>,
    turns: Vec<TurnId>,
    items: Vec<Item>,
    handed: Vec<ItemId>,
    alerts: Vec<Alert>,
    jobs: Vec<JobId>,
    claims: Vec<ClaimKey>,
    deliveries: Vec<(ExecutionId, usize)>,
    /// How many questions were asked.
    questions: i64,
    seconds: i64,
    step: u32,
}

impl Choices {
    fn job(&self, number: usize) -> JobId {
        pick(&self.jobs, number).unwrap_or_else(|| "nobody".parse().unwrap())
    }

    fn claim(&self, number: usize) -> ClaimKey {
        let none = || ClaimKey { execution: ExecutionId(1), token: "nobody's".to_owned() };
        pick(&self.claims, number).unwrap_or_else(none)
    }
}

fn pick<T: Clone>(of: &[T], number: usize) -> Option<T> {
    if of.is_empty() { None } else { Some(of[number % of.len()].clone()) }
}

fn show<T: std::fmt::Debug>(outcome: Result<T>) -> String {
    format!("{outcome:?}")
}

/// Does one operation; returns what it answered.
fn apply(op: &Op, c: &Choices, store: &mut dyn Transitions) -> Result<String> {
    let now = at(c.seconds);
    let session = |n: usize| pick(&c.sessions, n).unwrap_or_else(|| SessionId::new(at(0), 0));
    let item = |n: usize| pick(&c.items, n).map_or(ItemId(1), |item| item.id);
    let fresh = SessionId::new(now, c.step);
    let said = |text: String| Ok(text);
    match op {
        Op::Send { key, intent, mode, notice } => {
            let text = format!("text of step {}", c.step);
            let plain = message(KEYS[key % KEYS.len()], &text, c.seconds);
            let reset = rule(*mode, 60);
            let message = NewMessage { intent: *intent, fresh, reset, notice: *notice, ..plain };
            store.accept_message(&message).map(|a| format!("{a:?}"))
        }
        Op::ChooseAgent { session: n, agent } => {
            let agent = agent.map(|name| name.parse().unwrap());
            store.choose_agent(&session(*n), agent.as_ref(), now).map(|()| String::new())
        }
        Op::ChooseModel { session: n, model } => {
            store.choose_model(&session(*n), *model, now).map(|()| String::new())
        }
        Op::BusyMode { session: n, mode } => {
            store.set_busy_mode(&session(*n), *mode, now).map(|()| String::new())
        }
        Op::Append { turn, output } => match pick(&c.turns, *turn) {
            Some(turn) => store.append_turn(turn, output, now).map(|()| String::new()),
            None => said(String::new()),
        },
        Op::AgentSession { turn, session } => match (pick(&c.turns, *turn), agent_session(*session)) {
            (Some(turn), Some(kept)) => {
                store.append_turn(turn, &[Output::Session(kept)], now).map(|()| String::new())
            }
            _ => said(String::new()),
        },
        Op::Finish { turn, outcome, tail, did_anything, taken } => match pick(&c.running, *turn) {
            Some(turn) => store
                .finish_turn(&TurnEnd {
                    turn,
                    outcome: outcome.clone(),
                    tail: tail.clone(),
                    written: if taken % 2 == 0 { String::new() } else { "half a line".to_owned() },
                    context: context_use(*taken),
                    model: did_anything.then(|| "m".to_owned()),
                    steered: c
                        .handed
                        .iter()
                        .copied()
                        .filter(|item| (item.0 as usize + taken).is_multiple_of(2))
                        .collect(),
                    did_anything: *did_anything,
                    handle: handle_use(*taken),
                    agent_session: agent_session(*taken),
                    at: now,
                })
                .map(|ended| ended.to_string()),
            None => said(String::new()),
        },
        Op::FinishAgain { turn } => match pick(&c.turns, *turn) {
            Some(turn) if !c.running.contains(&turn) => store
                .finish_turn(&crate::given::end(turn, Outcome::Done, c.seconds))
                .map(|ended| ended.to_string()),
            _ => said(String::new()),
        },
        Op::Stop { session: n, cause } => {
            store.request_stop(&session(*n), None, *cause, now).map(|stopped| format!("{stopped:?}"))
        }
        Op::New { key: n, titled } => store
            .reset_session(&key(KEYS[n % KEYS.len()]), &fresh, titled.then_some("t1"), now)
            .map(|stopped| format!("{stopped:?}")),
        Op::Switch { key: n, session: wanted } => {
            let left = store.switch_session(&key(KEYS[n % KEYS.len()]), &session(*wanted), now);
            left.map(|left| format!("{left:?}"))
        }
        Op::AgentState { key: n, state } => store
            .set_agent_state(&key(KEYS[n % KEYS.len()]), STATES[state % STATES.len()])
            .map(|()| String::new()),
        Op::CarryOver { session: n } => store.carry_over(&session(*n), now).map(|items| format!("{items:?}")),
        Op::Release { session: n } => {
            store.release_queue(&session(*n), "/continue", now).map(|()| String::new())
        }
        Op::Suspend { session: n } => store.suspend_session(&session(*n), now).map(|()| String::new()),
        Op::Unsuspend { session: n } => {
            store.unsuspend_session(&session(*n), now).map(|held| format!("{held}"))
        }
        Op::Stamp => store.stamp_run(now).map(|()| String::new()),
        Op::Look => store.note_look(now).map(|()| String::new()),
        Op::KeepProcess { turn, pid } => match pick(&c.turns, *turn) {
            Some(turn) => store.keep_process(&child(turn, *pid), now).map(|()| String::new()),
            None => said(String::new()),
        },
        Op::SettleProcess { turn, pid, fate } => match pick(&c.turns, *turn) {
            Some(turn) => store.settle_process(&child(turn, *pid), fate, now).map(|()| String::new()),
            None => said(String::new()),
        },
        Op::KeepBackground { turn, pid } => {
            let turn = pick(&c.running, *turn).or(pick(&c.turns, *turn)).unwrap_or(TurnId(1));
            let ChildProcess { identity, .. } = child(turn, *pid);
            let (command, folder) = (format!("sleep {}", c.step), "/srv".to_owned());
            let new = NewBackground { turn, command, folder, identity, most: 2 };
            store.keep_background(&new, now).map(|kept| format!("{kept:?}"))
        }
        Op::StopBackground { session: n, number, by } => {
            let which = number.map_or(Which::All, |number| Which::One(ProcessNumber(number)));
            let stopped = store.stop_background(&session(*n), which, *by, now);
            stopped.map(|stopped| format!("{stopped:?}"))
        }
        Op::EndBackground { session: n, number, exit } => {
            let ended = Ended { at: now, exit: exit.clone() };
            let ended = store.end_background(&session(*n), ProcessNumber(*number), &ended, now);
            ended.map(|ended| ended.to_string())
        }
        Op::PruneBackground { seconds } => {
            store.prune_background(at(*seconds), 2).map(|count| count.to_string())
        }
        Op::Ask { turn, command } => {
            let turn = pick(&c.running, *turn).or(pick(&c.turns, *turn)).unwrap_or(TurnId(1));
            let new = NewApproval { turn, question: question(*command), denies_at: at(c.seconds + 600) };
            store.ask_approval(&new, now).map(|asked| format!("{asked:?}"))
        }
        Op::Settle { approval, ending } => {
            let id = ApprovalId((c.questions - approval).max(1));
            store.settle_approval(id, ending, now).map(|settled| format!("{settled:?}"))
        }
        Op::Disallow { session: n, command } => {
            let prefix = ["git push", "git log"][command % 2];
            store.disallow(&session(*n), prefix, now).map(|()| String::new())
        }
        Op::Probe => store.probe_queues(now).map(|next| format!("{next:?}")),
        Op::Gate(gate) => store.set_gate(gate, now).map(|()| String::new()),
        Op::Move { item: n, direction } => store.move_item(item(*n), *direction, now).map(|()| String::new()),
        Op::Edit { item: n, read_before } => {
            let was = match pick(&c.items, *n) {
                Some(item) if *read_before => item.text,
                _ => "what it said before".to_owned(),
            };
            let text = format!("edited in {}", c.step);
            store.edit_item(item(*n), &was, &text, now).map(|()| String::new())
        }
        Op::Drop { item: n } => store.drop_item(item(*n), now).map(|back| format!("{back:?}")),
        Op::DropAndUndo { item: n } => {
            let back = store.drop_item(item(*n), now)?;
            store.restore_items(&[back], now).map(|()| String::new())
        }
        Op::Restore { first, second } => {
            let tail = |n| PutBack { item: item(n), to: Destination::Tail };
            store.restore_items(&[tail(*first), tail(*second)], now).map(|()| String::new())
        }
        Op::SwitchLane { item: n } => store.switch_lane(item(*n), now).map(|()| String::new()),
        Op::Clear { session: n } => store.clear_queue(&session(*n), now).map(|items| format!("{items:?}")),
        Op::Title { session: n, title } => {
            store.set_title(&session(*n), ["", "t1", "t2"][*title], now).map(|before| format!("{before:?}"))
        }
        Op::Hide { session: n, count } => {
            store.hide_turns(&session(*n), *count, now).map(|turns| format!("{turns:?}"))
        }
        Op::Show { session: n, turn } => {
            let turns: Vec<TurnId> = pick(&c.turns, *turn).into_iter().collect();
            store.show_turns(&session(*n), &turns, now).map(|()| String::new())
        }
        Op::Retry { session: n } => {
            store.retry(&session(*n), Source::CommandLine, now).map(|accepted| format!("{accepted:?}"))
        }
        Op::RaiseAlert { session: n, by } => {
            let (session, words) = (session(*n), format!("words of step {}", c.step));
            let key = AlertKey::session(&session);
            let new = NewAlert { key, subject: Subject::Session(session), words, times: None, by: *by };
            store.raise_alert(&new, now).map(|()| String::new())
        }
        Op::ResolveAlert { session: n } => {
            store.resolve_alert(&AlertKey::session(&session(*n)), now).map(|was_open| was_open.to_string())
        }
        Op::AcknowledgeAlert { session: n, what } => store
            .acknowledge_alert(&AlertKey::session(&session(*n)), *what, now)
            .map(|alert| format!("{alert:?}")),
        Op::AlertTold { alert, failure } => match pick(&c.alerts, *alert) {
            Some(alert) => {
                // Now and then one that is not the alert of its key any more.
                let raised_at = if c.step.is_multiple_of(5) { at(-1) } else { alert.raised_at };
                store
                    .alert_told(&alert.key, raised_at, alert.news, failure.as_deref(), now)
                    .map(|()| String::new())
            }
            None => said(String::new()),
        },
        Op::SyncJobs { records: number } => {
            let zone = if number.is_multiple_of(7) { Tz::Europe__Berlin } else { Tz::UTC };
            let seen = JobsSeen {
                records: if *number % 11 == 3 { Vec::new() } else { records(*number) },
                file: if *number % 11 == 3 { SeenFile::Missing } else { SeenFile::Read },
                removed: BTreeSet::new(),
                zone,
                at: now,
            };
            store.sync_jobs(&seen).map(|synced| format!("{synced:?}"))
        }
        Op::JobsUnreadable { column } => {
            let trouble = FileTrouble {
                place: Some((1, *column)),
                why: format!("no comma in column {column}"),
                excerpt: Vec::new(),
                hint: None,
            };
            store.jobs_unreadable(&trouble, now).map(|()| String::new())
        }
        Op::Tick { limit } => {
            let tick = Tick { at: now, zone: Tz::UTC, limit: *limit };
            store.fire_due(&tick).map(|ticked| format!("{ticked:?}"))
        }
        Op::RunNow { job, counting } => {
            store.run_job_now(&c.job(*job), *counting, now).map(|asked| format!("{asked:?}"))
        }
        Op::Withdraw { run } => store.withdraw_execution(ExecutionId(*run), now).map(|()| String::new()),
        Op::Claim { max_parallel } => {
            let new = NewClaim { max_parallel: *max_parallel, ..claim(&format!("t{}", c.step), now) };
            store.claim_execution(&new).map(|claimed| format!("{claimed:?}"))
        }
        Op::BeginRun { claim } => {
            store.begin_execution(&c.claim(*claim), now).map(|held| format!("{held:?}"))
        }
        Op::BeginRunTurn { claim, session } => {
            let to = format!("agent:main:cron:job:{}", c.job(*claim)).parse().unwrap();
            let text = format!("prompt of step {}", c.step);
            let message = NewMessage { to, fresh, source: Source::Job, ..message("a", &text, c.seconds) };
            let run = RunTurn { claim: c.claim(*claim), message, session: *session };
            store.begin_run_turn(&run).map(|begun| format!("{begun:?}"))
        }
        Op::BeatRun { claim } => store.beat_execution(&c.claim(*claim), now).map(|held| format!("{held:?}")),
        Op::EndRun { claim, state } => {
            let delivery =
                |platform, state| Delivery { target: Target::platform(platform), state, at: now, why: None };
            let end = ExecutionEnd {
                why: (*state != ExecutionState::Succeeded).then(|| "no answer".to_owned()),
                output: Some(format!("output/{}.md", c.step)),
                cut_with: (*state == ExecutionState::Interrupted).then(|| RunId("run-1".to_owned())),
                deliveries: vec![
                    delivery("local", DeliveryState::Pending),
                    delivery("telegram", DeliveryState::NotConfigured),
                ],
                ..ended(c.claim(*claim), *state, now)
            };
            store.end_execution(&end).map(|held| format!("{held:?}"))
        }
        Op::SettleDelivery { pending, state } => {
            let (execution, place) = pick(&c.deliveries, *pending).unwrap_or((ExecutionId(1), 0));
            let post = (*state == DeliveryState::Delivered).then(|| Post {
                to: key(KEYS[c.step as usize % KEYS.len()]),
                fresh,
                text: format!("result {}", c.step),
            });
            let settled = store.settle_delivery(execution, place, *state, Some("words"), post.as_ref(), now);
            settled.map(|()| String::new())
        }
        Op::Free { dead } => {
            let dead = c.claims.iter().skip(dead % 3).cloned().collect();
            let heir = claim(&format!("h{}", c.step), now);
            store.free_executions(&dead, &heir).map(|inherited| format!("{inherited:?}"))
        }
        Op::RenameJob { job, to } => store.rename_job(&c.job(*job), &c.job(*to), now).map(|()| String::new()),
        Op::PauseJob { job } => store.pause_job(&c.job(*job), Some("holiday"), now).map(|()| String::new()),
        Op::ResumeJob { job } => store.resume_job(&c.job(*job), now).map(|()| String::new()),
        Op::PruneJobs { keep } => store.prune_jobs(at(c.seconds - 60), *keep).map(|count| count.to_string()),
        Op::Prune { seconds } => {
            let (events, approvals) =
                (store.prune_events(at(*seconds), 10), store.prune_approvals(at(*seconds), 3));
            let alerts = store.prune_alerts(at(*seconds));
            events.and_then(|events| Ok(format!("{events} {} {}", approvals?, alerts?)))
        }
        Op::Crash { .. } => {
            store.open_run(&run(c.step as usize + 2, c.seconds)).map(|opened| format!("{opened:?}"))
        }
        Op::Pass { .. } => said(String::new()),
    }
}

/// Some turns keep no handle, some use one that is well, some lose theirs for good.
fn handle_use(choice: usize) -> Option<HandleUse> {
    let health = [Some(Health::Healthy), Some(Health::Failed), None][choice % 3]?;
    Some(HandleUse { health, restarts: u32::from(choice.is_multiple_of(2)) })
}

/// Some agents keep no session of their own.
fn context_use(choice: usize) -> Option<ContextUse> {
    let window = choice.is_multiple_of(2).then_some(1_000);
    (!choice.is_multiple_of(3)).then_some(ContextUse { tokens: choice as u64, window })
}

fn agent_session(choice: usize) -> Option<AgentSession> {
    let id = [Some("s1"), Some("s2"), None][choice % 3]?;
    let last = Usage { input: (choice / 3) as u64, ..Usage::default() };
    Some(AgentSession { told: ToldUse { last, by_turn: false }, ..AgentSession::new("one", id) })
}

/// All that can be asked of a store, as text.
fn all_of(queries: &dyn Queries, sessions: &[SessionId]) -> Result<Vec<String>> {
    let none = Filter::default();
    let mut all = vec![
        format!("{:?}", queries.counts()?),
        format!("{:#?}", queries.sessions(&none, None, 2)?),
        format!("{:#?}", queries.sessions(&Filter::parse("state:idle !b"), None, 2)?),
        format!("{:#?}", queries.session_history(5)?),
        format!("{:#?}", queries.backlog(7)?),
        format!("{:#?}", queries.events(EventPage::Newest, Level::Debug, None, 30)?),
        format!("{:#?}", queries.events(EventPage::Newest, Level::Warn, None, 5)?),
        format!("{:?}", queries.engine_hold()?),
        format!("{:#?}", queries.alerts(3)?),
        format!("{:#?}", queries.alerts_to_tell(3)?),
        format!("{:?}", queries.host_conversations(5)?),
        format!("{:?}", queries.processes()?),
        format!("{:#?}", queries.background(None, 4)?),
        format!("{:#?}", queries.live_background()?),
        format!("{:?}", queries.allowed(None, 9)?),
        format!("{:?}", queries.resolve_session("t1", 5)?),
        format!("{:#?}", queries.recovery(None, 4)?),
        format!("{:?}", queries.report(None)?),
        format!("{:?}", queries.report(Some(at(40)))?),
        format!("{:#?}", queries.recovery(Some(&run(1, 0).run), 2)?),
        format!("{:#?}", queries.jobs("", 3, at(0))?),
        format!("{:#?}", queries.jobs("state:s", 3, at(0))?),
        format!("{:#?}", queries.executions(None, None, 20)?),
        format!("{:?}", queries.stored_records()?),
        format!("{:?}", queries.unwritten_switches()?),
        format!("{:?}", queries.open_claims()?),
        format!("{:?}", queries.pending_deliveries(5)?),
        format!("{:?}", queries.next_due()?),
        format!("{:?}", queries.timeline(at(100), at(4000), 3, Tz::UTC)?),
        format!("{:#?}", queries.job("a", Tz::UTC, at(0))?),
        format!("{:?}", queries.newest_outputs(&["a".parse().unwrap(), "b".parse().unwrap()])?),
        format!("{:?}", queries.events_of_job(&"a".parse().unwrap(), EventPage::Newest, Level::Info, 5)?),
        format!("{:?}", KEYS.map(|name| queries.live_session(&key(name)))),
    ];
    // A start before the newest one.
    if let Some(earlier) = queries.recovery(None, 2)?.starts.get(1) {
        all.push(format!("{:#?}", queries.recovery(Some(&earlier.run), 9)?));
    }
    let page = queries.sessions(&none, None, 1)?;
    if let Some(first) = page.rows.first() {
        all.push(format!("{:#?}", queries.sessions(&none, Some(&first.cursor()), 5)?));
        all.push(format!("{:#?}", queries.sessions(&Filter::parse("a"), Some(&first.cursor()), 5)?));
    }
    for session in sessions {
        all.push(format!("{:#?}", queries.session_queue(session)?));
        all.push(format!("{:#?}", queries.background(Some(session), 9)?));
        let page = queries.conversation(session, None, 4)?;
        if let Some(first) = page.entries.first() {
            all.push(format!("{:#?}", queries.conversation(session, Some(first.id), 3)?));
        }
        all.push(format!("{page:#?}"));
        all.push(format!("{:?}", queries.summary(session)?));
        if let Some(row) = queries.session(session)? {
            if let Some(turn) = &row.turn {
                all.push(format!("{:#?}", queries.history_before(turn.turn, 3)?));
            }
            all.push(format!("{:?}", queries.limit_reached(&row.session.id, at(0))?));
            all.push(format!("{:?}", queries.today_of(&[Scope::of(&row.session.key)], at(0))?));
        }
        all.push(format!("{:#?}", queries.events(EventPage::Newest, Level::Info, Some(session), 4)?));
    }
    Ok(all)
}

/// The daily limits of a random run.
#[derive(Debug, Clone, Copy)]
enum Limits {
    Off,
    /// Each turn uses 8 tokens.
    Low,
}

fn rules(limits: Limits) -> Rules {
    let tokens = |most| Limit { tokens: Some(most), cost: None };
    match limits {
        Limits::Off => Rules::none(Tz::UTC),
        Limits::Low => Rules { session: tokens(20), job: tokens(8), all: tokens(60), zone: Tz::UTC },
    }
}

/// Work that a crash takes back: its transaction is lost before its commit.
fn work_that_is_lost(database: &mut Database) {
    let mut work = |t: &mut dyn Transitions| {
        t.accept_message(&message("a", "never acknowledged", 1))?;
        t.clear_queue(&SessionId::new(at(0), 0), at(1)).ok();
        Ok(())
    };
    let mut lost = |_: &mut dyn Transitions| -> Result<()> {
        Err(StoreError::Unavailable { why: "the engine dies here".to_owned() })
    };
    assert!(database.commit(&mut [&mut work, &mut lost]).is_err());
}

fn check(ops: &[Op], limits: Limits, path: &Path) -> std::result::Result<(), TestCaseError> {
    let mut model = Model::default();
    let mut database = Some(Database::open(path).unwrap());
    let mut seconds = 0;
    let first = NewRun { spending: rules(limits), ..run(1, 0) };
    model.step(|t| t.open_run(&first)).unwrap();
    database.as_mut().unwrap().step(|t| t.open_run(&first)).unwrap();
    for (step, op) in ops.iter().enumerate() {
        seconds += if let Op::Pass { seconds } = op { *seconds } else { 1 };
        let running = model.running_turns();
        let choices = Choices {
            sessions: model.session_ids(),
            turns: model.turn_ids(),
            items: model.items().to_vec(),
            handed: running.iter().flat_map(|turn| model.handed_to(*turn)).collect(),
            running,
            alerts: model.alerts(usize::MAX).unwrap(),
            jobs: model.job_ids(),
            claims: model.open_claims().unwrap().into_iter().map(|(key, _)| key).collect(),
            deliveries: model
                .pending_deliveries(9)
                .unwrap()
                .into_iter()
                .map(|(execution, place, _)| (execution, place))
                .collect(),
            questions: model.questions(),
            seconds,
            step: u32::try_from(step).unwrap(),
        };
        if let Op::Crash { with_work } = op {
            if *with_work {
                work_that_is_lost(database.as_mut().unwrap());
            }
            drop(database.take());
            database = Some(Database::open(path).unwrap());
        }
        let database = database.as_mut().unwrap();
        let by_model = show(model.step(|t| apply(op, &choices, t)));
        let by_sqlite = show(database.step(|t| apply(op, &choices, t)).map(|(answer, _)| answer));
        prop_assert_eq!(&by_model, &by_sqlite, "step {}: {:?}", step, op);
        let sessions = model.session_ids();
        let of_model = all_of(&model, &sessions).unwrap();
        let of_sqlite = all_of(&database.queries(), &sessions).unwrap();
        for (model, sqlite) in of_model.iter().zip(&of_sqlite) {
            prop_assert_eq!(model, sqlite, "step {}: {:?}", step, op);
        }
        prop_assert_eq!(model.stuck(), [], "nothing that may run is left waiting, step {}: {:?}", step, op);
    }
    let database = database.as_ref().unwrap();
    for item in model.items() {
        let kept = database.queries().item(item.id).unwrap();
        prop_assert_eq!(kept.as_ref(), Some(item), "nothing is lost");
        prop_assert!(item.state != ItemState::Running || item.turn.is_some());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(
        std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(16)) })]

    #[test]
    fn sqlite_does_what_the_model_does(
        ops in proptest::collection::vec(op(), 1..60),
        limits in prop_oneof![Just(Limits::Off), Just(Limits::Low)],
    ) {
        let home = tempfile::tempdir().unwrap();
        check(&ops, limits, &home.path().join("state.db"))?;
    }
}
