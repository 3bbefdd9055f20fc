//! The deliveries of a run: targets resolved, and what is known of each when the run ends.

use super::{ALL, CONSOLE, Delivery, DeliveryState, LOCAL, ORIGIN, Target};
use crate::domain::Time;

/// Whether anyone is to hear of a run's result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Telling {
    /// Everyone that the job names.
    Deliver,
    /// Nobody, and why.
    Suppress(&'static str),
}

/// The deliveries of a run that has ended. `document` is its output document, or why there is none.
pub fn deliveries(
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

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(targets: &str, telling: &Telling, document: Result<&str, &str>) -> Vec<String> {
        let planned = super::deliveries(&Target::list(targets).unwrap(), telling, document, Time::UNIX_EPOCH);
        let told = |delivery: &Delivery| {
            let why = delivery.why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
            format!("{} {}{why}", delivery.target, delivery.state.as_str())
        };
        planned.iter().map(told).collect()
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
