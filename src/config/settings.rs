//! The settings, typed: what the rest of the house reads.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::domain::agent::{AgentName, KnownAgent, Roster};
use crate::domain::approval::Policy;
use crate::domain::event::Level;
use crate::domain::queue::BusyMode;
use crate::domain::recovery::Limits;
use crate::domain::reset::ResetPolicies;
use crate::domain::spending::{Limit, Price, Rules};

/// All settings of a home. Made by the loader, which has checked every value.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The operator's time zone (`timezone`); else the system's.
    pub timezone: chrono_tz::Tz,
    /// `[agent]`: who answers.
    pub agent: AgentConfig,
    /// `[agents]`: more of them, each whole, by name.
    pub agents: BTreeMap<AgentName, AgentConfig>,
    /// `agent.platforms`: who answers on a platform, in place of the default one.
    pub agent_platforms: BTreeMap<String, AgentName>,
    /// `[queue]`.
    pub queue: QueueConfig,
    /// `[session_reset]`.
    pub session_reset: ResetPolicies,
    /// `[engine]`.
    pub engine: EngineConfig,
    /// `[recovery]`.
    pub recovery: RecoveryConfig,
    /// `[spending]`; its zone is `timezone`.
    pub spending: SpendingConfig,
    /// `[alerts]`.
    pub alerts: AlertsConfig,
    /// `[handles]`.
    pub handles: HandlesConfig,
    /// `[cron]`.
    pub cron: CronConfig,
    /// `[console]`.
    pub console: ConsoleConfig,
    /// `[log]`.
    pub log: LogConfig,
}

/// Where the keys of all agents are: nothing that works for one of them gets to see them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keys {
    /// Environment variables.
    pub variables: Vec<String>,
    /// Files.
    pub files: Vec<PathBuf>,
}

impl Keys {
    /// Those of some agents.
    pub fn of<'a>(agents: impl IntoIterator<Item = &'a AgentConfig>) -> Self {
        let mut keys = Self::default();
        for OpenAiConfig { api_key_env, api_key_file, .. } in agents.into_iter().map(|agent| &agent.openai) {
            keys.variables.push(api_key_env.clone());
            keys.files.extend(api_key_file.clone());
        }
        keys
    }
}

impl Config {
    /// The agents, as far as the settings alone tell of them.
    pub fn roster(&self) -> Roster {
        let known =
            |agent: &AgentConfig| KnownAgent { label: agent.backend.word().to_owned(), steerable: false };
        let default = (AgentName::default(), known(&self.agent));
        let named = self.agents.iter().map(|(name, agent)| (name.clone(), known(agent)));
        Roster {
            known: std::iter::once(default).chain(named).collect(),
            by_platform: self.agent_platforms.clone(),
        }
    }

    /// The keys of all agents.
    pub fn keys(&self) -> Keys {
        Keys::of(std::iter::once(&self.agent).chain(self.agents.values()))
    }
}

/// Where settings of an agent stand, for words that name them: `agent.acp`, or `agents.coder.acp`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section(String);

impl Section {
    /// A section of the default agent.
    pub fn of(key: &str) -> Self {
        Self(key.to_owned())
    }

    /// The name of the agent that it belongs to; the default one has none.
    pub fn agent(&self) -> Option<&str> {
        self.0.strip_prefix("agents.")?.split('.').next()
    }

    /// One of its settings.
    pub fn setting(&self, name: &str) -> String {
        format!("{self}.{name}")
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A key of the default agent's settings as it is written for an agent of `[agents]`.
pub(super) fn key_of_agent(key: &str, agent: &str) -> String {
    key.replacen("agent", &format!("agents.{agent}"), 1)
}

/// Who answers, and how each backend is set up.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentConfig {
    /// `agent.backend`.
    pub backend: BackendKind,
    /// `[agent.command]`.
    pub command: CommandConfig,
    /// `[agent.openai]`.
    pub openai: OpenAiConfig,
    /// `[agent.acp]`.
    pub acp: AcpConfig,
    /// `[agent.approvals]`.
    pub approvals: ApprovalsConfig,
}

impl AgentConfig {
    /// The same as the settings of the agent of that name.
    pub fn named(mut self, name: &AgentName) -> Self {
        let Self { command, openai, acp, approvals, .. } = &mut self;
        for section in [&mut command.section, &mut openai.section, &mut acp.section, &mut approvals.section] {
            section.0 = key_of_agent(&section.0, name.as_str());
        }
        self
    }
}

/// What the tools of the built-in agent may do without a person's word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalsConfig {
    /// Where these stand.
    pub section: Section,
    /// `terminal`.
    pub terminal: Policy,
    /// `write_file`.
    pub write_file: Policy,
    /// `read_file`.
    pub read_file: Policy,
    /// `search_files`.
    pub search_files: Policy,
    /// `process`.
    pub process: Policy,
    /// `schedule_task`.
    pub schedule_task: Policy,
    /// What an ACP agent asks (`acp`).
    pub acp: Policy,
    /// The beginnings of commands that need no question (`allow`).
    pub allow: Vec<String>,
}

impl ApprovalsConfig {
    /// The policy of a tool.
    pub fn of(&self, tool: ToolName) -> Policy {
        match tool {
            ToolName::ReadFile => self.read_file,
            ToolName::SearchFiles => self.search_files,
            ToolName::WriteFile => self.write_file,
            ToolName::Terminal => self.terminal,
            ToolName::Process => self.process,
            ToolName::ScheduleTask => self.schedule_task,
        }
    }
}

/// The backends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackendKind {
    /// Built in and offline.
    Practice,
    /// Any program, once per turn.
    Command,
    /// An OpenAI-compatible server.
    OpenAi,
    /// An agent that speaks the Agent Client Protocol.
    Acp,
}

impl BackendKind {
    /// All of them, by their words.
    pub const WORDS: &[&str] =
        &[Self::Practice.word(), Self::Command.word(), Self::OpenAi.word(), Self::Acp.word()];

    /// Its word in the settings.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Practice => "practice",
            Self::Command => "command",
            Self::OpenAi => "openai",
            Self::Acp => "acp",
        }
    }

    /// The backend of that word.
    pub fn of(word: &str) -> Option<Self> {
        let all = [Self::Practice, Self::Command, Self::OpenAi, Self::Acp];
        all.into_iter().find(|backend| backend.word() == word)
    }
}

/// The `command` backend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandConfig {
    /// Where these stand.
    pub section: Section,
    /// The program and its arguments (`argv`). Required with this backend.
    pub argv: Vec<String>,
    /// Where it runs (`workdir`); else the home folder.
    pub workdir: Option<PathBuf>,
    /// How long a turn may take (`timeout_seconds`).
    pub timeout: Duration,
}

/// The `openai` backend.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenAiConfig {
    /// Where these stand.
    pub section: Section,
    /// The server, up to `/v1` (`base_url`). Required with this backend.
    pub base_url: String,
    /// The model's name (`model`). Required with this backend.
    pub model: String,
    /// The environment variable that holds the key (`api_key_env`).
    pub api_key_env: String,
    /// A 0600 file that holds the key, where the variable is not set (`api_key_file`).
    pub api_key_file: Option<PathBuf>,
    /// The system prompt (`system_prompt`).
    pub system_prompt: Option<String>,
    /// How long to wait for a connection (`connect_timeout_seconds`).
    pub connect_timeout: Duration,
    /// How long a stream may be silent (`stall_timeout_seconds`).
    pub stall_timeout: Duration,
    /// How often a failed request is repeated (`max_retries`).
    pub max_retries: u32,
    /// The tools that the model may call (`tools`).
    pub tools: Vec<ToolName>,
    /// Where the tools work (`workdir`); else the home folder.
    pub workdir: Option<PathBuf>,
    /// How long a command of `terminal` may take (`terminal_timeout_seconds`).
    pub terminal_timeout: Duration,
    /// How many background processes of one session may live (`max_background`).
    pub max_background: usize,
    /// How often in a turn the model may go on after tool calls (`max_steps`).
    pub max_steps: u32,
    /// What is known of the model (`context_tokens`, `price_input`, `price_output`, `price_cached`).
    pub facts: ModelFacts,
    /// The same of others that are asked for by name (`[agent.openai.models.NAME]`).
    pub models: BTreeMap<String, ModelFacts>,
    /// From which part of that on a conversation is sent shorter (`compact_at_percent`).
    pub compact_at_percent: u64,
}

impl OpenAiConfig {
    /// What is known of a model; nothing of one that the settings don't name.
    pub fn facts_of(&self, model: &str) -> ModelFacts {
        let own = (model == self.model).then_some(self.facts);
        self.models.get(model).copied().or(own).unwrap_or_default()
    }
}

/// What the operator knows of a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelFacts {
    /// How many tokens it takes at once; none: what the server tells.
    pub context_tokens: Option<u64>,
    /// What its tokens cost.
    pub price: Price,
}

/// The `acp` backend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcpConfig {
    /// Where these stand.
    pub section: Section,
    /// The agent and its arguments (`argv`). Required with this backend.
    pub argv: Vec<String>,
    /// Where it works (`workdir`); else the home folder.
    pub workdir: Option<PathBuf>,
    /// How long it may take to say what it can (`initialize_timeout_seconds`).
    pub initialize_timeout: Duration,
    /// How long it may take to begin a session (`new_timeout_seconds`).
    pub new_timeout: Duration,
    /// How long it may take to take a session up again (`load_timeout_seconds`).
    pub load_timeout: Duration,
    /// How long it may be silent in a turn (`silence_timeout_seconds`).
    pub silence_timeout: Duration,
    /// How long it may take to obey before it is killed (`kill_grace_seconds`).
    pub kill_grace: Duration,
}

/// The tools of the built-in agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolName {
    /// Reads the lines of a file.
    ReadFile,
    /// Finds files, and lines in them.
    SearchFiles,
    /// Writes a file.
    WriteFile,
    /// Runs a command.
    Terminal,
    /// Looks after background processes.
    Process,
    /// Makes a scheduled task.
    ScheduleTask,
}

impl ToolName {
    /// All of them, by the names that the settings and the model use.
    pub const WORDS: &[&str] = &[
        Self::ReadFile.word(),
        Self::SearchFiles.word(),
        Self::WriteFile.word(),
        Self::Terminal.word(),
        Self::Process.word(),
        Self::ScheduleTask.word(),
    ];

    /// Its name in the settings and for the model.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ReadFile => "read_file",
            Self::SearchFiles => "search_files",
            Self::WriteFile => "write_file",
            Self::Terminal => "terminal",
            Self::Process => "process",
            Self::ScheduleTask => "schedule_task",
        }
    }

    /// The tool of that name.
    pub fn of(word: &str) -> Option<Self> {
        let all = [
            Self::ReadFile,
            Self::SearchFiles,
            Self::WriteFile,
            Self::Terminal,
            Self::Process,
            Self::ScheduleTask,
        ];
        all.into_iter().find(|tool| tool.word() == word)
    }
}

/// The queue's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueConfig {
    /// `queue.busy_mode`.
    pub busy_mode: BusyMode,
    /// `queue.max_items`.
    pub max_items: usize,
}

/// The engine's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineConfig {
    /// How long an agent's question waits for a person (`approval_timeout_minutes`).
    pub approval_timeout: Duration,
    /// How long a stop waits for running turns (`drain_timeout_seconds`).
    pub drain_timeout: Duration,
    /// How long a turn may take to obey a stop before it is killed (`stop_grace_seconds`).
    pub stop_grace: Duration,
    /// How many days events are kept (`keep_events_days`).
    pub keep_events_days: u32,
    /// What a closed terminal does to an engine inside it (`on_terminal_close`).
    pub on_terminal_close: OnTerminalClose,
}

/// What a closed terminal does to an engine inside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnTerminalClose {
    /// It goes on without a screen.
    Serve,
    /// It stops with the drain.
    Stop,
}

/// The settings of restart recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecoveryConfig {
    /// What the rules take: `recent_seconds`, `max_cuts`, `freshness_minutes`, `max_parallel`,
    /// `boot_guard_starts`, `boot_guard_minutes`.
    pub limits: Limits,
    /// How often the engine stamps that it is alive (`sign_of_life_seconds`).
    pub sign_of_life: Duration,
}

/// The daily limits of a session, a scheduled task, and everything together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpendingConfig {
    /// `session_tokens`, `session_cost`.
    pub session: Limit,
    /// `job_tokens`, `job_cost`.
    pub job: Limit,
    /// `all_tokens`, `all_cost`.
    pub all: Limit,
}

impl SpendingConfig {
    /// The rules that follow, by the days of a zone.
    pub fn rules(&self, zone: chrono_tz::Tz) -> Rules {
        Rules { session: self.session, job: self.job, all: self.all, zone }
    }
}

/// How alerts reach someone who does not look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertsConfig {
    /// The program that tells of an alert, and its arguments (`command`); empty: none.
    pub command: Vec<String>,
    /// After how long it tells again what nobody acknowledged (`repeat_minutes`); none: never.
    pub repeat: Option<Duration>,
    /// How long it may take (`timeout_seconds`).
    pub timeout: Duration,
    /// Whether a console rings the terminal's bell (`bell`).
    pub bell: Bell,
    /// Whether a console asks the terminal for a notification (`desktop_notification`).
    pub desktop_notification: DesktopNotification,
}

/// Whether an alert rings the terminal's bell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bell {
    /// It does.
    On,
    /// It does not.
    Off,
}

/// Whether an alert is shown by the terminal as a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DesktopNotification {
    /// It is, where the terminal can.
    On,
    /// It is not.
    Off,
}

/// The settings of the agents' handles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandlesConfig {
    /// How long a handle may be unused before it is closed (`idle_minutes`).
    pub idle: Duration,
    /// How many handles are kept (`max`).
    pub max: usize,
}

/// The settings of scheduled tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CronConfig {
    /// How many runs may go on at once, over all jobs (`max_parallel`).
    pub max_parallel: usize,
    /// How long a run may make no progress before it is stopped (`idle_timeout_seconds`).
    pub idle_timeout: Duration,
    /// How long a job's script may take (`script_timeout_seconds`).
    pub script_timeout: Duration,
    /// How many output documents are kept of each job (`keep_outputs`).
    pub keep_outputs: usize,
}

/// The console's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsoleConfig {
    /// The theme's name (`theme`): dark, light, high-contrast, mono.
    pub theme: String,
    /// The glyph set (`glyphs`).
    pub glyphs: Glyphs,
    /// Whether the mouse is taken at the start (`mouse`).
    pub mouse: Mouse,
    /// Whether frames are marked as synchronized output (`synchronized_output`).
    pub synchronized_output: SynchronizedOutput,
}

/// The glyph sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Glyphs {
    /// Box drawing and symbols.
    Unicode,
    /// ASCII alone.
    Ascii,
}

/// Whether the mouse belongs to the console.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mouse {
    /// Clicks and the wheel go to the console.
    On,
    /// The terminal keeps the mouse, for native selection.
    Off,
}

/// Whether frames are marked as synchronized output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SynchronizedOutput {
    /// Each frame appears at once.
    On,
    /// For terminals that show the marks.
    Off,
}

/// The log's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogConfig {
    /// The least level that is written to `logs/` (`log.level`).
    pub level: Level,
    /// How many daily files are kept (`log.keep_files`).
    pub keep_files: usize,
}
