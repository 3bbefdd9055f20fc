//! Conversations of host applications, as every store keeps them.

use switchboard::domain::id::SessionId;
use switchboard::domain::queue::Refusal;
use switchboard::domain::turn::Outcome;

use crate::conformance::{Bench, on_each, refused};
use crate::given::{at, end, key, message, run};

const HOST: &str = "host-c1";

fn state(bench: &Bench<'_>) -> String {
    bench.ask(|q| q.host_conversation(&key(HOST))).unwrap().agent_state
}

#[test]
fn the_same_conversation_has_the_same_session_over_restarts() {
    on_each(|bench| {
        let first = bench.send(message(HOST, "one", 1));
        bench.finish(end(first.begun.unwrap().turn, Outcome::Done, 2));
        bench.step(|t| t.open_run(&run(2, 3))).unwrap();
        assert_eq!(bench.send(message(HOST, "two", 4)).session, first.session);
        let found = bench.ask(|q| q.host_conversation(&key(HOST))).unwrap();
        assert_eq!((found.id.as_str(), found.session.as_ref()), ("c1", Some(&first.session)));
        assert_eq!(bench.ask(|q| q.host_conversations(9)).len(), 1);
    });
}

#[test]
fn a_new_memory_is_still_the_conversations() {
    on_each(|bench| {
        bench.send(message(HOST, "one", 1));
        let fresh = SessionId::new(at(2), 2);
        bench.step(|t| t.reset_session(&key(HOST), &fresh, None, at(2))).unwrap();
        let session = bench.ask(|q| q.session(&fresh)).unwrap().session;
        assert_eq!(session.conversation.as_deref(), Some("c1"));
        assert_eq!(bench.ask(|q| q.host_conversation(&key(HOST))).unwrap().session, Some(fresh));
    });
}

#[test]
fn a_turn_of_ours_makes_us_the_runtime_and_its_end_leaves_a_host_that_switched_away() {
    on_each(|bench| {
        bench.step(|t| t.set_agent_state(&key(HOST), r#"{ "mine" : 1.0 }"#)).unwrap();
        let turn = bench.send(message(HOST, "one", 1)).begun.unwrap().turn;
        let begun = state(bench);
        assert!(
            begun.starts_with(r#"{ "mine" : 1.0,"runtime_state":{"switchboard":{"session_id":"#),
            "{begun}"
        );
        assert!(begun.contains(r#""runtime":"switchboard""#), "{begun}");
        bench.step(|t| t.set_agent_state(&key(HOST), r#"{"runtime":"other"}"#)).unwrap();
        bench.finish(end(turn, Outcome::Done, 2));
        let ended = state(bench);
        assert!(ended.starts_with(r#"{"runtime":"other","runtime_state":{"switchboard":"#), "{ended}");
    });
}

#[test]
fn only_a_host_conversation_has_a_state() {
    on_each(|bench| {
        let refusal = refused(bench.step(|t| t.set_agent_state(&key("a"), "{}")));
        assert!(matches!(refusal, Refusal::BadKey(_)), "{refusal}");
        assert_eq!(bench.ask(|q| q.host_conversation(&key("a"))), None);
    });
}
