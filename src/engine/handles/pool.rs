//! Which handles are kept between turns, and which of them go first. Pure: the time is an argument,
//! and a handle may be anything.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use tokio::time::Instant;

use crate::config::HandlesConfig;
use crate::domain::id::{SessionId, TurnId};

/// The handles of all sessions: lent to a turn, or at rest until the next one.
#[derive(Debug)]
pub(super) struct Pool<H> {
    limits: HandlesConfig,
    places: HashMap<SessionId, Place>,
    /// In the order of their last use: the first was unused for longest.
    resting: BTreeMap<u64, Resting<H>>,
    uses: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// A turn has it, or opens it now.
    Lent(TurnId),
    /// It rests, under the number of its last use.
    Rests(u64),
}

#[derive(Debug)]
struct Resting<H> {
    session: SessionId,
    handle: H,
    since: Instant,
}

impl<H> Pool<H> {
    pub(super) fn new(limits: HandlesConfig) -> Self {
        Self { limits, places: HashMap::new(), resting: BTreeMap::new(), uses: 0 }
    }

    /// Lends a session's place to a turn, with the handle that rests there. A turn that still has it
    /// was cut from outside: its loan ends, and what it brings back is not kept.
    pub(super) fn lend(&mut self, session: &SessionId, turn: TurnId) -> Option<H> {
        match self.places.insert(session.clone(), Place::Lent(turn)) {
            Some(Place::Rests(number)) => self.resting.remove(&number).map(|resting| resting.handle),
            Some(Place::Lent(_)) | None => None,
        }
    }

    /// Takes a handle back from a turn. Gives it out again where the loan has ended.
    pub(super) fn take_back(
        &mut self,
        session: &SessionId,
        turn: TurnId,
        handle: H,
        now: Instant,
    ) -> Option<H> {
        if self.places.get(session) != Some(&Place::Lent(turn)) {
            return Some(handle);
        }
        self.uses += 1;
        self.places.insert(session.clone(), Place::Rests(self.uses));
        self.resting.insert(self.uses, Resting { session: session.clone(), handle, since: now });
        None
    }

    /// Ends the loan of a turn that brings nothing back.
    pub(super) fn end_loan(&mut self, session: &SessionId, turn: TurnId) {
        if self.places.get(session) == Some(&Place::Lent(turn)) {
            self.places.remove(session);
        }
    }

    /// Keeps nothing for a session any more; a loan of it ends. Gives out what rested.
    pub(super) fn forget(&mut self, session: &SessionId) -> Option<H> {
        match self.places.remove(session)? {
            Place::Rests(number) => self.resting.remove(&number).map(|resting| resting.handle),
            Place::Lent(_) => None,
        }
    }

    /// When the next handle will have been unused for too long.
    pub(super) fn next_due(&self) -> Option<Instant> {
        let (_, first) = self.resting.first_key_value()?;
        Some(first.since + self.limits.idle)
    }

    /// Takes out what is not kept any longer, those first that were unused for longest. What is lent
    /// is never among them.
    pub(super) fn recycle(&mut self, now: Instant) -> Vec<(SessionId, H)> {
        let mut gone = Vec::new();
        while let Some(first) = self.resting.first_entry() {
            if !must_go(self.places.len(), now.duration_since(first.get().since), &self.limits) {
                break;
            }
            let resting = first.remove();
            self.places.remove(&resting.session);
            gone.push((resting.session, resting.handle));
        }
        gone
    }

    /// Takes everything out that rests, and keeps nothing from now on.
    pub(super) fn shut(&mut self) -> Vec<(SessionId, H)> {
        self.limits.max = 0;
        let resting = std::mem::take(&mut self.resting);
        self.places.retain(|_, place| matches!(place, Place::Lent(_)));
        resting.into_values().map(|resting| (resting.session, resting.handle)).collect()
    }
}

/// Whether the handle that was unused for longest is closed now that so many are kept.
fn must_go(kept: usize, unused: Duration, limits: &HandlesConfig) -> bool {
    kept > limits.max || unused >= limits.idle
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Time;

    const IDLE: Duration = Duration::from_secs(3600);

    fn pool(max: usize) -> Pool<&'static str> {
        Pool::new(HandlesConfig { idle: IDLE, max })
    }

    fn session(n: u32) -> SessionId {
        SessionId::new(Time::UNIX_EPOCH, n)
    }

    fn names(gone: &[(SessionId, &'static str)]) -> Vec<&'static str> {
        gone.iter().map(|(_, handle)| *handle).collect()
    }

    /// A turn of the session begins and brings the handle back at once.
    fn use_once(pool: &mut Pool<&'static str>, n: u32, handle: &'static str, now: Instant) {
        let turn = TurnId(i64::from(n));
        pool.lend(&session(n), turn);
        assert_eq!(pool.take_back(&session(n), turn, handle, now), None);
    }

    #[test]
    fn a_session_gets_its_own_handle_back() {
        let (mut pool, now) = (pool(9), Instant::now());
        use_once(&mut pool, 1, "one", now);
        use_once(&mut pool, 2, "two", now);
        assert_eq!(pool.lend(&session(1), TurnId(8)), Some("one"));
        assert_eq!(pool.lend(&session(3), TurnId(9)), None);
    }

    #[test]
    fn a_handle_goes_when_it_was_unused_for_the_idle_time_and_not_before() {
        let (mut pool, now) = (pool(9), Instant::now());
        use_once(&mut pool, 1, "one", now);
        use_once(&mut pool, 2, "two", now + Duration::from_secs(1));
        assert_eq!(pool.next_due(), Some(now + IDLE));
        assert!(pool.recycle(now + IDLE - Duration::from_millis(1)).is_empty());
        assert_eq!(names(&pool.recycle(now + IDLE)), ["one"]);
        assert_eq!(pool.next_due(), Some(now + Duration::from_secs(1) + IDLE));
        assert_eq!(pool.lend(&session(1), TurnId(8)), None);
    }

    #[test]
    fn beyond_the_limit_the_one_unused_for_longest_goes() {
        let (mut pool, now) = (pool(2), Instant::now());
        use_once(&mut pool, 1, "one", now);
        use_once(&mut pool, 2, "two", now);
        use_once(&mut pool, 1, "one", now);
        assert!(pool.recycle(now).is_empty());
        pool.lend(&session(3), TurnId(3));
        assert_eq!(names(&pool.recycle(now)), ["two"]);
    }

    #[test]
    fn a_handle_in_a_turn_stays_however_full_the_pool_is_and_however_long_it_takes() {
        let (mut pool, now) = (pool(1), Instant::now());
        for n in 1..=3 {
            pool.lend(&session(n), TurnId(i64::from(n)));
        }
        assert_eq!(pool.next_due(), None);
        assert!(pool.recycle(now + 2 * IDLE).is_empty());
        assert_eq!(pool.take_back(&session(1), TurnId(1), "one", now), None);
        assert_eq!(names(&pool.recycle(now)), ["one"], "the two in turns are more than enough");
    }

    #[test]
    fn what_a_forgotten_session_brings_back_is_not_kept() {
        let (mut pool, now) = (pool(9), Instant::now());
        use_once(&mut pool, 1, "one", now);
        assert_eq!(pool.forget(&session(1)), Some("one"));
        assert_eq!(pool.next_due(), None);
        pool.lend(&session(2), TurnId(2));
        assert_eq!(pool.forget(&session(2)), None);
        assert_eq!(pool.take_back(&session(2), TurnId(2), "two", now), Some("two"));
    }

    #[test]
    fn only_the_newest_loan_of_a_session_stands() {
        let (mut pool, now) = (pool(9), Instant::now());
        pool.lend(&session(1), TurnId(1));
        assert_eq!(pool.lend(&session(1), TurnId(2)), None);
        pool.end_loan(&session(1), TurnId(1));
        assert_eq!(pool.take_back(&session(1), TurnId(1), "old", now), Some("old"));
        assert_eq!(pool.take_back(&session(1), TurnId(2), "new", now), None);
        assert_eq!(pool.lend(&session(1), TurnId(3)), Some("new"));
    }

    #[test]
    fn a_loan_that_ended_takes_no_place() {
        let (mut pool, now) = (pool(1), Instant::now());
        pool.lend(&session(1), TurnId(1));
        pool.end_loan(&session(1), TurnId(1));
        use_once(&mut pool, 2, "two", now);
        assert!(pool.recycle(now).is_empty());
    }

    #[test]
    fn a_shut_pool_keeps_nothing() {
        let (mut pool, now) = (pool(9), Instant::now());
        use_once(&mut pool, 1, "one", now);
        pool.lend(&session(2), TurnId(2));
        assert_eq!(names(&pool.shut()), ["one"]);
        assert_eq!(pool.take_back(&session(2), TurnId(2), "two", now), None);
        assert_eq!(names(&pool.recycle(now)), ["two"]);
    }
}
