//! Who owns a home, when its engine can't be asked.

use crate::config::{EngineLock, Home, LockError, Owner};
use crate::store::Readers;

/// Whether an engine holds the home's lock. Tells its process too where only the store knows it.
pub(super) async fn look(home: &Home) -> Result<(), LockError> {
    match EngineLock::look(home) {
        Err(held) => Err(named(home, held).await),
        free => free,
    }
}

/// Adds what the store knows of the owner where the lock file is gone.
pub(super) async fn named(home: &Home, error: LockError) -> LockError {
    match error {
        LockError::Held(None) => LockError::Held(by_the_store(home).await),
        other => other,
    }
}

async fn by_the_store(home: &Home) -> Option<Owner> {
    let readers = Readers::open(&home.state_db()).ok()?;
    let (pid, since) = readers.unfinished_run().await.ok()??;
    Some(Owner { pid, since })
}
