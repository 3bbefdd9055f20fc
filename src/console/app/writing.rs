//! Writing: drafts, sending, history.

use super::action::Action;
use super::composer::{AckLine, AckState, Composer, Lasts, Sent};
use super::msg::{Effect, Timer, Tone};
use super::overlay::{Overlay, Run};
use super::replies::Purpose;
use super::{Model, acts, approvals, asking, border, completing, job_editor, picking, scroll};
use crate::domain::api::{Command, ComposerMemory};
use crate::domain::id::SessionKey;
use crate::domain::queue::{Intent, Source, check_text};
use crate::domain::slash::{self, Draft, Slash};

/// A draft is saved so long after the first key that the store does not know, whether the operator pauses or not.
const SAVE_AFTER: chrono::TimeDelta = chrono::TimeDelta::seconds(1);
/// How long it stands under the composer why a draft was refused.
pub(super) const REFUSED_FOR: chrono::TimeDelta = chrono::TimeDelta::minutes(1);

/// The composer of the session in front.
pub(super) fn composer(model: &mut Model) -> &mut Composer {
    model.composers.entry(model.front.clone()).or_default()
}

/// Whether the composer in front has its draft and history.
pub(super) fn is_loaded(model: &Model) -> bool {
    model.composer().is_some_and(|composer| composer.loaded)
}

/// Takes in what the store remembers of the composer in front. What the operator has begun to write meanwhile
/// wins, and the kept draft goes into the history.
pub(super) fn remember(model: &mut Model, memory: ComposerMemory) {
    let composer = composer(model);
    if composer.loaded {
        return;
    }
    composer.loaded = true;
    composer.saved.clone_from(&memory.draft);
    let typed = std::mem::replace(&mut composer.history, memory.history);
    composer.history.extend(typed);
    if composer.text.is_empty() {
        composer.text.set(&memory.draft);
    } else if !memory.draft.is_empty() && memory.draft != composer.text.text() {
        put_by(model, memory.draft);
        let key = super::typing::key_name(model, Action::HistoryUp);
        model.tell(Tone::Info, format!("a draft of before was kept here: {key} brings it back"));
    }
    text_changed(model);
}

/// Does what must follow a change of the draft.
pub(super) fn text_changed(model: &mut Model) {
    let composer = composer(model);
    let text = composer.text.text();
    let left = composer.browsing.take_if(|(index, _)| composer.history.get(*index) != Some(&text));
    if let Some((_, draft)) = left {
        put_by(model, draft);
    }
    let composer = self::composer(model);
    if composer.ack.as_ref().is_some_and(|ack| ack.state != AckState::Sending) && !composer.text.is_empty() {
        composer.ack = None;
    }
    composer.came_back.clear();
    completing::offer(model);
    save_soon(model);
    model.dirty = true;
}

/// Has the draft in front saved, if that is not on its way.
fn save_soon(model: &mut Model) {
    if !std::mem::replace(&mut composer(model).saves_soon, true) {
        model.effects.push(Effect::Timer { timer: Timer::SaveDraft, at: model.now + SAVE_AFTER });
    }
}

/// Puts a text in at the composer's cursor.
pub(super) fn insert(model: &mut Model, text: &str) {
    composer(model).text.insert(text);
    text_changed(model);
}

/// Replaces the draft; what stood there goes into the history.
pub(super) fn set_draft(model: &mut Model, text: &str) {
    let before = composer(model).text.text();
    if composer(model).browsing.is_none() && before != text {
        put_by(model, before);
    }
    composer(model).text.set(text);
    text_changed(model);
}

/// Saves the draft in front if the store has another.
pub(super) fn save_draft(model: &mut Model) {
    let key = model.front.clone();
    save_draft_of(model, key);
}

/// Saves every draft of which the store has another.
pub(super) fn save_drafts(model: &mut Model) {
    let keys: Vec<SessionKey> = model.composers.keys().cloned().collect();
    keys.into_iter().for_each(|key| save_draft_of(model, key));
}

/// Not over a draft that was not seen here yet.
fn save_draft_of(model: &mut Model, key: SessionKey) {
    let locked = border::locked(model).is_some();
    let Some(composer) = model.composers.get_mut(&key) else { return };
    composer.saves_soon = false;
    let text = composer.draft();
    if locked || !composer.loaded || text == composer.saved {
        return;
    }
    composer.saved.clone_from(&text);
    acts::command(model, Purpose::SaveDraft, Command::SaveDraft { key, text });
}

/// A draft did not reach the store: those that are written here are saved anew with the next chance.
pub(super) fn were_not_saved(model: &mut Model) {
    model.composers.values_mut().for_each(|composer| composer.saved.clear());
}

/// Whether a draft is not in the store.
pub(super) fn has_unsaved(model: &Model) -> bool {
    model.composers.values().any(|composer| composer.draft() != composer.saved)
}

/// Leaves the composer in front: its draft stands in it again, and it is forgotten if the store can bring it back.
pub(super) fn let_go(model: &mut Model) {
    let Some(composer) = model.composers.get_mut(&model.front) else { return };
    let draft = composer.draft();
    if composer.browsing.take().is_some() {
        composer.text.set(&draft);
    }
    let sends = composer.ack.as_ref().is_some_and(|ack| ack.state == AckState::Sending);
    if draft == composer.saved && !sends {
        model.composers.remove(&model.front);
    }
}

/// Enter in the composer: accepts a completion, or sends.
pub(super) fn enter(model: &mut Model) {
    if !completing::accept(model) {
        send(model, Intent::Plain);
    }
}

/// Sends the draft. The draft is gone from the field at once and comes back if it is refused.
pub(super) fn send(model: &mut Model, intent: Intent) {
    let text = composer(model).text.text();
    let mut answer = None;
    let refused = match (border::locked(model), slash::parse(&text)) {
        (Some(why), _) => Some(why),
        (None, Err(refusal)) => Some(refusal.to_string()),
        (None, Ok(Draft::Command(Slash::Quit, _))) => {
            clear(model);
            return asking::ask_quit(model);
        }
        (None, Ok(Draft::Command(Slash::Answer { question: None, answer: given }, _))) => {
            match approvals::to_answer(model) {
                Ok(approval) => {
                    answer = Some(Command::Answer { approval, answer: given });
                    None
                }
                Err(why) => Some(why),
            }
        }
        (None, Ok(Draft::Command(..))) => None,
        (None, Ok(Draft::Text(text))) => check_text(&text).err().map(|refusal| refusal.to_string()),
    };
    if let Some(words) = refused {
        let lasts = lasts_for(model, REFUSED_FOR);
        composer(model).ack = Some(AckLine { words, state: AckState::Refused, lasts });
        return;
    }
    clear(model);
    keep_in_history(model, text.clone());
    let key = model.front.clone();
    if answer.is_none() && !text.starts_with('/') {
        scroll::follow(model);
    }
    match answer {
        Some(answer) => give(model, key, text, answer),
        None => submit(model, key, text, intent),
    }
}

/// Gives a text to a session and shows what becomes of it under its composer.
pub(super) fn submit(model: &mut Model, key: SessionKey, text: String, intent: Intent) {
    let to = key.clone();
    let command = Command::Submit { to, text: text.clone(), intent, source: Source::Console };
    give(model, key, text, command);
}

/// Gives the command that a text of a session's is. The text comes back if it is refused.
pub(super) fn give(model: &mut Model, key: SessionKey, text: String, command: Command) {
    let ticket = acts::command(model, Purpose::Submit, command);
    let composer = model.composers.entry(key.clone()).or_default();
    composer.came_back.clear();
    composer.ack =
        Some(AckLine { words: "sending…".to_owned(), state: AckState::Sending, lasts: Lasts::UntilTyping });
    model.sent.push(Sent { ticket, key, text });
    model.dirty = true;
}

/// Empties the field. A draft that stood behind a text of the history goes there, too.
fn clear(model: &mut Model) {
    let composer = composer(model);
    composer.text.set("");
    composer.popup = None;
    text_changed(model);
}

/// Clears the draft into the history; the store remembers it too.
pub(super) fn clear_into_history(model: &mut Model) {
    let text = composer(model).text.text();
    clear(model);
    put_by(model, text);
    let key = super::typing::key_name(model, Action::HistoryUp);
    model.tell(Tone::Info, format!("the draft was cleared; {key} brings it back"));
}

/// Puts a text that was not sent into the history, here and in the store.
fn put_by(model: &mut Model, text: String) {
    if text.trim().is_empty() {
        return;
    }
    keep_in_history(model, text.clone());
    if border::locked(model).is_none() {
        let key = model.front.clone();
        acts::command(model, Purpose::SaveDraft, Command::RememberDraft { key, text });
    }
}

fn keep_in_history(model: &mut Model, text: String) {
    composer(model).keep(text);
}

/// A turn of the session in front ended: what was true of a message until then is so no more.
pub(super) fn outdate_ack(model: &mut Model) {
    take_ack(model, |ack| ack.lasts == Lasts::UntilTurnEnds);
}

/// Something else was done: what is said for a while of the last text is over, and not taken for its answer.
pub(super) fn forget_ack(model: &mut Model) {
    take_ack(model, |ack| matches!(ack.lasts, Lasts::Till(_)));
}

fn take_ack(model: &mut Model, which: impl FnOnce(&mut AckLine) -> bool) {
    if let Some(composer) = model.composers.get_mut(&model.front) {
        model.dirty |= composer.ack.take_if(which).is_some();
    }
}

/// What is said under a composer for so long.
pub(super) fn lasts_for(model: &mut Model, span: chrono::TimeDelta) -> Lasts {
    let at = model.now + span;
    model.effects.push(Effect::Timer { timer: Timer::Acknowledgement, at });
    Lasts::Till(at)
}

/// Takes away what has stood under the composers long enough.
pub(super) fn expire_acks(model: &mut Model) {
    let now = model.now;
    let old = |ack: &mut AckLine| matches!(ack.lasts, Lasts::Till(until) if until <= now);
    for composer in model.composers.values_mut() {
        model.dirty |= composer.ack.take_if(old).is_some();
    }
}

/// A text that was not taken comes back: into the draft, or only into the history if another was begun.
pub(super) fn give_back(model: &mut Model, key: &SessionKey, text: &str) {
    if text.is_empty() {
        return;
    }
    let composer = model.composers.entry(key.clone()).or_default();
    composer.keep(text.to_owned());
    if composer.text.is_empty() {
        composer.text.set(text);
    }
}

/// Up and down in the composer: in the popup, in the text, and at its edges in the history.
pub(super) fn vertical(model: &mut Model, action: Action) {
    let composer = composer(model);
    let up = action == Action::HistoryUp;
    if let Some(popup) = &mut composer.popup {
        let length = popup.entries.len();
        popup.marked = (popup.marked + if up { length - 1 } else { 1 }) % length;
    } else if up && composer.text.on_first_line() {
        browse(composer, -1);
    } else if !up && composer.text.on_last_line() {
        browse(composer, 1);
    } else {
        composer.text.act(action);
    }
    if composer.browsing.is_some() {
        save_soon(model);
    }
}

fn browse(composer: &mut Composer, direction: i64) {
    let newest = composer.history.len();
    let here = composer.browsing.as_ref().map_or(newest, |(index, _)| *index);
    let Some(to) = here.checked_add_signed(direction as isize).filter(|to| *to <= newest && *to != here)
    else {
        return;
    };
    let (_, draft) = composer.browsing.take().unwrap_or_else(|| (newest, composer.text.text()));
    match composer.history.get(to) {
        Some(text) => {
            composer.text.set(text);
            composer.browsing = Some((to, draft));
        }
        None => composer.text.set(&draft),
    }
    composer.popup = None;
}

/// The text that came back from the external editor.
pub(super) fn external_text(model: &mut Model, text: &str) {
    let text = text.strip_suffix('\n').unwrap_or(text);
    if job_editor::is_open(model) {
        job_editor::external_text(model, text);
    } else if let Some(Overlay::ItemEditor(editor)) = model.overlays.last_mut() {
        editor.text.set(text);
    } else {
        composer(model).text.set(text);
        text_changed(model);
    }
    model.dirty = true;
}

/// Opens the history's search.
pub(super) fn search_history(model: &mut Model) {
    let mut entries = Vec::new();
    for text in composer(model).history.iter().rev() {
        let title = crate::domain::sanitize::one_line(&crate::domain::event::excerpt(text)).into_owned();
        entries.push(picking::entry(title, "", Run::Draft(text.clone())));
    }
    match entries.is_empty() {
        true => model.tell(Tone::Note, "nothing was sent from here yet"),
        false => picking::open(model, super::overlay::PickerKind::History, entries),
    }
}
