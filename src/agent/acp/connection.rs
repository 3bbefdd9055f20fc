//! An agent's process and the lines between it and us.
//!
//! Three tasks of the connection do what must never wait for a turn: one writes, one reads and answers at
//! once what we don't know, one empties the standard error. Whoever listens ([`Connection::listen`]) hears
//! what comes from then on; what comes while nobody listens is late and only logged.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::message::{self, Lines, Message};
use super::schema::{
    CLIENT_METHOD_NAMES, Error, RequestId, RequestPermissionRequest, RequestPermissionResponse,
    SessionNotification,
};
use super::{permission, update};
use crate::agent::AgentError;
use crate::agent::program::group::ProcessGroup;
use crate::agent::program::launch::GO;
use crate::agent::program::tail::Tail;
use crate::agent::program::{PIECE_BYTES, bad_end, read};
use crate::domain::event::excerpt;
use crate::domain::sanitize::one_line;

/// Lines that wait until the agent reads them; an agent that lets more wait does not read.
const UNREAD: usize = 64;
/// What is heard and not taken yet; beyond that the agent waits.
const UNHEARD: usize = 64;
/// How long a process may take to end that has closed its output.
const LAST_BREATH: Duration = Duration::from_secs(1);
/// How much of an agent's standard error is kept in the log.
const LOGGED_BYTES: usize = 64 * 1024;

/// What is heard of an agent.
#[derive(Debug)]
pub(super) enum Heard {
    /// The answer to a request of ours.
    Reply {
        /// The request.
        id: i64,
        /// What came of it.
        result: Result<Value, Error>,
    },
    /// An update of a session.
    Update(Box<SessionNotification>),
    /// A request for permission.
    Permission {
        /// The agent's number for it.
        id: RequestId,
        /// What it asks.
        asked: Box<RequestPermissionRequest>,
    },
}

/// A live agent's process. Dropping it kills the agent with all that it started.
pub(super) struct Connection {
    name: String,
    pid: Option<u32>,
    group: Arc<ProcessGroup>,
    to_agent: mpsc::Sender<String>,
    hang_up: CancellationToken,
    shared: Arc<Shared>,
    /// How the process ended, once it has.
    exit: watch::Receiver<Option<String>>,
    requests: i64,
    _tasks: JoinSet<()>,
}

/// What the connection's tasks tell it.
#[derive(Default)]
struct Shared {
    ear: Mutex<Ear>,
    complaint: Mutex<Tail>,
    odd: Mutex<Odd>,
}

/// Who listens.
#[derive(Default)]
enum Ear {
    #[default]
    Nobody,
    Somebody(mpsc::Sender<Heard>),
    /// Nothing more comes, for this reason.
    Closed(String),
}

/// Lines that were no messages of the protocol.
#[derive(Default)]
struct Odd {
    count: usize,
    first: String,
}

impl Connection {
    /// Takes a started program over. It is let go by [`Connection::let_work`].
    pub(super) fn new(name: &str, mut child: Child) -> Self {
        let (pid, group) = (child.id(), Arc::new(ProcessGroup::led_by(&child)));
        let (to_agent, lines) = mpsc::channel(UNREAD);
        let (exited, exit) = watch::channel(None);
        let shared = Arc::new(Shared::default());
        let (hang_up, ended) = (CancellationToken::new(), CancellationToken::new());
        let mut tasks = JoinSet::new();
        if let Some(stdin) = child.stdin.take() {
            tasks.spawn(write(stdin, lines, hang_up.clone()));
        }
        if let Some(stdout) = child.stdout.take() {
            tasks.spawn(hear(stdout, Arc::clone(&shared), to_agent.clone(), ended.clone()));
        }
        if let Some(stderr) = child.stderr.take() {
            tasks.spawn(hear_complaints(name.to_owned(), stderr, Arc::clone(&shared), ended.clone()));
        }
        tasks.spawn(await_exit(child, Arc::clone(&group), exited, ended));
        Self {
            name: name.to_owned(),
            pid,
            group,
            to_agent,
            hang_up,
            shared,
            exit,
            requests: 0,
            _tasks: tasks,
        }
    }

    /// The number of its process, while that lives.
    pub(super) fn pid(&self) -> Option<u32> {
        self.pid
    }

    /// The program.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Lets the program work, which has waited until now.
    pub(super) fn let_work(&self) -> Result<(), AgentError> {
        self.send(GO.to_owned())
    }

    /// Hears what comes from now on. The channel ends when nothing more can come.
    pub(super) fn listen(&self) -> mpsc::Receiver<Heard> {
        let (sender, heard) = mpsc::channel(UNHEARD);
        let mut ear = lock(&self.shared.ear);
        if !matches!(*ear, Ear::Closed(_)) {
            *ear = Ear::Somebody(sender);
        }
        heard
    }

    /// Sends a request and returns its number.
    pub(super) fn request(&mut self, method: &str, params: &impl Serialize) -> Result<i64, AgentError> {
        self.requests += 1;
        self.send_written(message::request(self.requests, method, params))?;
        Ok(self.requests)
    }

    /// Tells the agent something.
    pub(super) fn notify(&self, method: &str, params: &impl Serialize) -> Result<(), AgentError> {
        self.send_written(message::notification(method, params))
    }

    /// Answers a request for permission.
    pub(super) fn answer(&self, id: RequestId, answer: RequestPermissionResponse) -> Result<(), AgentError> {
        self.send_written(message::reply(id, Ok(answer)))
    }

    fn send_written(&self, line: serde_json::Result<String>) -> Result<(), AgentError> {
        let unwritten = |error| AgentError::Failed(format!("{} can't be told: {error}", self.name));
        self.send(line.map_err(unwritten)?)
    }

    fn send(&self, line: String) -> Result<(), AgentError> {
        self.to_agent.try_send(line).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => {
                AgentError::Broken(format!("{} does not read what it is sent", self.name))
            }
            mpsc::error::TrySendError::Closed(_) => {
                AgentError::Broken(format!("{} has closed its input", self.name))
            }
        })
    }

    /// Whether nothing more comes.
    pub(super) fn is_gone(&self) -> bool {
        self.exit.borrow().is_some() || matches!(&*lock(&self.shared.ear), Ear::Closed(_))
    }

    /// Why nothing more comes, with the agent's last words.
    pub(super) async fn lost(&mut self) -> AgentError {
        let exit = timeout(LAST_BREATH, self.exit.wait_for(Option::is_some)).await;
        let how = exit.ok().and_then(Result::ok).and_then(|how| how.clone());
        let how = how.unwrap_or_else(|| match &*lock(&self.shared.ear) {
            Ear::Closed(why) => why.clone(),
            Ear::Nobody | Ear::Somebody(_) => "is gone".to_owned(),
        });
        AgentError::Broken(self.with_last_words(&how))
    }

    /// What went wrong: that the process is gone, if it is, else this.
    pub(super) async fn lost_or(&mut self, error: AgentError) -> AgentError {
        let gone = timeout(LAST_BREATH, self.exit.wait_for(Option::is_some)).await.is_ok();
        if gone { self.lost().await } else { error }
    }

    /// `NAME how`, and what it said last on its standard error.
    pub(super) fn with_last_words(&self, how: &str) -> String {
        let said = lock(&self.shared.complaint).last_lines();
        let said = if said.is_empty() { said } else { format!(": {}", one_line(&said)) };
        format!("{} {how}{said}", self.name)
    }

    /// What was heard that is no message of the protocol, in words; none if there was nothing since the last time.
    pub(super) fn odd_lines(&self) -> Option<String> {
        let odd = std::mem::take(&mut *lock(&self.shared.odd));
        match odd.count {
            0 => None,
            1 => Some(format!(
                "heard a line from {} that is no message of the protocol: {}",
                self.name, odd.first
            )),
            more => Some(format!(
                "heard {more} lines from {} that are no messages of the protocol; the first: {}",
                self.name, odd.first
            )),
        }
    }

    /// Ends the agent in order: its input ends, then it is asked to, then it is killed.
    pub(super) async fn close(mut self, grace: Duration) {
        self.hang_up.cancel();
        if timeout(grace, self.exit.wait_for(Option::is_some)).await.is_err() {
            self.group.terminate();
            // Dropping the connection kills what does not listen.
            let _ = timeout(grace, self.exit.wait_for(Option::is_some)).await;
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.group.end();
    }
}

impl Shared {
    /// Passes a message on. One that nobody listens for is late.
    async fn pass(&self, heard: Heard, answers: &mpsc::Sender<String>) {
        let ear = match &*lock(&self.ear) {
            Ear::Somebody(ear) => Some(ear.clone()),
            Ear::Nobody | Ear::Closed(_) => None,
        };
        let late = match ear {
            Some(ear) => ear.send(heard).await.err().map(|error| error.0),
            None => Some(heard),
        };
        match late {
            None => {}
            Some(Heard::Permission { id, .. }) => {
                answer(answers, id, Ok(permission::cancelled()));
            }
            Some(heard) => {
                tracing::info!("an agent says when no turn of it runs: {}", excerpt(&format!("{heard:?}")))
            }
        }
    }

    fn odd(&self, line: &str) {
        let mut odd = lock(&self.odd);
        odd.count += 1;
        if odd.count == 1 {
            odd.first = one_line(line).into_owned();
        }
    }
}

async fn write(mut stdin: ChildStdin, mut lines: mpsc::Receiver<String>, hang_up: CancellationToken) {
    let write = async {
        while let Some(line) = lines.recv().await {
            if stdin.write_all(line.as_bytes()).await.is_err() {
                return;
            }
        }
    };
    hang_up.run_until_cancelled(write).await;
}

async fn hear(
    mut stdout: ChildStdout,
    shared: Arc<Shared>,
    answers: mpsc::Sender<String>,
    ended: CancellationToken,
) {
    let mut piece = vec![0; PIECE_BYTES];
    let mut lines = Lines::default();
    let why = loop {
        let bytes = read(&mut stdout, &mut piece, &ended).await;
        let at_end = bytes.is_empty();
        let pushed = lines.push(bytes);
        if at_end {
            lines.finish();
        }
        while let Some(line) = lines.next() {
            take(&line, &shared, &answers).await;
        }
        match pushed {
            Err(too_long) => break too_long.to_string(),
            Ok(()) if at_end => break "has closed its output".to_owned(),
            Ok(()) => {}
        }
    };
    *lock(&shared.ear) = Ear::Closed(why);
}

async fn take(line: &str, shared: &Shared, answers: &mpsc::Sender<String>) {
    match message::read(line) {
        Err(why) => shared.odd(&why),
        Ok(Message::Reply { id, result }) => shared.pass(Heard::Reply { id, result }, answers).await,
        Ok(Message::Notification { method, params }) if method == CLIENT_METHOD_NAMES.session_update => {
            match update::read(params) {
                Ok(Some(update)) => shared.pass(Heard::Update(Box::new(update)), answers).await,
                Ok(None) => {}
                Err(why) => shared.odd(&why),
            }
        }
        Ok(Message::Notification { method, .. }) => {
            tracing::debug!(method, "a notification that we don't know")
        }
        Ok(Message::Request { id, method, params })
            if method == CLIENT_METHOD_NAMES.session_request_permission =>
        {
            match permission::read(params) {
                Ok((asked, odd)) => {
                    odd.iter().for_each(|why| shared.odd(why));
                    shared.pass(Heard::Permission { id, asked: Box::new(asked) }, answers).await;
                }
                Err(error) => {
                    shared.odd(&format!("{method} can't be read: {error}"));
                    answer(answers, id, Err(Error::invalid_params().data(error.to_string())));
                }
            }
        }
        Ok(Message::BadRequest { id, why }) => {
            shared.odd(&why);
            send(answers, message::refusal(&id));
        }
        Ok(Message::Request { id, method, .. }) => {
            tracing::info!(method = &*one_line(&method), "an agent asks for what is not offered");
            answer(answers, id, Err(Error::method_not_found().data(method)));
        }
    }
}

fn answer(answers: &mpsc::Sender<String>, id: RequestId, answer: Result<RequestPermissionResponse, Error>) {
    send(answers, message::reply(id, answer));
}

/// An agent that does not read its input gets no answer.
fn send(answers: &mpsc::Sender<String>, written: serde_json::Result<String>) {
    let sent = written.is_ok_and(|line| answers.try_send(line).is_ok());
    if !sent {
        tracing::warn!("an agent asks and does not read its answers");
    }
}

async fn hear_complaints(
    name: String,
    mut stderr: ChildStderr,
    shared: Arc<Shared>,
    ended: CancellationToken,
) {
    let mut piece = vec![0; PIECE_BYTES];
    let mut logged = 0;
    loop {
        let bytes = read(&mut stderr, &mut piece, &ended).await;
        if bytes.is_empty() {
            return;
        }
        lock(&shared.complaint).push(bytes);
        let before = logged;
        logged += bytes.len();
        if before < LOGGED_BYTES {
            for line in String::from_utf8_lossy(bytes).lines() {
                tracing::info!(agent = name, "stderr: {}", one_line(line));
            }
            if logged >= LOGGED_BYTES {
                tracing::info!(agent = name, "stderr: no more of it is logged");
            }
        }
    }
}

async fn await_exit(
    mut child: Child,
    group: Arc<ProcessGroup>,
    exited: watch::Sender<Option<String>>,
    ended: CancellationToken,
) {
    let status = child.wait().await;
    group.end();
    let how = bad_end(&status).unwrap_or_else(|| "ended with exit code 0".to_owned());
    exited.send_replace(Some(how));
    ended.cancel();
}

/// What is locked is whole at every moment, so a panic elsewhere spoils nothing.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
