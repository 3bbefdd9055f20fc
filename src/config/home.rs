//! The home folder: where everything of one engine is kept.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::document::DEFAULT_FILE;

/// The environment variable that names the home.
pub const HOME_VARIABLE: &str = "SWITCHBOARD_HOME";

/// A home folder. It need not exist yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    root: PathBuf,
}

impl Home {
    /// Chooses the home: the one named on the command line, else `$SWITCHBOARD_HOME`, else
    /// `~/.switchboard`. Touches nothing.
    pub fn resolve(named: Option<&Path>) -> Result<Self, HomeError> {
        let variable =
            || std::env::var_os(HOME_VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
        let chosen = match named.map(Path::to_path_buf).or_else(variable) {
            Some(path) => path,
            None => etcetera::home_dir().map_err(|_| HomeError::Unknown)?.join(".switchboard"),
        };
        let root =
            std::path::absolute(&chosen).map_err(|source| HomeError::Unusable { path: chosen, source })?;
        Ok(Self { root })
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The settings.
    pub fn config_file(&self) -> PathBuf {
        self.root.join("config.toml")
    }

    /// The operator's changes to the shipped key map.
    pub fn keymap_file(&self) -> PathBuf {
        self.root.join("keymap.toml")
    }

    /// The scheduled tasks.
    pub fn jobs_file(&self) -> PathBuf {
        self.root.join("jobs.json")
    }

    /// The database.
    pub fn state_db(&self) -> PathBuf {
        self.root.join("state.db")
    }

    /// The folder of the log files.
    pub fn logs(&self) -> PathBuf {
        self.root.join("logs")
    }

    /// The folder of exported sessions.
    pub fn exports(&self) -> PathBuf {
        self.root.join("exports")
    }

    /// The skills: a folder with a `SKILL.md` each.
    pub fn skills(&self) -> PathBuf {
        self.root.join("skills")
    }

    /// The only folder in which the scripts of jobs may live.
    pub fn scripts(&self) -> PathBuf {
        self.root.join("scripts")
    }

    /// The folder of the output documents: a folder a job, a document a run.
    pub fn output(&self) -> PathBuf {
        self.root.join("output")
    }

    /// The folder of what the turns that run need and nobody afterwards. It is made when it is needed.
    pub fn run(&self) -> PathBuf {
        run_folder(&self.root)
    }

    /// Removes what the turns of an engine that died have left. Only who holds the home may call it.
    pub fn clear_run(&self) -> io::Result<()> {
        match std::fs::remove_dir_all(self.run()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// The folder of what background processes write: a folder a session, a file a process.
    pub fn background(&self) -> PathBuf {
        self.root.join("background")
    }

    /// The socket at which a running engine is reached.
    pub fn socket(&self) -> PathBuf {
        self.root.join("control.sock")
    }

    /// The file whose lock the one engine of this home holds.
    pub fn lock_file(&self) -> PathBuf {
        self.root.join("gateway.lock")
    }

    /// What an engine leaves when it has stopped in order.
    pub fn receipt_file(&self) -> PathBuf {
        self.root.join(".clean_shutdown")
    }

    /// Makes what is missing: the folders (0700) and a commented `config.toml` (0600). What exists is
    /// left as it is.
    pub fn create(&self) -> Result<(), HomeError> {
        if std::os::unix::net::SocketAddr::from_pathname(self.socket()).is_err() {
            return Err(HomeError::NoSocket(self.socket()));
        }
        for folder in [self.root.clone(), self.logs(), self.exports()] {
            if folder.symlink_metadata().is_ok() && !folder.is_dir() {
                return Err(HomeError::NotAFolder(folder));
            }
            let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
            made.map_err(|source| HomeError::of(&folder, source))?;
        }
        let file = self.config_file();
        if !file.exists() {
            self.write_default_config().map_err(|source| HomeError::of(&file, source))?;
        }
        Ok(())
    }

    /// The file appears whole or not at all, and never in place of one that came meanwhile.
    fn write_default_config(&self) -> io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(&self.root)?;
        file.write_all(DEFAULT_FILE.as_bytes())?;
        file.as_file().sync_all()?;
        match file.persist_noclobber(self.config_file()) {
            Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => Err(error.error),
            _ => File::open(&self.root)?.sync_all(),
        }
    }
}

/// What the engine of the home at `root` goes by, as its scheduled tasks and their scripts, and what only it writes.
pub fn engines_own(root: &Path) -> Vec<PathBuf> {
    let home = Home { root: root.to_path_buf() };
    vec![
        home.config_file(),
        home.keymap_file(),
        home.jobs_file(),
        home.state_db(),
        home.logs(),
        home.scripts(),
        home.output(),
        home.run(),
        home.background(),
        home.socket(),
        home.lock_file(),
        home.receipt_file(),
    ]
}

/// [`Home::run`] of the home at `root`.
pub fn run_folder(root: &Path) -> PathBuf {
    root.join("run")
}

/// Why a home can't be used.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    /// Nobody knows where the user's folder is.
    #[error("there is no home folder: $HOME is not set; name one with --home DIR or ${HOME_VARIABLE}")]
    Unknown,
    /// Something else stands where a folder must be.
    #[error("{}: not a folder; move it away, or name another home with --home DIR", .0.display())]
    NotAFolder(PathBuf),
    /// No socket can have the path that this home's would have.
    #[error("{}: the path is too long for a socket (about 100 bytes); use a shorter --home DIR", .0.display())]
    NoSocket(PathBuf),
    /// The disk is full.
    #[error("{}: the disk is full; free some space, or name another home with --home DIR", .0.display())]
    FullDisk(PathBuf),
    /// Something in it can't be made or opened.
    #[error("{}: {source}; {}, or name another home with --home DIR", path.display(), way_out(source))]
    Unusable {
        /// What.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

fn way_out(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::PermissionDenied => "give yourself permission to write there",
        io::ErrorKind::ReadOnlyFilesystem => "mount it to be written, look at it with --read-only",
        io::ErrorKind::IsADirectory => "move it away",
        _ => "mend that",
    }
}

impl HomeError {
    /// The error of an operation on `path`.
    pub(super) fn of(path: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::FullDisk(path.to_path_buf()),
            io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
                Self::NotAFolder(path.ancestors().find(|part| part.exists()).unwrap_or(path).to_path_buf())
            }
            _ => Self::Unusable { path: path.to_path_buf(), source },
        }
    }
}
