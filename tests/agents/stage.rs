//! Runs turns on a backend and collects what it does.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use libtest_mimic::Trial;
use switchboard::agent::{
    self, AgentEnds, AgentError, AgentEvent, Approvals, Backend, BackgroundCalls, Children, Doing,
    EngineEnds, Handle, Jobs, Limits, SessionContext, StepsKept, Turn, lines,
};
use switchboard::config::{
    AcpConfig, AgentConfig, ApprovalsConfig, BackendKind, CommandConfig, Keys, ModelFacts, OpenAiConfig,
    Secrets, Section,
};
use switchboard::domain::Time;
use switchboard::domain::approval::{Decision, Policy, Question};
use switchboard::domain::history::{Asker, Step};
use switchboard::domain::id::{ItemId, SessionId, SessionKey, TurnId};
use switchboard::domain::session::AgentSession;
use tokio::runtime::Builder;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// The value of every variable in [`SECRETS`]: it may be seen nowhere.
pub const CANARY: &str = "canary-5f2c9e";
/// Variables that hold the canary in every test.
pub const SECRETS: [&str; 3] =
    ["SWITCHBOARD_TEST_API_KEY", "SWITCHBOARD_TEST_TOKEN", "SWITCHBOARD_TEST_WALRUS"];
/// A variable that is not set.
pub const UNSET: &str = "SWITCHBOARD_TEST_UNSET";

/// A test whose clock jumps to the next timer when nothing else can happen.
pub fn paused(name: &str, test: impl AsyncFnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(test());
        Ok(())
    })
}

/// A test with processes and sockets, on the real clock.
pub fn real(name: &str, test: impl AsyncFnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        Builder::new_current_thread().enable_all().build().unwrap().block_on(soon(test()));
        Ok(())
    })
}

/// The settings of a backend, for a test to fill in.
pub fn config(backend: BackendKind) -> AgentConfig {
    AgentConfig {
        backend,
        command: CommandConfig {
            section: Section::of("agent.command"),
            argv: vec![],
            workdir: None,
            timeout: Duration::from_secs(60),
        },
        openai: OpenAiConfig {
            section: Section::of("agent.openai"),
            base_url: String::new(),
            model: String::new(),
            api_key_env: UNSET.to_owned(),
            api_key_file: None,
            system_prompt: None,
            connect_timeout: Duration::from_secs(60),
            stall_timeout: Duration::from_secs(120),
            max_retries: 2,
            tools: vec![],
            workdir: None,
            terminal_timeout: Duration::from_secs(60),
            max_background: 8,
            max_steps: 50,
            facts: ModelFacts::default(),
            models: BTreeMap::new(),
            compact_at_percent: 80,
        },
        acp: AcpConfig {
            section: Section::of("agent.acp"),
            argv: vec![],
            workdir: None,
            initialize_timeout: Duration::from_secs(120),
            new_timeout: Duration::from_secs(120),
            load_timeout: Duration::from_secs(120),
            silence_timeout: Duration::from_secs(120),
            kill_grace: Duration::from_secs(3),
        },
        approvals: ApprovalsConfig {
            section: Section::of("agent.approvals"),
            terminal: Policy::Ask,
            write_file: Policy::Ask,
            read_file: Policy::Auto,
            search_files: Policy::Auto,
            process: Policy::Auto,
            schedule_task: Policy::Ask,
            acp: Policy::Ask,
            allow: vec![],
        },
    }
}

pub fn build(config: &AgentConfig) -> Arc<dyn Backend> {
    agent::build(config, &Keys::of([config]), Path::new("/")).unwrap()
}

/// What a turn did, and how it ended.
#[derive(Debug)]
pub struct Played {
    pub events: Vec<AgentEvent>,
    pub end: Result<(), AgentError>,
}

impl Played {
    pub fn text(&self) -> String {
        text_of(&self.events)
    }

    pub fn reasoning(&self) -> String {
        let reasoning =
            |e: &AgentEvent| if let AgentEvent::Reasoning(t) = e { Some(t.clone()) } else { None };
        self.events.iter().filter_map(reasoning).collect()
    }

    /// The agent's own session in which it ran, as it was told last.
    pub fn session(&self) -> Option<AgentSession> {
        let told = |e: &AgentEvent| if let AgentEvent::Session(told) = e { Some(told.clone()) } else { None };
        self.events.iter().rev().find_map(told)
    }

    /// What was told of the agent beside its answer.
    pub fn notices(&self) -> Vec<&str> {
        self.events
            .iter()
            .filter_map(|e| if let AgentEvent::Notice(t) = e { Some(&**t) } else { None })
            .collect()
    }

    /// Why the handle is of no more use.
    pub fn breakage(&self) -> &str {
        match &self.end {
            Err(AgentError::Broken(why)) => why,
            other => panic!("expected a broken handle, got {other:?} after {:?}", self.events),
        }
    }

    /// The text of the failure.
    pub fn failure(&self) -> &str {
        match &self.end {
            Err(AgentError::Failed(why)) => why,
            other => panic!("expected a failure, got {other:?} after {:?}", self.events),
        }
    }
}

/// The answer in some events.
pub fn text_of(events: &[AgentEvent]) -> String {
    let text =
        |event: &AgentEvent| if let AgentEvent::Text(text) = event { Some(text.clone()) } else { None };
    events.iter().filter_map(text).collect()
}

/// One turn that is about to run.
pub struct Call {
    pub message: String,
    pub asked_by: Asker,
    pub history: Vec<Step>,
    pub cancel: CancellationToken,
    pub steer: Option<mpsc::Receiver<(ItemId, String)>>,
    pub children: Option<Children>,
    /// Where it asks; else nobody answers.
    pub approvals: Option<Approvals>,
    pub background: Option<BackgroundCalls>,
    pub doing: Option<Doing>,
    /// What the turn may use.
    pub limits: Option<Limits>,
    /// Where it has scheduled tasks made; else nobody makes any.
    pub jobs: Option<Jobs>,
    /// Where it waits until what it has told is kept; else all of it is.
    pub kept: Option<StepsKept>,
    /// What nothing that it is given may hold.
    pub secrets: Secrets,
    /// The session's own folder.
    pub workdir: Option<PathBuf>,
}

impl Call {
    pub fn new(message: &str) -> Self {
        Self {
            message: message.to_owned(),
            asked_by: Asker::Person,
            history: vec![],
            cancel: CancellationToken::new(),
            steer: None,
            children: None,
            approvals: None,
            background: None,
            doing: None,
            limits: None,
            jobs: None,
            kept: None,
            secrets: Secrets::default(),
            workdir: None,
        }
    }

    /// The engine's word to go on with what was cut off.
    pub fn resume(message: &str) -> Self {
        Self { asked_by: Asker::Engine, ..Self::new(message) }
    }

    /// Has its processes handed over there; else each is kept at once.
    pub fn with_children(self, children: Children) -> Self {
        Self { children: Some(children), ..self }
    }

    /// Answers each question with the next of these decisions, and then none. Gives the questions.
    pub fn answered_by(
        self,
        decisions: impl IntoIterator<Item = Decision>,
    ) -> (Self, mpsc::UnboundedReceiver<Question>) {
        let (approvals, mut asked) = Approvals::channel();
        let (seen, questions) = mpsc::unbounded_channel();
        let mut decisions: VecDeque<Decision> = decisions.into_iter().collect();
        tokio::spawn(async move {
            while let Some(new) = asked.recv().await {
                let _ = seen.send(new.what.clone());
                if let Some(decision) = decisions.pop_front() {
                    new.answer(decision);
                }
            }
        });
        (Self { approvals: Some(approvals), ..self }, questions)
    }

    pub fn after(mut self, told: &[(&str, &str)]) -> Self {
        for (user, agent) in told {
            self.history.push(Step::user(*user));
            self.history.push(Step::agent(*agent));
        }
        self
    }

    /// After that a turn went on with what was cut off.
    pub fn after_resume(mut self, message: &str, agent: &str) -> Self {
        self.history.push(Step::User { text: message.to_owned(), by: Asker::Engine });
        self.history.push(Step::agent(agent));
        self
    }

    /// Runs the turn to its end.
    pub async fn play(self, backend: &dyn Backend) -> Played {
        self.play_watching(backend, async |_| {}).await
    }

    /// Runs the turn, showing each event to `watch` as it comes.
    pub async fn play_watching(
        self,
        backend: &dyn Backend,
        mut watch: impl AsyncFnMut(&AgentEvent),
    ) -> Played {
        let context = SessionContext { workdir: self.workdir.clone(), ..session() };
        let mut handle = backend.open(&context).await.unwrap();
        self.play_on(&mut *handle, &mut watch).await
    }

    /// Runs the turn on a handle that may have run others.
    pub async fn play_on(self, handle: &mut dyn Handle, mut watch: impl AsyncFnMut(&AgentEvent)) -> Played {
        let (output, mut events) = mpsc::channel(8);
        let cancel = self.cancel.clone();
        let mut seen = Vec::new();
        let collect = async {
            while let Some(event) = events.recv().await {
                watch(&event).await;
                seen.push(event);
            }
        };
        let (end, ()) = tokio::join!(handle.run(self.turn(), output, cancel), collect);
        Played { events: seen, end }
    }

    /// Runs the turn although nobody listens.
    pub async fn play_unheard(self, backend: &dyn Backend) -> Result<(), AgentError> {
        let (output, _) = mpsc::channel(1);
        let cancel = self.cancel.clone();
        backend.open(&session()).await.unwrap().run(self.turn(), output, cancel).await
    }

    fn turn(self) -> Turn {
        let (unheard, EngineEnds { mut children, kept, .. }) = lines();
        kept.send_replace(u64::MAX);
        tokio::spawn(async move {
            while let Some(child) = children.recv().await {
                child.keep();
            }
        });
        let engine = AgentEnds {
            steer: self.steer.unwrap_or(unheard.steer),
            children: self.children.unwrap_or(unheard.children),
            kept: self.kept.unwrap_or(unheard.kept),
            approvals: self.approvals.unwrap_or(unheard.approvals),
            background: self.background.unwrap_or(unheard.background),
            jobs: self.jobs.unwrap_or(unheard.jobs),
            limits: self.limits.unwrap_or(unheard.limits),
            doing: self.doing.unwrap_or(unheard.doing),
        };
        Turn {
            engine,
            secrets: self.secrets,
            id: TurnId(7),
            history: self.history,
            message: self.message,
            asked_by: self.asked_by,
            began_at: instant(),
        }
    }
}

/// Fails a test that would wait for ever; no test asserts how long anything takes.
pub async fn soon<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(240), work).await.expect("still not done after four minutes")
}

pub fn session() -> SessionContext {
    SessionContext::new(SessionId::new(instant(), 7), SessionKey::console())
}

pub fn instant() -> Time {
    "2026-03-01T12:00:00Z".parse().unwrap()
}

/// Waits until no process of the group lives whose leader's id is the first line of the answer.
pub async fn assert_gone(played: &Played) {
    let text = played.text();
    let group = text.lines().next().unwrap_or_else(|| panic!("it never began: {played:?}"));
    // The leader is our child: it is gone only when it was reaped.
    while lives(group) || Path::new("/proc").join(group).exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits until no process of the group lives, whoever is to reap it.
pub async fn ended(group: &str) {
    while lives(group) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Whether a process of the group lives; one that only waits to be reaped does not.
pub fn lives(group: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // After the name in parentheses come the state, the parent and the group.
        let rest = stat.rsplit(')').next().unwrap_or_default();
        let fields: Vec<&str> = rest.split_whitespace().collect();
        fields.first().is_some_and(|state| *state != "Z") && fields.get(2) == Some(&group)
    })
}
