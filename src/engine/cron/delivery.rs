//! Where a run's result goes: targets resolved, and what becomes of each.

use super::Cron;
use super::output;
use crate::domain::Time;
use crate::domain::cron::{Delivery, DeliveryState, ORIGIN, Target};
use crate::domain::event::excerpt;
use crate::domain::id::ExecutionId;
use crate::engine::shared::Shared;

/// The output document, which every run has.
const LOCAL: &str = "local";
/// A notice in the console, and the text to read there.
const CONSOLE: &str = "console";
/// Every place that is set up here.
const ALL: &str = "all";
/// So many deliveries that are still to be made are looked at, at a start.
const PENDING: usize = 1_000;

/// Whether anyone is to hear of a run's result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Telling {
    /// Everyone that the job names.
    Deliver,
    /// Nobody, and why.
    Suppress(&'static str),
}

/// What the editor offers as targets, and what is to be known of each.
pub(super) fn offered() -> Vec<(String, String)> {
    [
        (CONSOLE, "a notice and the text, in the console"),
        (LOCAL, "the output document, and no notice"),
        (ALL, "every place that is set up"),
    ]
    .map(|(target, about)| (target.to_owned(), about.to_owned()))
    .into()
}

/// The deliveries of a run that has ended. `document` is its output document, or why there is none.
pub(super) fn plan(
    targets: &[Target],
    telling: &Telling,
    document: Result<&str, &str>,
    at: Time,
) -> Vec<Delivery> {
    let delivery = |target: Target| {
        let (state, why) = match telling {
            Telling::Suppress(why) => (DeliveryState::Suppressed, Some((*why).to_owned())),
            Telling::Deliver => state_of(&target, document),
        };
        Delivery { target, state, at, why }
    };
    resolve(targets).into_iter().map(delivery).collect()
}

fn state_of(target: &Target, document: Result<&str, &str>) -> (DeliveryState, Option<String>) {
    match (target.platform.as_str(), document) {
        (CONSOLE, _) => (DeliveryState::Pending, None),
        (LOCAL, Ok(_)) => (DeliveryState::Delivered, None),
        (LOCAL, Err(why)) => (DeliveryState::Failed, Some(why.to_owned())),
        (platform, document) => {
            let kept = document.map(|path| format!("the text is in {path}")).unwrap_or_else(str::to_owned);
            (DeliveryState::NotConfigured, Some(format!("{platform} is not set up here: {kept}")))
        }
    }
}

/// The places that targets mean, each once. A job that names none, or the place where it was made and does
/// not tell which that was, means the console.
fn resolve(targets: &[Target]) -> Vec<Target> {
    let mut places: Vec<Target> = Vec::new();
    let mut add = |place: Target| {
        if !places.contains(&place) {
            places.push(place);
        }
    };
    for target in targets {
        match target.platform.as_str() {
            ORIGIN => add(Target::platform(CONSOLE)),
            ALL => [LOCAL, CONSOLE].map(Target::platform).into_iter().for_each(&mut add),
            _ => add(target.clone()),
        }
    }
    if places.is_empty() {
        places.push(Target::platform(CONSOLE));
    }
    places
}

/// Makes the deliveries of a run that are still to be made.
pub(super) async fn deliver(shared: &Shared, execution: ExecutionId, deliveries: &[Delivery], text: &str) {
    for (place, delivery) in deliveries.iter().enumerate() {
        if delivery.state == DeliveryState::Pending {
            settle(shared, execution, place, &delivery.target, Some(text)).await;
        }
    }
}

/// Makes what an earlier engine left to be delivered: the text is in the output document.
pub(super) async fn deliver_pending(shared: &Shared, cron: &Cron) {
    let pending = match shared.store.read(|queries| queries.pending_deliveries(PENDING)).await {
        Ok(pending) => pending,
        Err(error) => return tracing::warn!(%error, "what is still to be delivered could not be read"),
    };
    for (execution, place, delivery) in pending {
        let text = text_of(shared, cron, execution).await;
        settle(shared, execution, place, &delivery.target, text.as_deref()).await;
    }
}

async fn text_of(shared: &Shared, cron: &Cron, execution: ExecutionId) -> Option<String> {
    let found = shared.store.read(move |queries| queries.execution(execution)).await.ok()??;
    let (home, path) = (cron.home.clone(), found.output?);
    let read = move || output::read(&home, &path).ok().flatten();
    let document = tokio::task::spawn_blocking(read).await.ok()??;
    Some(output::answer_of(&document).map(str::to_owned).or(found.why).unwrap_or_default())
}

/// The notice is the event that is written with it.
async fn settle(shared: &Shared, execution: ExecutionId, place: usize, target: &Target, text: Option<&str>) {
    let (state, words) = match (target.platform.as_str(), text) {
        (CONSOLE, Some(text)) => (DeliveryState::Delivered, excerpt(text)),
        (CONSOLE, None) => (DeliveryState::Failed, "its output document is gone".to_owned()),
        (platform, _) => (DeliveryState::NotConfigured, format!("{platform} is not set up here")),
    };
    let at = shared.now();
    let settled = shared
        .store
        .write(move |store| store.settle_delivery(execution, place, state, Some(&words), at))
        .await;
    if let Err(error) = settled {
        tracing::warn!(%execution, %error, "a delivery is made again at the next start");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(targets: &str, telling: &Telling, document: Result<&str, &str>) -> Vec<String> {
        let deliveries = plan(&Target::list(targets).unwrap(), telling, document, Time::UNIX_EPOCH);
        let told = |delivery: &Delivery| {
            let why = delivery.why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
            format!("{} {}{why}", delivery.target, delivery.state.as_str())
        };
        deliveries.iter().map(told).collect()
    }

    #[test]
    fn each_target_has_a_state_of_its_own() {
        let document = Ok("output/a/1.md");
        for (targets, states) in [
            ("", vec!["console pending"]),
            ("origin,console", vec!["console pending"]),
            ("local", vec!["local delivered"]),
            ("all,local", vec!["local delivered", "console pending"]),
            (
                "local,telegram:1:2",
                vec![
                    "local delivered",
                    "telegram:1:2 not_configured (telegram is not set up here: the text is in output/a/1.md)",
                ],
            ),
        ] {
            assert_eq!(planned(targets, &Telling::Deliver, document), states, "{targets:?}");
        }
    }

    #[test]
    fn a_document_that_could_not_be_written_is_a_failed_delivery() {
        assert_eq!(
            planned("local,console,x", &Telling::Deliver, Err("the disk is full")),
            [
                "local failed (the disk is full)",
                "console pending",
                "x not_configured (x is not set up here: the disk is full)"
            ]
        );
    }

    #[test]
    fn nobody_hears_of_what_is_suppressed() {
        let telling = Telling::Suppress("the run said [SILENT]");
        assert_eq!(
            planned("local,telegram:1", &telling, Ok("output/a/1.md")),
            ["local suppressed (the run said [SILENT])", "telegram:1 suppressed (the run said [SILENT])"]
        );
    }
}
