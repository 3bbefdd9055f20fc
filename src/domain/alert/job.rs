//! The alerts of scheduled tasks: raised and resolved by what is told of them.

use super::{AlertKey, NewAlert, RaisedBy, Subject};
use crate::domain::cron::{CronEvent, JobEvent, JobId};
use crate::domain::sanitize::one_line;

/// What an event does to an alert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AlertChange {
    /// It is raised.
    Raise(NewAlert),
    /// It is resolved, if it is open.
    Resolve(AlertKey),
}

/// What becomes of a job's alerts by something that happened to it.
pub fn by_job_event(job: &JobId, event: &JobEvent) -> Option<AlertChange> {
    let raise = |key, words: String| {
        Some(AlertChange::Raise(NewAlert {
            key,
            subject: Subject::Job(job.clone()),
            words: one_line(&words).into_owned(),
            by: RaisedBy::Itself,
        }))
    };
    match event {
        JobEvent::Flagged { .. } => raise(AlertKey::failing_job(job), event.words(job)),
        JobEvent::Recovered | JobEvent::Removed => Some(AlertChange::Resolve(AlertKey::failing_job(job))),
        JobEvent::Vanished => raise(AlertKey::vanished_job(job), event.words(job)),
        JobEvent::Appeared { .. } => Some(AlertChange::Resolve(AlertKey::vanished_job(job))),
        _ => None,
    }
}

/// What becomes of the alerts of `jobs.json` and of the ticker by something that happened to them.
pub fn by_cron_event(event: &CronEvent) -> Option<AlertChange> {
    let raise = |key, subject| {
        let words = one_line(&event.words()).into_owned();
        Some(AlertChange::Raise(NewAlert { key, subject, words, by: RaisedBy::Itself }))
    };
    match event {
        CronEvent::FileUnreadable { .. } => raise(AlertKey::jobs_file(), Subject::JobsFile),
        CronEvent::FileRead { .. } => Some(AlertChange::Resolve(AlertKey::jobs_file())),
        CronEvent::TickerLate { .. } => raise(AlertKey::ticker(), Subject::Ticker),
        CronEvent::TickerRecovered => Some(AlertChange::Resolve(AlertKey::ticker())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_fails_or_vanishes_has_an_alert_until_it_works_or_is_back() {
        let job: JobId = "日報".parse().unwrap();
        let raised = |event| match by_job_event(&job, &event) {
            Some(AlertChange::Raise(new)) => new,
            other => panic!("{other:?}"),
        };
        let fails = raised(JobEvent::Flagged { failures: 3 });
        assert_eq!(fails.words, "job 日報 failed 3 times in a row");
        assert_eq!(by_job_event(&job, &JobEvent::Recovered), Some(AlertChange::Resolve(fails.key.clone())));
        let gone = raised(JobEvent::Vanished);
        assert_ne!(gone.key, fails.key);
        let back = JobEvent::Appeared { next: None };
        assert_eq!(by_job_event(&job, &back), Some(AlertChange::Resolve(gone.key.clone())));
        for key in [fails.key, gone.key, AlertKey::jobs_file()] {
            assert_eq!(key.as_str().parse(), Ok(key.clone()), "it can be typed");
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
