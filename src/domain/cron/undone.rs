//! What a run has not done, though its agent answered.

use crate::domain::approval::{Approval, Decision, denial};
use crate::domain::event::count;
use crate::domain::history::{Body, Entry, ToolResult};
use crate::domain::remark::not_whole;

/// What a run has not done, in one line, by the entries of its turn, the questions in it that were denied, and its
/// answer; none where nothing is known to be left out.
pub fn undone(entries: &[Entry], denied: &[Approval], answer: Option<&str>) -> Option<String> {
    let parts = [calls(entries, denied), answer.and_then(not_whole).map(str::to_owned)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The calls that were denied. The result of a call says it with our own agents, whoever said no; with the others only
/// the question does.
fn calls(entries: &[Entry], denied: &[Approval]) -> Option<String> {
    let by_question = denied.iter().map(|asked| {
        let why = asked.decision.as_ref().and_then(Decision::refusal).unwrap_or_default();
        (asked.question.line(), denial(&why).unwrap_or_default().to_owned())
    });
    let by_result = entries.iter().filter_map(|entry| match &entry.body {
        Body::Tool { name, result: Some(ToolResult { ok: false, output, .. }), .. } => {
            Some((name.clone(), denial(output)?.to_owned()))
        }
        _ => None,
    });
    let (by_question, by_result): (Vec<_>, Vec<_>) = (by_question.collect(), by_result.collect());
    let all = if by_result.len() > by_question.len() { by_result } else { by_question };
    let (first, why) = all.first()?;
    let which = if all.len() > 1 { "the first was " } else { "" };
    Some(format!("{} denied ({which}{first}): {why}", count(all.len(), "call")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Time;
    use crate::domain::approval::{Always, Question, forbidden};
    use crate::domain::id::{ApprovalId, ChatType, MessageId, SessionId, TurnId};
    use crate::domain::remark::Remark;
    use crate::domain::turn::TurnState;

    fn asked(what: &str) -> Approval {
        let question = Question {
            tool: "terminal".to_owned(),
            what: what.to_owned(),
            folder: "/srv".to_owned(),
            always: Always::of(what),
        };
        Approval {
            id: ApprovalId(1),
            session: SessionId::new(Time::UNIX_EPOCH, 1),
            turn: TurnId(1),
            decision: question.decided_before(ChatType::Job, &[]),
            question,
            asked_at: Time::UNIX_EPOCH,
            denies_at: Time::UNIX_EPOCH,
        }
    }

    fn result(name: &str, ok: bool, output: &str) -> Entry {
        let result = ToolResult { ok, output: output.to_owned(), at: Time::UNIX_EPOCH };
        Entry {
            id: MessageId(1),
            session: SessionId::new(Time::UNIX_EPOCH, 1),
            turn: TurnId(1),
            at: Time::UNIX_EPOCH,
            body: Body::Tool {
                call: "1".to_owned(),
                name: name.to_owned(),
                arguments: String::new(),
                result: Some(result),
            },
            turn_state: TurnState::Done,
        }
    }

    #[test]
    fn a_run_says_how_many_calls_were_denied_and_why_the_first_was() {
        let why = "a scheduled task never waits for a person; agent.approvals says what needs none";
        let one = undone(&[], &[asked("git push")], Some("done"));
        assert_eq!(one.unwrap(), format!("1 call denied (terminal: git push): {why}"));
        let both = [asked("git push"), asked("reboot")];
        let two = undone(&[], &both, None).unwrap();
        assert_eq!(two, format!("2 calls denied (the first was terminal: git push): {why}"));
        let told = result("terminal", false, &format!("error: not done: {why}"));
        let once = undone(&[told], &[asked("git push")], None);
        assert_eq!(once.unwrap(), format!("1 call denied (terminal: git push): {why}"), "it is counted once");
    }

    #[test]
    fn what_the_settings_forbid_is_not_done_either_and_what_failed_is_no_denial() {
        let entries = [
            result("terminal", false, "error: exit 1"),
            result("terminal", true, "not done: says the file"),
            result("write_file", false, &format!("error: {}", forbidden("write_file", "agent.approvals.x"))),
        ];
        let forbidden = "write_file is forbidden by the operator's settings (agent.approvals.x)";
        assert_eq!(undone(&entries, &[], None).unwrap(), format!("1 call denied (write_file): {forbidden}"));
        assert_eq!(undone(&entries[..2], &[], Some("all is done")), None);
    }

    #[test]
    fn an_answer_that_a_limit_cut_says_so() {
        let answer = format!("half{}", Remark::Held.line("the limit is reached"));
        assert_eq!(undone(&[], &[], Some(&answer)).unwrap(), "held: the limit is reached");
        let both = undone(&[], &[asked("reboot")], Some(&answer)).unwrap();
        assert!(
            both.starts_with("1 call denied (") && both.ends_with("; held: the limit is reached"),
            "{both}"
        );
    }
}
