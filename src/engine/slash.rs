//! Slash commands carried out, for every client alike.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::commands::{
    accept, accepted, disallow, done, restart, settle, suspend, switched, undoable, unsuspend, write,
};
use super::conductor::Order;
use super::shared::{Shared, refusal};
use super::{cron, export, texts};
use crate::domain::api::{Command, Reply, SessionRow};
use crate::domain::approval;
use crate::domain::background::{StoppedBy, Which, names};
use crate::domain::event::count;
use crate::domain::id::{ApprovalId, SessionId, SessionKey};
use crate::domain::queue::{Intent, Refusal, Source};
use crate::domain::reset::Background;
use crate::domain::slash::{Ask, Slash};
use crate::domain::spending::Scope;
use crate::domain::turn::StopCause;

/// So many rows `/sessions` and `/search` show.
const ROWS: usize = 50;
/// So many sessions an ambiguous name tells.
const CANDIDATES: usize = 5;

pub(super) async fn carry_out(
    shared: &Arc<Shared>,
    orders: &mpsc::Sender<Order>,
    key: SessionKey,
    command: Slash,
    source: Source,
) -> Result<Reply, Refusal> {
    let at = shared.now();
    match command {
        Slash::Queue(text) => accept(shared, key, text, Intent::Queue, source).await,
        Slash::Steer(text) => accept(shared, key, text, Intent::Steer, source).await,
        Slash::ShowQueue => show_queue(shared, &key).await,
        Slash::New { title, ask } => new_session(shared, key, title, ask, source).await,
        Slash::Stop => {
            let session = live(shared, &key).await?.session.id;
            write(shared, move |store| store.request_stop(&session, None, StopCause::Operator, at))
                .await
                .map(|stopped| done(&texts::stopped(&stopped)))
        }
        Slash::Answer { question, answer } => {
            let row = live(shared, &key).await?;
            let approval = match question {
                Some(number) => asked_in(shared, &row, number).await?,
                None => approval::only(&row.asks)?,
            };
            settle(shared, approval, answer).await
        }
        Slash::ShowAllowed => show_allowed(shared, &key).await,
        Slash::Disallow(prefix) => {
            let session = live(shared, &key).await?.session.id;
            disallow(shared, session, prefix).await
        }
        Slash::Continue => {
            let session = live(shared, &key).await?.session;
            let words = texts::goes_on(session.marker);
            write(shared, move |store| store.release_queue(&session.id, "/continue", at)).await?;
            Ok(done(words))
        }
        Slash::Suspend => {
            let session = live(shared, &key).await?.session.id;
            suspend(shared, session, at).await
        }
        Slash::Unsuspend => {
            let session = live(shared, &key).await?.session.id;
            unsuspend(shared, session, at).await
        }
        Slash::Restart(ask) => match (restart(shared, orders, "/restart".to_owned(), ask).await?, source) {
            (Reply::Asks { question, confirm }, Source::CommandLine | Source::Recovery | Source::Job) => {
                Err(Refusal::WouldLose { loses: question, confirm })
            }
            (reply, _) => Ok(reply),
        },
        Slash::ShowBusy => {
            let set = find(shared, &key).await?.and_then(|row| row.session.busy_mode);
            Ok(done(&texts::busy(set, shared.settings.queue.busy_mode)))
        }
        Slash::Busy(mode) => {
            let session = live_or_new(shared, &key).await?.session.id;
            write(shared, move |store| store.set_busy_mode(&session, mode, at)).await?;
            let default = shared.settings.queue.busy_mode;
            Ok(done(&match mode {
                Some(mode) => format!("busy mode {mode}"),
                None => format!("busy mode {default} (default)"),
            }))
        }
        Slash::ShowAgent => {
            let (row, roster) = (find(shared, &key).await?, shared.status().agents);
            let agent = match &row {
                Some(row) => texts::agent(row, &roster),
                None => roster.label(&roster.agent_of(&key, None, None)),
            };
            Ok(done(&format!("agent {agent}; {}", roster.there_are())))
        }
        Slash::Agent(agent) => {
            let roster = shared.status().agents;
            if let Some(name) = &agent {
                roster.find(name).map_err(|unknown| Refusal::NothingTo(unknown.to_string()))?;
            }
            let row = live_or_new(shared, &key).await?;
            let next = roster.agent_of(&key, None, agent.as_ref());
            let words = texts::agent_chosen(&row, &roster.label(&next));
            let session = row.session.id;
            write(shared, move |store| store.choose_agent(&session, agent.as_ref(), at)).await?;
            Ok(done(&words))
        }
        Slash::ShowModel => {
            let row = find(shared, &key).await?;
            Ok(done(&format!("model {}", texts::model(row.as_ref().map(|row| &row.session)))))
        }
        Slash::Model(model) => {
            let roster = shared.status().agents;
            let agent = match find(shared, &key).await? {
                Some(row) => row.session.next_agent(&roster),
                None => roster.agent_of(&key, None, None),
            };
            let refused = shared.agents.get(&agent).and_then(|backend| backend.refuses_models());
            if let Some(why) = refused.filter(|_| model.is_some()) {
                return Err(Refusal::NothingTo(why));
            }
            let session = live_or_new(shared, &key).await?.session.id;
            let words = match &model {
                Some(name) => format!("from the next turn on this session asks for the model {name}"),
                None => "from the next turn on this session asks for the model of the settings".to_owned(),
            };
            write(shared, move |store| store.choose_model(&session, model.as_deref(), at)).await?;
            Ok(done(&words))
        }
        Slash::Processes => show_processes(shared, &key).await,
        Slash::Kill(number) => {
            let session = live(shared, &key).await?.session.id;
            let (which, by) = (Which::One(number), StoppedBy::Operator);
            let told = write(shared, move |store| store.stop_background(&session, which, by, at)).await?;
            Ok(done(&format!("background process {} is told to end, with all that it started", names(&told))))
        }
        Slash::Status => {
            let mut row = live(shared, &key).await?;
            let scope = Scope::of(&key);
            row.today = read(shared, move |queries| queries.today_of(&[scope], at)).await?.pop().flatten();
            let max_cuts = shared.settings.recovery.limits.max_cuts;
            let reset = shared.forecast(&row).map(|told| told.words(at, shared.settings.timezone));
            let reset = reset.unwrap_or_default();
            let text =
                texts::status(&row, &shared.status(), max_cuts, &reset, at, &|at| shared.show_time(at));
            Ok(Reply::Shown { title: format!("status of {}", row.session.name()), text })
        }
        Slash::Sessions => {
            let page = read(shared, |queries| queries.session_history(ROWS)).await?;
            let text = texts::sessions(&page.rows, at, &|at| shared.show_time(at));
            Ok(Reply::Shown { title: "sessions, the last active first".to_owned(), text })
        }
        Slash::Resume(wanted) => resume(shared, key, wanted).await,
        Slash::Title(title) => set_title(shared, &key, &title).await,
        Slash::Undo(turns) => {
            let session = live(shared, &key).await?.session.id;
            let of = session.clone();
            let turns = write(shared, move |store| store.hide_turns(&of, turns, at)).await?;
            let words = format!("{} hidden", count(turns.len(), "turn"));
            Ok(undoable(&words, Command::ShowTurns { session, turns }))
        }
        Slash::Retry => {
            let session = live(shared, &key).await?.session.id;
            write(shared, move |store| store.retry(&session, source, at)).await.map(accepted)
        }
        Slash::Search(words) => {
            let hits = shared.store.search(words.clone(), ROWS).await.map_err(refusal)?;
            let text = texts::hits(&hits, &|at| shared.show_time(at));
            Ok(Reply::Shown { title: format!("search: {words}"), text })
        }
        Slash::Export(format) => {
            let row = live(shared, &key).await?;
            let path = export::write(shared, row, format).await?;
            Ok(done(&format!("written to {}", path.display())))
        }
        Slash::Cron(command) => cron::slash(shared, command, source).await,
        Slash::Help(word) => texts::help(word.as_deref()),
        Slash::Quit => match source {
            Source::Console => Ok(Reply::Quit),
            Source::CommandLine | Source::Recovery | Source::Job => {
                Err(Refusal::ScreenOnly("quit".to_owned()))
            }
        },
    }
}

/// A question of a session by its number, settled or not.
async fn asked_in(shared: &Arc<Shared>, row: &SessionRow, number: ApprovalId) -> Result<ApprovalId, Refusal> {
    let known = read(shared, move |queries| queries.approval(number)).await?;
    match known.filter(|known| known.session == row.session.id) {
        Some(known) => Ok(known.id),
        None => Err(approval::not_asked_here(number, &row.asks)),
    }
}

async fn new_session(
    shared: &Arc<Shared>,
    key: SessionKey,
    title: Option<String>,
    ask: Ask,
    source: Source,
) -> Result<Reply, Refusal> {
    let title = title.map(|title| clean_title(&title)).transpose()?;
    if ask == Ask::First
        && let Some(row) = find(shared, &key).await?
        && let Some(loses) = what_is_lost(&row)
    {
        let confirm = format!("/new! {}", title.as_deref().unwrap_or_default()).trim_end().to_owned();
        return match source {
            Source::Console => Ok(Reply::Asks {
                question: format!("Start anew in {}? With it {loses}.", row.session.name()),
                confirm,
            }),
            Source::CommandLine | Source::Recovery | Source::Job => {
                Err(Refusal::WouldLose { loses: format!("with it {loses}"), confirm })
            }
        };
    }
    let (fresh, at, of) = (shared.fresh_session(), shared.now(), key.clone());
    let session = fresh.clone();
    let ended = write(shared, move |store| store.reset_session(&of, &fresh, title.as_deref(), at)).await?;
    let words = format!("a new session; the one before is under /sessions{}", texts::end_with_it(&ended));
    Ok(Reply::Session { key, session, words })
}

fn what_is_lost(row: &SessionRow) -> Option<String> {
    let waiting = row.queued + usize::from(row.slot.is_some());
    let mut parts = Vec::new();
    if row.turn.is_some() {
        parts.push("its turn is stopped".to_owned());
    }
    if waiting > 0 {
        let go = if waiting == 1 { "is" } else { "are" };
        parts.push(format!("{} {go} taken out of the queue (kept)", count(waiting, "waiting message")));
    }
    if let Background::Active { work } = &row.background {
        let end = if work.len() == 1 { "ends" } else { "end" };
        parts.push(format!("{} {end} ({})", texts::works(work.len()), texts::work(work)));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

async fn resume(shared: &Arc<Shared>, key: SessionKey, wanted: String) -> Result<Reply, Refusal> {
    let name = wanted.clone();
    let mut found = read(shared, move |queries| queries.resolve_session(&name, CANDIDATES + 1)).await?;
    let session = match found.len() {
        0 => named(shared, wanted).await?,
        1 => found.remove(0),
        _ => return Err(Refusal::Ambiguous { wanted, candidates: candidates(&found) }),
    };
    let (at, of, resumed) = (shared.now(), key.clone(), session.clone());
    let left = write(shared, move |store| store.switch_session(&of, &resumed, at)).await?;
    Ok(Reply::Session { key, session, words: switched("resumed", left.as_ref()) })
}

/// A session that is named as lists show it, without a title: by its key or its chat.
async fn named(shared: &Arc<Shared>, wanted: String) -> Result<SessionId, Refusal> {
    let Ok(key) = SessionKey::from_operator(&wanted) else { return Err(Refusal::NoSuchSession(wanted)) };
    match find(shared, &key).await? {
        Some(row) => Ok(row.session.id),
        None => Err(Refusal::NoSuchSession(wanted)),
    }
}

fn candidates(found: &[SessionId]) -> Vec<String> {
    let mut names: Vec<String> = found.iter().take(CANDIDATES).map(ToString::to_string).collect();
    if found.len() > CANDIDATES {
        names.push("…".to_owned());
    }
    names
}

async fn set_title(shared: &Arc<Shared>, key: &SessionKey, title: &str) -> Result<Reply, Refusal> {
    let title = clean_title(title)?;
    let (at, session) = (shared.now(), live_or_new(shared, key).await?.session.id);
    let words = format!("titled {title:?}");
    let before = write(shared, move |store| store.set_title(&session, &title, at)).await?;
    Ok(match before {
        Some(before) => Reply::Done { words: format!("{words}, was {before:?}"), undo: None },
        None => done(&words),
    })
}

/// A title is one line of 1 to 100 characters without control characters (10-sessions, History).
fn clean_title(title: &str) -> Result<String, Refusal> {
    let clean: String = title.chars().filter(|c| !c.is_control()).collect();
    let clean = clean.trim();
    if clean.is_empty() || clean.chars().count() > 100 {
        return Err(Refusal::BadTitle);
    }
    Ok(clean.to_owned())
}

async fn show_queue(shared: &Arc<Shared>, key: &SessionKey) -> Result<Reply, Refusal> {
    let row = live(shared, key).await?;
    let session = row.session.id.clone();
    let queue = read(shared, move |queries| queries.session_queue(&session)).await?;
    let text = texts::queue(&queue, row.session.hold.as_ref(), &|at| shared.show_time(at));
    Ok(Reply::Shown { title: format!("queue of {}", row.session.name()), text })
}

async fn show_allowed(shared: &Arc<Shared>, key: &SessionKey) -> Result<Reply, Refusal> {
    let row = live(shared, key).await?;
    let session = row.session.id.clone();
    let rows = read(shared, move |queries| queries.allowed(Some(&session), ROWS)).await?;
    let text = texts::allowed(&rows, &|at| shared.show_time(at));
    Ok(Reply::Shown { title: format!("allowed without asking in {}", row.session.name()), text })
}

async fn show_processes(shared: &Arc<Shared>, key: &SessionKey) -> Result<Reply, Refusal> {
    let row = live(shared, key).await?;
    let session = row.session.id.clone();
    let rows = read(shared, move |queries| queries.background(Some(&session), ROWS)).await?;
    let text = texts::processes(&rows, shared.now());
    Ok(Reply::Shown { title: format!("background processes of {}", row.session.name()), text })
}

/// The session that is live under a key; one that was never used is no session yet.
async fn live(shared: &Arc<Shared>, key: &SessionKey) -> Result<SessionRow, Refusal> {
    find(shared, key).await?.ok_or_else(|| Refusal::NoSuchSession(key.to_string()))
}

/// The session that is live under a key; what is set for one that was never used makes it, as its first message would.
async fn live_or_new(shared: &Arc<Shared>, key: &SessionKey) -> Result<SessionRow, Refusal> {
    shared.store.get_or_open(key, shared.fresh_session(), shared.now()).await.map_err(refusal)?;
    live(shared, key).await
}

async fn find(shared: &Arc<Shared>, key: &SessionKey) -> Result<Option<SessionRow>, Refusal> {
    let wanted = key.clone();
    read(shared, move |queries| queries.session_at(&wanted)).await
}

pub(super) async fn read<T, F>(shared: &Arc<Shared>, query: F) -> Result<T, Refusal>
where
    T: Send + 'static,
    F: FnOnce(&dyn crate::store::Queries) -> crate::store::Result<T> + Send + 'static,
{
    shared.store.read(query).await.map_err(refusal)
}
