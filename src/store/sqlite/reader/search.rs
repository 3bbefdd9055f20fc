//! Search: the words of all messages, best matches first.

use super::super::columns::time;
use super::super::sql::at_most;
use super::Reader;
use crate::domain::api::Hit;
use crate::domain::id::SessionKey;
use crate::store::{Result, StoreError};

impl Reader<'_> {
    pub(super) fn search(&self, words: &str, limit: usize) -> Result<Vec<Hit>> {
        let Some(question) = question(words) else { return Ok(Vec::new()) };
        self.rows(
            "SELECT m.id, m.session, m.at, s.key, s.title,
                 snippet(message_index, 0, char(2), char(3), '…', 24) AS snippet
             FROM message_index JOIN messages m ON m.id = message_index.rowid
                 JOIN sessions s ON s.id = m.session
             WHERE message_index MATCH ?1 AND m.role <> 'withdrawn'
             ORDER BY message_index.rank LIMIT ?2",
            (question, at_most(limit)),
            |row| {
                let key: SessionKey = row.get("key")?;
                let title: Option<String> = row.get("title")?;
                Ok(Hit {
                    message: row.get("id")?,
                    session: row.get("session")?,
                    session_name: title.unwrap_or_else(|| key.parts().chat_id.to_owned()),
                    at: time(row, "at")?,
                    snippet: row.get("snippet")?,
                })
            },
        )
        .map_err(|error| match error {
            StoreError::Database(why) => StoreError::Database(format!(
                "the search index can't be read ({why}); messages are not affected"
            )),
            other => other,
        })
    }
}

/// Every word must occur, the last one perhaps only its beginning. Quotes make each a plain word.
fn question(words: &str) -> Option<String> {
    let quoted: Vec<String> = words
        .split_whitespace()
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .map(|word| format!("\"{}\"", word.replace('"', "\"\"")))
        .collect();
    if quoted.is_empty() { None } else { Some(format!("{}*", quoted.join(" "))) }
}
