//! From a process to a session of its agent: what it can, and which session it works in.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use super::connection::{Connection, Heard};
use super::message::{self, Fault};
use super::models::Offer;
use super::permission;
use super::update::text;
use crate::agent::AgentError;
use crate::config::AcpConfig;
use crate::domain::event::excerpt;

/// The version of the protocol that we speak.
const VERSION: u64 = 1;
/// So many pages of an agent's list of sessions are looked through.
const MOST_PAGES: usize = 20;

/// An agent that has said what it can.
pub(super) struct Agent {
    /// Its process.
    pub(super) connection: Connection,
    /// What it says that it is.
    pub(super) who: String,
    can: Can,
    logins: String,
    /// The model that its sessions are to have; none: its own.
    pub(super) model: Option<String>,
}

/// How an agent finds a session again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Can {
    resume: bool,
    load: bool,
    list: bool,
}

/// The answer to a request, and what came before it.
struct Answer {
    result: Result<Value, Fault>,
    replay: Replay,
}

/// Whether something of a conversation was replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Replay {
    Something,
    Nothing,
}

impl Agent {
    /// Begins to talk with a program that was let work.
    ///
    /// # Errors
    /// It does not answer in time, or not as an agent.
    pub(super) async fn greet(mut connection: Connection, settings: &AcpConfig) -> Result<Self, AgentError> {
        let params = json!({
            "protocolVersion": VERSION,
            "clientCapabilities": {"fs": {"readTextFile": false, "writeTextFile": false}, "terminal": false},
            "clientInfo": {"name": "switchboard", "title": "Switchboard", "version": env!("CARGO_PKG_VERSION")},
        });
        let limit = (settings.initialize_timeout, "initialize_timeout_seconds");
        let told = match ask(&mut connection, "initialize", params, limit).await?.result {
            Ok(told) => told,
            Err(fault) => return Err(refused(&connection, "initialize", &fault)),
        };
        match told.get("protocolVersion").and_then(Value::as_u64) {
            Some(VERSION) => {}
            other => {
                let version = other.map_or("none that it names".to_owned(), |version| version.to_string());
                let name = connection.name();
                return Err(AgentError::Failed(format!(
                    "{name} speaks version {version} of the Agent Client Protocol; only version {VERSION} is understood"
                )));
            }
        }
        let can = Can::of(told.get("agentCapabilities").unwrap_or(&Value::Null));
        let who = who(&connection, told.get("agentInfo").unwrap_or(&Value::Null));
        let logins = logins(told.get("authMethods").unwrap_or(&Value::Null));
        Ok(Self { connection, who, can, logins, model: None })
    }

    /// Begins a session.
    ///
    /// # Errors
    /// The agent refuses, or gives none in time.
    pub(super) async fn new_session(
        &mut self,
        folder: &Path,
        settings: &AcpConfig,
    ) -> Result<String, AgentError> {
        let params = json!({"cwd": folder, "mcpServers": []});
        let limit = (settings.new_timeout, "new_timeout_seconds");
        match ask(&mut self.connection, "session/new", params, limit).await?.result {
            Ok(told) if !text(&told, "sessionId").is_empty() => {
                let session = text(&told, "sessionId").to_owned();
                self.choose_model(&session, &Offer::of(&told), settings).await?;
                Ok(session)
            }
            Ok(_) => {
                Err(AgentError::Broken(format!("{} began a session without an id", self.connection.name())))
            }
            Err(fault) => Err(self.refused("session/new", &fault)),
        }
    }

    /// Takes a session up again, without its replay. Returns whether the agent knows it: some report
    /// success for ids that they have never seen.
    ///
    /// # Errors
    /// The agent is lost, or does not answer in time.
    pub(super) async fn take_up(
        &mut self,
        session: &str,
        folder: &Path,
        settings: &AcpConfig,
    ) -> Result<bool, AgentError> {
        if self.can.list && !self.lists(session, folder, settings).await? {
            return Ok(false);
        }
        let params = json!({"sessionId": session, "cwd": folder, "mcpServers": []});
        let limit = (settings.load_timeout, "load_timeout_seconds");
        for (method, offered) in [("session/resume", self.can.resume), ("session/load", self.can.load)] {
            if !offered {
                continue;
            }
            let answer = ask(&mut self.connection, method, params.clone(), limit).await?;
            match answer.result {
                // To load is to replay: where nothing came, there was nothing.
                Ok(told) if method == "session/resume" || answer.replay == Replay::Something => {
                    self.choose_model(session, &Offer::of(&told), settings).await?;
                    return Ok(true);
                }
                Ok(_) => tracing::info!(session, "the agent loaded a session of which it knows nothing"),
                Err(fault) => tracing::info!(session, method, "not taken up again: {}", fault.words()),
            }
        }
        Ok(false)
    }

    /// Whether the session is in the agent's list. An agent that can't tell is believed.
    async fn lists(
        &mut self,
        session: &str,
        folder: &Path,
        settings: &AcpConfig,
    ) -> Result<bool, AgentError> {
        let limit = (settings.load_timeout, "load_timeout_seconds");
        let mut params = json!({"cwd": folder});
        for _ in 0..MOST_PAGES {
            let Ok(page) = ask(&mut self.connection, "session/list", params, limit).await?.result else {
                return Ok(true);
            };
            let sessions =
                page.get("sessions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            if sessions.iter().any(|listed| text(listed, "sessionId") == session) {
                return Ok(true);
            }
            match text(&page, "nextCursor") {
                "" => return Ok(false),
                cursor => params = json!({"cwd": folder, "cursor": cursor}),
            }
        }
        Ok(true)
    }

    /// Chooses the model that a session is to have, among those that it offers.
    async fn choose_model(
        &mut self,
        session: &str,
        offer: &Offer,
        settings: &AcpConfig,
    ) -> Result<(), AgentError> {
        let Some(model) = &self.model else { return Ok(()) };
        if let Some(why) = offer.refusal(self.connection.name(), model) {
            return Err(AgentError::Failed(format!("{why}; /model default takes the choice back")));
        }
        let (method, params) = offer.request(session, model);
        let limit = (settings.new_timeout, "new_timeout_seconds");
        match ask(&mut self.connection, method, params, limit).await?.result {
            Ok(_) => Ok(()),
            Err(fault) => Err(self.refused(method, &fault)),
        }
    }

    /// The agent's refusal in words, with what to do.
    pub(super) fn refused(&self, method: &str, fault: &Fault) -> AgentError {
        if fault.asks_to_log_in() {
            let Self { connection, logins, .. } = self;
            return AgentError::Failed(format!(
                "{} wants you to log in first, with its own command{logins}: {}",
                connection.name(),
                fault.words()
            ));
        }
        refused(&self.connection, method, fault)
    }
}

impl Can {
    fn of(capabilities: &Value) -> Self {
        let sessions = capabilities.get("sessionCapabilities").unwrap_or(&Value::Null);
        let offers =
            |name: &str| sessions.get(name).is_some_and(|offer| !offer.is_null() && *offer != json!(false));
        Self {
            resume: offers("resume"),
            load: capabilities.get("loadSession") == Some(&json!(true)),
            list: offers("list"),
        }
    }
}

fn refused(connection: &Connection, method: &str, fault: &Fault) -> AgentError {
    AgentError::Failed(format!("{} refused {method}: {}", connection.name(), fault.words()))
}

fn who(connection: &Connection, info: &Value) -> String {
    let name = [text(info, "title"), text(info, "name"), connection.name()];
    let name = name.into_iter().find(|name| !name.is_empty()).unwrap_or_default();
    format!("{} {}", excerpt(name), excerpt(text(info, "version"))).trim_end().to_owned()
}

/// The ways to log in that an agent names: ` (log in with a browser, use a key)`.
fn logins(methods: &Value) -> String {
    let methods = methods.as_array().map(Vec::as_slice).unwrap_or_default();
    let names: Vec<String> = methods.iter().map(|method| excerpt(text(method, "name"))).collect();
    if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
}

/// Asks, and waits for the answer. What else comes before it is let go: it is of an earlier time.
async fn ask(
    connection: &mut Connection,
    method: &str,
    params: Value,
    (limit, setting): (Duration, &str),
) -> Result<Answer, AgentError> {
    let mut heard = connection.listen();
    let session = text(&params, "sessionId").to_owned();
    let asked = connection.request(method, params)?;
    let mut replay = Replay::Nothing;
    let answer = async {
        loop {
            match heard.recv().await {
                None => return Err(connection.lost().await),
                Some(Heard::Reply { id, result }) if id == asked => return Ok(Answer { result, replay }),
                Some(Heard::Reply { id, .. }) => tracing::info!(id, "an answer to what was not asked"),
                Some(Heard::Update(update)) if is_of_conversation(&update, &session) => {
                    replay = Replay::Something;
                }
                Some(Heard::Update(_)) => {}
                Some(Heard::Permission { id, .. }) => {
                    connection.send(message::reply(id, permission::cancelled()))?;
                }
            }
        }
    };
    match timeout(limit, answer).await {
        Ok(answer) => answer,
        Err(_) => {
            let seconds = limit.as_secs_f64();
            let how = format!("did not answer {method} within {seconds} s (agent.acp.{setting})");
            Err(AgentError::Broken(connection.with_last_words(&how)))
        }
    }
}

/// Whether an update says something of a session's conversation. What an agent tells of itself, as its commands,
/// comes with a session that it has never seen too.
fn is_of_conversation(update: &Value, session: &str) -> bool {
    let kind = text(update.get("update").unwrap_or(&Value::Null), "sessionUpdate");
    text(update, "sessionId") == session
        && ["user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call"].contains(&kind)
}

/// The folder as agents want it: absolute.
pub(super) fn absolute(folder: &Path) -> PathBuf {
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf())
}
