//! How an engine is reached, and reached again.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::sync::mpsc;

use crate::console::app::msg::Reach;
use crate::control::{self, Client, ClientError};
use crate::domain::api::Update;

/// How a console whose engine is gone gets another one. Errors are told as they are.
pub trait Engines: Send + Sync {
    /// Reaches the engine that runs for this home.
    fn reconnect(&self) -> BoxFuture<'static, Result<Arc<dyn Client>, String>>;

    /// Reaches the engine that restarts for this home, once it is back.
    fn restarted(&self) -> BoxFuture<'static, Result<Arc<dyn Client>, String>>;

    /// Reads the store of this home, which an engine has left.
    fn store(&self) -> Result<Arc<dyn Client>, String>;

    /// Starts the engine in this process.
    fn start_here(&self) -> BoxFuture<'static, Result<Arc<dyn Client>, String>>;
}

/// An engine, and what it tells.
pub(super) type Reached = (Arc<dyn Client>, Option<mpsc::Receiver<Update>>);

/// Listens to an engine; none where only the store is read, which tells nothing by itself.
pub(super) async fn listen(client: &Arc<dyn Client>) -> Result<Option<mpsc::Receiver<Update>>, ClientError> {
    match client.updates().await {
        Ok(updates) => Ok(Some(updates)),
        Err(ClientError::NoEngine) => Ok(None),
        // It ended between being reached and being listened to, which is told as of any that ends.
        Err(ClientError::Gone(_)) => Ok(Some(mpsc::channel(1).1)),
        Err(error) => Err(error),
    }
}

/// Listens as soon as the engine is reached.
pub(super) fn reaching(
    engine: BoxFuture<'static, Result<Arc<dyn Client>, String>>,
) -> BoxFuture<'static, Result<Reached, String>> {
    Box::pin(async move {
        let client = engine.await?;
        let updates = listen(&client).await.map_err(|error| error.to_string())?;
        Ok((client, updates))
    })
}

/// How it is reached, in the state's words.
pub(super) fn reach(client: &Arc<dyn Client>) -> Reach {
    match client.reach() {
        control::Reach::Here => Reach::Here,
        control::Reach::Attached { pid } => Reach::Attached { pid },
        control::Reach::StoreOnly => Reach::StoreOnly,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::api::{Answer, Command, Query, Reply};

    struct Dead;

    impl Client for Dead {
        fn reach(&self) -> control::Reach {
            control::Reach::Attached { pid: 1 }
        }

        fn command(&self, _command: Command) -> BoxFuture<'_, Result<Reply, ClientError>> {
            Box::pin(async { Err(ClientError::Gone(String::new())) })
        }

        fn query(&self, _query: Query) -> BoxFuture<'_, Result<Answer, ClientError>> {
            Box::pin(async { Err(ClientError::Gone(String::new())) })
        }

        fn updates(&self) -> BoxFuture<'_, Result<mpsc::Receiver<Update>, ClientError>> {
            Box::pin(async { Err(ClientError::Gone(String::new())) })
        }
    }

    #[tokio::test]
    async fn an_engine_that_dies_before_it_is_listened_to_is_told_as_one_that_ends() {
        let client: Arc<dyn Client> = Arc::new(Dead);
        let mut updates = listen(&client).await.unwrap().unwrap();
        assert_eq!(updates.recv().await, None);
    }
}
