//! Secrets: read from the environment or a file, and never shown, not even where somebody wrote one in the wrong place.

use std::path::PathBuf;

use secrecy::SecretString;

use super::Checker;
use crate::config::file::HttpKeys;
use crate::config::valid::{Credentials, HttpConfig};
use crate::domain::Age;

/// The two keys that say where a secret is.
pub(super) struct SecretKeys<'a> {
    /// The table they stand in.
    pub table: &'a str,
    /// The keys without `_env` and `_file`.
    pub stem: &'static str,
    /// Value of the `_env` key.
    pub env: Option<&'a str>,
    /// Variable that is read if no other is named.
    pub default_env: Option<&'static str>,
    /// Value of the `_file` key.
    pub file: Option<&'a str>,
}

impl SecretKeys<'_> {
    fn env_key(&self) -> String {
        format!("{}.{}_env", self.table, self.stem)
    }

    fn file_key(&self) -> String {
        format!("{}.{}_file", self.table, self.stem)
    }

    fn is_named(&self) -> bool {
        self.env.is_some() || self.file.is_some()
    }
}

impl Checker<'_> {
    /// A secret that may be left out: `None` if neither key is there.
    pub(super) fn optional_secret(&mut self, keys: &SecretKeys<'_>) -> Option<SecretString> {
        if keys.is_named() { self.secret(keys) } else { None }
    }

    /// A secret that is needed. The variable goes before the file, as everywhere.
    pub(super) fn secret(&mut self, keys: &SecretKeys<'_>) -> Option<SecretString> {
        if self.judge_only {
            return None;
        }
        let variable = keys.env.or(keys.default_env);
        if !self.names_a_variable(keys) {
            return None;
        }
        if let Some(text) = variable.and_then(|name| self.surroundings.get(name)) {
            return self.usable(&keys.env_key(), &text);
        }
        if let Some(file) = keys.file {
            return self.secret_file(&keys.file_key(), file);
        }
        self.missing_secret(keys, variable);
        None
    }

    /// The token for deletes, if it is not the one that reads. Looked at only where something is applied.
    pub(super) fn apply_token(&mut self, keys: &SecretKeys<'_>) -> Option<SecretString> {
        let default_is_set = keys.default_env.is_some_and(|name| self.surroundings.get(name).is_some());
        if self.applies {
            return if keys.is_named() || default_is_set { self.secret(keys) } else { None };
        }
        self.names_a_variable(keys);
        None
    }

    /// Whether the `_env` key, if it is there, can be a name of a variable.
    fn names_a_variable(&mut self, keys: &SecretKeys<'_>) -> bool {
        if keys.env.is_none_or(is_variable_name) {
            return true;
        }
        // Not quoted: this may be the secret itself.
        self.report.error(
            &keys.env_key(),
            "this is no name of an environment variable",
            "write a name in capitals such as `STATEWARDEN_TOKEN`; if it is the secret itself, take it out of the file and replace it at its origin",
        );
        false
    }

    fn missing_secret(&mut self, keys: &SecretKeys<'_>, variable: Option<&str>) {
        let env_key = keys.env_key();
        let file_key = keys.file_key();
        if self.report.has_seen(&file_key) {
            return;
        }
        let what = match variable {
            Some(name) => format!("the environment variable {name} is not set, and no `{file_key}` is named"),
            None => format!("neither `{env_key}` nor `{file_key}` is there"),
        };
        let remedy = match variable {
            Some(name) => {
                format!("set {name} (or name another variable in `{env_key}`), or name a file in `{file_key}`")
            }
            None => format!("name the variable or the file that holds it in `{env_key}` or `{file_key}`"),
        };
        self.report.error(&env_key, what, remedy);
    }

    fn secret_file(&mut self, key: &str, file: &str) -> Option<SecretString> {
        match std::fs::read_to_string(self.file(file)) {
            Ok(text) => self.usable(key, text.trim_end_matches(['\n', '\r'])),
            Err(error) => {
                // The name is not quoted: this may be the secret itself.
                let remedy = format!(
                    "check the name (relative ones start at {}) and that this account may read the file",
                    self.folder_name()
                );
                self.report.error(key, format!("the file cannot be read: {error}"), remedy);
                None
            }
        }
    }

    fn folder_name(&self) -> String {
        if self.folder.as_os_str().is_empty() {
            "the working directory".to_owned()
        } else {
            self.folder.display().to_string()
        }
    }

    fn usable(&mut self, key: &str, text: &str) -> Option<SecretString> {
        if text.is_empty() || !text.bytes().all(|b| (b' '..=b'~').contains(&b)) {
            self.report.error(
                key,
                "what is there is empty, or holds line breaks or characters that no HTTP header can carry",
                "put exactly the secret there, on one line",
            );
            return None;
        }
        Some(SecretString::from(text))
    }

    /// What the keys that all servers share say.
    pub(super) fn http(&mut self, table: &str, keys: &HttpKeys) -> HttpConfig {
        let timeout = self.positive_age(&format!("{table}.timeout"), keys.timeout.as_ref(), Age::from_seconds(30));
        HttpConfig {
            timeout,
            ca_file: keys.ca_file.as_deref().and_then(|file| self.ca_file(&format!("{table}.ca_file"), file)),
            credentials: self.credentials(table, keys),
            max_concurrency: keys.max_concurrency.map_or(8, |n| usize::try_from(n).unwrap_or(usize::MAX)),
            requests_per_second: keys.requests_per_second,
        }
    }

    fn ca_file(&mut self, key: &str, file: &str) -> Option<PathBuf> {
        let path = self.file(file);
        if self.judge_only {
            return Some(path);
        }
        let (what, remedy) = match std::fs::read(&path) {
            Ok(bytes) if String::from_utf8_lossy(&bytes).contains("-----BEGIN CERTIFICATE-----") => return Some(path),
            Ok(_) => (
                format!("{} holds no PEM certificate", path.display()),
                "name a file with `-----BEGIN CERTIFICATE-----` in it; `keytool -exportcert -rfc` or `openssl x509` make one",
            ),
            Err(error) => (
                format!("{} cannot be read: {error}", path.display()),
                "check the name and that this account may read the file",
            ),
        };
        self.report.error(key, what, remedy);
        None
    }

    fn credentials(&mut self, table: &str, keys: &HttpKeys) -> Credentials {
        let password = self.optional_secret(&SecretKeys {
            table,
            stem: "basic_password",
            env: keys.basic_password_env.as_deref(),
            default_env: None,
            file: keys.basic_password_file.as_deref(),
        });
        let bearer = self.optional_secret(&SecretKeys {
            table,
            stem: "bearer_token",
            env: keys.bearer_token_env.as_deref(),
            default_env: None,
            file: keys.bearer_token_file.as_deref(),
        });
        self.one_kind_of_credentials(table, keys);
        match (&keys.basic_user, password, bearer) {
            (Some(user), Some(password), None) => Credentials::Basic { user: user.clone(), password },
            (None, None, Some(token)) => Credentials::Bearer(token),
            _ => Credentials::None,
        }
    }

    fn one_kind_of_credentials(&mut self, table: &str, keys: &HttpKeys) {
        let password_named = keys.basic_password_env.is_some() || keys.basic_password_file.is_some();
        let bearer_named = keys.bearer_token_env.is_some() || keys.bearer_token_file.is_some();
        let user_key = format!("{table}.basic_user");
        match (&keys.basic_user, password_named) {
            (Some(_), false) => self.report.missing(
                &format!("{table}.basic_password_env"),
                "a user without a password",
                "name the variable or file that holds it in `basic_password_env` or `basic_password_file`",
            ),
            (None, true) => {
                self.report.missing(&user_key, "a password without a user", "name the user in `basic_user`");
            }
            _ => {}
        }
        if bearer_named && (password_named || keys.basic_user.is_some()) {
            self.report.error(table, "basic and bearer authentication exclude one another", "keep one of the two");
        }
    }
}

/// Capitals only: what looks different may be a secret in the wrong place, and DolphinScheduler tokens are lower-case hex.
fn is_variable_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
        && text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}
