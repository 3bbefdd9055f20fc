//! The filter of lists, and the search in conversation and log: one text field, one pane's at a time.

use super::action::Action;
use super::focus::{Pane, View};
use super::msg::{Pace, Question, Tone};
use super::text::TextField;
use super::{Model, cron, scroll, typing, walk, writing};

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
        (_, View::Cron) => &model.cron.filter,
        (_, View::Recovery) => &model.recovery.filter,
        (_, View::Log) => &model.log.search,
    }
}

pub(super) fn filter_field(model: &mut Model) -> &mut TextField {
    match (filter_pane(model), model.view) {
        (Pane::Conversation, _) => &mut model.conversation.search,
        (_, View::Sessions) => &mut model.sessions.filter,
        (_, View::Queue) => &mut model.backlog.filter,
        (_, View::Cron) => &mut model.cron.filter,
        (_, View::Recovery) => &mut model.recovery.filter,
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
        (Pane::List, View::Cron) => {
            model.cron.refilter();
            cron::selection_changed(model);
        }
        (Pane::List, View::Recovery) => model.recovery.refilter(),
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
        walk::show_selected_session(model);
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
        let key = typing::key_name(model, Action::Filter);
        return model.tell(Tone::Note, format!("nothing is searched for: {key} first"));
    }
    let (here, matches): (usize, Vec<usize>) = match (filter_pane(model), model.view) {
        (Pane::Conversation, _) => {
            let entries = &model.conversation.entries;
            let here = model.conversation.cursor_index().unwrap_or(entries.len());
            (here, (0..entries.len()).filter(|index| entries[*index].contains(&wanted)).collect())
        }
        (_, View::Log) => {
            let rows = &model.log.rows;
            let fits = |index: &usize| rows[*index].words.to_lowercase().contains(&wanted);
            (model.log.selected, (0..rows.len()).filter(fits).collect())
        }
        // A filtered list holds matches only.
        _ => {
            walk::move_by(model, if direction > 0 { Action::Down } else { Action::Up });
            return;
        }
    };
    let Some((place, round)) = next(here, &matches, direction) else {
        return model.tell(Tone::Note, format!("nothing matches {wanted:?} in what is loaded"));
    };
    match filter_pane(model) {
        Pane::Conversation => scroll::put_cursor(model, matches[place]),
        _ => walk::select_log_row(model, matches[place]),
    }
    model.tell(Tone::Note, format!("match {} of {}{round}", place + 1, matches.len()));
}

/// The place among `matches` of the next one from `here`, going round at the end; and that it did.
fn next(here: usize, matches: &[usize], direction: i64) -> Option<(usize, &'static str)> {
    let last = matches.len().checked_sub(1)?;
    Some(match direction {
        ..0 => match matches.partition_point(|index| *index < here) {
            0 => (last, ", from the end again"),
            before => (before - 1, ""),
        },
        _ => match matches.partition_point(|index| *index <= here) {
            behind if behind > last => (0, ", from the top again"),
            behind => (behind, ""),
        },
    })
}
