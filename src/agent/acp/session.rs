//! From a process to a session of its agent: what it can, and which session it works in.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::{Instant, timeout};

use super::connection::{Connection, Heard, Hearing};
use super::models::{self, Offer};
use super::schema::{
    AGENT_METHOD_NAMES, AgentCapabilities, AuthMethod, ClientCapabilities, Error, ErrorCode, Implementation,
    InitializeRequest, InitializeResponse, ListSessionsRequest, ListSessionsResponse, LoadSessionRequest,
    NewSessionRequest, NewSessionResponse, ResumeSessionRequest, SessionId, SessionNotification,
    SessionUpdate, SetSessionConfigOptionRequest,
};
use super::update::is_of;
use super::{ProtocolVersion, message, permission};
use crate::agent::AgentError;
use crate::config::AcpConfig;
use crate::domain::event::excerpt;

/// So long after the answer to a request what comes is still of it, at most.
pub(super) const LATE: Duration = Duration::from_millis(200);
/// An agent that says nothing for so long after the answer has said all of it.
pub(super) const QUIET: Duration = Duration::from_millis(25);

/// So many pages of an agent's list of sessions are looked through.
const MOST_PAGES: usize = 20;

/// Whether an agent goes on in a session that it had before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TakenUp {
    /// It does, and has shown that it knows it.
    Known,
    /// It says so.
    AsItSays,
    /// It does not.
    No,
}

/// An agent that has said what it can.
pub(super) struct Agent {
    /// Its process.
    pub(super) connection: Connection,
    /// What it says that it is.
    pub(super) who: String,
    can: AgentCapabilities,
    logins: String,
    /// The model that its sessions are to have; none: its own.
    pub(super) model: Option<String>,
}

impl Agent {
    /// Begins to talk with a program that was let work. It is offered neither files nor terminals.
    ///
    /// # Errors
    /// It does not answer in time, or not as an agent.
    pub(super) async fn greet(mut connection: Connection, settings: &AcpConfig) -> Result<Self, AgentError> {
        let method = AGENT_METHOD_NAMES.initialize;
        let us = Implementation::new("switchboard", env!("CARGO_PKG_VERSION")).title("Switchboard");
        let greeting = InitializeRequest::new(ProtocolVersion::V1)
            .client_capabilities(ClientCapabilities::default())
            .client_info(us);
        let limit = Limit::of(settings, settings.initialize_timeout, "initialize_timeout_seconds");
        let answer = ask(&mut connection, method, &greeting, limit).await;
        let told = match answer {
            Ok(Ok(told)) => read::<InitializeResponse>(&connection, method, told),
            Ok(Err(error)) => Err(refused(&connection, method, &error)),
            // One that lives on and says nothing may only be slow.
            Err(slow) if !connection.is_gone() => return Err(slow),
            Err(lost) => Err(lost),
        };
        let told = told.map_err(|error| doubted(error, settings))?;
        if told.protocol_version != ProtocolVersion::V1 {
            return Err(AgentError::Failed(format!(
                "{} speaks version {} of the Agent Client Protocol; only version {} is understood",
                connection.name(),
                told.protocol_version,
                ProtocolVersion::V1
            )));
        }
        let who = who(&connection, told.agent_info);
        let logins = logins(&told.auth_methods);
        Ok(Self { connection, who, can: told.agent_capabilities, logins, model: None })
    }

    /// Begins a session.
    ///
    /// # Errors
    /// The agent refuses, or gives none in time.
    pub(super) async fn new_session(
        &mut self,
        folder: &Path,
        settings: &AcpConfig,
    ) -> Result<SessionId, AgentError> {
        let method = AGENT_METHOD_NAMES.session_new;
        let limit = Limit::of(settings, settings.new_timeout, "new_timeout_seconds");
        let told = ask(&mut self.connection, method, &NewSessionRequest::new(folder), limit).await?;
        let told = told.map_err(|error| self.refused(method, &error))?;
        let offer = Offer::of(&told);
        let session = read::<NewSessionResponse>(&self.connection, method, told)?.session_id;
        if session.0.is_empty() {
            let how = format!("answered {method} with an id of the session that is empty");
            return Err(AgentError::Failed(self.connection.with_last_words(&how)));
        }
        self.choose_model(&session, &offer, settings).await?;
        Ok(session)
    }

    /// Takes a session up again, without its replay. Some agents report success for ids that they have never seen:
    /// one that has no list of its sessions is asked to load it, which shows what it knows, rather than to resume it.
    ///
    /// # Errors
    /// The agent is lost, or does not answer in time.
    pub(super) async fn take_up(
        &mut self,
        session: &SessionId,
        folder: &Path,
        settings: &AcpConfig,
    ) -> Result<TakenUp, AgentError> {
        let listed = self.lists(session, folder, settings).await?;
        let resumed = match listed {
            Some(false) => return Ok(TakenUp::No),
            None if self.can.load_session => None,
            Some(true) | None => self.resume(session, folder, settings).await?,
        };
        let (told, taken_up) = match (resumed, listed) {
            (Some(told), Some(_)) => (Some(told), TakenUp::Known),
            (Some(told), None) => (Some(told), TakenUp::AsItSays),
            (None, _) => (self.load(session, folder, settings).await?, TakenUp::Known),
        };
        let Some(told) = told else { return Ok(TakenUp::No) };
        self.choose_model(session, &Offer::of(&told), settings).await?;
        Ok(taken_up)
    }

    /// Whether the session is in the agent's list; none where that can't be known.
    async fn lists(
        &mut self,
        session: &SessionId,
        folder: &Path,
        settings: &AcpConfig,
    ) -> Result<Option<bool>, AgentError> {
        if self.can.session_capabilities.list.is_none() {
            return Ok(None);
        }
        let method = AGENT_METHOD_NAMES.session_list;
        let mut asked = ListSessionsRequest::new().cwd(folder);
        for _ in 0..MOST_PAGES {
            let told = ask(&mut self.connection, method, &asked, load_limit(settings)).await?;
            let Some(page) = told.ok().and_then(|page| serde_json::from_value(page).ok()) else {
                return Ok(None);
            };
            let ListSessionsResponse { sessions, next_cursor, .. } = page;
            if sessions.iter().any(|listed| listed.session_id == *session) {
                return Ok(Some(true));
            }
            match next_cursor.filter(|cursor| !cursor.is_empty()) {
                None => return Ok(Some(false)),
                cursor => asked.cursor = cursor,
            }
        }
        Ok(None)
    }

    /// What an agent says of a session that it resumes; none where it can't or won't.
    async fn resume(
        &mut self,
        session: &SessionId,
        folder: &Path,
        settings: &AcpConfig,
    ) -> Result<Option<Value>, AgentError> {
        if self.can.session_capabilities.resume.is_none() {
            return Ok(None);
        }
        let method = AGENT_METHOD_NAMES.session_resume;
        let asked = ResumeSessionRequest::new(session.clone(), folder);
        let told = ask(&mut self.connection, method, &asked, load_limit(settings)).await?;
        Ok(told.map_err(|error| not_taken_up(session, method, &error)).ok())
    }

    /// What an agent says of a session that it loads; none where it can't, won't or does not know it.
    async fn load(
        &mut self,
        session: &SessionId,
        folder: &Path,
        settings: &AcpConfig,
    ) -> Result<Option<Value>, AgentError> {
        if !self.can.load_session {
            return Ok(None);
        }
        let method = AGENT_METHOD_NAMES.session_load;
        let asked = LoadSessionRequest::new(session.clone(), folder);
        let mut replayed = false;
        let mut hear = |told: &SessionNotification| replayed |= is_of_conversation(told, session);
        let limit = load_limit(settings);
        let (told, heard) = ask_hearing(&mut self.connection, method, &asked, limit, &mut hear).await?;
        // Some agents answer before they have replayed all: it would be taken for the next answer.
        hear_out(&self.connection, heard, hear).await?;
        let told = told.map_err(|error| not_taken_up(session, method, &error)).ok();
        // To load is to replay: where nothing came, there was nothing.
        if told.is_some() && !replayed {
            tracing::info!(%session, "the agent loaded a session of which it knows nothing");
        }
        Ok(told.filter(|_| replayed))
    }

    /// Chooses the model that a session is to have, among those that it offers.
    async fn choose_model(
        &mut self,
        session: &SessionId,
        offer: &Offer,
        settings: &AcpConfig,
    ) -> Result<(), AgentError> {
        let Some(model) = self.model.clone() else { return Ok(()) };
        if let Some(why) = offer.refusal(self.connection.name(), &model) {
            return Err(AgentError::Failed(format!("{why}; /model default takes the choice back")));
        }
        let limit = Limit::of(settings, settings.new_timeout, "new_timeout_seconds");
        let connection = &mut self.connection;
        let (method, told) = match &offer.option {
            Some(option) => {
                let method = AGENT_METHOD_NAMES.session_set_config_option;
                let asked = SetSessionConfigOptionRequest::new(session.clone(), option.clone(), &*model);
                (method, ask(connection, method, &asked, limit).await?)
            }
            None => {
                let asked = models::SetSessionModelRequest { session_id: session, model_id: &model };
                (models::SET_MODEL, ask(connection, models::SET_MODEL, &asked, limit).await?)
            }
        };
        told.map(|_| ()).map_err(|error| self.refused(method, &error))
    }

    /// The agent's refusal in words, with what to do.
    pub(super) fn refused(&self, method: &str, error: &Error) -> AgentError {
        if error.code == ErrorCode::AuthRequired {
            let Self { connection, logins, .. } = self;
            return AgentError::Failed(format!(
                "{} wants you to log in first, with its own command{logins}: {}",
                connection.name(),
                message::words(error)
            ));
        }
        refused(&self.connection, method, error)
    }
}

/// How long an agent may take to answer, and the setting that says so.
struct Limit {
    time: Duration,
    setting: String,
}

impl Limit {
    fn of(settings: &AcpConfig, time: Duration, setting: &str) -> Self {
        Self { time, setting: settings.section.setting(setting) }
    }
}

fn load_limit(settings: &AcpConfig) -> Limit {
    Limit::of(settings, settings.load_timeout, "load_timeout_seconds")
}

fn refused(connection: &Connection, method: &str, error: &Error) -> AgentError {
    AgentError::Failed(format!("{} refused {method}: {}", connection.name(), message::words(error)))
}

/// The same of a program that may be no agent: it ended or answered wrongly when it was greeted.
fn doubted(error: AgentError, settings: &AcpConfig) -> AgentError {
    let argv = settings.section.setting("argv");
    let doubt = |words| format!("{words}; {argv} must start an agent that speaks the Agent Client Protocol");
    match error {
        AgentError::Failed(words) => AgentError::Failed(doubt(words)),
        AgentError::Broken(words) => AgentError::Broken(doubt(words)),
        AgentError::Cancelled => AgentError::Cancelled,
    }
}

fn not_taken_up(session: &SessionId, method: &str, error: &Error) {
    tracing::info!(%session, method, "not taken up again: {}", message::words(error));
}

fn who(connection: &Connection, info: Option<Implementation>) -> String {
    let Some(info) = info else { return connection.name().to_owned() };
    let name = info.title.filter(|title| !title.is_empty()).unwrap_or(info.name);
    format!("{} {}", excerpt(&name), excerpt(&info.version)).trim_end().to_owned()
}

/// The ways to log in that an agent names: ` (log in with a browser, use a key)`.
fn logins(methods: &[AuthMethod]) -> String {
    let names: Vec<String> = methods.iter().map(|method| excerpt(method.name())).collect();
    if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
}

/// Reads an answer.
fn read<Answer: DeserializeOwned>(
    connection: &Connection,
    method: &str,
    told: Value,
) -> Result<Answer, AgentError> {
    serde_json::from_value(told).map_err(|error| {
        let why = excerpt(&error.to_string());
        AgentError::Failed(format!("{} answered {method} with what can't be read: {why}", connection.name()))
    })
}

/// Asks, and waits for the answer.
async fn ask(
    connection: &mut Connection,
    method: &str,
    params: &impl Serialize,
    limit: Limit,
) -> Result<Result<Value, Error>, AgentError> {
    ask_hearing(connection, method, params, limit, |_| ()).await.map(|(answer, _)| answer)
}

/// Asks, and waits for the answer. The updates before it are heard, what else comes is of an earlier time. What comes
/// behind the answer can be heard there.
async fn ask_hearing(
    connection: &mut Connection,
    method: &str,
    params: &impl Serialize,
    limit: Limit,
    mut hear: impl FnMut(&SessionNotification),
) -> Result<(Result<Value, Error>, Hearing), AgentError> {
    let mut heard = connection.listen();
    let asked = connection.request(method, params)?;
    let answer = async {
        loop {
            match heard.recv().await {
                None => return Err(connection.lost().await),
                Some(Heard::Reply { id, result }) if id == asked => return Ok(result),
                Some(heard) => take_early(connection, heard, &mut hear)?,
            }
        }
    };
    match timeout(limit.time, answer).await {
        Ok(answer) => Ok((answer?, heard)),
        Err(_) => {
            let seconds = limit.time.as_secs_f64();
            let how = format!("did not answer {method} within {seconds} s ({})", limit.setting);
            Err(AgentError::Broken(connection.with_last_words(&how)))
        }
    }
}

/// Hears what comes a moment after an answer.
async fn hear_out(
    connection: &Connection,
    mut heard: Hearing,
    mut hear: impl FnMut(&SessionNotification),
) -> Result<(), AgentError> {
    let latest = Instant::now() + LATE;
    while Instant::now() < latest
        && let Ok(Some(late)) = timeout(QUIET, heard.recv()).await
    {
        take_early(connection, late, &mut hear)?;
    }
    Ok(())
}

/// Takes what comes while no turn runs.
fn take_early(
    connection: &Connection,
    heard: Heard,
    hear: &mut impl FnMut(&SessionNotification),
) -> Result<(), AgentError> {
    match heard {
        Heard::Update(update) => hear(&update),
        Heard::Permission { id, .. } => connection.answer(id, permission::cancelled())?,
        Heard::Reply { id, .. } => connection.note(&format!("answers {id}, which was not asked")),
    }
    Ok(())
}

/// Whether an update says something of a session's conversation. What an agent tells of itself, as its commands,
/// comes with a session that it has never seen too.
fn is_of_conversation(told: &SessionNotification, session: &SessionId) -> bool {
    is_of(told, session)
        && matches!(
            told.update,
            SessionUpdate::UserMessageChunk(_)
                | SessionUpdate::AgentMessageChunk(_)
                | SessionUpdate::AgentThoughtChunk(_)
                | SessionUpdate::ToolCall(_)
        )
}

/// The folder as agents want it: absolute.
pub(super) fn absolute(folder: &Path) -> PathBuf {
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf())
}
