//! The tool that writes a file: whole, or not at all.
//!
//! The way to the file is gone folder by folder, each opened in the one before and none by a symbolic
//! link: what is exchanged meanwhile can't lead it out of the working directory.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, fchmod, fsync, mkdirat, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::tool::{Does, Kind, Need, Parameter, Tool};
use super::workdir::Workdir;
use super::{ToolError, typed};
use crate::config::ToolName;
use crate::domain::changes::changes;
use crate::domain::event::count;

/// A longer file is not compared with what would be written.
const COMPARED_BYTES: u64 = 1024 * 1024;

pub(super) const TOOL: Tool = Tool {
    name: ToolName::WriteFile,
    about: "Writes a text file in the working directory, in place of what was there. Folders that are missing are made.",
    parameters: &[
        Parameter {
            name: "path",
            about: "The file, relative to the working directory.",
            kind: Kind::Text,
            need: Need::Required,
        },
        Parameter {
            name: "content",
            about: "The whole text of the file.",
            kind: Kind::Text,
            need: Need::Required,
        },
    ],
    does: Does::Files { run, asked: described },
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    content: String,
}

/// What would be written, for a person: what it changes in a text that is there, else the whole text.
fn described(arguments: Value, workdir: &Workdir, _: &CancellationToken) -> Result<String, ToolError> {
    let Arguments { path, content } = typed(ToolName::WriteFile, arguments)?;
    let inner = inner(workdir, &path)?;
    let there = std::fs::symlink_metadata(workdir.root().join(&inner)).ok().map(|about| about.len());
    let changed = text_of(workdir, &inner).and_then(|before| changes(&before, &content));
    let (place, shown) = match (there, &changed) {
        (None, _) => ("a new file:\n".to_owned(), &content),
        (Some(_), Some(changed)) if changed.is_empty() => ("which it says already".to_owned(), changed),
        (Some(bytes), Some(changed)) => {
            (format!("in place of a file of {bytes} bytes; what changes in it:\n"), changed)
        }
        (Some(bytes), None) => (format!("in place of a file of {bytes} bytes:\n"), &content),
    };
    Ok(format!("write {} ({} bytes), {place}{shown}", inner.display(), content.len()))
}

/// The text of a file; none where there is none, or none that may be shown and is short enough to be compared.
fn text_of(workdir: &Workdir, inner: &Path) -> Option<String> {
    let found = workdir.find(inner.to_str()?).ok()?;
    // What is reached by a link is not written.
    let (file, _) = workdir.open_file(&found).ok().filter(|_| found == workdir.root().join(inner))?;
    let mut text = String::new();
    file.take(COMPARED_BYTES + 1).read_to_string(&mut text).ok()?;
    Some(text).filter(|text| text.len() as u64 <= COMPARED_BYTES && !text.contains('\0'))
}

fn run(arguments: Value, workdir: &Workdir, stop: &CancellationToken) -> Result<String, ToolError> {
    let Arguments { path, content } = typed(ToolName::WriteFile, arguments)?;
    let inner = inner(workdir, &path)?;
    let told = inner.display().to_string();
    let whole = workdir.root().join(&inner);
    if workdir.is_secret(&whole) || workdir.is_engines(&whole) {
        return Err(ToolError::Secret { path: told });
    }
    let Some(name) = inner.file_name() else { return Err(ToolError::Folder { path: told }) };
    let failed = |error: Errno| ToolError::Unwritable { path: path.clone(), source: error.into() };
    let folder = folder_of(workdir, &inner).map_err(|error| match error {
        Errno::LOOP | Errno::NOTDIR => ToolError::Link { path: path.clone() },
        error => failed(error),
    })?;
    let mode = match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => None,
        Err(error) => return Err(failed(error)),
        Ok(about) => match FileType::from_raw_mode(about.st_mode) {
            FileType::RegularFile => Some(Mode::from_raw_mode(about.st_mode & 0o777)),
            FileType::Directory => return Err(ToolError::Folder { path: told }),
            FileType::Symlink => return Err(ToolError::Link { path }),
            _ => return Err(ToolError::Special { path: told }),
        },
    };
    if stop.is_cancelled() {
        return Err(ToolError::Stopped);
    }
    put(&folder, name, &content, mode).map_err(|source| ToolError::Unwritable { path, source })?;
    let how = if mode.is_some() { "written anew" } else { "made" };
    let (lines, bytes) = (count(content.lines().count(), "line"), count(content.len(), "byte"));
    Ok(format!("{told} was {how}: {lines}, {bytes}"))
}

/// The way of a file in the working directory, in plain names.
fn inner(workdir: &Workdir, path: &str) -> Result<PathBuf, ToolError> {
    let outside = || ToolError::Outside { path: path.to_owned(), workdir: workdir.root().to_path_buf() };
    let given = Path::new(path);
    let given =
        if given.is_absolute() { given.strip_prefix(workdir.root()).map_err(|_| outside())? } else { given };
    let mut inner = PathBuf::new();
    for part in given.components() {
        match part {
            Component::Normal(name) => inner.push(name),
            Component::CurDir => {}
            Component::ParentDir if inner.pop() => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return Err(outside()),
        }
    }
    match inner.file_name() {
        Some(_) if !path.ends_with('/') => Ok(inner),
        _ => Err(ToolError::Folder { path: path.to_owned() }),
    }
}

/// Opens the folder that a file is in, and makes those that are missing.
fn folder_of(workdir: &Workdir, inner: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
    let mut folder = openat(CWD, workdir.root(), flags, Mode::empty())?;
    for name in inner.parent().into_iter().flat_map(Path::components) {
        let name = name.as_os_str();
        folder = match openat(&folder, name, flags, Mode::empty()) {
            Err(Errno::NOENT) => {
                match mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error),
                }
                openat(&folder, name, flags, Mode::empty())?
            }
            opened => opened?,
        };
    }
    Ok(folder)
}

/// Writes a text beside its place, and puts it there when it is on disk.
fn put(folder: &OwnedFd, name: &OsStr, content: &str, mode: Option<Mode>) -> io::Result<()> {
    let beside = format!(".switchboard-{:016x}.tmp", fastrand::u64(..));
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(folder, &beside, flags, Mode::from_raw_mode(0o666))?;
    let written = || -> io::Result<()> {
        let mut file = File::from(file);
        if let Some(mode) = mode {
            fchmod(&file, mode)?;
        }
        file.write_all(content.as_bytes())?;
        file.sync_all()?;
        renameat(folder, &beside, folder, name)?;
        fsync(folder)?;
        Ok(())
    };
    written().inspect_err(|_| {
        let _ = unlinkat(folder, &beside, AtFlags::empty());
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::tools::Places;
    use serde_json::json;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::sync::atomic::{AtomicBool, Ordering};

    struct Stage {
        folder: tempfile::TempDir,
        workdir: Workdir,
    }

    impl Stage {
        /// A project with the engine's home in it, beside a folder that is nobody's business.
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            for path in ["project/src", "project/home", "outside"] {
                fs::create_dir_all(folder.path().join(path)).unwrap();
            }
            let workdir = Self::open(&folder);
            Self { folder, workdir }
        }

        fn open(folder: &tempfile::TempDir) -> Workdir {
            let (workdir, home) = (folder.path().join("project"), folder.path().join("project/home"));
            Workdir::open(&Places { workdir, home, key_files: Vec::new() }).unwrap()
        }

        fn path(&self, path: &str) -> PathBuf {
            self.folder.path().join("project").join(path)
        }

        fn write(&self, path: &str, content: &str) -> Result<String, String> {
            let arguments = json!({"path": path, "content": content});
            run(arguments, &self.workdir, &CancellationToken::new()).map_err(|error| error.to_string())
        }

        fn names(&self, folder: &str) -> Vec<String> {
            let entries = fs::read_dir(self.path(folder)).unwrap();
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
        }
    }

    #[test]
    fn a_file_is_made_with_its_folders_and_written_anew() {
        let stage = Stage::new();
        assert_eq!(
            stage.write("src/a/b.txt", "one\ntwo\n").unwrap(),
            "src/a/b.txt was made: 2 lines, 8 bytes"
        );
        assert_eq!(fs::read_to_string(stage.path("src/a/b.txt")).unwrap(), "one\ntwo\n");
        fs::set_permissions(stage.path("src/a/b.txt"), fs::Permissions::from_mode(0o750)).unwrap();
        let whole = stage.path("src/a/b.txt");
        stage.write(whole.to_str().unwrap(), "three").unwrap();
        assert_eq!(fs::read_to_string(&whole).unwrap(), "three");
        assert_eq!(fs::metadata(&whole).unwrap().permissions().mode() & 0o777, 0o750);
        assert_eq!(stage.names("src/a"), ["b.txt"], "nothing is left beside it");
    }

    #[test]
    fn nothing_is_written_outside_or_through_a_link() {
        let stage = Stage::new();
        let outside = stage.folder.path().join("outside");
        symlink(&outside, stage.path("link")).unwrap();
        symlink(outside.join("file"), stage.path("src/file")).unwrap();
        for path in ["../outside/x", "src/../../outside/x", "/etc/x", outside.join("x").to_str().unwrap()] {
            let refused = stage.write(path, "x").unwrap_err();
            assert!(refused.contains("is outside the working directory"), "{path}: {refused}");
        }
        for path in ["link/x", "src/file"] {
            let refused = stage.write(path, "x").unwrap_err();
            assert!(refused.contains("symbolic link"), "{path}: {refused}");
        }
        for path in ["", ".", "src", "src/", "new/"] {
            let refused = stage.write(path, "x").unwrap_err();
            assert!(refused.contains("is a folder"), "{path}: {refused}");
        }
        assert_eq!(fs::read_dir(outside).unwrap().count(), 0);
        assert!(stage.write("src/../a.txt", "x").is_ok());
    }

    #[test]
    fn a_folder_that_is_exchanged_for_a_link_again_and_again_lets_nothing_out() {
        let stage = Stage::new();
        let outside = stage.folder.path().join("outside");
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (real, kept) = (stage.path("swap"), stage.path("kept"));
                while !stop.load(Ordering::Relaxed) {
                    let _ = fs::create_dir(&real);
                    let _ = fs::rename(&real, &kept);
                    let _ = symlink(&outside, &real);
                    let _ = fs::remove_file(&real);
                    let _ = fs::remove_dir_all(&kept);
                }
            });
            for _ in 0..500 {
                let _ = stage.write("swap/x.txt", "x");
            }
            stop.store(true, Ordering::Relaxed);
        });
        assert_eq!(fs::read_dir(outside).unwrap().count(), 0);
    }

    #[test]
    fn what_belongs_to_the_engine_is_not_written() {
        let mut stage = Stage::new();
        fs::write(stage.path("tasks.json"), "").unwrap();
        symlink(stage.path("tasks.json"), stage.path("home/jobs.json")).unwrap();
        stage.workdir = Stage::open(&stage.folder);
        for path in [
            "home/config.toml",
            "home/state.db",
            "home/state.db-wal",
            "home/gateway.lock",
            "home/.clean_shutdown",
            "home/control.sock",
            "home/jobs.json",
            "home/jobs.json/x",
            "home/keymap.toml",
            "home/scripts/x.sh",
            "home/scripts/a/x.sh",
            "home/run/x",
            "home/logs/x",
            "home/output/news/x.md",
            "home/background/x",
            "home/a.key",
            "home/.env",
            "tasks.json",
        ] {
            let refused = stage.write(path, "x").unwrap_err();
            assert!(refused.contains("belongs to"), "{path}: {refused}");
        }
        assert_eq!(stage.names("home"), ["jobs.json"]);
        stage.write("home/notes.md", "x").unwrap();
    }

    #[test]
    fn who_is_asked_sees_what_changes_in_a_file_and_nothing_of_what_is_not_the_tools_to_read() {
        let stage = Stage::new();
        let described = |path: &str, content: &str| {
            let arguments = json!({"path": path, "content": content});
            described(arguments, &stage.workdir, &CancellationToken::new()).unwrap()
        };
        fs::write(stage.path("a.txt"), "one\ntwo\n").unwrap();
        assert_eq!(
            described("a.txt", "one\nthree\n"),
            "write a.txt (10 bytes), in place of a file of 8 bytes; what changes in it:\n@@ -1,2 +1,2 @@\n one\n-two\n+three"
        );
        assert_eq!(described("a.txt", "one\ntwo\n"), "write a.txt (8 bytes), which it says already");
        let many: String = (0..2_000).map(|n| format!("line {n}\n")).collect();
        let long = described("a.txt", &many);
        assert!(long.contains("\n+line 0\n") && long.ends_with("\n+line 1999"), "all of it");
        fs::write(stage.folder.path().join("outside/b.txt"), "walrus").unwrap();
        symlink(stage.folder.path().join("outside"), stage.path("link")).unwrap();
        symlink(stage.path("a.txt"), stage.path("other.txt")).unwrap();
        fs::write(stage.path("home/config.toml"), "walrus").unwrap();
        for path in ["link/b.txt", "other.txt", "home/config.toml"] {
            let told = described(path, "new");
            assert!(told.ends_with(" bytes:\nnew"), "{path}: {told}");
        }
    }

    #[test]
    fn who_is_asked_sees_the_file_and_its_text() {
        let stage = Stage::new();
        let described = |path: &str, content: &str| {
            let arguments = json!({"path": path, "content": content});
            described(arguments, &stage.workdir, &CancellationToken::new()).unwrap()
        };
        fs::write(stage.path("a.bin"), [0xFF, 0]).unwrap();
        assert_eq!(
            described("./a.bin", "new\n"),
            "write a.bin (4 bytes), in place of a file of 2 bytes:\nnew\n"
        );
        assert!(described("b.txt", "x").starts_with("write b.txt (1 bytes), a new file:"));
        let long = described("b.txt", &"x".repeat(10_000));
        assert!(long.ends_with(&"x".repeat(10_000)), "all of it");
    }
}
