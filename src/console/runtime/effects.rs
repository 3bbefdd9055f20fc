//! What the state asks for, done.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use super::asking::{From, Given};
use super::console::{Console, mouse};
use super::engines::reaching;
use super::front::Front;
use super::{ConsoleError, Ended};
use crate::console::app::msg::{FilePlace, Tone};
use crate::console::app::{Effect, Msg};
use crate::console::tty::clipboard::{self, Between};
use crate::console::tty::editor::{Edited, Editing};
use crate::console::tty::{self, Reason, ring};
use crate::domain::api::Command;
use crate::domain::cron::document::Document;

impl Console {
    pub(super) fn perform(&mut self, effects: Vec<Effect>) -> Result<(), ConsoleError> {
        for effect in effects {
            if self.ended.is_some() {
                break;
            }
            self.perform_one(effect)?;
        }
        Ok(())
    }

    fn perform_one(&mut self, effect: Effect) -> Result<(), ConsoleError> {
        match effect {
            Effect::Command { ticket, command } => return self.give(command, From::State(ticket)),
            Effect::Query { ticket, kind, query, pace } => {
                self.questions.take(&self.client, ticket, kind, query, pace);
            }
            Effect::Timer { timer, at } => self.timers.set(timer, at),
            Effect::Copy(text) => return self.copy(&text),
            Effect::Ring(words) => self.ring(&words),
            Effect::OpenEditor(text) => return self.open_editor(&text),
            Effect::EditJobsFile(place) => return self.edit_jobs_file(place),
            Effect::Suspend => return self.suspend(),
            Effect::Mouse(owner) => {
                if let Some(front) = &mut self.front {
                    front.set_mouse(mouse(owner));
                }
            }
            Effect::Redraw => {
                let size = self.front.as_mut().map(Front::start_over).transpose()?;
                return self.resized(size);
            }
            Effect::Reconnect => self.reaching = Some(reaching(self.engines.reconnect())),
            Effect::AwaitRestart => self.reaching = Some(reaching(self.engines.restarted())),
            Effect::ReadStore => return self.read_store(),
            Effect::StartHere => self.reaching = Some(reaching(self.engines.start_here())),
            Effect::Quit(leave) => self.ended = Some(Ended::Left(leave)),
        }
        Ok(())
    }

    pub(super) fn give(&mut self, command: Command, from: From) -> Result<(), ConsoleError> {
        let given = Given { client: Arc::clone(&self.client), command, from };
        match self.commands.give(given) {
            Some(refused) => self.tell(refused, Reason::Key),
            None => Ok(()),
        }
    }

    fn read_store(&mut self) -> Result<(), ConsoleError> {
        match self.engines.store() {
            Ok(store) => {
                self.client = store;
                self.tell(Msg::StoreReached, Reason::Key)
            }
            Err(error) => {
                tracing::info!(%error, "the store is not read after the engine's end");
                Ok(())
            }
        }
    }

    fn copy(&mut self, text: &str) -> Result<(), ConsoleError> {
        let notice = match (clipboard::copy(text, Between::from_environment()), &mut self.front) {
            (Ok(bytes), Some(front)) => {
                front.send(bytes);
                Msg::Notice(
                    Tone::Info,
                    format!("sent to the terminal's clipboard: {} characters", text.chars().count()),
                )
            }
            (Ok(_), None) => return Ok(()),
            (Err(too_long), _) => Msg::Notice(Tone::Warn, too_long.to_string()),
        };
        self.tell(notice, Reason::Key)
    }

    fn ring(&mut self, words: &str) {
        if let Some(front) = &mut self.front {
            let bytes = ring::ring(words, self.bell, self.desktop_notification, Between::from_environment());
            if !bytes.is_empty() {
                front.send(bytes);
            }
        }
    }

    /// Gives the terminal back, stops, and takes it again when told to go on.
    fn suspend(&mut self) -> Result<(), ConsoleError> {
        self.front = None;
        tty::stop_this_process()?;
        self.come_back()
    }

    fn open_editor(&mut self, text: &str) -> Result<(), ConsoleError> {
        self.front = None;
        match Editing::start(text) {
            Ok(editing) => {
                self.editing = Some(editing);
                Ok(())
            }
            Err(error) => self.editor_closed(Edited::Text(Err(error))),
        }
    }

    fn edit_jobs_file(&mut self, place: FilePlace) -> Result<(), ConsoleError> {
        let line = match place {
            FilePlace::Line(line) => line,
            FilePlace::Record(record) => line_of(&self.jobs_file, record).unwrap_or(1),
        };
        self.front = None;
        match Editing::open(&self.jobs_file, line) {
            Ok(editing) => {
                self.editing = Some(editing);
                Ok(())
            }
            Err(error) => self.editor_closed(Edited::File(Err(error))),
        }
    }
}

/// The line in which a record of the jobs' file begins, by its place among the records.
fn line_of(jobs_file: &Path, record: usize) -> Option<usize> {
    let document = Document::read(fs::read(jobs_file).ok()?).ok()?;
    document.entries().get(record).map(|entry| entry.line)
}
