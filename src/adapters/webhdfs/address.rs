//! From a question to a URL: each byte of a path or value is encoded once, and credentials go into the query only here.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use secrecy::{ExposeSecret as _, SecretString};
use url::Url;

use super::question::Question;
use crate::config::HdfsConfig;

/// Everything but the unreserved characters of RFC 3986. A `+` in a WebHDFS path is a plus, in a query value a space, so
/// both are always encoded.
const VALUE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The same for a path, whose separators stay.
const PATH: &AsciiSet = &VALUE.remove(b'/');

/// Where the REST API begins, on a NameNode, HttpFS and behind Knox.
const API: &str = "/webhdfs/v1";

/// Who asks, as query parameters.
pub(super) struct Identity {
    user: Option<String>,
    doas: Option<String>,
    token: Option<SecretString>,
}

impl Identity {
    /// The identity of the configuration. With a delegation token the token names the user; the NameNode refuses a
    /// `user.name` that differs from it, so none is sent.
    pub(super) fn new(config: &HdfsConfig) -> Self {
        let token = config.delegation_token.clone();
        let user = if token.is_some() { None } else { config.user.clone() };
        Self { user, doas: config.doas.clone(), token }
    }

    /// The account the server will take us for, as far as it is known without asking.
    pub(super) fn effective_user(&self) -> Option<&str> {
        self.doas.as_deref().or(self.user.as_deref())
    }

    /// `text` without the delegation token, should a server echo it.
    pub(super) fn scrub(&self, text: &str) -> String {
        match self.token.as_ref().map(|token| token.expose_secret().trim()) {
            Some(token) if !token.is_empty() => text.replace(token, "…"),
            _ => text.to_owned(),
        }
    }

    fn pairs(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let user = self.user.as_deref().map(|user| ("user.name", user));
        let doas = self.doas.as_deref().map(|user| ("doas", user));
        let token = self.token.as_ref().map(|token| ("delegation", token.expose_secret().trim()));
        [user, doas, token].into_iter().flatten()
    }
}

/// The delegation token as it is and as it stands in a URL.
pub(super) fn forms_of_token(config: &HdfsConfig) -> Vec<SecretString> {
    let token = config.delegation_token.as_ref().map(|token| token.expose_secret().trim().to_owned());
    let encoded = token.as_ref().map(|token| utf8_percent_encode(token, VALUE).to_string());
    token.into_iter().chain(encoded).map(SecretString::from).collect()
}

/// The URL below which paths are appended. A URL that ends in `/webhdfs/v1` already (a Knox gateway) is taken as it is.
pub(super) fn base(configured: &Url) -> Url {
    let mut url = configured.clone();
    let path = configured.path().trim_end_matches('/').to_owned();
    url.set_path(&if path.ends_with(API) { path } else { format!("{path}{API}") });
    url.set_query(None);
    url.set_fragment(None);
    url
}

/// The URL of one question.
pub(super) fn of(base: &Url, question: &Question<'_>, identity: &Identity) -> Url {
    let mut url = base.clone();
    // Dot segments, which `set_path` would resolve, are no part of an `HdfsPath`; all else is encoded already.
    url.set_path(&format!("{}{}", base.path(), utf8_percent_encode(question.path.as_str(), PATH)));
    let mut query = format!("op={}", question.op.name());
    let start = question.start_after.map(|name| ("startAfter", name));
    for (key, value) in identity.pairs().chain(start) {
        query.extend(["&", key, "="]);
        query.extend(utf8_percent_encode(value, VALUE));
    }
    url.set_query(Some(&query));
    url
}

/// Host and port for messages; never the user information a URL can hold.
pub(super) fn name(base: &Url) -> String {
    let host = base.host_str().unwrap_or("?");
    match base.port_or_known_default() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::question::Operation;
    use super::*;
    use crate::config::{Credentials, HttpConfig};
    use crate::domain::{Age, HdfsPath};

    fn config() -> HdfsConfig {
        let http = HttpConfig {
            timeout: Age::from_seconds(1),
            ca_file: None,
            credentials: Credentials::None,
            max_concurrency: 1,
            requests_per_second: None,
        };
        HdfsConfig { urls: vec![], user: Some("root".into()), doas: None, delegation_token: None, http }
    }

    fn ask(path: &str, start_after: Option<&str>, config: &HdfsConfig) -> String {
        let path = HdfsPath::parse(path).expect("test path");
        let question = Question { op: Operation::ListBatch, path: &path, start_after };
        let base = base(&Url::parse("http://nn:9870").expect("test URL"));
        of(&base, &question, &Identity::new(config)).to_string()
    }

    #[test]
    fn each_byte_of_a_name_is_encoded_once() {
        // The encoded forms are those of the recorded requests (`getfilestatus_name_*`).
        for (name, encoded) in [
            ("with space", "with%20space"),
            ("plus+sign", "plus%2Bsign"),
            ("per%cent", "per%25cent"),
            ("per%20cent", "per%2520cent"),
            ("hash#tag", "hash%23tag"),
            ("col:on", "col%3Aon"),
            ("ünïcødé-检查点", "%C3%BCn%C3%AFc%C3%B8d%C3%A9-%E6%A3%80%E6%9F%A5%E7%82%B9"),
            ("semi;colon", "semi%3Bcolon"),
            ("q?mark", "q%3Fmark"),
            ("star*", "star%2A"),
            ("back\\slash", "back%5Cslash"),
            ("amp&and=eq", "amp%26and%3Deq"),
            ("quote\"x", "quote%22x"),
            ("tab\tx", "tab%09x"),
            ("brace{a}", "brace%7Ba%7D"),
            ("emoji😀", "emoji%F0%9F%98%80"),
            (".hidden", ".hidden"),
            ("line\nbreak", "line%0Abreak"),
            ("%2e%2e", "%252e%252e"),
        ] {
            let url = ask(&format!("/tmp/names/{name}"), None, &config());
            let wanted = format!("http://nn:9870/webhdfs/v1/tmp/names/{encoded}?op=LISTSTATUS_BATCH&user.name=root");
            assert_eq!(url, wanted);
        }
    }

    #[test]
    fn query_values_are_encoded_too() {
        let url = ask("/", Some("a+b&c=d e"), &config());
        assert_eq!(url, "http://nn:9870/webhdfs/v1/?op=LISTSTATUS_BATCH&user.name=root&startAfter=a%2Bb%26c%3Dd%20e");
    }

    #[test]
    fn a_token_replaces_the_user_name() {
        let token = SecretString::from("AB+/=\n");
        let config = HdfsConfig { doas: Some("alice".into()), delegation_token: Some(token), ..config() };
        let url = ask("/", None, &config);
        assert_eq!(url, "http://nn:9870/webhdfs/v1/?op=LISTSTATUS_BATCH&doas=alice&delegation=AB%2B%2F%3D");
        let identity = Identity::new(&config);
        assert_eq!(identity.effective_user(), Some("alice"));
        assert_eq!(identity.scrub("bad token AB+/= here"), "bad token … here");
    }

    #[test]
    fn gateway_paths_are_kept() {
        let base_of = |text: &str| base(&Url::parse(text).expect("test URL")).to_string();
        assert_eq!(base_of("http://nn:9870"), "http://nn:9870/webhdfs/v1");
        assert_eq!(base_of("https://nn:9871/"), "https://nn:9871/webhdfs/v1");
        assert_eq!(base_of("https://k/gateway/prod/webhdfs/v1/"), "https://k/gateway/prod/webhdfs/v1");
        assert_eq!(base_of("https://proxy/hdfs?x=1#y"), "https://proxy/hdfs/webhdfs/v1");
    }

    #[test]
    fn names_of_nodes_hold_no_password() {
        let url = Url::parse("http://u:secret@nn/").expect("test URL");
        assert_eq!(name(&url), "nn:80");
    }
}
