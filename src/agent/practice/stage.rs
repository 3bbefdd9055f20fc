//! Where a practice turn is played: its stream, its stop, its pace and the text it is steered with.

use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::instructions::Pace;
use crate::agent::{AgentError, AgentEvent, StepsKept};
use crate::domain::id::ItemId;

/// Sends what the agent does and obeys a stop at every step.
pub(super) struct Stage {
    pub(super) output: mpsc::Sender<AgentEvent>,
    pub(super) cancel: CancellationToken,
    pub(super) steer: mpsc::Receiver<(ItemId, String)>,
    pub(super) pace: Pace,
    kept: StepsKept,
    /// How many steps are told so far.
    told: u64,
    /// Steered text that came while a sentence was under way.
    heard: Vec<(ItemId, String)>,
    /// Words said and thought: the practice agent's tokens.
    pub(super) words_out: u64,
}

impl Stage {
    pub(super) fn new(
        output: mpsc::Sender<AgentEvent>,
        cancel: CancellationToken,
        steer: mpsc::Receiver<(ItemId, String)>,
        kept: StepsKept,
        pace: Pace,
    ) -> Self {
        Self { output, cancel, steer, pace, kept, told: 0, heard: Vec::new(), words_out: 0 }
    }

    /// Sends one event; waits while the channel is full.
    pub(super) async fn send(&mut self, event: AgentEvent) -> Result<(), AgentError> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(AgentError::Cancelled),
            sent = self.output.send(event) => sent.map_err(|_| AgentError::Cancelled),
        }
    }

    /// Sends a step, and waits until it is kept.
    pub(super) async fn keep(&mut self, step: AgentEvent) -> Result<(), AgentError> {
        self.send(step).await?;
        self.told += 1;
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(AgentError::Cancelled),
            kept = self.kept.up_to(self.told) => kept,
        }
    }

    /// Says a text word by word.
    pub(super) async fn say(&mut self, text: &str) -> Result<(), AgentError> {
        self.stream(text, AgentEvent::Text).await
    }

    /// Thinks a text word by word.
    pub(super) async fn think(&mut self, text: &str) -> Result<(), AgentError> {
        self.stream(text, AgentEvent::Reasoning).await
    }

    async fn stream(&mut self, text: &str, event: fn(String) -> AgentEvent) -> Result<(), AgentError> {
        for word in text.split_inclusive(char::is_whitespace) {
            self.words_out += u64::from(!word.trim().is_empty());
            self.send(event(word.to_owned())).await?;
            self.pause(word_time(self.pace)).await?;
        }
        Ok(())
    }

    /// Sends a ready piece of text at once.
    pub(super) async fn pour(&mut self, text: String) -> Result<(), AgentError> {
        self.words_out += super::count_words(&text);
        self.send(AgentEvent::Text(text)).await
    }

    /// Announces a call, the act's own, and gives its id.
    pub(super) async fn begin_call(
        &mut self,
        act: usize,
        name: &str,
        arguments: &Value,
    ) -> Result<String, AgentError> {
        let call = format!("practice_{}", act + 1);
        let (name, arguments) = (name.to_owned(), arguments.to_string());
        self.keep(AgentEvent::ToolCall { call: call.clone(), name, arguments }).await?;
        Ok(call)
    }

    /// Tells what a call gave back.
    pub(super) async fn end_call(
        &mut self,
        call: String,
        ok: bool,
        output: String,
    ) -> Result<(), AgentError> {
        self.keep(AgentEvent::ToolResult { call, ok, output }).await
    }

    /// Waits, listening for a stop and for steered text.
    pub(super) async fn pause(&mut self, time: Duration) -> Result<(), AgentError> {
        let end = Instant::now() + time;
        loop {
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Err(AgentError::Cancelled),
                () = sleep_until(end) => return Ok(()),
                Some(steered) = self.steer.recv() => self.heard.push(steered),
            }
        }
    }

    /// Takes in the text that the turn was steered with since the last step.
    pub(super) async fn take_in_steering(&mut self) -> Result<(), AgentError> {
        while let Ok(steered) = self.steer.try_recv() {
            self.heard.push(steered);
        }
        for (item, text) in std::mem::take(&mut self.heard) {
            self.send(AgentEvent::Steered(item)).await?;
            self.say(&format!("I take in what you steer me with: \"{text}\".\n")).await?;
        }
        Ok(())
    }
}

fn word_time(pace: Pace) -> Duration {
    match pace {
        Pace::Normal => Duration::from_millis(12),
        Pace::Slow => Duration::from_millis(300),
    }
}
