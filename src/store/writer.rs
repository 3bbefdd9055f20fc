//! The store as the engine holds it: one thread writes, all others ask it to.
//!
//! Steps wait in a bounded channel (a full one makes callers wait). The thread takes those that
//! wait, carries them out in one commit, tells the feed what happened and then answers each
//! caller. While the database can't be written it repeats, within a bound, and says so.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::{mpsc, oneshot};

use super::readers::Readers;
use super::sqlite::{Committed, Database, Step};
use super::{Queries, Result, StoreError, Transitions};
use crate::domain::Time;
use crate::domain::api::{Hit, StoreTrouble};
use crate::domain::damage::LogDamage;
use crate::domain::event::{Event, EventKind};
use crate::domain::id::{SessionId, SessionKey};
use crate::failpoint;

/// How many steps wait for the writer at most; beyond that callers wait to hand theirs over.
const WAITING: usize = 1024;
/// How many steps are kept in one commit at most.
const GROUP: usize = 256;
/// How many commits wait for the one who follows the feed; beyond that the writer waits.
const FEED: usize = 1024;
/// How many messages a search takes into the index before it looks.
const INDEX_BEFORE_SEARCH: usize = 2000;

/// How the writer behaves when the database can't be written.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// How long a step is repeated until it is refused as [`StoreError::Unavailable`].
    pub bound: Duration,
    /// After how long the trouble is told.
    pub tell_after: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { bound: Duration::from_secs(30), tell_after: Duration::from_secs(1) }
    }
}

/// What the writer tells the one who follows it, in the order of the commits.
#[derive(Debug, Clone)]
pub enum Feed {
    /// These events were committed.
    Committed(Vec<Arc<Event>>),
    /// The database can't be written; steps wait.
    Trouble(StoreTrouble),
    /// It can be written again.
    Recovered,
}

/// An open store. Clones share one writer; it ends when it is closed or the last clone is gone.
#[derive(Clone)]
pub struct Store {
    jobs: mpsc::Sender<Job>,
    readers: Readers,
    bound: Duration,
    log_damage: Option<Arc<LogDamage>>,
}

enum Job {
    /// A step, and until when it is repeated.
    Step(Instant, Box<dyn Pending>),
    Index(usize, oneshot::Sender<Result<usize>>),
    IndexAnew(oneshot::Sender<Result<()>>),
    Close(oneshot::Sender<()>),
}

impl Store {
    /// Opens the store at `path`, makes it if there is none. The receiver must be drained as long
    /// as the store is used: the writer waits for it when it is full.
    ///
    /// # Errors
    ///
    /// The file is not ours or newer than this program (it was left as it is), or can't be opened.
    pub fn open(path: &Path, patience: Patience) -> Result<(Self, mpsc::Receiver<Feed>)> {
        let database = Database::open(path)?;
        let log_damage = database.log_damage().cloned().map(Arc::new);
        let readers = Readers::beside(&database, path)?;
        let (jobs, waiting) = mpsc::channel(WAITING);
        let (feed, listener) = mpsc::channel(FEED);
        let writer =
            Writer { database, jobs: waiting, feed, patience, steps: VecDeque::new(), trouble: None };
        thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || writer.run())
            .map_err(|source| StoreError::Open { path: path.to_owned(), source })?;
        Ok((Self { jobs, readers, bound: patience.bound, log_damage }, listener))
    }

    /// Carries out a step: all of it is on disk when this returns, and its events are in the feed,
    /// or nothing of it is kept. It may be run more than once until it is kept.
    ///
    /// # Errors
    ///
    /// What the step returned; [`StoreError::Unavailable`] when the database could not be written
    /// for as long as patience allows; [`StoreError::Closed`].
    pub async fn write<T, F>(&self, step: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut dyn Transitions) -> Result<T> + Send + 'static,
    {
        self.write_within(self.bound, step).await
    }

    /// The same for a step that must not wait as long while the database can't be written: it is
    /// refused after `bound`.
    pub async fn write_within<T, F>(&self, bound: Duration, step: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut dyn Transitions) -> Result<T> + Send + 'static,
    {
        let until = Instant::now() + bound;
        self.ask(|reply| Job::Step(until, Box::new(Write { step, value: None, reply }))).await?
    }

    /// Answers questions beside the writer. All that one call asks is answered of one state.
    pub async fn read<T, F>(&self, question: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&dyn Queries) -> Result<T> + Send + 'static,
    {
        self.readers.read(question).await
    }

    /// Finds the session that is live under `key`, or makes it with the id `fresh`. One that is there
    /// is only read, so asking for it costs no commit.
    pub async fn get_or_open(&self, key: &SessionKey, fresh: SessionId, at: Time) -> Result<SessionId> {
        if let Some(session) = self.readers.look_up(|queries| queries.live_session(key))? {
            return Ok(session);
        }
        // Whoever was faster made it: the step looks again.
        let wanted = key.clone();
        self.write(move |transitions| transitions.open_session(&wanted, &fresh, at)).await
    }

    /// Searches all messages of ended turns, those too that the index did not have yet. A damaged
    /// index is an error once, and is made anew.
    pub async fn search(&self, words: String, limit: usize) -> Result<Vec<Hit>> {
        // A writer in trouble must not keep anyone from reading.
        let _ = self.index_messages(INDEX_BEFORE_SEARCH).await;
        let found = self.read(move |queries| queries.search(&words, limit)).await;
        if let Err(StoreError::Database(why)) = found {
            self.ask(Job::IndexAnew).await??;
            return Err(StoreError::Database(format!(
                "{why}; the index is made anew, search again in a while"
            )));
        }
        found
    }

    /// Takes at most `limit` more messages into the search index; returns how many. Fewer than
    /// `limit`: no more wait. For the background, in small portions.
    pub async fn index_messages(&self, limit: usize) -> Result<usize> {
        self.ask(|reply| Job::Index(limit, reply)).await?
    }

    /// What of the log could not be read when the store was opened: it goes on from the commit before.
    pub fn log_damage(&self) -> Option<&LogDamage> {
        self.log_damage.as_deref()
    }

    /// The side that only reads, for those who must not write.
    pub fn readers(&self) -> &Readers {
        &self.readers
    }

    /// Carries out what waits, then closes the store. Later steps are refused as closed.
    pub async fn close(&self) {
        self.readers.close().await;
        // One that is closed already is as closed as can be.
        let _ = self.ask(Job::Close).await;
    }

    /// Hands something to the writer and waits for its answer.
    async fn ask<T>(&self, job: impl FnOnce(oneshot::Sender<T>) -> Job) -> Result<T> {
        let _work = failpoint::writer_works();
        let (reply, answer) = oneshot::channel();
        self.jobs.send(job(reply)).await.map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)
    }
}

/// A step with the caller who waits for it.
trait Pending: Send {
    fn run(&mut self, transitions: &mut dyn Transitions) -> Result<()>;
    fn answer(self: Box<Self>, outcome: Result<()>);
}

struct Write<T, F> {
    step: F,
    value: Option<T>,
    reply: oneshot::Sender<Result<T>>,
}

impl<T, F> Pending for Write<T, F>
where
    T: Send,
    F: FnMut(&mut dyn Transitions) -> Result<T> + Send,
{
    fn run(&mut self, transitions: &mut dyn Transitions) -> Result<()> {
        self.value = Some((self.step)(transitions)?);
        Ok(())
    }

    fn answer(self: Box<Self>, outcome: Result<()>) {
        let Self { value, reply, .. } = *self;
        let answer = outcome.and_then(|()| value.ok_or(StoreError::Closed));
        // A caller who has gone away does not want to know.
        let _ = reply.send(answer);
    }
}

struct Writer {
    database: Database,
    jobs: mpsc::Receiver<Job>,
    feed: mpsc::Sender<Feed>,
    patience: Patience,
    /// What is carried out next, oldest first, each with the time until which it is repeated.
    steps: VecDeque<(Instant, Box<dyn Pending>)>,
    trouble: Option<Trouble>,
}

/// A time in which the database can't be written.
struct Trouble {
    began: Instant,
    since: Time,
    why: String,
    told: bool,
}

enum Gathered {
    Work,
    Closed(Option<oneshot::Sender<()>>),
}

impl Writer {
    fn run(mut self) {
        let mut closing = None;
        let mut open = true;
        while open || !self.steps.is_empty() {
            if open && let Gathered::Closed(reply) = self.gather() {
                open = false;
                closing = reply;
                // What was handed over before is still carried out.
                self.jobs.close();
                self.take_the_rest();
            }
            if !self.steps.is_empty() || self.in_told_trouble() {
                self.commit();
            }
        }
        let _ = self.database.checkpoint();
        // Closed before the answer, so that whoever waits for it finds no open file.
        drop(self);
        if let Some(reply) = closing {
            let _ = reply.send(());
        }
    }

    /// Takes what waits, up to a group. Waits for the first if there is nothing else to do.
    fn gather(&mut self) -> Gathered {
        if self.steps.is_empty() && !self.in_told_trouble() {
            match self.jobs.blocking_recv() {
                Some(Job::Close(reply)) => return Gathered::Closed(Some(reply)),
                Some(job) => self.take(job),
                None => return Gathered::Closed(None),
            }
        }
        while self.steps.len() < GROUP {
            match self.jobs.try_recv() {
                Ok(Job::Close(reply)) => return Gathered::Closed(Some(reply)),
                Ok(job) => self.take(job),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return Gathered::Closed(None),
            }
        }
        Gathered::Work
    }

    fn take_the_rest(&mut self) {
        while let Ok(job) = self.jobs.try_recv() {
            self.take(job);
        }
    }

    fn take(&mut self, job: Job) {
        match job {
            Job::Step(until, pending) => self.steps.push_back((until, pending)),
            Job::Index(limit, reply) => {
                let _ = reply.send(self.database.index_messages(limit));
            }
            Job::IndexAnew(reply) => {
                let _ = reply.send(self.database.index_anew());
            }
            Job::Close(reply) => {
                let _ = reply.send(());
            }
        }
    }

    fn in_told_trouble(&self) -> bool {
        self.trouble.as_ref().is_some_and(|trouble| trouble.told)
    }

    /// Carries out the next group in one commit. In told trouble there may be no step to carry
    /// out: then it only tries whether the database can be written again.
    fn commit(&mut self) {
        let size = self.steps.len().min(GROUP);
        match self.try_commit(size) {
            Ok(Committed { outcomes, events }) => {
                self.end_trouble();
                self.tell(events);
                failpoint::pass("store-before-answer");
                for ((_, pending), outcome) in self.steps.drain(..size).zip(outcomes) {
                    pending.answer(outcome);
                }
            }
            Err(StoreError::Unavailable { why }) => self.wait_in_trouble(why),
            Err(error) => {
                let why = match error {
                    StoreError::Database(why) => why,
                    other => other.to_string(),
                };
                for (_, pending) in self.steps.drain(..size) {
                    pending.answer(Err(StoreError::Database(why.clone())));
                }
            }
        }
    }

    fn try_commit(&mut self, size: usize) -> Result<Committed> {
        let waited = self.trouble.as_ref().filter(|trouble| trouble.told).map(|trouble| {
            let milliseconds = u64::try_from(trouble.began.elapsed().as_millis()).unwrap_or(u64::MAX);
            EventKind::StoreWaited { milliseconds, why: trouble.why.clone() }
        });
        let mut note = |transitions: &mut dyn Transitions| match &waited {
            Some(kind) => transitions.record(None, kind.clone(), chrono::Utc::now()),
            None => Ok(()),
        };
        let mut runs: Vec<_> = self
            .steps
            .iter_mut()
            .take(size)
            .map(|(_, pending)| move |transitions: &mut dyn Transitions| pending.run(transitions))
            .collect();
        let mut steps: Vec<&mut Step<'_>> = Vec::with_capacity(size + 1);
        if waited.is_some() {
            steps.push(&mut note);
        }
        steps.extend(runs.iter_mut().map(|run| run as &mut Step<'_>));
        let mut committed = self.database.commit(&mut steps)?;
        if waited.is_some() {
            committed.outcomes.remove(0)?;
        }
        Ok(committed)
    }

    fn tell(&self, events: Vec<Arc<Event>>) {
        if !events.is_empty() {
            self.send(Feed::Committed(events));
        }
    }

    fn send(&self, news: Feed) {
        // Nobody follows any more: the engine is going down, and what is kept stays kept.
        let _ = self.feed.blocking_send(news);
    }

    fn end_trouble(&mut self) {
        if self.trouble.take().is_some_and(|trouble| trouble.told) {
            self.send(Feed::Recovered);
        }
    }

    /// Tells trouble that lasts, refuses those who have waited long enough, and pauses.
    fn wait_in_trouble(&mut self, why: String) {
        let trouble = self.trouble.get_or_insert_with(|| Trouble {
            began: Instant::now(),
            since: chrono::Utc::now(),
            why: String::new(),
            told: false,
        });
        trouble.why = why.clone();
        let lasted = trouble.began.elapsed();
        let now = Instant::now();
        let steps = std::mem::take(&mut self.steps).into_iter();
        let (late, waiting): (VecDeque<_>, _) = steps.partition(|(until, _)| *until <= now);
        self.steps = waiting;
        // Whoever is refused finds it told, however young it is: they may have waited before the first try.
        if !trouble.told && (lasted >= self.patience.tell_after || !late.is_empty()) {
            trouble.told = true;
            let news = Feed::Trouble(StoreTrouble { since: trouble.since, why: why.clone() });
            self.send(news);
        }
        for (_, pending) in late {
            pending.answer(Err(StoreError::Unavailable { why: why.clone() }));
        }
        if self.steps.is_empty() && !self.in_told_trouble() {
            self.trouble = None;
            return;
        }
        let longest = lasted / 4 + Duration::from_millis(10);
        let longest = u64::try_from(longest.as_millis()).unwrap_or(500).min(500);
        thread::sleep(Duration::from_millis(fastrand::u64(longest / 2..=longest)));
    }
}
