//! Which models an agent offers, and how one of them is chosen.

use serde_json::{Value, json};

use super::update::text;

/// So many models are named where another one was asked for.
const NAMED: usize = 12;

/// What an agent offers for its session's model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Offer {
    /// The option that the model is; none: models have a request of their own.
    option: Option<String>,
    /// The models by their ids; none: there is no choice.
    models: Vec<String>,
}

impl Offer {
    /// Reads an agent's answer to a session that begins or is taken up.
    pub(super) fn of(told: &Value) -> Self {
        let options = list(told.get("configOptions"));
        let option = options.iter().find(|option| text(option, "category") == "model");
        if let Some(option) = option {
            let values = list(option.get("options"));
            // Some agents group them.
            let values = values.iter().flat_map(|value| match value.get("options") {
                Some(group) => list(Some(group)).to_vec(),
                None => vec![value.clone()],
            });
            let models = values.map(|value| text(&value, "value").to_owned()).collect();
            return Self { option: Some(text(option, "id").to_owned()), models };
        }
        let models = list(told.get("models").and_then(|models| models.get("availableModels")));
        Self { option: None, models: models.iter().map(|model| text(model, "modelId").to_owned()).collect() }
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

    /// The request that chooses a model of a session.
    pub(super) fn request(&self, session: &str, model: &str) -> (&'static str, Value) {
        match &self.option {
            Some(option) => {
                let params = json!({"sessionId": session, "configId": option, "value": model});
                ("session/set_config_option", params)
            }
            None => ("session/set_model", json!({"sessionId": session, "modelId": model})),
        }
    }
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_offered_by_a_list_or_by_an_option_in_groups_or_not_at_all() {
        let by_list = json!({"models": {"availableModels": [{"modelId": "a"}, {"modelId": "b"}]}});
        let by_option = json!({"configOptions": [{"id": "mode", "category": "mode", "options": []},
            {"id": "m", "category": "model", "options": [{"group": "g", "options": [{"value": "a"}]}, {"value": "b"}]}]});
        for told in [&by_list, &by_option] {
            let offer = Offer::of(told);
            assert_eq!(offer.refusal("x", "b"), None);
            assert_eq!(offer.refusal("x", "c").unwrap(), "x offers no model \"c\"; it has a, b");
        }
        assert_eq!(Offer::of(&by_list).request("s", "a").0, "session/set_model");
        let request = Offer::of(&by_option).request("s", "a");
        let params = json!({"sessionId": "s", "configId": "m", "value": "a"});
        assert_eq!(request, ("session/set_config_option", params));
        for nothing in [json!(null), json!({}), json!({"models": null, "configOptions": 7})] {
            let refused = Offer::of(&nothing).refusal("x", "a").unwrap();
            assert_eq!(refused, "x offers no choice of models: it answers with its own");
        }
    }
}
