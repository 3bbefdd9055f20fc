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
        let query =
            Query::Events { page, level: self.level, session: self.session.clone(), job: None, limit };
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
                Some(Update::Event(_) | Update::Doing(_) | Update::Engine(_)) => {}
                None => return Ok(None),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::future::BoxFuture;

    use super::*;
    use crate::control::{ClientError, Reach};
    use crate::domain::api::{Command, Reply};
    use crate::domain::event::EventKind;

    fn event(seq: i64) -> Event {
        let kind = EventKind::Notice { level: Level::Info, text: seq.to_string() };
        Event { seq: Seq(seq), at: chrono::DateTime::UNIX_EPOCH, session: None, kind }
    }

    /// A store with so many events, and updates that were told beside it.
    struct Told {
        stored: i64,
        updates: std::sync::Mutex<Vec<Update>>,
    }

    impl Client for Told {
        fn reach(&self) -> Reach {
            Reach::Here
        }

        fn command(&self, _command: Command) -> BoxFuture<'_, Result<Reply, ClientError>> {
            Box::pin(async { Err(ClientError::NoEngine) })
        }

        fn query(&self, query: Query) -> BoxFuture<'_, Result<Answer, ClientError>> {
            let Query::Events { page: EventPage::After(Seq(after)), limit, .. } = query else {
                return Box::pin(async { Err(ClientError::NoEngine) });
            };
            let stored = self.stored;
            Box::pin(async move { Ok(Answer::Events((after + 1..=stored).map(event).take(limit).collect())) })
        }

        fn updates(&self) -> BoxFuture<'_, Result<mpsc::Receiver<Update>, ClientError>> {
            let told: Vec<Update> = self.updates.lock().unwrap().drain(..).collect();
            let (sender, receiver) = mpsc::channel(told.len().max(1));
            told.into_iter().for_each(|update| sender.try_send(update).unwrap());
            Box::pin(async { Ok(receiver) })
        }
    }

    async fn heard(stored: i64, after: i64, updates: Vec<Update>) -> Vec<i64> {
        let client = Arc::new(Told { stored, updates: updates.into() });
        let wanted = Wanted { level: Level::Info, session: None };
        let mut feed = Feed::after(client, wanted, Seq(after)).await.unwrap();
        let mut heard = Vec::new();
        while let Some(news) = feed.next().await.unwrap() {
            if let News::Event(event) = news {
                heard.push(event.seq.0);
            }
        }
        heard
    }

    fn told(seqs: impl IntoIterator<Item = i64>) -> Vec<Update> {
        seqs.into_iter().map(|seq| Update::Event(Arc::new(event(seq)))).collect()
    }

    #[tokio::test]
    async fn what_is_stored_and_told_is_heard_once() {
        assert_eq!(heard(5, 2, told(4..=7)).await, [3, 4, 5, 6, 7]);
    }

    #[tokio::test]
    async fn more_than_a_page_of_stored_events_is_read_to_its_end() {
        assert_eq!(heard(1203, 1, told(1200..=1205)).await, (2..=1205).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn what_the_updates_lost_is_read_from_the_store() {
        let client = Arc::new(Told { stored: 10, updates: Vec::new().into() });
        let (sender, receiver) = mpsc::channel(8);
        let wanted = Wanted { level: Level::Info, session: None };
        let (last, reads) = (Seq(2), Reads::Updates);
        let mut feed = Feed { client, wanted, updates: receiver, last, stored: VecDeque::new(), reads };
        sender.try_send(Update::Lagged { missed: 6 }).unwrap();
        told([9, 10, 11]).into_iter().for_each(|update| sender.try_send(update).unwrap());
        drop(sender);
        let mut seqs = Vec::new();
        while let Some(News::Event(event)) = feed.next().await.unwrap() {
            seqs.push(event.seq.0);
        }
        assert_eq!(seqs, (3..=11).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn what_is_not_wanted_is_left_out() {
        let client = Arc::new(Told { stored: 0, updates: told([1]).into() });
        let wanted = Wanted { level: Level::Warn, session: None };
        let mut feed = Feed::after(client, wanted, Seq(0)).await.unwrap();
        assert!(feed.next().await.unwrap().is_none());
    }
}
