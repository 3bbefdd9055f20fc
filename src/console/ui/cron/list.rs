//! The jobs: how each stands, when it is due, what became of its last run.

use ratatui::layout::Rect;

use super::job_mark;
use crate::console::app::Model;
use crate::console::app::action::Action;
use crate::console::app::cron::words::{counts_down, distance, slot, standing};
use crate::console::app::cron::{Cron, Job, file};
use crate::console::app::focus::{Pane, Target};
use crate::console::app::model::{Access, TimeStyle};
use crate::console::app::words::{age, clock};
use crate::console::ui::layout::PaneArea;
use crate::console::ui::paint::{Focused, Paint, first_shown, to_cells};
use crate::console::ui::text;
use crate::console::ui::theme::Role;
use crate::domain::alert::AlertKey;
use crate::domain::api::{CronHealth, JobState};

/// Below so many columns a job has its name and how it stands.
const COLUMNS_FROM_WIDTH: usize = 60;
/// From so many columns distances have minutes, and durations are drawn.
const WIDE_FROM_WIDTH: usize = 110;
/// The cells before a name: selection and state.
const MARKS: usize = 5;
/// The cells that are left of how a job stands, at least.
const STANDING: usize = 12;
/// The cells of the durations.
const DURATIONS: usize = 12;

pub(in crate::console::ui) fn draw(paint: &mut Paint<'_>, area: PaneArea) {
    let cron = &paint.model.cron;
    let focused = paint.focused(Pane::List);
    let rows = usize::from(area.body.height);
    paint.measured.list_rows = rows;
    paint.target(area.whole(), Target::Pane(Pane::List));
    let first = first_shown(cron.top, cron.selected, cron.rows.len(), rows);
    let (right, role) = beside(paint.model, first, cron.rows.len().saturating_sub(first + rows));
    paint.title_in(area.title, focused, &title(paint.model), &right, role);
    if cron.rows.is_empty() {
        return draw_empty(paint, area.body, cron);
    }
    let end = cron.rows.len().min(first + rows);
    let columns = Columns::of(paint.model, area.body.width, &cron.rows[first..end]);
    for (at, job) in cron.rows.iter().enumerate().take(end).skip(first) {
        let row = Rect { y: area.body.y + to_cells(at - first), height: 1, ..area.body };
        paint.target(row, Target::Job { id: job.row.id.clone(), place: job.row.place });
        let chosen = at == cron.selected;
        let pointer = if chosen { paint.canvas.glyphs.chosen } else { " " };
        paint.row(row, 0).skip(1).put(pointer, Role::Strong);
        draw_job(paint, row, columns, job);
        match (chosen, focused) {
            (true, Focused::Yes) => {
                paint.keep = Some(row);
                paint.canvas.dress(row, Role::Selected);
            }
            (true, Focused::No) => paint.canvas.dress(row, Role::Marked),
            _ => {}
        }
    }
}

fn title(model: &Model) -> String {
    let cron = &model.cron;
    let count = match cron.filter.is_empty() {
        true => format!("Cron {}", cron.total),
        false => format!("Cron: {} of {}", cron.rows.len(), cron.total),
    };
    match file::trouble(model).and_then(|trouble| trouble.stored_at) {
        Some(at) => format!("{count}, stored copy of {}", clock(model, at)),
        None => count,
    }
}

/// What stands at the right of the title: a late ticker, what is hidden, or the earliest slot.
fn beside(model: &Model, above: usize, below: usize) -> (String, Role) {
    let cron = &model.cron;
    let health = model.overview.as_ref().map(|overview| &overview.engine.cron);
    if let Some(CronHealth::Late { since, why }) = health {
        let since = age(model.as_of() - *since);
        return (format!("no good pass for {since}: {why}"), Role::NeedsYou);
    }
    let next = cron.next_slot().map(|(_, at)| format!("next {}, {}", distance(model, at), slot(model, at)));
    let above = (above > 0).then(|| format!("{above} above"));
    let below = (below > 0).then(|| format!("{below} more below"));
    (above.into_iter().chain(below).chain(next).collect::<Vec<_>>().join(", "), Role::Quiet)
}

/// How wide the columns are: what no shown row needs takes no room.
#[derive(Clone, Copy)]
struct Columns {
    name: usize,
    words: usize,
    slot: usize,
    next: usize,
    durations: usize,
    gap: usize,
}

impl Columns {
    fn of(model: &Model, width: u16, shown: &[Job]) -> Self {
        let width = usize::from(width);
        let widest =
            |of: &dyn Fn(&Job) -> String| shown.iter().map(|job| text::width(&of(job))).max().unwrap_or(0);
        if width < COLUMNS_FROM_WIDTH {
            return Self { name: width / 2 - MARKS, words: 0, slot: 0, next: 0, durations: 0, gap: 2 };
        }
        let wide = width >= WIDE_FROM_WIDTH;
        let drawn = shown.iter().any(|job| job.row.durations.len() > 1);
        let gap = if wide { 2 } else { 1 };
        let name = widest(&|job| job.row.name.clone()).clamp(8, width / 4);
        let slot = widest(&|job| next_slot(model, job).unwrap_or_default());
        let next = widest(&|job| next(model, job, width, slot));
        let durations = if wide && drawn { DURATIONS } else { 0 };
        // How a job stands is cut before its schedule is: it is told in full beside the list.
        let taken = MARKS + name + next + durations + 4 * gap + STANDING;
        let words = widest(&|job| schedule(job).to_owned());
        let words = words.clamp(5, width.saturating_sub(taken).max(width / 5));
        Self { name, words, slot, next, durations, gap }
    }
}

fn schedule(job: &Job) -> &str {
    if job.row.words.is_empty() { &job.row.schedule } else { &job.row.words }
}

/// The next slot that will be taken.
fn next_slot(model: &Model, job: &Job) -> Option<String> {
    job.row.next.map(|at| slot(model, at))
}

/// `14:30  in 28 min`, in the style that is set, the slot in so many cells; empty where no slot will be taken.
fn next(model: &Model, job: &Job, width: usize, cells: usize) -> String {
    let (Some(at), Some(slot)) = (job.row.next, next_slot(model, job)) else { return String::new() };
    let distance = distance(model, at);
    // Where it is narrow the hours are enough.
    let distance = match distance.split_once(" h ") {
        Some((hours, _)) if width < WIDE_FROM_WIDTH => format!("{hours} h"),
        _ => distance,
    };
    match model.times {
        TimeStyle::Relative if width < WIDE_FROM_WIDTH => distance,
        TimeStyle::Relative | TimeStyle::Absolute => format!("{slot:>cells$}  {distance}"),
    }
}

fn draw_job(paint: &mut Paint<'_>, row: Rect, columns: Columns, job: &Job) {
    let model = paint.model;
    let (mark, role) = job_mark(paint, &job.row.state);
    if matches!(job.row.state, JobState::Running | JobState::RunsOn { .. })
        || job.row.next.is_some_and(|at| counts_down(model, at))
    {
        paint.motion.counts_seconds();
    }
    let standing = standing(model, job);
    let next = next(model, job, usize::from(row.width), columns.slot);
    let bars = if columns.durations == 0 {
        String::new()
    } else {
        bars(paint.canvas.glyphs.bars, &job.row.durations)
    };
    let gap = columns.gap;
    let mut pen = paint.row(row, 0);
    pen.skip(3).put(mark, role).skip(1).column(&job.row.name, columns.name, Role::Strong).skip(gap);
    // What has no schedule or no slot has the more to say of how it stands.
    if columns.words > 0 && !matches!(job.row.state, JobState::Error { .. }) {
        pen.column(schedule(job), columns.words, Role::Text).skip(gap);
        if !next.is_empty() {
            pen.column(&next, columns.next, Role::Text).skip(gap);
        }
    }
    let kept = if columns.durations == 0 { 0 } else { columns.durations + gap };
    let rest = pen.room().saturating_sub(kept);
    pen.column(&standing, rest, standing_role(job)).skip(gap);
    pen.column_right(&bars, columns.durations, Role::Quiet);
}

fn standing_role(job: &Job) -> Role {
    match &job.row.state {
        JobState::Error { .. } | JobState::Flagged => Role::Bad,
        JobState::Running | JobState::RunsOn { .. } => Role::Runs,
        JobState::Waiting => Role::Waits,
        JobState::Paused => Role::Held,
        JobState::Scheduled if job.row.failures > 0 => Role::Bad,
        JobState::Scheduled if job.row.last.as_ref().is_some_and(|run| run.undone().is_some()) => {
            Role::Warning
        }
        JobState::Scheduled => Role::Text,
        JobState::Completed { .. } | JobState::Vanished { .. } => Role::Quiet,
    }
}

/// How long the newest runs took, against the longest of them.
fn bars(levels: &[&'static str], durations: &[u64]) -> String {
    let longest = durations.iter().copied().max().unwrap_or(0).max(1);
    let newest = &durations[durations.len().saturating_sub(DURATIONS)..];
    let level = |took: u64| {
        let step = u128::from(took) * levels.len() as u128 / u128::from(longest);
        levels[usize::try_from(step).unwrap_or(0).min(levels.len() - 1)]
    };
    if newest.len() < 2 { String::new() } else { newest.iter().map(|took| level(*took)).collect() }
}

fn draw_empty(paint: &mut Paint<'_>, area: Rect, cron: &Cron) {
    let filter = cron.filter.text();
    let model = paint.model;
    if let Some(why) = &cron.failed {
        paint.say(area, &[(&format!("The jobs could not be read: {why}"), Role::Bad)]);
    } else if !cron.loaded {
        paint.say(area, &[("reading the jobs", Role::Quiet)]);
    } else if !filter.is_empty() {
        let hits = format!("0 of {} match \"{filter}\". esc clears.", cron.total);
        paint.say(area, &[(&hits, Role::Text)]);
    } else {
        let home = model.config_path.trim_end_matches("config.toml");
        let words = match model.access {
            Access::Full => {
                let key = paint.key_here(Action::AddJob);
                format!("No jobs. {key} makes one; or copy a jobs.json to {home}")
            }
            Access::ReadOnly => format!("No jobs. A jobs.json in {home} has them."),
        };
        let file = AlertKey::jobs_file();
        match model.alerts.open.iter().find(|alert| alert.key == file) {
            Some(gone) => paint.say(area, &[(&gone.words, Role::NeedsYou), (&words, Role::Text)]),
            None => paint.say(area, &[(&words, Role::Text)]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_drawn_against_the_longest() {
        let levels = &["1", "2", "3", "4"];
        assert_eq!(bars(levels, &[0, 25, 50, 100]), "1234");
        assert_eq!(bars(levels, &[7, 7]), "44");
        assert_eq!(bars(levels, &[7]), "", "one alone says nothing");
        assert_eq!(bars(levels, &(0..40).collect::<Vec<u64>>()).len(), DURATIONS);
    }
}
