//! `control.sock`, with an engine in place of which a script answers.

use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use switchboard::config::Home;
use switchboard::control::protocol::{
    Ask, FromEngine, Hello, MAX_REQUEST_BYTES, Outcome, PROTOCOL, Request, Response,
};
use switchboard::control::{Client, ClientError, Reach, Server, SocketClient};
use switchboard::domain::api::{Answer, Command, EventPage, Piece, Query, Reply, StreamKind, Update};
use switchboard::domain::event::{Event, EventKind, Level};
use switchboard::domain::id::{ItemId, Seq, SessionId, SessionKey, TurnId};
use switchboard::domain::queue::{Ack, Gate, Intent, Refusal, Source};
use switchboard::domain::session::{Hold, HoldReason};
use switchboard::domain::turn;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, mpsc};

/// Answers every command with its text, in the order they came, one for each permit.
struct Scripted {
    permits: Arc<Semaphore>,
    lane: mpsc::Sender<(String, tokio::sync::oneshot::Sender<String>)>,
    updates: Mutex<Option<mpsc::Receiver<Update>>>,
}

impl Scripted {
    fn new(permits: usize) -> Arc<Self> {
        let permits = Arc::new(Semaphore::new(permits));
        let (lane, mut orders) = mpsc::channel::<(String, tokio::sync::oneshot::Sender<String>)>(64);
        let turnstile = Arc::clone(&permits);
        tokio::spawn(async move {
            let mut number = 0;
            while let Some((words, reply)) = orders.recv().await {
                turnstile.acquire().await.unwrap().forget();
                number += 1;
                let _ = reply.send(format!("{number}: {words}"));
            }
        });
        Arc::new(Self { permits, lane, updates: Mutex::new(None) })
    }

    fn with_updates(updates: mpsc::Receiver<Update>) -> Arc<Self> {
        let scripted = Self::new(0);
        *scripted.updates.lock().unwrap() = Some(updates);
        scripted
    }
}

impl Client for Scripted {
    fn reach(&self) -> Reach {
        Reach::Here
    }

    fn command(&self, command: Command) -> BoxFuture<'_, Result<Reply, ClientError>> {
        let Command::Hold { why } = command else {
            return Box::pin(async { Err(ClientError::Refused(Refusal::NoTurn)) });
        };
        let (reply, words) = tokio::sync::oneshot::channel();
        self.lane.try_send((why, reply)).unwrap();
        Box::pin(async { Ok(Reply::Done { words: words.await.unwrap(), undo: None }) })
    }

    fn query(&self, query: Query) -> BoxFuture<'_, Result<Answer, ClientError>> {
        Box::pin(async move {
            match query {
                Query::Search { words, limit } => Ok(Answer::Document(words.repeat(limit))),
                _ => Err(ClientError::Failed("the script has no answer".to_owned())),
            }
        })
    }

    fn updates(&self) -> BoxFuture<'_, Result<mpsc::Receiver<Update>, ClientError>> {
        let updates = self.updates.lock().unwrap().take();
        Box::pin(async { updates.ok_or_else(|| ClientError::Failed("no updates in this script".to_owned())) })
    }
}

struct Place {
    _folder: tempfile::TempDir,
    home: Home,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::resolve(Some(folder.path())).unwrap();
    Place { _folder: folder, home }
}

fn hello() -> Hello {
    Hello { protocol: PROTOCOL, program: "0.0.0".to_owned(), pid: 4711, since: chrono::DateTime::UNIX_EPOCH }
}

fn serve(place: &Place, engine: Arc<dyn Client>) -> Server {
    Server::bind(&place.home.socket()).unwrap().serve(hello(), move || Arc::clone(&engine))
}

async fn connect(place: &Place) -> SocketClient {
    SocketClient::connect(&place.home).await.unwrap().unwrap()
}

fn hold(why: &str) -> Command {
    Command::Hold { why: why.to_owned() }
}

fn words(reply: Reply) -> String {
    let Reply::Done { words, .. } = reply else { panic!("{reply:?}") };
    words
}

fn repeat(words: &str, limit: usize) -> Query {
    Query::Search { words: words.to_owned(), limit }
}

/// A connection without a client: lines as a script would send and read them.
struct Raw {
    lines: Lines<BufReader<OwnedReadHalf>>,
    write: OwnedWriteHalf,
}

impl Raw {
    async fn connect(place: &Place) -> Self {
        let (read, write) = UnixStream::connect(place.home.socket()).await.unwrap().into_split();
        Self { lines: BufReader::new(read).lines(), write }
    }

    async fn say(&mut self, line: &[u8]) {
        self.write.write_all(line).await.unwrap();
    }

    async fn hear(&mut self) -> serde_json::Value {
        let line = self.lines.next_line().await.unwrap().expect("the connection ended");
        serde_json::from_str(&line).unwrap()
    }
}

#[tokio::test]
async fn without_an_engine_there_is_nothing_to_connect_to() {
    let place = place();
    assert!(SocketClient::connect(&place.home).await.unwrap().is_none());
}

#[tokio::test]
async fn the_socket_of_a_dead_engine_counts_as_none_and_is_replaced() {
    let place = place();
    drop(std::os::unix::net::UnixListener::bind(place.home.socket()).unwrap());
    assert!(SocketClient::connect(&place.home).await.unwrap().is_none());
    let _server = serve(&place, Scripted::new(0));
    connect(&place).await;
}

#[tokio::test]
async fn the_socket_belongs_to_its_user_alone() {
    let place = place();
    let server = serve(&place, Scripted::new(0));
    assert_eq!(place.home.socket().metadata().unwrap().permissions().mode() & 0o777, 0o600);
    server.stop().await;
    assert!(!place.home.socket().exists(), "a stopped engine leaves no socket");
}

#[tokio::test]
async fn a_path_too_long_for_a_socket_is_told_with_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::resolve(Some(&folder.path().join("h".repeat(120)))).unwrap();
    std::fs::create_dir_all(home.root()).unwrap();
    let error = Server::bind(&home.socket()).unwrap_err().to_string();
    assert!(error.ends_with("too long for a socket (about 100 bytes); use a shorter --home DIR"), "{error}");
}

#[tokio::test]
async fn commands_are_carried_out_in_the_order_they_were_given_and_queries_beside_them() {
    let place = place();
    let engine = Scripted::new(0);
    let _server = serve(&place, engine.clone());
    let client = connect(&place).await;
    assert_eq!(client.reach(), Reach::Attached { pid: 4711 });
    let (first, second, third) =
        (client.command(hold("a")), client.command(hold("b")), client.command(hold("c")));
    assert_eq!(client.query(repeat("q", 1)).await, Ok(Answer::Document("q".to_owned())));
    engine.permits.add_permits(3);
    // Whoever is asked first: the order is that of the calls.
    assert_eq!(words(third.await.unwrap()), "3: c");
    assert_eq!(words(second.await.unwrap()), "2: b");
    assert_eq!(words(first.await.unwrap()), "1: a");
}

#[tokio::test]
async fn a_refusal_arrives_as_the_refusal_that_it_is() {
    let place = place();
    let _server = serve(&place, Scripted::new(0));
    let client = connect(&place).await;
    assert_eq!(client.command(Command::Release).await, Err(ClientError::Refused(Refusal::NoTurn)));
    let failed = client.query(Query::Overview).await;
    assert_eq!(failed, Err(ClientError::Failed("the script has no answer".to_owned())));
}

#[tokio::test]
async fn more_requests_than_are_answered_at_a_time_wait_and_none_is_lost() {
    let place = place();
    let engine = Scripted::new(0);
    let _server = serve(&place, engine.clone());
    let client = connect(&place).await;
    let asked: Vec<_> = (0..200).map(|n| client.command(hold(&n.to_string()))).collect();
    engine.permits.add_permits(200);
    for (n, reply) in asked.into_iter().enumerate() {
        assert_eq!(words(reply.await.unwrap()), format!("{}: {n}", n + 1));
    }
}

#[tokio::test]
async fn a_line_that_is_no_request_is_answered_and_the_connection_goes_on() {
    let place = place();
    let _server = serve(&place, Scripted::new(0));
    let mut raw = Raw::connect(&place).await;
    assert_eq!(raw.hear().await["hello"]["protocol"], PROTOCOL);
    for nonsense in
        [&b"what?\n"[..], b"{\"id\":1}\n", b"{\"id\":2,\"query\":{\"query\":\"x\"}}\n", b"\xff\xfe\n"]
    {
        raw.say(nonsense).await;
        let heard = raw.hear().await;
        assert!(heard["response"]["id"].is_null(), "{heard}");
        assert!(heard["response"]["failed"].as_str().unwrap().starts_with("not understood: "), "{heard}");
    }
    raw.say(b"{\"id\":7,\"query\":{\"query\":\"search\",\"words\":\"x\",\"limit\":2}}\n").await;
    let heard = raw.hear().await;
    assert_eq!(heard["response"]["id"], 7);
    assert_eq!(heard["response"]["answer"]["value"], "xx");
}

#[tokio::test]
async fn a_line_beyond_the_limit_is_skipped_and_the_connection_goes_on() {
    let place = place();
    let _server = serve(&place, Scripted::new(0));
    let mut raw = Raw::connect(&place).await;
    raw.hear().await;
    raw.say(&vec![b'x'; MAX_REQUEST_BYTES + 1]).await;
    raw.say(b"xxx\n{\"id\":1,\"query\":{\"query\":\"search\",\"words\":\"x\",\"limit\":1}}\n").await;
    let heard = raw.hear().await;
    assert!(heard["response"]["failed"].as_str().unwrap().contains("longer than 8388608 bytes"), "{heard}");
    assert_eq!(raw.hear().await["response"]["id"], 1);
}

#[tokio::test]
async fn an_answer_too_long_for_a_line_says_so() {
    let place = place();
    let _server = serve(&place, Scripted::new(0));
    let client = connect(&place).await;
    let error = client.query(repeat("x", 65 * 1024 * 1024)).await.unwrap_err();
    assert!(error.to_string().ends_with("too many for a line; ask for less"), "{error}");
    let whole = client.query(repeat("x", 5 * 1024 * 1024)).await;
    assert!(matches!(whole, Ok(Answer::Document(text)) if text.len() == 5 * 1024 * 1024));
}

#[tokio::test]
async fn a_script_that_closes_its_side_still_gets_its_answers() {
    let place = place();
    let engine = Scripted::new(0);
    let _server = serve(&place, engine.clone());
    let mut raw = Raw::connect(&place).await;
    raw.say(b"{\"id\":1,\"command\":{\"command\":\"hold\",\"why\":\"x\"}}\n").await;
    raw.write.shutdown().await.unwrap();
    raw.hear().await;
    engine.permits.add_permits(1);
    assert_eq!(raw.hear().await["response"]["reply"]["words"], "1: x");
    assert!(raw.lines.next_line().await.unwrap().is_none(), "then the engine closes its side");
}

#[tokio::test]
async fn updates_arrive_in_order_and_end_with_the_engine() {
    let place = place();
    let (tell, updates) = mpsc::channel(4);
    let server = serve(&place, Scripted::with_updates(updates));
    let client = connect(&place).await;
    let mut heard = client.updates().await.unwrap();
    for missed in 0..100 {
        tell.send(Update::Lagged { missed }).await.unwrap();
        assert_eq!(heard.recv().await, Some(Update::Lagged { missed }));
    }
    tell.send(Update::Lagged { missed: 100 }).await.unwrap();
    drop(tell);
    server.stop().await;
    assert_eq!(heard.recv().await, Some(Update::Lagged { missed: 100 }), "the last one is not cut off");
    assert_eq!(heard.recv().await, None);
}

#[tokio::test]
async fn a_listener_that_does_not_read_holds_up_nobody_else() {
    let place = place();
    let (tell, updates) = mpsc::channel(4);
    let _server = serve(&place, Scripted::with_updates(updates));
    let client = connect(&place).await;
    let _unread = client.updates().await.unwrap();
    // More than all the buffers on the way hold: the channel fills up to the engine.
    let flood = async { while tell.send(Update::Lagged { missed: 1 }).await.is_ok() {} };
    let other = connect(&place).await;
    tokio::select! {
        () = flood => panic!("the listener's connection ended"),
        answer = async {
            for _ in 0..50 {
                client.query(repeat("q", 1)).await.unwrap();
                other.query(repeat("q", 1000)).await.unwrap();
            }
        } => answer,
    }
}

#[tokio::test]
async fn an_engine_that_ends_is_told_to_all_who_wait() {
    let place = place();
    let listener = UnixListener::bind(place.home.socket()).unwrap();
    let engine = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let line = serde_json::json!({ "hello": hello() }).to_string() + "\n";
        stream.write_all(line.as_bytes()).await.unwrap();
        let mut request = String::new();
        BufReader::new(&mut stream).read_line(&mut request).await.unwrap();
    });
    let client = connect(&place).await;
    let cut_off = client.command(hold("x")).await;
    engine.await.unwrap();
    assert_eq!(cut_off, Err(ClientError::Gone("it closed the connection".to_owned())));
    assert!(matches!(client.query(Query::Overview).await, Err(ClientError::Gone(_))));
    assert!(matches!(client.updates().await, Err(ClientError::Gone(_))));
}

#[tokio::test]
async fn an_engine_that_dies_before_it_greets_is_no_engine() {
    let place = place();
    let listener = UnixListener::bind(place.home.socket()).unwrap();
    let engine = tokio::spawn(async move {
        let died_with = listener.accept().await.unwrap();
        drop((died_with, listener));
    });
    assert!(SocketClient::connect(&place.home).await.unwrap().is_none());
    engine.await.unwrap();
}

#[tokio::test]
async fn an_engine_of_another_version_is_told_by_number() {
    let place = place();
    let listener = UnixListener::bind(place.home.socket()).unwrap();
    let engine = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"{\"hello\":{\"protocol\":99,\"new\":true}}\n").await.unwrap();
    });
    let error = SocketClient::connect(&place.home).await.unwrap_err();
    engine.await.unwrap();
    assert_eq!(error, ClientError::Version { theirs: 99, ours: PROTOCOL });
}

#[tokio::test]
async fn too_many_connections_are_turned_away_with_the_reason() {
    let place = place();
    let _server = serve(&place, Scripted::new(0));
    let mut held = Vec::new();
    for _ in 0..64 {
        held.push(connect(&place).await);
    }
    let error = SocketClient::connect(&place.home).await.unwrap_err().to_string();
    assert_eq!(error, "64 programs are connected already; end one of them");
    held.pop();
    // The place is free as soon as the engine has seen the end of that connection.
    let freed = async {
        while SocketClient::connect(&place.home).await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), freed).await.unwrap();
}

#[test]
fn what_is_said_on_the_wire_is_understood_as_it_was_meant() {
    let at = chrono::DateTime::from_timestamp_millis(1_700_000_000_123).unwrap();
    let session = SessionId::new(at, 9);
    let ack = Ack::Queued {
        position: 2,
        depth: 3,
        hold: Some(HoldReason::Stopped),
        gate: Gate::Held,
        not_steerable: true,
    };
    let event = |kind| {
        let event = Event { seq: Seq(7), at, session: Some(session.clone()), kind };
        FromEngine::Update(Update::Event(Arc::new(event)))
    };
    let outcome = |outcome| FromEngine::Response(Box::new(Response { id: Some(u64::MAX), outcome }));
    let undo = Some(Box::new(Command::RestoreItems { items: vec![ItemId(1), ItemId(2)] }));
    let from_engine = [
        FromEngine::Hello(hello()),
        event(EventKind::EngineReleased),
        event(EventKind::Accepted { item: ItemId(3), ack: ack.clone(), excerpt: "a\n\u{1b}b".to_owned() }),
        event(EventKind::SessionCreated { key: SessionKey::console(), previous: None }),
        event(EventKind::TurnEnded {
            turn: TurnId(1),
            item: ItemId(2),
            outcome: turn::Outcome::Failed { error: "e".to_owned() },
        }),
        event(EventKind::QueueHeld {
            hold: Hold { reason: HoldReason::BackendError, since: at, probe_at: None },
            waiting: 4,
        }),
        event(EventKind::Notice { level: Level::Warn, text: "t".to_owned() }),
        FromEngine::Update(Update::Stream(Arc::new(Piece {
            session: session.clone(),
            turn: TurnId(1),
            stream: StreamKind::Text,
            offset: 5,
            text: "é".to_owned(),
        }))),
        outcome(Outcome::Subscribed),
        outcome(Outcome::Refused(Refusal::QueueFull { max: 5 })),
        outcome(Outcome::Refused(Refusal::Empty)),
        outcome(Outcome::Answer(Answer::Session(None))),
        outcome(Outcome::Answer(Answer::Queue(Vec::new()))),
        outcome(Outcome::Reply(Reply::Accepted { session, item: ItemId(3), ack })),
        outcome(Outcome::Reply(Reply::Done { words: "w".to_owned(), undo })),
        outcome(Outcome::Reply(Reply::Quit)),
    ];
    for message in from_engine {
        let line = serde_json::to_string(&message).unwrap();
        assert!(!line.contains('\n'), "{line}");
        let understood: FromEngine = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
        assert_eq!(understood, message);
    }
    let submit = Command::Submit {
        to: SessionKey::local("x").unwrap(),
        text: "line\nline".to_owned(),
        intent: Intent::Queue,
        source: Source::CommandLine,
    };
    let page = EventPage::After(Seq(4));
    for ask in [
        Ask::Subscribe,
        Ask::Query(Query::Overview),
        Ask::Query(Query::Events { page, level: Level::Debug, session: None, job: None, limit: 9 }),
        Ask::Command(submit),
        Ask::Command(Command::CutNow),
    ] {
        let request = Request { id: 1, ask };
        let line = serde_json::to_string(&request).unwrap();
        assert_eq!(serde_json::from_str::<Request>(&line).unwrap(), request, "{line}");
    }
}
