//! What a running turn says, put together by byte offset so that every byte is seen once.

use crate::domain::api::{LiveOutput, Piece, StreamKind};
use crate::domain::history::{Body, Entry};
use crate::domain::id::TurnId;

/// A kept entry as it came, with its revision.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct KeptEntry {
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
    /// Where it began; behind it lies what was let go before `text`, if anything was.
    pub(super) began: u64,
    /// The words as they came.
    pub(super) text: String,
    pub(super) revision: u64,
}

/// The last lines that the running tool of a turn has written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) turn: TurnId,
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

    /// Lets the beginning of a text go that is longer than is good to draw; the store has it soon.
    pub(super) fn shorten(&mut self) -> Shortened {
        if self.text.len() <= LONGEST {
            return Shortened::No;
        }
        let near = self.text.floor_char_boundary(self.text.len() - LONGEST / 2);
        let line = self.text[near..].find('\n').filter(|at| *at < LONGEST / 4);
        let begin = line.map_or(near, |at| near + at + 1);
        self.text.drain(..begin);
        self.offset += begin as u64;
        Shortened::Yes
    }

    /// About how many lines are missing before it, behind what is kept.
    pub(super) fn lines_missing(&self, kept: &[KeptEntry]) -> usize {
        let from = self.began.max(kept_end(kept, self.turn, self.stream));
        let missing = usize::try_from(self.offset.saturating_sub(from)).unwrap_or(usize::MAX);
        let lines = self.text.bytes().filter(|byte| *byte == b'\n').count().max(1);
        missing.saturating_mul(lines).div_ceil(self.text.len().max(1))
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
        Self { turn, stream, offset, began: offset, text, revision: 0 }
    }
}

/// A live text beyond this is shortened to the half of it.
const LONGEST: usize = 128 * 1024;

/// Whether the beginning of a live text was let go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shortened {
    Yes,
    No,
}

/// Adds a piece to what streams.
pub(super) fn join(live: &mut Vec<Live>, kept: &[KeptEntry], piece: &Piece) -> Joined {
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

fn begin(live: &mut Vec<Live>, kept: &[KeptEntry], piece: &Piece) -> Joined {
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
            let text = more.to_owned();
            live.push(Live { turn, stream, offset: end, began: end, text, revision: 0 });
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
pub(super) fn renew(live: &mut Vec<Live>, kept: &[KeptEntry], answer: Option<Live>) {
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
        if still_runs(live, kept, piece.turn) && join(live, kept, &piece) == Joined::Gap {
            // More was heard and let go than the answer tells of: what was heard last is shown.
            live.retain(|live| live.stream != piece.stream);
            let Piece { turn, stream, offset, text, .. } = piece;
            live.push(Live { turn, stream, offset, began: old.began, text, revision: 0 });
        }
    }
}

/// Whether a turn may still say something: no entry tells of its end, no later turn speaks.
fn still_runs(live: &[Live], kept: &[KeptEntry], turn: TurnId) -> bool {
    use crate::domain::turn::TurnState;
    let ended = kept
        .iter()
        .rev()
        .take_while(|kept| kept.entry.turn >= turn)
        .any(|kept| kept.entry.turn > turn || kept.entry.turn_state != TurnState::Running);
    !ended && live.iter().all(|live| live.turn == turn)
}

/// How many bytes of a kind the kept entries of a turn reach to.
fn kept_end(kept: &[KeptEntry], turn: TurnId, stream: StreamKind) -> u64 {
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

    fn kept(offset: u64, text: &str, turn_state: TurnState) -> KeptEntry {
        let body = Body::Agent { text: text.to_owned(), offset };
        let entry = Entry {
            id: MessageId(1),
            session: session(),
            turn: TurnId(7),
            at: Time::UNIX_EPOCH,
            body,
            turn_state,
        };
        KeptEntry { entry, revision: 0 }
    }

    fn live(offset: u64, text: &str) -> Live {
        let text = text.to_owned();
        Live { turn: TurnId(7), stream: StreamKind::Text, offset, began: offset, text, revision: 0 }
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
    fn of_a_very_long_live_text_the_end_is_left_and_what_is_missing_is_told() {
        let text = "four\n".repeat(LONGEST / 5);
        let mut long = live(10, &text);
        assert_eq!((long.shorten(), long.lines_missing(&[])), (Shortened::No, 0));
        long.text.push_str("and more\n");
        let end = long.end();
        assert_eq!(long.shorten(), Shortened::Yes);
        assert!(long.text.len() <= LONGEST / 2 && long.text.len() > LONGEST / 2 - 10);
        assert!(long.text.starts_with("four\n"));
        assert_eq!((long.end(), long.began), (end, 10));
        let missing = (long.offset - 10) as usize / 5;
        assert!(long.lines_missing(&[]).abs_diff(missing) < 10, "{missing}");
        // What is kept meanwhile is not missing any more.
        let kept = [kept(0, &"x".repeat(long.offset as usize - 10), TurnState::Running)];
        assert!((1..=2).contains(&long.lines_missing(&kept)));
    }

    #[test]
    fn what_was_heard_last_stays_if_the_answer_does_not_reach_it() {
        let kept = [kept(0, "hello", TurnState::Running)];
        let heard = Live { began: 5, ..live(100, "the end") };
        let mut stream = vec![heard.clone()];
        renew(&mut stream, &kept, Some(live(5, " you")));
        assert_eq!(stream, [heard]);
        assert_eq!(join(&mut stream, &kept, &piece(107, "!")), Joined::Grew(1));
    }

    #[test]
    fn nothing_is_said_twice_when_the_turn_has_ended() {
        let kept = [kept(0, "hello you", TurnState::Done)];
        let mut stream = vec![live(0, "hello you")];
        renew(&mut stream, &kept, None);
        assert!(stream.is_empty());
    }
}
