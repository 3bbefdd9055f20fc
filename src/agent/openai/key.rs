//! The key to a server: where it comes from, and that it is never shown.

use std::env::VarError;
use std::fmt;
use std::path::{Path, PathBuf};

use reqwest::header::HeaderValue;
use tokio::task::spawn_blocking;

use crate::agent::AgentError;
use crate::config::{KeyFile, OpenAiConfig, Secrets};

/// A key. Nothing prints it.
pub(super) struct Key {
    secret: String,
    header: HeaderValue,
}

impl Key {
    fn new(text: &str, place: &str) -> Result<Self, AgentError> {
        let secret = text.trim().to_owned();
        let refused = |why| AgentError::Failed(format!("{place} holds no usable key: {why}"));
        if secret.chars().any(|c| !c.is_ascii_graphic()) {
            return Err(refused("a key has only ASCII characters and no spaces or line breaks"));
        }
        let mut header = HeaderValue::from_str(&format!("Bearer {secret}"))
            .map_err(|_| refused("it can't be sent in a header"))?;
        header.set_sensitive(true);
        Ok(Self { secret, header })
    }

    /// The header that shows the key to the server alone.
    pub(super) fn header(&self) -> HeaderValue {
        self.header.clone()
    }

    /// Takes the key out of a text that a server sent.
    pub(super) fn redact(&self, text: &str) -> String {
        text.replace(&self.secret, Secrets::HIDDEN)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(hidden)")
    }
}

/// Where the key is looked for.
#[derive(Debug, Clone)]
pub(super) struct KeySource {
    variable: String,
    /// With the setting that names it.
    file: Option<(PathBuf, String)>,
}

impl KeySource {
    /// Reads the places from the settings.
    pub(super) fn new(config: &OpenAiConfig) -> Self {
        let setting = config.section.setting("api_key_file");
        let file = config.api_key_file.clone().map(|path| (path, setting));
        Self { variable: config.api_key_env.clone(), file }
    }

    /// Reads the key: the variable first, then the file. A server may need none.
    ///
    /// # Errors
    /// Where a place was named that can't be used. The text never holds what stands there.
    pub(super) async fn read(&self) -> Result<Option<Key>, AgentError> {
        let source = self.clone();
        let read = spawn_blocking(move || source.look()).await;
        read.unwrap_or_else(|error| Err(AgentError::Failed(format!("the key could not be read: {error}"))))
    }

    fn look(&self) -> Result<Option<Key>, AgentError> {
        match std::env::var(&self.variable) {
            Ok(text) if !text.trim().is_empty() => {
                return Key::new(&text, &format!("the environment variable {}", self.variable)).map(Some);
            }
            Err(VarError::NotUnicode(_)) => {
                let place = &self.variable;
                return Err(AgentError::Failed(format!("the environment variable {place} holds no text")));
            }
            Ok(_) | Err(VarError::NotPresent) => {}
        }
        self.file.as_ref().map(|(path, setting)| read_file(path, setting)).transpose()
    }
}

fn read_file(path: &Path, setting: &str) -> Result<Key, AgentError> {
    let place = format!("{} ({setting})", path.display());
    let read = KeyFile::read(path);
    let KeyFile { text, mode } =
        read.map_err(|error| AgentError::Failed(format!("can't read {place}: {error}")))?;
    if mode & 0o077 != 0 {
        let path = path.display();
        return Err(AgentError::Failed(format!(
            "{place} is open to others (mode {mode:03o}), so its key is not used: chmod 600 {path}, and think of a new key"
        )));
    }
    if text.trim().is_empty() {
        return Err(AgentError::Failed(format!("{place} is empty: write the key into it")));
    }
    Key::new(&text, &place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn source(file: &Path) -> KeySource {
        KeySource {
            variable: "SWITCHBOARD_TEST_UNSET".to_owned(),
            file: Some((file.to_path_buf(), "agent.openai.api_key_file".to_owned())),
        }
    }

    fn key_file(text: &str, mode: u32) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        fs::set_permissions(file.path(), fs::Permissions::from_mode(mode)).unwrap();
        file
    }

    #[test]
    fn a_private_file_gives_the_key() {
        for mode in [0o600, 0o400] {
            let file = key_file("sk-abc123\n", mode);
            let key = source(file.path()).look().unwrap().unwrap();
            assert_eq!(key.header(), "Bearer sk-abc123");
        }
    }

    #[test]
    fn a_file_that_others_can_read_is_refused_with_what_to_do() {
        for mode in [0o640, 0o604, 0o620, 0o644] {
            let file = key_file("sk-abc123", mode);
            let why = source(file.path()).look().unwrap_err().to_string();
            assert!(why.contains(&format!("mode {mode:03o}")), "{why}");
            assert!(why.contains(&format!("chmod 600 {}", file.path().display())), "{why}");
            assert!(!why.contains("sk-abc123"), "{why}");
        }
    }

    #[test]
    fn a_file_without_a_usable_key_is_told_without_its_text() {
        for text in ["", " \n", "two words", "sk-ü", "line\nline"] {
            let why = source(key_file(text, 0o600).path()).look().unwrap_err().to_string();
            assert!(why.contains("agent.openai.api_key_file"), "{why}");
            assert!(text.trim().is_empty() || !why.contains(text), "{why}");
        }
        let why = source(Path::new("/no/such/key")).look().unwrap_err().to_string();
        assert!(why.contains("can't read /no/such/key (agent.openai.api_key_file)"), "{why}");
    }

    #[test]
    fn no_place_means_no_key() {
        let source = KeySource { variable: "SWITCHBOARD_TEST_UNSET".to_owned(), file: None };
        assert!(source.look().unwrap().is_none());
    }

    #[test]
    fn a_key_is_never_printed() {
        let key = Key::new("sk-abc123", "here").unwrap();
        assert!(!format!("{key:?} {:?}", key.header()).contains("sk-abc123"));
        assert_eq!(key.redact("bad key sk-abc123!"), "bad key [the key]!");
    }
}
