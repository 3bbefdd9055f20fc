//! Reading `config.toml`: every value is checked, every problem is told with its place.

use std::collections::HashMap;
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::settings::*;
use super::table::{Setting, TABLE, Takes};
use crate::domain::event::{Level, excerpt};
use crate::domain::nearest::nearest;
use crate::domain::queue::BusyMode;
use crate::domain::recovery::Limits;

/// The settings of a home, and where each came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The settings.
    pub config: Config,
    /// Every setting's value, in the table's order.
    pub values: Vec<Effective>,
}

/// A setting's value as it applies.
#[derive(Debug, Clone, PartialEq)]
pub struct Effective {
    /// The setting's dotted key.
    pub key: &'static str,
    /// Its value; none if nothing is set.
    pub value: Option<toml::Value>,
    /// Where it came from.
    pub origin: Origin,
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
        reading.problem(start, format!("not TOML: {}", excerpt(error.message())));
    }
    if !errors.is_empty() {
        return Err(ConfigError(reading.problems));
    }
    let mut found = HashMap::new();
    reading.collect(document.get_ref(), "", &mut found);
    let loaded = reading.take_over(&found);
    reading.problems.sort_by_key(|problem| problem.line);
    if reading.problems.is_empty() { Ok(loaded) } else { Err(ConfigError(reading.problems)) }
}

struct Reading<'a> {
    text: &'a str,
    file: &'a Path,
    problems: Vec<Problem>,
}

type Found<'t> = HashMap<&'static str, &'t Spanned<DeValue<'t>>>;

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
                found.insert(setting.key, value);
            } else if !is_section(&key) {
                self.unknown(name.span().start, &key);
            } else if let Some(inner) = value.get_ref().as_table() {
                self.collect(inner, &key, found);
            } else {
                self.problem(name.span().start, format!("{key} is a section; write [{key}]"));
            }
        }
    }

    fn unknown(&mut self, at: usize, key: &str) {
        let hint = near(key).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        self.problem(at, format!("there is no setting {:?}{hint}", excerpt(key)));
    }

    fn take_over(&mut self, found: &Found<'_>) -> Loaded {
        let mut config = Config::default();
        let mut values = Vec::with_capacity(TABLE.len());
        for setting in TABLE {
            let (value, origin) = match found.get(setting.key) {
                Some(given) => {
                    let line = self.line(given.span().start);
                    (self.given(setting, given, &mut config), Origin::Line(line))
                }
                None => (setting.takes.default_value(), Origin::Default),
            };
            values.push(Effective { key: setting.key, value, origin });
        }
        self.check_needs(found);
        Loaded { config, values }
    }

    fn given(
        &mut self,
        setting: &Setting,
        value: &Spanned<DeValue<'_>>,
        config: &mut Config,
    ) -> Option<toml::Value> {
        let folder = self.file.parent().unwrap_or(Path::new(""));
        let wrong = match setting.takes.put(value.get_ref(), folder, config) {
            Ok(kept) => return Some(kept),
            Err(wrong) => wrong,
        };
        let shown = match setting.takes {
            // Someone may have put the key or a password itself there.
            Takes::Variable { .. } | Takes::Url { .. } => String::new(),
            _ => format!(" = {}", excerpt(self.text.get(value.span()).unwrap_or_default())),
        };
        let hint = wrong.nearest.map(|near| format!("; did you mean {near:?}?")).unwrap_or_default();
        let allowed = setting.takes.allowed();
        self.problem(value.span().start, format!("{}{shown}: it takes {allowed}{hint}", setting.key));
        None
    }

    /// What the chosen backend can't do without must be set.
    fn check_needs(&mut self, found: &Found<'_>) {
        let Some(backend) = found.get("agent.backend") else { return };
        let chosen = backend.get_ref().as_str();
        let needed =
            TABLE.iter().filter(|setting| setting.needed_by.is_some() && setting.needed_by == chosen);
        for setting in needed.filter(|setting| !found.contains_key(setting.key)) {
            let example = setting.takes.example().map(|value| value.to_string()).unwrap_or_default();
            self.problem(
                backend.span().start,
                format!(
                    "agent.backend = {:?} needs {}, which is missing; for example {} = {example} under [{}]",
                    chosen.unwrap_or_default(),
                    setting.key,
                    setting.name(),
                    setting.section()
                ),
            );
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

/// The setting that may be meant. In a section that exists only its own names can be; else whole keys
/// and sections.
fn near(key: &str) -> Option<&'static str> {
    match key.rsplit_once('.').filter(|(section, _)| is_section(section)) {
        Some((section, name)) => {
            let inside = || TABLE.iter().filter(|setting| setting.section() == section);
            let near = nearest(name, inside().map(|setting| setting.name()))?;
            inside().find(|setting| setting.name() == near).map(|setting| setting.key)
        }
        None => nearest(key, TABLE.iter().flat_map(|setting| [setting.key, setting.section()])),
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
            command: CommandConfig { argv: Vec::new(), workdir: None, timeout: Duration::ZERO },
            openai: OpenAiConfig {
                base_url: String::new(),
                model: String::new(),
                api_key_env: String::new(),
                api_key_file: None,
                system_prompt: None,
                connect_timeout: Duration::ZERO,
                stall_timeout: Duration::ZERO,
                max_retries: 0,
            },
        },
        queue: QueueConfig { busy_mode: BusyMode::Replace, max_items: 0 },
        engine: EngineConfig {
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
        handles: HandlesConfig { idle: Duration::ZERO, max: 0 },
        console: ConsoleConfig {
            theme: String::new(),
            glyphs: Glyphs::Unicode,
            mouse: Mouse::On,
            synchronized_output: SynchronizedOutput::On,
        },
        log: LogConfig { level: Level::Info, keep_files: 0 },
    }
}
