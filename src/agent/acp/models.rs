//! Which models an agent offers, and how one of them is chosen.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::schema::{
    LoadSessionResponse, SessionConfigId, SessionConfigKind, SessionConfigOption,
    SessionConfigOptionCategory, SessionConfigSelectOptions, SessionId,
};

/// So many models are named where another one was asked for.
const NAMED: usize = 12;

/// The request of agents whose models are no option. The schema has dropped it; agents in use still have it.
pub(super) const SET_MODEL: &str = "session/set_model";

/// What [`SET_MODEL`] says.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetSessionModelRequest<'a> {
    /// The agent's own id of the session.
    pub(super) session_id: &'a SessionId,
    /// The model.
    pub(super) model_id: &'a str,
}

/// The models of such an agent.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionModelState {
    available_models: Vec<ModelInfo>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ModelInfo {
    model_id: String,
}

/// What an agent offers for its session's model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Offer {
    /// The option that the model is; none: models have a request of their own.
    pub(super) option: Option<SessionConfigId>,
    /// The models by their ids; none: there is no choice.
    models: Vec<String>,
}

impl Offer {
    /// Reads an agent's answer to a session that begins or is taken up.
    pub(super) fn of(told: &Value) -> Self {
        let options = LoadSessionResponse::deserialize(told).ok().and_then(|told| told.config_options);
        options.into_iter().flatten().find_map(Self::by_option).unwrap_or_else(|| Self::by_list(told))
    }

    fn by_option(option: SessionConfigOption) -> Option<Self> {
        let SessionConfigOption { id, category, kind, .. } = option;
        let (Some(SessionConfigOptionCategory::Model), SessionConfigKind::Select(select)) = (category, kind)
        else {
            return None;
        };
        let models = match select.options {
            SessionConfigSelectOptions::Ungrouped(models) => models,
            SessionConfigSelectOptions::Grouped(groups) => {
                groups.into_iter().flat_map(|group| group.options).collect()
            }
            _ => return None,
        };
        let models = models.iter().map(|model| model.value.to_string()).collect();
        Some(Self { option: Some(id), models })
    }

    fn by_list(told: &Value) -> Self {
        let listed = told.get("models").and_then(|models| SessionModelState::deserialize(models).ok());
        let models = listed.into_iter().flat_map(|listed| listed.available_models);
        Self { option: None, models: models.map(|model| model.model_id).collect() }
    }

    /// Why a model can't be chosen; none if it can.
    pub(super) fn refusal(&self, agent: &str, model: &str) -> Option<String> {
        if self.models.is_empty() {
            return Some(format!("{agent} offers no choice of models: it answers with its own"));
        }
        if self.models.iter().any(|offered| offered == model) {
            return None;
        }
        let named: Vec<&str> = self.models.iter().take(NAMED).map(String::as_str).collect();
        let more = match self.models.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Some(format!("{agent} offers no model {model:?}; it has {}{more}", named.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn models_are_offered_by_a_list_or_by_an_option_in_groups_or_not_at_all() {
        let by_list = json!({"models": {"availableModels": [{"modelId": "a"}, {"modelId": "b"}]}});
        let by_option = |options: Value| {
            let mode = json!({"id": "mode", "name": "Mode", "category": "mode", "type": "boolean",
                "currentValue": true});
            let model = json!({"id": "m", "name": "Model", "category": "model", "type": "select",
                "currentValue": "a", "options": options});
            json!({"configOptions": [mode, {"id": 7}, model]})
        };
        let [a, b] = ["a", "b"].map(|model| json!({"value": model, "name": model}));
        let plain = by_option(json!([a, b]));
        let grouped = by_option(json!([{"group": "1", "name": "x", "options": [a]},
            {"group": "2", "name": "y", "options": [b]}]));
        for (told, option) in [(&by_list, None), (&plain, Some("m")), (&grouped, Some("m"))] {
            let offer = Offer::of(told);
            assert_eq!(offer.option, option.map(SessionConfigId::new));
            assert_eq!(offer.refusal("x", "b"), None);
            assert_eq!(offer.refusal("x", "c").unwrap(), "x offers no model \"c\"; it has a, b");
        }
        for nothing in
            [json!(null), json!({}), json!({"models": null, "configOptions": 7}), json!({"models": 7})]
        {
            let refused = Offer::of(&nothing).refusal("x", "a").unwrap();
            assert_eq!(refused, "x offers no choice of models: it answers with its own");
        }
    }

    #[test]
    fn a_model_is_chosen_as_agents_that_have_no_option_for_it_read_it() {
        let asked = SetSessionModelRequest { session_id: &SessionId::new("s"), model_id: "a" };
        assert_eq!(serde_json::to_value(asked).unwrap(), json!({"sessionId": "s", "modelId": "a"}));
    }
}
