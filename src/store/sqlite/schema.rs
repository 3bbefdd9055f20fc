//! The schema: a numbered list of SQL texts.

use rusqlite::{Connection, TransactionBehavior};

/// Marks a file as ours ("SWBD").
pub(super) const APPLICATION_ID: i64 = 0x5357_4244;

/// Each brings a file from the version of its place to the next. One that was released never changes.
const MIGRATIONS: &[&str] = &[include_str!("migrations/0001.sql")];

/// The newest schema that this program knows.
pub(super) const NEWEST: i64 = MIGRATIONS.len() as i64;

/// Brings the file to the newest schema in one step, and marks it as ours.
pub(super) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    let step = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Read inside the transaction: another process may have migrated in the meantime.
    let found: i64 = step.pragma_query_value(None, "user_version", |row| row.get(0))?;
    for text in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or(0)) {
        step.execute_batch(text)?;
    }
    if found < NEWEST {
        step.pragma_update(None, "application_id", APPLICATION_ID)?;
        step.pragma_update(None, "user_version", NEWEST)?;
    }
    step.commit()
}
