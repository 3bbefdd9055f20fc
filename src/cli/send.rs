//! `switchboard send`.

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::Exit;
use super::context::Context;
use super::feed::{Feed, News, Wanted};
use super::output::{AsJson, Form, Out, stderr_line};
use crate::control::{Client, ClientError};
use crate::domain::api::{Answer, Command, Piece, Query, Reply, StreamKind};
use crate::domain::conversation::key_of;
use crate::domain::event::{EventKind, Level};
use crate::domain::history::{Body, Entry};
use crate::domain::id::{ItemId, SessionId, SessionKey, TurnId};
use crate::domain::queue::{Ack, Intent, MAX_TEXT_BYTES, Source};
use crate::domain::turn::Outcome;

/// How long an acknowledgement may take before it is told what it waits for.
const PATIENCE: Duration = Duration::from_secs(2);

/// Send a message or a slash command
#[derive(Debug, clap::Args)]
pub(super) struct Send {
    /// The session: a key, or the name of a local session, which is made if there is none [default: console]
    #[arg(long, value_name = "KEY|NAME")]
    session: Option<String>,
    /// A host application's conversation: the same id has the same session for ever
    #[arg(long, value_name = "ID", conflicts_with = "session")]
    conversation: Option<String>,
    /// The conversation's user, where each has a session of his own
    #[arg(long, value_name = "ID", requires = "conversation")]
    user: Option<String>,
    /// Add it to the queue: a turn of its own, in order
    #[arg(long)]
    queue: bool,
    /// Print the answer as it comes, and wait until its turn has ended
    #[arg(long)]
    wait: bool,
    /// The message; `-` reads it from standard input
    #[arg(allow_hyphen_values = true)]
    text: String,
    #[command(flatten)]
    json: AsJson,
}

impl Send {
    pub(super) async fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        let to = match (&self.conversation, &self.session) {
            (Some(id), _) => key_of(id, self.user.as_deref())?,
            (None, Some(named)) => SessionKey::from_operator(named)?,
            (None, None) => SessionKey::console(),
        };
        let form = self.json.form();
        let client = context.engine().await?;
        let text = if self.text == "-" { standard_input()? } else { self.text };
        let intent = if self.queue { Intent::Queue } else { Intent::Plain };
        let submit = Command::Submit { to, text, intent, source: Source::CommandLine };
        // To listen first means that no word of the answer can pass by.
        let everything = Wanted { level: Level::Debug, session: None };
        let feed = if self.wait { Some(Feed::from_now(client.clone(), everything).await?) } else { None };
        let reply = patiently(&*client, submit, context).await?;
        if form == Form::Json {
            out.json(&reply)?;
        }
        match (reply, feed) {
            (Reply::Accepted { session, item, ack }, Some(feed)) => {
                if form == Form::Text {
                    stderr_line(&ack.words(|at| context.clock().short(at)));
                }
                Waiting::new(client, session, item, &ack, form, out).run(feed).await
            }
            (reply, _) => told(reply, context, form, out),
        }
    }
}

/// Gives a command. One that takes long says on standard error what it waits for.
async fn patiently(client: &dyn Client, command: Command, context: &Context) -> Result<Reply, ClientError> {
    let mut reply = client.command(command);
    if let Ok(reply) = tokio::time::timeout(PATIENCE, &mut reply).await {
        return reply;
    }
    if let Ok(Answer::Overview(overview)) = client.query(Query::Overview).await
        && let Some(trouble) = overview.engine.store_trouble
    {
        let since = context.clock().full(trouble.since);
        stderr_line(&format!("waits: the store can't be written since {since}: {}", trouble.why));
    }
    reply.await
}

/// Reads the message; a line break at its very end belongs to the shell, not to it.
fn standard_input() -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(MAX_TEXT_BYTES as u64 + 2).read_to_end(&mut bytes)?;
    if bytes.len() > MAX_TEXT_BYTES + 1 {
        anyhow::bail!(
            "standard input has more than the {MAX_TEXT_BYTES} bytes that a message may have; nothing was sent; put it into a file and name the file"
        );
    }
    let mut text = String::from_utf8(bytes)
        .map_err(|_| anyhow::anyhow!("standard input is not UTF-8; nothing was sent"))?;
    if text.ends_with('\n') {
        text.pop();
    }
    Ok(text)
}

/// Prints what a command did that is not waited for.
fn told(reply: Reply, context: &Context, form: Form, out: &mut Out) -> anyhow::Result<Exit> {
    let clock = context.clock();
    match reply {
        Reply::Asks { question, confirm } => {
            anyhow::bail!("{question}; nothing was done, `switchboard send {confirm:?}` does it")
        }
        Reply::Quit => anyhow::bail!("/quit belongs to a screen; `switchboard stop` stops an engine"),
        Reply::JobEditor { .. } => {
            anyhow::bail!("the editor belongs to a screen; see `switchboard cron add --help`")
        }
        Reply::JobConflict { .. } => {
            anyhow::bail!("the job was changed on disk since the edit began: nothing was written")
        }
        _ if form == Form::Json => {}
        Reply::Accepted { ack, .. } => out.line(&ack.words(|at| clock.short(at)))?,
        Reply::Done { words, .. } | Reply::Session { words, .. } => out.line(&words)?,
        Reply::Shown { text, .. } => out.line(text.trim_end())?,
    }
    Ok(Exit::Done)
}

/// Waits for the turn of one item and prints what it says.
struct Waiting<'o> {
    client: Arc<dyn Client>,
    session: SessionId,
    item: ItemId,
    turn: Option<TurnId>,
    form: Form,
    out: &'o mut Out,
    /// What the engine told the person before the answer: a reset, for one. None until it was looked for.
    notice: Option<String>,
    /// How many bytes of the turn's answer were seen.
    seen: u64,
    /// What was seen, to be printed as a whole.
    answer: String,
}

/// The last line of `send --wait --json`.
#[derive(Serialize)]
struct Answered<'a> {
    item: ItemId,
    turn: TurnId,
    #[serde(flatten)]
    outcome: &'a Outcome,
    #[serde(skip_serializing_if = "str::is_empty")]
    notice: &'a str,
    answer: &'a str,
}

impl<'o> Waiting<'o> {
    fn new(
        client: Arc<dyn Client>,
        session: SessionId,
        item: ItemId,
        ack: &Ack,
        form: Form,
        out: &'o mut Out,
    ) -> Self {
        let turn = match ack {
            Ack::Running { turn } | Ack::Steered { turn } => Some(*turn),
            _ => None,
        };
        Self { client, session, item, turn, form, out, notice: None, seen: 0, answer: String::new() }
    }

    async fn run(mut self, mut feed: Feed) -> anyhow::Result<Exit> {
        let mut engine_stopped = false;
        while let Some(news) = feed.next().await? {
            match news {
                News::Piece(piece) => self.piece(&piece).await?,
                News::Event(event) => match &event.kind {
                    EventKind::TurnBegan { turn, item, .. } if *item == self.item => self.turn = Some(*turn),
                    EventKind::TurnEnded { turn, outcome, .. } if Some(*turn) == self.turn => {
                        return self.ended(*turn, outcome).await;
                    }
                    EventKind::EngineStopped { .. } => engine_stopped = true,
                    kind if self.is_kept_waiting(event.session.as_ref(), kind) => {
                        stderr_line(&format!("waits: {}", kind.words()));
                    }
                    EventKind::Superseded { item, by, .. } if *item == self.item => {
                        anyhow::bail!(
                            "the message was replaced by item {by}; it is kept and can be put back"
                        );
                    }
                    EventKind::Cleared { items, reason } if items.contains(&self.item) => {
                        anyhow::bail!(
                            "the message was taken out of the queue ({reason}); it can be put back"
                        );
                    }
                    _ => {}
                },
            }
        }
        anyhow::ensure!(
            !engine_stopped || self.turn.is_some(),
            "the engine stopped; the message waits and runs after the next start"
        );
        anyhow::bail!("the engine is gone; `switchboard queue` tells what became of the message")
    }

    /// Whether an event keeps the answer waiting for a person, who may look at nothing but this.
    fn is_kept_waiting(&self, session: Option<&SessionId>, kind: &EventKind) -> bool {
        match kind {
            EventKind::ApprovalAsked { turn, .. } => Some(*turn) == self.turn,
            EventKind::QueueHeld { .. } => self.turn.is_none() && session == Some(&self.session),
            EventKind::EngineHeld { .. } => self.turn.is_none(),
            _ => false,
        }
    }

    async fn piece(&mut self, piece: &Piece) -> anyhow::Result<()> {
        if Some(piece.turn) != self.turn || piece.stream != StreamKind::Text {
            return Ok(());
        }
        if self.notice.is_none() || piece.offset > self.seen {
            self.catch_up().await?;
        }
        self.say(piece.offset, &piece.text)
    }

    async fn ended(mut self, turn: TurnId, outcome: &Outcome) -> anyhow::Result<Exit> {
        self.catch_up().await?;
        if self.form == Form::Json {
            let notice = self.notice.as_deref().unwrap_or_default();
            self.out.json(&Answered { item: self.item, turn, outcome, notice, answer: &self.answer })?;
        } else if !self.answer.is_empty() && !self.answer.ends_with('\n') {
            self.out.line("")?;
        }
        self.out.flush()?;
        match outcome {
            Outcome::Done => Ok(Exit::Done),
            Outcome::Failed { error } => anyhow::bail!("the turn failed: {error}"),
            Outcome::Interrupted { cause } => anyhow::bail!("the turn was interrupted: {}", cause.words()),
        }
    }

    /// Reads what was missed from the conversation, and at first the notice before the answer.
    async fn catch_up(&mut self) -> anyhow::Result<()> {
        let Some(turn) = self.turn else { return Ok(()) };
        let entries = self.entries_of(turn).await?;
        if self.notice.is_none() {
            let notice = notice_in(&entries);
            if self.form == Form::Text && !notice.is_empty() {
                stderr_line(&notice);
            }
            self.notice = Some(notice);
        }
        for entry in entries {
            if let Body::Agent { text, offset } = &entry.body {
                self.say(*offset, text)?;
            }
        }
        Ok(())
    }

    /// The entries of a turn, oldest first.
    async fn entries_of(&self, turn: TurnId) -> anyhow::Result<Vec<Entry>> {
        const PAGE: usize = 200;
        let mut pages = Vec::new();
        let mut before = None;
        loop {
            let query = Query::Conversation { session: self.session.clone(), before, limit: PAGE };
            let Answer::Conversation(page) = self.client.query(query).await? else {
                anyhow::bail!("the engine gave an answer of another kind");
            };
            let begins_earlier = page.entries.first().is_none_or(|first| first.turn < turn);
            before = page.entries.first().map(|first| first.id);
            pages.push(page.entries);
            if begins_earlier || !page.more_before {
                break;
            }
        }
        let entries = pages.into_iter().rev().flatten();
        Ok(entries.filter(|entry| entry.turn == turn).collect())
    }

    /// Takes in words that begin at a byte of the answer; what was seen of them already is left out.
    fn say(&mut self, offset: u64, text: &str) -> anyhow::Result<()> {
        let Some(fresh) = fresh_part(self.seen, offset, text) else { return Ok(()) };
        self.seen = offset + text.len() as u64;
        self.answer.push_str(fresh);
        if self.form == Form::Text {
            self.out.text(fresh)?;
            self.out.flush()?;
        }
        Ok(())
    }
}

/// What the engine told the person in a turn: it comes before the answer, once, and is no part of it.
fn notice_in(entries: &[Entry]) -> String {
    let lines = entries.iter().filter_map(|entry| match &entry.body {
        Body::Notice { text } => Some(text.as_str()),
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The part of `text`, which begins at byte `offset`, that lies behind the first `seen` bytes.
fn fresh_part(seen: u64, offset: u64, text: &str) -> Option<&str> {
    let known = usize::try_from(seen.saturating_sub(offset)).ok()?;
    text.get(known..).filter(|fresh| !fresh.is_empty())
}

#[cfg(test)]
mod tests {
    use futures_util::future::BoxFuture;
    use tokio::sync::mpsc;

    use super::*;
    use crate::control::{ClientError, Reach};
    use crate::domain::api::{ConversationPage, Update};
    use crate::domain::event::Event;
    use crate::domain::id::{MessageId, Seq};
    use crate::domain::turn::TurnState;

    #[test]
    fn no_byte_of_an_answer_is_printed_twice() {
        assert_eq!(fresh_part(0, 0, "abc"), Some("abc"));
        assert_eq!(fresh_part(2, 0, "abc"), Some("c"));
        assert_eq!(fresh_part(3, 0, "abc"), None);
        assert_eq!(fresh_part(9, 0, "abc"), None);
        assert_eq!(fresh_part(3, 5, "abc"), Some("abc"), "after a gap all of it is new");
        assert_eq!(fresh_part(2, 0, "äb"), Some("b"));
    }

    const TURN: TurnId = TurnId(7);
    const ITEM: ItemId = ItemId(3);

    fn session() -> SessionId {
        SessionId::new(chrono::DateTime::UNIX_EPOCH, 1)
    }

    /// An engine whose conversation holds an earlier turn and what this one has said.
    struct Keeps(&'static str, std::sync::Mutex<Vec<Update>>);

    impl Client for Keeps {
        fn reach(&self) -> Reach {
            Reach::Here
        }

        fn command(&self, _command: Command) -> BoxFuture<'_, Result<Reply, ClientError>> {
            Box::pin(async { Err(ClientError::NoEngine) })
        }

        fn query(&self, query: Query) -> BoxFuture<'_, Result<Answer, ClientError>> {
            let entry = |id, turn, text: &str| Entry {
                id: MessageId(id),
                session: session(),
                turn,
                at: chrono::DateTime::UNIX_EPOCH,
                body: Body::Agent { text: text.to_owned(), offset: 0 },
                turn_state: TurnState::Done,
            };
            let entries = vec![entry(1, TurnId(6), "earlier"), entry(2, TURN, self.0)];
            let page = ConversationPage { entries, ..ConversationPage::default() };
            Box::pin(async move {
                match query {
                    Query::Conversation { .. } => Ok(Answer::Conversation(page)),
                    _ => Ok(Answer::Events(Vec::new())),
                }
            })
        }

        fn updates(&self) -> BoxFuture<'_, Result<mpsc::Receiver<Update>, ClientError>> {
            let (sender, receiver) = mpsc::channel(64);
            self.1.lock().unwrap().drain(..).for_each(|update| sender.try_send(update).unwrap());
            Box::pin(async { Ok(receiver) })
        }
    }

    fn piece(offset: u64, text: &str) -> Update {
        let stream = StreamKind::Text;
        Update::Stream(Arc::new(Piece {
            session: session(),
            turn: TURN,
            stream,
            offset,
            text: text.to_owned(),
        }))
    }

    fn event(seq: i64, kind: EventKind) -> Update {
        let at = chrono::DateTime::UNIX_EPOCH;
        Update::Event(Arc::new(Event { seq: Seq(seq), at, session: Some(session()), kind }))
    }

    fn ended(seq: i64) -> Update {
        event(seq, EventKind::TurnEnded { turn: TURN, item: ITEM, outcome: Outcome::Done })
    }

    async fn printed(kept: &'static str, updates: Vec<Update>) -> anyhow::Result<String> {
        let file = tempfile::NamedTempFile::new()?;
        let mut out = Out::to(file.reopen()?);
        let client = Arc::new(Keeps(kept, updates.into()));
        let wanted = Wanted { level: Level::Debug, session: None };
        let feed = Feed::after(client.clone(), wanted, Seq(0)).await?;
        let ack = Ack::Running { turn: TURN };
        let waiting = Waiting::new(client, session(), ITEM, &ack, Form::Text, &mut out);
        waiting.run(feed).await?;
        Ok(std::fs::read_to_string(file.path())?)
    }

    #[tokio::test]
    async fn pieces_that_were_lost_are_read_from_the_conversation() {
        let in_the_middle = vec![piece(0, "one "), piece(8, "three "), ended(1)];
        assert_eq!(printed("one two three ", in_the_middle).await.unwrap(), "one two three \n");
        let at_the_end = vec![piece(0, "one "), Update::Lagged { missed: 2 }, ended(1)];
        assert_eq!(printed("one two", at_the_end).await.unwrap(), "one two\n");
    }

    #[tokio::test]
    async fn a_gap_is_filled_before_what_comes_after_it_is_printed() {
        // The middle is kept by then, what follows it is not.
        let updates = vec![piece(0, "one "), piece(8, "three "), ended(1)];
        assert_eq!(printed("one two ", updates).await.unwrap(), "one two three \n");
    }

    #[tokio::test]
    async fn an_engine_that_goes_away_is_a_failure() {
        let error = printed("", vec![piece(0, "one ")]).await.unwrap_err().to_string();
        assert!(error.starts_with("the engine is gone"), "{error}");
    }
}
