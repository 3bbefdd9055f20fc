//! Slash commands: each is declared once here. Parsing, completion, help, the palette and the
//! README's table come from [`TABLE`].

use super::agent::AgentName;
use super::approval::Answer;
use super::id::{ApprovalId, ProcessNumber};
use super::nearest::nearest;
use super::queue::Refusal;

/// A slash command's declaration.
#[derive(Debug, Clone, Copy)]
pub struct Spec {
    /// Its name, without the slash.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// Its arguments, as usage shows them.
    pub args: &'static str,
    /// The words that its argument can be, each with what it means; none: any text.
    pub choices: &'static [(&'static str, &'static str)],
    /// What it does, in one line.
    pub help: &'static str,
    /// Whether it may be given while a turn runs.
    pub during_turn: DuringTurn,
    /// Makes the command of its argument text.
    make: fn(&str) -> Result<Slash, &'static str>,
}

/// Whether a command may be given while a turn runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DuringTurn {
    /// It may.
    Allowed,
    /// It is refused, with the way out (`/stop`).
    Refused,
}

/// A parsed slash command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slash {
    /// Add an item to the queue.
    Queue(String),
    /// Show the queue.
    ShowQueue,
    /// End this memory and start a new one.
    New {
        /// A title for the new one.
        title: Option<String>,
        /// Whether to ask before something is lost.
        ask: Ask,
    },
    /// Stop the running turn.
    Stop,
    /// Answer what the agent asks.
    Answer {
        /// The question's number; none: the only one that waits.
        question: Option<ApprovalId>,
        /// The answer.
        answer: Answer,
    },
    /// List what is allowed for the rest of the session.
    ShowAllowed,
    /// Take one of that back.
    Disallow(String),
    /// Go on with what was cut off, and with a held queue.
    Continue,
    /// Give the session up.
    Suspend,
    /// Take a suspension back.
    Unsuspend,
    /// Restart the engine.
    Restart(Ask),
    /// Hand text to the running turn.
    Steer(String),
    /// Show the busy mode.
    ShowBusy,
    /// Set the busy mode; none: back to the default.
    Busy(Option<super::queue::BusyMode>),
    /// Show the agent that works in the session.
    ShowAgent,
    /// Choose the agent that works in the session; none: the setting's.
    Agent(Option<AgentName>),
    /// Show the model that the session asks for.
    ShowModel,
    /// Choose the model that the session asks for; none: the setting's.
    Model(Option<String>),
    /// List the session's background processes.
    Processes,
    /// End one of them.
    Kill(ProcessNumber),
    /// Tell how the session stands.
    Status,
    /// List sessions, earlier ones too.
    Sessions,
    /// Go back to an earlier session.
    Resume(String),
    /// Name the session.
    Title(String),
    /// Hide the last n user turns.
    Undo(usize),
    /// Hide the last answer and run its message again.
    Retry,
    /// Search all messages.
    Search(String),
    /// Write the session to a file.
    Export(ExportFormat),
    /// Tell what a command does.
    Help(Option<String>),
    /// Look at scheduled tasks, or change them.
    Cron(CronSlash),
    /// Leave the screen.
    Quit,
}

/// What `/cron` does. A job is named by its id, by a unique beginning of one, or by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CronSlash {
    /// List the jobs whose id, name or state contain the text.
    List(String),
    /// Open the editor for a new job.
    Editor,
    /// Open the editor for a job.
    EditorOf(String),
    /// Make a job.
    Add {
        /// When it is due.
        schedule: String,
        /// What the agent is told.
        prompt: String,
    },
    /// Set a field of a job.
    Set {
        /// The job.
        job: String,
        /// The field.
        field: String,
        /// Its value; empty takes an optional one away.
        value: String,
    },
    /// Take no slot of a job until it is resumed.
    Pause {
        /// The job.
        job: String,
        /// Why.
        why: Option<String>,
    },
    /// Take a job's slots again.
    Resume(String),
    /// Run a job now.
    Run(String),
    /// Take a job out.
    Remove(String),
    /// What became of a job's slots.
    History(String),
    /// The next slots of a job, or of a schedule.
    Next(String),
}

/// Whether to ask before something is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// Ask.
    First,
    /// Do it.
    Never,
}

/// The form of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    /// For reading.
    Markdown,
    /// For programs.
    Json,
}

impl ExportFormat {
    /// The file name's ending.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Json => "json",
        }
    }
}

use DuringTurn::{Allowed, Refused};

/// The longest name of a model.
const MOST_MODEL_CHARS: usize = 200;

const fn spec(
    name: &'static str,
    args: &'static str,
    help: &'static str,
    during_turn: DuringTurn,
    make: fn(&str) -> Result<Slash, &'static str>,
) -> Spec {
    Spec { name, aliases: &[], args, choices: &[], help, during_turn, make }
}

/// Every slash command, in the order of the documentation.
pub const TABLE: &[Spec] = &[
    Spec {
        aliases: &["q"],
        ..spec(
            "queue",
            "[TEXT]",
            "add work that runs after this turn, in order; without text, show the queue",
            Allowed,
            |text| Ok(if text.is_empty() { Slash::ShowQueue } else { Slash::Queue(text.to_owned()) }),
        )
    },
    Spec {
        aliases: &["reset"],
        ..spec(
            "new",
            "[TITLE]",
            "stop the turn, clear the queue, end this memory and start a new one",
            Allowed,
            |text| Ok(Slash::New { title: optional(text), ask: Ask::First }),
        )
    },
    Spec {
        aliases: &["reset!"],
        ..spec("new!", "[TITLE]", "the same without asking", Allowed, |text| {
            Ok(Slash::New { title: optional(text), ask: Ask::Never })
        })
    },
    spec("stop", "", "stop the running turn; its queue stays, held", Allowed, |text| bare(text, Slash::Stop)),
    Spec {
        choices: &[("always", "all that begins so, for the rest of the session; where it is offered")],
        ..spec(
            "approve",
            "[N] [always]",
            "let the agent do what it asks, this once; N is the question's number, where several wait",
            Allowed,
            |text| match question_first(text) {
                (question, "") => Ok(Slash::Answer { question, answer: Answer::Once }),
                (question, "always") => Ok(Slash::Answer { question, answer: Answer::Always }),
                _ => Err("it takes the number of a question and the word always"),
            },
        )
    },
    spec(
        "deny",
        "[N] [REASON]",
        "don't let the agent do what it asks; it is told the reason. A number in front is the question's",
        Allowed,
        |text| {
            let (question, why) = question_first(text);
            Ok(Slash::Answer { question, answer: Answer::Deny { why: optional(why) } })
        },
    ),
    Spec {
        choices: &[("remove", "the agent asks again before COMMAND: /allowed remove COMMAND")],
        ..spec(
            "allowed",
            "[remove COMMAND]",
            "what /approve always allowed in this session; remove takes one back",
            Allowed,
            |text| match first_word(text) {
                ("", _) => Ok(Slash::ShowAllowed),
                ("remove", prefix) => needed(prefix)
                    .map(Slash::Disallow)
                    .map_err(|_| "a command is missing; /allowed lists them"),
                _ => Err("the only word is remove"),
            },
        )
    },
    spec("continue", "", "go on with what was cut off, and with a held queue", Allowed, |text| {
        bare(text, Slash::Continue)
    }),
    spec("steer", "TEXT", "hand text to the running turn", Allowed, |text| needed(text).map(Slash::Steer)),
    Spec {
        choices: &[
            ("replace", "it takes the slot and runs next; what was there is kept"),
            ("queue", "it goes to the end of the queue"),
            ("interrupt", "it stops the running turn and runs next"),
            ("steer", "it is handed to the running turn, where the agent takes it"),
            ("default", "what queue.busy_mode says for all sessions"),
        ],
        ..spec(
            "busy",
            "[MODE]",
            "show or set what a message does while a turn runs: replace, queue, interrupt, steer, default",
            Allowed,
            |text| match text {
                "" => Ok(Slash::ShowBusy),
                "default" => Ok(Slash::Busy(None)),
                mode => mode
                    .parse()
                    .map(|mode| Slash::Busy(Some(mode)))
                    .map_err(|_| "the modes are replace, queue, interrupt, steer and default"),
            },
        )
    },
    Spec {
        choices: &[("default", "the agent that the settings name")],
        ..spec(
            "agent",
            "[NAME|default]",
            "show or choose the agent that works in this session, from its next turn on",
            Allowed,
            |text| match text {
                "" => Ok(Slash::ShowAgent),
                AgentName::DEFAULT => Ok(Slash::Agent(None)),
                name => match name.parse() {
                    Ok(name) => Ok(Slash::Agent(Some(name))),
                    Err(_) => Err("an agent's name is made of letters, digits, _ and -"),
                },
            },
        )
    },
    Spec {
        choices: &[("default", "the model that the settings name")],
        ..spec(
            "model",
            "[NAME|default]",
            "show or choose the model that this session asks for, from its next turn on",
            Allowed,
            |text| match text {
                "" => Ok(Slash::ShowModel),
                "default" => Ok(Slash::Model(None)),
                name if name.chars().count() > MOST_MODEL_CHARS || name.contains(char::is_control) => {
                    Err("a model's name is one line of at most 200 characters")
                }
                name => Ok(Slash::Model(Some(name.to_owned()))),
            },
        )
    },
    spec("processes", "", "the background processes of this session", Allowed, |text| {
        bare(text, Slash::Processes)
    }),
    spec("kill", "N", "end background process N of this session with all that it started", Allowed, |text| {
        match text.parse() {
            Ok(number) if number >= 1 => Ok(Slash::Kill(ProcessNumber(number))),
            _ => Err("N is the number of a background process; /processes tells them"),
        }
    }),
    spec("status", "", "how this session stands, and why", Allowed, |text| bare(text, Slash::Status)),
    spec("sessions", "", "the sessions, earlier ones too", Allowed, |text| bare(text, Slash::Sessions)),
    spec("resume", "ID|PREFIX|TITLE", "go back to an earlier session", Refused, |text| {
        needed(text).map(Slash::Resume)
    }),
    spec("title", "NAME", "name this session", Allowed, |text| needed(text).map(Slash::Title)),
    spec("undo", "[N]", "hide the last N turns (1); the rows stay", Refused, |text| match text {
        "" => Ok(Slash::Undo(1)),
        n => match n.parse() {
            Ok(n) if n >= 1 => Ok(Slash::Undo(n)),
            _ => Err("N is a whole number from 1"),
        },
    }),
    spec("retry", "", "hide the last answer and run its message again", Refused, |text| {
        bare(text, Slash::Retry)
    }),
    spec("search", "WORDS", "search every message of every session", Allowed, |text| {
        needed(text).map(Slash::Search)
    }),
    Spec {
        choices: &[("markdown", "for reading"), ("json", "for programs")],
        ..spec("export", "[markdown|json]", "write this session to a file in the home", Allowed, |text| {
            match text {
                "" | "markdown" | "md" => Ok(Slash::Export(ExportFormat::Markdown)),
                "json" => Ok(Slash::Export(ExportFormat::Json)),
                _ => Err("the forms are markdown and json"),
            }
        })
    },
    spec("suspend", "", "give this session up: its next message starts anew", Allowed, |text| {
        bare(text, Slash::Suspend)
    }),
    spec(
        "unsuspend",
        "",
        "take a suspension back: the same session is usable again, what waits stays held",
        Allowed,
        |text| bare(text, Slash::Unsuspend),
    ),
    Spec {
        choices: &[
            ("list", "the jobs, the most urgent first"),
            ("add", "make a job: /cron add \"SCHEDULE\" PROMPT; without more, the editor"),
            ("edit", "change a job: /cron edit JOB FIELD VALUE; without a field, the editor"),
            ("pause", "take no slot of a job until it is resumed: /cron pause JOB [WHY]"),
            ("resume", "take a job's slots again: /cron resume JOB"),
            ("run", "run a job now, beside its slots: /cron run JOB"),
            ("remove", "take a job out of jobs.json: /cron remove JOB"),
            ("history", "what became of a job's slots: /cron history JOB"),
            ("next", "the next slots of a job or of a schedule: /cron next JOB|SCHEDULE"),
        ],
        ..spec(
            "cron",
            "[list|add|edit|pause|resume|run|remove|history|next] …",
            "scheduled tasks",
            Allowed,
            |text| cron(text).map(Slash::Cron),
        )
    },
    spec(
        "restart",
        "",
        "restart the engine; asks only if one more cut would suspend a session",
        Allowed,
        |text| bare(text, Slash::Restart(Ask::First)),
    ),
    spec("restart!", "", "the same, and never asks", Allowed, |text| bare(text, Slash::Restart(Ask::Never))),
    spec("help", "[COMMAND]", "what the commands do", Allowed, |text| Ok(Slash::Help(optional(text)))),
    spec("quit", "", "leave the screen", Allowed, |text| bare(text, Slash::Quit)),
];

fn optional(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn bare(text: &str, slash: Slash) -> Result<Slash, &'static str> {
    if text.is_empty() { Ok(slash) } else { Err("it takes no argument") }
}

fn needed(text: &str) -> Result<String, &'static str> {
    if text.is_empty() { Err("an argument is missing") } else { Ok(text.to_owned()) }
}

fn cron(text: &str) -> Result<CronSlash, &'static str> {
    let (verb, rest) = first_word(text);
    let job = || needed(rest).map_err(|_| "a job is missing: its id, a unique beginning of it, or its name");
    match verb {
        "" | "list" => Ok(CronSlash::List(rest.to_owned())),
        "add" if rest.is_empty() => Ok(CronSlash::Editor),
        "add" => {
            let (schedule, prompt) =
                quoted_first(rest).ok_or("write the schedule in quotes and the prompt behind it")?;
            Ok(CronSlash::Add { schedule: needed(schedule)?, prompt: needed(prompt)? })
        }
        "edit" => match first_word(&job()?) {
            (job, "") => Ok(CronSlash::EditorOf(job.to_owned())),
            (job, rest) => {
                let (field, value) = first_word(rest);
                let value = if value == "\"\"" { "" } else { value };
                Ok(CronSlash::Set { job: job.to_owned(), field: field.to_owned(), value: value.to_owned() })
            }
        },
        "pause" => {
            let job = job()?;
            let (job, why) = first_word(&job);
            Ok(CronSlash::Pause { job: job.to_owned(), why: optional(why) })
        }
        "resume" => job().map(CronSlash::Resume),
        "run" => job().map(CronSlash::Run),
        "remove" => job().map(CronSlash::Remove),
        "history" => job().map(CronSlash::History),
        // A schedule may stand in quotes, as /cron add takes it.
        "next" => match quoted_first(rest) {
            Some((schedule, "")) => needed(schedule).map(CronSlash::Next),
            _ => job().map(CronSlash::Next),
        },
        _ => Err("the words are list, add, edit, pause, resume, run, remove, history and next"),
    }
}

fn first_word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim())
}

/// Takes the number of a question off the front, a word of digits.
fn question_first(text: &str) -> (Option<ApprovalId>, &str) {
    let (word, rest) = first_word(text);
    match word.parse() {
        Ok(number) if word.bytes().all(|byte| byte.is_ascii_digit()) => (Some(ApprovalId(number)), rest),
        _ => (None, text),
    }
}

/// Takes a text in quotes off the front.
fn quoted_first(text: &str) -> Option<(&str, &str)> {
    let (quoted, rest) = text.strip_prefix('"')?.split_once('"')?;
    Some((quoted.trim(), rest.trim()))
}

impl Spec {
    /// How it is written: `/queue [TEXT]`.
    pub fn usage(&self) -> String {
        if self.args.is_empty() { format!("/{}", self.name) } else { format!("/{} {}", self.name, self.args) }
    }

    fn answers_to(&self, word: &str) -> bool {
        self.name == word || self.aliases.contains(&word)
    }
}

/// Writes the README's table of commands.
pub fn markdown_table() -> String {
    let mut table = "| command | what it does |\n| --- | --- |\n".to_owned();
    for spec in TABLE {
        let also: String = spec.aliases.iter().map(|alias| format!(", `/{alias}`")).collect();
        let refused = match spec.during_turn {
            DuringTurn::Allowed => "",
            DuringTurn::Refused => "; not while a turn runs",
        };
        let usage = spec.usage().replace('|', "\\|");
        table.push_str(&format!("| `{usage}`{also} | {}{refused} |\n", spec.help));
    }
    table
}

/// Finds a command by its name or an alias.
pub fn find(word: &str) -> Option<&'static Spec> {
    TABLE.iter().find(|spec| spec.answers_to(word))
}

/// A draft, understood.
#[derive(Debug, Clone)]
pub enum Draft {
    /// A message; `//text` has become `/text`.
    Text(String),
    /// A command.
    Command(Slash, &'static Spec),
}

/// Understands a draft as it was typed.
///
/// Only a single line that begins with `/` can be a command; a text of several lines never is. An
/// unknown `/word` is refused with the nearest name rather than sent.
pub fn parse(draft: &str) -> Result<Draft, Refusal> {
    let line = draft.trim();
    let Some(rest) = line.strip_prefix('/') else {
        return Ok(Draft::Text(draft.to_owned()));
    };
    if line.contains('\n') {
        return Ok(Draft::Text(draft.to_owned()));
    }
    if rest.starts_with('/') {
        return Ok(Draft::Text(rest.to_owned()));
    }
    let (word, argument) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let spec = find(word).ok_or_else(|| unknown(word))?;
    let slash = (spec.make)(argument.trim())
        .map_err(|problem| Refusal::Usage { problem: problem.to_owned(), usage: spec.usage() })?;
    Ok(Draft::Command(slash, spec))
}

/// The refusal of a word that is no command, with the nearest one.
pub fn unknown(word: &str) -> Refusal {
    let names = TABLE.iter().flat_map(|spec| std::iter::once(spec.name).chain(spec.aliases.iter().copied()));
    Refusal::NoSuchCommand { word: word.to_owned(), nearest: nearest(word, names).map(str::to_owned) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::queue::BusyMode;
    use proptest::prelude::*;

    fn command(draft: &str) -> Slash {
        match parse(draft) {
            Ok(Draft::Command(slash, _)) => slash,
            other => panic!("{draft:?} is no command: {other:?}"),
        }
    }

    fn answer(number: Option<i64>, answer: Answer) -> Slash {
        Slash::Answer { question: number.map(ApprovalId), answer }
    }

    fn deny(number: Option<i64>, why: Option<&str>) -> Slash {
        answer(number, Answer::Deny { why: why.map(str::to_owned) })
    }

    fn text(draft: &str) -> String {
        match parse(draft) {
            Ok(Draft::Text(text)) => text,
            other => panic!("{draft:?} is no text: {other:?}"),
        }
    }

    #[test]
    fn each_command_is_understood_with_its_arguments() {
        let table = [
            ("/queue fix the tests", Slash::Queue("fix the tests".to_owned())),
            ("/q x", Slash::Queue("x".to_owned())),
            ("/queue", Slash::ShowQueue),
            ("/queue    ", Slash::ShowQueue),
            ("  /stop  ", Slash::Stop),
            ("/new", Slash::New { title: None, ask: Ask::First }),
            ("/reset Plan B", Slash::New { title: Some("Plan B".to_owned()), ask: Ask::First }),
            ("/new! x", Slash::New { title: Some("x".to_owned()), ask: Ask::Never }),
            ("/reset!", Slash::New { title: None, ask: Ask::Never }),
            ("/busy", Slash::ShowBusy),
            ("/busy interrupt", Slash::Busy(Some(BusyMode::Interrupt))),
            ("/busy default", Slash::Busy(None)),
            ("/processes", Slash::Processes),
            ("/approve", answer(None, Answer::Once)),
            ("/approve always", answer(None, Answer::Always)),
            ("/approve 12", answer(Some(12), Answer::Once)),
            ("/approve 12  always", answer(Some(12), Answer::Always)),
            ("/deny", deny(None, None)),
            ("/deny not today", deny(None, Some("not today"))),
            ("/deny 12", deny(Some(12), None)),
            ("/deny 12 3 files are too many", deny(Some(12), Some("3 files are too many"))),
            ("/deny 3rd try", deny(None, Some("3rd try"))),
            ("/deny +3 more", deny(None, Some("+3 more"))),
            ("/allowed", Slash::ShowAllowed),
            ("/allowed remove git push", Slash::Disallow("git push".to_owned())),
            ("/kill 3", Slash::Kill(ProcessNumber(3))),
            ("/undo", Slash::Undo(1)),
            ("/undo 3", Slash::Undo(3)),
            ("/export json", Slash::Export(ExportFormat::Json)),
            ("/export", Slash::Export(ExportFormat::Markdown)),
            ("/help queue", Slash::Help(Some("queue".to_owned()))),
            ("/cron", Slash::Cron(CronSlash::List(String::new()))),
            ("/cron list paused", Slash::Cron(CronSlash::List("paused".to_owned()))),
            ("/cron add", Slash::Cron(CronSlash::Editor)),
            (
                "/cron add \"0 8 * * *\"  Sum it up ",
                Slash::Cron(CronSlash::Add {
                    schedule: "0 8 * * *".to_owned(),
                    prompt: "Sum it up".to_owned(),
                }),
            ),
            ("/cron edit disk", Slash::Cron(CronSlash::EditorOf("disk".to_owned()))),
            (
                "/cron edit disk prompt look at it",
                Slash::Cron(CronSlash::Set {
                    job: "disk".to_owned(),
                    field: "prompt".to_owned(),
                    value: "look at it".to_owned(),
                }),
            ),
            (
                "/cron edit disk repeat \"\"",
                Slash::Cron(CronSlash::Set {
                    job: "disk".to_owned(),
                    field: "repeat".to_owned(),
                    value: String::new(),
                }),
            ),
            (
                "/cron pause disk it is full",
                Slash::Cron(CronSlash::Pause { job: "disk".to_owned(), why: Some("it is full".to_owned()) }),
            ),
            ("/cron run Disk check", Slash::Cron(CronSlash::Run("Disk check".to_owned()))),
            ("/cron next every 2h", Slash::Cron(CronSlash::Next("every 2h".to_owned()))),
            ("/cron next \"0 9 15 * 1\"", Slash::Cron(CronSlash::Next("0 9 15 * 1".to_owned()))),
        ];
        for (draft, slash) in table {
            assert_eq!(command(draft), slash, "{draft:?}");
        }
    }

    #[test]
    fn two_slashes_send_a_slash_and_several_lines_are_never_a_command() {
        assert_eq!(text("//stop it"), "/stop it");
        assert_eq!(text("/stop\nand more"), "/stop\nand more");
        assert_eq!(text("say /stop"), "say /stop");
    }

    #[test]
    fn an_unknown_word_is_refused_with_the_nearest_name() {
        let near = |draft: &str| match parse(draft) {
            Err(Refusal::NoSuchCommand { nearest, .. }) => nearest,
            other => panic!("{draft:?}: {other:?}"),
        };
        assert_eq!(near("/quee x").as_deref(), Some("queue"));
        assert_eq!(near("/stpo").as_deref(), Some("stop"));
        assert_eq!(near("/zzzzzz"), None);
        assert_eq!(near("/"), None);
    }

    #[test]
    fn wrong_arguments_are_refused_with_the_usage() {
        for draft in [
            "/cron pause",
            "/cron add 30m x",
            "/cron add \"30m\"",
            "/cron fire x",
            "/stop now",
            "/kill",
            "/kill 0",
            "/approve it",
            "/approve always 12",
            "/kill all",
            "/undo 0",
            "/undo x",
            "/busy later",
            "/title",
            "/steer",
            "/export pdf",
        ] {
            match parse(draft) {
                Err(Refusal::Usage { usage, .. }) => assert!(usage.starts_with('/'), "{usage}"),
                other => panic!("{draft:?}: {other:?}"),
            }
        }
    }

    #[test]
    fn names_are_given_once_and_what_a_turn_forbids_is_marked() {
        let mut names: Vec<&str> =
            TABLE.iter().flat_map(|spec| spec.aliases.iter().copied().chain([spec.name])).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        let refused = TABLE.iter().filter(|spec| spec.during_turn == DuringTurn::Refused);
        let refused: Vec<&str> = refused.map(|spec| spec.name).collect();
        assert_eq!(refused, ["resume", "undo", "retry"]);
    }

    proptest! {
        #[test]
        fn no_draft_is_lost_in_silence(draft in any::<String>()) {
            match parse(&draft) {
                Ok(Draft::Text(sent)) => prop_assert!(draft.contains(&sent)),
                Ok(Draft::Command(..)) => prop_assert!(draft.trim().starts_with('/')),
                Err(refusal) => prop_assert!(refusal.to_string().starts_with("refused")),
            }
        }
    }
}
