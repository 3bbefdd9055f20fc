//! The binary: arguments to one call, and its exit code.

use std::io::Write;
use std::process::ExitCode;

use switchboard::cli::{self, Exit};

fn main() -> ExitCode {
    switchboard::failpoint::arm();
    let done = tokio::runtime::Runtime::new()
        .map_err(Into::into)
        .and_then(|runtime| runtime.block_on(cli::run(std::env::args_os())));
    match done {
        Ok(Exit::Done) => ExitCode::SUCCESS,
        Ok(Exit::Failed) => ExitCode::from(1),
        Ok(Exit::Usage) => ExitCode::from(2),
        // As a shell reports a program that SIGHUP ended.
        Ok(Exit::TerminalGone) => ExitCode::from(129),
        Err(error) => {
            // With standard error closed the exit code alone has to tell.
            let _ = writeln!(std::io::stderr(), "switchboard: {}", cli::error_text(&error));
            ExitCode::from(1)
        }
    }
}
