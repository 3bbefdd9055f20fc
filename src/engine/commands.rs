//! Commands carried out: each is one transition of the store, and what the caller is told of it.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::conductor::Order;
use super::shared::{STOP_WAITS, Shared, refusal};
use super::{background, cron, slash, texts};
use crate::agent::{Agents, refuse_without_program};
use crate::config;
use crate::domain::Time;
use crate::domain::alert::{Acknowledgement, AlertKey, left_waiting_words};
use crate::domain::api::{Command, Direction, Reply, SessionRow};
use crate::domain::approval::{Answer, Ending};
use crate::domain::conversation::check_state;
use crate::domain::event::{EventKind, count, excerpt};
use crate::domain::filter::Filter;
use crate::domain::id::{ApprovalId, SessionId, SessionKey};
use crate::domain::queue::{Destination, Intent, PutBack, Refusal, Source, check_text};
use crate::domain::recovery::{AfterStop, next_cut_suspends};
use crate::domain::slash::{Ask, Draft, parse};
use crate::domain::turn::StopCause;
use crate::store::{Accepted, LeftBehind, NewGate, StoreError, Transitions};

/// So many running sessions a restart looks at.
const RUNNING: usize = 1_000;

pub(super) async fn carry_out(
    shared: &Arc<Shared>,
    orders: &mpsc::Sender<Order>,
    command: Command,
) -> Result<Reply, Refusal> {
    let at = shared.now();
    match command {
        Command::Submit { to, text, intent, source } => {
            submit(shared, orders, to, text, intent, source).await
        }
        Command::OpenSession { key } => {
            let found = shared.store.get_or_open(&key, shared.fresh_session(), at).await;
            let session = found.map_err(refusal)?;
            Ok(Reply::Session { key, session, words: "opened".to_owned() })
        }
        Command::StopTurn { session, turn } => {
            write(shared, move |store| store.request_stop(&session, turn, StopCause::Operator, at))
                .await
                .map(|stopped| done(&texts::stopped(&stopped)))
        }
        Command::Answer { approval, answer } => settle(shared, approval, answer).await,
        Command::Job(command) => cron::carry_out(shared, command).await,
        Command::Disallow { session, prefix } => disallow(shared, session, prefix).await,
        Command::Continue { session } => {
            let of = session.clone();
            let row = slash::read(shared, move |queries| queries.session(&of)).await?;
            let words = texts::goes_on(row.and_then(|row| row.session.marker));
            write(shared, move |store| store.release_queue(&session, "the operator", at)).await?;
            Ok(done(words))
        }
        Command::Suspend { session } => suspend(shared, session, at).await,
        Command::Unsuspend { session } => unsuspend(shared, session, at).await,
        Command::BringBack { session } => bring_back(shared, session).await,
        Command::CarryOver { from } => {
            let items = write(shared, move |store| store.carry_over(&from, at)).await?;
            Ok(done(&format!("{} moved to the queue of the new session", count(items.len(), "item"))))
        }
        Command::MoveItem { item, direction } => {
            write(shared, move |store| store.move_item(item, direction, at)).await?;
            Ok(undoable("moved", Command::MoveItem { item, direction: back(direction) }))
        }
        Command::EditItem { item, was, text } => {
            check_text(&text)?;
            let undo = Command::EditItem { item, was: text.clone(), text: was.clone() };
            write(shared, move |store| store.edit_item(item, &was, &text, at)).await?;
            Ok(undoable("edited", undo))
        }
        Command::DropItem { item } => {
            let back = write(shared, move |store| store.drop_item(item, at)).await?;
            Ok(undoable("dropped", Command::UndoClear { items: vec![back] }))
        }
        Command::RestoreItems { items } => {
            let to = Destination::Tail;
            restore(shared, items.into_iter().map(|item| PutBack { item, to }).collect()).await
        }
        Command::UndoClear { items } => restore(shared, items).await,
        Command::SwitchLane { item } => {
            write(shared, move |store| store.switch_lane(item, at)).await?;
            Ok(undoable("moved", Command::SwitchLane { item }))
        }
        Command::ClearQueue { session } => {
            let items = write(shared, move |store| store.clear_queue(&session, at)).await?;
            Ok(undoable(&format!("cleared {}", count(items.len(), "item")), Command::UndoClear { items }))
        }
        Command::ShowTurns { session, turns } => {
            let shown = turns.len();
            write(shared, move |store| store.show_turns(&session, &turns, at)).await?;
            Ok(done(&format!("{} shown again", count(shown, "turn"))))
        }
        Command::SaveDraft { key, text } => {
            write(shared, move |store| store.save_draft(&key, &text, at)).await?;
            Ok(done("draft kept"))
        }
        Command::RememberDraft { key, text } => {
            write(shared, move |store| store.remember_draft(&key, &text, at)).await?;
            Ok(done("draft remembered"))
        }
        Command::Looked => {
            write(shared, move |store| store.note_look(at)).await?;
            Ok(done("noted"))
        }
        Command::Acknowledge { alert, what } => acknowledge(shared, alert, what).await,
        Command::SetAgentState { key, state } => {
            check_state(&state).map_err(|error| Refusal::BadState(error.to_string()))?;
            write(shared, move |store| store.set_agent_state(&key, &state)).await?;
            Ok(done("agent state kept"))
        }
        Command::Hold { why } => {
            set_gate(shared, NewGate::Hold(why)).await?;
            Ok(undoable("on hold: nothing starts", Command::Release))
        }
        Command::Release => {
            set_gate(shared, NewGate::Release).await?;
            Ok(done("released"))
        }
        Command::Stop { why } => stop(shared, orders, why, AfterStop::End).await,
        Command::Restart { why, ask } => restart(shared, orders, why, ask).await,
        Command::CutNow => {
            // A full inbox means that the conductor ends already.
            let _ = orders.try_send(Order::CutNow);
            Ok(done("cutting what still runs"))
        }
        Command::KeepRunning => keep_running(shared, orders).await,
    }
}

/// Calls a stop off, unless what ran was cut already: that can't be made undone.
async fn keep_running(shared: &Arc<Shared>, orders: &mpsc::Sender<Order>) -> Result<Reply, Refusal> {
    let (answer, can) = oneshot::channel();
    let _ = orders.send(Order::CallOff(answer)).await;
    if !can.await.unwrap_or(false) {
        let why =
            "too late to keep the engine running: what still ran was cut; start it again when it has stopped";
        return Err(Refusal::NothingTo(why.to_owned()));
    }
    let kept = set_gate(shared, NewGate::KeepRunning).await;
    if kept.is_err() {
        let _ = orders.send(Order::NotCalledOff).await;
    }
    kept.map(|()| done("goes on"))
}

async fn bring_back(shared: &Arc<Shared>, session: SessionId) -> Result<Reply, Refusal> {
    let (at, of) = (shared.now(), session.clone());
    let row = slash::read(shared, move |queries| queries.session(&of)).await?;
    let Some(row) = row else { return Err(Refusal::NoSuchSession(session.to_string())) };
    let key = row.session.key;
    let left = write(shared, move |store| store.switch_session(&key, &session, at)).await?;
    let words = switched("brought back", left.as_ref());
    let undo = left.map(|left| Box::new(Command::BringBack { session: left.session }));
    Ok(Reply::Done { words, undo })
}

/// That another session is live, and what waits in the one before.
pub(super) fn switched(done: &str, left: Option<&LeftBehind>) -> String {
    match left {
        Some(LeftBehind { session, items: items @ 1.. }) => {
            format!("{done}; {}", left_waiting_words(session, *items))
        }
        _ => done.to_owned(),
    }
}

/// Answers what an agent asks.
pub(super) async fn settle(
    shared: &Arc<Shared>,
    approval: ApprovalId,
    answer: Answer,
) -> Result<Reply, Refusal> {
    let (at, ending) = (shared.now(), Ending::Answered(answer));
    let settled = write(shared, move |store| store.settle_approval(approval, &ending, at)).await?;
    let decision = settled.decision.map(|decision| decision.words()).unwrap_or_default();
    Ok(done(&format!("{decision}: {}", settled.question.line())))
}

/// Takes an `always` back.
pub(super) async fn disallow(
    shared: &Arc<Shared>,
    session: SessionId,
    prefix: String,
) -> Result<Reply, Refusal> {
    let at = shared.now();
    let words = format!("the agent asks again before {prefix}");
    write(shared, move |store| store.disallow(&session, &prefix, at)).await?;
    Ok(done(&words))
}

/// The words say how many are left, so that one key after the other can be pressed.
async fn acknowledge(shared: &Arc<Shared>, alert: AlertKey, what: Acknowledgement) -> Result<Reply, Refusal> {
    let (at, key) = (shared.now(), alert.clone());
    write(shared, move |store| store.acknowledge_alert(&key, what, at)).await?;
    let left = slash::read(shared, |queries| queries.counts()).await?.needs_you;
    let words = match (what, left) {
        (Acknowledgement::TakenBack, _) => return Ok(done(&format!("it counts again, {left} in all"))),
        (Acknowledgement::Given, 0) => "acknowledged, none left".to_owned(),
        (Acknowledgement::Given, left) => format!("acknowledged, {left} left"),
    };
    Ok(undoable(&words, Command::Acknowledge { alert, what: Acknowledgement::TakenBack }))
}

async fn submit(
    shared: &Arc<Shared>,
    orders: &mpsc::Sender<Order>,
    to: SessionKey,
    text: String,
    intent: Intent,
    source: Source,
) -> Result<Reply, Refusal> {
    let words = excerpt(&text);
    let draft = text.clone();
    let outcome = async {
        match parse(&text) {
            Ok(Draft::Text(text)) => accept(shared, to.clone(), text, intent, source).await,
            Ok(Draft::Command(command, _)) => {
                slash::carry_out(shared, orders, to.clone(), command, source).await
            }
            Err(refusal) => Err(refusal),
        }
    };
    // Side by side, the writer keeps both in one commit.
    let (outcome, ()) = tokio::join!(outcome, remember(shared, &to, draft, source));
    if let Err(refusal) = &outcome {
        note_refusal(shared, &to, words, refusal).await;
    }
    outcome
}

/// What was typed into a console comes back in its history, after a restart too.
async fn remember(shared: &Arc<Shared>, key: &SessionKey, draft: String, source: Source) {
    if source != Source::Console {
        return;
    }
    let (key, at) = (key.clone(), shared.now());
    if let Err(refusal) = write(shared, move |store| store.remember_draft(&key, &draft, at)).await {
        tracing::warn!(%refusal, "a draft is not in the history");
    }
}

/// Accepts a message and tells what became of it.
pub(super) async fn accept(
    shared: &Arc<Shared>,
    to: SessionKey,
    text: String,
    intent: Intent,
    source: Source,
) -> Result<Reply, Refusal> {
    check_text(&text)?;
    let message = shared.message(to, text, intent, source);
    write(shared, move |store| store.accept_message(&message)).await.map(accepted)
}

pub(super) fn accepted(accepted: Accepted) -> Reply {
    Reply::Accepted { session: accepted.session, item: accepted.item, ack: accepted.ack }
}

/// A refusal is a row too, unless the store itself can't be written.
async fn note_refusal(shared: &Arc<Shared>, to: &SessionKey, excerpt: String, refusal: &Refusal) {
    if matches!(refusal, Refusal::Store(_)) {
        return;
    }
    let (key, at) = (to.clone(), shared.now());
    let kind = EventKind::Refused { excerpt, reason: refusal.to_string() };
    let noted = async {
        let row = shared.store.read(move |queries| queries.session_at(&key)).await?;
        let session = row.map(|row| row.session.id);
        shared.store.write(move |store| store.record(session.as_ref(), kind.clone(), at)).await
    };
    if let Err(error) = noted.await {
        tracing::warn!(%error, "a refusal is not in the log");
    }
}

async fn restore(shared: &Arc<Shared>, items: Vec<PutBack>) -> Result<Reply, Refusal> {
    let (at, restored) = (shared.now(), items.len());
    write(shared, move |store| store.restore_items(&items, at)).await?;
    Ok(done(&format!("{} back in the queue", count(restored, "item"))))
}

pub(super) async fn suspend(shared: &Arc<Shared>, session: SessionId, at: Time) -> Result<Reply, Refusal> {
    let of = session.clone();
    write(shared, move |store| store.suspend_session(&of, at)).await?;
    Ok(undoable("suspended: its next message starts anew", Command::Unsuspend { session }))
}

pub(super) async fn unsuspend(shared: &Arc<Shared>, session: SessionId, at: Time) -> Result<Reply, Refusal> {
    let held = write(shared, move |store| store.unsuspend_session(&session, at)).await?;
    Ok(done(match held {
        0 => "no longer suspended",
        _ => "no longer suspended; what waits stays held, /continue releases it",
    }))
}

/// A stop is kept first, so that the log tells who asked. A store that can't be written must not
/// keep an engine alive: then the conductor is told directly.
async fn stop(
    shared: &Arc<Shared>,
    orders: &mpsc::Sender<Order>,
    why: String,
    then: AfterStop,
) -> Result<Reply, Refusal> {
    let words = match then {
        AfterStop::End => "stopping",
        AfterStop::Restart => "restarting",
    };
    let (gate, at) = (NewGate::Stopping { why: why.clone(), mark: then.mark() }, shared.now());
    let kept = shared.store.write_within(STOP_WAITS, move |store| store.set_gate(&gate, at)).await;
    match kept.map_err(refusal) {
        Err(Refusal::Store(trouble)) => {
            let _ = orders.send(Order::Stop { why, then }).await;
            Ok(done(&format!("{words}; the log does not tell of it: {trouble}")))
        }
        other => {
            let left = texts::outliving(&background::outliving(shared).await);
            other.map(|()| undoable(&format!("{words}{left}"), Command::KeepRunning))
        }
    }
}

/// A restart is a stop with another end. It asks first where its drain may cost a session its last try.
pub(super) async fn restart(
    shared: &Arc<Shared>,
    orders: &mpsc::Sender<Order>,
    why: String,
    ask: Ask,
) -> Result<Reply, Refusal> {
    if let Some(drain) = shared.status().drain {
        let does = match drain.then {
            AfterStop::End => "stops",
            AfterStop::Restart => "restarts",
        };
        return Err(Refusal::NothingTo(format!("the engine {does} already: {}", drain.why)));
    }
    refuse_a_start_that_fails(shared).await?;
    let endangered = match ask {
        Ask::First => sessions_on_their_last_try(shared).await?,
        Ask::Never => Vec::new(),
    };
    if endangered.is_empty() {
        return stop(shared, orders, why, AfterStop::Restart).await;
    }
    let max_cuts = shared.settings.recovery.limits.max_cuts;
    let question = texts::restart_would_suspend(&endangered, max_cuts);
    Ok(Reply::Asks { question, confirm: "/restart!".to_owned() })
}

/// What the next start would stop at is refused while this engine still runs.
async fn refuse_a_start_that_fails(shared: &Arc<Shared>) -> Result<(), Refusal> {
    let home = shared.cron.home().clone();
    let tried = tokio::task::spawn_blocking(move || {
        let config = config::load(&home.config_file()).map_err(|error| error.to_string())?.config;
        Agents::build(&config, home.root()).map(drop).map_err(|error| error.to_string())
    });
    let settings = tried.await.unwrap_or_else(|error| Err(error.to_string()));
    let begins = match settings {
        Ok(()) => refuse_without_program(&shared.settings.keys.variables).await,
        failed => failed,
    };
    begins.map_err(|why| Refusal::NothingTo(format!("not restarted, the next start would fail: {why}")))
}

/// The running sessions that one more cut would suspend.
async fn sessions_on_their_last_try(shared: &Arc<Shared>) -> Result<Vec<SessionRow>, Refusal> {
    let limits = shared.settings.recovery.limits;
    // Those that need a person come first, then those that run.
    let page = shared.store.read(|queries| queries.sessions(&Filter::default(), None, RUNNING)).await;
    let rows = page.map_err(refusal)?.rows.into_iter().filter(|row| row.turn.is_some());
    Ok(rows.filter(|row| next_cut_suspends(row.session.cuts, &limits)).collect())
}

async fn set_gate(shared: &Arc<Shared>, gate: NewGate) -> Result<(), Refusal> {
    let at = shared.now();
    write(shared, move |store| store.set_gate(&gate, at)).await
}

/// Makes one transition; what the store says no to becomes a refusal.
pub(super) async fn write<T, F>(shared: &Arc<Shared>, transition: F) -> Result<T, Refusal>
where
    T: Send + 'static,
    F: FnMut(&mut dyn Transitions) -> Result<T, StoreError> + Send + 'static,
{
    shared.store.write(transition).await.map_err(refusal)
}

pub(super) fn done(words: &str) -> Reply {
    Reply::Done { words: words.to_owned(), undo: None }
}

pub(super) fn undoable(words: &str, undo: Command) -> Reply {
    Reply::Done { words: words.to_owned(), undo: Some(Box::new(undo)) }
}

fn back(direction: Direction) -> Direction {
    match direction {
        Direction::Up => Direction::Down,
        Direction::Down => Direction::Up,
    }
}
