//! One change to one job, carried out on the file as it is now, whatever happened to it since the change began.
//!
//! What changed on disk in other jobs stays. What changed in the same job is a [`Conflict`], shown side by
//! side: nobody's work is overwritten. Only a job's meaning counts: a new layout or a run-time field that
//! another program wrote is no change.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::document::{Document, Entry, Removed, Shape};
use super::record;
use super::{Definition, Fault, JobId};
use crate::domain::json::escape_controls;

/// A change to one job. `base` is its record as it was when the change began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "edit", rename_all = "snake_case")]
pub enum Edit {
    /// A new job.
    Add {
        /// It.
        job: Definition,
    },
    /// The job means something else.
    Change {
        /// Which.
        id: JobId,
        /// Its record as it was.
        base: String,
        /// What it is to mean.
        to: Definition,
    },
    /// The record as a whole is written anew, by hand.
    Rewrite {
        /// Which.
        id: JobId,
        /// Its record as it was.
        base: String,
        /// Its new record.
        to: String,
    },
    /// The job fires or pauses from now on, whatever else is said of it.
    Switch {
        /// Which.
        id: JobId,
        /// What it does.
        to: Firing,
    },
    /// The job goes.
    Remove {
        /// Which.
        id: JobId,
        /// Its record as it was.
        base: String,
    },
    /// A job that went comes back at its place.
    PutBack {
        /// It.
        removed: Removed,
    },
}

/// Whether a job fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Firing {
    /// It fires at its slots.
    On,
    /// It does not.
    Paused,
}

/// What comes of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The new text of the file; the old one, where there is nothing to change.
    pub text: String,
    /// What a removal took out.
    pub removed: Option<Removed>,
}

/// A job that was changed on both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conflict {
    /// Which.
    pub id: JobId,
    /// Its record as it was when the change began.
    pub base: String,
    /// Its record as it was to be; none where it was to go.
    pub mine: Option<String>,
    /// Its record as it is in the file; none where it is gone.
    pub theirs: Option<String>,
}

/// Why a change is not carried out. The file is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(tag = "refused", content = "detail", rename_all = "snake_case")]
pub enum EditRefused {
    /// The job was changed on both sides.
    #[error("{} was changed in jobs.json meanwhile: compare both and choose", .0.id)]
    Conflict(Box<Conflict>),
    /// There is no such job.
    #[error("there is no job {0} in jobs.json")]
    NoSuchJob(JobId),
    /// Another job has this id.
    #[error("there is a job {0} in jobs.json already: choose another id")]
    IdTaken(JobId),
    /// The job can't be understood, before the change or as it was to be.
    #[error("{}", told(.0))]
    Faulty(Vec<Fault>),
}

impl Edit {
    /// The job's id before and after, where it gets another one.
    pub fn rename(&self) -> Option<(&JobId, &JobId)> {
        match self {
            Self::Change { id, to, .. } if *id != to.id => Some((id, &to.id)),
            _ => None,
        }
    }

    /// Carries out the change on the file as it is now.
    pub fn apply(&self, document: &Document) -> Result<Merged, EditRefused> {
        match self {
            Self::Add { job } => {
                free(document, &job.id)?;
                checked(job)?;
                Ok(document.with_new(job).into())
            }
            Self::Change { id, base, to } => change(document, id, base, to),
            Self::Rewrite { id, base, to } => rewrite(document, id, base, to),
            Self::Switch { id, to } => {
                let entry = find(document, id)?;
                let was = entry.record.as_ref().map_err(|faults| EditRefused::Faulty(faults.clone()))?;
                let to = Definition { enabled: *to == Firing::On, ..was.definition.clone() };
                Ok(document.with_edit(entry, &to).into())
            }
            Self::Remove { id, base } => {
                let Some(entry) = document.find(id) else { return Ok(document.text().to_owned().into()) };
                if changed(id, base, document.record_text(entry)) {
                    return Err(conflict(id, base, None, Some(document.record_text(entry))));
                }
                let (text, removed) = document.without(entry);
                Ok(Merged { text, removed: Some(removed) })
            }
            Self::PutBack { removed } => {
                removed.id.as_ref().map_or(Ok(()), |id| free(document, id))?;
                Ok(document.with_back(removed).into())
            }
        }
    }
}

impl From<String> for Merged {
    fn from(text: String) -> Self {
        Self { text, removed: None }
    }
}

fn change(document: &Document, id: &JobId, base: &str, to: &Definition) -> Result<Merged, EditRefused> {
    let mine = || Some(record::edit(base, to));
    let Some(entry) = document.find(id) else { return Err(conflict(id, base, mine(), None)) };
    let theirs = document.record_text(entry);
    if changed(id, base, theirs) && meaning(id, theirs).as_ref() != Some(to) {
        return Err(conflict(id, base, mine(), Some(theirs)));
    }
    if to.id != *id {
        free(document, &to.id)?;
    }
    checked(to)?;
    Ok(document.with_edit(entry, to).into())
}

fn rewrite(document: &Document, id: &JobId, base: &str, to: &str) -> Result<Merged, EditRefused> {
    let to = to.trim();
    let Some(entry) = document.find(id) else { return Err(conflict(id, base, Some(to.to_owned()), None)) };
    let theirs = document.record_text(entry);
    if value(theirs) == value(to) && value(to).is_some() {
        return Ok(document.text().to_owned().into());
    }
    if theirs != base && value(theirs) != value(base) {
        return Err(conflict(id, base, Some(to.to_owned()), Some(theirs)));
    }
    // A text that is no record would make the whole file unreadable.
    let key = (document.shape() == Shape::ById).then_some(id.as_str());
    let new = record::read(to, key).map_err(EditRefused::Faulty)?.definition;
    checked(&new)?;
    if new.id != *id {
        free(document, &new.id)?;
    }
    Ok(document.with_record(entry, &escape_controls(to)).into())
}

fn find<'d>(document: &'d Document, id: &JobId) -> Result<&'d Entry, EditRefused> {
    document.find(id).ok_or_else(|| EditRefused::NoSuchJob(id.clone()))
}

fn free(document: &Document, id: &JobId) -> Result<(), EditRefused> {
    document.find(id).map_or(Ok(()), |_| Err(EditRefused::IdTaken(id.clone())))
}

fn checked(definition: &Definition) -> Result<(), EditRefused> {
    definition.clone().check().map(drop).map_err(EditRefused::Faulty)
}

/// Whether a record means something else now; one that can't be understood, whether it is written otherwise.
fn changed(id: &JobId, base: &str, theirs: &str) -> bool {
    base != theirs
        && match (meaning(id, base), meaning(id, theirs)) {
            (Some(base), Some(theirs)) => base != theirs,
            _ => value(base) != value(theirs) || value(base).is_none(),
        }
}

/// A record in a map by id may have none of its own.
fn meaning(id: &JobId, text: &str) -> Option<Definition> {
    record::read(text, Some(id.as_str())).ok().map(|record| record.definition)
}

fn value(text: &str) -> Option<Value> {
    serde_json::from_str(&escape_controls(text)).ok()
}

fn conflict(id: &JobId, base: &str, mine: Option<String>, theirs: Option<&str>) -> EditRefused {
    let (base, theirs) = (base.to_owned(), theirs.map(str::to_owned));
    EditRefused::Conflict(Box::new(Conflict { id: id.clone(), base, mine, theirs }))
}

fn told(faults: &[Fault]) -> String {
    faults.iter().map(Fault::to_string).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    const A: &str = r#"{ "id": "a", "schedule": "0 8 * * *", "prompt": "x" }"#;
    const B: &str = r#"{ "id": "b", "schedule": "0 9 * * *", "prompt": "y" }"#;

    fn file(records: &[&str]) -> Document {
        Document::parse(format!("[\n  {}\n]\n", records.join(",\n  "))).unwrap()
    }

    fn id(text: &str) -> JobId {
        text.parse().unwrap()
    }

    fn job(record: &str) -> Definition {
        record::read(record, None).unwrap().definition
    }

    /// The change of a job's prompt that began with `A`.
    fn new_prompt() -> Edit {
        let to = Definition { prompt: Some("mine".to_owned()), ..job(A) };
        Edit::Change { id: id("a"), base: A.to_owned(), to }
    }

    fn text(edit: &Edit, document: &Document) -> String {
        edit.apply(document).unwrap().text
    }

    fn theirs(edit: &Edit, document: &Document) -> Option<String> {
        match edit.apply(document) {
            Err(EditRefused::Conflict(conflict)) => conflict.theirs,
            other => panic!("no conflict: {other:?}"),
        }
    }

    #[test]
    fn what_changed_in_other_jobs_stays() {
        let other = B.replace("y", "theirs");
        let mine = A.replace("\"x\"", "\"mine\"");
        assert_eq!(text(&new_prompt(), &file(&[A, &other])), file(&[&mine, &other]).text());
        assert_eq!(text(&new_prompt(), &file(&[A])), file(&[&mine]).text());
    }

    #[test]
    fn the_same_job_changed_on_both_sides_is_a_conflict() {
        let theirs_now = A.replace("0 8", "0 7");
        let Err(EditRefused::Conflict(conflict)) = new_prompt().apply(&file(&[&theirs_now, B])) else {
            panic!("no conflict")
        };
        let mine = A.replace("\"x\"", "\"mine\"");
        let expected =
            Conflict { id: id("a"), base: A.to_owned(), mine: Some(mine), theirs: Some(theirs_now.clone()) };
        assert_eq!(*conflict, expected);
        assert_eq!(theirs(&new_prompt(), &file(&[B])), None);
        let remove = Edit::Remove { id: id("a"), base: A.to_owned() };
        assert_eq!(theirs(&remove, &file(&[&theirs_now])), Some(theirs_now.clone()));
        let rewrite = Edit::Rewrite { id: id("a"), base: A.to_owned(), to: A.replace("x", "z") };
        assert_eq!(theirs(&rewrite, &file(&[&theirs_now])), Some(theirs_now));
    }

    #[test]
    fn both_sides_with_one_mind_is_no_conflict() {
        let mine = A.replace("\"x\"", "\"mine\"");
        let done = file(&[&mine]);
        assert_eq!(text(&new_prompt(), &done), done.text());
        let remove = Edit::Remove { id: id("a"), base: A.to_owned() };
        assert_eq!(text(&remove, &file(&[B])), file(&[B]).text());
        let rewrite = Edit::Rewrite { id: id("a"), base: A.to_owned(), to: mine.clone() };
        assert_eq!(text(&rewrite, &done), done.text());
    }

    #[test]
    fn a_new_layout_and_what_another_program_keeps_there_are_no_change() {
        let theirs = A.replace(" }", ",\n \"next_run_at\": \"soon\", \"note\": 1}");
        let expected = theirs.replace("\"x\"", "\"mine\"");
        assert_eq!(text(&new_prompt(), &file(&[&theirs])), file(&[&expected]).text());
        let remove = Edit::Remove { id: id("a"), base: A.to_owned() };
        assert_eq!(text(&remove, &file(&[&theirs, B])), file(&[B]).text());
    }

    #[test]
    fn a_record_in_error_is_changed_only_as_it_was_seen() {
        let bad = r#"{ "id": "a", "schedule": 7, "prompt": "x" }"#;
        let change = |base: &str| Edit::Change { id: id("a"), base: base.to_owned(), to: job(A) };
        assert_eq!(text(&change(bad), &file(&[bad])), file(&[A]).text());
        let worse = bad.replace('7', "8");
        assert_eq!(theirs(&change(bad), &file(&[&worse])), Some(worse));
    }

    #[test]
    fn an_id_is_taken_once() {
        let add = Edit::Add { job: job(B) };
        assert_eq!(add.apply(&file(&[A, B])), Err(EditRefused::IdTaken(id("b"))));
        let to = Definition { id: id("b"), ..job(A) };
        let rename = Edit::Change { id: id("a"), base: A.to_owned(), to };
        assert_eq!(rename.apply(&file(&[A, B])), Err(EditRefused::IdTaken(id("b"))));
        assert_eq!(text(&rename, &file(&[A])), file(&[&A.replace("\"a\"", "\"b\"")]).text());
        let rewrite = Edit::Rewrite { id: id("a"), base: A.to_owned(), to: B.to_owned() };
        assert_eq!(rewrite.apply(&file(&[A, B])), Err(EditRefused::IdTaken(id("b"))));
        let removed =
            Edit::Remove { id: id("b"), base: B.to_owned() }.apply(&file(&[A, B])).unwrap().removed.unwrap();
        let back = Edit::PutBack { removed };
        assert_eq!(text(&back, &file(&[A])), file(&[A, B]).text());
        assert_eq!(back.apply(&file(&[A, B])), Err(EditRefused::IdTaken(id("b"))));
    }

    #[test]
    fn a_pause_asks_only_for_the_job() {
        let pause = Edit::Switch { id: id("a"), to: Firing::Paused };
        let changed = A.replace("0 8", "0 7");
        let paused = changed.replace(" }", ", \"enabled\": false }");
        assert_eq!(text(&pause, &file(&[&changed])), file(&[&paused]).text());
        assert_eq!(pause.apply(&file(&[B])), Err(EditRefused::NoSuchJob(id("a"))));
        assert!(matches!(pause.apply(&file(&[r#"{"id":"a","schedule":7}"#])), Err(EditRefused::Faulty(_))));
    }

    #[test]
    fn a_pause_and_its_end_leave_the_file_as_it_was() {
        let lines =
            "{\n  \"id\": \"a\",\n  \"schedule\": \"@daily\",\n  \"prompt\": \"x\",\n  \"model\": \"m\"\n}";
        let on = A.replace("\"schedule\"", "\"enabled\": true, \"schedule\"");
        let hermes = A.replace(" }", ", \"state\": \"scheduled\" }");
        for record in [A, lines, &on, &hermes] {
            let before = file(&[record, B]);
            let to = |to, document: &Document| text(&Edit::Switch { id: id("a"), to }, document);
            let paused = Document::parse(to(Firing::Paused, &before)).unwrap();
            assert_ne!(paused.text(), before.text());
            assert_eq!(to(Firing::On, &paused), before.text());
        }
    }

    #[test]
    fn nothing_that_could_not_fire_is_written() {
        let wrong = Definition { workdir: Some("here".to_owned()), ..job(A) };
        let change = Edit::Change { id: id("a"), base: A.to_owned(), to: wrong.clone() };
        for edit in [Edit::Add { job: Definition { id: id("c"), ..wrong } }, change] {
            assert!(matches!(edit.apply(&file(&[A])), Err(EditRefused::Faulty(_))));
        }
        for to in [
            "{",
            "7",
            "",
            "{} {}",
            r#"{"schedule":"@daily","prompt":"x"}"#,
            r#"{"id":"a","schedule":"@daily"}"#,
        ] {
            let edit = Edit::Rewrite { id: id("a"), base: A.to_owned(), to: to.to_owned() };
            assert!(matches!(edit.apply(&file(&[A])), Err(EditRefused::Faulty(_))), "{to}");
        }
        let to = A.replace('x', "one\ntwo");
        let edit = Edit::Rewrite { id: id("a"), base: A.to_owned(), to: to.clone() };
        assert_eq!(text(&edit, &file(&[A])), file(&[&to.replace('\n', "\\n")]).text());
    }
}
