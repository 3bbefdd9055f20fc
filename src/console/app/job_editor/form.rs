//! The values of the form, from a job and to one.

use std::collections::BTreeMap;

use super::fields::{Field, Kind};
use crate::console::app::text::{Lines, TextField};
use crate::domain::cron::{Definition, JobId, Misfire, Overlap, SessionMode, Target};
use crate::domain::sanitize::one_line;

/// The values of the fields.
#[derive(Debug, Clone)]
pub(super) struct Form {
    texts: BTreeMap<Field, TextField>,
    picked: BTreeMap<Field, Vec<String>>,
    chosen: BTreeMap<Field, usize>,
    /// The targets of the job as it was: some have no text form of their own.
    targets: Vec<Target>,
    id_from: IdFrom,
}

/// Where the id comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IdFrom {
    /// From the description, as it is typed.
    Description,
    /// It was typed, or is the job's own.
    Author,
}

/// The value of a field, as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// A text that is typed.
    Text(&'a TextField),
    /// What was picked; safe to show.
    Picked(String),
    /// The place of what is chosen.
    Chosen(usize),
    /// It has none.
    None,
}

impl PartialEq for TextField {
    fn eq(&self, other: &Self) -> bool {
        self.lines() == other.lines()
    }
}

impl Form {
    pub(super) fn of(definition: &Definition, id_from: IdFrom) -> Self {
        let of = definition;
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let number = |number: Option<u32>| number.map(|number| number.to_string()).unwrap_or_default();
        let id = if id_from == IdFrom::Author { of.id.to_string() } else { String::new() };
        let jitter = Some(of.jitter_seconds).filter(|seconds| *seconds > 0);
        let texts = [
            (Field::Schedule, of.schedule.clone()),
            (Field::Description, text(&of.description)),
            (Field::Prompt, text(&of.prompt)),
            (Field::Repeat, number(of.repeat)),
            (Field::Workdir, text(&of.workdir)),
            (Field::Timeout, number(of.timeout_minutes)),
            (Field::Jitter, number(jitter)),
            (Field::Model, text(&of.model)),
            (Field::Name, text(&of.name)),
            (Field::Id, id),
        ];
        let one = |text: &Option<String>| text.iter().cloned().collect::<Vec<_>>();
        let picked = [
            (Field::Timezone, one(&of.timezone)),
            (Field::Skills, of.skills.clone()),
            (Field::DeliverTo, of.deliver_to.iter().map(ToString::to_string).collect()),
            (Field::Script, one(&of.script)),
            (Field::Agent, one(&of.agent)),
            (Field::ContextFrom, of.context_from.iter().map(ToString::to_string).collect()),
            (Field::Misfire, vec![of.misfire.to_string()]),
        ];
        let chosen = [
            (Field::Enabled, usize::from(of.enabled)),
            (Field::NoAgent, usize::from(of.no_agent)),
            (Field::Overlap, place(Field::Overlap, of.overlap.as_str())),
            (Field::Session, place(Field::Session, of.session.as_str())),
        ];
        let lines = |field: Field| if field.kind() == Kind::Lines { Lines::Many } else { Lines::One };
        Self {
            texts: texts.map(|(field, text)| (field, TextField::with(&text, lines(field)))).into(),
            picked: picked.into(),
            chosen: chosen.into(),
            targets: of.deliver_to.clone(),
            id_from,
        }
    }

    pub(super) fn value(&self, field: Field) -> Value<'_> {
        if let Some(text) = self.texts.get(&field) {
            return Value::Text(text);
        }
        match (self.picked.get(&field), self.chosen.get(&field)) {
            (Some(picked), _) => {
                let safe = picked.iter().map(|text| one_line(text).into_owned());
                Value::Picked(safe.collect::<Vec<_>>().join(", "))
            }
            (None, Some(chosen)) => Value::Chosen(*chosen),
            (None, None) => Value::None,
        }
    }

    /// Whether it says the same as another.
    pub(super) fn same(&self, other: &Self) -> bool {
        let id = |form: &Self| match form.id_from {
            // A made id says no more than the description.
            IdFrom::Description => String::new(),
            IdFrom::Author => form.text(Field::Id),
        };
        let texts = |form: &Self| {
            form.texts
                .iter()
                .filter(|(field, _)| **field != Field::Id)
                .map(|(_, text)| text.text())
                .collect::<Vec<_>>()
        };
        (texts(self), id(self), &self.picked, &self.chosen)
            == (texts(other), id(other), &other.picked, &other.chosen)
    }

    pub(super) fn is_empty(&self, field: Field) -> bool {
        match self.value(field) {
            Value::Text(text) => text.is_empty(),
            Value::Picked(words) => words.is_empty(),
            Value::Chosen(place) => field != Field::NoAgent || place == 0,
            Value::None => true,
        }
    }

    pub(super) fn text_mut(&mut self, field: Field) -> Option<&mut TextField> {
        self.texts.get_mut(&field)
    }

    pub(super) fn set_text(&mut self, field: Field, text: &str) {
        if let Some(known) = self.texts.get_mut(&field) {
            known.set(text);
        }
    }

    /// The text of a field; a line without the blanks around it.
    pub(super) fn text(&self, field: Field) -> String {
        let text = self.texts.get(&field).map(TextField::text).unwrap_or_default();
        match field.kind() {
            Kind::Lines => text,
            _ => text.trim().to_owned(),
        }
    }

    pub(super) fn picked(&self, field: Field) -> &[String] {
        self.picked.get(&field).map(Vec::as_slice).unwrap_or_default()
    }

    pub(super) fn set_picked(&mut self, field: Field, values: Vec<String>) {
        self.picked.insert(field, values);
    }

    pub(super) fn choose(&mut self, field: Field, place: usize) {
        self.chosen.insert(field, place);
    }

    pub(super) fn chosen(&self, field: Field) -> usize {
        self.chosen.get(&field).copied().unwrap_or(0)
    }

    /// The author types in the field of the id.
    pub(super) fn id_typed(&mut self) {
        self.id_from = IdFrom::Author;
    }

    /// The author is done with the field of the id: one that was left empty is made from the description again.
    pub(super) fn id_left(&mut self) {
        if self.text(Field::Id).is_empty() {
            self.id_from = IdFrom::Description;
        }
    }

    /// Makes the id from the description, unless it was typed.
    pub(super) fn derive_id(&mut self, taken: &[JobId]) {
        if self.id_from == IdFrom::Author {
            return;
        }
        let words = [Field::Description, Field::Prompt].map(|field| self.text(field));
        let words = words.into_iter().find(|words| !words.trim().is_empty()).unwrap_or_default();
        let made = if words.is_empty() {
            String::new()
        } else {
            JobId::from_words(&words, |id| taken.contains(id)).to_string()
        };
        if self.text(Field::Id) != made {
            self.set_text(Field::Id, &made);
        }
    }

    /// The job that the form makes, and what can't be understood in it. Where something can't, the job has
    /// what it usually is.
    pub(super) fn read(&self) -> (Definition, Vec<(Field, String)>) {
        let mut faults = Vec::new();
        let optional = |field| Some(self.text(field)).filter(|text| !text.trim().is_empty());
        let one = |field| self.picked(field).first().cloned();
        let mut number = |field, needed: &str| {
            let text = optional(field)?;
            let number = text.parse::<u32>().ok();
            if number.is_none() {
                faults.push((field, format!("{text:?} {needed}")));
            }
            number
        };
        let repeat = number(Field::Repeat, "must be a whole number from 1; empty is for ever");
        let timeout_minutes = number(Field::Timeout, "must be whole minutes from 1; empty is no limit");
        let jitter = number(Field::Jitter, "must be whole seconds up to 86400");
        let id = self.text(Field::Id);
        let id = id.parse::<JobId>().unwrap_or_else(|error| {
            if !id.is_empty() {
                faults.push((Field::Id, error.to_string()));
            }
            unnamed()
        });
        let misfire = one(Field::Misfire).unwrap_or_default();
        let misfire = misfire.parse().unwrap_or_else(|error| {
            faults.push((Field::Misfire, format!("{misfire:?} {error}")));
            Misfire::Once
        });
        let definition = Definition {
            name: optional(Field::Name),
            timezone: one(Field::Timezone),
            description: optional(Field::Description),
            prompt: optional(Field::Prompt),
            skills: self.picked(Field::Skills).to_vec(),
            deliver_to: self.read_targets(&mut faults),
            enabled: self.chosen(Field::Enabled) == 1,
            repeat,
            misfire,
            overlap: word(self, Field::Overlap).unwrap_or(Overlap::Skip),
            jitter_seconds: jitter.unwrap_or(0),
            script: one(Field::Script),
            no_agent: self.chosen(Field::NoAgent) == 1,
            context_from: self.read_context(&mut faults),
            agent: one(Field::Agent),
            model: optional(Field::Model),
            workdir: optional(Field::Workdir),
            timeout_minutes,
            session: word(self, Field::Session).unwrap_or(SessionMode::Fresh),
            ..Definition::new(id, self.text(Field::Schedule))
        };
        (definition, faults)
    }

    fn read_targets(&self, faults: &mut Vec<(Field, String)>) -> Vec<Target> {
        let mut targets = Vec::new();
        for text in self.picked(Field::DeliverTo) {
            let known = self.targets.iter().find(|target| target.to_string() == *text);
            match known.map_or_else(|| Target::list(text), |known| Ok(vec![known.clone()])) {
                Ok(read) => targets.extend(read),
                Err(error) => faults.push((Field::DeliverTo, error.to_string())),
            }
        }
        targets
    }

    fn read_context(&self, faults: &mut Vec<(Field, String)>) -> Vec<JobId> {
        let mut jobs = Vec::new();
        for text in self.picked(Field::ContextFrom) {
            match text.parse() {
                Ok(job) => jobs.push(job),
                Err(error) => faults.push((Field::ContextFrom, format!("{:?}: {error}", one_line(text)))),
            }
        }
        jobs
    }

    /// What of the rarer fields is not as it usually is.
    pub(super) fn rare_words(&self) -> String {
        let usual = Self::of(&Definition::new(unnamed(), String::new()), IdFrom::Description);
        let differs = |field: &Field| field.is_rare() && self.value(*field) != usual.value(*field);
        let words = Field::ALL.into_iter().filter(differs).map(|field| match self.value(field) {
            Value::Text(text) => format!("{} {}", field.label(), text.text()),
            Value::Picked(words) => format!("{} {words}", field.label()),
            Value::Chosen(place) => match field.kind() {
                Kind::Choice(words) => format!("{} {}", field.label(), words.get(place).unwrap_or(&"")),
                _ => String::new(),
            },
            Value::None => String::new(),
        });
        words.collect::<Vec<_>>().join(", ")
    }
}

fn place(field: Field, word: &str) -> usize {
    match field.kind() {
        Kind::Choice(words) => words.iter().position(|known| *known == word).unwrap_or(0),
        _ => 0,
    }
}

fn word<T: std::str::FromStr>(form: &Form, field: Field) -> Option<T> {
    match field.kind() {
        Kind::Choice(words) => words.get(form.chosen(field))?.parse().ok(),
        _ => None,
    }
}

/// The id of a job that has none yet.
pub(super) fn unnamed() -> JobId {
    JobId::from_words("", |_| false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> JobId {
        text.parse().unwrap()
    }

    #[test]
    fn a_job_goes_through_the_form_unchanged() {
        let strange =
            Target { platform: "irc".to_owned(), chat_id: Some("#a,#b".to_owned()), thread_id: None };
        let whole = Definition {
            name: Some("Nightly".to_owned()),
            timezone: Some("Europe/Berlin".to_owned()),
            description: Some("what\nfor".to_owned()),
            prompt: Some("look\n  closely".to_owned()),
            skills: vec!["a".to_owned(), "b".to_owned()],
            deliver_to: vec![Target::platform("local"), strange],
            enabled: false,
            repeat: Some(5),
            misfire: Misfire::All(3),
            overlap: Overlap::Queue,
            jitter_seconds: 30,
            script: Some("x.sh".to_owned()),
            no_agent: true,
            context_from: vec![id("other")],
            model: Some("qwen3".to_owned()),
            workdir: Some("/srv".to_owned()),
            timeout_minutes: Some(10),
            session: SessionMode::Keep,
            ..Definition::new(id("nightly"), "0 8 * * *".to_owned())
        };
        assert_eq!(Form::of(&whole, IdFrom::Author).read(), (whole, Vec::new()));
        let bare = Definition::new(id("bare"), "daily at 7am".to_owned());
        assert_eq!(Form::of(&bare, IdFrom::Author).read(), (bare, Vec::new()));
    }
}
