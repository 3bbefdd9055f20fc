//! The receipt of an orderly stop: the file `.clean_shutdown` in the home.
//!
//! It appears whole or not at all, and a start takes it away at once, so that it never stands for a
//! later end than the one that wrote it.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use super::files::{Replacement, free_name, sync_folder};
use super::home::{Home, HomeError};
use crate::domain::Time;
use crate::domain::recovery::{FoundReceipt, Receipt};

/// A receipt has about a hundred bytes; what is longer is none.
const MAX_BYTES: u64 = 4096;

/// Writes the receipt, readable by its owner alone (0600). When this returns it is on the disk.
pub fn leave_receipt(home: &Home, receipt: &Receipt) -> Result<(), HomeError> {
    let path = home.receipt_file();
    write(&path, receipt).map_err(|source| HomeError::of(&path, source))
}

fn write(path: &Path, receipt: &Receipt) -> io::Result<()> {
    let text = serde_json::to_string(receipt)? + "\n";
    Replacement::of(path, text.as_bytes())?.take_place()
}

/// Reads the receipt and takes it away at once. A broken one is kept beside it as
/// `.clean_shutdown.corrupt-<time>`; the start goes on.
pub fn take_receipt(home: &Home, at: Time) -> Result<FoundReceipt, HomeError> {
    let path = home.receipt_file();
    let found = match read(&path) {
        Ok(receipt) => {
            fs::remove_file(&path).map_err(|source| HomeError::of(&path, source))?;
            FoundReceipt::Whole(receipt)
        }
        Err(Unread::Missing) => return Ok(FoundReceipt::Nothing),
        Err(Unread::Broken(why)) => {
            let aside = free_name(&path, "corrupt", at);
            let kept = match fs::rename(&path, &aside) {
                Ok(()) => format!("kept as {}", aside.display()),
                Err(error) => format!("left where it is, it can't be moved: {error}"),
            };
            FoundReceipt::Broken { why: format!("{}: {why}; {kept}", path.display()) }
        }
    };
    sync_folder(home.root()).map_err(|source| HomeError::of(home.root(), source))?;
    Ok(found)
}

enum Unread {
    Missing,
    Broken(String),
}

fn read(path: &Path) -> Result<Receipt, Unread> {
    let broken = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => Unread::Missing,
        _ => Unread::Broken(error.to_string()),
    };
    if !path.symlink_metadata().map_err(broken)?.is_file() {
        return Err(Unread::Broken("no regular file".to_owned()));
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes)).map_err(broken)?;
    if bytes.is_empty() {
        return Err(Unread::Broken("the file is empty".to_owned()));
    }
    serde_json::from_slice(&bytes).map_err(|error| Unread::Broken(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::RunId;
    use crate::domain::recovery::{LastExit, LastRun, Uncleanness, last_exit};
    use std::os::unix::fs::PermissionsExt;

    fn at(second: i64) -> Time {
        Time::UNIX_EPOCH + chrono::TimeDelta::seconds(second)
    }

    fn receipt() -> Receipt {
        Receipt { run: RunId("run-7".to_owned()), pid: 4121, at: at(90), cut: Vec::new() }
    }

    fn home() -> (tempfile::TempDir, Home) {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::resolve(Some(folder.path())).unwrap();
        (folder, home)
    }

    fn names(home: &Home) -> Vec<String> {
        let entries = fs::read_dir(home.root()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_receipt_is_taken_once() {
        let (_folder, home) = home();
        assert_eq!(take_receipt(&home, at(1)).unwrap(), FoundReceipt::Nothing);
        leave_receipt(&home, &receipt()).unwrap();
        assert_eq!(take_receipt(&home, at(1)).unwrap(), FoundReceipt::Whole(receipt()));
        assert_eq!(take_receipt(&home, at(1)).unwrap(), FoundReceipt::Nothing);
        assert!(names(&home).is_empty(), "{:?}", names(&home));
    }

    #[test]
    fn a_receipt_takes_the_place_of_an_older_one_and_only_its_owner_reads_it() {
        let (_folder, home) = home();
        fs::write(home.receipt_file(), "half").unwrap();
        leave_receipt(&home, &receipt()).unwrap();
        assert_eq!(names(&home), [".clean_shutdown"]);
        assert_eq!(home.receipt_file().metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let text = fs::read_to_string(home.receipt_file()).unwrap();
        assert_eq!(text, "{\"run\":\"run-7\",\"pid\":4121,\"at\":\"1970-01-01T00:01:30Z\"}\n");
    }

    #[test]
    fn a_receipt_that_can_not_be_written_is_told_with_its_place() {
        let (folder, home) = home();
        folder.close().unwrap();
        let error = leave_receipt(&home, &receipt()).unwrap_err().to_string();
        assert!(error.starts_with(&home.receipt_file().display().to_string()), "{error}");
    }

    #[test]
    fn a_broken_receipt_counts_as_unclean_and_is_kept_and_told() {
        let whole = serde_json::to_string(&receipt()).unwrap();
        let long = format!("{}{whole}", " ".repeat(4096));
        let half = &whole[..whole.len() / 2];
        let table = [
            ("", "the file is empty"),
            (half, "EOF while parsing"),
            ("null", "invalid type: null"),
            ("{}", "missing field `run`"),
            (&long, "EOF while parsing"),
        ];
        for (text, why) in table {
            let (_folder, home) = home();
            fs::write(home.receipt_file(), text).unwrap();
            let FoundReceipt::Broken { why: told } = take_receipt(&home, at(0)).unwrap() else {
                panic!("{text:?} is taken for a receipt")
            };
            let kept = home.root().join(".clean_shutdown.corrupt-19700101T000000Z");
            assert!(told.starts_with(&format!("{}: {why}", home.receipt_file().display())), "{told}");
            assert!(told.ends_with(&format!("; kept as {}", kept.display())), "{told}");
            assert_eq!(names(&home), [".clean_shutdown.corrupt-19700101T000000Z"]);
            assert_eq!(fs::read_to_string(kept).unwrap(), text);

            let last = LastRun { run: RunId("run-7".to_owned()), started_at: at(0), stamped_at: None };
            let exit = last_exit(FoundReceipt::Broken { why: told.clone() }, Some(&last));
            let why = Uncleanness::Unreadable { why: told };
            assert_eq!(exit, LastExit::Unclean { why, last_sign_of_life: at(0) });
        }
    }

    #[test]
    fn broken_receipts_of_one_second_are_all_kept() {
        let (_folder, home) = home();
        for text in ["one", "two", "three"] {
            fs::write(home.receipt_file(), text).unwrap();
            take_receipt(&home, at(0)).unwrap();
        }
        let first = ".clean_shutdown.corrupt-19700101T000000Z";
        assert_eq!(names(&home), [first.to_owned(), format!("{first}-2"), format!("{first}-3")]);
    }

    #[test]
    fn what_is_no_file_does_not_stop_a_start() {
        let (_folder, home) = home();
        fs::create_dir(home.receipt_file()).unwrap();
        let found = take_receipt(&home, at(0)).unwrap();
        assert!(
            matches!(&found, FoundReceipt::Broken { why } if why.contains("no regular file")),
            "{found:?}"
        );
        leave_receipt(&home, &receipt()).unwrap();
    }

    #[test]
    fn the_receipt_of_another_run_is_stale() {
        let (_folder, home) = home();
        leave_receipt(&home, &receipt()).unwrap();
        let last = LastRun { run: RunId("run-8".to_owned()), started_at: at(100), stamped_at: None };
        let exit = last_exit(take_receipt(&home, at(200)).unwrap(), Some(&last));
        let why = Uncleanness::Stale { of: RunId("run-7".to_owned()) };
        assert_eq!(exit, LastExit::Unclean { why, last_sign_of_life: at(100) });
    }
}
