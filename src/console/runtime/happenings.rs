//! What happens, and what becomes of it.

use chrono::Utc;

use super::asking::From;
use super::console::{Console, Stop, mouse};
use super::engines::{Reached, reach};
use super::front::Front;
use super::silence::Silence;
use super::{ConsoleError, Ended};
use crate::console::app::Msg;
use crate::console::app::key::Key;
use crate::console::app::msg::{Leave, Mouse, Timer, Tone};
use crate::console::tty::editor::{Edited, EditorError};
use crate::console::tty::{self, Arrived, Focus, Input, Reason, Signal};
use crate::control;
use crate::domain::api::{Command, Update};
use crate::domain::event::EventKind;
use crate::domain::recovery::AfterStop;
use crate::domain::slash::Ask;

/// The most updates that are taken before the loop looks at everything else again.
const UPDATES_AT_ONCE: usize = 256;

impl Console {
    pub(super) fn handle_inputs(&mut self, first: Arrived) -> Result<(), ConsoleError> {
        let mut next = Some(first);
        while let Some(input) = next {
            let (text, behind) = self.typed_at_once(&input);
            match text {
                Some(text) => self.tell(Msg::Typed(text, input.at), Reason::Key)?,
                None => self.handle_input(input)?,
            }
            next = behind.or_else(|| self.front.as_mut().and_then(Front::waiting_input));
        }
        Ok(())
    }

    /// The printable keys that were read together, where `first` is one of several, and what came behind them: a
    /// field takes them as one text, whose length then does not count for each of its letters.
    fn typed_at_once(&mut self, first: &Arrived) -> (Option<String>, Option<Arrived>) {
        let printable = |arrived: &Arrived| match arrived.input {
            Input::Key(key) if arrived.at == first.at => key.types(),
            _ => None,
        };
        let Some(letter) = printable(first) else { return (None, None) };
        let mut text = String::from(letter);
        let mut waiting = std::iter::from_fn(|| self.front.as_mut().and_then(Front::waiting_input));
        let behind = waiting.find(|arrived| match printable(arrived) {
            Some(letter) => {
                text.push(letter);
                false
            }
            None => true,
        });
        (Some(text).filter(|text| text.chars().nth(1).is_some()), behind)
    }

    fn handle_input(&mut self, Arrived { input, at: now }: Arrived) -> Result<(), ConsoleError> {
        let message = match input {
            Input::Key(key) => Msg::Key(key, now),
            Input::Paste(text) => Msg::Paste(text, now),
            Input::PasteRefused { bytes, most } => Msg::Notice(
                Tone::Warn,
                format!("not pasted: {bytes} bytes, and {most} is the most; send it as a file"),
            ),
            Input::Mouse { act, column, row } => {
                let target = self.ui.target(column, row).cloned();
                Msg::Mouse(Mouse { act, target }, now)
            }
            // Whoever comes back sees the time it is, also after the machine slept.
            Input::Focus(Focus::Gained) => Msg::Tick(now),
            Input::Focus(Focus::Lost) => return Ok(()),
            Input::KeyboardProtocol => {
                if let Some(front) = &mut self.front {
                    front.use_keyboard_protocol();
                }
                return Ok(());
            }
        };
        self.tell(message, Reason::Key)
    }

    pub(super) fn handle_updates(&mut self, first: Update) -> Result<(), ConsoleError> {
        let mut next = Some(first);
        for _ in 0..UPDATES_AT_ONCE {
            let Some(update) = next else { break };
            self.note_stop(&update)?;
            self.tell(Msg::Update(update), Reason::Event)?;
            next = self.updates.as_mut().and_then(|updates| updates.try_recv().ok());
        }
        Ok(())
    }

    /// Whoever asks an engine in this process to stop ends the console with it.
    fn note_stop(&mut self, update: &Update) -> Result<(), ConsoleError> {
        let Update::Event(event) = update else { return Ok(()) };
        match event.kind {
            EventKind::EngineStopping { then, .. } => {
                self.stop = Stop::Asked(then);
                return self.keep_draft();
            }
            EventKind::EngineStopCalledOff => self.stop = Stop::Running,
            _ => {}
        }
        Ok(())
    }

    pub(super) fn handle_signal(&mut self, signal: Signal) -> Result<(), ConsoleError> {
        match signal {
            Signal::HangUp => self.terminal_closes(),
            // The editor's own ctrl-c reaches us too.
            Signal::Interrupt if self.editing.is_some() => Ok(()),
            Signal::Terminate | Signal::Interrupt => self.asked_to_end(signal),
            Signal::Restart => self.asked_to_restart(),
            Signal::Suspend => self.asked_to_suspend(),
            Signal::Continue => {
                let mouse = mouse(self.model.mouse);
                let size = self.front.as_mut().map(|front| front.reassert(mouse)).transpose()?;
                self.resized(size)
            }
            Signal::Resize => {
                let size = self.front.as_mut().map(Front::start_over).transpose()?;
                self.resized(size)
            }
        }
    }

    pub(super) fn resized(&mut self, size: Option<(u16, u16)>) -> Result<(), ConsoleError> {
        match size {
            Some((width, height)) => self.tell(Msg::Resize { width, height }, Reason::Key),
            None => Ok(()),
        }
    }

    /// A signal asks for the end: an engine in this process stops with the drain, also one that was
    /// about to restart; an engine elsewhere is left alone. A second signal cuts what the drain waits for.
    fn asked_to_end(&mut self, signal: Signal) -> Result<(), ConsoleError> {
        if self.client.reach() != control::Reach::Here {
            self.keep_draft()?;
            self.ended = Some(Ended::Left(Leave::Detached));
            return Ok(());
        }
        let name = if signal == Signal::Terminate { "SIGTERM" } else { "SIGINT" };
        let command = match self.stop {
            Stop::Running | Stop::Asked(AfterStop::Restart) => Command::Stop { why: name.to_owned() },
            Stop::Asked(AfterStop::End) => Command::CutNow,
        };
        self.stop = Stop::Asked(AfterStop::End);
        self.give(command, From::Signal)
    }

    /// An engine in this process restarts, and the console with it.
    fn asked_to_restart(&mut self) -> Result<(), ConsoleError> {
        if self.client.reach() != control::Reach::Here {
            return Ok(());
        }
        self.give(Command::Restart { why: "SIGUSR1".to_owned(), ask: Ask::Never }, From::Signal)
    }

    /// With the screen up this is the key ctrl-z. An editor that stops itself must not strand an
    /// engine in this process: it goes on.
    fn asked_to_suspend(&mut self) -> Result<(), ConsoleError> {
        match &self.editing {
            None => self.tell(Msg::Key(Key::ctrl('z'), Utc::now()), Reason::Key),
            Some(editing) => {
                if self.client.reach() != control::Reach::Here {
                    tty::stop_this_process()?;
                }
                editing.go_on();
                Ok(())
            }
        }
    }

    pub(super) fn come_back(&mut self) -> Result<(), ConsoleError> {
        let front = Front::enter(&self.manner, mouse(self.model.mouse))?;
        let size = front.size();
        self.front = Some(front);
        self.resized(Some(size))
    }

    pub(super) fn editor_closed(&mut self, edited: Edited) -> Result<(), ConsoleError> {
        self.editing = None;
        self.come_back()?;
        let words = |error: EditorError| error.to_string();
        let message = match edited {
            Edited::Text(result) => Msg::EditorClosed(result.map_err(words)),
            Edited::File(result) => Msg::FileEdited(result.map_err(words)),
        };
        self.tell(message, Reason::Key)
    }

    pub(super) fn terminal_gone(&mut self) -> Result<(), ConsoleError> {
        self.keep_draft()?;
        if let Some(front) = self.front.take() {
            front.abandon();
        }
        self.ended = Some(Ended::TerminalGone);
        Ok(())
    }

    fn terminal_closes(&mut self) -> Result<(), ConsoleError> {
        self.keep_draft()?;
        self.editing = None;
        match self.front.take() {
            Some(front) => front.leave_for_good(),
            None => tty::lead_streams_away(),
        }
        self.ended = Some(Ended::TerminalGone);
        Ok(())
    }

    pub(super) fn engine_reached(&mut self, result: Result<Reached, String>) -> Result<(), ConsoleError> {
        self.reaching = None;
        match result {
            Ok((client, updates)) => {
                self.client = client;
                self.updates = updates;
                self.stop = Stop::Running;
                self.questions.forget();
                self.tell(Msg::Connected(reach(&self.client)), Reason::Key)
            }
            Err(why) => self.tell(Msg::Notice(Tone::Error, why), Reason::Key),
        }
    }

    pub(super) fn engine_gone(&mut self) -> Result<(), ConsoleError> {
        self.updates = None;
        self.silence = Silence::default();
        if matches!(self.stop, Stop::Asked(_)) && self.client.reach() == control::Reach::Here {
            self.ended = Some(Ended::Left(Leave::Stopped));
            return Ok(());
        }
        let reason = match self.client.reach() {
            control::Reach::Here => "the engine in this window stopped".to_owned(),
            control::Reach::Attached { pid } => format!("the engine, process {pid}, ended or let go"),
            control::Reach::StoreOnly => "the store can't be read any more".to_owned(),
        };
        self.questions.forget();
        self.tell(Msg::EngineGone { reason, at: Utc::now() }, Reason::Key)
    }

    /// What was typed a moment ago is saved now: nobody will be there when its timer is due.
    fn keep_draft(&mut self) -> Result<(), ConsoleError> {
        if let Some(timer) = self.timers.take(Timer::SaveDraft) {
            self.tell(Msg::Fired(timer, Utc::now()), Reason::Event)?;
        }
        Ok(())
    }
}
