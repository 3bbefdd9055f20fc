//! Output: what an agent says and does, behind what it has said so far.

use super::super::columns::Millis;
use super::Tx;
use crate::domain::Time;
use crate::domain::event::EventKind;
use crate::domain::id::{MessageId, SessionId, TurnId};
use crate::domain::turn::Output;
use crate::store::Result;

/// A text part that would grow beyond this goes on in the next row, so that appending stays cheap.
const MAX_PART_BYTES: usize = 32 * 1024;

impl Tx<'_> {
    pub(super) fn append_turn(&mut self, turn: TurnId, output: &[Output], at: Time) -> Result<()> {
        match self.standing_in(turn)? {
            Some(standing) => self.append(&standing.id, turn, output, at),
            None => Ok(()),
        }
    }

    /// Writes a turn's output behind what it has said so far.
    pub(super) fn append(
        &mut self,
        session: &SessionId,
        turn: TurnId,
        output: &[Output],
        at: Time,
    ) -> Result<()> {
        let mut output = output.iter().peekable();
        while let Some(part) = output.next() {
            match part {
                Output::Text { text } => {
                    let mut words = text.clone();
                    while let Some(Output::Text { text }) =
                        output.next_if(|o| matches!(o, Output::Text { .. }))
                    {
                        words.push_str(text);
                    }
                    self.append_words(session, turn, "agent", &words, at)?;
                }
                Output::Reasoning { text } => {
                    let mut words = text.clone();
                    while let Some(Output::Reasoning { text }) =
                        output.next_if(|o| matches!(o, Output::Reasoning { .. }))
                    {
                        words.push_str(text);
                    }
                    self.append_words(session, turn, "reasoning", &words, at)?;
                }
                Output::ToolCall { call, name, arguments } => {
                    self.insert(
                        "INSERT INTO messages (session, turn, at, role, call, tool, arguments)
                         VALUES (?1, ?2, ?3, 'tool', ?4, ?5, ?6)",
                        (session, turn, Millis(at), call, name, arguments),
                    )?;
                    let kind = EventKind::ToolCalled { turn, name: name.clone(), call: call.clone() };
                    self.tell(Some(session), kind, at)?;
                }
                Output::ToolResult { call, ok, output } => {
                    self.keep_result(session, turn, call, *ok, output, at)?;
                }
            }
        }
        Ok(())
    }

    fn append_words(
        &mut self,
        session: &SessionId,
        turn: TurnId,
        role: &str,
        words: &str,
        at: Time,
    ) -> Result<()> {
        let last = self.first(
            "SELECT id, role, octet_length(text) FROM messages WHERE session = ?1 AND turn = ?2
             ORDER BY id DESC LIMIT 1",
            (session, turn),
            |row| {
                Ok((row.get::<_, MessageId>(0)?, row.get::<_, String>(1)?, row.get::<_, Option<usize>>(2)?))
            },
        )?;
        let mut produced = self.produced(session, turn, role)?;
        let mut rest = words;
        if let Some((id, last_role, Some(length))) = last
            && last_role == role
        {
            let (more, behind) = split_at_most(rest, MAX_PART_BYTES.saturating_sub(length));
            if !more.is_empty() {
                self.execute("UPDATE messages SET text = text || ?2 WHERE id = ?1", (id, more))?;
            }
            produced += more.len();
            rest = behind;
        }
        while !rest.is_empty() {
            let (part, behind) = split_at_most(rest, MAX_PART_BYTES);
            self.insert(
                "INSERT INTO messages (session, turn, at, role, text, produced) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                (session, turn, Millis(at), role, part, produced),
            )?;
            produced += part.len();
            rest = behind;
        }
        Ok(())
    }

    /// How many bytes of a kind the turn has produced so far.
    fn produced(&self, session: &SessionId, turn: TurnId, role: &str) -> Result<usize> {
        let produced = self.first(
            "SELECT produced + octet_length(text) FROM messages
             WHERE session = ?1 AND turn = ?2 AND role = ?3 ORDER BY id DESC LIMIT 1",
            (session, turn, role),
            |row| row.get(0),
        )?;
        Ok(produced.unwrap_or(0))
    }

    fn keep_result(
        &mut self,
        session: &SessionId,
        turn: TurnId,
        call: &str,
        ok: bool,
        output: &str,
        at: Time,
    ) -> Result<()> {
        let answered = self.execute(
            "UPDATE messages SET ok = ?4, text = ?5, result_at = ?6 WHERE id = (
                 SELECT id FROM messages
                 WHERE session = ?1 AND turn = ?2 AND role = 'tool' AND call = ?3 AND result_at IS NULL
                 ORDER BY id LIMIT 1)",
            (session, turn, call, ok, output, Millis(at)),
        )?;
        if answered == 0 {
            // A result without a call is a fault of the backend; what it says is kept all the same.
            self.insert(
                "INSERT INTO messages (session, turn, at, role, call, tool, arguments, ok, text, result_at)
                 VALUES (?1, ?2, ?3, 'tool', ?4, '(unannounced call)', '', ?5, ?6, ?3)",
                (session, turn, Millis(at), call, ok, output),
            )?;
        }
        self.tell(Some(session), EventKind::ToolEnded { turn, call: call.to_owned(), ok }, at).map(|_| ())
    }
}

/// Splits behind at most `bytes` bytes, between two characters.
fn split_at_most(text: &str, bytes: usize) -> (&str, &str) {
    text.split_at(text.floor_char_boundary(bytes))
}
