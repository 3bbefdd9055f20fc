//! The way of an agent's questions to a person.

use tokio::sync::{mpsc, oneshot};

use crate::domain::approval::{Decision, Question};

/// Questions that wait to be kept; beyond that an agent waits to ask.
const QUESTIONS: usize = 8;

/// Where a backend asks, on behalf of a turn, whether its agent may do something.
#[derive(Debug, Clone)]
pub struct Approvals(mpsc::Sender<NewQuestion>);

/// A question whose agent waits. Dropping it tells the agent that nobody answers.
#[derive(Debug)]
pub struct NewQuestion {
    /// The question.
    pub question: Question,
    reply: oneshot::Sender<Decision>,
}

impl Approvals {
    /// The way, and its end.
    pub fn channel() -> (Self, mpsc::Receiver<NewQuestion>) {
        let (approvals, asked) = mpsc::channel(QUESTIONS);
        (Self(approvals), asked)
    }

    /// Asks, and waits for what is decided. Dropping the future takes the question back.
    pub async fn ask(&self, question: Question) -> Decision {
        let (reply, answer) = oneshot::channel();
        // Where nobody takes it, the answer's channel is closed at once.
        let _ = self.0.send(NewQuestion { question, reply }).await;
        answer.await.unwrap_or_else(|_| Decision::Cancelled { why: "the turn has ended".to_owned() })
    }
}

impl NewQuestion {
    /// Tells the agent what was decided.
    pub fn answer(self, decision: Decision) {
        let _ = self.reply.send(decision);
    }

    /// Waits until the agent does not wait any more.
    pub async fn taken_back(&mut self) {
        self.reply.closed().await;
    }
}
