//! The store as simply as it can be said: lists in memory. What a database does is held against it.

use std::collections::BTreeMap;

use switchboard::domain::Time;
use switchboard::domain::agent::{AgentName, Roster};
use switchboard::domain::alert::{
    Acknowledgement, Alert, AlertKey, NewAlert, SessionAlarm, Subject as AlertSubject, blocked_reset,
    boot_guard, left_waiting,
};
use switchboard::domain::api::{
    AllowedRow, ComposerMemory, ConversationPage, Direction, EngineHold, EventPage, Hit, ProcessRow,
    QueueRow, RecoveryPage, RecoveryRow, Report, RunningTurn, SessionCursor, SessionPage, SessionRow,
    StartRow,
};
use switchboard::domain::approval::{Allowed, Approval, Decision, Ending, not_allowed};
use switchboard::domain::background::{self, BackgroundProcess, StoppedBy, Which, named};
use switchboard::domain::conversation::{HostConversation, RuntimeState, Writing, named_by, with_ours};
use switchboard::domain::cron::JobId;
use switchboard::domain::event::{Event, EventKind, Level, Middle, Visibility, excerpt};
use switchboard::domain::filter::{Filter, Subject};
use switchboard::domain::history::{self, Body, Entry, Excerpt, Summary, ToolResult, joined};
use switchboard::domain::id::{
    ApprovalId, ChatType, ItemId, MessageId, ProcessNumber, RunId, Seq, SessionId, SessionKey, TurnId,
};
use switchboard::domain::marker::{Clearing, Marker, ResumeReason, SuspendReason, Suspended};
use switchboard::domain::process::{ChildProcess, Fate};
use switchboard::domain::queue::{
    Ack, BusyMode, Destination, Gate, Intent, Item, ItemState, Lane, Placement, PutBack, Refusal, Running,
    Situation, Source, hold_after_failures, next, place, probe_delay,
};
use switchboard::domain::recovery::{
    ANSWERED_BY_RESUME, AfterStop, Aftermath, BootGuard, Closed, Due, Facts, LastExit, LastRun, Limits,
    NewestTurn, Owed, Plan, RecoveryState, Start, Verdict, last_exit, plan, resume_line, resume_message,
    room,
};
use switchboard::domain::reset::{
    Background, LEFT_BY_SWITCH, Mark, Notice, ResetFacts, ResetMode, ResetReason, ToldBlock, TurnNow,
    Verdict as ResetVerdict, Work, decide, forecast, left_waiting_notes, reset_notice,
};
use switchboard::domain::session::{
    Beginning, EndReason, Ended, Health, Hold, HoldReason, Session, SessionState, Usage,
};
use switchboard::domain::spending::{ALL, Reached, Rules, Scope, Spent, SpentHold, Today};
use switchboard::domain::turn::{Begun, Outcome, Output, Reach, StopCause, TurnEnd, TurnState};
use switchboard::store::{
    Accepted, Counts, Defaults, LeftBehind, NewApproval, NewBackground, NewGate, NewMessage, NewRun, Opened,
    Post, Queries, Result, Stopped, StoreError, Transitions,
};

#[derive(Debug, Clone)]
pub(crate) struct Model {
    sessions: Vec<Kept>,
    items: Vec<Item>,
    turns: Vec<Turn>,
    entries: Vec<Entry>,
    withdrawn: Vec<MessageId>,
    events: Vec<Event>,
    hold: Option<EngineHold>,
    stopping: Option<String>,
    defaults: Defaults,
    agents: Roster,
    runs: Vec<Run>,
    recoveries: Vec<Recovery>,
    looked_at: Option<Time>,
    limits: Limits,
    conversations: Vec<HostConversation>,
    drafts: BTreeMap<String, String>,
    processes: Vec<(ChildProcess, Time)>,
    pub(crate) background: Vec<BackgroundProcess>,
    alerts: BTreeMap<AlertKey, Alert>,
    approvals: Vec<Approval>,
    /// How many questions were asked so far, and when each that is kept was settled.
    asked: i64,
    settled_at: BTreeMap<i64, Time>,
    allowed: Vec<Allowed>,
    pub(crate) jobs: crate::jobs_model::Jobs,
    remembered: Vec<(String, String)>,
    summaries: BTreeMap<String, (TurnId, Summary)>,
    rules: Option<Rules>,
    /// What each day used in each scope, and whether that was let go for the day.
    spent: BTreeMap<(String, String), (Spent, bool)>,
}

#[derive(Debug, Clone)]
struct Run {
    last: LastRun,
    start: Start,
    row: StartRow,
}

/// What a start decided about a session.
#[derive(Debug, Clone)]
struct Recovery {
    run: RunId,
    session: SessionId,
    verdict: Verdict,
    cuts: u32,
    message: Option<String>,
    tool: Option<String>,
    turn: Option<TurnId>,
    ended: Option<(Option<Clearing>, Time)>,
}

#[derive(Debug, Clone)]
struct Kept {
    session: Session,
    resume_place: Option<u32>,
    slot: Option<ItemId>,
    queue: Vec<ItemId>,
    running: Option<TurnId>,
    last_error: Option<String>,
    notice: Option<String>,
    left: Vec<ItemId>,
    told: Option<ToldBlock>,
    alarmed: Option<SessionAlarm>,
    guarded: bool,
}

#[derive(Debug, Clone)]
struct Turn {
    id: TurnId,
    session: SessionId,
    item: ItemId,
    probe: bool,
    steerable: bool,
    began_at: Time,
    stop: Option<StopCause>,
    /// Its calls up to this one have not acted unless they have a result.
    waited_up_to: Option<MessageId>,
    cut: Option<StopCause>,
    state: TurnState,
    hidden: bool,
    usage: Usage,
    handed: Vec<(ItemId, MessageId)>,
    /// It is only the place of a line that was posted.
    is_place: bool,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            sessions: Vec::new(),
            items: Vec::new(),
            turns: Vec::new(),
            entries: Vec::new(),
            withdrawn: Vec::new(),
            events: Vec::new(),
            hold: None,
            stopping: None,
            defaults: Defaults { busy_mode: BusyMode::Replace, max_queued: 500 },
            agents: Roster::default(),
            runs: Vec::new(),
            recoveries: Vec::new(),
            looked_at: None,
            limits: crate::given::LIMITS,
            conversations: Vec::new(),
            drafts: BTreeMap::new(),
            remembered: Vec::new(),
            summaries: BTreeMap::new(),
            rules: None,
            spent: BTreeMap::new(),
            processes: Vec::new(),
            background: Vec::new(),
            alerts: BTreeMap::new(),
            approvals: Vec::new(),
            asked: 0,
            settled_at: BTreeMap::new(),
            allowed: Vec::new(),
            jobs: crate::jobs_model::Jobs::default(),
        }
    }
}

fn refuse<T>(refusal: Refusal) -> Result<T> {
    Err(StoreError::Refused(refusal))
}

fn nothing<T>(why: &str) -> Result<T> {
    refuse(Refusal::NothingTo(why.to_owned()))
}

impl Model {
    /// All of a step or nothing.
    pub(crate) fn step<T>(&mut self, step: impl FnOnce(&mut dyn Transitions) -> Result<T>) -> Result<T> {
        let before = self.clone();
        let outcome = step(self);
        if outcome.is_err() {
            *self = before;
        }
        outcome
    }

    pub(crate) fn questions(&self) -> i64 {
        self.asked
    }

    pub(crate) fn items(&self) -> &[Item] {
        &self.items
    }

    pub(crate) fn session_ids(&self) -> Vec<SessionId> {
        self.sessions.iter().map(|kept| kept.session.id.clone()).collect()
    }

    pub(crate) fn running_turns(&self) -> Vec<TurnId> {
        self.turns.iter().filter(|turn| turn.state == TurnState::Running).map(|turn| turn.id).collect()
    }

    pub(crate) fn turn_ids(&self) -> Vec<TurnId> {
        self.turns.iter().map(|turn| turn.id).collect()
    }

    pub(crate) fn handed_to(&self, turn: TurnId) -> Vec<ItemId> {
        self.turn(turn).handed.iter().map(|(item, _)| *item).collect()
    }

    /// The live sessions in which something waits that may run and does not.
    pub(crate) fn stuck(&self) -> Vec<SessionId> {
        let live = self.sessions.iter().filter(|kept| kept.session.ended.is_none());
        live.filter(|kept| next(&self.situation(kept)).is_some())
            .map(|kept| kept.session.id.clone())
            .collect()
    }

    pub(crate) fn gate(&self) -> Gate {
        match (&self.stopping, &self.hold) {
            (Some(_), _) => Gate::Stopping,
            (None, Some(_)) => Gate::Held,
            (None, None) => Gate::Open,
        }
    }

    /// Whether a turn runs or something waits in a session.
    pub(crate) fn is_taken(&self, session: &SessionId) -> bool {
        let kept = self.kept(session);
        kept.running.is_some() || kept.slot.is_some() || !kept.queue.is_empty()
    }

    pub(crate) fn turn_state(&self, turn: TurnId) -> TurnState {
        self.turn(turn).state
    }

    fn situation(&self, kept: &Kept) -> Situation {
        Situation {
            running: kept.running.map(|id| {
                let turn = self.turn(id);
                Running { turn: id, steerable: turn.steerable, stopping: turn.stop.is_some() }
            }),
            slot: kept.slot,
            queued: kept.queue.len(),
            resumes: kept.resume_place.is_some(),
            hold: held_by(&kept.session),
            gate: self.gate(),
            busy_mode: kept.session.busy_mode.unwrap_or(self.defaults.busy_mode),
            max_queued: self.defaults.max_queued,
        }
    }

    fn turn(&self, id: TurnId) -> &Turn {
        self.turns.iter().find(|turn| turn.id == id).unwrap()
    }

    fn turn_mut(&mut self, id: TurnId) -> &mut Turn {
        self.turns.iter_mut().find(|turn| turn.id == id).unwrap()
    }

    fn item_mut(&mut self, id: ItemId) -> &mut Item {
        self.items.iter_mut().find(|item| item.id == id).unwrap()
    }

    pub(crate) fn at_key(&self, key: &SessionKey) -> Option<SessionId> {
        let mut live = self.sessions.iter().filter(|kept| kept.session.ended.is_none());
        live.find(|kept| kept.session.key == *key).map(|kept| kept.session.id.clone())
    }

    pub(crate) fn move_sessions(&mut self, from: &SessionKey, to: &SessionKey) {
        if self.at_key(to).is_none() {
            let theirs = self.sessions.iter_mut().filter(|kept| kept.session.key == *from);
            theirs.for_each(|kept| kept.session.key = to.clone());
            if let Some(draft) = self.drafts.remove(from.as_str()) {
                self.drafts.insert(to.to_string(), draft);
            }
            let remembered = self.remembered.iter_mut().filter(|(of, _)| of == from.as_str());
            remembered.for_each(|(of, _)| *of = to.to_string());
        }
    }

    /// Whether a daily limit holds the session that is live under a key.
    pub(crate) fn is_spent(&self, key: &SessionKey) -> bool {
        self.at_key(key).is_some_and(|id| self.kept(&id).session.spent.is_some())
    }

    fn allowed_in(&self, session: &SessionId) -> Vec<String> {
        let of = self.allowed.iter().filter(|it| it.session == *session);
        let mut allowed: Vec<String> = of.map(|it| it.prefix.clone()).collect();
        allowed.sort();
        allowed
    }

    fn known(&self, id: &SessionId) -> Result<()> {
        if self.sessions.iter().any(|kept| kept.session.id == *id) {
            return Ok(());
        }
        refuse(Refusal::NoSuchSession(id.to_string()))
    }

    fn kept(&self, id: &SessionId) -> &Kept {
        self.sessions.iter().find(|kept| kept.session.id == *id).unwrap()
    }

    fn kept_mut(&mut self, id: &SessionId) -> &mut Kept {
        self.sessions.iter_mut().find(|kept| kept.session.id == *id).unwrap()
    }

    fn refuse_ended(&self, id: &SessionId) -> Result<()> {
        if self.kept(id).session.ended.is_none() {
            return Ok(());
        }
        nothing(&format!("session {id} has ended; /resume {id} brings it back"))
    }

    fn refuse_suspended(&self, id: &SessionId) -> Result<()> {
        match self.kept(id).session.marker {
            Some(Marker::Suspended(_)) => {
                nothing("this session is suspended; /unsuspend lifts that, a message starts anew")
            }
            _ => Ok(()),
        }
    }

    fn refuse_during_turn(&self, id: &SessionId) -> Result<()> {
        if self.kept(id).running.is_some() { refuse(Refusal::TurnRuns) } else { Ok(()) }
    }

    pub(crate) fn tell(&mut self, session: Option<&SessionId>, kind: EventKind, at: Time) {
        let seq = Seq(self.events.last().map_or(0, |event| event.seq.0) + 1);
        self.events.push(Event { seq, at, session: session.cloned(), kind });
    }

    pub(crate) fn make(
        &mut self,
        key: &SessionKey,
        id: &SessionId,
        previous: Option<SessionId>,
        title: Option<String>,
        beginning: Beginning,
        at: Time,
    ) {
        let conversation = self.note_conversation(key);
        self.sessions.push(Kept {
            session: Session {
                conversation,
                title,
                beginning,
                previous: previous.clone(),
                ..Session::new(id.clone(), key.clone(), at)
            },
            resume_place: None,
            slot: None,
            queue: Vec::new(),
            running: None,
            last_error: None,
            notice: None,
            left: Vec::new(),
            told: None,
            alarmed: None,
            guarded: false,
        });
        self.tell(Some(id), EventKind::SessionCreated { key: key.clone(), previous }, at);
    }

    fn note_conversation(&mut self, key: &SessionKey) -> Option<String> {
        let (id, user) = named_by(key)?;
        if !self.conversations.iter().any(|known| known.key == *key) {
            self.conversations.push(HostConversation {
                id: id.to_owned(),
                user: user.map(str::to_owned),
                key: key.clone(),
                session: None,
                agent_state: "{}".to_owned(),
            });
        }
        Some(id.to_owned())
    }

    fn write_our_state(&mut self, session: &SessionId, writing: Writing, at: Time) {
        let session = &self.kept(session).session;
        let ours = RuntimeState {
            session_id: session.id.clone(),
            last_used_at: session.runtime.last_used_at.unwrap_or(at),
            restart_count: session.runtime.restart_count,
            status: session.runtime.health.unwrap_or(Health::Healthy),
        };
        let key = session.key.clone();
        if let Some(known) = self.conversations.iter_mut().find(|known| known.key == key) {
            known.agent_state = with_ours(&known.agent_state, &ours, writing).unwrap();
        }
    }

    fn entry(&mut self, session: &SessionId, turn: TurnId, at: Time, body: Body) -> MessageId {
        let id = MessageId(self.entries.len() as i64 + 1);
        self.entries.push(Entry {
            id,
            session: session.clone(),
            turn,
            at,
            body,
            turn_state: TurnState::Running,
        });
        id
    }

    fn begin(&mut self, session: &SessionId, item: ItemId, probe: bool, at: Time) -> Begun {
        let text = self.item_mut(item).text.clone();
        self.begin_with(session, item, probe, vec![Body::User { text, steered: false }], at)
    }

    /// The agent that a job's record names, where the session is one of its runs.
    fn agent_of_job(&self, key: &SessionKey) -> Option<AgentName> {
        let parts = key.parts();
        let job = (parts.chat_type == ChatType::Job).then(|| self.jobs.agent_of(parts.chat_id))??;
        job.parse().ok()
    }

    fn begin_with(
        &mut self,
        session: &SessionId,
        item: ItemId,
        probe: bool,
        first: Vec<Body>,
        at: Time,
    ) -> Begun {
        let id = TurnId(self.turns.len() as i64 + 1);
        let kept = self.kept(session).session.clone();
        let agent = self.agents.agent_of(
            &kept.key,
            self.agent_of_job(&kept.key).as_ref(),
            kept.chosen_agent.as_ref(),
        );
        let steerable = self.agents.is_steerable(&agent);
        self.kept_mut(session).session.agent = Some(agent);
        self.turns.push(Turn {
            id,
            session: session.clone(),
            item,
            probe,
            steerable,
            began_at: at,
            stop: None,
            waited_up_to: None,
            cut: None,
            state: TurnState::Running,
            hidden: false,
            usage: Usage::default(),
            handed: Vec::new(),
            is_place: false,
        });
        let row = self.item_mut(item);
        row.state = ItemState::Running;
        row.turn = Some(id);
        if let Some(text) = self.kept_mut(session).notice.take() {
            self.entry(session, id, at, Body::Notice { text });
        }
        let told = self.tell_ended_background(session, id);
        let (words, lines) = first.into_iter().partition(|body| !matches!(body, Body::Notice { .. }));
        let (words, lines): (Vec<Body>, Vec<Body>) = (words, lines);
        let told = told.map(|text| Body::Told { text });
        for body in lines.into_iter().chain(told).chain(words) {
            self.entry(session, id, at, body);
        }
        self.write_our_state(session, Writing::TurnBegins, at);
        let kept = self.kept_mut(session);
        kept.running = Some(id);
        kept.session.turns += 1;
        Begun { turn: id, session: session.clone(), item, at, probe }
    }

    pub(crate) fn waits_for_a_person(&self, key: &AlertKey) -> bool {
        self.alerts.get(key).is_some_and(Alert::needs_you)
    }

    pub(crate) fn post(&mut self, post: &Post, news: EventKind, at: Time) {
        let session = match self.at_key(&post.to) {
            Some(session) => session,
            None => {
                self.make(&post.to, &post.fresh, None, None, Beginning::New, at);
                post.fresh.clone()
            }
        };
        let turn = match self.kept(&session).running {
            Some(running) => running,
            None => self.add_place(&session, at),
        };
        self.entry(&session, turn, at, Body::Notice { text: post.text.clone() });
        self.tell(Some(&session), news, at);
    }

    fn add_place(&mut self, session: &SessionId, at: Time) -> TurnId {
        let (item, id) = (ItemId(self.items.len() as i64 + 1), TurnId(self.turns.len() as i64 + 1));
        self.items.push(Item {
            id: item,
            session: session.clone(),
            lane: Lane::Queue,
            state: ItemState::Done,
            text: String::new(),
            source: Source::Job,
            created_at: at,
            turn: Some(id),
            note: None,
        });
        self.turns.push(Turn {
            id,
            session: session.clone(),
            item,
            probe: false,
            steerable: false,
            began_at: at,
            stop: None,
            waited_up_to: None,
            cut: None,
            state: TurnState::Done,
            hidden: false,
            usage: Usage::default(),
            handed: Vec::new(),
            is_place: true,
        });
        id
    }

    fn tell_begun(&mut self, begun: &Begun) {
        let kind = EventKind::TurnBegan { turn: begun.turn, item: begun.item, probe: begun.probe };
        self.tell(Some(&begun.session), kind, begun.at);
    }

    fn begin_next(&mut self, session: &SessionId, at: Time) {
        if next(&self.situation(self.kept(session))).is_none() {
            return;
        }
        self.judge_spending(session, OTHER_LIMITS, at);
        let item = match next(&self.situation(self.kept(session))) {
            Some(Lane::Slot) => self.kept_mut(session).slot.take().unwrap(),
            Some(Lane::Queue) => self.kept_mut(session).queue.remove(0),
            None => return,
        };
        let begun = self.begin(session, item, false, at);
        self.tell_begun(&begun);
    }

    fn begin_all(&mut self, at: Time) {
        let mut waiting: Vec<(ItemId, SessionId)> = Vec::new();
        for item in self.items.iter().filter(|item| item.state == ItemState::Waiting) {
            if !waiting.iter().any(|(_, session)| *session == item.session) {
                waiting.push((item.id, item.session.clone()));
            }
        }
        for (_, session) in waiting {
            self.begin_next(&session, at);
        }
        self.resume_due(at);
    }

    fn clear(&mut self, session: &SessionId, items: &[ItemId], why: &str, at: Time) {
        if items.is_empty() {
            return;
        }
        for item in items {
            let kept = self.kept_mut(session);
            kept.queue.retain(|other| other != item);
            kept.slot = kept.slot.filter(|other| other != item);
            self.settle(*item, ItemState::Cleared, Some(why));
        }
        self.tell(Some(session), EventKind::Cleared { items: items.to_vec(), reason: why.to_owned() }, at);
    }

    fn waiting(&self, session: &SessionId) -> Vec<ItemId> {
        let kept = self.kept(session);
        kept.slot.into_iter().chain(kept.queue.iter().copied()).collect()
    }

    fn settle(&mut self, item: ItemId, state: ItemState, note: Option<&str>) {
        let row = self.item_mut(item);
        row.state = state;
        row.note = note.map(str::to_owned);
    }

    fn put_back(&mut self, session: &SessionId, item: ItemId, at: Time) {
        let row = self.item_mut(item);
        row.state = ItemState::Waiting;
        row.lane = Lane::Queue;
        row.turn = None;
        self.kept_mut(session).queue.insert(0, item);
        self.tell(Some(session), EventKind::Restored { item, lane: Lane::Queue }, at);
    }

    fn open_questions(&self, session: &SessionId) -> Vec<Approval> {
        let open = self.approvals.iter().filter(|asked| asked.decision.is_none());
        open.filter(|asked| asked.session == *session).cloned().collect()
    }

    fn decided(&mut self, asked: &Approval, decision: &Decision, at: Time) {
        let kept = self.approvals.iter_mut().find(|kept| kept.id == asked.id).unwrap();
        kept.decision = Some(decision.clone());
        self.settled_at.insert(asked.id.0, at);
        self.tell_decided(asked, decision, at);
    }

    fn raise_question(&mut self, session: &SessionId, at: Time) {
        let open = self.open_questions(session);
        if let Some(first) = open.first() {
            let alert = first.alert(self.kept(session).session.name(), open.len());
            self.raise(&alert, at);
        }
    }

    fn tell_decided(&mut self, asked: &Approval, decision: &Decision, at: Time) {
        let kind = EventKind::ApprovalSettled {
            turn: asked.turn,
            approval: asked.id,
            line: asked.question.line(),
            verdict: decision.clone(),
        };
        self.tell(Some(&asked.session), kind, at);
    }

    fn cancel_questions(&mut self, turn: TurnId, why: &str, at: Time) {
        let session = self.turn(turn).session.clone();
        for asked in self.open_questions(&session) {
            assert_eq!(asked.turn, turn, "a question outlived its turn");
            self.decided(&asked, &Decision::Cancelled { why: why.to_owned() }, at);
        }
        self.resolve(&AlertKey::approval(&session), at);
    }

    fn end(&mut self, id: TurnId, outcome: &Outcome, written: &str, at: Time) {
        let turn = self.turn(id).clone();
        let questions = self.open_questions(&turn.session).len();
        self.cancel_questions(id, "the turn has ended", at);
        if *outcome != Outcome::Done {
            self.close_calls(&turn.session, id, questions, written, at);
            self.entry(&turn.session, id, at, Body::Ended { outcome: outcome.clone() });
        }
        self.turn_mut(id).state = outcome.state();
        if let Outcome::Interrupted { cause } = outcome {
            self.turn_mut(id).cut = Some(*cause);
        }
        self.kept_mut(&turn.session).running = None;
        let kind = EventKind::TurnEnded { turn: id, item: turn.item, outcome: outcome.clone() };
        self.tell(Some(&turn.session), kind, at);
    }

    /// The calls without a result, and those of them that may have acted.
    fn open_calls(&self, turn: TurnId) -> (usize, usize) {
        let waited = self.turn(turn).waited_up_to;
        let open =
            |entry: &&Entry| entry.turn == turn && matches!(entry.body, Body::Tool { result: None, .. });
        let open: Vec<&Entry> = self.entries.iter().filter(open).collect();
        (open.len(), open.iter().filter(|entry| Some(entry.id) > waited).count())
    }

    fn close_calls(&mut self, session: &SessionId, turn: TurnId, questions: usize, written: &str, at: Time) {
        let (calls, begun) = self.open_calls(turn);
        let of_turn = self.entries.iter_mut().filter(|entry| entry.turn == turn);
        let open: Vec<&mut Option<ToolResult>> = of_turn
            .filter_map(|entry| match &mut entry.body {
                Body::Tool { result: result @ None, .. } => Some(result),
                _ => None,
            })
            .collect();
        let (closed, words) = if questions < begun {
            let last = format!("interrupted, effect unknown; it had written last:\n{written}");
            let unknown = "interrupted, effect unknown".to_owned();
            (Closed::EffectUnknown, if calls == 1 && !written.is_empty() { last } else { unknown })
        } else {
            (Closed::NotDone, "not done: nobody had answered yet whether it may be".to_owned())
        };
        for result in open {
            *result = Some(ToolResult { ok: false, output: words.clone(), at });
        }
        if calls > 0 {
            self.tell(Some(session), EventKind::CallsClosed { turn, calls, closed }, at);
        }
    }

    fn mark(&mut self, session: &SessionId, marker: Marker, at: Time) {
        let kept = self.kept_mut(session);
        kept.session.marker = Some(marker);
        let cuts = kept.session.cuts;
        self.tell(Some(session), EventKind::SessionMarked { marker, cuts }, at);
        self.settle_alarm(session, at);
    }

    fn unmark(&mut self, session: &SessionId, by: Clearing, at: Time) {
        let kept = self.kept_mut(session);
        if !kept.session.marker.is_some_and(|marker| marker.cleared_by(by)) {
            return;
        }
        kept.session.marker = None;
        kept.resume_place = None;
        for row in self.open_recoveries(session) {
            row.ended = Some((Some(by), at));
        }
        self.tell(Some(session), EventKind::MarkerCleared { by }, at);
        self.let_stale_go(session, at);
        self.settle_alarm(session, at);
    }

    fn let_stale_go(&mut self, session: &SessionId, at: Time) {
        if self.kept(session).session.hold.is_some_and(|hold| hold.reason == HoldReason::StaleMark) {
            self.release(session, "the work that it waited for", at);
        }
    }

    /// Takes turns out of the conversation; a newest one that was cut off is owed no more.
    fn hide(&mut self, session: &SessionId, turns: &[TurnId], at: Time) {
        let newest = self.turns.iter().rev().find(|turn| turn.session == *session && !turn.is_place);
        if newest.is_some_and(|newest| turns.contains(&newest.id)) {
            self.unmark(session, Clearing::NothingOwed, at);
        }
        turns.iter().for_each(|turn| self.turn_mut(*turn).hidden = true);
    }

    fn open_recoveries(&mut self, session: &SessionId) -> impl Iterator<Item = &mut Recovery> {
        self.recoveries.iter_mut().filter(move |row| row.session == *session && row.ended.is_none())
    }

    fn cut_off(&mut self, session: &SessionId) -> (Option<String>, Option<String>) {
        let newest = self.turns.iter().rev().find(|turn| turn.session == *session && !turn.is_place).cloned();
        let (mut message, mut tool) = (None, None);
        if let Some(turn) = newest.filter(|turn| turn.state != TurnState::Done) {
            let item = self.items.iter().find(|item| item.id == turn.item).unwrap();
            message = Some(excerpt(&item.text));
            tool = self.entries.iter().rev().find_map(|entry| match &entry.body {
                Body::Tool { name, arguments, .. } if entry.turn == turn.id => {
                    Some(excerpt(&format!("{name} {arguments}")))
                }
                _ => None,
            });
            if self.is_resume(turn.id) {
                let before = self.open_recoveries(session).last().map(|row| row.clone());
                message = before.as_ref().and_then(|before| before.message.clone());
                tool = tool.or(before.and_then(|before| before.tool));
            }
        }
        (message, tool)
    }

    fn keep_verdict(
        &mut self,
        session: &SessionId,
        verdict: Verdict,
        (message, tool): (Option<String>, Option<String>),
        at: Time,
    ) {
        for row in self.open_recoveries(session) {
            row.ended = Some((None, at));
        }
        let owes_nothing = matches!(verdict, Verdict::OwesNothing);
        self.recoveries.push(Recovery {
            run: self.runs.last().unwrap().last.run.clone(),
            session: session.clone(),
            verdict,
            cuts: self.kept(session).session.cuts,
            message,
            tool,
            turn: None,
            ended: owes_nothing.then_some((Some(Clearing::NothingOwed), at)),
        });
    }

    fn by_drain(&self, session: &SessionId, turn: TurnId) -> bool {
        let began = self.turn(turn).began_at;
        matches!(self.kept(session).session.marker, Some(Marker::ResumePending(mark))
            if mark.reason != ResumeReason::RestartInterrupted && mark.since >= began)
    }

    fn running_sessions(&self) -> Vec<SessionId> {
        self.running_turns().into_iter().map(|turn| self.turn(turn).session.clone()).collect()
    }

    fn facts(&self, last: &LastRun, exit: &LastExit) -> Vec<Facts> {
        let mut facts: Vec<Facts> = Vec::new();
        for kept in self.sessions.iter().filter(|kept| kept.session.ended.is_none()) {
            let session = &kept.session;
            let recent = matches!(exit, LastExit::Unclean { last_sign_of_life, .. }
                if session.last_activity_at >= *last_sign_of_life - self.limits.recent);
            if kept.running.is_none() && session.marker.is_none() && !recent {
                continue;
            }
            let newest = self.turns.iter().rev().find(|turn| turn.session == session.id && !turn.is_place);
            let newest = newest.map(|turn| NewestTurn {
                state: turn.state,
                cut_by: turn.cut.or(turn.stop),
                began_at: turn.began_at,
            });
            facts.push(Facts {
                session: session.id.clone(),
                chat_type: session.key.parts().chat_type,
                last_activity_at: session.last_activity_at,
                owed: Owed::of(newest.as_ref(), last.started_at),
                marker: session.marker,
                cuts: session.cuts,
            });
        }
        facts.sort_by(|a, b| a.session.cmp(&b.session));
        facts
    }

    fn carry_out(&mut self, plan: &Plan, at: Time) {
        self.sessions.iter_mut().for_each(|kept| kept.resume_place = None);
        if plan.guard == BootGuard::Open {
            let mut guarded = self.session_ids();
            guarded.retain(|session| self.is_guarded(session));
            guarded.sort();
            for session in guarded {
                self.release(&session, "a new start", at);
            }
            self.resolve(&AlertKey::boot_guard(), at);
        }
        for (session, verdict) in &plan.verdicts {
            if let Some(turn) = self.kept(session).running {
                self.cut(turn, StopCause::Crash, at);
            }
            let cut_off = self.cut_off(session);
            match *verdict {
                Verdict::Leave { .. } => {}
                Verdict::OwesNothing => self.unmark(session, Clearing::NothingOwed, at),
                Verdict::Pending { mark, cuts } => {
                    let marker = Marker::ResumePending(mark);
                    let kept = self.kept_mut(session);
                    let news = (kept.session.marker, kept.session.cuts) != (Some(marker), cuts);
                    kept.session.cuts = cuts;
                    if news {
                        self.mark(session, marker, at);
                    }
                }
                Verdict::Suspend { suspended, cuts } => {
                    self.unmark(session, Clearing::Suspension, at);
                    self.kept_mut(session).session.cuts = cuts;
                    self.mark(session, Marker::Suspended(suspended), at);
                    self.hold_suspended(session, at);
                }
            }
            if !matches!(verdict, Verdict::Leave { .. }) {
                self.keep_verdict(session, *verdict, cut_off, at);
            }
            let place = plan.to_resume.iter().position(|due| due == session);
            let pending = matches!(verdict, Verdict::Pending { .. });
            let held = match (place, plan.guard) {
                (Some(place), BootGuard::Open) => {
                    self.let_stale_go(session, at);
                    self.kept_mut(session).resume_place = Some(place as u32);
                    None
                }
                (Some(_), BootGuard::Hold { .. }) => Some(HoldReason::BootGuard),
                (None, _) => (pending && !self.waiting(session).is_empty()).then_some(HoldReason::StaleMark),
            };
            if let Some(reason) = held.filter(|_| self.kept(session).session.hold.is_none()) {
                self.hold_queue(session, Hold { reason, since: at, probe_at: None }, at);
            }
        }
        if let BootGuard::Hold { starts, .. } = plan.guard {
            let sessions = plan.to_resume.len();
            self.tell(None, EventKind::BootGuardHeld { starts, sessions }, at);
            self.raise(&boot_guard(starts, sessions), at);
        }
    }

    fn hold_suspended(&mut self, session: &SessionId, at: Time) {
        self.hold_queue(session, Hold { reason: HoldReason::Suspended, since: at, probe_at: None }, at);
    }

    fn resume_due(&mut self, at: Time) {
        if self.gate() != Gate::Open {
            return;
        }
        let mut due: Vec<(u32, SessionId)> = Vec::new();
        for kept in &self.sessions {
            due.extend(kept.resume_place.map(|place| (place, kept.session.id.clone())));
        }
        due.sort();
        let running = self.running_turns().into_iter().filter(|turn| self.is_resume(*turn)).count();
        due.truncate(room(running, self.limits.max_parallel));
        for (_, session) in due {
            self.resume_now(&session, at);
        }
    }

    fn resume_now(&mut self, session: &SessionId, at: Time) {
        let gate = self.gate();
        let kept = self.kept_mut(session);
        kept.resume_place = None;
        let Some(Marker::ResumePending(mark)) = kept.session.marker else { return };
        if gate != Gate::Open {
            kept.resume_place = Some(0);
            return;
        }
        self.judge_spending(session, OTHER_LIMITS, at);
        let kept = self.kept(session);
        if kept.session.spent.is_some() {
            return;
        }
        let cuts = kept.session.cuts;
        let text = resume_message(mark.reason);
        let item = ItemId(self.items.len() as i64 + 1);
        self.items.push(Item {
            id: item,
            session: session.clone(),
            lane: Lane::Queue,
            state: ItemState::Waiting,
            text: text.clone(),
            source: Source::Recovery,
            created_at: at,
            turn: None,
            note: None,
        });
        let line = resume_line(mark.reason, cuts, self.limits.max_cuts);
        let first = vec![Body::Notice { text: line }, Body::Resume { text }];
        let begun = self.begin_with(session, item, false, first, at);
        for row in self.open_recoveries(session) {
            row.turn = Some(begun.turn);
        }
        let kind = EventKind::Resumed { turn: begun.turn, reason: mark.reason, cuts };
        self.tell(Some(session), kind, at);
        self.tell_begun(&begun);
    }

    fn settle_answered(&mut self, resume: TurnId) {
        let session = self.turn(resume).session.clone();
        let before = |turn: &&Turn| turn.session == session && !turn.is_place && turn.id < resume;
        let is_cut = |turn: &Turn| matches!(turn.cut, Some(StopCause::Shutdown | StopCause::Crash));
        let cut: Vec<Turn> = self
            .turns
            .iter()
            .rev()
            .filter(before)
            .take_while(|turn| is_cut(turn) || self.is_resume(turn.id) && turn.state != TurnState::Done)
            .filter(|turn| is_cut(turn))
            .cloned()
            .collect();
        for item in cut.iter().flat_map(|turn| turn.handed.iter().map(|(item, _)| *item).chain([turn.item])) {
            self.settle(item, ItemState::Done, Some(ANSWERED_BY_RESUME));
        }
    }

    fn is_resume(&self, turn: TurnId) -> bool {
        let item = self.turn(turn).item;
        self.items.iter().any(|row| row.id == item && row.source == Source::Recovery)
    }

    fn cut(&mut self, id: TurnId, cause: StopCause, at: Time) {
        self.end(id, &Outcome::Interrupted { cause }, "", at);
        let turn = self.turn(id).clone();
        for item in turn.handed.iter().map(|(item, _)| *item).chain([turn.item]) {
            self.settle(item, ItemState::Interrupted, Some(cause.words()));
        }
    }

    fn mark_stopping(&mut self, id: TurnId, cause: StopCause, at: Time) {
        let turn = self.turn_mut(id);
        let again = match turn.stop {
            None => false,
            Some(StopCause::Operator) => true,
            Some(_) => cause != StopCause::Operator,
        };
        if again {
            return;
        }
        turn.stop = Some(cause);
        let session = turn.session.clone();
        self.tell(Some(&session), EventKind::StopRequested { turn: id, cause }, at);
        let questions = self.open_questions(&session).len();
        if questions > 0 && questions >= self.open_calls(id).1 {
            self.turn_mut(id).waited_up_to = self.entries.last().map(|entry| entry.id);
        }
        self.cancel_questions(id, "the turn was told to stop", at);
    }

    fn hold_queue(&mut self, session: &SessionId, hold: Hold, at: Time) {
        self.kept_mut(session).session.hold = Some(hold);
        let waiting = self.waiting(session).len();
        self.tell(Some(session), EventKind::QueueHeld { hold, waiting }, at);
        self.settle_alarm(session, at);
    }

    pub(crate) fn rules(&self) -> Option<Rules> {
        self.rules
    }

    fn spend(&mut self, key: &SessionKey, usage: &Usage, at: Time) {
        let used = Spent::from(usage);
        let Some(rules) = self.rules.filter(|_| used != Spent::default()) else { return };
        for scope in [Scope::of(key).word(), ALL.to_owned()] {
            let (sum, _) = self.spent.entry((rules.day(at).to_string(), scope)).or_default();
            sum.tokens += used.tokens;
            sum.cost += used.cost;
        }
    }

    pub(crate) fn reached(&self, scope: &Scope, at: Time) -> Option<Reached> {
        let rules = self.rules.filter(|rules| !rules.are_off())?;
        let ((own, let_go), (all, _)) = (self.sum(rules, &scope.word(), at), self.sum(rules, ALL, at));
        if let_go { None } else { rules.reached(scope, own, all) }
    }

    pub(crate) fn today(&self, scope: &Scope, at: Time) -> Option<Today> {
        let rules = self.rules?;
        let ((own, let_go), (all, _)) = (self.sum(rules, &scope.word(), at), self.sum(rules, ALL, at));
        rules.today(Some((scope, own)), all, at).map(|today| Today { let_go, ..today })
    }

    fn sum(&self, rules: Rules, word: &str, at: Time) -> (Spent, bool) {
        self.spent.get(&(rules.day(at).to_string(), word.to_owned())).copied().unwrap_or_default()
    }

    pub(crate) fn let_go(&mut self, scope: &Scope, at: Time) {
        if let Some(rules) = self.rules {
            self.spent.entry((rules.day(at).to_string(), scope.word())).or_default().1 = true;
        }
    }

    fn judge_spending(&mut self, session: &SessionId, by: &str, at: Time) {
        let kept = self.kept(session);
        let Some(rules) = self.rules.filter(|_| kept.session.ended.is_none()) else { return };
        let scope = Scope::of(&kept.session.key);
        let reached = self.reached(&scope, at);
        let until = rules.next_day(at);
        let before = kept.session.spent;
        let waiting = self.waiting(session).len();
        let now = reached.map(|reached| SpentHold {
            reached,
            since: before.map_or(at, |before| before.since),
            until,
        });
        self.kept_mut(session).session.spent = now;
        match (before, now) {
            (None, None) => return,
            (Some(_), Some(_)) => {}
            (None, Some(now)) => {
                self.tell(Some(session), EventKind::QueueHeld { hold: Hold::from(now), waiting }, at);
            }
            (Some(before), None) => {
                let by = if at >= before.until { "the next day" } else { by }.to_owned();
                self.tell(Some(session), EventKind::QueueReleased { reason: HoldReason::Spent, by }, at);
            }
        }
        self.settle_alarm(session, at);
    }

    fn judge_spent(&mut self, until: Option<Time>, at: Time) {
        let held = |kept: &Kept| kept.session.spent.map(|spent| (spent.until, kept.session.id.clone()));
        let mut due: Vec<_> = self.sessions.iter().filter_map(held).collect();
        due.retain(|(day, _)| until.is_none_or(|until| *day <= until));
        due.sort();
        for (_, session) in due {
            self.judge_spending(&session, OTHER_LIMITS, at);
            self.go_on_after_spending(&session, at);
        }
    }

    fn go_on_after_spending(&mut self, session: &SessionId, at: Time) {
        let kept = self.kept(session);
        if kept.session.spent.is_some() || kept.running.is_some() || self.gate() != Gate::Open {
            return;
        }
        match (kept.session.marker, kept.session.hold) {
            (Some(Marker::ResumePending(_)), None) => self.resume_now(session, at),
            _ => self.begin_next(session, at),
        }
    }

    fn hold_stopped(&mut self, session: &SessionId, at: Time) {
        let held = self.kept(session).session.hold.map(|hold| hold.reason);
        if !matches!(held, Some(HoldReason::Stopped | HoldReason::Suspended)) {
            self.hold_queue(session, Hold { reason: HoldReason::Stopped, since: at, probe_at: None }, at);
        }
    }

    /// What was left waiting in a session when another took its place, in its order.
    fn left_waiting(&self, session: &SessionId) -> Vec<ItemId> {
        let notes = left_waiting_notes();
        let left = |id: &&ItemId| {
            self.items.iter().any(|item| {
                item.id == **id
                    && item.session == *session
                    && item.state == ItemState::Cleared
                    && item.note.as_deref().is_some_and(|note| notes.contains(&note))
            })
        };
        self.kept(session).left.iter().filter(left).copied().collect()
    }

    fn put_slot_first(&mut self, session: &SessionId, item: ItemId, at: Time) {
        let kept = self.kept_mut(session);
        kept.slot = None;
        kept.queue.insert(0, item);
        self.item_mut(item).lane = Lane::Queue;
        self.tell(Some(session), EventKind::Moved { item, lane: Lane::Queue, position: 1 }, at);
    }

    fn release(&mut self, session: &SessionId, by: &str, at: Time) {
        if let Some(hold) = self.kept_mut(session).session.hold.take() {
            let kind = EventKind::QueueReleased { reason: hold.reason, by: by.to_owned() };
            self.tell(Some(session), kind, at);
            self.settle_alarm(session, at);
        }
    }

    fn append(&mut self, id: TurnId, output: &[Output], at: Time) {
        let session = self.turn(id).session.clone();
        for part in output {
            match part {
                Output::Text { text } => self.say(&session, id, text, StreamOf::Answer, at),
                Output::Reasoning { text } => self.say(&session, id, text, StreamOf::Reasoning, at),
                Output::Used(usage) => {
                    self.turn_mut(id).usage.add(usage);
                    let session = &mut self.kept_mut(&session).session;
                    session.usage.add(usage);
                    let key = session.key.clone();
                    self.spend(&key, usage, at);
                }
                Output::Session(kept) => {
                    self.kept_mut(&session).session.agent_session = Some(kept.clone());
                }
                Output::Plan(plan) => {
                    let plan_of =
                        |entry: &&mut Entry| entry.turn == id && matches!(entry.body, Body::Plan(_));
                    match self.entries.iter_mut().find(plan_of) {
                        Some(known) => known.body = Body::Plan(plan.clone()),
                        None => {
                            self.entry(&session, id, at, Body::Plan(plan.clone()));
                        }
                    }
                    let line = plan.words(TurnState::Running, ", ");
                    self.tell(Some(&session), EventKind::Planned { turn: id, line }, at);
                }
                Output::ToolCall { call, name, arguments } => {
                    let body = Body::Tool {
                        call: call.clone(),
                        name: name.clone(),
                        arguments: arguments.clone(),
                        result: None,
                    };
                    let is_open = |entry: &&mut Entry| {
                        let of_call = matches!(&entry.body, Body::Tool { call: open, result: None, .. } if open == call);
                        entry.turn == id && of_call
                    };
                    match self.entries.iter_mut().find(is_open) {
                        Some(known) => known.body = body,
                        None => {
                            self.entry(&session, id, at, body);
                        }
                    }
                    let kind = EventKind::ToolCalled { turn: id, name: name.clone(), call: call.clone() };
                    self.tell(Some(&session), kind, at);
                }
                Output::ToolResult { call: wanted, ok, output } => {
                    let given = ToolResult { ok: *ok, output: output.clone(), at };
                    let open = self.entries.iter_mut().filter(|entry| entry.turn == id).find_map(|entry| {
                        match &mut entry.body {
                            Body::Tool { call, result: result @ None, .. } if call == wanted => Some(result),
                            _ => None,
                        }
                    });
                    match open {
                        Some(result) => *result = Some(given),
                        None => {
                            let body = Body::Tool {
                                call: wanted.clone(),
                                name: "(unannounced call)".to_owned(),
                                arguments: String::new(),
                                result: Some(given),
                            };
                            self.entry(&session, id, at, body);
                        }
                    }
                    let kind = EventKind::ToolEnded { turn: id, call: wanted.clone(), ok: *ok };
                    self.tell(Some(&session), kind, at);
                }
                Output::Shortened { results, summary, before, after } => {
                    let middle = if summary.is_some() { Middle::Summarised } else { Middle::Sent };
                    if let Some((reach, text)) = summary {
                        self.keep_summary(&session, id, *reach, text);
                    }
                    let (results, before, after) = (*results, *before, *after);
                    let kind = EventKind::Shortened { turn: id, results, middle, before, after };
                    self.tell(Some(&session), kind, at);
                }
            }
        }
    }

    fn keep_summary(&mut self, session: &SessionId, turn: TurnId, reach: Reach, text: &str) {
        let is_call = |entry: &&Entry| entry.turn == turn && matches!(entry.body, Body::Tool { .. });
        let up_to = match reach {
            Reach::Entry(id) => self.entries.iter().find(|entry| entry.id == id && entry.session == *session),
            Reach::Calls(calls) => self.entries.iter().filter(is_call).nth(calls.max(1) - 1),
        };
        if let Some((up_to, turn)) = up_to.map(|entry| (entry.id, entry.turn)) {
            self.summaries.insert(session.to_string(), (turn, Summary { up_to, text: text.to_owned() }));
        }
    }

    fn forget_summary(&mut self, session: &SessionId, turns: &[TurnId]) {
        let of = session.to_string();
        if self.summaries.get(&of).is_some_and(|(reached, _)| turns.iter().any(|turn| turn <= reached)) {
            self.summaries.remove(&of);
        }
    }

    fn say(&mut self, session: &SessionId, turn: TurnId, words: &str, stream: StreamOf, at: Time) {
        if words.is_empty() {
            return;
        }
        let produced: usize = self
            .entries
            .iter()
            .filter(|entry| entry.turn == turn)
            .filter_map(|entry| stream.text(&entry.body))
            .map(String::len)
            .sum();
        let last = self.entries.iter_mut().rev().find(|entry| entry.turn == turn);
        if let Some(text) = last.and_then(|entry| stream.text_mut(&mut entry.body)) {
            text.push_str(words);
            return;
        }
        let body = stream.body(words.to_owned(), produced as u64);
        self.entry(session, turn, at, body);
    }

    fn submit(
        &mut self,
        session: &SessionId,
        text: &str,
        intent: Intent,
        source: Source,
        at: Time,
    ) -> Result<Accepted> {
        let was_held = self.kept(session).session.spent.is_some();
        if self.kept(session).running.is_none() && (source != Source::Job || was_held) {
            self.judge_spending(session, OTHER_LIMITS, at);
            if was_held {
                self.go_on_after_spending(session, at);
            }
        }
        let now = self.situation(self.kept(session));
        let placement = place(intent, &now)?;
        let id = ItemId(self.items.len() as i64 + 1);
        let lane = match placement {
            Placement::Slot { .. } => Lane::Slot,
            Placement::Start if intent == Intent::Plain => Lane::Slot,
            _ => Lane::Queue,
        };
        self.items.push(Item {
            id,
            session: session.clone(),
            lane,
            state: ItemState::Waiting,
            text: text.to_owned(),
            source,
            created_at: at,
            turn: None,
            note: None,
        });
        self.kept_mut(session).session.last_activity_at = at;
        let accepted = |ack: &Ack| EventKind::Accepted { item: id, ack: ack.clone(), excerpt: excerpt(text) };
        let mut begun = None;
        let ack = match placement {
            Placement::Start => {
                let new = self.begin(session, id, false, at);
                let ack = Ack::Running { turn: new.turn };
                self.tell(Some(session), accepted(&ack), at);
                self.tell_begun(&new);
                begun = Some(new);
                ack
            }
            Placement::Slot { replaces, interrupts } => {
                self.kept_mut(session).slot = Some(id);
                let interrupts_one = interrupts.is_some();
                let old = replaces.map(|old| self.item_mut(old).clone());
                let ack = match &old {
                    Some(old) => {
                        Ack::Replaces { item: old.id, sent_at: old.created_at, interrupts: interrupts_one }
                    }
                    None => Ack::Next { interrupts: interrupts_one, gate: now.gate },
                };
                self.tell(Some(session), accepted(&ack), at);
                if let Some(old) = old {
                    self.settle(old.id, ItemState::Superseded, Some("replaced by a newer message"));
                    let kind = EventKind::Superseded { item: old.id, by: id, excerpt: excerpt(&old.text) };
                    self.tell(Some(session), kind, at);
                }
                if let Some(turn) = interrupts {
                    self.mark_stopping(turn, StopCause::NewMessage, at);
                }
                ack
            }
            Placement::Queue => {
                self.kept_mut(session).queue.push(id);
                let depth = self.kept(session).queue.len();
                let for_the_turn =
                    intent == Intent::Steer || (intent == Intent::Plain && now.busy_mode == BusyMode::Steer);
                let ack = Ack::Queued {
                    position: depth,
                    depth,
                    hold: now.hold,
                    gate: now.gate,
                    not_steerable: for_the_turn && now.running.is_some(),
                };
                self.tell(Some(session), accepted(&ack), at);
                ack
            }
            Placement::Steer(turn) => {
                let entry =
                    self.entry(session, turn, at, Body::User { text: text.to_owned(), steered: true });
                self.turn_mut(turn).handed.push((id, entry));
                let row = self.item_mut(id);
                row.state = ItemState::Running;
                row.turn = Some(turn);
                let ack = Ack::Steered { turn };
                self.tell(Some(session), accepted(&ack), at);
                self.tell(Some(session), EventKind::Steered { turn, item: id }, at);
                ack
            }
        };
        Ok(Accepted { session: session.clone(), item: id, ack, begun })
    }

    fn waiting_item(&self, id: ItemId) -> Result<Item> {
        let Some(item) = self.items.iter().find(|item| item.id == id) else {
            return refuse(Refusal::NoSuchItem(id));
        };
        if item.state == ItemState::Waiting {
            Ok(item.clone())
        } else {
            refuse(Refusal::ItemNotWaiting(item.state))
        }
    }

    fn title_taken(&self, title: &str, by: &SessionId) -> Result<()> {
        let mut live = self.sessions.iter().filter(|kept| kept.session.ended.is_none());
        if live.any(|kept| kept.session.id != *by && kept.session.title.as_deref() == Some(title)) {
            return refuse(Refusal::TitleTaken(title.to_owned()));
        }
        Ok(())
    }

    pub(crate) fn session_of(&self, turn: TurnId) -> SessionId {
        self.turn(turn).session.clone()
    }

    pub(crate) fn key_and_name(&self, session: &SessionId) -> (SessionKey, String) {
        let session = &self.kept(session).session;
        (session.key.clone(), session.name().to_owned())
    }

    /// The background processes, and the children of turns that do not run.
    fn background(&self, of: &Kept) -> Background {
        let works = |child: &ChildProcess| {
            self.turn(child.turn).session == of.session.id && of.running != Some(child.turn)
        };
        let children = self.processes.iter().filter(|(child, _)| works(child)).map(|(child, at)| {
            let pid = child.identity.pid;
            (*at, pid, format!("{} (process group {pid})", child.program))
        });
        let live = self.live_background(&of.session.id);
        let processes = live
            .iter()
            .map(|it| (it.began_at, it.identity.pid, format!("process {}", named(it.number, &it.line()))));
        let mut kept: Vec<_> = processes.chain(children).collect();
        kept.sort_by_key(|(at, pid, _)| (*at, *pid));
        let work: Vec<Work> = kept.into_iter().map(|(since, _, what)| Work { what, since }).collect();
        if work.is_empty() { Background::None } else { Background::Active { work } }
    }

    fn reset_if_due(&mut self, id: SessionId, new: &NewMessage) -> SessionId {
        let kept = self.kept(&id).clone();
        if new.reset.policy.mode == ResetMode::None && kept.session.marker.is_none() {
            return id;
        }
        let facts = ResetFacts {
            began_at: kept.session.began_at,
            last_activity_at: kept.session.last_activity_at,
            turn: if kept.running.is_some() { TurnNow::Running } else { TurnNow::None },
            mark: Mark::of(kept.session.marker, self.limits.freshness, new.at),
            background: &self.background(&kept),
        };
        let reason = match decide(&new.reset, &facts, new.at) {
            ResetVerdict::Keep => {
                if self.kept_mut(&id).told.take().is_some() {
                    self.resolve(&AlertKey::blocked_reset(&id), new.at);
                }
                return id;
            }
            ResetVerdict::Blocked(block) => {
                if let Some(news) = ToldBlock::news(kept.told.as_ref(), block, new.at) {
                    self.kept_mut(&id).told = Some(news.clone());
                    self.tell(Some(&id), EventKind::ResetBlocked(news.clone()), new.at);
                    if news.is_alarming() {
                        self.raise(&blocked_reset(&id, kept.session.name(), &news), new.at);
                    } else {
                        self.resolve(&AlertKey::blocked_reset(&id), new.at);
                    }
                }
                return id;
            }
            ResetVerdict::Reset { reason } => reason,
        };
        let why = forecast(&new.reset, &facts, new.at).why(reason, new.at, new.reset.zone);
        if let Some(turn) = kept.running {
            self.cut(turn, StopCause::Operator, new.at);
        }
        let waiting = self.waiting(&id);
        self.clear(&id, &waiting, reason.left_waiting(), new.at);
        self.kept_mut(&id).left.clone_from(&waiting);
        let by =
            if reason == ResetReason::Suspended { Clearing::NextMessage } else { Clearing::ResetByPolicy };
        self.end_session(&id, EndReason::SessionReset, by, &new.fresh, new.at);
        let had_activity = kept.session.turns > 0;
        let beginning = Beginning::AutoReset { reason, had_activity };
        self.make(&new.to, &new.fresh, Some(id.clone()), None, beginning, new.at);
        if had_activity && new.notice == Notice::Given {
            self.kept_mut(&new.fresh).notice = Some(reset_notice(&why, &id));
        }
        let kind = EventKind::AutoReset { reason, why, previous: id.clone(), left: waiting.len() };
        self.tell(Some(&new.fresh), kind, new.at);
        if !waiting.is_empty() {
            let name = self.kept(&new.fresh).session.name().to_owned();
            self.raise(&left_waiting(&id, &new.fresh, &name, waiting.len()), new.at);
        }
        new.fresh.clone()
    }

    pub(crate) fn end_session(
        &mut self,
        id: &SessionId,
        reason: EndReason,
        by: Clearing,
        successor: &SessionId,
        at: Time,
    ) {
        let kept = self.kept_mut(id);
        kept.session.ended = Some(Ended { at, reason });
        kept.session.hold = None;
        kept.session.spent = None;
        self.unmark(id, by, at);
        self.settle_alarm(id, at);
        self.resolve(&AlertKey::blocked_reset(id), at);
        self.tell(Some(id), EventKind::SessionEnded { reason, successor: successor.clone() }, at);
        let about = AlertSubject::Session(id.clone());
        for alert in self.alerts.values_mut().filter(|alert| alert.subject == about) {
            *alert = alert.clone().followed(successor).unwrap_or(alert.clone());
        }
    }

    fn is_guarded(&self, id: &SessionId) -> bool {
        self.kept(id).session.hold.is_some_and(|hold| hold.reason == HoldReason::BootGuard)
    }

    fn settle_alarm(&mut self, id: &SessionId, at: Time) {
        let guarded = self.is_guarded(id);
        let was_guarded = std::mem::replace(&mut self.kept_mut(id).guarded, guarded);
        if was_guarded && self.sessions.iter().all(|kept| !self.is_guarded(&kept.session.id)) {
            self.resolve(&AlertKey::boot_guard(), at);
        }
        let kept = self.kept(id).clone();
        let alarm = match kept.session.ended {
            None => SessionAlarm::of(
                kept.session.hold.map(|hold| hold.reason),
                kept.session.spent.map(|spent| spent.reached),
                kept.session.marker,
            ),
            Some(_) => None,
        };
        if alarm == kept.alarmed {
            return;
        }
        self.kept_mut(id).alarmed = alarm;
        match alarm {
            Some(alarm) => {
                self.raise(&alarm.alert(id, kept.session.name(), kept.last_error.as_deref()), at);
            }
            None => {
                self.resolve(&AlertKey::session(id), at);
            }
        }
    }

    pub(crate) fn raise(&mut self, new: &NewAlert, at: Time) {
        let alert = Alert::raised(self.alerts.get(&new.key).cloned(), new, at);
        let (key, words, raises) = (alert.key.clone(), alert.words.clone(), alert.raises);
        self.keep_alert(&alert, EventKind::AlertRaised { alert: key, words, raises }, at);
    }

    pub(crate) fn resolve(&mut self, key: &AlertKey, at: Time) -> bool {
        let Some(alert) = self.alerts.get(key).cloned().and_then(|alert| alert.resolved(at)) else {
            return false;
        };
        self.keep_alert(&alert, EventKind::AlertResolved { alert: key.clone() }, at);
        true
    }

    pub(crate) fn recover(&mut self, key: &AlertKey, words: &str, at: Time) {
        if let Some(alert) = self.alerts.get(key).cloned().and_then(|alert| alert.recovered(words, at)) {
            self.keep_alert(&alert, EventKind::AlertResolved { alert: key.clone() }, at);
        }
    }

    pub(crate) fn rename_alert(&mut self, from: &AlertKey, to: &AlertKey, of: &JobId) {
        if let Some(alert) = self.alerts.remove(from) {
            let alert = Alert { key: to.clone(), subject: AlertSubject::Job(of.clone()), ..alert };
            self.alerts.insert(to.clone(), alert);
        }
    }

    fn keep_alert(&mut self, alert: &Alert, kind: EventKind, at: Time) {
        self.alerts.insert(alert.key.clone(), alert.clone());
        let session = match &alert.subject {
            AlertSubject::Session(session) => Some(session),
            AlertSubject::Job(_)
            | AlertSubject::JobsFile
            | AlertSubject::Ticker
            | AlertSubject::BootGuard => None,
        };
        self.tell(session, kind, at);
    }

    /// The newest `count` shown turns that were asked for, and the resumes after each.
    fn last_asked(&self, session: &SessionId, count: usize) -> Vec<TurnId> {
        let Some(newer) = count.checked_sub(1) else { return Vec::new() };
        let shown = self.shown_turns(session);
        let asked = shown.iter().enumerate().filter(|(_, turn)| !self.is_resume(**turn));
        let first = asked.map(|(at, _)| at).rev().nth(newer).unwrap_or(0);
        shown[first..].to_vec()
    }

    fn shown_turns(&self, session: &SessionId) -> Vec<TurnId> {
        self.turns
            .iter()
            .filter(|turn| turn.session == *session && !turn.hidden && !turn.is_place)
            .map(|turn| turn.id)
            .collect()
    }
}

#[derive(Clone, Copy)]
enum StreamOf {
    Answer,
    Reasoning,
}

impl StreamOf {
    fn text(self, body: &Body) -> Option<&String> {
        match (self, body) {
            (Self::Answer, Body::Agent { text, .. }) | (Self::Reasoning, Body::Reasoning { text, .. }) => {
                Some(text)
            }
            _ => None,
        }
    }

    fn text_mut(self, body: &mut Body) -> Option<&mut String> {
        match (self, body) {
            (Self::Answer, Body::Agent { text, .. }) | (Self::Reasoning, Body::Reasoning { text, .. }) => {
                Some(text)
            }
            _ => None,
        }
    }

    fn body(self, text: String, offset: u64) -> Body {
        match self {
            Self::Answer => Body::Agent { text, offset },
            Self::Reasoning => Body::Reasoning { text, offset },
        }
    }
}

impl Transitions for Model {
    fn open_run(&mut self, run: &NewRun) -> Result<Opened> {
        self.stopping = None;
        self.defaults = run.defaults;
        self.agents.clone_from(&run.agents);
        self.limits = run.limits;
        self.rules = Some(run.spending);
        let last = self.runs.last().map(|run| run.last.clone());
        let exit = last_exit(run.receipt.clone(), last.as_ref());
        let facts = last.map(|last| self.facts(&last, &exit)).unwrap_or_default();
        let earlier: Vec<Start> = self.runs.iter().rev().map(|run| run.start).collect();
        let plan = plan(&facts, &exit, &earlier, &run.limits, run.at);
        let last = LastRun { run: run.run.clone(), started_at: run.at, stamped_at: None };
        let row = StartRow {
            run: run.run.clone(),
            pid: run.pid,
            version: run.version.clone(),
            started_at: run.at,
            ended_at: None,
            exit: Some(exit.clone()),
            guard: plan.guard,
            in_row: plan.in_row,
            pending: 0,
            resumed: 0,
            owed_nothing: 0,
            given_up: 0,
            cut_jobs: Vec::new(),
        };
        self.runs.push(Run { last, start: plan.start, row });
        let cut_turns = self.running_turns();
        let waiting = self.items.iter().filter(|item| item.state == ItemState::Waiting).count();
        let kind = EventKind::EngineStarted {
            run: run.run.clone(),
            pid: run.pid,
            exit: Some(exit.clone()),
            cut_turns: cut_turns.len(),
            waiting,
        };
        self.tell(None, kind, run.at);
        self.carry_out(&plan, run.at);
        self.judge_spent(None, run.at);
        self.begin_all(run.at);
        Ok(Opened { exit, cut_turns, waiting })
    }

    fn close_run(&mut self, run: &RunId, at: Time) -> Result<()> {
        for kept in self.runs.iter_mut().filter(|kept| kept.last.run == *run) {
            kept.row.ended_at = Some(at);
        }
        self.tell(None, EventKind::EngineStopped { run: run.clone() }, at);
        Ok(())
    }

    fn open_session(&mut self, key: &SessionKey, fresh: &SessionId, at: Time) -> Result<SessionId> {
        if let Some(id) = self.at_key(key) {
            return Ok(id);
        }
        self.make(key, fresh, None, None, Beginning::New, at);
        Ok(fresh.clone())
    }

    fn accept_message(&mut self, new: &NewMessage) -> Result<Accepted> {
        let session = match self.at_key(&new.to) {
            Some(session) => self.reset_if_due(session, new),
            None => self.open_session(&new.to, &new.fresh, new.at)?,
        };
        self.submit(&session, &new.text, new.intent, new.source, new.at)
    }

    fn append_turn(&mut self, turn: TurnId, output: &[Output], at: Time) -> Result<()> {
        if self.running_turns().contains(&turn) {
            self.append(turn, output, at);
        }
        Ok(())
    }

    fn keep_process(&mut self, child: &ChildProcess, at: Time) -> Result<()> {
        if !self.running_turns().contains(&child.turn) {
            return nothing("the turn has ended; its process does not begin");
        }
        self.processes.retain(|(kept, _)| kept.identity != child.identity);
        self.processes.push((child.clone(), at));
        Ok(())
    }

    fn keep_background(&mut self, new: &NewBackground, at: Time) -> Result<BackgroundProcess> {
        self.keep_background(new, at)
    }

    fn stop_background(
        &mut self,
        session: &SessionId,
        which: Which,
        by: StoppedBy,
        at: Time,
    ) -> Result<Vec<BackgroundProcess>> {
        self.stop_background(session, which, by, at)
    }

    fn end_background(
        &mut self,
        session: &SessionId,
        number: ProcessNumber,
        ended: &background::Ended,
        at: Time,
    ) -> Result<bool> {
        self.end_background(session, number, ended, at)
    }

    fn prune_background(&mut self, before: Time, limit: usize) -> Result<usize> {
        Ok(self.prune_background(before, limit))
    }

    fn ask_approval(&mut self, new: &NewApproval, at: Time) -> Result<Approval> {
        if !self.running_turns().contains(&new.turn) {
            return nothing("the turn has ended; it asks nothing");
        }
        let session = self.turn(new.turn).session.clone();
        let kept = self.kept(&session).session.clone();
        let allowed = self.allowed_in(&session);
        let asked = Approval {
            id: ApprovalId(self.asked + 1),
            session: session.clone(),
            turn: new.turn,
            question: new.question.clone(),
            asked_at: at,
            denies_at: new.denies_at,
            decision: new.question.decided_before(kept.key.parts().chat_type, &allowed),
        };
        self.asked += 1;
        self.approvals.push(asked.clone());
        match &asked.decision {
            Some(decision) => {
                self.settled_at.insert(asked.id.0, at);
                self.tell_decided(&asked, decision, at);
            }
            None => {
                let (approval, line) = (asked.id, asked.question.line());
                let kind =
                    EventKind::ApprovalAsked { turn: new.turn, approval, line, denies_at: new.denies_at };
                self.tell(Some(&session), kind, at);
                self.raise_question(&session, at);
            }
        }
        Ok(asked)
    }

    fn settle_approval(&mut self, id: ApprovalId, ending: &Ending, at: Time) -> Result<Approval> {
        let Some(asked) = self.approvals.iter().find(|asked| asked.id == id).cloned() else {
            return nothing(&format!("there is no question {id}"));
        };
        let decision = asked.decide(ending).map_err(StoreError::Refused)?;
        self.decided(&asked, &decision, at);
        self.resolve(&AlertKey::approval(&asked.session), at);
        self.raise_question(&asked.session, at);
        if let Decision::Always { prefix } = &decision
            && !self.allowed_in(&asked.session).contains(prefix)
        {
            let (session, prefix) = (asked.session.clone(), prefix.clone());
            self.allowed.push(Allowed { session, prefix, since: at });
        }
        Ok(Approval { decision: Some(decision), ..asked })
    }

    fn disallow(&mut self, session: &SessionId, prefix: &str, at: Time) -> Result<()> {
        self.known(session)?;
        let allowed = self.allowed_in(session);
        if !allowed.iter().any(|known| known == prefix) {
            return Err(StoreError::Refused(not_allowed(prefix, &allowed)));
        }
        self.allowed.retain(|it| it.session != *session || it.prefix != prefix);
        self.tell(Some(session), EventKind::Disallowed { prefix: prefix.to_owned() }, at);
        Ok(())
    }

    fn settle_process(&mut self, child: &ChildProcess, fate: &Fate, at: Time) -> Result<()> {
        let before = self.processes.len();
        self.processes.retain(|(kept, _)| kept.identity != child.identity);
        let failure = match fate {
            Fate::Killed if self.processes.len() < before => None,
            Fate::Lives { why } if self.processes.len() < before => Some(why.clone()),
            Fate::Gone | Fate::Killed | Fate::Lives { .. } => return Ok(()),
        };
        let session = self.turn(child.turn).session.clone();
        let (turn, program, group) = (child.turn, child.program.clone(), child.identity.pid);
        self.tell(Some(&session), EventKind::LeftoverFound { turn, program, group, failure }, at);
        Ok(())
    }

    fn finish_turn(&mut self, end: &TurnEnd) -> Result<bool> {
        self.processes.retain(|(kept, _)| kept.turn != end.turn);
        if !self.running_turns().contains(&end.turn) {
            return Ok(false);
        }
        let turn = self.turn(end.turn).clone();
        let session = turn.session.clone();
        self.append(end.turn, &end.tail, end.at);
        self.end(end.turn, &end.outcome, &end.written, end.at);
        let (state, note) = match &end.outcome {
            Outcome::Done => (ItemState::Done, None),
            Outcome::Failed { error } => (ItemState::Failed, Some(error.clone())),
            Outcome::Interrupted { cause } => (ItemState::Interrupted, Some(cause.words().to_owned())),
        };
        let left: Vec<_> =
            turn.handed.iter().filter(|(item, _)| !end.steered.contains(item)).copied().collect();
        for (item, _) in turn.handed.iter().filter(|(item, _)| end.steered.contains(item)) {
            self.settle(*item, state, note.as_deref());
        }
        for (item, entry) in left.iter().rev() {
            self.withdrawn.push(*entry);
            self.put_back(&session, *item, end.at);
        }
        if !left.is_empty() && matches!(end.outcome, Outcome::Interrupted { cause: StopCause::Operator }) {
            self.hold_stopped(&session, end.at);
        }
        let dead = matches!(end.outcome, Outcome::Failed { .. }) && !end.did_anything;
        if turn.probe && dead {
            self.put_back(&session, turn.item, end.at);
        } else {
            self.settle(turn.item, state, note.as_deref());
        }
        let answered = end.outcome == Outcome::Done;
        let resumed = self.is_resume(end.turn) && self.kept(&session).session.marker.is_some();
        if resumed {
            self.tell(Some(&session), EventKind::ResumeEnded { turn: end.turn, answered }, end.at);
        }
        if answered && resumed {
            self.settle_answered(end.turn);
        }
        if answered {
            self.kept_mut(&session).session.cuts = 0;
            self.unmark(&session, Clearing::Answered, end.at);
        } else if self.by_drain(&session, end.turn)
            && !matches!(end.outcome, Outcome::Interrupted { cause: StopCause::Shutdown | StopCause::Crash })
        {
            self.unmark(&session, Clearing::FinishedInDrain, end.at);
        }
        let kept = self.kept_mut(&session);
        kept.session.context = end.context.or(kept.session.context);
        if end.did_anything {
            kept.session.model.clone_from(&end.model);
        }
        kept.session.last_activity_at = end.at;
        if end.agent_session.is_some() || end.did_anything {
            kept.session.agent_session.clone_from(&end.agent_session);
        }
        if let Some(used) = end.handle {
            kept.session.runtime = kept.session.runtime.after(used, end.at);
        }
        match &end.outcome {
            Outcome::Done => kept.last_error = None,
            Outcome::Failed { error } => kept.last_error = Some(error.clone()),
            Outcome::Interrupted { .. } => {}
        }
        let held = kept.session.hold.map(|hold| hold.reason);
        if dead {
            kept.session.dead_turns += 1;
            let hold = hold_after_failures(kept.session.dead_turns, end.at);
            match (held, hold) {
                (None, Some(hold)) => self.hold_queue(&session, hold, end.at),
                (Some(HoldReason::BackendError), Some(new)) => {
                    self.kept_mut(&session).session.hold.as_mut().unwrap().probe_at = new.probe_at;
                }
                _ => {}
            }
        } else if !matches!(end.outcome, Outcome::Interrupted { .. }) {
            kept.session.dead_turns = 0;
            if held == Some(HoldReason::BackendError) {
                self.release(&session, "the backend, which works again", end.at);
            }
        }
        self.judge_spending(&session, OTHER_LIMITS, end.at);
        self.begin_next(&session, end.at);
        self.write_our_state(&session, Writing::Facts, end.at);
        if resumed {
            self.resume_due(end.at);
        }
        Ok(true)
    }

    fn request_stop(
        &mut self,
        session: &SessionId,
        turn: Option<TurnId>,
        cause: StopCause,
        at: Time,
    ) -> Result<Stopped> {
        self.known(session)?;
        let Some(running) = self.kept(session).running else { return refuse(Refusal::NoTurn) };
        if turn.is_some_and(|turn| turn != running) {
            return nothing("that turn has already ended; another one runs now");
        }
        self.mark_stopping(running, cause, at);
        let mut cleared = None;
        if cause == StopCause::Operator {
            self.unmark(session, Clearing::Stop, at);
            cleared = self.kept(session).slot;
            let slot: Vec<ItemId> = self.kept(session).slot.into_iter().collect();
            self.clear(session, &slot, "taken out by /stop", at);
            if !self.kept(session).queue.is_empty() {
                self.hold_stopped(session, at);
            }
        }
        let hold = self.kept(session).session.hold.map(|hold| hold.reason);
        Ok(Stopped { turn: running, cleared, hold })
    }

    fn reset_session(
        &mut self,
        key: &SessionKey,
        fresh: &SessionId,
        title: Option<&str>,
        at: Time,
    ) -> Result<Vec<BackgroundProcess>> {
        let old = self.at_key(key);
        let mut stopped = Vec::new();
        if let Some(old) = &old {
            if let Some(turn) = self.kept(old).running {
                self.cut(turn, StopCause::Reset, at);
            }
            let waiting = self.waiting(old);
            self.clear(old, &waiting, "cleared by /new", at);
            stopped = self.stop_background(old, Which::All, StoppedBy::Reset, at)?;
            self.end_session(old, EndReason::SessionReset, Clearing::New, fresh, at);
        }
        if let Some(title) = title {
            self.title_taken(title, fresh)?;
        }
        self.make(key, fresh, old, title.map(str::to_owned), Beginning::Fresh, at);
        Ok(stopped)
    }

    fn carry_over(&mut self, from: &SessionId, at: Time) -> Result<Vec<ItemId>> {
        self.known(from)?;
        let items = self.left_waiting(from);
        if items.is_empty() {
            return nothing(&format!("nothing was left waiting in session {from}"));
        }
        let live = self.at_key(&self.kept(from).session.key).filter(|live| live != from);
        let Some(live) = live else {
            return nothing(&format!("no session follows {from}; its items can be put back there"));
        };
        self.situation(self.kept(&live)).refuse_beyond_cap(items.len())?;
        for id in &items {
            self.settle(*id, ItemState::Waiting, None);
            let row = self.item_mut(*id);
            row.session = live.clone();
            row.lane = Lane::Queue;
            self.kept_mut(&live).queue.push(*id);
        }
        let kind = EventKind::CarriedOver { items: items.clone(), from: from.clone() };
        self.tell(Some(&live), kind, at);
        self.resolve(&AlertKey::left_waiting(from), at);
        self.begin_next(&live, at);
        Ok(items)
    }

    fn switch_session(
        &mut self,
        key: &SessionKey,
        wanted: &SessionId,
        at: Time,
    ) -> Result<Option<LeftBehind>> {
        self.known(wanted)?;
        let chosen = self.kept(wanted).session.clone();
        if chosen.ended.is_none() && chosen.key == *key {
            return refuse(Refusal::AlreadyCurrent);
        }
        if chosen.ended.is_none() {
            return refuse(Refusal::LiveElsewhere(chosen.key.to_string()));
        }
        self.resolve(&AlertKey::left_waiting(wanted), at);
        let mut left = None;
        if let Some(current) = self.at_key(key) {
            self.refuse_during_turn(&current)?;
            let waiting = self.waiting(&current);
            self.kept_mut(&current).left.clone_from(&waiting);
            self.clear(&current, &waiting, LEFT_BY_SWITCH, at);
            self.end_session(&current, EndReason::SessionSwitch, Clearing::Reset, wanted, at);
            left = Some(LeftBehind { session: current, items: waiting.len() });
        }
        if let Some(title) = &chosen.title {
            self.title_taken(title, wanted)?;
        }
        let kept = self.kept_mut(wanted);
        kept.session.ended = None;
        kept.session.began_at = at;
        kept.session.key = key.clone();
        self.tell(Some(wanted), EventKind::SessionResumed { key: key.clone() }, at);
        let again = self.left_waiting(wanted);
        for id in &again {
            self.settle(*id, ItemState::Waiting, None);
            self.item_mut(*id).lane = Lane::Queue;
            self.kept_mut(wanted).queue.push(*id);
            self.tell(Some(wanted), EventKind::Restored { item: *id, lane: Lane::Queue }, at);
        }
        if !again.is_empty() {
            self.hold_stopped(wanted, at);
        }
        if let Some(LeftBehind { session, items: items @ 1.. }) = &left {
            let alert = left_waiting(session, wanted, self.kept(wanted).session.name(), *items);
            self.raise(&alert, at);
        }
        Ok(left)
    }

    fn release_queue(&mut self, session: &SessionId, by: &str, at: Time) -> Result<()> {
        self.known(session)?;
        self.refuse_suspended(session)?;
        let was_spent = self.kept(session).session.spent.is_some();
        if was_spent && self.rules.is_some() {
            let scope = Scope::of(&self.kept(session).session.key);
            self.let_go(&scope, at);
            self.judge_spending(session, by, at);
        }
        let kept = self.kept(session);
        match kept.session.marker {
            Some(Marker::ResumePending(_)) if kept.running.is_none() => {
                self.release(session, by, at);
                self.resume_now(session, at);
            }
            _ if kept.session.hold.is_none() && !was_spent => {
                return nothing("this session's queue is not held; /retry runs a turn that failed again");
            }
            _ => self.release(session, by, at),
        }
        self.begin_next(session, at);
        Ok(())
    }

    fn suspend_session(&mut self, session: &SessionId, at: Time) -> Result<()> {
        self.known(session)?;
        self.refuse_ended(session)?;
        if matches!(self.kept(session).session.marker, Some(Marker::Suspended(_))) {
            return nothing("this session is suspended already");
        }
        if let Some(turn) = self.kept(session).running {
            self.mark_stopping(turn, StopCause::Operator, at);
        }
        self.unmark(session, Clearing::Suspension, at);
        let given_up = Suspended { reason: SuspendReason::Operator, since: at };
        self.mark(session, Marker::Suspended(given_up), at);
        self.hold_suspended(session, at);
        Ok(())
    }

    fn unsuspend_session(&mut self, session: &SessionId, at: Time) -> Result<usize> {
        self.known(session)?;
        if !matches!(self.kept(session).session.marker, Some(Marker::Suspended(_))) {
            return nothing("this session is not suspended");
        }
        self.unmark(session, Clearing::Unsuspend, at);
        let kept = self.kept_mut(session);
        kept.session.cuts = 0;
        if kept.session.hold.is_some_and(|hold| hold.reason == HoldReason::Suspended) {
            self.release(session, "/unsuspend", at);
        }
        if let Some(item) = self.kept(session).slot {
            self.put_slot_first(session, item, at);
        }
        let queued = self.kept(session).queue.len();
        if queued > 0 {
            self.hold_stopped(session, at);
        }
        Ok(queued)
    }

    fn stamp_run(&mut self, at: Time) -> Result<()> {
        if let Some(run) = self.runs.last_mut() {
            run.last.stamped_at = Some(at);
        }
        Ok(())
    }

    fn probe_queues(&mut self, at: Time) -> Result<Option<Time>> {
        if self.gate() != Gate::Open {
            return Ok(None);
        }
        self.judge_spent(Some(at), at);
        let probe_at = |kept: &Kept| {
            let hold = kept.session.hold.filter(|_| !kept.queue.is_empty() && kept.session.spent.is_none());
            hold.and_then(|hold| hold.probe_at)
        };
        let mut due: Vec<(Time, SessionId)> = Vec::new();
        for kept in &self.sessions {
            due.extend(probe_at(kept).filter(|due| *due <= at).map(|due| (due, kept.session.id.clone())));
        }
        due.sort();
        for (_, session) in due {
            let kept = self.kept_mut(&session);
            let later = at + probe_delay(kept.session.dead_turns);
            kept.session.hold.as_mut().unwrap().probe_at = Some(later);
            self.judge_spending(&session, OTHER_LIMITS, at);
            let kept = self.kept_mut(&session);
            let free = kept.running.is_none() && kept.resume_place.is_none();
            if free && kept.session.spent.is_none() {
                let item = kept.queue.remove(0);
                let begun = self.begin(&session, item, true, at);
                self.tell_begun(&begun);
            }
        }
        let spent = self.sessions.iter().filter_map(|kept| kept.session.spent).map(|spent| spent.until).min();
        let probe = self.sessions.iter().filter_map(probe_at).min();
        Ok([probe, spent, self.next_day_of_jobs(at)].into_iter().flatten().min())
    }

    fn set_gate(&mut self, gate: &NewGate, at: Time) -> Result<()> {
        let kind = match gate {
            NewGate::Hold(why) => {
                self.hold = Some(EngineHold { since: at, why: why.clone() });
                EventKind::EngineHeld { why: why.clone() }
            }
            NewGate::Release if self.hold.is_none() => return nothing("the engine is not on hold"),
            NewGate::Release => {
                self.hold = None;
                EventKind::EngineReleased
            }
            NewGate::Stopping { why, mark } => {
                self.stopping = Some(why.clone());
                EventKind::EngineStopping { why: why.clone(), then: AfterStop::of(*mark) }
            }
            NewGate::KeepRunning if self.stopping.is_none() => return nothing("the engine does not stop"),
            NewGate::KeepRunning => {
                self.stopping = None;
                EventKind::EngineStopCalledOff
            }
        };
        self.tell(None, kind, at);
        for session in self.running_sessions() {
            let turn = self.kept(&session).running.unwrap();
            match gate {
                NewGate::Stopping { mark, .. } if self.kept(&session).session.marker.is_none() => {
                    let since = at.max(self.turn(turn).began_at);
                    self.mark(&session, Marker::for_resume(None, *mark, since), at);
                }
                NewGate::KeepRunning if self.by_drain(&session, turn) => {
                    self.unmark(&session, Clearing::CalledOff, at);
                }
                _ => {}
            }
        }
        self.begin_all(at);
        Ok(())
    }

    fn move_item(&mut self, id: ItemId, direction: Direction, at: Time) -> Result<()> {
        let item = self.waiting_item(id)?;
        let place = |why: &str| refuse(Refusal::ItemPlace(why.to_owned()));
        if item.lane == Lane::Slot {
            return place("the slot's message runs next already; only queue items have an order");
        }
        let queue = &mut self.kept_mut(&item.session).queue;
        let from = queue.iter().position(|other| *other == id).unwrap();
        let to = match direction {
            Direction::Up if from == 0 => return place("the item is the first of its queue"),
            Direction::Down if from + 1 == queue.len() => return place("the item is the last of its queue"),
            Direction::Up => from - 1,
            Direction::Down => from + 1,
        };
        queue.swap(from, to);
        self.tell(
            Some(&item.session),
            EventKind::Moved { item: id, lane: Lane::Queue, position: to + 1 },
            at,
        );
        Ok(())
    }

    fn edit_item(&mut self, id: ItemId, was: &str, text: &str, at: Time) -> Result<()> {
        let item = self.waiting_item(id)?;
        if item.text != was {
            return refuse(Refusal::ItemEdited { now: excerpt(&item.text) });
        }
        self.item_mut(id).text = text.to_owned();
        self.tell(Some(&item.session), EventKind::Edited { item: id }, at);
        Ok(())
    }

    fn drop_item(&mut self, id: ItemId, at: Time) -> Result<PutBack> {
        let item = self.waiting_item(id)?;
        let to = match self.kept(&item.session).queue.iter().position(|other| *other == id) {
            Some(ahead) => Destination::Queue { ahead },
            None => Destination::Slot,
        };
        self.clear(&item.session, &[id], "dropped by the operator", at);
        Ok(PutBack { item: id, to })
    }

    fn restore_items(&mut self, items: &[PutBack], at: Time) -> Result<()> {
        let mut sessions: Vec<SessionId> = Vec::new();
        for PutBack { item: id, to } in items {
            let Some(item) = self.items.iter().find(|item| item.id == *id).cloned() else {
                return refuse(Refusal::NoSuchItem(*id));
            };
            match item.state {
                ItemState::Superseded | ItemState::Cleared => {}
                ItemState::Waiting => return refuse(Refusal::ItemPlace(format!("item {id} waits already"))),
                state => return refuse(Refusal::ItemNotWaiting(state)),
            }
            self.refuse_ended(&item.session)?;
            let kept = self.kept(&item.session);
            if kept.slot.is_some() || !matches!(to, Destination::Slot) {
                self.situation(kept).refuse_beyond_cap(1)?;
            }
            self.settle(*id, ItemState::Waiting, None);
            let kept = self.kept_mut(&item.session);
            let lane = match to {
                Destination::Slot if kept.slot.is_none() => {
                    kept.slot = Some(*id);
                    Lane::Slot
                }
                to => {
                    let ahead = match to {
                        Destination::Slot => 0,
                        Destination::Queue { ahead } => *ahead,
                        Destination::Tail => usize::MAX,
                    };
                    kept.queue.insert(ahead.min(kept.queue.len()), *id);
                    Lane::Queue
                }
            };
            self.item_mut(*id).lane = lane;
            self.tell(Some(&item.session), EventKind::Restored { item: *id, lane }, at);
            if !sessions.contains(&item.session) {
                sessions.push(item.session);
            }
        }
        for session in sessions {
            self.begin_next(&session, at);
        }
        Ok(())
    }

    fn switch_lane(&mut self, id: ItemId, at: Time) -> Result<()> {
        let item = self.waiting_item(id)?;
        if item.lane == Lane::Slot {
            self.situation(self.kept(&item.session)).refuse_beyond_cap(1)?;
        }
        let kept = self.kept_mut(&item.session);
        match item.lane {
            Lane::Slot => self.put_slot_first(&item.session, id, at),
            Lane::Queue if kept.slot.is_some() => {
                let why = "the slot is taken; move its message to the queue first";
                return refuse(Refusal::ItemPlace(why.to_owned()));
            }
            Lane::Queue => {
                kept.queue.retain(|other| *other != id);
                kept.slot = Some(id);
                self.item_mut(id).lane = Lane::Slot;
                self.tell(
                    Some(&item.session),
                    EventKind::Moved { item: id, lane: Lane::Slot, position: 0 },
                    at,
                );
            }
        }
        self.begin_next(&item.session, at);
        Ok(())
    }

    fn clear_queue(&mut self, session: &SessionId, at: Time) -> Result<Vec<PutBack>> {
        self.known(session)?;
        let slot = self.kept(session).slot;
        let waiting = self.waiting(session);
        self.clear(session, &waiting, "cleared by the operator", at);
        let to = |item| if slot == Some(item) { Destination::Slot } else { Destination::Tail };
        Ok(waiting.into_iter().map(|item| PutBack { item, to: to(item) }).collect())
    }

    fn set_title(&mut self, session: &SessionId, title: &str, at: Time) -> Result<Option<String>> {
        self.known(session)?;
        let title = (!title.is_empty()).then(|| title.to_owned());
        if let Some(title) = &title
            && self.kept(session).session.ended.is_none()
        {
            self.title_taken(title, session)?;
        }
        let before = std::mem::replace(&mut self.kept_mut(session).session.title, title.clone());
        self.tell(Some(session), EventKind::Titled { title }, at);
        Ok(before)
    }

    fn choose_agent(&mut self, session: &SessionId, agent: Option<&AgentName>, at: Time) -> Result<()> {
        self.known(session)?;
        let kept = &mut self.kept_mut(session).session;
        if kept.chosen_agent.as_ref() != agent {
            kept.chosen_model = None;
        }
        kept.chosen_agent = agent.cloned();
        self.tell(Some(session), EventKind::AgentChosen { agent: agent.cloned() }, at);
        Ok(())
    }

    fn choose_model(&mut self, session: &SessionId, model: Option<&str>, at: Time) -> Result<()> {
        self.known(session)?;
        self.kept_mut(session).session.chosen_model = model.map(str::to_owned);
        self.tell(Some(session), EventKind::ModelChosen { model: model.map(str::to_owned) }, at);
        Ok(())
    }

    fn set_busy_mode(&mut self, session: &SessionId, mode: Option<BusyMode>, at: Time) -> Result<()> {
        self.known(session)?;
        self.kept_mut(session).session.busy_mode = mode;
        self.tell(Some(session), EventKind::BusyModeSet { mode }, at);
        Ok(())
    }

    fn hide_turns(&mut self, session: &SessionId, count: usize, at: Time) -> Result<Vec<TurnId>> {
        self.known(session)?;
        self.refuse_during_turn(session)?;
        let turns = self.last_asked(session, count);
        if turns.is_empty() {
            return nothing("there is no turn to take back");
        }
        self.hide(session, &turns, at);
        self.kept_mut(session).session.agent_session = None;
        self.forget_summary(session, &turns);
        let kind = EventKind::TurnsHidden { turns: turns.clone(), hidden: Visibility::Hidden };
        self.tell(Some(session), kind, at);
        self.begin_next(session, at);
        Ok(turns)
    }

    fn show_turns(&mut self, session: &SessionId, turns: &[TurnId], at: Time) -> Result<()> {
        self.known(session)?;
        self.refuse_during_turn(session)?;
        for id in turns {
            match self.turns.iter().find(|turn| turn.id == *id && turn.session == *session) {
                None => return nothing(&format!("this session has no turn {id}")),
                Some(turn) if !turn.hidden => return nothing(&format!("turn {id} is shown already")),
                Some(_) => {}
            }
        }
        turns.iter().for_each(|turn| self.turn_mut(*turn).hidden = false);
        self.kept_mut(session).session.agent_session = None;
        self.forget_summary(session, turns);
        let kind = EventKind::TurnsHidden { turns: turns.to_vec(), hidden: Visibility::Shown };
        self.tell(Some(session), kind, at);
        Ok(())
    }

    fn retry(&mut self, session: &SessionId, source: Source, at: Time) -> Result<Accepted> {
        self.known(session)?;
        self.refuse_ended(session)?;
        self.refuse_during_turn(session)?;
        self.refuse_suspended(session)?;
        let turns = self.last_asked(session, 1);
        let Some(first) = turns.first().copied().filter(|turn| !self.is_resume(*turn)) else {
            return nothing("there is no turn to run again");
        };
        self.hide(session, &turns, at);
        self.kept_mut(session).session.agent_session = None;
        self.forget_summary(session, &turns);
        let kind = EventKind::TurnsHidden { turns, hidden: Visibility::Hidden };
        self.tell(Some(session), kind, at);
        let item = self.turn(first).item;
        let text = self.item_mut(item).text.clone();
        self.submit(session, &text, Intent::Plain, source, at)
    }

    fn note_look(&mut self, at: Time) -> Result<()> {
        self.looked_at = Some(at);
        Ok(())
    }

    fn save_draft(&mut self, key: &SessionKey, text: &str, _at: Time) -> Result<()> {
        match text {
            "" => self.drafts.remove(key.as_str()),
            text => self.drafts.insert(key.to_string(), text.to_owned()),
        };
        Ok(())
    }

    fn remember_draft(&mut self, key: &SessionKey, text: &str, _at: Time) -> Result<()> {
        self.remembered.push((key.to_string(), text.to_owned()));
        let mine = self.remembered.iter().filter(|(of, _)| of == key.as_str()).count();
        if mine > 200 {
            let oldest = self.remembered.iter().position(|(of, _)| of == key.as_str()).unwrap();
            self.remembered.remove(oldest);
        }
        Ok(())
    }

    fn set_agent_state(&mut self, key: &SessionKey, state: &str) -> Result<()> {
        if self.note_conversation(key).is_none() {
            return refuse(Refusal::BadKey(format!("{key} is no key of a host conversation")));
        }
        let known = self.conversations.iter_mut().find(|known| known.key == *key).unwrap();
        known.agent_state = state.to_owned();
        Ok(())
    }

    fn record(&mut self, session: Option<&SessionId>, kind: EventKind, at: Time) -> Result<()> {
        self.tell(session, kind, at);
        Ok(())
    }

    fn raise_alert(&mut self, new: &NewAlert, at: Time) -> Result<()> {
        if let AlertSubject::Session(session) = &new.subject {
            self.known(session)?;
        }
        self.raise(new, at);
        Ok(())
    }

    fn resolve_alert(&mut self, key: &AlertKey, at: Time) -> Result<bool> {
        Ok(self.resolve(key, at))
    }

    fn acknowledge_alert(&mut self, key: &AlertKey, what: Acknowledgement, at: Time) -> Result<Alert> {
        let Some(alert) = self.alerts.get(key).cloned() else {
            return nothing(&format!("there is no alert {key}"));
        };
        let alert = alert.acknowledged(what, at)?;
        self.keep_alert(&alert, EventKind::AlertAcknowledged { alert: key.clone(), what }, at);
        Ok(alert)
    }

    fn alert_told(
        &mut self,
        key: &AlertKey,
        raised_at: Time,
        news: u32,
        failure: Option<&str>,
        at: Time,
    ) -> Result<()> {
        let Some(alert) = self.alerts.get(key).filter(|alert| alert.raised_at == raised_at) else {
            return Ok(());
        };
        let alert = alert.clone().tried(news, failure, at);
        let (key, times) = (key.clone(), alert.told.times);
        let kind = match failure {
            Some(why) => EventKind::AlertNotTold { alert: key, why: why.to_owned() },
            None => EventKind::AlertTold { alert: key, times },
        };
        self.keep_alert(&alert, kind, at);
        Ok(())
    }

    fn prune_alerts(&mut self, before: Time) -> Result<usize> {
        let all = self.alerts.len();
        self.alerts.retain(|_, alert| alert.resolved_at.is_none_or(|at| at >= before));
        Ok(all - self.alerts.len())
    }

    fn prune_approvals(&mut self, before: Time, limit: usize) -> Result<usize> {
        let old = self.settled_at.iter().filter(|(_, settled)| **settled < before).map(|(id, _)| *id);
        let old: Vec<i64> = old.take(limit).collect();
        self.approvals.retain(|asked| !old.contains(&asked.id.0));
        self.settled_at.retain(|id, _| !old.contains(id));
        Ok(old.len())
    }

    fn prune_events(&mut self, before: Time, limit: usize) -> Result<usize> {
        let newest = self.events.last().map(|event| event.seq);
        let count = self.events.len();
        let mut looked_at = 0;
        self.events.retain(|event| {
            looked_at += 1;
            looked_at > limit || event.at >= before || Some(event.seq) == newest
        });
        Ok(count - self.events.len())
    }
}

/// What lets a session go whose limit is not what it was.
const OTHER_LIMITS: &str = "its limits, which are others now";

/// What holds a session: a daily limit before all else.
fn held_by(session: &Session) -> Option<HoldReason> {
    session.spent.map(|_| HoldReason::Spent).or(session.hold.map(|hold| hold.reason))
}

impl Model {
    fn row(&self, kept: &Kept) -> SessionRow {
        let hold = held_by(&kept.session);
        let running = usize::from(kept.running.is_some());
        let waiting = kept.queue.len() + usize::from(kept.slot.is_some());
        let state = match kept.session.ended {
            Some(_) => SessionState::Idle,
            None => {
                let asks = self.open_questions(&kept.session.id).len();
                SessionState::of(running, asks, waiting, hold, kept.session.marker)
            }
        };
        let held = kept.session.spent.map(Hold::from).or(kept.session.hold);
        SessionRow {
            session: Session { hold: held, ..kept.session.clone() },
            state,
            turn: kept.running.map(|id| {
                let turn = self.turn(id);
                RunningTurn {
                    turn: id,
                    since: turn.began_at,
                    steerable: turn.steerable,
                    stopping: turn.stop.is_some(),
                    last_output_at: None,
                }
            }),
            slot: kept.slot.map(|id| self.items.iter().find(|item| item.id == id).unwrap().clone()),
            queued: kept.queue.len(),
            resume_place: kept.resume_place,
            asks: self.open_questions(&kept.session.id),
            last_error: kept.last_error.clone(),
            background: self.background(kept),
            forecast: None,
            today: None,
        }
    }

    fn queue_row(&self, item: &Item) -> QueueRow {
        let kept = self.kept(&item.session);
        let place = kept.queue.iter().position(|id| *id == item.id);
        let held = match (item.state, &self.stopping, &self.hold, held_by(&kept.session)) {
            (ItemState::Waiting, Some(why), _, _) => {
                Some(format!("the engine stops: {why}; it runs after the next start"))
            }
            (ItemState::Waiting, None, Some(hold), _) => Some(format!("the engine is on hold: {}", hold.why)),
            (ItemState::Waiting, None, None, Some(hold)) if item.lane == Lane::Queue => {
                Some(hold.words().to_owned())
            }
            _ => None,
        };
        QueueRow {
            item: item.clone(),
            key: kept.session.key.clone(),
            session_name: kept.session.name().to_owned(),
            position: place.map(|index| index + 1),
            held,
        }
    }

    fn shown(&self, session: &SessionId) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::new();
        for entry in self.entries.iter().filter(|entry| entry.session == *session) {
            let turn = self.turn(entry.turn);
            if !turn.hidden && !self.withdrawn.contains(&entry.id) {
                entries.push(Entry { turn_state: turn.state, ..entry.clone() });
            }
        }
        entries
    }
}

impl Model {
    fn start_row(&self, run: &Run) -> StartRow {
        let at = self.runs.iter().position(|it| it.last.run == run.last.run);
        let before = at.and_then(|at| self.runs.get(at.checked_sub(1)?)).map(|it| &it.last.run);
        let rows = || self.recoveries.iter().filter(|row| row.run == run.last.run);
        StartRow {
            pending: rows().filter(|row| matches!(row.verdict, Verdict::Pending { .. })).count(),
            resumed: rows().filter(|row| row.turn.is_some()).count(),
            owed_nothing: rows().filter(|row| matches!(row.verdict, Verdict::OwesNothing)).count(),
            given_up: rows().filter(|row| matches!(row.verdict, Verdict::Suspend { .. })).count(),
            cut_jobs: before.map(|before| self.jobs.cut_with(before)).unwrap_or_default(),
            ..run.row.clone()
        }
    }

    pub(crate) fn sign_of_life(&self, run: &RunId) -> Option<Time> {
        let run = self.runs.iter().find(|it| it.last.run == *run)?;
        Some(run.last.stamped_at.unwrap_or(run.last.started_at))
    }

    fn outcome_of(&self, turn: TurnId) -> Outcome {
        let ended = self.entries.iter().rev().find_map(|entry| match &entry.body {
            Body::Ended { outcome } if entry.turn == turn => Some(outcome.clone()),
            _ => None,
        });
        ended.unwrap_or(Outcome::Done)
    }

    /// The message of the last turn of a session that is to be resumed.
    fn cut_message(&self, kept: &Kept) -> Option<String> {
        let Some(Marker::ResumePending(_)) = kept.session.marker else { return None };
        let mut turns = self.turns.iter().rev();
        let last = turns.find(|turn| turn.session == kept.session.id && !turn.is_place)?;
        let cut = last.state != TurnState::Done && !self.is_resume(last.id);
        let item = self.items.iter().find(|item| item.id == last.item).filter(|_| cut)?;
        Some(excerpt(&item.text))
    }

    fn recovery_row(&self, kept: &Kept, row: Option<&Recovery>) -> RecoveryRow {
        let session = &kept.session;
        let aftermath = Aftermath {
            resume: row.and_then(|row| row.turn).map(|turn| (turn, self.outcome_of(turn))),
            running: kept.running.map(|turn| (turn, self.turn(turn).began_at)),
            ended: row.and_then(|row| row.ended),
            marker: session.marker,
            due: if kept.resume_place.is_some() { Due::Yes } else { Due::No },
            hold: held_by(session),
            unjudged_until: session
                .marker
                .filter(|_| row.is_none())
                .map(|marker| marker.since() + self.limits.freshness),
        };
        RecoveryRow {
            session: session.id.clone(),
            key: session.key.clone(),
            name: session.name().to_owned(),
            verdict: row.map(|row| row.verdict),
            cuts: row.map_or(session.cuts, |row| row.cuts),
            message: row.and_then(|row| row.message.clone()),
            tool: row.and_then(|row| row.tool.clone()),
            marker: session.marker,
            last_error: kept.last_error.clone(),
            state: RecoveryState::of(&aftermath),
        }
    }
}

impl Queries for Model {
    fn approval(&self, id: ApprovalId) -> Result<Option<Approval>> {
        Ok(self.approvals.iter().find(|asked| asked.id == id).cloned())
    }

    fn denied_in(&self, turn: TurnId) -> Result<Vec<Approval>> {
        let denied = self.approvals.iter().filter(|asked| asked.turn == turn && asked.is_denied());
        Ok(denied.cloned().collect())
    }

    fn processes(&self) -> Result<Vec<(SessionId, ChildProcess)>> {
        let mut kept: Vec<_> = self
            .processes
            .iter()
            .map(|(child, _)| (self.turn(child.turn).session.clone(), child.clone()))
            .collect();
        kept.sort_by_key(|(_, child)| {
            (child.identity.pid, child.identity.started, child.identity.boot.clone())
        });
        Ok(kept)
    }

    fn allowed(&self, session: Option<&SessionId>, limit: usize) -> Result<Vec<AllowedRow>> {
        let wanted = |it: &&Allowed| match session {
            Some(session) => it.session == *session,
            None => self.kept(&it.session).session.ended.is_none(),
        };
        let mut found: Vec<Allowed> = self.allowed.iter().filter(wanted).cloned().collect();
        found.sort_by_key(|it| (it.session.clone(), it.prefix.clone()));
        let row = |allowed: Allowed| {
            let (key, session_name) = self.key_and_name(&allowed.session);
            AllowedRow { allowed, key, session_name }
        };
        Ok(found.into_iter().take(limit).map(row).collect())
    }

    fn background(&self, session: Option<&SessionId>, limit: usize) -> Result<Vec<ProcessRow>> {
        Ok(self.background_rows(session, limit))
    }

    fn live_background(&self) -> Result<Vec<ProcessRow>> {
        let rows = self.background_rows(None, usize::MAX);
        Ok(rows.into_iter().filter(|row| row.process.lives()).collect())
    }

    fn told_in(&self, session: &SessionId, turn: TurnId) -> Result<Vec<BackgroundProcess>> {
        Ok(self.told_in(session, turn))
    }

    fn counts(&self) -> Result<Counts> {
        let live: Vec<SessionRow> = self
            .sessions
            .iter()
            .filter(|kept| kept.session.ended.is_none())
            .map(|kept| self.row(kept))
            .collect();
        Ok(Counts {
            sessions: live.len(),
            needs_you: self.alerts.values().filter(|alert| alert.needs_you()).count(),
            running: live.iter().filter(|row| row.state == SessionState::Runs).count(),
            asking: live.iter().filter(|row| !row.asks.is_empty()).count(),
            waiting: self.items.iter().filter(|item| item.state == ItemState::Waiting).count(),
            marked: live.iter().filter(|row| row.session.marker.is_some()).count(),
            max_cuts: self.limits.max_cuts,
            last_event: self.events.last().map(|event| event.seq),
            gate: self.gate(),
        })
    }

    fn sessions(&self, filter: &Filter, after: Option<&SessionCursor>, limit: usize) -> Result<SessionPage> {
        let mut rows: Vec<SessionRow> = self
            .sessions
            .iter()
            .filter(|kept| kept.session.ended.is_none())
            .map(|kept| self.row(kept))
            .collect();
        let total = rows.len();
        rows.retain(|row| {
            filter.matches(&Subject {
                name: row.session.name(),
                key: row.session.key.as_str(),
                platform: row.session.key.parts().platform,
                state: row.state,
            })
        });
        let hits = rows.len();
        let order = |rank: u8, at: Time, id: &SessionId| (rank, std::cmp::Reverse((at, id.clone())));
        let place = |row: &SessionRow| order(row.state.rank(), row.session.last_activity_at, &row.session.id);
        rows.sort_by_key(place);
        if let Some(after) = after {
            let after = order(after.rank, after.last_activity_at, &after.session);
            rows.retain(|row| place(row) > after);
        }
        rows.truncate(limit);
        Ok(SessionPage { rows, hits, total })
    }

    fn session_history(&self, limit: usize) -> Result<SessionPage> {
        let mut rows: Vec<SessionRow> = self.sessions.iter().map(|kept| self.row(kept)).collect();
        rows.sort_by_key(|row| std::cmp::Reverse((row.session.last_activity_at, row.session.id.clone())));
        rows.truncate(limit);
        Ok(SessionPage { rows, hits: self.sessions.len(), total: self.sessions.len() })
    }

    fn session(&self, id: &SessionId) -> Result<Option<SessionRow>> {
        Ok(self.sessions.iter().find(|kept| kept.session.id == *id).map(|kept| self.row(kept)))
    }

    fn live_session(&self, key: &SessionKey) -> Result<Option<SessionId>> {
        Ok(self.at_key(key))
    }

    fn session_at(&self, key: &SessionKey) -> Result<Option<SessionRow>> {
        Ok(self.at_key(key).map(|id| self.row(self.kept(&id))))
    }

    fn resolve_session(&self, wanted: &str, limit: usize) -> Result<Vec<SessionId>> {
        let titled = |kept: &&Kept| kept.session.title.as_deref() == Some(wanted);
        let live = self.sessions.iter().filter(|kept| kept.session.ended.is_none()).find(titled);
        let exact = self.sessions.iter().find(|kept| kept.session.id.as_str() == wanted).or(live);
        if let Some(kept) = exact {
            return Ok(vec![kept.session.id.clone()]);
        }
        let fits = |kept: &&Kept| titled(kept) || kept.session.id.as_str().starts_with(wanted);
        let mut ids: Vec<SessionId> = self
            .sessions
            .iter()
            .filter(|_| !wanted.is_empty())
            .filter(fits)
            .map(|kept| kept.session.id.clone())
            .collect();
        ids.sort();
        ids.reverse();
        ids.truncate(limit);
        Ok(ids)
    }

    fn conversation(
        &self,
        session: &SessionId,
        before: Option<MessageId>,
        limit: usize,
    ) -> Result<ConversationPage> {
        let mut entries = self.shown(session);
        let plan = entries.iter().find_map(|entry| match (&entry.body, entry.turn_state, before) {
            (Body::Plan(plan), TurnState::Running, None) => Some(plan.clone()),
            _ => None,
        });
        entries.retain(|entry| before.is_none_or(|before| entry.id < before));
        let mut skipped = entries.len().saturating_sub(limit);
        while limit > 0 && skipped > 0 && entries[skipped - 1].goes_on_in(&entries[skipped]) {
            skipped -= 1;
        }
        Ok(ConversationPage {
            entries: joined(entries.split_off(skipped)),
            more_before: skipped > 0,
            live: None,
            doing: None,
            plan,
        })
    }

    fn history_before(&self, turn: TurnId, limit: usize) -> Result<Excerpt> {
        let mut before = self.shown(&self.turn(turn).session);
        before.retain(|entry| entry.turn < turn);
        let newest = before.split_off(before.len().saturating_sub(limit));
        if before.is_empty() {
            return Ok(Excerpt { entries: newest, beginning: history::Beginning::There });
        }
        let is_question = |entry: &Entry| matches!(entry.body, Body::User { steered: false, .. });
        let question = before.iter().rposition(is_question).unwrap_or(0);
        let mut entries = before.split_off(question);
        entries.retain(|entry| matches!(entry.body, Body::User { .. } | Body::Resume { .. }));
        if newest.first().is_none_or(is_question) {
            entries.clear();
        }
        entries.extend(newest);
        Ok(Excerpt { entries, beginning: history::Beginning::LeftOut })
    }

    fn summary(&self, session: &SessionId) -> Result<Option<Summary>> {
        Ok(self.summaries.get(&session.to_string()).map(|(_, summary)| summary.clone()))
    }

    fn limit_reached(&self, session: &SessionId, at: Time) -> Result<Option<Reached>> {
        Ok(self.reached(&Scope::of(&self.kept(session).session.key), at))
    }

    fn today_of(&self, scopes: &[Scope], at: Time) -> Result<Vec<Option<Today>>> {
        Ok(scopes.iter().map(|scope| self.today(scope, at)).collect())
    }

    fn today_of_all(&self, at: Time) -> Result<Option<Today>> {
        Ok(self.rules.and_then(|rules| rules.today(None, self.sum(rules, ALL, at).0, at)))
    }

    fn item(&self, id: ItemId) -> Result<Option<Item>> {
        Ok(self.items.iter().find(|item| item.id == id).cloned())
    }

    fn session_queue(&self, session: &SessionId) -> Result<Vec<QueueRow>> {
        let mine = || self.items.iter().filter(|item| item.session == *session);
        let waiting =
            self.waiting(session).into_iter().map(|id| self.items.iter().find(|item| item.id == id).unwrap());
        let running = mine().filter(|item| item.state == ItemState::Running);
        let aside = |item: &&Item| matches!(item.state, ItemState::Superseded | ItemState::Cleared);
        let aside = mine().rev().filter(aside).take(20);
        Ok(waiting.chain(running).chain(aside).map(|item| self.queue_row(item)).collect())
    }

    fn backlog(&self, limit: usize) -> Result<Vec<QueueRow>> {
        let mut ids = self.session_ids();
        ids.sort();
        let mut rows = Vec::new();
        for id in ids {
            let (running, waiting): (Vec<QueueRow>, Vec<QueueRow>) = self
                .session_queue(&id)?
                .into_iter()
                .filter(|row| matches!(row.item.state, ItemState::Running | ItemState::Waiting))
                .partition(|row| row.item.state == ItemState::Running);
            rows.extend(running.into_iter().chain(waiting));
        }
        rows.truncate(limit);
        Ok(rows)
    }

    fn events(
        &self,
        page: EventPage,
        level: Level,
        session: Option<&SessionId>,
        limit: usize,
    ) -> Result<Vec<Event>> {
        let mut events = self.events.clone();
        events.retain(|event| {
            event.kind.level() >= level && session.is_none_or(|wanted| event.session.as_ref() == Some(wanted))
        });
        match page {
            EventPage::Newest => {}
            EventPage::Before(seq) => events.retain(|event| event.seq < seq),
            EventPage::After(seq) => {
                events.retain(|event| event.seq > seq);
                events.truncate(limit);
            }
        }
        Ok(events.split_off(events.len().saturating_sub(limit)))
    }

    fn search(&self, _words: &str, _limit: usize) -> Result<Vec<Hit>> {
        // Which match is better is the database's own affair.
        Ok(Vec::new())
    }

    fn recovery(&self, start: Option<&RunId>, limit: usize) -> Result<RecoveryPage> {
        let newest = self.runs.last();
        let chosen = match start {
            Some(wanted) => self.runs.iter().find(|run| run.last.run == *wanted),
            None => newest,
        };
        let mut sessions = Vec::new();
        if let Some(run) = chosen.map(|chosen| &chosen.last.run) {
            let rows = self.recoveries.iter().filter(|row| row.run == *run).take(limit);
            sessions.extend(rows.map(|row| self.recovery_row(self.kept(&row.session), Some(row))));
            if newest.is_some_and(|newest| newest.last.run == *run) {
                let judged = |kept: &&Kept| {
                    let mut rows = self.recoveries.iter().filter(|row| row.run == *run);
                    rows.any(|row| row.session == kept.session.id && row.ended.is_none())
                };
                let live = self.sessions.iter().filter(|kept| kept.session.ended.is_none());
                let marked = live.filter(|kept| kept.session.marker.is_some());
                let mut others: Vec<&Kept> = marked.filter(|kept| !judged(kept)).collect();
                others.sort_by_key(|kept| {
                    let suspended = matches!(kept.session.marker, Some(Marker::Suspended(_)));
                    (suspended, kept.session.last_activity_at, kept.session.id.clone())
                });
                let room = limit - sessions.len();
                sessions.extend(others.into_iter().take(room).map(|kept| {
                    let mut open = self.recoveries.iter().rev();
                    let before = open.find(|row| row.session == kept.session.id && row.ended.is_none());
                    let (message, tool) =
                        before.map(|row| (row.message.clone(), row.tool.clone())).unwrap_or_default();
                    let message = message.or_else(|| self.cut_message(kept));
                    RecoveryRow { message, tool, ..self.recovery_row(kept, None) }
                }));
            }
        }
        Ok(RecoveryPage {
            starts: self.runs.iter().rev().take(limit).map(|run| self.start_row(run)).collect(),
            chosen: chosen.map(|run| self.start_row(run)),
            sessions,
            max_cuts: self.limits.max_cuts,
            boot_guard_starts: self.limits.boot_guard_starts,
            died: None,
        })
    }

    fn report(&self, since: Option<Time>) -> Result<Report> {
        let Some(since) = since.or(self.looked_at) else { return Ok(Report::default()) };
        let mut report = Report { since: Some(since), ..Report::default() };
        for event in self.events.iter().filter(|event| event.at >= since) {
            match &event.kind {
                EventKind::TurnEnded { turn, outcome, .. } => {
                    report.resumed += usize::from(self.is_resume(*turn));
                    report.usage.add(&self.turn(*turn).usage);
                    *match outcome {
                        Outcome::Done => &mut report.answered,
                        Outcome::Failed { .. } => &mut report.failed,
                        Outcome::Interrupted {
                            cause: StopCause::Crash | StopCause::Shutdown | StopCause::HandleLost,
                        } => &mut report.cut_off,
                        Outcome::Interrupted { .. } => &mut report.stopped,
                    } += 1;
                }
                EventKind::Superseded { .. } => report.replaced += 1,
                EventKind::Refused { .. } => report.refused += 1,
                EventKind::Cleared { .. } => report.cleared += 1,
                EventKind::QueueHeld { .. } => report.held += 1,
                EventKind::SessionMarked { marker: Marker::Suspended(_), .. } => report.given_up += 1,
                EventKind::ApprovalSettled { verdict: Decision::TimedOut, .. } => report.unanswered += 1,
                EventKind::ApprovalSettled { verdict: Decision::NobodyToAsk { .. }, .. } => {
                    report.not_asked += 1
                }
                EventKind::Job { what, .. } => report.jobs.count(what),
                _ => {}
            }
        }
        let starts = || self.runs.iter().filter(|run| run.row.started_at >= since);
        report.starts = starts().count();
        report.after_crash =
            starts().filter(|run| matches!(run.row.exit, Some(LastExit::Unclean { .. }))).count();
        Ok(report)
    }

    fn host_conversations(&self, limit: usize) -> Result<Vec<HostConversation>> {
        let mut found = self.conversations.clone();
        found.sort_by_key(|known| (known.id.clone(), known.user.clone()));
        found.iter_mut().for_each(|known| known.session = self.at_key(&known.key));
        found.truncate(limit);
        Ok(found)
    }

    fn host_conversation(&self, key: &SessionKey) -> Result<Option<HostConversation>> {
        Ok(self.host_conversations(usize::MAX)?.into_iter().find(|known| known.key == *key))
    }

    fn alerts(&self, limit: usize) -> Result<Vec<Alert>> {
        let mut open: Vec<Alert> = self.alerts.values().filter(|alert| alert.is_open()).cloned().collect();
        open.sort_by_key(|alert| (std::cmp::Reverse(alert.raised_at), alert.key.clone()));
        open.truncate(limit);
        Ok(open)
    }

    fn alerts_to_tell(&self, limit: usize) -> Result<Vec<Alert>> {
        let mut open: Vec<Alert> = self.alerts.values().filter(|alert| alert.is_to_tell()).cloned().collect();
        open.sort_by_key(|alert| {
            (alert.news <= alert.told.news, alert.told.tried_at, alert.raised_at, alert.key.clone())
        });
        open.truncate(limit);
        Ok(open)
    }

    fn composer(&self, key: &SessionKey) -> Result<ComposerMemory> {
        let mine = self.remembered.iter().filter(|(of, _)| of == key.as_str());
        Ok(ComposerMemory {
            draft: self.drafts.get(key.as_str()).cloned().unwrap_or_default(),
            history: mine.map(|(_, text)| text.clone()).collect(),
        })
    }

    fn engine_hold(&self) -> Result<Option<EngineHold>> {
        Ok(self.hold.clone())
    }
}
