//! The binary: arguments to one call, and its exit code.

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use switchboard::agent::this_program;
use switchboard::cli::{self, Anew, Exit};

fn main() -> ExitCode {
    switchboard::failpoint::arm();
    let arguments: Vec<OsString> = env::args_os().collect();
    let done = cli::runtime(&arguments)
        .map_err(Into::into)
        .and_then(|runtime| runtime.block_on(cli::run(arguments)));
    match done {
        Ok(Exit::Done) => ExitCode::SUCCESS,
        Ok(Exit::Failed) => ExitCode::from(1),
        Ok(Exit::Usage) => ExitCode::from(2),
        // As a shell reports a program that SIGHUP ended.
        Ok(Exit::TerminalGone) => ExitCode::from(129),
        Ok(Exit::Restart(anew)) => {
            let error = begin_anew(anew);
            let _ = writeln!(
                io::stderr(),
                "switchboard: the engine stopped in order, but can't be started again: {error}; start switchboard again"
            );
            ExitCode::from(1)
        }
        Err(error) => {
            // With standard error closed the exit code alone has to tell.
            let _ = writeln!(io::stderr(), "switchboard: {}", cli::error_text(&error));
            ExitCode::from(1)
        }
    }
}

/// Puts the program anew, or the newer one that stands in its place, into this process; comes back only if that
/// fails.
fn begin_anew(anew: Anew) -> io::Error {
    match this_program() {
        Ok(program) => Command::new(program).args(anew.arguments(env::args_os().skip(1))).exec(),
        Err(error) => error,
    }
}
