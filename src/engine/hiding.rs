//! What an agent tells, without the keys in it: also where one is told in pieces.

use crate::agent::AgentEvent;
use crate::config::{Secrets, Stream};
use crate::domain::api::StreamKind;

/// Takes keys out of a turn's events. The end of a stream with which a key may begin is held back until more
/// of it comes, or something else.
#[derive(Debug, Default)]
pub(super) struct Hiding {
    secrets: Secrets,
    held: Option<(StreamKind, Stream)>,
}

impl Hiding {
    pub(super) fn of(secrets: Secrets) -> Self {
        Self { secrets, held: None }
    }

    /// What is hidden.
    pub(super) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// What may be told now that this has come.
    pub(super) fn take(&mut self, event: AgentEvent) -> impl Iterator<Item = AgentEvent> + use<> {
        let (before, now) = match event {
            AgentEvent::Text(text) => self.stream(StreamKind::Text, &text),
            AgentEvent::Reasoning(text) => self.stream(StreamKind::Reasoning, &text),
            other => (self.rest(), Some(other.hide(&self.secrets))),
        };
        before.into_iter().chain(now)
    }

    /// What was held back.
    pub(super) fn rest(&mut self) -> Option<AgentEvent> {
        let (kind, mut stream) = self.held.take()?;
        words(kind, stream.finish())
    }

    fn stream(&mut self, kind: StreamKind, text: &str) -> (Option<AgentEvent>, Option<AgentEvent>) {
        let before =
            if self.held.as_ref().is_some_and(|(held, _)| *held != kind) { self.rest() } else { None };
        let (_, stream) = self.held.get_or_insert_with(|| (kind, self.secrets.stream()));
        let now = words(kind, stream.push(text));
        (before, now)
    }
}

fn words(stream: StreamKind, text: String) -> Option<AgentEvent> {
    if text.is_empty() {
        return None;
    }
    Some(match stream {
        StreamKind::Text => AgentEvent::Text(text),
        StreamKind::Reasoning => AgentEvent::Reasoning(text),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-sk-canary";

    fn hiding() -> Hiding {
        Hiding::of(Secrets::of([KEY.to_owned()]))
    }

    fn told(pieces: &[&str]) -> String {
        let mut hiding = hiding();
        let mut told: Vec<AgentEvent> = Vec::new();
        for piece in pieces {
            told.extend(hiding.take(AgentEvent::Text((*piece).to_owned())));
        }
        told.extend(hiding.rest());
        let text = |event: &AgentEvent| match event {
            AgentEvent::Text(text) => text.clone(),
            other => panic!("{other:?}"),
        };
        told.iter().map(text).collect()
    }

    #[test]
    fn a_key_is_not_told_however_it_is_cut() {
        let whole = format!("sk-{KEY} is the kéy, so sk-sk it is");
        let expected = "sk-[the key] is the kéy, so sk-sk it is";
        for cut in (0..=whole.len()).filter(|cut| whole.is_char_boundary(*cut)) {
            let (one, two) = whole.split_at(cut);
            assert_eq!(told(&[one, two]), expected, "{cut}");
        }
        let letters: Vec<String> = whole.chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        assert_eq!(told(&letters), expected);
    }

    #[test]
    fn what_was_held_back_comes_before_what_follows_it() {
        let mut hiding = hiding();
        assert_eq!(
            hiding.take(AgentEvent::Text("so s".into())).collect::<Vec<_>>(),
            [AgentEvent::Text("so ".into())]
        );
        let next: Vec<AgentEvent> = hiding.take(AgentEvent::Reasoning("thus".into())).collect();
        assert_eq!(next, [AgentEvent::Text("s".into()), AgentEvent::Reasoning("thu".into())]);
        let next: Vec<AgentEvent> = hiding.take(AgentEvent::Notice(format!("has {KEY}"))).collect();
        assert_eq!(next, [AgentEvent::Reasoning("s".into()), AgentEvent::Notice("has [the key]".into())]);
        assert_eq!(hiding.rest(), None);
    }
}
