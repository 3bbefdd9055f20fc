//! How a session stands: the facts that the rules decide on, read and written in one statement each.

use rusqlite::types::{FromSql, Type};
use rusqlite::{Row, params};

use super::super::columns::{Millis, json, marker, marker_columns, optional_time, time};
use super::{Tx, nothing_to};
use crate::domain::Time;
use crate::domain::agent::AgentName;
use crate::domain::alert::SessionAlarm;
use crate::domain::id::{ItemId, MessageId, Seq, SessionId, SessionKey, TurnId};
use crate::domain::marker::Marker;
use crate::domain::queue::{BusyMode, Gate, Refusal, Running, Situation};
use crate::domain::session::{ContextUse, HandleUse, Hold, HoldReason, SessionState, Usage};
use crate::domain::spending::SpentHold;
use crate::domain::turn::StopCause;
use crate::store::{Defaults, Result};

/// A session inside a transition: read at its start, changed by its parts, saved at its end.
#[derive(Debug)]
pub(super) struct Standing {
    pub(super) id: SessionId,
    pub(super) key: SessionKey,
    pub(super) title: Option<String>,
    pub(super) live: bool,
    pub(super) last_activity_at: Time,
    pub(super) busy_mode: Option<BusyMode>,
    pub(super) hold: Option<Hold>,
    /// The daily limit that it is held by, over whatever else holds it.
    pub(super) spent: Option<SpentHold>,
    pub(super) dead_turns: u32,
    pub(super) marker: Option<Marker>,
    pub(super) cuts: u32,
    /// Its place among those that this run resumes by itself.
    pub(super) resume_place: Option<u32>,
    pub(super) last_error: Option<String>,
    pub(super) running: Option<RunningTurn>,
    /// How many questions of its agent wait.
    pub(super) asks: usize,
    pub(super) slot: Option<ItemId>,
    pub(super) queued: usize,
    pub(super) gate: Gate,
    pub(super) defaults: Defaults,
    /// The newest rows of the session; those that follow point at them.
    pub(super) last_turn: Option<TurnId>,
    pub(super) last_message: Option<MessageId>,
    pub(super) last_event: Option<Seq>,
    /// Why it needed a person when that was last told.
    pub(super) alarmed: Option<SessionAlarm>,
    /// Whether the boot guard held it when that was last told.
    pub(super) guarded: bool,
    /// Whether the daily limits were asked in this step.
    pub(super) judged: bool,
    pub(super) gained: Gained,
}

/// A running turn inside a transition.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunningTurn {
    pub(super) turn: TurnId,
    pub(super) item: ItemId,
    pub(super) steerable: bool,
    pub(super) probe: bool,
    pub(super) stop_cause: Option<StopCause>,
    pub(super) began_at: Time,
}

/// What a transition adds to a session's sums.
#[derive(Debug, Default)]
pub(super) struct Gained {
    pub(super) turns: u32,
    pub(super) usage: Usage,
    pub(super) context: Option<ContextUse>,
    /// The model that answered, where one did; none: it is not told.
    pub(super) model: Option<Option<String>>,
    pub(super) agent: Option<AgentName>,
    pub(super) handle: Option<HandleUse>,
}

impl Standing {
    /// The session as the rules see it; the run's defaults where it says nothing itself.
    pub(super) fn situation(&self) -> Situation {
        Situation {
            running: self.running.map(|running| Running {
                turn: running.turn,
                steerable: running.steerable,
                stopping: running.stop_cause.is_some(),
            }),
            slot: self.slot,
            queued: self.queued,
            resumes: self.resume_place.is_some(),
            hold: self.held_by(),
            gate: self.gate,
            busy_mode: self.busy_mode.unwrap_or(self.defaults.busy_mode),
            max_queued: self.defaults.max_queued,
        }
    }

    /// What holds it: a daily limit before all else.
    fn held_by(&self) -> Option<HoldReason> {
        self.spent.map(|_| HoldReason::Spent).or(self.hold.map(|hold| hold.reason))
    }

    /// How many items wait: in the slot and behind it.
    pub(super) fn waiting(&self) -> usize {
        usize::from(self.slot.is_some()) + self.queued
    }

    /// Refuses what only a live session can do.
    pub(super) fn refuse_ended(&self) -> Result<()> {
        if self.live {
            return Ok(());
        }
        Err(nothing_to(format!("session {} has ended; /resume {} brings it back", self.id, self.id)))
    }

    /// Refuses what can't be done in a session that was given up.
    pub(super) fn refuse_suspended(&self) -> Result<()> {
        match self.marker {
            Some(Marker::Suspended(_)) => {
                Err(nothing_to("this session is suspended; /unsuspend lifts that, a message starts anew"))
            }
            _ => Ok(()),
        }
    }

    /// Refuses what can't be done during a turn.
    pub(super) fn refuse_during_turn(&self) -> Result<()> {
        if self.running.is_some() { Err(Refusal::TurnRuns.into()) } else { Ok(()) }
    }

    /// Why it needs a person.
    pub(super) fn alarm(&self) -> Option<SessionAlarm> {
        let (hold, spent) = (self.hold.map(|hold| hold.reason), self.spent.map(|spent| spent.reached));
        if self.live { SessionAlarm::of(hold, spent, self.marker) } else { None }
    }

    /// Whether the boot guard holds it.
    pub(super) fn is_guarded(&self) -> bool {
        self.hold.is_some_and(|hold| hold.reason == HoldReason::BootGuard)
    }

    /// What a person calls it.
    pub(super) fn name(&self) -> &str {
        self.title.as_deref().unwrap_or_else(|| self.key.parts().chat_id)
    }

    fn state(&self) -> SessionState {
        if !self.live {
            return SessionState::Idle;
        }
        let running = usize::from(self.running.is_some());
        SessionState::of(running, self.asks, self.waiting(), self.held_by(), self.marker)
    }
}

macro_rules! standing_where {
    ($condition:literal) => {
        concat!(
            "SELECT s.id, s.key, s.title, s.ended_at, s.last_activity_at, s.busy_mode, s.hold_reason,
                 s.hold_since, s.probe_at, s.dead_turns, s.marker, s.marker_reason, s.marker_since, s.cuts,
                 s.resume_place, s.last_error,
                 t.id AS turn, t.item, t.steerable, t.probe, t.stop_cause, t.began_at, s.asks,
                 (SELECT id FROM items WHERE session = s.id AND state = 'waiting' AND lane = 'slot') AS slot,
                 (SELECT count(*) FROM items
                  WHERE session = s.id AND state = 'waiting' AND lane = 'queue') AS queued,
                 CASE WHEN h.stopping_why IS NOT NULL THEN 'stopping'
                      WHEN h.held_why IS NOT NULL THEN 'held' ELSE 'open' END AS gate,
                 h.busy_mode AS default_busy_mode, h.max_queued,
                 s.last_turn, s.last_message, s.last_event, s.spent, s.spent_since, s.spent_until
             FROM house h CROSS JOIN sessions s LEFT JOIN turns t ON t.id = s.running_turn
             WHERE ",
            $condition
        )
    };
}

impl Tx<'_> {
    /// The session that is live under `key`.
    pub(super) fn standing_at(&self, key: &SessionKey) -> Result<Option<Standing>> {
        self.first(standing_where!("s.key = ?1 AND s.ended_at IS NULL"), (key,), read)
    }

    /// The session whose running turn is `turn`; none if the turn has ended or is another run's.
    pub(super) fn standing_in(&self, turn: TurnId) -> Result<Option<Standing>> {
        self.first(
            standing_where!(
                "s.id = (SELECT session FROM turns WHERE id = ?1 AND state = 'running' AND owner IS h.run)"
            ),
            (turn,),
            read,
        )
    }

    /// A session, or the refusal that there is none.
    pub(super) fn standing(&self, id: &SessionId) -> Result<Standing> {
        self.first(standing_where!("s.id = ?1"), (id,), read)?
            .ok_or_else(|| Refusal::NoSuchSession(id.to_string()).into())
    }

    /// Keeps what a transition changed, with the rank that follows from it.
    pub(super) fn save(&mut self, standing: &Standing) -> Result<()> {
        let Gained { turns, usage, context, model, agent, handle } = &standing.gained;
        let (marker, marker_reason, marker_since) = marker_columns(standing.marker);
        self.execute(
            "UPDATE sessions SET
                 last_activity_at = ?2, hold_reason = ?3, hold_since = ?4, probe_at = ?5, dead_turns = ?6,
                 last_error = ?7, rank = ?8, turns = turns + ?9, input_tokens = input_tokens + ?10,
                 output_tokens = output_tokens + ?11, cache_read_tokens = cache_read_tokens + ?12,
                 cache_write_tokens = cache_write_tokens + ?13, model = iif(?34, ?14, model),
                 running_turn = ?15, last_turn = ?16, last_message = ?17, last_event = ?18,
                 marker = ?19, marker_reason = ?20, marker_since = ?21, cuts = ?22, resume_place = ?23,
                 health = coalesce(?24, health), restart_count = restart_count + ?25,
                 last_used_at = iif(?24 IS NULL, last_used_at, ?2), asks = ?26, cost = cost + ?27,
                 context_tokens = coalesce(?28, context_tokens),
                 context_window = iif(?28 IS NULL, context_window, ?29),
                 agent = coalesce(?30, agent), spent = ?31, spent_since = ?32, spent_until = ?33
             WHERE id = ?1",
            params![
                standing.id,
                Millis(standing.last_activity_at),
                standing.hold.map(|hold| hold.reason),
                standing.hold.map(|hold| Millis(hold.since)),
                standing.hold.and_then(|hold| hold.probe_at).map(Millis),
                standing.dead_turns,
                standing.last_error,
                standing.state().rank(),
                turns,
                usage.input,
                usage.output,
                usage.cache_read,
                usage.cache_write,
                model.as_ref().and_then(Option::as_ref),
                standing.running.map(|running| running.turn),
                standing.last_turn,
                standing.last_message,
                standing.last_event,
                marker,
                marker_reason,
                marker_since,
                standing.cuts,
                standing.resume_place,
                handle.map(|used| used.health),
                handle.map_or(0, |used| used.restarts),
                standing.asks,
                usage.cost,
                context.map(|context| context.tokens),
                context.and_then(|context| context.window),
                agent,
                standing.spent.map(|spent| json(&spent.reached)).transpose()?,
                standing.spent.map(|spent| Millis(spent.since)),
                standing.spent.map(|spent| Millis(spent.until)),
                model.is_some(),
            ],
        )?;
        Ok(())
    }
}

/// Reads the columns of [`standing_where`] in their order: by name would take as long as the question.
fn read(row: &Row<'_>) -> rusqlite::Result<Standing> {
    let mut cells = Cells { row, next: 0 };
    let mut standing = Standing {
        id: cells.next()?,
        key: cells.next()?,
        title: cells.next()?,
        live: cells.next::<Option<i64>>()?.is_none(),
        last_activity_at: cells.next::<Millis>()?.0,
        busy_mode: cells.next()?,
        hold: hold_of(cells.next()?, cells.next()?, cells.next()?),
        dead_turns: cells.next()?,
        marker: cells.marker()?,
        cuts: cells.next()?,
        resume_place: cells.next()?,
        last_error: cells.next()?,
        running: running_of(&mut cells)?,
        asks: cells.next()?,
        slot: cells.next()?,
        queued: cells.next()?,
        gate: cells.next()?,
        defaults: Defaults { busy_mode: cells.next()?, max_queued: cells.next()? },
        last_turn: cells.next()?,
        last_message: cells.next()?,
        last_event: cells.next()?,
        spent: spent_of(cells.next()?, cells.next()?, cells.next()?)?,
        alarmed: None,
        guarded: false,
        judged: false,
        gained: Gained::default(),
    };
    standing.alarmed = standing.alarm();
    standing.guarded = standing.is_guarded();
    Ok(standing)
}

fn running_of(cells: &mut Cells<'_, '_>) -> rusqlite::Result<Option<RunningTurn>> {
    let Some(turn) = cells.next()? else {
        cells.next += 5;
        return Ok(None);
    };
    Ok(Some(RunningTurn {
        turn,
        item: cells.next()?,
        steerable: cells.next()?,
        probe: cells.next()?,
        stop_cause: cells.next()?,
        began_at: cells.next::<Millis>()?.0,
    }))
}

fn hold_of(reason: Option<HoldReason>, since: Option<Millis>, probe_at: Option<Millis>) -> Option<Hold> {
    Some(Hold { reason: reason?, since: since?.0, probe_at: probe_at.map(|at| at.0) })
}

fn spent_of(
    reached: Option<String>,
    since: Option<Millis>,
    until: Option<Millis>,
) -> rusqlite::Result<Option<SpentHold>> {
    let (Some(reached), Some(since), Some(until)) = (reached, since, until) else { return Ok(None) };
    let reached = serde_json::from_str(&reached)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(error)))?;
    Ok(Some(SpentHold { reached, since: since.0, until: until.0 }))
}

/// The columns of a row, one after the other.
struct Cells<'r, 's> {
    row: &'r Row<'s>,
    next: usize,
}

impl Cells<'_, '_> {
    fn next<T: FromSql>(&mut self) -> rusqlite::Result<T> {
        let cell = self.row.get(self.next)?;
        self.next += 1;
        Ok(cell)
    }

    fn marker(&mut self) -> rusqlite::Result<Option<Marker>> {
        let marker = marker(self.row, self.next)?;
        self.next += 3;
        Ok(marker)
    }
}

/// Reads the daily limit that a session is held by from a row with its columns.
pub(in crate::store::sqlite) fn spent(row: &Row<'_>) -> rusqlite::Result<Option<SpentHold>> {
    spent_of(row.get("spent")?, row.get("spent_since")?, row.get("spent_until")?)
}

/// Reads the hold from a row with a session's columns: a daily limit before all else.
pub(in crate::store::sqlite) fn hold(row: &Row<'_>) -> rusqlite::Result<Option<Hold>> {
    if let Some(spent) = spent(row)? {
        return Ok(Some(spent.into()));
    }
    let Some(reason) = row.get("hold_reason")? else { return Ok(None) };
    Ok(Some(Hold { reason, since: time(row, "hold_since")?, probe_at: optional_time(row, "probe_at")? }))
}
