//! One turn: from its committed beginning to its committed end.
//!
//! The turn's task reads the history, lets the agent work, keeps what it says, and ends with the
//! one transition that settles the turn and begins what comes next.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use super::handles::{self, Acted, Had, Next, Ran};
use super::hiding::Hiding;
use super::live::LiveTurn;
use super::recorder::{Batch, Recorder, Taken};
use super::shared::Shared;
use super::{approvals, background, cron};
use crate::agent::{
    AgentEvent, Backend, EngineEnds, Handle, NewChild, STEER_TEXTS, SessionContext, Turn, WhetherReached,
    lines,
};
use crate::config::Secrets;
use crate::domain::agent::{AgentName, UnknownAgent};
use crate::domain::api::{self, JobFound, Piece, StreamKind, Update};
use crate::domain::background::told;
use crate::domain::event::{EventKind, Level};
use crate::domain::history::{self, Asker, Beginning, Excerpt};
use crate::domain::id::{ChatType, ItemId, KeyParts, TurnId};
use crate::domain::process::ChildProcess;
use crate::domain::queue::Source;
use crate::domain::session::HandleUse;
use crate::domain::turn::{Begun, Outcome, StopCause, TurnEnd};
use crate::store::StoreError;

/// What an agent said is kept at least this often.
const KEEP_EVERY: Duration = Duration::from_secs(1);
/// What a running tool writes is shown this often.
const SHOW_EVERY: Duration = Duration::from_millis(100);
/// So much may wait to be kept before the agent is slowed down.
const MAX_UNKEPT_BYTES: usize = 1024 * 1024;
/// More words than any turn has: an agent that does not end would fill the disk.
const MOST_WORDS_BYTES: u64 = 16 * 1024 * 1024;
/// So many earlier entries an agent is given.
const HISTORY_ENTRIES: usize = 2_000;
/// Events of an agent that may wait.
const AGENT_EVENTS: usize = 64;

/// The conductor's hold on a turn.
pub(super) struct Control {
    /// The cause, once the turn is to stop.
    pub(super) stop: watch::Receiver<Option<StopCause>>,
    /// Items whose text is for the running agent.
    pub(super) steer: mpsc::Receiver<ItemId>,
}

/// Runs a turn that has begun to its end.
pub(super) async fn run(shared: Arc<Shared>, begun: Begun, live: Arc<LiveTurn>, control: Control) {
    let mut work = Work::new(&shared, &begun, &live, control);
    let outcome = work.let_agent_work().await;
    let end = work.into_end(outcome).await;
    finish(&shared, end).await;
}

struct Prepared {
    agent: AgentName,
    backend: Arc<dyn Backend>,
    context: SessionContext,
    history: history::Told,
    beginning: Beginning,
    message: String,
    asked_by: Asker,
    secrets: Secrets,
}

async fn prepare(shared: &Shared, begun: &Begun, live: &LiveTurn) -> Result<Prepared, Outcome> {
    read_turn(shared, begun, live)
        .await
        .map_err(|error| Outcome::Failed { error: format!("the turn could not be prepared: {error}") })
}

/// Why a turn can't be prepared.
#[derive(Debug, thiserror::Error)]
enum Unprepared {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}; /agent NAME chooses another for this session")]
    Agent(#[from] UnknownAgent),
}

async fn read_turn(shared: &Shared, begun: &Begun, live: &LiveTurn) -> Result<Prepared, Unprepared> {
    let (turn, item, session) = (begun.turn, begun.item, begun.session.clone());
    let (zone, now) = (shared.settings.timezone, shared.now());
    let secrets = Secrets::read_aside(shared.settings.keys.clone()).await;
    let (row, item, (history, beginning), job, ended) = shared
        .store
        .read(move |queries| {
            let row = queries.session(&session)?;
            let job = match row.as_ref().map(|row| row.session.key.parts()) {
                Some(KeyParts { chat_type: ChatType::Job, chat_id, .. }) => {
                    queries.job(chat_id, zone, now)?
                }
                _ => JobFound::None,
            };
            let Excerpt { entries, beginning } = queries.history_before(turn, HISTORY_ENTRIES)?;
            let history = history::told(&entries, queries.summary(&session)?.as_ref(), beginning);
            let ended = told(&queries.told_in(&session, turn)?);
            Ok((row, queries.item(item)?, (history, beginning), job, ended))
        })
        .await?;
    let (Some(row), Some(item)) = (row, item) else {
        return Err(StoreError::Database("its session or item is not in the store".to_owned()).into());
    };
    live.name_session(row.session.name());
    // Who works was decided when the turn began.
    let agent = row.session.agent.unwrap_or_default();
    let Some(backend) = shared.agents.get(&agent).cloned() else {
        return Err(shared.agents.roster().unknown(agent.as_str()).into());
    };
    let mut context = SessionContext::new(row.session.id, row.session.key);
    context.model = row.session.chosen_model;
    context.agent_session = row.session.agent_session;
    if let JobFound::One(job) = job
        && let Some(definition) = job.definition
    {
        context.model = definition.model.or(context.model);
        context.workdir = definition.workdir.map(PathBuf::from);
    }
    let asked_by = if item.source == Source::Recovery { Asker::Engine } else { Asker::Person };
    let message = match ended.as_str() {
        "" => item.text,
        ended => format!("{ended}\n\n{}", item.text),
    };
    Ok(Prepared { agent, backend, context, history, beginning, message, asked_by, secrets })
}

/// Ends the turn in the store, however long the store takes: until then nothing else of its
/// session can run, so nothing is lost by waiting.
async fn finish(shared: &Shared, end: TurnEnd) {
    let turn = end.turn;
    let mut pause = Duration::from_millis(250);
    loop {
        let end = end.clone();
        match shared.store.write(move |transitions| transitions.finish_turn(&end)).await {
            Ok(_) | Err(StoreError::Closed) => return,
            Err(error) => tracing::error!(%turn, %error, "the end of the turn is not kept yet"),
        }
        sleep(pause).await;
        pause = (pause * 2).min(Duration::from_secs(30));
    }
}

type Agent = BoxFuture<'static, Ran>;
type Keeping = BoxFuture<'static, (Batch, Result<(), StoreError>)>;

struct Work<'a> {
    shared: &'a Arc<Shared>,
    begun: &'a Begun,
    live: &'a LiveTurn,
    control: Control,
    /// Fires when the turn is told to stop, by this cause.
    cancel: CancellationToken,
    cause: Option<StopCause>,
    recorder: Recorder,
    /// How many steps of the turn are kept.
    steps_kept: u64,
    hiding: Hiding,
    streaming: Option<StreamKind>,
    keeping: Option<Keeping>,
    keep_at: Instant,
    /// What is told of the turn before it ends.
    told: Vec<JoinHandle<()>>,
    /// What the tool that runs has written last.
    written: String,
    handle: Option<HandleUse>,
}

impl<'a> Work<'a> {
    fn new(shared: &'a Arc<Shared>, begun: &'a Begun, live: &'a LiveTurn, control: Control) -> Self {
        Self {
            shared,
            begun,
            live,
            control,
            cancel: CancellationToken::new(),
            cause: None,
            recorder: Recorder::default(),
            steps_kept: 0,
            hiding: Hiding::default(),
            streaming: None,
            keeping: None,
            keep_at: Instant::now(),
            told: Vec::new(),
            written: String::new(),
            handle: None,
        }
    }

    /// Runs the turn by the session's handle. One that fails is replaced once; the turn is run again
    /// only if nothing was done in it.
    async fn let_agent_work(&mut self) -> Outcome {
        let prepared = match prepare(self.shared, self.begun, self.live).await {
            Ok(prepared) => prepared,
            Err(failed) => return failed,
        };
        let (mut context, backend) = (prepared.context.clone(), Arc::clone(&prepared.backend));
        let Begun { session, turn, .. } = self.begun;
        let mut loan = self.shared.handles.lend(session, *turn, &prepared.agent, &*backend);
        let kept = loan.take();
        let was_kept = kept.is_some();
        let mut ran = self.run_by(kept, prepared).await;
        let mut restarts = 0;
        let mut outcome = handles::outcome(&ran.ending, self.acted(), self.cause);
        match handles::next(&ran.ending, self.acted(), self.cause) {
            Next::End => {}
            Next::Repeat(why) => {
                self.tell(&format!("lost its agent's handle ({why}): a new one runs it again"));
                let mut prepared = match prepare(self.shared, self.begun, self.live).await {
                    Ok(prepared) => prepared,
                    Err(failed) => return failed,
                };
                // Its own session may be what broke a handle that had just taken it up, and not one that was kept.
                let known = self.recorder.agent_session.clone().or(prepared.context.agent_session);
                prepared.context.agent_session = known.filter(|_| was_kept);
                ran = self.run_by(None, prepared).await;
                restarts = ran.had.restarts();
                outcome = handles::outcome(&ran.ending, self.acted(), self.cause);
                if let (Outcome::Failed { error }, Had::None | Had::Broken) = (&mut outcome, &ran.had) {
                    *error = format!("the agent's handle failed ({why}), and so did a new one: {error}");
                }
            }
            Next::Replace(why) => {
                self.tell(&format!(
                    "lost its agent's handle ({why}) after the agent had begun to act: it ends here, \
                     the next turn gets a new one"
                ));
                if backend.keeps_handles() {
                    // It may be this turn in which the agent began it.
                    context.agent_session = self.recorder.agent_session.clone().or(context.agent_session);
                    ran = self.open_next(backend, context).await;
                    restarts = ran.had.restarts();
                }
            }
        }
        self.handle = loan.settle(ran.had, restarts);
        outcome
    }

    /// Lets the agent work on the turn, by the handle that was kept or else by a new one.
    async fn run_by(&mut self, kept: Option<Box<dyn Handle>>, prepared: Prepared) -> Ran {
        let (engine, ends) = lines();
        let (output, events) = mpsc::channel(AGENT_EVENTS);
        self.hiding = Hiding::of(prepared.secrets.clone());
        if prepared.beginning == Beginning::LeftOut {
            let text = format!(
                "turn {}: the agent reads the newest {HISTORY_ENTRIES} entries of its conversation, the beginning is left out",
                self.begun.turn
            );
            self.told.push(self.note(EventKind::Notice { level: Level::Info, text }));
        }
        self.recorder.ends = prepared.history.ends;
        let turn = Turn {
            id: self.begun.turn,
            history: prepared.history.steps,
            message: prepared.message,
            asked_by: prepared.asked_by,
            secrets: prepared.secrets,
            began_at: self.begun.at,
            engine,
        };
        let cancel = self.cancel.clone();
        let run = handles::run(prepared.backend, prepared.context, kept, turn, output, cancel);
        self.drive(Box::pin(run), events, ends).await
    }

    /// Opens the handle for the next turn, while what this one said is still being kept.
    async fn open_next(&mut self, backend: Arc<dyn Backend>, context: SessionContext) -> Ran {
        let open = handles::open(backend, context, self.cancel.clone());
        self.drive(Box::pin(open), mpsc::channel(1).1, lines().1).await
    }

    /// Waits for the agent to end, and meanwhile keeps and passes on what it says and what it is told.
    async fn drive(&mut self, agent: Agent, mut events: mpsc::Receiver<AgentEvent>, ends: EngineEnds) -> Ran {
        let EngineEnds {
            steer,
            mut children,
            kept,
            mut questions,
            mut calls,
            mut jobs,
            mut limits,
            mut doing,
        } = ends;
        let steps_before = self.recorder.steps;
        let (mut writes, mut show_at) = (false, Instant::now());
        let mut agent = Some(agent);
        let mut ran = Ran::killed();
        let mut killed_at = Instant::now();
        let mut events_open = true;
        while events_open || agent.is_some() {
            tokio::select! {
                biased;
                stop = next_stop(&mut self.control.stop), if self.cause.is_none() => {
                    self.cancel.cancel();
                    self.cause = Some(stop);
                    killed_at = Instant::now() + self.shared.settings.engine.stop_grace;
                }
                () = sleep_until(killed_at), if self.cause.is_some() && agent.is_some() => {
                    // Dropping the run kills the agent's processes; it was told and did not listen.
                    agent = None;
                    events.close();
                    let grace = self.shared.settings.engine.stop_grace.as_secs();
                    self.tell(&format!("ignored the stop for {grace} s and was killed"));
                }
                (batch, result) = next_kept(&mut self.keeping), if self.keeping.is_some() => {
                    self.kept(batch, result);
                    kept.send_replace(self.steps_kept.saturating_sub(steps_before));
                }
                event = events.recv(), if events_open && self.recorder.unkept_bytes() < MAX_UNKEPT_BYTES => {
                    match event {
                        Some(event) => {
                            self.hiding.take(event).for_each(|event| self.take(event));
                            if self.recorder.words_bytes() > MOST_WORDS_BYTES {
                                agent = None;
                                events.close();
                                ran = Ran::without_end(MOST_WORDS_BYTES);
                            }
                        }
                        None => {
                            events_open = false;
                            self.hiding.rest().into_iter().for_each(|event| self.take(event));
                        }
                    }
                }
                ended = next_end(&mut agent), if agent.is_some() => {
                    agent = None;
                    ran = ended;
                    events.close();
                }
                () = sleep_until(self.keep_at), if self.keeping.is_none() && !self.recorder.is_empty() => {
                    self.keep();
                }
                Ok(()) = doing.changed(), if !writes => writes = true,
                () = sleep_until(show_at), if writes => {
                    (writes, show_at) = (false, Instant::now() + SHOW_EVERY);
                    let written = doing.borrow_and_update().clone();
                    self.show(written);
                }
                Some(child) = children.recv() => self.keep_child(child),
                Some(question) = questions.recv() => {
                    let (shared, secrets) = (Arc::clone(self.shared), self.hiding.secrets().clone());
                    self.shared.tasks.spawn(approvals::ask(shared, self.begun.turn, question, secrets));
                }
                Some(call) = calls.recv() => {
                    let (shared, session) = (Arc::clone(self.shared), self.begun.session.clone());
                    self.shared.tasks.spawn(background::answer(shared, session, self.begun.turn, call));
                }
                Some(new) = jobs.recv() => {
                    let (shared, Begun { session, turn, .. }) = (Arc::clone(self.shared), self.begun);
                    self.shared.tasks.spawn(cron::make_by_agent(shared, session.clone(), *turn, new));
                }
                Some(asked) = limits.recv() => self.tell_limit(asked),
                Some(item) = self.control.steer.recv() => self.steer(item, &steer),
            }
        }
        let written = self.hiding.secrets().hide_in_part(doing.borrow().clone());
        if !written.is_empty() {
            self.written = written;
        }
        ran
    }

    /// Shows what the running tool has written last.
    fn show(&self, written: String) {
        let written = self.hiding.secrets().hide_in_part(written);
        self.live.does(&written, self.shared.now());
        let Begun { turn, ref session, .. } = *self.begun;
        self.shared.tell(Update::Doing(Arc::new(api::Doing { session: session.clone(), turn, written })));
    }

    fn take(&mut self, event: AgentEvent) {
        let now = self.shared.now();
        if self.recorder.is_empty() {
            self.keep_at = Instant::now() + KEEP_EVERY;
        }
        match self.recorder.take(event) {
            Taken::Words { stream, offset, text } => {
                if self.streaming.replace(stream).is_some_and(|before| before != stream) {
                    self.keep_at = Instant::now();
                }
                self.live.say(stream, offset, &text, now);
                self.shared.tell(Update::Stream(Arc::new(Piece {
                    session: self.begun.session.clone(),
                    turn: self.begun.turn,
                    stream,
                    offset,
                    text,
                })));
            }
            Taken::Step => {
                self.live.touch(now);
                self.keep_at = Instant::now();
            }
            Taken::Retry { attempt, wait, why } => {
                let (turn, wait_seconds) = (self.begun.turn, wait.as_secs());
                drop(self.note(EventKind::BackendRetries { turn, attempt, wait_seconds, why }));
            }
            Taken::Notice(what) => self.tell(&what),
            Taken::Noted => self.live.touch(now),
        }
        if self.recorder.unkept_bytes() >= MAX_UNKEPT_BYTES {
            self.keep_at = Instant::now();
        }
    }

    fn keep(&mut self) {
        let batch = self.recorder.drain();
        let (shared, turn, at) = (Arc::clone(self.shared), self.begun.turn, self.shared.now());
        self.keeping = Some(Box::pin(async move {
            let output = batch.output.clone();
            let result =
                shared.store.write(move |transitions| transitions.append_turn(turn, &output, at)).await;
            (batch, result)
        }));
    }

    fn kept(&mut self, batch: Batch, result: Result<(), StoreError>) {
        match result {
            Ok(()) => {
                self.steps_kept = batch.steps_end;
                self.live.kept(StreamKind::Text, batch.text_end);
                self.live.kept(StreamKind::Reasoning, batch.reasoning_end);
                self.keep_at = self.keep_at.max(Instant::now());
            }
            Err(error) => {
                tracing::warn!(turn = %self.begun.turn, %error, "output is not kept yet, tried again");
                self.recorder.put_back(batch);
                self.keep_at = Instant::now() + KEEP_EVERY;
            }
        }
    }

    /// Reads the item's text and hands it on. An item that does not arrive was not taken in, so
    /// the end of the turn puts it back into the queue.
    fn steer(&self, item: ItemId, steer_in: &mpsc::Sender<(ItemId, String)>) {
        let (shared, steer_in) = (Arc::clone(self.shared), steer_in.clone());
        self.shared.tasks.spawn(async move {
            match shared.store.read(move |queries| queries.item(item)).await {
                Ok(Some(row)) => drop(steer_in.send((item, row.text)).await),
                Ok(None) => tracing::warn!(%item, "the steered item is gone"),
                Err(error) => tracing::warn!(%item, %error, "the steered item could not be read"),
            }
        });
    }

    /// Answers whether a daily limit is reached. Where the store can't tell it is not: the end of the turn judges.
    fn tell_limit(&self, asked: WhetherReached) {
        let (shared, session, now) = (Arc::clone(self.shared), self.begun.session.clone(), self.shared.now());
        self.shared.tasks.spawn(async move {
            let reached = shared.store.read(move |queries| queries.limit_reached(&session, now)).await;
            asked.answer(reached.unwrap_or_else(|error| {
                tracing::warn!(%error, "whether a daily limit is reached can't be read");
                None
            }));
        });
    }

    /// Keeps a child, and lets it work. One whose turn has ended meanwhile, or that can't be kept, is
    /// refused by dropping it.
    fn keep_child(&self, child: NewChild) {
        let (shared, turn, at) = (Arc::clone(self.shared), self.begun.turn, self.shared.now());
        self.shared.tasks.spawn(async move {
            let (program, identity) = (child.program.clone(), child.identity.clone());
            let process = ChildProcess { turn, program, identity };
            match shared.store.write(move |transitions| transitions.keep_process(&process, at)).await {
                Ok(()) => child.keep(),
                Err(error) => tracing::warn!(%turn, %error, "a process of the turn is not kept"),
            }
        });
    }

    fn acted(&self) -> Acted {
        let idle = !self.recorder.did_anything && self.recorder.steered.is_empty();
        if idle { Acted::No } else { Acted::Yes }
    }

    /// Tells something about the turn, before it ends.
    fn tell(&mut self, what: &str) {
        let text = self.hiding.secrets().hide(format!("turn {} {what}", self.begun.turn));
        self.told.push(self.note(EventKind::Notice { level: Level::Warn, text }));
    }

    /// Writes an event beside the turn's own way: a store in trouble must not hold the turn up.
    fn note(&self, kind: EventKind) -> JoinHandle<()> {
        let (shared, session, at) = (Arc::clone(self.shared), self.begun.session.clone(), self.shared.now());
        self.shared.tasks.spawn(async move {
            let kept = shared
                .store
                .write(move |transitions| transitions.record(Some(&session), kind.clone(), at))
                .await;
            if let Err(error) = kept {
                tracing::warn!(%error, "something about the turn is not in the log");
            }
        })
    }

    async fn into_end(mut self, mut outcome: Outcome) -> TurnEnd {
        if let Outcome::Failed { error } = &mut outcome {
            *error = self.hiding.secrets().hide(std::mem::take(error));
        }
        for told in std::mem::take(&mut self.told) {
            let _ = told.await;
        }
        if let Some(keeping) = self.keeping.take() {
            let (batch, result) = keeping.await;
            self.kept(batch, result);
        }
        let tail = self.recorder.drain().output;
        TurnEnd {
            turn: self.begun.turn,
            outcome,
            tail,
            written: self.written,
            context: self.recorder.context,
            model: self.recorder.model,
            steered: self.recorder.steered,
            did_anything: self.recorder.did_anything,
            handle: self.handle,
            agent_session: self.recorder.agent_session,
            at: self.shared.now(),
        }
    }
}

async fn next_stop(stop: &mut watch::Receiver<Option<StopCause>>) -> StopCause {
    match stop.wait_for(Option::is_some).await.map(|cause| *cause) {
        Ok(Some(cause)) => cause,
        // The conductor is gone: the engine is on its way out.
        Ok(None) | Err(_) => StopCause::Shutdown,
    }
}

async fn next_kept(keeping: &mut Option<Keeping>) -> (Batch, Result<(), StoreError>) {
    let kept = match keeping {
        Some(running) => running.await,
        None => std::future::pending().await,
    };
    *keeping = None;
    kept
}

async fn next_end(agent: &mut Option<Agent>) -> Ran {
    match agent {
        Some(run) => run.await,
        None => std::future::pending().await,
    }
}

/// The conductor's side of a turn's [`Control`].
pub(super) struct Running {
    stop: watch::Sender<Option<StopCause>>,
    steer: mpsc::Sender<ItemId>,
}

impl Running {
    /// Makes both sides.
    pub(super) fn new() -> (Self, Control) {
        let (stop, stopped) = watch::channel(None);
        let (steer, steered) = mpsc::channel(STEER_TEXTS);
        (Self { stop, steer }, Control { stop: stopped, steer: steered })
    }

    /// Tells the turn to stop; the first cause stays.
    pub(super) fn stop(&self, cause: StopCause) {
        self.stop.send_if_modified(|stop| match stop {
            Some(_) => false,
            None => {
                *stop = Some(cause);
                true
            }
        });
    }

    /// Hands an item to the turn. One too many stays an item and is put back at the turn's end.
    pub(super) fn steer(&self, turn: TurnId, item: ItemId) {
        if self.steer.try_send(item).is_err() {
            tracing::warn!(%turn, %item, "the turn takes no more text now");
        }
    }
}
