//! Child processes that outlived the engine which started them: ended before anything new begins.

use super::shared::Shared;
use crate::agent::end_leftover;
use crate::domain::process::{ChildProcess, Fate};
use crate::store::StoreError;

/// Ends what is left of the children of turns that an earlier engine did not see end. What became of
/// each is the caller's to keep.
pub(super) async fn end(shared: &Shared) -> Result<Vec<(ChildProcess, Fate)>, StoreError> {
    let left = shared.store.read(|queries| queries.processes()).await?;
    let agents = shared.agents.clone();
    let end = move || {
        let ended = left.into_iter().map(|(session, child)| {
            let fate = end_leftover(&child, &session);
            (child, fate)
        });
        let ended = ended.collect();
        match agents.all().map(|(_, backend)| backend.end_leftovers()).sum::<usize>() {
            0 => {}
            groups => {
                tracing::warn!(groups, "agents of an engine that died were still there and were killed")
            }
        }
        ended
    };
    // It fails only where the runtime ends: then nothing new begins either.
    tokio::task::spawn_blocking(end).await.map_err(|_| StoreError::Closed)
}
