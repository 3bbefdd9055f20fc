//! The form of a job: what is typed, what is told, what is given to the engine.

use chrono::TimeDelta;
use switchboard::console::app::job_editor::insight::Insight;
use switchboard::console::app::job_editor::record::Change;
use switchboard::console::app::job_editor::{Field, Fold, JobEditor, OnDisk, Showing, Value};
use switchboard::console::app::msg::{Effect, Failure, Msg};
use switchboard::console::app::overlay::Overlay;
use switchboard::domain::api::{Command, JobCommand, Reply};
use switchboard::domain::cron::record;
use switchboard::domain::cron::{CronEvent, Definition, Misfire, Overlap, Target};
use switchboard::domain::event::EventKind;
use switchboard::domain::json::Layout;

use crate::support::jobs::{Jobs, at_work, id};
use crate::support::screen::{Answering, Screen, noon, session};

fn with(jobs: Jobs, keys: &str) -> Screen {
    let mut screen = Screen::on(vec![session("console", 1), session("b", 2)]);
    screen.tables.jobs = jobs;
    screen.press("3");
    screen.press(keys);
    screen
}

/// The form of a new job.
fn new() -> Screen {
    with(at_work(noon()), "a")
}

/// The form of the job `health-check`.
fn edited() -> Screen {
    with(at_work(noon()), "j e")
}

fn editor(screen: &Screen) -> &JobEditor {
    let form = screen.model.overlays.iter().find_map(|overlay| match overlay {
        Overlay::JobEditor(editor) => Some(editor),
        _ => None,
    });
    form.unwrap_or_else(|| panic!("no form: {:?}", screen.model.overlays))
}

fn go(screen: &mut Screen, field: Field) {
    for _ in 0..Field::ALL.len() {
        if editor(screen).field == field {
            return;
        }
        screen.press("tab");
    }
    panic!("{field:?} is not among the fields");
}

fn shown(screen: &Screen, field: Field) -> String {
    match editor(screen).value(field) {
        Value::Text(text) => text.text(),
        Value::Picked(words) => words,
        Value::Chosen(place) => place.to_string(),
        Value::None => String::new(),
    }
}

fn faults(screen: &Screen) -> Vec<(Field, &str)> {
    editor(screen).faults.iter().map(|(field, words)| (*field, words.as_str())).collect()
}

fn saves(screen: &Screen) -> Vec<(Option<&str>, &Definition)> {
    screen
        .acts()
        .into_iter()
        .map(|command| match command {
            Command::Job(JobCommand::Save { base, definition }) => (base.as_deref(), &**definition),
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn a_new_job_is_a_schedule_and_a_description() {
    let mut screen = new();
    screen.types("weekdays at 9:30");
    go(&mut screen, Field::Description);
    screen.types("Review the open pull requests");
    assert_eq!(shown(&screen, Field::Id), "review-the-open-pull-requests");
    screen.press("F2");
    let expected = Definition {
        description: Some("Review the open pull requests".to_owned()),
        ..Definition::new(id("review-the-open-pull-requests"), "weekdays at 9:30".to_owned())
    };
    assert_eq!(saves(&screen), [(None, &expected)]);
    screen.replies(Ok(Reply::Done { words: "added".to_owned(), undo: None }));
    assert!(screen.model.overlays.is_empty(), "it closes when it is saved");
    assert_eq!(screen.told(), "added");
}

#[test]
fn what_a_schedule_means_is_told_while_it_is_typed() {
    let mut screen = new();
    assert_eq!(editor(&screen).insight, Insight::Nothing);
    screen.types("0 9 15 * 1");
    let Insight::Due { words, warnings, next, zone, .. } = &editor(&screen).insight else {
        panic!("{:?}", editor(&screen).insight)
    };
    assert!(words.contains("09:00") && words.contains("15th"), "{words}");
    assert!(warnings.iter().any(|words| words.contains("cron takes this as OR")), "{warnings:?}");
    assert_eq!((next.len(), zone.name()), (5, "Europe/Berlin"));
    screen.press("backspace backspace");
    assert_eq!(faults(&screen)[0].0, Field::Schedule);
    assert!(matches!(editor(&screen).insight, Insight::Fault(_)));
}

#[test]
fn the_slots_are_those_of_the_jobs_zone() {
    let mut screen = new();
    screen.types("0 9 * * *");
    go(&mut screen, Field::Timezone);
    screen.types("tokyo");
    screen.press("enter");
    assert_eq!(shown(&screen, Field::Timezone), "Asia/Tokyo");
    let Insight::Due { next, zone, .. } = &editor(&screen).insight else { panic!() };
    assert_eq!((zone.name(), next[0].to_rfc3339().as_str()), ("Asia/Tokyo", "2026-03-03T00:00:00+00:00"));
}

#[test]
fn a_delay_is_written_as_an_instant() {
    let mut screen = new();
    screen.types("in 30m");
    go(&mut screen, Field::Description);
    screen.types("tea");
    screen.press("F2");
    let schedule = &saves(&screen)[0].1.schedule;
    assert!(schedule.starts_with("2026-03-02T13:3") && schedule.ends_with("+01:00"), "{schedule}");
}

#[test]
fn what_is_missing_is_told_only_when_it_is_to_be_saved_and_at_its_field() {
    let mut screen = new();
    assert_eq!(faults(&screen), []);
    screen.press("F2");
    assert_eq!(screen.acts(), [] as [&Command; 0]);
    assert_eq!(
        faults(&screen).iter().map(|(field, _)| *field).collect::<Vec<_>>(),
        [Field::Schedule, Field::Prompt],
        "in the order of the form"
    );
    assert_eq!(editor(&screen).field, Field::Schedule, "the first of them has the focus");
    assert_eq!(editor(&screen).failed.as_deref(), Some("not saved: 2 fields are not right yet"));
    screen.types("x");
    assert_eq!(editor(&screen).failed, None, "it is told until something is changed");
    screen.press("F2 shift-tab enter enter");
    assert_eq!((faults(&screen).len(), editor(&screen).failed.as_deref()), (1, None), "by a pick as well");
}

#[test]
fn errors_stand_at_their_fields() {
    let mut screen = new();
    screen.types("every 10 minutes");
    go(&mut screen, Field::More);
    screen.press("enter");
    assert_eq!(editor(&screen).more, Fold::Open);
    for (field, typed, words) in [
        (Field::Repeat, "many", "must be a whole number"),
        (Field::Repeat, "0", "must be at least 1"),
        (Field::Workdir, "here", "must be an absolute path"),
        (Field::Jitter, "90000", "must be at most 86400"),
        (Field::Id, "a b", "can't have ' ' in it"),
        (Field::Id, "backup", "there is a job backup already"),
    ] {
        go(&mut screen, field);
        screen.press("ctrl-u");
        screen.types(typed);
        let told: Vec<&str> =
            faults(&screen).into_iter().filter(|(of, _)| *of == field).map(|(_, words)| words).collect();
        assert!(told.len() == 1 && told[0].contains(words), "{field:?} {typed}: {told:?}");
        screen.press("ctrl-u");
    }
}

#[test]
fn a_fault_in_a_folded_field_opens_it_when_saving() {
    let mut screen = new();
    screen.types("daily at 7am");
    go(&mut screen, Field::Description);
    screen.types("x");
    go(&mut screen, Field::More);
    screen.press("enter");
    go(&mut screen, Field::Timeout);
    screen.types("0");
    go(&mut screen, Field::More);
    screen.press("space");
    assert_eq!(editor(&screen).more, Fold::Folded);
    screen.press("F2");
    assert_eq!((editor(&screen).more, editor(&screen).field), (Fold::Open, Field::Timeout));
}

#[test]
fn presets_begin_a_schedule() {
    let mut screen = new();
    screen.press("shift-tab enter");
    screen.types("weekd");
    screen.press("enter");
    assert_eq!(
        (shown(&screen, Field::Schedule).as_str(), editor(&screen).field),
        ("0 9 * * MON-FRI", Field::Schedule)
    );
    screen.press("shift-tab o n c e enter");
    assert_eq!(shown(&screen, Field::Schedule), "2026-03-03T09:00", "tomorrow in the job's zone");
}

#[test]
fn a_job_that_reads_from_one_that_is_not_there_is_advised_of_it() {
    let mut jobs = at_work(noon());
    let detail = jobs.detail("health-check");
    let definition = detail.definition.as_mut().unwrap();
    definition.context_from = vec![id("never"), detail.row.id.clone().unwrap()];
    detail.record = record::write(definition, &Layout::inline(" "));
    let screen = with(jobs, "j e");
    let expected = "context_from names never, and there is no such job: its output is left out";
    assert_eq!(editor(&screen).advice.last(), Some(&(Field::ContextFrom, expected.to_owned())));
}

#[test]
fn what_a_job_names_and_is_not_there_is_advised_at_its_field() {
    let mut jobs = at_work(noon());
    let detail = jobs.detail("health-check");
    let definition = detail.definition.as_mut().unwrap();
    definition.skills = vec!["gone".to_owned(), "server-health-checker".to_owned()];
    definition.script = Some("gone.sh".to_owned());
    detail.record = record::write(definition, &Layout::inline(" "));
    let mut screen = with(jobs, "j e");
    let advice = |screen: &Screen| {
        let not_targets = editor(screen).advice.iter().filter(|(field, _)| *field != Field::DeliverTo);
        not_targets.cloned().collect::<Vec<_>>()
    };
    let there_is_no = |field, name: &str| (field, format!("{name:?}: it is not there"));
    let gone = [there_is_no(Field::Skills, "gone"), there_is_no(Field::Script, "gone.sh")];
    assert_eq!(advice(&screen), gone);
    go(&mut screen, Field::More);
    screen.press("enter");
    go(&mut screen, Field::Workdir);
    screen.types("/tmp");
    assert_eq!(advice(&screen)[2..], [there_is_no(Field::Workdir, "/tmp")]);
    screen.press("ctrl-u");
    screen.types("/srv");
    assert_eq!(advice(&screen), gone);
}

#[test]
fn skills_and_targets_are_picked_and_typed_targets_are_taken() {
    let mut screen = new();
    go(&mut screen, Field::Skills);
    screen.press("enter enter enter");
    assert_eq!(
        shown(&screen, Field::Skills),
        "",
        "the mark stays: a second Enter leaves what the first took"
    );
    screen.press("enter down down enter esc");
    assert_eq!(shown(&screen, Field::Skills), "ai-news-summarizer, server-health-checker");
    screen.press("backspace");
    assert_eq!(shown(&screen, Field::Skills), "ai-news-summarizer");
    go(&mut screen, Field::DeliverTo);
    screen.press("enter");
    screen.types("telegram:-100:7");
    screen.press("enter");
    screen.types("local");
    screen.press("enter esc");
    assert_eq!(shown(&screen, Field::DeliverTo), "telegram:-100:7, local");
    let advice = &editor(&screen).advice;
    assert!(advice[0].1.contains("telegram is not configured: the text stays in output/"), "{advice:?}");
    screen.press("enter");
    screen.types("telegram:");
    screen.press("enter");
    assert!(screen.told().contains("nothing behind a colon"), "{}", screen.told());
}

#[test]
fn choices_turn_with_space_and_arrows_and_by_their_letter() {
    let mut screen = edited();
    go(&mut screen, Field::More);
    screen.press("enter");
    go(&mut screen, Field::Overlap);
    screen.press("space");
    go(&mut screen, Field::Session);
    screen.press("k");
    go(&mut screen, Field::Enabled);
    screen.press("left");
    go(&mut screen, Field::Misfire);
    screen.press("enter");
    screen.types("all:7");
    screen.press("enter F2");
    let (base, saved) = saves(&screen)[0];
    assert!(
        base.unwrap().contains("\"id\": \"health-check\""),
        "the record that the edit found goes with it"
    );
    assert_eq!(
        (saved.overlap, saved.session.as_str(), saved.enabled, saved.misfire),
        (Overlap::Queue, "keep", false, Misfire::All(7))
    );
    assert_eq!(saved.deliver_to, Target::list("telegram:123456789").unwrap(), "what was not touched stays");
}

#[test]
fn the_record_is_shown_with_what_changes_in_it() {
    let mut screen = edited();
    assert!(editor(&screen).record.iter().all(|line| line.change != Change::Kept || !line.text.is_empty()));
    screen.press("ctrl-u");
    screen.types("0 6 * * *");
    let changes: Vec<&str> = editor(&screen)
        .record
        .iter()
        .filter(|line| line.change == Change::New)
        .map(|line| line.text.as_str())
        .collect();
    assert!(changes.contains(&"\"schedule\": \"0 6 * * *\""), "{changes:?}");
    screen.press("F3");
    assert!(matches!(editor(&screen).showing, Showing::Record { .. }));
    screen.types("x");
    assert_eq!(shown(&screen, Field::Schedule), "0 6 * * *", "nothing is typed into what is not seen");
    screen.press("esc");
    assert_eq!(editor(&screen).showing, Showing::Form);
}

#[test]
fn leaving_a_changed_form_asks_and_an_unchanged_one_closes() {
    let mut screen = edited();
    screen.press("esc");
    assert!(screen.model.overlays.is_empty());
    let mut screen = new();
    screen.types("daily");
    screen.press("esc");
    assert!(matches!(screen.model.overlays.last(), Some(Overlay::Confirm(_))));
    screen.press("enter");
    assert_eq!(shown(&screen, Field::Schedule), "daily", "to go on editing is the default");
    screen.press("alt-1");
    assert_eq!(shown(&screen, Field::Schedule), "daily");
    assert!(screen.told().contains("was changed: save it or leave it first"), "{}", screen.told());
    screen.press("esc y");
    assert!(screen.model.overlays.is_empty());
}

#[test]
fn an_unchanged_job_is_not_written() {
    let mut screen = edited();
    screen.press("F2");
    assert_eq!((screen.acts().len(), screen.model.overlays.len()), (0, 0));
    assert_eq!(screen.told(), "nothing was changed: nothing is written");
}

#[test]
fn slots_that_a_used_up_repeat_never_takes_are_not_shown() {
    let mut jobs = at_work(noon());
    let detail = jobs.detail("health-check");
    detail.definition.as_mut().unwrap().repeat = Some(4);
    detail.row.runs_left = Some(1);
    detail.record = record::write(detail.definition.as_ref().unwrap(), &Layout::inline(" "));
    let mut screen = with(jobs, "j e");
    let slots = |screen: &Screen| match &editor(screen).insight {
        Insight::Due { next, .. } => next.len(),
        other => panic!("{other:?}"),
    };
    assert_eq!(slots(&screen), 1);
    go(&mut screen, Field::More);
    screen.press("enter");
    go(&mut screen, Field::Repeat);
    screen.press("backspace");
    screen.types("3");
    assert_eq!(slots(&screen), 0, "all three have run");
    screen.press("backspace");
    screen.types("9");
    assert_eq!(slots(&screen), 5);
}

#[test]
fn down_opens_the_list_of_a_field_that_has_one() {
    let mut screen = new();
    go(&mut screen, Field::Skills);
    screen.press("down");
    assert!(matches!(screen.model.overlays.last(), Some(Overlay::Picker(_))), "{:?}", screen.model.overlays);
    screen.press("esc shift-tab down");
    assert_eq!(editor(&screen).field, Field::Skills, "from a text it goes on to the next field");
}

#[test]
fn a_refused_save_keeps_the_form_with_the_reason() {
    let mut screen = new();
    screen.types("daily at 7am");
    go(&mut screen, Field::Description);
    screen.types("x");
    screen.press("F2");
    screen.replies(Err(Failure::Refused("jobs.json is unreadable: line 3".to_owned())));
    assert_eq!(editor(&screen).failed.as_deref(), Some("jobs.json is unreadable: line 3"));
    screen.press("ctrl-s");
    assert_eq!(screen.acts().len(), 1, "it can be tried again");
}

fn conflict(theirs: Option<&str>) -> Screen {
    let mut screen = edited();
    screen.press("ctrl-u");
    screen.types("0 6 * * *");
    screen.press("F2");
    let mine = "{ \"id\": \"health-check\", \"schedule\": \"0 6 * * *\" }".to_owned();
    screen.replies(Ok(Reply::JobConflict { mine, theirs: theirs.map(str::to_owned) }));
    screen
}

const THEIRS: &str = "{ \"id\": \"health-check\", \"schedule\": \"0 7 * * *\", \"prompt\": \"look\" }";

#[test]
fn a_job_changed_on_both_sides_is_shown_side_by_side() {
    let mut screen = conflict(Some(THEIRS));
    let Some(Overlay::Confirm(confirm)) = screen.model.overlays.last() else { panic!() };
    let sides = confirm.sides.as_ref().unwrap();
    let differ: Vec<_> =
        sides.differ.iter().map(|line| (line.left.as_deref(), line.right.as_deref())).collect();
    assert_eq!(
        differ,
        [
            (Some("\"schedule\": \"0 6 * * *\""), Some("\"schedule\": \"0 7 * * *\"")),
            (None, Some("\"prompt\": \"look\"")),
        ]
    );
    assert_eq!(sides.same, ["id"]);
    screen.press("enter");
    assert_eq!(shown(&screen, Field::Schedule), "0 6 * * *", "back to the form is the default");
}

#[test]
fn mine_is_written_over_theirs_only_when_that_is_chosen() {
    let mut screen = conflict(Some(THEIRS));
    screen.press("m");
    let (base, saved) = saves(&screen)[0];
    assert_eq!((base, saved.schedule.as_str()), (Some(THEIRS), "0 6 * * *"));
}

#[test]
fn theirs_can_be_gone_on_with() {
    let mut screen = conflict(Some(THEIRS));
    screen.press("t");
    assert_eq!((screen.acts().len(), shown(&screen, Field::Schedule).as_str()), (0, "0 7 * * *"));
    assert!(!editor(&screen).is_changed());
    assert_eq!(editor(&screen).on_disk, OnDisk::AsOpened, "what is edited now is what is on disk");
    go(&mut screen, Field::Prompt);
    screen.types(" closely");
    screen.press("F2");
    let (base, saved) = saves(&screen)[0];
    assert_eq!((base, saved.prompt.as_deref()), (Some(THEIRS), Some("look closely")));
}

#[test]
fn a_job_that_was_removed_meanwhile_can_be_written_anew_or_left() {
    let mut screen = conflict(None);
    screen.press("m");
    assert_eq!(saves(&screen)[0].0, None, "it is a new job now");
    let mut screen = conflict(None);
    screen.press("t");
    assert!(screen.model.overlays.is_empty());
    assert!(screen.told().contains("the job is removed"), "{}", screen.told());
}

#[test]
fn a_text_of_several_lines_and_the_record_go_through_the_external_editor() {
    let opened = |screen: &Screen| match screen.effects.last() {
        Some(Effect::OpenEditor(text)) => text.clone(),
        other => panic!("{other:?}"),
    };
    let mut screen = edited();
    go(&mut screen, Field::Description);
    screen.press("F4");
    assert_eq!(opened(&screen), "What health-check is for");
    screen.tell(Msg::EditorClosed(Ok("two\nlines\n".to_owned())));
    assert_eq!(shown(&screen, Field::Description), "two\nlines");
    go(&mut screen, Field::Schedule);
    screen.press("F4");
    assert!(opened(&screen).contains("\"description\": \"two\\nlines\""), "{}", opened(&screen));
    screen.tell(Msg::EditorClosed(Ok("{ \"id\": \"health-check\", \"schedule\": 7 }".to_owned())));
    assert!(editor(&screen).failed.as_ref().unwrap().starts_with("the record was not taken: schedule 7"));
    assert_eq!(shown(&screen, Field::Description), "two\nlines", "the form stays as it was");
    screen.press("F4");
    assert!(opened(&screen).contains("\"schedule\": 7"), "what was written outside is not lost");
    let whole =
        "{ \"id\": \"health-check\", \"schedule\": \"0 5 * * *\", \"prompt\": \"p\", \"owner\": \"me\" }";
    screen.tell(Msg::EditorClosed(Ok(whole.to_owned())));
    assert_eq!(
        (shown(&screen, Field::Schedule).as_str(), shown(&screen, Field::Prompt).as_str()),
        ("0 5 * * *", "p")
    );
    assert!(screen.told().starts_with("not taken: owner"), "{}", screen.told());
}

#[test]
fn a_duplicate_is_a_new_job_with_an_id_of_its_own() {
    let mut screen = with(at_work(noon()), "j c");
    assert_eq!(shown(&screen, Field::Id), "health-check-2");
    assert!(editor(&screen).is_changed(), "leaving it asks");
    screen.press("F2");
    let (base, saved) = saves(&screen)[0];
    assert_eq!((base, saved.id.as_str(), saved.schedule.as_str()), (None, "health-check-2", "*/30 * * * *"));
}

#[test]
fn up_and_down_walk_through_lines_and_fields() {
    let mut screen = new();
    screen.press("down tab");
    assert_eq!(editor(&screen).field, Field::Description);
    screen.types("one");
    screen.press("enter");
    screen.types("two");
    screen.press("up");
    assert_eq!(editor(&screen).field, Field::Description, "a line up first");
    screen.press("up");
    assert_eq!(editor(&screen).field, Field::Timezone);
    assert_eq!(shown(&screen, Field::Description), "one\ntwo");
}

#[test]
fn an_id_that_was_typed_stays_and_one_that_is_left_empty_is_made_again() {
    let mut screen = new();
    go(&mut screen, Field::Id);
    screen.types("mine");
    go(&mut screen, Field::Description);
    screen.types("Something else");
    assert_eq!(shown(&screen, Field::Id), "mine");
    go(&mut screen, Field::Id);
    screen.press("ctrl-u");
    assert_eq!(shown(&screen, Field::Id), "", "another can be typed in its place");
    screen.types("zz");
    assert_eq!(shown(&screen, Field::Id), "zz");
    screen.press("ctrl-u tab");
    assert_eq!(shown(&screen, Field::Id), "something-else");
}

#[test]
fn what_is_saved_is_selected_when_it_is_listed() {
    let mut screen = new();
    screen.types("daily at 7am");
    go(&mut screen, Field::Description);
    screen.types("tea");
    screen.press("F2");
    screen.tables.jobs.details.push(crate::support::jobs::job(6, "tea", "daily at 7am", noon()));
    screen.replies(Ok(Reply::Done { words: "added".to_owned(), undo: None }));
    assert_eq!(screen.model.cron.current().unwrap().row.name, "tea");
}

#[test]
fn the_form_outlives_an_engine_that_is_gone_and_says_that_it_can_not_save() {
    let mut screen = new();
    screen.types("daily at 7am");
    screen.tell(Msg::EngineGone { reason: "killed".to_owned(), at: screen.now });
    assert_eq!(shown(&screen, Field::Schedule), "daily at 7am");
    screen.press("F2");
    assert!(screen.told().starts_with("save: engine gone"), "{}", screen.told());
    screen.press("F8 r");
    assert_eq!(screen.effects, [Effect::Reconnect]);
    assert_eq!(shown(&screen, Field::Schedule), "daily at 7am");
    screen.press("F8 s");
    assert_eq!(screen.effects, [Effect::Reconnect, Effect::StartHere]);
}

#[test]
fn the_slash_commands_open_the_form() {
    let mut screen = with(at_work(noon()), "1 i");
    screen.types("/cron add");
    screen.press("enter");
    screen.replies(Ok(Reply::JobEditor { job: None }));
    assert_eq!(editor(&screen).title, "New job");
    let mut screen = with(at_work(noon()), "1 i");
    screen.types("/cron edit backup");
    screen.press("enter");
    screen.replies(Ok(Reply::JobEditor { job: Some(id("backup")) }));
    assert_eq!(
        (editor(&screen).title.as_str(), shown(&screen, Field::Schedule).as_str()),
        ("Job backup", "15 3 * * *")
    );
    screen.press("esc");
    assert!(screen.model.overlays.is_empty(), "nothing was changed");
}

#[test]
fn what_is_typed_before_the_definition_has_come_never_acts_on_the_list() {
    let mut screen = with(at_work(noon()), "g g");
    screen.answers = Answering::WhenTold;
    screen.press("j e").types("dRjx").press("enter");
    assert!(screen.model.overlays.is_empty() && screen.acts().is_empty());
    assert_eq!(screen.model.cron.selected, 1);
    screen.answer();
    assert_eq!(editor(&screen).title, "Job health-check");
    screen.press("esc j");
    screen.press("e esc d");
    assert_eq!(screen.acts().len(), 1, "esc gives the keys back to the list");
}

#[test]
fn an_open_form_tells_of_a_change_on_disk_before_anything_is_saved() {
    let mut screen = edited();
    let read = || EventKind::Cron(CronEvent::FileRead { jobs: 5, in_error: 1 });
    screen.happens(None, read());
    assert_eq!(editor(&screen).on_disk, OnDisk::AsOpened);
    screen.tables.jobs.detail("health-check").record = "{\"id\": \"health-check\"}".to_owned();
    screen.happens(None, read());
    screen.wait(TimeDelta::seconds(1));
    assert_eq!(editor(&screen).on_disk, OnDisk::Changed);
    screen.tables.jobs.details.retain(|job| job.row.name != "health-check");
    screen.happens(None, read());
    screen.wait(TimeDelta::seconds(1));
    assert_eq!(editor(&screen).on_disk, OnDisk::Removed);
}
