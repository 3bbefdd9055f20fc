//! `switchboard queue`.

use super::Exit;
use super::context::{Clock, Context};
use super::named::session_named;
use super::output::{AsJson, Form, Out};
use super::table::Table;
use crate::control::Reach;
use crate::domain::api::{Answer, Query, QueueRow};
use crate::domain::event::excerpt;
use crate::domain::queue::ItemState;

/// What waits and runs, in order
#[derive(Debug, clap::Args)]
pub(super) struct Queue {
    /// Only of this session, with what was put aside lately: a key, a name, a title, or an id
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 1000)]
    limit: usize,
    #[command(flatten)]
    json: AsJson,
}

impl Queue {
    pub(super) async fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let query = match &self.session {
            None => Query::Backlog { limit: self.limit },
            Some(named) => Query::SessionQueue { session: session_named(&*client, named).await? },
        };
        let Answer::Queue(mut rows) = client.query(query).await? else {
            anyhow::bail!("the engine gave an answer of another kind");
        };
        rows.truncate(self.limit);
        match self.json.form() {
            Form::Json => rows.iter().try_for_each(|row| out.json(row))?,
            Form::Text => print(&rows, &client.reach(), &context.clock(), out)?,
        }
        Ok(Exit::Done)
    }
}

fn print(rows: &[QueueRow], reach: &Reach, clock: &Clock, out: &mut Out) -> std::io::Result<()> {
    if rows.is_empty() {
        return out.line("nothing waits and nothing runs");
    }
    let mut table = Table::new(&["session", "place", "item", "sent", "from", "text"]);
    for row in rows {
        table.row([
            row.session_name.clone(),
            place(row, reach),
            row.item.id.to_string(),
            clock.full(row.item.created_at),
            row.item.source.as_str().to_owned(),
            excerpt(&row.item.text),
        ]);
    }
    table.print(out)
}

fn place(row: &QueueRow, reach: &Reach) -> String {
    let place = match (row.item.state, row.position) {
        (ItemState::Running, _) if *reach == Reach::StoreOnly => "cut off".to_owned(),
        (ItemState::Waiting, Some(position)) => position.to_string(),
        (ItemState::Waiting, None) => "next".to_owned(),
        (state, _) => state.word().to_owned(),
    };
    match &row.held {
        Some(why) => format!("{place} ({why})"),
        None => place,
    }
}
