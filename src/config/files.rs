//! Files that appear whole or not at all.

use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::domain::Time;

/// A new content for a file, on the disk beside it. It takes the file's place as a whole, or is taken away.
#[derive(Debug)]
pub struct Replacement {
    file: NamedTempFile,
    path: PathBuf,
}

impl Replacement {
    /// Writes the content to the disk beside `path`, readable by its owner alone (0600).
    pub fn of(path: &Path, content: &[u8]) -> io::Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let prefix = format!(".{}.", name.trim_start_matches('.'));
        let mut file = tempfile::Builder::new().prefix(&prefix).tempfile_in(folder_of(path))?;
        file.as_file().set_permissions(Permissions::from_mode(0o600))?;
        file.write_all(content)?;
        file.as_file().sync_all()?;
        Ok(Self { file, path: path.to_path_buf() })
    }

    /// The new file, to give it an owner or a mode.
    pub fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Takes the place of the file. When this returns it is on the disk.
    pub fn take_place(self) -> io::Result<()> {
        let Self { file, path } = self;
        file.persist(&path)?;
        sync_folder(folder_of(&path))
    }
}

/// A name for a file that is put aside, which nothing has yet, so that an earlier one is not lost: `<path>.<what>-<time>`.
pub fn free_name(path: &Path, what: &str, at: Time) -> PathBuf {
    let first = format!("{}.{what}-{}", path.display(), at.format("%Y%m%dT%H%M%SZ"));
    let later = (2_u32..).map(|n| format!("{first}-{n}"));
    let mut names = std::iter::once(first.clone()).chain(later).map(PathBuf::from);
    names.find(|name| name.symlink_metadata().is_err()).unwrap_or_else(|| first.into())
}

/// Puts on the disk which names a folder has.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    fs::File::open(folder)?.sync_all()
}

/// A file, whatever it is called: its device and its number there.
pub type Identity = (u64, u64);

/// Which file it is that stands there.
pub fn identity(found: &Metadata) -> Identity {
    (found.dev(), found.ino())
}

/// The folder that a file stands in.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
