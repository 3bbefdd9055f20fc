//! The selected job: what it is, when it is due, and what became of its runs.

use std::ops::Range;

use ratatui::layout::Rect;

use super::run_mark;
use crate::console::app::Model;
use crate::console::app::cron::facts;
use crate::console::app::cron::words::{deliveries, due, how, state, took, waits_for};
use crate::console::app::cron::{Cron, Detail, Job};
use crate::console::app::facts::Fact;
use crate::console::app::focus::{Pane, Target};
use crate::console::ui::layout::{PaneArea, from_top};
use crate::console::ui::paint::{Focused, Paint, first_shown, to_cells};
use crate::console::ui::text;
use crate::console::ui::theme::Role;
use crate::domain::cron::Execution;

const LABEL: usize = 12;
/// A fact takes at most so many rows, and what is wrong so many.
const MOST_ROWS: usize = 2;
const MOST_ERROR_ROWS: usize = 4;
/// The runs keep so many rows beside the facts, with their heads.
const RUNS_KEEP: u16 = 5;
const GAP: usize = 2;
const STATE: usize = 9;

pub(in crate::console::ui) fn draw(paint: &mut Paint<'_>, area: PaneArea) {
    let model = paint.model;
    let cron = &model.cron;
    let focused = paint.focused(Pane::Detail);
    paint.target(area.whole(), Target::Pane(Pane::Detail));
    let Some(job) = cron.current() else { return paint.title(area.title, focused, "detail", "") };
    let detail = cron.current_detail();
    paint.title(area.title, focused, &name(job), &place(cron));
    let facts = facts::definition(model, job, detail);
    let runs = detail.map_or(0, |detail| detail.runs.len());
    let keep = if runs == 0 { 2 } else { to_cells(runs + 1).min(RUNS_KEEP) };
    let (above, _) = from_top(area.body, area.body.height.saturating_sub(keep));
    let width = usize::from(above.width).saturating_sub(LABEL + 2);
    let least: usize = facts.iter().map(|fact| rows(fact, width, most_rows(fact)).0.len()).sum();
    // The room that nothing else takes is for what is cut.
    let spare = usize::from(area.body.height).saturating_sub(least + (runs + 1).max(usize::from(keep)));
    let used = draw_facts(paint, above, &facts, spare);
    let (_, below) = from_top(area.body, used);
    match detail {
        Some(detail) if !detail.runs.is_empty() => draw_runs(paint, below, detail, focused),
        Some(_) => paint.say(below, &[("It never ran.", Role::Quiet)]),
        None if job.row.id.is_some() => paint.say(below, &[("reading its runs", Role::Quiet)]),
        None => {}
    }
}

/// What it is called, with the id that commands take where that is another.
fn name(job: &Job) -> String {
    match &job.row.id {
        Some(id) if id.as_str() != job.row.name => format!("{} ({id})", job.row.name),
        _ => job.row.name.clone(),
    }
}

fn place(cron: &Cron) -> String {
    match cron.current_detail().map_or(0, |detail| detail.runs.len()) {
        0 => String::new(),
        runs => format!("run {} of the newest {runs}", cron.run + 1),
    }
}

/// How many rows a fact takes at most while others need theirs.
fn most_rows((label, _): &Fact) -> usize {
    if *label == "error" { MOST_ERROR_ROWS } else { MOST_ROWS }
}

/// The rows of a fact, and where the last one ends.
fn rows((_, value): &Fact, width: usize, most: usize) -> (Vec<Range<usize>>, usize) {
    text::wrap(value, 0, width, most)
}

/// Draws as many facts as fit, the first that are cut with up to `spare` rows more; returns how many rows they
/// took.
fn draw_facts(paint: &mut Paint<'_>, area: Rect, facts: &[Fact], mut spare: usize) -> u16 {
    let mut rest = area;
    for fact in facts {
        let (label, value) = fact;
        let width = usize::from(rest.width).saturating_sub(LABEL + 2);
        let usual = most_rows(fact);
        let (rows, end) = rows(fact, width, (usual + spare).min(usize::from(rest.height)));
        spare -= rows.len().saturating_sub(usual).min(spare);
        let cut = end < value.len();
        let count = rows.len();
        for (at, range) in rows.into_iter().enumerate() {
            // What does not fit is cut with an ellipsis.
            let shown = if cut && at + 1 == count { &value[range.start..] } else { &value[range] };
            let shown_label = if at == 0 { label } else { "" };
            paint.row(rest, 0).skip(1).column(shown_label, LABEL, Role::Quiet).put(shown, role(label));
            rest = from_top(rest, 1).1;
        }
    }
    area.height - rest.height
}

fn role(label: &str) -> Role {
    match label {
        "error" | "fails" => Role::Bad,
        "warning" | "vanished" => Role::Warning,
        "paused" => Role::Held,
        "runs" => Role::Runs,
        "waits" => Role::Waits,
        _ => Role::Text,
    }
}

/// How wide the columns of runs are.
struct Columns {
    due: usize,
    took: usize,
    how: usize,
}

impl Columns {
    fn of(model: &Model, shown: &[Execution]) -> Self {
        let widest = |of: &dyn Fn(&Execution) -> String, least: usize| {
            shown.iter().map(|run| text::width(&of(run))).max().unwrap_or(0).max(least)
        };
        Self {
            due: widest(&|run| due(model, run), "due".len()),
            took: widest(&|run| took(model, run).unwrap_or_default(), "took".len()),
            how: widest(&how, 0),
        }
    }
}

fn draw_runs(paint: &mut Paint<'_>, area: Rect, detail: &Detail, focused: Focused) {
    let model = paint.model;
    let cron = &model.cron;
    let (heads, body) = from_top(area, 1);
    let rows = usize::from(body.height);
    paint.measured.run_rows = rows;
    let first = first_shown(cron.runs_top, cron.run, detail.runs.len(), rows);
    let end = detail.runs.len().min(first + rows);
    let columns = Columns::of(model, &detail.runs[first..end]);
    let mut pen = paint.row(heads, 0);
    pen.skip(3).column("due", columns.due, Role::Quiet).skip(GAP).column("run", STATE + 2, Role::Quiet);
    pen.skip(GAP).column_right("took", columns.took, Role::Quiet).skip(GAP);
    if columns.how > 0 {
        pen.column("how", columns.how, Role::Quiet).skip(GAP);
    }
    pen.put("delivered to, why", Role::Quiet);
    for (at, run) in detail.runs.iter().enumerate().take(end).skip(first) {
        let row = Rect { y: body.y + to_cells(at - first), height: 1, ..body };
        paint.target(row, Target::Run(run.id));
        let chosen = at == cron.run;
        let pointer = if chosen { paint.canvas.glyphs.chosen } else { " " };
        paint.row(row, 0).skip(1).put(pointer, Role::Strong);
        draw_run(paint, row, &columns, detail, run);
        if chosen && focused == Focused::Yes {
            paint.keep = Some(row);
            paint.canvas.dress(row, Role::Selected);
        }
    }
}

fn draw_run(paint: &mut Paint<'_>, row: Rect, columns: &Columns, detail: &Detail, run: &Execution) {
    let model = paint.model;
    let (mut mark, mut role) = run_mark(paint, run.state);
    if run.undone().is_some() {
        role = Role::Warning;
    }
    if !run.state.is_over() && run.began_at.is_some() {
        mark = paint.motion.spinner(paint.canvas.glyphs);
        paint.motion.counts_seconds();
    }
    let took = took(model, run).unwrap_or_default();
    let delivered = deliveries(run);
    let mut pen = paint.row(row, 0);
    pen.skip(3).column(&due(model, run), columns.due, Role::Text).skip(GAP);
    pen.put(mark, role).skip(1).column(state(run.state), STATE, role).skip(GAP);
    pen.column_right(&took, columns.took, Role::Quiet).skip(GAP);
    if columns.how > 0 {
        pen.column(&how(run), columns.how, Role::Warning).skip(GAP);
    }
    if !delivered.is_empty() {
        let most = pen.room() * 2 / 3;
        let width = text::width(&delivered).min(if run.why.is_some() { most } else { usize::MAX });
        pen.column(&delivered, width, Role::Text).skip(GAP);
    }
    let why = run.why.as_deref().or_else(|| waits_for(model, detail, run));
    pen.put(why.unwrap_or_default(), role);
}
