//! What the header says, most urgent first.

use super::Model;
use super::action::Action;
use super::border::locked;
use super::cron::file;
use super::model::{Access, End, Link};
use super::msg::Reach;
use super::typing::key_name;
use crate::domain::Time;
use crate::domain::agent::{AgentName, Roster};
use crate::domain::api::{CronHealth, Drain, EngineHold, StoreTrouble};
use crate::domain::sanitize::one_line;

/// The header's words. The drawing decides what fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    /// How many things need a person; none: all quiet; unknown before the first answer.
    pub needs_you: Option<usize>,
    /// How many turns run.
    pub running: usize,
    /// Who answers: `practice agent, offline`. Safe to show.
    pub agent: String,
    /// How the engine is reached.
    pub engine: Engine,
    /// Since when it does not answer, though it is there.
    pub silent_since: Option<Time>,
    /// Whether the operator may change anything.
    pub access: Access,
    /// The operator's hold; its words are safe to show.
    pub hold: Option<EngineHold>,
    /// What ends a hold: `:release`; none: this screen can't.
    pub release: Option<String>,
    /// The drain, while the engine stops; its words are safe to show.
    pub drain: Option<Drain>,
    /// Why the store can't be written; its words are safe to show.
    pub trouble: Option<StoreTrouble>,
    /// How scheduled tasks fare; its words are safe to show. None before the first answer.
    pub cron: Option<CronHealth>,
    /// `14:02`.
    pub clock: String,
    /// `CET`.
    pub zone: String,
    /// `SCREEN BEHIND: 4,812 events skipped, reloaded at 03:13:07`.
    pub behind: Option<String>,
}

/// How the engine is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Engine {
    /// `engine: here`.
    Here,
    /// `engine: attached pid 4121`.
    Attached(u32),
    /// `no engine: the store as it was left`.
    StoreOnly,
    /// `ENGINE GONE at 03:12:44, screen is old`.
    Gone(Time),
    /// `ENGINE STOPPED at 03:12:44, screen is old`: in order.
    Stopped(Time),
}

/// Who answers next in the session on the screen, though it may not be made yet.
pub fn next_agent(model: &Model, agents: &Roster) -> AgentName {
    match &model.front_row {
        Some(row) => row.row.session.next_agent(agents),
        None => agents.agent_of(&model.front, None, None),
    }
}

/// Who answers next, and the model that was chosen for it.
fn answers(model: &Model, agents: &Roster) -> String {
    let label = agents.label(&next_agent(model, agents));
    match model.front_row.as_ref().and_then(|row| row.row.session.chosen_model.as_ref()) {
        Some(chosen) => format!("{label}, model {}", one_line(&chosen.to_string())),
        None => label,
    }
}

/// What the header says now.
pub fn header(model: &Model) -> Header {
    let status = model.overview.as_ref().map(|overview| &overview.engine);
    let gone = matches!(model.link, Link::Gone { .. });
    let local = model.now.with_timezone(&model.zone);
    Header {
        needs_you: model.overview.as_ref().map(|overview| overview.needs_you),
        running: model.overview.as_ref().map_or(0, |overview| overview.running),
        agent: status.map_or_else(String::new, |status| answers(model, &status.agents)),
        engine: match &model.link {
            Link::Up(Reach::Here) => Engine::Here,
            Link::Up(Reach::Attached { pid }) => Engine::Attached(*pid),
            Link::Up(Reach::StoreOnly) => Engine::StoreOnly,
            Link::Gone { at, end: End::Lost, .. } => Engine::Gone(*at),
            Link::Gone { at, end: End::Stopped, .. } => Engine::Stopped(*at),
        },
        silent_since: model.silent_since,
        access: model.access,
        hold: status.and_then(|status| status.held.clone()),
        release: locked(model).is_none().then(|| key_name(model, Action::Release)),
        drain: status.filter(|_| !gone).and_then(|status| status.drain.clone()),
        trouble: status.and_then(|status| status.store_trouble.clone()),
        cron: status.map(|status| match (&status.cron, file::trouble(model)) {
            (CronHealth::Ok, Some(trouble)) => CronHealth::StoredCopy { since: trouble.since },
            (health, _) => health.clone(),
        }),
        clock: local.format("%H:%M").to_string(),
        zone: local.format("%Z").to_string(),
        behind: model.behind.map(|behind| {
            format!(
                "SCREEN BEHIND: {} events skipped, reloaded at {}",
                super::words::thousands(behind.missed),
                behind.reloaded_at.with_timezone(&model.zone).format("%H:%M:%S")
            )
        }),
    }
}
