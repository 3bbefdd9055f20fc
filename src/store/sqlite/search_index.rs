//! The search index: filled behind the messages, turn by turn, as they end.
//!
//! Nothing of a message's way waits for it. A turn's rows do not change any more when it has ended,
//! so each is taken in once, in the order of the ends; `house` remembers how far that is.

use rusqlite::{Connection, TransactionBehavior};

use super::sql;
use crate::domain::id::{MessageId, Seq, TurnId};
use crate::store::Result;

/// Takes at most `limit` more messages in. Returns how many; fewer than `limit` means: no more waits.
pub(super) fn catch_up(connection: &mut Connection, limit: usize) -> Result<usize> {
    let step = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut taken = 0;
    while taken < limit
        && let Some(place) = next_place(&step)?
    {
        taken += take_turn(&step, &place, limit - taken)?;
    }
    step.commit()?;
    Ok(taken)
}

/// Where the index goes on: a turn, and the newest message of it that is not in yet.
struct Place {
    turn: TurnId,
    ended_seq: Seq,
    message: Option<MessageId>,
}

fn next_place(step: &Connection) -> Result<Option<Place>> {
    sql::first(
        step,
        "SELECT t.id, t.ended_seq,
             CASE h.indexed_message WHEN 0 THEN t.last_message ELSE h.indexed_message END
         FROM house h JOIN turns t ON t.ended_seq > h.indexed_seq ORDER BY t.ended_seq LIMIT 1",
        (),
        |row| Ok(Place { turn: row.get(0)?, ended_seq: row.get(1)?, message: row.get(2)? }),
    )
}

/// Takes the messages of one turn in, the newest first, as far as `limit` goes. Returns how many.
fn take_turn(step: &Connection, place: &Place, limit: usize) -> Result<usize> {
    let mut next = place.message;
    let mut taken = 0;
    while let Some(message) = next
        && taken < limit
    {
        let previous = sql::first(
            step,
            "SELECT previous FROM messages WHERE id = ?1 AND turn = ?2",
            (message, place.turn),
            |row| row.get(0),
        )?;
        let Some(previous) = previous else {
            next = None;
            break;
        };
        sql::execute(
            step,
            "INSERT INTO message_index (rowid, text)
             SELECT id, text FROM messages WHERE id = ?1 AND text IS NOT NULL AND role <> 'withdrawn'",
            (message,),
        )?;
        next = previous;
        taken += 1;
    }
    match next {
        Some(message) => sql::execute(step, "UPDATE house SET indexed_message = ?1", (message,))?,
        None => {
            sql::execute(step, "UPDATE house SET indexed_seq = ?1, indexed_message = 0", (place.ended_seq,))?
        }
    };
    Ok(taken)
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
