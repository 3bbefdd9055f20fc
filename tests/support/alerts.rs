//! The alerts that an engine would keep of sessions.

use switchboard::domain::alert::{Alert, AlertKey, SessionAlarm};
use switchboard::domain::api::SessionRow;

/// Those of the sessions that need a person, without those that somebody acknowledged.
pub fn alerts_of(rows: &[SessionRow], acknowledged: &[AlertKey]) -> Vec<Alert> {
    let mut alerts: Vec<Alert> = rows
        .iter()
        .filter(|row| row.state.needs_a_person() || row.session.spent.is_some())
        .map(|row| {
            let session = &row.session;
            let alarm = SessionAlarm::of(
                session.hold.map(|hold| hold.reason),
                session.spent.map(|spent| spent.reached),
                session.marker,
            );
            let alarm = alarm.unwrap_or(SessionAlarm::BackendDead);
            let asks = row.asks.first().map(|asked| asked.alert(session.name(), row.asks.len()));
            let new =
                asks.unwrap_or_else(|| alarm.alert(&session.id, session.name(), row.last_error.as_deref()));
            let alert = Alert::raised(None, &new, session.last_activity_at);
            let known = acknowledged.contains(&alert.key).then_some(session.last_activity_at);
            Alert { acknowledged_at: known.or(alert.acknowledged_at), ..alert }
        })
        .collect();
    alerts.sort_by_key(|alert| (std::cmp::Reverse(alert.raised_at), alert.key.clone()));
    alerts
}
