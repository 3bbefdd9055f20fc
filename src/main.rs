//! The binary: arguments to one call, and its exit code.

use std::env;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use switchboard::cli::{self, Anew, Exit};

fn main() -> ExitCode {
    switchboard::failpoint::arm();
    // Asked before anything may put a newer program in this one's place: a restart runs that one.
    let program = env::current_exe();
    let done = tokio::runtime::Runtime::new()
        .map_err(Into::into)
        .and_then(|runtime| runtime.block_on(cli::run(env::args_os())));
    match done {
        Ok(Exit::Done) => ExitCode::SUCCESS,
        Ok(Exit::Failed) => ExitCode::from(1),
        Ok(Exit::Usage) => ExitCode::from(2),
        // As a shell reports a program that SIGHUP ended.
        Ok(Exit::TerminalGone) => ExitCode::from(129),
        Ok(Exit::Restart(anew)) => {
            let error = begin_anew(program, anew);
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

/// Puts the program anew in the place of this process; comes back only if that fails.
fn begin_anew(program: io::Result<PathBuf>, anew: Anew) -> io::Error {
    match program {
        Ok(program) => Command::new(program).args(anew.arguments(env::args_os().skip(1))).exec(),
        Err(error) => error,
    }
}
