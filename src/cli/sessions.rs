//! `switchboard sessions`.

use super::Exit;
use super::context::{Clock, Context};
use super::output::{AsJson, Form, Out};
use super::table::Table;
use crate::control::Client;
use crate::domain::api::{Answer, Query, SessionPage, SessionRow};
use crate::domain::approval::lines;
use crate::domain::filter::Filter;

/// How many rows one question asks for.
const PAGE: usize = 500;

/// The sessions, most urgent first
#[derive(Debug, clap::Args)]
pub(super) struct Sessions {
    /// Only those that match: words, `state:` and `platform:` terms, `!` inverts
    #[arg(default_value = "", hide_default_value = true, value_parser = filter)]
    filter: String,
    /// Those that have ended too, the last active first
    #[arg(long, conflicts_with = "filter")]
    ended: bool,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
    #[command(flatten)]
    json: AsJson,
}

/// A filter that could find something.
fn filter(text: &str) -> Result<String, String> {
    let problems = Filter::parse(text).problems();
    if problems.is_empty() { Ok(text.to_owned()) } else { Err(problems.join("; ")) }
}

impl Sessions {
    pub(super) async fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let page = if self.ended {
            ask(&*client, Query::History { limit: self.limit }).await?
        } else {
            self.live(&*client).await?
        };
        match self.json.form() {
            Form::Json => page.rows.iter().try_for_each(|row| out.json(row))?,
            Form::Text => print(&page, &context.clock(), out)?,
        }
        Ok(Exit::Done)
    }

    async fn live(&self, client: &dyn Client) -> anyhow::Result<SessionPage> {
        let mut whole = SessionPage::default();
        loop {
            let after = whole.rows.last().map(SessionRow::cursor);
            let limit = PAGE.min(self.limit - whole.rows.len());
            let query = Query::Sessions { filter: self.filter.clone(), after, limit };
            let page = ask(client, query).await?;
            let read = page.rows.len();
            whole.rows.extend(page.rows);
            (whole.hits, whole.total) = (page.hits, page.total);
            if read < limit || whole.rows.len() == self.limit {
                return Ok(whole);
            }
        }
    }
}

async fn ask(client: &dyn Client, query: Query) -> anyhow::Result<SessionPage> {
    match client.query(query).await? {
        Answer::Sessions(page) => Ok(page),
        _ => anyhow::bail!("the engine gave an answer of another kind"),
    }
}

fn print(page: &SessionPage, clock: &Clock, out: &mut Out) -> std::io::Result<()> {
    if page.rows.is_empty() {
        return out.line(&format!("none of {} sessions", page.total));
    }
    let mut table =
        Table::new(&["state", "name", "last activity", "turns", "waits", "session", "key", "reset", "note"]);
    for row in &page.rows {
        let session = &row.session;
        let state = if session.ended.is_some() { "ended" } else { row.state_words() };
        let waits = row.queued + usize::from(row.slot.is_some());
        table.row([
            state.to_owned(),
            session.name().to_owned(),
            clock.full(session.last_activity_at),
            session.turns.to_string(),
            waits.to_string(),
            session.id.to_string(),
            session.key.to_string(),
            row.forecast.as_ref().map(|forecast| clock.forecast(forecast)).unwrap_or_default(),
            note(row),
        ]);
    }
    table.print(out)?;
    if page.hits > page.rows.len() {
        out.line(&format!("{} of {}; --limit N shows more", page.rows.len(), page.hits))?;
    }
    Ok(())
}

fn note(row: &SessionRow) -> String {
    if !row.asks.is_empty() {
        return format!("asks: {}", lines(&row.asks));
    }
    match (&row.session.hold, &row.last_error) {
        (Some(hold), _) => hold.reason.words(),
        (None, Some(error)) => format!("last error: {error}"),
        (None, None) => String::new(),
    }
}
