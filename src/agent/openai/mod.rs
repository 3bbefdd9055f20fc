//! A model behind an OpenAI-compatible chat completions server.
//!
//! A turn is a row of requests: the tools that the model calls in one answer are carried out, and
//! their results go with the next (`steps`). Servers differ: what they send is read leniently
//! (`chunk`, `calls`, `lines`), what is sent to them is strict (`request`). An answer that was not
//! ended by the server is a failure, never a short or empty answer (`answer`).

mod answer;
mod calls;
mod check;
mod chunk;
mod key;
mod lines;
mod models;
mod request;
mod retry;
mod room;
mod server;
mod steps;
mod teller;
mod trouble;

use std::path::Path;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use self::answer::Answer;
use self::key::{Key, KeySource};
use self::models::Window;
use self::room::Measured;
use self::server::Server;
use self::teller::Teller;
use self::trouble::Trouble;
use super::tools::{Places, Settings, Terminal, Tools};
use super::{AgentError, AgentEvent, Backend, BuildError, Found, Handle, SessionContext, Turn};
use crate::config::{AgentConfig, Keys, OpenAiConfig};

/// The openai backend.
#[derive(Debug)]
pub(super) struct OpenAiBackend {
    connection: Arc<Connection>,
    /// How the tools work; a session may name a folder of its own.
    tools: Settings,
}

/// What handles share, but for those that ask for a model of their own.
#[derive(Debug, Clone)]
struct Connection {
    server: Server,
    http: reqwest::Client,
    keys: KeySource,
    config: OpenAiConfig,
    window: Window,
}

impl OpenAiBackend {
    /// Reads `agent.openai` and `agent.approvals`; the tools work in `home` where no folder is set. The key is read at each
    /// turn, so that a new one needs no restart.
    pub(super) fn new(config: &AgentConfig, keys: &Keys, home: &Path) -> Result<Self, BuildError> {
        let AgentConfig { openai: config, approvals, .. } = config;
        if config.model.trim().is_empty() {
            return Err(BuildError::NoModel { section: config.section.clone() });
        }
        let server = Server::parse(&config.section, &config.base_url)?;
        let http = server.client(config.connect_timeout)?;
        let source = KeySource::new(config);
        let window = Window::default();
        let connection = Connection { server, http, keys: source, config: config.clone(), window };
        let places = Places {
            workdir: config.workdir.clone().unwrap_or_else(|| home.to_path_buf()),
            home: home.to_path_buf(),
            key_files: keys.files.clone(),
        };
        let terminal = Terminal { limit: config.terminal_timeout, key_variables: keys.variables.clone() };
        let tools = Settings {
            places,
            terminal,
            approvals: approvals.clone(),
            max_background: config.max_background,
        };
        Ok(Self { connection: Arc::new(connection), tools })
    }
}

impl Backend for OpenAiBackend {
    fn label(&self) -> String {
        format!("{} at {}", self.connection.config.model, self.connection.server.authority())
    }

    /// Between two requests of a turn, and without tools it has only one.
    fn steerable(&self) -> bool {
        !self.connection.config.tools.is_empty()
    }

    fn keeps_handles(&self) -> bool {
        true
    }

    fn check(&self) -> BoxFuture<'_, Result<Found, AgentError>> {
        Box::pin(async {
            let found = self.connection.check().await?;
            let workdir = &self.tools.places.workdir;
            let section = &self.connection.config.section;
            Ok(match found {
                Found::Good(words) if self.steerable() && !workdir.is_dir() => Found::Doubtful(format!(
                    "{words}; its tools have no folder to work in: {} is none ({})",
                    workdir.display(),
                    section.setting("workdir"),
                )),
                found => found,
            })
        })
    }

    fn open<'a>(&'a self, session: &'a SessionContext) -> BoxFuture<'a, Result<Box<dyn Handle>, AgentError>> {
        let connection = match &session.model {
            Some(model) => Arc::new(self.connection.with_model(model)),
            None => Arc::clone(&self.connection),
        };
        let tools = Tools::new(&connection.config.tools, session.clone(), self.tools.clone());
        let handle = OpenAiHandle { connection, tools, measured: None };
        Box::pin(async { Ok(Box::new(handle) as Box<dyn Handle>) })
    }
}

/// Keeps nothing of the conversation: each request holds all of it.
struct OpenAiHandle {
    connection: Arc<Connection>,
    tools: Tools,
    /// What the last request took.
    measured: Option<Measured>,
}

impl Handle for OpenAiHandle {
    fn run<'a>(
        &'a mut self,
        turn: Turn,
        output: mpsc::Sender<AgentEvent>,
        cancel: CancellationToken,
    ) -> BoxFuture<'a, Result<(), AgentError>> {
        Box::pin(async move {
            let teller = Teller::new(output);
            // Dropping the work closes its connection and stops its tool: the server stops as well.
            let end = tokio::select! {
                biased;
                () = cancel.cancelled() => Err(AgentError::Cancelled),
                () = teller.unheard() => Err(AgentError::Cancelled),
                end = steps::take(&self.connection, &self.tools, turn, &mut self.measured, &teller) => end,
            };
            teller.settle().await;
            end
        })
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async {})
    }
}

impl Connection {
    /// The same server, asked for another model.
    fn with_model(&self, model: &str) -> Self {
        let config = OpenAiConfig {
            model: model.to_owned(),
            facts: self.config.facts_of(model),
            ..self.config.clone()
        };
        Self { config, window: Window::default(), ..self.clone() }
    }

    /// Asks until there is an answer, a failure that another try would not mend, or no try is left.
    async fn ask_patiently(
        &self,
        body: &request::Body<'_>,
        key: Option<&Key>,
        teller: &Teller,
    ) -> Result<Answer, Trouble> {
        let mut tries = 1;
        loop {
            let (why, asked) = match self.ask(body, key, teller).await {
                Ok(answer) => return Ok(answer),
                Err(Trouble::Passing { why, wait: Some(wait) }) if wait > retry::LONGEST_ASKED => {
                    return Err(trouble::asks_for_patience(&why, wait));
                }
                Err(Trouble::Passing { why, wait }) => (why, wait),
                Err(trouble) => return Err(trouble),
            };
            if tries > self.config.max_retries {
                let tried = if tries == 1 { String::new() } else { format!(" (tried {tries} times)") };
                return Err(Trouble::Lasting(format!("{why}{tried}")));
            }
            let wait = asked.unwrap_or_else(|| retry::pause(tries, fastrand::f64()));
            tries += 1;
            teller.tell(AgentEvent::Retrying { attempt: tries, wait, why }).await;
            sleep(wait).await;
        }
    }

    async fn ask(
        &self,
        body: &request::Body<'_>,
        key: Option<&Key>,
        teller: &Teller,
    ) -> Result<Answer, Trouble> {
        let mut request = self.http.post(self.server.completions()).json(body);
        if let Some(key) = key {
            request = request.header(reqwest::header::AUTHORIZATION, key.header());
        }
        let response = match timeout(self.config.stall_timeout, request.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(trouble::unreachable(&self.server, &self.config, &error)),
            Err(_) => return Err(trouble::stalled(&self.server, &self.config)),
        };
        if !response.status().is_success() {
            return Err(trouble::refused(&self.server, &self.config, key, response).await);
        }
        answer::pass_on(&self.server, &self.config, key, response, body.tokens, teller).await
    }
}
