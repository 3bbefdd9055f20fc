//! A job as it is written, and as it is when everything about it was checked.

use std::fmt;
use std::str::FromStr;

use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use super::{Fault, JobId, Target};
use crate::domain::Time;
use crate::domain::agent::AgentName;
use crate::domain::id::ChatType;
use crate::domain::schedule::{Part, Schedule, parse_zone};

/// A job as its author wrote it: plain values, each of the right kind, not yet checked against the rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// Its name in files, keys and commands.
    pub id: JobId,
    /// Its name for people, where it has one of its own.
    pub name: Option<String>,
    /// When it is due, as the author typed it.
    pub schedule: String,
    /// The zone of its wall-clock times; else the setting's, else the system's.
    pub timezone: Option<String>,
    /// What it is for; also the prompt where there is none.
    pub description: Option<String>,
    /// What the agent is told.
    pub prompt: Option<String>,
    /// The skills that are loaded, in order.
    pub skills: Vec<String>,
    /// Who gets the result; empty is the console.
    pub deliver_to: Vec<Target>,
    /// Whether it fires; else it is paused.
    pub enabled: bool,
    /// How often it fires in all; none is for ever.
    pub repeat: Option<u32>,
    /// What becomes of slots that were missed.
    pub misfire: Misfire,
    /// What happens at a slot while an earlier run still works.
    pub overlap: Overlap,
    /// Up to this many seconds its fires are set off from their slot, always the same for a job.
    pub jitter_seconds: u32,
    /// A program in `scripts/` that runs first.
    pub script: Option<String>,
    /// Whether the script's output is the result, without any agent.
    pub no_agent: bool,
    /// The jobs whose newest output goes into the prompt.
    pub context_from: Vec<JobId>,
    /// The agent that runs it, by its name in the settings; else the platform's, else the default one.
    pub agent: Option<String>,
    /// The model; else the setting's.
    pub model: Option<String>,
    /// The folder in which it works.
    pub workdir: Option<String>,
    /// After so many minutes a run is stopped.
    pub timeout_minutes: Option<u32>,
    /// Which session its runs have.
    pub session: SessionMode,
}

/// Why an agent in such a conversation makes no scheduled task; none where it may. A task that makes others, at each of
/// its times, would have no end.
pub fn no_task_by(asker: ChatType) -> Option<&'static str> {
    (asker == ChatType::Job)
        .then_some("a scheduled task can't make scheduled tasks; say in the answer what should be scheduled")
}

impl Definition {
    /// A job of which nothing is said but when it is due: all else is as where the field is absent.
    pub fn new(id: JobId, schedule: String) -> Self {
        Self {
            id,
            name: None,
            schedule,
            timezone: None,
            description: None,
            prompt: None,
            skills: Vec::new(),
            deliver_to: Vec::new(),
            enabled: true,
            repeat: None,
            misfire: Misfire::Once,
            overlap: Overlap::Skip,
            jitter_seconds: 0,
            script: None,
            no_agent: false,
            context_from: Vec::new(),
            agent: None,
            model: None,
            workdir: None,
            timeout_minutes: None,
            session: SessionMode::Fresh,
        }
    }

    /// What to know about it, in words: the traps in its schedule, as seen from `at` on a clock of `zone`, and
    /// places where nothing arrives.
    pub fn warnings(&self, zone: Tz, at: Time) -> Vec<String> {
        let schedule = self.schedule.parse::<Schedule>().ok();
        let traps = schedule.map(|schedule| schedule.warnings(zone, at)).unwrap_or_default();
        let places = self.deliver_to.iter().filter_map(|target| target.warning(&self.id));
        traps.iter().map(|trap| trap.words()).chain(places).collect()
    }

    /// The jobs whose output it reads that are not there.
    pub fn missing_sources(&self, is_there: impl Fn(&JobId) -> bool) -> Vec<JobId> {
        self.context_from.iter().filter(|job| !is_there(job)).cloned().collect()
    }

    /// What to know of one of them.
    pub fn missing_source(job: &JobId) -> String {
        format!("context_from names {job}, and there is no such job: its output is left out")
    }

    /// The job, if it can be fired; else everything that is wrong with it. Whether its schedule ever comes in its
    /// zone is not asked here: that is `Schedule::check`, which needs to know what time it is.
    pub fn check(self) -> Result<Job, Vec<Fault>> {
        let mut faults = Vec::new();
        let zone = self.timezone.as_deref().map(zone).transpose().unwrap_or_else(|fault| {
            faults.push(fault);
            None
        });
        let schedule = self.schedule.parse::<Schedule>().map_err(|error| {
            // The value stands before it already.
            let why = match error.part {
                Part::Schedule => format!("{}; {}", error.why, error.hint),
                _ => error.to_string(),
            };
            faults.insert(0, Fault::new("schedule", &format!("{:?}", self.schedule), why));
        });
        self.check_work(&mut faults);
        self.check_places(&mut faults);
        self.check_limits(&mut faults);
        match schedule {
            Ok(schedule) if faults.is_empty() => Ok(Job { definition: self, schedule, zone }),
            _ => Err(faults),
        }
    }

    /// There must be something to do.
    fn check_work(&self, faults: &mut Vec<Fault>) {
        let told = self.prompt.is_some() || self.description.is_some() || !self.skills.is_empty();
        if self.no_agent && self.script.is_none() {
            faults.push(Fault::new("no_agent", "true", "needs a script, whose output is the result"));
        } else if !told && self.script.is_none() {
            faults.push(Fault::missing("prompt", "say what to do in prompt, description, skill or script"));
        }
    }

    fn check_places(&self, faults: &mut Vec<Fault>) {
        if let Some(workdir) = self.workdir.as_deref().filter(|path| !path.starts_with('/')) {
            faults.push(wrong("workdir", workdir, "must be an absolute path, like /srv/work"));
        }
        if let Some(script) = self.script.as_deref().filter(|path| !stays_inside(path)) {
            faults.push(wrong(
                "script",
                script,
                "must be a path inside scripts/, without .. and not absolute",
            ));
        }
        if let Some(agent) = self.agent.as_deref().filter(|name| name.parse::<AgentName>().is_err()) {
            faults.push(wrong("agent", agent, format_args!("must be at most 64 {}", AgentName::ALLOWED)));
        }
        for skill in self.skills.iter().filter(|name| !stays_inside(name)) {
            faults.push(wrong("skills", skill, "must be the name of a folder inside skills/"));
        }
        for target in &self.deliver_to {
            if let Err(error) = target.clone().checked() {
                faults.push(wrong("deliver_to", &target.to_string(), error));
            }
        }
    }

    fn check_limits(&self, faults: &mut Vec<Fault>) {
        if self.repeat == Some(0) {
            faults.push(Fault::new("repeat", "0", "must be at least 1; leave it out to repeat for ever"));
        }
        if self.timeout_minutes == Some(0) {
            faults.push(Fault::new("timeout_minutes", "0", "must be at least 1; leave it out for no limit"));
        }
        if self.jitter_seconds > MAX_JITTER_SECONDS {
            let why = format!("must be at most {MAX_JITTER_SECONDS} (a day)");
            faults.push(Fault::new("jitter_seconds", &self.jitter_seconds.to_string(), why));
        }
        if self.misfire == Misfire::All(0) {
            faults.push(wrong("misfire", "all:0", "must be once, skip or all:N with N from 1"));
        }
    }
}

const MAX_JITTER_SECONDS: u32 = 86_400;

fn wrong(field: &str, value: &str, why: impl fmt::Display) -> Fault {
    Fault::new(field, &format!("{value:?}"), why)
}

fn zone(name: &str) -> Result<Tz, Fault> {
    parse_zone(name).map_err(|error| wrong("timezone", name, error))
}

/// Whether a path names something inside the folder that it is joined to.
fn stays_inside(path: &str) -> bool {
    !path.starts_with('/')
        && !path.contains(char::is_control)
        && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// A job that can be fired: its definition was checked whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// What was written.
    pub definition: Definition,
    /// When it is due.
    pub schedule: Schedule,
    /// Its own zone, where it has one.
    pub zone: Option<Tz>,
}

impl Job {
    /// The zone of its wall-clock times, which is `zone` where it has none of its own.
    ///
    /// # Errors
    ///
    /// Its schedule never comes there from `now` on, or names a local time that the zone never shows.
    pub fn zone_in_use(&self, zone: Tz, now: Time) -> Result<Tz, Fault> {
        let zone = self.zone.unwrap_or(zone);
        match self.schedule.check(zone, now) {
            Ok(()) => Ok(zone),
            Err(error) => Err(wrong("schedule", &self.definition.schedule, error)),
        }
    }
}

/// What becomes of slots that passed while nobody could fire them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Misfire {
    /// One run stands for all of them.
    Once,
    /// They are skipped, visibly.
    Skip,
    /// Up to so many of them run, in order.
    All(u32),
}

impl fmt::Display for Misfire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Once => f.write_str("once"),
            Self::Skip => f.write_str("skip"),
            Self::All(most) => write!(f, "all:{most}"),
        }
    }
}

impl FromStr for Misfire {
    type Err = WordError;

    fn from_str(text: &str) -> Result<Self, WordError> {
        let all = || text.strip_prefix("all:")?.parse().ok().filter(|most| *most > 0);
        match text {
            "once" => Ok(Self::Once),
            "skip" => Ok(Self::Skip),
            _ => all().map(Self::All).ok_or(WordError("once, skip or all:N with N from 1")),
        }
    }
}

/// What happens at a slot while an earlier run still works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Overlap {
    /// The slot is skipped, visibly.
    Skip,
    /// One run waits behind it.
    Queue,
    /// Both run.
    Allow,
    /// The earlier one is stopped.
    Replace,
}

impl Overlap {
    /// The word in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::Queue => "queue",
            Self::Allow => "allow",
            Self::Replace => "replace",
        }
    }
}

impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Overlap {
    type Err = WordError;

    fn from_str(text: &str) -> Result<Self, WordError> {
        match text {
            "skip" => Ok(Self::Skip),
            "queue" => Ok(Self::Queue),
            "allow" => Ok(Self::Allow),
            "replace" => Ok(Self::Replace),
            _ => Err(WordError("skip, queue, allow or replace")),
        }
    }
}

/// Which session a job's runs have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionMode {
    /// Each run begins with an empty memory.
    Fresh,
    /// All runs share one memory.
    Keep,
}

impl SessionMode {
    /// The word in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Keep => "keep",
        }
    }
}

impl fmt::Display for SessionMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for SessionMode {
    type Err = WordError;

    fn from_str(text: &str) -> Result<Self, WordError> {
        match text {
            "fresh" => Ok(Self::Fresh),
            "keep" => Ok(Self::Keep),
            _ => Err(WordError("fresh or keep")),
        }
    }
}

/// A word that a field does not take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be {0}")]
pub struct WordError(&'static str);

impl TryFrom<String> for Misfire {
    type Error = WordError;

    fn try_from(text: String) -> Result<Self, WordError> {
        text.parse()
    }
}

impl From<Misfire> for String {
    fn from(misfire: Misfire) -> Self {
        misfire.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> Definition {
        let job = Definition::new("a".parse().unwrap(), "0 8 * * *".to_owned());
        Definition { prompt: Some("look".to_owned()), ..job }
    }

    fn faults(definition: Definition) -> Vec<String> {
        definition.check().unwrap_err().iter().map(Fault::to_string).collect()
    }

    #[test]
    fn a_job_knows_its_own_zone() {
        let berlin = Definition { timezone: Some("Europe/Berlin".to_owned()), ..job() };
        assert_eq!(berlin.check().unwrap().zone, Some(Tz::Europe__Berlin));
        assert_eq!(job().check().unwrap().zone, None);
        let nowhere = Definition { timezone: Some("Europe/Nowhere".to_owned()), ..job() };
        assert_eq!(
            faults(nowhere),
            [
                "timezone \"Europe/Nowhere\": there is no time zone \"Europe/Nowhere\"; write an IANA name such as Europe/Berlin"
            ]
        );
    }

    #[test]
    fn a_job_knows_when_it_is_due() {
        assert_eq!(job().check().unwrap().schedule, "daily at 8am".parse().unwrap());
        for wrong in ["every 0m", "", "soon", "0 0 8 * * *"] {
            let told = faults(Definition { schedule: wrong.to_owned(), ..job() });
            assert!(told.len() == 1 && told[0].starts_with(&format!("schedule {wrong:?}: ")), "{told:?}");
        }
    }

    #[test]
    fn a_job_must_have_something_to_do() {
        let text = || Some("x".to_owned());
        let bare = || Definition { prompt: None, ..job() };
        for enough in [
            Definition { description: text(), ..bare() },
            Definition { skills: vec!["x".to_owned()], ..bare() },
            Definition { script: text(), ..bare() },
            Definition { script: text(), no_agent: true, ..bare() },
        ] {
            assert!(enough.check().is_ok());
        }
        assert_eq!(
            faults(bare()),
            ["prompt: missing: say what to do in prompt, description, skill or script"]
        );
        assert_eq!(
            faults(Definition { no_agent: true, ..job() }),
            ["no_agent true: needs a script, whose output is the result"]
        );
    }

    #[test]
    fn paths_stay_where_they_belong() {
        for script in ["/bin/sh", "../x", "a/../b", "", "a//b", "./x", "a/", "a\nb"] {
            assert_eq!(
                faults(Definition { script: Some(script.to_owned()), ..job() }).len(),
                1,
                "{script:?}"
            );
            assert_eq!(
                faults(Definition { skills: vec![script.to_owned()], ..job() }).len(),
                1,
                "{script:?}"
            );
        }
        for script in ["check.sh", "nightly/check.sh", "..hidden"] {
            assert!(Definition { script: Some(script.to_owned()), ..job() }.check().is_ok(), "{script:?}");
        }
        assert!(Definition { workdir: Some("/srv/work".to_owned()), ..job() }.check().is_ok());
        assert_eq!(
            faults(Definition { workdir: Some("work".to_owned()), ..job() }),
            ["workdir \"work\": must be an absolute path, like /srv/work"]
        );
    }

    #[test]
    fn all_that_is_wrong_is_told_at_once() {
        let wrong = Definition {
            repeat: Some(0),
            timeout_minutes: Some(0),
            jitter_seconds: 86_401,
            misfire: Misfire::All(0),
            deliver_to: vec![Target::platform("")],
            ..job()
        };
        let fields: Vec<String> = wrong.check().unwrap_err().into_iter().map(|fault| fault.field).collect();
        assert_eq!(fields, ["deliver_to", "repeat", "timeout_minutes", "jitter_seconds", "misfire"]);
        let least = Definition {
            repeat: Some(1),
            timeout_minutes: Some(1),
            jitter_seconds: 86_400,
            misfire: Misfire::All(1),
            ..job()
        };
        assert!(least.check().is_ok());
    }

    #[test]
    fn words_read_back_as_they_are_shown() {
        for misfire in [Misfire::Once, Misfire::Skip, Misfire::All(3)] {
            assert_eq!(misfire.to_string().parse(), Ok(misfire));
        }
        for overlap in [Overlap::Skip, Overlap::Queue, Overlap::Allow, Overlap::Replace] {
            assert_eq!(overlap.to_string().parse(), Ok(overlap));
        }
        for session in [SessionMode::Fresh, SessionMode::Keep] {
            assert_eq!(session.to_string().parse(), Ok(session));
        }
        for wrong in ["", "all", "all:0", "all:-1", "Once"] {
            assert!(wrong.parse::<Misfire>().is_err(), "{wrong}");
        }
        assert_eq!(
            "never".parse::<Overlap>().unwrap_err().to_string(),
            "must be skip, queue, allow or replace"
        );
        assert_eq!("new".parse::<SessionMode>().unwrap_err().to_string(), "must be fresh or keep");
    }

    #[test]
    fn a_definition_travels_whole() {
        let definition =
            Definition { misfire: Misfire::All(2), deliver_to: vec![Target::platform("local")], ..job() };
        let json = serde_json::to_string(&definition).unwrap();
        assert!(json.contains("\"misfire\":\"all:2\""), "{json}");
        assert_eq!(serde_json::from_str::<Definition>(&json).unwrap(), definition);
    }
}
