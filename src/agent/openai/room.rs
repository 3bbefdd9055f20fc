//! Room in the model's window: when a conversation is sent shorter, and the summary that the model makes.

use super::request::{self, Body, Offered};
use super::steps::{Steps, cut};
use super::trouble::Trouble;
use crate::agent::AgentEvent;
use crate::domain::event::short_number;
use crate::domain::talk::{Covers, Message, Shortened};

/// What the model is told when it is to sum a conversation up.
const RULES: &str = "You sum up the middle of a conversation between a user and you, so that you can go on with it without \
     reading it again. Write in the language of the conversation, in at most 500 words, and only what is \
     needed to go on: what the user wants and decided, what was done and what came of it, the names, paths, \
     numbers and errors that matter, and what is still open. An earlier summary in it is carried over. Do not \
     answer the user, and do not call tools.";

/// What a request took, as the server counted it and as it was estimated.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measured {
    pub(super) tokens: u64,
    pub(super) estimate: u64,
}

impl Steps<'_> {
    /// Makes the talk shorter where it nearly fills the model's window, if that is known.
    pub(super) async fn make_room(&mut self, tools: &[Offered]) {
        let Some(window) = self.connection.window(self.key.as_ref()).await else { return };
        let (size, limit) = (self.size(tools), self.limit(window));
        if size >= limit {
            self.shorten(size, limit / 4 * 3).await;
        }
    }

    /// The same after the server refused the talk as too long: whatever its size seemed to be, it is to
    /// lose a quarter at least. Tells whether it is shorter now.
    pub(super) async fn make_room_after_refusal(&mut self, tools: &[Offered], told: Option<u64>) -> bool {
        self.connection.learn_window(told);
        let window = self.connection.window_told();
        let size = window.map_or(self.size(tools), |window| window.max(self.size(tools)));
        let limit = window.map_or(size, |window| self.limit(window));
        self.shorten(size, limit / 4 * 3).await
    }

    /// About how many tokens a request takes now: what the last one took, and what came since.
    fn size(&self, tools: &[Offered]) -> u64 {
        let estimate = self.estimate(tools);
        match *self.measured {
            Some(last) => last.tokens.saturating_add(estimate).saturating_sub(last.estimate),
            None => estimate,
        }
    }

    fn estimate(&self, tools: &[Offered]) -> u64 {
        request::tokens(self.talk.messages(), tools)
    }

    fn limit(&self, window: u64) -> u64 {
        window.saturating_mul(self.connection.config.compact_at_percent) / 100
    }

    async fn shorten(&mut self, before: u64, goal: u64) -> bool {
        // The server's tokens and the estimate's are two measures.
        let whole = self.talk.tokens().max(1);
        let size = |estimate: u64| before.saturating_mul(estimate) / whole;
        let estimate = |size: u64| size.saturating_mul(whole) / before.max(1);
        let tail = self.talk.tail(estimate(goal / 2));
        let results = self.talk.leave_results_out(tail);
        let mut summary = None;
        if size(self.talk.tokens()) > goal && !self.gave_up {
            match self.summarise(tail, estimate(goal)).await {
                Ok(made) => summary = Some(made),
                Err(why) => {
                    self.gave_up = true;
                    let size = short_number(size(self.talk.tokens()));
                    let told = format!(
                        "goes on with about {size} tokens, near the most that the model takes: no summary was made ({why})"
                    );
                    self.tell(AgentEvent::Notice(told)).await;
                }
            }
        }
        if results == 0 && summary.is_none() {
            return false;
        }
        let after = size(self.talk.tokens());
        self.keep(AgentEvent::Shortened(Shortened { results, summary, before, after })).await.is_ok()
    }

    async fn summarise(&mut self, tail: usize, budget: u64) -> Result<(Covers, String), String> {
        let transcript = self.talk.transcript(tail, budget).map_err(|why| why.to_string())?;
        let messages = [Message::System { text: RULES.to_owned() }, Message::User { text: transcript }];
        let body = Body::new(&self.connection.config, &messages, &[]);
        let aside = self.teller.aside();
        let asked = self.connection.ask_patiently(&body, self.key.as_ref(), &aside).await;
        let answer = asked.map_err(Trouble::why)?;
        if let Some(cut) = cut(&answer.finish) {
            return Err(format!("it was cut: {cut}"));
        }
        let covers = self.talk.summarise(tail, &answer.text).map_err(|why| why.to_string())?;
        Ok((covers, answer.text.trim().to_owned()))
    }
}
