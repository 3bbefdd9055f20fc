//! A jobs file in a folder of its own, and jobs to put into it.

use std::fs;
use std::path::PathBuf;

use switchboard::domain::cron::document::{Document, Entry};
use switchboard::domain::cron::merge::{Edit, Merged};
use switchboard::domain::cron::{Definition, JobId};
use switchboard::store::jobs_file::{JobsFile, Reading};
use tempfile::TempDir;

pub(super) const HERMES: &str = include_str!("samples/hermes.json");
pub(super) const OURS: &str = include_str!("samples/ours.json");
pub(super) const SHIPPED: &str = include_str!("../../assets/jobs.json");

pub(super) struct Given {
    pub(super) folder: TempDir,
    pub(super) file: JobsFile,
}

impl Given {
    /// A folder without a jobs file.
    pub(super) fn nothing() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = JobsFile::new(folder.path().join("jobs.json"));
        Self { folder, file }
    }

    /// A folder with this jobs file.
    pub(super) fn file(text: &str) -> Self {
        let given = Self::nothing();
        fs::write(given.file.path(), text).unwrap();
        given
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn text(&self) -> String {
        fs::read_to_string(self.file.path()).unwrap()
    }

    pub(super) fn document(&self) -> Document {
        match self.file.read() {
            Reading::Read(document, _) => document,
            other => panic!("not read: {other:?}"),
        }
    }

    /// Changes the prompt of a job, as the console does.
    pub(super) fn set_prompt(&self, name: &str, prompt: &str) -> Merged {
        self.file.edit(&new_prompt(&self.document(), name, prompt)).unwrap()
    }

    /// The names in the folder, without the lock's.
    pub(super) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| name != "jobs.json.lock");
        names.sort();
        names
    }
}

pub(super) fn id(text: &str) -> JobId {
    text.parse().unwrap()
}

pub(super) fn definition(entry: &Entry) -> Definition {
    entry.record.clone().unwrap().definition
}

pub(super) fn new_prompt(document: &Document, name: &str, prompt: &str) -> Edit {
    let entry = document.find(&id(name)).unwrap();
    let to = Definition { prompt: Some(prompt.to_owned()), ..definition(entry) };
    Edit::Change { id: id(name), base: document.record_text(entry).to_owned(), to }
}

pub(super) fn add(name: &str) -> Edit {
    let job = Definition::new(id(name), "0 8 * * *".to_owned());
    Edit::Add { job: Definition { prompt: Some("look".to_owned()), ..job } }
}

pub(super) fn ids(document: &Document) -> Vec<String> {
    document.entries().iter().map(|entry| entry.id.clone().unwrap().to_string()).collect()
}
