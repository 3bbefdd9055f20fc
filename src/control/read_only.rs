//! An engine that is only looked at.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::sync::mpsc;

use super::client::{Client, ClientError, Reach};
use crate::domain::api::{Answer, Command, Query, Reply, Update};
use crate::domain::queue::Refusal;

/// Reads through another client and refuses every command: `--read-only`.
pub struct ReadOnly {
    inner: Arc<dyn Client>,
}

impl ReadOnly {
    /// Looks through `inner`.
    pub fn new(inner: Arc<dyn Client>) -> Self {
        Self { inner }
    }
}

impl Client for ReadOnly {
    fn reach(&self) -> Reach {
        self.inner.reach()
    }

    fn command(&self, _command: Command) -> BoxFuture<'_, Result<Reply, ClientError>> {
        Box::pin(async { Err(ClientError::Refused(Refusal::ReadOnly)) })
    }

    fn query(&self, query: Query) -> BoxFuture<'_, Result<Answer, ClientError>> {
        self.inner.query(query)
    }

    fn updates(&self) -> BoxFuture<'_, Result<mpsc::Receiver<Update>, ClientError>> {
        self.inner.updates()
    }
}
