//! The operator's own editor, on a text of ours.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::PathBuf;
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

/// An editor that runs. Dropping it ends the editor.
pub struct Editing {
    child: Child,
    file: NamedTempFile,
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
        // Through a shell, since the variables may hold arguments.
        let child = Command::new("/bin/sh")
            .arg("-c")
            .arg(r#"eval "$0 \"\$1\"""#)
            .arg(&editor)
            .arg(file.path())
            .kill_on_drop(true)
            .spawn()
            .map_err(|source| EditorError::Start { editor: editor.clone(), source })?;
        Ok(Self { child, file, editor })
    }

    /// Waits until the editor ends, and reads what it left.
    pub async fn finish(&mut self) -> Result<String, EditorError> {
        let failed = |source| EditorError::Start { editor: self.editor.clone(), source };
        let status = self.child.wait().await.map_err(failed)?;
        if !status.success() {
            return Err(EditorError::Failed { editor: self.editor.clone(), status });
        }
        let bytes = fs::read(self.file.path()).map_err(EditorError::File)?;
        match String::from_utf8(bytes) {
            Ok(text) => Ok(without_last_line_end(text)),
            Err(_) => Err(EditorError::NotText { kept: self.keep() }),
        }
    }

    /// Lets a stopped editor go on: it shares our terminal, and its Ctrl-Z must not strand us.
    pub fn go_on(&self) {
        let pid = self.child.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed()));
        if let Some(pid) = pid {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::CONT);
        }
    }

    fn keep(&mut self) -> PathBuf {
        self.file.disable_cleanup(true);
        self.file.path().to_owned()
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
