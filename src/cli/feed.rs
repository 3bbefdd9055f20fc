//! Following an engine: every event after a place, in order, none missed and none twice.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::mpsc;

use crate::control::Client;
use crate::domain::api::{Answer, EventPage, Piece, Query, Update};
use crate::domain::event::{Event, Level};
use crate::domain::id::{Seq, SessionId};

/// How many stored events one question asks for.
const PAGE: usize = 500;

/// Which events are wanted.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    /// At least this much.
    pub(super) level: Level,
    /// Only of this session.
    pub(super) session: Option<SessionId>,
}

impl Wanted {
    /// Asks for a page of the stored ones.
    pub(super) async fn stored(
        &self,
        client: &dyn Client,
        page: EventPage,
        limit: usize,
    ) -> anyhow::Result<Vec<Event>> {
        let query = Query::Events { page, level: self.level, session: self.session.clone(), limit };
        match client.query(query).await? {
            Answer::Events(events) => Ok(events),
            _ => anyhow::bail!("the engine gave an answer of another kind"),
        }
    }

    fn wants(&self, event: &Event) -> bool {
        event.kind.level() >= self.level && (self.session.is_none() || self.session == event.session)
    }
}

/// Something new.
#[derive(Debug, Clone)]
pub(super) enum News {
    /// An event.
    Event(Arc<Event>),
    /// A piece of what a turn says. Pieces can be missed, which their offsets tell.
    Piece(Arc<Piece>),
}

/// What happens after a place in the log. Events that the updates lost are read from the store.
pub(super) struct Feed {
    client: Arc<dyn Client>,
    wanted: Wanted,
    updates: mpsc::Receiver<Update>,
    last: Seq,
    stored: VecDeque<Event>,
    reads: Reads,
}

/// Where the next event comes from.
#[derive(PartialEq, Eq)]
enum Reads {
    /// The store may hold events that were not told.
    Store,
    /// All that is stored was told; new ones come as updates.
    Updates,
}

impl Feed {
    /// What happens from now on.
    pub(super) async fn from_now(client: Arc<dyn Client>, wanted: Wanted) -> anyhow::Result<Self> {
        // Listening begins before the question, so whatever is newer than the answer is heard.
        let updates = client.updates().await?;
        let Answer::Overview(now) = client.query(Query::Overview).await? else {
            anyhow::bail!("the engine gave an answer of another kind");
        };
        let last = now.last_event.unwrap_or(Seq(0));
        Ok(Self { client, wanted, updates, last, stored: VecDeque::new(), reads: Reads::Updates })
    }

    /// What happened after `last`, and what happens from now on.
    pub(super) async fn after(client: Arc<dyn Client>, wanted: Wanted, last: Seq) -> anyhow::Result<Self> {
        let updates = client.updates().await?;
        Ok(Self { client, wanted, updates, last, stored: VecDeque::new(), reads: Reads::Store })
    }

    /// The next news; none when the engine is gone.
    pub(super) async fn next(&mut self) -> anyhow::Result<Option<News>> {
        loop {
            if let Some(event) = self.stored.pop_front() {
                self.last = event.seq;
                return Ok(Some(News::Event(Arc::new(event))));
            }
            if self.reads == Reads::Store {
                let page = EventPage::After(self.last);
                let events = self.wanted.stored(&*self.client, page, PAGE).await?;
                if events.len() < PAGE {
                    self.reads = Reads::Updates;
                }
                self.stored.extend(events);
                continue;
            }
            match self.updates.recv().await {
                Some(Update::Event(event)) if event.seq > self.last && self.wanted.wants(&event) => {
                    self.last = event.seq;
                    return Ok(Some(News::Event(event)));
                }
                Some(Update::Stream(piece)) => return Ok(Some(News::Piece(piece))),
                Some(Update::Lagged { .. }) => self.reads = Reads::Store,
                Some(Update::Event(_) | Update::Engine(_)) => {}
                None => return Ok(None),
            }
        }
    }
}
