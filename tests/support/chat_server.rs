//! A server of chat completions that does what a test writes down, faults included.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// The server. It answers each request for a completion with the next reply, the last one again and again,
/// and ends when it is dropped. Whoever asks which models it has is answered apart.
pub struct ChatServer {
    address: String,
    requests: Arc<Mutex<Vec<Request>>>,
    task: JoinHandle<()>,
}

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Request {
    /// The request line and the headers.
    pub head: String,
    /// The body.
    pub body: Value,
}

/// What a connection is answered with.
#[derive(Debug, Clone)]
pub struct Reply {
    head: String,
    pieces: Vec<Vec<u8>>,
    end: End,
}

/// How a reply ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// As HTTP wants it.
    Clean,
    /// The connection is closed in the middle of the body.
    Broken,
    /// Nothing more comes, and the connection stays open.
    Silent,
}

impl Reply {
    /// A stream of events, each a JSON text or `[DONE]`.
    pub fn events(events: &[&str]) -> Self {
        let pieces: Vec<String> = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        Self::pieces(&pieces)
    }

    /// A whole answer in words.
    pub fn says(text: &str) -> Self {
        let words = json!({"choices": [{"delta": {"content": text}, "finish_reason": "stop"}]});
        Self::events(&[&words.to_string(), "[DONE]"])
    }

    /// An answer that calls a tool.
    pub fn calls(id: &str, tool: &str, arguments: &Value) -> Self {
        let function = json!({"name": tool, "arguments": arguments.to_string()});
        let call = json!({"index": 0, "id": id, "type": "function", "function": function});
        let answer = json!({"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]});
        Self::events(&[&answer.to_string(), "[DONE]"])
    }

    /// A stream in pieces of bytes, as they are.
    pub fn pieces(pieces: &[impl AsRef<[u8]>]) -> Self {
        Self {
            head: "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n".to_owned(),
            pieces: pieces.iter().map(|piece| piece.as_ref().to_vec()).collect(),
            end: End::Clean,
        }
    }

    /// A status (`429 Too Many Requests`), further headers and a body.
    pub fn status(status: &str, headers: &[&str], body: &str) -> Self {
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        Self {
            head: format!("HTTP/1.1 {status}\r\n{headers}"),
            pieces: vec![body.as_bytes().to_vec()],
            end: End::Clean,
        }
    }

    /// A connection that is closed without a word.
    pub fn hang_up() -> Self {
        Self { head: String::new(), pieces: vec![], end: End::Broken }
    }

    /// A connection that is never answered.
    pub fn silence() -> Self {
        Self { head: String::new(), pieces: vec![], end: End::Silent }
    }

    /// The same with another end.
    pub fn ending(mut self, end: End) -> Self {
        self.end = end;
        self
    }
}

impl ChatServer {
    /// Starts a server on a free port of this machine. It does not tell which models it has.
    pub async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::listing(Reply::status("404 Not Found", &[], "{}"), replies).await
    }

    /// The same, with what it says of its models.
    pub async fn listing(models: Reply, replies: impl IntoIterator<Item = Reply>) -> Self {
        let replies: Vec<Reply> = replies.into_iter().collect();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        let task = tokio::spawn(async move {
            let (mut open, mut turn) = (Vec::new(), 0);
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let request = read_request(&mut stream).await;
                let reply = if request.head.starts_with("GET ") {
                    &models
                } else {
                    seen.lock().unwrap().push(request);
                    turn += 1;
                    &replies[(turn - 1).min(replies.len() - 1)]
                };
                // A client that is gone is what some tests want to see.
                let _ = send(&mut stream, reply).await;
                if reply.end == End::Silent {
                    open.push(stream);
                }
            }
        });
        Self { address, requests, task }
    }

    /// The base URL for the settings.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Host and port.
    pub fn authority(&self) -> &str {
        &self.address
    }

    /// What was asked so far.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for ChatServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn read_request(stream: &mut TcpStream) -> Request {
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let length = stream.read(&mut piece).await.unwrap();
        bytes.extend_from_slice(&piece[..length]);
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let wanted = head.to_lowercase();
            let wanted =
                wanted.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
            if body.len() >= wanted.unwrap_or(0) {
                return Request {
                    head: head.to_owned(),
                    body: serde_json::from_str(body).unwrap_or(Value::Null),
                };
            }
        }
        assert!(length > 0, "the request ended early: {text}");
    }
}

async fn send(stream: &mut TcpStream, reply: &Reply) -> std::io::Result<()> {
    if reply.head.is_empty() {
        return Ok(());
    }
    stream.set_nodelay(true)?;
    let head = format!("{}transfer-encoding: chunked\r\nconnection: close\r\n\r\n", reply.head);
    stream.write_all(head.as_bytes()).await?;
    for piece in reply.pieces.iter().filter(|piece| !piece.is_empty()) {
        stream.write_all(format!("{:x}\r\n", piece.len()).as_bytes()).await?;
        stream.write_all(piece).await?;
        stream.write_all(b"\r\n").await?;
        // Lets pieces arrive one by one; nothing fails where they don't.
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    if reply.end == End::Clean {
        stream.write_all(b"0\r\n\r\n").await?;
    }
    Ok(())
}
