//! The operator's own editor, on a text of ours or on a file.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::{env, fs};

use tempfile::NamedTempFile;
use tokio::process::{Child, Command};

/// Why a text was not edited. The text is as it was.
#[derive(Debug, thiserror::Error)]
pub enum EditorError {
    /// No temporary file.
    #[error("no temporary file for the editor: {0}")]
    File(io::Error),
    /// It does not start.
    #[error("the editor {editor:?} does not start: {source}; set $VISUAL or $EDITOR")]
    Start {
        /// The command.
        editor: OsString,
        /// Why.
        source: io::Error,
    },
    /// It failed.
    #[error("the editor {editor:?} ended with {status}; the text is as it was")]
    Failed {
        /// The command.
        editor: OsString,
        /// How it ended.
        status: ExitStatus,
    },
    /// What it left is no text.
    #[error("the editor left no UTF-8 text; it is kept in {}", kept.display())]
    NotText {
        /// Where it is kept.
        kept: PathBuf,
    },
}

/// What was edited, or why it was not.
#[derive(Debug)]
pub enum Edited {
    /// A text of ours, as the editor left it.
    Text(Result<String, EditorError>),
    /// A file, where it stands.
    File(Result<(), EditorError>),
}

/// An editor that runs. Dropping it ends the editor.
pub struct Editing {
    child: Child,
    /// Our text; none where a file is edited where it stands.
    file: Option<NamedTempFile>,
    editor: OsString,
}

impl Editing {
    /// Starts the editor on `text`. The terminal must have been given back, with nobody reading it.
    pub fn start(text: &str) -> Result<Self, EditorError> {
        let editor = chosen();
        let mut file = tempfile::Builder::new()
            .prefix("switchboard-")
            .suffix(".md")
            .tempfile()
            .map_err(EditorError::File)?;
        file.write_all(text.as_bytes()).map_err(EditorError::File)?;
        let child = spawn(&editor, &[file.path().as_os_str()])?;
        Ok(Self { child, file: Some(file), editor })
    }

    /// Starts the editor on a file where it stands, at a line from 1. As [`Self::start`].
    pub fn open(path: &Path, line: usize) -> Result<Self, EditorError> {
        let editor = chosen();
        // Every usual editor takes +LINE before the file.
        let place = OsString::from(format!("+{line}"));
        let arguments = [place.as_os_str(), path.as_os_str()];
        let child = spawn(&editor, if line > 1 { &arguments } else { &arguments[1..] })?;
        Ok(Self { child, file: None, editor })
    }

    /// Waits until the editor ends, and reads what it left.
    pub async fn finish(&mut self) -> Edited {
        let ended = self.ended().await;
        match &mut self.file {
            Some(file) => Edited::Text(ended.and_then(|()| read(file))),
            None => Edited::File(ended),
        }
    }

    async fn ended(&mut self) -> Result<(), EditorError> {
        let failed = |source| EditorError::Start { editor: self.editor.clone(), source };
        let status = self.child.wait().await.map_err(failed)?;
        match status.success() {
            true => Ok(()),
            false => Err(EditorError::Failed { editor: self.editor.clone(), status }),
        }
    }

    /// Lets a stopped editor go on: it shares our terminal, and its Ctrl-Z must not strand us.
    pub fn go_on(&self) {
        let pid = self.child.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed()));
        if let Some(pid) = pid {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::CONT);
        }
    }
}

/// Starts the editor through a shell, since the variables may hold arguments. It is the operator's own program in
/// their own terminal, so it has their environment as any editor started there has, keys and all.
fn spawn(editor: &OsString, arguments: &[&OsStr]) -> Result<Child, EditorError> {
    Command::new("/bin/sh")
        .arg("-c")
        .arg(r#"eval "$0 \"\$@\"""#)
        .arg(editor)
        .args(arguments)
        .kill_on_drop(true)
        .spawn()
        .map_err(|source| EditorError::Start { editor: editor.clone(), source })
}

fn read(file: &mut NamedTempFile) -> Result<String, EditorError> {
    let bytes = fs::read(file.path()).map_err(EditorError::File)?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(without_last_line_end(text)),
        Err(_) => {
            file.disable_cleanup(true);
            Err(EditorError::NotText { kept: file.path().to_owned() })
        }
    }
}

fn chosen() -> OsString {
    ["VISUAL", "EDITOR"]
        .into_iter()
        .filter_map(env::var_os)
        .find(|editor| !editor.is_empty())
        .unwrap_or_else(|| "vi".into())
}

/// Editors end a file with a line end; a draft has none.
fn without_last_line_end(mut text: String) -> String {
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    text
}
