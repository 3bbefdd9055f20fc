//! What works in a session's background: child processes that outlived their turns.

use rusqlite::{Connection, Row};

use super::columns::time;
use super::sql;
use crate::domain::id::SessionId;
use crate::domain::reset::{Background, Work};
use crate::store::{Result, StoreError};

/// Reads it. What is kept and can't be understood counts as unknown, which stands against a reset.
pub(super) fn background(connection: &Connection, session: &SessionId) -> Result<Background> {
    let work = sql::rows(
        connection,
        "SELECT program, process_group, at FROM processes
         WHERE session = ?1 AND turn IS NOT (SELECT running_turn FROM sessions WHERE id = ?1)
         ORDER BY at, process_group",
        (session,),
        work,
    );
    match work {
        Ok(work) if work.is_empty() => Ok(Background::None),
        Ok(work) => Ok(Background::Active { work }),
        Err(StoreError::Database(why)) => Ok(Background::Unknown { why }),
        Err(other) => Err(other),
    }
}

fn work(row: &Row<'_>) -> rusqlite::Result<Work> {
    let (program, group): (String, i64) = (row.get("program")?, row.get("process_group")?);
    Ok(Work { what: format!("{program} (process group {group})"), since: time(row, "at")? })
}
