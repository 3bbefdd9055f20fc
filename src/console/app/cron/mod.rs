//! The view of scheduled tasks: the jobs, the selected one with its runs, and a timeline.
//!
//! [`clean`] makes safe to show what comes from the engine, [`act`] is what can be done here,
//! [`words`] what the columns say, [`facts`] what there is to know of a job or a run.

pub(super) mod act;
mod clean;
pub mod facts;
pub mod file;
pub mod reading;
pub mod timeline;
pub mod words;

use std::collections::{HashMap, HashSet};

use super::action::Action;
use super::focus::{Pane, View};
use super::key::{Code, Key};
use super::msg::{Pace, Question, Tone};
use super::text::{Lines, TextField};
use super::{Model, acts, job_editor, walk};
use crate::domain::Time;
use crate::domain::api::{JobDetail, JobFound, JobQuery, JobRow, JobState, JobsFileState, JobsPage, Parts};
use crate::domain::cron::{Definition, Execution, ExecutionState, JobEvent, JobId};
use crate::domain::event::EventKind;
use crate::domain::filter::{Filter, Words};
use crate::domain::spending::Today;

use reading::Reading;
use timeline::{Lanes, Timeline};

/// How many jobs are asked for.
pub(super) const MOST: usize = 2000;
/// How many runs of a job are asked for at a time.
pub(super) const RUNS: usize = 50;
/// Earlier runs are asked for when the cursor comes this near the oldest.
const NEAR_END: usize = 10;

/// The view of scheduled tasks. Every text in it is safe to show, but for the definition and the record
/// of the selected job.
#[derive(Debug, Clone)]
pub struct Cron {
    /// The jobs that fit the filter.
    pub rows: Vec<Job>,
    /// The place of the selected one.
    pub selected: usize,
    /// The first that is shown.
    pub top: usize,
    /// How many jobs there are.
    pub total: usize,
    /// How the file stands.
    pub file: JobsFileState,
    /// The filter's text field.
    pub filter: TextField,
    /// Why the jobs could not be read.
    pub failed: Option<String>,
    /// Whether an answer has come yet.
    pub loaded: bool,
    /// What more is known of the selected job; none until the answer comes.
    pub detail: Option<Detail>,
    /// The place of the selected run among those of the detail.
    pub run: usize,
    /// The first run that is shown.
    pub runs_top: usize,
    /// Whether the timeline is shown, and of which span.
    pub timeline: Timeline,
    /// What it shows.
    pub lanes: Lanes,
    /// What a form of a job offers to pick from.
    pub parts: Parts,
    /// The job that is selected as soon as it is listed.
    pub(super) sought: Option<JobId>,
    /// The job whose form opens as soon as its definition is known.
    pub(super) to_edit: Option<JobId>,
    /// Whether the view was opened yet.
    pub(super) opened: bool,
    /// The text that is asked for.
    pub(super) reading: Option<Reading>,
    /// The jobs, whatever the filter lets through.
    pub(super) all: Vec<Job>,
}

/// A job in the list.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// The row, safe to show.
    pub row: JobRow,
    /// Its place in the engine's order.
    order: usize,
}

/// What more is known of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct Detail {
    /// The job.
    pub job: JobId,
    /// The job as it is written; its texts are foreign. None: its record can't be used.
    pub definition: Option<Box<Definition>>,
    /// Its record, as it stands in the file; foreign.
    pub record: String,
    /// Its next slots.
    pub next: Vec<Time>,
    /// What to know about its schedule.
    pub warnings: Vec<String>,
    /// Its runs, and its slots that were not run, the newest first.
    pub runs: Vec<Execution>,
    /// What is used today of the limits that count for it.
    pub today: Option<Today>,
    /// Whether there may be earlier ones.
    more_before: bool,
}

impl Default for Cron {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            selected: 0,
            top: 0,
            total: 0,
            file: JobsFileState::Missing,
            filter: TextField::new(Lines::One),
            failed: None,
            loaded: false,
            detail: None,
            run: 0,
            runs_top: 0,
            timeline: Timeline::Hidden,
            lanes: Lanes::default(),
            parts: Parts::default(),
            sought: None,
            to_edit: None,
            opened: false,
            reading: None,
            all: Vec::new(),
        }
    }
}

impl Job {
    fn new(order: usize, mut row: JobRow) -> Self {
        clean::row(&mut row);
        Self { row, order }
    }

    /// Whether it is the same job as another, of the list as it was.
    fn is(&self, other: &Self) -> bool {
        match (&self.row.id, &other.row.id) {
            (None, None) => self.row.place == other.row.place,
            (one, another) => one == another,
        }
    }

    /// Whether it needs a person.
    pub fn needs_a_person(&self) -> bool {
        matches!(self.row.state, JobState::Error { .. } | JobState::Flagged | JobState::Vanished { .. })
    }

    fn fits(&self, filter: &Filter) -> bool {
        let row = &self.row;
        let last =
            row.last.iter().flat_map(|run| [words::state(run.state), run.why.as_deref().unwrap_or_default()]);
        let text: Vec<&str> = [row.schedule.as_str(), &row.words].into_iter().chain(last).collect();
        filter.fits(&Words {
            name: &row.name,
            key: row.id.as_ref().map_or("", JobId::as_str),
            platform: "",
            state: &row.state_words(),
            text: &text.join(" "),
        })
    }
}

/// How jobs that come are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    AsTheyCame,
    AsShown,
}

impl Cron {
    /// The slot that comes first, with its job.
    pub fn next_slot(&self) -> Option<(&Job, Time)> {
        self.all.iter().filter_map(|job| Some((job, job.row.next?))).min_by_key(|(_, slot)| *slot)
    }

    /// The selected job.
    pub fn current(&self) -> Option<&Job> {
        self.rows.get(self.selected)
    }

    /// What more is known of the selected job.
    pub fn current_detail(&self) -> Option<&Detail> {
        let job = self.current()?.row.id.as_ref()?;
        self.detail.as_ref().filter(|detail| detail.job == *job)
    }

    /// Shows the lanes of the jobs that fit the filter.
    fn choose_lanes(&mut self) {
        let all = self.filter.is_empty();
        let shown: HashSet<&JobId> = self.rows.iter().filter_map(|job| job.row.id.as_ref()).collect();
        self.lanes.show(|lane| all || shown.contains(&lane.job));
    }

    /// The selected run of the selected job.
    pub fn current_run(&self) -> Option<&Execution> {
        self.current_detail()?.runs.get(self.run)
    }

    /// Takes in the jobs. While the order stands still, what was there keeps its place. True if something
    /// changed.
    fn take(&mut self, mut page: JobsPage, order: Order) -> bool {
        clean::file(&mut page.file);
        let mut all: Vec<Job> =
            page.rows.into_iter().enumerate().map(|(order, row)| Job::new(order, row)).collect();
        if order == Order::AsShown {
            let ids = self.all.iter().enumerate().map(|(place, job)| (job.row.id.as_ref(), place));
            let places: HashMap<Option<&JobId>, usize> = ids.collect();
            let place = |job: &Job| places.get(&job.row.id.as_ref()).copied().unwrap_or(usize::MAX);
            all.sort_by_cached_key(|job| (place(job), job.order));
        }
        let news = !self.loaded
            || self.failed.is_some()
            || (self.total, &self.file) != (page.total, &page.file)
            || self.all != all;
        self.loaded = true;
        self.failed = None;
        self.total = page.total;
        self.file = page.file;
        self.all = all;
        self.refilter();
        news
    }

    /// Puts the jobs into their order again. True if that is another.
    pub(super) fn thaw(&mut self) -> bool {
        if self.all.is_sorted_by_key(|job| job.order) {
            return false;
        }
        self.all.sort_by_key(|job| job.order);
        self.refilter();
        true
    }

    /// Narrows the jobs to those that the filter lets through; the selection follows the job.
    pub(super) fn refilter(&mut self) {
        let filter = Filter::parse(&self.filter.text());
        let selected = self.current().cloned();
        self.rows = self.all.iter().filter(|job| job.fits(&filter)).cloned().collect();
        let place = selected.and_then(|selected| {
            let exact = |job: &&Job| job.is(&selected) && job.row.place == selected.row.place;
            let near = |job: &&Job| job.is(&selected);
            let found = self.rows.iter().find(exact).or_else(|| self.rows.iter().find(near))?.clone();
            self.rows.iter().position(|job| *job == found)
        });
        self.selected = place.unwrap_or(self.selected).min(self.rows.len().saturating_sub(1));
        self.choose_lanes();
    }

    /// Takes in what more is known of a job. The runs that were loaded before, and the cursor, stay.
    fn take_detail(&mut self, mut found: JobDetail) {
        let Some(job) = found.row.id.take() else { return };
        clean::detail(&mut found);
        let before = self.detail.take().filter(|before| before.job == job);
        let at = before.as_ref().and_then(|before| before.runs.get(self.run)).map(|run| run.id);
        let at_newest = self.run == 0;
        let mut runs = found.history;
        let mut more_before = runs.len() >= RUNS;
        if let (Some(before), Some(oldest)) = (before, runs.last().map(|run| run.id)) {
            let earlier = before.runs.into_iter().filter(|run| run.id < oldest);
            let loaded = runs.len();
            runs.extend(earlier);
            more_before = if runs.len() > loaded { before.more_before } else { more_before };
        }
        let place = at.filter(|_| !at_newest).and_then(|at| runs.iter().position(|run| run.id == at));
        self.run = place.unwrap_or(0);
        self.detail = Some(Detail {
            job,
            definition: found.definition,
            record: found.record,
            next: found.next,
            warnings: found.warnings,
            today: found.today,
            runs,
            more_before,
        });
    }

    fn take_earlier(&mut self, mut runs: Vec<Execution>) {
        runs.iter_mut().for_each(clean::execution);
        let Some(detail) = &mut self.detail else { return };
        let oldest = detail.runs.last().map(|run| run.id);
        detail.more_before = runs.len() >= RUNS;
        let earlier = |run: &Execution| run.job == detail.job && oldest.is_none_or(|oldest| run.id < oldest);
        detail.runs.extend(runs.into_iter().filter(earlier));
    }
}

/// What the view asks the engine for; none if there is nothing to ask about.
pub(super) fn query(model: &Model, question: Question) -> Option<JobQuery> {
    let cron = &model.cron;
    Some(match question {
        Question::Jobs => JobQuery::List { filter: String::new(), limit: MOST },
        Question::Job => JobQuery::Detail { job: cron.current()?.row.id.as_ref()?.to_string() },
        Question::JobEarlier => {
            let detail = cron.current_detail()?;
            let before = Some(detail.runs.last()?.id);
            JobQuery::History { job: Some(detail.job.clone()), before, limit: RUNS }
        }
        Question::Timeline => timeline::query(model)?,
        _ => return None,
    })
}

/// The view is opened.
pub(super) fn open(model: &mut Model) {
    if !model.cron.opened {
        model.cron.opened = true;
        model.cron.sought = None;
        model.cron.timeline = Timeline::at_first(model.size);
    }
    for question in [Question::Jobs, Question::Job, Question::Timeline] {
        model.requests.mark(question, Pace::AtOnce);
    }
}

/// Marks as old what an event has changed here.
pub(super) fn note(model: &mut Model, kind: &EventKind) {
    // A job that is gone is listed until somebody knows of it.
    let is_ours =
        matches!(kind, EventKind::Job { .. } | EventKind::Cron(_) | EventKind::AlertAcknowledged { .. });
    if !is_ours {
        return;
    }
    if let EventKind::Job { what: JobEvent::RunEnded { state, .. }, .. } = kind
        && matches!(state, ExecutionState::Interrupted | ExecutionState::Unknown)
    {
        // A start tells which runs were cut off.
        model.requests.mark(Question::Recovery, Pace::Gently);
    }
    // The tabs and the banner of every view tell of the jobs too.
    model.requests.mark(Question::Jobs, Pace::Gently);
    if model.view == View::Cron {
        model.requests.mark(Question::Job, Pace::Gently);
        model.requests.mark(Question::Timeline, Pace::Gently);
    }
}

/// Takes in the jobs.
pub(super) fn take(model: &mut Model, page: JobsPage) {
    let order = if walk::is_frozen(model) { Order::AsShown } else { Order::AsTheyCame };
    let shown = model.view == View::Cron;
    let before = (model.cron.total, model.cron.file.clone());
    let changed = model.cron.take(page, order);
    model.dirty |= changed && (shown || before != (model.cron.total, model.cron.file.clone()));
    if let Some(job) = model.cron.sought.take()
        && !select(model, &job)
    {
        model.cron.sought = Some(job);
    }
    if shown && model.cron.current_detail().is_none() {
        model.requests.mark(Question::Job, Pace::AtOnce);
    }
    job_editor::look_at_disk(model);
    walk::show_selection(model);
}

/// Takes in what more is known of the selected job.
pub(super) fn take_detail(model: &mut Model, found: JobFound) {
    if let JobFound::One(detail) = found {
        model.cron.take_detail(*detail);
        model.dirty |= model.view == View::Cron;
        walk::show_selection(model);
    }
    job_editor::look_at_disk(model);
    let known = model.cron.current_detail().map(|detail| detail.job.clone());
    if model.cron.to_edit.is_some() {
        let wanted = model.cron.to_edit.take();
        match known {
            known if known == wanted => acts::run(model, Action::EditJob),
            _ => model.tell(Tone::Warn, "its definition is not there any more"),
        }
    }
}

/// Goes to a job in its view.
pub(super) fn go_to(model: &mut Model, job: &JobId) {
    acts::show_view(model, View::Cron);
    model.pane = Pane::List;
    if !select(model, job) {
        model.tell(Tone::Warn, format!("job {job} is not listed any more"));
    }
}

/// Opens the form of a job that was named elsewhere.
pub(super) fn edit(model: &mut Model, job: JobId) {
    acts::show_view(model, View::Cron);
    if !select(model, &job) {
        return model.tell(Tone::Warn, format!("job {job} is not listed yet: try again"));
    }
    match model.cron.current_detail() {
        Some(_) => acts::run(model, Action::EditJob),
        None => act::await_form(model, job),
    }
}

/// Whether a form is about to open: what is typed meanwhile is not for the list. `esc` calls it off.
pub(super) fn swallows(model: &mut Model, key: Key) -> bool {
    let waits = model.view == View::Cron && model.overlays.is_empty() && model.cron.to_edit.is_some();
    if waits && key == Key::plain(Code::Esc) {
        model.cron.to_edit = None;
        return true;
    }
    waits && (key.types().is_some() || matches!(key.code, Code::Enter | Code::Backspace | Code::Tab))
}

/// Takes in earlier runs.
pub(super) fn take_earlier(model: &mut Model, runs: Vec<Execution>) {
    model.cron.take_earlier(runs);
    model.dirty |= model.view == View::Cron;
}

/// Another job is selected: what more is known of it is asked for.
pub(super) fn selection_changed(model: &mut Model) {
    model.alerts.visited = None;
    if model.cron.current_detail().is_none() {
        model.cron.run = 0;
        model.cron.runs_top = 0;
        model.requests.mark(Question::Job, Pace::AtOnce);
    }
}

/// The cursor moved among the runs.
pub(super) fn run_changed(model: &mut Model) {
    let more = model
        .cron
        .current_detail()
        .is_some_and(|detail| detail.more_before && model.cron.run + NEAR_END >= detail.runs.len());
    if more {
        model.requests.mark(Question::JobEarlier, Pace::AtOnce);
    }
}

/// Selects a job in the list; a filter that hides it gives way. False if it is not listed.
pub(super) fn select(model: &mut Model, job: &JobId) -> bool {
    let place = |model: &Model| model.cron.rows.iter().position(|row| row.row.id.as_ref() == Some(job));
    let listed = |job_row: &Job| job_row.row.id.as_ref() == Some(job);
    if place(model).is_none() && model.cron.all.iter().any(listed) {
        model.cron.filter.set("");
        model.cron.refilter();
    }
    let Some(place) = place(model) else { return false };
    model.cron.selected = place;
    selection_changed(model);
    walk::show_selection(model);
    true
}
