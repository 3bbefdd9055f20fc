//! What starts of an engine found, as a screen is told it.

use chrono::TimeDelta;
use switchboard::domain::Time;
use switchboard::domain::api::{RecoveryPage, RecoveryRow, SessionRow, StartRow};
use switchboard::domain::id::{ChatType, RunId, SessionKey, TurnId};
use switchboard::domain::marker::{Clearing, Marker, ResumePending, ResumeReason, SuspendReason, Suspended};
use switchboard::domain::recovery::{BootGuard, LastExit, RecoveryState, Uncleanness, Verdict};
use switchboard::domain::session::{Hold, HoldReason, Session, SessionState};
use switchboard::domain::turn::Outcome;

use super::models::{Engine, ago, key, now, running, session};

/// A start that came after `exit`.
pub fn start(number: u32, at: Time, exit: LastExit) -> StartRow {
    StartRow {
        run: RunId(format!("run-{number}")),
        pid: 4000 + number,
        version: "0.1.0".to_owned(),
        started_at: at,
        ended_at: None,
        exit: Some(exit),
        guard: BootGuard::Open,
        in_row: 0,
        pending: 0,
        resumed: 0,
        owed_nothing: 0,
        given_up: 0,
        cut_jobs: Vec::new(),
    }
}

/// A kill, seen by a start at `at`.
pub fn killed(at: Time) -> LastExit {
    LastExit::Unclean { why: Uncleanness::Missing, last_sign_of_life: at - TimeDelta::seconds(14) }
}

/// A start without sessions.
pub fn page(start: StartRow) -> RecoveryPage {
    RecoveryPage { chosen: Some(start), max_cuts: 3, boot_guard_starts: 5, ..RecoveryPage::default() }
}

pub fn pending(since: Time) -> Marker {
    Marker::ResumePending(ResumePending { reason: ResumeReason::RestartInterrupted, since })
}

pub fn stuck(since: Time) -> Marker {
    Marker::Suspended(Suspended { reason: SuspendReason::StuckLoop, since })
}

/// The session with a marker, and the state that follows from it.
pub fn marked(row: SessionRow, marker: Marker, cuts: u32) -> SessionRow {
    let (reason, since) = (HoldReason::Suspended, marker.since());
    let given_up = matches!(marker, Marker::Suspended(_)).then_some(Hold { reason, since, probe_at: None });
    let hold = given_up.or(row.session.hold);
    let session = Session { marker: Some(marker), cuts, hold, ..row.session };
    let running = usize::from(row.turn.is_some());
    SessionRow { state: SessionState::of(running, 0, 0, None, Some(marker)), session, ..row }
}

/// What a start decided about a session that it found cut off.
pub fn row(session: &SessionRow, cuts: u32, state: RecoveryState) -> RecoveryRow {
    let marker = session.session.marker;
    let verdict = marker.map(|marker| match marker {
        Marker::ResumePending(mark) => Verdict::Pending { mark, cuts },
        Marker::Suspended(suspended) => Verdict::Suspend { suspended, cuts },
    });
    RecoveryRow {
        session: session.session.id.clone(),
        key: session.session.key.clone(),
        name: session.session.name().to_owned(),
        verdict: Some(verdict.unwrap_or(Verdict::OwesNothing)),
        cuts,
        message: None,
        tool: None,
        marker,
        last_error: None,
        state,
    }
}

/// A start after a kill with a session in every state, and a row of starts before it.
pub fn after_a_kill(now: Time, sessions: &[SessionRow]) -> (Vec<SessionRow>, Vec<RecoveryPage>) {
    let at = now - TimeDelta::seconds(66);
    let cut = |index: usize, cuts| marked(sessions[index].clone(), pending(at), cuts);
    let [report, waits, held] = [cut(0, 2), cut(1, 1), cut(2, 1)];
    let old = marked(sessions[3].clone(), pending(now - TimeDelta::hours(3)), 1);
    let scraper = marked(sessions[4].clone(), stuck(at), 3);
    let notes = sessions[5].clone();
    let failed = marked(sessions[6].clone(), pending(at), 2);
    let resuming = RecoveryState::Resuming { turn: TurnId(44), since: now - TimeDelta::seconds(6) };
    let outcome = Outcome::Failed { error: "connection refused: http://localhost:8080/v1".to_owned() };
    let rows = vec![
        RecoveryRow {
            message: Some("Back the database up".to_owned()),
            tool: Some("terminal pg_dump --format=custom".to_owned()),
            ..row(&report, 2, resuming)
        },
        RecoveryRow {
            message: Some("Translate the manual into German".to_owned()),
            ..row(&waits, 1, RecoveryState::Waits)
        },
        RecoveryRow {
            message: Some("Watch the feed".to_owned()),
            ..row(&held, 1, RecoveryState::HeldByBootGuard)
        },
        RecoveryRow { message: Some("Sort the photos".to_owned()), ..row(&old, 1, RecoveryState::Stale) },
        RecoveryRow {
            last_error: Some("no output for 600 s".to_owned()),
            ..row(&scraper, 3, RecoveryState::GivenUp)
        },
        row(&notes, 0, RecoveryState::Cleared { by: Clearing::NothingOwed, at }),
        RecoveryRow {
            message: Some("Post the summary".to_owned()),
            ..row(&failed, 2, RecoveryState::Failed { turn: TurnId(45), outcome })
        },
    ];
    let this = StartRow {
        in_row: 2,
        pending: 5,
        resumed: 2,
        owed_nothing: 1,
        given_up: 1,
        ..start(4, at, killed(at))
    };
    let (before, clean, first) =
        (at - TimeDelta::minutes(2), at - TimeDelta::hours(5), at - TimeDelta::days(1));
    let earlier = [
        StartRow { in_row: 1, pending: 1, resumed: 1, ..start(3, before, killed(before)) },
        start(2, clean, LastExit::Clean { at: clean - TimeDelta::seconds(66), cut: Vec::new() }),
        start(1, first, LastExit::First),
    ];
    let answered = RecoveryState::Cleared { by: Clearing::Answered, at: before };
    let mut pages = vec![RecoveryPage { sessions: rows, ..page(this) }];
    pages.extend(earlier.map(page));
    let past = RecoveryRow { marker: None, verdict: rows_verdict(before), ..row(&notes, 1, answered) };
    pages[1].sessions = vec![RecoveryRow { message: Some("Summarise the week".to_owned()), ..past }];
    (vec![report, waits, held, old, scraper, notes, failed], pages)
}

fn rows_verdict(since: Time) -> Option<Verdict> {
    let mark = ResumePending { reason: ResumeReason::RestartInterrupted, since };
    Some(Verdict::Pending { mark, cuts: 1 })
}

/// A home after a kill: sessions in every state that a start leaves them in.
pub fn home() -> Engine {
    let local = |number, name: &str| session(number, SessionKey::local(name).unwrap(), "", 66);
    let report = running(session(1, key("telegram", ChatType::Dm, "report"), "nightly report", 66), 44, 6, 2);
    let waits = SessionRow { resume_place: Some(0), ..local(2, "translation") };
    let failed = SessionRow {
        last_error: Some("connection refused: http://localhost:8080/v1".to_owned()),
        ..local(7, "summary")
    };
    let feed = local(3, "feed");
    let guard = Hold { reason: HoldReason::BootGuard, since: ago(66), probe_at: None };
    let rows = [
        report,
        waits,
        SessionRow { session: Session { hold: Some(guard), ..feed.session }, ..feed },
        local(4, "photos"),
        session(5, key("discord", ChatType::Group, "77"), "scraper", 3700),
        session(6, key("telegram", ChatType::Dm, "Ana"), "release notes", 90),
        failed,
    ];
    let (mut sessions, recovery) = after_a_kill(now(), &rows);
    sessions.sort_by_key(|row| row.state.rank());
    Engine { sessions, recovery, ..Engine::fresh() }
}

/// A home with this one start, and no session.
pub fn home_started(start: StartRow) -> Engine {
    Engine { recovery: vec![page(start)], ..Engine::fresh() }
}
