//! `update`: the one place where the screen's state changes.

use super::focus::{Pane, View};
use super::msg::{Effect, Leave, Measured, Msg, Pace, Question, Reach, Timer, Tone};
use super::overlay::{Card, CardKind, Deed};
use super::{
    Model, answers, approvals, asking, away, cron,
    model::{End, Link},
    mouse, notices,
    overlay::Overlay,
    panes, replies, requests, scroll, typing, updates, walk, writing,
};
use crate::domain::Time;
use crate::domain::api::{Drain, Waited};
use crate::domain::recovery::AfterStop;
use crate::domain::sanitize::one_line;

/// Changes the state by what happened, and returns what is to be done, in order.
pub fn update(model: &mut Model, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Key(key, at) if model.is_too_small() => {
            advance(model, at);
            typing::key_unseen(model, key);
        }
        Msg::Typed(_, at) | Msg::Paste(_, at) | Msg::Mouse(_, at) if model.is_too_small() => {
            advance(model, at);
        }
        Msg::Key(key, at) => {
            advance(model, at);
            begin_input(model);
            typing::key(model, key, at);
        }
        Msg::Typed(text, at) => {
            advance(model, at);
            begin_input(model);
            typing::typed(model, &text, at);
        }
        Msg::Paste(text, at) => {
            advance(model, at);
            begin_input(model);
            typing::paste(model, &text);
        }
        Msg::Mouse(mouse, at) => {
            advance(model, at);
            begin_input(model);
            mouse::mouse(model, mouse);
        }
        Msg::Resize { width, height } => {
            model.dirty |= model.size != (width, height);
            model.size = (width, height);
        }
        Msg::Drawn(measured) => drawn(model, measured),
        Msg::Update(update) => updates::update(model, update),
        Msg::Answered { ticket, result } => answers::answered(model, ticket, result),
        Msg::Replied { ticket, result } => replies::replied(model, ticket, result),
        Msg::Connected(reach) => connected(model, reach),
        Msg::EngineGone { reason, at } => gone(model, &reason, at),
        Msg::EngineSilent(since) => silent(model, since),
        Msg::StoreReached => store_reached(model),
        Msg::Tick(at) => tick(model, at),
        Msg::Fired(timer, at) => fired(model, timer, at),
        Msg::EditorClosed(Ok(text)) => writing::external_text(model, &text),
        Msg::EditorClosed(Err(why)) => model.tell(Tone::Error, why),
        Msg::FileEdited(Ok(())) => model.requests.mark(Question::Jobs, Pace::AtOnce),
        Msg::FileEdited(Err(why)) => model.tell(Tone::Error, why),
        Msg::Notice(tone, words) => {
            if let Some(Card { kind: CardKind::Gone { trying, .. }, .. }) = &mut model.card {
                *trying = None;
            }
            model.tell(tone, words);
        }
    }
    settle(model);
    approvals::sync(model);
    requests::ask(model);
    if matches!(model.link, Link::Gone { .. }) && !model.memory.reads_store {
        withhold_questions(model);
    }
    std::mem::take(&mut model.effects)
}

/// The effects of the start: everything is asked for.
pub fn start(model: &mut Model) -> Vec<Effect> {
    requests::mark_all(model, Pace::AtOnce);
    model.requests.mark(Question::Composer, Pace::AtOnce);
    model.requests.mark(Question::Report, Pace::AtOnce);
    requests::ask(model);
    std::mem::take(&mut model.effects)
}

/// The time never goes back, whatever order messages come in.
fn advance(model: &mut Model, at: Time) {
    model.now = model.now.max(at);
}

fn begin_input(model: &mut Model) {
    model.memory.started = true;
    model.memory.inputs += 1;
    away::acts(model);
}

fn tick(model: &mut Model, at: Time) {
    advance(model, at);
    if model.behind.is_some_and(|behind| at - behind.reloaded_at > chrono::TimeDelta::minutes(1)) {
        model.behind = None;
    }
    notices::expire(model);
    writing::expire_acks(model);
    if model.view == View::Cron && cron::timeline::is_old(model) {
        model.requests.mark(Question::Timeline, Pace::Gently);
    }
    model.dirty = true;
}

fn fired(model: &mut Model, timer: Timer, at: Time) {
    advance(model, at);
    match timer {
        Timer::Thaw => answers::thaw(model),
        Timer::Notices => notices::expire(model),
        Timer::SaveDraft => writing::save_draft(model),
        Timer::Disarm => {
            if model.armed.as_ref().is_some_and(|armed| armed.until <= at) {
                model.armed = None;
                model.dirty = true;
            }
        }
        Timer::Burst => typing::burst_ended(model),
        Timer::Forecast => model.requests.mark(Question::Front, Pace::AtOnce),
        Timer::Acknowledgement => writing::expire_acks(model),
    }
}

fn connected(model: &mut Model, reach: Reach) {
    model.link = Link::Up(reach);
    model.silent_since = None;
    model.memory.engine_stopped = false;
    model.memory.reads_store = false;
    model.requests.forget();
    if matches!(model.card, Some(Card { kind: CardKind::Gone { .. }, .. })) {
        model.card = None;
        model.tell(Tone::Info, "connected");
    }
    writing::save_drafts(model);
    requests::mark_all(model, Pace::AtOnce);
    model.requests.mark(Question::Composer, Pace::AtOnce);
    model.dirty = true;
}

/// The engine's process is there and says nothing, or does again.
fn silent(model: &mut Model, since: Option<Time>) {
    model.silent_since = since;
    model.dirty = true;
    let Link::Up(Reach::Attached { pid }) = model.link else { return };
    match since {
        Some(_) => {
            let words = format!(
                "the engine is there (process {pid}) and does not answer: it is stopped or stuck; what is sent waits for it"
            );
            model.tell(Tone::Warn, words);
        }
        None => model.tell(Tone::Info, "the engine answers again"),
    }
}

fn gone(model: &mut Model, reason: &str, at: Time) {
    advance(model, at);
    model.silent_since = None;
    if model.memory.quitting {
        model.effects.push(Effect::Quit(Leave::Stopped));
        return;
    }
    let (end, reason) = match model.drain().filter(|_| model.memory.engine_stopped) {
        Some(drain) => (End::Stopped, stopped_words(drain)),
        None => (End::Lost, one_line(reason).into_owned()),
    };
    let restarts = model.drain().is_some_and(|drain| drain.then == AfterStop::Restart);
    model.link = Link::Gone { reason: reason.clone(), at, end };
    model.requests.forget();
    model.memory.reads_store = false;
    model.armed = None;
    // What was told was about an engine that ran, and nothing can be taken back now.
    model.notices.clear();
    model.overlays.retain(|overlay| !asks_the_engine(overlay));
    let kind = CardKind::Gone { reason, at, end, trying: None };
    model.card = Some(Card::new(kind));
    match end {
        _ if restarts => asking::await_restart(model),
        // The answers to the last questions may not have come any more.
        End::Stopped => model.effects.push(Effect::ReadStore),
        End::Lost => {}
    }
    model.dirty = true;
}

/// An engine that stopped in order left everything in the store: what it did last is shown from there.
fn store_reached(model: &mut Model) {
    if matches!(model.link, Link::Gone { .. }) {
        model.memory.reads_store = true;
        requests::mark_all(model, Pace::AtOnce);
    }
}

/// Who stopped an engine that stopped in order, and what that cut.
fn stopped_words(drain: &Drain) -> String {
    let cut = match drain.cut.is_empty() {
        true => "nothing was cut".to_owned(),
        false => format!("cut: {}, which the next start resumes", Waited::names(&drain.cut)),
    };
    format!("It stopped in order, as asked ({}); {cut}.", drain.why)
}

/// Whether an overlay is a question whose answers are all for the engine.
fn asks_the_engine(overlay: &Overlay) -> bool {
    let Overlay::Confirm(confirm) = overlay else { return false };
    let stays = |deed: &Deed| matches!(deed, Deed::Nothing | Deed::CloseEditor | Deed::Leave);
    !confirm.buttons.iter().all(|button| stays(&button.does))
}

/// Without an engine or its store no question is asked; on reconnecting everything is asked anew.
fn withhold_questions(model: &mut Model) {
    model.effects.retain(|effect| !matches!(effect, Effect::Query { .. }));
    model.requests.forget();
}

/// Takes in what only drawing can tell. What it changes was already drawn, but for the keys in
/// the footer.
fn drawn(model: &mut Model, measured: Measured) {
    let rows_changed = measured.list_rows != model.measured.list_rows
        || measured.queue_rows != model.measured.queue_rows
        || measured.run_rows != model.measured.run_rows;
    model.dirty |= measured.question != model.measured.question;
    model.measured = measured;
    if rows_changed {
        walk::show_selection(model);
        model.dirty = true;
    }
    scroll::settle_scroll(model);
    if measured.top_shown && model.conversation.more_before && model.conversation.loaded {
        model.requests.mark(Question::Earlier, Pace::AtOnce);
    }
    if let Some(Overlay::Viewer(viewer)) = model.overlays.last_mut() {
        viewer.top = viewer.top.min(measured.overlay_lines.saturating_sub(measured.overlay_rows));
    }
}

/// Keeps what must always hold: the focus is on something that exists, selections are in range.
fn settle(model: &mut Model) {
    let running = model.front_row.as_ref().and_then(|row| row.row.turn.as_ref()).map(|turn| turn.turn);
    let drains = model.drain().is_some();
    model.armed.take_if(|armed| drains || Some(armed.turn) != running);
    notices::outdate(model);
    let list_only = model.view != View::Sessions;
    let gone = match model.pane {
        Pane::List | Pane::Filter => false,
        Pane::Detail => model.view != View::Cron,
        Pane::Queue => list_only || !panes::has_queue(model),
        Pane::Conversation | Pane::Composer => list_only,
    };
    if gone {
        // Never into a text field: the next key would be typed.
        panes::set_pane(model, if list_only { Pane::List } else { Pane::Conversation });
    }
    model.sessions.selected = model.sessions.selected.min(model.sessions.rows.len().saturating_sub(1));
    for list in [&mut model.queue, &mut model.backlog] {
        list.selected = list.selected.min(list.rows.len().saturating_sub(1));
    }
    model.cron.selected = model.cron.selected.min(model.cron.rows.len().saturating_sub(1));
    let runs = model.cron.current_detail().map_or(0, |detail| detail.runs.len());
    model.cron.run = model.cron.run.min(runs.saturating_sub(1));
    model.recovery.selected = model.recovery.selected.min(model.recovery.rows.len().saturating_sub(1));
    model.log.selected = model.log.selected.min(model.log.rows.len().saturating_sub(1));
}
