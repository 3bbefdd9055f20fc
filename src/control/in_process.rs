//! An engine in this process.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

use super::client::{Client, ClientError, Reach};
use super::together::Together;
use crate::domain::api::{Answer, Command, Query, Reply, Update};
use crate::domain::queue::Refusal;
use crate::engine::EngineHandle;
use crate::store::StoreError;

const MAX_COMMANDS_WAITING: usize = 64;
const MAX_UPDATES_WAITING: usize = 256;
/// Updates that follow each other faster than this go together: a listener wakes up once for all.
const APART: Duration = Duration::from_millis(20);

/// An engine in this process.
///
/// A task of its own carries this client's commands out one after the other, so that their order is
/// that of the calls. It ends when the client is dropped.
pub struct InProcess {
    engine: EngineHandle,
    lane: mpsc::Sender<Order>,
}

struct Order {
    command: Command,
    reply: oneshot::Sender<Result<Reply, Refusal>>,
}

impl InProcess {
    /// A client of `engine` with an order of commands of its own.
    pub fn new(engine: EngineHandle) -> Arc<Self> {
        let (lane, mut orders) = mpsc::channel::<Order>(MAX_COMMANDS_WAITING);
        let worker = engine.clone();
        tokio::spawn(async move {
            while let Some(Order { command, reply }) = orders.recv().await {
                // Whoever asked may be gone; the command was given all the same.
                let _ = reply.send(worker.command(command).await);
            }
        });
        Arc::new(Self { engine, lane })
    }
}

impl Client for InProcess {
    fn reach(&self) -> Reach {
        Reach::Here
    }

    fn command(&self, command: Command) -> BoxFuture<'_, Result<Reply, ClientError>> {
        let (reply, told) = oneshot::channel();
        let ordered = self.lane.try_send(Order { command, reply });
        Box::pin(async move {
            ordered.map_err(|_| {
                ClientError::Failed(format!("{MAX_COMMANDS_WAITING} commands wait already; try again"))
            })?;
            let reply = told.await.map_err(|_| ClientError::Gone("it has ended".to_owned()))?;
            Ok(reply?)
        })
    }

    fn query(&self, query: Query) -> BoxFuture<'_, Result<Answer, ClientError>> {
        Box::pin(async move { self.engine.query(query).await.map_err(client_error) })
    }

    fn updates(&self) -> BoxFuture<'_, Result<mpsc::Receiver<Update>, ClientError>> {
        let updates = listen(&self.engine);
        Box::pin(async { Ok(updates) })
    }
}

/// Listens to an engine from now on, until it has stopped.
pub(super) fn listen(engine: &EngineHandle) -> mpsc::Receiver<Update> {
    let (sender, updates) = mpsc::channel(MAX_UPDATES_WAITING);
    let (heard, engine) = (engine.subscribe(), engine.clone());
    tokio::spawn(pass_on(heard, sender, async move { engine.stopped().await }));
    updates
}

/// What a store says no to is a refusal; all else is a failure.
pub(super) fn client_error(error: StoreError) -> ClientError {
    match error {
        StoreError::Refused(refusal) => ClientError::Refused(refusal),
        StoreError::Closed => ClientError::Gone("it has stopped".to_owned()),
        other => ClientError::Failed(other.to_string()),
    }
}

/// Passes updates on until the listener is gone or the engine has stopped and its last update is
/// through. One that comes after a pause goes at once. A listener that is too slow is told how many it
/// lost.
async fn pass_on(
    mut heard: broadcast::Receiver<Update>,
    sender: mpsc::Sender<Update>,
    stopped: impl Future<Output = ()>,
) {
    tokio::pin!(stopped);
    let mut ends = false;
    let mut together = Together::default();
    let mut free_at = Instant::now();
    loop {
        let first = tokio::select! {
            biased;
            update = heard.recv() => match update {
                Ok(update) => update,
                Err(broadcast::error::RecvError::Lagged(missed)) => Update::Lagged { missed },
                Err(broadcast::error::RecvError::Closed) => return,
            },
            () = &mut stopped, if !ends => {
                ends = true;
                continue;
            }
            () = sender.closed() => return,
            () = std::future::ready(()), if ends => return,
        };
        together.add(first);
        if !ends {
            tokio::select! {
                () = sleep_until(free_at) => {}
                () = &mut stopped => ends = true,
            }
        }
        take_waiting(&mut heard, &mut together);
        for update in together.take() {
            if sender.send(update).await.is_err() {
                return;
            }
        }
        free_at = Instant::now() + APART;
    }
}

fn take_waiting(heard: &mut broadcast::Receiver<Update>, together: &mut Together) {
    while !together.is_full() {
        match heard.try_recv() {
            Ok(update) => together.add(update),
            Err(broadcast::error::TryRecvError::Lagged(missed)) => together.add(Update::Lagged { missed }),
            Err(broadcast::error::TryRecvError::Empty | broadcast::error::TryRecvError::Closed) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_listener_that_lags_is_told_how_many_updates_it_lost() {
        let (tell, heard) = broadcast::channel(4);
        let (sender, mut updates) = mpsc::channel(1);
        for missed in 1..=10 {
            tell.send(Update::Lagged { missed: missed * 100 }).unwrap();
        }
        drop(tell);
        pass_on_all(heard, sender).await;
        assert_eq!(updates.recv().await, Some(Update::Lagged { missed: 6 }));
        for kept in 7..=10 {
            assert_eq!(updates.recv().await, Some(Update::Lagged { missed: kept * 100 }));
        }
        assert_eq!(updates.recv().await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_update_comes_at_once_and_those_that_follow_it_fast_come_together() {
        let (tell, heard) = broadcast::channel(8);
        let (sender, mut updates) = mpsc::channel(8);
        tokio::spawn(pass_on(heard, sender, std::future::pending()));
        let (start, lost) = (Instant::now(), |missed| Update::Lagged { missed });
        tell.send(lost(1)).unwrap();
        assert_eq!(updates.recv().await, Some(lost(1)));
        assert_eq!(start.elapsed(), Duration::ZERO);
        for missed in 2..=4 {
            tell.send(lost(missed)).unwrap();
            tokio::time::sleep(APART / 4).await;
        }
        assert!(updates.is_empty());
        for missed in 2..=4 {
            assert_eq!(updates.recv().await, Some(lost(missed)));
            assert!((APART..APART * 2).contains(&start.elapsed()));
        }
    }

    #[tokio::test]
    async fn the_updates_end_with_the_engine_and_the_last_one_is_through() {
        let (tell, heard) = broadcast::channel(4);
        let (sender, mut updates) = mpsc::channel(4);
        tell.send(Update::Lagged { missed: 1 }).unwrap();
        pass_on(heard, sender, std::future::ready(())).await;
        assert_eq!(updates.recv().await, Some(Update::Lagged { missed: 1 }));
        assert_eq!(updates.recv().await, None);
    }

    #[tokio::test]
    async fn nothing_is_passed_on_to_a_listener_that_is_gone() {
        let (_tell, heard) = broadcast::channel(4);
        let (sender, updates) = mpsc::channel(4);
        drop(updates);
        pass_on_all(heard, sender).await;
    }

    async fn pass_on_all(heard: broadcast::Receiver<Update>, sender: mpsc::Sender<Update>) {
        tokio::spawn(pass_on(heard, sender, std::future::pending()));
    }
}
