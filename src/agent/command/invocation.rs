//! How a program is called for one turn.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use tempfile::NamedTempFile;
use tokio::process::Child;

use crate::agent::program::launch::Program;
use crate::agent::program::rest::Rest;
use crate::agent::{AgentError, SessionContext, process};
use crate::domain::history::Step;
use crate::domain::id::TurnId;

/// In an argument, stands for the path of a file with the history as JSON.
const HISTORY: &str = "{history}";

/// Tells a program the model that its session asks for, where it asks for one.
const MODEL: &str = "SWITCHBOARD_MODEL";

/// A program that runs, with the file it may read.
pub(super) struct Running {
    pub(super) child: Child,
    /// What leaves its process group.
    pub(super) rest: Rest,
    /// Deleted when the turn ends.
    _history: Option<NamedTempFile>,
}

/// Starts the program for a turn. It waits for the first line on its standard input.
///
/// # Errors
/// Where it can't be started, with the setting to look at.
pub(super) async fn start(
    program: &Program,
    session: &SessionContext,
    turn: TurnId,
    history: Vec<Step>,
    run_folder: &Path,
) -> Result<Running, AgentError> {
    let history = match program.arguments.iter().any(|argument| argument.contains(HISTORY)) {
        true => Some(write_history(history, run_folder).await?),
        false => None,
    };
    let arguments = program.arguments.iter().map(|argument| with_history(argument, history.as_ref()));
    let model = session.model.iter().map(|model| (MODEL, model.clone()));
    let rest = Rest::new();
    let variables = process::place(&session.id, turn).into_iter().chain(model).chain([rest.mark()]);
    let child = program.start(arguments, variables)?;
    Ok(Running { child, rest, _history: history })
}

/// Writes the history to a file that only this user can read. Where the engine dies before the turn ends, the
/// next start removes it.
async fn write_history(history: Vec<Step>, run_folder: &Path) -> Result<NamedTempFile, AgentError> {
    let folder = run_folder.to_path_buf();
    let write = move || -> io::Result<NamedTempFile> {
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let mut file = tempfile::Builder::new().prefix("history-").suffix(".json").tempfile_in(&folder)?;
        serde_json::to_writer(io::BufWriter::new(&mut file), &history)?;
        file.flush()?;
        Ok(file)
    };
    let written = tokio::task::spawn_blocking(write).await.map_err(io::Error::other);
    written.and_then(|file| file).map_err(|error| {
        AgentError::Failed(format!(
            "can't write the history for {{history}} to {}: {error}",
            run_folder.display()
        ))
    })
}

fn with_history(argument: &str, history: Option<&NamedTempFile>) -> OsString {
    let path = history.map(NamedTempFile::path).unwrap_or(Path::new(""));
    let mut whole = OsString::new();
    for (index, piece) in argument.split(HISTORY).enumerate() {
        if index > 0 {
            whole.push(path);
        }
        whole.push(piece);
    }
    whole
}
