//! The same as the console, without a screen: one file a noun.
//!
//! Exit codes: 0 done, 1 refused or failed, 2 wrong usage. A reader that goes away (`| head`) is no
//! failure. Errors are one line on standard error, with what to do; whatever is printed has passed
//! the sanitizer.

mod alerts;
mod allowed;
mod completions;
mod config;
mod console;
mod context;
mod conversation;
mod cron;
mod doctor;
mod events;
mod feed;
mod hold;
mod keymap;
mod named;
mod output;
mod processes;
mod queue;
mod recovery;
mod report;
mod send;
mod serve;
mod sessions;
mod status;
mod stop;
mod suspend;
mod table;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use clap::{CommandFactory, Parser, Subcommand};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};

use context::Context;
use output::Out;

use crate::agent::background::{KEEPER, keep};

/// An operator console in the terminal for long-lived AI agent sessions.
///
/// Without a command: the console. It attaches to the engine that runs for the home, or takes the
/// home and runs the engine itself.
#[derive(Debug, Parser)]
#[command(name = "switchboard", version, max_term_width = 100)]
struct Arguments {
    /// The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]
    #[arg(long, global = true, value_name = "DIR")]
    home: Option<PathBuf>,
    /// Look only: refuse whatever changes something, and start no engine
    #[arg(long, global = true)]
    read_only: bool,
    #[command(subcommand)]
    noun: Option<Noun>,
}

#[derive(Debug, Subcommand)]
enum Noun {
    Serve(serve::Serve),
    Status(status::Status),
    Sessions(sessions::Sessions),
    Queue(queue::Queue),
    Recovery(recovery::Recovery),
    Alerts(alerts::Alerts),
    Allowed(allowed::Allowed),
    Processes(processes::Processes),
    Report(report::Report),
    Send(send::Send),
    Conversation(conversation::Conversation),
    Cron(cron::Cron),
    Events(events::Events),
    Suspend(suspend::Suspend),
    Unsuspend(suspend::Unsuspend),
    Continue(suspend::Continue),
    Hold(hold::Hold),
    Release(hold::Release),
    Stop(stop::Stop),
    Restart(stop::Restart),
    Config(config::Config),
    Keymap(keymap::Keymap),
    Doctor(doctor::Doctor),
    Completions(completions::Completions),
}

/// How a run of the program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// What was asked is done.
    Done,
    /// It was refused or failed; why is already told.
    Failed,
    /// The arguments were wrong; how to write them is already told.
    Usage,
    /// The console's terminal vanished.
    TerminalGone,
    /// The engine stopped for a restart: the same process is to begin anew.
    Restart(Anew),
}

/// As what a process begins anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anew {
    /// As what it was, with the same arguments.
    Same,
    /// As `serve`: it was a console, and its screen was left or its terminal is gone.
    Serve,
}

impl Anew {
    /// The arguments that a process of these arguments, without its name, begins anew with. A hold is
    /// kept in the store: `serve --hold` does not begin one that was released meanwhile.
    pub fn arguments(self, before: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
        let serve = (self == Self::Serve).then(|| OsString::from("serve"));
        before.into_iter().filter(|argument| argument != "--hold").chain(serve).collect()
    }
}

/// What a process of these arguments runs on. A keeper waits for one command: it needs no threads.
pub fn runtime(arguments: &[OsString]) -> io::Result<Runtime> {
    if is_keeper(arguments) { Builder::new_current_thread().enable_all().build() } else { Runtime::new() }
}

/// No person writes it: an engine starts this program so for each background process.
fn is_keeper(arguments: &[OsString]) -> bool {
    arguments.get(1).is_some_and(|word| word == KEEPER)
}

/// Does what the arguments say. Errors are for standard error and mean [`Exit::Failed`].
pub async fn run(arguments: Vec<OsString>) -> anyhow::Result<Exit> {
    outlive_the_file_size_limit()?;
    if is_keeper(&arguments) {
        keep().await?;
        return Ok(Exit::Done);
    }
    let mut out = Out::stdout();
    let done = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => dispatch(arguments, &mut out).await,
        Err(error) => print_usage(&error, &mut out),
    };
    let done = done.and_then(|exit| out.flush().map(|()| exit).map_err(Into::into));
    match done {
        Err(error) if output::reader_is_gone(&error) => Ok(Exit::Done),
        other => other,
    }
}

/// A file that may not grow (`ulimit -f`) fails the write, as a full disk does; unheard, the signal that
/// tells of it would end the process.
fn outlive_the_file_size_limit() -> io::Result<()> {
    signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw())).map(drop)
}

/// An error in one line a problem, harmless for a terminal. Each of our errors says all by itself.
pub fn error_text(error: &anyhow::Error) -> String {
    crate::domain::sanitize::many_lines(&error.to_string()).into_owned()
}

/// The command line's declaration, for completions and manual pages.
pub fn command() -> clap::Command {
    Arguments::command()
}

async fn dispatch(arguments: Arguments, out: &mut Out) -> anyhow::Result<Exit> {
    let context = Context::new(arguments.home.as_deref(), arguments.read_only.into())?;
    match arguments.noun {
        None => console::run(&context).await,
        Some(Noun::Serve(serve)) => serve.run(&context).await,
        Some(Noun::Status(status)) => status.run(&context, out).await,
        Some(Noun::Sessions(sessions)) => sessions.run(&context, out).await,
        Some(Noun::Queue(queue)) => queue.run(&context, out).await,
        Some(Noun::Recovery(recovery)) => recovery.run(&context, out).await,
        Some(Noun::Alerts(alerts)) => alerts.run(&context, out).await,
        Some(Noun::Allowed(allowed)) => allowed.run(&context, out).await,
        Some(Noun::Processes(processes)) => processes.run(&context, out).await,
        Some(Noun::Report(report)) => report.run(&context, out).await,
        Some(Noun::Send(send)) => send.run(&context, out).await,
        Some(Noun::Conversation(conversation)) => conversation.run(&context, out).await,
        Some(Noun::Cron(cron)) => cron.run(&context, out).await,
        Some(Noun::Events(events)) => events.run(&context, out).await,
        Some(Noun::Suspend(suspend)) => suspend.run(&context, out).await,
        Some(Noun::Unsuspend(unsuspend)) => unsuspend.run(&context, out).await,
        Some(Noun::Continue(go_on)) => go_on.run(&context, out).await,
        Some(Noun::Hold(hold)) => hold.run(&context, out).await,
        Some(Noun::Release(release)) => release.run(&context, out).await,
        Some(Noun::Stop(stop)) => stop.run(&context, out).await,
        Some(Noun::Restart(restart)) => restart.run(&context, out).await,
        Some(Noun::Config(config)) => config.run(&context, out),
        Some(Noun::Keymap(keymap)) => keymap.run(&context, out),
        Some(Noun::Doctor(doctor)) => doctor.run(&context, out).await,
        Some(Noun::Completions(completions)) => completions.run(out),
    }
}

/// Help and version go to standard output and are no failure; the rest is wrong usage.
fn print_usage(error: &clap::Error, out: &mut Out) -> anyhow::Result<Exit> {
    if error.use_stderr() {
        output::stderr_line(&error.render().to_string());
        return Ok(Exit::Usage);
    }
    out.text(&error.render().to_string())?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_begins_anew_with_the_same_arguments_but_never_with_a_new_hold() {
        let anew = |anew: Anew, before: &[&str]| {
            let arguments = anew.arguments(before.iter().map(OsString::from));
            arguments.into_iter().map(|argument| argument.into_string().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(anew(Anew::Same, &["--home", "/h", "serve", "--hold"]), ["--home", "/h", "serve"]);
        assert_eq!(anew(Anew::Serve, &["--home", "/h"]), ["--home", "/h", "serve"]);
    }
}
