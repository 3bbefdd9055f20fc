//! `switchboard doctor`: what could be wrong with a home, before it goes wrong.

use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use chrono::Utc;
use serde::Serialize;

use super::Exit;
use super::context::Context;
use super::cron::check;
use super::keymap;
use super::output::{AsJson, Form, Out};
use crate::agent::{Agents, Found};
use crate::config::{self, Config, Home, Secrets};
use crate::control::{Client, SocketClient, StoreOnly};
use crate::domain::alert::AlertKey;
use crate::domain::api::{Answer, Query};
use crate::domain::damage::Lost;
use crate::domain::event::count;

/// Examine the home, the settings, the scheduled tasks, the store, the agent and the terminal
#[derive(Debug, clap::Args)]
pub(super) struct Doctor {
    #[command(flatten)]
    json: AsJson,
}

/// What was found.
#[derive(Serialize)]
struct Finding {
    verdict: Verdict,
    what: &'static str,
    words: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Ok,
    Warn,
    Fail,
}

impl Finding {
    fn ok(what: &'static str, words: impl Into<String>) -> Self {
        Self { verdict: Verdict::Ok, what, words: words.into() }
    }

    fn warn(what: &'static str, words: impl Into<String>) -> Self {
        Self { verdict: Verdict::Warn, what, words: words.into() }
    }

    fn fail(what: &'static str, words: impl Into<String>) -> Self {
        Self { verdict: Verdict::Fail, what, words: words.into() }
    }
}

impl Doctor {
    pub(super) async fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        let (settings, config) = settings(context);
        let mut findings = home(context.home.root());
        findings.push(settings);
        findings.extend(keys(&context.home));
        findings.extend(jobs(&context.home, &config));
        let (engine, runs) = engine(context).await;
        findings.push(engine);
        // Opening the store would take away what tells an engine's start of the damage.
        match (runs, log(&context.home)) {
            (Runs::No, Some(damage)) => findings.push(damage),
            _ => findings.extend(store(context, &config).await),
        }
        findings.extend(agents(context, &config).await);
        findings.push(terminal());
        for finding in &findings {
            match self.json.form() {
                Form::Json => out.json(finding)?,
                Form::Text => out.line(&format!(
                    "{:<4} {:<9} {}",
                    match finding.verdict {
                        Verdict::Ok => "ok",
                        Verdict::Warn => "warn",
                        Verdict::Fail => "FAIL",
                    },
                    finding.what,
                    finding.words
                ))?,
            }
        }
        let failed = findings.iter().any(|finding| finding.verdict == Verdict::Fail);
        Ok(if failed { Exit::Failed } else { Exit::Done })
    }
}

fn home(root: &Path) -> Vec<Finding> {
    let shown = root.display();
    let metadata = match root.metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return vec![Finding::ok("home", format!("{shown} is made at the first start"))];
        }
        Err(error) => return vec![Finding::fail("home", format!("{shown}: {error}"))],
        Ok(metadata) if !metadata.is_dir() => {
            return vec![Finding::fail("home", format!("{shown} is not a folder; move it away"))];
        }
        Ok(metadata) => metadata,
    };
    let writable = match try_to_write(root) {
        Ok(()) => Finding::ok("home", format!("{shown} can be written")),
        Err(error) => Finding::fail("home", format!("{shown} can't be written: {error}")),
    };
    let private = match metadata.permissions().mode() & 0o077 {
        0 => Finding::ok("privacy", "only you can read the home"),
        _ => {
            Finding::warn("privacy", format!("others can look into the home; `chmod 700 {shown}` ends that"))
        }
    };
    vec![writable, private]
}

/// A full disk makes an empty file and takes nothing more.
fn try_to_write(folder: &Path) -> io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&[0; 16 * 1024])?;
    file.as_file().sync_all()
}

fn settings(context: &Context) -> (Finding, Config) {
    let file = context.home.config_file();
    match config::load(&file) {
        Ok(loaded) if !file.exists() => {
            let words = format!("{} is made at the first start; the defaults hold", file.display());
            (Finding::ok("settings", words), loaded.config)
        }
        Ok(loaded) => (Finding::ok("settings", format!("{} has no problems", file.display())), loaded.config),
        Err(error) => (Finding::fail("settings", error.to_string()), Config::default()),
    }
}

/// The operator's key map. A wrong line is left out; the rest holds.
fn keys(home: &Home) -> Vec<Finding> {
    match keymap::in_effect(home) {
        Err(error) => vec![Finding::fail("keys", error.to_string())],
        Ok((_, problems)) if problems.is_empty() => vec![Finding::ok("keys", "the key map has no problems")],
        Ok((_, problems)) => {
            problems.iter().map(|problem| Finding::warn("keys", problem.to_string())).collect()
        }
    }
}

/// The scheduled tasks. A record that can't be used harms no other.
fn jobs(home: &Home, config: &Config) -> Vec<Finding> {
    let path = home.jobs_file();
    let document = match check::document(&path) {
        Ok(Some(document)) => document,
        Ok(None) => return vec![Finding::ok("jobs", check::NO_FILE)],
        Err(error) => return vec![Finding::fail("jobs", error.to_string())],
    };
    let (shown, now) = (path.display(), Utc::now());
    let mut findings = Vec::new();
    for entry in document.entries() {
        let told = |words: String| format!("{shown}:{}: {}: {words}", entry.line, check::name_of(entry));
        match check::check(entry, &document, home, config, now) {
            Ok(good) => {
                findings.extend(good.warnings.into_iter().map(|words| Finding::warn("jobs", told(words))));
            }
            Err(faults) => {
                findings.extend(faults.into_iter().map(|words| Finding::fail("jobs", told(words))))
            }
        }
    }
    if findings.is_empty() {
        let jobs = count(document.entries().len(), "job");
        findings.push(Finding::ok("jobs", format!("{shown} has no problems: {jobs}")));
    }
    findings
}

/// What engines have seen of the scheduled tasks over days: another scheduler on the same file.
async fn other_scheduler(store: &StoreOnly) -> Option<Finding> {
    let Ok(Answer::Alerts(alerts)) = store.query(Query::Alerts { limit: usize::MAX }).await else {
        return None;
    };
    let alert = alerts.into_iter().find(|alert| alert.key == AlertKey::other_scheduler())?;
    Some(Finding::warn("jobs", alert.words))
}

/// Whether an engine may be writing to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runs {
    Perhaps,
    No,
}

async fn engine(context: &Context) -> (Finding, Runs) {
    match SocketClient::connect(&context.home).await {
        Ok(Some(engine)) => {
            (Finding::ok("engine", format!("runs, pid {}", engine.hello().pid)), Runs::Perhaps)
        }
        Ok(None) => (Finding::ok("engine", "none runs for this home"), Runs::No),
        Err(error) => (Finding::fail("engine", error.to_string()), Runs::Perhaps),
    }
}

/// What of the store's log can't be read.
fn log(home: &Home) -> Option<Finding> {
    let told = |lost: Lost| {
        let words = lost.words();
        format!("the store's log {words}; the next start copies it and goes on from the commit before")
    };
    match StoreOnly::examine_log(home) {
        Ok(Some(lost @ Lost::PerhapsOne)) => Some(Finding::warn("store", told(lost))),
        Ok(Some(lost @ Lost::AtLeast(_))) => Some(Finding::fail("store", told(lost))),
        // What is wrong with the store as a whole is told of the store.
        Ok(None) | Err(_) => None,
    }
}

async fn store(context: &Context, config: &Config) -> Vec<Finding> {
    let store = match StoreOnly::open(&context.home, config.clone()) {
        Ok(store) => store,
        Err(error) => return vec![Finding::fail("store", error.to_string())],
    };
    let sound = soundness(&store, &context.home.state_db()).await;
    other_scheduler(&store).await.into_iter().chain([sound]).collect()
}

async fn soundness(store: &StoreOnly, path: &Path) -> Finding {
    match store.examine().await {
        Ok(None) => Finding::ok("store", "nothing is kept yet"),
        Ok(Some(damage)) if damage.is_empty() => Finding::ok("store", format!("{} is sound", path.display())),
        Ok(Some(damage)) => {
            Finding::fail("store", format!("{} is damaged: {}", path.display(), damage.join("; ")))
        }
        Err(error) => Finding::fail("store", error.to_string()),
    }
}

/// Every agent, by name where there are several.
async fn agents(context: &Context, config: &Config) -> Vec<Finding> {
    let agents = match Agents::build(config, context.home.root()) {
        Ok(agents) => agents,
        Err(error) => return vec![Finding::fail("agent", error.to_string())],
    };
    let secrets = Secrets::read_aside(config.keys()).await;
    let mut findings = Vec::new();
    for (name, backend) in agents.all() {
        let called = if config.agents.is_empty() { String::new() } else { format!("{name}: ") };
        let told = |words: String| secrets.hide(format!("{called}{words}"));
        findings.push(match backend.check().await {
            Ok(Found::Good(words)) => Finding::ok("agent", told(words)),
            Ok(Found::Doubtful(words)) => Finding::warn("agent", told(words)),
            Err(error) => Finding::fail("agent", told(error.to_string())),
        });
    }
    findings
}

fn terminal() -> Finding {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let size = match crossterm::terminal::size() {
        Ok((columns, rows)) => format!("{columns}×{rows}"),
        Err(_) => return Finding::warn("terminal", "there is none; the console needs one"),
    };
    let term = variable("TERM");
    let colours = match (variable("NO_COLOR").is_empty(), variable("COLORTERM").as_str()) {
        (false, _) => "no colours (NO_COLOR)",
        (true, "truecolor" | "24bit") => "24-bit colours",
        (true, _) if term.contains("256color") => "256 colours",
        (true, _) => "16 colours",
    };
    let multiplexer = if variable("TMUX").is_empty() { "" } else { ", in tmux" };
    Finding::ok("terminal", format!("{term} {size}, {colours}{multiplexer}"))
}
