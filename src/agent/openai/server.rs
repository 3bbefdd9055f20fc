//! Where the model is.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use reqwest::{Client, Url, redirect};

use crate::agent::BuildError;
use crate::config::Section;

/// A server, as `agent.openai.base_url` names it. Shown without what may be secret in a URL.
#[derive(Clone)]
pub(super) struct Server {
    completions: Url,
}

impl Server {
    /// Reads the base URL.
    pub(super) fn parse(section: &Section, base_url: &str) -> Result<Self, BuildError> {
        // What stands before an @ may be a password.
        let shown = base_url.rsplit('@').next().unwrap_or_default();
        let refused =
            |why: String| BuildError::BaseUrl { section: section.clone(), url: shown.to_owned(), why };
        let mut completions = Url::parse(base_url.trim()).map_err(|error| refused(error.to_string()))?;
        if !matches!(completions.scheme(), "http" | "https") {
            return Err(refused("it must begin with http:// or https://".to_owned()));
        }
        let path = completions.path().trim_end_matches('/').trim_end_matches("/chat/completions");
        let path = format!("{path}/chat/completions");
        completions.set_path(&path);
        Ok(Self { completions })
    }

    /// Where chat completions are asked for.
    pub(super) fn completions(&self) -> Url {
        self.completions.clone()
    }

    /// The host, with its port where that is not the usual one.
    pub(super) fn authority(&self) -> String {
        let host = self.completions.host_str().unwrap_or_default();
        match self.completions.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }
    }

    /// Makes the HTTP client for this server.
    pub(super) fn client(&self, connect_timeout: Duration) -> Result<Client, BuildError> {
        let mut builder = Client::builder()
            .user_agent(concat!("switchboard/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(connect_timeout)
            // A redirect would lose the request or show the key to another server; it is told instead.
            .redirect(redirect::Policy::none())
            // Servers close idle connections without a word: each request opens its own.
            .pool_max_idle_per_host(0);
        if self.is_loopback() {
            builder = builder.no_proxy();
        }
        if self.completions.scheme() == "http" {
            // A machine without certificates can still reach its own model.
            builder = builder.tls_certs_only([]);
        }
        builder.build().map_err(|error| BuildError::Http(super::trouble::innermost(&error)))
    }

    fn is_loopback(&self) -> bool {
        let host = self.completions.host_str().unwrap_or_default();
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        host == "localhost" || address.is_ok_and(|address| address.is_loopback())
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.completions.path().trim_end_matches("/chat/completions");
        write!(f, "{}://{}{path}", self.completions.scheme(), self.authority())
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Server({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(base_url: &str) -> Result<Server, BuildError> {
        Server::parse(&Section::of("agent.openai"), base_url)
    }

    #[test]
    fn the_completions_are_below_the_base_url() {
        let cases = [
            ("http://localhost:11434/v1", "http://localhost:11434/v1/chat/completions"),
            ("http://localhost:11434/v1/", "http://localhost:11434/v1/chat/completions"),
            (" https://api.example/v1/chat/completions ", "https://api.example/v1/chat/completions"),
            ("https://api.example", "https://api.example/chat/completions"),
            ("https://api.example/d?version=2", "https://api.example/d/chat/completions?version=2"),
        ];
        for (base, completions) in cases {
            assert_eq!(server(base).unwrap().completions().as_str(), completions);
        }
    }

    #[test]
    fn it_is_shown_without_secrets() {
        let server = server("https://me:pa55@api.example:8443/v1?key=s3cret").unwrap();
        assert_eq!(server.to_string(), "https://api.example:8443/v1");
        assert_eq!(format!("{server:?}"), "Server(https://api.example:8443/v1)");
        assert_eq!(server.authority(), "api.example:8443");
    }

    #[test]
    fn what_is_no_web_address_is_refused() {
        for base in ["", "localhost:11434", "ftp://example", "http://"] {
            let refused = server(base).err().unwrap().to_string();
            assert!(refused.contains("agent.openai.base_url"), "{refused}");
        }
    }

    #[test]
    fn only_this_machine_is_reached_without_a_proxy() {
        for (base, loopback) in [
            ("http://localhost:1/v1", true),
            ("http://127.0.0.1/v1", true),
            ("http://[::1]:8080/v1", true),
            ("http://10.0.0.1/v1", false),
            ("https://localhost.example/v1", false),
        ] {
            assert_eq!(server(base).unwrap().is_loopback(), loopback, "{base}");
        }
    }
}
