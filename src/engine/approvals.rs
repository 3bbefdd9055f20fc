//! Questions of agents: kept before anyone is asked, and handed back when their decision is kept.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use tokio::time::sleep;

use super::clock::{LOOK_AGAIN, TRY_AGAIN};
use super::shared::Shared;
use crate::agent::NewQuestion;
use crate::config::Secrets;
use crate::domain::Time;
use crate::domain::approval::{Always, Approval, Decision, Ending, Question};
use crate::domain::id::{ApprovalId, TurnId};
use crate::store::{NewApproval, StoreError};

/// The questions whose agents wait for an answer.
#[derive(Default)]
pub(super) struct Asking {
    waiting: Mutex<HashMap<ApprovalId, oneshot::Sender<Decision>>>,
}

impl Asking {
    /// Hands a kept decision to whoever waits for it.
    pub(super) fn settled(&self, approval: ApprovalId, decision: &Decision) {
        if let Some(waiting) = self.lock().remove(&approval) {
            let _ = waiting.send(decision.clone());
        }
    }

    fn wait(&self, approval: ApprovalId) -> oneshot::Receiver<Decision> {
        let (settled, decision) = oneshot::channel();
        self.lock().insert(approval, settled);
        decision
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ApprovalId, oneshot::Sender<Decision>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A question as it is kept, told and shown.
fn without_keys(question: Question, secrets: &Secrets) -> Question {
    let always = match question.always {
        Always::Offered { prefix } => Always::Offered { prefix: secrets.hide(prefix) },
        Always::NotOffered { why } => Always::NotOffered { why },
    };
    let Question { tool, what, folder, .. } = question;
    Question { tool: secrets.hide(tool), what: secrets.hide(what), folder: secrets.hide(folder), always }
}

/// Keeps what an agent asks, and answers it when that is decided.
pub(super) async fn ask(shared: Arc<Shared>, turn: TurnId, asked: NewQuestion, secrets: Secrets) {
    let at = shared.now();
    let question = without_keys(asked.what.clone(), &secrets);
    let new = NewApproval { turn, question, denies_at: at + shared.settings.engine.approval_timeout };
    match shared.store.write(move |store| store.ask_approval(&new, at)).await {
        Ok(Approval { decision: Some(decision), .. }) => asked.answer(decision),
        Ok(approval) => wait(&shared, &approval, asked).await,
        Err(error) => {
            let why = format!("nobody could be asked: {error}");
            asked.answer(Decision::Cancelled { why });
        }
    }
}

async fn wait(shared: &Shared, approval: &Approval, mut asked: NewQuestion) {
    let (id, mut denies_at) = (approval.id, approval.denies_at);
    let mut settled = shared.asking.wait(id);
    loop {
        // It may have been settled before anyone waited for that.
        if let Ok(Some(Approval { decision: Some(decision), .. })) =
            shared.store.read(move |queries| queries.approval(id)).await
        {
            shared.asking.settled(id, &decision);
        }
        let ending = tokio::select! {
            biased;
            decision = &mut settled => return answer(asked, decision),
            () = asked.taken_back() => Ending::Withdrawn,
            () = until(shared, denies_at) => Ending::TimedOut,
        };
        let at = shared.now();
        let is_withdrawn = ending == Ending::Withdrawn;
        match shared.store.write(move |store| store.settle_approval(id, &ending, at)).await {
            Ok(_) | Err(StoreError::Refused(_)) => {}
            Err(StoreError::Closed) => return,
            Err(error) => tracing::warn!(%id, %error, "the end of a question is not kept yet"),
        }
        if is_withdrawn {
            // Its turn ends, and that settles it at the latest.
            return;
        }
        denies_at = at + TRY_AGAIN;
    }
}

fn answer(asked: NewQuestion, decision: Result<Decision, oneshot::error::RecvError>) {
    if let Ok(decision) = decision {
        asked.answer(decision);
    }
}

async fn until(shared: &Shared, at: Time) {
    while let Ok(left) = (at - shared.now()).to_std()
        && !left.is_zero()
    {
        sleep(left.min(LOOK_AGAIN)).await;
    }
}
