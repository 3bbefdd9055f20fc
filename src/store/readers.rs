//! Reading beside the writer: a few connections that can only read, off the async threads.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::sqlite::{Database, ReadOnly};
use super::{Queries, Result, StoreError};
use crate::domain::Time;

/// How many questions are answered at the same time; more wait for their turn.
const CONNECTIONS: usize = 4;

/// So long who reads may take to come to an end when the store closes.
const PATIENCE: Duration = Duration::from_secs(10);

/// Reads a store, with or without an engine that writes it.
#[derive(Clone)]
pub struct Readers {
    pool: Arc<Pool>,
}

struct Pool {
    path: PathBuf,
    idle: Mutex<Vec<ReadOnly>>,
    permits: Arc<Semaphore>,
    closed: CancellationToken,
}

impl Readers {
    /// Opens a store that exists and that this process does not write, for reading alone.
    ///
    /// # Errors
    ///
    /// The file is missing, not ours, newer than this program, or can't be read.
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self::beginning_with(ReadOnly::open(path)?, path))
    }

    /// Reads beside the connection that writes the store at `path`.
    pub(super) fn beside(_writer: &Database, path: &Path) -> Result<Self> {
        Ok(Self::beginning_with(ReadOnly::again(path)?, path))
    }

    fn beginning_with(first: ReadOnly, path: &Path) -> Self {
        Self {
            pool: Arc::new(Pool {
                path: path.to_owned(),
                idle: Mutex::new(vec![first]),
                permits: Arc::new(Semaphore::new(CONNECTIONS)),
                closed: CancellationToken::new(),
            }),
        }
    }

    /// Answers questions. All that one call asks is answered of one state of the store.
    pub async fn read<T, F>(&self, question: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&dyn Queries) -> Result<T> + Send + 'static,
    {
        self.with(move |connection| connection.read(question)).await
    }

    /// Answers a question on the spot, for one that an index answers: handing it to another thread would
    /// take ten times as long.
    pub(super) fn look_up<T>(&self, question: impl FnOnce(&dyn Queries) -> Result<T>) -> Result<T> {
        let mut connection = self.pool.take()?;
        let answer = connection.read(question);
        self.pool.give_back(connection);
        answer.map_err(|error| self.pool.named(error))
    }

    /// Examines the whole file; returns what is wrong with it, one line each. Takes its time on a
    /// large store: for the background. It is given up when the future is dropped or the store closes.
    pub async fn quick_check(&self) -> Result<Vec<String>> {
        let given_up = self.pool.closed.child_token();
        let _guard = given_up.clone().drop_guard();
        self.with(move |connection| connection.quick_check(&given_up)).await
    }

    /// The engine run that has not ended, of which there is one at most: its process, and since when.
    pub async fn unfinished_run(&self) -> Result<Option<(u32, Time)>> {
        self.with(|connection| connection.unfinished_run()).await
    }

    /// Gives up what takes long, waits for who reads, and lets go of all connections: one that is open when
    /// the writer closes leaves the log beside the file. Who reads for too long does leave it there: a stop must
    /// end. Who asks later is refused.
    pub(super) async fn close(&self) {
        self.pool.closed.cancel();
        let all = timeout(PATIENCE, self.pool.permits.acquire_many(CONNECTIONS as u32)).await;
        if all.is_err() {
            let reading = CONNECTIONS - self.pool.permits.available_permits();
            tracing::warn!(
                reading,
                "the store closes while questions are still answered: its log stays beside it"
            );
        }
        self.pool.permits.close();
        self.pool.idle().clear();
    }

    async fn with<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut ReadOnly) -> Result<T> + Send + 'static,
    {
        let permits = Arc::clone(&self.pool.permits);
        let permit = permits.acquire_owned().await.map_err(|_| StoreError::Closed)?;
        let pool = Arc::clone(&self.pool);
        let answer = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let mut connection = pool.take()?;
            let answer = work(&mut connection);
            pool.give_back(connection);
            answer.map_err(|error| pool.named(error))
        });
        answer
            .await
            .unwrap_or_else(|error| Err(StoreError::Database(format!("a query ended early: {error}"))))
    }
}

impl Pool {
    fn take(&self) -> Result<ReadOnly> {
        let idle = self.idle().pop();
        idle.map_or_else(|| ReadOnly::again(&self.path), Ok)
    }

    fn give_back(&self, connection: ReadOnly) {
        if !self.closed.is_cancelled() {
            self.idle().push(connection);
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<ReadOnly>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says of which file a failure is, and what helps to understand it.
    fn named(&self, error: StoreError) -> StoreError {
        match error {
            StoreError::Database(why) => StoreError::Database(format!(
                "{}: {why}; `switchboard doctor` examines it",
                self.path.display()
            )),
            other => other,
        }
    }
}
