//! What each action does.

use super::action::Action;
use super::focus::{Focus, Pane, View};
use super::keymap::Context;
use super::log::{About, Follow};
use super::model::{Armed, Link, LongLines, TimeStyle};
use super::msg::{Effect, MouseOwner, Pace, Question, Ticket, Timer, Tone};
use super::overlay::{Deed, Overlay};
use super::replies::Purpose;
use super::{
    Model, alerts, approvals, asking, availability, away, completing, cron, front, item_acts, job_editor,
    need, notices, panes, picking, recovery, scroll, search, typing, walk, why, words, writing,
};
use crate::domain::api::Command;
use crate::domain::event::Level;
use crate::domain::id::TurnId;
use crate::domain::marker::Marker;
use crate::domain::queue::Intent;

/// ctrl-c stops the turn in front if it comes again within this time.
const ARMED_FOR: chrono::TimeDelta = chrono::TimeDelta::seconds(2);

/// Does an action, or says why not.
pub(super) fn run(model: &mut Model, action: Action) {
    model.dirty = true;
    walk::freeze(model);
    match availability::why_not(model, action) {
        Some(why) => model.tell(Tone::Warn, format!("{}: {why}", action.spec().title)),
        None => perform(model, action),
    }
}

/// Gives a command to the engine.
pub(super) fn command(model: &mut Model, purpose: Purpose, command: Command) -> Ticket {
    if !matches!(purpose, Purpose::SaveDraft | Purpose::Look) {
        notices::operator_acts(model);
        away::close(model);
    }
    let ticket = model.requests.ticket();
    model.memory.purposes.insert(ticket, purpose);
    model.effects.push(Effect::Command { ticket, command });
    ticket
}

/// Gives a command whose reply is told as a notice.
pub(super) fn act(model: &mut Model, command: Command) {
    self::command(model, Purpose::Act, command);
}

fn perform(model: &mut Model, action: Action) {
    use Action as A;
    match action {
        A::Help => picking::open_help(model),
        A::Palette => picking::open_palette(model),
        A::NextNeed => need::next(model),
        A::Acknowledge => alerts::acknowledge(model),
        A::ViewSessions => show_view(model, View::Sessions),
        A::ViewQueue => show_view(model, View::Queue),
        A::ViewCron => show_view(model, View::Cron),
        A::ViewRecovery => show_view(model, View::Recovery),
        A::ViewLog => show_view(model, View::Log),
        A::LastView => show_view(model, model.last_view),
        A::UndoAct => {
            if let Some(undo) = notices::take_undo(model) {
                self::command(model, Purpose::Undo { words: undo.words }, undo.command);
            }
        }
        A::StepBack => asking::step_back(model),
        A::Redraw => model.effects.push(Effect::Redraw),
        A::Suspend => model.effects.push(Effect::Suspend),
        A::NextPane if completing::tab_completes(model) => completing::complete(model),
        A::NextPane => tab(model, 1),
        A::PreviousPane => tab(model, -1),
        A::Out => panes::out(model),
        A::Back => panes::back(model),
        A::Quit => asking::ask_quit(model),
        A::Zoom => model.zoomed = !model.zoomed,
        A::Wrap => {
            model.long_lines = match model.long_lines {
                LongLines::Wrap => LongLines::Cut,
                LongLines::Cut => LongLines::Wrap,
            }
        }
        A::Times => {
            model.times = match model.times {
                TimeStyle::Absolute => TimeStyle::Relative,
                TimeStyle::Relative => TimeStyle::Absolute,
            }
        }
        A::FoldAll => model.conversation.fold_all(),
        A::MouseToggle => toggle_mouse(model),
        A::Copy => copy(model, why::subject_text(model)),
        A::CopyId => copy(model, why::subject_id(model)),
        A::Why if cron::file::compares(model) => cron::file::compare(model),
        A::Why => {
            if let Some((title, text)) = why::card(model) {
                asking::show_text(model, &title, &text);
            }
        }
        A::Notices => asking::show_text(model, "notices", &notices::told(model)),
        A::Hold => act(model, Command::Hold { why: "held by the operator".to_owned() }),
        A::Release => act(model, Command::Release),
        A::Reconnect => asking::reconnect(model),
        A::StartHere => asking::start_here(model),
        A::IntoNext => panes::sideways(model, 1),
        A::ToPrevious => panes::sideways(model, -1),
        A::Filter => search::open_filter(model),
        A::NextMatch => search::next_match(model, 1),
        A::PreviousMatch => search::next_match(model, -1),
        A::Open if model.pane == Pane::List && approvals::focus(model) => {}
        A::Open | A::Compose => compose(model),
        A::NewSession => picking::ask_name(model),
        A::GoOn => go_on(model),
        A::StopTurn => ask_stop(model),
        A::PreviousMemory => ask_previous(model),
        A::CarryOver => {
            let session = model.front_row.as_ref().map(|row| &row.row.session.id);
            if let Some(from) = session.and_then(|session| model.alerts.left_for(session)) {
                act(model, Command::CarryOver { from });
            }
        }
        A::Fold => model.conversation.toggle_fold(),
        A::PreviousTurn => scroll::move_turn(model, -1),
        A::NextTurn => scroll::move_turn(model, 1),
        A::MoreLevels => set_level(model, -1),
        A::FewerLevels => set_level(model, 1),
        A::OnlySession => only_session(model),
        A::OpenSubject => open_subject(model),
        A::Send => writing::enter(model),
        A::SendQueued => writing::send(model, Intent::Queue),
        A::HistoryUp | A::HistoryDown => writing::vertical(model, action),
        A::HistorySearch => writing::search_history(model),
        A::ScrollUp => scroll::scroll_by(model, -scroll_page(model)),
        A::ScrollDown => scroll::scroll_by(model, scroll_page(model)),
        A::ScrollFirst => scroll::scroll_to_first(model),
        A::ScrollFollow => scroll::follow(model),
        A::ExternalEditor => external_editor(model),
        A::Save if job_editor::is_open(model) => job_editor::save(model),
        A::Save => item_acts::save(model),
        A::Accept if model.focus() == Focus::Pane(Pane::Filter) => search::accept_filter(model),
        A::Accept => picking::accept(model),
        A::PickerUp | A::PickerDown | A::PickerPageUp | A::PickerPageDown => picker_key(model, action),
        A::Close if matches!(model.overlays.last(), Some(Overlay::Viewer(_))) => panes::out(model),
        A::ViewerCopy => {
            if let Some(Overlay::Viewer(viewer)) = model.overlays.last() {
                copy(model, Some(viewer.text.clone()));
            }
        }
        A::ViewerUp
        | A::ViewerDown
        | A::ViewerPageUp
        | A::ViewerPageDown
        | A::ViewerFirst
        | A::ViewerLast => scroll_viewer(model, action),
        action if job_editor::press(model, action) => {}
        A::EnterField => item_acts::text_key(model, A::NewLine),
        action if action.spec().home == Context::Cron => cron::act::perform(model, action),
        action if action.spec().home == Context::Queue => item_acts::perform(model, action),
        action if action.spec().home == Context::Recovery => recovery::perform(model, action),
        action if walk::move_by(model, action) => {}
        action if asking::press(model, action) => {}
        action if typing::in_text(model) => item_acts::text_key(model, action),
        action => model.tell(Tone::Note, format!("{} does nothing here", action.spec().title)),
    }
}

/// Opens a view.
pub(super) fn show_view(model: &mut Model, view: View) {
    if model.view == view || !close_overlays(model) {
        return;
    }
    model.last_view = model.view;
    model.view = view;
    model.pane = Pane::List;
    match view {
        View::Sessions => {}
        View::Queue => model.requests.mark(Question::Backlog, Pace::AtOnce),
        View::Cron => cron::open(model),
        View::Recovery => {
            // Entered at the newest start.
            model.recovery.wanted = None;
            model.requests.mark(Question::Recovery, Pace::AtOnce);
        }
        View::Log if !model.log.loaded => model.requests.mark(Question::Log, Pace::AtOnce),
        View::Log => {}
    }
    walk::show_selection(model);
    model.dirty = true;
}

/// Closes every overlay; not if that would lose a changed text. False if it stays.
pub(super) fn close_overlays(model: &mut Model) -> bool {
    if model.overlays.iter().any(Overlay::is_changed) {
        model.tell(Tone::Warn, "what is edited here was changed: save it or leave it first");
        return false;
    }
    model.overlays.clear();
    true
}

fn tab(model: &mut Model, direction: i64) {
    match model.focus() {
        Focus::Overlay => match (model.overlays.last(), direction) {
            (Some(Overlay::Picker(_)), 1) => picking::move_mark(model, Action::PickerDown),
            (Some(Overlay::Picker(_)), _) => picking::move_mark(model, Action::PickerUp),
            (Some(Overlay::Confirm(_)), 1) => drop(asking::press(model, Action::ButtonRight)),
            (Some(Overlay::Confirm(_)), _) => drop(asking::press(model, Action::ButtonLeft)),
            (Some(Overlay::JobEditor(_)), _) => job_editor::step(model, direction),
            _ => {}
        },
        _ => panes::tab(model, direction),
    }
}

fn toggle_mouse(model: &mut Model) {
    let (owner, words) = match model.mouse {
        MouseOwner::Console => {
            (MouseOwner::Terminal, "the mouse is the terminal's: select and copy as usual")
        }
        MouseOwner::Terminal => (MouseOwner::Console, "the mouse is the console's: click and scroll"),
    };
    model.mouse = owner;
    model.effects.push(Effect::Mouse(owner));
    model.tell(Tone::Info, words);
}

fn copy(model: &mut Model, text: Option<String>) {
    if let Some(text) = text {
        model.effects.push(Effect::Copy(text));
    }
}

fn compose(model: &mut Model) {
    if walk::rows(model) == Some(walk::Rows::Backlog) {
        item_acts::perform(model, Action::GoToSession);
    }
    show_view(model, View::Sessions);
    panes::set_focus(model, Focus::Pane(Pane::Composer));
}

/// Goes on with what stands: the engine that is gone, a held queue, a turn that failed.
fn go_on(model: &mut Model) {
    if matches!(model.link, Link::Gone { .. }) {
        return asking::reconnect(model);
    }
    if let Some(item) = item_acts::put_aside_under_cursor(model) {
        return act(model, Command::RestoreItems { items: vec![item] });
    }
    let Some(row) = &model.front_row else { return };
    let session = row.row.session.id.clone();
    match (row.row.session.marker, row.row.session.hold) {
        (Some(Marker::Suspended(_)), _) => act(model, Command::Unsuspend { session }),
        (Some(Marker::ResumePending(_)), _) | (None, Some(_)) => act(model, Command::Continue { session }),
        (None, None) => writing::submit(model, model.front.clone(), "/retry".to_owned(), Intent::Plain),
    }
}

fn ask_stop(model: &mut Model) {
    let Some((row, turn)) = model.front_row.as_ref().and_then(|row| Some((row, row.row.turn.as_ref()?)))
    else {
        return;
    };
    let question = format!("Stop the running turn of {}?", row.name);
    let detail = format!(
        "It runs since {}. What it has said is kept. {}",
        words::clock(model, turn.since),
        match row.waiting() {
            0 => "Nothing waits behind it.".to_owned(),
            waiting => format!(
                "{} behind it: the queue is held, the next message is set aside.",
                words::count(waiting, "message")
            ),
        }
    );
    let session = row.row.session.id.clone();
    let deed = Deed::Command(Box::new(Command::StopTurn { session, turn: Some(turn.turn) }));
    asking::ask(model, &question, &detail, "stop it", deed);
}

/// Arms the stop of the turn in front.
pub(super) fn arm(model: &mut Model, turn: TurnId) {
    let until = model.now + ARMED_FOR;
    model.armed = Some(Armed { turn, until });
    model.effects.push(Effect::Timer { timer: Timer::Disarm, at: until });
    let words = format!("again within 2 s stops the turn of {}", front::name(model));
    notices::push_lasting(model, Tone::Warn, &words, None, notices::Lasts::WhileArmed);
}

fn ask_previous(model: &mut Model) {
    let Some(row) = &model.front_row else { return };
    let Some(previous) = row.row.session.previous.clone() else { return };
    let question = format!("Bring the previous memory of {} back?", row.name);
    let detail = format!("{previous} becomes current again; the present memory ends and is kept.");
    let deed = Deed::Command(Box::new(Command::BringBack { session: previous }));
    asking::ask(model, &question, &detail, "bring it back", deed);
}

fn set_level(model: &mut Model, direction: i64) {
    let here = Level::ALL.iter().position(|level| *level == model.log.level).unwrap_or(0);
    let there = here.saturating_add_signed(direction as isize).min(Level::ALL.len() - 1);
    choose_level(model, Level::ALL[there]);
}

/// Shows the log from a level on.
pub(super) fn choose_level(model: &mut Model, level: Level) {
    model.log.level = level;
    reload_log(model);
}

fn only_session(model: &mut Model) {
    model.log.only = match model.log.only {
        Some(_) => None,
        None => model.log.current().and_then(|row| row.about.clone()),
    };
    reload_log(model);
}

fn reload_log(model: &mut Model) {
    model.log.rows.clear();
    model.log.loaded = false;
    model.log.more_before = true;
    model.log.follow = Follow::On;
    model.requests.mark(Question::Log, Pace::AtOnce);
}

fn open_subject(model: &mut Model) {
    match model.log.current().and_then(|row| row.about.clone()) {
        Some(About::Job(job)) => cron::go_to(model, &job),
        Some(About::Session(session)) => {
            let Some((key, _)) = model.memory.names.get(&session).cloned() else { return };
            show_view(model, View::Sessions);
            front::go_to(model, &key);
            panes::set_focus(model, Focus::Pane(Pane::Conversation));
        }
        None => {}
    }
}

fn scroll_page(model: &Model) -> i64 {
    model.measured.conversation_lines.saturating_sub(1).max(1) as i64
}

fn external_editor(model: &mut Model) {
    if let Some(text) = job_editor::text_to_edit(model) {
        return model.effects.push(Effect::OpenEditor(text));
    }
    if let Some(field) = typing::field(model) {
        let text = field.text();
        model.effects.push(Effect::OpenEditor(text));
    }
}

fn picker_key(model: &mut Model, action: Action) {
    match model.focus() {
        // The list goes on moving under its filter.
        Focus::Pane(Pane::Filter) => {
            let pane = search::filter_pane(model);
            model.pane = pane;
            let to = match action {
                Action::PickerUp => Action::Up,
                Action::PickerDown => Action::Down,
                Action::PickerPageUp => Action::PageUp,
                _ => Action::PageDown,
            };
            walk::move_by(model, to);
            model.pane = Pane::Filter;
        }
        _ => picking::move_mark(model, action),
    }
}

/// Scrolls the text in front.
pub(super) fn scroll_viewer(model: &mut Model, action: Action) {
    let measured = model.measured;
    let Some(Overlay::Viewer(viewer)) = model.overlays.last_mut() else { return };
    let last = measured.overlay_lines.saturating_sub(measured.overlay_rows);
    let page = measured.overlay_rows.saturating_sub(1).max(1);
    viewer.top = match action {
        Action::ViewerUp => viewer.top.saturating_sub(1),
        Action::ViewerPageUp => viewer.top.saturating_sub(page),
        Action::ViewerFirst => 0,
        Action::ViewerDown => viewer.top + 1,
        Action::ViewerPageDown => viewer.top + page,
        _ => last,
    }
    .min(last);
}
