//! The lists that fields of the form pick from.

use chrono::{Days, NaiveTime, TimeZone};
use chrono_tz::Tz;

use super::fields::{Field, Kind};
use super::{JobEditor, anywhere, anywhere_mut, edited, front};
use crate::console::app::msg::Tone;
use crate::console::app::overlay::{Overlay, PickerEntry, PickerKind, Run};
use crate::console::app::text::{Lines, TextField};
use crate::console::app::{Model, picking};
use crate::domain::Time;
use crate::domain::cron::Target;
use crate::domain::schedule::Schedule;

/// Schedules to begin with.
const PRESETS: [(&str, &str); 6] = [
    ("hourly", "0 * * * *"),
    ("every 15 minutes", "*/15 * * * *"),
    ("daily", "0 9 * * *"),
    ("weekdays", "0 9 * * MON-FRI"),
    ("weekly", "0 9 * * MON"),
    ("monthly", "0 9 1 * *"),
];

const PICKED: &str = "picked";

/// Opens the list of the field with the focus, with what was typed to open it.
pub(super) fn open(model: &mut Model, typed: &str) {
    let Some(editor) = front(model) else { return };
    let (field, entries) = (editor.field, entries(model, editor));
    picking::open(model, PickerKind::Field(field), entries);
    if let Some(Overlay::Picker(picker)) = model.overlays.last_mut() {
        picker.text = TextField::with(typed, Lines::One);
    }
    picking::text_changed(model);
}

fn entries(model: &Model, editor: &JobEditor) -> Vec<PickerEntry> {
    let parts = &model.cron.parts;
    let field = editor.field;
    let named = |name: &str, about: &str| entry(editor, name, about, name);
    match field {
        Field::Preset => presets(editor, model.now, model.zone),
        Field::Timezone => {
            let set = format!("as set: {}", parts.zone);
            let names = chrono_tz::TZ_VARIANTS.iter().map(|zone| named(zone.name(), ""));
            std::iter::once(entry(editor, "as set", &set, "")).chain(names).collect()
        }
        Field::Skills => parts.skills.iter().map(|(name, about)| named(name, about)).collect(),
        Field::DeliverTo => parts.targets.iter().map(|(name, about)| named(name, about)).collect(),
        Field::Script => {
            let none = entry(editor, "none", "an agent works alone", "");
            std::iter::once(none).chain(parts.scripts.iter().map(|name| named(name, ""))).collect()
        }
        Field::Agent => {
            let set = entry(editor, "as set", "the one of the settings", "");
            std::iter::once(set).chain(parts.agents.iter().map(|(name, about)| named(name, about))).collect()
        }
        Field::ContextFrom => {
            let jobs = model.cron.all.iter().filter(|job| job.row.id.as_ref() != editor.own_id());
            jobs.filter_map(|job| Some(named(job.row.id.as_ref()?.as_str(), &job.row.words))).collect()
        }
        Field::Misfire => vec![
            named("once", "one run stands for all that were missed"),
            named("skip", "they are skipped, visibly"),
            named("all:3", "up to three of them run, in order"),
        ],
        _ => Vec::new(),
    }
}

fn presets(editor: &JobEditor, now: Time, zone: Tz) -> Vec<PickerEntry> {
    let zone = editor.definition.timezone.as_deref().and_then(|name| name.parse().ok()).unwrap_or(zone);
    let meaning = |schedule: &str| {
        let read: Option<Schedule> = schedule.parse().ok();
        format!("{schedule}: {}", read.map(|read| read.words()).unwrap_or_default())
    };
    let once = tomorrow(now, zone);
    let presets = PRESETS.into_iter().chain([("once", once.as_str())]);
    presets.map(|(name, schedule)| entry(editor, name, &meaning(schedule), schedule)).collect()
}

/// Nine o'clock on the day after.
fn tomorrow(now: Time, zone: Tz) -> String {
    let day = now.with_timezone(&zone).date_naive();
    let day = day.checked_add_days(Days::new(1)).unwrap_or(day);
    let nine = NaiveTime::from_hms_opt(9, 0, 0).unwrap_or_default();
    // Where the clock jumps over nine, the form says so.
    zone.from_local_datetime(&day.and_time(nine)).earliest().map_or_else(
        || day.and_time(nine).format("%Y-%m-%dT%H:%M").to_string(),
        |at| at.format("%Y-%m-%dT%H:%M").to_string(),
    )
}

fn entry(editor: &JobEditor, title: &str, about: &str, value: &str) -> PickerEntry {
    let picked = match editor.field {
        Field::Preset => editor.definition.schedule == value,
        field => match editor.form.picked(field) {
            [] => value.is_empty(),
            values => values.iter().any(|known| known == value),
        },
    };
    let keys = if picked { PICKED.to_owned() } else { String::new() };
    PickerEntry { keys, ..picking::entry(title, about, Run::Pick(value.to_owned())) }
}

/// Takes a value into the field whose list is open, or out of it. The list of a field that takes several
/// stays open.
pub(in crate::console::app) fn pick(model: &mut Model, value: &str) {
    let Some(Overlay::Picker(picker)) = model.overlays.last() else { return };
    let PickerKind::Field(field) = picker.kind else { return };
    if field == Field::DeliverTo
        && let Err(error) = Target::list(value)
    {
        return model.tell(Tone::Warn, error.to_string());
    }
    let Some(editor) = anywhere_mut(model) else { return };
    match field.kind() {
        Kind::PickSome if !value.is_empty() => {
            let mut values = editor.form.picked(field).to_vec();
            match values.iter().position(|known| known == value) {
                Some(place) => drop(values.remove(place)),
                None => values.push(value.to_owned()),
            }
            editor.form.set_picked(field, values);
            edited(model);
            refresh(model);
        }
        _ => {
            match field {
                Field::Preset => editor.form.set_text(Field::Schedule, value),
                _ if value.is_empty() => editor.form.set_picked(field, Vec::new()),
                _ => editor.form.set_picked(field, vec![value.to_owned()]),
            }
            if field == Field::Preset {
                editor.field = Field::Schedule;
            }
            model.overlays.pop();
            edited(model);
        }
    }
    model.dirty = true;
}

/// Marks anew what is picked; what was typed is done with.
fn refresh(model: &mut Model) {
    let Some(editor) = anywhere(model) else { return };
    let mut all = entries(model, editor);
    let listed =
        |all: &[PickerEntry], value: &String| all.iter().any(|entry| entry.run == Run::Pick(value.clone()));
    let typed: Vec<&String> =
        editor.form.picked(editor.field).iter().filter(|value| !listed(&all, value)).collect();
    let typed: Vec<PickerEntry> =
        typed.into_iter().map(|value| entry(editor, value, "typed", value)).collect();
    all.extend(typed);
    let Some(Overlay::Picker(picker)) = model.overlays.last_mut() else { return };
    let marked = picker.entries.get(picker.marked).map(|entry| entry.run.clone());
    picker.all = all;
    picker.text.set("");
    picking::text_changed(model);
    if let Some(Overlay::Picker(picker)) = model.overlays.last_mut() {
        let place = marked.and_then(|marked| picker.entries.iter().position(|entry| entry.run == marked));
        picker.marked = place.unwrap_or(0);
    }
    picking::show_mark(model);
}
