//! The timeline: a lane for each job, marks at its slots, past runs by how they ended, a line at now, and
//! where slots of several jobs meet.

use chrono::{Datelike, TimeDelta, Timelike};
use ratatui::layout::Rect;
use std::collections::{BTreeMap, HashMap};

use super::run_mark;
use crate::console::app::Model;
use crate::console::app::cron::timeline::{Lanes, MOST_MARKS, Timeline};
use crate::console::ui::layout::{PaneArea, from_bottom, from_left, from_top};
use crate::console::ui::paint::{Focused, Paint, first_shown, to_cells};
use crate::console::ui::text;
use crate::console::ui::theme::Role;
use crate::domain::Time;
use crate::domain::api::{JobState, TimelineRow};
use crate::domain::cron::ExecutionState;
use crate::domain::cron::merge::Firing;

/// The cells of a lane's name.
const NAME: u16 = 18;
/// The word at now, and its cells.
const NOW: &str = "now";
const NOW_CELLS: u16 = 3;
/// The cells of an hour's and of a day's label, with a blank.
const HOUR: i64 = 3;
const DAY: i64 = 7;

/// How many rows the timeline takes with so many lanes: its title, the clock, and where slots meet.
pub(in crate::console::ui) fn rows(lanes: usize) -> usize {
    lanes + 3
}

pub(in crate::console::ui) fn draw(paint: &mut Paint<'_>, area: PaneArea) {
    let model = paint.model;
    let name = if model.cron.timeline == Timeline::Week { "7 days" } else { "24 hours" };
    let Some(scale) = Scale::of(&model.cron.lanes, model.as_of(), area.body.width) else {
        paint.title(area.title, Focused::No, name, "");
        return paint.say(area.body, &[("reading the timeline", Role::Quiet)]);
    };
    let lanes: Vec<&TimelineRow> = model.cron.lanes.shown().collect();
    let (clock, rest) = from_top(area.body, 1);
    let (body, meets) = from_bottom(rest, 1);
    let rows = usize::from(body.height);
    let chosen = model.cron.current().and_then(|job| job.row.id.as_ref());
    let selected = lanes.iter().position(|lane| Some(&lane.job) == chosen);
    let first = first_shown(0, selected.unwrap_or(0), lanes.len(), rows);
    let hidden = lanes.len().saturating_sub(rows);
    let glyphs = paint.canvas.glyphs;
    let legend = format!("{} a slot  {} several", glyphs.slot, glyphs.slots);
    let right = if hidden == 0 { legend } else { format!("{hidden} more jobs   {legend}") };
    paint.title(area.title, Focused::No, name, &right);
    draw_clock(paint, clock, &scale);
    let mut chart = std::mem::take(paint.chart);
    chart.renew(model.cron.lanes.revision, &lanes, &scale);
    for (at, lane) in lanes.iter().enumerate().skip(first).take(rows) {
        let row = Rect { y: body.y + to_cells(at - first), height: 1, ..body };
        let slots = chart.slots.entry(at).or_insert_with(|| columns_of(&scale, lane));
        draw_lane(paint, row, &scale, lane, (slots, &chart.meeting));
        if Some(at) == selected {
            paint.canvas.dress(from_left(row, NAME).0, Role::Marked);
        }
    }
    draw_meeting(paint, meets, &chart.meeting);
    *paint.chart = chart;
}

/// What lies in which column, kept from frame to frame: finding it takes a look at each slot of the span.
#[derive(Debug, Default)]
pub(in crate::console::ui) struct Chart {
    /// Of which lanes, in how many columns.
    of: Option<(u64, u16)>,
    /// The slots of the lanes that were drawn, by their places.
    slots: HashMap<usize, BTreeMap<u16, usize>>,
    /// Where slots of several jobs meet.
    meeting: BTreeMap<u16, usize>,
}

impl Chart {
    fn renew(&mut self, revision: u64, lanes: &[&TimelineRow], scale: &Scale) {
        let of = Some((revision, scale.columns));
        if self.of != of {
            *self = Self { of, slots: HashMap::new(), meeting: meeting(lanes, scale) };
        }
    }
}

/// Times to columns.
struct Scale {
    from: Time,
    until: Time,
    now: Time,
    columns: u16,
}

impl Scale {
    fn of(lanes: &Lanes, now: Time, width: u16) -> Option<Self> {
        let (from, until) = lanes.span?;
        let columns = width.checked_sub(NAME + 2).filter(|columns| *columns > 0)?;
        Some(Self { from, until, now, columns })
    }

    /// The column of an instant, counted behind the names.
    fn column(&self, at: Time) -> Option<u16> {
        let (part, whole) = ((at - self.from).num_seconds(), (self.until - self.from).num_seconds());
        if !(0..whole).contains(&part) {
            return None;
        }
        u16::try_from(part * i64::from(self.columns) / whole).ok()
    }

    /// The instant in the middle of a column.
    fn middle(&self, column: u16) -> Time {
        let whole = (self.until - self.from).num_seconds();
        self.from
            + TimeDelta::seconds((2 * i64::from(column) + 1) * whole / (2 * i64::from(self.columns).max(1)))
    }

    /// The middle of a column, so many whole days before that it is not behind `last`.
    fn day_before(&self, column: u16, last: Time) -> Time {
        let mut like = self.middle(column);
        while like > last {
            like -= TimeDelta::days(1);
        }
        like
    }

    fn whole_hours(&self) -> i64 {
        (self.until - self.from).num_hours()
    }
}

/// Writes `mark` into a column of a lane.
fn put(paint: &mut Paint<'_>, row: Rect, column: u16, mark: &str, role: Role) {
    let x = row.x + NAME + 1 + column;
    paint.row(row, 0).to(x).put(mark, role);
}

/// The hours, or the days, as densely as they fit; and where now is.
fn draw_clock(paint: &mut Paint<'_>, row: Rect, scale: &Scale) {
    let model = paint.model;
    let by_day = scale.whole_hours() > 48;
    let cells = i64::from(scale.columns);
    let label = if by_day { DAY } else { HOUR };
    let steps = [1, 2, 3, 6, 12, 24, 48, 96];
    let every = steps
        .into_iter()
        .find(|hours| cells * hours / scale.whole_hours().max(1) > label && (!by_day || hours % 24 == 0));
    let now = scale.column(scale.now).map(|now| now.min(scale.columns.saturating_sub(NOW_CELLS)));
    let mut at = scale.from;
    while at < scale.until {
        let local = at.with_timezone(&model.zone);
        let on_step = match every {
            Some(every @ 24..) => {
                local.hour() == 0 && i64::from(local.num_days_from_ce()) % (every / 24) == 0
            }
            Some(every) => i64::from(local.hour()) % every == 0,
            None => false,
        };
        if let (true, Some(column)) = (on_step, scale.column(at)) {
            let words = local.format(if by_day { "%a %-d" } else { "%H" }).to_string();
            let end = column.saturating_add(to_cells(text::width(&words)));
            // What would run into the word of now, or out of the row, is left out.
            let clear = now.is_none_or(|now| end < now || column > now + NOW_CELLS);
            if clear && end <= scale.columns {
                put(paint, row, column, &words, Role::Quiet);
            }
        }
        at += TimeDelta::hours(1);
    }
    if let Some(now) = now {
        put(paint, row, now, NOW, Role::Strong);
    }
}

fn draw_lane(
    paint: &mut Paint<'_>,
    row: Rect,
    scale: &Scale,
    lane: &TimelineRow,
    (slots, meeting): (&BTreeMap<u16, usize>, &BTreeMap<u16, usize>),
) {
    let glyphs = paint.canvas.glyphs;
    paint.row(row, 0).skip(1).column(&lane.name, usize::from(NAME) - 2, Role::Text);
    if let Some(now) = scale.column(scale.now) {
        put(paint, row, now, glyphs.vertical, Role::Rule);
        let words = match (&lane.state, lane.firing) {
            (JobState::Completed { .. }, _) => format!("{} completed", glyphs.done),
            (JobState::Error { .. }, _) => format!("{} error", glyphs.needs_you),
            (_, Firing::Paused) => format!("{} paused", glyphs.held),
            _ => String::new(),
        };
        if lane.slots.is_empty() && now + 2 < scale.columns {
            put(paint, row, now + 2, &words, Role::Held);
        }
    }
    for (column, slots) in slots {
        let mark = if *slots > 1 { glyphs.slots } else { glyphs.slot };
        let role = if meeting.contains_key(column) { Role::Warning } else { Role::Waits };
        put(paint, row, *column, mark, role);
    }
    let mut worst: BTreeMap<u16, ExecutionState> = BTreeMap::new();
    for (at, state) in &lane.past {
        if let Some(column) = scale.column(*at) {
            let known = worst.entry(column).or_insert(*state);
            if badness(*state) > badness(*known) {
                *known = *state;
            }
        }
    }
    for (column, state) in worst {
        let (mark, role) = run_mark(paint, state);
        put(paint, row, column, mark, role);
    }
}

/// What of several ends in one column is shown.
fn badness(state: ExecutionState) -> u8 {
    match state {
        ExecutionState::Failed | ExecutionState::TimedOut | ExecutionState::BlockedConfig => 4,
        ExecutionState::Interrupted | ExecutionState::Unknown => 3,
        ExecutionState::Running | ExecutionState::Claimed | ExecutionState::Waiting => 2,
        ExecutionState::Skipped | ExecutionState::Missed => 1,
        ExecutionState::Succeeded => 0,
    }
}

/// The columns of a lane's slots, with how many lie in each. Of a job that is due so often that not all of its
/// slots were fetched, the days that lack are drawn as the day before.
fn columns_of(scale: &Scale, lane: &TimelineRow) -> BTreeMap<u16, usize> {
    let known = by_column(scale, lane.slots.iter().copied());
    let Some(last) = lane.slots.last().filter(|_| lane.slots.len() >= MOST_MARKS) else { return known };
    let mut columns = known.clone();
    for column in scale.column(*last).map_or(0, |last| last + 1)..scale.columns {
        let like = scale.column(scale.day_before(column, *last));
        if let Some(slots) = like.and_then(|like| known.get(&like)) {
            columns.insert(column, *slots);
        }
    }
    columns
}

fn by_column(scale: &Scale, slots: impl Iterator<Item = Time>) -> BTreeMap<u16, usize> {
    let mut columns = BTreeMap::new();
    for column in slots.filter_map(|at| scale.column(at)) {
        *columns.entry(column).or_insert(0) += 1;
    }
    columns
}

/// The columns in which slots of several jobs are due at the same minute, with how many jobs at most. Of jobs
/// that are due so often that not all of their slots were fetched, the days that lack are as the day before.
fn meeting(lanes: &[&TimelineRow], scale: &Scale) -> BTreeMap<u16, usize> {
    let lanes: Vec<Minutes> = lanes.iter().map(|lane| Minutes::of(lane)).collect();
    let often = || lanes.iter().filter(|lane| lane.goes_on);
    let mut columns = most_by_column(scale, &jobs_at(lanes.iter(), often()));
    if let Some(last) = often().filter_map(|lane| lane.known.last()).max() {
        let among_often = most_by_column(scale, &jobs_at(often(), often()));
        let last = Time::from_timestamp(last * 60, 0).unwrap_or(scale.until);
        for column in scale.column(last).map_or(0, |last| last + 1)..scale.columns {
            let like = scale.column(scale.day_before(column, last));
            if let Some(jobs) = like.and_then(|like| among_often.get(&like)) {
                let most = columns.entry(column).or_insert(0);
                *most = (*most).max(*jobs);
            }
        }
    }
    columns
}

/// The minutes at which a job is due.
struct Minutes {
    known: Vec<i64>,
    /// Whether there are more than were fetched.
    goes_on: bool,
}

impl Minutes {
    fn of(lane: &TimelineRow) -> Self {
        let mut known: Vec<i64> = lane.slots.iter().map(|at| at.timestamp().div_euclid(60)).collect();
        known.dedup();
        Self { known, goes_on: lane.slots.len() >= MOST_MARKS }
    }

    /// Whether it is due at a minute behind those that are known.
    fn is_due_later(&self, minute: i64) -> bool {
        const DAY: i64 = 24 * 60;
        let behind = self.known.last().map_or(0, |last| minute - last);
        let days = (behind + DAY - 1).div_euclid(DAY);
        behind > 0 && self.known.binary_search(&(minute - days * DAY)).is_ok()
    }
}

/// How many jobs are due at each minute that is known of one.
fn jobs_at<'a>(
    lanes: impl Iterator<Item = &'a Minutes>,
    often: impl Iterator<Item = &'a Minutes> + Clone,
) -> BTreeMap<i64, usize> {
    let mut jobs_at: BTreeMap<i64, usize> = BTreeMap::new();
    lanes.flat_map(|lane| &lane.known).for_each(|minute| *jobs_at.entry(*minute).or_insert(0) += 1);
    for (minute, jobs) in &mut jobs_at {
        *jobs += often.clone().filter(|lane| lane.is_due_later(*minute)).count();
    }
    jobs_at
}

/// The most jobs of a minute in each column, where there are several.
fn most_by_column(scale: &Scale, jobs_at: &BTreeMap<i64, usize>) -> BTreeMap<u16, usize> {
    let mut columns = BTreeMap::new();
    for (minute, jobs) in jobs_at.iter().filter(|(_, jobs)| **jobs > 1) {
        let at = Time::from_timestamp(minute * 60, 0);
        if let Some(column) = at.and_then(|at| scale.column(at)) {
            let most = columns.entry(column).or_insert(0);
            *most = (*most).max(*jobs);
        }
    }
    columns
}

/// How many jobs are due at once, where it is more than one.
fn draw_meeting(paint: &mut Paint<'_>, row: Rect, meeting: &BTreeMap<u16, usize>) {
    if meeting.is_empty() {
        return;
    }
    paint.row(row, 0).skip(1).column("due at once", usize::from(NAME) - 2, Role::Quiet);
    let mut written: Option<u16> = None;
    for (column, jobs) in meeting {
        // Two numbers side by side would read as one.
        if written.is_some_and(|written| written + 1 == *column) {
            continue;
        }
        written = Some(*column);
        let words = if *jobs > 9 { "+".to_owned() } else { jobs.to_string() };
        put(paint, row, *column, &words, Role::Warning);
    }
}

/// How many lanes the timeline has; none: it is not shown.
pub(in crate::console::ui) fn lanes(model: &Model) -> Option<usize> {
    (model.cron.timeline != Timeline::Hidden).then(|| model.cron.lanes.shown().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_is_due_each_minute_is_drawn_over_the_whole_week_and_one_of_the_day_only_by_day() {
        let from: Time = "2026-11-29T00:00:00Z".parse().unwrap();
        let scale = Scale { from, until: from + TimeDelta::days(8), now: from, columns: 96 };
        let columns = |due: &dyn Fn(i64) -> bool| {
            let minutes = (0..).filter(|minute| due(*minute)).take(MOST_MARKS);
            let lane = TimelineRow {
                job: "a".parse().unwrap(),
                name: "a".to_owned(),
                state: JobState::Scheduled,
                firing: Firing::On,
                slots: minutes.map(|minute| from + TimeDelta::minutes(minute)).collect(),
                past: Vec::new(),
            };
            columns_of(&scale, &lane)
        };
        assert_eq!(columns(&|_| true).len(), 96);
        // Two hours are a column.
        let by_day = columns(&|minute| (8..18).contains(&(minute / 60 % 24)));
        let expected = (0..96).filter(|column| (4..9).contains(&(column % 12)));
        assert_eq!(by_day.into_keys().collect::<Vec<u16>>(), expected.collect::<Vec<u16>>());
    }
    #[test]
    fn jobs_that_are_due_each_minute_meet_to_the_end_of_the_week() {
        let from: Time = "2026-11-29T00:00:00Z".parse().unwrap();
        let scale = Scale { from, until: from + TimeDelta::days(8), now: from, columns: 96 };
        let lane = |slots: Vec<Time>| TimelineRow {
            job: "a".parse().unwrap(),
            name: "a".to_owned(),
            state: JobState::Scheduled,
            firing: Firing::On,
            slots,
            past: Vec::new(),
        };
        let minutely =
            || lane((0..MOST_MARKS as i64).map(|minute| from + TimeDelta::minutes(minute)).collect());
        let (one, another, weekly) = (minutely(), minutely(), lane(vec![from + TimeDelta::days(6)]));
        let meeting = meeting(&[&one, &another, &weekly], &scale);
        assert_eq!(meeting.len(), 96);
        let of_three: Vec<u16> =
            meeting.into_iter().filter(|(_, jobs)| *jobs == 3).map(|(column, _)| column).collect();
        assert_eq!(of_three, [72], "the weekly one meets them once");
    }
}
