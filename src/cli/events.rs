//! `switchboard events`.

use std::collections::HashMap;
use std::sync::Arc;

use unicode_width::UnicodeWidthStr;

use super::Exit;
use super::context::{Clock, Context};
use super::feed::{Feed, News, Wanted};
use super::named::session_named;
use super::output::{AsJson, Form, Out};
use crate::control::Client;
use crate::domain::api::{Answer, EventPage, Query};
use crate::domain::event::{Event, EventKind, Level};
use crate::domain::id::{Seq, SessionId};
use crate::domain::sanitize::one_line;

/// How many stored events one question asks for.
const PAGE: usize = 500;

/// What happened, oldest first; with --json sessions by their ids, else by their names
#[derive(Debug, clap::Args)]
pub(super) struct Events {
    /// Everything after this event; without it the newest
    #[arg(long, value_name = "SEQ")]
    after: Option<i64>,
    /// Go on and print events as they come
    #[arg(long, short)]
    follow: bool,
    /// At least this much: debug, info, warn, error
    #[arg(long, default_value_t = Level::Info)]
    level: Level,
    /// Only of this session: a key, a name, a title, or an id
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// How many of the newest
    #[arg(long, value_name = "N", default_value_t = 100, conflicts_with = "after")]
    limit: usize,
    #[command(flatten)]
    json: AsJson,
}

impl Events {
    pub(super) async fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        let client = if self.follow { context.engine().await? } else { context.client().await? };
        let session = match &self.session {
            Some(named) => Some(session_named(&*client, named).await?),
            None => None,
        };
        let mut printer = Printer {
            form: self.json.form(),
            clock: context.clock(),
            client: Arc::clone(&client),
            names: HashMap::new(),
            out,
        };
        let wanted = Wanted { level: self.level, session };
        match (self.follow, self.after) {
            (true, Some(seq)) => follow(client, wanted, Seq(seq), &mut printer).await,
            (true, None) => {
                let newest = wanted.stored(&*client, EventPage::Newest, self.limit).await?;
                printer.all(&newest).await?;
                let last = newest.last().map_or(Seq(0), |event| event.seq);
                follow(client, wanted, last, &mut printer).await
            }
            (false, Some(seq)) => read_on(&*client, &wanted, Seq(seq), &mut printer).await,
            (false, None) => {
                printer.all(&wanted.stored(&*client, EventPage::Newest, self.limit).await?).await?;
                Ok(Exit::Done)
            }
        }
    }
}

/// Prints what is stored after an event.
async fn read_on(
    client: &dyn Client,
    wanted: &Wanted,
    mut last: Seq,
    printer: &mut Printer<'_>,
) -> anyhow::Result<Exit> {
    loop {
        let page = wanted.stored(client, EventPage::After(last), PAGE).await?;
        printer.all(&page).await?;
        match page.last() {
            Some(event) if page.len() == PAGE => last = event.seq,
            _ => return Ok(Exit::Done),
        }
    }
}

/// Prints what is stored after an event and what comes, until the engine ends.
async fn follow(
    client: Arc<dyn Client>,
    wanted: Wanted,
    last: Seq,
    printer: &mut Printer<'_>,
) -> anyhow::Result<Exit> {
    let mut feed = Feed::after(client, wanted, last).await?;
    let mut in_order = false;
    while let Some(news) = feed.next().await? {
        if let News::Event(event) = news {
            in_order = matches!(event.kind, EventKind::EngineStopped { .. });
            printer.event(&event).await?;
            printer.out.flush()?;
        }
    }
    anyhow::ensure!(in_order, "the engine is gone; `switchboard status` tells how things stand");
    Ok(Exit::Done)
}

struct Printer<'o> {
    form: Form,
    clock: Clock,
    client: Arc<dyn Client>,
    /// What a person calls the sessions that were met.
    names: HashMap<SessionId, String>,
    out: &'o mut Out,
}

/// The columns of a session's name.
const NAME_WIDTH: usize = 20;

impl Printer<'_> {
    async fn all(&mut self, events: &[Event]) -> anyhow::Result<()> {
        for event in events {
            self.event(event).await?;
        }
        Ok(self.out.flush()?)
    }

    async fn event(&mut self, event: &Event) -> anyhow::Result<()> {
        if self.form == Form::Json {
            return Ok(self.out.json(event)?);
        }
        let name = match &event.session {
            Some(session) => self.name(session, &event.kind).await?,
            None => "-".to_owned(),
        };
        let gap = " ".repeat(NAME_WIDTH.saturating_sub(name.width()));
        let (at, level, words) = (self.clock.full(event.at), event.kind.level(), event.kind.words());
        let line = format!("{:>6}  {at}  {level:<5}  {name}{gap}  {}", event.seq, one_line(&words));
        Ok(self.out.line(&line)?)
    }

    /// What a person calls a session; its id where the store does not know it any more.
    async fn name(&mut self, session: &SessionId, kind: &EventKind) -> anyhow::Result<String> {
        if matches!(kind, EventKind::Titled { .. }) {
            self.names.remove(session);
        }
        if let Some(name) = self.names.get(session) {
            return Ok(name.clone());
        }
        let name = match self.client.query(Query::Session { session: session.clone() }).await {
            Ok(Answer::Session(Some(row))) => one_line(row.session.name()).into_owned(),
            // An engine that ends meanwhile leaves the id.
            _ => return Ok(session.to_string()),
        };
        self.names.insert(session.clone(), name.clone());
        Ok(name)
    }
}
