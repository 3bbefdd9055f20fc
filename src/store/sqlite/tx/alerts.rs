//! Alerts: raised and resolved in the step that changes what they tell of.

use rusqlite::params;

use super::super::columns::{self, Millis, json};
use super::standing::Standing;
use super::{Tx, nothing_to};
use crate::domain::Time;
use crate::domain::alert::{Acknowledgement, Alert, AlertChange, AlertKey, NewAlert, Subject};
use crate::domain::cron::JobId;
use crate::domain::event::EventKind;
use crate::domain::id::SessionId;
use crate::store::Result;

impl Tx<'_> {
    pub(super) fn raise_alert(&mut self, new: &NewAlert, at: Time) -> Result<()> {
        let kind = self.keep_raised(new, at)?;
        self.tell_alert(&new.subject, kind, at)
    }

    pub(super) fn resolve_alert(&mut self, key: &AlertKey, at: Time) -> Result<bool> {
        let Some((alert, kind)) = self.keep_resolved(key, at)? else { return Ok(false) };
        self.tell_alert(&alert.subject, kind, at)?;
        Ok(true)
    }

    pub(super) fn acknowledge_alert(
        &mut self,
        key: &AlertKey,
        what: Acknowledgement,
        at: Time,
    ) -> Result<Alert> {
        let alert = self.alert(key)?.ok_or_else(|| nothing_to(format!("there is no alert {key}")))?;
        let alert = alert.acknowledged(what, at)?;
        self.keep_alert(&alert)?;
        let kind = EventKind::AlertAcknowledged { alert: key.clone(), what };
        self.tell_alert(&alert.subject, kind, at)?;
        Ok(alert)
    }

    pub(super) fn alert_told(
        &mut self,
        key: &AlertKey,
        raised_at: Time,
        news: u32,
        failure: Option<&str>,
        at: Time,
    ) -> Result<()> {
        // Another one of the same key may have begun while the command ran.
        let Some(alert) = self.alert(key)?.filter(|alert| alert.raised_at == raised_at) else {
            return Ok(());
        };
        let alert = alert.tried(news, failure, at);
        self.keep_alert(&alert)?;
        let kind = match failure {
            None => EventKind::AlertTold { alert: key.clone(), times: alert.told.times },
            Some(why) => EventKind::AlertNotTold { alert: key.clone(), why: why.to_owned() },
        };
        self.tell_alert(&alert.subject, kind, at)
    }

    pub(super) fn prune_alerts(&mut self, before: Time) -> Result<usize> {
        self.execute("DELETE FROM alerts WHERE resolved_at < ?1", (Millis(before),))
    }

    /// What was left waiting before a session that ended is told of the one that follows it.
    pub(super) fn hand_on_alerts(&mut self, ended: &SessionId, successor: &SessionId) -> Result<()> {
        let about = json(&Subject::Session(ended.clone()))?;
        let open = self.rows(
            "SELECT * FROM alerts WHERE resolved_at IS NULL AND subject = ?1",
            (about,),
            columns::alert,
        )?;
        open.into_iter()
            .filter_map(|alert| alert.followed(successor))
            .try_for_each(|alert| self.keep_alert(&alert))
    }

    /// Raises or resolves the alerts of a session after its hold or its marker changed.
    pub(super) fn settle_alarm(&mut self, standing: &mut Standing, at: Time) -> Result<()> {
        self.settle_guard(standing, at)?;
        let alarm = standing.alarm();
        if alarm == standing.alarmed {
            return Ok(());
        }
        standing.alarmed = alarm;
        match alarm {
            Some(alarm) => {
                let new = alarm.alert(&standing.id, standing.name(), standing.last_error.as_deref());
                self.raise_of(standing, &new, at)
            }
            None => {
                let key = AlertKey::session(&standing.id);
                self.resolve_of(standing, &key, at)
            }
        }
    }

    /// Resolves the alert of the boot guard when the last session that it held is let go.
    fn settle_guard(&mut self, standing: &mut Standing, at: Time) -> Result<()> {
        let is_guarded = standing.is_guarded();
        let was_guarded = std::mem::replace(&mut standing.guarded, is_guarded);
        if !was_guarded || is_guarded {
            return Ok(());
        }
        let others = self.guarded_sessions()?;
        if others.iter().all(|other| *other == standing.id) {
            self.resolve_alert(&AlertKey::boot_guard(), at)?;
        }
        Ok(())
    }

    /// The sessions that the boot guard holds.
    pub(super) fn guarded_sessions(&self) -> Result<Vec<SessionId>> {
        self.rows("SELECT id FROM sessions WHERE hold_reason = 'boot_guard' ORDER BY id", (), |row| {
            row.get(0)
        })
    }

    /// Raises an alert about a session, which the caller saves.
    pub(super) fn raise_of(&mut self, standing: &mut Standing, new: &NewAlert, at: Time) -> Result<()> {
        let kind = self.keep_raised(new, at)?;
        self.tell_of(standing, kind, at).map(|_| ())
    }

    /// Resolves an alert about a session, which the caller saves, if it is open.
    pub(super) fn resolve_of(&mut self, standing: &mut Standing, key: &AlertKey, at: Time) -> Result<()> {
        match self.keep_resolved(key, at)? {
            Some((_, kind)) => self.tell_of(standing, kind, at).map(|_| ()),
            None => Ok(()),
        }
    }

    /// Does to alerts what something that happened does to them.
    pub(super) fn change_alerts(
        &mut self,
        changes: impl IntoIterator<Item = AlertChange>,
        at: Time,
    ) -> Result<()> {
        changes.into_iter().try_for_each(|change| match change {
            AlertChange::Raise(new) => self.raise_alert(&new, at),
            AlertChange::Resolve(key) => self.resolve_alert(&key, at).map(|_| ()),
            AlertChange::Recover { key, words } => {
                let Some(alert) = self.alert(&key)?.and_then(|alert| alert.recovered(&words, at)) else {
                    return Ok(());
                };
                self.keep_alert(&alert)?;
                self.tell_alert(&alert.subject, EventKind::AlertResolved { alert: key }, at)
            }
        })
    }

    fn keep_raised(&mut self, new: &NewAlert, at: Time) -> Result<EventKind> {
        let alert = Alert::raised(self.alert(&new.key)?, new, at);
        self.keep_alert(&alert)?;
        Ok(EventKind::AlertRaised { alert: alert.key, words: alert.words, raises: alert.raises })
    }

    fn keep_resolved(&mut self, key: &AlertKey, at: Time) -> Result<Option<(Alert, EventKind)>> {
        let Some(alert) = self.alert(key)?.and_then(|alert| alert.resolved(at)) else { return Ok(None) };
        self.keep_alert(&alert)?;
        let kind = EventKind::AlertResolved { alert: key.clone() };
        Ok(Some((alert, kind)))
    }

    /// An alert is another job's from now on, in words as in key.
    pub(super) fn rename_alert(&mut self, from: &AlertKey, to: &AlertKey, of: &JobId) -> Result<()> {
        let Some(alert) = self.alert(from)? else { return Ok(()) };
        self.execute("DELETE FROM alerts WHERE key = ?1", (from,))?;
        self.keep_alert(&Alert { key: to.clone(), subject: Subject::Job(of.clone()), ..alert })
    }

    fn tell_alert(&mut self, subject: &Subject, kind: EventKind, at: Time) -> Result<()> {
        match subject {
            Subject::Session(session) => self.record(Some(session), kind, at),
            Subject::Job(_) | Subject::JobsFile | Subject::Ticker | Subject::BootGuard => {
                self.record(None, kind, at)
            }
        }
    }

    fn alert(&self, key: &AlertKey) -> Result<Option<Alert>> {
        self.first("SELECT * FROM alerts WHERE key = ?1", (key,), columns::alert)
    }

    fn keep_alert(&mut self, alert: &Alert) -> Result<()> {
        self.execute(
            "INSERT OR REPLACE INTO alerts (key, subject, words, raised_at, raises, acknowledged_at,
                 resolved_at, news, told, told_news, tried_at, failure, needs_you, to_tell)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
            params![
                alert.key,
                json(&alert.subject)?,
                alert.words,
                Millis(alert.raised_at),
                alert.raises,
                alert.acknowledged_at.map(Millis),
                alert.resolved_at.map(Millis),
                alert.news,
                alert.told.times,
                alert.told.news,
                alert.told.tried_at.map(Millis),
                alert.told.failure,
                alert.needs_you(),
                alert.is_to_tell(),
            ],
        )
        .map(|_| ())
    }
}
