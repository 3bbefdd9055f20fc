//! Updates that reach a listener together: every event in its order, and the pieces of a text as one.

use std::collections::HashMap;
use std::sync::Arc;

use crate::domain::api::{Piece, Update};
use crate::domain::id::SessionId;

/// At most so many go together.
const MOST: usize = 1024;
/// Pieces are joined up to so many bytes.
const LONGEST: usize = 64 * 1024;

/// Updates on their way to a listener.
#[derive(Debug, Default)]
pub(super) struct Together {
    updates: Vec<Update>,
    /// The place of the last update of a session, where that is a piece.
    pieces: HashMap<SessionId, usize>,
}

impl Together {
    /// Adds the next one. A piece that goes on where the session's last update ends is joined to it.
    pub(super) fn add(&mut self, update: Update) {
        match &update {
            Update::Stream(piece) => {
                if self.last_piece(&piece.session).is_some_and(|before| join(before, piece)) {
                    return;
                }
                self.pieces.insert(piece.session.clone(), self.updates.len());
            }
            Update::Event(event) => {
                if let Some(session) = &event.session {
                    self.pieces.remove(session);
                }
            }
            Update::Doing(_) | Update::Engine(_) | Update::Lagged { .. } => {}
        }
        self.updates.push(update);
    }

    /// Whether these should go before more are added.
    pub(super) fn is_full(&self) -> bool {
        self.updates.len() >= MOST
    }

    /// Takes all, in order.
    pub(super) fn take(&mut self) -> impl Iterator<Item = Update> + use<> {
        self.pieces.clear();
        std::mem::take(&mut self.updates).into_iter()
    }

    fn last_piece(&mut self, session: &SessionId) -> Option<&mut Arc<Piece>> {
        match self.updates.get_mut(*self.pieces.get(session)?)? {
            Update::Stream(piece) => Some(piece),
            _ => None,
        }
    }
}

/// Adds `piece` to the one before it, if it goes on there; whether it does.
fn join(before: &mut Arc<Piece>, piece: &Piece) -> bool {
    let goes_on = before.turn == piece.turn
        && before.stream == piece.stream
        && before.offset + before.text.len() as u64 == piece.offset
        && before.text.len() + piece.text.len() <= LONGEST;
    if goes_on {
        Arc::make_mut(before).text.push_str(&piece.text);
    }
    goes_on
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::api::StreamKind;
    use crate::domain::event::{Event, EventKind};
    use crate::domain::id::{Seq, TurnId};

    fn session(number: u32) -> SessionId {
        SessionId::new(chrono::DateTime::UNIX_EPOCH, number)
    }

    fn piece(number: u32, offset: u64, text: &str) -> Update {
        let (turn, stream, text) = (TurnId(i64::from(number)), StreamKind::Text, text.to_owned());
        Update::Stream(Arc::new(Piece { session: session(number), turn, stream, offset, text }))
    }

    fn event(seq: i64, number: u32) -> Update {
        let (at, session, kind) =
            (chrono::DateTime::UNIX_EPOCH, Some(session(number)), EventKind::EngineReleased);
        Update::Event(Arc::new(Event { seq: Seq(seq), at, session, kind }))
    }

    fn together(updates: Vec<Update>) -> Vec<Update> {
        let mut together = Together::default();
        updates.into_iter().for_each(|update| together.add(update));
        together.take().collect()
    }

    #[test]
    fn the_pieces_of_a_text_become_one_whatever_is_told_of_other_sessions() {
        let heard = vec![
            piece(1, 0, "one "),
            piece(2, 7, "a "),
            event(1, 3),
            piece(1, 4, "two "),
            piece(2, 9, "b"),
            piece(1, 8, "three"),
        ];
        assert_eq!(together(heard), [piece(1, 0, "one two three"), piece(2, 7, "a b"), event(1, 3)]);
    }

    #[test]
    fn what_is_told_of_one_session_stays_in_its_order() {
        let heard = vec![piece(1, 0, "before "), event(1, 1), piece(1, 7, "behind")];
        assert_eq!(together(heard.clone()), heard);
    }

    #[test]
    fn a_piece_that_does_not_go_on_stays_apart() {
        let other_kind = Update::Stream(Arc::new(Piece {
            session: session(1),
            turn: TurnId(1),
            stream: StreamKind::Reasoning,
            offset: 2,
            text: "c".to_owned(),
        }));
        let heard = vec![piece(1, 0, "a"), piece(1, 2, "gap"), other_kind, piece(1, 5, "text again")];
        assert_eq!(together(heard.clone()), heard);
        let long = "x".repeat(LONGEST);
        let heard = vec![piece(1, 0, &long), piece(1, LONGEST as u64, "y")];
        assert_eq!(together(heard.clone()), heard);
    }

    #[test]
    fn who_else_listens_still_hears_each_piece() {
        let first = piece(1, 0, "a");
        assert_eq!(together(vec![first.clone(), piece(1, 1, "b")]), [piece(1, 0, "ab")]);
        assert_eq!(first, piece(1, 0, "a"));
    }
}
