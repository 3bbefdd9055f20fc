//! The one who tells alerts: runs the alert command for each that is due, one after the other.
//!
//! What is due is decided over what the store keeps, so a restart goes on where the engine before was.
//! An alert may be told twice where the engine dies between the command and the note of it, never not
//! at all.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;

use super::clock::LOOK_AGAIN;
use super::shared::Shared;
use crate::agent::AlertCommand;
use crate::domain::alert::Alert;
use crate::domain::event::EventKind;
use crate::store::StoreError;

/// So many alerts are looked at together; more come into view as these are told.
const AT_ONCE: usize = 64;

/// Whether an event changes which alerts are to be told.
pub(super) fn concerns(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::EngineStarted { .. }
            | EventKind::AlertRaised { .. }
            | EventKind::AlertAcknowledged { .. }
            | EventKind::AlertResolved { .. }
    )
}

/// Tells alerts until it is stopped. `news` wakes it.
pub(super) async fn tell_alerts(shared: Arc<Shared>, command: AlertCommand, news: Arc<Notify>) {
    news.notified().await;
    loop {
        let wait = match tell_those_due(&shared, &command).await {
            Ok(wait) => wait,
            Err(StoreError::Closed) => return,
            Err(error) => {
                tracing::warn!(%error, "alerts could not be told or noted, again in a minute");
                tokio::time::sleep(LOOK_AGAIN).await;
                continue;
            }
        };
        match wait {
            // Running out of time is how it is woken.
            Some(wait) => drop(timeout(wait.min(LOOK_AGAIN), news.notified()).await),
            None => news.notified().await,
        }
    }
}

/// Tells what is due now; returns how long until the next one is.
async fn tell_those_due(shared: &Shared, command: &AlertCommand) -> Result<Option<Duration>, StoreError> {
    loop {
        let alerts = shared.store.read(|queries| queries.alerts_to_tell(AT_ONCE)).await?;
        let due = |alert: Alert| Some((alert.due(command.repeat())?, alert));
        let Some((at, alert)) = alerts.into_iter().filter_map(due).min_by_key(|(at, _)| *at) else {
            return Ok(None);
        };
        let wait = (at - shared.now()).to_std().unwrap_or_default();
        if !wait.is_zero() {
            return Ok(Some(wait));
        }
        tell(shared, command, &alert).await?;
    }
}

async fn tell(shared: &Shared, command: &AlertCommand, alert: &Alert) -> Result<(), StoreError> {
    let failure = command.tell(alert).await.err().map(|why| why.to_string());
    if let Some(why) = &failure {
        tracing::error!(alert = %alert.key, "not told: {why}");
    }
    let (key, raised_at, news, at) = (alert.key.clone(), alert.raised_at, alert.news, shared.now());
    let note = move |store: &mut dyn crate::store::Transitions| {
        store.alert_told(&key, raised_at, news, failure.as_deref(), at)
    };
    shared.store.write(note).await
}
