//! What a turn has produced: what is still to be kept, and what it adds up to.

use crate::agent::AgentEvent;
use crate::domain::api::StreamKind;
use crate::domain::id::{ItemId, MessageId};
use crate::domain::plan::Plan;
use crate::domain::session::{AgentSession, ContextUse, Usage};
use crate::domain::talk::{Covers, Shortened};
use crate::domain::turn::{Output, Reach};

/// Gathers a turn's output between two times that it is kept.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    /// The last entry of each step of the history that the agent was given.
    pub(super) ends: Vec<MessageId>,
    unkept: Vec<Output>,
    unkept_bytes: usize,
    /// How many calls, results and shortenings there were: what an agent may wait for.
    pub(super) steps: u64,
    text_bytes: u64,
    reasoning_bytes: u64,
    /// What the agent means to do.
    plan: Plan,
    /// What the turn used so far.
    pub(super) usage: Usage,
    /// How full its model's window was when it was asked last.
    pub(super) context: Option<ContextUse>,
    /// The model that answers.
    pub(super) model: Option<String>,
    /// The agent's own session in which the turn runs.
    pub(super) agent_session: Option<AgentSession>,
    /// The steered items that the agent took in.
    pub(super) steered: Vec<ItemId>,
    /// Whether the agent did anything.
    pub(super) did_anything: bool,
}

/// What an event of the agent means beyond being gathered.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// Words that stream, beginning at this byte of their kind.
    Words { stream: StreamKind, offset: u64, text: String },
    /// Something to keep before the agent goes on.
    Step,
    /// A failed try is repeated.
    Retry { attempt: u32, wait: std::time::Duration, why: String },
    /// Something to tell about the turn.
    Notice(String),
    /// Nothing more.
    Noted,
}

impl Recorder {
    /// Takes an event of the agent in.
    pub(super) fn take(&mut self, event: AgentEvent) -> Taken {
        match event {
            AgentEvent::Text(text) => self.words(StreamKind::Text, text),
            AgentEvent::Reasoning(text) => self.words(StreamKind::Reasoning, text),
            AgentEvent::Plan(plan) if plan == self.plan => Taken::Noted,
            AgentEvent::Plan(plan) => {
                self.plan.clone_from(&plan);
                self.did_anything = true;
                self.gather(Output::Plan(plan))
            }
            AgentEvent::ToolCall { call, name, arguments } => {
                self.did_anything = true;
                self.step(Output::ToolCall { call, name, arguments })
            }
            AgentEvent::ToolResult { call, ok, output } => {
                self.did_anything = true;
                self.step(Output::ToolResult { call, ok, output })
            }
            AgentEvent::Steered(item) => {
                self.steered.push(item);
                Taken::Noted
            }
            AgentEvent::Usage(usage) => {
                let before = self.usage;
                self.usage.add(&usage);
                self.usage = self.usage.of_a_turn();
                self.used(self.usage.since(&before))
            }
            AgentEvent::Context(context) => {
                self.context = Some(context.believable());
                Taken::Noted
            }
            AgentEvent::Model(model) => {
                self.model = Some(model);
                Taken::Noted
            }
            AgentEvent::Session(session) => self.session(session),
            AgentEvent::Shortened(shortened) => {
                let output = self.kept(shortened);
                self.step(output)
            }
            AgentEvent::Notice(what) => Taken::Notice(what),
            AgentEvent::Retrying { attempt, wait, why } => Taken::Retry { attempt, wait, why },
        }
    }

    /// Takes out what is to be kept now.
    pub(super) fn drain(&mut self) -> Batch {
        self.unkept_bytes = 0;
        Batch {
            output: std::mem::take(&mut self.unkept),
            steps_end: self.steps,
            text_end: self.text_bytes,
            reasoning_end: self.reasoning_bytes,
        }
    }

    /// Takes back what could not be kept: it comes before what was said meanwhile.
    pub(super) fn put_back(&mut self, batch: Batch) {
        self.unkept_bytes += batch.output.iter().map(bytes_of).sum::<usize>();
        let later = std::mem::replace(&mut self.unkept, batch.output);
        self.unkept.extend(later);
    }

    /// Whether there is nothing to keep.
    pub(super) fn is_empty(&self) -> bool {
        self.unkept.is_empty()
    }

    /// How many bytes of words the turn has.
    pub(super) fn words_bytes(&self) -> u64 {
        self.text_bytes + self.reasoning_bytes
    }

    /// How many bytes wait to be kept.
    pub(super) fn unkept_bytes(&self) -> usize {
        self.unkept_bytes
    }

    fn words(&mut self, stream: StreamKind, text: String) -> Taken {
        if text.is_empty() {
            return Taken::Noted;
        }
        self.did_anything = true;
        self.unkept_bytes += text.len();
        let total = match stream {
            StreamKind::Text => &mut self.text_bytes,
            StreamKind::Reasoning => &mut self.reasoning_bytes,
        };
        let offset = *total;
        *total += text.len() as u64;
        match (stream, self.unkept.last_mut()) {
            (StreamKind::Text, Some(Output::Text { text: before }))
            | (StreamKind::Reasoning, Some(Output::Reasoning { text: before })) => before.push_str(&text),
            (StreamKind::Text, _) => self.unkept.push(Output::Text { text: text.clone() }),
            (StreamKind::Reasoning, _) => self.unkept.push(Output::Reasoning { text: text.clone() }),
        }
        Taken::Words { stream, offset, text }
    }

    fn used(&mut self, more: Usage) -> Taken {
        let unkept = self.unkept.iter_mut().rev().find_map(|output| match output {
            Output::Used(before) => Some(before),
            _ => None,
        });
        match unkept {
            Some(before) => before.add(&more),
            None => self.unkept.push(Output::Used(more)),
        }
        Taken::Noted
    }

    /// Another session is kept at once, so that a crash does not lose it.
    fn session(&mut self, session: AgentSession) -> Taken {
        let is_same = |before: &AgentSession| (&before.agent, &before.id) == (&session.agent, &session.id);
        let taken = if self.agent_session.as_ref().is_some_and(is_same) { Taken::Noted } else { Taken::Step };
        if self.agent_session.as_ref() != Some(&session) {
            self.unkept.retain(|output| !matches!(output, Output::Session(_)));
            self.unkept.push(Output::Session(session.clone()));
            self.agent_session = Some(session);
        }
        taken
    }

    /// A summary that stands for some of the history is kept with the entry that it reaches to.
    fn kept(&self, shortened: Shortened) -> Output {
        let Shortened { results, summary, before, after } = shortened;
        let summary = summary.and_then(|(covers, text)| {
            let reach = match covers {
                Covers::Steps(steps) => Reach::Entry(*self.ends.get(steps.checked_sub(1)?)?),
                Covers::Calls(calls) => Reach::Calls(calls),
            };
            Some((reach, text))
        });
        Output::Shortened { results, summary, before, after }
    }

    fn step(&mut self, output: Output) -> Taken {
        self.steps += 1;
        self.gather(output)
    }

    fn gather(&mut self, output: Output) -> Taken {
        self.unkept_bytes += bytes_of(&output);
        self.unkept.push(output);
        Taken::Step
    }
}

fn bytes_of(output: &Output) -> usize {
    match output {
        Output::Text { text } | Output::Reasoning { text } => text.len(),
        Output::Plan(plan) => plan.entries.iter().map(|entry| entry.content.len()).sum(),
        Output::ToolCall { arguments, .. } => arguments.len(),
        Output::Used(_) | Output::Session(_) => 0,
        Output::ToolResult { output, .. } => output.len(),
        Output::Shortened { summary, .. } => summary.as_ref().map_or(0, |(_, text)| text.len()),
    }
}

/// Output that is being kept.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Batch {
    /// The output, in order.
    pub(super) output: Vec<Output>,
    /// How many steps the turn has had behind it.
    pub(super) steps_end: u64,
    /// Where the turn's text ends behind it.
    pub(super) text_end: u64,
    /// Where the turn's reasoning ends behind it.
    pub(super) reasoning_end: u64,
}
