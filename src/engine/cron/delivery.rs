//! Where a run's result goes: targets resolved, and what becomes of each.

use super::Cron;
use super::output;
use crate::domain::Time;
use crate::domain::cron::{ALL, CONSOLE, Delivery, DeliveryState, JobId, LOCAL, ORIGIN, Target};
use crate::domain::event::excerpt;
use crate::domain::id::{ExecutionId, KeyError, SessionKey};
use crate::engine::shared::Shared;
use crate::store::Post;

/// So many deliveries that are still to be made are looked at, at a start.
const PENDING: usize = 1_000;
/// So much of a result stands in a session; the output document has it all.
const MOST_CHARS: usize = 4_000;

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

/// The result of a run that has ended.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    /// Its job.
    pub(super) job: JobId,
    /// Its execution.
    pub(super) execution: ExecutionId,
    /// What the agent or the script said, or why there is nothing.
    pub(super) text: String,
    /// Where all of it is kept.
    pub(super) document: Option<String>,
}

/// Makes the deliveries of a run that are still to be made.
pub(super) async fn deliver(shared: &Shared, outcome: &Outcome, deliveries: &[Delivery]) {
    for (place, delivery) in deliveries.iter().enumerate() {
        if delivery.state == DeliveryState::Pending {
            settle(shared, outcome.execution, place, &delivery.target, Some(outcome)).await;
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
        let outcome = outcome_of(shared, cron, execution).await;
        settle(shared, execution, place, &delivery.target, outcome.as_ref()).await;
    }
}

async fn outcome_of(shared: &Shared, cron: &Cron, execution: ExecutionId) -> Option<Outcome> {
    let found = shared.store.read(move |queries| queries.execution(execution)).await.ok()??;
    let (home, path) = (cron.home.clone(), found.output?);
    let document = path.clone();
    let read = move || output::read(&home, &path).ok().flatten();
    let text = tokio::task::spawn_blocking(read).await.ok()??;
    let text = output::answer_of(&text).map(str::to_owned).or(found.why).unwrap_or_default();
    Some(Outcome { job: found.job, execution, text, document: Some(document) })
}

/// The notice is the event that is written with it, and the text stands in the session from then on.
async fn settle(
    shared: &Shared,
    execution: ExecutionId,
    place: usize,
    target: &Target,
    outcome: Option<&Outcome>,
) {
    let (state, words, post) = match (target.platform.as_str(), outcome) {
        (CONSOLE, Some(outcome)) => match session(target) {
            Ok(to) => {
                let post = Post { to, fresh: shared.fresh_session(), text: posted(outcome) };
                (DeliveryState::Delivered, excerpt(&outcome.text), Some(post))
            }
            Err(why) => (DeliveryState::Failed, format!("{target} names no session: {why}"), None),
        },
        (CONSOLE, None) => (DeliveryState::Failed, "its output document is gone".to_owned(), None),
        (platform, _) => (DeliveryState::NotConfigured, format!("{platform} is not set up here"), None),
    };
    let at = shared.now();
    let settled = shared
        .store
        .write(move |store| store.settle_delivery(execution, place, state, Some(&words), post.as_ref(), at))
        .await;
    if let Err(error) = settled {
        tracing::warn!(%execution, %error, "a delivery is made again at the next start");
    }
}

/// The session in which a result is read: the one that the target names, else the console's own.
fn session(target: &Target) -> Result<SessionKey, KeyError> {
    target.chat_id.as_deref().map_or_else(|| Ok(SessionKey::console()), SessionKey::from_operator)
}

/// A result as it stands in a session: whose it is, and as much of it as can be read there.
fn posted(outcome: &Outcome) -> String {
    let Outcome { job, execution, text, document } = outcome;
    let said = text.trim();
    let said = if said.is_empty() { "(it said nothing)" } else { said };
    let shown = match said.char_indices().nth(MOST_CHARS) {
        None => said.to_owned(),
        Some((cut, _)) => {
            let more = said[cut..].chars().count();
            let rest =
                document.as_deref().map_or_else(String::new, |path| format!(": all of it is in {path}"));
            format!("{}…\n[cut: {more} more characters{rest}]", &said[..cut])
        }
    };
    format!("Job {job}, run {execution}:\n{shown}")
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
    fn a_long_result_is_cut_in_the_session_and_says_where_the_rest_is() {
        let outcome = |text: &str| Outcome {
            job: "news".parse().unwrap(),
            execution: ExecutionId(7),
            text: text.to_owned(),
            document: Some("output/news/1_7.md".to_owned()),
        };
        assert_eq!(posted(&outcome(" all is well\n")), "Job news, run 7:\nall is well");
        assert_eq!(posted(&outcome("")), "Job news, run 7:\n(it said nothing)");
        let long = posted(&outcome(&"ü".repeat(MOST_CHARS + 3)));
        assert!(long.ends_with("ü…\n[cut: 3 more characters: all of it is in output/news/1_7.md]"), "{long}");
    }

    #[test]
    fn a_target_names_the_session_in_which_its_result_is_read() {
        let key = |target: &str| session(&Target::list(target).unwrap()[0]).map(|key| key.to_string());
        assert_eq!(key("console").unwrap(), "agent:main:local:dm:console");
        assert_eq!(key("console:ops").unwrap(), "agent:main:local:dm:ops");
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
