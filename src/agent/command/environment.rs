//! The environment of a program: the engine's own, without what looks like a secret.

use std::ffi::{OsStr, OsString};

use tokio::process::Command;

/// Takes every variable that may hold a secret out of a program's environment, and `key_variable`
/// whatever its name looks like.
pub(super) fn hide_secrets(command: &mut Command, key_variable: &str) {
    for name in hidden(std::env::vars_os().map(|(name, _)| name), key_variable) {
        command.env_remove(name);
    }
}

fn hidden(names: impl Iterator<Item = OsString>, key_variable: &str) -> Vec<OsString> {
    names.filter(|name| name == key_variable || may_be_secret(name)).collect()
}

/// Whether a part of the name ends with one of the words for secrets: `OPENAI_API_KEY`, `PGPASSWORD`.
fn may_be_secret(name: &OsStr) -> bool {
    const WORDS: [&str; 7] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL"];
    let name = name.to_string_lossy().to_ascii_uppercase();
    let mut parts = name.split(|c: char| !c.is_ascii_alphanumeric());
    parts.any(|part| {
        let part = part.strip_suffix('S').filter(|one| !one.ends_with('S')).unwrap_or(part);
        let part = part.trim_end_matches(|c: char| c.is_ascii_digit());
        WORDS.iter().any(|word| part.ends_with(word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_like_secrets_are_hidden() {
        let secret = [
            "OPENAI_API_KEY",
            "api_key",
            "GITHUB_TOKEN",
            "GITHUBTOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "PGPASSWORD",
            "DB_PASSWORD_2",
            "NPM_TOKENS",
            "KEY1",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "MY-SECRET",
        ];
        for name in secret {
            assert!(may_be_secret(OsStr::new(name)), "{name} would be seen");
        }
    }

    #[test]
    fn what_programs_need_stays() {
        for name in [
            "PATH",
            "HOME",
            "LANG",
            "TERM",
            "KEYBOARD_LAYOUT",
            "TOKENIZER",
            "AUTHOR",
            "PASS",
            "XDG_DATA_DIRS",
        ] {
            assert!(!may_be_secret(OsStr::new(name)), "{name} would be missing");
        }
    }

    #[test]
    fn the_variable_of_the_configured_key_is_hidden_whatever_its_name() {
        let names = ["PATH", "WALRUS"].map(OsString::from);
        assert_eq!(hidden(names.into_iter(), "WALRUS"), ["WALRUS"]);
    }
}
