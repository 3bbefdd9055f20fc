//! What a turn tells the engine, and what the answer that is being heard has used so far.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc;

use crate::agent::AgentEvent;
use crate::domain::session::Usage;

/// Tells the engine what happens in a turn. A closed channel ends the turn elsewhere.
#[derive(Debug)]
pub(super) struct Teller {
    output: mpsc::Sender<AgentEvent>,
    of: Request,
    heard: Arc<Mutex<Option<Usage>>>,
}

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Request {
    Answer,
    /// What is no part of the answer: only what it takes, and that it takes long, is told.
    Aside,
}

impl Teller {
    /// Tells there.
    pub(super) fn new(output: mpsc::Sender<AgentEvent>) -> Self {
        Self { output, of: Request::Answer, heard: Arc::default() }
    }

    /// The same for what is asked beside the answer.
    pub(super) fn aside(&self) -> Self {
        Self { output: self.output.clone(), of: Request::Aside, heard: Arc::clone(&self.heard) }
    }

    /// Tells something.
    pub(super) async fn tell(&self, event: AgentEvent) {
        let is_use = matches!(event, AgentEvent::Usage(_) | AgentEvent::Retrying { .. });
        if is_use || self.of == Request::Answer {
            let _ = self.output.send(event).await;
        }
    }

    /// Notes what the answer that is being heard has used so far.
    pub(super) fn hears(&self, used: Usage) {
        self.keep(Some(used));
    }

    /// Tells what the answer has used that was heard, in whichever way it ended.
    pub(super) async fn settle(&self) {
        let heard = *self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(used) = heard {
            self.tell(AgentEvent::Usage(used)).await;
            self.keep(None);
        }
    }

    /// Waits until nobody listens.
    pub(super) async fn unheard(&self) {
        self.output.closed().await;
    }

    fn keep(&self, heard: Option<Usage>) {
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner) = heard;
    }
}
