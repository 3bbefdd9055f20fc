//! What each day used, as the rules of [`crate::domain::spending`] need it.

use rusqlite::Connection;

use super::columns::kept_json;
use super::sql;
use crate::domain::Time;
use crate::domain::spending::{ALL, Reached, Rules, Scope, Spent};
use crate::store::Result;

/// The limits of the run; none before the first that had any say.
pub(super) fn rules(connection: &Connection) -> Result<Option<Rules>> {
    sql::only(connection, "SELECT spending FROM house", (), |row| kept_json(row, "spending"))
}

/// The limit that a scope has reached; none where it was let go for the day, or there are no limits.
pub(super) fn reached(
    connection: &Connection,
    rules: &Rules,
    scope: &Scope,
    at: Time,
) -> Result<Option<Reached>> {
    if rules.are_off() {
        return Ok(None);
    }
    let day = rules.day(at).to_string();
    let of = |scope: &str| {
        sql::first(
            connection,
            "SELECT tokens, cost, let_go FROM spent WHERE day = ?1 AND scope = ?2",
            (&day, scope),
            |row| Ok((Spent { tokens: row.get(0)?, cost: row.get(1)? }, row.get::<_, bool>(2)?)),
        )
    };
    let (own, let_go) = of(&scope.word())?.unwrap_or_default();
    let (all, _) = of(ALL)?.unwrap_or_default();
    Ok(if let_go { None } else { rules.reached(scope, own, all) })
}
