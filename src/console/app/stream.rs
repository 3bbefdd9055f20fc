//! What a running turn says, put together by byte offset so that every byte is seen once.

use crate::domain::api::{LiveOutput, Piece, StreamKind};
use crate::domain::history::{Body, Entry};
use crate::domain::id::TurnId;

/// A kept entry as it came, with its revision.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Kept {
    pub(super) entry: Entry,
    pub(super) revision: u64,
}

/// What a turn says that is not kept yet, of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Live {
    pub(super) turn: TurnId,
    pub(super) stream: StreamKind,
    /// Bytes of this kind before `text`.
    pub(super) offset: u64,
    /// The words as they came.
    pub(super) text: String,
    pub(super) revision: u64,
}

/// What a piece of the stream did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joined {
    /// All of it was known.
    Known,
    /// So many bytes at the end of the live text are new.
    Grew(usize),
    /// It begins another live text.
    Began,
    /// Bytes are missing before it: ask again.
    Gap,
}

impl Live {
    fn end(&self) -> u64 {
        self.offset + self.text.len() as u64
    }

    /// Whether it begins where a kept entry ends.
    pub(super) fn goes_on(&self, entry: &Entry) -> bool {
        let kept_to = match (&entry.body, self.stream) {
            (Body::Agent { text, offset }, StreamKind::Text)
            | (Body::Reasoning { text, offset }, StreamKind::Reasoning) => offset + text.len() as u64,
            _ => return false,
        };
        entry.turn == self.turn && kept_to == self.offset
    }
}

impl From<LiveOutput> for Live {
    fn from(live: LiveOutput) -> Self {
        let LiveOutput { turn, stream, offset, text } = live;
        Self { turn, stream, offset, text, revision: 0 }
    }
}

/// Adds a piece to what streams.
pub(super) fn join(live: &mut Vec<Live>, kept: &[Kept], piece: &Piece) -> Joined {
    let same = |live: &Live| live.turn == piece.turn && live.stream == piece.stream;
    let Some(current) = live.last_mut().filter(|live| same(live)) else {
        return begin(live, kept, piece);
    };
    match unseen(current.end(), piece) {
        None => Joined::Gap,
        Some("") => Joined::Known,
        Some(more) => {
            current.text.push_str(more);
            Joined::Grew(more.len())
        }
    }
}

fn begin(live: &mut Vec<Live>, kept: &[Kept], piece: &Piece) -> Joined {
    if live.first().is_some_and(|live| live.turn != piece.turn) {
        live.clear();
    }
    // What of this kind was seen before: earlier in this stream, else what is kept.
    let earlier = live.iter().rev().find(|live| live.stream == piece.stream).map(Live::end);
    let end = earlier.unwrap_or(0).max(kept_end(kept, piece.turn, piece.stream));
    match unseen(end, piece) {
        None => Joined::Gap,
        Some("") => Joined::Known,
        Some(more) => {
            let Piece { turn, stream, .. } = *piece;
            live.push(Live { turn, stream, offset: end, text: more.to_owned(), revision: 0 });
            Joined::Began
        }
    }
}

/// The part of a piece behind `end`; none if bytes are missing between them.
fn unseen(end: u64, piece: &Piece) -> Option<&str> {
    let known = end.checked_sub(piece.offset)?;
    // An end within a character can't be: both sides count whole pieces. It would count as seen.
    Some(usize::try_from(known).ok().and_then(|known| piece.text.get(known..)).unwrap_or(""))
}

/// Takes in a fresh answer: what was heard behind its end is added to it, what it keeps is let go.
pub(super) fn renew(live: &mut Vec<Live>, kept: &[Kept], answer: Option<Live>) {
    let heard = std::mem::take(live);
    live.extend(answer);
    for old in heard {
        let piece = Piece {
            session: match kept.first() {
                Some(kept) => kept.entry.session.clone(),
                None => continue,
            },
            turn: old.turn,
            stream: old.stream,
            offset: old.offset,
            text: old.text,
        };
        if still_runs(live, kept, piece.turn) {
            join(live, kept, &piece);
        }
    }
}

/// Whether a turn may still say something: no entry tells of its end, no later turn speaks.
fn still_runs(live: &[Live], kept: &[Kept], turn: TurnId) -> bool {
    use crate::domain::turn::TurnState;
    let ended = kept
        .iter()
        .rev()
        .take_while(|kept| kept.entry.turn >= turn)
        .any(|kept| kept.entry.turn > turn || kept.entry.turn_state != TurnState::Running);
    !ended && live.iter().all(|live| live.turn == turn)
}

/// How many bytes of a kind the kept entries of a turn reach to.
fn kept_end(kept: &[Kept], turn: TurnId, stream: StreamKind) -> u64 {
    let ends = kept.iter().rev().take_while(|kept| kept.entry.turn >= turn).filter_map(|kept| {
        match (&kept.entry.body, stream) {
            (Body::Agent { text, offset }, StreamKind::Text)
            | (Body::Reasoning { text, offset }, StreamKind::Reasoning)
                if kept.entry.turn == turn =>
            {
                Some(offset + text.len() as u64)
            }
            _ => None,
        }
    });
    ends.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Time;
    use crate::domain::id::{MessageId, SessionId};
    use crate::domain::turn::TurnState;

    fn session() -> SessionId {
        "20260101_000000_00000000".parse().unwrap()
    }

    fn piece(offset: u64, text: &str) -> Piece {
        Piece { session: session(), turn: TurnId(7), stream: StreamKind::Text, offset, text: text.to_owned() }
    }

    fn kept(offset: u64, text: &str, turn_state: TurnState) -> Kept {
        let body = Body::Agent { text: text.to_owned(), offset };
        let entry = Entry {
            id: MessageId(1),
            session: session(),
            turn: TurnId(7),
            at: Time::UNIX_EPOCH,
            body,
            turn_state,
        };
        Kept { entry, revision: 0 }
    }

    fn live(offset: u64, text: &str) -> Live {
        Live { turn: TurnId(7), stream: StreamKind::Text, offset, text: text.to_owned(), revision: 0 }
    }

    #[test]
    fn every_byte_of_a_stream_is_seen_once() {
        let mut stream = vec![live(10, "abc")];
        assert_eq!(join(&mut stream, &[], &piece(11, "bc")), Joined::Known);
        assert_eq!(join(&mut stream, &[], &piece(12, "cde")), Joined::Grew(2));
        assert_eq!(join(&mut stream, &[], &piece(15, "f")), Joined::Grew(1));
        assert_eq!(join(&mut stream, &[], &piece(17, "h")), Joined::Gap);
        assert_eq!(stream[0].text, "abcdef");
    }

    #[test]
    fn a_stream_goes_on_where_the_kept_text_ends() {
        let kept = [kept(0, "hello", TurnState::Running)];
        let mut stream = Vec::new();
        assert_eq!(join(&mut stream, &kept, &piece(3, "lo")), Joined::Known);
        assert_eq!(join(&mut stream, &kept, &piece(3, "lo you")), Joined::Began);
        assert_eq!(stream, [live(5, " you")]);
        assert_eq!(join(&mut Vec::new(), &kept, &piece(6, "x")), Joined::Gap);
    }

    #[test]
    fn what_was_heard_while_an_answer_was_on_its_way_is_kept() {
        let kept = [kept(0, "hello", TurnState::Running)];
        let mut stream = vec![live(0, "hello you there")];
        renew(&mut stream, &kept, Some(live(5, " you")));
        assert_eq!(stream, [live(5, " you there")]);
    }

    #[test]
    fn nothing_is_said_twice_when_the_turn_has_ended() {
        let kept = [kept(0, "hello you", TurnState::Done)];
        let mut stream = vec![live(0, "hello you")];
        renew(&mut stream, &kept, None);
        assert!(stream.is_empty());
    }
}
