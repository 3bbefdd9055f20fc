//! The list of sessions, attention first.

use chrono::TimeDelta;
use ratatui::layout::Rect;

use super::card;
use super::layout::{PaneArea, from_left};
use super::paint::{Focused, Paint, first_shown, state_role, to_cells};
use super::text;
use super::theme::Role;
use crate::console::app::focus::{Pane, Target};
use crate::console::app::model::Access;
use crate::console::app::sessions::{ListRow, SessionList};
use crate::console::app::words::{age, clock, count, running, thousands};
use crate::console::app::{Model, filter_offers};
use crate::domain::filter::Filter;
use crate::domain::marker::{Marker, SuspendReason, Suspended};
use crate::domain::queue::Gate;
use crate::domain::session::{HoldReason, SessionState};

/// A turn that said nothing for so many seconds is called silent.
const SILENT_FROM_SECONDS: i64 = 10;
/// The cells before a name: selection and state.
const MARKS: usize = 5;

pub(super) fn draw(paint: &mut Paint<'_>, area: PaneArea, rows_per_session: u16) {
    let list = &paint.model.sessions;
    let rows = usize::from(area.body.height / rows_per_session.max(1));
    let first = first_shown(list.top, list.selected, list.rows.len(), rows);
    let shown = &list.rows[first..list.rows.len().min(first + rows)];
    let focused = paint.focused(Pane::List);
    paint.measured.list_rows = rows;
    paint.target(area.whole(), Target::Pane(Pane::List));
    let hidden = hidden(list, first, first + shown.len());
    let room = usize::from(area.title.width).saturating_sub(text::width(&hidden) + 8);
    paint.title(area.title, focused, &title(list, room), &hidden);
    if shown.is_empty() {
        return draw_empty(paint, area.body, list);
    }
    for (at, row) in shown.iter().enumerate() {
        let y = to_cells(at) * rows_per_session;
        let height = rows_per_session.min(area.body.height - y);
        let row_area = Rect { y: area.body.y + y, height, ..area.body };
        paint.target(row_area, Target::Session(row.key().clone()));
        // While the filter is typed, the first hit is what Enter would open.
        let chosen = first + at == list.selected
            && (paint.model.pane == Pane::Filter || *row.key() == paint.model.front);
        match rows_per_session {
            1 => draw_on_one_row(paint, row_area, row, chosen),
            _ => draw_on_two_rows(paint, row_area, row, chosen),
        }
        match (chosen, focused) {
            (true, Focused::Yes) => {
                paint.keep = Some(row_area);
                paint.canvas.dress(row_area, Role::Selected)
            }
            (true, Focused::No) => paint.canvas.dress(row_area, Role::Marked),
            _ => {}
        }
    }
}

/// The order is named where there is room for it.
fn title(list: &SessionList, room: usize) -> String {
    if !list.filter.is_empty() {
        return format!("Sessions, {} of {}", thousands(list.hits as u64), thousands(list.total as u64));
    }
    if list.total == 0 {
        return "Sessions".to_owned();
    }
    let short = format!("Sessions {}", thousands(list.total as u64));
    let long = format!("{short}, attention first");
    if text::width(&long) <= room { long } else { short }
}

/// What is not shown. The list goes by attention: behind an idle session all are idle.
fn hidden(list: &SessionList, first: usize, end: usize) -> String {
    let above = list.before + first;
    let below = list.rows.len() - end + list.after();
    let next = list.rows.get(end).map(|row| row.row.state);
    let below = match (below, next) {
        (0, _) => None,
        (below, Some(SessionState::Idle)) => Some(format!("{} idle below", thousands(below as u64))),
        (below, _) => Some(format!("{} more below", thousands(below as u64))),
    };
    let above = (above > 0).then(|| format!("{} above", thousands(above as u64)));
    above.into_iter().chain(below).collect::<Vec<_>>().join(", ")
}

fn draw_empty(paint: &mut Paint<'_>, area: Rect, list: &SessionList) {
    let filter = list.filter.text();
    if let Some(why) = &list.failed {
        paint.say(area, &[(&format!("The sessions could not be read: {why}"), Role::Bad)]);
    } else if !list.loaded {
        paint.say(area, &[("reading the sessions", Role::Quiet)]);
    } else if !filter.is_empty() {
        let offer = filter_offers(paint.model).map_or("", |_| " A command? enter: compose");
        let total = thousands(list.total as u64);
        let words = format!("0 of {total} match \"{filter}\". esc clears.{offer}");
        let mut rest = card::write(paint, from_left(area, 1).1, &words, Role::Text);
        for problem in Filter::parse(&filter).problems() {
            rest = card::write(paint, rest, &problem, Role::Warning);
        }
    } else if paint.model.access == Access::ReadOnly {
        paint.say(area, &[("No session yet.", Role::Text)]);
    } else {
        card::write(paint, from_left(area, 1).1, "No session yet: what you write makes one.", Role::Text);
    }
}

fn draw_on_one_row(paint: &mut Paint<'_>, area: Rect, row: &ListRow, chosen: bool) {
    draw_marks(paint, area, row, chosen);
    let model = paint.model;
    let width = usize::from(area.width);
    let name = (width / 4).clamp(12, 28);
    let detail = detail(model, row);
    let role = detail_role(row);
    let state = state_words(paint, row);
    let state_role = state_role(row.row.state);
    let mut pen = paint.row(area, 0);
    pen.skip(MARKS).column(&row.name, name, Role::Strong).skip(1);
    pen.column(&state, 18, state_role).skip(1).put(&detail, role);
}

fn draw_on_two_rows(paint: &mut Paint<'_>, area: Rect, row: &ListRow, chosen: bool) {
    const STATE: usize = 16;
    draw_marks(paint, area, row, chosen);
    let detail = detail(paint.model, row);
    let role = detail_role(row);
    let state = state_words(paint, row);
    let name = usize::from(area.width).saturating_sub(MARKS + STATE + 2);
    let mut pen = paint.row(area, 0);
    pen.skip(MARKS).column(&row.name, name, Role::Strong).skip(1);
    pen.column(&state, STATE, state_role(row.row.state));
    let dot = format!(" {} ", paint.canvas.glyphs.dot);
    let room = usize::from(area.width).saturating_sub(MARKS);
    let both = text::width(&row.place) + dot.len() + text::width(&detail);
    let mut pen = paint.row(area, 1);
    pen.skip(MARKS);
    // What is wrong is worth more than where.
    match (detail.is_empty(), both <= room) {
        (true, _) => pen.put(&row.place, Role::Quiet),
        (false, true) => pen.put(&row.place, Role::Quiet).put(&dot, Role::Quiet).put(&detail, role),
        (false, false) => pen.put(&detail, role),
    };
}

fn draw_marks(paint: &mut Paint<'_>, area: Rect, row: &ListRow, chosen: bool) {
    let state = row.row.state;
    let mark = paint.state_mark(state);
    let pointer = if chosen { paint.canvas.glyphs.chosen } else { " " };
    paint.row(area, 0).skip(1).put(pointer, Role::Strong).skip(1).put(mark, state_role(state));
}

/// What a session does, in words, with its age.
pub(super) fn state_words(paint: &mut Paint<'_>, row: &ListRow) -> String {
    let now = paint.model.as_of();
    let word = row.row.state_words();
    if let Some(asked) = row.row.asks.first() {
        return format!("asks you, {}", age(now - asked.asked_at));
    }
    if let Some(turn) = &row.row.turn {
        paint.motion.counts_seconds();
        let word = if turn.stopping { "stops" } else { word };
        return format!("{word} {}", running(now - turn.since));
    }
    let session = &row.row.session;
    match (row.row.state, &session.hold, session.marker) {
        (SessionState::NeedsYou | SessionState::Held, Some(hold), _) => {
            format!("{word}, {}", age(now - hold.since))
        }
        (SessionState::Suspended, _, Some(marker)) if (now - marker.since()).num_minutes() > 0 => {
            format!("{word} {}", age(now - marker.since()))
        }
        (SessionState::Resumes, ..) => format!("{word}, {}", tries(paint.model, session.cuts)),
        _ => word.to_owned(),
    }
}

/// What stands beside the state: what waits, for what, and what went wrong.
fn detail(model: &Model, row: &ListRow) -> String {
    let session = &row.row.session;
    let mut facts: Vec<String> = Vec::new();
    if let (Some(turn), Some(Marker::ResumePending(mark))) = (&row.row.turn, session.marker) {
        facts.push(match mark.awaits_drain_of(turn.since) {
            true => "resumes if the drain cuts it".to_owned(),
            false => {
                let (since, by) = (clock(model, mark.since), mark.reason.by());
                format!("{}, cut off {since} by {by}", tries(model, session.cuts))
            }
        });
    }
    if let Some(turn) = row.row.turn.as_ref().filter(|_| row.asks.is_none()) {
        let silent = turn.last_output_at.map_or(0, |at| (model.as_of() - at).num_seconds());
        if silent >= SILENT_FROM_SECONDS {
            facts.push(format!("silent {}", running(TimeDelta::seconds(silent))));
        }
    }
    facts.extend(waiting_words(row));
    match row.row.state {
        SessionState::NeedsYou => {
            let failed = row.last_error.as_deref().unwrap_or("the agent's backend fails");
            let why = row.asks.as_deref().unwrap_or(failed);
            facts.insert(0, why.to_owned());
        }
        SessionState::Resumes | SessionState::Suspended => {
            facts.extend(session.marker.map(|marker| marker_words(model, row, marker)));
        }
        SessionState::Held => facts.push("/continue releases".to_owned()),
        SessionState::Waits => facts.push(gate_words(model).to_owned()),
        SessionState::Runs => {}
        SessionState::Idle => match &row.last_error {
            Some(error) => facts.push(format!("failed: {error}")),
            None if session.turns == 0 => facts.push("nothing said yet".to_owned()),
            None => {
                facts.push(age(model.as_of() - session.last_activity_at));
                facts.push(count(session.turns as usize, "turn"));
            }
        },
    }
    if let Some(alert) = model.alerts.of(&session.id) {
        match alert.needs_you() {
            true if row.row.state.needs_a_person() => {}
            true => facts.insert(0, alert.words.clone()),
            false => facts.insert(0, "acknowledged".to_owned()),
        }
    }
    facts.join(", ")
}

/// Why nothing begins anywhere.
fn gate_words(model: &Model) -> &'static str {
    match model.overview.as_ref().map(|overview| overview.engine.gate) {
        Some(Gate::Stopping) => "the engine stops",
        Some(Gate::Held | Gate::Open) | None => "the engine is on hold",
    }
}

/// Why a session carries its marker.
fn marker_words(model: &Model, row: &ListRow, marker: Marker) -> String {
    match marker {
        Marker::ResumePending(mark) => {
            let cut = format!("cut off {} by {}", clock(model, mark.since), mark.reason.by());
            let guarded = row.row.session.hold.is_some_and(|hold| hold.reason == HoldReason::BootGuard);
            match (row.row.resume_place, &row.last_error) {
                _ if guarded => format!("{cut}, held by the boot guard"),
                (Some(_), _) | (None, None) => cut,
                (None, Some(error)) => format!("{cut}, failed: {error}"),
            }
        }
        Marker::Suspended(Suspended { reason: SuspendReason::StuckLoop, .. }) => {
            format!("stuck: {} without an answer", count(row.row.session.cuts as usize, "start"))
        }
        Marker::Suspended(Suspended { reason: SuspendReason::Operator, .. }) => {
            SuspendReason::Operator.words().to_owned()
        }
    }
}

/// `try 2/3`: at the last one it is given up.
fn tries(model: &Model, cuts: u32) -> String {
    let most = model.overview.as_ref().map_or(0, |overview| overview.max_cuts);
    format!("try {cuts}/{most}")
}

/// `1 next, 2 queued`; none where nothing waits.
fn waiting_words(row: &ListRow) -> Option<String> {
    match (row.row.slot.is_some(), row.row.queued) {
        (false, 0) => None,
        (true, 0) => Some("1 next".to_owned()),
        (false, queued) => Some(format!("{} queued", thousands(queued as u64))),
        (true, queued) => Some(format!("1 next, {} queued", thousands(queued as u64))),
    }
}

fn detail_role(row: &ListRow) -> Role {
    match row.row.state {
        SessionState::NeedsYou => Role::Text,
        SessionState::Idle if row.last_error.is_some() => Role::Bad,
        SessionState::Idle => Role::Quiet,
        _ => Role::Text,
    }
}
