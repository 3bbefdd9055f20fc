//! An agent's process and the lines between it and us.
//!
//! Three tasks of the connection do what must never wait for a turn: one writes, one reads and answers at
//! once what we don't know, one empties the standard error. Whoever listens ([`Connection::listen`]) hears
//! what comes from then on; what comes while nobody listens is late and only logged, and an agent that floods us
//! with it is ended.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::runtime;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::complaint::Complaint;
use super::message::{self, Lines, Message};
use super::schema::{
    CLIENT_METHOD_NAMES, Error, RequestId, RequestPermissionRequest, RequestPermissionResponse,
    SessionNotification,
};
use super::{permission, update};
use crate::agent::AgentError;
use crate::agent::process::end_members;
use crate::agent::program::group::ProcessGroup;
use crate::agent::program::launch::GO;
use crate::agent::program::{PIECE_BYTES, bad_end, read};
use crate::config::Secrets;
use crate::domain::event::excerpt;
use crate::domain::sanitize::one_line;

/// Lines that wait until the agent reads them; an agent that lets more wait does not read.
const UNREAD: usize = 64;
/// What is heard and not taken yet, in bytes; beyond that the agent waits.
const UNHEARD_BYTES: usize = 4 * 1024 * 1024;
/// So much may come that nobody listens to or asked for, until somebody listens again.
const UNASKED_BYTES: usize = 16 * 1024 * 1024;
/// So many messages of it are logged.
const UNASKED_LOGGED: usize = 20;
/// How long a process may take to end that has closed its output.
const LAST_BREATH: Duration = Duration::from_secs(1);

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

/// What is heard, in order.
pub(super) struct Hearing(mpsc::UnboundedReceiver<(Heard, OwnedSemaphorePermit)>);

impl Hearing {
    /// The next; none when nothing more can come.
    pub(super) async fn recv(&mut self) -> Option<Heard> {
        self.0.recv().await.map(|(heard, _)| heard)
    }

    /// Hears only what has come until now.
    pub(super) fn close(&mut self) {
        self.0.close();
    }
}

/// A live agent's process. Dropping it kills the agent with all that it started.
pub(super) struct Connection {
    name: String,
    /// What the process, and whatever it starts, has in its environment, and no other.
    mark: String,
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
    complaint: Mutex<Complaint>,
    odd: Mutex<Odd>,
    unasked: Mutex<Unasked>,
}

/// Who listens.
#[derive(Default)]
enum Ear {
    #[default]
    Nobody,
    Somebody(Speaker),
    /// Nothing more comes, for this reason.
    Closed(String),
    /// The agent was ended, for this reason.
    Ended(String),
}

/// The other side of a [`Hearing`].
#[derive(Clone)]
struct Speaker {
    heard: mpsc::UnboundedSender<(Heard, OwnedSemaphorePermit)>,
    room: Arc<Semaphore>,
}

impl Speaker {
    /// Passes a message of so many bytes on, once there is room for it. Gives back what nobody hears.
    async fn say(&self, message: Heard, bytes: usize) -> Option<Heard> {
        let bytes = u32::try_from(bytes.min(UNHEARD_BYTES)).unwrap_or(u32::MAX);
        let room = tokio::select! {
            biased;
            () = self.heard.closed() => None,
            room = Arc::clone(&self.room).acquire_many_owned(bytes) => room.ok(),
        };
        match room {
            None => Some(message),
            Some(room) => self.heard.send((message, room)).err().map(|unheard| unheard.0.0),
        }
    }
}

/// What came that nobody listens to or asked for, since somebody listened last.
#[derive(Default)]
struct Unasked {
    bytes: usize,
    messages: usize,
}

/// Lines that were no messages of the protocol.
#[derive(Default)]
struct Odd {
    count: usize,
    first: String,
}

impl Connection {
    /// Takes a started program over, which has the mark in its environment. It is let go by
    /// [`Connection::let_work`].
    pub(super) fn new(name: &str, mark: String, mut child: Child) -> Self {
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
            let reader =
                Reader { shared: Arc::clone(&shared), group: Arc::clone(&group), answers: to_agent.clone() };
            tasks.spawn(reader.hear(stdout, ended.clone()));
        }
        if let Some(stderr) = child.stderr.take() {
            tasks.spawn(hear_complaints(name.to_owned(), stderr, Arc::clone(&shared), ended.clone()));
        }
        tasks.spawn(await_exit(child, Arc::clone(&group), exited, ended));
        Self {
            name: name.to_owned(),
            mark,
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
    pub(super) fn listen(&self) -> Hearing {
        let (sender, heard) = mpsc::unbounded_channel();
        *lock(&self.shared.unasked) = Unasked::default();
        lock(&self.shared.complaint).turn_begins();
        let mut ear = lock(&self.shared.ear);
        if matches!(*ear, Ear::Nobody | Ear::Somebody(_)) {
            *ear = Ear::Somebody(Speaker { heard: sender, room: Arc::new(Semaphore::new(UNHEARD_BYTES)) });
        }
        Hearing(heard)
    }

    /// Logs something that nobody asked for.
    pub(super) fn note(&self, what: &str) {
        self.shared.note(|| what.to_owned());
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
        self.exit.borrow().is_some() || matches!(&*lock(&self.shared.ear), Ear::Closed(_) | Ear::Ended(_))
    }

    /// Why nothing more comes, with the agent's last words.
    pub(super) async fn lost(&mut self) -> AgentError {
        let exit = timeout(LAST_BREATH, self.exit.wait_for(Option::is_some)).await;
        let exit = exit.ok().and_then(Result::ok).and_then(|how| how.clone());
        let how = match (&*lock(&self.shared.ear), exit) {
            (Ear::Ended(why), _) | (Ear::Closed(why), None) => why.clone(),
            (_, Some(how)) => how,
            (Ear::Nobody | Ear::Somebody(_), None) => "is gone".to_owned(),
        };
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
        let said = if said.is_empty() { said } else { format!(": {said}") };
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
            let _ = timeout(grace, self.exit.wait_for(Option::is_some)).await;
        }
        self.group.end();
        let mark = std::mem::take(&mut self.mark);
        let _ = spawn_blocking(move || end_members(None, &mark)).await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.group.end();
        let mark = std::mem::take(&mut self.mark);
        if let (false, Ok(runtime)) = (mark.is_empty(), runtime::Handle::try_current()) {
            // What has left the group. Who has the mark is looked up in files.
            drop(runtime.spawn_blocking(move || end_members(None, &mark)));
        }
    }
}

impl Shared {
    /// Who listens, if anybody does.
    fn listener(&self) -> Option<Speaker> {
        match &*lock(&self.ear) {
            Ear::Somebody(ear) if !ear.heard.is_closed() => Some(ear.clone()),
            Ear::Somebody(_) | Ear::Nobody | Ear::Closed(_) | Ear::Ended(_) => None,
        }
    }

    /// Counts what nobody listens to or asked for.
    fn count(&self, bytes: usize) {
        lock(&self.unasked).bytes += bytes;
    }

    /// Why an agent that sends too much of it is ended.
    fn flood(&self) -> Option<String> {
        const MIB: usize = UNASKED_BYTES / (1024 * 1024);
        let floods = lock(&self.unasked).bytes > UNASKED_BYTES;
        floods.then(|| format!("sent more than {MIB} MiB that nobody had asked for and was ended"))
    }

    /// Logs such a message, unless there were many.
    fn note(&self, what: impl FnOnce() -> String) {
        let mut unasked = lock(&self.unasked);
        unasked.messages += 1;
        match unasked.messages {
            ..=UNASKED_LOGGED => tracing::info!("an agent {}", what()),
            messages if messages == UNASKED_LOGGED + 1 => {
                tracing::info!("no more of what nobody asked the agent for is logged until its next turn");
            }
            _ => {}
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

/// Reads what an agent sends, passes it on, and answers what nobody else does.
struct Reader {
    shared: Arc<Shared>,
    group: Arc<ProcessGroup>,
    answers: mpsc::Sender<String>,
}

impl Reader {
    async fn hear(self, mut stdout: ChildStdout, ended: CancellationToken) {
        let mut piece = vec![0; PIECE_BYTES];
        let mut lines = Lines::default();
        let end = loop {
            let bytes = read(&mut stdout, &mut piece, &ended).await;
            let at_end = bytes.is_empty();
            if self.shared.listener().is_none() {
                self.shared.count(bytes.len());
            }
            let pushed = lines.push(bytes);
            if at_end {
                lines.finish();
            }
            while let Some(line) = lines.next() {
                // Before anything of it is cut.
                self.take(&Secrets::known().hide(line)).await;
            }
            match (pushed, self.shared.flood()) {
                (Err(too_long), _) => break Ear::Closed(too_long.to_string()),
                (Ok(()), _) if at_end => break Ear::Closed("has closed its output".to_owned()),
                (Ok(()), Some(why)) => {
                    tracing::warn!("an agent {why}");
                    break Ear::Ended(why);
                }
                (Ok(()), None) => {}
            }
        };
        if matches!(end, Ear::Ended(_)) {
            self.group.end();
        }
        *lock(&self.shared.ear) = end;
    }

    async fn take(&self, line: &str) {
        match message::read(line) {
            Err(why) => self.shared.odd(&why),
            Ok(Message::Reply { id, result }) => self.pass(Heard::Reply { id, result }, line).await,
            Ok(Message::Notification { method, params }) if method == CLIENT_METHOD_NAMES.session_update => {
                match update::read(params) {
                    Ok(Some(update)) => self.pass(Heard::Update(Box::new(update)), line).await,
                    Ok(None) => {}
                    Err(why) => self.shared.odd(&why),
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
                        odd.iter().for_each(|why| self.shared.odd(why));
                        self.pass(Heard::Permission { id, asked: Box::new(asked) }, line).await;
                    }
                    Err(error) => {
                        self.shared.odd(&format!("{method} can't be read: {error}"));
                        self.answer(id, Err(Error::invalid_params().data(error.to_string())));
                    }
                }
            }
            Ok(Message::BadRequest { id, why }) => {
                self.shared.count(line.len());
                self.shared.odd(&why);
                self.send(message::refusal(&id));
            }
            Ok(Message::Request { id, method, .. }) => {
                self.shared.count(line.len());
                self.shared.note(|| format!("asks for what is not offered: {}", excerpt(&method)));
                self.answer(id, Err(Error::method_not_found().data(method)));
            }
        }
    }

    /// Passes a message on. One that nobody listens for is late.
    async fn pass(&self, heard: Heard, line: &str) {
        let late = match self.shared.listener() {
            Some(ear) => ear.say(heard, line.len()).await,
            None => Some(heard),
        };
        match late {
            None => {}
            Some(Heard::Permission { id, .. }) => self.answer(id, Ok(permission::cancelled())),
            Some(_) => {
                self.shared.note(|| format!("says when no turn of it runs: {}", excerpt(line)));
            }
        }
    }

    fn answer(&self, id: RequestId, answer: Result<RequestPermissionResponse, Error>) {
        self.send(message::reply(id, answer));
    }

    /// An agent that does not read its input gets no answer.
    fn send(&self, written: serde_json::Result<String>) {
        let sent = written.is_ok_and(|line| self.answers.try_send(line).is_ok());
        if !sent {
            self.shared.note(|| "asks and does not read its answers".to_owned());
        }
    }
}

async fn hear_complaints(
    name: String,
    mut stderr: ChildStderr,
    shared: Arc<Shared>,
    ended: CancellationToken,
) {
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let bytes = read(&mut stderr, &mut piece, &ended).await;
        let lines = match bytes {
            [] => lock(&shared.complaint).finish(),
            bytes => lock(&shared.complaint).push(bytes),
        };
        for line in lines {
            tracing::info!(agent = name, "stderr: {line}");
        }
        if bytes.is_empty() {
            return;
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
