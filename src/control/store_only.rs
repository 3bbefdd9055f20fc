//! The store of a home where no engine runs.

use std::io;

use futures_util::future::BoxFuture;
use tokio::sync::mpsc;

use super::client::{Client, ClientError, Reach};
use super::in_process::client_error;
use crate::agent::background::{ENDED_ALONE, how_it_ended, log_of};
use crate::agent::{self, Life};
use crate::config::{Config, Home};
use crate::domain::Time;
use crate::domain::alert::{Alert, Subject};
use crate::domain::api::{
    Answer, Command, ComposerMemory, ConversationPage, Died, EngineStatus, FileTrouble, JobAnswer,
    JobsFileState, Overview, ProcessRow, Query, Reply, SessionPage, SessionRow, Update,
};
use crate::domain::cron::{Definition, Fault};
use crate::domain::damage::Lost;
use crate::domain::history::Entry;
use crate::domain::queue::{Gate, Refusal};
use crate::domain::session::SessionState;
use crate::domain::turn::TurnState;
use crate::engine::{Clock, SystemClock, answer_jobs_alone, change_jobs_alone, missing_parts};
use crate::store::jobs_file::{JobsFile, Reading};
use crate::store::{Queries, Readers, StoreError, answer, sqlite};

/// Reads a home's store while no engine runs. Scheduled tasks are changed in `jobs.json`; every other command needs
/// an engine and is refused.
pub struct StoreOnly {
    /// None where nothing is kept yet.
    readers: Option<Readers>,
    home: Home,
    config: Config,
}

impl StoreOnly {
    /// Opens the store of `home`. Makes nothing: a home without a store is an empty one.
    pub fn open(home: &Home, config: Config) -> Result<Self, StoreError> {
        let readers = match Readers::open(&home.state_db()) {
            Ok(readers) => Some(readers),
            Err(StoreError::Open { source, .. }) if source.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        Ok(Self { readers, home: home.clone(), config })
    }

    /// Which of its agent, its skills, its script and its folder a job names that are not there. The store is not opened.
    pub fn missing_parts(home: &Home, config: &Config, job: &Definition) -> Vec<Fault> {
        missing_parts(home, &config.roster(), job)
    }

    /// Looks at the store's log, which opening the store changes: what of it can't be read, if anything.
    pub fn examine_log(home: &Home) -> Result<Option<Lost>, StoreError> {
        sqlite::examine_log(&home.state_db())
    }

    /// Examines the whole file; none where nothing is kept yet, else what is wrong, one line each.
    pub async fn examine(&self) -> Result<Option<Vec<String>>, StoreError> {
        match &self.readers {
            Some(readers) => readers.quick_check().await.map(Some),
            None => Ok(None),
        }
    }

    /// No engine looks at `jobs.json`: that it can't be read is seen here.
    async fn look_at_file(&self, state: &mut JobsFileState) {
        let stored_at = match *state {
            JobsFileState::Unreadable { .. } => return,
            JobsFileState::Read { at } => Some(at),
            JobsFileState::Missing => None,
        };
        let path = self.home.jobs_file();
        let look = move || match JobsFile::new(path.clone()).read() {
            Reading::Unreadable(unreadable) => {
                let written = std::fs::metadata(&path).and_then(|file| file.modified()).ok();
                Some((FileTrouble::from(&unreadable), written.map(Time::from)))
            }
            Reading::Missing | Reading::Read(..) => None,
        };
        if let Ok(Some((trouble, written))) = tokio::task::spawn_blocking(look).await {
            let since = written.unwrap_or_else(|| SystemClock.now());
            *state = JobsFileState::Unreadable { since, trouble, stored_at };
        }
    }

    /// No engine saw what ended meanwhile: it is seen here.
    async fn look_at_processes(&self, mut rows: Vec<ProcessRow>) -> Result<Vec<ProcessRow>, ClientError> {
        let folder = self.home.background();
        let look = move || {
            for ProcessRow { process, .. } in &mut rows {
                if process.lives() && agent::life(&process.identity) == Life::Gone {
                    let log = log_of(&folder, process);
                    process.ended = Some(how_it_ended(process, &log, ENDED_ALONE, SystemClock.now()));
                }
            }
            rows
        };
        tokio::task::spawn_blocking(look).await.map_err(|error| ClientError::Failed(error.to_string()))
    }

    /// The engine of the newest start, if it did not stop in order.
    async fn died(&self) -> Result<Option<Died>, ClientError> {
        let Some(readers) = &self.readers else { return Ok(None) };
        let died = readers.read(|queries| {
            let (page, counts) = (queries.recovery(None, 1)?, queries.counts()?);
            Ok(page.starts.first().and_then(|start| Died::of(start, counts.running + counts.asking)))
        });
        died.await.map_err(client_error)
    }

    /// Nobody can answer a question whose turn was cut: its alert says what holds.
    async fn look_at_questions(&self, mut alerts: Vec<Alert>) -> Result<Vec<Alert>, ClientError> {
        let Some(readers) = &self.readers else { return Ok(alerts) };
        let look = move |queries: &dyn Queries| {
            for alert in alerts.iter_mut().filter(|alert| alert.key.is_approval()) {
                if let Subject::Session(session) = &alert.subject
                    && let Some(row) = queries.session(session)?
                    && let Some(asked) = row.asks.first()
                {
                    alert.words = asked.words_cut(row.session.name());
                }
            }
            Ok(alerts)
        };
        readers.read(look).await.map_err(client_error)
    }

    /// A turn that nobody ended was cut off, and nobody can answer what it asked. What the next message will meet the
    /// settings tell.
    fn without_engine(&self, row: &mut SessionRow) {
        if row.turn.take().is_some() {
            row.asks.clear();
            row.state = SessionState::Resumes;
        }
        let Config { session_reset, recovery, timezone, .. } = &self.config;
        let now = SystemClock.now();
        row.forecast = row.forecast_by(session_reset, *timezone, recovery.limits.freshness, now);
    }

    async fn read(&self, query: Query) -> Result<Answer, ClientError> {
        if let Query::Jobs(query) = query {
            let (zone, now) = (self.config.timezone, SystemClock.now());
            let (readers, home, agents) = (self.readers.as_ref(), &self.home, self.config.roster());
            let answer = answer_jobs_alone(readers, home, &agents, zone, now, query).await;
            return answer.map(Answer::Jobs).map_err(client_error);
        }
        let Some(readers) = &self.readers else { return nothing(query) };
        let now = SystemClock.now();
        readers.read(move |queries| answer(queries, query, now)).await.map_err(client_error)
    }
}

impl Client for StoreOnly {
    fn reach(&self) -> Reach {
        Reach::StoreOnly
    }

    fn command(&self, command: Command) -> BoxFuture<'_, Result<Reply, ClientError>> {
        Box::pin(async move {
            let Command::Job(command) = command else { return Err(ClientError::NoEngine) };
            let (zone, now) = (self.config.timezone, SystemClock.now());
            let changed = change_jobs_alone(&self.home, zone, now, command).await;
            Ok(changed.ok_or(ClientError::NoEngine)??)
        })
    }

    fn query(&self, query: Query) -> BoxFuture<'_, Result<Answer, ClientError>> {
        Box::pin(async move {
            let mut answer = self.read(query).await?;
            match &mut answer {
                Answer::Overview(overview) => {
                    overview.engine.busy_mode = self.config.queue.busy_mode;
                    overview.engine.max_queued = self.config.queue.max_items;
                    overview.running += std::mem::take(&mut overview.asking);
                }
                Answer::Sessions(page) => page.rows.iter_mut().for_each(|row| self.without_engine(row)),
                Answer::Session(Some(row)) => self.without_engine(row),
                Answer::Conversation(page) => cut_off(&mut page.entries),
                Answer::Alerts(alerts) => *alerts = self.look_at_questions(std::mem::take(alerts)).await?,
                Answer::Recovery(page) => {
                    page.pass_to(SystemClock.now());
                    page.died = self.died().await?;
                }
                Answer::Report(report) => report.died = self.died().await?,
                Answer::Jobs(JobAnswer::List(page)) => self.look_at_file(&mut page.file).await,
                Answer::Processes(rows) => *rows = self.look_at_processes(std::mem::take(rows)).await?,
                _ => {}
            }
            Ok(answer)
        })
    }

    fn updates(&self) -> BoxFuture<'_, Result<mpsc::Receiver<Update>, ClientError>> {
        Box::pin(async { Err(ClientError::NoEngine) })
    }
}

/// What a turn that nobody ended has said and called is that of one that was cut off.
fn cut_off(entries: &mut [Entry]) {
    for entry in entries.iter_mut().filter(|entry| entry.turn_state == TurnState::Running) {
        entry.turn_state = TurnState::Interrupted;
    }
}

/// The answer of a home where nothing is kept yet.
fn nothing(query: Query) -> Result<Answer, ClientError> {
    Ok(match query {
        Query::Overview => Answer::Overview(Box::new(Overview {
            engine: EngineStatus {
                run: None,
                gate: Gate::Open,
                held: None,
                drain: None,
                agents: Default::default(),
                busy_mode: Default::default(),
                max_queued: 0,
                store_trouble: None,
                cron: Default::default(),
            },
            sessions: 0,
            needs_you: 0,
            running: 0,
            asking: 0,
            waiting: 0,
            marked: 0,
            max_cuts: 0,
            last_event: None,
            today: None,
        })),
        Query::Sessions { .. } | Query::History { .. } | Query::SessionsNamed { .. } => {
            Answer::Sessions(SessionPage::default())
        }
        Query::Session { .. } | Query::SessionAt { .. } => Answer::Session(None),
        Query::Conversation { .. } => Answer::Conversation(ConversationPage::default()),
        Query::SessionQueue { .. } | Query::Backlog { .. } => Answer::Queue(Vec::new()),
        Query::Events { .. } => Answer::Events(Vec::new()),
        Query::Search { .. } => Answer::Hits(Vec::new()),
        Query::Recovery { .. } => Answer::Recovery(Box::default()),
        Query::Report { .. } => Answer::Report(Box::default()),
        Query::Processes { .. } => Answer::Processes(Vec::new()),
        Query::Allowed { .. } => Answer::Allowed(Vec::new()),
        Query::Alerts { .. } => Answer::Alerts(Vec::new()),
        Query::HostConversations { .. } => Answer::HostConversations(Vec::new()),
        Query::HostConversation { .. } => Answer::HostConversation(None),
        Query::Jobs(_) => Answer::Jobs(JobAnswer::List(Box::default())),
        Query::Composer { .. } => Answer::Composer(ComposerMemory::default()),
        Query::Export { session, .. } => {
            return Err(ClientError::Refused(Refusal::NoSuchSession(session.to_string())));
        }
    })
}
