//! The loop.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{Timelike, Utc};
use futures_util::future::BoxFuture;
use tokio::sync::mpsc;

use super::asking::{Commands, Questions};
use super::engines::{Reached, listen, reach};
use super::front::{Front, Manner};
use super::moving::Moving;
use super::silence::{News, Silence};
use super::timers::Timers;
use super::{ConsoleError, ConsoleOptions, Ended, Engines};
use crate::config::Mouse;
use crate::config::{Bell, DesktopNotification};
use crate::console::app::msg::{Measured, MouseOwner, Pace, Tone};
use crate::console::app::{self, Model, Msg, Start};
use crate::console::tty::editor::{Edited, Editing};
use crate::console::tty::{Arrived, Reason, Signal, Signals, TtyError, pastes_of_terminal};
use crate::console::ui::Ui;
use crate::console::ui::glyphs::GlyphSet;
use crate::console::ui::theme::{Colours, Theme};
use crate::control::{self, Client};
use crate::domain::api::Update;
use crate::domain::recovery::AfterStop;

/// How long leaving waits for commands on their way: a draft to be saved, say.
const LAST_COMMANDS: Duration = Duration::from_secs(5);

/// The console, open.
pub(super) struct Console {
    pub(super) model: Model,
    pub(super) client: Arc<dyn Client>,
    pub(super) updates: Option<mpsc::Receiver<Update>>,
    pub(super) engines: Box<dyn Engines>,
    /// An engine on its way; at most one.
    pub(super) reaching: Option<BoxFuture<'static, Result<Reached, String>>>,
    pub(super) commands: Commands,
    pub(super) questions: Questions,
    pub(super) timers: Timers,
    pub(super) signals: Signals,
    pub(super) manner: Manner,
    pub(super) jobs_file: PathBuf,
    /// None while another program has the terminal.
    pub(super) front: Option<Front>,
    pub(super) editing: Option<Editing>,
    pub(super) stop: Stop,
    /// How it ended: the loop looks at it after each turn.
    pub(super) ended: Option<Ended>,
    pub(super) bell: Bell,
    pub(super) desktop_notification: DesktopNotification,
    pub(super) ui: Ui,
    /// What the last frame measured.
    pub(super) measured: Measured,
    pub(super) next_minute: Instant,
    pub(super) moving: Moving,
    pub(super) silence: Silence,
}

/// Whether the engine stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    Running,
    Asked(AfterStop),
}

/// What woke the loop.
enum Woken {
    Input(Option<Arrived>),
    Signal(Signal),
    Written(Result<(), TtyError>),
    Edited(Edited),
    Message(Msg, Reason),
    Reached(Result<Reached, String>),
    Update(Option<Update>),
    Time,
}

impl Console {
    /// Takes the terminal and asks for everything.
    pub(super) async fn open(client: Arc<dyn Client>, options: ConsoleOptions) -> Result<Self, ConsoleError> {
        let signals = Signals::of_a_screen()?;
        // Listening comes before asking: what happens between the two is not missed.
        let updates = listen(&client).await?;
        let (theme, no_theme) = dress(&options.theme);
        let manner = Manner { synchronized: options.synchronized_output, errors_to: options.errors_to };
        let front = Front::enter(&manner, options.mouse)?;
        let mut model = Model::new(Start {
            keymap: options.keymap,
            zone: options.zone,
            now: Utc::now(),
            reach: reach(&client),
            access: options.access,
            mouse: owner(options.mouse),
            pastes: pastes_of_terminal(),
            size: front.size(),
            config_path: options.config_path,
        });
        let effects = app::start(&mut model);
        let mut console = Self {
            model,
            client,
            updates,
            engines: options.engines,
            reaching: None,
            commands: Commands::start(),
            questions: Questions::default(),
            timers: Timers::default(),
            signals,
            manner,
            jobs_file: options.jobs_file,
            front: Some(front),
            editing: None,
            stop: Stop::Running,
            ended: None,
            bell: options.bell,
            desktop_notification: options.desktop_notification,
            ui: Ui::new(theme, GlyphSet::of(options.glyphs)),
            measured: Measured::default(),
            next_minute: minute_from_now(),
            moving: Moving::default(),
            silence: Silence::default(),
        };
        console.perform(effects)?;
        for notice in options.notices.into_iter().chain(no_theme) {
            console.tell(Msg::Notice(Tone::Warn, notice), Reason::Event)?;
        }
        Ok(console)
    }

    /// Runs until it is left. The signals go on to whoever runs what is left here.
    pub(super) async fn run(mut self) -> Result<(Ended, Signals), ConsoleError> {
        let ended = loop {
            match self.turn().await {
                // Whatever failed, it is because the terminal vanished.
                Err(ConsoleError::Terminal(_)) if self.front.as_ref().is_some_and(Front::is_gone) => {
                    self.terminal_gone()?;
                }
                turned => turned?,
            }
            if let Some(ended) = self.ended.take() {
                break ended;
            }
        };
        let Self { commands, front, editing, signals, .. } = self;
        drop((front, editing));
        commands.finish(LAST_COMMANDS).await;
        Ok((ended, signals))
    }

    /// Waits for one thing and handles it.
    async fn turn(&mut self) -> Result<(), ConsoleError> {
        let now = Instant::now();
        self.handle_time(now)?;
        self.draw_if_due(now)?;
        if self.ended.is_some() {
            return Ok(());
        }
        let woken = self.next().await;
        if matches!(woken, Woken::Message(..) | Woken::Update(_)) {
            let news = self.silence.heard();
            self.tell_silence(news)?;
        }
        match woken {
            Woken::Input(Some(input)) => self.handle_inputs(input),
            Woken::Input(None) => self.terminal_gone(),
            Woken::Signal(signal) => self.handle_signal(signal),
            Woken::Written(Ok(())) | Woken::Time => Ok(()),
            Woken::Written(Err(error)) => {
                tracing::info!(%error, "the terminal takes no frame");
                self.terminal_gone()
            }
            Woken::Edited(edited) => self.editor_closed(edited),
            Woken::Message(message, reason) => self.tell(message, reason),
            Woken::Reached(result) => self.engine_reached(result),
            Woken::Update(Some(update)) => self.handle_updates(update),
            Woken::Update(None) => self.engine_gone(),
        }
    }

    async fn next(&mut self) -> Woken {
        let wake_at = self.wake_at();
        let Self { front, editing, updates, reaching, commands, questions, signals, .. } = self;
        let (mut inputs, mut writing) = (None, None);
        if let Some(front) = front.as_mut() {
            let (reader, output) = front.both();
            (inputs, writing) = (Some(reader), Some(output));
        }
        tokio::select! {
            biased;
            signal = signals.next() => Woken::Signal(signal),
            input = if_some(inputs.as_mut().map(|reader| reader.next())) => Woken::Input(input),
            written = if_some(writing.as_mut().map(|output| output.written())) => Woken::Written(written),
            edited = if_some(editing.as_mut().map(Editing::finish)) => Woken::Edited(edited),
            reply = commands.reply() => Woken::Message(reply, Reason::Key),
            (answer, pace) = questions.answer() => Woken::Message(answer, reason(pace)),
            reached = if_some(reaching.as_mut()) => Woken::Reached(reached),
            update = if_some(updates.as_mut().map(|updates| updates.recv())) => Woken::Update(update),
            () = tokio::time::sleep_until(wake_at.into()) => Woken::Time,
        }
    }

    /// When something is due that nobody else tells of.
    fn wake_at(&self) -> Instant {
        let frame = self.front.as_ref().and_then(Front::due);
        let motion = self.moving.next().filter(|_| self.front.is_some());
        let question = self.questions.next_due().map(tokio::time::Instant::into_std);
        [frame, motion, self.timers.next(), question, self.silence.due()]
            .into_iter()
            .flatten()
            .fold(self.next_minute, Instant::min)
    }

    fn handle_time(&mut self, now: Instant) -> Result<(), ConsoleError> {
        self.questions.ask_due(&self.client, now.into());
        for timer in self.timers.take_due(now) {
            self.tell(Msg::Fired(timer, Utc::now()), Reason::Event)?;
        }
        let owes = matches!(self.client.reach(), control::Reach::Attached { .. })
            && (self.questions.are_out() || self.commands.are_out());
        let news = self.silence.look(owes, now);
        self.tell_silence(news)?;
        let minute = self.next_minute <= now;
        let motion = self.moving.take_due(now);
        if minute {
            self.next_minute = minute_from_now();
        }
        if minute || motion {
            return self.tell(Msg::Tick(Utc::now()), Reason::Event);
        }
        Ok(())
    }

    fn tell_silence(&mut self, news: Option<News>) -> Result<(), ConsoleError> {
        let since = match news {
            Some(News::Silent(long)) => Some(Utc::now() - long),
            Some(News::Heard) => None,
            None => return Ok(()),
        };
        self.tell(Msg::EngineSilent(since), Reason::Key)
    }

    fn draw_if_due(&mut self, now: Instant) -> Result<(), ConsoleError> {
        let Self { front: Some(front), ui, model, .. } = self else { return Ok(()) };
        if front.due().is_none_or(|due| due > now) {
            return Ok(());
        }
        let mut measured = self.measured;
        front.draw(|frame| measured = ui.draw(frame, model))?;
        self.moving.drawn(now, self.ui.pace());
        if measured == self.measured {
            return Ok(());
        }
        self.measured = measured;
        self.tell(Msg::Drawn(measured), Reason::Key)
    }

    /// Tells the state what happened, and does what it asks for.
    pub(super) fn tell(&mut self, message: Msg, reason: Reason) -> Result<(), ConsoleError> {
        let effects = app::update(&mut self.model, message);
        if self.model.take_dirty()
            && let Some(front) = &mut self.front
        {
            front.request(reason);
        }
        self.perform(effects)
    }
}

async fn if_some<F: Future>(future: Option<F>) -> F::Output {
    match future {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}

fn minute_from_now() -> Instant {
    let now = Utc::now();
    let left = 60_000 - (u64::from(now.second()) * 1000 + u64::from(now.timestamp_subsec_millis())) % 60_000;
    Instant::now() + Duration::from_millis(left)
}

/// The theme of that name, and what to tell if there is none.
fn dress(name: &str) -> (Theme, Option<String>) {
    // As https://no-color.org has it: set to anything but nothing.
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    match Theme::named(name, if no_color { Colours::Off } else { Colours::On }) {
        Ok(theme) => (theme, None),
        Err(error) => (Theme::plain(), Some(error.to_string())),
    }
}

fn reason(pace: Pace) -> Reason {
    match pace {
        Pace::AtOnce => Reason::Key,
        Pace::Soon | Pace::Gently => Reason::Event,
    }
}

fn owner(mouse: Mouse) -> MouseOwner {
    match mouse {
        Mouse::On => MouseOwner::Console,
        Mouse::Off => MouseOwner::Terminal,
    }
}

pub(super) fn mouse(owner: MouseOwner) -> Mouse {
    match owner {
        MouseOwner::Console => Mouse::On,
        MouseOwner::Terminal => Mouse::Off,
    }
}
