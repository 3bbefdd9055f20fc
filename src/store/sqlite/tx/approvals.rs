//! Approvals: asked by a turn, settled once.

use rusqlite::params;

use super::super::columns::{self, Millis, json};
use super::super::sql::at_most;
use super::standing::Standing;
use super::{Tx, nothing_to};
use crate::domain::Time;
use crate::domain::alert::AlertKey;
use crate::domain::approval::{Approval, Decision, Ending, not_allowed};
use crate::domain::event::EventKind;
use crate::domain::id::{ApprovalId, SessionId, TurnId};
use crate::store::{NewApproval, Result};

impl Tx<'_> {
    pub(super) fn ask_approval(&mut self, new: &NewApproval, at: Time) -> Result<Approval> {
        let mut standing =
            self.standing_in(new.turn)?.ok_or_else(|| nothing_to("the turn has ended; it asks nothing"))?;
        let allowed = self.allowed_in(&standing.id)?;
        let decision = new.question.decided_before(standing.key.parts().chat_type, &allowed);
        let id = self.insert(
            "INSERT INTO approvals (session, turn, question, asked_at, denies_at, decision, decided_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                standing.id,
                new.turn,
                json(&new.question)?,
                Millis(at),
                Millis(new.denies_at),
                decision.as_ref().map(json).transpose()?,
                decision.as_ref().map(|_| Millis(at)),
            ],
        )?;
        let NewApproval { turn, question, denies_at } = new.clone();
        let (id, session) = (ApprovalId(id), standing.id.clone());
        let approval = Approval { id, session, turn, question, asked_at: at, denies_at, decision };
        match &approval.decision {
            Some(decision) => self.tell_settled(&mut standing, &approval, decision, at)?,
            None => {
                standing.asks += 1;
                let (turn, approval, line) = (new.turn, id, new.question.line());
                self.tell_of(
                    &mut standing,
                    EventKind::ApprovalAsked { turn, approval, line, denies_at },
                    at,
                )?;
                self.raise_question(&mut standing, at)?;
            }
        }
        self.save(&standing)?;
        Ok(approval)
    }

    pub(super) fn settle_approval(
        &mut self,
        approval: ApprovalId,
        ending: &Ending,
        at: Time,
    ) -> Result<Approval> {
        let found = self.first("SELECT * FROM approvals WHERE id = ?1", (approval,), columns::approval)?;
        let found = found.ok_or_else(|| nothing_to(format!("there is no question {approval}")))?;
        let decision = found.decide(ending)?;
        let mut standing = self.standing(&found.session)?;
        self.keep_decision(&mut standing, &found, &decision, at)?;
        self.resolve_of(&mut standing, &AlertKey::approval(&found.session), at)?;
        self.raise_question(&mut standing, at)?;
        if let Decision::Always { prefix } = &decision {
            self.execute(
                "INSERT OR IGNORE INTO allowed_commands (session, prefix, at) VALUES (?1, ?2, ?3)",
                (&standing.id, prefix, Millis(at)),
            )?;
        }
        self.save(&standing)?;
        Ok(Approval { decision: Some(decision), ..found })
    }

    pub(super) fn disallow(&mut self, session: &SessionId, prefix: &str, at: Time) -> Result<()> {
        let mut standing = self.standing(session)?;
        let of = "DELETE FROM allowed_commands WHERE session = ?1 AND prefix = ?2";
        if self.execute(of, (session, prefix))? == 0 {
            return Err(not_allowed(prefix, &self.allowed_in(session)?).into());
        }
        self.tell_of(&mut standing, EventKind::Disallowed { prefix: prefix.to_owned() }, at)?;
        self.save(&standing)
    }

    fn allowed_in(&self, session: &SessionId) -> Result<Vec<String>> {
        self.rows(
            "SELECT prefix FROM allowed_commands WHERE session = ?1 ORDER BY prefix",
            (session,),
            |row| row.get(0),
        )
    }

    /// Settles what a turn, which goes no further, still asks. The caller saves the session.
    pub(super) fn cancel_approvals(
        &mut self,
        standing: &mut Standing,
        turn: TurnId,
        why: &str,
        at: Time,
    ) -> Result<()> {
        if standing.asks == 0 {
            return Ok(());
        }
        let open = self.rows(
            "SELECT * FROM approvals WHERE session = ?1 AND turn = ?2 AND decision IS NULL ORDER BY id",
            (&standing.id, turn),
            columns::approval,
        )?;
        for approval in open {
            let decision = Decision::Cancelled { why: why.to_owned() };
            self.keep_decision(standing, &approval, &decision, at)?;
        }
        let key = AlertKey::approval(&standing.id);
        self.resolve_of(standing, &key, at)?;
        self.raise_question(standing, at)
    }

    /// Raises the alert of the question that is to be answered first, if one waits.
    fn raise_question(&mut self, standing: &mut Standing, at: Time) -> Result<()> {
        let first = self.first(
            "SELECT * FROM approvals WHERE session = ?1 AND decision IS NULL ORDER BY id LIMIT 1",
            (&standing.id,),
            columns::approval,
        )?;
        let Some(first) = first else { return Ok(()) };
        let alert = first.alert(standing.name(), standing.asks);
        self.raise_of(standing, &alert, at)
    }

    pub(super) fn prune_approvals(&mut self, before: Time, limit: usize) -> Result<usize> {
        self.execute(
            "DELETE FROM approvals WHERE id IN
                 (SELECT id FROM approvals WHERE decided_at < ?1 ORDER BY id LIMIT ?2)",
            (Millis(before), at_most(limit)),
        )
    }

    fn keep_decision(
        &mut self,
        standing: &mut Standing,
        approval: &Approval,
        decision: &Decision,
        at: Time,
    ) -> Result<()> {
        self.execute(
            "UPDATE approvals SET decision = ?2, decided_at = ?3 WHERE id = ?1",
            (approval.id, json(decision)?, Millis(at)),
        )?;
        standing.asks = standing.asks.saturating_sub(1);
        self.tell_settled(standing, approval, decision, at)
    }

    fn tell_settled(
        &mut self,
        standing: &mut Standing,
        approval: &Approval,
        decision: &Decision,
        at: Time,
    ) -> Result<()> {
        let (turn, line, verdict) = (approval.turn, approval.question.line(), decision.clone());
        let kind = EventKind::ApprovalSettled { turn, approval: approval.id, line, verdict };
        self.tell_of(standing, kind, at).map(|_| ())
    }
}
