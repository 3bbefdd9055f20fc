//! Questions on their way, and the small things `update` remembers between two messages.

use std::collections::HashMap;

use super::key::Key;
use super::msg::{Pace, Question, Ticket};
use crate::domain::Time;
use crate::domain::id::{SessionId, SessionKey};

/// The questions: at most one of a kind is on its way; what changes meanwhile is asked once more.
#[derive(Debug, Clone, Default)]
pub(super) struct Requests {
    next_ticket: u64,
    asked: HashMap<Question, Ticket>,
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
            Some((_, kept)) if pace == Pace::AtOnce => *kept = pace,
            Some(_) => {}
            None => self.old.push((question, pace)),
        }
    }

    /// Forgets every question: the one who was asked is gone.
    pub(super) fn forget(&mut self) {
        self.asked.clear();
    }

    /// The question of a ticket, which now has its answer.
    pub(super) fn answered(&mut self, ticket: Ticket) -> Option<Question> {
        let question = *self.asked.iter().find(|(_, asked)| **asked == ticket)?.0;
        self.asked.remove(&question);
        Some(question)
    }

    /// The old questions that can be asked now, with fresh tickets.
    pub(super) fn due(&mut self) -> Vec<(Question, Pace, Ticket)> {
        let (wait, free): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.old).into_iter().partition(|(old, _)| self.asked.contains_key(old));
        self.old = wait;
        free.into_iter()
            .map(|(question, pace)| {
                let ticket = self.ticket();
                self.asked.insert(question, ticket);
                (question, pace, ticket)
            })
            .collect()
    }
}

/// What `update` remembers and nothing shows.
#[derive(Debug, Clone, Default)]
pub(super) struct Memory {
    /// When a key last moved in a list that has the focus: its order is frozen for 3 s.
    pub(super) list_key_at: Option<Time>,
    /// When the last key came.
    pub(super) key_at: Option<Time>,
    /// Keys that may be a paste without brackets, held back for a moment.
    pub(super) held: Vec<Key>,
    /// What a person calls sessions that were seen.
    pub(super) names: HashMap<SessionId, (SessionKey, String)>,
    /// What commands on their way are for.
    pub(super) purposes: HashMap<Ticket, super::replies::Purpose>,
}
