//! Resets by policy, end to end: what a person finds when he writes again.

use std::time::Duration;

use chrono::DateTime;
use chrono_tz::Tz;
use pretty_assertions::assert_eq;
use rusqlite::Connection;
use switchboard::domain::Time;
use switchboard::domain::api::{Command, Reply};
use switchboard::domain::event::EventKind;
use switchboard::domain::id::SessionId;
use switchboard::domain::queue::{Intent, Source};
use switchboard::domain::reset::{ResetMode, ResetPolicies, ResetPolicy, ResetReason};
use switchboard::domain::session::Beginning;

use crate::support::world::{Setup, World};

fn at(text: &str) -> Time {
    DateTime::parse_from_rfc3339(text).unwrap().to_utc()
}

fn policies(mode: ResetMode, idle_minutes: u32, at_hour: u8) -> ResetPolicies {
    ResetPolicies { default: ResetPolicy { mode, idle_minutes, at_hour }, ..Setup::default().session_reset }
}

fn daily(at_hour: u8, zone: Tz, begins: &str) -> Setup {
    let session_reset = policies(ResetMode::Daily, 1440, at_hour);
    Setup { session_reset, timezone: zone, begins: at(begins), ..Setup::default() }
}

/// Writes to `s` and has it answered; gives the session that took it.
async fn say(world: &mut World, text: &str) -> SessionId {
    world.send("s", text).await;
    let turn = world.turn_for(text).await;
    let session = turn.session.clone();
    turn.answer("well").await;
    world.turn_ended().await;
    session
}

/// Writes at each of the instants, from the first on; numbers the sessions that took it as they come.
fn sessions_of(setup: Setup, instants: impl IntoIterator<Item = Time>) -> Vec<usize> {
    // Each world stops the time of a runtime of its own.
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(numbered(setup, instants))
}

async fn numbered(setup: Setup, instants: impl IntoIterator<Item = Time>) -> Vec<usize> {
    let mut world = World::new(setup).await;
    let mut seen: Vec<SessionId> = Vec::new();
    let mut numbers = Vec::new();
    for instant in instants {
        world.advance_to(instant).await;
        let session = say(&mut world, "hello").await;
        if !seen.contains(&session) {
            seen.push(session.clone());
        }
        numbers.push(seen.iter().position(|known| *known == session).unwrap() + 1);
    }
    numbers
}

#[test]
fn the_daily_hour_is_the_operators_whatever_the_host_thinks() {
    let last = "2026-05-17T23:30:00+07:00";
    for (message, sessions) in [("2026-05-18T03:55:00+07:00", [1, 1]), ("2026-05-18T04:05:00+07:00", [1, 2])]
    {
        let setup = daily(4, Tz::Asia__Bangkok, last);
        assert_eq!(sessions_of(setup, [last, message].map(at)), sessions, "{message}");
    }
}

#[test]
fn a_day_on_which_the_clock_is_changed_has_one_reset_at_most() {
    for (zone, at_hour, messages, sessions) in [
        // Two o'clock does not exist.
        (
            Tz::Europe__Berlin,
            2,
            ["2026-03-29T01:50:00+01:00", "2026-03-29T03:05:00+02:00", "2026-03-29T23:00:00+02:00"],
            [1, 2, 2],
        ),
        // Two o'clock comes twice.
        (
            Tz::Europe__Berlin,
            2,
            ["2026-10-25T02:30:00+02:00", "2026-10-25T02:10:00+01:00", "2026-10-26T02:10:00+01:00"],
            [1, 1, 2],
        ),
        (
            Tz::America__Chicago,
            1,
            ["2026-11-01T00:50:00-05:00", "2026-11-01T01:10:00-05:00", "2026-11-01T01:10:00-06:00"],
            [1, 2, 2],
        ),
        // Half an hour is missing, from two to half past.
        (
            Tz::Australia__Lord_Howe,
            2,
            ["2026-10-04T01:59:00+10:30", "2026-10-04T02:31:00+11:00", "2026-10-04T22:00:00+11:00"],
            [1, 2, 2],
        ),
        // The day begins at one o'clock.
        (
            Tz::Africa__Cairo,
            0,
            ["2026-04-23T23:59:00+02:00", "2026-04-24T01:00:00+03:00", "2026-04-24T23:59:00+03:00"],
            [1, 2, 2],
        ),
        (
            Tz::Asia__Bangkok,
            0,
            ["2026-03-28T23:59:00+07:00", "2026-03-29T00:00:00+07:00", "2026-03-29T23:59:00+07:00"],
            [1, 2, 2],
        ),
    ] {
        let setup = daily(at_hour, zone, messages[0]);
        assert_eq!(sessions_of(setup, messages.map(at)), sessions, "{zone} {messages:?}");
    }
}

#[test]
fn a_busy_channel_gets_its_daily_reset_all_the_same() {
    let setup = daily(1, Tz::America__Chicago, "2026-04-15T12:00:00-05:00");
    let first = setup.begins;
    let every_20_minutes = (0..4 * 72).map(|n| first + chrono::TimeDelta::minutes(20 * n));
    let sessions = sessions_of(setup, every_20_minutes);
    // 39 messages until one o'clock, then 72 a day.
    let of = |session| sessions.iter().filter(|number| **number == session).count();
    assert_eq!([1, 2, 3, 4, 5].map(of), [39, 72, 72, 72, 33]);
}

#[tokio::test(start_paused = true)]
async fn a_restart_makes_no_session_younger() {
    let setup = Setup {
        session_reset: policies(ResetMode::Both, 60, 4),
        begins: at("2026-05-18T09:00:00+02:00"),
        ..Setup::default()
    };
    let mut world = World::new(setup.clone()).await;
    let old = say(&mut world, "good morning").await;
    let mut world = world.restart(setup).await;
    world.advance_to(at("2026-05-18T15:00:00+02:00")).await;
    // Looking changes nothing.
    world.transcript("s").await;
    world.type_into("s", "/status").await.unwrap();
    assert_eq!(world.id("s").await, old);
    world.advance(60).await;
    let new = say(&mut world, "good afternoon").await;
    let row = world.row("s").await.session;
    assert_eq!((&row.id, row.previous.as_ref()), (&new, Some(&old)));
    assert_eq!(row.beginning, Beginning::AutoReset { reason: ResetReason::Idle, had_activity: true });
}

#[tokio::test(start_paused = true)]
async fn the_reply_is_preceded_by_a_notice_that_is_still_there_after_a_restart() {
    let setup = Setup { session_reset: policies(ResetMode::Idle, 60, 4), ..Setup::default() };
    let mut world = World::new(setup.clone()).await;
    let old = say(&mut world, "one").await;
    world.advance(90 * 60).await;
    say(&mut world, "two").await;
    let notice = format!(
        "notice: This is a new session: idle 1 h. The one before is kept; /resume {old} brings it back."
    );
    let told = [notice.as_str(), "you: two", "agent: well"];
    assert_eq!(world.transcript("s").await, told);
    let mut world = world.restart(setup).await;
    assert_eq!(world.transcript("s").await, told);
    say(&mut world, "three").await;
    assert_eq!(world.transcript("s").await, [&told[..], &["you: three", "agent: well"]].concat());
}

#[tokio::test(start_paused = true)]
async fn the_agent_of_the_new_memory_reads_nothing_of_the_old_one() {
    let setup = Setup { session_reset: policies(ResetMode::Idle, 60, 4), ..Setup::default() };
    let mut world = World::new(setup).await;
    say(&mut world, "one").await;
    world.advance(61 * 60).await;
    world.send("s", "two").await;
    assert!(world.turn_for("two").await.history.is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_memory_before_is_brought_back_and_that_can_be_undone() {
    let setup = Setup { session_reset: policies(ResetMode::Both, 60, 4), ..Setup::default() };
    let mut world = World::new(setup).await;
    let old = say(&mut world, "one").await;
    world.advance(26 * 3600).await;
    let new = say(&mut world, "two").await;
    let bring_back = Command::BringBack { session: old.clone() };
    let Reply::Done { undo: Some(undo), .. } = world.engine.command(bring_back).await.unwrap() else {
        panic!("no undo")
    };
    assert_eq!(world.id("s").await, old);
    world.advance(30).await;
    assert_eq!(say(&mut world, "go on").await, old, "it is not reset at once again");
    world.engine.command(*undo).await.unwrap();
    assert_eq!(world.id("s").await, new);
}

#[tokio::test(start_paused = true)]
async fn what_a_reset_left_waiting_is_moved_and_runs() {
    let setup = Setup { session_reset: policies(ResetMode::Idle, 60, 4), ..Setup::default() };
    let mut world = World::new(setup).await;
    let old = say(&mut world, "one").await;
    world.engine.command(Command::Hold { why: "pause".to_owned() }).await.unwrap();
    world.type_into("s", "/queue later").await.unwrap();
    world.advance(61 * 60).await;
    world.send("s", "two").await;
    world.engine.command(Command::CarryOver { from: old }).await.unwrap();
    assert_eq!(world.waiting("s").await, ["two", "later"]);
    world.engine.command(Command::Release).await.unwrap();
    assert_eq!(world.run_turns(2).await, ["two", "later"]);
}

/// A child process that outlives the first turn, as whoever starts it keeps it.
fn outlives(world: &World, session: &SessionId, since: Time) {
    let sql = "INSERT INTO processes (process_group, started, boot, session, turn, program, at)
               VALUES (4711, 1, 'b', ?1, 1, 'sleep 999999', ?2)";
    let since = since.timestamp_millis();
    Connection::open(world.path("state.db")).unwrap().execute(sql, (session.as_str(), since)).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_forgotten_background_process_blocks_the_reset_says_so_and_only_for_a_day() {
    let session_reset = ResetPolicies {
        background_max_age: Some(Duration::from_secs(24 * 3600)),
        ..policies(ResetMode::Both, 120, 6)
    };
    let begins = at("2026-05-18T12:00:00+02:00");
    let mut world = World::new(Setup { session_reset, begins, ..Setup::default() }).await;
    let session = say(&mut world, "start it").await;
    outlives(&world, &session, begins);

    world.advance_to(at("2026-05-19T06:01:00+02:00")).await;
    let Ok(Reply::Shown { text, .. }) = world.type_into("s", "/status").await else { panic!("no text") };
    let line = text.lines().find(|line| line.starts_with("reset")).unwrap();
    assert!(line.contains("sleep 999999 (process group 4711) (18 h)"), "{line}");
    world.send("s", "day two").await;
    let blocked = world.event(|kind| matches!(kind, EventKind::ResetBlocked(_))).await;
    assert!(blocked.kind.words().contains("sleep 999999"), "{}", blocked.kind.words());
    let turn = world.turn_for("day two").await;
    assert_eq!(turn.session, session);
    turn.answer("well").await;
    world.turn_ended().await;

    world.advance_to(at("2026-05-20T06:01:00+02:00")).await;
    assert_ne!(say(&mut world, "day three").await, session);
}

#[tokio::test(start_paused = true)]
async fn a_stale_resume_mark_does_not_stand_against_the_idle_reset() {
    let setup = Setup { session_reset: policies(ResetMode::Idle, 30, 4), ..Setup::default() };
    let world = World::new(setup.clone()).await;
    world.send("s", "long work").await;
    let cut = world.turn_for("long work").await;
    let session = cut.session.clone();
    world.engine.command(Command::Stop { why: "test".to_owned() }).await.unwrap();
    world.engine.command(Command::CutNow).await.unwrap();
    cut.obey_stop().await;
    world.advance(1).await;
    let mut world = world.restart(setup).await;
    let resumed = world.agent.next_turn().await;
    assert_eq!(resumed.session, session);
    resumed.fail("API error 500");
    world.turn_ended().await;

    world.advance(31 * 60).await;
    let Ok(Reply::Shown { text, .. }) = world.type_into("s", "/status").await else { panic!("no text") };
    assert!(text.contains("no reset: it was cut off and will be resumed"), "{text}");
    world.advance(30 * 60).await;
    let new = say(&mut world, "new topic").await;
    assert_ne!(new, session);
    assert_eq!(world.row("s").await.session.marker, None);
}

#[tokio::test(start_paused = true)]
async fn status_says_what_the_next_message_will_do() {
    let setup = Setup { session_reset: policies(ResetMode::Both, 1440, 4), ..Setup::default() };
    let mut world = World::new(setup).await;
    let session = say(&mut world, "one").await;
    for (seconds, told) in [
        (0, "resets at 04:00 tomorrow Europe/Berlin"),
        (16 * 3600, "resets on the next message: 04:00 today Europe/Berlin has passed"),
        (9 * 3600, "resets on the next message: idle 25 h"),
    ] {
        world.advance(seconds).await;
        let Ok(Reply::Shown { text, .. }) = world.type_into("s", "/status").await else { panic!("no text") };
        assert!(text.contains(told), "{told}: {text}");
    }
    world.engine.command(Command::Suspend { session }).await.unwrap();
    let row = world.row("s").await;
    let words = row.forecast.unwrap().words(world.now(), chrono_tz::UTC);
    assert_eq!(words, "suspended: the next message starts anew");
}

#[tokio::test(start_paused = true)]
async fn two_simultaneous_messages_to_a_new_conversation_make_one_session() {
    let world = World::new(Setup::default()).await;
    let submit = |text: &str| Command::Submit {
        to: switchboard::domain::conversation::key_of("c1", Some("ann")).unwrap(),
        text: text.to_owned(),
        intent: Intent::Queue,
        source: Source::CommandLine,
    };
    let (one, two) = tokio::join!(world.engine.command(submit("one")), world.engine.command(submit("two")));
    let session = |reply| match reply {
        Ok(Reply::Accepted { session, .. }) => session,
        other => panic!("{other:?}"),
    };
    assert_eq!(session(one), session(two));
    assert_eq!(world.run_turns(2).await.len(), 2);
    assert_eq!(world.overview().await.sessions, 1);
}

#[tokio::test(start_paused = true)]
async fn a_state_that_is_no_object_is_refused_with_the_reason() {
    let world = World::new(Setup::default()).await;
    let key = switchboard::domain::conversation::key_of("c1", None).unwrap();
    let state = Command::SetAgentState { key, state: "[]".to_owned() };
    let refusal = world.engine.command(state).await.unwrap_err();
    assert_eq!(refusal.to_string(), "refused: agent_state must be a JSON object");
}
