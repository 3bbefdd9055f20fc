//! The search index: filled behind the messages, turn by turn, as they end.
//!
//! Nothing of a message's way waits for it. A turn's rows do not change any more when it has ended,
//! so each is taken in once, in the order of the ends; `house` remembers how far that is.

use rusqlite::{Connection, TransactionBehavior};

use super::sql;
use crate::domain::id::{MessageId, Seq};
use crate::store::Result;

/// Takes at most `limit` more messages in. Returns how many; fewer than `limit` means: no more waits.
pub(super) fn catch_up(connection: &mut Connection, limit: usize) -> Result<usize> {
    let step = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let pending: Vec<(Seq, MessageId)> = sql::rows(
        &step,
        "SELECT t.ended_seq, m.id
         FROM turns t JOIN messages m ON m.session = t.session AND m.turn = t.id
         WHERE t.ended_seq >= (SELECT indexed_seq FROM house)
             AND (t.ended_seq > (SELECT indexed_seq FROM house)
                  OR m.id > (SELECT indexed_message FROM house))
         ORDER BY t.ended_seq, m.id LIMIT ?1",
        (sql::at_most(limit),),
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let Some((last_seq, last_message)) = pending.last() else { return Ok(0) };
    for (_, message) in &pending {
        sql::execute(
            &step,
            "INSERT INTO message_index (rowid, text)
             SELECT id, text FROM messages WHERE id = ?1 AND text IS NOT NULL AND role <> 'withdrawn'",
            (message,),
        )?;
    }
    sql::execute(&step, "UPDATE house SET indexed_seq = ?1, indexed_message = ?2", (last_seq, last_message))?;
    step.commit()?;
    Ok(pending.len())
}

/// Empties a damaged index, so that it is filled anew from the first message on.
pub(super) fn start_over(connection: &mut Connection) -> Result<()> {
    let step = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    step.execute_batch(
        "DROP TABLE IF EXISTS message_index;
         CREATE VIRTUAL TABLE message_index USING fts5 (
             text, content = 'messages', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
         );
         UPDATE house SET indexed_seq = 0, indexed_message = 0;",
    )?;
    step.commit()?;
    Ok(())
}
