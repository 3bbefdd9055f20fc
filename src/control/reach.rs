//! The way to a home's engine from another process.

use std::sync::Arc;

use super::client::{Client, ClientError};
use super::in_process::client_error;
use super::socket::SocketClient;
use super::store_only::StoreOnly;
use crate::config::{Config, Home};

/// Attaches to the engine that runs for `home`; where none runs, reads its store beside its settings.
pub async fn reach(home: &Home, config: Config) -> Result<Arc<dyn Client>, ClientError> {
    match SocketClient::connect(home).await? {
        Some(client) => Ok(Arc::new(client)),
        None => Ok(Arc::new(StoreOnly::open(home, config).map_err(client_error)?)),
    }
}
