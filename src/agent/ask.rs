//! The way of what a turn asks for to the engine, which alone can do it, and of the answer back.

use tokio::sync::{mpsc, oneshot};

use super::background::BackgroundCall;
use crate::domain::approval::{Decision, Question};
use crate::domain::cron::Definition;
use crate::domain::spending::Reached;

/// So much waits to be taken; beyond that an agent waits to ask.
const WAITING: usize = 8;

/// Where a backend asks, on behalf of a turn, whether its agent may do something.
pub type Approvals = Ask<Question, Decision>;
/// Where it asks for background processes of its session. Both answers are words for the agent.
pub type BackgroundCalls = Ask<BackgroundCall, Result<String, String>>;
/// Where it has a scheduled task made, whose id is still to be made. Both answers are words for the agent.
pub type Jobs = Ask<Definition, Result<String, String>>;
/// Where it asks whether a daily limit is reached. What it has told that it used, and is kept, counts.
pub type Limits = Ask<(), Option<Reached>>;

/// A question to a person whose agent waits.
pub type NewQuestion = Asked<Question, Decision>;
/// A call about background processes whose agent waits.
pub type NewCall = Asked<BackgroundCall, Result<String, String>>;
/// A scheduled task that is to be made, whose agent waits.
pub type NewJob = Asked<Definition, Result<String, String>>;

/// An agent that waits to be told whether a daily limit is reached.
pub type WhetherReached = Asked<(), Option<Reached>>;

/// Where something is asked for.
#[derive(Debug)]
pub struct Ask<Q, A>(mpsc::Sender<Asked<Q, A>>);

/// Something that an agent waits for. Dropping it tells the agent that nobody answers.
#[derive(Debug)]
pub struct Asked<Q, A> {
    /// What.
    pub what: Q,
    reply: oneshot::Sender<A>,
}

/// An answer that stands for none: the turn has ended.
pub trait Unanswered {
    /// It.
    fn unanswered() -> Self;
}

impl<Q, A: Unanswered> Ask<Q, A> {
    /// The way, and its end.
    pub fn channel() -> (Self, mpsc::Receiver<Asked<Q, A>>) {
        let (ask, asked) = mpsc::channel(WAITING);
        (Self(ask), asked)
    }

    /// Asks, and waits for the answer. Dropping the future takes it back.
    pub async fn ask(&self, what: Q) -> A {
        let (reply, answer) = oneshot::channel();
        // Where nobody takes it, the answer's channel is closed at once.
        let _ = self.0.send(Asked { what, reply }).await;
        answer.await.unwrap_or_else(|_| A::unanswered())
    }
}

// Derived, it would ask that what is asked can be copied.
impl<Q, A> Clone for Ask<Q, A> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<Q, A> Asked<Q, A> {
    /// Gives the agent what it waits for.
    pub fn answer(self, answer: A) {
        let _ = self.reply.send(answer);
    }

    /// Waits until the agent does not wait any more.
    pub async fn taken_back(&mut self) {
        self.reply.closed().await;
    }
}

impl Unanswered for Decision {
    fn unanswered() -> Self {
        Self::Cancelled { why: "the turn has ended".to_owned() }
    }
}

impl Unanswered for Option<Reached> {
    fn unanswered() -> Self {
        None
    }
}

impl Unanswered for Result<String, String> {
    fn unanswered() -> Self {
        Err("the turn has ended".to_owned())
    }
}
