//! Statements: prepared once, found again by their text.

use rusqlite::{Connection, OptionalExtension, Params, Row};

use crate::store::Result;

/// Runs a statement that changes rows; returns how many.
pub(super) fn execute(connection: &Connection, sql: &str, params: impl Params) -> Result<usize> {
    Ok(connection.prepare_cached(sql)?.execute(params)?)
}

/// Runs a statement that inserts one row; returns the row's number.
pub(super) fn insert(connection: &Connection, sql: &str, params: impl Params) -> Result<i64> {
    Ok(connection.prepare_cached(sql)?.insert(params)?)
}

/// Reads the first row, if there is one.
pub(super) fn first<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Option<T>> {
    Ok(connection.prepare_cached(sql)?.query_row(params, read).optional()?)
}

/// Reads the only row of a question that always has one.
pub(super) fn only<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<T> {
    Ok(connection.prepare_cached(sql)?.query_row(params, read)?)
}

/// Reads all rows. The statement says how many at most.
pub(super) fn rows<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>> {
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_map(params, read)?.collect::<rusqlite::Result<Vec<T>>>()?;
    Ok(found)
}

/// A limit as SQL takes it; no limit is that large.
pub(super) fn at_most(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
