//! Spending: what each day used, and who is held because its limit is reached.

use super::super::columns::Millis;
use super::super::spent;
use super::Tx;
use super::standing::Standing;
use crate::domain::Time;
use crate::domain::event::EventKind;
use crate::domain::id::{SessionId, SessionKey};
use crate::domain::marker::Marker;
use crate::domain::queue::Gate;
use crate::domain::session::{Hold, HoldReason, Usage};
use crate::domain::spending::{ALL, Rules, Scope, Spent, SpentHold};
use crate::store::Result;

/// How many days the sums of are kept.
const DAYS_KEPT: i64 = 40;

/// What lets a session go whose limit is not what it was.
pub(super) const OTHER_LIMITS: &str = "its limits, which are others now";

impl Tx<'_> {
    /// The limits of the run; none before the first that had any say. A step reads them once.
    pub(super) fn spending(&self) -> Result<Option<Rules>> {
        if let Some(known) = self.rules.get() {
            return Ok(*known);
        }
        let rules = spent::rules(self.connection)?;
        Ok(*self.rules.get_or_init(|| rules))
    }

    /// Adds what a turn used to the sums of its day.
    pub(super) fn spend(&mut self, key: &SessionKey, usage: &Usage, at: Time) -> Result<()> {
        let spent = Spent::from(usage);
        let Some(rules) = self.spending()?.filter(|_| spent != Spent::default()) else { return Ok(()) };
        for scope in [Scope::of(key).word().as_str(), ALL] {
            self.execute(
                "INSERT INTO spent (day, scope, tokens, cost) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (day, scope) DO UPDATE SET
                     tokens = tokens + excluded.tokens, cost = cost + excluded.cost",
                (rules.day(at).to_string(), scope, spent.tokens, spent.cost),
            )?;
        }
        Ok(())
    }

    /// Lets a scope go for the day, whatever its limits.
    pub(super) fn let_go(&mut self, rules: &Rules, scope: &Scope, at: Time) -> Result<()> {
        self.execute(
            "INSERT INTO spent (day, scope, let_go) VALUES (?1, ?2, 1)
             ON CONFLICT (day, scope) DO UPDATE SET let_go = 1",
            (rules.day(at).to_string(), scope.word()),
        )
        .map(|_| ())
    }

    /// Holds a session whose limit is reached, and lets one go whose limit is not reached any more. A step
    /// that has judged it does not do so again: what it lets go or adds to a sum comes before.
    pub(super) fn judge_spending(&mut self, standing: &mut Standing, by: &str, at: Time) -> Result<()> {
        if !standing.live || std::mem::replace(&mut standing.judged, true) {
            return Ok(());
        }
        let Some(rules) = self.spending()? else { return Ok(()) };
        let kind =
            match (standing.spent, spent::reached(self.connection, &rules, &Scope::of(&standing.key), at)?) {
                (None, None) => return Ok(()),
                (Some(held), Some(reached)) => {
                    standing.spent = Some(SpentHold { reached, until: rules.next_day(at), ..held });
                    return self.settle_alarm(standing, at);
                }
                (None, Some(reached)) => {
                    let held = SpentHold { reached, since: at, until: rules.next_day(at) };
                    standing.spent = Some(held);
                    EventKind::QueueHeld { hold: Hold::from(held), waiting: standing.waiting() }
                }
                (Some(held), None) => {
                    standing.spent = None;
                    let by = if at >= held.until { "the next day" } else { by };
                    EventKind::QueueReleased { reason: HoldReason::Spent, by: by.to_owned() }
                }
            };
        self.tell_of(standing, kind, at)?;
        self.settle_alarm(standing, at)
    }

    /// Judges those anew that are held until a time, or all of them, and lets what waited go on.
    pub(super) fn judge_spent(&mut self, until: Option<Time>, by: &str, at: Time) -> Result<()> {
        let held: Vec<SessionId> = self.rows(
            "SELECT id FROM sessions
             WHERE spent_until IS NOT NULL AND spent_until <= coalesce(?1, spent_until)
             ORDER BY spent_until, id",
            (until.map(Millis),),
            |row| row.get(0),
        )?;
        for session in held {
            let mut standing = self.standing(&session)?;
            if standing.live {
                self.judge_spending(&mut standing, by, at)?;
            } else {
                standing.spent = None;
            }
            self.go_on_after_spending(&mut standing, at)?;
            self.save(&standing)?;
        }
        Ok(())
    }

    /// Lets a session go on that was let go: with what was cut off, and with what waits.
    pub(super) fn go_on_after_spending(&mut self, standing: &mut Standing, at: Time) -> Result<()> {
        if standing.spent.is_some() || standing.running.is_some() || standing.gate != Gate::Open {
            return Ok(());
        }
        let held = standing.hold.is_some();
        if let (Some(Marker::ResumePending(_)), false) = (standing.marker, held) {
            return self.resume_now(standing, at);
        }
        self.begin_next(standing, at)
    }

    /// Forgets the sums of days long gone.
    pub(super) fn forget_spent(&mut self, at: Time) -> Result<()> {
        let Some(rules) = self.spending()? else { return Ok(()) };
        let oldest = rules.day(at - chrono::TimeDelta::days(DAYS_KEPT)).to_string();
        self.execute("DELETE FROM spent WHERE day < ?1", (oldest,)).map(|_| ())
    }
}
