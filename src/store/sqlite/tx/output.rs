//! Output: what an agent says and does, behind what it has said so far.

use super::super::columns::Millis;
use super::Tx;
use super::history::NewRow;
use super::standing::Standing;
use crate::domain::Time;
use crate::domain::event::{EventKind, Middle};
use crate::domain::id::{MessageId, TurnId};
use crate::domain::plan::Plan;
use crate::domain::session::Usage;
use crate::domain::turn::{Output, Reach, TurnState};
use crate::store::Result;

/// A text part that would grow beyond this goes on in the next row, so that appending stays cheap.
const MAX_PART_BYTES: usize = 32 * 1024;

impl Tx<'_> {
    pub(super) fn append_turn(&mut self, turn: TurnId, output: &[Output], at: Time) -> Result<()> {
        match self.standing_in(turn)? {
            Some(mut standing) => {
                self.append(&mut standing, turn, output, at)?;
                self.save(&standing)
            }
            None => Ok(()),
        }
    }

    /// Writes a turn's output behind what it has said so far.
    pub(super) fn append(
        &mut self,
        standing: &mut Standing,
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
                    self.append_words(standing, turn, "agent", &words, at)?;
                }
                Output::Reasoning { text } => {
                    let mut words = text.clone();
                    while let Some(Output::Reasoning { text }) =
                        output.next_if(|o| matches!(o, Output::Reasoning { .. }))
                    {
                        words.push_str(text);
                    }
                    self.append_words(standing, turn, "reasoning", &words, at)?;
                }
                Output::Plan(plan) => self.keep_plan(standing, turn, plan, at)?,
                Output::ToolCall { call, name, arguments } => {
                    self.keep_call(standing, turn, call, name, arguments, at)?;
                }
                Output::ToolResult { call, ok, output } => {
                    self.keep_result(standing, turn, call, *ok, output, at)?;
                }
                Output::Used(usage) => self.count_use(standing, turn, usage, at)?,
                Output::Session(kept) => self.set_agent_session(&standing.id, Some(kept))?,
                Output::Shortened { results, summary, before, after } => {
                    if let Some((reach, text)) = summary {
                        self.keep_summary(standing, turn, *reach, text, at)?;
                    }
                    let middle = if summary.is_some() { Middle::Summarised } else { Middle::Sent };
                    let (results, before, after) = (*results, *before, *after);
                    let kind = EventKind::Shortened { turn, results, middle, before, after };
                    self.tell_of(standing, kind, at)?;
                }
            }
        }
        Ok(())
    }

    /// Adds what a turn has used to its own sums, its session's and those of the day.
    fn count_use(&mut self, standing: &mut Standing, turn: TurnId, usage: &Usage, at: Time) -> Result<()> {
        self.execute(
            "UPDATE turns SET
                 input_tokens = input_tokens + ?2, output_tokens = output_tokens + ?3,
                 cache_read_tokens = cache_read_tokens + ?4, cache_write_tokens = cache_write_tokens + ?5,
                 cost = cost + ?6
             WHERE id = ?1",
            (turn, usage.input, usage.output, usage.cache_read, usage.cache_write, usage.cost),
        )?;
        standing.gained.usage.add(usage);
        self.spend(&standing.key, usage, at)
    }

    fn append_words(
        &mut self,
        standing: &mut Standing,
        turn: TurnId,
        role: &str,
        words: &str,
        at: Time,
    ) -> Result<()> {
        let last = self.first(
            "SELECT id, role, octet_length(text) FROM messages WHERE id = ?1 AND turn = ?2",
            (standing.last_message, turn),
            |row| {
                Ok((row.get::<_, MessageId>(0)?, row.get::<_, String>(1)?, row.get::<_, Option<usize>>(2)?))
            },
        )?;
        let mut produced = self.produced(standing, turn, role)?;
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
            let row = NewRow { text: Some(part), produced: Some(produced), ..NewRow::of(turn, role, at) };
            self.add_message(standing, &row)?;
            produced += part.len();
            rest = behind;
        }
        Ok(())
    }

    /// How many bytes of a kind the turn has produced so far.
    fn produced(&self, standing: &Standing, turn: TurnId, role: &str) -> Result<usize> {
        let produced = self.first(
            "WITH RECURSIVE walk (role, produced, previous) AS (
                 SELECT role, produced + octet_length(text), previous FROM messages WHERE id = ?1 AND turn = ?2
                 UNION ALL
                 SELECT m.role, m.produced + octet_length(m.text), m.previous
                 FROM walk w CROSS JOIN messages m ON m.id = w.previous WHERE m.turn = ?2)
             SELECT produced FROM walk WHERE role = ?3 LIMIT 1",
            (standing.last_message, turn, role),
            |row| row.get(0),
        )?;
        Ok(produced.unwrap_or(0))
    }

    /// Keeps a summary in the place of the one before. One that reaches to no entry of the session stands
    /// for nothing, and is not kept.
    fn keep_summary(
        &mut self,
        standing: &Standing,
        turn: TurnId,
        reach: Reach,
        text: &str,
        at: Time,
    ) -> Result<()> {
        let up_to = match reach {
            Reach::Entry(entry) => Some(entry),
            Reach::Calls(calls) => self.first(
                "WITH RECURSIVE walk (id, role, previous) AS (
                     SELECT id, role, previous FROM messages WHERE id = ?1 AND turn = ?2
                     UNION ALL
                     SELECT m.id, m.role, m.previous
                     FROM walk w CROSS JOIN messages m ON m.id = w.previous WHERE m.turn = ?2)
                 SELECT id FROM walk WHERE role = 'tool' ORDER BY id LIMIT 1 OFFSET ?3 - 1",
                (standing.last_message, turn, calls.max(1)),
                |row| row.get(0),
            )?,
        };
        self.execute(
            "INSERT INTO summaries (session, up_to, turn, text, at)
             SELECT session, id, turn, ?3, ?4 FROM messages WHERE id = ?1 AND session = ?2
             ON CONFLICT (session) DO UPDATE SET
                 up_to = excluded.up_to, turn = excluded.turn, text = excluded.text, at = excluded.at",
            (up_to, &standing.id, text, Millis(at)),
        )
        .map(|_| ())
    }

    /// A turn has one plan, in the place where it told the first.
    fn keep_plan(&mut self, standing: &mut Standing, turn: TurnId, plan: &Plan, at: Time) -> Result<()> {
        let text = plan.to_string();
        let known =
            self.execute("UPDATE messages SET text = ?2 WHERE turn = ?1 AND role = 'plan'", (turn, &text))?;
        if known == 0 {
            self.add_message(standing, &NewRow { text: Some(&text), ..NewRow::of(turn, "plan", at) })?;
        }
        let line = plan.words(TurnState::Running, ", ");
        self.tell_of(standing, EventKind::Planned { turn, line }, at).map(|_| ())
    }

    /// A call that is told again before its end is the same one, and better known now.
    fn keep_call(
        &mut self,
        standing: &mut Standing,
        turn: TurnId,
        call: &str,
        name: &str,
        arguments: &str,
        at: Time,
    ) -> Result<()> {
        let known = self.execute(
            "UPDATE messages SET tool = ?3, arguments = ?4 WHERE id = (
                 SELECT id FROM messages
                 WHERE turn = ?1 AND role = 'tool' AND call = ?2 AND result_at IS NULL)",
            (turn, call, name, arguments),
        )?;
        if known == 0 {
            let row = NewRow {
                call: Some(call),
                tool: Some(name),
                arguments: Some(arguments),
                ..NewRow::of(turn, "tool", at)
            };
            self.add_message(standing, &row)?;
        }
        let kind = EventKind::ToolCalled { turn, name: name.to_owned(), call: call.to_owned() };
        self.tell_of(standing, kind, at).map(|_| ())
    }

    fn keep_result(
        &mut self,
        standing: &mut Standing,
        turn: TurnId,
        call: &str,
        ok: bool,
        output: &str,
        at: Time,
    ) -> Result<()> {
        let answered = self.execute(
            "UPDATE messages SET ok = ?3, text = ?4, result_at = ?5 WHERE id = (
                 SELECT id FROM messages
                 WHERE turn = ?1 AND role = 'tool' AND call = ?2 AND result_at IS NULL ORDER BY id LIMIT 1)",
            (turn, call, ok, output, Millis(at)),
        )?;
        if answered == 0 {
            // A result without a call is a fault of the backend; what it says is kept all the same.
            let row = NewRow {
                call: Some(call),
                tool: Some("(unannounced call)"),
                arguments: Some(""),
                ok: Some(ok),
                text: Some(output),
                result_at: Some(at),
                ..NewRow::of(turn, "tool", at)
            };
            self.add_message(standing, &row)?;
        }
        self.tell_of(standing, EventKind::ToolEnded { turn, call: call.to_owned(), ok }, at).map(|_| ())
    }
}

/// Splits behind at most `bytes` bytes, between two characters.
fn split_at_most(text: &str, bytes: usize) -> (&str, &str) {
    text.split_at(text.floor_char_boundary(bytes))
}
