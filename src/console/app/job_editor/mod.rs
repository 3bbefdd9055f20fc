//! The form of a job: what is typed, what it means, what is wrong with it, and what will be written.
//!
//! [`Field`] is the list of fields, [`Form`] their values, [`insight`] what the schedule means, [`record`]
//! what changes in the file. `keys` are the keys in it, `picking` the lists, `saving` the way to the engine.

pub mod fields;
mod form;
pub mod insight;
mod keys;
mod picking;
pub mod record;
mod saving;

pub use fields::{Field, Kind};
pub use form::Value;

pub(super) use keys::{
    back_to_form, enter_title, external_text, go_to, pasted, press, record_title, step, text_to_edit, typed,
};
pub(super) use picking::pick;
pub(super) use saving::{keep_mine, save, saved, take_theirs};

use super::Model;
use super::msg::{Pace, Question, Ticket};
use super::overlay::Overlay;
use super::text::TextField;
use crate::domain::Time;
use crate::domain::api::{JobQuery, Parts, Query};
use crate::domain::cron::{Definition, Fault, JobId};
use crate::domain::sanitize::one_line;
use form::{Form, IdFrom};
use insight::{Insight, Meaning};
use record::RecordLine;

/// A job in the making.
#[derive(Debug, Clone)]
pub struct JobEditor {
    /// What stands over it.
    pub title: String,
    /// The field with the focus.
    pub field: Field,
    /// Whether the rarer fields are shown.
    pub more: Fold,
    /// What is shown: the form, or the record that it makes.
    pub showing: Showing,
    /// What the schedule means.
    pub insight: Insight,
    /// What is wrong with fields, safe to show.
    pub faults: Vec<(Field, String)>,
    /// What to know about fields, safe to show.
    pub advice: Vec<(Field, String)>,
    /// The record that will be written, with what changes in it.
    pub record: Vec<RecordLine>,
    /// Why it could not be saved.
    pub failed: Option<String>,
    /// What became of its record on disk since it was opened.
    pub on_disk: OnDisk,
    form: Form,
    /// The form as it was opened.
    before: Form,
    /// The record that is changed; none: a new job.
    base: Option<String>,
    /// The job as it was, and its next slots then.
    was: Option<(Definition, Vec<Time>)>,
    /// How many runs of its `repeat` are used up.
    used: u32,
    /// The job that the form makes.
    definition: Definition,
    /// Whether the fields that are missing are told: not before the first attempt to save.
    strictness: Strictness,
    /// The save that is on its way.
    saving: Option<Ticket>,
    /// What it names that may not be there, and what of that is not.
    named: Option<Definition>,
    missing: Vec<Fault>,
    /// What is in the external editor.
    outside: Option<Outside>,
    /// A record that was edited outside and could not be taken.
    rejected: Option<String>,
    /// What is on disk, after a save that met another change.
    theirs: Option<Option<String>>,
}

/// Whether the rarer fields are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    /// One line stands for them.
    Folded,
    /// They are shown.
    Open,
}

/// What is shown of a job in the making.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Showing {
    /// The form.
    Form,
    /// The whole record, from this line on.
    Record {
        /// The first line that is shown.
        top: usize,
    },
}

/// What became of a job's record on disk while its form is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDisk {
    /// It is as the form was opened with.
    AsOpened,
    /// It was changed.
    Changed,
    /// It was taken out.
    Removed,
}

impl OnDisk {
    /// In words; none where there is nothing to tell.
    pub fn words(self) -> Option<&'static str> {
        match self {
            Self::AsOpened => None,
            Self::Changed => Some("changed in jobs.json meanwhile: saving shows both versions"),
            Self::Removed => Some("taken out of jobs.json meanwhile: saving asks whether to write it anew"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strictness {
    WhatIsWritten,
    WhatIsMissingToo,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outside {
    Field(Field),
    Record,
}

impl JobEditor {
    fn new(title: String, definition: Definition, base: Option<String>, id: IdFrom) -> Self {
        let form = Form::of(&definition, id);
        Self {
            title,
            field: Field::Schedule,
            more: Fold::Folded,
            showing: Showing::Form,
            insight: Insight::Nothing,
            faults: Vec::new(),
            advice: Vec::new(),
            record: Vec::new(),
            failed: None,
            on_disk: OnDisk::AsOpened,
            before: form.clone(),
            form,
            base,
            was: None,
            used: 0,
            definition,
            strictness: Strictness::WhatIsWritten,
            saving: None,
            named: None,
            missing: Vec::new(),
            outside: None,
            rejected: None,
            theirs: None,
        }
    }

    /// Whether something was changed since it was opened.
    pub fn is_changed(&self) -> bool {
        !self.form.same(&self.before)
    }

    /// The fields that are shown, in their order.
    pub fn fields(&self) -> Vec<Field> {
        let shown = |field: &Field| self.more == Fold::Open || !field.is_rare();
        Field::ALL.into_iter().filter(shown).collect()
    }

    /// The value of a field.
    pub fn value(&self, field: Field) -> Value<'_> {
        self.form.value(field)
    }

    /// What of the rarer fields is not as it usually is, in a few words.
    pub fn rare_words(&self) -> String {
        self.form.rare_words()
    }

    /// The text field with the focus.
    pub(super) fn field_mut(&mut self) -> Option<&mut TextField> {
        match self.showing {
            Showing::Form => self.form.text_mut(self.field),
            Showing::Record { .. } => None,
        }
    }

    /// The record that is changed is another one now: the one on disk.
    fn rebase(&mut self, base: Option<String>) {
        self.base = base;
        self.on_disk = OnDisk::AsOpened;
    }

    /// The id of the job that it is about, as it was.
    fn own_id(&self) -> Option<&JobId> {
        self.was.as_ref().map(|(was, _)| &was.id)
    }
}

/// Opens the form of a new job.
pub(super) fn add(model: &mut Model) {
    let definition = Definition::new(form::unnamed(), String::new());
    open(model, JobEditor::new("New job".to_owned(), definition, None, IdFrom::Description));
}

/// Opens the form of the selected job.
pub(super) fn edit(model: &mut Model) {
    let Some(detail) = model.cron.current_detail() else { return };
    let Some(definition) = detail.definition.as_deref().cloned() else { return };
    let (base, next) = (detail.record.clone(), detail.next.clone());
    let title = format!("Job {}", definition.id);
    let left = model.cron.current().and_then(|job| job.row.runs_left);
    let used = definition.repeat.zip(left).map_or(0, |(times, left)| times.saturating_sub(left));
    let mut editor = JobEditor::new(title, definition.clone(), Some(base), IdFrom::Author);
    editor.was = Some((definition, next));
    editor.used = used;
    open(model, editor);
}

/// Opens the form of a new job that is like the selected one.
pub(super) fn duplicate(model: &mut Model) {
    let Some(detail) = model.cron.current_detail() else { return };
    let Some(like) = detail.definition.as_deref().cloned() else { return };
    let title = format!("New job, like {}", like.id);
    let taken = taken(model, None);
    let id = JobId::from_words(like.id.as_str(), |id| taken.contains(id));
    let mut editor = JobEditor::new(title, Definition { id, ..like }, None, IdFrom::Author);
    // It is a job to lose already.
    editor.before = Form::of(&Definition::new(form::unnamed(), String::new()), IdFrom::Author);
    open(model, editor);
}

fn open(model: &mut Model, editor: JobEditor) {
    model.overlays.push(Overlay::JobEditor(Box::new(editor)));
    model.requests.mark(Question::Parts, Pace::AtOnce);
    changed(model);
}

/// Tells in an open form what became of its record on disk.
pub(super) fn look_at_disk(model: &mut Model) {
    let known = model.cron.detail.as_ref().map(|detail| (detail.job.clone(), detail.record.clone()));
    let listed = taken(model, None);
    let Some(editor) = anywhere_mut(model) else { return };
    let (Some(base), Some(own), None) = (&editor.base, editor.own_id(), editor.saving) else { return };
    let on_disk = match known {
        _ if !listed.contains(own) => OnDisk::Removed,
        Some((job, record)) if job == *own && record != *base => OnDisk::Changed,
        Some((job, _)) if job == *own => OnDisk::AsOpened,
        _ => return,
    };
    if editor.on_disk != on_disk {
        editor.on_disk = on_disk;
        model.dirty = true;
    }
}

/// Something was typed into a field.
pub(super) fn typed_into(model: &mut Model) {
    if let Some(editor) = front_mut(model).filter(|editor| editor.field == Field::Id) {
        editor.form.id_typed();
    }
    edited(model);
}

/// A value is another one: why it could not be saved before holds no longer.
fn edited(model: &mut Model) {
    if let Some(editor) = anywhere_mut(model) {
        editor.failed = None;
    }
    changed(model);
}

/// Goes to a field.
fn focus(model: &mut Model, field: Field) {
    let Some(editor) = front_mut(model) else { return };
    editor.form.id_left();
    editor.field = field;
    changed(model);
}

/// Whether the form of a job is in front.
pub(super) fn is_open(model: &Model) -> bool {
    matches!(model.overlays.last(), Some(Overlay::JobEditor(_)))
}

fn front(model: &Model) -> Option<&JobEditor> {
    match model.overlays.last() {
        Some(Overlay::JobEditor(editor)) => Some(editor),
        _ => None,
    }
}

fn front_mut(model: &mut Model) -> Option<&mut JobEditor> {
    match model.overlays.last_mut() {
        Some(Overlay::JobEditor(editor)) => Some(editor),
        _ => None,
    }
}

/// The form, wherever it is among the overlays: a list or a question may lie over it.
fn anywhere(model: &Model) -> Option<&JobEditor> {
    model.overlays.iter().rev().find_map(|overlay| match overlay {
        Overlay::JobEditor(editor) => Some(&**editor),
        _ => None,
    })
}

/// The same, to change it.
fn anywhere_mut(model: &mut Model) -> Option<&mut JobEditor> {
    model.overlays.iter_mut().rev().find_map(|overlay| match overlay {
        Overlay::JobEditor(editor) => Some(&mut **editor),
        _ => None,
    })
}

/// Takes in what there is to pick from.
pub(super) fn take_parts(model: &mut Model, mut parts: Parts) {
    let clean = |text: &mut String| *text = one_line(text).into_owned();
    parts.skills.iter_mut().chain(&mut parts.targets).for_each(|(name, about)| {
        clean(name);
        clean(about);
    });
    parts.scripts.iter_mut().for_each(clean);
    clean(&mut parts.zone);
    model.cron.parts = parts;
    changed(model);
}

/// The ids of all jobs but one.
fn taken(model: &Model, but: Option<&JobId>) -> Vec<JobId> {
    let ids = model.cron.all.iter().filter_map(|job| job.row.id.clone());
    ids.filter(|id| Some(id) != but).collect()
}

/// Does what must follow a change of the form, and of the time: what it means is worked out anew.
pub(super) fn changed(model: &mut Model) {
    let (parts, now, zone) = (model.cron.parts.clone(), model.now, model.zone);
    let Some(own) = anywhere_mut(model).map(|editor| editor.own_id().cloned()) else { return };
    let taken = taken(model, own.as_ref());
    let Some(editor) = anywhere_mut(model) else { return };
    editor.form.derive_id(&taken);
    let default_zone = parts.zone.parse().unwrap_or(zone);
    let (definition, mut faults) = editor.form.read();
    editor.insight = insight::of(&Meaning {
        schedule: &definition.schedule,
        zone: definition.timezone.as_deref(),
        default_zone,
        now,
        was: editor.was.as_ref().map(|(was, next)| (was, next.as_slice())),
        runs_left: definition.repeat.map(|times| times.saturating_sub(editor.used)),
    });
    if let Insight::Fault(why) = &editor.insight {
        faults.push((Field::Schedule, why.clone()));
    }
    if taken.contains(&definition.id) {
        faults.push((Field::Id, format!("there is a job {} already: choose another id", definition.id)));
    }
    let strict = editor.strictness == Strictness::WhatIsMissingToo;
    let written = |field: Field, form: &Form| !form.is_empty(field);
    for fault in definition.clone().check().err().unwrap_or_default() {
        let Some(field) = Field::of_record(&fault.field) else { continue };
        if field == Field::Schedule {
            // What it means was worked out above.
            continue;
        }
        let told = if fault.value.is_empty() { fault.why } else { format!("{}: {}", fault.value, fault.why) };
        faults.push((field, told));
    }
    if definition.schedule.is_empty() {
        faults.push((Field::Schedule, "say when it is due, or choose a preset".to_owned()));
    }
    faults.retain(|(field, _)| strict || written(*field, &editor.form));
    faults.sort_by_key(|(field, _)| *field);
    editor.faults = faults;
    let named = named(&definition);
    let is_other = named != editor.named;
    if named.is_none() {
        editor.missing.clear();
    }
    editor.named = named;
    editor.advice =
        advice(&definition, &editor.missing, |job| taken.contains(job) || own.as_ref() == Some(job));
    let written = insight::as_written(&editor.insight, &definition);
    editor.record = record::lines(editor.base.as_deref(), &written);
    if editor.form.is_empty(Field::Id) {
        // What stands for an id until there is one is never written.
        editor.record.retain(|line| !line.text.starts_with("\"id\""));
    }
    editor.definition = definition;
    if is_other {
        model.requests.mark(Question::MissingParts, Pace::Soon);
    }
    model.dirty = true;
}

/// Of a job only what may not be there: its agent, its skills, its script and its folder; none where it names
/// none.
fn named(definition: &Definition) -> Option<Definition> {
    let Definition { agent, no_agent, skills, script, workdir, .. } = definition;
    let names_any = agent.is_some() || !skills.is_empty() || script.is_some() || workdir.is_some();
    names_any.then(|| Definition {
        agent: agent.clone(),
        no_agent: *no_agent,
        skills: skills.clone(),
        script: script.clone(),
        workdir: workdir.clone(),
        ..Definition::new(form::unnamed(), String::new())
    })
}

/// The question which of the things that the form names are not there.
pub(super) fn missing_query(model: &Model) -> Option<Query> {
    let named = anywhere(model)?.named.clone()?;
    Some(Query::Jobs(JobQuery::Missing { definition: Box::new(named) }))
}

/// Takes in what of that is not there.
pub(super) fn take_missing(model: &mut Model, missing: Vec<Fault>) {
    if let Some(editor) = anywhere_mut(model) {
        editor.missing = missing;
    }
    changed(model);
}

/// What to know about what was picked: it may not be there, or not be set up.
fn advice(
    definition: &Definition,
    missing: &[Fault],
    is_there: impl Fn(&JobId) -> bool,
) -> Vec<(Field, String)> {
    let parts = missing.iter().filter_map(|fault| {
        Some((
            Field::of_record(&fault.field)?,
            one_line(&format!("{}: {}", fault.value, fault.why)).into_owned(),
        ))
    });
    let targets = definition.deliver_to.iter().filter_map(|target| target.warning(&definition.id));
    let sources = definition.missing_sources(is_there);
    parts
        .chain(targets.map(|words| (Field::DeliverTo, words)))
        .chain(sources.iter().map(|job| (Field::ContextFrom, Definition::missing_source(job))))
        .collect()
}
