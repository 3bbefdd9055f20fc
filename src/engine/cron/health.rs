//! How the ticker fares: what the header says of it, and the alert of one that is late.

use super::ticker::Told;
use crate::domain::Time;
use crate::domain::alert::AlertKey;
use crate::domain::api::CronHealth;
use crate::domain::cron::CronEvent;
use crate::engine::shared::Shared;
use crate::store::Transitions;

/// Something went wrong with the ticker: the header says so at once, from memory.
pub(super) fn failed(shared: &Shared, at: Time, why: &str) {
    shared.cron.ticker.note_error(at, why);
    let since = shared.cron.ticker.state().last_pass.unwrap_or(shared.run.since);
    let late = CronHealth::Late { since, why: why.to_owned() };
    if shared.status().cron != late {
        shared.change_status(|status| status.cron = late);
    }
}

/// No pass has succeeded for too long: an alert tells of it, as soon as the store takes it.
pub(super) async fn late(shared: &Shared) {
    let ticker = &shared.cron.ticker;
    let state = ticker.state();
    let news = state.last_error.filter(|(at, _)| state.last_pass.is_none_or(|passed| *at >= passed));
    let why = news.map_or_else(|| "no pass succeeded".to_owned(), |(_, why)| why);
    failed(shared, shared.now(), &why);
    if ticker.told() != Told::Late && tell(shared, CronEvent::TickerLate { why }).await {
        ticker.set_told(Told::Late);
    }
}

/// A pass has succeeded. What was told of a late ticker is resolved, even by an engine before this one.
pub(super) async fn good(shared: &Shared) {
    let was_late = matches!(shared.status().cron, CronHealth::Late { .. });
    if was_late {
        shared.change_status(|status| status.cron = CronHealth::Ok);
    }
    let ticker = &shared.cron.ticker;
    let resolved = match (ticker.told(), was_late) {
        (Told::Late, _) | (_, true) => tell(shared, CronEvent::TickerRecovered).await,
        (Told::Unknown, false) => {
            let at = shared.now();
            let resolve = move |store: &mut dyn Transitions| store.resolve_alert(&AlertKey::ticker(), at);
            shared.store.write(resolve).await.is_ok()
        }
        (Told::Good, false) => return,
    };
    ticker.set_told(if resolved { Told::Good } else { Told::Late });
}

/// Tells something of the ticker, with what it does to the alert. The store may be what can't be written:
/// false, and the status tells it all the same.
pub(super) async fn tell(shared: &Shared, event: CronEvent) -> bool {
    let at = shared.now();
    let told = shared.store.write(move |store| store.tell_cron(event.clone(), at)).await;
    told.inspect_err(|error| tracing::warn!(%error, "something about the ticker is not in the log")).is_ok()
}
