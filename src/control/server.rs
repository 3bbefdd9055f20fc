//! The engine's end of `control.sock`.
//!
//! One task accepts, one task a connection reads requests, and one beside it writes. All are
//! bounded: so many connections, so many requests of a connection at a time (more are read when
//! some are answered), so many lines on their way out. A listener that reads too slowly loses
//! updates and is told how many.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use tokio::io::AsyncWriteExt;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::codec::FramedRead;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::client::{Client, ClientError};
use super::protocol::{Ask, FromEngine, Hello, Line, Lines, MAX_REQUEST_BYTES, MAX_RESPONSE_BYTES};
use super::protocol::{Outcome, Request, Response};
use crate::config::files::{Identity, identity};
use crate::domain::api::Update;
use crate::domain::event::excerpt;

const MAX_CONNECTIONS: usize = 64;
const MAX_REQUESTS_IN_FLIGHT: usize = 32;
const MAX_LINES_OUT: usize = 64;
const MAX_UPDATES_TOGETHER: usize = 256;
/// How long a connection may take to write what is left when the engine stops.
const FAREWELL: Duration = Duration::from_secs(1);

/// A socket that is open and answers nobody yet: who connects waits.
#[derive(Debug)]
pub struct Bound {
    path: PathBuf,
    is: Identity,
    listener: UnixListener,
}

/// A socket at which an engine is reached, until it is stopped.
#[derive(Debug)]
pub struct Server {
    path: PathBuf,
    is: Identity,
    cancel: CancellationToken,
    accepting: JoinHandle<()>,
}

/// Why no socket could be opened.
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", path.display())]
pub struct ServerError {
    path: PathBuf,
    why: String,
}

impl Server {
    /// Opens the socket at `path`, for this user alone.
    ///
    /// The caller holds the home's lock: whatever socket is still there is left over from an engine
    /// that is dead, and is replaced.
    pub fn bind(path: &Path) -> Result<Bound, ServerError> {
        let path = path.to_path_buf();
        match listen(&path) {
            Ok((listener, is)) => Ok(Bound { path, is, listener }),
            Err(error) => Err(ServerError { path, why: told(&error) }),
        }
    }

    /// Stops: takes the socket away, lets each connection write what is on its way, and ends them.
    pub async fn stop(self) {
        self.take_away();
        self.cancel.cancel();
        if let Err(error) = self.accepting.await {
            tracing::error!(%error, "the socket's server failed");
        }
    }

    /// Only our own: where the home was removed and made anew, another engine's stands there.
    fn take_away(&self) {
        let taken = match stands_at(&self.path) {
            Ok(found) if found != self.is => return,
            Ok(_) => std::fs::remove_file(&self.path),
            Err(error) => Err(error),
        };
        if let Err(error) = taken {
            tracing::warn!(%error, path = %self.path.display(), "the socket stays");
        }
    }
}

impl Bound {
    /// Begins to answer. `clients` makes the way to the engine for each connection, so that the
    /// commands of one are carried out in order and those of two side by side.
    pub fn serve(self, hello: Hello, clients: impl Fn() -> Arc<dyn Client> + Send + 'static) -> Server {
        let cancel = CancellationToken::new();
        let accepting = tokio::spawn(accept(self.listener, hello, clients, cancel.clone()));
        Server { path: self.path, is: self.is, cancel, accepting }
    }
}

fn listen(path: &Path) -> io::Result<(UnixListener, Identity)> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    Ok((listener, stands_at(path)?))
}

fn stands_at(path: &Path) -> io::Result<Identity> {
    std::fs::symlink_metadata(path).map(|found| identity(&found))
}

fn told(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::InvalidInput => {
            "the path is too long for a socket (about 100 bytes); use a shorter --home DIR".to_owned()
        }
        _ => error.to_string(),
    }
}

async fn accept(
    listener: UnixListener,
    hello: Hello,
    clients: impl Fn() -> Arc<dyn Client>,
    cancel: CancellationToken,
) {
    let connections = TaskTracker::new();
    let free = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = cancel.cancelled() => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // No descriptors left, most likely: a connection that ends frees one.
                tracing::warn!(%error, "a connection was not accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        if !of_this_user(&stream) {
            tracing::warn!("a connection of another user was refused");
            continue;
        }
        let Ok(place) = Arc::clone(&free).try_acquire_owned() else {
            turn_away(&stream);
            continue;
        };
        let connection = converse(stream, hello.clone(), clients(), cancel.clone());
        connections.spawn(async move {
            connection.await;
            drop(place);
        });
    }
    connections.close();
    connections.wait().await;
}

fn of_this_user(stream: &UnixStream) -> bool {
    stream.peer_cred().is_ok_and(|peer| peer.uid() == rustix::process::geteuid().as_raw())
}

fn turn_away(stream: &UnixStream) {
    let why = format!("{MAX_CONNECTIONS} programs are connected already; end one of them");
    tracing::warn!("a connection was refused: {why}");
    // A new socket's buffer takes one short line; whoever does not get it sees the end.
    let _ = stream.try_write(line(&failure(None, why)).as_bytes());
}

/// Holds one connection until the other side closes it or the engine stops.
async fn converse(stream: UnixStream, hello: Hello, client: Arc<dyn Client>, cancel: CancellationToken) {
    let (read, write) = stream.into_split();
    let (out, lines) = mpsc::channel(MAX_LINES_OUT);
    let writer = tokio::spawn(write_lines(write, lines));
    let mut listening = JoinSet::new();
    {
        let mut talk =
            Talk { client: &*client, out, listening: &mut listening, answering: FuturesUnordered::new() };
        tokio::select! {
            () = talk.run(hello, read) => {}
            () = cancel.cancelled() => {}
        }
        // What was asked before the end is answered: a script may have closed its side already.
        let _ = tokio::time::timeout(FAREWELL, talk.answer_the_rest()).await;
    }
    if cancel.is_cancelled() {
        // The engine has ended, and with it the updates: the last ones are on their way.
        let _ =
            tokio::time::timeout(FAREWELL, async { while listening.join_next().await.is_some() {} }).await;
    }
    listening.shutdown().await;
    let stop_writing = writer.abort_handle();
    if tokio::time::timeout(FAREWELL, writer).await.is_err() {
        stop_writing.abort();
    }
}

/// The requests of one connection, and what comes of them.
struct Talk<'c> {
    client: &'c dyn Client,
    out: mpsc::Sender<String>,
    listening: &'c mut JoinSet<()>,
    answering: FuturesUnordered<BoxFuture<'c, Answered>>,
}

/// A request's outcome, and the updates that follow it if it subscribed.
struct Answered {
    id: u64,
    outcome: Outcome,
    updates: Option<mpsc::Receiver<Update>>,
}

impl Talk<'_> {
    /// Reads and answers until the other side closes the connection.
    async fn run(&mut self, hello: Hello, read: OwnedReadHalf) {
        self.send(&FromEngine::Hello(hello)).await;
        let mut lines = FramedRead::new(read, Lines::up_to(MAX_REQUEST_BYTES));
        loop {
            tokio::select! {
                line = lines.next(), if self.answering.len() < MAX_REQUESTS_IN_FLIGHT => match line {
                    Some(Ok(line)) => self.take(&line).await,
                    Some(Err(_)) | None => break,
                },
                Some(answered) = self.answering.next() => self.give(answered).await,
                () = self.out.closed() => break,
            }
        }
    }

    async fn answer_the_rest(&mut self) {
        while let Some(answered) = self.answering.next().await {
            self.give(answered).await;
        }
    }

    async fn take(&mut self, line: &Line) {
        match understood(line) {
            Ok(request) => self.answering.push(answer(self.client, request)),
            Err(why) => self.send(&failure(None, why)).await,
        }
    }

    async fn give(&mut self, Answered { id, outcome, updates }: Answered) {
        let second = updates.is_some() && !self.listening.is_empty();
        let outcome = if second {
            Outcome::Failed("this connection is subscribed already".to_owned())
        } else {
            outcome
        };
        self.send(&FromEngine::Response(Box::new(Response { id: Some(id), outcome }))).await;
        if let (Some(updates), false) = (updates, second) {
            self.listening.spawn(pass_on(updates, self.out.clone()));
        }
    }

    async fn send(&mut self, message: &FromEngine) {
        // Whoever has gone away is told nothing more; the loop sees it by itself.
        let _ = self.out.send(line(message)).await;
    }
}

/// Begins to answer. A command is in its place in the order when this returns.
fn answer(client: &dyn Client, Request { id, ask }: Request) -> BoxFuture<'_, Answered> {
    match ask {
        Ask::Command(command) => {
            let reply = client.command(command);
            Box::pin(async move { Answered::plain(id, reply.await.map(Outcome::Reply)) })
        }
        Ask::Query(query) => {
            let answer = client.query(query);
            Box::pin(async move { Answered::plain(id, answer.await.map(Outcome::Answer)) })
        }
        Ask::Subscribe => {
            let updates = client.updates();
            Box::pin(async move {
                match updates.await {
                    Ok(updates) => Answered { id, outcome: Outcome::Subscribed, updates: Some(updates) },
                    Err(error) => Answered::plain(id, Err(error)),
                }
            })
        }
    }
}

impl Answered {
    fn plain(id: u64, result: Result<Outcome, ClientError>) -> Self {
        let outcome = result.unwrap_or_else(|error| match error {
            ClientError::Refused(refusal) => Outcome::Refused(refusal),
            other => Outcome::Failed(other.to_string()),
        });
        Self { id, outcome, updates: None }
    }
}

/// Passes updates on, those that wait together. When the other side reads too slowly the way out
/// fills, then the updates' channel, and the engine counts what is lost.
async fn pass_on(mut updates: mpsc::Receiver<Update>, out: mpsc::Sender<String>) {
    let mut waiting = Vec::new();
    while updates.recv_many(&mut waiting, MAX_UPDATES_TOGETHER).await > 0 {
        let lines = waiting.drain(..).map(|update| line(&FromEngine::Update(update))).collect();
        if out.send(lines).await.is_err() {
            break;
        }
    }
}

async fn write_lines(mut write: OwnedWriteHalf, mut lines: mpsc::Receiver<String>) {
    let mut waiting = Vec::new();
    while lines.recv_many(&mut waiting, MAX_LINES_OUT).await > 0 {
        let bytes = waiting.concat();
        waiting.clear();
        if write.write_all(bytes.as_bytes()).await.is_err() {
            break;
        }
    }
}

fn understood(line: &Line) -> Result<Request, String> {
    match line {
        Line::Text(text) => {
            serde_json::from_str(text).map_err(|error| format!("not understood: {error}: {}", excerpt(text)))
        }
        Line::TooLong => {
            Err(format!("not understood: a line longer than {MAX_REQUEST_BYTES} bytes; it was skipped"))
        }
        Line::NotUtf8 => Err("not understood: a line that is not UTF-8; it was skipped".to_owned()),
    }
}

fn failure(id: Option<u64>, why: String) -> FromEngine {
    FromEngine::Response(Box::new(Response { id, outcome: Outcome::Failed(why) }))
}

fn line(message: &FromEngine) -> String {
    let id = match message {
        FromEngine::Response(response) => response.id,
        _ => None,
    };
    let text = serde_json::to_string(message).unwrap_or_else(|error| {
        serde_json::json!({ "response": { "id": id, "failed": error.to_string() } }).to_string()
    });
    if text.len() > MAX_RESPONSE_BYTES && id.is_some() {
        return line(&failure(
            id,
            format!("the answer has {} bytes, too many for a line; ask for less", text.len()),
        ));
    }
    text + "\n"
}
