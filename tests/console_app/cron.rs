//! The view of scheduled tasks: keys in, questions and commands out.

use chrono::TimeDelta;
use switchboard::console::app::cron::timeline::Timeline;
use switchboard::console::app::cron::{facts, file, words};
use switchboard::console::app::focus::{Focus, Pane, Target as Hit, View};
use switchboard::console::app::model::Access;
use switchboard::console::app::msg::{Effect, FilePlace, Mouse, MouseAct, Msg, Reach};
use switchboard::console::app::overlay::Overlay;
use switchboard::domain::alert::{Alert, AlertChange, AlertKey, by_cron_event, by_failures};
use switchboard::domain::api::{
    Command, JobCommand, JobQuery, JobState, JobsFileState, Query, Reply, Update,
};
use switchboard::domain::cron::document::Document;
use switchboard::domain::cron::{
    Counting, CronEvent, DeliveryState, Execution, ExecutionState, JobEvent, Paused, Target,
};
use switchboard::domain::event::EventKind;
use switchboard::domain::id::ExecutionId;
use switchboard::domain::spending::Whose;

use crate::support::jobs::{Jobs, at_work, id, job, run, unreadable, with_runs};
use crate::support::screen::{Screen, noon, session, today};

/// A home with these jobs, the view open.
fn with(jobs: Jobs) -> Screen {
    let mut screen = Screen::on(vec![session("console", 1), session("b", 2)]);
    screen.tables.jobs = jobs;
    screen.press("3");
    screen
}

fn working() -> Screen {
    with(at_work(noon()))
}

/// A job whose newest run waits behind the one that goes on.
fn with_a_run_that_waits() -> Screen {
    let mut jobs = at_work(noon());
    let detail = jobs.detail("mail-digest");
    let waits = Execution { began_at: None, ..run(12, "mail-digest", noon(), ExecutionState::Waiting, 0) };
    let runs = vec![waits, detail.history[0].clone()];
    *detail = with_runs(detail.clone(), runs);
    let mut screen = with(jobs);
    select(&mut screen, "mail-digest");
    screen
}

fn names(screen: &Screen) -> Vec<&str> {
    screen.model.cron.rows.iter().map(|job| job.row.name.as_str()).collect()
}

fn select(screen: &mut Screen, name: &str) {
    let place = names(screen).iter().position(|row| *row == name).unwrap();
    screen.press("g g");
    for _ in 0..place {
        screen.press("j");
    }
    assert_eq!(screen.model.cron.current().unwrap().row.name, name);
}

fn job_acts(screen: &Screen) -> Vec<&JobCommand> {
    screen
        .acts()
        .into_iter()
        .map(|command| match command {
            Command::Job(command) => command,
            other => panic!("{other:?}"),
        })
        .collect()
}

fn viewer(screen: &Screen) -> (&str, &str) {
    match screen.model.overlays.last() {
        Some(Overlay::Viewer(viewer)) => (&viewer.title, &viewer.text),
        other => panic!("no text is shown: {other:?}"),
    }
}

#[test]
fn the_keys_of_the_number_row_alt_and_g_open_it() {
    for keys in ["3", "alt-3", "g c"] {
        let mut screen = Screen::on(vec![session("console", 1), session("b", 2)]);
        screen.press(keys);
        assert_eq!(screen.model.view, View::Cron, "{keys}");
    }
}

#[test]
fn the_jobs_stand_in_the_engines_order_and_the_selected_ones_runs_are_read() {
    let mut screen = working();
    assert_eq!(
        names(&screen),
        ["record 6", "health-check", "mail-digest", "daily-news-summary", "weekly-code-review", "backup"]
    );
    assert!(screen.model.cron.current_detail().is_none(), "a record without an id has no detail");
    screen.press("j");
    let detail = screen.model.cron.current_detail().unwrap();
    assert_eq!((detail.job.as_str(), detail.runs.len()), ("health-check", 5));
    screen.press("j");
    assert_eq!(screen.model.cron.current_detail().unwrap().job.as_str(), "mail-digest");
}

#[test]
fn a_run_that_did_not_do_all_of_its_work_says_so_in_the_list() {
    let mut jobs = at_work(noon());
    let detail = jobs.detail("daily-news-summary");
    let undone = "1 call denied (terminal: git push): a scheduled task never waits for a person";
    let why = Some(undone.to_owned());
    let ok = Execution { why, ..run(12, "daily-news-summary", noon(), ExecutionState::Succeeded, 3) };
    *detail = with_runs(detail.clone(), vec![ok]);
    let mut screen = with(jobs);
    select(&mut screen, "daily-news-summary");
    let job = screen.model.cron.current().unwrap();
    assert_eq!(words::standing(&screen.model, job), format!("ok in 3.0 s: {undone}"));
}

#[test]
fn the_order_stands_still_after_a_key_and_the_selection_follows_the_job() {
    let mut screen = working();
    select(&mut screen, "daily-news-summary");
    screen.tables.jobs.details.reverse();
    let changed = || EventKind::Job { job: id("backup"), what: JobEvent::Recovered };
    screen.happens(None, changed());
    assert_eq!(names(&screen)[0], "record 6", "frozen");
    screen.wait(TimeDelta::seconds(4));
    assert_eq!(names(&screen)[0], "backup", "in their order again");
    assert_eq!(screen.model.cron.current().unwrap().row.name, "daily-news-summary");
    screen.tables.jobs.details.remove(2);
    screen.happens(None, changed());
    assert_eq!(screen.model.cron.selected, 2, "what was selected is gone: its place stays");
}

#[test]
fn events_of_jobs_ask_anew_in_every_view_and_others_do_not() {
    let mut screen = working();
    screen.press("1");
    let asked = |screen: &mut Screen, kind| {
        screen.tables.asked.clear();
        screen.happens(None, kind);
        screen.tables.asked.iter().any(|query| matches!(query, Query::Jobs(JobQuery::List { .. })))
    };
    let read = EventKind::Cron(CronEvent::FileRead { jobs: 1, in_error: 0 });
    assert!(asked(&mut screen, read));
    assert!(!asked(&mut screen, EventKind::EngineHeld { why: "x".to_owned() }));
}

#[test]
fn the_filter_takes_words_states_and_the_opposite() {
    let mut screen = working();
    for (typed, left) in [
        ("state:paused", vec!["backup"]),
        ("state:runs", vec!["mail-digest"]),
        ("check", vec!["health-check"]),
        ("30", vec!["health-check"]),
        ("skipped", vec!["backup"]),
        ("!state:scheduled !state:error", vec!["health-check", "mail-digest", "backup"]),
        ("nothing-like-it", vec![]),
    ] {
        screen.press("/");
        screen.pastes(typed);
        screen.press("enter");
        assert_eq!(names(&screen), left, "{typed}");
        screen.press("esc");
    }
    assert_eq!(names(&screen).len(), 6);
}

#[test]
fn r_asks_naming_the_targets_and_runs_beside_the_slots() {
    let mut screen = working();
    select(&mut screen, "health-check");
    screen.press("R");
    let Some(Overlay::Confirm(confirm)) = screen.model.overlays.last() else { panic!("it does not ask") };
    assert_eq!(confirm.question, "Run health-check now?");
    assert!(confirm.detail.contains("telegram:123456789"), "{}", confirm.detail);
    assert_eq!(confirm.buttons.len(), 2);
    screen.press("y");
    assert_eq!(job_acts(&screen), [&JobCommand::Run { job: id("health-check"), counting: Counting::Beside }]);
}

#[test]
fn a_job_at_its_daily_limit_says_so_and_that_a_run_lets_it_go() {
    let mut jobs = at_work(noon());
    jobs.detail("health-check").today = Some(today(Whose::Job, 120));
    let mut screen = with(jobs);
    select(&mut screen, "health-check");
    let told = facts::definition(
        &screen.model,
        screen.model.cron.current().unwrap(),
        screen.model.cron.current_detail(),
    );
    assert!(told.contains(&("today", "120 of 100 tokens, until 3 Mar 00:00".to_owned())), "{told:?}");
    screen.press("R");
    let Some(Overlay::Confirm(confirm)) = screen.model.overlays.last() else { panic!("it does not ask") };
    let lifts = "Until the next day it and its slots run, though the daily limit of 100 tokens";
    assert!(confirm.detail.contains(lifts), "{}", confirm.detail);
}

#[test]
fn a_job_that_repeats_a_number_of_times_can_be_run_as_one_of_them() {
    let mut jobs = at_work(noon());
    jobs.row("backup").runs_left = Some(2);
    let mut screen = with(jobs);
    select(&mut screen, "backup");
    screen.press("R c");
    assert_eq!(job_acts(&screen), [&JobCommand::Run { job: id("backup"), counting: Counting::Counts }]);
}

#[test]
fn space_pauses_and_resumes_d_removes_with_an_undo() {
    let mut screen = working();
    select(&mut screen, "health-check");
    screen.press("space");
    assert_eq!(job_acts(&screen), [&JobCommand::Pause { job: id("health-check"), why: None }]);
    screen.commands.clear();
    select(&mut screen, "backup");
    screen.press("space");
    assert_eq!(job_acts(&screen), [&JobCommand::Resume { job: id("backup") }]);
    screen.commands.clear();
    screen.press("d");
    assert_eq!(job_acts(&screen), [&JobCommand::Remove { job: id("backup") }]);
    let file = Document::parse(r#"[{"id": "backup", "schedule": "@daily", "prompt": "x"}]"#).unwrap();
    let (_, removed) = file.without(&file.entries()[0]);
    let back = Command::Job(JobCommand::PutBack { removed: Box::new(removed) });
    screen.replies(Ok(Reply::Done { words: "removed".to_owned(), undo: Some(Box::new(back.clone())) }));
    screen.press("u");
    assert_eq!(screen.acts(), [&back]);
}

#[test]
fn a_paused_job_that_fails_or_runs_is_seen_to_be_paused_and_can_be_resumed() {
    let mut jobs = at_work(noon());
    for job in ["health-check", "mail-digest"] {
        jobs.row(job).paused = Some(Paused { since: noon() - TimeDelta::hours(2), why: None });
    }
    let mut screen = with(jobs);
    for (job, standing) in [("health-check", "paused, failed 3 in a row: "), ("mail-digest", "paused, runs ")]
    {
        select(&mut screen, job);
        let current = screen.model.cron.current().unwrap().clone();
        let told = words::standing(&screen.model, &current);
        assert!(told.starts_with(standing), "{told}");
        let facts = facts::definition(&screen.model, &current, None);
        assert!(facts.contains(&("paused", "no slot is taken since 11:00".to_owned())), "{facts:?}");
        screen.commands.clear();
        screen.press("space");
        assert_eq!(job_acts(&screen), [&JobCommand::Resume { job: id(job) }]);
    }
}

#[test]
fn a_job_whose_next_run_waits_tells_since_when_it_runs_and_what_that_waits_for() {
    let mut jobs = at_work(noon());
    let running = run(11, "mail-digest", noon() - TimeDelta::minutes(12), ExecutionState::Running, 0);
    let waiting = Execution { began_at: None, ..run(12, "mail-digest", noon(), ExecutionState::Waiting, 0) };
    *jobs.detail("mail-digest") = with_runs(jobs.detail("mail-digest").clone(), vec![waiting, running]);
    let mut screen = with(jobs);
    select(&mut screen, "mail-digest");
    let standing = words::standing(&screen.model, screen.model.cron.current().unwrap());
    assert!(standing.starts_with("runs 11 min") || standing.starts_with("runs 12 min"), "{standing}");
    let detail = screen.model.cron.current_detail().unwrap();
    let waits = words::waits_for(&screen.model, detail, &detail.runs[0]);
    assert_eq!(waits, Some("for the end of the run before"));
}

#[test]
fn a_slot_that_was_skipped_does_not_hide_what_became_of_the_last_run() {
    let mut jobs = at_work(noon());
    let skipped = Execution {
        began_at: None,
        why: Some("it was off".to_owned()),
        ..run(21, "weekly-code-review", noon(), ExecutionState::Skipped, 0)
    };
    let detail = jobs.detail("weekly-code-review");
    let runs = [vec![skipped], detail.history.clone()].concat();
    *detail = with_runs(detail.clone(), runs);
    let mut screen = with(jobs);
    select(&mut screen, "weekly-code-review");
    let standing = words::standing(&screen.model, screen.model.cron.current().unwrap());
    assert!(standing.starts_with("ok in ") && standing.ends_with(", then skipped: it was off"), "{standing}");
}

#[test]
fn the_slots_of_a_job_with_a_zone_of_its_own_are_on_its_clock_and_the_first_on_mine_too() {
    let mut jobs = at_work(noon());
    jobs.row("daily-news-summary").zone = "Asia/Tokyo".to_owned();
    let mut screen = with(jobs);
    select(&mut screen, "daily-news-summary");
    let job = screen.model.cron.current().unwrap();
    let facts = facts::definition(&screen.model, job, screen.model.cron.current_detail());
    let next = &facts.iter().find(|(label, _)| *label == "next").unwrap().1;
    assert!(
        next.starts_with("Tue 16:00 in ") && next.ends_with("; in Asia/Tokyo (here Tue 08:00 CET)"),
        "{next}"
    );
}

#[test]
fn x_stops_the_run_that_goes_on_after_asking() {
    let mut screen = working();
    select(&mut screen, "mail-digest");
    screen.press("x");
    assert_eq!(screen.model.focus(), Focus::Overlay);
    assert_eq!(screen.acts().len(), 0);
    screen.press("y");
    assert_eq!(job_acts(&screen), [&JobCommand::StopRun { execution: ExecutionId(11) }]);
}

#[test]
fn x_stops_the_run_that_goes_on_while_another_waits_and_withdraws_that_one_where_it_is_marked() {
    let mut screen = with_a_run_that_waits();
    screen.press("x");
    screen.press("y");
    assert_eq!(job_acts(&screen), [&JobCommand::StopRun { execution: ExecutionId(11) }]);
    screen.commands.clear();
    screen.press("enter");
    assert_eq!(screen.model.pane, Pane::Detail);
    screen.press("x");
    let Some(Overlay::Confirm(asked)) = screen.model.overlays.last() else { panic!("nothing is asked") };
    assert_eq!(asked.question, "Withdraw the run of mail-digest that waits?");
    screen.press("y");
    assert_eq!(job_acts(&screen), [&JobCommand::StopRun { execution: ExecutionId(12) }]);
}

#[test]
fn what_can_not_be_done_says_why() {
    let mut screen = working();
    for (name, key, why) in [
        ("record 6", "R", "run now: its record has no id that can be used: E opens the file at it"),
        ("record 6", "e", "edit: its record has no id that can be used: E opens the file at it"),
        ("backup", "x", "stop run: no run of it goes on or waits"),
        ("backup", "o", "output: no run of it has left a document yet"),
        ("backup", "T", "take copy: jobs.json can be read: there is nothing to repair"),
        ("backup", "]", "newer run: this is the newest run"),
        ("backup", "[", "older run: there is no older run"),
    ] {
        select(&mut screen, name);
        screen.press(key);
        assert_eq!(screen.told(), why);
    }
    assert_eq!(screen.acts(), [] as [&Command; 0]);
}

#[test]
fn without_an_engine_and_read_only_nothing_changes_and_that_is_told() {
    for (reach, access, why) in [
        (Reach::StoreOnly, Access::Full, "no engine runs: only the store is shown"),
        (Reach::Here, Access::ReadOnly, "read-only: start switchboard without --read-only to change things"),
    ] {
        let mut screen = Screen::reached(vec![session("console", 1), session("b", 2)], reach, access);
        screen.tables.jobs = at_work(noon());
        screen.press("3");
        select(&mut screen, "health-check");
        for key in ["a", "e", "c", "space", "R", "x", "d"] {
            screen.press(key);
            assert!(screen.told().ends_with(why), "{key}: {}", screen.told());
        }
        assert_eq!((screen.acts().len(), screen.model.overlays.len()), (0, 0));
    }
}

#[test]
fn enter_leads_to_the_detail_and_there_to_the_session_of_the_run() {
    let mut screen = working();
    select(&mut screen, "mail-digest");
    screen.press("enter");
    assert_eq!(screen.model.focus(), Focus::Pane(Pane::Detail));
    screen.press("enter");
    assert_eq!((screen.model.view, screen.model.pane), (View::Sessions, Pane::Conversation));
    assert_eq!(screen.model.front.as_str(), "agent:main:cron:job:mail-digest");
    screen.press("3");
    select(&mut screen, "health-check");
    screen.press("enter j enter");
    assert_eq!(screen.model.view, View::Cron, "an older run's session is not live: it is read");
    assert_eq!(viewer(&screen).1, "a document");
}

#[test]
fn brackets_and_arrows_walk_through_the_runs_and_o_reads_what_one_left() {
    let mut screen = working();
    select(&mut screen, "health-check");
    screen.press("[ [");
    assert_eq!(screen.model.cron.current_run().unwrap().id, ExecutionId(8));
    screen.press("]");
    assert_eq!(screen.model.cron.current_run().unwrap().id, ExecutionId(9));
    screen.press("o");
    let (title, text) = viewer(&screen);
    assert_eq!(title, "health-check at 12:30, failed");
    assert!(text.contains("disk /srv is full"));
    assert_eq!(
        screen.tables.asked.last(),
        Some(&Query::Jobs(JobQuery::Output { execution: ExecutionId(9) }))
    );
    screen.press("esc enter G");
    assert_eq!(screen.model.cron.current_run().unwrap().id, ExecutionId(6));
    screen.tables.jobs.output = None;
    screen.press("o");
    assert!(screen.told().contains("its document is gone"), "{}", screen.told());
}

#[test]
fn older_runs_are_read_as_the_cursor_comes_near_them_and_stay_when_a_new_one_comes() {
    let slot = |n: i64| noon() - TimeDelta::hours(n);
    let runs: Vec<_> =
        (0..120).map(|n| run(1000 - n, "busy", slot(n), ExecutionState::Succeeded, 1)).collect();
    let mut jobs = Jobs::none(noon());
    jobs.details = vec![with_runs(job(0, "busy", "0 * * * *", noon()), runs)];
    let mut screen = with(jobs);
    let loaded = |screen: &Screen| screen.model.cron.current_detail().unwrap().runs.len();
    assert_eq!(loaded(&screen), 50);
    screen.press("enter G");
    assert_eq!(loaded(&screen), 100);
    screen.press("G G G");
    assert_eq!((loaded(&screen), screen.model.cron.run), (120, 119));
    let newest = run(1001, "busy", noon(), ExecutionState::Succeeded, 1);
    screen.tables.jobs.detail("busy").history.insert(0, newest);
    let fired = EventKind::Job { job: id("busy"), what: JobEvent::Recovered };
    screen.happens(None, fired);
    assert_eq!(loaded(&screen), 121, "what was loaded stays");
    assert_eq!(screen.model.cron.current_run().unwrap().id, ExecutionId(881), "the cursor follows its run");
}

#[test]
fn t_turns_the_timeline_from_a_day_to_a_week_and_off() {
    let mut screen = working();
    assert_eq!(screen.model.cron.timeline, Timeline::Hidden, "80 columns have no room for it at first");
    let span = |screen: &Screen| screen.model.cron.lanes.span.map(|(from, until)| (until - from).num_hours());
    screen.press("t");
    assert_eq!((screen.model.cron.timeline, span(&screen)), (Timeline::Day, Some(24)));
    assert_eq!(screen.model.cron.lanes.shown().len(), 5, "a lane for each job that has an id");
    screen.press("/");
    screen.pastes("check");
    screen.press("enter");
    assert_eq!(screen.model.cron.lanes.shown().len(), 1, "as the filter lets them through");
    screen.press("esc t");
    assert_eq!((screen.model.cron.timeline, span(&screen)), (Timeline::Week, Some(8 * 24)));
    screen.press("t");
    assert_eq!(screen.model.cron.timeline, Timeline::Hidden);
}

#[test]
fn the_timeline_moves_on_by_the_hour_and_asks_nothing_between() {
    let mut screen = working();
    screen.press("t");
    screen.tables.asked.clear();
    screen.now = noon() + TimeDelta::minutes(59);
    screen.tell(Msg::Tick(screen.now));
    assert_eq!(screen.tables.asked, [] as [Query; 0]);
    screen.now = noon() + TimeDelta::minutes(61);
    screen.tell(Msg::Tick(screen.now));
    assert!(matches!(screen.tables.asked.as_slice(), [Query::Jobs(JobQuery::Timeline { .. })]));
}

#[test]
fn an_unreadable_file_refuses_changes_offers_the_copy_and_is_compared_by_v() {
    let mut screen = with(unreadable(noon()));
    select(&mut screen, "health-check");
    for key in ["a", "e", "c", "d"] {
        screen.press(key);
        assert!(screen.told().contains("jobs.json is unreadable: E opens it to repair it, T takes"), "{key}");
    }
    assert_eq!(screen.acts().len(), 0);
    screen.press("v");
    let (title, text) = viewer(&screen);
    assert_eq!(title, "jobs.json (+) against the stored copy (-)");
    assert!(text.contains("-     \"schedule\": \"0 8 * * *\" }"), "{text}");
    let fault = "jobs.json unreadable: line 14 column 7: ";
    assert!(text.starts_with(fault), "what is wrong stands above: {text}");
    assert!(text.contains("| ") && text.contains('^'), "with its place: {text}");
    screen.press("esc space");
    assert_eq!(
        job_acts(&screen),
        [&JobCommand::Pause { job: id("health-check"), why: None }],
        "pausing works"
    );
    screen.commands.clear();
    screen.press("T");
    assert_eq!(screen.acts().len(), 0, "it asks");
    screen.press("y");
    assert_eq!(job_acts(&screen), [&JobCommand::TakeStoredCopy]);
}

#[test]
fn capital_e_opens_the_file_where_it_is_broken_or_at_the_job() {
    let opened = |screen: &Screen| {
        screen.effects.iter().find_map(|effect| match effect {
            Effect::EditJobsFile(place) => Some(*place),
            _ => None,
        })
    };
    let mut screen = with(unreadable(noon()));
    screen.press("E");
    assert_eq!(opened(&screen), Some(FilePlace::Line(14)));
    let mut screen = working();
    select(&mut screen, "daily-news-summary");
    screen.press("E");
    assert_eq!(opened(&screen), Some(FilePlace::Record(2)));
    screen.tables.asked.clear();
    screen.tell(Msg::FileEdited(Ok(())));
    assert!(screen.tables.asked.iter().any(|query| matches!(query, Query::Jobs(JobQuery::List { .. }))));
    screen.tell(Msg::FileEdited(Err("the editor \"vi\" does not start".to_owned())));
    assert_eq!(screen.told(), "the editor \"vi\" does not start");
    let mut screen = with(Jobs::none(noon()));
    screen.press("E");
    assert_eq!(opened(&screen), None);
    assert_eq!(screen.told(), "$EDITOR: there is no jobs.json yet: a adds a job to a new one");
}

#[test]
fn v_says_why_a_job_stands_as_it_does_and_what_comes_next() {
    let mut screen = working();
    for (name, words) in [
        ("health-check", ["failed 3 in a row: exit 2", "one run that works: R runs it now"]),
        (
            "backup",
            ["no slot is taken since", "space resumes it; slots that passed meanwhile are not caught up"],
        ),
        ("record 6", ["has 4 fields", "E opens the file at it; the other jobs go on"]),
    ] {
        select(&mut screen, name);
        screen.press("v");
        let text = viewer(&screen).1;
        assert!(words.iter().all(|words| text.contains(words)), "{text}");
        screen.press("esc");
    }
    select(&mut screen, "health-check");
    screen.press("enter v");
    let (title, text) = viewer(&screen);
    assert_eq!(title, "health-check due 13:00");
    assert!(text.contains("why") && text.contains("exit 2") && text.contains("run"), "{text}");
}

#[test]
fn the_palette_finds_every_job_and_leads_to_it_whatever_the_filter_hides() {
    let mut screen = working();
    screen.press("/");
    screen.types("state:runs");
    screen.press("enter 1 :");
    screen.types("backup");
    let Some(Overlay::Picker(picker)) = screen.model.overlays.last() else { panic!() };
    assert!(picker.entries[0].detail.starts_with("job, paused"), "{:?}", picker.entries[0]);
    screen.press("enter");
    assert_eq!(
        (screen.model.view, screen.model.cron.current().unwrap().row.name.as_str()),
        (View::Cron, "backup")
    );
}

#[test]
fn the_next_need_leads_to_the_file_and_to_the_job_and_round_again() {
    let mut screen = Screen::on(vec![session("console", 1), session("b", 2)]);
    screen.tables.jobs = unreadable(noon());
    let raised = |change: Option<AlertChange>| match change {
        Some(AlertChange::Raise(new)) => Alert::raised(None, &new, noon()),
        other => panic!("{other:?}"),
    };
    let unreadable = CronEvent::FileUnreadable { why: "line 14".to_owned(), stored: 5 };
    let (file, job) = (by_cron_event(&unreadable), by_failures(&id("backup"), 2, 3, None));
    screen.tables.other_alerts = vec![raised(file), raised(job)];
    screen.tell(Msg::Update(Update::Lagged { missed: 1 }));
    let acknowledged = |screen: &mut Screen| {
        screen.commands.clear();
        screen.press("A");
        match screen.acts().as_slice() {
            [Command::Acknowledge { alert, .. }] => alert.clone(),
            other => panic!("{other:?}"),
        }
    };
    for _ in 0..2 {
        screen.press("F8");
        assert_eq!(screen.model.view, View::Cron);
        assert_eq!(acknowledged(&mut screen), AlertKey::jobs_file());
        screen.press("F8");
        assert_eq!(screen.model.cron.current().unwrap().row.name, "backup");
        assert_eq!(acknowledged(&mut screen), AlertKey::failing_job(&id("backup")));
    }
}

#[test]
fn the_copied_text_is_the_record_and_the_id() {
    let mut screen = working();
    select(&mut screen, "health-check");
    screen.press("y Y");
    let copied: Vec<&str> = screen
        .effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Copy(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert!(copied[0].starts_with("{ \"id\": \"health-check\""));
    assert_eq!(copied[1], "health-check");
}

#[test]
fn a_click_selects_a_job_and_a_run() {
    let mut screen = working();
    let mut click = |target| {
        let mouse = Mouse { act: MouseAct::Click, target: Some(target) };
        screen.tell(Msg::Mouse(mouse, screen.now));
        (screen.model.pane, screen.model.cron.selected, screen.model.cron.run)
    };
    assert_eq!(click(Hit::Job { id: Some(id("health-check")), place: 0 }), (Pane::List, 1, 0));
    assert_eq!(click(Hit::Run(ExecutionId(8))), (Pane::Detail, 1, 2));
    assert_eq!(click(Hit::Job { id: None, place: 5 }), (Pane::List, 0, 0));
}

#[test]
fn a_job_that_is_gone_from_the_file_says_so() {
    let mut jobs = at_work(noon());
    jobs.row("backup").state = JobState::Vanished { at: noon() - TimeDelta::hours(2) };
    let mut screen = with(jobs);
    select(&mut screen, "backup");
    for key in ["e", "c", "d", "R", "space"] {
        screen.press(key);
        assert!(screen.told().contains("it is gone from jobs.json"), "{key}: {}", screen.told());
    }
}

#[test]
fn a_removed_job_whose_run_goes_on_says_so_and_can_only_be_stopped() {
    let mut jobs = at_work(noon());
    let row = jobs.row("mail-digest");
    row.state = JobState::RunsOn { at: noon() };
    row.running_since = Some(noon() - TimeDelta::minutes(3));
    let mut screen = with(jobs);
    select(&mut screen, "mail-digest");
    let job = screen.model.cron.current().unwrap();
    assert_eq!(words::standing(&screen.model, job), "removed, still runs 3 min");
    let facts = facts::definition(&screen.model, job, screen.model.cron.current_detail());
    let told = |label: &str| &facts.iter().find(|(known, _)| *known == label).unwrap().1;
    assert_eq!(told("frees it"), "its end, with which it leaves the list; x stops it");
    screen.press("space");
    assert!(screen.told().contains("it is gone from jobs.json"), "{}", screen.told());
    screen.press("x y");
    assert_eq!(job_acts(&screen), [&JobCommand::StopRun { execution: ExecutionId(11) }]);
}

#[test]
fn foreign_text_is_harmless_in_the_state() {
    let mut jobs = at_work(noon());
    let hostile = "a\u{1b}[2J\u{202e}b\nc";
    let detail = jobs.detail("health-check");
    detail.row.name = hostile.to_owned();
    detail.row.words = hostile.to_owned();
    detail.warnings = vec![hostile.to_owned()];
    detail.history[0].why = Some(hostile.to_owned());
    detail.history[0].deliveries[0].why = Some(hostile.to_owned());
    jobs.file = match unreadable(noon()).file {
        JobsFileState::Unreadable { since, mut trouble, stored_at } => {
            trouble.why = hostile.to_owned();
            trouble.excerpt[0].1 = hostile.to_owned();
            JobsFileState::Unreadable { since, trouble, stored_at }
        }
        other => other,
    };
    let mut screen = with(jobs);
    screen.press("j t");
    let shown = format!("{:?}", (&screen.model.cron.rows, &screen.model.cron.lanes, &screen.model.cron.file));
    assert!(!shown.contains("\\u{1b}") && !shown.contains("\\u{202e}"), "{shown}");
    let detail = screen.model.cron.current_detail().unwrap();
    assert!(!format!("{:?}{:?}", detail.warnings, detail.runs).contains("\\u{1b}"));
}

#[test]
fn a_result_for_the_console_is_told_at_once_whatever_is_open_and_other_places_are_not() {
    let mut screen = working();
    screen.press("1");
    let delivered = |target: &str, state| JobEvent::Delivery {
        execution: ExecutionId(7),
        target: Target::list(target).unwrap().remove(0),
        state,
        words: Some("three things \u{1b}[31mchanged".to_owned()),
    };
    let news = |what| EventKind::Job { job: id("backup"), what };
    screen.happens(None, news(delivered("local", DeliveryState::Delivered)));
    screen.happens(None, news(delivered("console", DeliveryState::Failed)));
    assert_eq!(screen.told(), "");
    screen.happens(None, news(delivered("console", DeliveryState::Delivered)));
    assert_eq!(screen.told(), "job backup: three things ␛[31mchanged");
}

#[test]
fn a_near_slot_is_told_by_the_second_and_a_far_one_with_its_year() {
    let screen = working();
    let (model, at) = (&screen.model, |text: &str| text.parse().unwrap());
    let now = model.now;
    assert_eq!(words::distance(model, now + TimeDelta::seconds(57)), "in 57 s");
    assert_eq!(words::distance(model, now), "now");
    assert_eq!(words::slot(model, at("2026-03-02T14:30:57Z")), "15:30:57");
    assert_eq!(words::slot(model, at("2026-12-24T08:00:00Z")), "24 Dec 09:00");
    assert_eq!(words::slot(model, at("2027-12-24T08:00:00Z")), "24 Dec 2027 09:00");
}

#[test]
fn a_broken_schedule_has_no_meaning_and_the_banner_counts_the_jobs_that_fire() {
    let mut jobs = unreadable(noon());
    let row = jobs.row("backup");
    row.state = JobState::Error { faults: vec!["schedule: no".to_owned()] };
    row.schedule = "0 25 * * *".to_owned();
    let mut screen = with(jobs);
    select(&mut screen, "backup");
    let model = &screen.model;
    let told = facts::definition(model, model.cron.current().unwrap(), model.cron.current_detail());
    assert!(told.contains(&("schedule", "0 25 * * *".to_owned())), "{told:?}");
    assert!(told.iter().all(|(label, _)| *label != "next"), "{told:?}");
    let line = file::trouble(model).unwrap().line(model);
    let expected = "jobs.json unreadable, line 14 column 7; 4 stored jobs fire: ";
    assert!(line.starts_with(expected), "{line}");
}
