//! Reading `config.toml`: every value is checked, every problem is told with its place.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::overrides::{OVERRIDES, Overrides};
use super::setting::{Setting, Takes};
use super::settings::*;
use super::table::TABLE;
use crate::domain::agent::AgentName;
use crate::domain::approval::Policy;
use crate::domain::event::{Level, excerpt};
use crate::domain::nearest::nearest;
use crate::domain::queue::BusyMode;
use crate::domain::recovery::Limits;
use crate::domain::reset::{ResetMode, ResetPolicies, ResetPolicy};

/// The settings of a home, and where each came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The settings.
    pub config: Config,
    /// Every setting's value, in the table's order; behind a section what is set in it by name.
    pub values: Vec<Effective>,
}

/// A setting's value as it applies.
#[derive(Debug, Clone, PartialEq)]
pub struct Effective {
    /// The setting's dotted key.
    pub key: String,
    /// Its value; none if nothing is set.
    pub value: Option<toml::Value>,
    /// Where it came from.
    pub origin: Origin,
}

impl Effective {
    /// The section it stands in; empty at the top of the file.
    pub fn section(&self) -> &str {
        self.key.rsplit_once('.').map_or("", |(section, _)| section)
    }

    /// Its name within the section.
    pub fn name(&self) -> &str {
        self.key.rsplit_once('.').map_or(&self.key, |(_, name)| name)
    }
}

/// Where a value came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Nothing is set: the default.
    Default,
    /// This line of the file.
    Line(usize),
}

/// What is wrong with a configuration. Nothing of it was taken over.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", lines(.0))]
pub struct ConfigError(pub Vec<Problem>);

/// One thing that is wrong with a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub file: PathBuf,
    /// The line; none where something is missing.
    pub line: Option<usize>,
    /// What is wrong, with the key and what is allowed.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file.display(), self.what),
            None => write!(f, "{}: {}", self.file.display(), self.what),
        }
    }
}

fn lines(problems: &[Problem]) -> String {
    let told: Vec<String> = problems.iter().map(Problem::to_string).collect();
    told.join("\n")
}

/// Reads the settings in `file`; a missing file means the defaults. Relative paths in it begin in
/// the file's folder. Changes nothing.
pub fn load(file: &Path) -> Result<Loaded, ConfigError> {
    let unreadable = |what: String| ConfigError(vec![Problem { file: file.to_path_buf(), line: None, what }]);
    if std::fs::metadata(file).is_ok_and(|found| !found.is_file()) {
        return Err(unreadable("no regular file; put one with the settings in its place".to_owned()));
    }
    let text = match std::fs::read(file) {
        Ok(bytes) => String::from_utf8(bytes).map_err(|error| {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = valid.iter().filter(|&&byte| byte == b'\n').count() + 1;
            ConfigError(vec![Problem {
                file: file.to_path_buf(),
                line: Some(line),
                what: "not UTF-8; save the file as UTF-8".to_owned(),
            }])
        })?,
        // Something that stands where the folder should be is told by whoever makes the home.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => String::new(),
        Err(error) => return Err(unreadable(format!("can't be read: {error}"))),
    };
    parse(&text, file)
}

/// Understands the text of a configuration. `file` names it in problems, and relative paths begin
/// in its folder.
pub fn parse(text: &str, file: &Path) -> Result<Loaded, ConfigError> {
    let mut reading = Reading { text, file, problems: Vec::new() };
    let (document, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let start = error.span().map_or(0, |span| span.start);
        let first = twice(text, start).filter(|_| error.message() == "duplicate key");
        let first = first.map_or_else(String::new, |(what, line)| {
            format!(": {} stands already at line {line}", excerpt(what))
        });
        reading.problem(start, format!("not TOML: {}{first}", excerpt(error.message())));
    }
    if !errors.is_empty() {
        return Err(ConfigError(reading.problems));
    }
    let mut found = Found::default();
    reading.collect(document.get_ref(), "", &mut found);
    let loaded = reading.take_over(&mut found);
    reading.problems.sort_by_key(|problem| problem.line);
    if reading.problems.is_empty() { Ok(loaded) } else { Err(ConfigError(reading.problems)) }
}

/// What is at `place` for a second time, a section or a name in its section, and the line of the first.
fn twice(text: &str, place: usize) -> Option<(&str, usize)> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let at = text.get(..place)?.matches('\n').count();
    let what = name_of(lines.get(at)?)?;
    let before = lines.get(..at)?.iter().enumerate().rev();
    // A name counts within its section alone.
    let mut within = before.take_while(|(_, line)| what.starts_with('[') || !line.starts_with('['));
    within.find(|(_, line)| name_of(line) == Some(what)).map(|(line, _)| (what, line + 1))
}

/// The section that a line begins, or the name that it sets.
fn name_of(line: &str) -> Option<&str> {
    match line.starts_with('[') {
        true => line.split_inclusive(']').next(),
        false => line.split_once('=').map(|(name, _)| name.trim()).filter(|name| !name.starts_with('#')),
    }
}

struct Reading<'a> {
    text: &'a str,
    file: &'a Path,
    problems: Vec<Problem>,
}

/// The values of settings, by the keys in [`TABLE`].
type Values<'t> = HashMap<&'static str, &'t Spanned<DeValue<'t>>>;

/// What stands in the file.
#[derive(Default)]
struct Found<'t> {
    values: Values<'t>,
    named: Vec<NamedTable<'t>>,
}

/// A table that sets some settings of a section anew.
struct NamedTable<'t> {
    of: &'static Overrides,
    name: &'t str,
    /// The agent of `[agents]` in whose settings it stands; none: in those of the default one.
    agent: Option<&'t str>,
    values: Values<'t>,
}

impl NamedTable<'_> {
    /// A key as it is written for the agent.
    fn written(&self, key: &str) -> String {
        match self.agent {
            Some(agent) => key_of_agent(key, agent),
            None => key.to_owned(),
        }
    }

    /// The key of a setting as it stands in the table.
    fn key_of(&self, setting: &Setting) -> String {
        let place = self.of.place_of(setting).unwrap_or_default();
        format!("{}.{}.{place}", self.written(self.of.key), self.of.names.written(self.name))
    }
}

impl Reading<'_> {
    /// Finds every known setting in a table, and tells of every unknown name.
    fn collect<'t>(&mut self, table: &'t DeTable<'t>, section: &str, found: &mut Found<'t>) {
        for (name, value) in table {
            let key = if section.is_empty() {
                name.get_ref().to_string()
            } else {
                format!("{section}.{}", name.get_ref())
            };
            if let Some(setting) = TABLE.iter().find(|setting| setting.key == key) {
                found.values.insert(setting.key, value);
            } else if let Some(overrides) = OVERRIDES.iter().find(|overrides| overrides.key == key) {
                if let Some(tables) = self.section(name, value, &key, &format!("{key}.NAME")) {
                    self.collect_named(tables, overrides, (&key, None), &mut found.named);
                }
            } else if !is_section(&key) {
                self.unknown(name.span().start, &key, near(&key));
            } else if let Some(inner) = self.section(name, value, &key, &key) {
                self.collect(inner, &key, found);
            }
        }
    }

    /// Finds every table that an operator can name, in a section that is written as `section` and is an agent's,
    /// and tells of every other name.
    fn collect_named<'t>(
        &mut self,
        tables: &'t DeTable<'t>,
        of: &'static Overrides,
        (section, agent): (&str, Option<&'t str>),
        named: &mut Vec<NamedTable<'t>>,
    ) {
        for (name, value) in tables {
            let key = format!("{section}.{}", excerpt(name.get_ref()));
            if !of.names.allow(name.get_ref()) {
                let near = of.names.near(name.get_ref());
                let hint = near.map(|meant| format!("; did you mean {meant:?}?")).unwrap_or_default();
                let what = format!("{key}: tables of {section} are named by {}{hint}", of.names.allowed());
                self.problem(name.span().start, what);
            } else if let Some(table) = self.section(name, value, &key, &key) {
                let mut found = NamedTable { of, name: name.get_ref(), agent, values: Values::new() };
                self.collect_overrides(table, (&key, ""), &mut found, named);
                named.push(found);
            }
        }
    }

    /// Finds what a named table sets, or a section in it, with the tables that are named in it, and tells of every
    /// unknown name. It is written as `written`; the places of its settings begin with `prefix`.
    fn collect_overrides<'t>(
        &mut self,
        table: &'t DeTable<'t>,
        (written, prefix): (&str, &str),
        found: &mut NamedTable<'t>,
        named: &mut Vec<NamedTable<'t>>,
    ) {
        let of = found.of;
        let places = || of.overridden().filter_map(|setting| of.place_of(setting));
        for (name, value) in table {
            let key = format!("{written}.{}", name.get_ref());
            let place = format!("{prefix}{}", name.get_ref());
            let below = format!("{place}.");
            if let Some(setting) = of.overridden().find(|setting| of.place_of(setting) == Some(&place)) {
                found.values.insert(setting.key, value);
            } else if let Some(inner) = of.named_at(&place) {
                if let Some(tables) = self.section(name, value, &key, &format!("{key}.NAME")) {
                    self.collect_named(tables, inner, (&key, Some(found.name)), named);
                }
            } else if places().any(|known| known.starts_with(&below)) {
                if let Some(inner) = self.section(name, value, &key, &key) {
                    self.collect_overrides(inner, (&key, &below), found, named);
                }
            } else {
                let beside = places().filter_map(|known| known.strip_prefix(prefix)?.split('.').next());
                let meant = nearest(name.get_ref(), beside).map(|near| format!("{written}.{near}"));
                self.unknown(name.span().start, &key, meant);
            }
        }
    }

    /// The table that a section must be; `header` is how it is written.
    fn section<'t>(
        &mut self,
        name: &Spanned<DeString<'_>>,
        value: &'t Spanned<DeValue<'t>>,
        key: &str,
        header: &str,
    ) -> Option<&'t DeTable<'t>> {
        let table = value.get_ref().as_table();
        if table.is_none() {
            self.problem(name.span().start, format!("{key} is a section; write [{header}]"));
        }
        table
    }

    fn unknown(&mut self, at: usize, key: &str, near: Option<String>) {
        let hint = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        self.problem(at, format!("there is no setting {:?}{hint}", excerpt(key)));
    }

    fn take_over(&mut self, found: &mut Found<'_>) -> Loaded {
        let mut config = Config::default();
        let mut values = Vec::with_capacity(TABLE.len());
        for setting in TABLE {
            let (value, origin) = match found.values.get(setting.key) {
                Some(given) => self.given(setting.key, setting, given, &mut config),
                None => (setting.takes.default_value(), Origin::Default),
            };
            values.push(Effective { key: setting.key.to_owned(), value, origin });
        }
        self.check_needs(&found.values, None);
        // An agent that is set up by name leaves out what the default one has, all that is named in it too; then comes
        // what is named in its own settings.
        let order = |table: &NamedTable<'_>| OVERRIDES.iter().position(|of| of.key == table.of.key);
        found.named.sort_by_key(|table| (table.agent.is_some(), order(table)));
        for table in &found.named {
            match table.agent.and_then(|agent| agent.parse().ok()) {
                Some(agent) => self.take_over_of_agent(table, &agent, &mut config, &mut values),
                None => self.take_over_named(table, &mut config, &mut values),
            }
            self.check_needs(&found.values, Some(table));
        }
        self.check_agents(&found.values, &config);
        Loaded { config, values }
    }

    /// Reads a table that is named in an agent's settings as if they were the default one's.
    fn take_over_of_agent(
        &mut self,
        table: &NamedTable<'_>,
        agent: &AgentName,
        config: &mut Config,
        values: &mut Vec<Effective>,
    ) {
        let Some(own) = config.agents.get(agent) else { return };
        let mut alone = Config { agent: own.clone(), ..config.clone() };
        self.take_over_named(table, &mut alone, values);
        config.agents.insert(agent.clone(), alone.agent);
    }

    /// Reads a named table as if it stood in the section itself, and keeps what comes of it by name.
    fn take_over_named(&mut self, table: &NamedTable<'_>, config: &mut Config, values: &mut Vec<Effective>) {
        let sections = [table.of.of, table.of.key].map(|section| table.written(section) + ".");
        let mut special = config.clone();
        for setting in table.of.overridden() {
            let key = table.key_of(setting);
            let (value, origin) = match table.values.get(setting.key) {
                Some(given) => self.given(&key, setting, given, &mut special),
                None => general(&table.written(setting.key), values),
            };
            let belongs = |value: &Effective| sections.iter().any(|section| value.key.starts_with(section));
            let behind = values.iter().rposition(belongs);
            let behind = behind.map_or(values.len(), |last| last + 1);
            values.insert(behind, Effective { key, value, origin });
        }
        // The name was checked when it was found.
        (table.of.keep)(config, table.name, &special).unwrap_or_default();
    }

    fn given(
        &mut self,
        key: &str,
        setting: &Setting,
        value: &Spanned<DeValue<'_>>,
        config: &mut Config,
    ) -> (Option<toml::Value>, Origin) {
        let origin = Origin::Line(self.line(value.span().start));
        let folder = self.file.parent().unwrap_or(Path::new(""));
        let wrong = match setting.takes.put(value.get_ref(), folder, config) {
            Ok(kept) => return (Some(kept), origin),
            Err(wrong) => wrong,
        };
        let shown = match setting.takes {
            // Someone may have put the key or a password itself there.
            Takes::Variable { .. } | Takes::Url { .. } => String::new(),
            _ => format!(" = {}", excerpt(self.text.get(value.span()).unwrap_or_default())),
        };
        let part = wrong.part.clone().and_then(|part| self.text.get(part));
        let part = part.map(|part| format!("{} can't stand there; ", excerpt(part))).unwrap_or_default();
        let hint = wrong.nearest.map(|near| format!("; did you mean {near:?}?")).unwrap_or_default();
        let allowed = setting.takes.allowed();
        let at = wrong.part.map_or(value.span().start, |part| part.start);
        self.problem(at, format!("{key}{shown}: {part}it takes {allowed}{hint}"));
        (None, origin)
    }

    /// What the chosen backend can't do without must be set: for the default agent, or in a named table.
    fn check_needs(&mut self, found: &Values<'_>, table: Option<&NamedTable<'_>>) {
        let own = table.map_or(found, |table| &table.values);
        let Some(backend) = own.get("agent.backend") else { return };
        let chosen = backend.get_ref().as_str();
        let written = |key: &str| match table {
            Some(table) => key.replacen(table.of.of, &format!("{}.{}", table.of.key, table.name), 1),
            None => key.to_owned(),
        };
        let needed =
            TABLE.iter().filter(|setting| setting.needed_by.is_some() && setting.needed_by == chosen);
        for setting in
            needed.filter(|setting| !own.contains_key(setting.key) && !found.contains_key(setting.key))
        {
            let example = setting.takes.example().map(|value| value.to_string()).unwrap_or_default();
            self.problem(
                backend.span().start,
                format!(
                    "{} = {:?} needs {}, which is missing; for example {} = {example} under [{}]",
                    written("agent.backend"),
                    chosen.unwrap_or_default(),
                    written(setting.key),
                    setting.name(),
                    written(setting.section())
                ),
            );
        }
    }

    /// The agents that platforms name must be there.
    fn check_agents(&mut self, found: &Values<'_>, config: &Config) {
        let Some(platforms) = found.get("agent.platforms").and_then(|value| value.get_ref().as_table())
        else {
            return;
        };
        let roster = config.roster();
        for (platform, agent) in platforms {
            let named = agent.get_ref().as_str().and_then(|name| name.parse::<AgentName>().ok());
            if let Some(Err(unknown)) = named.map(|name| roster.find(&name)) {
                self.problem(
                    agent.span().start,
                    format!("agent.platforms.{}: {unknown}", platform.get_ref()),
                );
            }
        }
    }

    fn problem(&mut self, at: usize, what: String) {
        let line = Some(self.line(at));
        self.problems.push(Problem { file: self.file.to_path_buf(), line, what });
    }

    fn line(&self, at: usize) -> usize {
        self.text.bytes().take(at).filter(|&byte| byte == b'\n').count() + 1
    }
}

/// What applies where a named table leaves a setting out.
fn general(key: &str, values: &[Effective]) -> (Option<toml::Value>, Origin) {
    let general = values.iter().find(|value| value.key == key);
    general.map_or((None, Origin::Default), |value| (value.value.clone(), value.origin))
}

/// The setting that may be meant. In a section that exists only its own names can be; else whole keys
/// and sections.
fn near(key: &str) -> Option<String> {
    let keys = || TABLE.iter().map(|setting| setting.key).chain(OVERRIDES.iter().map(|named| named.key));
    match key.rsplit_once('.').filter(|(section, _)| is_section(section)) {
        Some((section, name)) => {
            let inside = keys().filter_map(|key| key.strip_prefix(section)?.strip_prefix('.'));
            let near = nearest(name, inside.filter(|name| !name.contains('.')))?;
            Some(format!("{section}.{near}"))
        }
        None => nearest(key, keys().chain(TABLE.iter().map(Setting::section))).map(str::to_owned),
    }
}

fn is_section(key: &str) -> bool {
    TABLE.iter().any(|setting| setting.key.strip_prefix(key).is_some_and(|rest| rest.starts_with('.')))
}

/// The zone of this machine: `$TZ` where it is an IANA name, else what the system says, else UTC.
fn system_zone() -> chrono_tz::Tz {
    let variable = std::env::var("TZ").ok().and_then(|name| name.trim_start_matches(':').parse().ok());
    let system = || iana_time_zone::get_timezone().ok().and_then(|name| name.parse().ok());
    variable.or_else(system).unwrap_or(chrono_tz::Tz::UTC)
}

impl Default for Config {
    /// What applies where nothing is set.
    fn default() -> Self {
        let mut config = blank(system_zone());
        TABLE.iter().for_each(|setting| setting.takes.put_default(&mut config));
        config
    }
}

/// A configuration before the table's defaults are put in.
fn blank(timezone: chrono_tz::Tz) -> Config {
    Config {
        timezone,
        agent: AgentConfig {
            backend: BackendKind::Practice,
            command: CommandConfig {
                section: Section::of("agent.command"),
                argv: Vec::new(),
                workdir: None,
                timeout: Duration::ZERO,
            },
            openai: OpenAiConfig {
                section: Section::of("agent.openai"),
                base_url: String::new(),
                model: String::new(),
                api_key_env: String::new(),
                api_key_file: None,
                system_prompt: None,
                connect_timeout: Duration::ZERO,
                stall_timeout: Duration::ZERO,
                max_retries: 0,
                tools: Vec::new(),
                workdir: None,
                terminal_timeout: Duration::ZERO,
                max_background: 0,
                max_steps: 0,
                facts: ModelFacts::default(),
                models: BTreeMap::new(),
                compact_at_percent: 0,
            },
            acp: AcpConfig {
                section: Section::of("agent.acp"),
                argv: Vec::new(),
                workdir: None,
                initialize_timeout: Duration::ZERO,
                new_timeout: Duration::ZERO,
                load_timeout: Duration::ZERO,
                silence_timeout: Duration::ZERO,
                kill_grace: Duration::ZERO,
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
                allow: Vec::new(),
            },
        },
        agents: BTreeMap::new(),
        agent_platforms: BTreeMap::new(),
        queue: QueueConfig { busy_mode: BusyMode::Replace, max_items: 0 },
        session_reset: ResetPolicies {
            default: ResetPolicy { mode: ResetMode::None, idle_minutes: 0, at_hour: 0 },
            by_chat_type: BTreeMap::new(),
            by_platform: BTreeMap::new(),
            notify_exclude: BTreeSet::new(),
            background_max_age: None,
        },
        engine: EngineConfig {
            approval_timeout: Duration::ZERO,
            drain_timeout: Duration::ZERO,
            stop_grace: Duration::ZERO,
            keep_events_days: 0,
            on_terminal_close: OnTerminalClose::Serve,
        },
        recovery: RecoveryConfig {
            limits: Limits {
                recent: Duration::ZERO,
                max_cuts: 0,
                freshness: Duration::ZERO,
                max_parallel: 0,
                boot_guard_starts: 0,
                boot_guard_gap: Duration::ZERO,
            },
            sign_of_life: Duration::ZERO,
        },
        spending: SpendingConfig::default(),
        alerts: AlertsConfig {
            command: Vec::new(),
            repeat: None,
            timeout: Duration::ZERO,
            bell: Bell::Off,
            desktop_notification: DesktopNotification::Off,
        },
        handles: HandlesConfig { idle: Duration::ZERO, max: 0 },
        cron: CronConfig {
            max_parallel: 0,
            idle_timeout: Duration::ZERO,
            script_timeout: Duration::ZERO,
            keep_outputs: 0,
        },
        console: ConsoleConfig {
            theme: String::new(),
            glyphs: Glyphs::Unicode,
            mouse: Mouse::On,
            synchronized_output: SynchronizedOutput::On,
        },
        log: LogConfig { level: Level::Info, keep_files: 0 },
    }
}
