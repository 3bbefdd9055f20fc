//! Conversations: for a screen by pages, for an agent before its turn.

use rusqlite::Row;
use rusqlite::types::Type;

use super::super::columns::{optional_time, outcome, time};
use super::super::sql::at_most;
use super::Reader;
use crate::domain::api::ConversationPage;
use crate::domain::history::{Beginning, Body, Entry, Excerpt, Summary, ToolResult, joined};
use crate::domain::id::{MessageId, SessionId, TurnId};
use crate::domain::plan::{NoPlan, Plan};
use crate::store::Result;

/// Walks back from a message, as far as the limit needs; hidden turns do not count.
const WALK: &str = "
    WITH RECURSIVE walk (id, previous) AS (
        SELECT id, previous FROM messages WHERE id = ?1
        UNION ALL
        SELECT m.id, m.previous FROM walk w CROSS JOIN messages m ON m.id = w.previous)
    SELECT m.id, m.session, m.turn, m.at, m.role, m.text, m.produced, m.call, m.tool, m.arguments, m.ok,
        m.result_at, t.state AS turn_state, t.error, t.end_cause
    FROM walk CROSS JOIN messages m ON m.id = walk.id CROSS JOIN turns t ON t.id = m.turn
    WHERE t.hidden = 0 AND m.role <> 'withdrawn' LIMIT ?2";

/// So many parts of a text before the asked for entries are read with them, and no more.
const MOST_PARTS: usize = 64;

impl Reader<'_> {
    pub(super) fn conversation(
        &self,
        session: &SessionId,
        before: Option<MessageId>,
        limit: usize,
    ) -> Result<ConversationPage> {
        let newest: Option<Option<MessageId>> = match before {
            None => {
                self.first("SELECT last_message FROM sessions WHERE id = ?1", (session,), |row| row.get(0))?
            }
            Some(before) => self.first(
                "SELECT previous FROM messages WHERE id = ?1 AND session = ?2",
                (before, session),
                |row| row.get(0),
            )?,
        };
        let (mut entries, more_before) = self.whole_texts(newest.flatten(), limit)?;
        entries.reverse();
        let plan = if before.is_none() { self.running_plan(session)? } else { None };
        Ok(ConversationPage { entries: joined(entries), more_before, live: None, doing: None, plan })
    }

    /// So many entries, newest first, or more where a text's first part lies beyond them; and whether there are more.
    fn whole_texts(&self, newest: Option<MessageId>, limit: usize) -> Result<(Vec<Entry>, bool)> {
        let furthest = limit.saturating_add(MOST_PARTS);
        let mut reach = limit;
        loop {
            // One more than asked for tells whether there are more.
            let mut entries = self.rows(WALK, (newest, at_most(reach.saturating_add(1))), entry)?;
            let mut end = limit.min(entries.len());
            while end > 0 && end < entries.len().min(furthest) && entries[end].goes_on_in(&entries[end - 1]) {
                end += 1;
            }
            if end <= reach {
                let more_before = end < entries.len();
                entries.truncate(end);
                return Ok((entries, more_before));
            }
            reach = furthest;
        }
    }

    fn running_plan(&self, session: &SessionId) -> Result<Option<Plan>> {
        self.first(
            "SELECT m.text FROM sessions s CROSS JOIN messages m ON m.turn = s.running_turn
             WHERE s.id = ?1 AND m.role = 'plan'",
            (session,),
            |row| plan(&row.get::<_, String>(0)?),
        )
    }

    pub(super) fn history_before(&self, turn: TurnId, limit: usize) -> Result<Excerpt> {
        // A turn without messages of its own is passed over: what counts is what came before.
        let newest: Option<Option<MessageId>> = self.first(
            "WITH RECURSIVE walk (turn, id, previous) AS (
                 SELECT m.turn, m.id, m.previous
                 FROM turns t JOIN sessions s ON s.id = t.session JOIN messages m ON m.id = s.last_message
                 WHERE t.id = ?1
                 UNION ALL
                 SELECT m.turn, m.id, m.previous FROM walk w CROSS JOIN messages m ON m.id = w.previous)
             SELECT id FROM walk WHERE turn < ?1 LIMIT 1",
            (turn,),
            |row| row.get(0),
        )?;
        // One more than asked for tells whether there are more.
        let mut entries = self.rows(WALK, (newest.flatten(), at_most(limit.saturating_add(1))), entry)?;
        if entries.len() <= limit {
            entries.reverse();
            return Ok(Excerpt { entries, beginning: Beginning::There });
        }
        entries.truncate(limit);
        if let Some(first) = entries.last().filter(|first| !first.is_question()) {
            entries.extend(self.asked_before(first.id)?);
        }
        entries.reverse();
        Ok(Excerpt { entries, beginning: Beginning::LeftOut })
    }

    /// What was asked before an entry, newest first, back to the question that it belongs to.
    fn asked_before(&self, first: MessageId) -> Result<Vec<Entry>> {
        let mut asked = Vec::new();
        let mut walk = self.connection.prepare_cached(WALK)?;
        for entry in walk.query_map((first, at_most(usize::MAX)), entry)?.skip(1) {
            let entry = entry?;
            let found = entry.is_question();
            asked.extend(entry.asks().then_some(entry));
            if found {
                break;
            }
        }
        Ok(asked)
    }

    pub(super) fn summary(&self, session: &SessionId) -> Result<Option<Summary>> {
        self.first("SELECT up_to, text FROM summaries WHERE session = ?1", (session,), |row| {
            Ok(Summary { up_to: row.get(0)?, text: row.get(1)? })
        })
    }
}

fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    Ok(Entry {
        id: row.get("id")?,
        session: row.get("session")?,
        turn: row.get("turn")?,
        at: time(row, "at")?,
        body: body(row)?,
        turn_state: row.get("turn_state")?,
    })
}

fn body(row: &Row<'_>) -> rusqlite::Result<Body> {
    let text = || row.get::<_, Option<String>>("text").map(Option::unwrap_or_default);
    Ok(match row.get_ref("role")?.as_str()? {
        "user" => Body::User { text: text()?, steered: false },
        "steered" => Body::User { text: text()?, steered: true },
        "agent" => Body::Agent { text: text()?, offset: row.get("produced")? },
        "reasoning" => Body::Reasoning { text: text()?, offset: row.get("produced")? },
        "plan" => Body::Plan(plan(&text()?)?),
        "tool" => Body::Tool {
            call: row.get("call")?,
            name: row.get("tool")?,
            arguments: row.get("arguments")?,
            result: match optional_time(row, "result_at")? {
                Some(at) => Some(ToolResult { ok: row.get("ok")?, output: text()?, at }),
                None => None,
            },
        },
        "resume" => Body::Resume { text: text()? },
        "told" => Body::Told { text: text()? },
        "notice" => Body::Notice { text: text()? },
        "ended" => Body::Ended { outcome: outcome(row)? },
        other => {
            return Err(unreadable(4, format!("{other:?} is no role of a message")));
        }
    })
}

fn plan(text: &str) -> rusqlite::Result<Plan> {
    text.parse().map_err(|error: NoPlan| unreadable(5, error.to_string()))
}

fn unreadable(column: usize, problem: String) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, problem.into())
}
