//! What a tool is called with, as a person reads it.

use serde_json::Value;

/// The arguments of a call. A JSON object is told by its fields, anything else as it is.
pub(super) struct Called {
    /// In short: the only field's value, or each field behind its name.
    pub(super) line: String,
    /// All of it, a line or more a field.
    pub(super) whole: String,
}

impl Called {
    pub(super) fn with(arguments: &str) -> Self {
        let Ok(Value::Object(fields)) = serde_json::from_str(arguments) else {
            return Self { line: arguments.to_owned(), whole: arguments.to_owned() };
        };
        let told: Vec<(&String, String)> = fields.iter().map(|(name, value)| (name, plain(value))).collect();
        let line = match told.as_slice() {
            [(_, only)] => only.clone(),
            several => joined(several, ", "),
        };
        Self { line, whole: joined(&told, "\n") }
    }
}

fn joined(fields: &[(&String, String)], between: &str) -> String {
    let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    fields.join(between)
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_told_by_their_fields() {
        let table = [
            (r#"{"command": "git log"}"#, "git log", "command: git log"),
            (
                r#"{"command": "make\ntest", "background": true}"#,
                "command: make\ntest, background: true",
                "command: make\ntest\nbackground: true",
            ),
            ("{}", "", ""),
            ("git log", "git log", "git log"),
            (r#"["a"]"#, r#"["a"]"#, r#"["a"]"#),
            (r#"{"cut": "#, r#"{"cut": "#, r#"{"cut": "#),
        ];
        for (arguments, line, whole) in table {
            let called = Called::with(arguments);
            assert_eq!((called.line.as_str(), called.whole.as_str()), (line, whole), "{arguments}");
        }
    }
}
