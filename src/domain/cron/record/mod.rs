//! One job's record in `jobs.json`: read, changed where its meaning changed, and written anew.
//!
//! Two shapes are read, ours and Hermes'. What a record says beyond a [`Definition`] stays as it is.

mod edit;
mod imported;
mod read;
mod schedule;
mod targets;
mod write;

use serde::{Deserialize, Serialize};

use super::Definition;

pub use edit::edit;
pub use imported::Imported;
pub use read::{read, read_id, read_imported};
pub use write::write;

/// What a record says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The job.
    pub definition: Definition,
    /// What another scheduler wrote of its runs.
    pub imported: Imported,
    /// What its author should know of it; it fires all the same.
    pub warnings: Vec<String>,
}

/// The fields of a record in the order in which new ones are written.
const ORDER: [&str; 21] = [
    "id",
    "name",
    "schedule",
    "timezone",
    "description",
    "prompt",
    "skills",
    "deliver_to",
    "enabled",
    "repeat",
    "misfire",
    "overlap",
    "jitter_seconds",
    "script",
    "no_agent",
    "context_from",
    "agent",
    "model",
    "workdir",
    "timeout_minutes",
    "session",
];

/// The other names that fields go by.
const ALIASES: [(&str, &str); 3] = [("job_id", "id"), ("skill", "skills"), ("deliver", "deliver_to")];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::cron::{Fault, Misfire, Overlap, SessionMode, Target};
    use crate::domain::json::Layout;
    use pretty_assertions::assert_eq;

    const OURS: &str = r#"{
  "id": "daily-news", "schedule": "0 8 * * *", "timezone": "Europe/Berlin",
  "description": "News", "skill": "summarizer",
  "deliver_to": { "platform": "telegram", "chat_id": "-100", "thread_id": 7 },
  "enabled": false, "repeat": 5, "misfire": "all:3", "overlap": "queue", "jitter_seconds": 10,
  "script": "check.sh", "no_agent": true, "context_from": ["other"], "agent": "coder", "model": "m", "workdir": "/srv",
  "timeout_minutes": 10, "session": "keep", "note": { "mine": 1.50 }
}"#;

    const HERMES: &str = r#"{
  "id": "3f2a90b1c4de",
  "name": "Backup check",
  "prompt": "Look",
  "skills": ["one", "two"],
  "skill": "one",
  "model": null,
  "script": null,
  "schedule": {"kind": "interval", "minutes": 30, "display": "every 30m"},
  "schedule_display": "every 30m",
  "repeat": {"times": 5, "completed": 2},
  "enabled": false,
  "state": "paused",
  "paused_at": "2026-03-01T10:00:00+00:00",
  "paused_reason": "holiday",
  "created_at": "2026-02-01T10:00:00.123456+01:00",
  "next_run_at": "2026-03-01T10:30:00+00:00",
  "last_status": "ok",
  "deliver": "origin,local",
  "origin": {"platform": "telegram", "chat_id": "42", "chat_name": "Ana", "thread_id": null}
}"#;

    fn said(text: &str) -> Record {
        read(text, None).unwrap()
    }

    fn definition(text: &str) -> Definition {
        said(text).definition
    }

    fn fault(text: &str) -> String {
        read(text, None).unwrap_err().iter().map(Fault::to_string).collect::<Vec<_>>().join(" | ")
    }

    fn target(platform: &str, chat: Option<&str>, thread: Option<&str>) -> Target {
        let owned = |part: Option<&str>| part.map(str::to_owned);
        Target { platform: platform.to_owned(), chat_id: owned(chat), thread_id: owned(thread) }
    }

    /// The record as it is after `change`, which must mean just that.
    fn edited(text: &str, change: impl FnOnce(&mut Definition)) -> String {
        let mut to = definition(text);
        change(&mut to);
        let written = edit(text, &to);
        assert_eq!(definition(&written), to, "{written}");
        assert_eq!(edit(&written, &to), written, "a second edit changes nothing");
        written
    }

    #[test]
    fn our_shape_is_read() {
        let bare = Definition::new("daily-news".parse().unwrap(), "0 8 * * *".to_owned());
        let text = |text: &str| Some(text.to_owned());
        let expected = Definition {
            timezone: text("Europe/Berlin"),
            description: text("News"),
            skills: vec!["summarizer".to_owned()],
            deliver_to: vec![target("telegram", Some("-100"), Some("7"))],
            enabled: false,
            repeat: Some(5),
            misfire: Misfire::All(3),
            overlap: Overlap::Queue,
            jitter_seconds: 10,
            script: text("check.sh"),
            no_agent: true,
            context_from: vec!["other".parse().unwrap()],
            agent: text("coder"),
            model: text("m"),
            workdir: text("/srv"),
            timeout_minutes: Some(10),
            session: SessionMode::Keep,
            ..bare
        };
        let record = said(OURS);
        assert_eq!(record.definition, expected);
        assert_eq!((record.imported, record.warnings), (Imported::default(), vec![]));
        assert_eq!(definition(&write(&expected, &Layout::inline(""))), expected);
    }

    #[test]
    fn hermes_shape_is_read() {
        let Record { definition, imported, warnings } = said(HERMES);
        assert_eq!(definition.schedule, "every 30m");
        assert_eq!(definition.skills, ["one", "two"]);
        assert_eq!(definition.deliver_to, [target("telegram", Some("42"), None), Target::platform("local")]);
        assert_eq!((definition.repeat, definition.enabled), (Some(5), false));
        assert_eq!((imported.completed, imported.state.as_deref()), (Some(2), Some("paused")));
        assert_eq!(imported.created_at.unwrap().timestamp_millis(), 1_769_936_400_123);
        assert_eq!(imported.paused_reason.as_deref(), Some("holiday"));
        assert_eq!(warnings, Vec::<String>::new());
    }

    #[test]
    fn hermes_schedules_are_read_by_their_kind() {
        let read = |schedule: &str| definition(&format!("{{\"id\":\"a\",\"schedule\":{schedule}}}")).schedule;
        assert_eq!(read(r#"{"kind":"cron","expr":"0 9 * * *","display":"stale"}"#), "0 9 * * *");
        assert_eq!(
            read(r#"{"kind":"once","run_at":"2026-12-24T18:00:00+01:00"}"#),
            "2026-12-24T18:00:00+01:00"
        );
        let refused = |schedule: &str| fault(&format!("{{\"id\":\"a\",\"schedule\":{schedule}}}"));
        for (schedule, told) in [
            ("7", "schedule 7: must be a text like"),
            ("\" \"", "schedule \" \": must be a text like"),
            ("{}", "schedule.kind: missing"),
            (r#"{"kind":"interval"}"#, "schedule.minutes: missing"),
            (r#"{"kind":"interval","minutes":0}"#, "schedule.minutes 0: must be a whole number of minutes"),
            (r#"{"kind":"interval","minutes":-5}"#, "schedule.minutes -5: must be"),
            (r#"{"kind":"cron"}"#, "schedule.expr: missing"),
            (r#"{"kind":"weekly"}"#, "schedule.kind \"weekly\": must be"),
            (r#"{"kind":"once","run_at":5}"#, "schedule.run_at 5: must be"),
            ("null", "schedule: missing"),
        ] {
            assert!(refused(schedule).starts_with(told), "{schedule}: {}", refused(schedule));
        }
    }

    #[test]
    fn what_can_not_be_understood_is_told_all_at_once() {
        let text = r#"{"id":"a","schedule":"@daily","enabled":"no","repeat":0,"jitter_seconds":-1,"misfire":"never",
            "deliver_to":"telegram:","skills":[1],"context_from":["../x"],"prompt":5,"session":"old"}"#;
        assert_eq!(
            fault(text),
            "prompt 5: must be a text in quotes | \
             skills [1]: must be a text in quotes or a list of them | \
             deliver_to \"telegram:\": \"telegram:\" has nothing behind a colon: write platform:CHAT or platform:CHAT:THREAD | \
             enabled \"no\": must be true or false | \
             repeat 0: must be a count from 1, \"once\", \"forever\" or {\"times\": …} | \
             misfire \"never\": must be once, skip or all:N with N from 1 | \
             jitter_seconds -1: must be a whole number, not negative | \
             context_from [\"../x\"]: \"../x\": an id can't be . or have .. in it: it names a folder | \
             session \"old\": must be fresh or keep"
        );
    }

    #[test]
    fn a_bad_run_time_field_is_a_warning() {
        let text = r#"{"id":"a","schedule":"@daily","next_run_at":"soon","last_run_at":"2026-13-99","last_status":1,
            "repeat":{"times":null,"completed":"x"}}"#;
        let record = said(text);
        assert_eq!(record.imported, Imported::default());
        assert_eq!(record.warnings.len(), 4, "{:?}", record.warnings);
        assert_eq!(
            record.warnings[0],
            "next_run_at \"soon\" is no time with an offset from UTC, so it is not taken over"
        );
    }

    #[test]
    fn a_slip_of_the_pen_is_a_warning_and_an_unknown_field_is_none() {
        let record =
            said(r#"{"id":"a","schedule":"@daily","timezne":"UTC","note":1,"prompt_preview":"x","_c":0}"#);
        assert_eq!(record.warnings, ["it has no field \"timezne\": is timezone meant?"]);
    }

    #[test]
    fn counts_targets_and_lists_are_read_in_every_form() {
        let with = |field: &str| definition(&format!("{{\"id\":\"a\",\"schedule\":\"@daily\",{field}}}"));
        for (repeat, count) in [
            ("5", Some(5)),
            ("null", None),
            ("\"forever\"", None),
            ("\"once\"", Some(1)),
            ("\"3\"", Some(3)),
            ("{\"times\":4,\"completed\":1}", Some(4)),
            ("{\"times\":null}", None),
            ("{}", None),
        ] {
            assert_eq!(with(&format!("\"repeat\":{repeat}")).repeat, count, "{repeat}");
        }
        let (chat, local) = (target("telegram", Some("1"), None), Target::platform("local"));
        for (deliver, targets) in [
            ("\"telegram:1,local\"", vec![chat.clone(), local.clone()]),
            ("[\"telegram:1\",\"local\"]", vec![chat.clone(), local.clone()]),
            ("\"[\\\"telegram:1\\\", \\\"local\\\"]\"", vec![chat.clone(), local.clone()]),
            ("[{\"platform\":\"telegram\",\"chat_id\":1},\"local\"]", vec![chat.clone(), local]),
            ("\"origin\"", vec![Target::platform("origin")]),
            ("\"all\"", vec![Target::platform("all")]),
            ("\"\"", vec![]),
            ("[]", vec![]),
        ] {
            assert_eq!(with(&format!("\"deliver\":{deliver}")).deliver_to, targets, "{deliver}");
        }
        assert_eq!(with("\"skill\":\"\"").skills, Vec::<String>::new());
        assert_eq!(with("\"skills\":[\"a\"],\"skill\":\"b\"").skills, ["a", "b"]);
        assert_eq!(with("\"context_from\":\"x\"").context_from.len(), 1);
        assert_eq!(with("\"prompt\":\" \"").prompt, None);
        assert!(!with("\"state\":\"paused\"").enabled);
    }

    #[test]
    fn a_record_that_means_the_same_stays_as_it_is() {
        for text in [OURS, HERMES, "{\"id\":\"a\",\"schedule\":\"@daily\"}"] {
            assert_eq!(edited(text, |_| ()), text);
        }
    }

    type Change = fn(&mut Definition);

    #[test]
    fn an_edit_changes_one_value_in_its_authors_shape() {
        let table: [(&str, Change, &str, &str); 14] = [
            (OURS, |job| job.schedule = "@hourly".to_owned(), "\"0 8 * * *\"", "\"@hourly\""),
            (OURS, |job| job.skills = vec!["x".to_owned()], "\"summarizer\"", "\"x\""),
            (
                OURS,
                |job| job.skills = vec!["x".to_owned(), "y".to_owned()],
                "\"skill\": \"summarizer\"",
                "\"skills\": [\"x\", \"y\"]",
            ),
            (OURS, |job| job.enabled = true, "\"enabled\": false", "\"enabled\": true"),
            (OURS, |job| job.timezone = None, " \"timezone\": \"Europe/Berlin\",\n ", "\n "),
            (
                OURS,
                |job| job.name = Some("日報".to_owned()),
                "\"daily-news\", ",
                "\"daily-news\", \"name\": \"日報\", ",
            ),
            (OURS, |job| job.misfire = Misfire::Once, "\"all:3\"", "\"once\""),
            (
                OURS,
                |job| job.deliver_to = vec![Target::platform("local")],
                "{ \"platform\": \"telegram\", \"chat_id\": \"-100\", \"thread_id\": 7 }",
                "{ \"platform\": \"local\" }",
            ),
            (HERMES, |job| job.repeat = Some(9), "{\"times\": 5, ", "{\"times\": 9, "),
            (HERMES, |job| job.repeat = None, "{\"times\": 5, ", "{\"times\": null, "),
            (HERMES, |job| job.prompt = None, "\"Look\"", "null"),
            (HERMES, |job| job.script = Some("x.sh".to_owned()), "\"script\": null", "\"script\": \"x.sh\""),
            (HERMES, |job| drop(job.deliver_to.pop()), "\"origin,local\"", "\"origin\""),
            (
                HERMES,
                |job| job.session = SessionMode::Keep,
                "\"deliver\": \"origin,local\"",
                "\"deliver\": \"origin,local\",\n  \"session\": \"keep\"",
            ),
        ];
        for (text, change, before, after) in table {
            assert!(text.contains(before), "{before}");
            let expected = text.replacen(before, after, 1);
            if after == "\n " || after.contains("skills") || after.contains("session") {
                // Where a field comes or goes, the layout is its neighbours'.
                let written = edited(text, change);
                assert_eq!(without_white_space(&written), without_white_space(&expected));
            } else {
                assert_eq!(edited(text, change), expected);
            }
        }
    }

    fn without_white_space(text: &str) -> String {
        text.split_whitespace().collect()
    }

    #[test]
    fn hermes_skills_pause_and_state_go_together() {
        let written = edited(HERMES, |job| job.skills.remove(0).clear());
        assert!(written.contains("\"skills\": [\"two\"],\n  \"skill\": \"two\""), "{written}");
        let written = edited(HERMES, |job| job.enabled = true);
        let expected = HERMES
            .replace(
                "\"enabled\": false,\n  \"state\": \"paused\"",
                "\"enabled\": true,\n  \"state\": \"scheduled\"",
            )
            .replace("\"2026-03-01T10:00:00+00:00\"", "null")
            .replace("\"holiday\"", "null");
        assert_eq!(written, expected);
        let paused = edited("{\"id\":\"a\",\"schedule\":\"@daily\"}", |job| job.enabled = false);
        assert_eq!(paused, "{\"id\":\"a\",\"schedule\":\"@daily\",\"enabled\":false}");
        let running =
            edited("{\"id\":\"a\",\"state\":\"paused\",\"schedule\":\"@daily\"}", |job| job.enabled = true);
        assert_eq!(running, "{\"id\":\"a\",\"state\":\"scheduled\",\"schedule\":\"@daily\"}");
    }

    #[test]
    fn a_schedule_of_hermes_stays_an_object_where_hermes_has_a_kind_for_it() {
        for (schedule, object) in [
            (
                "weekdays at 9:30",
                r#"{"kind": "cron", "expr": "30 9 * * 1-5", "display": "weekdays at 9:30"}"#,
            ),
            ("2h", r#"{"kind": "interval", "minutes": 120, "display": "2h"}"#),
            (
                "2026-12-24 18:00+01:00",
                r#"{"kind": "once", "run_at": "2026-12-24T18:00+01:00", "display": "2026-12-24 18:00+01:00"}"#,
            ),
            ("quartz: 0 30 9 ? * MON-FRI", r#""quartz: 0 30 9 ? * MON-FRI""#),
            ("in 30m", r#""in 30m""#),
        ] {
            let mut to = definition(HERMES);
            to.schedule = schedule.to_owned();
            let written = edit(HERMES, &to);
            let expected = HERMES
                .replace(r#"{"kind": "interval", "minutes": 30, "display": "every 30m"}"#, object)
                .replace(r#"_display": "every 30m""#, &format!("_display\": {schedule:?}"));
            assert_eq!(written, expected);
            let read = definition(&written).schedule;
            assert_eq!(read.parse::<crate::domain::schedule::Schedule>().unwrap(), schedule.parse().unwrap());
        }
    }

    #[test]
    fn an_edit_mends_what_could_not_be_understood() {
        let bad = "{\"job_id\":\"a\",\"schedule\":7,\"deliver\":5,\"skill\":{},\"repeat\":0,\"note\":1}";
        let to = Definition::new("a".parse().unwrap(), "@daily".to_owned());
        let mended = edit(bad, &to);
        assert_eq!(definition(&mended), to, "{mended}");
        assert_eq!(mended, "{\"job_id\":\"a\",\"schedule\":\"@daily\",\"note\":1}");
        assert_eq!(edit("8", &to), "{ \"id\": \"a\", \"schedule\": \"@daily\" }");
    }

    #[test]
    fn raw_control_characters_are_read_and_written_escaped() {
        let text = "{\"id\":\"a\",\"schedule\":\"@daily\",\"prompt\":\"one\n\ttwo\"}";
        let record = said(text);
        assert_eq!(record.definition.prompt.as_deref(), Some("one\n\ttwo"));
        assert_eq!(record.warnings.len(), 1);
        let written = edited(text, |job| job.repeat = Some(1));
        assert!(written.contains("\"one\\n\\ttwo\""), "{written}");
    }
}
