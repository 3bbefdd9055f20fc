//! What is wrong with a field of a job.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::domain::sanitize::one_line;

/// A value is told up to this many characters.
const SHOWN: usize = 60;

/// One thing that is wrong with a job: the field, its value, what is wrong and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The field, by the name that its author used.
    pub field: String,
    /// Its value as written, harmless and cut to one short line; empty where the field is missing.
    pub value: String,
    /// What is wrong, and what is allowed.
    pub why: String,
}

impl Fault {
    /// A field whose value is wrong. `value` is foreign text.
    pub fn new(field: impl Into<String>, value: &str, why: impl fmt::Display) -> Self {
        Self { field: field.into(), value: shown(value), why: one_line(&why.to_string()).into_owned() }
    }

    /// A field that must be there.
    pub fn missing(field: impl Into<String>, needed: impl fmt::Display) -> Self {
        Self { field: field.into(), value: String::new(), why: format!("missing: {needed}") }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&one_line(&self.field))?;
        if !self.value.is_empty() {
            write!(f, " {}", self.value)?;
        }
        write!(f, ": {}", self.why)
    }
}

fn shown(value: &str) -> String {
    let short: String = value.chars().take(SHOWN).collect();
    let cut = if short.len() < value.len() { "…" } else { "" };
    format!("{}{cut}", one_line(&short))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_one_harmless_line() {
        let fault = Fault::new("workdir", "\"a\u{1b}[2J\nb\"", "must be absolute,\nlike /srv/work");
        assert_eq!(fault.to_string(), "workdir \"a␛[2J b\": must be absolute, like /srv/work");
        let fault = Fault::new("prompt", &"x".repeat(100), "too long");
        assert_eq!(fault.to_string(), format!("prompt {}…: too long", "x".repeat(60)));
        assert_eq!(Fault::missing("schedule", "say when").to_string(), "schedule: missing: say when");
    }
}
