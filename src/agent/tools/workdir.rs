//! Where tools work: inside one folder, and never on the engine's own secrets.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::ToolError;
use crate::config::engines_own;

/// The folders and files that decide what a tool may open.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// The only folder in which tools work.
    pub(crate) workdir: PathBuf,
    /// The engine's home.
    pub(crate) home: PathBuf,
    /// The file with the key to the model's server.
    pub(crate) key_files: Vec<PathBuf>,
}

/// The working directory, without symbolic links in its path.
#[derive(Debug, Clone)]
pub(super) struct Workdir {
    root: PathBuf,
    home: Option<PathBuf>,
    engines: Vec<PathBuf>,
    key_files: Vec<PathBuf>,
}

impl Workdir {
    /// Finds the places as they are now.
    pub(super) fn open(places: &Places) -> Result<Self, ToolError> {
        let root = fs::canonicalize(&places.workdir)
            .map_err(|source| ToolError::NoWorkdir { path: places.workdir.clone(), source })?;
        let real = |path: &Path| fs::canonicalize(path).ok();
        let home = real(&places.home);
        let own = engines_own(home.as_deref().unwrap_or(&places.home));
        Ok(Self {
            root,
            home,
            // By its name too: what is not there yet is the engine's to make.
            engines: own.iter().filter_map(|own| real(own)).chain(own.clone()).collect(),
            key_files: places.key_files.iter().filter_map(|file| real(file)).collect(),
        })
    }

    /// The folder itself.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Finds what a path means, by way of its symbolic links. A relative path begins in the folder.
    pub(super) fn find(&self, path: &str) -> Result<PathBuf, ToolError> {
        let found = fs::canonicalize(self.root.join(path))
            .map_err(|source| ToolError::Unreadable { path: path.to_owned(), source })?;
        if found.starts_with(&self.root) {
            Ok(found)
        } else {
            Err(ToolError::Outside { path: path.to_owned(), workdir: self.root.clone() })
        }
    }

    /// A found path as the model is told it.
    pub(super) fn told(&self, found: &Path) -> String {
        match found.strip_prefix(&self.root) {
            Ok(inner) if inner.as_os_str().is_empty() => ".".to_owned(),
            Ok(inner) => inner.display().to_string(),
            Err(_) => found.display().to_string(),
        }
    }

    /// Opens a file that was found, and tells its size.
    pub(super) fn open_file(&self, found: &Path) -> Result<(File, u64), ToolError> {
        let path = self.told(found);
        if self.is_secret(found) {
            return Err(ToolError::Secret { path });
        }
        // A pipe must not hold the tool up, and what became a link meanwhile was not judged.
        let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed();
        let opened = OpenOptions::new().read(true).custom_flags(flags).open(found);
        let described = opened.and_then(|file| Ok((file.metadata()?, file)));
        match described {
            Ok((about, file)) if about.is_file() => Ok((file, about.len())),
            Ok((about, _)) if about.is_dir() => Err(ToolError::Folder { path }),
            Ok(_) => Err(ToolError::Special { path }),
            // A socket can't be opened at all.
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => {
                Err(ToolError::Special { path })
            }
            Err(source) => Err(ToolError::Unreadable { path, source }),
        }
    }

    /// Whether a found file holds settings, the store or a key of the engine.
    pub(super) fn is_secret(&self, found: &Path) -> bool {
        if self.key_files.iter().any(|file| file == found) {
            return true;
        }
        let inner = self.home.as_deref().and_then(|home| found.strip_prefix(home).ok());
        let Some((inner, name)) = inner.and_then(|inner| Some((inner, inner.file_name()?.to_str()?))) else {
            return false;
        };
        // With what editors and SQLite leave beside them.
        let at_top = inner.components().count() == 1;
        let own = at_top && ["config.toml", "state.db"].iter().any(|own| name.contains(own));
        let key = inner.extension().is_some_and(|ending| ending == "key" || ending == "pem");
        own || key || name.starts_with(".env")
    }

    /// Whether a found file is one that the engine goes by, as its scheduled tasks and their scripts, or that only it
    /// writes. A tool that could write it would do what its own settings forbid.
    pub(super) fn is_engines(&self, found: &Path) -> bool {
        self.engines.iter().any(|own| found.starts_with(own))
    }
}

/// The error of reading a file that is open.
pub(super) fn unreadable(path: &str) -> impl Fn(io::Error) -> ToolError + use<> {
    let path = path.to_owned();
    move |source| ToolError::Unreadable { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    struct Stage {
        folder: tempfile::TempDir,
        workdir: Workdir,
    }

    /// A folder with a home and a project beside each other, and tools that work in one of them.
    fn stage(workdir: &str) -> Stage {
        let folder = tempfile::tempdir().unwrap();
        for path in ["home/keys", "project/src", "secrets"] {
            fs::create_dir_all(folder.path().join(path)).unwrap();
        }
        fs::write(folder.path().join("secrets/openai.txt"), "sk-1").unwrap();
        fs::write(folder.path().join("project/src/main.rs"), "fn main() {}\n").unwrap();
        let places = Places {
            workdir: folder.path().join(workdir),
            home: folder.path().join("home"),
            key_files: vec![folder.path().join("secrets/openai.txt")],
        };
        let workdir = Workdir::open(&places).unwrap();
        Stage { folder, workdir }
    }

    #[test]
    fn a_path_leads_nowhere_outside() {
        let Stage { folder, workdir } = stage("project");
        let outside = folder.path().join("secrets/openai.txt");
        symlink(&outside, folder.path().join("project/link")).unwrap();
        symlink(folder.path(), folder.path().join("project/up")).unwrap();
        for path in [
            "../secrets/openai.txt",
            "src/../../home",
            "link",
            "up/home",
            "..",
            "/etc/passwd",
            outside.to_str().unwrap(),
        ] {
            let refused = workdir.find(path).unwrap_err();
            assert!(matches!(refused, ToolError::Outside { .. }), "{path}: {refused}");
            assert!(refused.to_string().starts_with(&format!("{path} is outside the working directory ")));
        }
    }

    #[test]
    fn a_path_inside_may_be_written_in_any_way() {
        let Stage { folder, workdir } = stage("project");
        symlink("src", folder.path().join("project/sources")).unwrap();
        let whole = folder.path().join("project/src/main.rs");
        for path in ["src/main.rs", "./src/../src/main.rs", "sources/main.rs", whole.to_str().unwrap()] {
            let found = workdir.find(path).unwrap();
            assert_eq!(workdir.told(&found), "src/main.rs", "{path}");
        }
        assert_eq!(workdir.told(&workdir.find(".").unwrap()), ".");
    }

    #[test]
    fn a_folder_with_a_name_that_only_begins_the_same_is_outside() {
        let Stage { folder, workdir } = stage("project");
        fs::create_dir(folder.path().join("project-2")).unwrap();
        assert!(matches!(workdir.find("../project-2"), Err(ToolError::Outside { .. })));
    }

    #[test]
    fn the_homes_secrets_are_not_opened_even_where_the_home_is_the_working_directory() {
        let Stage { folder, workdir } = stage("home");
        let secrets = [
            "config.toml",
            "config.toml~",
            ".config.toml.swp",
            "state.db",
            "state.db-wal",
            ".env",
            ".env.local",
            "openai.key",
            "keys/other.key",
            "keys/server.pem",
        ];
        let open = ["jobs.json", "keys/readme.txt", "keys/config.toml"];
        for path in secrets.iter().chain(&open) {
            fs::write(folder.path().join("home").join(path), "x").unwrap();
        }
        for path in secrets {
            let refused = workdir.open_file(&workdir.find(path).unwrap()).unwrap_err();
            assert!(matches!(refused, ToolError::Secret { .. }), "{path}: {refused}");
        }
        for path in open {
            workdir.open_file(&workdir.find(path).unwrap()).unwrap();
        }
        symlink("config.toml", folder.path().join("home/other")).unwrap();
        assert!(workdir.is_secret(&workdir.find("other").unwrap()), "a link to a secret is one");
    }

    #[test]
    fn the_key_file_is_not_opened_wherever_it_is() {
        let Stage { folder: _folder, workdir } = stage("secrets");
        let refused = workdir.open_file(&workdir.find("openai.txt").unwrap()).unwrap_err();
        assert!(matches!(refused, ToolError::Secret { .. }), "{refused}");
    }

    #[test]
    fn only_regular_files_are_read() {
        let Stage { folder, workdir } = stage("project");
        let project = folder.path().join("project");
        rustix::fs::mkfifoat(rustix::fs::CWD, project.join("pipe"), rustix::fs::Mode::RWXU).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(project.join("socket")).unwrap();
        for (path, words) in
            [("src", "is a folder"), ("pipe", "no regular file"), ("socket", "no regular file")]
        {
            let refused = workdir.open_file(&workdir.find(path).unwrap()).unwrap_err().to_string();
            assert!(refused.contains(words), "{path}: {refused}");
        }
    }
}
