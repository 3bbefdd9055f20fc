//! Alerts: what blocks on a person, one each, until it is resolved or acknowledged.
//!
//! An alert is *raised* by what went wrong and *resolved* by what puts it right; both happen in the step
//! of the store that changes the thing itself. A person *acknowledges* it: it stays open, but the badge
//! does not count it any more and nobody is told again. Raising an open alert once more is counted and
//! tells nothing new; only after it was resolved a new raise begins it anew.
//!
//! The failures of a scheduled task are *folded*: told are the first, the third in a row, then one an hour
//! with their number, and that it works again. It counts as needing a person from the third on.

mod job;
mod key;
mod session;

use serde::{Deserialize, Serialize};
use std::time::Duration;

use super::Time;
use super::cron::{FLAGGED_FROM, JobId};
use super::event::count;
use super::id::SessionId;
use super::queue::Refusal;

pub use self::job::{AlertChange, by_cron_event, by_failures, by_job_event, by_nobodys_records, held_job};
pub use self::key::{AlertKey, BadAlertKey};
pub use self::session::{SessionAlarm, blocked_reset, boot_guard, left_waiting, left_waiting_words};

/// After how long a telling that failed is tried again, if the next one is not due before.
pub const RETRY_AFTER: Duration = Duration::from_secs(5 * 60);

/// A folded alert is told again by itself after this long at the earliest.
pub const FOLDED_REPEAT: Duration = Duration::from_secs(60 * 60);

/// One thing that blocks on a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alert {
    /// What it is about and why: at most one alert of a key is open.
    pub key: AlertKey,
    /// What the console jumps to.
    pub subject: Subject,
    /// What is wrong and what helps, in one line. Nothing foreign in it needs to be sanitized any more.
    pub words: String,
    /// When it was raised first since it was last resolved.
    pub raised_at: Time,
    /// How often it was raised since then.
    pub raises: u32,
    /// When a person said that they know.
    pub acknowledged_at: Option<Time>,
    /// When what was wrong was put right.
    pub resolved_at: Option<Time>,
    /// How many things there were since it was raised that are told at once.
    pub news: u32,
    /// How the alert command told it.
    pub told: Told,
}

/// What an alert is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "id", rename_all = "snake_case")]
pub enum Subject {
    /// A session.
    Session(SessionId),
    /// A scheduled task.
    Job(JobId),
    /// The file of the scheduled tasks.
    JobsFile,
    /// The ticker, which takes the slots of scheduled tasks.
    Ticker,
    /// The boot guard, which keeps sessions from being resumed by themselves.
    BootGuard,
}

/// How an alert was told since it was raised.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// How often the alert command did it.
    pub times: u32,
    /// So many of the alert's news nobody has to be told of any more.
    pub news: u32,
    /// When it was last tried, with or without success.
    pub tried_at: Option<Time>,
    /// Why the last try failed.
    pub failure: Option<String>,
}

/// An alert that is to be raised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAlert {
    /// Its key.
    pub key: AlertKey,
    /// What it is about.
    pub subject: Subject,
    /// Its words, already sanitized.
    pub words: String,
    /// How often it happened, where whoever raises it counts that; else each raise is one.
    pub times: Option<u32>,
    /// Who brought it about.
    pub by: RaisedBy,
}

/// Who brought about what an alert tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RaisedBy {
    /// It happened by itself.
    Itself,
    /// A person did it, who therefore knows: the alert begins as acknowledged.
    Operator,
}

/// What a person does about an alert.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Acknowledgement {
    /// They know: nobody is told again.
    #[default]
    Given,
    /// They take that back: it counts again.
    TakenBack,
}

impl Told {
    /// `told 2 times, last 14:02`, or why not; `clock` shows an instant as a person reads it.
    pub fn words(&self, clock: impl Fn(Time) -> String) -> String {
        let at = self.tried_at.map(clock).unwrap_or_default();
        match (&self.failure, self.times) {
            (Some(why), 0) => format!("NOT told, tried {at}: {why}"),
            (Some(why), times) => {
                format!("told {} before, NOT again, tried {at}: {why}", count(times as usize, "time"))
            }
            (None, 0) => "to nobody yet".to_owned(),
            (None, times) => format!("told {}, last {at}", count(times as usize, "time")),
        }
    }
}

impl Alert {
    /// The alert of a key after it was raised, with what was kept of it before.
    pub fn raised(before: Option<Self>, new: &NewAlert, at: Time) -> Self {
        let NewAlert { key, subject, words, times, by } = new.clone();
        match before.filter(Self::is_open) {
            Some(open) => {
                let raises = times.unwrap_or(open.raises.saturating_add(1));
                let flagged = key.is_folded() && open.raises < FLAGGED_FROM && raises >= FLAGGED_FROM;
                let news = open.news + u32::from(flagged);
                Self { subject, words, raises, news, ..open }
            }
            None => Self {
                key,
                subject,
                words,
                raised_at: at,
                raises: times.unwrap_or(1),
                acknowledged_at: (by == RaisedBy::Operator).then_some(at),
                resolved_at: None,
                news: 1,
                told: Told::default(),
            },
        }
    }

    /// The alert after what was wrong was put right; none if it is not open. Nobody is told of that.
    pub fn resolved(self, at: Time) -> Option<Self> {
        let told = Told { news: self.news, ..self.told.clone() };
        self.is_open().then_some(Self { resolved_at: Some(at), told, ..self })
    }

    /// The alert after what was wrong works again, as `words` say; none if it is not open. Whoever was told
    /// of the trouble is told of its end.
    pub fn recovered(self, words: &str, at: Time) -> Option<Self> {
        let resolved = self.resolved(at)?;
        let news = resolved.news + u32::from(resolved.told.times > 0);
        Some(Self { words: words.to_owned(), news, ..resolved })
    }

    /// The alert after the session that it is about was followed by another under its key: what was left
    /// waiting can be moved there. None if nothing becomes of it.
    pub fn followed(self, by: &SessionId) -> Option<Self> {
        let moves_on = self.is_open() && self.key.left_in().is_some();
        moves_on.then(|| Self { subject: Subject::Session(by.clone()), ..self })
    }

    /// The alert after a person said that they know, or took that back.
    ///
    /// # Errors
    ///
    /// It is not open, or that was said already.
    pub fn acknowledged(self, what: Acknowledgement, at: Time) -> Result<Self, Refusal> {
        let refuse = |why: &str| Err(Refusal::NothingTo(format!("alert {} {why}", self.key)));
        match (what, self.acknowledged_at) {
            _ if !self.is_open() => refuse("is resolved"),
            (Acknowledgement::Given, Some(_)) => refuse("is acknowledged already"),
            (Acknowledgement::TakenBack, None) => refuse("is not acknowledged"),
            (Acknowledgement::Given, None) => Ok(Self { acknowledged_at: Some(at), ..self }),
            (Acknowledgement::TakenBack, Some(_)) => Ok(Self { acknowledged_at: None, ..self }),
        }
    }

    /// The alert after the command was run for it as it was with so many `news`, with what failed.
    pub fn tried(self, news: u32, failure: Option<&str>, at: Time) -> Self {
        let (times, news) = match failure {
            None => (self.told.times + 1, news.max(self.told.news)),
            Some(_) => (self.told.times, self.told.news),
        };
        let failure = failure.map(str::to_owned);
        Self { told: Told { times, news, tried_at: Some(at), failure }, ..self }
    }

    /// Whether what it tells of is still so.
    pub fn is_open(&self) -> bool {
        self.resolved_at.is_none()
    }

    /// Whether a person must still look: one badge counts these.
    pub fn needs_you(&self) -> bool {
        self.is_open() && self.acknowledged_at.is_none() && !self.may_pass()
    }

    /// Whether it is to be told, now or at some time.
    pub fn is_to_tell(&self) -> bool {
        self.needs_you() || self.has_news()
    }

    /// Whether there is something that is told at once, whatever was told before.
    pub fn has_news(&self) -> bool {
        self.news > self.told.news && (self.acknowledged_at.is_none() || !self.is_open())
    }

    /// When the alert command is due to tell it: once for each news, then after each `repeat` (none: never
    /// again) as long as it needs a person. One that could not be told is tried again.
    pub fn due(&self, repeat: Option<Duration>) -> Option<Time> {
        if !self.is_to_tell() {
            return None;
        }
        let Some(tried_at) = self.told.tried_at else { return Some(self.raised_at) };
        let again = match self.key.is_folded() {
            true => repeat.map(|repeat| repeat.max(FOLDED_REPEAT)),
            false => repeat,
        };
        let pause = match (&self.told.failure, again) {
            (None, _) if self.has_news() => Some(Duration::ZERO),
            (None, again) => again,
            (Some(_), None) => Some(RETRY_AFTER),
            (Some(_), Some(again)) => Some(again.min(RETRY_AFTER)),
        };
        pause.map(|pause| tried_at + pause)
    }

    /// Whether it happened so seldom that the next run may put it right.
    fn may_pass(&self) -> bool {
        self.key.is_folded() && self.raises < FLAGGED_FROM
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::TimeDelta;

    const REPEAT: Option<Duration> = Some(Duration::from_secs(900));

    fn at(second: i64) -> Time {
        Time::UNIX_EPOCH + TimeDelta::seconds(second)
    }

    fn new(words: &str) -> NewAlert {
        let session = SessionId::new(at(0), 1);
        NewAlert {
            key: AlertKey::session(&session),
            subject: Subject::Session(session),
            words: words.to_owned(),
            times: None,
            by: RaisedBy::Itself,
        }
    }

    fn raised() -> Alert {
        Alert::raised(None, &new("stuck"), at(10))
    }

    #[test]
    fn raising_an_open_alert_again_is_counted_and_tells_nothing_new() {
        let told = raised().tried(1, None, at(11));
        let again = Alert::raised(Some(told.clone()), &new("more stuck"), at(20));
        let due = again.due(REPEAT);
        assert_eq!(again, Alert { words: "more stuck".to_owned(), raises: 2, ..told });
        assert_eq!(due, Some(at(911)));
    }

    #[test]
    fn that_it_was_told_before_is_said_where_the_last_try_failed() {
        let words = |alert: Alert| alert.told.words(|at| at.format("%H:%M").to_string());
        let failed = raised().tried(1, Some("no route"), at(60));
        assert_eq!(words(failed.clone()), "NOT told, tried 00:01: no route");
        let again = failed.tried(1, None, at(120)).tried(1, Some("no route"), at(180));
        assert_eq!(words(again), "told 1 time before, NOT again, tried 00:03: no route");
    }

    #[test]
    fn what_was_left_waiting_is_told_of_the_session_that_follows() {
        let [from, by] = [1, 2].map(|number| SessionId::new(at(0), number));
        let left = Alert { key: AlertKey::left_waiting(&from), ..raised() };
        let moved = Alert { subject: Subject::Session(by.clone()), ..left.clone() };
        assert_eq!(left.clone().followed(&by), Some(moved));
        assert_eq!(left.resolved(at(11)).unwrap().followed(&by), None);
        assert_eq!(raised().followed(&by), None, "what ends with its session");
    }

    #[test]
    fn an_acknowledged_alert_begins_anew_only_after_it_was_resolved() {
        let known = raised().acknowledged(Acknowledgement::Given, at(15)).unwrap();
        let again = Alert::raised(Some(known), &new("stuck"), at(20));
        assert!(!again.needs_you() && again.is_open());
        assert_eq!((again.raises, again.due(REPEAT)), (2, None));
        let resolved = again.resolved(at(30)).unwrap();
        assert!(!resolved.needs_you());
        let anew = Alert::raised(Some(resolved), &new("stuck"), at(40));
        assert_eq!(anew, Alert { raised_at: at(40), ..raised() });
        assert!(anew.needs_you());
    }

    #[test]
    fn who_brought_it_about_knows_of_it() {
        let by_operator = NewAlert { by: RaisedBy::Operator, ..new("given up") };
        let alert = Alert::raised(None, &by_operator, at(10));
        assert_eq!((alert.acknowledged_at, alert.is_open()), (Some(at(10)), true));
        // Raised by itself before: the person has not said that they know that.
        assert!(Alert::raised(Some(raised()), &by_operator, at(20)).needs_you());
    }

    #[test]
    fn the_command_is_due_at_once_and_then_after_each_repeat() {
        let alert = raised();
        assert_eq!(alert.due(REPEAT), Some(at(10)));
        let told = alert.tried(1, None, at(12));
        assert_eq!((told.due(REPEAT), told.due(None)), (Some(at(912)), None));
        let twice = told.tried(1, None, at(950));
        assert_eq!((twice.told.times, twice.due(REPEAT)), (2, Some(at(1850))));
        assert_eq!(twice.resolved(at(951)).unwrap().due(REPEAT), None);
    }

    #[test]
    fn what_could_not_be_told_is_tried_again_even_where_nothing_is_repeated() {
        let failed = raised().tried(1, Some("exit status 7"), at(12));
        assert_eq!((failed.told.times, failed.told.failure.as_deref()), (0, Some("exit status 7")));
        assert_eq!((failed.due(REPEAT), failed.due(None)), (Some(at(312)), Some(at(312))));
        assert_eq!(failed.due(Some(Duration::from_secs(60))), Some(at(72)));
        let told = failed.tried(1, None, at(312));
        assert_eq!((told.told.failure.clone(), told.due(None)), (None, None));
    }

    #[test]
    fn an_acknowledgement_is_said_once_and_can_be_taken_back() {
        use Acknowledgement::{Given, TakenBack};
        let refused = |alert: Alert, what| alert.acknowledged(what, at(20)).unwrap_err().to_string();
        assert!(refused(raised(), TakenBack).contains("is not acknowledged"));
        let known = raised().acknowledged(Given, at(15)).unwrap();
        assert!(refused(known.clone(), Given).contains("acknowledged already"));
        assert_eq!(known.clone().acknowledged(TakenBack, at(20)).unwrap(), raised());
        let resolved = known.resolved(at(30)).unwrap();
        assert_eq!(resolved.clone().resolved(at(31)), None);
        assert!(refused(resolved, Given).contains("is resolved"));
    }
}
