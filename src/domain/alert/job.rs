//! The alerts of scheduled tasks: raised and resolved by what is told of them.

use std::cmp::Ordering;

use super::{AlertKey, NewAlert, RaisedBy, Subject};
use crate::domain::cron::{CronEvent, JobEvent, JobId, SCHEDULER_FROM};
use crate::domain::event::{count, excerpt};
use crate::domain::sanitize::one_line;
use crate::domain::spending::Reached;

/// What becomes of an alert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AlertChange {
    /// It is raised.
    Raise(NewAlert),
    /// It is resolved, if it is open.
    Resolve(AlertKey),
    /// It is resolved, if it is open, and whoever was told of it is told that.
    Recover {
        /// Its key.
        key: AlertKey,
        /// What is told.
        words: String,
    },
}

/// What becomes of a job's alerts by something that happened to it; a daily limit holds so many of its runs.
pub fn by_job_event(job: &JobId, event: &JobEvent, held: usize) -> Vec<AlertChange> {
    use AlertChange::{Raise, Resolve};
    let new = |key| NewAlert::about_job(job, key, &event.words(job));
    let (vanished, broken) = (AlertKey::vanished_job(job), AlertKey::broken_record(job));
    match event {
        JobEvent::InError { .. } => vec![Raise(new(broken)), Resolve(vanished)],
        JobEvent::Vanished => vec![Raise(new(vanished)), Resolve(broken)],
        JobEvent::Appeared { .. } => vec![Resolve(vanished), Resolve(broken)],
        JobEvent::Changed { .. } => vec![Resolve(broken)],
        JobEvent::VanishedWithFile => vec![Resolve(broken)],
        JobEvent::Gone | JobEvent::Removed => vec![Resolve(AlertKey::failing_job(job)), Resolve(broken)],
        JobEvent::LetGo { .. } => vec![Resolve(AlertKey::held_job(job))],
        JobEvent::RunBegan { .. } | JobEvent::RunEnded { .. } if held == 0 => {
            vec![Resolve(AlertKey::held_job(job))]
        }
        _ => Vec::new(),
    }
}

/// What becomes of a job's alert by the end of a run, after which there are so many failures in a row;
/// `why` says why it did not succeed.
pub fn by_failures(job: &JobId, before: u32, now: u32, why: Option<&str>) -> Option<AlertChange> {
    let key = AlertKey::failing_job(job);
    match now.cmp(&before) {
        Ordering::Less => {
            let words = format!("job {job} works again; it had failed {}", in_a_row(before));
            Some(AlertChange::Recover { key, words })
        }
        Ordering::Equal => None,
        Ordering::Greater => {
            let why = why.map(|why| format!(": {}", excerpt(why))).unwrap_or_default();
            let new = NewAlert::about_job(job, key, &format!("job {job} failed {}{why}", in_a_row(now)));
            Some(AlertChange::Raise(NewAlert { times: Some(now), ..new }))
        }
    }
}

/// The alert of a job whose run waits because a daily limit is reached, which no session of it tells.
pub fn held_job(job: &JobId, reached: Reached) -> NewAlert {
    let limit = reached.words();
    let words = format!(
        "job {job} is held: {limit} is reached; it goes on the next day, or today by /cron run {job}"
    );
    NewAlert::about_job(job, AlertKey::held_job(job), &words)
}

/// What becomes of the alert of records that are no job's; each with its place and what is wrong with it.
pub fn by_nobodys_records<'a>(records: impl IntoIterator<Item = (usize, &'a [String])>) -> AlertChange {
    let mut words = records.into_iter().map(|(place, faults)| {
        let why = faults.join("; ");
        format!("record {} of jobs.json can't be used: {}", place + 1, excerpt(&why))
    });
    let key = AlertKey::nobodys_records();
    let Some(first) = words.next() else { return AlertChange::Resolve(key) };
    let words = match words.count() {
        0 => first,
        more => format!("{first}; and {more} more"),
    };
    AlertChange::Raise(NewAlert::by_itself(key, Subject::JobsFile, &words))
}

/// What becomes of the alerts of `jobs.json` and of the ticker by something that happened to them.
pub fn by_cron_event(event: &CronEvent) -> Option<AlertChange> {
    let raise = |key, subject| Some(AlertChange::Raise(NewAlert::by_itself(key, subject, &event.words())));
    match event {
        CronEvent::FileMissing { .. } | CronEvent::FileUnreadable { .. } => {
            raise(AlertKey::jobs_file(), Subject::JobsFile)
        }
        CronEvent::RanElsewhere { looks: SCHEDULER_FROM.., .. } => {
            raise(AlertKey::other_scheduler(), Subject::JobsFile)
        }
        CronEvent::FileRead { .. } => Some(AlertChange::Resolve(AlertKey::jobs_file())),
        CronEvent::TickerLate { .. } => raise(AlertKey::ticker(), Subject::Ticker),
        CronEvent::TickerRecovered => Some(AlertChange::Resolve(AlertKey::ticker())),
        _ => None,
    }
}

impl NewAlert {
    fn about_job(job: &JobId, key: AlertKey, words: &str) -> Self {
        Self::by_itself(key, Subject::Job(job.clone()), words)
    }

    fn by_itself(key: AlertKey, subject: Subject, words: &str) -> Self {
        Self { key, subject, words: one_line(words).into_owned(), times: None, by: RaisedBy::Itself }
    }
}

fn in_a_row(failures: u32) -> String {
    match failures {
        1 => "once".to_owned(),
        many => format!("{} in a row", count(many as usize, "time")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Time;
    use crate::domain::alert::{Acknowledgement, Alert};
    use AlertChange::{Raise, Recover, Resolve};
    use chrono::TimeDelta;
    use proptest::prelude::*;
    use std::time::Duration;

    fn at(second: i64) -> Time {
        Time::UNIX_EPOCH + TimeDelta::seconds(second)
    }

    fn job() -> JobId {
        "日報".parse().unwrap()
    }

    #[test]
    fn a_job_that_is_gone_or_broken_has_an_alert_until_it_is_back_and_whole() {
        let job = job();
        let changes = |event| by_job_event(&job, &event, 0);
        let [Raise(gone), Resolve(broken)] = &changes(JobEvent::Vanished)[..] else { panic!() };
        let faults = JobEvent::InError { why: "schedule:\nbad".to_owned() };
        let [Raise(new), Resolve(back)] = &changes(faults)[..] else { panic!() };
        assert_eq!((&new.key, back), (broken, &gone.key), "a broken record is not gone");
        assert_eq!(new.words, "job 日報 can't be used: schedule: bad");
        assert_eq!(changes(JobEvent::Changed { next: None }), [Resolve(broken.clone())]);
        let both = [Resolve(gone.key.clone()), Resolve(broken.clone())];
        assert_eq!(changes(JobEvent::Appeared { next: None }), both);
        assert_eq!(
            changes(JobEvent::Removed),
            [Resolve(AlertKey::failing_job(&job)), Resolve(broken.clone())]
        );
        assert_eq!(changes(JobEvent::VanishedWithFile), [Resolve(broken.clone())], "its file has the alert");
        assert_eq!(changes(JobEvent::Gone), changes(JobEvent::Removed), "nobody misses it");
        let keys = [broken.clone(), gone.key.clone(), AlertKey::failing_job(&job), AlertKey::jobs_file()];
        for key in keys.into_iter().chain([AlertKey::nobodys_records()]) {
            assert_eq!(key.as_str().parse(), Ok(key.clone()), "it can be typed");
        }
    }

    #[test]
    fn records_that_are_no_job_s_have_one_alert_until_all_are_whole_or_gone() {
        let (one, two) = (vec!["id: missing".to_owned()], vec!["no\nobject".to_owned()]);
        let words = |change| match change {
            Raise(NewAlert { subject: Subject::JobsFile, words, .. }) => words,
            other => panic!("{other:?}"),
        };
        let first = "record 3 of jobs.json can't be used: id: missing";
        assert_eq!(words(by_nobodys_records([(2, &one[..])])), first);
        assert_eq!(words(by_nobodys_records([(2, &one[..]), (4, &two[..])])), format!("{first}; and 1 more"));
        assert_eq!(by_nobodys_records([]), Resolve(AlertKey::nobodys_records()));
    }

    #[test]
    fn the_words_of_a_failing_job_count_and_say_why() {
        let words = |change| match change {
            Some(Raise(new)) => new.words,
            Some(Recover { words, .. }) => words,
            other => panic!("{other:?}"),
        };
        let job = job();
        assert_eq!(words(by_failures(&job, 0, 1, Some("no\nroute"))), "job 日報 failed once: no route");
        assert_eq!(words(by_failures(&job, 2, 3, None)), "job 日報 failed 3 times in a row");
        let again = words(by_failures(&job, 7, 0, None));
        assert_eq!(again, "job 日報 works again; it had failed 7 times in a row");
        assert_eq!(by_failures(&job, 2, 2, None), None, "a run that was cut says nothing");
        assert_eq!(by_failures(&job, 0, 0, None), None);
    }

    /// What a person is told of a job that fails and works at these seconds, with the alert command run at
    /// every second from the first to `until`: each second with the number of failures; 0: it works again.
    fn told(
        runs: &[(i64, bool)],
        known_from: Option<i64>,
        repeat: Option<Duration>,
        until: i64,
    ) -> Vec<(i64, u32)> {
        let (mut alert, mut failures, mut told) = (None::<Alert>, 0, Vec::new());
        for second in 0..=until {
            for (_, works) in runs.iter().filter(|(when, _)| *when == second) {
                let now = if *works { 0 } else { failures + 1 };
                alert = match by_failures(&job(), failures, now, Some("no")) {
                    Some(Raise(new)) => Some(Alert::raised(alert, &new, at(second))),
                    Some(Recover { words, .. }) => alert.and_then(|it| it.recovered(&words, at(second))),
                    _ => alert,
                };
                failures = now;
            }
            let Some(mut it) = alert.take() else { continue };
            if known_from == Some(second) {
                it = it.acknowledged(Acknowledgement::Given, at(second)).unwrap();
            }
            if it.due(repeat).is_some_and(|due| due <= at(second)) {
                told.push((second, if it.is_open() { it.raises } else { 0 }));
                it = it.clone().tried(it.news, None, at(second));
            }
            alert = Some(it);
        }
        told
    }

    const QUARTER: Option<Duration> = Some(Duration::from_secs(900));

    /// A job that fails each minute from the second 60 on, and works at `works`.
    fn fails_each_minute(works: i64) -> Vec<(i64, bool)> {
        (1..)
            .map(|n| n * 60)
            .take_while(|second| *second < works)
            .map(|at| (at, false))
            .chain([(works, true)])
            .collect()
    }

    #[test]
    fn told_are_the_first_failure_the_third_then_one_an_hour_with_the_count_and_one_recovery() {
        let runs = fails_each_minute(3 * 3600);
        let expected = [(60, 1), (180, 3), (3780, 63), (7380, 123), (10_800, 0)];
        assert_eq!(told(&runs, None, QUARTER, 20_000), expected);
        let day = Some(Duration::from_secs(86_400));
        assert_eq!(
            told(&runs, None, day, 20_000),
            [(60, 1), (180, 3), (10_800, 0)],
            "or as seldom as is set"
        );
        assert_eq!(told(&runs, None, None, 20_000), [(60, 1), (180, 3), (10_800, 0)]);
    }

    #[test]
    fn one_failure_is_told_once_and_so_is_its_recovery() {
        assert_eq!(told(&[(5, false)], None, QUARTER, 9000), [(5, 1)]);
        assert_eq!(told(&[(5, false), (4000, true), (4001, true)], None, QUARTER, 9000), [(5, 1), (4000, 0)]);
    }

    #[test]
    fn somebody_who_knows_is_told_of_the_recovery_alone() {
        let runs = fails_each_minute(9000);
        assert_eq!(told(&runs, Some(100), QUARTER, 20_000), [(60, 1), (9000, 0)]);
        assert_eq!(told(&runs, Some(4000), QUARTER, 20_000), [(60, 1), (180, 3), (3780, 63), (9000, 0)]);
    }

    #[test]
    fn a_job_needs_a_person_from_the_third_failure_in_a_row_on() {
        let (mut alert, mut needs) = (None, Vec::new());
        for failures in 1..=4 {
            let Some(Raise(new)) = by_failures(&job(), failures - 1, failures, None) else { panic!() };
            let raised = Alert::raised(alert, &new, at(i64::from(failures)));
            needs.push(raised.needs_you());
            alert = Some(raised);
        }
        assert_eq!(needs, [false, false, true, true]);
    }

    #[test]
    fn a_trouble_that_nobody_was_told_of_ends_without_a_word() {
        let Some(Raise(new)) = by_failures(&job(), 0, 1, None) else { panic!() };
        let failed = Alert::raised(None, &new, at(1)).tried(1, Some("no network"), at(1));
        let recovered = failed.recovered("works", at(2)).unwrap();
        assert_eq!((recovered.due(QUARTER), recovered.is_to_tell()), (None, false));
    }

    #[test]
    fn what_happens_while_it_is_told_is_told_after_it() {
        let raise = |alert, failures| match by_failures(&job(), failures - 1, failures, None) {
            Some(Raise(new)) => Alert::raised(alert, &new, at(1)),
            other => panic!("{other:?}"),
        };
        let first = raise(None, 1);
        let second = raise(Some(first.clone()), 2);
        assert_eq!(second.clone().tried(first.news, None, at(1)).due(QUARTER), None, "the second is folded");
        let third = raise(Some(second), 3).tried(first.news, None, at(1));
        assert_eq!(third.due(QUARTER), Some(at(1)));
        let over = third.clone().recovered("works", at(1)).unwrap().tried(third.news, None, at(1));
        assert_eq!(over.due(QUARTER), Some(at(1)));
    }

    proptest! {
        #[test]
        fn however_a_job_fails_each_streak_is_told_once_at_its_first_and_third_and_at_most_hourly_after(
            ends in proptest::collection::vec((1_i64..400, proptest::bool::weighted(0.1)), 1..120),
        ) {
            let mut second = 0;
            let runs: Vec<(i64, bool)> = ends.into_iter().map(|(gap, works)| { second += gap; (second, works) }).collect();
            let (mut failures, mut expected) = (0, Vec::new());
            for (second, works) in &runs {
                match (works, failures) {
                    (true, 1..) => { expected.push((*second, 0)); failures = 0; }
                    (true, 0) => {}
                    (false, _) => { failures += 1; if failures == 1 || failures == 3 { expected.push((*second, failures)); } }
                }
            }
            let told = told(&runs, None, QUARTER, second);
            let of_change: Vec<_> = told.iter().copied().filter(|told| expected.contains(told)).collect();
            prop_assert_eq!(&of_change, &expected);
            for pair in told.windows(2) {
                if !expected.contains(&pair[1]) {
                    prop_assert!(pair[1].0 - pair[0].0 == 3600 && pair[1].1 >= 3, "{:?}", pair);
                }
            }
        }
    }

    #[test]
    fn an_unreadable_file_has_an_alert_until_it_is_read() {
        let event = CronEvent::FileUnreadable { why: "line 3:\nno comma".to_owned(), stored: 2 };
        let Some(AlertChange::Raise(new)) = by_cron_event(&event) else { panic!() };
        assert_eq!(new.words, "jobs.json is unreadable: line 3: no comma; 2 jobs of the stored copy go on");
        let read = CronEvent::FileRead { jobs: 2, in_error: 0 };
        assert_eq!(by_cron_event(&read), Some(AlertChange::Resolve(new.key)));
    }

    #[test]
    fn a_late_ticker_has_an_alert_until_it_works() {
        let late = CronEvent::TickerLate { why: "disk\nfull".to_owned() };
        let Some(AlertChange::Raise(new)) = by_cron_event(&late) else { panic!() };
        assert_eq!((new.subject, new.words.as_str()), (Subject::Ticker, "the ticker is late: disk full"));
        assert_eq!(new.key.as_str().parse(), Ok(new.key.clone()), "it can be typed");
        assert_eq!(by_cron_event(&CronEvent::TickerRecovered), Some(AlertChange::Resolve(new.key)));
    }
}
