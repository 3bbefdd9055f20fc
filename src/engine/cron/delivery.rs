//! Where a run's result goes, and what becomes of it there.

use super::Cron;
use super::output;
use crate::domain::cron::{
    ALL, CONSOLE, Delivery, DeliveryState, Execution, ExecutionState, JobId, LOCAL, Target,
};
use crate::domain::event::excerpt;
use crate::domain::id::{ExecutionId, KeyError, SessionKey};
use crate::engine::shared::Shared;
use crate::store::Post;

/// So many deliveries that are still to be made are looked at, at a start.
const PENDING: usize = 1_000;
/// So much of a result stands in a session; the output document has it all.
const MOST_CHARS: usize = 4_000;

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

/// Makes what is left to be delivered of runs whose engine is gone.
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

/// The result of a run: what its document has, and of one that left none why it ended.
async fn outcome_of(shared: &Shared, cron: &Cron, execution: ExecutionId) -> Option<Outcome> {
    let found = shared.store.read(move |queries| queries.execution(execution)).await.ok()??;
    let Execution { job, state, output: document, why, .. } = found;
    let said = match document.clone() {
        Some(path) => {
            let home = cron.home.clone();
            let read = move || output::read(&home, &path).ok().flatten();
            let text = tokio::task::spawn_blocking(read).await.ok()??;
            output::answer_of(&text).map(str::to_owned)
        }
        None if state == ExecutionState::Succeeded => return None,
        None => None,
    };
    let text = told(state, said.as_deref(), why.as_deref());
    Some(Outcome { job, execution, text, document })
}

/// What is delivered of a run: the answer, before it what was not done; else why there is none.
pub(super) fn told(state: ExecutionState, answer: Option<&str>, why: Option<&str>) -> String {
    match (state, answer, why) {
        (ExecutionState::Succeeded, answer, Some(undone)) => {
            format!("[not all of it was done: {undone}]\n{}", answer.unwrap_or_default())
        }
        (ExecutionState::Succeeded, answer, None) => answer.unwrap_or_default().to_owned(),
        (_, _, why) => why.unwrap_or_default().to_owned(),
    }
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
}
