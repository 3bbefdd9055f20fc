//! What each day used, as the rules of [`crate::domain::spending`] need it.

use rusqlite::Connection;

use super::columns::kept_json;
use super::sql;
use crate::domain::Time;
use crate::domain::spending::{ALL, Reached, Rules, Scope, Spent, Today};
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
    let (own, let_go) = sum(connection, rules, &scope.word(), at)?;
    let (all, _) = sum(connection, rules, ALL, at)?;
    Ok(if let_go { None } else { rules.reached(scope, own, all) })
}

/// What is used today of the limits that count for each scope.
pub(super) fn today_of(connection: &Connection, scopes: &[Scope], at: Time) -> Result<Vec<Option<Today>>> {
    let Some(rules) = rules(connection)?.filter(|rules| !rules.are_off()) else {
        return Ok(vec![None; scopes.len()]);
    };
    let (all, _) = sum(connection, &rules, ALL, at)?;
    let of = |scope: &Scope| {
        let (own, let_go) = sum(connection, &rules, &scope.word(), at)?;
        Ok(rules.today(Some((scope, own)), all, at).map(|today| Today { let_go, ..today }))
    };
    scopes.iter().map(of).collect()
}

/// What is used today of the limits of everything together.
pub(super) fn today_of_all(connection: &Connection, at: Time) -> Result<Option<Today>> {
    let Some(rules) = rules(connection)? else { return Ok(None) };
    let (all, _) = sum(connection, &rules, ALL, at)?;
    Ok(rules.today(None, all, at))
}

/// What was used under a word that day, and whether it was let go.
fn sum(connection: &Connection, rules: &Rules, word: &str, at: Time) -> Result<(Spent, bool)> {
    let sum = sql::first(
        connection,
        "SELECT tokens, cost, let_go FROM spent WHERE day = ?1 AND scope = ?2",
        (rules.day(at).to_string(), word),
        |row| Ok((Spent { tokens: row.get(0)?, cost: row.get(1)? }, row.get(2)?)),
    )?;
    Ok(sum.unwrap_or_default())
}
