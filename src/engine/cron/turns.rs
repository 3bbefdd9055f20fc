//! The turn of a run: how it begins, how it is waited for, and what it came to.

use super::run::Run;
use super::runs::Halt;
use crate::domain::cron::{ExecutionState, undone};
use crate::domain::history::{Body, Entry};
use crate::domain::id::{SessionId, TurnId};
use crate::domain::queue::{Intent, Source};
use crate::domain::turn::{Begun, Outcome, StopCause, TurnState};
use crate::engine::shared::Shared;
use crate::store::{RunTurn, StoreError};

/// So many of the last entries of a run's session are read: its answer stands at their end.
const ENTRIES: usize = 500;

/// What a turn came to.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) state: ExecutionState,
    /// Why, where it did not succeed; else what of its work was not done.
    pub(super) why: Option<String>,
    /// What the agent was told.
    pub(super) asked: Option<String>,
    /// What it said last.
    pub(super) said: Option<String>,
}

/// Lets the agent begin on a prompt. None if the claim is another's now.
pub(super) async fn begin(run: &Run<'_>, prompt: &str) -> Result<Option<Begun>, StoreError> {
    let Run { shared, job, .. } = run;
    let to = job
        .id
        .session_key()
        .map_err(|error| StoreError::Database(format!("the job's session has no key: {error}")))?;
    let message = shared.message(to, prompt.to_owned(), Intent::Plain, Source::Job);
    let turn = RunTurn { claim: run.key(), message, session: job.session };
    shared.store.write(move |store| store.begin_run_turn(&turn)).await
}

/// Waits until the turn's end is kept. One that is to end before is told so, and its end waited for.
pub(super) async fn wait(run: &Run<'_>, begun: &Begun) {
    // What had ended before anyone could wait for it is not told again.
    if !runs(run.shared, begun).await {
        return;
    }
    let halt = tokio::select! {
        biased;
        () = run.live.until_turn_ended() => return,
        halt = run.live.until_halted() => halt,
    };
    let cause = match halt {
        Halt::Operator => StopCause::Operator,
        Halt::TimedOut(_) => StopCause::TimedOut,
        Halt::Replaced | Halt::Lost => StopCause::Replaced,
        Halt::Shutdown => StopCause::Shutdown,
    };
    let (session, turn, at) = (begun.session.clone(), begun.turn, run.shared.now());
    let asked =
        run.shared.store.write(move |store| store.request_stop(&session, Some(turn), cause, at)).await;
    match asked {
        // It has ended, or is told already.
        Ok(_) | Err(StoreError::Refused(_)) => {}
        Err(error) => tracing::warn!(%turn, %error, "the turn of a run could not be told to stop"),
    }
    run.live.until_turn_ended().await;
}

async fn runs(shared: &Shared, begun: &Begun) -> bool {
    let entries = entries(shared, &begun.session, begun.turn).await;
    entries.is_ok_and(|entries| entries.first().is_some_and(|entry| entry.turn_state == TurnState::Running))
}

/// What a turn that has ended came to.
pub(super) async fn read(shared: &Shared, session: &SessionId, turn: TurnId) -> Result<Answered, StoreError> {
    let entries = entries(shared, session, turn).await?;
    let asked = entries.iter().find_map(|entry| match &entry.body {
        Body::User { text, .. } => Some(text.clone()),
        _ => None,
    });
    let ended = entries.iter().rev().find_map(|entry| match &entry.body {
        Body::Ended { outcome } => Some(outcome.clone()),
        _ => None,
    });
    let denied = shared.store.read(move |queries| queries.denied_in(turn)).await?;
    let said = last_words(&entries);
    let (state, why) = match (ended, entries.first().map(|entry| entry.turn_state)) {
        (None | Some(Outcome::Done), Some(TurnState::Done)) => {
            (ExecutionState::Succeeded, undone(&entries, &denied, said.as_deref()))
        }
        (Some(Outcome::Failed { error }), _) => (ExecutionState::Failed, Some(error)),
        (Some(Outcome::Interrupted { cause }), _) => {
            let state = match cause {
                StopCause::TimedOut => ExecutionState::TimedOut,
                StopCause::HandleLost => ExecutionState::Failed,
                _ => ExecutionState::Interrupted,
            };
            (state, Some(cause.words().to_owned()))
        }
        (_, Some(TurnState::Failed)) => (ExecutionState::Failed, Some("its turn failed".to_owned())),
        _ => (ExecutionState::Unknown, Some("how its turn ended is not known".to_owned())),
    };
    Ok(Answered { state, why, asked, said })
}

async fn entries(shared: &Shared, session: &SessionId, turn: TurnId) -> Result<Vec<Entry>, StoreError> {
    let session = session.clone();
    let page = shared.store.read(move |queries| queries.conversation(&session, None, ENTRIES)).await?;
    Ok(page.entries.into_iter().filter(|entry| entry.turn == turn).collect())
}

/// What the agent said after its last tool call: a long answer goes over several entries.
fn last_words(entries: &[Entry]) -> Option<String> {
    let after =
        entries.iter().rposition(|entry| matches!(entry.body, Body::Tool { .. })).map_or(0, |at| at + 1);
    let words = entries[after..].iter().filter_map(|entry| match &entry.body {
        Body::Agent { text, .. } => Some(text.as_str()),
        _ => None,
    });
    let said: String = words.collect();
    (!said.trim().is_empty()).then_some(said)
}
