//! What an agent tells, without the keys in it: also where one is told in pieces.

use crate::agent::AgentEvent;
use crate::config::Secrets;
use crate::domain::api::StreamKind;

/// Takes keys out of a turn's events. The end of a stream with which a key may begin is held back until more
/// of it comes, or something else.
#[derive(Debug, Default)]
pub(super) struct Hiding {
    secrets: Secrets,
    held: Option<(StreamKind, String)>,
}

impl Hiding {
    pub(super) fn of(secrets: Secrets) -> Self {
        Self { secrets, held: None }
    }

    /// What is hidden.
    pub(super) fn secrets(&self) -> Secrets {
        self.secrets.clone()
    }

    /// A whole text without keys.
    pub(super) fn hide(&self, text: String) -> String {
        self.secrets.hide(text)
    }

    /// What may be told now that this has come.
    pub(super) fn take(&mut self, event: AgentEvent) -> impl Iterator<Item = AgentEvent> + use<> {
        let (before, now) = match event {
            AgentEvent::Text(text) => self.stream(StreamKind::Text, text),
            AgentEvent::Reasoning(text) => self.stream(StreamKind::Reasoning, text),
            other => (self.rest(), Some(other.hide(&self.secrets))),
        };
        before.into_iter().chain(now)
    }

    /// What was held back.
    pub(super) fn rest(&mut self) -> Option<AgentEvent> {
        self.held.take().map(|(stream, text)| words(stream, text))
    }

    fn stream(&mut self, stream: StreamKind, text: String) -> (Option<AgentEvent>, Option<AgentEvent>) {
        let (before, begun) = match self.held.take() {
            Some((held, begun)) if held == stream => (None, begun),
            Some((held, begun)) => (Some(words(held, begun)), String::new()),
            None => (None, String::new()),
        };
        let mut text = self.secrets.hide(begun + &text);
        let rest = text.split_off(text.len() - self.secrets.begun_at_the_end_of(&text));
        if !rest.is_empty() {
            self.held = Some((stream, rest));
        }
        (before, (!text.is_empty()).then(|| words(stream, text)))
    }
}

fn words(stream: StreamKind, text: String) -> AgentEvent {
    match stream {
        StreamKind::Text => AgentEvent::Text(text),
        StreamKind::Reasoning => AgentEvent::Reasoning(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Keys;

    const KEY: &str = "sk-sk-canary";

    fn hiding() -> Hiding {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), KEY).unwrap();
        Hiding::of(Secrets::read(&Keys { files: vec![file.path().to_path_buf()], ..Keys::default() }))
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
