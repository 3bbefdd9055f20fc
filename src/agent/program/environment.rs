//! The environment of a program: the engine's own, without what looks like a secret.

use std::ffi::{OsStr, OsString};

use tokio::process::Command;

/// A shorter value is no key but a word that other variables may hold as well.
const SHORTEST_KEY: usize = 8;

/// Takes every variable that may hold a secret out of a program's environment, and the `key_variables`
/// whatever their names look like, with all that hold the same.
pub(in crate::agent) fn hide_secrets(command: &mut Command, key_variables: &[String]) {
    for name in hidden(std::env::vars_os(), key_variables) {
        command.env_remove(name);
    }
}

fn hidden(variables: impl Iterator<Item = (OsString, OsString)>, key_variables: &[String]) -> Vec<OsString> {
    let variables: Vec<_> = variables.collect();
    let is_key = |name: &OsStr| key_variables.iter().any(|key| name == key.as_str());
    let keys: Vec<_> = variables.iter().filter(|(name, _)| is_key(name)).map(|(_, value)| value).collect();
    let holds_key = |value: &OsString| value.len() >= SHORTEST_KEY && keys.contains(&value);
    let hidden = variables.iter().filter(|(name, value)| {
        is_key(name) || may_be_secret(name) || holds_password(value) || holds_key(value)
    });
    hidden.map(|(name, _)| name.clone()).collect()
}

/// Whether a value is an address with a password in it: `postgres://user:password@host/`.
fn holds_password(value: &OsStr) -> bool {
    let value = value.to_string_lossy();
    let Some((_, rest)) = value.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
}

/// Whether a part of the name ends with one of the words for secrets: `OPENAI_API_KEY`, `PGPASSWORD`;
/// or is one of the short ones: `DB_PASS`, `GH_PAT`, `MYSQL_PWD`; or the last of them is `AUTH`, as that of
/// `SSH_AUTH_SOCK` is not.
fn may_be_secret(name: &OsStr) -> bool {
    const WORDS: [&str; 8] =
        ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "BEARER"];
    let name = name.to_string_lossy().to_ascii_uppercase();
    if name == "PWD" {
        return false;
    }
    let mut parts = name.split(|c: char| !c.is_ascii_alphanumeric());
    let ends_with_auth = name.ends_with("_AUTH");
    ends_with_auth
        || parts.any(|part| {
            let part = part.strip_suffix('S').filter(|one| !one.ends_with('S')).unwrap_or(part);
            let part = part.trim_end_matches(|c: char| c.is_ascii_digit());
            matches!(part, "PASS" | "PAT" | "PW" | "PWD" | "DSN")
                || WORDS.iter().any(|word| part.ends_with(word))
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
            "DB_PASS",
            "GH_PAT",
            "MYSQL_PWD",
            "DB_PW",
            "REDISCLI_AUTH",
            "API_BEARER",
            "SENTRY_DSN",
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
            "PWD",
            "OLDPWD",
            "SSH_AUTH_SOCK",
            "GIT_ASKPASS",
            "AUTHOR",
            "BYPASS",
            "PATTERN",
            "XDG_DATA_DIRS",
        ] {
            assert!(!may_be_secret(OsStr::new(name)), "{name} would be missing");
        }
    }

    #[test]
    fn the_variable_of_the_configured_key_is_hidden_whatever_its_name() {
        let variables = ["PATH", "WALRUS"].map(|name| (name.into(), "x".into()));
        assert_eq!(hidden(variables.into_iter(), &["WALRUS".to_owned()]), ["WALRUS"]);
    }

    #[test]
    fn a_variable_that_holds_the_same_as_that_of_the_configured_key_is_hidden_too() {
        let variables = ["WALRUS", "LLM"].map(|name| (name.into(), "sk-4711-0815".into()));
        assert_eq!(hidden(variables.into_iter(), &["WALRUS".to_owned()]), ["WALRUS", "LLM"]);
    }

    #[test]
    fn an_address_with_a_password_is_hidden_and_one_without_is_not() {
        let holds = |value: &str| holds_password(OsStr::new(value));
        assert!(holds("postgres://user:pw@host/base") && holds("redis://:pw@host"));
        assert!(
            !holds("http://localhost:8080/a@b:c") && !holds("user@host:path") && !holds("ssh://git@host")
        );
    }
}
