//! Executions whose owner is gone: each is freed once, by its claim, and nothing is run again by itself.

use std::collections::BTreeSet;

use super::super::super::columns::Millis;
use super::super::super::executions::{self, executions_where};
use super::super::Tx;
use crate::domain::Time;
use crate::domain::cron::{Claim, ClaimKey, Execution, ExecutionState, JobEvent, Telling, deliveries};
use crate::domain::turn::TurnState;
use crate::store::{Claimed, NewClaim, Result};

/// Why what was cut off with its engine can't be read.
const NO_DOCUMENT: &str = "it left no output document";

/// What becomes of an execution that its owner left.
enum Freed {
    /// It had not begun: it waits again, once.
    Waits,
    /// Its turn has ended: an heir settles it.
    Answered,
    /// It is over.
    Ends(ExecutionState, String),
}

impl Tx<'_> {
    pub(super) fn free_executions(
        &mut self,
        dead: &BTreeSet<ClaimKey>,
        heir: &NewClaim,
    ) -> Result<Vec<Claimed>> {
        let open = self.rows(
            executions_where!("state IN ('claimed', 'running') ORDER BY id"),
            (),
            executions::read,
        )?;
        let mut inherited = Vec::new();
        for execution in open {
            let Some(claim) = execution.claim.clone() else { continue };
            let key = ClaimKey { execution: execution.id, token: claim.token.clone() };
            let is_dead = dead.contains(&key);
            if !is_dead && claim.expires_at > heir.at {
                continue;
            }
            match self.judge_left(&execution, &claim, is_dead)? {
                Freed::Waits => self.restore(&execution, heir.at)?,
                Freed::Ends(state, why) => self.end_left(&execution, &claim, state, why, heir.at)?,
                Freed::Answered => inherited.extend(self.give(execution.id, &execution.job, heir)?),
            }
        }
        Ok(inherited)
    }

    fn judge_left(&self, execution: &Execution, claim: &Claim, is_dead: bool) -> Result<Freed> {
        let gone = match is_dead {
            true => "the engine died".to_owned(),
            false => {
                let since = claim.beat_at.format("%H:%M:%S UTC");
                format!("no sign of life since {since} of {}", claim.holder())
            }
        };
        if execution.state == ExecutionState::Claimed {
            return Ok(match execution.attempt {
                1 => Freed::Waits,
                _ => Freed::Ends(
                    ExecutionState::Interrupted,
                    format!("{gone} before it began, for the second time"),
                ),
            });
        }
        let turn = match execution.turn {
            Some(turn) => self.first("SELECT state FROM turns WHERE id = ?1", (turn,), |row| row.get(0))?,
            None => None,
        };
        Ok(match turn {
            Some(TurnState::Done | TurnState::Failed) => Freed::Answered,
            Some(TurnState::Interrupted) => Freed::Ends(ExecutionState::Interrupted, gone),
            Some(TurnState::Running) | None => Freed::Ends(ExecutionState::Unknown, gone),
        })
    }

    fn restore(&mut self, execution: &Execution, at: Time) -> Result<()> {
        self.execute(
            "UPDATE executions SET state = 'waiting', attempt = attempt + 1, owner = NULL, token = NULL,
                 claimed_at = NULL, beat_at = NULL, expires_at = NULL
             WHERE id = ?1",
            (execution.id,),
        )?;
        self.tell_job(&execution.job, JobEvent::Restored { execution: execution.id }, at)?;
        self.count_end(&execution.job, ExecutionState::Waiting, None, at)
    }

    fn end_left(
        &mut self,
        execution: &Execution,
        claim: &Claim,
        state: ExecutionState,
        why: String,
        at: Time,
    ) -> Result<()> {
        let ended = self.last_sign_of_life(claim)?.max(execution.began_at.unwrap_or(claim.since)).min(at);
        self.execute(
            "UPDATE executions SET state = ?2, ended_at = ?3, why = ?4, cut_with = ?5 WHERE id = ?1",
            (execution.id, state, Millis(ended), &why, &claim.owner.run),
        )?;
        let news = JobEvent::RunEnded { execution: execution.id, state, why: Some(why.clone()) };
        self.tell_job(&execution.job, news, at)?;
        self.end_run_background(execution.session.as_ref(), at)?;
        let definition = self.kept_job(&execution.job)?.and_then(|job| job.definition);
        let targets = definition.map(|definition| definition.deliver_to).unwrap_or_default();
        let deliveries = deliveries(&targets, &Telling::Deliver, Err(NO_DOCUMENT), at);
        self.add_deliveries(&execution.job, execution.id, &deliveries)?;
        self.count_end(&execution.job, state, Some(&why), at)
    }

    /// When the owner of a claim was last known to live.
    fn last_sign_of_life(&self, claim: &Claim) -> Result<Time> {
        let stamp = "SELECT coalesce(stamped_at, started_at) FROM runs WHERE id = ?1";
        let stamp = self.first(stamp, (&claim.owner.run,), |row| row.get::<_, Millis>(0))?;
        Ok(stamp.map_or(claim.beat_at, |stamp| stamp.0.max(claim.beat_at)))
    }
}
