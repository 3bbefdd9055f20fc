//! The third column of a wide screen: the facts of the session in front.

use super::layout::{PaneArea, from_top};
use super::paint::{Focused, Paint, state_role};
use super::sessions::state_words;
use super::text;
use super::theme::Role;
use super::words::tokens;
use crate::console::app::words::{clock, thousands};
use crate::domain::sanitize::one_line;

const LABEL: usize = 10;

pub(super) fn draw(paint: &mut Paint<'_>, area: PaneArea) {
    let model = paint.model;
    paint.title(area.title, Focused::No, "details", "");
    let Some(row) = &model.front_row else {
        return paint.say(area.body, &[("Made by the first message.", Role::Quiet)]);
    };
    let session = &row.row.session;
    let state = state_words(paint, row);
    let mut facts: Vec<(&str, String, Role)> = vec![
        ("state", state, state_role(row.row.state)),
        ("key", one_line(session.key.as_str()).into_owned(), Role::Text),
        ("session", session.id.to_string(), Role::Text),
        ("begun", clock(model, session.created_at), Role::Text),
        ("last act", clock(model, session.last_activity_at), Role::Text),
        ("turns", thousands(u64::from(session.turns)), Role::Text),
        ("read", tokens(session.usage.input), Role::Text),
        ("written", tokens(session.usage.output), Role::Text),
    ];
    if session.usage.cache_read > 0 {
        facts.push(("cached", tokens(session.usage.cache_read), Role::Text));
    }
    if let Some(name) = &session.model {
        facts.push(("model", one_line(name).into_owned(), Role::Text));
    }
    let default = model.overview.as_ref().map(|overview| overview.engine.busy_mode);
    if let Some(mode) = session.busy_mode.or(default) {
        let by = if session.busy_mode.is_some() { "" } else { " (default)" };
        facts.push(("when busy", format!("{mode}{by}"), Role::Text));
    }
    if let Some(previous) = &session.previous {
        facts.push(("before it", previous.to_string(), Role::Text));
    }
    if let Some(hold) = session.hold {
        facts.push(("held", hold.reason.words().to_owned(), Role::Held));
        if let Some(at) = hold.probe_at {
            facts.push(("next try", clock(model, at), Role::Text));
        }
    }
    if let Some(error) = &row.last_error {
        facts.push(("error", error.clone(), Role::Bad));
    }
    let mut rest = area.body;
    for (label, value, role) in &facts {
        let width = usize::from(rest.width).saturating_sub(LABEL + 2);
        let most = usize::from(rest.height);
        for (at, range) in text::wrap(value, 0, width, most).0.into_iter().enumerate() {
            let label = if at == 0 { label } else { "" };
            paint.row(rest, 0).skip(1).column(label, LABEL, Role::Quiet).put(&value[range], *role);
            rest = from_top(rest, 1).1;
        }
    }
}
