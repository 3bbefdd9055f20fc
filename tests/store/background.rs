//! Background processes: kept before they work, in the way of a reset while they live, told of at their end.

use switchboard::domain::api::EventPage;
use switchboard::domain::background::{BackgroundProcess, Ended, Exit, KEPT_ENDED, StoppedBy, Which};
use switchboard::domain::event::Level;
use switchboard::domain::history::Body;
use switchboard::domain::id::{ProcessNumber, SessionId, TurnId};
use switchboard::domain::process::ProcessIdentity;
use switchboard::domain::reset::{Background, ResetMode};
use switchboard::domain::turn::Outcome;
use switchboard::store::{NewBackground, NewMessage, Result};

use crate::conformance::{Bench, on_each, refused};
use crate::given::{at, end, key, message, rule, run};

fn keep(bench: &mut Bench<'_>, turn: TurnId, command: &str, seconds: i64) -> Result<BackgroundProcess> {
    let new = NewBackground {
        turn,
        command: command.to_owned(),
        folder: "/srv".to_owned(),
        identity: ProcessIdentity { pid: 4711, boot: "b".to_owned(), started: 9 },
        most: 2,
    };
    bench.step(|t| t.keep_background(&new, at(seconds)))
}

fn ends(bench: &mut Bench<'_>, process: &BackgroundProcess, code: i32, seconds: i64) -> bool {
    let ended = Ended { at: at(seconds), exit: Exit::Code { code } };
    bench.step(|t| t.end_background(&process.session, process.number, &ended, at(seconds))).unwrap()
}

fn running(bench: &mut Bench<'_>) -> (SessionId, TurnId) {
    let session = bench.send(message("a", "serve it", 1)).session;
    let turn = bench.running(&session).unwrap();
    (session, turn)
}

fn finish(bench: &mut Bench<'_>, turn: TurnId, seconds: i64) {
    bench.step(|t| t.finish_turn(&end(turn, Outcome::Done, seconds))).unwrap();
}

fn of_session(bench: &Bench<'_>, session: &SessionId) -> Vec<BackgroundProcess> {
    let rows = bench.ask(|q| q.background(Some(session), 99));
    rows.into_iter().map(|row| row.process).collect()
}

#[test]
fn a_process_outlives_its_turn_and_is_the_background_work_of_its_session_until_it_ends() {
    on_each(|bench| {
        let (session, turn) = running(bench);
        let process = keep(bench, turn, "make serve", 2).unwrap();
        assert_eq!(process.number, ProcessNumber(1));
        finish(bench, turn, 3);
        let row = bench.ask(|q| q.session(&session)).unwrap();
        assert!(
            matches!(&row.background, Background::Active { work } if work[0].what == "process 1 (make serve)")
        );
        let idle = |text: &str, seconds| NewMessage {
            reset: rule(ResetMode::Idle, 60),
            ..message("a", text, seconds)
        };
        assert_eq!(bench.send(idle("is it up?", 20_000)).session, session, "it blocks the reset");
        bench.finish_all(&session);

        assert!(ends(bench, &process, 0, 20_100));
        assert!(!ends(bench, &process, 1, 20_101), "its end is kept once");
        assert_eq!(bench.ask(|q| q.session(&session)).unwrap().background, Background::None);
        assert_ne!(bench.send(idle("anew", 90_000)).session, session);
        let late = keep(bench, turn, "too late", 90_001);
        assert!(refused(late).to_string().contains("the turn has ended"));
    });
}

#[test]
fn the_next_turn_is_told_once_of_what_ended() {
    on_each(|bench| {
        let (session, turn) = running(bench);
        let process = keep(bench, turn, "make", 2).unwrap();
        ends(bench, &process, 2, 14);
        finish(bench, turn, 15);
        let told = |bench: &Bench<'_>, turn: TurnId| {
            let page = bench.ask(|q| q.conversation(&session, None, 50));
            let of_turn = page.entries.into_iter().filter(|entry| entry.turn == turn);
            of_turn.map(|entry| entry.body).collect::<Vec<_>>()
        };
        bench.send(message("a", "and?", 20));
        let next = bench.running(&session).unwrap();
        assert_eq!(
            told(bench, next),
            [
                Body::Told { text: "[background process 1 (make) ended: exit 2 after 12 s]".to_owned() },
                Body::User { text: "and?".to_owned(), steered: false },
            ]
        );
        assert_eq!(of_session(bench, &session)[0].told_in, Some(next));
        let told_in = bench.ask(|q| q.told_in(&session, next));
        assert_eq!(told_in.iter().map(BackgroundProcess::name).collect::<Vec<_>>(), ["1 (make)"]);
        assert_eq!(bench.ask(|q| q.told_in(&session, turn)), []);
        finish(bench, next, 21);
        bench.send(message("a", "again", 22));
        let third = bench.running(&session).unwrap();
        assert_eq!(told(bench, third), [Body::User { text: "again".to_owned(), steered: false }]);
    });
}

#[test]
fn a_session_has_no_more_than_it_may_and_keeps_the_newest_that_ended() {
    on_each(|bench| {
        let (session, turn) = running(bench);
        let first = keep(bench, turn, "one", 2).unwrap();
        keep(bench, turn, "two", 3).unwrap();
        let third = refused(keep(bench, turn, "three", 4)).to_string();
        assert!(third.contains("2 background processes of this session run already and 2 may"), "{third}");
        ends(bench, &first, 0, 5);
        for _ in 0..KEPT_ENDED + 3 {
            let short = keep(bench, turn, "true", 6).unwrap();
            ends(bench, &short, 0, 7);
        }
        let last = keep(bench, turn, "last", 8).unwrap();
        assert_eq!(last.number, ProcessNumber(2 + KEPT_ENDED as i64 + 4));
        let rows = of_session(bench, &session);
        assert_eq!(rows.iter().filter(|row| row.lives()).count(), 2);
        assert_eq!(rows.len(), KEPT_ENDED + 2);
        assert_eq!(bench.step(|t| t.prune_background(at(9), 99)).unwrap(), KEPT_ENDED);
        let live = bench.ask(|q| q.live_background()).into_iter().map(|row| row.process).collect::<Vec<_>>();
        assert_eq!(of_session(bench, &session), live, "what lives is never forgotten");
        assert_eq!(live.iter().map(|one| one.command.as_str()).collect::<Vec<_>>(), ["two", "last"]);
    });
}

#[test]
fn an_end_that_is_asked_for_is_told_and_the_first_who_asked_stays() {
    on_each(|bench| {
        let (session, turn) = running(bench);
        let process = keep(bench, turn, "one", 2).unwrap();
        let stop = |bench: &mut Bench<'_>, number, by| {
            bench.step(|t| t.stop_background(&session, Which::One(ProcessNumber(number)), by, at(3)))
        };
        let none = refused(stop(bench, 7, StoppedBy::Operator)).to_string();
        assert!(none.contains("no background process 7 runs here; those that run: 1 (one)"), "{none}");
        stop(bench, 1, StoppedBy::Operator).unwrap();
        let again = stop(bench, 1, StoppedBy::Agent).unwrap();
        assert_eq!(again[0].stopped_by, Some(StoppedBy::Operator));
        ends(bench, &process, 0, 4);
        assert!(refused(stop(bench, 1, StoppedBy::Agent)).to_string().contains("those that run: none"));
        let events = bench.ask(|q| q.events(EventPage::Newest, Level::Debug, Some(&session), 99));
        let words: Vec<String> = events.iter().map(|event| event.kind.words()).collect();
        for told in [
            "background process 1 (one) is to end by the operator",
            "background process 1 (one) ended by the operator: exit 0 after 2.0 s",
        ] {
            assert!(words.iter().any(|words| words == told), "{told}: {words:#?}");
        }
    });
}

#[test]
fn new_tells_all_of_the_session_to_end_and_names_them() {
    on_each(|bench| {
        let (session, turn) = running(bench);
        keep(bench, turn, "one", 2).unwrap();
        keep(bench, turn, "two", 3).unwrap();
        let ended =
            bench.step(|t| t.reset_session(&key("a"), &SessionId::new(at(4), 9), None, at(4))).unwrap();
        assert_eq!(ended.iter().map(BackgroundProcess::name).collect::<Vec<_>>(), ["1 (one)", "2 (two)"]);
        let rows = of_session(bench, &session);
        assert!(rows.iter().all(|row| row.stopped_by == Some(StoppedBy::Reset) && row.lives()));
    });
}

#[test]
fn a_start_after_a_crash_keeps_what_is_known_of_them() {
    on_each(|bench| {
        let (session, turn) = running(bench);
        let process = keep(bench, turn, "make serve", 2).unwrap();
        bench.step(|t| t.open_run(&run(2, 10))).unwrap();
        assert_eq!(of_session(bench, &session), [process]);
    });
}
