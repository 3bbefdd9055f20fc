//! Replies to commands: the acknowledgement under the composer, a notice, a text, or a question.

use super::action::Action;
use super::composer::{AckLine, AckState, Lasts, Sent};
use super::focus::View;
use super::msg::{Failure, Pace, Question, Ticket, Tone};
use super::overlay::{Deed, Overlay};
use super::requests::mark_front;
use super::{Model, acts, asking, cron, front, job_editor, notices, typing, words, writing};
use crate::domain::api::Reply;
use crate::domain::event::excerpt;
use crate::domain::id::SessionKey;
use crate::domain::sanitize::one_line;
use crate::domain::slash::{self, Draft, Slash};

/// What a command on its way is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A draft was sent.
    Submit,
    /// An act on the screen: its reply is a notice.
    Act,
    /// An act is taken back.
    Undo {
        /// What was done, in words.
        words: String,
    },
    /// An item's text is saved from its editor.
    EditItem,
    /// A job is saved from its form.
    SaveJob,
    /// A session is opened to write to it.
    Open {
        /// Its key.
        key: SessionKey,
    },
    /// A draft is saved: only a failure is told.
    SaveDraft,
    /// It is noted that the operator is here. If that fails, the next key notes it again.
    Look,
}

pub(super) fn replied(model: &mut Model, ticket: Ticket, result: Result<Reply, Failure>) {
    let Some(purpose) = model.memory.purposes.remove(&ticket) else { return };
    match (purpose, result) {
        (Purpose::Submit, result) => submitted(model, ticket, result),
        (Purpose::Look, _) | (Purpose::SaveDraft, Ok(_)) => return,
        (Purpose::SaveDraft, Err(failure)) => {
            writing::were_not_saved(model);
            model.tell(Tone::Error, format!("the draft was not saved: {}", failure.words()));
        }
        (Purpose::Act, Ok(reply)) => {
            writing::forget_ack(model);
            done(model, &model.front.clone(), reply);
        }
        (Purpose::Undo { words }, Ok(Reply::Done { .. })) => {
            // What took it back is no act of its own: taking that back would do it again.
            let undone = Reply::Done { words: format!("undone: {words}"), undo: None };
            done(model, &model.front.clone(), undone);
        }
        (Purpose::Undo { .. }, Ok(reply)) => done(model, &model.front.clone(), reply),
        (Purpose::EditItem, result) => saved(model, ticket, result),
        (Purpose::SaveJob, result) => job_editor::saved(model, ticket, result),
        (Purpose::Open { key }, Ok(reply)) => {
            acts::show_view(model, super::focus::View::Sessions);
            front::go_to(model, &key);
            model.pane = super::focus::Pane::Composer;
            done(model, &key, reply);
        }
        (Purpose::Act | Purpose::Undo { .. } | Purpose::Open { .. }, Err(failure)) => refuse(model, &failure),
    }
    model.requests.mark(Question::Overview, Pace::AtOnce);
    model.requests.mark(Question::Sessions, Pace::AtOnce);
}

pub(super) fn refuse(model: &mut Model, failure: &Failure) {
    let tone = if matches!(failure, Failure::Refused(_)) { Tone::Warn } else { Tone::Error };
    model.tell(tone, failure.words());
}

fn submitted(model: &mut Model, ticket: Ticket, result: Result<Reply, Failure>) {
    let Some(index) = model.sent.iter().position(|sent| sent.ticket == ticket) else { return };
    let sent = model.sent.remove(index);
    let lasts = match &result {
        Ok(Reply::Accepted { .. }) => Lasts::UntilTurnEnds,
        Ok(Reply::Asks { .. }) => Lasts::UntilTyping,
        Ok(_) => writing::lasts_for(model, notices::SHOWN_FOR),
        Err(_) => writing::lasts_for(model, writing::REFUSED_FOR),
    };
    let (words, state) = match result {
        Ok(reply) => {
            let state = if matches!(reply, Reply::Asks { .. }) { AckState::Asks } else { AckState::Kept };
            (accept(model, &sent, reply), state)
        }
        Err(failure) => {
            writing::give_back(model, &sent.key, &sent.text);
            let words = match &failure {
                Failure::Gone(why) => unanswered(model, &sent, why),
                Failure::Refused(why) | Failure::Failed(why) => why.clone(),
            };
            (words, AckState::Refused)
        }
    };
    let refused = state == AckState::Refused;
    if is_newest(model, &sent) || refused {
        let composer = model.composers.entry(sent.key.clone()).or_default();
        let line = AckLine { words: one_line(&words).into_owned(), state, lasts };
        // Whoever went elsewhere meanwhile comes back when it may not be so any more.
        let seen = refused || sent.key == model.front;
        composer.ack = (seen && !line.words.is_empty()).then_some(line);
    }
    if sent.key == model.front {
        writing::save_draft(model);
        mark_front(model, Pace::AtOnce);
    } else if refused {
        model.tell(Tone::Warn, format!("{}: {words}", super::sessions::name_of(&sent.key)));
    }
    model.dirty = true;
}

/// What is said of texts that an engine had when it went. All of them are in the history, the first one in the
/// draft, too, if none was begun.
fn unanswered(model: &mut Model, sent: &Sent, why: &str) -> String {
    let key = typing::key_name(model, Action::HistoryUp);
    let composer = model.composers.entry(sent.key.clone()).or_default();
    if sent.text.is_empty() {
        return format!("no answer ({why}): look whether it was taken");
    }
    composer.came_back.push(format!("{:?}", excerpt(&sent.text)));
    match composer.came_back.as_slice() {
        [_] => format!("no answer ({why}): look whether it was taken before sending it again"),
        back => format!(
            "no answer ({why}): {} texts came back, {}; {key} has each; look whether they were taken before sending them again",
            back.len(),
            back.join(" and "),
        ),
    }
}

/// Whether nothing was sent to the same session after it.
fn is_newest(model: &Model, sent: &Sent) -> bool {
    !model.sent.iter().any(|other| other.key == sent.key)
}

/// What an accepted draft did, in words for the line under the composer; empty if it is said
/// elsewhere: everything is said once.
fn accept(model: &mut Model, sent: &Sent, reply: Reply) -> String {
    let line_is_seen =
        is_newest(model, sent) && sent.key == model.front && model.measured.acknowledgement_shown;
    match &reply {
        Reply::Accepted { ack, .. } => {
            let view: &Model = model;
            let words = ack.words(|at| words::clock(view, at));
            match slash::parse(&sent.text) {
                Ok(Draft::Command(Slash::Retry, _)) => {
                    format!("the last answer is hidden, its message runs again: {words}")
                }
                _ => words,
            }
        }
        Reply::Done { words, undo: Some(_) } => {
            let key = model.keymap.keys_of(typing::chain(model), Action::UndoAct);
            let key = key.unwrap_or_else(|| typing::key_name(model, Action::UndoAct));
            let back = match slash::parse(&sent.text) {
                Ok(Draft::Command(Slash::Undo(_), _)) => "shows them again",
                _ => "takes it back",
            };
            let words = format!("{words}; {key} {back} (10 s)");
            done(model, &sent.key, reply);
            words
        }
        Reply::Done { words, undo: None } if line_is_seen => {
            let words = words.clone();
            mark_changed(model);
            words
        }
        Reply::Session { key, words, .. } if line_is_seen && *key == sent.key => {
            let words = words.clone();
            mark_changed(model);
            words
        }
        // A notice says it, with the key that takes it back; or the text that opens does.
        Reply::Done { .. } | Reply::Session { .. } | Reply::Shown { .. } => {
            done(model, &sent.key, reply);
            String::new()
        }
        Reply::JobEditor { .. } => {
            done(model, &sent.key, reply);
            String::new()
        }
        Reply::JobConflict { .. } => {
            done(model, &sent.key, reply);
            "changed on disk meanwhile: nothing was written".to_owned()
        }
        Reply::Asks { .. } => {
            done(model, &sent.key, reply);
            "asks first: nothing was done yet".to_owned()
        }
        Reply::Quit => {
            done(model, &sent.key, reply);
            String::new()
        }
    }
}

/// Shows what a command did. `key` is whom it was for.
pub(super) fn done(model: &mut Model, key: &SessionKey, reply: Reply) {
    match reply {
        Reply::Accepted { ack, .. } => {
            let view: &Model = model;
            let words = ack.words(|at| words::clock(view, at));
            model.tell(Tone::Info, words);
        }
        Reply::Done { words, undo } => notices::push(model, Tone::Info, &words, undo.map(|undo| *undo)),
        Reply::Shown { title, text } => asking::show_text(model, &title, &text),
        Reply::Asks { question, confirm } => {
            let yes = match slash::parse(&confirm) {
                Ok(Draft::Command(Slash::New { .. }, _)) => "start anew".to_owned(),
                Ok(Draft::Command(Slash::Restart(_), _)) => "restart all the same".to_owned(),
                _ => one_line(&confirm).into_owned(),
            };
            asking::ask(model, &question, "", &yes, Deed::Submit { key: key.clone(), text: confirm });
        }
        Reply::Session { key, words, .. } => {
            model.tell(Tone::Info, words);
            front::go_to(model, &key);
        }
        Reply::JobEditor { job: None } => acts::run(model, Action::AddJob),
        Reply::JobEditor { job: Some(job) } => cron::edit(model, job),
        Reply::JobConflict { .. } => {
            model.tell(Tone::Warn, "the job was changed on disk meanwhile: nothing was written");
        }
        Reply::Quit => asking::ask_quit(model),
    }
    mark_changed(model);
}

fn mark_changed(model: &mut Model) {
    model.requests.mark(Question::Backlog, Pace::AtOnce);
    if model.view == View::Cron {
        for question in [Question::Jobs, Question::Job, Question::Timeline] {
            model.requests.mark(question, Pace::AtOnce);
        }
    }
    if model.view == View::Recovery {
        model.requests.mark(Question::Recovery, Pace::AtOnce);
    }
    mark_front(model, Pace::AtOnce);
}

/// The editor closes when its text is saved, and stays open with the reason when it is not.
fn saved(model: &mut Model, ticket: Ticket, result: Result<Reply, Failure>) {
    let open = model
        .overlays
        .iter()
        .position(|overlay| matches!(overlay, Overlay::ItemEditor(editor) if editor.saving == Some(ticket)));
    match (open, result) {
        (Some(index), Ok(reply)) => {
            model.overlays.remove(index);
            done(model, &model.front.clone(), reply);
        }
        (None, Ok(reply)) => done(model, &model.front.clone(), reply),
        (Some(index), Err(failure)) => {
            if let Some(Overlay::ItemEditor(editor)) = model.overlays.get_mut(index) {
                editor.failed = Some(one_line(failure.words()).into_owned());
                editor.saving = None;
            }
        }
        (None, Err(failure)) => refuse(model, &failure),
    }
    model.dirty = true;
}
