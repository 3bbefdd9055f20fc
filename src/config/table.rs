//! The table of settings: each is declared once here.
//!
//! Validation, the commented `config.toml` of a new home, `switchboard config print` and the
//! README's table come from [`TABLE`].

use std::time::Duration;

use super::setting::{Setting, Takes};
use super::settings::{
    BackendKind, Bell, Config, DesktopNotification, Glyphs, Mouse, OnTerminalClose, SynchronizedOutput,
    ToolName,
};
use crate::domain::approval::Policy;

const fn setting(key: &'static str, about: &'static str, takes: Takes) -> Setting {
    Setting { key, about, takes, needed_by: None }
}

const fn seconds(default: u64, min: u64, max: u64, put: fn(&mut Config, u64)) -> Takes {
    Takes::Whole { default, min, max, put }
}

const fn whole(default: u64, min: u64, max: u64, put: fn(&mut Config, u64)) -> Takes {
    Takes::Whole { default, min, max, put }
}

const MOST_TOKENS: u64 = 1_000_000_000_000;

/// Every setting, section by section, in the order of the documentation.
pub const TABLE: &[Setting] = &[
    setting(
        "timezone",
        "The operator's time zone, as an IANA name. Without it the system's is used, and UTC where that is unknown.",
        Takes::Zone { example: "Europe/Berlin", put: |config, zone| config.timezone = zone },
    ),
    setting(
        "agent.backend",
        "Who answers: the built-in practice agent, any program once per turn, an OpenAI-compatible server, or an agent that speaks the Agent Client Protocol.",
        Takes::Choice {
            default: "practice",
            words: BackendKind::WORDS,
            put: |config, word| BackendKind::of(word).map(|backend| config.agent.backend = backend),
        },
    ),
    setting(
        "agent.platforms",
        "Who answers on a platform: the name of an agent of [agents], or default for this one. A session chooses for itself with /agent, a scheduled task with its field agent.",
        Takes::AgentOfPlatform {
            example: ("telegram", "coder"),
            put: |config, agents| config.agent_platforms = agents,
        },
    ),
    Setting {
        needed_by: Some("command"),
        ..setting(
            "agent.command.argv",
            "The program and its arguments. The message comes on its standard input, the answer is its standard output.",
            Takes::Argv {
                example: &["my-agent", "--once"],
                put: |config, argv| config.agent.command.argv = argv,
            },
        )
    },
    setting(
        "agent.command.workdir",
        "Where the program runs; without it in the home folder.",
        Takes::Path { example: "~/work", put: |config, path| config.agent.command.workdir = Some(path) },
    ),
    setting(
        "agent.command.timeout_seconds",
        "How long a turn of the program may take before it is killed with all its children.",
        seconds(1800, 1, 604_800, |config, s| config.agent.command.timeout = Duration::from_secs(s)),
    ),
    Setting {
        needed_by: Some("openai"),
        ..setting(
            "agent.openai.base_url",
            "The server, up to and with its version.",
            Takes::Url {
                example: "http://localhost:11434/v1",
                put: |config, url| config.agent.openai.base_url = url,
            },
        )
    },
    Setting {
        needed_by: Some("openai"),
        ..setting(
            "agent.openai.model",
            "The model's name, as the server knows it.",
            Takes::Text { example: "qwen3:8b", put: |config, name| config.agent.openai.model = name },
        )
    },
    setting(
        "agent.openai.api_key_env",
        "The environment variable that holds the key. The key itself never stands in this file.",
        Takes::Variable {
            default: "OPENAI_API_KEY",
            put: |config, name| config.agent.openai.api_key_env = name,
        },
    ),
    setting(
        "agent.openai.api_key_file",
        "A file that only its owner can read (0600) and that holds the key, for where the variable is not set.",
        Takes::Path {
            example: "openai.key",
            put: |config, path| config.agent.openai.api_key_file = Some(path),
        },
    ),
    setting(
        "agent.openai.system_prompt",
        "What the model is told before every conversation.",
        Takes::Text {
            example: "You are a careful assistant.",
            put: |config, text| config.agent.openai.system_prompt = Some(text),
        },
    ),
    setting(
        "agent.openai.connect_timeout_seconds",
        "How long to wait for a connection.",
        seconds(10, 1, 600, |config, s| config.agent.openai.connect_timeout = Duration::from_secs(s)),
    ),
    setting(
        "agent.openai.stall_timeout_seconds",
        "How long the stream of an answer may be silent before the turn fails. Comments and empty pieces that only keep the connection alive are no silence, but for ten times as long at most.",
        seconds(120, 1, 3600, |config, s| config.agent.openai.stall_timeout = Duration::from_secs(s)),
    ),
    setting(
        "agent.openai.max_retries",
        "How often a request that failed before any answer is repeated, with growing pauses. One that the server was silent on is not: it may still work on it.",
        Takes::Whole {
            default: 3,
            min: 0,
            max: 20,
            put: |config, n| config.agent.openai.max_retries = u32::try_from(n).unwrap_or(u32::MAX),
        },
    ),
    setting(
        "agent.openai.tools",
        "The tools that the model may call; [] is none. read_file and search_files only read and write_file writes, all in the working directory alone; terminal runs commands there, and a command can do whatever you can; process looks after those that terminal started in the background; schedule_task makes a scheduled task. [agent.approvals] says which of them ask first.",
        Takes::Words {
            default: ToolName::WORDS,
            words: ToolName::WORDS,
            put: |config, words| {
                let tools = words.iter().map(|word| ToolName::of(word)).collect::<Option<_>>()?;
                config.agent.openai.tools = tools;
                Some(())
            },
        },
    ),
    setting(
        "agent.openai.workdir",
        "The working directory of the tools; without it the home folder, whose settings, store and keys they never open. A scheduled task's own workdir comes first.",
        Takes::Path { example: "~/work", put: |config, path| config.agent.openai.workdir = Some(path) },
    ),
    setting(
        "agent.openai.terminal_timeout_seconds",
        "How long a command of terminal may take before it is stopped with all that it started.",
        seconds(180, 1, 86_400, |config, s| config.agent.openai.terminal_timeout = Duration::from_secs(s)),
    ),
    setting(
        "agent.openai.max_background",
        "How many commands of one session may go on in the background at once; 0 allows none. The newest mebibyte of the output of each is kept in the folder background of the home.",
        whole(8, 0, 64, |config, n| {
            config.agent.openai.max_background = usize::try_from(n).unwrap_or(usize::MAX);
        }),
    ),
    setting(
        "agent.openai.max_steps",
        "After how many answers with tool calls in one turn the model is asked for its last word, without tools.",
        whole(50, 1, 1000, |config, n| {
            config.agent.openai.max_steps = u32::try_from(n).unwrap_or(u32::MAX);
        }),
    ),
    setting(
        "agent.openai.context_tokens",
        "How many tokens the model takes at once. 0: what the server's list of models tells (llama.cpp, vLLM and some others do); where it tells nothing the size is not known, and a conversation is sent shorter only after the server refused it as too long.",
        whole(0, 0, 1_000_000_000, |config, n| {
            config.agent.openai.facts.context_tokens = Some(n).filter(|n| *n > 0)
        }),
    ),
    setting(
        "agent.openai.compact_at_percent",
        "From how much of that on a conversation is sent shorter: old results of tools are left out, then a summary by the model stands for its middle. What is kept of it stays whole.",
        whole(80, 10, 95, |config, percent| config.agent.openai.compact_at_percent = percent),
    ),
    setting(
        "agent.openai.price_input",
        "What a million tokens cost that the model reads, in your currency, as your provider says; 0: nothing, or not known. What is used is priced when it is used.",
        Takes::Amount { put: |config, amount| config.agent.openai.facts.price.input = amount },
    ),
    setting(
        "agent.openai.price_output",
        "The same for tokens that the model writes.",
        Takes::Amount { put: |config, amount| config.agent.openai.facts.price.output = amount },
    ),
    setting(
        "agent.openai.price_cached",
        "The same for those of the tokens it reads that the server had in its cache; 0: as the others.",
        Takes::Amount {
            put: |config, amount| config.agent.openai.facts.price.cached = Some(amount).filter(|n| *n > 0),
        },
    ),
    Setting {
        needed_by: Some("acp"),
        ..setting(
            "agent.acp.argv",
            "The agent and its arguments. It speaks the Agent Client Protocol on its standard input and output, and lives as long as its session is in use.",
            Takes::Argv { example: &["opencode", "acp"], put: |config, argv| config.agent.acp.argv = argv },
        )
    },
    setting(
        "agent.acp.workdir",
        "Where the agent works; without it in the home folder. A scheduled task's own workdir comes first.",
        Takes::Path { example: "~/work", put: |config, path| config.agent.acp.workdir = Some(path) },
    ),
    setting(
        "agent.acp.initialize_timeout_seconds",
        "How long the agent may take after its start to say what it can.",
        seconds(60, 1, 3600, |config, s| config.agent.acp.initialize_timeout = Duration::from_secs(s)),
    ),
    setting(
        "agent.acp.new_timeout_seconds",
        "How long the agent may take to begin a session.",
        seconds(60, 1, 3600, |config, s| config.agent.acp.new_timeout = Duration::from_secs(s)),
    ),
    setting(
        "agent.acp.load_timeout_seconds",
        "How long the agent may take to take up a session that it knows.",
        seconds(120, 1, 3600, |config, s| config.agent.acp.load_timeout = Duration::from_secs(s)),
    ),
    setting(
        "agent.acp.silence_timeout_seconds",
        "How long the agent may send nothing in a turn before it is told to stop; ten times as long while a tool of it runs. Waiting for your answer does not count.",
        seconds(600, 1, 86_400, |config, s| config.agent.acp.silence_timeout = Duration::from_secs(s)),
    ),
    setting(
        "agent.acp.kill_grace_seconds",
        "How long the agent may take to obey a stop before it is killed with all that it started. engine.stop_grace_seconds is the limit of every turn.",
        seconds(3, 1, 600, |config, s| config.agent.acp.kill_grace = Duration::from_secs(s)),
    ),
    setting(
        "agent.approvals.terminal",
        "Whether a command of the built-in agent asks you first, needs no question, or is never run. A scheduled task never waits: what asks is denied to it.",
        policy("ask", |config, word| Policy::of(word).map(|policy| config.agent.approvals.terminal = policy)),
    ),
    setting(
        "agent.approvals.write_file",
        "The same for writing a file.",
        policy("ask", |config, word| {
            Policy::of(word).map(|policy| config.agent.approvals.write_file = policy)
        }),
    ),
    setting(
        "agent.approvals.read_file",
        "The same for reading a file.",
        policy("auto", |config, word| {
            Policy::of(word).map(|policy| config.agent.approvals.read_file = policy)
        }),
    ),
    setting(
        "agent.approvals.search_files",
        "The same for searching files.",
        policy("auto", |config, word| {
            Policy::of(word).map(|policy| config.agent.approvals.search_files = policy)
        }),
    ),
    setting(
        "agent.approvals.process",
        "The same for looking after the background processes that its own commands became: list, read, wait, kill.",
        policy("auto", |config, word| Policy::of(word).map(|policy| config.agent.approvals.process = policy)),
    ),
    setting(
        "agent.approvals.schedule_task",
        "The same for making a scheduled task. A scheduled task itself can make none.",
        policy("ask", |config, word| {
            Policy::of(word).map(|policy| config.agent.approvals.schedule_task = policy)
        }),
    ),
    setting(
        "agent.approvals.acp",
        "The same for whatever an ACP agent asks. What it does without asking is between you and the agent's own settings.",
        policy("ask", |config, word| Policy::of(word).map(|policy| config.agent.approvals.acp = policy)),
    ),
    setting(
        "agent.approvals.allow",
        "Beginnings of commands that need no question, in scheduled tasks neither. A command counts only if it is a single simple one: no pipe, no second command, no substitution, no redirection.",
        Takes::Commands {
            example: &["git status", "cargo test"],
            put: |config, beginnings| config.agent.approvals.allow = beginnings,
        },
    ),
    setting(
        "queue.busy_mode",
        "What a plain message does while a turn runs: take the slot in place of the one there (which is kept), go to the tail of the queue, stop the turn, or be handed to the running agent.",
        Takes::Choice {
            default: "replace",
            words: &["replace", "queue", "interrupt", "steer"],
            put: |config, word| word.parse().ok().map(|mode| config.queue.busy_mode = mode),
        },
    ),
    setting(
        "queue.max_items",
        "The most items that may wait in one session's queue. A full queue refuses, it never drops.",
        Takes::Whole {
            default: 500,
            min: 1,
            max: 100_000,
            put: |config, n| config.queue.max_items = usize::try_from(n).unwrap_or(usize::MAX),
        },
    ),
    setting(
        "session_reset.mode",
        "When a message begins a new memory by itself: never by time, more than idle_minutes after the last activity, once the clock has passed at_hour, or either. A session with background work is not reset.",
        Takes::Choice {
            default: "none",
            words: &["none", "idle", "daily", "both"],
            put: |config, word| word.parse().ok().map(|mode| config.session_reset.default.mode = mode),
        },
    ),
    setting(
        "session_reset.idle_minutes",
        "With idle and both: a message more than so many minutes after the last activity begins the new memory.",
        Takes::Whole {
            default: 1440,
            min: 0,
            max: 5_256_000,
            put: |config, n| {
                config.session_reset.default.idle_minutes = u32::try_from(n).unwrap_or(u32::MAX);
            },
        },
    ),
    setting(
        "session_reset.at_hour",
        "With daily and both: the hour on the clock of the operator's time zone. The first message after it begins the new memory, however busy the session is.",
        Takes::Whole {
            default: 4,
            min: 0,
            max: 23,
            put: |config, n| config.session_reset.default.at_hour = u8::try_from(n).unwrap_or(u8::MAX),
        },
    ),
    setting(
        "session_reset.background_max_age_hours",
        "Background work older than this stops blocking a reset, without being killed; 0 is no limit.",
        Takes::Whole {
            default: 0,
            min: 0,
            max: 87_600,
            put: |config, hours| {
                config.session_reset.background_max_age =
                    (hours > 0).then(|| Duration::from_secs(hours * 3600));
            },
        },
    ),
    setting(
        "session_reset.notify_exclude",
        "The platforms whose users are not told that their session was reset.",
        Takes::Platforms {
            default: &["api_server", "webhook"],
            put: |config, platforms| {
                config.session_reset.notify_exclude = platforms.into_iter().collect();
            },
        },
    ),
    setting(
        "engine.drain_timeout_seconds",
        "How long a stop waits for the turns that run before it cuts them.",
        seconds(30, 0, 86_400, |config, s| config.engine.drain_timeout = Duration::from_secs(s)),
    ),
    setting(
        "engine.stop_grace_seconds",
        "How long a turn may take to obey a stop before it is killed.",
        seconds(5, 1, 600, |config, s| config.engine.stop_grace = Duration::from_secs(s)),
    ),
    setting(
        "engine.approval_timeout_minutes",
        "How long an agent's question waits for a person before it denies itself. Its turn stands still until then.",
        whole(10, 1, 10_080, |config, n| config.engine.approval_timeout = Duration::from_secs(n * 60)),
    ),
    setting(
        "engine.keep_events_days",
        "How many days the log's events are kept, alerts after they were resolved and questions after they were settled.",
        Takes::Whole {
            default: 30,
            min: 1,
            max: 3650,
            put: |config, n| config.engine.keep_events_days = u32::try_from(n).unwrap_or(u32::MAX),
        },
    ),
    setting(
        "engine.on_terminal_close",
        "What a closed terminal does to the engine of a console: it goes on without a screen, or it stops with the drain.",
        Takes::Choice {
            default: "serve",
            words: &["serve", "stop"],
            put: |config, word| {
                config.engine.on_terminal_close = match word {
                    "serve" => OnTerminalClose::Serve,
                    "stop" => OnTerminalClose::Stop,
                    _ => return None,
                };
                Some(())
            },
        },
    ),
    setting(
        "recovery.recent_seconds",
        "After a crash, sessions that were active so long before the dead engine's last sign of life are looked at too; those with an unfinished turn always are.",
        seconds(120, 1, 86_400, |config, s| config.recovery.limits.recent = Duration::from_secs(s)),
    ),
    setting(
        "recovery.max_cuts",
        "At how many starts in a row a session may be found cut off without a successful answer: at this one it is suspended, at those before it is resumed.",
        whole(3, 1, 100, |config, n| {
            config.recovery.limits.max_cuts = u32::try_from(n).unwrap_or(u32::MAX);
        }),
    ),
    setting(
        "recovery.freshness_minutes",
        "How old the mark of a session that was cut off may be to be resumed by itself. An older one stays visible, and /continue continues it.",
        whole(60, 1, 525_600, |config, m| config.recovery.limits.freshness = Duration::from_secs(m * 60)),
    ),
    setting(
        "recovery.max_parallel",
        "How many sessions are resumed at a time.",
        whole(4, 1, 128, |config, n| {
            config.recovery.limits.max_parallel = usize::try_from(n).unwrap_or(usize::MAX);
        }),
    ),
    setting(
        "recovery.boot_guard_starts",
        "At which unclean start in a row with sessions to resume nothing is resumed by itself, so that an agent that kills its own host is stopped.",
        whole(5, 2, 100, |config, n| {
            config.recovery.limits.boot_guard_starts = u32::try_from(n).unwrap_or(u32::MAX);
        }),
    ),
    setting(
        "recovery.boot_guard_minutes",
        "Unclean starts are in a row if each comes less than this after the one before.",
        whole(5, 1, 1440, |config, m| config.recovery.limits.boot_guard_gap = Duration::from_secs(m * 60)),
    ),
    setting(
        "recovery.sign_of_life_seconds",
        "How often the engine writes that it is alive. After a crash the last time it did counts as the end.",
        seconds(10, 1, 600, |config, s| config.recovery.sign_of_life = Duration::from_secs(s)),
    ),
    setting(
        "spending.session_tokens",
        "How many tokens a session may use in a day, read and written; 0: no limit. At a limit it is held, never cut in a call: what comes waits until the next day in your time zone, a raised limit, or /continue, which frees it for today.",
        whole(0, 0, MOST_TOKENS, |config, n| config.spending.session.tokens = Some(n).filter(|n| *n > 0)),
    ),
    setting(
        "spending.session_cost",
        "The same for what it costs, by the prices of [agent.openai] or by what an ACP agent tells.",
        Takes::Amount { put: |config, n| config.spending.session.cost = Some(n).filter(|n| *n > 0) },
    ),
    setting(
        "spending.job_tokens",
        "The same for each scheduled task: its runs wait, and /continue in its session lets them go for today. One that you ask for yourself while none waits (R, cron run) is run all the same.",
        whole(0, 0, MOST_TOKENS, |config, n| config.spending.job.tokens = Some(n).filter(|n| *n > 0)),
    ),
    setting(
        "spending.job_cost",
        "The same for what it costs.",
        Takes::Amount { put: |config, n| config.spending.job.cost = Some(n).filter(|n| *n > 0) },
    ),
    setting(
        "spending.all_tokens",
        "The same for all sessions and scheduled tasks together.",
        whole(0, 0, MOST_TOKENS, |config, n| config.spending.all.tokens = Some(n).filter(|n| *n > 0)),
    ),
    setting(
        "spending.all_cost",
        "The same for what they cost.",
        Takes::Amount { put: |config, n| config.spending.all.cost = Some(n).filter(|n| *n > 0) },
    ),
    setting(
        "alerts.command",
        "A program that tells of an alert, and its arguments: run once when one is raised, with the alert as JSON on its standard input and SWITCHBOARD_ALERT_KEY and SWITCHBOARD_ALERT_WORDS in its environment. Without it only who looks is told.",
        Takes::Argv {
            example: &["curl", "-sS", "--fail", "--data-binary", "@-", "https://ntfy.sh/my-switchboard"],
            put: |config, argv| config.alerts.command = argv,
        },
    ),
    setting(
        "alerts.repeat_minutes",
        "After so many minutes an alert that nobody acknowledged is told again; 0 is never. That of a job that fails again and again is told once an hour at most. One that could not be told is tried again after five minutes at the latest.",
        whole(15, 0, 10_080, |config, m| {
            config.alerts.repeat = (m > 0).then(|| Duration::from_secs(m * 60));
        }),
    ),
    setting(
        "alerts.timeout_seconds",
        "How long the program may take before it is killed with all its children.",
        seconds(30, 1, 3600, |config, s| config.alerts.timeout = Duration::from_secs(s)),
    ),
    setting(
        "alerts.bell",
        "Whether a console rings the terminal's bell at a new alert.",
        Takes::Switch {
            default: false,
            put: |config, on| config.alerts.bell = if on { Bell::On } else { Bell::Off },
        },
    ),
    setting(
        "alerts.desktop_notification",
        "Whether a console asks the terminal to show a new alert as a notification (OSC 9); not every terminal can.",
        Takes::Switch {
            default: false,
            put: |config, on| {
                config.alerts.desktop_notification =
                    if on { DesktopNotification::On } else { DesktopNotification::Off };
            },
        },
    ),
    setting(
        "handles.idle_minutes",
        "How long an agent's handle may be unused before it is closed. The conversation goes on with a new one at the next message.",
        whole(60, 1, 525_600, |config, m| config.handles.idle = Duration::from_secs(m * 60)),
    ),
    setting(
        "handles.max",
        "How many agents' handles are kept; beyond it the one unused for longest is closed, never one in a turn.",
        whole(128, 1, 100_000, |config, n| config.handles.max = usize::try_from(n).unwrap_or(usize::MAX)),
    ),
    setting(
        "cron.max_parallel",
        "How many runs of scheduled tasks may go on at once, over all jobs. A fire beyond that waits, visibly.",
        whole(4, 1, 128, |config, n| config.cron.max_parallel = usize::try_from(n).unwrap_or(usize::MAX)),
    ),
    setting(
        "cron.idle_timeout_seconds",
        "How long a run may make no progress before it is stopped. Streamed words and the output of tools are progress.",
        seconds(600, 1, 86_400, |config, s| config.cron.idle_timeout = Duration::from_secs(s)),
    ),
    setting(
        "cron.script_timeout_seconds",
        "How long the script of a job may take before it is killed with all its children.",
        seconds(300, 1, 86_400, |config, s| config.cron.script_timeout = Duration::from_secs(s)),
    ),
    setting(
        "cron.keep_outputs",
        "How many output documents are kept of each job; the oldest go first.",
        whole(50, 1, 100_000, |config, n| {
            config.cron.keep_outputs = usize::try_from(n).unwrap_or(usize::MAX)
        }),
    ),
    setting(
        "console.theme",
        "The colours.",
        Takes::Choice {
            default: "dark",
            words: THEMES,
            put: |config, word| THEMES.contains(&word).then(|| config.console.theme = word.to_owned()),
        },
    ),
    setting(
        "console.glyphs",
        "The signs: box drawing and symbols, or ASCII alone.",
        Takes::Choice {
            default: "unicode",
            words: &["unicode", "ascii"],
            put: |config, word| {
                config.console.glyphs = match word {
                    "unicode" => Glyphs::Unicode,
                    "ascii" => Glyphs::Ascii,
                    _ => return None,
                };
                Some(())
            },
        },
    ),
    setting(
        "console.mouse",
        "Whether clicks and the wheel go to the console at the start; if not, the terminal keeps them for its own selection.",
        Takes::Switch {
            default: true,
            put: |config, on| config.console.mouse = if on { Mouse::On } else { Mouse::Off },
        },
    ),
    setting(
        "console.synchronized_output",
        "Whether each frame is marked so that the terminal shows it at once. Switch it off for a terminal that shows the marks.",
        Takes::Switch {
            default: true,
            put: |config, on| {
                config.console.synchronized_output =
                    if on { SynchronizedOutput::On } else { SynchronizedOutput::Off };
            },
        },
    ),
    setting(
        "log.level",
        "The least level that is written to the files in logs/.",
        Takes::Choice {
            default: "info",
            words: &["debug", "info", "warn", "error"],
            put: |config, word| word.parse().ok().map(|level| config.log.level = level),
        },
    ),
    setting(
        "log.keep_files",
        "How many daily log files are kept.",
        Takes::Whole {
            default: 14,
            min: 1,
            max: 3650,
            put: |config, n| config.log.keep_files = usize::try_from(n).unwrap_or(usize::MAX),
        },
    ),
];

const fn policy(default: &'static str, put: fn(&mut Config, &str) -> Option<()>) -> Takes {
    Takes::Choice { default, words: Policy::WORDS, put }
}

const THEMES: &[&str] = &["dark", "light", "high-contrast", "mono"];
