//! What the footer says: the keys that matter for the focus, from the key map.

use super::action::Action;
use super::border::{Weight, border, locked};
use super::conversation::Fold;
use super::focus::{Focus, Pane, View};
use super::job_editor::Showing;
use super::key::sequence_name;
use super::keymap::Context;
use super::overlay::{CardKind, Overlay, Picker, PickerKind, Stands};
use super::search::{filter_offers, filter_pane};
use super::typing::chain;
use super::{Model, alerts, approvals, asking, availability, completing, cron, item_acts, job_editor};

/// A key in the footer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// The keys.
    pub keys: String,
    /// What they do here, in a word or two.
    pub title: String,
    /// The action, for a click.
    pub action: Action,
    /// Why it does nothing now; none: it works.
    pub why_not: Option<String>,
}

/// The footer's keys, most important first; the drawing shows as many as fit. The last one is help.
pub fn footer(model: &Model) -> Vec<Hint> {
    // What a card offers comes first: its own keys are typed, or mean something else, before that.
    let card = model.card.as_ref().filter(|_| matches!(model.focus(), Focus::Pane(_)));
    let card = card.map(|_| Action::NextNeed);
    let mut here = actions(model);
    if alerts::at_hand(model).is_some()
        && let Some(go_on) = here.iter().position(|action| *action == Action::GoOn)
    {
        here.insert(go_on + 1, Action::Acknowledge);
    }
    let actions = card.into_iter().chain(here).chain([Action::Help]);
    let locked = locked(model);
    let shown = |hint: &Hint| match &locked {
        // Where nothing can be changed, what would is not offered.
        Some(_) => hint.why_not != locked && hint.action != Action::Compose,
        None => true,
    };
    actions.filter_map(|action| hint(model, action)).filter(shown).collect()
}

/// The keys of a sequence that was begun, with what each next key would do.
pub fn continuations(model: &Model) -> Vec<Hint> {
    let begun = &model.pending;
    let bindings = chain(model).iter().flat_map(|context| model.keymap.of(*context));
    let mut hints: Vec<Hint> = Vec::new();
    for binding in
        bindings.filter(|binding| binding.keys.len() > begun.len() && binding.keys.starts_with(begun))
    {
        let keys = sequence_name(&binding.keys[begun.len()..]);
        if hints.iter().all(|hint| hint.keys != keys) {
            hints.push(Hint {
                keys,
                title: title(model, binding.action),
                action: binding.action,
                why_not: None,
            });
        }
    }
    hints
}

fn hint(model: &Model, action: Action) -> Option<Hint> {
    // The card names the key that works in a text field too.
    let chain = if action == Action::NextNeed { &[Context::Always] } else { chain(model) };
    let keys = model.keymap.keys_of(chain, action)?;
    Some(Hint { keys, title: title(model, action), action, why_not: availability::why_not(model, action) })
}

/// What an action is called here: some say more exactly what they would do now.
fn title(model: &Model, action: Action) -> String {
    if let (Focus::Overlay, Some(Overlay::Confirm(confirm))) = (model.focus(), model.overlays.last())
        && let Some(button) = confirm.buttons.iter().find(|button| button.action == action)
    {
        return button.title.clone();
    }
    if let (Focus::Card, Some(card)) = (model.focus(), &model.card)
        && matches!(card.kind, CardKind::Asks(_))
        && matches!(action, Action::Yes | Action::No)
    {
        return asking::card_title(&card.kind, action).to_owned();
    }
    let here = match action {
        Action::Send if completing::enter_completes(model) => "complete",
        Action::Send => match border(model).weight {
            Weight::Replaces => "replace",
            Weight::Stops => "stop and send",
            Weight::Normal | Weight::Refused => "send",
        },
        Action::Accept => match (model.overlays.last(), filter_offers(model)) {
            (Some(Overlay::NewSession(_)), _) => "create",
            (Some(Overlay::DenyWhy(deny)), _) => match deny.stands {
                Stands::Open => "deny",
                Stands::Settled => "to the draft",
            },
            (Some(Overlay::Picker(Picker { kind: PickerKind::History | PickerKind::Field(_), .. })), _) => {
                "take"
            }
            (Some(_), _) => "run",
            (None, Some(_)) => "to the composer",
            (None, None) if filter_pane(model) == Pane::Conversation || model.view == View::Log => "search",
            (None, None) => "keep the filter",
        },
        Action::Fold => {
            match model.conversation.cursor_index().map(|index| model.conversation.entries[index].fold) {
                Some(Fold::Folded) => "open",
                _ => "fold",
            }
        }
        Action::PauseJob if model.cron.current().is_some_and(|job| job.row.paused.is_some()) => "resume",
        Action::PauseJob => "pause",
        Action::OpenJob if model.pane == Pane::Detail => "session",
        Action::OpenJob => "detail",
        Action::Why if cron::file::compares(model) => "compare",
        Action::EditFile if cron::file::trouble(model).is_some() => "repair",
        Action::EnterField => job_editor::enter_title(model),
        Action::NextPane if job_editor::is_open(model) => "next field",
        Action::ShowRecord => job_editor::record_title(model),
        Action::GoOn if item_acts::put_aside_under_cursor(model).is_some() => "put back",
        Action::NextNeed => match model.card.as_ref().map(|card| &card.kind) {
            Some(CardKind::Gone { .. }) => "reconnect, start",
            Some(CardKind::Drain) => "cut, keep running",
            Some(CardKind::Away(_)) => "since you looked",
            Some(CardKind::Asks(_)) => "answer it",
            None => "needs you",
        },
        Action::StepBack if model.armed.is_some() => "stops the turn",
        Action::Out => match (model.focus(), model.pane) {
            (Focus::Overlay, _) => "close",
            (Focus::Card, _) if approvals::asked(model).is_some() => "later",
            (Focus::Card, _) => "hide",
            (_, Pane::List | Pane::Filter) => "clear",
            (_, Pane::Detail) => "jobs",
            _ => "list",
        },
        action => action.spec().title,
    };
    here.to_owned()
}

fn actions(model: &Model) -> Vec<Action> {
    use Action as A;
    match model.focus() {
        Focus::Overlay => match model.overlays.last() {
            Some(Overlay::Picker(_)) => vec![A::Accept, A::PickerDown, A::PickerUp, A::Out],
            Some(Overlay::NewSession(_) | Overlay::DenyWhy(_)) => vec![A::Accept, A::Out],
            Some(Overlay::JobEditor(editor)) if editor.showing != Showing::Form => {
                vec![A::Save, A::ShowRecord, A::ExternalEditor, A::Out]
            }
            Some(Overlay::JobEditor(_)) => {
                vec![A::Save, A::NextPane, A::EnterField, A::ShowRecord, A::ExternalEditor, A::Out]
            }
            Some(Overlay::ItemEditor(_)) => vec![A::Save, A::NewLine, A::ExternalEditor, A::Out],
            Some(Overlay::Viewer(_)) => vec![A::ViewerDown, A::ViewerPageDown, A::ViewerCopy, A::Out],
            Some(Overlay::Confirm(confirm)) => {
                let buttons = confirm.buttons.iter().map(|button| button.action);
                buttons.chain([A::Press, A::ButtonRight, A::Out]).collect()
            }
            None => Vec::new(),
        },
        Focus::Card => {
            let kind = model.card.as_ref().map(|card| &card.kind);
            let buttons = kind.map_or(&[][..], |kind| asking::card_buttons(kind));
            // What the screen has no room for is not offered here either.
            let offered = |action: &A| {
                *action != A::Close
                    && (*action != A::AllowAlways || availability::why_not(model, *action).is_none())
            };
            buttons.iter().copied().filter(offered).chain([A::Out]).collect()
        }
        Focus::Pane(Pane::Composer) => {
            vec![A::Send, A::SendQueued, A::NewLine, A::NextPane, A::Out, A::StepBack]
        }
        Focus::Pane(Pane::Filter) => vec![A::Accept, A::PickerDown, A::Out],
        Focus::Pane(Pane::Conversation) => {
            vec![A::Fold, A::Compose, A::StopTurn, A::GoOn, A::Last, A::Filter, A::Copy, A::Why, A::NextPane]
        }
        Focus::Pane(Pane::Queue) => queue_actions(),
        Focus::Pane(Pane::Detail) => vec![
            A::ReadOutput,
            A::OpenJob,
            A::Why,
            A::RunNow,
            A::StopRun,
            A::PauseJob,
            A::EditJob,
            A::ShowTimeline,
            A::Out,
        ],
        Focus::Pane(Pane::List) => match model.view {
            View::Sessions => {
                vec![
                    A::Open,
                    A::NewSession,
                    A::StopTurn,
                    A::GoOn,
                    A::Filter,
                    A::Why,
                    A::Palette,
                    A::NextPane,
                    A::Back,
                ]
            }
            View::Queue => queue_actions(),
            View::Cron => cron_actions(model),
            View::Recovery => {
                vec![
                    A::ResumeNow,
                    A::GiveUp,
                    A::Lift,
                    A::OpenRecovered,
                    A::EarlierStart,
                    A::LaterStart,
                    A::Why,
                    A::Filter,
                    A::Back,
                ]
            }
            View::Log => {
                vec![
                    A::OpenSubject,
                    A::Last,
                    A::MoreLevels,
                    A::FewerLevels,
                    A::OnlySession,
                    A::Filter,
                    A::Why,
                    A::Back,
                ]
            }
        },
    }
}

fn cron_actions(model: &Model) -> Vec<Action> {
    use Action as A;
    if model.cron.total == 0 {
        return vec![A::AddJob, A::Palette, A::NextNeed, A::Back];
    }
    let mut actions = vec![
        A::AddJob,
        A::EditJob,
        A::RunNow,
        A::PauseJob,
        A::RemoveJob,
        A::ReadOutput,
        A::OpenJob,
        A::ShowTimeline,
        A::Filter,
        A::StopRun,
        A::DuplicateJob,
        A::Why,
    ];
    if cron::file::trouble(model).is_some() {
        // What is refused meanwhile comes last.
        let repair = [A::EditFile, A::Why, A::TakeCopy];
        actions.retain(|action| *action != A::Why);
        actions.splice(0..0, repair);
        actions
            .sort_by_key(|action| matches!(action, A::AddJob | A::EditJob | A::RemoveJob | A::DuplicateJob));
    }
    actions
}

fn queue_actions() -> Vec<Action> {
    use Action as A;
    vec![
        A::EditItem,
        A::DropItem,
        A::MoveUp,
        A::MoveDown,
        A::SwitchLane,
        A::PutBack,
        A::ClearQueue,
        A::GoToSession,
        A::Why,
    ]
}
