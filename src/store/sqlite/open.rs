//! Opening a file: the checks that leave a foreign one alone, and the settings that must have taken.

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use rustix::fs::{StatVfsMountFlags, statvfs};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::log::{self, Found};
use super::schema::{self, APPLICATION_ID, NEWEST};
use crate::domain::damage::{LogDamage, Lost};
use crate::store::{Result, StoreError};

/// Short, so that trouble is told early: the writer repeats by itself.
const BUSY_TIMEOUT: Duration = Duration::from_millis(50);
const CACHED_STATEMENTS: usize = 192;
const MIXED: &str = "its log is damaged in a part that was moved into the file already, so that both \
                     together are no state that ever was; without state.db-wal and state.db-shm beside it \
                     the file can be opened alone";

/// Opens the one connection that writes, and tells of damage in its log. Makes the file (mode 0600) if
/// there is none.
pub(super) fn open_writer(path: &Path) -> Result<(Connection, Option<LogDamage>)> {
    let found = match examine(path)? {
        Age::New => {
            make(path)?;
            Found::Whole
        }
        Age::Kept { page_size } => {
            log::examine(path, page_size).map_err(|source| open_error(path, source))?
        }
    };
    let damage = match found {
        Found::Whole | Found::Remains => None,
        Found::Damaged(lost) => Some(LogDamage { lost, found: log::keep(path) }),
        Found::Mixed => return Err(foreign(path, MIXED)),
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(|error| unopened(path, &error))?;
    let told = |error: rusqlite::Error| unopened(path, &error);
    connection.busy_timeout(BUSY_TIMEOUT).map_err(told)?;
    // Until the file is known to be ours, closing must not write to it either.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(told)?;
    check_version(path, &connection)?;
    schema::migrate(&mut connection).map_err(told)?;
    set(path, &connection, "journal_mode", "wal")?;
    set(path, &connection, "synchronous", "2")?;
    set(path, &connection, "foreign_keys", "1")?;
    set(path, &connection, "temp_store", "2")?;
    set(path, &connection, "journal_size_limit", "67108864")?;
    // The same pages change again and again: a rare checkpoint moves each once for many commits.
    set(path, &connection, "wal_autocheckpoint", "8192")?;
    set(path, &connection, "cache_size", "-8192")?;
    check_schema(path, &connection)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map_err(told)?;
    keep_statements(path, &connection)?;
    if found != Found::Whole {
        // Where a reader or a full disk is in the way what stands there stays, and is overwritten in time.
        let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()));
    }
    Ok((connection, damage))
}

/// Looks at the log of a store that nobody has open: what of it can't be read, if anything.
pub(super) fn examine_log(path: &Path) -> Result<Option<Lost>> {
    let Age::Kept { page_size } = examine(path)? else { return Ok(None) };
    match log::examine(path, page_size).map_err(|source| open_error(path, source))? {
        Found::Whole | Found::Remains => Ok(None),
        Found::Damaged(lost) => Ok(Some(lost)),
        Found::Mixed => Err(foreign(path, MIXED)),
    }
}

/// Opens a connection that can only read, to a file that exists.
pub(super) fn open_reader(path: &Path) -> Result<Connection> {
    if examine(path)? == Age::New {
        return Err(open_error(path, io::Error::new(io::ErrorKind::NotFound, "there is no store yet")));
    }
    open_reader_again(path)
}

/// The same in a process that has a connection already. The file is not looked at by other means than
/// SQLite's: on Unix whoever closes a file gives up the locks that the process holds on it, and without
/// its lock the next foreign reader takes the log away from under the writer.
pub(super) fn open_reader_again(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = match can_not_change(path) {
        true => Connection::open_with_flags(immutable(path), flags | OpenFlags::SQLITE_OPEN_URI),
        false => Connection::open_with_flags(path, flags),
    };
    let connection = opened.map_err(|error| unopened(path, &error))?;
    connection.busy_timeout(Duration::from_secs(2)).map_err(|error| unopened(path, &error))?;
    check_version(path, &connection)?;
    check_schema(path, &connection)?;
    set(path, &connection, "query_only", "1")?;
    set(path, &connection, "cache_size", "-8192")?;
    set(path, &connection, "temp_store", "2")?;
    keep_statements(path, &connection)?;
    Ok(connection)
}

/// Whether nobody can write the file: it is on a read-only file system, where SQLite has no place for its locks, and
/// all of it is in the file.
fn can_not_change(path: &Path) -> bool {
    let read_only = statvfs(path).is_ok_and(|about| about.f_flag.contains(StatVfsMountFlags::RDONLY));
    read_only && !beside(path, "-wal").exists()
}

/// The name that tells SQLite so.
fn immutable(path: &Path) -> String {
    let encoded = path.as_os_str().as_bytes().iter().map(|byte| match byte {
        b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => char::from(*byte).to_string(),
        other => format!("%{other:02x}"),
    });
    format!("file:{}?immutable=1", encoded.collect::<String>())
}

/// Makes a new store. It is whole before it has its name, so that no crash leaves half of one.
fn make(path: &Path) -> Result<()> {
    let new = beside(path, ".new");
    for leftover in [new.clone(), beside(&new, "-journal")] {
        match fs::remove_file(&leftover) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(open_error(&leftover, source));
            }
            _ => {}
        }
    }
    let mut options = OpenOptions::new();
    options.create_new(true).write(true).mode(0o600).open(&new).map_err(|source| open_error(&new, source))?;
    let told = |error: rusqlite::Error| unopened(&new, &error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(&new, flags).map_err(told)?;
    set(&new, &connection, "synchronous", "2")?;
    // A step changes a few bytes on each of several pages, and the log takes them whole: at half the
    // usual size a third more steps a second, while long texts still fit into few.
    set(&new, &connection, "page_size", "2048")?;
    schema::migrate(&mut connection).map_err(told)?;
    connection.close().map_err(|(_, error)| told(error))?;
    fs::rename(&new, path).map_err(|source| open_error(path, source))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(|source| open_error(folder, source))
}

/// The file that SQLite or this program puts beside `path`: its name with an ending.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Keeps statements as they were prepared. Without the planner's stability SQLite looks at the bound
/// values when a table has a partial index, and prepares the statement anew for each.
fn keep_statements(path: &Path, connection: &Connection) -> Result<()> {
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
        .map(|_| ())
        .map_err(|error| unopened(path, &error))
}

#[derive(Debug, PartialEq, Eq)]
enum Age {
    New,
    Kept { page_size: usize },
}

/// Looks at the header of a file before SQLite does, so that a foreign one is not touched at all.
fn examine(path: &Path) -> Result<Age> {
    let mut header = Vec::with_capacity(100);
    match File::open(path) {
        Ok(file) => file.take(100).read_to_end(&mut header).map_err(|source| open_error(path, source))?,
        Err(source) if source.kind() == io::ErrorKind::NotFound => {
            refuse_remains(path)?;
            return Ok(Age::New);
        }
        Err(source) => return Err(open_error(path, source)),
    };
    if header.is_empty() {
        return Err(foreign(path, "it is empty, a store never is"));
    }
    if header.len() < 100 || !header.starts_with(b"SQLite format 3\0") {
        return Err(foreign(path, "it is no SQLite database"));
    }
    let number = |at: usize| {
        header.get(at..at + 4).into_iter().flatten().fold(0_i64, |sum, byte| sum << 8 | i64::from(*byte))
    };
    refuse_unless_ours(path, number(68), number(60))?;
    // Two bytes at 16; 1 stands for the one size that does not fit.
    let page_size = match number(14) & 0xffff {
        1 => 65_536,
        size => usize::try_from(size).unwrap_or(0),
    };
    Ok(Age::Kept { page_size })
}

/// A store that is gone but has left something behind is not a new one.
fn refuse_remains(path: &Path) -> Result<()> {
    if path.symlink_metadata().is_ok() {
        return Err(foreign(path, "it is a link to a file that is not there"));
    }
    let log = beside(path, "-wal");
    if log.symlink_metadata().is_ok() {
        let problem = format!("it is missing, but its log {} is there", log.display());
        return Err(foreign(path, &problem));
    }
    Ok(())
}

/// Refuses a file in which a part of the schema is missing, or is not as this program made it.
fn check_schema(path: &Path, connection: &Connection) -> Result<()> {
    match schema::difference(connection).map_err(|error| unopened(path, &error))? {
        Some(difference) => Err(foreign(path, &difference)),
        None => Ok(()),
    }
}

/// Asks SQLite for the same numbers: its log may hold newer ones than the file.
fn check_version(path: &Path, connection: &Connection) -> Result<()> {
    let number = |pragma: &str| -> Result<i64> {
        connection.pragma_query_value(None, pragma, |row| row.get(0)).map_err(|error| unopened(path, &error))
    };
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(|error| unopened(path, &error))?;
    if tables == 0 {
        Ok(())
    } else {
        refuse_unless_ours(path, number("application_id")?, number("user_version")?)
    }
}

fn refuse_unless_ours(path: &Path, application_id: i64, version: i64) -> Result<()> {
    if application_id != APPLICATION_ID {
        let problem = format!("it is another program's database (application id {application_id:#010x})");
        return Err(foreign(path, &problem));
    }
    if version > NEWEST {
        return Err(StoreError::Newer { path: path.to_owned(), found: version, known: NEWEST });
    }
    Ok(())
}

/// Sets a pragma and reads it back: SQLite ignores in silence what it does not understand.
fn set(path: &Path, connection: &Connection, pragma: &str, wanted: &str) -> Result<()> {
    let told = |error: rusqlite::Error| unopened(path, &error);
    // Some pragmas answer when they are set and some do not.
    connection.pragma_update_and_check(None, pragma, wanted, |_| Ok(())).or_else(|error| match error {
        rusqlite::Error::QueryReturnedNoRows => Ok(()),
        other => Err(told(other)),
    })?;
    let taken = connection
        .pragma_query_value(None, pragma, |row| match row.get_ref(0)? {
            rusqlite::types::ValueRef::Integer(number) => Ok(number.to_string()),
            other => Ok(other.as_str().unwrap_or_default().to_owned()),
        })
        .map_err(told)?;
    if taken == wanted {
        return Ok(());
    }
    let problem =
        format!("the setting {pragma} = {wanted} did not take, it is {taken}: the store would not be safe");
    Err(open_error(path, io::Error::other(problem)))
}

fn unopened(path: &Path, error: &rusqlite::Error) -> StoreError {
    let failed = |kind| open_error(path, io::Error::new(kind, error.to_string()));
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => foreign(path, "it is no SQLite database"),
        Some(rusqlite::ErrorCode::DatabaseCorrupt) => foreign(path, "it is damaged"),
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => {
            failed(io::ErrorKind::ResourceBusy)
        }
        Some(rusqlite::ErrorCode::DiskFull) => failed(io::ErrorKind::StorageFull),
        Some(rusqlite::ErrorCode::ReadOnly | rusqlite::ErrorCode::PermissionDenied) => {
            failed(io::ErrorKind::PermissionDenied)
        }
        _ => failed(io::ErrorKind::Other),
    }
}

fn open_error(path: &Path, source: io::Error) -> StoreError {
    StoreError::Open { path: path.to_owned(), source }
}

fn foreign(path: &Path, problem: &str) -> StoreError {
    StoreError::Foreign { path: path.to_owned(), problem: problem.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::StatementStatus;

    #[test]
    fn a_statement_is_prepared_once_whatever_is_bound_to_it() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("state.db");
        for connection in [open_writer(&path).unwrap().0, open_reader(&path).unwrap()] {
            let mut statement = connection
                .prepare("SELECT count(*) FROM items WHERE session = ?1 AND state = 'waiting' AND lane = ?2")
                .unwrap();
            for session in ["a", "b", "c"] {
                statement.query_row((session, "slot"), |_| Ok(())).unwrap();
            }
            assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
        }
    }
}
