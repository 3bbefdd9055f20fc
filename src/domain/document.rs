//! A session as a document: Markdown for reading, JSON for programs.

use std::fmt::Write;

use super::Time;
use super::history::{Body, Entry};
use super::sanitize::{many_lines, one_line};
use super::session::Session;
use super::slash::ExportFormat;
use super::spending::money;
use super::turn::Outcome;

/// Writes a session with its shown entries, oldest first. Times are in UTC.
pub fn document(session: &Session, entries: &[Entry], format: ExportFormat) -> String {
    match format {
        ExportFormat::Markdown => markdown(session, entries),
        ExportFormat::Json => json(session, entries),
    }
}

fn json(session: &Session, entries: &[Entry]) -> String {
    format!("{:#}\n", serde_json::json!({ "session": session, "entries": entries }))
}

fn markdown(session: &Session, entries: &[Entry]) -> String {
    let mut text = format!("# {}\n\n", one_line(session.name()));
    let _ = writeln!(text, "- session: `{}`", session.id);
    let _ = writeln!(text, "- key: `{}`", one_line(session.key.as_str()));
    let _ = writeln!(text, "- made: {}", clock(session.created_at));
    let _ = writeln!(text, "- last activity: {}", clock(session.last_activity_at));
    let _ = write!(text, "- turns: {}, tokens: {}", session.turns, session.usage.total());
    let _ = match session.usage.cost {
        0 => writeln!(text),
        cost => writeln!(text, ", cost: {}", money(cost)),
    };
    if let Some(model) = &session.model {
        let _ = writeln!(text, "- model: {}", one_line(model));
    }
    let mut speaker = None;
    for entry in entries {
        let now = Speaker::of(&entry.body);
        if speaker != Some((now, entry.turn)) {
            let _ = write!(text, "\n## {}, {}\n", now.name(), clock(entry.at));
            speaker = Some((now, entry.turn));
        }
        push_body(&mut text, &entry.body);
    }
    text
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaker {
    Person,
    Agent,
}

impl Speaker {
    fn of(body: &Body) -> Self {
        match body {
            Body::User { .. } => Self::Person,
            _ => Self::Agent,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Person => "You",
            Self::Agent => "Agent",
        }
    }
}

fn push_body(text: &mut String, body: &Body) {
    text.push('\n');
    let _ = match body {
        Body::User { text: words, .. } | Body::Agent { text: words, .. } => {
            writeln!(text, "{}", many_lines(words))
        }
        Body::Reasoning { text: words, .. } => writeln!(text, "{}", quoted(words)),
        Body::Plan(plan) => {
            let entries = plan.to_string();
            let entries: Vec<String> =
                entries.lines().map(|entry| format!("- {}", one_line(entry))).collect();
            writeln!(text, "plan:\n\n{}", entries.join("\n"))
        }
        Body::Tool { name, arguments, result, .. } => {
            let (how, output) = match result {
                Some(result) if result.ok => ("gave", result.output.as_str()),
                Some(result) => ("failed with", result.output.as_str()),
                None => ("has no result: interrupted, effect unknown", ""),
            };
            let call = format!("tool {} {}", one_line(name), one_line(arguments));
            writeln!(text, "{call} {how}\n\n{}", indented(output))
        }
        Body::Resume { text: words } | Body::Told { text: words } | Body::Notice { text: words } => {
            writeln!(text, "*{}*", one_line(words))
        }
        Body::Ended { outcome: Outcome::Done } => Ok(()),
        Body::Ended { outcome: Outcome::Failed { error } } => writeln!(text, "*failed: {}*", one_line(error)),
        Body::Ended { outcome: Outcome::Interrupted { cause } } => writeln!(text, "*{}*", cause.words()),
    };
}

fn quoted(words: &str) -> String {
    let lines: Vec<String> = many_lines(words).lines().map(|line| format!("> {line}")).collect();
    lines.join("\n")
}

fn indented(output: &str) -> String {
    let lines: Vec<String> = many_lines(output).lines().map(|line| format!("    {line}")).collect();
    lines.join("\n")
}

fn clock(at: Time) -> String {
    at.format("%Y-%m-%d %H:%M:%S UTC").to_string()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::domain::history::ToolResult;
    use crate::domain::id::{MessageId, SessionId, SessionKey, TurnId};
    use crate::domain::plan::{Plan, PlanStatus};
    use crate::domain::session::Usage;
    use crate::domain::turn::{StopCause, TurnState};

    fn at(seconds: i64) -> Time {
        chrono::DateTime::from_timestamp(1_700_000_000 + seconds, 0).unwrap()
    }

    fn session() -> Session {
        Session {
            title: Some("night\u{1b}[2J report".to_owned()),
            last_activity_at: at(60),
            turns: 2,
            usage: Usage { input: 10, output: 5, ..Usage::default() },
            model: Some("m1".to_owned()),
            ..Session::new(SessionId::new(at(0), 7), SessionKey::console(), at(0))
        }
    }

    fn entries(bodies: Vec<(i64, Body)>) -> Vec<Entry> {
        let numbered = bodies.into_iter().zip(1..);
        numbered
            .map(|((turn, body), id)| Entry {
                id: MessageId(id),
                session: session().id,
                turn: TurnId(turn),
                at: at(id),
                body,
                turn_state: TurnState::Done,
            })
            .collect()
    }

    fn conversation() -> Vec<Entry> {
        let result = ToolResult { ok: true, output: "two\nlines".to_owned(), at: at(9) };
        entries(vec![
            (1, Body::User { text: "hello\u{202e}".to_owned(), steered: false }),
            (1, Body::Reasoning { text: "hm\nhm".to_owned(), offset: 0 }),
            (1, Body::Plan(Plan::of([("look\u{1b}", PlanStatus::Completed), ("tell", PlanStatus::Pending)]))),
            (
                1,
                Body::Tool {
                    call: "c1".to_owned(),
                    name: "ls".to_owned(),
                    arguments: "{}".to_owned(),
                    result: Some(result),
                },
            ),
            (1, Body::Agent { text: "done".to_owned(), offset: 0 }),
            (2, Body::User { text: "more".to_owned(), steered: false }),
            (2, Body::Ended { outcome: Outcome::Interrupted { cause: StopCause::Operator } }),
        ])
    }

    #[test]
    fn a_session_reads_as_a_page_without_foreign_control_sequences() {
        let page = document(&session(), &conversation(), ExportFormat::Markdown);
        let expected = "\
# night\u{241b}[2J report

- session: `20231114_221320_00000007`
- key: `agent:main:local:dm:console`
- made: 2023-11-14 22:13:20 UTC
- last activity: 2023-11-14 22:14:20 UTC
- turns: 2, tokens: 15
- model: m1

## You, 2023-11-14 22:13:21 UTC

hello<U+202E>

## Agent, 2023-11-14 22:13:22 UTC

> hm
> hm

plan:

- [x] look␛
- [ ] tell

tool ls {} gave

    two
    lines

done

## You, 2023-11-14 22:13:26 UTC

more

## Agent, 2023-11-14 22:13:27 UTC

*stopped by the operator*
";
        assert_eq!(page, expected);
    }

    #[test]
    fn a_session_as_json_gives_back_what_was_kept() {
        let text = document(&session(), &conversation(), ExportFormat::Json);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let back: Vec<Entry> = serde_json::from_value(value["entries"].clone()).unwrap();
        assert_eq!(back, conversation());
        assert_eq!(serde_json::from_value::<Session>(value["session"].clone()).unwrap(), session());
    }
}
