//! The environment of a program: the engine's own, without what looks like a secret.

use std::ffi::{OsStr, OsString};

use tokio::process::Command;

use crate::config::Secrets;

/// Takes every variable that may hold a secret out of a program's environment, and the `key_variables`
/// whatever their names look like, with all in which a key stands.
pub(in crate::agent) fn hide_secrets(command: &mut Command, key_variables: &[String]) {
    for name in hidden(std::env::vars_os(), key_variables, &Secrets::known()) {
        command.env_remove(name);
    }
}

fn hidden(
    variables: impl Iterator<Item = (OsString, OsString)>,
    key_variables: &[String],
    known: &Secrets,
) -> Vec<OsString> {
    let variables: Vec<_> =
        variables.map(|(name, value)| (name, value.to_string_lossy().into_owned())).collect();
    let is_key = |name: &OsStr| key_variables.iter().any(|key| name == key.as_str());
    let keys = variables.iter().filter(|(name, _)| is_key(name)).map(|(_, value)| value.clone());
    let keys = Secrets::of(keys.chain(known.tell()));
    let hidden = variables.iter().filter(|(name, value)| {
        is_key(name)
            || may_be_secret(name)
            || holds_password(value)
            || connects_with_secret(value)
            || keys.stand_in_text(value)
    });
    hidden.map(|(name, _)| name.clone()).collect()
}

/// Whether a value is an address with a password in it: `postgres://user:password@host/`.
fn holds_password(value: &str) -> bool {
    let Some((_, rest)) = value.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
}

/// Whether a value is a list of settings with a secret among them: `AccountName=me;AccountKey=x`.
fn connects_with_secret(value: &str) -> bool {
    let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == ' ');
    let settings = value.split(';').map(str::trim).filter(|setting| !setting.is_empty());
    let names: Option<Vec<&str>> = settings
        .map(|setting| setting.split_once('=').map(|(name, _)| name.trim()).filter(|name| is_name(name)))
        .collect();
    names.is_some_and(|names| names.into_iter().any(|name| may_be_secret(OsStr::new(name))))
}

/// A part of a name that ends so is that of a secret: `OPENAI_API_KEY`, `PGPASSWORD`, `SESSION_COOKIES`.
const ENDINGS: [&str; 11] = [
    "AUTHORIZATION",
    "SIGNATURE",
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "BEARER",
    "COOKIE",
];
/// A part that is so much of one: `DB_PASS`, `GH_PAT`, `MYSQL_PWD`, `REDISCLI_AUTH`.
const PARTS: [&str; 10] = ["PASS", "PAT", "PIN", "PW", "PWD", "DSN", "AUTH", "CRED", "JWT", "PGPASS"];
/// What programs need although it looks like one: a folder, and the place where an agent signs for who holds no key.
const NEEDED: [&str; 2] = ["PWD", "SSH_AUTH_SOCK"];

/// Whether a part of the name is one of those for secrets, or for the file of one, in the plural and with a number too.
fn may_be_secret(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    let is_secret = |part: &str| {
        let part = part.strip_suffix('S').filter(|one| !one.ends_with('S')).unwrap_or(part);
        let part = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let part = part.strip_suffix("FILE").unwrap_or(part);
        PARTS.contains(&part) || ENDINGS.iter().any(|word| part.ends_with(word))
    };
    !NEEDED.contains(&&*name) && name.split(|c: char| !c.is_ascii_alphanumeric()).any(is_secret)
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
            "MY_CREDS",
            "GIT_CRED",
            "SESSION_COOKIE",
            "COOKIES",
            "PGPASSFILE",
            "SSH_KEYFILE",
            "VAULT_TOKEN_FILE",
            "AUTH",
            "DOCKER_AUTH_CONFIG",
            "SUPABASE_JWT",
            "AUTHORIZATION",
            "PROXY_AUTHORIZATION",
            "COOKIE",
            "JWT",
            "PIN",
            "TOKEN_PINS",
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
            "XAUTHORITY",
            "SACRED",
            "PROFILE",
            "COMPASS",
            "KUBECONFIG",
            "BYPASS",
            "PATTERN",
            "PINENTRY_USER_DATA",
            "SPIN",
            "XDG_DATA_DIRS",
        ] {
            assert!(!may_be_secret(OsStr::new(name)), "{name} would be missing");
        }
    }

    #[test]
    fn the_variable_of_the_configured_key_is_hidden_whatever_its_name() {
        let variables = ["PATH", "WALRUS"].map(|name| (name.into(), "x".into()));
        assert_eq!(hidden(variables.into_iter(), &["WALRUS".to_owned()], &Secrets::default()), ["WALRUS"]);
    }

    #[test]
    fn a_variable_in_which_a_key_stands_is_hidden_too() {
        let variables = [
            ("WALRUS", "sk-4711-0815"),
            ("LLM", "sk-4711-0815"),
            ("HEADERS", "x-api: sk-4711-0815; q=1"),
            ("FROM_A_FILE", "{\"sk-of-a-file\"}"),
            ("EDITOR", "vi"),
        ];
        let variables = variables.map(|(name, value)| (name.into(), value.into()));
        let known = Secrets::of(["sk-of-a-file".to_owned()]);
        let hidden = hidden(variables.into_iter(), &["WALRUS".to_owned()], &known);
        assert_eq!(hidden, ["WALRUS", "LLM", "HEADERS", "FROM_A_FILE"]);
    }

    #[test]
    fn a_list_of_settings_with_a_secret_is_hidden_and_one_without_is_not() {
        for with in [
            "DefaultEndpointsProtocol=https;AccountName=me;AccountKey=x==;EndpointSuffix=core.windows.net",
            "Server=tcp:x,1433; User ID=me; Password=p",
            "Endpoint=sb://x/;SharedAccessKeyName=n;SharedAccessKey=k",
            "BlobEndpoint=https://x/;SharedAccessSignature=sv=1",
        ] {
            assert!(connects_with_secret(with), "{with}");
        }
        for without in
            ["", "/bin:/usr/bin", "rs=0:di=01;34:ln=01", "Server=x;Database=y", "a;key=b", "f() { key=1; }"]
        {
            assert!(!connects_with_secret(without), "{without}");
        }
    }

    #[test]
    fn an_address_with_a_password_is_hidden_and_one_without_is_not() {
        for with in ["postgres://user:pw@host/base", "redis://:pw@host"] {
            assert!(holds_password(with), "{with}");
        }
        for without in ["http://localhost:8080/a@b:c", "user@host:path", "ssh://git@host"] {
            assert!(!holds_password(without), "{without}");
        }
    }
}
