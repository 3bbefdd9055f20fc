//! What a server says of its models, and how much of a conversation the model takes at once.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tokio::time::timeout;

use super::Connection;
use super::key::Key;
use super::trouble::{self, Trouble};

/// Smaller than any model's window: such a number means something else.
const LEAST_WINDOW: u64 = 256;

/// How many tokens the model takes at once, as far as the server told.
#[derive(Debug, Clone, Default)]
pub(super) struct Window(Arc<Mutex<Told>>);

#[derive(Debug, Clone, Copy, Default)]
enum Told {
    /// It was not asked, or could not be.
    #[default]
    NotAsked,
    Nothing,
    Tokens(u64),
}

impl Window {
    fn told(&self) -> Told {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, told: Told) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = told;
    }
}

impl Connection {
    /// Asks for the server's list of models; null where it sends something else.
    pub(super) async fn models(&self, key: Option<&Key>) -> Result<Value, Trouble> {
        let mut models = self.server.completions();
        let path = models.path().trim_end_matches("/chat/completions").to_owned();
        models.set_path(&format!("{path}/models"));
        let mut request = self.http.get(models);
        if let Some(key) = key {
            request = request.header(reqwest::header::AUTHORIZATION, key.header());
        }
        let patience = self.config.connect_timeout;
        let server = &self.server;
        let response = match timeout(patience, request.send()).await {
            Ok(Ok(response)) if response.status().is_success() => response,
            Ok(Ok(response)) => return Err(trouble::refused(server, &self.config, key, response).await),
            Ok(Err(error)) => return Err(trouble::unreachable(server, &self.config, &error)),
            Err(_) => return Err(trouble::without_list(server, &self.config)),
        };
        Ok(timeout(patience, response.json()).await.map_or(Value::Null, |list| list.unwrap_or(Value::Null)))
    }

    /// How many tokens the model takes at once: by the setting, else by what the server told. It is asked
    /// once; a server that can't answer now is asked again.
    pub(super) async fn window(&self, key: Option<&Key>) -> Option<u64> {
        if let Some(tokens) = self.config.facts.context_tokens {
            return Some(tokens);
        }
        if let Told::NotAsked = self.window.told() {
            match self.models(key).await {
                Ok(list) => self.take_window(&list),
                Err(Trouble::Passing { .. }) => {}
                Err(_) => self.window.keep(Told::Nothing),
            }
        }
        self.window_told()
    }

    /// Takes in what a list of models tells of it.
    pub(super) fn take_window(&self, list: &Value) {
        self.window.keep(window(list, &self.config.model).map_or(Told::Nothing, Told::Tokens));
    }

    /// The same, without asking.
    pub(super) fn window_told(&self) -> Option<u64> {
        match (self.config.facts.context_tokens, self.window.told()) {
            (Some(tokens), _) | (None, Told::Tokens(tokens)) => Some(tokens),
            (None, _) => None,
        }
    }

    /// Takes in what a server told when it refused what was too long.
    pub(super) fn learn_window(&self, tokens: Option<u64>) {
        if let Some(tokens) = tokens.filter(|tokens| *tokens >= LEAST_WINDOW) {
            self.window.keep(Told::Tokens(tokens));
        }
    }
}

/// Reads the window of a model from a list, in any of the shapes that servers give it. What a model was
/// trained with (`n_ctx_train`) says nothing of how it is run.
fn window(list: &Value, model: &str) -> Option<u64> {
    const NAMES: [&str; 5] =
        ["loaded_context_length", "max_model_len", "n_ctx", "context_length", "context_window"];
    let models = list["data"].as_array()?;
    let one = models.iter().find(|one| one["id"] == *model).or(match models.as_slice() {
        // A server that runs one model takes any name for it.
        [one] => Some(one),
        _ => None,
    })?;
    let told = NAMES.iter().find_map(|name| one[*name].as_u64().or_else(|| one["meta"][*name].as_u64()));
    told.filter(|tokens| *tokens >= LEAST_WINDOW)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_window_is_read_in_every_shape_and_never_guessed() {
        for (one, expected) in [
            (json!({"id": "m", "max_model_len": 32_768}), Some(32_768)),
            (json!({"id": "m", "meta": {"n_ctx": 8_192, "n_ctx_train": 131_072}}), Some(8_192)),
            (json!({"id": "m", "meta": {"n_ctx_train": 131_072}}), None),
            (json!({"id": "m", "context_length": 200_000}), Some(200_000)),
            (json!({"id": "m", "context_length": "much"}), None),
            (json!({"id": "m", "context_length": 1}), None),
            (json!({"id": "/models/m.gguf", "n_ctx": 4_096}), Some(4_096)),
            (json!({"id": "m"}), None),
        ] {
            assert_eq!(window(&json!({"data": [one]}), "m"), expected, "{one}");
        }
        let two = json!({"data": [{"id": "a", "n_ctx": 512}, {"id": "m", "n_ctx": 1024}]});
        assert_eq!((window(&two, "m"), window(&two, "other")), (Some(1024), None));
        assert_eq!(window(&Value::Null, "m"), None);
    }
}
