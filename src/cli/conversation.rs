//! `switchboard conversation`.

use std::path::PathBuf;

use serde_json::value::RawValue;

use super::Exit;
use super::context::Context;
use super::output::{AsJson, Form, Out};
use super::table::Table;
use crate::domain::api::{Answer, Command, Query, Reply};
use crate::domain::conversation::{HostConversation, key_of};
use crate::domain::id::{KeyError, SessionId, SessionKey};

/// The conversations of host applications, and the state they share with their runtimes
#[derive(Debug, clap::Args)]
pub(super) struct Conversation {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// All of them
    List {
        /// At most so many
        #[arg(long, value_name = "N", default_value_t = 1000)]
        limit: usize,
        #[command(flatten)]
        json: AsJson,
    },
    /// One of them, with its agent state
    Show {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        json: AsJson,
    },
    /// Put the host's agent state in place of the one before
    State {
        #[command(flatten)]
        which: Which,
        /// A file with the state, a JSON object; it is kept byte for byte
        #[arg(long, value_name = "FILE")]
        set: PathBuf,
    },
}

#[derive(Debug, clap::Args)]
struct Which {
    /// The host's id of the conversation
    id: String,
    /// Its user, where each has a session of his own
    #[arg(long, value_name = "ID")]
    user: Option<String>,
}

impl Which {
    fn key(&self) -> Result<SessionKey, KeyError> {
        key_of(&self.id, self.user.as_deref())
    }
}

impl Conversation {
    pub(super) async fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        match self.what {
            What::List { limit, json } => list(context, limit, json.form(), out).await,
            What::Show { which, json } => show(context, &which, json.form(), out).await,
            What::State { which, set } => {
                let key = which.key()?;
                let state = std::fs::read_to_string(&set)
                    .map_err(|error| anyhow::anyhow!("{}: {error}; nothing was changed", set.display()))?;
                let client = context.engine().await?;
                match client.command(Command::SetAgentState { key, state }).await? {
                    Reply::Done { words, .. } => out.line(&words)?,
                    _ => anyhow::bail!("the engine gave an answer of another kind"),
                }
                Ok(Exit::Done)
            }
        }
    }
}

async fn list(context: &Context, limit: usize, form: Form, out: &mut Out) -> anyhow::Result<Exit> {
    let client = context.client().await?;
    let Answer::HostConversations(rows) = client.query(Query::HostConversations { limit }).await? else {
        anyhow::bail!("the engine gave an answer of another kind");
    };
    match form {
        Form::Json => rows.iter().try_for_each(|row| out.json(&as_json(row)))?,
        Form::Text if rows.is_empty() => out.line("no conversations")?,
        Form::Text => {
            let mut table = Table::new(&["conversation", "user", "session", "key"]);
            for row in &rows {
                table.row([row.id.clone(), user(row), session(row), row.key.to_string()]);
            }
            table.print(out)?;
        }
    }
    Ok(Exit::Done)
}

async fn show(context: &Context, which: &Which, form: Form, out: &mut Out) -> anyhow::Result<Exit> {
    let client = context.client().await?;
    let query = Query::HostConversation { key: which.key()? };
    let Answer::HostConversation(found) = client.query(query).await? else {
        anyhow::bail!("the engine gave an answer of another kind");
    };
    let Some(row) = found else {
        anyhow::bail!("there is no conversation {:?}; `switchboard conversation list` lists them", which.id)
    };
    match form {
        Form::Json => out.json(&as_json(&row))?,
        Form::Text => {
            let lines = [("key", row.key.to_string()), ("user", user(&row)), ("session", session(&row))];
            lines.iter().try_for_each(|(name, value)| out.line(&format!("{name:<9} {value}")))?;
            out.line(&row.agent_state)?;
        }
    }
    Ok(Exit::Done)
}

/// The row as JSON, with the state in it as the host wrote it: its numbers and members are its own.
#[derive(serde::Serialize)]
struct Shown<'a> {
    id: &'a str,
    user: Option<&'a str>,
    key: &'a SessionKey,
    session: Option<&'a SessionId>,
    agent_state: Option<Box<RawValue>>,
}

fn as_json(row: &HostConversation) -> Shown<'_> {
    // Lines end only between the parts of JSON, never in one.
    let state = row.agent_state.replace(['\n', '\r'], " ");
    Shown {
        id: &row.id,
        user: row.user.as_deref(),
        key: &row.key,
        session: row.session.as_ref(),
        agent_state: RawValue::from_string(state).ok(),
    }
}

fn user(row: &HostConversation) -> String {
    row.user.clone().unwrap_or_default()
}

fn session(row: &HostConversation) -> String {
    row.session.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string)
}
