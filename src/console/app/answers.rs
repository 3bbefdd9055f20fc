//! Answers to questions. One that came too late, for something else than is shown now, is dropped
//! and asked anew.

use std::collections::HashMap;

use super::entries::Reload;
use super::focus::{Focus, Pane, View};
use super::items::{ItemList, ItemRow};
use super::log::{self, About, Follow, LogRow};
use super::msg::{Failure, Pace, Question, Ticket, Tone};
use super::sessions::{Coming, ListRow, PAGE};
use super::{
    Model, alerts, away, cron, front, job_editor, need, panes, picking, recovery, requests, walk, writing,
};
use crate::domain::api::{Answer, JobAnswer, Overview, SessionPage};
use crate::domain::event::Event;
use crate::domain::id::SessionKey;
use crate::domain::sanitize::one_line;

/// How many sessions' names are remembered for the log.
const MOST_NAMES: usize = 10_000;

pub(super) fn answered(model: &mut Model, ticket: Ticket, result: Result<Answer, Failure>) {
    let Some((question, asked)) = model.requests.answered(ticket) else { return };
    if requests::query(model, question).as_ref() != Some(&asked) {
        // A page before another place is not wanted any more; everything else is asked as it is now.
        if !matches!(question, Question::Earlier | Question::LogEarlier | Question::JobEarlier) {
            model.requests.mark(question, Pace::AtOnce);
        }
        return;
    }
    match result {
        Ok(answer) => take(model, question, answer),
        Err(failure) => failed(model, question, &failure),
    }
}

fn take(model: &mut Model, question: Question, answer: Answer) {
    match (question, answer) {
        (Question::Overview, Answer::Overview(overview)) => take_overview(model, *overview),
        (Question::Sessions, Answer::Sessions(page)) => take_sessions(model, page),
        (Question::PaletteSessions, Answer::Sessions(page)) => {
            let rows = page.rows.into_iter().map(ListRow::new).collect();
            picking::add_sessions(model, rows);
        }
        (Question::Front, Answer::Session(row)) => {
            let row = row.map(|row| ListRow::new(*row));
            learn_names(model, row.iter());
            front::set_row(model, row);
            seek(model);
        }
        (Question::Conversation, Answer::Conversation(page)) => {
            let reload = std::mem::take(&mut model.memory.reload);
            let reload = if reload { Reload::Replace } else { Reload::Join };
            model.conversation.take_newest(page, reload);
            if model.conversation.follows() {
                model.conversation.cursor = model.conversation.entries.last().map(|entry| entry.key);
            }
            model.dirty = true;
        }
        (Question::Earlier, Answer::Conversation(page)) => {
            model.conversation.take_earlier(page);
            model.dirty = true;
        }
        (Question::Queue, Answer::Queue(rows)) => {
            let rows: Vec<ItemRow> = rows.into_iter().map(ItemRow::new).collect();
            model.conversation.take_put_aside(&rows);
            // What runs is in the conversation.
            let mut rows: Vec<ItemRow> =
                rows.into_iter().filter(|row| row.waits() || row.was_put_aside()).collect();
            // What runs next comes first, whatever was put aside.
            rows.sort_by_key(|row| !row.waits());
            model.dirty |= model.queue.take(rows);
            walk::show_selection(model);
        }
        (Question::Backlog, Answer::Queue(rows)) => {
            let rows = rows.into_iter().map(ItemRow::new).collect();
            model.dirty |= model.backlog.take(rows);
            walk::show_selection(model);
        }
        (Question::Jobs, Answer::Jobs(JobAnswer::List(page))) => cron::take(model, *page),
        (Question::Job, Answer::Jobs(JobAnswer::Detail(found))) => cron::take_detail(model, *found),
        (Question::JobEarlier, Answer::Jobs(JobAnswer::History(runs))) => cron::take_earlier(model, runs),
        (Question::Timeline, Answer::Jobs(JobAnswer::Timeline(rows))) => cron::timeline::take(model, rows),
        (Question::Reading, answer) => cron::reading::take(model, answer),
        (Question::Parts, Answer::Jobs(JobAnswer::Parts(parts))) => job_editor::take_parts(model, *parts),
        (Question::MissingParts, Answer::Jobs(JobAnswer::Missing(faults))) => {
            job_editor::take_missing(model, faults);
        }
        (Question::Recovery, Answer::Recovery(page)) => recovery::take(model, *page),
        (Question::Alerts, Answer::Alerts(open)) => alerts::take(model, open),
        (Question::Need, Answer::Session(row)) => {
            let row = row.map(|row| ListRow::new(*row));
            learn_names(model, row.iter());
            need::found(model, row.as_ref());
        }
        (Question::Log, Answer::Events(events)) => take_log(model, events),
        (Question::LogEarlier, Answer::Events(events)) => take_earlier_log(model, events),
        (Question::Report, Answer::Report(report)) => away::take(model, *report),
        (Question::Composer, Answer::Composer(memory)) => writing::remember(model, memory),
        (question, _) => model.tell(Tone::Error, format!("the engine gave a wrong answer to {question:?}")),
    }
}

fn failed(model: &mut Model, question: Question, failure: &Failure) {
    let words = one_line(failure.words()).into_owned();
    let place = match question {
        Question::Sessions => &mut model.sessions.failed,
        Question::Conversation | Question::Earlier => &mut model.conversation.failed,
        Question::Queue => &mut model.queue.failed,
        Question::Backlog => &mut model.backlog.failed,
        Question::Jobs => &mut model.cron.failed,
        Question::Recovery => &mut model.recovery.failed,
        Question::Log | Question::LogEarlier => &mut model.log.failed,
        Question::Overview
        | Question::Alerts
        | Question::Need
        | Question::Front
        | Question::Job
        | Question::JobEarlier
        | Question::Timeline
        | Question::Reading
        | Question::Parts
        | Question::MissingParts
        | Question::Report
        | Question::Composer
        | Question::PaletteSessions => {
            return model.tell(Tone::Error, words);
        }
    };
    *place = Some(words);
    model.dirty = true;
}

fn take_overview(model: &mut Model, mut overview: Overview) {
    super::updates::clean_status(&mut overview.engine);
    super::updates::set_status(model, overview.engine.clone());
    if model.overview.as_ref().is_some_and(|before| before.needs_you != overview.needs_you) {
        model.requests.mark(Question::Alerts, Pace::AtOnce);
    }
    if model.overview.as_ref() != Some(&overview) {
        model.overview = Some(overview);
        model.dirty = true;
    }
    decide_start(model);
}

fn take_sessions(model: &mut Model, page: SessionPage) {
    let mut rows: Vec<ListRow> = page.rows.into_iter().map(ListRow::new).collect();
    for row in &mut rows {
        if let Some(known) = model.sessions.find(row.key()) {
            row.keep_last_output(known);
        }
    }
    learn_names(model, rows.iter());
    if let Some(row) = rows.iter().find(|row| *row.key() == model.front) {
        front::set_row(model, Some(row.clone()));
    }
    let left = left_window(model, &rows);
    let list = &mut model.sessions;
    let coming = list.coming.take();
    list.before = list.earlier.iter().map(|(_, rows)| rows).sum();
    list.at_end = rows.len() < list.limit;
    if list.at_end {
        list.before = page.hits.saturating_sub(rows.len());
    }
    list.failed = None;
    list.loaded = true;
    model.dirty |= list.hits != page.hits || list.total != page.total;
    list.hits = page.hits;
    list.total = page.total;
    if coming.is_none() && walk::is_frozen(model) {
        let (shown, waits) = in_present_order(&model.sessions.rows, rows);
        model.sessions.thawed = waits;
        set_rows(model, shown);
    } else {
        model.sessions.thawed = None;
        set_rows(model, rows);
    }
    match coming {
        Some(Coming::SelectFirst) => {
            model.sessions.selected = 0;
            walk::show_selected_session(model);
        }
        Some(Coming::Shift) | None => {}
    }
    walk_on(model);
    if left {
        seek_front(model);
    }
    seek(model);
    walk::show_selection(model);
    decide_start(model);
}

/// Whether the session in front, which was listed, is not among the fresh rows of the same window:
/// what it does now has moved it to another place of the list.
fn left_window(model: &Model, fresh: &[ListRow]) -> bool {
    let list = &model.sessions;
    list.coming.is_none()
        && !list.walks_to_end
        && list.find(&model.front).is_some()
        && !fresh.iter().any(|row| *row.key() == model.front)
}

/// Goes back to the top of the list to find the session in front from there. Under a filter it may
/// just match no more.
fn seek_front(model: &mut Model) {
    let list = &mut model.sessions;
    if list.filter.is_empty() {
        list.sought = Some(model.front.clone());
    } else if list.start.is_none() {
        return;
    }
    list.rewind();
    model.requests.mark(Question::Sessions, Pace::AtOnce);
}

/// Moves the window to the session in front, if that was brought there from elsewhere.
fn seek(model: &mut Model) {
    let list = &mut model.sessions;
    let Some(row) = &model.front_row else { return };
    if list.coming.is_some() || list.sought.take_if(|sought| sought == row.key()).is_none() {
        return;
    }
    match list.rows.iter().position(|listed| listed.key() == row.key()) {
        Some(index) => list.selected = index,
        None if row.row.session.ended.is_none() => {
            list.start_at(&row.row);
            model.requests.mark(Question::Sessions, Pace::AtOnce);
        }
        None => {}
    }
    walk::show_selection(model);
}

/// Shows rows; the selection follows the thing, not the row.
fn set_rows(model: &mut Model, rows: Vec<ListRow>) {
    let list = &mut model.sessions;
    if list.rows == rows {
        return;
    }
    list.rows = rows;
    let selected = list.rows.iter().position(|row| *row.key() == model.front);
    list.selected = selected.unwrap_or(list.selected).min(list.rows.len().saturating_sub(1));
    model.dirty = true;
}

/// The fresh rows in the order that is shown now; and as they came, if that is another.
fn in_present_order(present: &[ListRow], fresh: Vec<ListRow>) -> (Vec<ListRow>, Option<Vec<ListRow>>) {
    let places: HashMap<&SessionKey, usize> =
        present.iter().enumerate().map(|(index, row)| (row.key(), index)).collect();
    let place = |row: &ListRow| places.get(row.key()).copied().unwrap_or(usize::MAX);
    let mut shown: Vec<(usize, ListRow)> = fresh.iter().map(|row| (place(row), row.clone())).collect();
    if shown.is_sorted_by_key(|(place, _)| *place) {
        return (fresh, None);
    }
    shown.sort_by_key(|(place, _)| *place);
    (shown.into_iter().map(|(_, row)| row).collect(), Some(fresh))
}

/// The order of the list is free again.
pub(super) fn thaw(model: &mut Model) {
    if walk::is_frozen(model) {
        return;
    }
    if let Some(rows) = model.sessions.thawed.take() {
        set_rows(model, rows);
        walk::show_selection(model);
    }
    if model.cron.thaw() {
        model.dirty |= model.view == View::Cron;
        walk::show_selection(model);
    }
    if model.recovery.thaw() {
        model.dirty |= model.view == View::Recovery;
        walk::show_selection(model);
    }
}

/// Moves the window on towards the end of the list, if that is where the operator goes.
fn walk_on(model: &mut Model) {
    let list = &mut model.sessions;
    if !list.walks_to_end {
        return;
    }
    if list.after() > 0 && !list.rows.is_empty() {
        list.step_forward(list.rows.len());
        model.requests.mark(Question::Sessions, Pace::AtOnce);
    } else {
        list.walks_to_end = false;
        list.limit = list.rows.len().max(PAGE);
        list.selected = list.rows.len().saturating_sub(1);
        walk::show_selected_session(model);
    }
    model.dirty = true;
}

/// The focus at the start: the list if anything needs a person or there are two sessions or more,
/// else the composer. Only until the operator's first key.
fn decide_start(model: &mut Model) {
    let Some(overview) = model.overview.as_ref().filter(|_| model.sessions.loaded && !model.memory.started)
    else {
        return;
    };
    model.memory.started = true;
    if overview.needs_you > 0 || overview.sessions >= 2 {
        model.sessions.selected = 0;
        walk::show_selected_session(model);
        panes::set_focus(model, Focus::Pane(Pane::List));
    }
}

fn learn_names<'a>(model: &mut Model, rows: impl Iterator<Item = &'a ListRow>) {
    for row in rows {
        if model.memory.names.len() < MOST_NAMES || model.memory.names.contains_key(&row.row.session.id) {
            let id = &row.row.session.id;
            let name = (row.key().clone(), row.name.clone());
            if model.memory.names.insert(id.clone(), name).is_none() {
                let unnamed = model.log.rows.iter_mut().filter(|logged| logged.session() == Some(id));
                unnamed.for_each(|logged| logged.name = Some(row.name.clone()));
            }
        }
    }
}

fn log_row(model: &Model, event: &Event) -> LogRow {
    let about = About::of(event);
    let known = match &about {
        Some(About::Session(session)) => model.memory.names.get(session).map(|(_, name)| name.clone()),
        Some(About::Job(_)) | None => None,
    };
    let name = known.or_else(|| about.as_ref().map(ToString::to_string));
    LogRow {
        seq: event.seq,
        at: event.at,
        level: event.kind.level(),
        about,
        name,
        words: one_line(&event.kind.words()).into_owned(),
    }
}

fn take_log(model: &mut Model, events: Vec<Event>) {
    let more_before = events.len() == log::PAGE;
    let newest = events.last().map(|event| event.seq);
    let rows: Vec<LogRow> = events.iter().map(|event| log_row(model, event)).collect();
    let log = &mut model.log;
    log.failed = None;
    log.loaded = true;
    if matches!(log.follow, Follow::Paused { .. }) && !log.rows.is_empty() {
        return;
    }
    // Events that were heard while the answer was on its way come behind it.
    let heard =
        std::mem::take(&mut log.rows).into_iter().filter(|row| newest.is_none_or(|newest| row.seq > newest));
    log.rows = rows.into_iter().chain(heard).collect();
    log.more_before = more_before;
    log.selected = log.rows.len().saturating_sub(1);
    walk::show_selection(model);
    model.dirty = true;
}

fn take_earlier_log(model: &mut Model, events: Vec<Event>) {
    let rows: Vec<LogRow> = events.iter().map(|event| log_row(model, event)).collect();
    let log = &mut model.log;
    log.more_before = rows.len() == log::PAGE;
    let first = log.rows.front().map(|row| row.seq);
    for row in rows.into_iter().rev().filter(|row| first.is_none_or(|first| row.seq < first)) {
        log.rows.push_front(row);
        log.selected += 1;
        log.top += 1;
    }
    if log.rows.len() > log::MOST_ROWS {
        // The newest give way; G reads them again.
        let given_up = log.rows.len() - log::MOST_ROWS;
        log.rows.truncate(log::MOST_ROWS);
        if let Follow::Paused { new } = &mut log.follow {
            *new += given_up;
        }
    }
    walk::show_selection(model);
    model.dirty = true;
}

/// Adds an event to the log, if it belongs there.
pub(super) fn add_to_log(model: &mut Model, event: &Event) {
    let log = &model.log;
    let wanted = log.loaded
        && event.kind.level() >= log.level
        && (log.only.is_none() || log.only == About::of(event))
        && log.rows.back().is_none_or(|last| last.seq < event.seq);
    if !wanted {
        return;
    }
    let row = log_row(model, event);
    let log = &mut model.log;
    match &mut log.follow {
        Follow::Paused { new } => *new += 1,
        Follow::On => {
            log.rows.push_back(row);
            if log.rows.len() > log::MOST_ROWS {
                log.rows.pop_front();
                log.more_before = true;
            }
            log.selected = log.rows.len() - 1;
            walk::show_selection(model);
        }
    }
    model.dirty |= model.view == View::Log;
}

impl ItemList {
    /// Takes in rows; the selection follows the item. True if something changed.
    fn take(&mut self, rows: Vec<ItemRow>) -> bool {
        let first = !self.loaded || self.failed.is_some();
        self.loaded = true;
        self.failed = None;
        if self.all == rows {
            return first;
        }
        self.all = rows;
        self.refilter();
        true
    }

    /// Narrows the rows to those that the filter lets through.
    pub(super) fn refilter(&mut self) {
        let wanted = self.filter.text().to_lowercase();
        let selected = self.current().map(ItemRow::id);
        let fits = |row: &&ItemRow| {
            [&row.excerpt, &row.session_name].iter().any(|text| text.to_lowercase().contains(&wanted))
        };
        self.rows = self.all.iter().filter(fits).cloned().collect();
        let place = selected.and_then(|id| self.rows.iter().position(|row| row.id() == id));
        self.selected = place.unwrap_or(self.selected).min(self.rows.len().saturating_sub(1));
    }
}
