//! A turn: the model is asked and its tool calls are carried out, until it has answered.

use std::collections::HashSet;

use super::Connection;
use super::answer::Answer;
use super::calls::Call;
use super::key::Key;
use super::request::{Body, Offered, tame};
use super::room::Measured;
use super::teller::Teller;
use super::trouble::Trouble;
use crate::agent::tools::Tools;
use crate::agent::{AgentError, AgentEvent, Turn};
use crate::domain::event::excerpt;
use crate::domain::remark::Remark;
use crate::domain::session::{ContextUse, Usage};
use crate::domain::talk::Talk;

/// Takes the steps of a turn. Each request that fails is repeated by itself, so no call is carried
/// out twice. What steers the turn reaches the model behind the results of its next calls.
///
/// # Errors
/// Where a request failed for good, or the model ended without an answer.
pub(super) async fn take(
    connection: &Connection,
    tools: &Tools,
    mut turn: Turn,
    measured: &mut Option<Measured>,
    teller: &Teller,
) -> Result<(), AgentError> {
    let key = connection.keys.read().await?;
    let history = std::mem::take(&mut turn.history);
    let talk = Talk::new(connection.config.system_prompt.as_deref(), history, &turn.message);
    let (ids, said) = (HashSet::new(), Said::Nothing);
    let (gave_up, told) = (false, 0);
    let steps = Steps { connection, tools, turn, key, teller, talk, measured, gave_up, told, ids, said };
    steps.take().await
}

pub(super) struct Steps<'a> {
    pub(super) connection: &'a Connection,
    tools: &'a Tools,
    turn: Turn,
    pub(super) key: Option<Key>,
    pub(super) teller: &'a Teller,
    pub(super) talk: Talk,
    /// What the last request took.
    pub(super) measured: &'a mut Option<Measured>,
    /// Whether a summary could not be made in this turn: it is not tried again.
    pub(super) gave_up: bool,
    /// How many steps of the turn are told so far.
    told: u64,
    /// The ids of the calls so far.
    ids: HashSet<String>,
    said: Said,
}

/// Whether there is anything of an answer: words, or calls that were carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    Something,
    Nothing,
}

impl Steps<'_> {
    async fn take(mut self) -> Result<(), AgentError> {
        let offered: Vec<Offered> = self.tools.offered().iter().map(|tool| Offered::new(tool)).collect();
        if offered.is_empty() {
            let answer = self.ask(&[]).await?;
            return self.close(&answer).await;
        }
        let most = self.connection.config.max_steps;
        for _ in 0..most {
            let answer = self.ask(&offered).await?;
            if answer.calls.is_empty() {
                return self.close(&answer).await;
            }
            self.carry_out(answer).await?;
            if let Some(reached) = self.turn.engine.limits.ask(()).await {
                let why = format!("{} is reached; what is not done is left as it is", reached.words());
                self.tell(AgentEvent::Text(Remark::Held.line(&why))).await;
                return Ok(());
            }
            self.take_in_steering().await;
        }
        self.talk.hear(format!(
            "[{most} answers with tool calls are the most in one turn. Give your answer now, without tools, and say what is not done.]"
        ));
        let answer = self.ask(&[]).await?;
        self.close(&answer).await?;
        let setting = self.connection.config.section.setting("max_steps");
        let why = format!("{most} steps with tools are the most ({setting})");
        self.tell(AgentEvent::Text(Remark::Ended.line(&why))).await;
        Ok(())
    }

    /// Asks for the next answer. One that the server refuses because too much was sent is asked for once
    /// more, with less.
    async fn ask(&mut self, offered: &[Offered]) -> Result<Answer, AgentError> {
        self.make_room(offered).await;
        let answer = match self.ask_once(offered).await {
            Err(Trouble::TooLong { why, window }) => {
                if !self.make_room_after_refusal(offered, window).await {
                    return Err(Trouble::TooLong { why, window }.failed());
                }
                self.ask_once(offered).await
            }
            answer => answer,
        };
        let answer = answer.map_err(Trouble::failed)?;
        if !answer.text.is_empty() {
            self.said = Said::Something;
        }
        Ok(answer)
    }

    async fn ask_once(&mut self, offered: &[Offered]) -> Result<Answer, Trouble> {
        let body = Body::new(&self.connection.config, self.talk.messages(), offered);
        let estimate = body.tokens;
        let answer = self.connection.ask_patiently(&body, self.key.as_ref(), self.teller).await?;
        if let Some(Usage { input: tokens @ 1.., .. }) = answer.usage {
            *self.measured = Some(Measured { tokens, estimate });
            self.tell(AgentEvent::Context(ContextUse { tokens, window: self.connection.window_told() }))
                .await;
        }
        Ok(answer)
    }

    /// Carries the calls of an answer out, one after the other. Each is kept before it acts, and its result
    /// before the next.
    async fn carry_out(&mut self, answer: Answer) -> Result<(), AgentError> {
        if let Some(cut) = cut(&answer.finish) {
            return Err(self.failed(&format!("{cut} within a tool call, so nothing of it was done")));
        }
        let mut done = Vec::with_capacity(answer.calls.len());
        for Call { id, name, arguments } in answer.calls {
            let id = self.own_id(id);
            let call = id.clone();
            let told = AgentEvent::ToolCall { call, name: name.clone(), arguments: arguments.clone() };
            self.keep(told).await?;
            let (ok, result) = match self.tools.call(&name, &arguments, &self.turn).await {
                Ok(result) => (true, result),
                Err(error) => (false, format!("error: {error}")),
            };
            let result = self.turn.secrets.hide(result);
            self.turn.engine.doing.clear();
            self.keep(AgentEvent::ToolResult { call: id.clone(), ok, output: result.clone() }).await?;
            done.push((tame(id, &name, arguments), result));
        }
        self.said = Said::Something;
        self.talk.add(answer.text, done);
        Ok(())
    }

    /// What a person said meanwhile goes behind the results: a call and its result are never parted.
    async fn take_in_steering(&mut self) {
        while let Ok((item, text)) = self.turn.engine.steer.try_recv() {
            self.talk.hear(text);
            self.tell(AgentEvent::Steered(item)).await;
        }
    }

    /// The id of a call: the server's where no other call of the turn has it.
    fn own_id(&mut self, given: Option<String>) -> String {
        let mut id = given.unwrap_or_else(|| "call_1".to_owned());
        let mut number = self.ids.len();
        while !self.ids.insert(id.clone()) {
            number += 1;
            id = format!("call_{number}");
        }
        id
    }

    /// Judges an answer that is the last of the turn.
    async fn close(&self, answer: &Answer) -> Result<(), AgentError> {
        let cut = cut(&answer.finish);
        if !answer.calls.is_empty() {
            let names: Vec<String> = answer.calls.iter().map(|call| excerpt(&call.name)).collect();
            let names = names.join(", ");
            if answer.text.is_empty() {
                let why = format!("calls tools where none were offered ({names}), instead of an answer");
                return Err(self.failed(&format!("the model {why} (finish reason {:?})", answer.finish)));
            }
            self.tell(AgentEvent::Text(Remark::NotCalled.line(&names))).await;
        } else if self.said == Said::Nothing {
            return Err(
                self.failed(&format!("the model gave an empty answer (finish reason {:?})", answer.finish))
            );
        }
        if let Some(cut) = cut {
            self.tell(AgentEvent::Text(Remark::Cut.line(&cut))).await;
        }
        Ok(())
    }

    fn failed(&self, what: &str) -> AgentError {
        AgentError::Failed(format!("{}: {what}", self.connection.server))
    }

    /// Tells a step, and waits until it is kept.
    pub(super) async fn keep(&mut self, step: AgentEvent) -> Result<(), AgentError> {
        self.tell(step).await;
        self.told += 1;
        self.turn.engine.kept.up_to(self.told).await
    }

    pub(super) async fn tell(&self, event: AgentEvent) {
        self.teller.tell(event).await;
    }
}

/// What cut an answer, by the server's word; none where that is one of those for an answer that the model ended itself.
pub(super) fn cut(finish: &str) -> Option<String> {
    match finish.trim().to_ascii_lowercase().as_str() {
        "stop" | "tool_calls" | "function_call" | "tool_use" | "end_turn" | "stop_sequence" | "eos"
        | "eos_token" | "complete" => None,
        "length" | "max_tokens" | "model_length" => Some("the model came to its limit of tokens".to_owned()),
        "content_filter" => Some("the server's filter stopped the model".to_owned()),
        _ => Some(format!("the server ended the answer for {:?}", excerpt(finish))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_as_the_models_own_end_is_a_whole_answer() {
        for whole in ["stop", "tool_calls", "function_call", "STOP", "eos_token", "end_turn"] {
            assert_eq!(cut(whole), None, "{whole}");
        }
        for limit in ["length", "max_tokens", "MAX_TOKENS", "model_length"] {
            assert!(cut(limit).is_some_and(|cut| cut.contains("limit of tokens")), "{limit}");
        }
        for other in ["error", "network_error", "insufficient_system_resource", "abort", "7"] {
            let expected = format!("the server ended the answer for {other:?}");
            assert_eq!(cut(other), Some(expected));
        }
    }
}
