//! Questions on their way, and the small things `update` remembers between two messages.

use std::collections::{HashMap, VecDeque};

use super::Model;
use super::conversation::{self, EntryKey, Scroll};
use super::focus::View;
use super::key::Key;
use super::msg::{Effect, Pace, Question, Ticket};
use super::{alerts, cron, job_editor, recovery, replies};
use crate::domain::Time;
use crate::domain::api::{EventPage, JobQuery, Query};
use crate::domain::id::{SessionId, SessionKey};

/// How many rows of the backlog are shown at most.
pub(super) const MOST_BACKLOG: usize = 1000;
/// How many sessions the palette offers for what is typed.
const PALETTE_SESSIONS: usize = 30;

/// The questions: at most one of a kind is on its way; what changes meanwhile is asked once more.
#[derive(Debug, Clone, Default)]
pub(super) struct Requests {
    next_ticket: u64,
    asked: HashMap<Question, (Ticket, Query)>,
    old: Vec<(Question, Pace)>,
}

impl Requests {
    /// A ticket that nothing else has.
    pub(super) fn ticket(&mut self) -> Ticket {
        self.next_ticket += 1;
        Ticket(self.next_ticket)
    }

    /// Marks what a question shows as old.
    pub(super) fn mark(&mut self, question: Question, pace: Pace) {
        match self.old.iter_mut().find(|(old, _)| *old == question) {
            Some((_, kept)) => *kept = pace.max(*kept),
            None => self.old.push((question, pace)),
        }
    }

    /// Forgets every question: the one who was asked is gone.
    pub(super) fn forget(&mut self) {
        self.asked.clear();
    }

    /// The question of a ticket, which now has its answer.
    pub(super) fn answered(&mut self, ticket: Ticket) -> Option<(Question, Query)> {
        let question = *self.asked.iter().find(|(_, (asked, _))| *asked == ticket)?.0;
        self.asked.remove(&question).map(|(_, query)| (question, query))
    }
}

/// Asks every old question whose kind is free.
pub(super) fn ask(model: &mut Model) {
    let mut old = std::mem::take(&mut model.requests.old);
    old.retain(|&(question, pace)| {
        if model.requests.asked.contains_key(&question) {
            return true;
        }
        if let Some(query) = query(model, question) {
            let ticket = model.requests.ticket();
            model.requests.asked.insert(question, (ticket, query.clone()));
            model.effects.push(Effect::Query { ticket, kind: question, query, pace });
        }
        false
    });
    model.requests.old = old;
}

/// What a question asks for in the present state; none if there is nothing to ask about.
pub(super) fn query(model: &Model, question: Question) -> Option<Query> {
    let conversation = &model.conversation;
    let session = || model.front_row.as_ref().map(|row| row.row.session.id.clone());
    Some(match question {
        Question::Overview => Query::Overview,
        Question::Sessions => Query::Sessions {
            filter: model.sessions.filter.text(),
            after: model.sessions.start.clone(),
            limit: model.sessions.limit,
        },
        Question::Front => Query::SessionAt { key: model.front.clone() },
        Question::Conversation => {
            Query::Conversation { session: session()?, before: None, limit: conversation::PAGE }
        }
        Question::Earlier => Query::Conversation {
            session: conversation.session.clone()?,
            before: Some(conversation.kept.first()?.entry.id),
            limit: conversation::PAGE,
        },
        Question::Queue => Query::SessionQueue { session: session()? },
        Question::Backlog => Query::Backlog { limit: MOST_BACKLOG },
        Question::Jobs | Question::Job | Question::JobEarlier | Question::Timeline => {
            Query::Jobs(cron::query(model, question)?)
        }
        Question::Reading => cron::reading::query(model)?,
        Question::Parts => Query::Jobs(JobQuery::Parts),
        Question::MissingParts => job_editor::missing_query(model)?,
        Question::Recovery => Query::Recovery { start: model.recovery.wanted.clone(), limit: recovery::MOST },
        Question::Alerts => Query::Alerts { limit: alerts::MOST },
        Question::Need => Query::Session { session: model.alerts.wanted.clone()? },
        Question::Log => model.log.query(EventPage::Newest),
        Question::LogEarlier => model.log.query(EventPage::Before(model.log.rows.front()?.seq)),
        Question::Report => Query::Report { since: model.memory.away_since },
        Question::Composer => Query::Composer { key: model.front.clone() },
        Question::PaletteSessions => Query::Sessions {
            filter: super::picking::palette_text(model)?,
            after: None,
            limit: PALETTE_SESSIONS,
        },
    })
}

/// Marks everything that a view shows as old.
pub(super) fn mark_all(model: &mut Model, pace: Pace) {
    use Question::{Alerts, Backlog, Conversation, Front, Jobs, Log, Overview, Queue, Recovery, Sessions};
    for question in [Overview, Alerts, Sessions, Front, Conversation, Queue, Backlog, Jobs, Recovery, Log] {
        model.requests.mark(question, pace);
    }
    if model.view == View::Cron {
        model.requests.mark(Question::Job, pace);
        model.requests.mark(Question::Timeline, pace);
    }
}

/// Marks everything about the session in front as old.
pub(super) fn mark_front(model: &mut Model, pace: Pace) {
    for question in [Question::Front, Question::Conversation, Question::Queue] {
        model.requests.mark(question, pace);
    }
}

/// What `update` remembers and nothing shows.
#[derive(Debug, Clone, Default)]
pub(super) struct Memory {
    /// Whether the engine said that it has stopped in order.
    pub(super) engine_stopped: bool,
    /// Whether the store that it left answers questions.
    pub(super) reads_store: bool,
    /// When a key last moved in a list that has the focus: its order is frozen for 3 s.
    pub(super) list_key_at: Option<Time>,
    /// When the last key came.
    pub(super) key_at: Option<Time>,
    /// Keys that may be a paste without brackets, held back for a moment.
    pub(super) held: Vec<Key>,
    /// Whether an Enter in the composer waits to see if it is part of such a paste.
    pub(super) held_enter: bool,
    /// Whether keys in the composer are such a paste.
    pub(super) pasting: bool,
    /// What a person calls sessions that were seen, with their keys.
    pub(super) names: HashMap<SessionId, (SessionKey, String)>,
    /// What commands on their way are for.
    pub(super) purposes: HashMap<Ticket, replies::Purpose>,
    /// Where conversations were left that were not followed.
    pub(super) places: HashMap<SessionKey, (Scroll, Option<EntryKey>)>,
    /// What was told lately, oldest first.
    pub(super) told: VecDeque<(Time, String)>,
    /// Whether the focus at the start is decided.
    pub(super) started: bool,
    /// When the operator last did something here.
    pub(super) input_at: Option<Time>,
    /// When the engine was last told so.
    pub(super) looked_at: Option<Time>,
    /// Since when the operator was away; none: since a console was last used.
    pub(super) away_since: Option<Time>,
    /// How many inputs of the operator came.
    pub(super) inputs: u64,
    /// Acts that can be taken back and whose notices gave way, newest last.
    pub(super) undos: Vec<super::notices::Undo>,
    /// Whether the console leaves when the engine has stopped.
    pub(super) quitting: bool,
    /// Whether the loaded conversation must be replaced rather than added to.
    pub(super) reload: bool,
    /// The pane that the filter's text field belongs to.
    pub(super) filter_of: Option<super::focus::Pane>,
}
