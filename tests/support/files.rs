//! Files that are made from the source and kept in the repository.

use std::fs;
use std::path::{Path, PathBuf};

/// A path in this repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Checks that the kept file `path` is `text`. With `UPDATE_FILES=1` in the environment it is written
/// instead; look at the difference before you commit it.
pub fn assert_kept(path: &Path, text: &str) {
    if std::env::var_os("UPDATE_FILES").is_some() {
        fs::write(path, text).unwrap();
        return;
    }
    let kept = fs::read_to_string(path).unwrap_or_default();
    pretty_assertions::assert_eq!(
        kept,
        text,
        "{} is not fresh: run the test once with UPDATE_FILES=1",
        path.display()
    );
}
