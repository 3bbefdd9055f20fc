//! The fields of a job that can be set by name: `/cron edit`, and the options of `switchboard cron add`
//! and `edit`, come from this one table.

use std::str::FromStr;

use super::{Definition, Fault, JobId, SessionMode, Target};

/// A field that can be set from one text.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Its name in `jobs.json`.
    pub name: &'static str,
    /// What it takes, as usage shows it.
    pub takes: &'static str,
    /// What it is, in one line.
    pub help: &'static str,
    set: fn(&mut Definition, &str) -> Result<(), String>,
}

/// Every such field, in the order of the record. An empty text takes an optional one away.
pub const FIELDS: &[Field] = &[
    field("id", "ID", "its name: letters, digits, . _ -", |job, text| {
        parsed(text).map(|id: JobId| job.id = id)
    }),
    field("name", "NAME", "its name for people", |job, text| text_of(&mut job.name, text)),
    field(
        "schedule",
        "SCHEDULE",
        "when it is due: \"0 8 * * *\", \"weekdays at 9:30\", \"every 2h\"",
        |job, text| {
            text.clone_into(&mut job.schedule);
            Ok(())
        },
    ),
    field("timezone", "TZ", "the zone of its wall-clock times, like Europe/Berlin", |job, text| {
        text_of(&mut job.timezone, text)
    }),
    field("description", "TEXT", "what it is for; also the prompt where there is none", |job, text| {
        text_of(&mut job.description, text)
    }),
    field("prompt", "TEXT", "what the agent is told", |job, text| text_of(&mut job.prompt, text)),
    field("skills", "NAME,…", "the skills that are loaded, in order", |job, text| {
        job.skills = words(text);
        Ok(())
    }),
    field(
        "deliver_to",
        "TARGET,…",
        "who gets the result: local, console, telegram:CHAT:THREAD",
        |job, text| {
            job.deliver_to = Target::list(text).map_err(|error| error.to_string())?;
            Ok(())
        },
    ),
    field("enabled", "yes|no", "whether its slots are taken; no pauses it", |job, text| {
        yes_or_no(text).map(|yes| job.enabled = yes)
    }),
    field("repeat", "N", "how often it fires in all; empty: for ever", |job, text| {
        number_of(&mut job.repeat, text)
    }),
    field("misfire", "once|skip|all:N", "what becomes of slots that were missed", |job, text| {
        parsed(text).map(|misfire| job.misfire = misfire)
    }),
    field(
        "overlap",
        "skip|queue|allow|replace",
        "what happens at a slot while an earlier run still works",
        |job, text| parsed(text).map(|overlap| job.overlap = overlap),
    ),
    field(
        "jitter_seconds",
        "N",
        "up to so many seconds its fires are set off from their slot",
        |job, text| parsed(text).map(|seconds| job.jitter_seconds = seconds),
    ),
    field("script", "PATH", "a program in scripts/ that runs first", |job, text| {
        text_of(&mut job.script, text)
    }),
    field(
        "no_agent",
        "yes|no",
        "whether the script's output is the result, without any agent",
        |job, text| yes_or_no(text).map(|yes| job.no_agent = yes),
    ),
    field("context_from", "JOB,…", "the jobs whose newest output goes into the prompt", |job, text| {
        job.context_from = words(text).iter().map(|id| parsed(id)).collect::<Result<_, _>>()?;
        Ok(())
    }),
    field("agent", "NAME", "the agent that runs it, by its name in the settings", |job, text| {
        text_of(&mut job.agent, text)
    }),
    field("model", "MODEL", "the model, as the agent's server knows it", |job, text| {
        text_of(&mut job.model, text)
    }),
    field("workdir", "DIR", "the folder in which it works; an absolute path", |job, text| {
        text_of(&mut job.workdir, text)
    }),
    field("timeout_minutes", "N", "after so many minutes a run is stopped; empty: never", |job, text| {
        number_of(&mut job.timeout_minutes, text)
    }),
    field("session", "fresh|keep", "whether each run begins with an empty memory", |job, text| match text {
        "fresh" => {
            job.session = SessionMode::Fresh;
            Ok(())
        }
        "keep" => {
            job.session = SessionMode::Keep;
            Ok(())
        }
        _ => Err("must be fresh or keep".to_owned()),
    }),
];

const fn field(
    name: &'static str,
    takes: &'static str,
    help: &'static str,
    set: fn(&mut Definition, &str) -> Result<(), String>,
) -> Field {
    Field { name, takes, help, set }
}

/// Sets a field from a text. What the rules say of the value is [`Definition::check`]'s to tell.
///
/// # Errors
///
/// There is no such field, or its value is of another kind.
pub fn set_field(job: &mut Definition, name: &str, text: &str) -> Result<(), Fault> {
    let Some(field) = FIELDS.iter().find(|field| field.name == name) else {
        let names: Vec<&str> = FIELDS.iter().map(|field| field.name).collect();
        return Err(Fault::new(name, "", format!("no such field; there are {}", names.join(", "))));
    };
    (field.set)(job, text).map_err(|why| Fault::new(name, &format!("{text:?}"), why))
}

fn text_of(field: &mut Option<String>, text: &str) -> Result<(), String> {
    *field = (!text.is_empty()).then(|| text.to_owned());
    Ok(())
}

fn number_of(field: &mut Option<u32>, text: &str) -> Result<(), String> {
    *field = if text.is_empty() { None } else { Some(whole(text)?) };
    Ok(())
}

fn whole(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("must be a whole number up to {}", u32::MAX))
}

fn parsed<T: FromStr<Err: ToString>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

fn yes_or_no(text: &str) -> Result<bool, String> {
    match text {
        "yes" | "true" => Ok(true),
        "no" | "false" => Ok(false),
        _ => Err("must be yes or no".to_owned()),
    }
}

fn words(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> Definition {
        Definition::new("a".parse().unwrap(), "30m".to_owned())
    }

    #[test]
    fn each_field_is_set_from_its_text() {
        let mut set = job();
        for (name, text) in [
            ("id", "b"),
            ("name", "Bee"),
            ("schedule", "0 8 * * *"),
            ("timezone", "Europe/Berlin"),
            ("description", "d"),
            ("prompt", "p"),
            ("skills", "one, two"),
            ("deliver_to", "local, telegram:7"),
            ("enabled", "no"),
            ("repeat", "5"),
            ("misfire", "all:3"),
            ("overlap", "queue"),
            ("jitter_seconds", "30"),
            ("script", "check.sh"),
            ("no_agent", "yes"),
            ("context_from", "c, d"),
            ("agent", "coder"),
            ("model", "m"),
            ("workdir", "/srv"),
            ("timeout_minutes", "10"),
            ("session", "keep"),
        ] {
            let before = set.clone();
            set_field(&mut set, name, text).unwrap();
            assert_ne!(set, before, "{name}");
        }
        assert_eq!(set.skills, ["one", "two"]);
        assert_eq!(set.deliver_to, Target::list("local, telegram:7").unwrap());
        assert_eq!(FIELDS.len(), 21);
    }

    #[test]
    fn an_empty_text_takes_an_optional_field_away() {
        let mut set = job();
        for (name, text) in [("prompt", "p"), ("repeat", "5"), ("timezone", "UTC"), ("timeout_minutes", "1")]
        {
            set_field(&mut set, name, text).unwrap();
            set_field(&mut set, name, "").unwrap();
        }
        assert_eq!(set, job());
    }

    #[test]
    fn a_value_of_another_kind_and_an_unknown_field_are_refused() {
        let refused = |name, text| set_field(&mut job(), name, text).unwrap_err().to_string();
        assert_eq!(refused("enabled", "maybe"), "enabled \"maybe\": must be yes or no");
        assert!(refused("repeat", "often").starts_with("repeat \"often\": "));
        assert!(refused("misfire", "twice").contains("once, skip or all:N"));
        assert!(refused("colour", "red").starts_with("colour: no such field; there are id, name, schedule"));
    }
}
