//! Background processes: started for agents, watched to their end, ended when that is asked, and taken
//! over by the next engine where this one goes first.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use super::clock::TRY_AGAIN;
use super::shared::{Settings, Shared};
use crate::agent::NewCall;
use crate::agent::background::{
    self, BackgroundCall, ENDED_ALONE, Held, LONGEST_END, Orders, Watched, end_rest, log_of, newest_lines,
};
use crate::config::Secrets;
use crate::domain::Time;
use crate::domain::api::{Outliving, ProcessRow};
use crate::domain::background::{BackgroundProcess, Ended, StoppedBy, Which, names};
use crate::domain::event::EventKind;
use crate::domain::id::{ProcessNumber, SessionId, TurnId};
use crate::store::{NewBackground, StoreError, Transitions};

/// So many of them are told of one session.
const OF_A_SESSION: usize = 100;
/// So much of an output an agent reads at once, and so much it is shown with the end.
const READ_CHARS: usize = 40_000;
const LAST_CHARS: usize = 4_000;
/// How much longer than the end itself an agent waits for it to be kept.
const KEPT_WITHIN: Duration = Duration::from_secs(5);

type Key = (SessionId, ProcessNumber);

/// What every background process begins with.
pub(super) struct Place {
    /// The folder of their outputs.
    pub(super) folder: PathBuf,
    /// The program that can be a keeper.
    pub(super) keeper: PathBuf,
}

impl Place {
    fn folder_of(&self, session: &SessionId) -> PathBuf {
        self.folder.join(session.as_str())
    }

    fn log(&self, process: &BackgroundProcess) -> PathBuf {
        log_of(&self.folder, process)
    }
}

/// An engine's background processes.
#[derive(Default)]
pub(super) struct Background {
    /// Woken where the end of one is asked for.
    to_end: Mutex<HashMap<Key, Arc<Notify>>>,
    /// Woken when one has ended.
    ended: Notify,
    /// Fires when they are the next engine's to watch.
    let_go: CancellationToken,
}

impl Background {
    /// The end of a process is asked for, by what is kept.
    pub(super) fn end(&self, session: &SessionId, number: ProcessNumber) {
        // One that is not watched yet finds it noted.
        self.asked(&(session.clone(), number)).notify_one();
    }

    /// The end of a process is kept.
    pub(super) fn ended(&self, session: &SessionId, number: ProcessNumber) {
        self.lock().remove(&(session.clone(), number));
        self.ended.notify_waiters();
    }

    /// Watches none of them any more: they go on.
    pub(super) fn let_go(&self) {
        self.let_go.cancel();
    }

    fn asked(&self, key: &Key) -> Arc<Notify> {
        Arc::clone(self.lock().entry(key.clone()).or_default())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Arc<Notify>>> {
        self.to_end.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Carries out what a turn's agent asks of its session's background processes.
pub(super) async fn answer(shared: Arc<Shared>, session: SessionId, turn: TurnId, asked: NewCall) {
    let answer = match asked.what.clone() {
        BackgroundCall::Start { command, folder, most } => {
            start(&shared, &session, turn, command, &folder, most).await
        }
        BackgroundCall::List => list(&shared, &session).await,
        BackgroundCall::Read(number) => read(&shared, &session, number).await,
        BackgroundCall::Wait(number, limit) => wait(&shared, &session, number, limit).await,
        BackgroundCall::End(number) => end(&shared, &session, number).await,
    };
    asked.answer(answer);
}

async fn start(
    shared: &Arc<Shared>,
    session: &SessionId,
    turn: TurnId,
    command: String,
    folder: &Path,
    most: usize,
) -> Result<String, String> {
    let Settings { background: Place { keeper, .. }, keys, .. } = &shared.settings;
    let held = Held::start(keeper, folder, &keys.variables, session, turn);
    let held = held.map_err(|error| format!("the command was not run: {error}"))?;
    let (secrets, identity, at) = (Secrets::known(), held.identity().clone(), shared.now());
    let (told, folder) = (secrets.hide(command.clone()), secrets.hide(folder.display().to_string()));
    let new = NewBackground { turn, command: told, folder, identity, most };
    let process = match shared.store.write(move |store| store.keep_background(&new, at)).await {
        Ok(process) => process,
        Err(error) => {
            // Without orders it ends by itself.
            let _ = tokio::task::spawn_blocking(move || held.dismiss()).await;
            return Err(format!("the command was not run: {error}"));
        }
    };
    make_room(shared, session).await;
    let log = shared.settings.background.log(&process);
    let watched = find_watched(&process);
    let goes = held.go(&Orders::of(&process, command, log.clone(), &secrets)).await;
    let number = process.number;
    take_over(shared, process, watched);
    goes.map_err(|error| format!("background process {number} did not begin: {error}"))?;
    Ok(format!(
        "background process {number} began. Its output goes to {}; the tool process reads it, waits for its \
         end or kills it.",
        log.display()
    ))
}

async fn list(shared: &Arc<Shared>, session: &SessionId) -> Result<String, String> {
    let now = shared.now();
    let lines: Vec<String> = rows(shared, session).await?.iter().map(|row| row.process.words(now)).collect();
    Ok(if lines.is_empty() { "there are none".to_owned() } else { lines.join("\n") })
}

async fn read(shared: &Arc<Shared>, session: &SessionId, number: ProcessNumber) -> Result<String, String> {
    let process = find(shared, session, number).await?;
    with_output(shared, &process, READ_CHARS).await
}

async fn wait(
    shared: &Arc<Shared>,
    session: &SessionId,
    number: ProcessNumber,
    limit: Duration,
) -> Result<String, String> {
    let until = Instant::now() + limit;
    loop {
        let mut ended = std::pin::pin!(shared.background.ended.notified());
        ended.as_mut().enable();
        let process = find(shared, session, number).await?;
        if !process.lives() {
            return with_output(shared, &process, LAST_CHARS).await;
        }
        tokio::select! {
            () = ended => {}
            () = sleep_until(until) => return Ok(format!("it has not ended: {}", process.words(shared.now()))),
        }
    }
}

async fn end(shared: &Arc<Shared>, session: &SessionId, number: ProcessNumber) -> Result<String, String> {
    let (at, of) = (shared.now(), session.clone());
    let asked = shared
        .store
        .write(move |store| store.stop_background(&of, Which::One(number), StoppedBy::Agent, at))
        .await;
    asked.map_err(|error| error.to_string())?;
    wait(shared, session, number, LONGEST_END + KEPT_WITHIN).await
}

async fn find(
    shared: &Shared,
    session: &SessionId,
    number: ProcessNumber,
) -> Result<BackgroundProcess, String> {
    let rows = rows(shared, session).await?;
    let processes: Vec<BackgroundProcess> = rows.into_iter().map(|row| row.process).collect();
    let found = processes.iter().find(|process| process.number == number).cloned();
    found.ok_or_else(|| match names(&processes) {
        existing if existing.is_empty() => "this session has no background processes".to_owned(),
        existing => format!("there is no background process {number}; there are: {existing}"),
    })
}

async fn rows(shared: &Shared, session: &SessionId) -> Result<Vec<ProcessRow>, String> {
    let of = session.clone();
    let rows = shared.store.read(move |queries| queries.background(Some(&of), OF_A_SESSION)).await;
    rows.map_err(|error| error.to_string())
}

async fn with_output(
    shared: &Shared,
    process: &BackgroundProcess,
    most_chars: usize,
) -> Result<String, String> {
    let (log, words) = (shared.settings.background.log(process), process.words(shared.now()));
    let read = move || newest_lines(&log, most_chars, &Secrets::known());
    let text = match tokio::task::spawn_blocking(read).await {
        Ok(Ok(text)) => text,
        Ok(Err(error)) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Ok(Err(error)) => return Err(format!("its output can't be read: {error}")),
        Err(error) => return Err(error.to_string()),
    };
    let text = if text.is_empty() { "[it wrote nothing]" } else { &text };
    Ok(format!("{words}\n{text}"))
}

/// Watches a process from now on, or keeps its end where it has ended.
fn take_over(shared: &Arc<Shared>, process: BackgroundProcess, watched: io::Result<Option<Watched>>) {
    let task = {
        let shared = Arc::clone(shared);
        async move {
            match watched {
                Ok(Some(watched)) => watch(&shared, &process, &watched).await,
                Ok(None) => {
                    let ended = how_it_ended(&shared, &process, "it ended before anyone saw it");
                    keep_end(&shared, &process, ended).await;
                }
                // It stands against a reset, as whatever nobody can tell of.
                Err(error) => {
                    let name = process.name();
                    tracing::error!(session = %process.session, %error, "background process {name} can't be watched");
                }
            }
        }
    };
    shared.tasks.spawn(task);
}

async fn watch(shared: &Arc<Shared>, process: &BackgroundProcess, watched: &Watched) {
    let asked = shared.background.asked(&(process.session.clone(), process.number));
    let end = async {
        tokio::select! {
            () = watched.ended() => {}
            () = asked.notified() => watched.end().await,
        }
    };
    tokio::select! {
        biased;
        () = shared.background.let_go.cancelled() => return,
        () = end => {}
    }
    let ended = how_it_ended(shared, process, "whoever kept it was killed with it");
    keep_end(shared, process, Ended { at: shared.now(), ..ended }).await;
}

fn how_it_ended(shared: &Shared, process: &BackgroundProcess, or_why: &str) -> Ended {
    background::how_it_ended(process, &shared.settings.background.log(process), or_why, shared.now())
}

/// Keeps an end, however long the store takes.
async fn keep_end(shared: &Shared, process: &BackgroundProcess, ended: Ended) {
    loop {
        let (session, number, ended) = (process.session.clone(), process.number, ended.clone());
        let at = shared.now();
        let kept = shared.store.write(move |store| store.end_background(&session, number, &ended, at)).await;
        match kept {
            Ok(_) | Err(StoreError::Closed) => return,
            Err(error) => {
                let name = process.name();
                tracing::error!(session = %process.session, %error, "the end of background process {name} is not kept yet");
            }
        }
        sleep(TRY_AGAIN).await;
    }
}

/// A process that an earlier engine left.
#[derive(Clone)]
pub(super) struct Left {
    process: BackgroundProcess,
    /// How it ended, if it did.
    ended: Option<Ended>,
}

/// Finds the background processes that an earlier engine left, and ends what is left of those that ended.
pub(super) async fn find_left(shared: &Arc<Shared>) -> Result<Vec<Left>, StoreError> {
    let live = shared.store.read(|queries| queries.live_background()).await?;
    let of = Arc::clone(shared);
    let look = move || live.into_iter().map(|row| look_at(&of, row.process)).collect();
    // It fails only where the runtime ends: then nothing new begins either.
    tokio::task::spawn_blocking(look).await.map_err(|_| StoreError::Closed)
}

fn look_at(shared: &Shared, process: BackgroundProcess) -> Left {
    let ended = matches!(find_watched(&process), Ok(None)).then(|| {
        end_rest(&process.session, process.number);
        how_it_ended(shared, &process, ENDED_ALONE)
    });
    Left { process, ended }
}

fn find_watched(process: &BackgroundProcess) -> io::Result<Option<Watched>> {
    Watched::find(&process.identity, &process.session, process.number)
}

impl Left {
    /// Keeps what was found of it.
    pub(super) fn keep(&self, store: &mut dyn Transitions, at: Time) -> Result<(), StoreError> {
        let BackgroundProcess { session, number, .. } = &self.process;
        match &self.ended {
            Some(ended) => store.end_background(session, *number, ended, at).map(|_| ()),
            None => {
                let (line, group) = (self.process.line(), self.process.identity.pid);
                let kind = EventKind::BackgroundAdopted { number: *number, line, group };
                store.record(Some(session), kind, at)
            }
        }
    }

    /// Takes over what lives. What was to end already is ended now.
    pub(super) fn take_over(self, shared: &Arc<Shared>) {
        if self.ended.is_some() {
            return;
        }
        if self.process.stopped_by.is_some() {
            shared.background.end(&self.process.session, self.process.number);
        }
        let watched = find_watched(&self.process);
        take_over(shared, self.process, watched);
    }
}

/// What lives in a session.
pub(super) async fn live_of(shared: &Shared, session: &SessionId) -> Result<Vec<String>, String> {
    let rows = rows(shared, session).await?;
    Ok(rows.iter().filter(|row| row.process.lives()).map(|row| row.process.name()).collect())
}

/// What becomes of all that live when this engine ends.
pub(super) async fn outliving(shared: &Shared) -> Outliving {
    Outliving::of(&shared.store.read(|queries| queries.live_background()).await.unwrap_or_default())
}

/// Takes the outputs of all processes that are forgotten away.
pub(super) async fn sweep_all(shared: &Shared) -> Result<(), StoreError> {
    let place = shared.settings.background.folder.clone();
    let sessions = tokio::task::spawn_blocking(move || sessions_in(&place)).await.unwrap_or_default();
    for session in sessions {
        sweep(shared, &session).await?;
    }
    Ok(())
}

/// The sessions that have a folder in a folder.
fn sessions_in(folder: &Path) -> Vec<SessionId> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Makes the folder of a session's outputs, and takes those away whose processes are forgotten.
async fn make_room(shared: &Shared, session: &SessionId) {
    let folder = shared.settings.background.folder_of(session);
    let make = move || fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    match tokio::task::spawn_blocking(make).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => {
            tracing::error!(%session, %error, "no folder for the output of a background process")
        }
        Err(error) => tracing::error!(%session, %error, "no folder for the output of a background process"),
    }
    if let Err(error) = sweep(shared, session).await {
        tracing::warn!(%session, %error, "old outputs of background processes were not taken away");
    }
}

/// Takes away what lies in a session's folder and belongs to no process that is kept.
///
/// What lies there is listed before it is asked which processes there are: a process is kept before anything
/// of it is written, so nothing of one that begins meanwhile is taken for a leftover.
async fn sweep(shared: &Shared, session: &SessionId) -> Result<(), StoreError> {
    let folder = shared.settings.background.folder_of(session);
    let listed = folder.clone();
    let found = tokio::task::spawn_blocking(move || all_in(&listed)).await.unwrap_or_default();
    let of = session.clone();
    let rows = shared.store.read(move |queries| queries.background(Some(&of), usize::MAX)).await?;
    let kept: HashSet<PathBuf> =
        rows.iter().map(|row| shared.settings.background.log(&row.process)).collect();
    let take_away = move || {
        for path in
            found.iter().filter(|path| !kept.contains(*path) && !kept.contains(&path.with_extension("log")))
        {
            // What can't be taken away now is tried again with the next.
            let _ = fs::remove_file(path).or_else(|_| fs::remove_dir(path));
        }
        if kept.is_empty() {
            let _ = fs::remove_dir(folder);
        }
    };
    let _ = tokio::task::spawn_blocking(take_away).await;
    Ok(())
}

/// All files in a folder and its folders, each folder behind what it holds.
fn all_in(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            all.extend(all_in(&entry.path()));
        }
        all.push(entry.path());
    }
    all
}
