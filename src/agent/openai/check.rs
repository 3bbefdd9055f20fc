//! Whether a server answers, without running a turn.

use super::Connection;
use super::trouble::Trouble;
use crate::agent::{AgentError, Found};

impl Connection {
    /// Asks for the list of models: reads nothing but the key, and costs nothing.
    pub(super) async fn check(&self) -> Result<Found, AgentError> {
        let key = self.keys.read().await?;
        let (server, model) = (&self.server, &self.config.model);
        let list = self.models(key.as_ref()).await.map_err(Trouble::failed)?;
        let listed = list["data"].as_array().map(|models| models.iter().any(|one| one["id"] == **model));
        let found = match listed {
            Some(true) => format!("{server} answers and has the model {model}"),
            Some(false) => {
                let setting = self.config.section.setting("model");
                format!("{server} answers, but does not list the model {model} ({setting})")
            }
            None => format!("{server} answers; it does not say which models it has"),
        };
        self.take_window(&list);
        let window = match self.window_told() {
            Some(window) => format!("{window} tokens at once"),
            None => format!(
                "it does not say how many tokens the model takes at once ({}), so no conversation is sent shorter in time",
                self.config.section.setting("context_tokens")
            ),
        };
        let words = format!("{found}; {window}");
        Ok(if listed == Some(false) { Found::Doubtful(words) } else { Found::Good(words) })
    }
}
