//! Questions, cards and texts to read: what opens them, what their keys do.

use super::action::Action;
use super::focus::Focus;
use super::model::Link;
use super::msg::{Effect, Leave, Reach, Tone};
use super::overlay::{Button, CardKind, Confirm, Deed, Overlay, Viewer};
use super::{Model, acts, approvals, border, completing, job_editor, notices, panes, words, writing};
use crate::domain::api::{Command, Drain, Waited};
use crate::domain::queue::Intent;
use crate::domain::recovery::AfterStop;
use crate::domain::sanitize::{many_lines, one_line};

/// A card takes keys so long after it got the focus: a key meant for what was there before is not its.
pub(super) const CARD_RESTS: chrono::TimeDelta = chrono::TimeDelta::milliseconds(400);

const TOO_SOON: &str = "that came too soon after this opened: press it again";

/// A button of a question.
pub(super) fn button(title: &str, action: Action, does: Deed) -> Button {
    Button { title: title.to_owned(), action, does }
}

/// Asks before something that can't be taken back. The deed holds the identities of this moment.
pub(super) fn ask(model: &mut Model, question: &str, detail: &str, yes: &str, does: Deed) {
    let buttons = vec![button("cancel", Action::No, Deed::Nothing), button(yes, Action::Yes, does)];
    open_question(model, question, detail, buttons);
}

pub(super) fn open_question(model: &mut Model, question: &str, detail: &str, buttons: Vec<Button>) {
    let confirm = Confirm {
        question: one_line(question).into_owned(),
        detail: many_lines(detail).into_owned(),
        sides: None,
        top: 0,
        buttons,
        marked: 0,
        opened_at: model.now,
    };
    model.overlays.push(Overlay::Confirm(confirm));
    model.dirty = true;
}

const STOPS_AT_ONCE: &str = "The engine stops at once; what waits stays on disk.";
const DRAINS: &str = "A stopping engine begins no turn, gives those that run the drain's time to end and \
                      then cuts them; what waits stays on disk.";
const LEFT_RUNNING: &str = "Left running, it goes on in this terminal without a screen, until Ctrl-C here or \
                            `switchboard stop`; `switchboard` in another terminal looks in.";

/// Asks how to leave.
pub(super) fn ask_quit(model: &mut Model) {
    if let Some(drain) = model.drain().cloned() {
        return ask_in_drain(model, &drain);
    }
    // A turn that asks stands still, and a stop waits for it.
    let (running, asking) =
        model.overview.as_ref().map_or((0, 0), |overview| (overview.running, overview.asking));
    let turns = match asking {
        0 => turns(running),
        1 => format!("{}, 1 session asks you", turns(running)),
        many => format!("{}, {many} sessions ask you", turns(running)),
    };
    let cancel = button("cancel", Action::No, Deed::Nothing);
    let (question, detail, buttons) = match &model.link {
        Link::Gone { .. } | Link::Up(Reach::StoreOnly) => (
            "Leave this screen?",
            match writing::has_unsaved(model) {
                true => "No engine runs here: what was written since can't be saved.".to_owned(),
                false => "No engine runs here.".to_owned(),
            },
            vec![cancel, button("leave", Action::Yes, Deed::Leave)],
        ),
        Link::Up(Reach::Attached { pid }) => (
            "Leave this screen?",
            format!("The engine runs elsewhere (pid {pid}) and goes on. {turns}."),
            vec![cancel, button("detach", Action::Yes, Deed::Detach)],
        ),
        Link::Up(Reach::Here) => (
            "Stop the engine, or leave it running without a screen?",
            format!("{turns}. {} {LEFT_RUNNING}", if running + asking == 0 { STOPS_AT_ONCE } else { DRAINS }),
            vec![
                cancel,
                button("stop the engine", Action::Yes, Deed::StopAndQuit),
                button("leave it running", Action::KeepRunning, Deed::LeaveRunning),
            ],
        ),
    };
    open_question(model, question, &detail, buttons);
}

/// Asks how to leave while the engine stops: leaving takes nothing back.
fn ask_in_drain(model: &mut Model, drain: &Drain) {
    let (does, leave) = match drain.then {
        AfterStop::End => ("stops", "leave while it stops"),
        AfterStop::Restart => ("restarts", "leave while it restarts"),
    };
    let waits = match drain.waits_for.len() {
        0 => "Nothing runs any more.".to_owned(),
        _ => format!(
            "It waits for {}; what still runs when its time is over is cut.",
            Waited::names(&drain.waits_for)
        ),
    };
    let (goes_on, deed) = match model.link {
        Link::Up(Reach::Here) => {
            ("Left, it goes on with that in this terminal, without a screen.", Deed::LeaveRunning)
        }
        _ => ("Left, it goes on with that elsewhere.", Deed::Detach),
    };
    let mut buttons = vec![button("cancel", Action::No, Deed::Nothing), button(leave, Action::Yes, deed)];
    // What was cut can't be made undone.
    if border::locked(model).is_none() && drain.cut.is_empty() {
        buttons.push(button("cut now", Action::CutNow, Deed::CutNow));
        buttons.push(button("keep running", Action::KeepRunning, Deed::KeepRunning));
    }
    let question = format!("The engine {does} already ({}). Leave this screen?", drain.why);
    open_question(model, &question, &format!("{waits} {goes_on}"), buttons);
}

fn turns(running: usize) -> String {
    match running {
        0 => "No turn runs".to_owned(),
        1 => "1 turn runs".to_owned(),
        running => format!("{} turns run", words::thousands(running as u64)),
    }
}

/// Shows a text.
pub(super) fn show_text(model: &mut Model, title: &str, text: &str) {
    let viewer = Viewer { title: one_line(title).into_owned(), text: many_lines(text).into_owned(), top: 0 };
    model.overlays.push(Overlay::Viewer(viewer));
    model.dirty = true;
}

/// Closes the overlay in front. A changed text asks first.
pub(super) fn close(model: &mut Model) {
    if job_editor::back_to_form(model) {
        return;
    }
    if let Some(overlay) = model.overlays.last()
        && overlay.is_changed()
    {
        let (question, detail) = match overlay {
            Overlay::JobEditor(_) => {
                ("Throw the changed form away?", "Nothing of it was written to jobs.json.")
            }
            Overlay::DenyWhy(_) => ("Throw what you wrote away?", "Nothing of it was told to the agent."),
            _ => ("Throw the changed text away?", "The item keeps its text of before."),
        };
        let buttons = vec![
            button("go on editing", Action::No, Deed::Nothing),
            button("throw away", Action::Yes, Deed::CloseEditor),
        ];
        return open_question(model, question, detail, buttons);
    }
    model.overlays.pop();
    model.dirty = true;
}

/// A key of a question or a card. False if it has none of that name.
pub(super) fn press(model: &mut Model, action: Action) -> bool {
    if rests(model) && !matches!(action, Action::Close) {
        model.tell(Tone::Note, TOO_SOON);
        return true;
    }
    let measured = model.measured;
    match (model.focus(), model.overlays.last_mut()) {
        (Focus::Overlay, Some(Overlay::Confirm(confirm))) => {
            let count = confirm.buttons.len();
            let pressed = match action {
                Action::CardUp | Action::CardDown => {
                    confirm.top = measured.turned(confirm.top, action);
                    return true;
                }
                Action::ButtonLeft => {
                    confirm.marked = (confirm.marked + count - 1) % count;
                    return true;
                }
                Action::ButtonRight => {
                    confirm.marked = (confirm.marked + 1) % count;
                    return true;
                }
                Action::Press => Some(confirm.marked),
                Action::Close => Some(0),
                action => confirm.buttons.iter().position(|button| button.action == action),
            };
            pressed.is_some_and(|index| press_button(model, index))
        }
        (Focus::Card, _) => press_card(model, action),
        _ => false,
    }
}

fn rests(model: &Model) -> bool {
    let since = match (model.focus(), model.overlays.last(), &model.card) {
        (Focus::Overlay, Some(Overlay::Confirm(confirm)), _) => Some(confirm.opened_at),
        (Focus::Card, _, Some(card)) => card.focused_at,
        _ => None,
    };
    since.is_some_and(|since| model.now - since < CARD_RESTS)
}

/// Presses a button of the question in front.
pub(super) fn press_button(model: &mut Model, index: usize) -> bool {
    if rests(model) {
        model.tell(Tone::Note, TOO_SOON);
        return true;
    }
    let Some(Overlay::Confirm(confirm)) = model.overlays.last() else { return false };
    let Some(deed) = confirm.buttons.get(index).map(|button| button.does.clone()) else { return false };
    model.overlays.pop();
    model.dirty = true;
    do_deed(model, deed);
    true
}

fn do_deed(model: &mut Model, deed: Deed) {
    match deed {
        Deed::Nothing => {}
        Deed::Command(command) => acts::act(model, *command),
        Deed::Submit { key, text } => writing::submit(model, key, text, Intent::Plain),
        Deed::CloseEditor => drop(model.overlays.pop()),
        Deed::KeepMine => job_editor::keep_mine(model),
        Deed::TakeTheirs => job_editor::take_theirs(model),
        Deed::StopAndQuit => {
            writing::save_draft(model);
            model.memory.quitting = true;
            let why = "asked in the engine's own window".to_owned();
            acts::act(model, Command::Stop { why });
        }
        Deed::CutNow => acts::act(model, Command::CutNow),
        Deed::KeepRunning => keep_running(model),
        Deed::LeaveRunning => leave(model, Leave::EngineGoesOn),
        Deed::Detach => leave(model, Leave::Detached),
        Deed::Leave => leave(model, Leave::Stopped),
        Deed::Reconnect => reconnect(model),
        Deed::StartHere => start_here(model),
    }
}

/// Calls the stop off.
fn keep_running(model: &mut Model) {
    model.memory.quitting = false;
    acts::act(model, Command::KeepRunning);
}

/// Leaves a screen on which no question could be read. Whatever runs goes on; not where a draft would be lost.
pub(super) fn leave_unseen(model: &mut Model) {
    match model.link {
        Link::Up(Reach::Here) => leave(model, Leave::EngineGoesOn),
        Link::Up(Reach::Attached { .. }) => leave(model, Leave::Detached),
        Link::Up(Reach::StoreOnly) | Link::Gone { .. } if !writing::has_unsaved(model) => {
            leave(model, Leave::Stopped);
        }
        Link::Up(Reach::StoreOnly) | Link::Gone { .. } => {}
    }
}

/// Asks how an engine that is gone is reached again, in front of what is edited.
pub(super) fn ask_way_back(model: &mut Model) {
    let buttons = vec![
        button("cancel", Action::No, Deed::Nothing),
        button("reconnect", Action::CardReconnect, Deed::Reconnect),
        button("start it here", Action::CardStartHere, Deed::StartHere),
    ];
    let detail = "What is edited here stays, and can be saved once an engine is reached.";
    open_question(model, "The engine is gone: reach it again?", detail, buttons);
}

fn leave(model: &mut Model, how: Leave) {
    writing::save_draft(model);
    model.effects.push(Effect::Quit(how));
}

/// The actions of a question of which all that `always` would allow is shown.
pub const WITH_ALWAYS: &[Action] =
    &[Action::Close, Action::Yes, Action::No, Action::DenyWhy, Action::AllowAlways];
/// The actions of any other.
pub const WITHOUT_ALWAYS: &[Action] = &[Action::Close, Action::Yes, Action::No, Action::DenyWhy];

/// The actions of the card that opened by itself: its buttons, in order.
pub fn card_buttons(kind: &CardKind) -> &'static [Action] {
    match kind {
        CardKind::Gone { .. } => &[Action::Close, Action::CardReconnect, Action::CardStartHere],
        CardKind::Away(_) => &[Action::Close],
        CardKind::Drain => &[Action::Close, Action::CutNow, Action::KeepRunning],
        CardKind::Asks(asked) if asked.always.is_err() => WITHOUT_ALWAYS,
        CardKind::Asks(_) => WITH_ALWAYS,
    }
}

/// What a button of a card is called.
pub fn card_title(kind: &CardKind, action: Action) -> &'static str {
    match (kind, action) {
        (CardKind::Asks(_), Action::Close) => "later",
        (CardKind::Drain | CardKind::Gone { .. }, Action::Close) => "hide",
        (CardKind::Asks(_), Action::Yes) => "allow once",
        (CardKind::Asks(_), Action::No) => "deny",
        (_, action) => action.spec().title,
    }
}

fn press_card(model: &mut Model, action: Action) -> bool {
    let Some(card) = &mut model.card else { return false };
    let buttons = card_buttons(&card.kind);
    let action = match action {
        Action::ButtonLeft => {
            card.marked = (card.marked + buttons.len() - 1) % buttons.len();
            return true;
        }
        Action::ButtonRight => {
            card.marked = (card.marked + 1) % buttons.len();
            return true;
        }
        Action::Press => buttons[card.marked.min(buttons.len() - 1)],
        action => action,
    };
    if matches!(card.kind, CardKind::Asks(_)) && approvals::press(model, action) {
        return true;
    }
    if !buttons.contains(&action) {
        return false;
    }
    match action {
        Action::CutNow => acts::act(model, Command::CutNow),
        Action::KeepRunning => keep_running(model),
        Action::CardReconnect => reconnect(model),
        Action::CardStartHere => start_here(model),
        _ => panes::out(model),
    }
    true
}

/// Tries to reach the engine again.
pub(super) fn reconnect(model: &mut Model) {
    trying(model, "reconnecting…");
    model.effects.push(Effect::Reconnect);
}

/// Waits for the engine that restarts.
pub(super) fn await_restart(model: &mut Model) {
    trying(model, "it restarts: reconnecting…");
    model.effects.push(Effect::AwaitRestart);
}

/// Starts the engine in this window.
pub(super) fn start_here(model: &mut Model) {
    trying(model, "starting the engine here…");
    model.effects.push(Effect::StartHere);
}

fn trying(model: &mut Model, words: &'static str) {
    match model.card.as_mut().map(|card| &mut card.kind) {
        Some(CardKind::Gone { trying, .. }) => *trying = Some(words),
        _ => notices::push(model, Tone::Note, words, None),
    }
    model.dirty = true;
}

/// ctrl-c: closes what is open, clears the draft, arms and then stops the turn in front, or asks how to leave.
pub(super) fn step_back(model: &mut Model) {
    let in_composer = model.focus() == Focus::Pane(super::focus::Pane::Composer);
    match model.focus() {
        _ if !model.pending.is_empty() => model.pending.clear(),
        Focus::Overlay | Focus::Card | Focus::Pane(super::focus::Pane::Filter) => panes::out(model),
        Focus::Pane(_) if in_composer && completing::close(model) => {}
        Focus::Pane(_)
            if in_composer && model.composer().is_some_and(|composer| !composer.text.is_empty()) =>
        {
            writing::clear_into_history(model);
        }
        Focus::Pane(_) => stop_or_quit(model),
    }
}

fn stop_or_quit(model: &mut Model) {
    let turn = model.front_row.as_ref().and_then(|row| {
        row.row
            .turn
            .as_ref()
            .filter(|turn| !turn.stopping)
            .map(|turn| (row.row.session.id.clone(), turn.turn))
    });
    // In a drain the next key would be meant for the engine: what a person stops there is not resumed.
    let may_stop = border::locked(model).is_none() && model.drain().is_none();
    let Some((session, turn)) = turn.filter(|_| may_stop) else { return ask_quit(model) };
    match model.armed.take() {
        Some(armed) if armed.turn == turn && armed.until > model.now => {
            acts::act(model, Command::StopTurn { session, turn: Some(turn) });
        }
        _ => acts::arm(model, turn),
    }
}
