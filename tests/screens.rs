//! The screen as a terminal shows it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod support;

use std::sync::Arc;

use chrono::TimeDelta;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use switchboard::console::app::conversation::ShownBody;
use switchboard::console::app::focus::{Target, View};
use switchboard::console::app::model::Link;
use switchboard::console::app::msg::{Reach, Tone};
use switchboard::console::app::{Effect, Model, Msg, update};
use switchboard::console::ui::Ui;
use switchboard::console::ui::glyphs::{ASCII, GlyphSet, UNICODE};
use switchboard::console::ui::theme::{Colours, NAMES, Theme};
use switchboard::domain::agent::{AgentName, KnownAgent};
use switchboard::domain::alert::{Alert, AlertChange, by_cron_event};
use switchboard::domain::api::{
    Command, CronHealth, Doing, Drain, EngineHold, JobsFileState, Outliving, Reply, Report, StoreTrouble,
    Update, Waited,
};
use switchboard::domain::cron::CronEvent;
use switchboard::domain::event::{Event, EventKind};
use switchboard::domain::history::Body;
use switchboard::domain::id::{ChatType, RunId, Seq, TurnId};
use switchboard::domain::plan::{Plan, PlanStatus};
use switchboard::domain::queue::{Gate, ItemState, Lane};
use switchboard::domain::recovery::{AfterStop, BootGuard, LastExit, RecoveryState};
use switchboard::domain::session::Usage;

use support::jobs::{self, Jobs};
use support::models::{self, Engine};
use support::recovered;
use support::vt::Screen;

fn ui_in(theme: &str, glyphs: &'static GlyphSet) -> Ui {
    Ui::new(Theme::named(theme, Colours::On).unwrap(), glyphs)
}

fn shown(model: &Model) -> Screen {
    shown_in(model, "dark", &UNICODE)
}

fn shown_in(model: &Model, theme: &str, glyphs: &'static GlyphSet) -> Screen {
    let mut ui = ui_in(theme, glyphs);
    let (width, height) = model.size;
    Screen::of(width, height, |frame| {
        ui.draw(frame, model);
    })
}

/// The home at work, looked at in a view, after some keys.
fn at_work(width: u16, height: u16, keys: &str) -> Model {
    let engine = models::at_work();
    let mut model = engine.screen(width, height);
    // The release notes are in front.
    engine.press(&mut model, "esc down");
    engine.press(&mut model, keys);
    model
}

fn drains(width: u16, height: u16) -> Model {
    drains_with(width, height, Jobs::none(models::now()), AfterStop::End)
}

fn drains_with(width: u16, height: u16, jobs: Jobs, then: AfterStop) -> Model {
    let engine = Engine { jobs, ..models::at_work() };
    let mut model = engine.screen(width, height);
    // The release notes are in front.
    engine.press(&mut model, "esc down");
    let waits_for = engine.sessions[1..3]
        .iter()
        .map(|row| Waited::Turn { session: row.session.id.clone(), name: row.session.name().to_owned() })
        .chain([Waited::Script { job: jobs::id("backup") }])
        .collect();
    let drain = Drain {
        why: "ctrl-c, y in this window".to_owned(),
        then,
        since: models::now() - TimeDelta::seconds(18),
        until: models::now() + TimeDelta::seconds(12),
        waits_for,
        cut: vec![],
        background: Outliving {
            go_on: vec!["1 (npm run dev) of deploy bot".to_owned()],
            end: vec!["2 (make watch) of nightly report".to_owned()],
        },
    };
    let status = switchboard::domain::api::EngineStatus {
        gate: Gate::Stopping,
        drain: Some(drain),
        ..engine.status.clone()
    };
    let mut before = status.clone();
    let console = &engine.sessions[4].session;
    before.drain.iter_mut().for_each(|drain| {
        let (session, name) = (console.id.clone(), console.name().to_owned());
        drain.waits_for.push(Waited::Turn { session, name });
    });
    let engine = Engine { status: status.clone(), ..engine };
    for status in [before, status] {
        engine.happens(&mut model, Msg::Update(Update::Engine(Box::new(status))));
    }
    model
}

fn gone(width: u16, height: u16) -> Model {
    let mut model = at_work(width, height, "");
    let reason = "the connection was closed".to_owned();
    models::at_work().happens(&mut model, Msg::EngineGone { reason, at: models::now() });
    model
}

fn drains_elsewhere(width: u16, height: u16) -> Model {
    let mut model = drains(width, height);
    model.link = Link::Up(Reach::Attached { pid: 23_287 });
    model
}

fn quit_in_a_drain(width: u16, height: u16) -> Model {
    let mut model = drains(width, height);
    models::at_work().press(&mut model, "esc q");
    model
}

/// Stopped in order, with a turn that was cut.
fn stopped(width: u16, height: u16) -> Model {
    let mut model = drains(width, height);
    let mut status = model.overview.as_ref().unwrap().engine.clone();
    status.drain.iter_mut().for_each(|drain| drain.cut = std::mem::take(&mut drain.waits_for));
    let engine = Engine { status: status.clone(), ..models::at_work() };
    engine.happens(&mut model, Msg::Update(Update::Engine(Box::new(status))));
    let kind = EventKind::EngineStopped { run: RunId("1".to_owned()) };
    let event = Event { seq: Seq(9_999), at: models::now(), session: None, kind };
    engine.happens(&mut model, Msg::Update(Update::Event(Arc::new(event))));
    let reason = "the engine, process 4121, ended or let go".to_owned();
    engine.happens(&mut model, Msg::EngineGone { reason, at: models::now() });
    model
}

fn told(width: u16, height: u16) -> Model {
    let mut model = at_work(width, height, "");
    models::at_work()
        .happens(&mut model, Msg::Notice(Tone::Warn, "keymap.toml:3: \"j\" is bound twice".to_owned()));
    model
}

fn away(width: u16, height: u16) -> Model {
    let report = Report {
        since: Some(models::now() - TimeDelta::hours(9)),
        answered: 41,
        failed: 2,
        cut_off: 3,
        resumed: 3,
        given_up: 1,
        replaced: 4,
        starts: 2,
        after_crash: 1,
        usage: Usage { input: 82_100, output: 9_340, ..Usage::default() },
        ..Report::default()
    };
    Engine { report, ..models::at_work() }.screen(width, height)
}

fn after_a_kill(width: u16, height: u16, keys: &str) -> Model {
    let engine = recovered::home();
    let mut model = engine.screen(width, height);
    engine.press(&mut model, "esc");
    engine.press(&mut model, keys);
    model
}

fn empty(width: u16, height: u16) -> Model {
    Engine::fresh().screen(width, height)
}

fn with_jobs(width: u16, height: u16, jobs: Jobs, keys: &str) -> Model {
    let mut engine = Engine { jobs, ..models::at_work() };
    if let JobsFileState::Unreadable { since, .. } = engine.jobs.file {
        engine.status.cron = CronHealth::StoredCopy { since };
    }
    let mut model = engine.screen(width, height);
    engine.press(&mut model, "esc 3");
    engine.press(&mut model, keys);
    model
}

fn jobs_at_work(width: u16, height: u16, keys: &str) -> Model {
    with_jobs(width, height, jobs::at_work(models::now()), keys)
}

/// The form of a job, after a text typed into its first field and some keys.
fn job_form(width: u16, height: u16, schedule: &str, keys: &str) -> Model {
    let engine = Engine { jobs: jobs::at_work(models::now()), ..models::at_work() };
    let mut model = engine.screen(width, height);
    engine.press(&mut model, "esc 3 a");
    engine.paste(&mut model, schedule);
    engine.press(&mut model, keys);
    model
}

/// The form whose save met another change on disk.
fn job_conflict(width: u16, height: u16) -> Model {
    let engine = Engine { jobs: jobs::at_work(models::now()), ..models::at_work() };
    let mut model = engine.screen(width, height);
    engine.press(&mut model, "esc 3 down e ctrl-u");
    engine.paste(&mut model, "*/10 * * * *");
    let asked = update(&mut model, Msg::Key("F2".parse().unwrap(), models::now() + TimeDelta::seconds(9)));
    let ticket = asked.iter().find_map(|effect| match effect {
        Effect::Command { ticket, command: Command::Job(_) } => Some(*ticket),
        _ => None,
    });
    let record = |schedule: &str, whom: &str| {
        let prompt = format!(
            "{}tell {whom} what is wrong.{}",
            "Look at every disk. ".repeat(9),
            " Then stop.".repeat(9)
        );
        format!("{{\"id\": \"health-check\", \"schedule\": \"{schedule}\", \"prompt\": \"{prompt}\"}}")
    };
    let mine = record("*/10 * * * *", "Ana");
    let reply = Reply::JobConflict { mine, theirs: Some(record("*/20 * * * *", "nobody, or Bo and Cy,")) };
    engine.happens(&mut model, Msg::Replied { ticket: ticket.unwrap(), result: Ok(reply) });
    model
}

/// Every view and everything that can lie over one.
fn everything(width: u16, height: u16) -> Vec<(&'static str, Model)> {
    let keys = [
        ("sessions", ""),
        ("composer", "i"),
        ("conversation", "tab up up"),
        ("session queue", "tab tab"),
        ("filter", "/ r e"),
        ("queue", "2"),
        ("cron without jobs", "3"),
        ("recovery", "4"),
        ("log", "5"),
        ("zoomed", "tab z z"),
        ("help", "F1"),
        ("palette", ":"),
        ("confirm", "x"),
        ("why", "v"),
        ("new session", "a"),
        ("item editor", "2 down e"),
        ("quit", "q"),
        ("completion", "i /"),
    ];
    let mut all: Vec<_> = keys.into_iter().map(|(name, keys)| (name, at_work(width, height, keys))).collect();
    all.extend([
        ("jobs", jobs_at_work(width, height, "down")),
        ("runs", jobs_at_work(width, height, "down enter")),
        ("timeline", jobs_at_work(width, height, "t")),
        ("timeline of a week", jobs_at_work(width, height, "t t")),
        ("run now", jobs_at_work(width, height, "down R")),
        ("why a job", jobs_at_work(width, height, "down v")),
        ("job output", jobs_at_work(width, height, "down o")),
        ("unreadable", with_jobs(width, height, jobs::unreadable(models::now()), "")),
        ("compared", with_jobs(width, height, jobs::unreadable(models::now()), "v")),
        ("unreadable elsewhere", with_jobs(width, height, jobs::unreadable(models::now()), "1")),
        ("job form", job_form(width, height, "0 9 15 * 1", "tab tab")),
        ("job form whole", job_form(width, height, "*/7 * * * *", "shift-tab shift-tab enter tab tab")),
        ("job record", job_form(width, height, "in 30m", "F3")),
        ("job fault", job_form(width, height, "0 9 15 *", "F2")),
        ("job list", job_form(width, height, "daily at 7am", "tab enter")),
        ("job conflict", job_conflict(width, height)),
        ("first start", empty(width, height)),
        ("recovered", after_a_kill(width, height, "4")),
        ("recovered sessions", after_a_kill(width, height, "")),
        ("away", away(width, height)),
        ("drain", drains(width, height)),
        ("quit in a drain", quit_in_a_drain(width, height)),
        ("gone", gone(width, height)),
        ("stopped", stopped(width, height)),
        ("notice", told(width, height)),
        ("asks", asks(width, height, "git push\u{1b}[2J origin && reboot", "")),
        ("asks why", asks(width, height, "git push", "e n o")),
        ("plan", planning(width, height, "tab z x")),
    ]);
    all
}

#[test]
fn the_first_screen_says_what_can_be_tried() {
    insta::assert_snapshot!("first_start_80x24", shown(&empty(80, 24)).text());
}

#[test]
fn the_first_screen_tells_of_the_practice_agent_only_where_it_answers() {
    let mut engine = Engine::fresh();
    let known = KnownAgent { label: "ACP agent coder".to_owned(), steerable: false };
    let coder: AgentName = "coder".parse().unwrap();
    engine.status.agents.known.insert(coder.clone(), known);
    engine.status.agents.by_platform.insert("local".to_owned(), coder);
    let text = shown(&engine.screen(80, 24)).text();
    assert!(text.contains("coder: ACP agent coder") && !text.contains("ractice agent"), "{text}");
}

#[test]
fn a_session_at_its_daily_limit_says_which_since_when_and_what_lets_it_go_on() {
    for (width, height) in [(80, 24), (160, 50)] {
        let engine = models::spent();
        let mut model = engine.screen(width, height);
        engine.press(&mut model, "esc home down down down");
        insta::assert_snapshot!(format!("spent_{width}x{height}"), shown(&model).text());
    }
}

#[test]
fn sessions_at_every_breakpoint() {
    for (width, height) in [(50, 16), (80, 24), (120, 40), (160, 50)] {
        let name = format!("sessions_{width}x{height}");
        insta::assert_snapshot!(name, shown(&at_work(width, height, "i")).text());
    }
}

#[test]
fn the_queue_and_the_log_fill_the_screen() {
    for (width, height) in [(80, 24), (120, 40)] {
        insta::assert_snapshot!(
            format!("queue_{width}x{height}"),
            shown(&at_work(width, height, "2")).text()
        );
        insta::assert_snapshot!(format!("log_{width}x{height}"), shown(&at_work(width, height, "5")).text());
    }
}

#[test]
fn recovery_tells_of_a_kill_session_by_session_and_of_the_starts_before() {
    for (width, height) in [(80, 24), (120, 40), (160, 50)] {
        let name = format!("recovery_{width}x{height}");
        insta::assert_snapshot!(name, shown(&after_a_kill(width, height, "4")).text());
    }
    insta::assert_snapshot!("recovery_earlier_80x24", shown(&after_a_kill(80, 24, "4 [")).text());
    insta::assert_snapshot!("recovery_why_80x24", shown(&after_a_kill(80, 24, "4 v")).text());
}

#[test]
fn recovery_says_that_there_was_nothing_to_recover() {
    let opened = |engine: Engine| {
        let mut model = engine.screen(80, 24);
        engine.press(&mut model, "esc 4");
        shown(&model).text()
    };
    let started = models::now() - TimeDelta::seconds(66);
    let first = recovered::start(1, started, LastExit::First);
    insta::assert_snapshot!("recovery_first_80x24", opened(recovered::home_started(first)));
    let clean = LastExit::Clean { at: started - TimeDelta::seconds(66), cut: Vec::new() };
    insta::assert_snapshot!(
        "recovery_clean_80x24",
        opened(recovered::home_started(recovered::start(2, started, clean)))
    );
    let mut guarded = recovered::home();
    let chosen = guarded.recovery[0].chosen.as_mut().unwrap();
    chosen.guard = BootGuard::Hold { starts: 5, since: started };
    (chosen.in_row, chosen.resumed) = (5, 0);
    guarded.recovery[0].sessions.retain(|row| row.state == RecoveryState::HeldByBootGuard);
    insta::assert_snapshot!("recovery_guarded_80x24", opened(guarded));
}

#[test]
fn the_jobs_stand_over_the_selected_one_and_where_it_is_wide_over_the_timeline() {
    for (width, height) in [(50, 16), (80, 24), (120, 40), (160, 50)] {
        let name = format!("cron_{width}x{height}");
        insta::assert_snapshot!(name, shown(&jobs_at_work(width, height, "down")).text());
    }
    insta::assert_snapshot!(
        "cron_runs_80x24",
        shown(&jobs_at_work(80, 24, "down down down enter down")).text()
    );
    insta::assert_snapshot!("cron_error_80x24", shown(&jobs_at_work(80, 24, "")).text());
    insta::assert_snapshot!("cron_filter_80x24", shown(&jobs_at_work(80, 24, "/ z z z enter")).text());
}

#[test]
fn the_timeline_shows_slots_ends_and_where_jobs_meet() {
    for (width, height) in [(80, 24), (120, 40)] {
        let day = format!("cron_day_{width}x{height}");
        let on = if width < 120 { "t" } else { "" };
        insta::assert_snapshot!(day, shown(&jobs_at_work(width, height, on)).text());
        let week = format!("cron_week_{width}x{height}");
        insta::assert_snapshot!(week, shown(&jobs_at_work(width, height, &format!("{on} t"))).text());
    }
}

#[test]
fn an_unreadable_file_is_shown_at_its_line_and_by_one_line_everywhere_else() {
    let unreadable = |width, height, keys: &str| {
        shown(&with_jobs(width, height, jobs::unreadable(models::now()), keys)).text()
    };
    for (width, height) in [(80, 24), (120, 40)] {
        insta::assert_snapshot!(format!("cron_unreadable_{width}x{height}"), unreadable(width, height, ""));
    }
    insta::assert_snapshot!("cron_unreadable_elsewhere_80x24", unreadable(80, 24, "1"));
    insta::assert_snapshot!("cron_compared_80x24", unreadable(80, 24, "v"));
}

#[test]
fn without_jobs_it_says_how_to_make_one() {
    let mut model = at_work(80, 24, "3");
    insta::assert_snapshot!("cron_none_80x24", shown(&model).text());
    let gone = CronEvent::FileMissing { jobs: 8 };
    let Some(AlertChange::Raise(new)) = by_cron_event(&gone) else { panic!() };
    model.alerts.open = vec![Alert::raised(None, &new, models::now())];
    let told = "jobs.json is gone, and with it 8 jobs; their state is kept for 30 days";
    assert!(shown(&model).text().contains(told), "{}", shown(&model).text());
}

#[test]
fn what_is_to_be_known_of_folded_fields_stands_at_their_fold() {
    let mut jobs = jobs::at_work(models::now());
    let detail = jobs.detail("health-check");
    detail.definition.as_mut().unwrap().workdir = Some("/nowhere".to_owned());
    let engine = Engine { jobs, ..models::at_work() };
    let mut model = engine.screen(80, 24);
    engine.press(&mut model, "esc 3 down e");
    let words = "work folder: \"/nowhere\"";
    assert!(shown(&model).text().contains(words), "{}", shown(&model).text());
    engine.press(&mut model, &["tab"; 6].join(" "));
    engine.press(&mut model, "enter");
    let open = shown(&model).text();
    assert!(!open.contains(words), "it stands at its field then: {open}");
}

#[test]
fn the_jobs_draw_with_ascii_alone() {
    let model = jobs_at_work(120, 40, "down");
    let text = shown_in(&model, "dark", &ASCII).text();
    insta::assert_snapshot!("cron_ascii_120x40", text);
    assert!(text.is_ascii(), "{text}");
    let text = shown_in(&job_form(80, 24, "0 9 15 * 1", "tab tab"), "dark", &ASCII).text();
    assert!(text.is_ascii(), "{text}");
}

#[test]
fn the_form_says_what_a_schedule_means_and_what_is_wrong_at_its_field() {
    let described = |width, height| {
        let engine = models::at_work();
        let mut model = job_form(width, height, "0 9 15 * 1", "tab tab");
        engine.paste(&mut model, "Review the open pull requests");
        model
    };
    for (width, height) in [(50, 16), (80, 24), (120, 40)] {
        insta::assert_snapshot!(format!("form_{width}x{height}"), shown(&described(width, height)).text());
        let fault = job_form(width, height, "0 9 15 *", "F2");
        insta::assert_snapshot!(format!("form_fault_{width}x{height}"), shown(&fault).text());
        let whole = job_form(width, height, "every 15 minutes", "shift-tab shift-tab enter tab tab");
        insta::assert_snapshot!(format!("form_whole_{width}x{height}"), shown(&whole).text());
    }
    insta::assert_snapshot!("form_record_80x24", shown(&job_form(80, 24, "in 30m", "F3")).text());
    insta::assert_snapshot!(
        "form_list_80x24",
        shown(&job_form(80, 24, "daily at 7am", "tab tab tab tab enter enter")).text()
    );
    insta::assert_snapshot!("form_conflict_80x24", shown(&job_conflict(80, 24)).text());
    insta::assert_snapshot!(
        "form_edit_80x24",
        shown(&jobs_at_work(80, 24, "down e ctrl-k backspace")).text()
    );
}

#[test]
fn the_list_says_what_goes_on_and_what_was_given_up() {
    for (width, height) in [(80, 24), (120, 40)] {
        let name = format!("marked_{width}x{height}");
        insta::assert_snapshot!(name, shown(&after_a_kill(width, height, "")).text());
    }
}

/// An agent asks about this; then these keys.
fn asks(width: u16, height: u16, what: &str, keys: &str) -> Model {
    let engine = models::asks(what);
    let mut model = engine.screen(width, height);
    engine.press(&mut model, "esc F8");
    let later = model.now + chrono::TimeDelta::milliseconds(500);
    engine.happens(&mut model, Msg::Tick(later));
    engine.press(&mut model, keys);
    model
}

#[test]
fn what_an_agent_asks_stands_whole_in_its_conversation() {
    let two = "sudo systemctl restart api &&\nrm -rf /srv/api/releases/0.7*";
    for (width, height) in [(50, 16), (80, 24), (120, 40), (160, 50)] {
        let name = format!("asks_{width}x{height}");
        insta::assert_snapshot!(name, shown(&asks(width, height, two, "")).text());
    }
    let long: String = (1..=60).map(|n| format!("step {n}\n")).collect();
    insta::assert_snapshot!("asks_long_80x24", shown(&asks(80, 24, &long, "pgdn")).text());
    insta::assert_snapshot!("asks_40x10", shown(&asks(40, 10, two, "")).text());
    let one = "git push origin main";
    insta::assert_snapshot!("asks_always_80x24", shown(&asks(80, 24, one, "")).text());
    insta::assert_snapshot!("asks_why_80x24", shown(&asks(80, 24, one, "e n o t")).text());
}

/// The row of `text` that holds `part`, without what stands around it.
fn words_beside<'a>(text: &'a str, part: &str) -> Option<&'a str> {
    text.lines().find(|line| line.contains(part))
}

#[test]
fn every_row_of_a_question_can_be_reached_at_every_size_and_nothing_of_it_is_cut() {
    let letters: Vec<String> = (1..=9).map(|n| format!("--step-{n}")).collect();
    let what = format!("./scripts/deploy-to-production-servers.sh now {}", letters.join(" "));
    for (width, height) in [(40, 10), (40, 12), (50, 16), (59, 30), (60, 12), (80, 10), (80, 24), (160, 50)] {
        let engine = models::asks(&what);
        let mut engine = Engine { sessions: engine.sessions.clone(), ..engine };
        engine.sessions[0].asks[0].question.folder =
            "/srv/a-long-name/of-a-folder/that-ends/in-production".to_owned();
        let mut model = engine.screen(width, height);
        engine.press(&mut model, "esc F8");
        let later = model.now + TimeDelta::seconds(1);
        engine.happens(&mut model, Msg::Tick(later));
        let mut seen = String::new();
        for _ in 0..40 {
            let text = shown(&model).text();
            assert!(
                !text.contains("all of it is shown") || text.contains("--step-9"),
                "{width}x{height}\n{text}"
            );
            let card = text.lines().filter(|line| line.contains('│'));
            card.for_each(|line| seen.push_str(line.trim_matches(['│', ' '])));
            engine.press(&mut model, "pgdn");
        }
        let whole = [
            "servers.sh",
            "--step-1",
            "--step-9",
            "in-production",
            "terminal",
            "denied",
            "14:10",
            "y allow once",
        ];
        for part in whole {
            assert!(seen.contains(part), "{part} at {width}x{height}\n{}", shown(&model).text());
        }
        let text = shown(&asks(width, height, &what, "")).text();
        let offered = text.contains("a always");
        assert_eq!(offered, words_beside(&text, "begins with").is_some(), "{width}x{height}\n{text}");
    }
}

#[test]
fn a_card_without_room_for_all_that_always_allows_does_not_offer_it() {
    let what = format!("./{} now", "deploy".repeat(30));
    let text = shown(&asks(40, 10, &what, "")).text();
    assert!(!text.contains("a always") && text.contains("NOT ALL"), "{text}");
    let model = asks(40, 10, &what, "a");
    assert!(model.notices.last().unwrap().words.contains("no room for all that it would allow"));
    assert!(shown(&asks(160, 50, &what, "")).text().contains("a always"));
}

#[test]
fn a_question_of_which_no_row_is_seen_is_not_answered() {
    let model = asks(40, 10, "git push", "pgdn pgdn pgdn pgdn y");
    let told = &model.notices.last().unwrap().words;
    assert!(told.contains("nothing of what it would do is shown: pgup"), "{told}");
}

#[test]
fn overlays_and_cards_stand_over_the_view() {
    for (name, model) in everything(80, 24) {
        let over = [
            "help",
            "palette",
            "confirm",
            "why",
            "new session",
            "item editor",
            "quit",
            "away",
            "drain",
            "quit in a drain",
            "gone",
            "stopped",
            "notice",
            "completion",
        ];
        if over.contains(&name) {
            insta::assert_snapshot!(format!("over_{}", name.replace(' ', "_")), shown(&model).text());
        }
    }
}

#[test]
fn the_dress_says_nothing_that_words_do_not() {
    for theme in NAMES {
        let screen = shown_in(&at_work(80, 24, ""), theme, &UNICODE);
        insta::assert_snapshot!(format!("dressed_{theme}"), screen.dressed());
    }
}

#[test]
fn the_ascii_set_draws_with_ascii_alone() {
    let engine = models::at_work();
    let mut model = engine.screen(100, 30);
    engine.press(&mut model, "esc");
    let text = shown_in(&model, "dark", &ASCII).text();
    insta::assert_snapshot!("ascii_100x30", text);
    assert!(text.is_ascii(), "{text}");
}

/// The first row of the screen, in each state that an engine can be in.
#[test]
fn the_header_says_the_most_urgent_first() {
    let calm = || Engine { sessions: models::at_work().sessions.split_off(4), ..Engine::fresh() };
    let since = models::now() - TimeDelta::minutes(22);
    let mut held = calm();
    held.status.gate = Gate::Held;
    held.status.held = Some(EngineHold { since, why: "maintenance".to_owned() });
    let mut held_at_work = models::at_work();
    held_at_work.status.gate = Gate::Held;
    held_at_work.status.held =
        Some(EngineHold { since, why: "maintenance of the database until noon".to_owned() });
    let mut trouble = models::at_work();
    trouble.status.store_trouble = Some(StoreTrouble { since, why: "disk full".to_owned() });
    let cron = |health| {
        let mut engine = Engine { jobs: jobs::at_work(models::now()), ..calm() };
        engine.status.cron = health;
        engine
    };
    let attached = Msg::Connected(Reach::Attached { pid: 4121 });
    let lines: Vec<String> = [
        (calm().screen(80, 24), None),
        (models::at_work().screen(80, 24), None),
        (held.screen(80, 24), None),
        (held_at_work.screen(80, 24), None),
        (trouble.screen(80, 24), None),
        (cron(CronHealth::Ok).screen(80, 24), None),
        (cron(CronHealth::StoredCopy { since }).screen(80, 24), None),
        (cron(CronHealth::Late { since, why: "disk full".to_owned() }).screen(80, 24), None),
        (drains(80, 24), None),
        (drains_elsewhere(80, 24), None),
        (drains_elsewhere(120, 24), None),
        (gone(80, 24), None),
        (stopped(80, 24), None),
        (calm().screen(80, 24), Some(attached)),
        (calm().screen(80, 24), Some(Msg::Connected(Reach::StoreOnly))),
        (calm().screen(80, 24), Some(Msg::Update(Update::Lagged { missed: 4812 }))),
    ]
    .into_iter()
    .map(|(mut model, msg)| {
        msg.into_iter().for_each(|msg| calm().happens(&mut model, msg));
        let text = shown(&model).text();
        text.lines().next().unwrap().to_owned()
    })
    .collect();
    insta::assert_snapshot!("header_lines_80", lines.join("\n"));
}

#[test]
fn turns_that_no_engine_runs_are_told_as_cut_off() {
    let engine = models::at_work();
    let mut model = engine.screen(120, 40);
    engine.happens(&mut model, Msg::Connected(Reach::StoreOnly));
    let header = shown(&model).text().lines().next().unwrap().to_owned();
    assert!(header.contains("2 turns cut off"), "{header}");
}

#[test]
fn a_hold_without_a_reason_says_what_it_does() {
    let mut held = models::at_work();
    held.status.gate = Gate::Held;
    held.status.held = Some(EngineHold { since: models::now(), why: String::new() });
    let header = shown(&held.screen(160, 50)).text();
    assert!(header.contains("HOLD since 14:02: no job fires, no queue moves"), "{header}");
}

#[test]
fn the_card_of_a_drain_names_the_first_slot_that_is_missed_unless_the_engine_comes_back() {
    let jobs = || jobs::at_work(models::now());
    let line = |then| {
        let text = shown(&drains_with(80, 24, jobs(), then)).text();
        text.lines().find(|line| line.contains(" jobs ") && line.contains("missed")).map(str::to_owned)
    };
    let line_at_end = line(AfterStop::End).unwrap();
    assert!(
        line_at_end.contains("health-check 14:30 is missed, unless it starts again by then"),
        "{line_at_end}"
    );
    assert_eq!(line(AfterStop::Restart), None, "a restart is back at once");
    assert!(!shown(&drains(80, 24)).text().contains("is missed"), "there are no jobs");
}

#[test]
fn scrolling_up_says_how_much_is_newer_and_the_end_is_followed_again() {
    let engine = models::many(3, 40);
    let mut model = engine.screen(80, 24);
    engine.press(&mut model, "esc i");
    assert!(shown(&model).text().contains("and streams"));
    engine.press(&mut model, "pgup pgup");
    let text = shown(&model).text();
    assert!(!text.contains("and streams") && text.contains("newer lines, ctrl-end follows"), "{text}");
    engine.press(&mut model, "ctrl-end");
    let text = shown(&model).text();
    assert!(text.contains("and streams") && !text.contains("newer"), "{text}");
}

#[test]
fn a_page_up_skips_no_line_and_paging_down_comes_back_to_the_end() {
    let mut engine = models::at_work();
    let session = engine.sessions[1].clone();
    let text: Vec<String> = (0..200).map(|n| format!("line {n}")).collect();
    let page = engine.conversations.get_mut(&session.session.id).unwrap();
    page.live = None;
    page.entries = vec![models::entry(1, &session, 1, 60, models::agent(&text.join("\n")))];
    let numbers = |model: &Model| -> Vec<usize> {
        let text = shown(model).text();
        let lines = text.lines().filter_map(|line| line.split("line ").nth(1));
        lines.filter_map(|number| number.trim().parse().ok()).collect()
    };
    let mut model = engine.screen(80, 24);
    engine.press(&mut model, "esc down i");
    let end = numbers(&model);
    assert_eq!(*end.last().unwrap(), 199);
    engine.press(&mut model, "pgup");
    let page = numbers(&model);
    assert!(page.len() > 4 && page.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{page:?}");
    assert!(page[0] < end[0] && *page.last().unwrap() + 1 >= end[0], "{page:?} {end:?}");
    engine.press(&mut model, "pgdn pgdn");
    assert_eq!(numbers(&model), end);
}

#[test]
fn the_title_of_a_narrow_list_keeps_its_count_and_what_is_hidden() {
    let screen = shown(&models::many(100, 9).screen(120, 40));
    let title = screen.text().lines().nth(2).unwrap().to_owned();
    assert!(title.starts_with("─ Sessions 100 ─") && title.contains(" 82 idle below ─┬"), "{title}");
}

#[test]
fn the_entry_under_the_cursor_is_shown_from_its_first_line() {
    let engine = models::many(3, 40);
    let mut model = engine.screen(80, 24);
    engine.press(&mut model, "esc tab");
    let mut ui = ui_in("dark", &UNICODE);
    for key in ["k"; 30].into_iter().chain(["j"; 25]) {
        engine.press(&mut model, key);
        let screen = Screen::of(80, 24, |frame| {
            ui.draw(frame, &model);
        });
        let cursor = Target::Entry(model.conversation.cursor.unwrap());
        let row = (0..24).find(|row| ui.target(40, *row) == Some(&cursor));
        let text = screen.text();
        let first = text.lines().nth(usize::from(row.expect("the cursor's entry is shown"))).unwrap();
        assert!(first.contains(" you  ") || first.contains(" agent "), "{first:?} in\n{text}");
    }
}

#[test]
fn a_tool_call_opens_and_shows_all_of_its_arguments_and_what_it_gave_back() {
    let engine = models::at_work();
    let mut model = at_work(100, 40, "tab");
    let call =
        model.conversation.entries.iter().position(|entry| matches!(entry.body, ShownBody::Tool { .. }));
    let from_end = model.conversation.entries.len() - 1 - call.unwrap();
    engine.press(&mut model, &"k ".repeat(from_end));
    let folded = shown(&model).text();
    assert!(!folded.contains("d4e5f6 limits") && !folded.contains("v0.8..HEAD"), "{folded}");
    engine.press(&mut model, "enter");
    let text = shown(&model).text();
    assert!(text.contains("▾ terminal") && text.contains("d4e5f6 limits"), "{text}");
    assert!(text.contains("git log --oneline v0.8..HEAD"), "{text}");
}

/// A command writes while it runs; then these keys.
fn running_a_command(keys: &str) -> Model {
    let engine = models::running_a_command();
    let mut model = engine.screen(80, 24);
    engine.press(&mut model, "esc down");
    let session = model.front_row.as_ref().unwrap().row.session.id.clone();
    let written = "test store ... ok\ntest queue ... ok\ntest screen ... \n".to_owned();
    let doing = Doing { session, turn: TurnId(42), written };
    engine.happens(&mut model, Msg::Update(Update::Doing(Arc::new(doing))));
    engine.press(&mut model, keys);
    model
}

#[test]
fn what_a_running_command_writes_last_stands_under_its_call_and_under_its_arguments_once_it_is_opened() {
    insta::assert_snapshot!("command_runs_80x24", shown(&running_a_command("")).text());
    insta::assert_snapshot!("command_runs_open_80x24", shown(&running_a_command("tab z x")).text());
}

#[test]
fn a_call_that_is_opened_while_it_runs_shows_what_one_that_was_always_open_shows() {
    let engine = models::running_a_command();
    let mut model = running_a_command("tab z");
    let mut ui = ui_in("dark", &UNICODE);
    let draw = |ui: &mut Ui, model: &Model| {
        let screen = Screen::of(80, 50, |frame| {
            ui.draw(frame, model);
        });
        screen.text()
    };
    assert!(draw(&mut ui, &model).contains("test screen ..."));
    engine.press(&mut model, "x");
    assert_eq!(draw(&mut ui, &model), draw(&mut ui_in("dark", &UNICODE), &model));
}

/// A turn works by a plan; then these keys.
fn planning(width: u16, height: u16, keys: &str) -> Model {
    let engine = models::planning();
    let mut model = engine.screen(width, height);
    engine.press(&mut model, "esc down");
    engine.press(&mut model, keys);
    model
}

#[test]
fn what_the_agent_is_at_stands_under_the_conversation_and_the_whole_plan_opens_in_its_place() {
    for (width, height) in [(50, 16), (80, 24), (120, 40), (160, 50)] {
        let name = format!("plan_{width}x{height}");
        insta::assert_snapshot!(name, shown(&planning(width, height, "i")).text());
    }
    insta::assert_snapshot!("plan_open_80x24", shown(&planning(80, 24, "tab z x")).text());
    insta::assert_snapshot!("plan_open_120x40", shown(&planning(120, 40, "tab z x")).dressed());
    let ascii = shown_in(&planning(80, 50, "tab z x"), "mono", &ASCII).text();
    assert!(ascii.is_ascii(), "{ascii}");
}

#[test]
fn what_is_searched_for_is_marked_where_it_stands() {
    let engine = models::at_work();
    let mut model = at_work(100, 40, "tab /");
    engine.paste(&mut model, "parquet");
    engine.press(&mut model, "enter");
    let screen = shown(&model);
    let text = screen.text();
    assert!(text.contains("search parquet"), "{text}");
    insta::assert_snapshot!("search_100x40", screen.dressed());
}

#[test]
fn a_filter_that_fits_nothing_says_so_and_how_to_go_on() {
    let engine = models::at_work();
    let mut model = engine.screen(80, 24);
    engine.press(&mut model, "esc /");
    engine.paste(&mut model, "/queue more");
    let text = shown(&model).text();
    let words = "0 of 6 match \"/queue more\". esc clears. A command? enter: compose";
    assert!(text.contains(words), "{text}");
}

#[test]
fn no_size_is_a_panic() {
    let mut sizes: Vec<(u16, u16)> = (0..=30).flat_map(|w| (0..=12).map(move |h| (w, h))).collect();
    sizes.extend([
        (40, 10),
        (41, 11),
        (59, 17),
        (60, 18),
        (99, 18),
        (100, 10),
        (159, 12),
        (160, 11),
        (300, 90),
        (1, 200),
    ]);
    let mut ui = ui_in("dark", &UNICODE);
    for (name, mut model) in everything(80, 24) {
        for &(width, height) in &sizes {
            Engine::fresh().happens(&mut model, Msg::Resize { width, height });
            let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
            let drawn = terminal.draw(|frame| {
                ui.draw(frame, &model);
            });
            assert!(drawn.is_ok(), "{name} at {width}x{height}");
        }
    }
}

const HOSTILE: &str = "\u{1b}]52;c;QUJD\u{7}\u{1b}]0;x\u{7}\u{1b}]8;;http://e.test\u{7}\u{1b}[2J\u{1b}[10A\u{1b}[6n\u{1b}c\
    \u{9b}2J\u{1b}P1$q\u{1b}\\\u{0}\u{7f}\u{8}\u{b}\u{c}\u{202e}\u{2066}\u{200b}\u{feff}\u{1b}]";

/// The home at work, in which every foreign text is hostile.
fn hostile() -> Engine {
    let mut engine = models::at_work();
    for row in &mut engine.sessions {
        row.session.title = Some(format!("{HOSTILE}{}", row.session.name()));
        row.last_error = Some(HOSTILE.to_owned());
        row.session.model = Some(HOSTILE.to_owned());
    }
    for row in &mut engine.queue {
        row.item.text = HOSTILE.to_owned();
        row.item.note = Some(HOSTILE.to_owned());
        row.session_name = HOSTILE.to_owned();
    }
    for page in engine.conversations.values_mut() {
        let session = engine.sessions[1].clone();
        page.entries.push(models::entry(90, &session, 42, 3, models::user(HOSTILE)));
        page.entries.push(models::entry(91, &session, 42, 3, models::agent(HOSTILE)));
        let plan = Plan::of([(HOSTILE, PlanStatus::InProgress)]);
        page.entries.push(models::entry(92, &session, 42, 3, Body::Plan(plan.clone())));
        page.plan = Some(plan);
        page.live.as_mut().unwrap().text = HOSTILE.to_owned();
    }
    engine.status.agents = models::only_agent(HOSTILE);
    engine.status.cron = CronHealth::Late { since: models::now(), why: HOSTILE.to_owned() };
    engine.jobs = hostile_jobs();
    engine
}

fn hostile_jobs() -> Jobs {
    let mut jobs = jobs::at_work(models::now());
    for detail in &mut jobs.details {
        detail.row.name = HOSTILE.to_owned();
        detail.row.words = HOSTILE.to_owned();
        detail.warnings = vec![HOSTILE.to_owned()];
        for run in &mut detail.history {
            run.why = Some(HOSTILE.to_owned());
            run.deliveries[..].iter_mut().for_each(|delivery| delivery.why = Some(HOSTILE.to_owned()));
        }
        if let Some(definition) = &mut detail.definition {
            definition.description = Some(HOSTILE.to_owned());
            definition.skills = vec![HOSTILE.to_owned()];
            definition.script = Some(HOSTILE.to_owned());
        }
    }
    jobs.parts.skills = vec![(HOSTILE.to_owned(), HOSTILE.to_owned())];
    jobs
}

#[test]
fn a_foreign_control_sequence_never_reaches_the_terminal() {
    let engine = hostile();
    for keys in [
        "",
        "i",
        "2",
        "5",
        "v",
        ":",
        "2 down e",
        "x",
        "3",
        "3 down enter",
        "3 t t",
        "3 down e",
        "3 down e F3",
    ] {
        let mut model = engine.screen(160, 50);
        engine.press(&mut model, "esc down");
        engine.paste(&mut model, HOSTILE);
        engine.press(&mut model, "esc");
        engine.press(&mut model, keys);
        engine.happens(&mut model, Msg::Notice(Tone::Error, HOSTILE.to_owned()));
        let screen = shown(&model);
        assert_eq!(foreign(&screen.bytes), Vec::<String>::new(), "after {keys:?}");
    }
}

/// The control sequences that are none of those with which a frame is drawn.
fn foreign(bytes: &[u8]) -> Vec<String> {
    let text = std::str::from_utf8(bytes).unwrap();
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(char::is_control) {
        let sequence = &rest[at..];
        let end = sequence.strip_prefix("\u{1b}[").and_then(|tail| {
            let length = tail.find(|c: char| !matches!(c, '0'..='9' | ';' | ':' | '?'))?;
            let known = matches!(tail.as_bytes()[length], b'm' | b'H')
                || ["?25h", "?25l"].contains(&&tail[..=length]);
            known.then_some(2 + length + 1)
        });
        if end.is_none() {
            found.push(sequence.chars().take(8).collect::<String>().escape_debug().to_string());
        }
        rest = &sequence[end.unwrap_or(1)..];
    }
    found
}

#[test]
fn whatever_a_session_is_called_the_borders_stand_still() {
    let names = [
        "日本語ジョブ日本語ジョブ日本語",
        "👩\u{200d}👩\u{200d}👧\u{200d}👦👩\u{200d}👩\u{200d}👧\u{200d}👦",
        "🇩🇪🇩🇪🇩🇪",
        "❤\u{fe0f} and more",
        "①②③",
        "ｶﾞｷﾞ",
        "\u{1100}\u{1161}\u{1100}\u{1161}",
        "cafe\u{301} cre\u{301}me",
        "x\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}",
        "\u{ff9e}\u{ff9e}",
        "שלום עולם",
        "مرحبا بالعالم",
    ];
    let mut engine = Engine::fresh();
    engine.sessions = names
        .iter()
        .enumerate()
        .map(|(at, name)| {
            let key = models::key("telegram", ChatType::Dm, &format!("chat-{at}"));
            models::session(at as u32, key, name, 60)
        })
        .collect();
    let screen = shown(&engine.screen(120, 40));
    for y in 2..38 {
        let border = screen.symbol(38, y);
        assert!(["│", "┬", "├", "┤"].contains(&border), "row {y} has {border:?}:\n{}", screen.text());
    }
}

#[test]
fn an_emoji_that_a_terminal_does_not_join_leaves_nothing_over_what_stands_behind_it() {
    let titled = |title: &str| {
        let mut engine = Engine::fresh();
        engine.sessions = vec![models::session(1, models::key("telegram", ChatType::Dm, "1"), title, 60)];
        engine.screen(120, 40)
    };
    let plain = titled("aaaaaaaaaaaaa");
    let joined = titled("aaaaaaaaaaaaa👩\u{200d}👩\u{200d}👧\u{200d}👦");
    let mut ui = ui_in("dark", &UNICODE);
    let screen = Screen::of_frames(120, 40, 2, |number, frame| {
        ui.draw(frame, if number == 0 { &plain } else { &joined });
    });
    let text = screen.text();
    let row = text.lines().find(|line| line.contains("aaaaaaaaaaaaa")).unwrap();
    assert!(row.contains(" idle "), "{row:?}");
}

#[test]
fn a_pane_that_grew_is_filled_from_above() {
    let engine = models::many(3, 40);
    let mut model = engine.screen(80, 24);
    engine.press(&mut model, "esc i pgup");
    engine.happens(&mut model, Msg::Resize { width: 80, height: 70 });
    let text = shown(&model).text();
    let conversation: Vec<&str> = text.lines().skip_while(|line| !line.contains("console · local")).collect();
    let blank =
        conversation.iter().take_while(|line| !line.contains("to: console")).filter(|line| line.is_empty());
    assert_eq!(blank.count(), 0, "{text}");
    assert!(text.contains("and streams"), "{text}");
}

#[test]
fn a_draft_of_many_lines_shows_the_lines_around_its_cursor() {
    let engine = models::at_work();
    let mut model = engine.screen(80, 24);
    engine.press(&mut model, "esc i");
    let draft: Vec<String> = (0..30).map(|n| format!("draft line {n}")).collect();
    engine.paste(&mut model, &draft.join("\n"));
    let text = shown(&model).text();
    assert!(text.contains("draft line 29") && text.contains("draft line 25"), "{text}");
    engine.press(&mut model, &"up ".repeat(29));
    let screen = shown(&model);
    let text = screen.text();
    assert!(text.contains("draft line 0") && !text.contains("draft line 29"), "{text}");
    let (_, y) = screen.cursor().unwrap();
    assert!(text.lines().nth(usize::from(y)).unwrap().contains("draft line 0"), "{text}");
}

#[test]
fn a_text_longer_than_its_field_shows_where_the_cursor_is() {
    let engine = models::at_work();
    let mut model = engine.screen(80, 24);
    engine.press(&mut model, "esc :");
    engine.paste(&mut model, &format!("{}END", "word ".repeat(40)));
    let screen = shown(&model);
    assert!(screen.text().contains("word END"), "{}", screen.text());
    let (x, y) = screen.cursor().unwrap();
    assert_eq!(screen.symbol(x - 1, y), "D");
}

#[test]
fn the_cursor_stands_behind_what_was_typed_whatever_its_width() {
    let engine = models::at_work();
    for (typed, cells) in [
        ("", 0),
        ("abc", 3),
        ("日本", 4),
        ("e\u{301}x", 2),
        ("👩\u{200d}👩\u{200d}👧\u{200d}👦", 2),
        ("a\nbc", 2),
    ] {
        let mut model = engine.screen(80, 24);
        engine.press(&mut model, "esc i");
        engine.paste(&mut model, typed);
        let screen = shown(&model);
        let (x, y) = screen.cursor().unwrap();
        assert_eq!(x, 3 + cells, "{typed:?}");
        assert_eq!(y, 21, "{typed:?}\n{}", screen.text());
    }
}

#[test]
fn a_click_hits_what_stands_there() {
    let model = at_work(80, 24, "i");
    let mut ui = ui_in("dark", &UNICODE);
    let screen = Screen::of(80, 24, |frame| {
        ui.draw(frame, &model);
    });
    let row_of = |words: &str| screen.text().lines().position(|line| line.contains(words)).unwrap() as u16;
    let session = model.sessions.rows[0].key().clone();
    assert_eq!(ui.target(10, row_of("deploy bot")), Some(&Target::Session(session)));
    assert_eq!(ui.target(2, 1), Some(&Target::Tab(View::Sessions)));
    assert!(matches!(ui.target(10, row_of("translate it")), Some(Target::Item(_))));
    assert!(matches!(ui.target(30, row_of("changelog")), Some(Target::Entry(_))));
    assert!(matches!(ui.target(78, 23), Some(Target::Footer(_))));
    assert_eq!(ui.target(200, 200), None);
}

#[test]
fn a_click_hits_nothing_of_an_earlier_frame() {
    let mut ui = ui_in("dark", &UNICODE);
    for (width, height) in [(160, 50), (80, 24)] {
        let model = at_work(width, height, "");
        Screen::of(width, height, |frame| {
            ui.draw(frame, &model);
        });
    }
    assert_eq!(ui.target(150, 40), None);
}

#[test]
fn the_queue_pane_is_there_only_while_something_waits() {
    let mut engine = models::at_work();
    engine.queue.retain(|row| row.item.state == ItemState::Superseded);
    let mut model = engine.screen(80, 24);
    engine.press(&mut model, "esc down");
    let text = shown(&model).text();
    assert!(!text.contains("waiting 0") && text.contains("too long"), "{text}");
}

#[test]
fn only_what_visibly_runs_makes_the_screen_move() {
    let pace = |model: &Model| {
        let mut ui = ui_in("dark", &UNICODE);
        Screen::of(model.size.0, model.size.1, |frame| {
            ui.draw(frame, model);
        });
        ui.pace()
    };
    assert_eq!(pace(&empty(80, 24)), None);
    assert_eq!(pace(&at_work(80, 24, "")).unwrap().as_millis(), 125);
    assert_eq!(pace(&at_work(80, 24, "5")), None);
    // A turn that waits for a person moves nothing.
    let asks = models::asks("git push");
    let alone = Engine { sessions: asks.sessions[..1].to_vec(), ..asks };
    let mut waits = alone.screen(80, 24);
    alone.press(&mut waits, "esc F8");
    assert_eq!(pace(&waits), None);
}

#[test]
fn a_message_of_five_megabytes_shows_its_beginning_and_its_end() {
    let mut engine = models::at_work();
    let session = engine.sessions[1].clone();
    let text = format!("BEGIN {} END", "word ".repeat(1024 * 1024));
    let page = engine.conversations.get_mut(&session.session.id).unwrap();
    page.live = None;
    page.entries = vec![models::entry(1, &session, 1, 60, models::agent(&text))];
    let mut model = engine.screen(80, 24);
    engine.press(&mut model, "esc down tab");
    assert!(shown(&model).text().contains("END"));
    engine.press(&mut model, "g g");
    assert!(shown(&model).text().contains("BEGIN"));
}

#[test]
fn an_item_put_aside_is_told_from_one_that_waits_without_colour() {
    let mut engine = models::at_work();
    let session = engine.sessions[1].clone();
    let aside = models::item(30, &session, Lane::Queue, ItemState::Cleared, "never mind");
    engine.queue.push(models::queue_row(aside, &session, None));
    let mut model = engine.screen(80, 40);
    engine.press(&mut model, "esc down");
    let text = shown_in(&model, "mono", &UNICODE).text();
    assert!(text.contains("dropped"), "{text}");
}

#[test]
fn a_job_that_has_a_name_shows_the_id_that_commands_take() {
    let mut jobs = jobs::at_work(models::now());
    jobs.row("backup").name = "Nightly copy".to_owned();
    let model = with_jobs(80, 24, jobs, "G");
    assert!(shown(&model).text().contains("Nightly copy (backup)"), "{}", shown(&model).text());
}

/// The rows on which a text stands.
fn rows_with(text: &str, words: &str) -> Vec<usize> {
    text.lines().enumerate().filter(|(_, line)| line.contains(words)).map(|(at, _)| at).collect()
}

#[test]
fn a_notice_covers_neither_the_composer_nor_the_row_with_the_focus() {
    for (width, height) in [(80, 24), (50, 20), (40, 10), (120, 40), (160, 50)] {
        for keys in
            ["", "i", "tab up", "tab tab", "tab tab down", "2", "5", "5 k k", "tab z z", "i z z", "x", ":"]
        {
            let plain = at_work(width, height, keys);
            let mut model = plain.clone();
            let words = "a b c d e f g h i j k l m n o p q r s t u v w x y z".to_owned();
            models::at_work().happens(&mut model, Msg::Notice(Tone::Warn, words));
            let (before, after) = (shown(&plain).text(), shown(&model).text());
            let changed: Vec<usize> = before
                .lines()
                .zip(after.lines())
                .enumerate()
                .filter(|(_, (before, after))| before != after)
                .map(|(at, _)| at)
                .collect();
            assert!(!changed.is_empty(), "{width}x{height} {keys:?}: it is not told\n{after}");
            let border = rows_with(&before, "to: release").into_iter().next();
            if let Some(border) = border {
                assert!(changed.iter().all(|row| *row < border), "{width}x{height} {keys:?}\n{after}");
            }
        }
    }
}

#[test]
fn a_notice_covers_no_job_and_no_tab() {
    let words =
        "health-check: its definition is not there any more, and this is a long way to say so ".repeat(2);
    for (width, height, keys) in
        [(80, 24, "down"), (80, 24, "down t t"), (120, 40, "down"), (160, 50, "down")]
    {
        let plain = jobs_at_work(width, height, keys);
        let mut model = plain.clone();
        models::at_work().happens(&mut model, Msg::Notice(Tone::Warn, words.clone()));
        let (before, after) = (shown(&plain).text(), shown(&model).text());
        let first_rows = |text: &str| text.lines().take(9).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(first_rows(&before), first_rows(&after), "{width}x{height}");
        assert_ne!(before, after, "{width}x{height}: it is told");
    }
}

#[test]
fn notices_stand_newest_first() {
    let mut model = told(80, 24);
    models::at_work().happens(&mut model, Msg::Notice(Tone::Info, "the newest".to_owned()));
    let text = shown(&model).text();
    assert!(rows_with(&text, "the newest") < rows_with(&text, "bound twice"), "{text}");
}

#[test]
fn a_failed_turn_is_told_beside_its_idle_session() {
    let mut engine = models::at_work();
    let idle = engine.sessions.iter_mut().find(|row| row.session.name() == "console").unwrap();
    idle.last_error = Some("no luck".to_owned());
    for (width, height) in [(50, 20), (80, 24), (120, 40), (160, 50)] {
        let mut model = engine.screen(width, height);
        engine.press(&mut model, "esc G k");
        let text = shown(&model).text();
        assert!(text.contains("failed: no luck"), "{text}");
        let in_details = text.lines().any(|line| line.contains("error") && line.contains("no luck"));
        assert_eq!(in_details, width >= 160, "{text}");
    }
}

#[test]
fn nothing_moves_on_the_screen_of_an_engine_that_is_gone() {
    for mut model in [gone(160, 50), drains(80, 24)] {
        let reason = "it stopped".to_owned();
        models::at_work().happens(&mut model, Msg::EngineGone { reason, at: models::now() });
        let before = shown(&model).text();
        assert!(before.contains("ENGINE GONE") && !before.contains("STOPPING"), "{before}");
        model.now += TimeDelta::milliseconds(2500);
        assert_eq!(shown(&model).text(), before);
    }
}

#[test]
fn what_runs_next_is_seen_whatever_was_put_aside() {
    let mut engine = models::at_work();
    let row = engine.sessions[1].clone();
    for n in 0..9 {
        let mut aside = engine.queue[0].clone();
        aside.item = models::item(100 + n, &row, Lane::Slot, ItemState::Cleared, "old");
        engine.queue.push(aside);
    }
    let mut model = engine.screen(80, 24);
    engine.press(&mut model, "esc down i");
    let text = shown(&model).text();
    assert_eq!(rows_with(&text, "make it shorter").len(), 2, "in the pane and on the border\n{text}");
    engine.press(&mut model, "shift-tab G");
    assert_eq!(
        rows_with(&shown(&model).text(), " next  make it").len(),
        0,
        "it scrolls while it has the focus"
    );
    engine.press(&mut model, "esc");
    let text = shown(&model).text();
    assert_eq!(rows_with(&text, " next  make it").len(), 1, "{text}");
}
