//! An engine in another process, reached over its socket.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::codec::FramedRead;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::client::{Client, ClientError, Reach};
use super::owner;
use super::protocol::{Ask, FromEngine, Hello, Line, Lines, MAX_RESPONSE_BYTES, Outcome, PROTOCOL, Request};
use crate::config::{Home, LockError, Owner};
use crate::domain::api::{Answer, Command, Query, Reply, Update};

const MAX_REQUESTS_OUT: usize = 256;
const MAX_UPDATES_WAITING: usize = 256;
/// A living engine greets at once; one that does not is stopped or stuck.
const GREETING: Duration = Duration::from_secs(5);
/// So long an engine may own its home without a socket while it starts or stops.
const STARTING: Duration = Duration::from_secs(3);
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// An engine in another process.
///
/// One connection carries requests, each with an id, many at a time. Each listener to updates has a
/// connection of its own, so that an answer never waits behind updates that nobody reads.
#[derive(Debug)]
pub struct SocketClient {
    path: PathBuf,
    hello: Hello,
    out: mpsc::Sender<String>,
    waiting: Arc<Mutex<Waiting>>,
    _tasks: DropGuard,
}

/// Who waits for a response.
#[derive(Debug, Default)]
struct Waiting {
    next_id: u64,
    responses: HashMap<u64, oneshot::Sender<Outcome>>,
    /// Why no response will come any more.
    gone: Option<String>,
}

impl SocketClient {
    /// Connects to the engine that runs for `home`; none if no engine runs. An engine that owns the
    /// home but can't be reached is an error: it is given a while to start or to stop.
    pub async fn connect(home: &Home) -> Result<Option<Self>, ClientError> {
        let path = home.socket();
        let Some(Greeted { hello, lines, write }) = find(home, &path).await? else { return Ok(None) };
        let waiting = Arc::new(Mutex::new(Waiting::default()));
        let (out, requests) = mpsc::channel(MAX_REQUESTS_OUT);
        let tasks = CancellationToken::new();
        let (read_for, gone_for) = (Arc::clone(&waiting), Arc::clone(&waiting));
        tokio::spawn(tasks.clone().run_until_cancelled_owned(async move {
            // Whichever direction breaks first ends both.
            let why = tokio::select! {
                why = read_responses(lines, &read_for) => why,
                why = write_requests(write, requests) => why,
            };
            give_up(&gone_for, why);
        }));
        Ok(Some(Self { path, hello, out, waiting, _tasks: tasks.drop_guard() }))
    }

    /// What the engine said of itself.
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// Sends a request. It is in its place in the order when this returns.
    fn ask(&self, ask: Ask) -> Result<oneshot::Receiver<Outcome>, ClientError> {
        let (responder, response) = oneshot::channel();
        let mut waiting = lock(&self.waiting);
        if let Some(why) = &waiting.gone {
            return Err(ClientError::Gone(why.clone()));
        }
        let id = waiting.next_id;
        let request = request_line(&Request { id, ask })?;
        self.out.try_send(request).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => {
                ClientError::Failed(format!("{MAX_REQUESTS_OUT} requests wait already to be sent; try again"))
            }
            mpsc::error::TrySendError::Closed(_) => ClientError::Gone("the connection broke".to_owned()),
        })?;
        waiting.next_id += 1;
        waiting.responses.insert(id, responder);
        Ok(response)
    }

    async fn outcome(
        &self,
        asked: Result<oneshot::Receiver<Outcome>, ClientError>,
    ) -> Result<Outcome, ClientError> {
        match asked?.await {
            Ok(outcome) => accepted(outcome),
            Err(_) => Err(ClientError::Gone(lock(&self.waiting).gone.clone().unwrap_or_default())),
        }
    }

    async fn listen(&self) -> Result<mpsc::Receiver<Update>, ClientError> {
        let gone = || ClientError::Gone("another engine or none is there now".to_owned());
        let Greeted { hello, mut lines, mut write } = greet(&self.path).await?.ok_or_else(gone)?;
        if hello != self.hello {
            return Err(gone());
        }
        let request = request_line(&Request { id: 0, ask: Ask::Subscribe })?;
        write.write_all(request.as_bytes()).await.map_err(broken)?;
        match next_message(&mut lines).await.map_err(ClientError::Gone)? {
            FromEngine::Response(response) => accepted(response.outcome)?,
            other => return Err(unexpected(&other)),
        };
        let (sender, updates) = mpsc::channel(MAX_UPDATES_WAITING);
        tokio::spawn(pass_on(lines, write, sender));
        Ok(updates)
    }
}

impl Client for SocketClient {
    fn reach(&self) -> Reach {
        Reach::Attached { pid: self.hello.pid }
    }

    fn command(&self, command: Command) -> BoxFuture<'_, Result<Reply, ClientError>> {
        let asked = self.ask(Ask::Command(command));
        Box::pin(async move {
            match self.outcome(asked).await? {
                Outcome::Reply(reply) => Ok(reply),
                other => Err(unexpected(&other)),
            }
        })
    }

    fn query(&self, query: Query) -> BoxFuture<'_, Result<Answer, ClientError>> {
        let asked = self.ask(Ask::Query(query));
        Box::pin(async move {
            match self.outcome(asked).await? {
                Outcome::Answer(answer) => Ok(answer),
                other => Err(unexpected(&other)),
            }
        })
    }

    fn updates(&self) -> BoxFuture<'_, Result<mpsc::Receiver<Update>, ClientError>> {
        Box::pin(self.listen())
    }
}

type Incoming = FramedRead<OwnedReadHalf, Lines>;

/// A connection on which the engine has said who it is.
struct Greeted {
    hello: Hello,
    lines: Incoming,
    write: OwnedWriteHalf,
}

/// Connects to the engine that owns the home; none if nobody does.
async fn find(home: &Home, path: &Path) -> Result<Option<Greeted>, ClientError> {
    let deadline = Instant::now() + STARTING;
    loop {
        match greet(path).await {
            // A connection that breaks before a word was said is that of an engine which ends at this moment.
            Ok(None) | Err(ClientError::Gone(_)) => {}
            Err(ClientError::Silent { .. }) => return Err(ClientError::Silent { pid: owner_of(home).await }),
            greeted => return greeted,
        }
        match owner::look(home).await {
            Ok(()) => return Ok(None),
            Err(LockError::Held(_)) if Instant::now() < deadline => tokio::time::sleep(LOOK_AGAIN).await,
            Err(LockError::Held(owner)) => return Err(ClientError::Failed(unreachable_words(path, owner))),
            Err(error) => return Err(ClientError::Failed(error.to_string())),
        }
    }
}

async fn owner_of(home: &Home) -> Option<u32> {
    match owner::look(home).await {
        Err(LockError::Held(owner)) => owner.map(|owner| owner.pid),
        _ => None,
    }
}

fn unreachable_words(path: &Path, owner: Option<Owner>) -> String {
    let socket = path.file_name().unwrap_or_default().display();
    let trouble = if path.symlink_metadata().is_ok() { "answers nobody" } else { "is gone" };
    let (process, way_out) = match owner {
        Some(Owner { pid, .. }) => (format!(" (pid {pid})"), format!("`kill {pid}` stops it in order")),
        None => (String::new(), "end its process".to_owned()),
    };
    format!("an engine runs for this home{process}, but its socket {socket} {trouble}; {way_out}")
}

/// Connects and reads the hello; none if nobody listens.
async fn greet(path: &Path) -> Result<Option<Greeted>, ClientError> {
    let stream = match UnixStream::connect(path).await {
        Ok(stream) => stream,
        // No socket, or one that a dead engine left.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused | io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(ClientError::Failed(format!("{}: {error}", path.display()))),
    };
    let (read, write) = stream.into_split();
    let mut lines = FramedRead::new(read, Lines::up_to(MAX_RESPONSE_BYTES));
    let first = tokio::time::timeout(GREETING, next_message(&mut lines)).await;
    match first.map_err(|_| ClientError::Silent { pid: None })?.map_err(ClientError::Gone)? {
        FromEngine::Hello(hello) if hello.protocol != PROTOCOL => {
            Err(ClientError::Version { theirs: hello.protocol, ours: PROTOCOL })
        }
        FromEngine::Hello(hello) => Ok(Some(Greeted { hello, lines, write })),
        FromEngine::Response(response) => Err(accepted(response.outcome).err().unwrap_or_else(|| {
            ClientError::Failed("the engine answered before it said who it is".to_owned())
        })),
        other => Err(unexpected(&other)),
    }
}

/// The next message of the engine, or why there is none.
async fn next_message(lines: &mut Incoming) -> Result<FromEngine, String> {
    match lines.next().await {
        Some(line) => message(line),
        None => Err("it closed the connection".to_owned()),
    }
}

fn message(line: io::Result<Line>) -> Result<FromEngine, String> {
    match line.map_err(|error| error.to_string())? {
        Line::Text(text) => serde_json::from_str(&text)
            .map_err(|error| format!("it said something that is not understood: {error}")),
        Line::TooLong | Line::NotUtf8 => Err("it said something that is no line of text".to_owned()),
    }
}

/// Hands responses to those who wait. Ends when the connection does, and says why.
async fn read_responses(mut lines: Incoming, waiting: &Mutex<Waiting>) -> String {
    loop {
        match next_message(&mut lines).await {
            Ok(FromEngine::Response(response)) => {
                let waiter = response.id.and_then(|id| lock(waiting).responses.remove(&id));
                match (waiter, response.outcome) {
                    // A waiter that has gone away wants no response.
                    (Some(waiter), outcome) => drop(waiter.send(outcome)),
                    (None, Outcome::Failed(why)) => tracing::warn!(why, "the engine complains"),
                    (None, _) => {}
                }
            }
            Ok(FromEngine::Hello(_) | FromEngine::Update(_)) => {}
            Err(why) => return why,
        }
    }
}

async fn write_requests(mut write: OwnedWriteHalf, mut requests: mpsc::Receiver<String>) -> String {
    while let Some(request) = requests.recv().await {
        if let Err(error) = write.write_all(request.as_bytes()).await {
            return error.to_string();
        }
    }
    "this program closed the connection".to_owned()
}

fn give_up(waiting: &Mutex<Waiting>, why: String) {
    let mut waiting = lock(waiting);
    waiting.gone = Some(why);
    waiting.responses.clear();
}

/// Passes updates on until the listener or the engine is gone. Those that came together are read
/// before the first is passed on, so that the listener finds all when it wakes up. A slow one fills the
/// connection, and the engine then counts what it must drop.
async fn pass_on(lines: Incoming, _open: OwnedWriteHalf, sender: mpsc::Sender<Update>) {
    let mut lines = lines.ready_chunks(MAX_UPDATES_WAITING);
    loop {
        let came = tokio::select! {
            came = lines.next() => came,
            () = sender.closed() => return,
        };
        let Some(came) = came else { return tracing::debug!("no more updates: the connection ended") };
        let messages: Vec<_> = came.into_iter().map(message).collect();
        for message in messages {
            match message {
                Ok(FromEngine::Update(update)) => {
                    if sender.send(update).await.is_err() {
                        return;
                    }
                }
                Ok(_) => {}
                Err(why) => return tracing::debug!(why, "no more updates"),
            }
        }
    }
}

fn request_line(request: &Request) -> Result<String, ClientError> {
    let text = serde_json::to_string(request).map_err(|error| ClientError::Failed(error.to_string()))?;
    Ok(text + "\n")
}

fn accepted(outcome: Outcome) -> Result<Outcome, ClientError> {
    match outcome {
        Outcome::Refused(refusal) => Err(ClientError::Refused(refusal)),
        Outcome::Failed(why) => Err(ClientError::Failed(why)),
        done => Ok(done),
    }
}

fn broken(error: io::Error) -> ClientError {
    ClientError::Gone(error.to_string())
}

fn unexpected(what: &impl std::fmt::Debug) -> ClientError {
    let text = crate::domain::event::excerpt(&format!("{what:?}"));
    ClientError::Failed(format!("the engine gave an answer of another kind: {text}"))
}

/// The lock guards plain data that no panic can leave half-changed.
fn lock(waiting: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}
