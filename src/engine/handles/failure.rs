//! What a failing handle leads to, for its turn and for the session's next one. Pure.

use crate::agent::AgentError;
use crate::domain::turn::{Outcome, StopCause};

/// How an agent's work on a turn ended; none where it ignored a stop and was killed.
pub(in crate::engine) type Ending = Option<Result<(), AgentError>>;

/// Whether the agent said or did anything in the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum Acted {
    Yes,
    No,
}

/// What follows when a turn was run for the first time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engine) enum Next {
    /// The turn ends.
    End,
    /// The handle failed, for this reason, before anything was done: a new one runs the turn again.
    Repeat(String),
    /// The handle failed, for this reason, after something was done: the turn ends, and a new one is
    /// built for the next.
    Replace(String),
}

/// Decides what follows. A turn that was told to stop is not taken up again.
pub(in crate::engine) fn next(ending: &Ending, acted: Acted, cause: Option<StopCause>) -> Next {
    match (ending, cause, acted) {
        (Some(Err(AgentError::Broken(why))), None, Acted::No) => Next::Repeat(why.clone()),
        (Some(Err(AgentError::Broken(why))), None, Acted::Yes) => Next::Replace(why.clone()),
        _ => Next::End,
    }
}

/// How the turn ends. What the agent did stays, so a handle that was lost behind it interrupts the turn;
/// where nothing was done the turn failed.
pub(in crate::engine) fn outcome(ending: &Ending, acted: Acted, cause: Option<StopCause>) -> Outcome {
    match (ending, cause) {
        (Some(Ok(())), _) => Outcome::Done,
        (_, Some(cause)) => Outcome::Interrupted { cause },
        (Some(Err(AgentError::Broken(_))), None) if acted == Acted::Yes => {
            Outcome::Interrupted { cause: StopCause::HandleLost }
        }
        (Some(Err(error)), None) => Outcome::Failed { error: error.to_string() },
        (None, None) => Outcome::Failed { error: "the agent ended without an answer".to_owned() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken() -> Ending {
        Some(Err(AgentError::Broken("the process died".to_owned())))
    }

    fn failed() -> Ending {
        Some(Err(AgentError::Failed("no such model".to_owned())))
    }

    #[test]
    fn a_turn_is_repeated_only_if_nothing_was_done() {
        let why = "the process died".to_owned();
        assert_eq!(next(&broken(), Acted::No, None), Next::Repeat(why.clone()));
        assert_eq!(next(&broken(), Acted::Yes, None), Next::Replace(why));
    }

    #[test]
    fn a_refusal_an_answer_and_a_stop_end_the_turn() {
        for acted in [Acted::Yes, Acted::No] {
            assert_eq!(next(&failed(), acted, None), Next::End);
            assert_eq!(next(&Some(Ok(())), acted, None), Next::End);
            assert_eq!(next(&broken(), acted, Some(StopCause::Operator)), Next::End);
            assert_eq!(next(&None, acted, Some(StopCause::Operator)), Next::End);
        }
    }

    #[test]
    fn a_lost_handle_interrupts_a_turn_in_which_something_was_done_and_fails_another() {
        let lost = Outcome::Interrupted { cause: StopCause::HandleLost };
        let error = Outcome::Failed { error: "the process died".to_owned() };
        assert_eq!(outcome(&broken(), Acted::Yes, None), lost);
        assert_eq!(outcome(&broken(), Acted::No, None), error);
        let stopped = Outcome::Interrupted { cause: StopCause::Operator };
        assert_eq!(outcome(&broken(), Acted::Yes, Some(StopCause::Operator)), stopped);
        assert_eq!(outcome(&Some(Ok(())), Acted::Yes, Some(StopCause::Operator)), Outcome::Done);
        let refused = Outcome::Failed { error: "no such model".to_owned() };
        assert_eq!(outcome(&failed(), Acted::Yes, None), refused);
    }
}
