//! Columns: how the domain's types are written in SQL, and read back.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, Type, ValueRef};
use rusqlite::{ErrorCode, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::domain::Time;
use crate::domain::agent::AgentName;
use crate::domain::alert::{Alert, AlertKey, Told};
use crate::domain::approval::Approval;
use crate::domain::background::{BackgroundProcess, Ended, StoppedBy};
use crate::domain::cron::{DeliveryState, ExecutionState, How, JobId, Overlap};
use crate::domain::id::{
    ApprovalId, ExecutionId, ItemId, MessageId, ProcessNumber, RunId, Seq, SessionId, SessionKey, TurnId,
};
use crate::domain::marker::{Marker, ResumePending, ResumeReason, SuspendReason, Suspended};
use crate::domain::process::ProcessIdentity;
use crate::domain::queue::{BusyMode, Gate, Item, ItemState, Lane, Source};
use crate::domain::reset::ResetReason;
use crate::domain::session::{EndReason, Health, HoldReason};
use crate::domain::turn::{Outcome, StopCause, TurnState};
use crate::store::{Result, StoreError};

/// Writes an enumeration as one word each. The words are part of the file format.
macro_rules! words {
    ($type:ty { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl ToSql for $type {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                let word = match self { $(Self::$variant => $word),+ };
                Ok(ToSqlOutput::Borrowed(ValueRef::Text(word.as_bytes())))
            }
        }

        impl FromSql for $type {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                match value.as_str()? {
                    $($word => Ok(Self::$variant),)+
                    other => Err(FromSqlError::Other(
                        format!("{other:?} is no {}", stringify!($type)).into(),
                    )),
                }
            }
        }
    };
}

words!(Lane { Slot = "slot", Queue = "queue" });
words!(ItemState {
    Waiting = "waiting",
    Running = "running",
    Done = "done",
    Interrupted = "interrupted",
    Superseded = "superseded",
    Cleared = "cleared",
    Failed = "failed",
});
words!(TurnState { Running = "running", Done = "done", Failed = "failed", Interrupted = "interrupted" });
words!(BusyMode { Replace = "replace", Queue = "queue", Interrupt = "interrupt", Steer = "steer" });
words!(Source { Console = "console", CommandLine = "send", Recovery = "recovery", Job = "job" });
words!(HoldReason {
    Stopped = "stopped",
    BackendError = "backend_error",
    Suspended = "suspended",
    BootGuard = "boot_guard",
    StaleMark = "stale_mark",
    Spent = "spent",
});
words!(ResumeReason {
    RestartInterrupted = "restart_interrupted",
    ShutdownTimeout = "shutdown_timeout",
    RestartTimeout = "restart_timeout",
});
words!(SuspendReason { StuckLoop = "stuck_loop", Operator = "operator" });
words!(ResetReason { Idle = "idle", Daily = "daily", Suspended = "suspended" });
words!(Health { Healthy = "healthy", Failed = "failed" });
words!(EndReason { SessionReset = "session_reset", SessionSwitch = "session_switch" });
words!(Gate { Open = "open", Held = "held", Stopping = "stopping" });
words!(StopCause {
    Operator = "operator",
    NewMessage = "new_message",
    Reset = "reset",
    Shutdown = "shutdown",
    Crash = "crash",
    HandleLost = "handle_lost",
    TimedOut = "timed_out",
    Replaced = "replaced",
});

words!(StoppedBy { Operator = "operator", Agent = "agent", Reset = "reset", RunEnded = "run_ended" });
words!(How { OnTime = "on_time", Late = "late", CatchUp = "catch_up", RunNow = "run_now" });

macro_rules! row_ids {
    ($($type:ident),+) => {$(
        impl ToSql for $type {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(ToSqlOutput::from(self.0))
            }
        }

        impl FromSql for $type {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                value.as_i64().map(Self)
            }
        }
    )+};
}

row_ids!(ApprovalId, ItemId, TurnId, MessageId, ProcessNumber, Seq, ExecutionId);

macro_rules! names {
    ($($type:ident),+) => {$(
        impl ToSql for $type {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(ToSqlOutput::Borrowed(ValueRef::Text(self.as_str().as_bytes())))
            }
        }

        impl FromSql for $type {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                value.as_str()?.parse().map_err(|error: <$type as std::str::FromStr>::Err| {
                    FromSqlError::Other(error.to_string().into())
                })
            }
        }
    )+};
}

names!(AgentName, SessionId, SessionKey, AlertKey, JobId, ExecutionState, DeliveryState, Overlap);

impl ToSql for RunId {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.0.to_sql()
    }
}

/// An instant as a column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Millis(pub(super) Time);

impl ToSql for Millis {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.0.timestamp_millis()))
    }
}

impl FromSql for Millis {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let millis = value.as_i64()?;
        Time::from_timestamp_millis(millis).map(Self).ok_or(FromSqlError::OutOfRange(millis))
    }
}

/// Reads an instant.
pub(super) fn time(row: &Row<'_>, column: &str) -> rusqlite::Result<Time> {
    row.get::<_, Millis>(column).map(|millis| millis.0)
}

/// Reads an instant that may be missing.
pub(super) fn optional_time(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<Time>> {
    row.get::<_, Option<Millis>>(column).map(|millis| millis.map(|millis| millis.0))
}

/// Writes a value that is kept as JSON.
pub(super) fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| StoreError::Database(error.to_string()))
}

/// Reads a value that is kept as JSON; none where nothing is.
pub(super) fn kept_json<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<T>> {
    match row.get_ref(column)? {
        ValueRef::Null => Ok(None),
        _ => from_json(row, column).map(Some),
    }
}

/// Reads a value that is always kept as JSON.
pub(super) fn from_json<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<T> {
    let index = row.as_ref().column_index(column)?;
    serde_json::from_str(row.get_ref(index)?.as_str()?)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(index, Type::Text, Box::new(error)))
}

/// The columns of a marker: its kind, its reason, its time.
pub(super) type MarkerColumns = (Option<&'static str>, Option<&'static str>, Option<Millis>);

/// Writes a marker.
pub(super) fn marker_columns(marker: Option<Marker>) -> MarkerColumns {
    match marker {
        None => (None, None, None),
        Some(Marker::ResumePending(mark)) => {
            (Some("resume_pending"), Some(mark.reason.as_str()), Some(Millis(mark.since)))
        }
        Some(Marker::Suspended(given_up)) => {
            (Some("suspended"), Some(given_up.reason.as_str()), Some(Millis(given_up.since)))
        }
    }
}

/// Reads a marker from its columns, of which the first stands at `first`.
pub(super) fn marker(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<Marker>> {
    let Some(kind) = row.get_ref(first)?.as_str_or_null()? else { return Ok(None) };
    let since = row.get::<_, Millis>(first + 2)?.0;
    Ok(Some(match kind {
        "suspended" => Marker::Suspended(Suspended { reason: row.get(first + 1)?, since }),
        _ => Marker::ResumePending(ResumePending { reason: row.get(first + 1)?, since }),
    }))
}

/// Reads a marker from a row with a session's columns.
pub(super) fn named_marker(row: &Row<'_>) -> rusqlite::Result<Option<Marker>> {
    marker(row, row.as_ref().column_index("marker")?)
}

/// Reads an item from a row with all columns of `items`.
pub(super) fn item(row: &Row<'_>) -> rusqlite::Result<Item> {
    Ok(Item {
        id: row.get("id")?,
        session: row.get("session")?,
        lane: row.get("lane")?,
        state: row.get("state")?,
        text: row.get("text")?,
        source: row.get("source")?,
        created_at: time(row, "created_at")?,
        turn: row.get("turn")?,
        note: row.get("note")?,
    })
}

/// Reads an alert from a row with all columns of `alerts`.
pub(super) fn alert(row: &Row<'_>) -> rusqlite::Result<Alert> {
    Ok(Alert {
        key: row.get("key")?,
        subject: from_json(row, "subject")?,
        words: row.get("words")?,
        raised_at: time(row, "raised_at")?,
        raises: row.get("raises")?,
        acknowledged_at: optional_time(row, "acknowledged_at")?,
        resolved_at: optional_time(row, "resolved_at")?,
        news: row.get("news")?,
        told: Told {
            times: row.get("told")?,
            news: row.get("told_news")?,
            tried_at: optional_time(row, "tried_at")?,
            failure: row.get("failure")?,
        },
    })
}

/// Reads a question from a row with all columns of `approvals`.
pub(super) fn approval(row: &Row<'_>) -> rusqlite::Result<Approval> {
    Ok(Approval {
        id: row.get("id")?,
        session: row.get("session")?,
        turn: row.get("turn")?,
        question: from_json(row, "question")?,
        asked_at: time(row, "asked_at")?,
        denies_at: time(row, "denies_at")?,
        decision: kept_json(row, "decision")?,
    })
}

/// Reads a background process from a row with all columns of `background`.
pub(super) fn background_process(row: &Row<'_>) -> rusqlite::Result<BackgroundProcess> {
    let ended = match (optional_time(row, "ended_at")?, kept_json(row, "exit")?) {
        (Some(at), Some(exit)) => Some(Ended { at, exit }),
        _ => None,
    };
    Ok(BackgroundProcess {
        session: row.get("session")?,
        number: row.get("number")?,
        turn: row.get("turn")?,
        command: row.get("command")?,
        folder: row.get("folder")?,
        identity: ProcessIdentity {
            pid: row.get("process_group")?,
            boot: row.get("boot")?,
            started: row.get("started")?,
        },
        began_at: time(row, "began_at")?,
        stopped_by: row.get("stopped_by")?,
        ended,
        told_in: row.get("told_in")?,
    })
}

/// Reads how a turn ended from a row with `turn_state`, `error` and `end_cause`.
pub(super) fn outcome(row: &Row<'_>) -> rusqlite::Result<Outcome> {
    Ok(match row.get("turn_state")? {
        TurnState::Running | TurnState::Done => Outcome::Done,
        TurnState::Failed => {
            Outcome::Failed { error: row.get::<_, Option<String>>("error")?.unwrap_or_default() }
        }
        TurnState::Interrupted => Outcome::Interrupted { cause: row.get("end_cause")? },
    })
}

impl From<rusqlite::Error> for StoreError {
    /// What time may mend (a lock, a full disk, a failing device) is `Unavailable`; the rest is not.
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Self::Unavailable { why: format!("{error}: another program holds it") }
            }
            Some(
                ErrorCode::DiskFull
                | ErrorCode::SystemIoFailure
                | ErrorCode::CannotOpen
                | ErrorCode::ReadOnly
                | ErrorCode::OutOfMemory
                | ErrorCode::FileLockingProtocolFailed,
            ) => Self::Unavailable { why: error.to_string() },
            _ => Self::Database(error.to_string()),
        }
    }
}
