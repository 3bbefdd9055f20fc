//! What the agent in front asks: its card, and the keys that answer it.

use super::action::Action;
use super::focus::{Focus, View};
use super::overlay::{Card, CardKind, DenyWhy, Overlay};
use super::text::{Lines, TextField};
use super::{Model, acts, border, panes};
use crate::domain::Time;
use crate::domain::api::Command;
use crate::domain::approval::{Always, Answer, Approval};
use crate::domain::id::ApprovalId;
use crate::domain::sanitize::{many_lines, one_line};

/// A question as its card shows it; every text in it is safe to show.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// Which it is.
    pub approval: ApprovalId,
    /// The tool.
    pub tool: String,
    /// Where.
    pub folder: String,
    /// What it would do, whole.
    pub what: String,
    /// How many characters that has, as the agent wrote it.
    pub characters: usize,
    /// The beginning that `always` would allow, or why it is not offered.
    pub always: Result<String, String>,
    /// When it denies itself.
    pub denies_at: Time,
    /// How many questions of the session wait.
    pub waiting: usize,
    /// The first row of it that is shown.
    pub top: usize,
}

impl Asked {
    fn new(asked: &Approval, waiting: usize) -> Self {
        let question = &asked.question;
        let clean = |text: &str| one_line(text).into_owned();
        Self {
            approval: asked.id,
            tool: clean(&question.tool),
            folder: clean(&question.folder),
            what: many_lines(&question.what).into_owned(),
            characters: question.what.chars().count(),
            always: match &question.always {
                Always::Offered { prefix } => Ok(clean(prefix)),
                Always::NotOffered { why } => Err(clean(why)),
            },
            denies_at: asked.denies_at,
            waiting,
            top: 0,
        }
    }
}

/// The question on the card.
pub fn asked(model: &Model) -> Option<&Asked> {
    match model.card.as_ref().map(|card| &card.kind) {
        Some(CardKind::Asks(asked)) => Some(asked),
        _ => None,
    }
}

/// Puts the oldest question of the session in front on its card, without the focus; takes a card away whose
/// question is settled or not in front any more.
pub(super) fn sync(model: &mut Model) {
    let row = model.front_row.as_ref().filter(|_| model.view == View::Sessions);
    let asks = row.map_or(&[][..], |row| &row.row.asks);
    match (&mut model.card, asks.first()) {
        (Some(Card { kind: CardKind::Asks(shown), .. }), Some(first)) if shown.approval == first.id => {
            model.dirty |= shown.waiting != asks.len();
            shown.waiting = asks.len();
        }
        (card @ (None | Some(Card { kind: CardKind::Asks(_), .. })), Some(first)) => {
            *card = Some(Card::new(CardKind::Asks(Box::new(Asked::new(first, asks.len())))));
            model.dirty = true;
        }
        (card @ Some(Card { kind: CardKind::Asks(_), .. }), None) => {
            *card = None;
            model.dirty = true;
        }
        (None | Some(_), _) => {}
    }
}

/// Gives the card the focus. False if there is none.
pub(super) fn focus(model: &mut Model) -> bool {
    sync(model);
    if asked(model).is_none() {
        return false;
    }
    if let Some(card) = &mut model.card {
        card.hidden = false;
    }
    panes::set_focus(model, Focus::Card);
    true
}

/// Does what a key of the card says. False if it has none of that name.
pub(super) fn press(model: &mut Model, action: Action) -> bool {
    match action {
        Action::Yes => answer(model, Answer::Once),
        Action::AllowAlways => answer(model, Answer::Always),
        Action::No => answer(model, Answer::Deny { why: None }),
        Action::DenyWhy => ask_why(model),
        Action::CardUp => scroll(model, Action::CardUp),
        Action::CardDown => scroll(model, Action::CardDown),
        _ => return false,
    }
    true
}

/// Why a key of the card does nothing now.
pub(super) fn why_not(model: &Model, action: Action) -> Option<String> {
    match (action, asked(model)) {
        (Action::AllowAlways | Action::DenyWhy, None) => Some("no agent asks here".to_owned()),
        (Action::AllowAlways, Some(Asked { always: Err(why), .. })) => Some(format!("not offered: {why}")),
        (Action::Yes | Action::No | Action::AllowAlways | Action::DenyWhy, Some(_))
            if model.focus() == Focus::Card =>
        {
            border::locked(model)
        }
        _ => None,
    }
}

/// The operator said why: it is denied.
pub(super) fn deny(model: &mut Model) {
    let Some(Overlay::DenyWhy(DenyWhy { approval, text })) = model.overlays.pop() else { return };
    let why = text.text().trim().to_owned();
    let answer = Answer::Deny { why: (!why.is_empty()).then_some(why) };
    acts::act(model, Command::Answer { approval, answer });
    put_away(model);
}

fn answer(model: &mut Model, answer: Answer) {
    if let Some(approval) = asked(model).map(|asked| asked.approval) {
        acts::act(model, Command::Answer { approval, answer });
        put_away(model);
    }
}

/// An answered card takes no more keys; it goes when the engine has kept the answer.
fn put_away(model: &mut Model) {
    if let Some(card @ Card { kind: CardKind::Asks(_), .. }) = &mut model.card {
        card.focused_at = None;
        card.hidden = true;
    }
    model.dirty = true;
}

fn ask_why(model: &mut Model) {
    if let Some(approval) = asked(model).map(|asked| asked.approval) {
        model.overlays.push(Overlay::DenyWhy(DenyWhy { approval, text: TextField::new(Lines::One) }));
    }
}

fn scroll(model: &mut Model, action: Action) {
    let measured = model.measured;
    let Some(Card { kind: CardKind::Asks(asked), .. }) = &mut model.card else { return };
    asked.top = measured.turned(asked.top, action);
    model.dirty = true;
}
