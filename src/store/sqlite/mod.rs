//! The store over SQLite.

mod background;
mod columns;
mod executions;
mod log;
mod open;
mod place;
mod reader;
mod schema;
mod search_index;
mod spent;
mod sql;
mod tx;

use rusqlite::{Connection, TransactionBehavior};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

use self::place::Place;
use super::{Queries, Result, StoreError, Transitions};
use crate::domain::Time;
use crate::domain::damage::{LogDamage, Lost};
use crate::domain::event::Event;
use crate::failpoint;

/// How many steps of SQLite's machine an examination makes before it looks whether it is given up.
const PROGRESS: i32 = 1000;

/// One step to be carried out in a transaction.
pub type Step<'a> = dyn FnMut(&mut dyn Transitions) -> Result<()> + 'a;

/// What a commit kept.
pub struct Committed {
    /// How each step ended, in their order. One that failed left nothing.
    pub outcomes: Vec<Result<()>>,
    /// The events of those that did not fail, in order.
    pub events: Vec<Arc<Event>>,
}

/// The one connection that writes.
pub struct Database {
    connection: Connection,
    place: Place,
    log_damage: Option<LogDamage>,
}

impl Database {
    /// Opens a store, makes it if there is none, and brings its schema up to date. A file that is
    /// not ours, or newer than this program, is refused and left byte for byte as it was.
    pub fn open(path: &Path) -> Result<Self> {
        let (connection, log_damage) = open::open_writer(path)?;
        let place = Place::of(path).map_err(|source| StoreError::Open { path: path.to_owned(), source })?;
        Ok(Self { connection, place, log_damage })
    }

    /// What of the log could not be read when the store was opened: it goes on from the commit before.
    pub fn log_damage(&self) -> Option<&LogDamage> {
        self.log_damage.as_ref()
    }

    /// Carries out steps in one commit, each whole or not at all: one that fails or panics leaves
    /// nothing, and its outcome says so. A step may be run more than once.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] if the database can't be written now, or its files are not in their
    /// place any more: nothing of any step was kept.
    pub fn commit(&mut self, steps: &mut [&mut Step<'_>]) -> Result<Committed> {
        // Savepoints cost a quarter of a step, and a step that is refused has rarely written.
        match self.commit_together(steps)? {
            Some(committed) => Ok(committed),
            None => self.commit_apart(steps),
        }
    }

    /// Carries out steps without a way back for a single one. None, and nothing kept, if one needs it:
    /// it failed and had written already.
    fn commit_together(&mut self, steps: &mut [&mut Step<'_>]) -> Result<Option<Committed>> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut events = Vec::new();
        let mut outcomes = Vec::with_capacity(steps.len());
        for step in steps {
            let (told, written) = (events.len(), transaction.total_changes());
            let outcome = run(&transaction, &mut events, step)?;
            if outcome.is_err() {
                if transaction.total_changes() != written {
                    return Ok(None);
                }
                events.truncate(told);
            }
            outcomes.push(outcome);
        }
        self.place.check()?;
        failpoint::pass("store-in-commit");
        transaction.commit()?;
        failpoint::pass("store-after-commit");
        Ok(Some(Committed { outcomes, events }))
    }

    /// Carries out steps with a savepoint each, so that one that fails is taken back alone.
    fn commit_apart(&mut self, steps: &mut [&mut Step<'_>]) -> Result<Committed> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut events = Vec::new();
        let mut outcomes = Vec::with_capacity(steps.len());
        for step in steps {
            let told = events.len();
            sql::execute(&transaction, "SAVEPOINT step", ())?;
            let outcome = run(&transaction, &mut events, step)?;
            if outcome.is_err() {
                events.truncate(told);
                sql::execute(&transaction, "ROLLBACK TO step", ())?;
            }
            sql::execute(&transaction, "RELEASE step", ())?;
            outcomes.push(outcome);
        }
        self.place.check()?;
        transaction.commit()?;
        Ok(Committed { outcomes, events })
    }

    /// Carries out one step in a commit of its own; returns what it gave and its events.
    pub fn step<T>(
        &mut self,
        mut step: impl FnMut(&mut dyn Transitions) -> Result<T>,
    ) -> Result<(T, Vec<Arc<Event>>)> {
        let mut value = None;
        let committed = self.commit(&mut [&mut |transitions| {
            value = Some(step(transitions)?);
            Ok(())
        }])?;
        committed.outcomes.into_iter().collect::<Result<()>>()?;
        let value = value.ok_or_else(|| StoreError::Database("a step gave nothing".to_owned()))?;
        Ok((value, committed.events))
    }

    /// Reads what is committed.
    pub fn queries(&self) -> impl Queries + '_ {
        reader::Reader::new(&self.connection)
    }

    /// Takes at most `limit` more messages into the search index; returns how many. Fewer than
    /// `limit`: no more waits. A damaged index is emptied and filled anew; messages are never blocked.
    pub fn index_messages(&mut self, limit: usize) -> Result<usize> {
        self.place.check()?;
        match search_index::catch_up(&mut self.connection, limit) {
            Err(StoreError::Database(_)) => {
                search_index::start_over(&mut self.connection)?;
                search_index::catch_up(&mut self.connection, limit)
            }
            other => other,
        }
    }

    /// Empties the search index, so that it is filled anew from the first message on.
    pub fn index_anew(&mut self) -> Result<()> {
        self.place.check()?;
        search_index::start_over(&mut self.connection)
    }

    /// Moves the log's committed pages into the file and empties the log, as far as no reader is in the
    /// way. Where the file is gone the log stays as it is: nothing else holds what was kept last.
    pub fn checkpoint(&self) -> Result<()> {
        self.place.check_file()?;
        let truncate = "PRAGMA wal_checkpoint(TRUNCATE)";
        Ok(self.connection.query_row(truncate, (), |_| Ok(()))?)
    }
}

/// Looks at the log of a store that nobody has open: what of it can't be read, if anything. Opening the
/// store goes on from the commit before that.
pub fn examine_log(path: &Path) -> Result<Option<Lost>> {
    open::examine_log(path)
}

/// A connection that only reads.
pub struct ReadOnly {
    connection: Connection,
}

impl ReadOnly {
    /// Opens a store that exists, in a process that has no connection to it yet.
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self { connection: open::open_reader(path)? })
    }

    /// Opens one more connection in a process that has one.
    pub(super) fn again(path: &Path) -> Result<Self> {
        Ok(Self { connection: open::open_reader_again(path)? })
    }

    /// Asks several questions of one state of the store.
    pub fn read<T>(&mut self, question: impl FnOnce(&dyn Queries) -> Result<T>) -> Result<T> {
        // Dropping it ends it; there is nothing to commit.
        let snapshot = self.connection.transaction_with_behavior(TransactionBehavior::Deferred)?;
        question(&reader::Reader::new(&snapshot))
    }

    /// Examines the whole file; returns what is wrong with it, one line each. [`StoreError::Closed`] if
    /// it was given up before the end.
    pub fn quick_check(&mut self, given_up: &CancellationToken) -> Result<Vec<String>> {
        let asked = given_up.clone();
        self.connection.progress_handler(PROGRESS, Some(move || asked.is_cancelled()))?;
        let found = self.examine();
        self.connection.progress_handler(0, None::<fn() -> bool>)?;
        if given_up.is_cancelled() { Err(StoreError::Closed) } else { found }
    }

    /// The newest engine run if it has not ended: its process, and since when.
    pub fn unfinished_run(&self) -> Result<Option<(u32, Time)>> {
        let newest = "SELECT pid, started_at FROM runs WHERE ended_at IS NULL ORDER BY n DESC LIMIT 1";
        sql::first(&self.connection, newest, (), |row| Ok((row.get(0)?, columns::time(row, "started_at")?)))
    }

    fn examine(&self) -> Result<Vec<String>> {
        match sql::rows(&self.connection, "PRAGMA quick_check", (), |row| row.get(0)) {
            Ok(told) => {
                let lines = told.iter().flat_map(|told: &String| told.lines());
                // "ok", and headings such as "*** in database main ***".
                Ok(lines
                    .filter(|line| *line != "ok" && !line.starts_with("***"))
                    .map(str::to_owned)
                    .collect())
            }
            // Too damaged to be examined at all is an answer too.
            Err(StoreError::Database(why)) => Ok(vec![why]),
            Err(other) => Err(other),
        }
    }
}

/// Runs a step. An error of the outer result means that the whole transaction is lost.
fn run(connection: &Connection, told: &mut Vec<Arc<Event>>, step: &mut Step<'_>) -> Result<Result<()>> {
    let outcome = catch_unwind(AssertUnwindSafe(|| step(&mut tx::Tx::new(connection, told))))
        .unwrap_or_else(|panic| Err(StoreError::Database(format!("a step panicked: {}", words_of(&*panic)))));
    // A full disk or a failing device may have taken the whole transaction back.
    if let Err(StoreError::Unavailable { why }) = outcome {
        return Err(StoreError::Unavailable { why });
    }
    if connection.is_autocommit() {
        return Err(StoreError::Unavailable { why: "the transaction was taken back".to_owned() });
    }
    Ok(outcome)
}

fn words_of(panic: &(dyn std::any::Any + Send)) -> &str {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(words), _) => words,
        (_, Some(words)) => words,
        _ => "without words",
    }
}
