//! Acknowledgements: what happened to an accepted message.

use serde::{Deserialize, Serialize};

use super::Gate;
use crate::domain::Time;
use crate::domain::id::{ItemId, TurnId};
use crate::domain::session::HoldReason;

/// What happened to an accepted message. Made from what was committed, never from the mode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Ack {
    /// Its turn has begun.
    Running {
        /// The turn.
        turn: TurnId,
    },
    /// It waits in the slot and runs when the turn ends.
    Next {
        /// Whether the running turn was stopped for it.
        interrupts: bool,
        /// Why nothing runs now, if it is not a turn that is waited for.
        gate: Gate,
    },
    /// It waits in the slot in place of another message.
    Replaces {
        /// The message that was put aside.
        item: ItemId,
        /// When that one was sent.
        sent_at: Time,
        /// Whether the running turn was stopped for it.
        interrupts: bool,
    },
    /// It waits in the overflow queue.
    Queued {
        /// Its place, from 1.
        position: usize,
        /// How many wait there now.
        depth: usize,
        /// The session's hold, if its queue stands still.
        hold: Option<HoldReason>,
        /// The engine's gate.
        gate: Gate,
        /// Whether it was meant for the running turn, which can't take it.
        not_steerable: bool,
    },
    /// It was handed to the running turn.
    Steered {
        /// The turn.
        turn: TurnId,
    },
}

impl Ack {
    /// The acknowledgement in words; `clock` shows an instant as the operator reads it.
    pub fn words(&self, clock: impl Fn(Time) -> String) -> String {
        match self {
            Self::Running { .. } => "running".to_owned(),
            Self::Next { interrupts: true, .. } => "stops the running turn and runs next".to_owned(),
            Self::Next { gate: Gate::Open, .. } => "next, when this turn ends".to_owned(),
            Self::Next { gate, .. } => format!("next{}", gate_words(*gate)),
            Self::Replaces { sent_at, interrupts, .. } => format!(
                "replaces your message of {} (kept){}",
                clock(*sent_at),
                if *interrupts { "; stops the running turn" } else { "" }
            ),
            Self::Queued { position, depth, hold, gate, not_steerable } => {
                let steer = if *not_steerable { "this agent takes no text while it runs: " } else { "" };
                let hold = hold.map(|reason| format!(", {}", reason.words())).unwrap_or_default();
                format!("{steer}queued, {} of {depth}{hold}{}", ordinal(*position), gate_words(*gate))
            }
            Self::Steered { .. } => "handed to the running turn".to_owned(),
        }
    }
}

fn gate_words(gate: Gate) -> &'static str {
    match gate {
        Gate::Open => "",
        Gate::Held => ", the engine is on hold",
        Gate::Stopping => ", the engine stops: it runs after the next start",
    }
}

/// `1st`, `2nd`, `3rd`, `11th`, …
pub fn ordinal(n: usize) -> String {
    let suffix = match (n % 10, n % 100) {
        (1, h) if h != 11 => "st",
        (2, h) if h != 12 => "nd",
        (3, h) if h != 13 => "rd",
        _ => "th",
    };
    format!("{n}{suffix}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHER: ItemId = ItemId(7);

    #[test]
    fn an_acknowledgement_tells_what_happened() {
        let words = |ack: Ack| ack.words(|at| at.format("%H:%M").to_string());
        let queued = |position, hold, gate, not_steerable| Ack::Queued {
            position,
            depth: 3,
            hold,
            gate,
            not_steerable,
        };
        assert_eq!(words(queued(3, None, Gate::Open, false)), "queued, 3rd of 3");
        assert_eq!(
            words(queued(2, Some(HoldReason::Stopped), Gate::Open, false)),
            "queued, 2nd of 3, held; /continue releases it"
        );
        assert_eq!(
            words(queued(1, None, Gate::Held, true)),
            "this agent takes no text while it runs: queued, 1st of 3, the engine is on hold"
        );
        let replaces = |interrupts| Ack::Replaces { item: OTHER, sent_at: Time::UNIX_EPOCH, interrupts };
        assert_eq!(words(replaces(false)), "replaces your message of 00:00 (kept)");
        assert_eq!(words(replaces(true)), "replaces your message of 00:00 (kept); stops the running turn");
        assert_eq!(words(Ack::Next { interrupts: false, gate: Gate::Open }), "next, when this turn ends");
    }

    #[test]
    fn ordinals_are_english() {
        let shown: Vec<String> = [1, 2, 3, 4, 11, 12, 13, 21, 102, 111, 113].map(ordinal).to_vec();
        let right = ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "111th", "113th"];
        assert_eq!(shown, right);
    }
}
