//! The events in the body of an answer.
//!
//! The event stream parser wants UTF-8 and keeps an unfinished line to parse it again with every
//! piece: it is given decoded, whole lines. A server that ignores `stream` sends one JSON document,
//! which becomes one event.

use std::time::Duration;

use eventsource_stream::{Event, EventStreamError, Eventsource};
use futures_util::stream::{self, BoxStream, Stream, StreamExt};
use reqwest::Response;
use tokio::time::timeout;

use crate::agent::utf8::LossyDecoder;

/// Longer lines are no sane answer.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// Why a body gave no more events.
#[derive(Debug)]
pub(super) enum Broken {
    /// Nothing came for the stall time.
    Stalled,
    /// The connection ended in the middle.
    Connection(reqwest::Error),
    /// A web page, not an answer of a model.
    WebPage,
    /// More than fits in memory without a line's end.
    TooLong,
    /// Not an event stream.
    Garbled,
}

/// Reads the events of a body; ends after the first thing that breaks it.
pub(super) fn events(response: Response, stall: Duration) -> BoxStream<'static, Result<Event, Broken>> {
    whole_lines(response.bytes_stream().boxed(), stall)
        .eventsource()
        .map(|event| {
            event.map_err(|error| match error {
                EventStreamError::Transport(broken) => broken,
                EventStreamError::Utf8(_) | EventStreamError::Parser(_) => Broken::Garbled,
            })
        })
        .boxed()
}

/// What may stand before an answer. The event stream parser panics on a byte order mark.
const BLANK: [char; 5] = ['\u{FEFF}', ' ', '\t', '\r', '\n'];

/// What the first character tells about a body.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Unknown,
    Events,
    Document,
}

struct Reader<B> {
    body: B,
    decoder: LossyDecoder,
    /// Text whose line or document goes on.
    begun: String,
    kind: Kind,
}

fn whole_lines<B, T>(body: B, stall: Duration) -> impl Stream<Item = Result<String, Broken>>
where
    B: Stream<Item = Result<T, reqwest::Error>> + Unpin,
    T: AsRef<[u8]>,
{
    let reader = Reader { body, decoder: LossyDecoder::default(), begun: String::new(), kind: Kind::Unknown };
    stream::unfold(Some(reader), move |reader| async move {
        let mut reader = reader?;
        loop {
            match timeout(stall, reader.body.next()).await {
                Err(_) => return Some((Err(Broken::Stalled), None)),
                Ok(Some(Err(error))) => return Some((Err(Broken::Connection(error)), None)),
                Ok(None) => return Some((Ok(reader.finish()), None)),
                Ok(Some(Ok(bytes))) => match reader.take(bytes.as_ref()) {
                    Err(broken) => return Some((Err(broken), None)),
                    Ok(lines) if lines.is_empty() => {}
                    Ok(lines) => return Some((Ok(lines), Some(reader))),
                },
            }
        }
    })
}

impl<B> Reader<B> {
    /// Takes more of the body and gives the lines that are whole.
    fn take(&mut self, bytes: &[u8]) -> Result<String, Broken> {
        let searched = self.begun.len();
        self.begun.push_str(&self.decoder.push(bytes));
        if self.kind == Kind::Unknown {
            self.begun.drain(..self.begun.len() - self.begun.trim_start_matches(BLANK).len());
            self.kind = match self.begun.chars().next() {
                None => Kind::Unknown,
                Some('{' | '[') => Kind::Document,
                Some('<') => return Err(Broken::WebPage),
                Some(_) => Kind::Events,
            };
        }
        let new = self.begun.get(searched..).unwrap_or(&self.begun);
        let end = match self.kind {
            Kind::Events => new.rfind(['\n', '\r']).map_or(0, |at| self.begun.len() - new.len() + at + 1),
            Kind::Unknown | Kind::Document => 0,
        };
        let rest = self.begun.split_off(end);
        let lines = std::mem::replace(&mut self.begun, rest);
        if self.begun.len() > MOST_BYTES { Err(Broken::TooLong) } else { Ok(lines) }
    }

    /// Gives what is left at the end, ended as an event whether or not the server did so.
    fn finish(mut self) -> String {
        self.begun.push_str(self.decoder.finish());
        match self.kind {
            // Line breaks in a JSON document stand between its parts only.
            Kind::Document => {
                let document = self.begun.trim_end_matches(BLANK).replace(['\n', '\r'], " ");
                format!("data: {document}\n\n")
            }
            Kind::Unknown | Kind::Events => format!("{}\n\n", self.begun),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(pieces: &[&[u8]]) -> Vec<Result<String, Broken>> {
        let body = stream::iter(pieces.iter().map(|piece| Ok::<_, reqwest::Error>(piece.to_vec())));
        whole_lines(body.boxed(), Duration::from_secs(1))
            .eventsource()
            .map(|event| match event {
                Ok(event) => Ok(event.data),
                Err(EventStreamError::Transport(broken)) => Err(broken),
                Err(_) => Err(Broken::Garbled),
            })
            .collect()
            .await
    }

    async fn data(pieces: &[&[u8]]) -> Vec<String> {
        read(pieces).await.into_iter().map(|event| event.unwrap()).collect()
    }

    #[tokio::test]
    async fn a_body_may_be_cut_anywhere() {
        let body = ": ping\r\n\r\ndata: {\"a\":\"ü🦀\"}\n\ndata: two\ndata: lines\n\n".as_bytes();
        for cut in 0..body.len() {
            let events = data(&[&body[..cut], &body[cut..]]).await;
            assert_eq!(events, ["{\"a\":\"ü🦀\"}", "two\nlines"], "cut at {cut}");
        }
    }

    #[tokio::test]
    async fn what_stands_before_the_events_is_skipped() {
        let body = "\u{FEFF}\r\n \ndata: a\n\n".as_bytes();
        for cut in 0..body.len() {
            assert_eq!(data(&[&body[..cut], &body[cut..]]).await, ["a"], "cut at {cut}");
        }
    }

    #[tokio::test]
    async fn the_last_event_needs_no_end() {
        assert_eq!(data(&[b"data: a\n\ndata: [DONE]"]).await, ["a", "[DONE]"]);
    }

    #[tokio::test]
    async fn bytes_that_are_no_text_are_marked() {
        assert_eq!(data(&[b"data: a\xff\xf0\x9f", b"b\n\n"]).await, ["a\u{FFFD}\u{FFFD}b"]);
    }

    #[tokio::test]
    async fn a_document_is_one_event() {
        assert_eq!(data(&[b"\n {\n \"a\":", b" 1\n}\n"]).await, ["{  \"a\": 1 }"]);
    }

    #[tokio::test]
    async fn a_web_page_is_no_answer() {
        let events = read(&[b" \n", b"<!doctype html>\n"]).await;
        assert!(matches!(events.as_slice(), [Err(Broken::WebPage)]), "{events:?}");
    }

    #[tokio::test]
    async fn an_endless_line_is_given_up() {
        let piece = vec![b'x'; 1024 * 1024];
        let mut pieces: Vec<&[u8]> = vec![b"data: "];
        pieces.extend(std::iter::repeat_n(piece.as_slice(), 9));
        let events = read(&pieces).await;
        assert!(matches!(events.as_slice(), [Err(Broken::TooLong)]));
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_noticed() {
        let body = stream::iter([Ok::<_, reqwest::Error>(b"data: a\n\n".to_vec())]).chain(stream::pending());
        let lines: Vec<_> = whole_lines(body.boxed(), Duration::from_secs(30)).collect().await;
        assert!(matches!(lines.as_slice(), [Ok(_), Err(Broken::Stalled)]), "{lines:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn keep_alive_comments_are_no_silence() {
        let pieces = std::iter::repeat_n(": ping\n\n", 10).chain(["data: a\n\n"]);
        let body = stream::iter(pieces).then(|piece| async move {
            tokio::time::sleep(Duration::from_secs(20)).await;
            Ok::<_, reqwest::Error>(piece)
        });
        let lines: Vec<_> = whole_lines(body.boxed(), Duration::from_secs(30)).collect().await;
        assert!(lines.iter().all(Result::is_ok), "{lines:?}");
        assert_eq!(lines.len(), 12, "each piece, and the end");
    }
}
