//! Executions whose engine died: what became of each, and what this engine takes over.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::delivery::deliver_pending;
use super::run::Left;
use super::worker::{begin, new_claim};
use super::{Cron, owner};
use crate::agent::end_marked;
use crate::domain::cron::{Claim, ClaimKey};
use crate::engine::shared::Shared;
use crate::store::StoreError;

/// Frees the executions of engines that are known to be dead, after what their scripts left was ended.
pub(super) async fn free_dead(shared: &Arc<Shared>) -> Result<(), StoreError> {
    let open = shared.store.read(|queries| queries.open_claims()).await?;
    let dead = owner::dead(&open, &shared.cron.owner);
    end_scripts(&open, &dead).await;
    free(shared, dead).await
}

/// Frees the executions of engines on other hosts that were not heard of for too long.
pub(super) async fn free_expired(shared: &Arc<Shared>) -> Result<(), StoreError> {
    let open = shared.store.read(|queries| queries.open_claims()).await?;
    let (us, now) = (&shared.cron.owner.run, shared.now());
    let expired = open.iter().any(|(_, claim)| claim.owner.run != *us && claim.expires_at <= now);
    if expired {
        free(shared, BTreeSet::new()).await?;
        deliver_pending(shared, &shared.cron).await;
    }
    Ok(())
}

async fn free(shared: &Arc<Shared>, dead: BTreeSet<ClaimKey>) -> Result<(), StoreError> {
    let heir = new_claim(shared);
    // Our own runs live, even where the clock has jumped over their claims' time.
    let ours: Vec<ClaimKey> = shared.cron.runs.all().iter().map(|run| run.key.clone()).collect();
    let freed = shared
        .store
        .write(move |store| {
            for key in &ours {
                store.beat_execution(key, heir.at)?;
            }
            store.free_executions(&dead, &heir)
        })
        .await?;
    for claimed in freed {
        begin(shared, claimed, Left::Settling);
    }
    shared.cron.fires.notify_one();
    Ok(())
}

/// Nothing of a dead engine's scripts works on beside what comes now.
async fn end_scripts(open: &[(ClaimKey, Claim)], dead: &BTreeSet<ClaimKey>) {
    let of_dead = open.iter().filter(|(key, _)| dead.contains(key));
    let marks: Vec<Vec<String>> =
        of_dead.map(|(key, claim)| Cron::marks_of(key.execution, &claim.owner.run).to_vec()).collect();
    if marks.is_empty() {
        return;
    }
    let end = move || marks.iter().map(|marks| end_marked(marks)).sum::<usize>();
    match tokio::task::spawn_blocking(end).await {
        Ok(0) => {}
        Ok(groups) => tracing::warn!(groups, "scripts that outlived their engine were killed"),
        Err(error) => tracing::error!(%error, "scripts of the engine before could not be looked for"),
    }
}
