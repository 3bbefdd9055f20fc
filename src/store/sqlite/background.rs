//! What works in a session's background: its background processes, and children of turns that outlived those.

use rusqlite::{Connection, Row};

use super::columns::time;
use super::sql;
use crate::domain::background::named;
use crate::domain::event::excerpt;
use crate::domain::id::{ProcessNumber, SessionId};
use crate::domain::reset::{Background, Work};
use crate::store::{Result, StoreError};

/// Reads it. What is kept and can't be understood counts as unknown, which stands against a reset.
pub(super) fn background(connection: &Connection, session: &SessionId) -> Result<Background> {
    let work = sql::rows(
        connection,
        "SELECT number, command AS what, process_group, began_at AS at FROM background
         WHERE session = ?1 AND ended_at IS NULL
         UNION ALL
         SELECT NULL, program, process_group, at FROM processes
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
    let what: String = row.get("what")?;
    let what = match row.get::<_, Option<ProcessNumber>>("number")? {
        Some(number) => format!("process {}", named(number, &excerpt(&what))),
        None => format!("{what} (process group {})", row.get::<_, i64>("process_group")?),
    };
    Ok(Work { what, since: time(row, "at")? })
}
