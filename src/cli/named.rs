//! The session that a person means.

use crate::control::Client;
use crate::domain::api::{Answer, Query, SessionRow};
use crate::domain::id::{SessionId, SessionKey};

/// So many sessions an ambiguous name tells.
const CANDIDATES: usize = 5;

/// Finds the one session that is live under a key or a local session's name, or that an id, a title or the
/// beginning of an id names; the first of these that finds any decides.
pub(super) async fn session_named(client: &dyn Client, named: &str) -> anyhow::Result<SessionId> {
    if let Ok(key) = SessionKey::from_operator(named)
        && let Answer::Session(Some(row)) = client.query(Query::SessionAt { key }).await?
    {
        return Ok(row.session.id);
    }
    let query = Query::SessionsNamed { name: named.to_owned(), limit: CANDIDATES + 1 };
    let Answer::Sessions(page) = client.query(query).await? else {
        anyhow::bail!("the engine gave an answer of another kind");
    };
    match &page.rows[..] {
        [row] => Ok(row.session.id.clone()),
        [] => anyhow::bail!("there is no session {named:?}; `switchboard sessions` lists them"),
        several => anyhow::bail!("{named:?} fits several sessions: {}", ids(several)),
    }
}

fn ids(rows: &[SessionRow]) -> String {
    let mut ids: Vec<&str> = rows.iter().take(CANDIDATES).map(|row| row.session.id.as_str()).collect();
    if rows.len() > CANDIDATES {
        ids.push("…");
    }
    ids.join(", ")
}
