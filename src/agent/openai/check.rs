//! Whether a server answers, without running a turn.

use tokio::time::timeout;

use super::Connection;
use super::trouble::{self, Trouble};
use crate::agent::AgentError;

impl Connection {
    /// Asks for the list of models: reads nothing but the key, and costs nothing.
    pub(super) async fn check(&self) -> Result<String, AgentError> {
        let key = self.keys.read()?;
        let mut models = self.server.completions();
        let path = models.path().trim_end_matches("/chat/completions").to_owned();
        models.set_path(&format!("{path}/models"));
        let mut request = self.http.get(models);
        if let Some(key) = &key {
            request = request.header(reqwest::header::AUTHORIZATION, key.header());
        }
        let patience = self.config.connect_timeout;
        let (server, model) = (&self.server, &self.config.model);
        let response = match timeout(patience, request.send()).await {
            Ok(Ok(response)) if response.status().is_success() => response,
            Ok(Ok(response)) => {
                return Err(failed(trouble::refused(server, &self.config, key.as_ref(), response).await));
            }
            Ok(Err(error)) => return Err(failed(trouble::unreachable(server, &self.config, &error))),
            Err(_) => return Err(failed(trouble::stalled(server, patience))),
        };
        let listed = match timeout(patience, response.json::<serde_json::Value>()).await {
            Ok(Ok(list)) => {
                list["data"].as_array().map(|models| models.iter().any(|one| one["id"] == **model))
            }
            _ => None,
        };
        Ok(match listed {
            Some(true) => format!("{server} answers and has the model {model}"),
            Some(false) => {
                format!("{server} answers, but does not list the model {model} (agent.openai.model)")
            }
            None => format!("{server} answers; it does not say which models it has"),
        })
    }
}

fn failed(trouble: Trouble) -> AgentError {
    let (Trouble::Lasting(why) | Trouble::Passing { why, .. }) = trouble;
    AgentError::Failed(why)
}
