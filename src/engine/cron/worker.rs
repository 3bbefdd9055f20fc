//! Workers: what fired is claimed as soon as there is room, and each run has a task that is looked after.

use std::sync::Arc;

use tokio::time::sleep;
use tokio_util::task::AbortOnDropHandle;

use super::run::{self, Left};
use super::runs::LiveRun;
use crate::domain::cron::{ClaimKey, ExecutionState};
use crate::domain::queue::Gate;
use crate::engine::clock::TRY_AGAIN;
use crate::engine::shared::Shared;
use crate::failpoint;
use crate::store::{Claimed, ExecutionEnd, NewClaim, StoreError};

/// Claims what waits whenever something fired or ended, for as long as the engine runs.
pub(super) async fn work(shared: Arc<Shared>) {
    loop {
        match claim_all(&shared).await {
            Ok(()) => shared.cron.fires.notified().await,
            Err(StoreError::Closed) => return,
            Err(error) => {
                tracing::warn!(%error, "what fired could not be claimed, again in a while");
                sleep(TRY_AGAIN).await;
            }
        }
    }
}

async fn claim_all(shared: &Arc<Shared>) -> Result<(), StoreError> {
    while shared.status().gate == Gate::Open {
        let claim = new_claim(shared);
        let claimed = shared.store.write(move |store| store.claim_execution(&claim)).await?;
        let Some(claimed) = claimed else { break };
        failpoint::pass("run-claimed");
        begin(shared, claimed, Left::Everything);
    }
    Ok(())
}

/// A claim of this engine, with a token of its own.
pub(super) fn new_claim(shared: &Shared) -> NewClaim {
    NewClaim {
        owner: shared.cron.owner.clone(),
        token: format!("{:016x}", fastrand::u64(..)),
        max_parallel: shared.cron.config.max_parallel,
        at: shared.now(),
    }
}

/// Runs what was claimed, in a task of its own.
pub(super) fn begin(shared: &Arc<Shared>, claimed: Claimed, left: Left) {
    let Some(claim) = &claimed.execution.claim else {
        return tracing::error!(execution = %claimed.execution.id, "a claimed run has no claim (a bug)");
    };
    let key = ClaimKey { execution: claimed.execution.id, token: claim.token.clone() };
    let live = shared.cron.runs.add(claimed.execution.job.clone(), key);
    shared.tasks.spawn(see_through(Arc::clone(shared), claimed, live, left));
}

/// A run that fails inside ends as failed, not in silence.
async fn see_through(shared: Arc<Shared>, claimed: Claimed, live: Arc<LiveRun>, left: Left) {
    let execution = live.key.execution;
    let task = tokio::spawn(run::run(Arc::clone(&shared), claimed, Arc::clone(&live), left));
    live.run_by(task.abort_handle());
    match AbortOnDropHandle::new(task).await {
        Ok(()) => {}
        Err(error) if error.is_panic() => {
            let why = "the run failed inside (a bug): the log has its message";
            end_without_it(&shared, &live, ExecutionState::Failed, why).await;
        }
        // The watchdog has ended it.
        Err(_) => {}
    }
    shared.cron.runs.remove(execution);
    shared.cron.fires.notify_one();
}

/// Ends an execution whose own task can't.
pub(super) async fn end_without_it(shared: &Shared, live: &LiveRun, state: ExecutionState, why: &str) {
    let end = ExecutionEnd {
        claim: live.key.clone(),
        state,
        why: Some(why.to_owned()),
        output: None,
        deliveries: Vec::new(),
        cut_with: None,
        at: shared.now(),
    };
    if let Err(error) = shared.store.write(move |store| store.end_execution(&end)).await {
        tracing::error!(execution = %live.key.execution, %error, "the end of a run is not kept");
    }
}
