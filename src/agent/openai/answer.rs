//! An answer, from the first event to its end.

use std::time::Duration;

use eventsource_stream::Event;
use futures_util::{Stream, StreamExt};
use reqwest::Response;
use tokio::time::{Instant, timeout_at};

use super::calls::{Call, Calls, TooMuch};
use super::chunk::{self, Chunk, Form};
use super::key::Key;
use super::lines::{self, Broken};
use super::server::Server;
use super::teller::Teller;
use super::trouble::{self, Trouble};
use crate::agent::AgentEvent;
use crate::config::OpenAiConfig;
use crate::domain::session::Usage;
use crate::domain::talk::Count;

/// How long the use of tokens may follow a finished answer.
const AFTERWORD: Duration = Duration::from_secs(5);
/// For so many times the stall time-out a server may show that it lives, and say nothing of an answer.
const SIGNS_OF_LIFE: u32 = 10;
/// More words are no sane answer.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// An answer that the server ended.
#[derive(Debug)]
pub(super) struct Answer {
    /// The words, which were passed on already.
    pub(super) text: String,
    /// The tools that the model calls.
    pub(super) calls: Vec<Call>,
    /// Why the model stopped, in the server's word.
    pub(super) finish: String,
    /// What it took, where the server tells.
    pub(super) usage: Option<Usage>,
}

/// Passes the words of an answer on as they come, and decides whether it came to its end. Where the server
/// does not tell what it took, that is estimated, from about how many tokens were `asked` and what was heard.
///
/// # Errors
/// Where the server did not end it or told of a failure. Passing only while nothing of the answer
/// was passed on.
pub(super) async fn pass_on(
    server: &Server,
    config: &OpenAiConfig,
    key: Option<&Key>,
    response: Response,
    asked: u64,
    teller: &Teller,
) -> Result<Answer, Trouble> {
    let mut listener = Listener { server, config, key, asked, teller, heard: Heard::default() };
    let end = listener.listen(lines::events(response, config.stall_timeout)).await;
    if end.is_ok() {
        listener.count();
    }
    teller.settle().await;
    let heard = listener.heard;
    match end {
        Err(Trouble::Passing { why, .. }) if heard.anything() => Err(Trouble::Lasting(why)),
        Err(trouble) => Err(trouble),
        Ok(finish) => {
            let (calls, usage) = (heard.calls.into_whole(), heard.usage);
            Ok(Answer { text: heard.text, calls, finish, usage })
        }
    }
}

struct Listener<'a> {
    server: &'a Server,
    config: &'a OpenAiConfig,
    key: Option<&'a Key>,
    /// About how many tokens were asked.
    asked: u64,
    teller: &'a Teller,
    heard: Heard,
}

/// What came so far.
#[derive(Default)]
struct Heard {
    text: String,
    /// How many bytes of words, with those of reasoning.
    bytes: usize,
    /// How much came, with all that is no word.
    count: Count,
    model: bool,
    calls: Calls,
    /// Why the model stopped.
    finish: Option<String>,
    /// The last word on it: some servers tell it with every piece.
    usage: Option<Usage>,
}

impl Heard {
    fn anything(&self) -> bool {
        self.bytes > 0
    }
}

impl Listener<'_> {
    /// Listens to the end, and returns why the model stopped.
    async fn listen(
        &mut self,
        mut events: impl Stream<Item = Result<Event, Broken>> + Unpin,
    ) -> Result<String, Trouble> {
        let (mut ended, mut heard_at) = (false, Instant::now());
        loop {
            let patience = match self.heard.finish {
                Some(_) => AFTERWORD,
                None => self.config.stall_timeout * SIGNS_OF_LIFE,
            };
            let event = match timeout_at(heard_at + patience, events.next()).await {
                Ok(Some(Ok(event))) => event,
                // The answer is whole: what breaks now is no part of it.
                Err(_) | Ok(Some(Err(_))) if self.heard.finish.is_some() => break,
                Ok(Some(Err(broken))) => return Err(self.broken(&broken)),
                Err(_) => return Err(trouble::says_nothing(self.server, self.config, patience)),
                Ok(None) => break,
            };
            match event.data.trim() {
                "" => continue,
                "[DONE]" => {
                    ended = true;
                    break;
                }
                _ => {}
            }
            let Some(chunk) = chunk::read(&event.data) else {
                let said = trouble::told(&event.data, self.key);
                return Err(Trouble::Lasting(format!(
                    "{} sent a broken piece of an answer: {said}",
                    self.server
                )));
            };
            if let Some(error) = &chunk.error {
                return Err(trouble::told_in_stream(self.server, self.key, error));
            }
            ended |= chunk.form == Form::Whole;
            let ends_it = chunk.finish.is_some() && self.heard.finish.is_none();
            let says_something = ends_it || chunk.says_something();
            self.take(chunk).await?;
            if says_something {
                heard_at = Instant::now();
            }
        }
        match (ended, self.heard.finish.take()) {
            (false, None) => Err(self.unfinished()),
            (_, finish) => Ok(finish.unwrap_or_else(|| "stop".to_owned())),
        }
    }

    async fn take(&mut self, chunk: Chunk) -> Result<(), Trouble> {
        if !self.heard.model {
            self.heard.model = true;
            let named = chunk.model.as_deref().map(|name| trouble::told(file_name(name), self.key));
            self.tell(AgentEvent::Model(named.unwrap_or_else(|| self.config.model.clone()))).await;
        }
        self.heard.bytes += chunk.text.len() + chunk.reasoning.len();
        self.heard.usage = chunk.usage.or(self.heard.usage);
        let of_calls =
            chunk.calls.iter().flat_map(|part| [part.name.as_deref().unwrap_or_default(), &part.arguments]);
        for words in [&*chunk.text, &chunk.reasoning].into_iter().chain(of_calls) {
            self.heard.count.add(words);
        }
        if self.heard.usage.is_some() || self.heard.count != Count::default() {
            self.count();
        }
        if !chunk.reasoning.is_empty() {
            self.tell(AgentEvent::Reasoning(chunk.reasoning)).await;
        }
        if !chunk.text.is_empty() {
            self.heard.text.push_str(&chunk.text);
            self.tell(AgentEvent::Text(chunk.text)).await;
        }
        if self.heard.bytes > MOST_BYTES {
            let most = MOST_BYTES / 1024 / 1024;
            return Err(Trouble::Lasting(format!(
                "{} sent an answer that does not end: {most} MiB of words are the most",
                self.server
            )));
        }
        self.heard.finish = chunk.finish.or(self.heard.finish.take());
        for part in chunk.calls {
            self.heard.calls.take(part, chunk.form).map_err(|TooMuch| {
                Trouble::Lasting(format!("{} sent tool calls that do not end", self.server))
            })?;
        }
        Ok(())
    }

    /// Counts what the answer has used so far: by the server's word, or else about.
    fn count(&self) {
        let Heard { usage, count, .. } = &self.heard;
        let about = Usage { input: self.asked, output: count.tokens(), ..Usage::default() };
        let used = usage.unwrap_or(about);
        self.teller.hears(Usage { cost: self.config.facts.price.of(&used), ..used });
    }

    fn unfinished(&self) -> Trouble {
        let what = if self.heard.anything() { "the answer broke off" } else { "no answer came" };
        let why = format!("{what}: {} ended its stream without a finish reason", self.server);
        Trouble::Passing { why, wait: None }
    }

    fn broken(&self, broken: &Broken) -> Trouble {
        let server = self.server;
        match broken {
            Broken::Stalled => trouble::stalled(server, self.config),
            Broken::Connection(error) => Trouble::Passing {
                why: format!("the connection to {server} broke: {}", trouble::innermost(error)),
                wait: None,
            },
            Broken::WebPage => Trouble::Lasting(format!(
                "{server} answers with a web page: {} must name its API, often with /v1 at the end",
                self.config.section.setting("base_url")
            )),
            Broken::TooLong => Trouble::Lasting(format!("{server} sent a line that does not end")),
            Broken::Garbled => Trouble::Lasting(format!("{server} sent no event stream")),
        }
    }

    async fn tell(&self, event: AgentEvent) {
        self.teller.tell(event).await;
    }
}

/// Local servers name a model by the path of its file.
fn file_name(model: &str) -> &str {
    if model.starts_with('/') { model.rsplit('/').next().unwrap_or(model) } else { model }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use tokio::sync::mpsc;

    use super::*;
    use crate::config::Config;

    /// How an answer ends whose pieces come a minute apart, where two are the stall time-out.
    async fn listen(pieces: impl Iterator<Item = &str> + Send) -> (Result<String, Trouble>, String) {
        listen_each(Duration::from_secs(60), pieces).await
    }

    async fn listen_each(
        pause: Duration,
        pieces: impl Iterator<Item = &str> + Send,
    ) -> (Result<String, Trouble>, String) {
        let mut config = Config::default().agent.openai;
        config.stall_timeout = Duration::from_secs(120);
        let server = Server::parse(&config.section, "http://localhost/v1").unwrap();
        let (output, _said) = mpsc::channel(1_000);
        let teller = Teller::new(output);
        let mut listener = Listener {
            server: &server,
            config: &config,
            key: None,
            asked: 0,
            teller: &teller,
            heard: Heard::default(),
        };
        let events = stream::iter(pieces).then(|data| async move {
            tokio::time::sleep(pause).await;
            Ok(Event { data: data.to_owned(), ..Event::default() })
        });
        let end = listener.listen(Box::pin(events)).await;
        (end, listener.heard.text)
    }

    const WORD: &str = r#"{"choices":[{"delta":{"content":"a"}}]}"#;
    const EMPTY: &str = r#"{"choices":[{"delta":{"content":""}}]}"#;
    const STOP: &str = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;

    #[tokio::test(start_paused = true)]
    async fn an_answer_may_take_much_longer_than_a_silence() {
        let pieces = std::iter::repeat_n(WORD, 100).chain([STOP, "[DONE]"]);
        assert_eq!(listen(pieces).await, (Ok("stop".to_owned()), "a".repeat(100)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_only_shows_that_it_lives_is_given_up_after_ten_times_its_silence() {
        for sign in
            ["", EMPTY, r#"{"choices":[]}"#, r#"{"choices":[{"delta":{"tool_calls":[{"index":0}]}}]}"#]
        {
            let patient = [WORD].into_iter().chain(std::iter::repeat_n(sign, 18)).chain([STOP, "[DONE]"]);
            assert_eq!(listen(patient).await, (Ok("stop".to_owned()), "a".to_owned()), "{sign:?}");
            let (end, text) = listen([WORD].into_iter().chain(std::iter::repeat(sign))).await;
            assert_eq!(text, "a");
            let why = end.unwrap_err().why();
            assert!(why.contains("signs of life for 1200 s and nothing of an answer"), "{why}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_whose_words_do_not_end_is_given_up() {
        let long = "a".repeat(1024 * 1024);
        for kind in ["content", "reasoning"] {
            let piece = format!(r#"{{"choices":[{{"delta":{{"{kind}":"{long}"}}}}]}}"#);
            let (end, text) = listen(std::iter::repeat(piece.as_str())).await;
            let why = end.unwrap_err().why();
            assert!(why.contains("does not end: 4 MiB of words are the most"), "{why}");
            assert!(text.len() <= MOST_BYTES + long.len());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_whole_answer_waits_for_no_server_that_does_not_close_it() {
        let (end, text) = listen([WORD, STOP].into_iter().chain(std::iter::repeat(EMPTY))).await;
        assert_eq!((end, text.as_str()), (Ok("stop".to_owned()), "a"));
        let usage = r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}"#;
        for again in [STOP, usage] {
            let pieces = [WORD, STOP].into_iter().chain(std::iter::repeat(again));
            let (end, text) = listen_each(Duration::from_secs(1), pieces).await;
            assert_eq!((end, text.as_str()), (Ok("stop".to_owned()), "a"), "{again}");
        }
    }
}
