//! Items: what the operator can do with a queue. Each change is atomic against the taking of items.

use super::standing::Standing;
use super::{Tx, out_of_place};
use crate::domain::Time;
use crate::domain::api::Direction;
use crate::domain::event::{EventKind, excerpt};
use crate::domain::id::{ItemId, SessionId};
use crate::domain::queue::{Destination, ItemState, Lane, PutBack, Refusal};
use crate::store::Result;

/// An item as the changes here need it.
struct Place {
    session: SessionId,
    lane: Lane,
    state: ItemState,
    position: i64,
}

impl Tx<'_> {
    pub(super) fn move_item(&mut self, item: ItemId, direction: Direction, at: Time) -> Result<()> {
        let place = self.waiting_place(item)?;
        let mut standing = self.standing(&place.session)?;
        if place.lane == Lane::Slot {
            return Err(out_of_place("the slot's message runs next already; only queue items have an order"));
        }
        let neighbour = match direction {
            Direction::Up => {
                "SELECT id, position FROM items
                 WHERE session = ?1 AND state = 'waiting' AND lane = 'queue' AND position < ?2
                 ORDER BY position DESC LIMIT 1"
            }
            Direction::Down => {
                "SELECT id, position FROM items
                 WHERE session = ?1 AND state = 'waiting' AND lane = 'queue' AND position > ?2
                 ORDER BY position LIMIT 1"
            }
        };
        let neighbour = self.first(neighbour, (&place.session, place.position), |row| {
            Ok((row.get::<_, ItemId>(0)?, row.get::<_, i64>(1)?))
        })?;
        let Some((other, position)) = neighbour else {
            return Err(out_of_place(match direction {
                Direction::Up => "the item is the first of its queue",
                Direction::Down => "the item is the last of its queue",
            }));
        };
        self.execute("UPDATE items SET position = ?2 WHERE id = ?1", (other, place.position))?;
        self.execute("UPDATE items SET position = ?2 WHERE id = ?1", (item, position))?;
        let position = self.up_to(&place.session, position)?;
        self.tell_of(&mut standing, EventKind::Moved { item, lane: Lane::Queue, position }, at)?;
        self.save(&standing)
    }

    pub(super) fn edit_item(&mut self, item: ItemId, was: &str, text: &str, at: Time) -> Result<()> {
        let place = self.waiting_place(item)?;
        let mut standing = self.standing(&place.session)?;
        let now: String = self.only("SELECT text FROM items WHERE id = ?1", (item,), |row| row.get(0))?;
        if now != was {
            return Err(Refusal::ItemEdited { now: excerpt(&now) }.into());
        }
        self.execute("UPDATE items SET text = ?2 WHERE id = ?1", (item, text))?;
        self.tell_of(&mut standing, EventKind::Edited { item }, at)?;
        self.save(&standing)
    }

    pub(super) fn drop_item(&mut self, item: ItemId, at: Time) -> Result<PutBack> {
        let place = self.waiting_place(item)?;
        let mut standing = self.standing(&place.session)?;
        let to = match place.lane {
            Lane::Slot => {
                standing.slot = None;
                Destination::Slot
            }
            Lane::Queue => {
                standing.queued -= 1;
                Destination::Queue { ahead: self.up_to(&place.session, place.position)? - 1 }
            }
        };
        self.settle(item, ItemState::Cleared, Some("dropped by the operator"))?;
        self.tell_cleared(&mut standing, vec![item], "dropped by the operator", at)?;
        self.save(&standing)?;
        Ok(PutBack { item, to })
    }

    pub(super) fn restore_items(&mut self, items: &[PutBack], at: Time) -> Result<()> {
        let mut sessions: Vec<SessionId> = Vec::new();
        for PutBack { item, to } in items {
            let place = self.place_of(*item)?;
            match place.state {
                ItemState::Superseded | ItemState::Cleared => {}
                ItemState::Waiting => return Err(out_of_place(format!("item {item} waits already"))),
                state => return Err(Refusal::ItemNotWaiting(state).into()),
            }
            let mut standing = self.standing(&place.session)?;
            standing.refuse_ended()?;
            let (lane, position) = self.make_room(&standing, *to)?;
            self.execute(
                "UPDATE items SET state = 'waiting', lane = ?2, position = ?3, note = NULL WHERE id = ?1",
                (item, lane, position),
            )?;
            self.tell_of(&mut standing, EventKind::Restored { item: *item, lane }, at)?;
            self.save(&standing)?;
            if !sessions.contains(&place.session) {
                sessions.push(place.session);
            }
        }
        for session in sessions {
            let mut standing = self.standing(&session)?;
            self.begin_next(&mut standing, at)?;
            self.save(&standing)?;
        }
        Ok(())
    }

    pub(super) fn switch_lane(&mut self, item: ItemId, at: Time) -> Result<()> {
        let place = self.waiting_place(item)?;
        let mut standing = self.standing(&place.session)?;
        match place.lane {
            Lane::Slot => {
                standing.situation().refuse_beyond_cap(1)?;
                self.put_slot_first(&mut standing, item, at)?;
            }
            Lane::Queue if standing.slot.is_some() => {
                return Err(out_of_place("the slot is taken; move its message to the queue first"));
            }
            Lane::Queue => {
                standing.slot = Some(item);
                standing.queued -= 1;
                self.execute("UPDATE items SET lane = 'slot', position = 0 WHERE id = ?1", (item,))?;
                self.tell_of(&mut standing, EventKind::Moved { item, lane: Lane::Slot, position: 0 }, at)?;
            }
        }
        // In a held queue the slot moves where the queue does not.
        self.begin_next(&mut standing, at)?;
        self.save(&standing)
    }

    /// Moves the slot's message to the head of the queue.
    pub(super) fn put_slot_first(&mut self, standing: &mut Standing, item: ItemId, at: Time) -> Result<()> {
        standing.slot = None;
        standing.queued += 1;
        let position = self.head_position(&standing.id)?;
        self.execute("UPDATE items SET lane = 'queue', position = ?2 WHERE id = ?1", (item, position))?;
        self.tell_of(standing, EventKind::Moved { item, lane: Lane::Queue, position: 1 }, at).map(|_| ())
    }

    pub(super) fn clear_queue(&mut self, session: &SessionId, at: Time) -> Result<Vec<PutBack>> {
        let mut standing = self.standing(session)?;
        let slot = standing.slot;
        let mut cleared = self.clear_waiting(&mut standing, "cleared by the operator", at)?;
        self.save(&standing)?;
        let slot = slot.map(|item| PutBack { item, to: Destination::Slot });
        cleared.retain(|item| slot.is_none_or(|slot| slot.item != *item));
        let queue = cleared.into_iter().map(|item| PutBack { item, to: Destination::Tail });
        Ok(slot.into_iter().chain(queue).collect())
    }

    /// Takes out all that waits in a session: the slot's message, then the queue in its order.
    pub(super) fn clear_waiting(
        &mut self,
        standing: &mut Standing,
        why: &str,
        at: Time,
    ) -> Result<Vec<ItemId>> {
        if standing.waiting() == 0 {
            return Ok(Vec::new());
        }
        let items: Vec<ItemId> = self.rows(
            "SELECT id FROM items WHERE session = ?1 AND state = 'waiting' ORDER BY lane DESC, position",
            (&standing.id,),
            |row| row.get(0),
        )?;
        for item in &items {
            self.settle(*item, ItemState::Cleared, Some(why))?;
        }
        standing.slot = None;
        standing.queued = 0;
        self.tell_cleared(standing, items.clone(), why, at)?;
        Ok(items)
    }

    /// Takes the slot's message out for `/stop`.
    pub(super) fn clear_slot(&mut self, standing: &mut Standing, at: Time) -> Result<()> {
        let Some(item) = standing.slot.take() else { return Ok(()) };
        self.settle(item, ItemState::Cleared, Some("taken out by /stop"))?;
        self.tell_cleared(standing, vec![item], "taken out by /stop", at)
    }

    /// Gives an item a state that it keeps.
    pub(super) fn settle(&mut self, item: ItemId, state: ItemState, note: Option<&str>) -> Result<()> {
        self.execute("UPDATE items SET state = ?2, note = ?3 WHERE id = ?1", (item, state, note)).map(|_| ())
    }

    /// How many items of the overflow queue stand up to a position.
    fn up_to(&self, session: &SessionId, position: i64) -> Result<usize> {
        self.only(
            "SELECT count(*) FROM items
             WHERE session = ?1 AND state = 'waiting' AND lane = 'queue' AND position <= ?2",
            (session, position),
            |row| row.get(0),
        )
    }

    /// Makes room for an item that goes back, if there may be any; returns its lane and position.
    fn make_room(&mut self, standing: &Standing, to: Destination) -> Result<(Lane, i64)> {
        if to == Destination::Slot && standing.slot.is_none() {
            return Ok((Lane::Slot, 0));
        }
        standing.situation().refuse_beyond_cap(1)?;
        match to {
            Destination::Slot | Destination::Queue { ahead: 0 } => {
                Ok((Lane::Queue, self.head_position(&standing.id)?))
            }
            Destination::Queue { ahead } => {
                let behind = self.first(
                    "SELECT position FROM items WHERE session = ?1 AND state = 'waiting' AND lane = 'queue'
                     ORDER BY position LIMIT 1 OFFSET ?2",
                    (&standing.id, ahead),
                    |row| row.get::<_, i64>(0),
                )?;
                let Some(position) = behind else {
                    return Ok((Lane::Queue, self.tail_position(&standing.id)?));
                };
                self.execute(
                    "UPDATE items SET position = position + 1
                     WHERE session = ?1 AND state = 'waiting' AND lane = 'queue' AND position >= ?2",
                    (&standing.id, position),
                )?;
                Ok((Lane::Queue, position))
            }
            Destination::Tail => Ok((Lane::Queue, self.tail_position(&standing.id)?)),
        }
    }

    /// The position behind all that waits.
    pub(super) fn tail_position(&self, session: &SessionId) -> Result<i64> {
        self.only(
            "SELECT coalesce(max(position), 0) + 1 FROM items
             WHERE session = ?1 AND state = 'waiting' AND lane = 'queue'",
            (session,),
            |row| row.get(0),
        )
    }

    /// The position before all that waits.
    pub(super) fn head_position(&self, session: &SessionId) -> Result<i64> {
        self.only(
            "SELECT coalesce(min(position), 0) - 1 FROM items
             WHERE session = ?1 AND state = 'waiting' AND lane = 'queue'",
            (session,),
            |row| row.get(0),
        )
    }

    fn tell_cleared(
        &mut self,
        standing: &mut Standing,
        items: Vec<ItemId>,
        reason: &str,
        at: Time,
    ) -> Result<()> {
        let kind = EventKind::Cleared { items, reason: reason.to_owned() };
        self.tell_of(standing, kind, at).map(|_| ())
    }

    fn waiting_place(&self, item: ItemId) -> Result<Place> {
        let place = self.place_of(item)?;
        match place.state {
            ItemState::Waiting => Ok(place),
            state => Err(Refusal::ItemNotWaiting(state).into()),
        }
    }

    fn place_of(&self, item: ItemId) -> Result<Place> {
        self.first("SELECT session, lane, state, position FROM items WHERE id = ?1", (item,), |row| {
            Ok(Place {
                session: row.get("session")?,
                lane: row.get("lane")?,
                state: row.get("state")?,
                position: row.get("position")?,
            })
        })?
        .ok_or_else(|| Refusal::NoSuchItem(item).into())
    }
}
