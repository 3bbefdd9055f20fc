//! Commands and questions on their way to the engine.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;

use crate::console::app::msg::{Failure, Msg, Pace, Question, Ticket, Tone};
use crate::control::{Client, ClientError};
use crate::domain::api::{Command, Query, Reply};

/// Commands that may wait for their reply. One more is refused, with that reason.
const MOST_COMMANDS: usize = 64;
/// What changed by itself where the operator looks is asked for again no sooner than this.
const REST: Duration = Duration::from_millis(100);
/// And elsewhere no sooner than this: nobody reads a list that changes more often.
const GENTLE_REST: Duration = Duration::from_millis(250);
/// So many in a row are asked without a rest where the operator looks: a message that is taken in and
/// begins a turn is one thing to see.
const SOON_AT_ONCE: u32 = 4;
/// A question that took its time rests so many times longer, so that asking stays a small part of
/// what the machine does.
const REST_FACTOR: u32 = 10;
/// But no longer than this.
const LONGEST_REST: Duration = Duration::from_secs(1);

/// Commands, carried out one after the other in the order they were given.
pub(super) struct Commands {
    queue: mpsc::Sender<Given>,
    replies: mpsc::Receiver<Msg>,
    /// How many were given and not replied to.
    out: usize,
    task: JoinHandle<()>,
}

/// A command, and who gave it.
pub(super) struct Given {
    /// To whom.
    pub(super) client: Arc<dyn Client>,
    /// What.
    pub(super) command: Command,
    /// Who waits for the reply.
    pub(super) from: From,
}

/// Who gave a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    /// The state: it gets the reply.
    State(Ticket),
    /// A signal: the operator is told.
    Signal,
}

impl From {
    fn message(self, result: Result<Reply, Failure>) -> Msg {
        match (self, result) {
            (Self::State(ticket), result) => Msg::Replied { ticket, result },
            (Self::Signal, Ok(Reply::Done { words, .. })) => Msg::Notice(Tone::Info, words),
            (Self::Signal, Ok(_)) => Msg::Notice(Tone::Info, "the engine was told".to_owned()),
            (Self::Signal, Err(failure)) => Msg::Notice(Tone::Error, failure.words().to_owned()),
        }
    }
}

impl Commands {
    /// Starts the task that carries them out.
    pub(super) fn start() -> Self {
        let (queue, mut given) = mpsc::channel::<Given>(MOST_COMMANDS);
        let (tell, replies) = mpsc::channel(MOST_COMMANDS);
        let task = tokio::spawn(async move {
            while let Some(Given { client, command, from }) = given.recv().await {
                let result = guarded(client.command(command)).await;
                if tell.send(from.message(result)).await.is_err() {
                    return;
                }
            }
        });
        Self { queue, replies, out: 0, task }
    }

    /// Gives a command; the message that answers it at once if it can't wait.
    pub(super) fn give(&mut self, given: Given) -> Option<Msg> {
        let (Err(TrySendError::Full(given)) | Err(TrySendError::Closed(given))) = self.queue.try_send(given)
        else {
            self.out += 1;
            return None;
        };
        let words = format!("not done: {MOST_COMMANDS} commands wait for the engine already; try again");
        Some(given.from.message(Err(Failure::Failed(words))))
    }

    /// The next reply.
    pub(super) async fn reply(&mut self) -> Msg {
        match self.replies.recv().await {
            Some(reply) => {
                self.out -= 1;
                reply
            }
            None => std::future::pending().await,
        }
    }

    /// Whether one waits for its reply.
    pub(super) fn are_out(&self) -> bool {
        self.out > 0
    }

    /// Waits until all that was given is carried out, but no longer than `patience`.
    pub(super) async fn finish(self, patience: Duration) {
        let Self { queue, mut replies, mut task, .. } = self;
        drop(queue);
        let all = async { while replies.recv().await.is_some() {} };
        if tokio::time::timeout(patience, all).await.is_err() {
            tracing::warn!("the screen was left before the engine answered every command");
        }
        task.abort();
        let _ = (&mut task).await;
    }
}

/// Questions: many at a time, and each kind at its pace.
#[derive(Default)]
pub(super) struct Questions {
    asked: JoinSet<Answered>,
    resting: HashMap<Question, Instant>,
    /// Until when those that were asked soon have used up the time of a rest each.
    soon: HashMap<Question, Instant>,
    later: Vec<Later>,
}

struct Later {
    due: Instant,
    kind: Question,
    ticket: Ticket,
    query: Query,
    pace: Pace,
}

struct Answered {
    message: Msg,
    kind: Question,
    pace: Pace,
    took: Duration,
}

impl Questions {
    /// Takes a question. It is asked at once, or when its kind has rested.
    pub(super) fn take(
        &mut self,
        client: &Arc<dyn Client>,
        ticket: Ticket,
        kind: Question,
        query: Query,
        pace: Pace,
    ) {
        let now = Instant::now();
        let due = match pace {
            Pace::AtOnce => now,
            Pace::Soon => self.soon(kind, now),
            Pace::Gently => self.resting.get(&kind).copied().unwrap_or(now),
        };
        if due > now {
            self.later.push(Later { due, kind, ticket, query, pace });
        } else {
            self.ask(client, ticket, kind, query, pace);
        }
    }

    /// When a question may be asked that is wanted soon: a few at once, many one a rest.
    fn soon(&mut self, kind: Question, now: Instant) -> Instant {
        let used = self.soon.entry(kind).or_insert(now);
        *used = (*used).max(now) + REST;
        (*used).checked_sub(REST * SOON_AT_ONCE).unwrap_or(now).max(now)
    }

    /// Whether one waits for its answer.
    pub(super) fn are_out(&self) -> bool {
        !self.asked.is_empty()
    }

    /// When the next one has rested.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.later.iter().map(|later| later.due).min()
    }

    /// Asks those that have rested.
    pub(super) fn ask_due(&mut self, client: &Arc<dyn Client>, now: Instant) {
        let due: Vec<Later> = self.later.extract_if(.., |later| later.due <= now).collect();
        for Later { kind, ticket, query, pace, .. } in due {
            self.ask(client, ticket, kind, query, pace);
        }
    }

    /// The next answer, and how soon it was wanted.
    pub(super) async fn answer(&mut self) -> (Msg, Pace) {
        loop {
            match self.asked.join_next().await {
                Some(Ok(answered)) => {
                    let rest = (answered.took * REST_FACTOR).clamp(GENTLE_REST, LONGEST_REST);
                    self.resting.insert(answered.kind, Instant::now() + rest);
                    return (answered.message, answered.pace);
                }
                // Forgotten by `forget`.
                Some(Err(_)) => {}
                None => std::future::pending().await,
            }
        }
    }

    /// Drops all: the one who was asked is gone.
    pub(super) fn forget(&mut self) {
        self.asked = JoinSet::new();
        self.later.clear();
    }

    fn ask(&mut self, client: &Arc<dyn Client>, ticket: Ticket, kind: Question, query: Query, pace: Pace) {
        let client = Arc::clone(client);
        self.asked.spawn(async move {
            let start = Instant::now();
            let result = guarded(client.query(query)).await;
            Answered { message: Msg::Answered { ticket, result }, kind, pace, took: start.elapsed() }
        });
    }
}

/// An answer in the console's words. A bug in answering is an answer too: the console survives it.
async fn guarded<T>(answer: BoxFuture<'_, Result<T, ClientError>>) -> Result<T, Failure> {
    match AssertUnwindSafe(answer).catch_unwind().await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(failure(&error)),
        Err(_) => Err(Failure::Failed("the engine met a bug of its own; the log has it".to_owned())),
    }
}

fn failure(error: &ClientError) -> Failure {
    let words = error.to_string();
    match error {
        ClientError::Refused(_) | ClientError::NoEngine => Failure::Refused(words),
        ClientError::Gone(_) => Failure::Gone(words),
        ClientError::Silent { .. } | ClientError::Failed(_) | ClientError::Version { .. } => {
            Failure::Failed(words)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use pretty_assertions::assert_eq;

    use super::*;
    use crate::control::Reach;
    use crate::domain::api::{Answer, Update};

    /// An engine that takes its time, and remembers what it was asked and told.
    #[derive(Default)]
    struct Slow {
        takes: Duration,
        told: Mutex<Vec<String>>,
    }

    impl Client for Slow {
        fn reach(&self) -> Reach {
            Reach::Here
        }

        fn command(&self, command: Command) -> BoxFuture<'_, Result<Reply, ClientError>> {
            Box::pin(async move {
                let Command::Hold { why } = command else { panic!("a bug in the engine") };
                // The first takes longest: whoever starts them together gets them in another order.
                let before = self.told.lock().unwrap().len();
                tokio::time::sleep(self.takes / (before as u32 + 1)).await;
                self.told.lock().unwrap().push(why.clone());
                Ok(Reply::Done { words: why, undo: None })
            })
        }

        fn query(&self, _query: Query) -> BoxFuture<'_, Result<Answer, ClientError>> {
            Box::pin(async {
                self.told.lock().unwrap().push("asked".to_owned());
                tokio::time::sleep(self.takes).await;
                Ok(Answer::Document(String::new()))
            })
        }

        fn updates(&self) -> BoxFuture<'_, Result<mpsc::Receiver<Update>, ClientError>> {
            Box::pin(async { Err(ClientError::NoEngine) })
        }
    }

    fn slow(takes: Duration) -> (Arc<Slow>, Arc<dyn Client>) {
        let slow = Arc::new(Slow { takes, ..Slow::default() });
        (Arc::clone(&slow), slow)
    }

    fn hold(client: &Arc<dyn Client>, number: u64) -> Given {
        let command = Command::Hold { why: number.to_string() };
        Given { client: Arc::clone(client), command, from: From::State(Ticket(number)) }
    }

    fn take(questions: &mut Questions, client: &Arc<dyn Client>, pace: Pace) {
        questions.take(client, Ticket(0), Question::Overview, Query::Overview, pace);
    }

    #[tokio::test(start_paused = true)]
    async fn commands_are_carried_out_in_the_order_they_were_given() {
        let (engine, client) = slow(Duration::from_millis(100));
        let mut commands = Commands::start();
        for number in 0..4 {
            assert!(commands.give(hold(&client, number)).is_none());
        }
        for number in 0..4 {
            assert!(
                matches!(commands.reply().await, Msg::Replied { ticket: Ticket(n), result: Ok(_) } if n == number)
            );
        }
        assert_eq!(*engine.told.lock().unwrap(), ["0", "1", "2", "3"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_command_that_can_not_wait_is_refused_with_the_reason() {
        let (_, client) = slow(Duration::from_secs(60));
        let mut commands = Commands::start();
        for number in 0..MOST_COMMANDS as u64 {
            assert!(commands.give(hold(&client, number)).is_none());
        }
        let refused = commands.give(hold(&client, 99));
        let Some(Msg::Replied { ticket: Ticket(99), result: Err(Failure::Failed(words)) }) = refused else {
            panic!("{refused:?}")
        };
        assert!(words.contains("64 commands wait"), "{words}");
    }

    #[tokio::test(start_paused = true)]
    async fn leaving_waits_for_the_commands_on_their_way() {
        let (engine, client) = slow(Duration::from_millis(100));
        let mut commands = Commands::start();
        for number in 0..3 {
            commands.give(hold(&client, number));
        }
        commands.finish(Duration::from_secs(2)).await;
        assert_eq!(engine.told.lock().unwrap().len(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn what_changed_by_itself_is_asked_again_after_a_rest_and_what_is_waited_for_at_once() {
        let (engine, client) = slow(Duration::from_millis(1));
        let mut questions = Questions::default();
        take(&mut questions, &client, Pace::Gently);
        questions.answer().await;
        let answered = Instant::now();

        take(&mut questions, &client, Pace::Gently);
        assert_eq!(questions.next_due(), Some(answered + GENTLE_REST));
        questions.ask_due(&client, answered + GENTLE_REST / 2);
        assert_eq!(engine.told.lock().unwrap().len(), 1);
        questions.ask_due(&client, answered + GENTLE_REST);
        questions.answer().await;
        assert_eq!(engine.told.lock().unwrap().len(), 2);

        take(&mut questions, &client, Pace::AtOnce);
        questions.answer().await;
        assert_eq!(engine.told.lock().unwrap().len(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn where_the_operator_looks_a_few_changes_are_shown_at_once_and_a_flood_one_a_rest() {
        let (engine, client) = slow(Duration::from_millis(1));
        let mut questions = Questions::default();
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(1) {
            take(&mut questions, &client, Pace::Soon);
            if let Some(due) = questions.next_due() {
                tokio::time::sleep_until(due).await;
                questions.ask_due(&client, due);
            }
            questions.answer().await;
            if start.elapsed() < REST / 2 {
                assert!(engine.told.lock().unwrap().len() <= SOON_AT_ONCE as usize);
            }
        }
        let asked = engine.told.lock().unwrap().len();
        assert!((13..=15).contains(&asked), "{asked}");
        tokio::time::sleep(Duration::from_secs(1)).await;
        take(&mut questions, &client, Pace::Soon);
        assert_eq!(questions.next_due(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_that_takes_long_rests_longer() {
        let (_, client) = slow(Duration::from_millis(50));
        let mut questions = Questions::default();
        take(&mut questions, &client, Pace::Gently);
        questions.answer().await;
        let answered = Instant::now();
        take(&mut questions, &client, Pace::Gently);
        assert_eq!(questions.next_due(), Some(answered + Duration::from_millis(500)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_bug_in_the_engine_is_an_answer_too() {
        let (_, client) = slow(Duration::ZERO);
        let mut commands = Commands::start();
        let given =
            Given { client: Arc::clone(&client), command: Command::Release, from: From::State(Ticket(7)) };
        assert!(commands.give(given).is_none());
        let reply = commands.reply().await;
        assert!(
            matches!(reply, Msg::Replied { ticket: Ticket(7), result: Err(Failure::Failed(_)) }),
            "{reply:?}"
        );
        assert!(commands.give(hold(&client, 8)).is_none());
        assert!(matches!(commands.reply().await, Msg::Replied { ticket: Ticket(8), result: Ok(_) }));
    }
}
