//! The schema: a numbered list of SQL texts.

use rusqlite::{Connection, TransactionBehavior};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Marks a file as ours ("SWBD").
pub(super) const APPLICATION_ID: i64 = 0x5357_4244;

/// Each brings a file from the version of its place to the next. One that was released never changes.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001.sql"),
    include_str!("migrations/0002.sql"),
    include_str!("migrations/0003.sql"),
    include_str!("migrations/0004.sql"),
    include_str!("migrations/0005.sql"),
    include_str!("migrations/0006.sql"),
    include_str!("migrations/0007.sql"),
    include_str!("migrations/0008.sql"),
    include_str!("migrations/0009.sql"),
    include_str!("migrations/0010.sql"),
    include_str!("migrations/0011.sql"),
    include_str!("migrations/0012.sql"),
    include_str!("migrations/0013.sql"),
    include_str!("migrations/0014.sql"),
    include_str!("migrations/0015.sql"),
    include_str!("migrations/0016.sql"),
    include_str!("migrations/0017.sql"),
    include_str!("migrations/0018.sql"),
    include_str!("migrations/0019.sql"),
    include_str!("migrations/0020.sql"),
    include_str!("migrations/0021.sql"),
    include_str!("migrations/0022.sql"),
    include_str!("migrations/0023.sql"),
];

/// The newest schema that this program knows.
pub(super) const NEWEST: i64 = MIGRATIONS.len() as i64;

/// Brings the file to the newest schema in one step, and marks it as ours. Writes nothing, and needs
/// no lock, where that was done before.
pub(super) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    if version(connection)? == NEWEST {
        return Ok(());
    }
    let step = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Read again inside the transaction: another process may have migrated in the meantime.
    let found = version(&step)?;
    for text in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or(0)) {
        step.execute_batch(text)?;
    }
    if found < NEWEST {
        step.pragma_update(None, "application_id", APPLICATION_ID)?;
        step.pragma_update(None, "user_version", NEWEST)?;
    }
    step.commit()
}

/// What distinguishes the schema of a file from the newest one, in words; none if nothing does.
pub(super) fn difference(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let (found, expected) = (parts(connection)?, expected()?);
    for (name, (kind, text)) in expected {
        match found.get(name) {
            None => return Ok(Some(format!("its {kind} {name} is missing"))),
            Some((_, other)) if other != text => {
                return Ok(Some(format!("its {kind} {name} is not as this program made it")));
            }
            Some(_) => {}
        }
    }
    let strange = found.iter().find(|(name, _)| !expected.contains_key(*name));
    Ok(strange.map(|(name, (kind, _))| format!("it has a {kind} {name} that this program does not know")))
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Tables, indices and such: the kind and the text of each by its name.
type Parts = BTreeMap<String, (String, String)>;

/// The parts of a new store.
fn expected() -> rusqlite::Result<&'static Parts> {
    static EXPECTED: OnceLock<Parts> = OnceLock::new();
    if let Some(parts) = EXPECTED.get() {
        return Ok(parts);
    }
    let mut new = Connection::open_in_memory()?;
    migrate(&mut new)?;
    let parts = parts(&new)?;
    Ok(EXPECTED.get_or_init(|| parts))
}

/// The search index is left out: it is made anew when it is damaged.
fn parts(connection: &Connection) -> rusqlite::Result<Parts> {
    let mut statement = connection.prepare(
        "SELECT name, type, coalesce(sql, '') FROM sqlite_schema
         WHERE name NOT GLOB 'sqlite_*' AND name NOT GLOB 'message_index*'",
    )?;
    let rows = statement.query_map((), |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?;
    rows.collect()
}
