//! Completion in the composer: slash commands, and the words that a command takes.

use super::composer::{Completion, Composer, Popup};
use super::focus::{Focus, Pane};
use super::writing::{composer, text_changed};
use super::{Model, action::Action, border, fuzzy, typing};
use crate::console::app::msg::Tone;
use crate::domain::agent::AgentName;
use crate::domain::marker::Marker;
use crate::domain::slash::{self, DuringTurn, Spec};

/// Offers what fits the draft; what can be done now stands first.
pub(super) fn offer(model: &mut Model) {
    let lines = model.composer().map(|composer| composer.text.lines()).unwrap_or_default();
    let command = match lines {
        [line] => line.strip_prefix('/').filter(|command| !command.starts_with('/')),
        _ => None,
    };
    let entries = match command.map(|command| (command, command.split_once(char::is_whitespace))) {
        Some((word, None)) => commands(model, word),
        Some((_, Some((word, typed)))) if !typed.trim().is_empty() => choices(model, word, typed.trim()),
        Some(_) | None => Vec::new(),
    };
    composer(model).popup = popup(entries);
}

fn popup(entries: Vec<Completion>) -> Option<Popup> {
    (!entries.is_empty()).then_some(Popup { entries, marked: 0 })
}

/// The commands that fit a word.
fn commands(model: &Model, word: &str) -> Vec<Completion> {
    let mut fitting: Vec<(bool, i64, &'static Spec)> = slash::TABLE
        .iter()
        .filter_map(|spec| {
            let names = std::iter::once(spec.name).chain(spec.aliases.iter().copied());
            let score = names.filter_map(|name| fuzzy::score(word, name)).max()?;
            Some((word.is_empty() && !can_now(model, spec), if word.is_empty() { 0 } else { score }, spec))
        })
        .collect();
    fitting.sort_by_key(|(not_now, score, _)| (*not_now, std::cmp::Reverse(*score)));
    let completion = |spec: &'static Spec| {
        let space = if spec.args.is_empty() { "" } else { " " };
        Completion { title: spec.usage(), help: spec.help.to_owned(), text: format!("/{}{space}", spec.name) }
    };
    fitting.into_iter().map(|(.., spec)| completion(spec)).collect()
}

/// The words that a command takes and that begin with what is typed; none if one of them is complete.
fn choices(model: &Model, command: &str, typed: &str) -> Vec<Completion> {
    let Some(spec) = slash::find(command) else { return Vec::new() };
    let words = words_of(model, spec);
    if words.iter().any(|(word, _)| word == typed) {
        return Vec::new();
    }
    let fitting = words.into_iter().filter(|(word, _)| word.starts_with(typed));
    let completion = |(word, help): (String, String)| Completion {
        text: format!("/{} {word}", spec.name),
        title: word,
        help,
    };
    fitting.map(completion).collect()
}

/// The words of a command with what each is for: those of its declaration, the agents by name, and the questions that
/// wait by their numbers.
fn words_of(model: &Model, spec: &Spec) -> Vec<(String, String)> {
    let declared = spec.choices.iter().map(|(word, help)| ((*word).to_owned(), (*help).to_owned()));
    let agents = model.overview.as_ref().map(|overview| &overview.engine.agents.known);
    let agents = agents.into_iter().flatten().filter(|(name, _)| name.as_str() != AgentName::DEFAULT);
    let agents = agents.map(|(name, known)| (name.to_string(), known.label.clone()));
    let asks = model.front_row.as_ref().map_or(&[][..], |row| &row.row.asks);
    let numbers = asks.iter().map(|asked| (asked.id.to_string(), asked.question.line()));
    let agents = agents.filter(|_| spec.name == "agent");
    declared.chain(agents).chain(numbers.filter(|_| matches!(spec.name, "approve" | "deny"))).collect()
}

/// Whether a command would not be refused now, as far as the screen knows.
fn can_now(model: &Model, spec: &Spec) -> bool {
    let row = model.front_row.as_ref().map(|row| &row.row);
    let turn = row.and_then(|row| row.turn.as_ref());
    let turns = row.is_some_and(|row| row.session.turns > 0);
    let held = row.is_some_and(|row| row.session.hold.is_some());
    let marker = row.and_then(|row| row.session.marker);
    let (cut, suspended) =
        (matches!(marker, Some(Marker::ResumePending(_))), matches!(marker, Some(Marker::Suspended(_))));
    match spec.name {
        "quit" | "help" => true,
        _ if border::locked(model).is_some() => false,
        "stop" => turn.is_some(),
        "steer" => turn.is_some_and(|turn| turn.steerable),
        "continue" => (held || cut) && !suspended,
        "suspend" => row.is_some() && !suspended,
        "unsuspend" => suspended,
        "undo" | "retry" => turns && turn.is_none(),
        "new!" | "restart!" => false,
        _ => spec.during_turn == DuringTurn::Allowed || turn.is_none(),
    }
}

/// Whether enter completes now; else it sends, what is typed is complete.
pub fn enter_completes(model: &Model) -> bool {
    model.composer().and_then(to_complete).is_some()
}

/// The marked entry, unless it is typed already.
fn to_complete(composer: &Composer) -> Option<&Completion> {
    let popup = composer.popup.as_ref()?;
    let entry = popup.entries.get(popup.marked)?;
    let typed = composer.text.text();
    let is_alias = || {
        let named = |word: &str| slash::find(word).map(|spec| spec.name);
        let typed = named(typed.trim_start_matches('/'));
        typed.is_some() && typed == named(entry.text.trim_start_matches('/').trim_end())
    };
    (typed != entry.text.trim_end() && !(popup.marked == 0 && is_alias())).then_some(entry)
}

/// Completes the marked entry. False if there is no popup, or what is typed is complete.
pub(super) fn accept(model: &mut Model) -> bool {
    let text = to_complete(composer(model)).map(|entry| entry.text.clone());
    composer(model).popup = None;
    let Some(text) = text else { return false };
    composer(model).text.set(&text);
    text_changed(model);
    composer(model).popup = None;
    true
}

/// Whether tab completes here instead of leaving the pane.
pub(super) fn tab_completes(model: &Model) -> bool {
    model.focus() == Focus::Pane(Pane::Composer)
        && model.composer().is_some_and(|composer| {
            composer.popup.is_some()
                || composer.text.lines().first().is_some_and(|line| line.starts_with('/'))
        })
}

/// Tab in a text that begins with `/`: completion only. Behind a complete command it offers its words.
pub(super) fn complete(model: &mut Model) {
    if accept(model) {
        return;
    }
    let typed = composer(model).text.text();
    let words =
        typed.strip_prefix('/').map_or_else(Vec::new, |command| choices(model, command.trim_end(), ""));
    match popup(words) {
        Some(popup) => composer(model).popup = Some(popup),
        None => {
            let key = typing::key_name(model, Action::Out);
            model.tell(Tone::Note, format!("nothing to complete here; {key} goes out"));
        }
    }
}

/// Closes the completion. False if there is none.
pub(super) fn close(model: &mut Model) -> bool {
    composer(model).popup.take().is_some()
}
