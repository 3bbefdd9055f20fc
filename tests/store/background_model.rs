//! Background processes in the model.

use switchboard::domain::Time;
use switchboard::domain::api::ProcessRow;
use switchboard::domain::background::{
    BackgroundProcess, Ended, KEPT_ENDED, StoppedBy, Which, names, room, told,
};
use switchboard::domain::event::EventKind;
use switchboard::domain::id::{ProcessNumber, SessionId, TurnId};
use switchboard::domain::queue::Refusal;
use switchboard::store::{NewBackground, Result, StoreError};

use crate::model::Model;

fn nothing<T>(why: String) -> Result<T> {
    Err(StoreError::Refused(Refusal::NothingTo(why)))
}

impl Model {
    pub(crate) fn keep_background(&mut self, new: &NewBackground, at: Time) -> Result<BackgroundProcess> {
        if !self.running_turns().contains(&new.turn) {
            return nothing("the turn has ended; its process does not begin".to_owned());
        }
        let session = self.session_of(new.turn);
        room(self.live_background(&session).len(), new.most).map_err(StoreError::Refused)?;
        let mut ended: Vec<ProcessNumber> = self
            .background
            .iter()
            .filter(|it| it.session == session && !it.lives())
            .map(|it| it.number)
            .collect();
        ended.sort();
        ended.truncate(ended.len().saturating_sub(KEPT_ENDED));
        self.background.retain(|it| it.session != session || !ended.contains(&it.number));
        let of_session = self.background.iter().filter(|it| it.session == session);
        let number = ProcessNumber(of_session.map(|it| it.number.0).max().unwrap_or(0) + 1);
        let NewBackground { turn, command, folder, identity, .. } = new.clone();
        let process = BackgroundProcess {
            session: session.clone(),
            number,
            turn,
            command,
            folder,
            identity,
            began_at: at,
            stopped_by: None,
            ended: None,
            told_in: None,
        };
        self.background.push(process.clone());
        let (line, group) = (process.line(), process.identity.pid);
        self.tell(Some(&session), EventKind::BackgroundBegan { number, turn, line, group }, at);
        Ok(process)
    }

    pub(crate) fn stop_background(
        &mut self,
        session: &SessionId,
        which: Which,
        by: StoppedBy,
        at: Time,
    ) -> Result<Vec<BackgroundProcess>> {
        if !self.session_ids().contains(session) {
            return Err(StoreError::Refused(Refusal::NoSuchSession(session.to_string())));
        }
        let live = self.live_background(session);
        let existing = if live.is_empty() { "none".to_owned() } else { names(&live) };
        let chosen = match which {
            Which::All => live,
            Which::One(number) => match live.into_iter().find(|it| it.number == number) {
                Some(one) => vec![one],
                None => {
                    return nothing(format!(
                        "no background process {number} runs here; those that run: {existing}"
                    ));
                }
            },
        };
        let mut stopped = Vec::new();
        for BackgroundProcess { number, .. } in chosen {
            let process =
                self.background.iter_mut().find(|it| it.session == *session && it.number == number).unwrap();
            process.stopped_by.get_or_insert(by);
            let process = process.clone();
            let line = process.line();
            self.tell(Some(session), EventKind::BackgroundStopping { number, line, by }, at);
            stopped.push(process);
        }
        Ok(stopped)
    }

    pub(crate) fn end_background(
        &mut self,
        session: &SessionId,
        number: ProcessNumber,
        ended: &Ended,
        at: Time,
    ) -> Result<bool> {
        let of = |it: &&mut BackgroundProcess| it.session == *session && it.number == number && it.lives();
        let Some(process) = self.background.iter_mut().find(of) else { return Ok(false) };
        process.ended = Some(ended.clone());
        let kind = EventKind::BackgroundEnded {
            number,
            line: process.line(),
            exit: ended.exit.clone(),
            milliseconds: (ended.at - process.began_at).num_milliseconds().max(0),
            by: process.stopped_by,
        };
        self.tell(Some(session), kind, at);
        Ok(true)
    }

    /// What the agent of a turn that begins is told; none where nothing ended.
    pub(crate) fn tell_ended_background(&mut self, session: &SessionId, turn: TurnId) -> Option<String> {
        let mut ended = Vec::new();
        for process in self.background.iter_mut() {
            if process.session == *session && !process.lives() && process.told_in.is_none() {
                process.told_in = Some(turn);
                ended.push(process.clone());
            }
        }
        (!ended.is_empty()).then(|| told(&ended))
    }

    pub(crate) fn prune_background(&mut self, before: Time, limit: usize) -> usize {
        let mut gone = 0;
        let mut old: Vec<_> = self.background.clone();
        old.sort_by_key(|it| (it.session.clone(), it.number));
        for process in old {
            if gone < limit && process.ended.as_ref().is_some_and(|ended| ended.at < before) {
                self.background.retain(|it| (&it.session, it.number) != (&process.session, process.number));
                gone += 1;
            }
        }
        gone
    }

    pub(crate) fn live_background(&self, session: &SessionId) -> Vec<BackgroundProcess> {
        let mut live: Vec<_> =
            self.background.iter().filter(|it| it.session == *session && it.lives()).cloned().collect();
        live.sort_by_key(|it| it.number);
        live
    }

    pub(crate) fn told_in(&self, session: &SessionId, turn: TurnId) -> Vec<BackgroundProcess> {
        let told = |it: &&BackgroundProcess| it.session == *session && it.told_in == Some(turn);
        let mut told: Vec<_> = self.background.iter().filter(told).cloned().collect();
        told.sort_by_key(|it| it.number);
        told
    }

    pub(crate) fn background_rows(&self, session: Option<&SessionId>, limit: usize) -> Vec<ProcessRow> {
        let wanted = |it: &&BackgroundProcess| session.is_none_or(|session| it.session == *session);
        let mut rows: Vec<_> = self.background.iter().filter(wanted).cloned().collect();
        rows.sort_by_key(|it| {
            let ended = it.ended.as_ref().map(|ended| std::cmp::Reverse(ended.at));
            (ended, it.began_at, it.session.clone(), it.number)
        });
        rows.truncate(limit);
        let row = |process: BackgroundProcess| {
            let (key, session_name) = self.key_and_name(&process.session);
            ProcessRow { process, key, session_name }
        };
        rows.into_iter().map(row).collect()
    }
}
