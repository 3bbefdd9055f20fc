//! Moving: in lists, in the conversation, between panes, and outward.

use super::action::Action;
use super::conversation::Scroll;
use super::focus::{Focus, Pane, View};
use super::log::Follow;
use super::msg::{Anchor, Effect, Pace, Question, Timer};
use super::sessions::{Coming, PAGE};
use super::text::TextField;
use super::{Model, acts, asking, front, writing};
use crate::domain::id::SessionKey;

/// How long the order of a list stays as it is after a key in it.
pub(super) const FROZEN: chrono::TimeDelta = chrono::TimeDelta::seconds(3);
/// The window of the session list is moved on when the selection comes this near its edge.
const NEAR_EDGE: usize = 50;
/// The most rows that the window of the session list holds.
const WINDOW: usize = 3 * PAGE;
/// The window while it walks to the end of a long list.
const WALKING_WINDOW: usize = 1000;

/// A list that has the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rows {
    Sessions,
    Backlog,
    Queue,
    Log,
}

/// The list with the focus; none in the conversation and in text fields.
pub(super) fn rows(model: &Model) -> Option<Rows> {
    match (model.pane, model.view) {
        (Pane::List, View::Sessions) => Some(Rows::Sessions),
        (Pane::List, View::Queue) => Some(Rows::Backlog),
        (Pane::List, View::Log) => Some(Rows::Log),
        (Pane::Queue, _) => Some(Rows::Queue),
        (Pane::Conversation | Pane::Composer | Pane::Filter, _) => None,
    }
}

/// Moves within the pane with the focus. False if the action is no movement.
pub(super) fn move_by(model: &mut Model, action: Action) -> bool {
    let page = page_height(model);
    let step = match action {
        Action::Down => Step::By(1),
        Action::Up => Step::By(-1),
        Action::PageDown => Step::By(page),
        Action::PageUp => Step::By(-page),
        Action::HalfDown => Step::By((page / 2).max(1)),
        Action::HalfUp => Step::By(-(page / 2).max(1)),
        Action::First => Step::First,
        Action::Last => Step::Last,
        _ => return false,
    };
    match rows(model) {
        Some(list) => move_in_list(model, list, step),
        None => move_in_conversation(model, action, step),
    }
    true
}

/// How far a movement goes.
#[derive(Debug, Clone, Copy)]
enum Step {
    By(i64),
    First,
    Last,
}

impl Step {
    fn from(self, index: usize, length: usize) -> usize {
        let last = length.saturating_sub(1);
        match self {
            Self::By(rows) => index.saturating_add_signed(rows as isize).min(last),
            Self::First => 0,
            Self::Last => last,
        }
    }
}

fn page_height(model: &Model) -> i64 {
    let measured = &model.measured;
    let rows = match rows(model) {
        Some(Rows::Queue) => measured.queue_rows,
        Some(_) => measured.list_rows,
        None => measured.conversation_lines,
    };
    rows.saturating_sub(1).max(1) as i64
}

fn move_in_list(model: &mut Model, list: Rows, step: Step) {
    match list {
        Rows::Sessions => move_in_sessions(model, step),
        Rows::Backlog => model.backlog.selected = step.from(model.backlog.selected, model.backlog.rows.len()),
        Rows::Queue => model.queue.selected = step.from(model.queue.selected, model.queue.rows.len()),
        Rows::Log => move_in_log(model, step),
    }
    show_selection(model);
}

fn move_in_sessions(model: &mut Model, step: Step) {
    let list = &mut model.sessions;
    list.walks_to_end = false;
    match step {
        Step::First if !list.earlier.is_empty() => {
            list.rewind();
            list.coming = Some(Coming::SelectFirst);
            model.requests.mark(Question::Sessions, Pace::AtOnce);
            return;
        }
        Step::Last if list.after() > 0 => {
            list.walks_to_end = true;
            list.limit = WALKING_WINDOW;
            model.requests.mark(Question::Sessions, Pace::AtOnce);
        }
        _ => {}
    }
    list.selected = step.from(list.selected, list.rows.len());
    shift_window(model);
    show_selected_session(model);
}

/// Puts the selected session in front: moving in the list shows the conversation at once.
pub(super) fn show_selected_session(model: &mut Model) {
    let key: Option<SessionKey> = model.sessions.current().map(|row| row.key().clone());
    if let Some(key) = key {
        front::show(model, &key);
    }
}

/// Moves the window of the session list on when the selection comes near its edge.
fn shift_window(model: &mut Model) {
    let list = &mut model.sessions;
    if list.coming.is_some() {
        return;
    }
    let near_end = list.selected + NEAR_EDGE >= list.rows.len() && list.after() > 0;
    if near_end && !list.walks_to_end {
        match list.limit + PAGE <= WINDOW {
            true => list.limit += PAGE,
            false => list.step_forward(PAGE),
        }
        list.coming = Some(Coming::Shift);
        model.requests.mark(Question::Sessions, Pace::AtOnce);
    } else if list.selected < NEAR_EDGE && !list.earlier.is_empty() {
        list.step_back();
        list.limit = WINDOW;
        model.requests.mark(Question::Sessions, Pace::AtOnce);
    }
}

fn move_in_log(model: &mut Model, step: Step) {
    let log = &mut model.log;
    log.selected = step.from(log.selected, log.rows.len());
    let at_end = log.selected + 1 >= log.rows.len();
    match (step, at_end, log.follow) {
        (Step::Last, _, Follow::Paused { .. }) | (Step::By(1..), true, Follow::Paused { new: 1.. }) => {
            log.follow = Follow::On;
            model.requests.mark(Question::Log, Pace::AtOnce);
        }
        (Step::Last, ..) | (_, true, Follow::Paused { new: 0 }) => log.follow = Follow::On,
        (_, false, Follow::On) => log.follow = Follow::Paused { new: 0 },
        _ => {}
    }
    if log.selected < NEAR_EDGE && log.more_before && log.loaded {
        model.requests.mark(Question::LogEarlier, Pace::AtOnce);
    }
}

/// Moves the shown part of every list as little as needed to show its selected row.
pub(super) fn show_selection(model: &mut Model) {
    let fit = |top: &mut usize, selected: usize, rows: usize| {
        let lowest = (selected + 1).saturating_sub(rows.max(1));
        *top = (*top).clamp(lowest, selected.max(lowest));
    };
    let (list_rows, queue_rows) = (model.measured.list_rows, model.measured.queue_rows);
    fit(&mut model.sessions.top, model.sessions.selected, list_rows);
    fit(&mut model.backlog.top, model.backlog.selected, list_rows);
    fit(&mut model.log.top, model.log.selected, list_rows);
    fit(&mut model.queue.top, model.queue.selected, queue_rows);
}

fn move_in_conversation(model: &mut Model, action: Action, step: Step) {
    match (action, step) {
        (Action::Up | Action::Down, Step::By(rows)) => move_cursor(model, rows),
        (_, Step::By(lines)) => scroll_by(model, lines),
        (_, Step::First) => scroll_to_first(model),
        (_, Step::Last) => follow(model),
    }
}

/// Moves the conversation's cursor by entries.
pub(super) fn move_cursor(model: &mut Model, by: i64) {
    let conversation = &mut model.conversation;
    let length = conversation.entries.len();
    let Some(last) = length.checked_sub(1) else { return };
    let to = match conversation.cursor_index() {
        Some(index) if index == last && by > 0 => return follow(model),
        Some(index) => index.saturating_add_signed(by as isize).min(last),
        None => last,
    };
    put_cursor(model, to);
}

/// Puts the conversation's cursor on an entry and shows it.
pub(super) fn put_cursor(model: &mut Model, index: usize) {
    let conversation = &mut model.conversation;
    let Some(entry) = conversation.entries.get(index) else { return };
    conversation.cursor = Some(entry.key);
    let top = model.measured.conversation_top.unwrap_or(Anchor { entry: entry.key, lines: 0 });
    conversation.scroll = Scroll::Reveal(top);
    if index == 0 && conversation.more_before {
        model.requests.mark(Question::Earlier, Pace::AtOnce);
    }
    model.dirty = true;
}

/// Scrolls the conversation by lines.
pub(super) fn scroll_by(model: &mut Model, lines: i64) {
    let Some(last) = model.conversation.entries.last() else { return };
    if lines > 0 && (model.conversation.follows() || model.measured.lines_below as i64 <= lines) {
        return follow(model);
    }
    if lines < 0 && model.measured.top_shown {
        if model.conversation.more_before {
            model.requests.mark(Question::Earlier, Pace::AtOnce);
        }
        return;
    }
    let here = match model.conversation.scroll {
        Scroll::At(anchor) => anchor,
        _ => model.measured.conversation_top.unwrap_or(Anchor { entry: last.key, lines: 0 }),
    };
    model.conversation.scroll = Scroll::At(Anchor { lines: here.lines + lines, ..here });
    model.dirty = true;
}

/// Goes to the first loaded line; more is loaded when it is shown.
pub(super) fn scroll_to_first(model: &mut Model) {
    let Some(first) = model.conversation.entries.first() else { return };
    let entry = first.key;
    model.conversation.cursor = Some(entry);
    model.conversation.scroll = Scroll::At(Anchor { entry, lines: 0 });
    if model.conversation.more_before {
        model.requests.mark(Question::Earlier, Pace::AtOnce);
    }
    model.dirty = true;
}

/// Follows the newest line again.
pub(super) fn follow(model: &mut Model) {
    model.conversation.scroll = Scroll::Follow;
    model.conversation.cursor = model.conversation.entries.last().map(|entry| entry.key);
    if model.conversation.more_after {
        model.memory.reload = true;
        model.requests.mark(Question::Conversation, Pace::AtOnce);
    }
    model.dirty = true;
}

/// Replaces a scroll place by where the drawing found it to be.
pub(super) fn settle_scroll(model: &mut Model) {
    let (Scroll::At(_) | Scroll::Reveal(_)) = model.conversation.scroll else { return };
    let Some(top) = model.measured.conversation_top else { return };
    let conversation = &mut model.conversation;
    let cursor_is_last = conversation.cursor.is_none()
        || conversation.cursor == conversation.entries.last().map(|entry| entry.key);
    let at_end = model.measured.lines_below == 0 && !conversation.more_after;
    conversation.scroll = match (at_end && cursor_is_last, conversation.scroll) {
        (true, _) => Scroll::Follow,
        (false, _) => Scroll::At(top),
    };
}

/// The turn before or behind the cursor: the person's words that began it.
pub(super) fn move_turn(model: &mut Model, direction: i64) {
    let entries = &model.conversation.entries;
    let begins = |index: &usize| matches!(entries[*index].body, super::conversation::ShownBody::User { .. });
    let here = model.conversation.cursor_index().unwrap_or(entries.len());
    let to = match direction {
        ..0 => (0..here).rev().find(begins),
        _ => (here.saturating_add(1)..entries.len()).find(begins),
    };
    match to {
        Some(index) => put_cursor(model, index),
        None if direction > 0 => follow(model),
        None => put_cursor(model, 0),
    }
}

/// The panes of the ring, in order.
fn ring(model: &Model) -> Vec<Focus> {
    let mut ring = Vec::new();
    if model.card.as_ref().is_some_and(|card| !card.hidden) {
        ring.push(Focus::Card);
    }
    ring.push(Focus::Pane(Pane::List));
    if model.view == View::Sessions {
        ring.push(Focus::Pane(Pane::Conversation));
        if !model.queue.rows.is_empty() {
            ring.push(Focus::Pane(Pane::Queue));
        }
        ring.push(Focus::Pane(Pane::Composer));
    }
    ring
}

/// The next pane of the ring, or the one before.
pub(super) fn tab(model: &mut Model, direction: i64) {
    let ring = ring(model);
    let here = match model.focus() {
        // The filter belongs to its list.
        Focus::Pane(Pane::Filter) => Focus::Pane(filter_pane(model)),
        focus => focus,
    };
    let index = ring.iter().position(|focus| *focus == here).unwrap_or(0);
    let next = (index as i64 + direction).rem_euclid(ring.len() as i64) as usize;
    set_focus(model, ring[next]);
}

/// Gives the focus.
pub(super) fn set_focus(model: &mut Model, focus: Focus) {
    let now = model.now;
    if let Some(card) = &mut model.card {
        card.focused_at = (focus == Focus::Card).then_some(now);
    }
    if let Focus::Pane(pane) = focus {
        model.pane = pane;
        if pane == Pane::Conversation && model.conversation.cursor.is_none() {
            model.conversation.cursor = model.conversation.entries.last().map(|entry| entry.key);
        }
    }
    model.dirty = true;
}

/// One step along the ring without going round.
pub(super) fn sideways(model: &mut Model, direction: i64) {
    let ring = ring(model);
    let Some(index) = ring.iter().position(|focus| *focus == model.focus()) else { return };
    if let Some(next) = index.checked_add_signed(direction as isize).and_then(|next| ring.get(next)) {
        set_focus(model, *next);
    }
}

/// Out by one step: popup, overlay, card, filter, pane. Never quits, stops or loses text.
pub(super) fn out(model: &mut Model) {
    if !model.pending.is_empty() {
        model.pending.clear();
        return;
    }
    match model.focus() {
        Focus::Overlay => asking::close(model),
        Focus::Card => hide_card(model),
        Focus::Pane(Pane::Composer) if writing::close_popup(model) => {}
        Focus::Pane(Pane::Filter) => {
            filter_field(model).set("");
            filter_changed(model);
            model.pane = filter_pane(model);
        }
        Focus::Pane(Pane::List) => {
            if !held_filter(model).is_empty() {
                filter_field(model).set("");
                filter_changed(model);
            } else {
                model.zoomed = false;
            }
        }
        Focus::Pane(_) => model.pane = Pane::List,
    }
    model.dirty = true;
}

fn hide_card(model: &mut Model) {
    if let Some(card) = &mut model.card {
        card.focused_at = None;
        card.hidden = true;
    }
}

/// Back by one step; at the top the quit dialog.
pub(super) fn back(model: &mut Model) {
    match model.focus() {
        Focus::Pane(Pane::List) if model.zoomed || !held_filter(model).is_empty() => out(model),
        Focus::Pane(Pane::List) if model.view != View::Sessions => acts::show_view(model, View::Sessions),
        Focus::Pane(Pane::List) => asking::ask_quit(model),
        _ => out(model),
    }
}

/// The pane whose filter or search has the text focus, or would get it.
pub fn filter_pane(model: &Model) -> Pane {
    match (model.pane, model.memory.filter_of) {
        (Pane::Filter, Some(pane)) => pane,
        (Pane::Conversation, _) => Pane::Conversation,
        _ => Pane::List,
    }
}

/// The text of the filter or search that has, or would get, the text focus.
pub(super) fn held_filter(model: &Model) -> &TextField {
    match (filter_pane(model), model.view) {
        (Pane::Conversation, _) => &model.conversation.search,
        (_, View::Sessions) => &model.sessions.filter,
        (_, View::Queue) => &model.backlog.filter,
        (_, View::Log) => &model.log.search,
    }
}

pub(super) fn filter_field(model: &mut Model) -> &mut TextField {
    match (filter_pane(model), model.view) {
        (Pane::Conversation, _) => &mut model.conversation.search,
        (_, View::Sessions) => &mut model.sessions.filter,
        (_, View::Queue) => &mut model.backlog.filter,
        (_, View::Log) => &mut model.log.search,
    }
}

/// Opens the filter of a list, or the search of conversation and log.
pub(super) fn open_filter(model: &mut Model) {
    model.memory.filter_of = Some(filter_pane(model));
    model.pane = Pane::Filter;
}

/// Does what must follow a change of the filter.
pub(super) fn filter_changed(model: &mut Model) {
    match (filter_pane(model), model.view) {
        (Pane::List, View::Sessions) => {
            model.sessions.rewind();
            model.sessions.selected = 0;
            model.requests.mark(Question::Sessions, Pace::AtOnce);
        }
        (Pane::List, View::Queue) => model.backlog.refilter(),
        _ => {}
    }
    model.dirty = true;
}

/// Enter in the filter: it holds. A slash command typed there by mistake goes to the composer.
pub(super) fn accept_filter(model: &mut Model) {
    if let Some(command) = filter_offers(model) {
        filter_field(model).set("");
        filter_changed(model);
        model.pane = Pane::Composer;
        writing::insert(model, &command);
        return;
    }
    let pane = filter_pane(model);
    let searches = pane == Pane::Conversation || model.view == View::Log;
    model.pane = pane;
    if searches {
        // From the newest backward: what was said last is what is looked for most often.
        model.conversation.cursor = model.conversation.cursor.filter(|_| pane != Pane::Conversation);
        next_match(model, -1);
    } else if model.view == View::Sessions && model.sessions.find(&model.front).is_none() {
        show_selected_session(model);
    }
}

/// The slash command that was typed into the session filter and fits no session: Enter would put
/// it into the composer.
pub fn filter_offers(model: &Model) -> Option<String> {
    if model.view != View::Sessions || filter_pane(model) != Pane::List || model.sessions.hits > 0 {
        return None;
    }
    let typed = model.sessions.filter.text();
    let typed = typed.trim_start_matches('/');
    let word = typed.split_whitespace().next()?;
    crate::domain::slash::find(word).map(|_| format!("/{typed}"))
}

/// The next match of the search (1) or the one before (-1).
pub(super) fn next_match(model: &mut Model, direction: i64) {
    let wanted = held_filter(model).text().to_lowercase();
    if wanted.is_empty() {
        let key = super::typing::key_name(model, Action::Filter);
        return model.tell(super::msg::Tone::Info, format!("nothing is searched for: {key} first"));
    }
    let found = match (filter_pane(model), model.view) {
        (Pane::Conversation, _) => {
            let entries = &model.conversation.entries;
            let here = model.conversation.cursor_index().unwrap_or(entries.len());
            find(here, entries.len(), direction, |index| entries[index].contains(&wanted))
        }
        (_, View::Log) => {
            let rows = &model.log.rows;
            find(model.log.selected, rows.len(), direction, |index| {
                rows[index].words.to_lowercase().contains(&wanted)
            })
        }
        // A filtered list holds matches only.
        _ => {
            move_by(model, if direction > 0 { Action::Down } else { Action::Up });
            return;
        }
    };
    match (found, filter_pane(model)) {
        (Some(index), Pane::Conversation) => put_cursor(model, index),
        (Some(index), _) => {
            move_in_log(model, Step::By(index as i64 - model.log.selected as i64));
            show_selection(model);
        }
        (None, _) => {
            model.tell(super::msg::Tone::Info, format!("no other match of {wanted:?} in what is loaded"));
        }
    }
}

fn find(here: usize, length: usize, direction: i64, matches: impl Fn(usize) -> bool) -> Option<usize> {
    match direction {
        ..0 => (0..here.min(length)).rev().find(|index| matches(*index)),
        _ => (here.saturating_add(1)..length).find(|index| matches(*index)),
    }
}

/// A key came in a list that has the focus: its order stands still for a while.
pub(super) fn freeze(model: &mut Model) {
    if model.focus() == Focus::Pane(Pane::List) {
        model.memory.list_key_at = Some(model.now);
        model.effects.push(Effect::Timer { timer: Timer::Thaw, at: model.now + FROZEN });
    }
}

/// Whether the order of the list stands still.
pub(super) fn is_frozen(model: &Model) -> bool {
    model.focus() == Focus::Pane(Pane::List)
        && model.memory.list_key_at.is_some_and(|at| model.now - at < FROZEN)
}

/// Selects a row of the log.
pub(super) fn select_log_row(model: &mut Model, index: usize) {
    move_in_log(model, Step::By(index as i64 - model.log.selected as i64));
    show_selection(model);
}

/// Moves in the log by rows.
pub(super) fn scroll_log(model: &mut Model, rows: i64) {
    move_in_log(model, Step::By(rows));
    show_selection(model);
}
