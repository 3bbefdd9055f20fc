//! `switchboard cron check`.

use std::path::{Path, PathBuf};
use std::{fs, io};

use chrono::{SubsecRound, Utc};
use chrono_tz::Tz;
use serde_json::json;

use crate::cli::Exit;
use crate::cli::context::Context;
use crate::cli::output::{AsJson, Form, Out};
use crate::config::{Config, Home};
use crate::control::StoreOnly;
use crate::domain::Time;
use crate::domain::cron::document::{Document, Entry};
use crate::domain::cron::{Definition, Fault};
use crate::domain::schedule::{Lattice, Schedule};

/// So many slots of each job are shown.
const SLOTS: usize = 5;

/// What is said where there is no file.
pub(in crate::cli) const NO_FILE: &str = "there is no jobs.json in this home: no jobs";

#[derive(Debug, clap::Args)]
pub(super) struct Check {
    /// The file [default: jobs.json in the home]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    json: AsJson,
}

impl Check {
    /// Reads the file as the engine does, and needs none.
    pub(super) fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        let path = self.file.clone().unwrap_or_else(|| context.home.jobs_file());
        let document = match document(&path)? {
            Some(document) => document,
            None if self.file.is_none() => {
                out.line(NO_FILE)?;
                return Ok(Exit::Done);
            }
            None => anyhow::bail!("{} can't be read: there is no such file", path.display()),
        };
        let (config, now) = (context.config()?, Utc::now().trunc_subsecs(0));
        let name = path.display().to_string();
        let mut exit = Exit::Done;
        for entry in document.entries() {
            let checked = check(entry, &document, &context.home, &config, now);
            if checked.is_err() {
                exit = Exit::Failed;
            }
            match self.json.form() {
                Form::Json => out.json(&as_json(entry, &checked))?,
                Form::Text => print(&name, entry, &checked, out)?,
            }
        }
        if self.json.form() == Form::Text && document.entries().is_empty() {
            out.line("the file holds no jobs")?;
        }
        Ok(exit)
    }
}

/// What stands in a file; none: there is none.
pub(in crate::cli) fn document(path: &Path) -> anyhow::Result<Option<Document>> {
    match read(path) {
        Ok(bytes) => {
            Document::read(bytes).map(Some).map_err(|wrong| anyhow::anyhow!("{}: {wrong}", path.display()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => anyhow::bail!("{} can't be read: {error}", path.display()),
    }
}

/// Reads a file, and nothing that only has its name: a pipe would be waited for, and a link to nothing is no
/// missing file.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let is_link = path.is_symlink();
    match fs::metadata(path) {
        Ok(found) if found.is_file() => fs::read(path),
        Ok(_) => Err(io::Error::other("it is no file")),
        Err(error) if is_link && error.kind() == io::ErrorKind::NotFound => {
            Err(io::Error::other("it is a link to nothing"))
        }
        Err(error) => Err(error),
    }
}

/// A job that can be fired.
pub(in crate::cli) struct Good {
    words: String,
    counted: &'static str,
    zone: Tz,
    slots: Vec<Time>,
    /// What about it may not be meant so.
    pub(in crate::cli) warnings: Vec<String>,
}

/// Examines a record of a document: what will come of it, or what is wrong with it.
pub(in crate::cli) fn check(
    entry: &Entry,
    document: &Document,
    home: &Home,
    config: &Config,
    now: Time,
) -> Result<Good, Vec<String>> {
    let told = |faults: &[Fault]| faults.iter().map(Fault::to_string).collect::<Vec<_>>();
    let record = entry.record.as_ref().map_err(|faults| told(faults))?;
    let job = record.definition.clone().check().map_err(|faults| told(&faults))?;
    let zone = job.zone_in_use(config.timezone, now).map_err(|fault| told(&[fault]))?;
    let at = Lattice { zone, anchor: now };
    let known = record.definition.warnings(zone, now);
    let sources = record.definition.missing_sources(|job| document.find(job).is_some());
    let sources = sources.iter().map(Definition::missing_source);
    let parts = StoreOnly::missing_parts(home, config, &record.definition);
    let parts = parts.iter().map(Fault::to_string);
    Ok(Good {
        words: job.schedule.words(),
        counted: match job.schedule {
            Schedule::Every(_) => ", counted from now: an engine counts from its first sight of the job",
            _ => "",
        },
        zone,
        slots: job.schedule.slots(now, &at).take(SLOTS).collect(),
        warnings: record.warnings.iter().cloned().chain(known).chain(sources).chain(parts).collect(),
    })
}

/// What a record is called.
pub(in crate::cli) fn name_of(entry: &Entry) -> String {
    entry.id.as_ref().map_or_else(|| format!("record {}", entry.place + 1), ToString::to_string)
}

fn print(path: &str, entry: &Entry, checked: &Result<Good, Vec<String>>, out: &mut Out) -> io::Result<()> {
    let name = name_of(entry);
    match checked {
        Err(faults) => {
            for fault in faults {
                out.line(&format!("{path}:{}: {name}: {fault}", entry.line))?;
            }
        }
        Ok(good) => {
            out.line(&format!("{name}: {}, {}{}", good.words, good.zone, good.counted))?;
            for warning in &good.warnings {
                out.line(&format!("  ! {warning}"))?;
            }
            for slot in &good.slots {
                out.line(&format!("  {}", slot.with_timezone(&good.zone).to_rfc3339()))?;
            }
        }
    }
    Ok(())
}

fn as_json(entry: &Entry, checked: &Result<Good, Vec<String>>) -> serde_json::Value {
    let (id, line) = (entry.id.as_ref().map(ToString::to_string), entry.line);
    match checked {
        Err(faults) => json!({ "id": id, "line": line, "faults": faults }),
        Ok(good) => {
            let slots = good.slots.iter().map(|slot| slot.with_timezone(&good.zone).to_rfc3339());
            json!({
                "id": id,
                "line": line,
                "words": good.words,
                "timezone": good.zone.name(),
                "warnings": good.warnings,
                "next": slots.collect::<Vec<_>>(),
            })
        }
    }
}
