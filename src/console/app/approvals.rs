//! What the agent in front asks: its card, and the keys that answer it.

use super::action::Action;
use super::focus::{Focus, View};
use super::keymap::Context;
use super::msg::Tone;
use super::overlay::{Card, CardKind, DenyWhy, Overlay, Stands};
use super::text::{Lines, TextField};
use super::{Model, asking, border, panes, writing};
use crate::domain::Time;
use crate::domain::api::Command;
use crate::domain::approval::{Always, Answer, Approval, only};
use crate::domain::id::ApprovalId;
use crate::domain::sanitize::{exact, one_line};

/// Why `always` is not offered where its beginning can't be shown.
pub const NO_ROOM: &str = "this screen has no room for all that it would allow";

/// What the last frame showed of a question: only what is seen is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// The question, of which at least a row of what the agent would do is shown.
    pub approval: ApprovalId,
    /// Whether all that `always` would allow is shown.
    pub prefix: bool,
}

/// A question as its card shows it; every text in it is safe to show.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// Which it is.
    pub approval: ApprovalId,
    /// What a person calls its session.
    pub session: String,
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
    /// Since when its card is there.
    pub since: Time,
}

impl Asked {
    fn new(asked: &Approval, session: &str, waiting: usize, since: Time) -> Self {
        let question = &asked.question;
        let clean = |text: &str| one_line(&exact(text)).into_owned();
        Self {
            approval: asked.id,
            session: session.to_owned(),
            tool: clean(&question.tool),
            folder: clean(&question.folder),
            what: exact(&question.what).into_owned(),
            characters: question.what.chars().count(),
            always: match &question.always {
                Always::Offered { prefix } => Ok(clean(prefix)),
                Always::NotOffered { why } => Err(clean(why)),
            },
            denies_at: asked.denies_at,
            waiting,
            top: 0,
            since,
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

/// Puts the oldest question of the session in front on its card, without the focus, where no other card is shown;
/// takes a card away whose question is settled or not in front any more.
pub(super) fn sync(model: &mut Model) {
    note_settled(model);
    let row = model.front_row.as_ref().filter(|_| model.view == View::Sessions);
    let asks = row.map_or(&[][..], |row| &row.row.asks);
    let name = row.map_or("", |row| &row.name);
    let drains = model.drain().is_some();
    let drain_is_hidden = matches!(&model.card, Some(Card { kind: CardKind::Drain, hidden: true, .. }));
    model.card.take_if(|_| drain_is_hidden && !asks.is_empty());
    match (&mut model.card, asks.first()) {
        (Some(Card { kind: CardKind::Asks(shown), .. }), Some(first)) if shown.approval == first.id => {
            model.dirty |= shown.waiting != asks.len();
            shown.waiting = asks.len();
        }
        (card @ (None | Some(Card { kind: CardKind::Asks(_), .. })), Some(first)) => {
            *card = Some(Card::new(CardKind::Asks(Box::new(Asked::new(first, name, asks.len(), model.now)))));
            model.dirty = true;
        }
        (card @ Some(Card { kind: CardKind::Asks(_), .. }), None) => {
            *card = drains.then(|| Card::new(CardKind::Drain));
            model.dirty = true;
        }
        (None | Some(_), _) => {}
    }
}

/// Gives the card the focus; one that tells of a stop or an absence gives way. False if there is none.
pub(super) fn focus(model: &mut Model) -> bool {
    let asks = model.front_row.as_ref().is_some_and(|row| !row.row.asks.is_empty());
    let tells = |card: &mut Card| matches!(card.kind, CardKind::Drain | CardKind::Away(_));
    if asks && model.view == View::Sessions {
        model.card.take_if(tells);
    }
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
    if let Some(why) = unseen(model, action) {
        model.tell(Tone::Warn, why);
        return true;
    }
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
            border::locked(model).or_else(|| unseen(model, action))
        }
        _ => None,
    }
}

/// Why what the card shows can't be answered so.
fn unseen(model: &Model, action: Action) -> Option<String> {
    let asked = asked(model)?;
    let seen = model.measured.question.filter(|seen| seen.approval == asked.approval);
    match (action, seen) {
        (Action::Yes | Action::No | Action::AllowAlways | Action::DenyWhy, None) => {
            let back = model.keymap.keys_of(&[Context::Card], Action::CardUp).unwrap_or_default();
            Some(format!(
                "nothing of what it would do is shown: {back} goes back to it, or make the screen larger"
            ))
        }
        (Action::AllowAlways, Some(Seen { prefix: false, .. })) => Some(format!("not offered: {NO_ROOM}")),
        _ => None,
    }
}

/// The operator said why: it is denied. Where that can't be, the words come back.
pub(super) fn deny(model: &mut Model) {
    let Some(Overlay::DenyWhy(deny)) = model.overlays.pop() else { return };
    let DenyWhy { approval, key, .. } = deny;
    let why = deny.text.text().trim().to_owned();
    model.dirty = true;
    match (deny.stands, why.is_empty()) {
        (Stands::Settled, true) => {}
        (Stands::Settled, false) => {
            writing::give_back(model, &key, &why);
            model.tell(
                Tone::Warn,
                "the question was settled meanwhile: what you wrote is in the draft, or in its history",
            );
        }
        (Stands::Open, true) => {
            give(model, approval, Answer::Deny { why: None });
            put_away(model);
        }
        (Stands::Open, false) => {
            let answer = Answer::Deny { why: Some(why.clone()) };
            writing::give(model, key, why, Command::Answer { approval, answer });
            put_away(model);
        }
    }
}

/// The question that a typed answer without a number is for: the one that is shown. The refusal says why there
/// is none.
pub(super) fn to_answer(model: &Model) -> Result<ApprovalId, String> {
    match asked(model) {
        Some(asked) if model.now - asked.since < asking::CARD_RESTS => {
            Err(format!("question {} came up just now: read it, then send this again", asked.approval))
        }
        Some(asked) => Ok(asked.approval),
        None => {
            let asks = model.front_row.as_ref().map_or(&[][..], |row| &row.row.asks);
            only(asks).map_err(|refusal| refusal.to_string())
        }
    }
}

/// A question for whose denial words are written may be settled meanwhile.
fn note_settled(model: &mut Model) {
    let deny = model.overlays.iter_mut().rev().find_map(|overlay| match overlay {
        Overlay::DenyWhy(deny) => Some(deny),
        _ => None,
    });
    let Some(deny) = deny else { return };
    let row = model.front_row.as_ref().filter(|row| *row.key() == deny.key);
    if row.is_some_and(|row| row.row.asks.iter().all(|asked| asked.id != deny.approval)) {
        model.dirty |= deny.stands == Stands::Open;
        deny.stands = Stands::Settled;
    }
}

fn answer(model: &mut Model, answer: Answer) {
    if let Some(approval) = asked(model).map(|asked| asked.approval) {
        give(model, approval, answer);
        put_away(model);
    }
}

/// What becomes of an answer is told where it is told of a message.
fn give(model: &mut Model, approval: ApprovalId, answer: Answer) {
    writing::give(model, model.front.clone(), String::new(), Command::Answer { approval, answer });
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
    let Some(asked) = asked(model) else { return };
    let deny = DenyWhy {
        approval: asked.approval,
        key: model.front.clone(),
        session: asked.session.clone(),
        text: TextField::new(Lines::One),
        stands: Stands::Open,
    };
    model.overlays.push(Overlay::DenyWhy(deny));
}

/// Scrolls what has no room on the card by so many rows.
pub(super) fn scroll_by(model: &mut Model, rows: i64) {
    let last = model.measured.overlay_lines.saturating_sub(model.measured.overlay_rows);
    if let Some(Card { kind: CardKind::Asks(asked), .. }) = &mut model.card {
        asked.top = asked.top.min(last).saturating_add_signed(rows as isize).min(last);
        model.dirty = true;
    }
}

fn scroll(model: &mut Model, action: Action) {
    let measured = model.measured;
    let Some(Card { kind: CardKind::Asks(asked), .. }) = &mut model.card else { return };
    asked.top = measured.turned(asked.top, action);
    model.dirty = true;
}
