//! The timeline: a lane for each job, with its slots and what became of the past ones.

use chrono::{DurationRound, TimeDelta, TimeZone};

use super::clean;
use crate::console::app::Model;
use crate::console::app::focus::View;
use crate::domain::Time;
use crate::domain::api::{JobQuery, TimelineRow};

/// So much of a day's timeline is past.
const PAST_HOURS: i64 = 4;
/// The most marks of a lane: a slot a minute for a day.
pub(crate) const MOST_MARKS: usize = 1500;
/// From so many columns and rows the timeline is shown from the start.
const SHOWN_FROM: (u16, u16) = (120, 30);

/// Whether the timeline is shown, and of which span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timeline {
    /// It is not.
    Hidden,
    /// 24 hours.
    Day,
    /// 7 days, and the one before.
    Week,
}

/// What the timeline shows.
#[derive(Debug, Clone, Default)]
pub struct Lanes {
    /// A lane for each job, safe to show.
    rows: Vec<TimelineRow>,
    /// The places of those that are shown.
    shown: Vec<usize>,
    /// From then until then.
    pub span: Option<(Time, Time)>,
    /// Changes with all of these.
    pub revision: u64,
}

impl Lanes {
    /// The lanes that are shown.
    pub fn shown(&self) -> impl ExactSizeIterator<Item = &TimelineRow> {
        self.shown.iter().map(|place| &self.rows[*place])
    }

    /// Shows the lanes that fit.
    pub(super) fn show(&mut self, fits: impl Fn(&TimelineRow) -> bool) {
        let shown = self.rows.iter().enumerate().filter(|(_, lane)| fits(lane)).map(|(place, _)| place);
        let shown: Vec<usize> = shown.collect();
        if shown != self.shown {
            self.shown = shown;
            self.revision += 1;
        }
    }
}

impl Timeline {
    pub(super) fn at_first(size: (u16, u16)) -> Self {
        if size.0 >= SHOWN_FROM.0 && size.1 >= SHOWN_FROM.1 { Self::Day } else { Self::Hidden }
    }

    pub(super) fn after(self) -> Self {
        match self {
            Self::Hidden => Self::Day,
            Self::Day => Self::Week,
            Self::Week => Self::Hidden,
        }
    }
}

/// The span that is shown now: it moves on by the hour, or by the day.
fn span(model: &Model) -> Option<(Time, Time)> {
    let now = model.as_of();
    match model.cron.timeline {
        Timeline::Hidden => None,
        Timeline::Day => {
            let from = now.duration_trunc(TimeDelta::hours(1)).ok()? - TimeDelta::hours(PAST_HOURS);
            Some((from, from + TimeDelta::hours(24)))
        }
        Timeline::Week => {
            let yesterday = now.with_timezone(&model.zone).date_naive().pred_opt()?;
            let midnight = yesterday.and_hms_opt(0, 0, 0)?;
            let from = model.zone.from_local_datetime(&midnight).earliest()?.to_utc();
            Some((from, from + TimeDelta::days(8)))
        }
    }
}

pub(super) fn query(model: &Model) -> Option<JobQuery> {
    let (from, until) = span(model)?;
    Some(JobQuery::Timeline { from, until, limit: MOST_MARKS })
}

/// Whether what is shown is not of the present span any more.
pub(in crate::console::app) fn is_old(model: &Model) -> bool {
    model.cron.lanes.span.is_some() && span(model) != model.cron.lanes.span
}

/// Takes in the lanes.
pub(in crate::console::app) fn take(model: &mut Model, mut rows: Vec<TimelineRow>) {
    rows.iter_mut().for_each(clean::lane);
    let (span, lanes) = (span(model), &mut model.cron.lanes);
    if (&lanes.rows, lanes.span) == (&rows, span) {
        return;
    }
    (lanes.rows, lanes.span) = (rows, span);
    lanes.revision += 1;
    model.cron.choose_lanes();
    model.dirty |= model.view == View::Cron;
}
