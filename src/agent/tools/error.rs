//! What can go wrong with a call.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why a call has no result, in words for the model.
#[derive(Debug, thiserror::Error)]
pub(in crate::agent) enum ToolError {
    /// No tool has the name.
    #[error("there is no tool {name:?}; the tools are: {names}")]
    Unknown {
        /// The name that was called.
        name: String,
        /// The names that exist.
        names: String,
    },
    /// The arguments are not what the schema says.
    #[error("{tool} was not called, its arguments are wrong: {why}")]
    Arguments {
        /// The tool.
        tool: &'static str,
        /// What is wrong with them.
        why: String,
    },
    /// The working directory is not there.
    #[error("the working directory {} can't be opened: {source} (openai.workdir of the agent)", path.display())]
    NoWorkdir {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The path leads out of the working directory.
    #[error("{path} is outside the working directory {}; only what is inside can be opened", workdir.display())]
    Outside {
        /// The path as the model gave it.
        path: String,
        /// The directory.
        workdir: PathBuf,
    },
    /// The file belongs to the engine and holds what no model may see.
    #[error(
        "{path} is not opened: it belongs to the settings, the tasks, the store or the keys of the engine"
    )]
    Secret {
        /// The file.
        path: String,
    },
    /// A folder, where a file is needed.
    #[error("{path} is a folder; search_files without a pattern lists its files")]
    Folder {
        /// The folder.
        path: String,
    },
    /// A device, a pipe or a socket.
    #[error("{path} is no regular file")]
    Special {
        /// It.
        path: String,
    },
    /// No text.
    #[error("{path} is a binary file ({bytes} bytes), no text")]
    Binary {
        /// The file.
        path: String,
        /// Its size.
        bytes: u64,
    },
    /// The file has fewer lines.
    #[error("{path} has {lines} lines, so there is none from offset {offset} on")]
    BehindTheEnd {
        /// The file.
        path: String,
        /// How many it has.
        lines: u64,
        /// The first that was asked for.
        offset: u64,
    },
    /// The system refuses.
    #[error("{path} can't be read: {source}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// The system refuses.
    #[error("{path} can't be written: {source}")]
    Unwritable {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// A link, where what is written could go elsewhere.
    #[error("{path} leads through a symbolic link or something that is no folder; write to the real path")]
    Link {
        /// The file.
        path: String,
    },
    /// The settings or a person do not allow it, or nobody could be asked.
    #[error("{0}")]
    NotAllowed(String),
    /// A person allowed what the call would not do any more.
    #[error("not done: what it would change was changed while the operator was asked; call it again")]
    OtherMeanwhile,
    /// A scheduled task was not made.
    #[error("the task was not made: {0}")]
    NotScheduled(String),
    /// A command could not be started.
    #[error("the command was not run: {0}")]
    NotStarted(String),
    /// A command ended with an error.
    #[error("the command {how}; {output}")]
    Ended {
        /// How it ended.
        how: String,
        /// What it had written.
        output: String,
    },
    /// A command took longer than it may.
    #[error("the command took longer than {} s and was stopped; {output}", limit.as_secs())]
    TooSlow {
        /// How long it may take.
        limit: Duration,
        /// What it had written.
        output: String,
    },
    /// A tool that works on files took longer than it may.
    #[error("the tool took longer than {} s and was stopped", limit.as_secs())]
    FilesTooSlow {
        /// How long it may take.
        limit: Duration,
    },
    /// What was asked of background processes can't be.
    #[error("{0}")]
    Background(String),
    /// The turn was stopped.
    #[error("stopped")]
    Stopped,
    /// A mistake in the tool.
    #[error("the tool crashed: {0}")]
    Crashed(String),
}
