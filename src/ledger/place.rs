//! Where a ledger is: a path or a URL, and the form of it that may be shown.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::PathBuf;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use url::Url;

use super::dialect::Dialect;
use crate::ports::ledger::LedgerError;

/// What a path keeps as it is inside a URL.
const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_');

/// The SQLite file of a ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    file: PathBuf,
}

impl Place {
    /// Reads a path or a URL. Only SQLite files for now.
    pub fn parse(text: &str) -> Result<Self, LedgerError> {
        let Some((scheme, rest)) = split_scheme(text) else {
            return Self::of_path(text, text);
        };
        match Dialect::of_scheme(scheme) {
            Some(Dialect::Sqlite) => Self::of_url(text, rest),
            Some(dialect) => {
                Err(refused(shown(text, scheme), format!("a shared ledger on {} comes later", dialect.name())))
            }
            None => Err(refused(shown(text, scheme), format!("{scheme} is no kind of ledger"))),
        }
    }

    fn of_url(text: &str, rest: &str) -> Result<Self, LedgerError> {
        let rest = rest.strip_prefix("//").unwrap_or(rest);
        // A file has no users: what stands before an `@` would be a secret in a file name.
        if rest.contains(['@', '?', '#']) {
            let shown = shown(text, "sqlite");
            return Err(refused(shown, "a SQLite ledger takes neither a user nor options".to_owned()));
        }
        let path = percent_decode_str(rest).decode_utf8_lossy();
        Self::of_path(&path, text)
    }

    fn of_path(path: &str, text: &str) -> Result<Self, LedgerError> {
        let open = |source: io::Error| LedgerError::Open { place: text.to_owned(), source: source.into() };
        if path.is_empty() || path == ":memory:" {
            return Err(refused(text.to_owned(), "a ledger has to outlive this process".to_owned()));
        }
        Ok(Self { file: std::path::absolute(path).map_err(open)? })
    }

    /// The path, for messages.
    pub fn shown(&self) -> String {
        self.file.display().to_string()
    }

    /// The URL for the driver.
    pub fn url(&self) -> String {
        format!("sqlite://{}?mode=rw", utf8_percent_encode(&self.file.to_string_lossy(), KEPT))
    }

    /// Makes the file, if it is not there, with directories of mode 0700 and for nobody else to read: it tells what the
    /// platform holds. One that is there keeps its mode.
    pub fn prepare(&self) -> io::Result<()> {
        if let Some(directory) = self.file.parent() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        }
        // SQLite gives its two side files the mode of this one.
        fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&self.file)?;
        Ok(())
    }
}

/// Whether there is a ledger at a path or URL; makes none.
pub fn is_there(place: &str) -> Result<bool, LedgerError> {
    Ok(Place::parse(place)?.file.exists())
}

/// A path or URL as it may be shown.
pub fn shown_place(place: &str) -> Result<String, LedgerError> {
    Ok(Place::parse(place)?.shown())
}

/// The file of a user who names none: `$XDG_STATE_HOME/statewarden/ledger.db`, else below `~/.local/state`. `None` without a
/// home directory.
pub fn default_place() -> Option<String> {
    default_in(|name| std::env::var(name).ok())
}

fn default_in(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    // The XDG rules: a value that is not an absolute path counts as unset.
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
    Some(state.join("statewarden/ledger.db").to_string_lossy().into_owned())
}

/// The scheme and what follows its colon, if the text is a URL.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let spelled = scheme.len() > 1
        && scheme.starts_with(|c: char| c.is_ascii_lowercase())
        && scheme.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "+-.".contains(c));
    (spelled && (rest.starts_with("//") || Dialect::of_scheme(scheme).is_some())).then_some((scheme, rest))
}

/// A URL without anything that could be a secret: scheme, host, port and path; less if it is not clear where the password ends.
fn shown(text: &str, scheme: &str) -> String {
    let hidden = || format!("{scheme}://…");
    let Ok(mut url) = Url::parse(text) else { return hidden() };
    let has_user = !url.username().is_empty() || url.password().is_some();
    if text.contains('@') != has_user || url.path().contains(['@', ':']) || !url.has_host() {
        return hidden();
    }
    url.set_query(None);
    url.set_fragment(None);
    match url.set_username("").and_then(|()| url.set_password(None)) {
        Ok(()) => url.to_string(),
        Err(()) => hidden(),
    }
}

fn refused(place: String, why: String) -> LedgerError {
    LedgerError::Unsupported { place, why }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(place: &str) -> String {
        Place::parse(place).expect_err("refused").to_string()
    }

    #[test]
    fn paths_and_sqlite_urls_name_files() {
        let file = |text: &str| Place::parse(text).expect("a place").shown();
        assert_eq!(file("/var/lib/sw/ledger.db"), "/var/lib/sw/ledger.db");
        assert_eq!(file("sqlite:///var/lib/sw/ledger.db"), "/var/lib/sw/ledger.db");
        assert_eq!(file("sqlite:/var/a%20b.db"), "/var/a b.db");
        assert_eq!(file("/odd:name/x?y.db"), "/odd:name/x?y.db");
        assert!(file("sqlite://ledger.db").ends_with("/ledger.db"));
    }

    #[test]
    fn the_url_for_the_driver_is_encoded() {
        let place = Place::parse("/a b/x?y#1%.db").expect("a place");
        assert_eq!(place.url(), "sqlite:///a%20b/x%3Fy%231%25.db?mode=rw");
    }

    #[test]
    fn a_server_comes_later_and_its_password_is_not_told() {
        assert_eq!(
            message("postgres://etl:s3cret@db.example:5432/ledger?sslmode=require&password=s3cret"),
            "the ledger postgres://db.example:5432/ledger cannot be used: a shared ledger on PostgreSQL comes later; name a \
             SQLite file, as in --ledger /var/lib/statewarden/ledger.db"
        );
        for odd in [
            "mysql://etl:s3/cret@db/ledger",
            "mysql://etl:12/s3cret@db/ledger",
            "mysql://etl:12#s3cret@db/ledger",
            "mariadb:etl:s3cret@db",
            "oracle://etl:s3cret@db",
            "sqlite://etl:s3cret@db/x.db",
            "sqlite:///x.db?key=s3cret",
            "postgres://etl:s3?cret@db/ledger",
        ] {
            assert!(!message(odd).contains("cret"), "{odd}: {}", message(odd));
        }
    }

    #[test]
    fn the_default_follows_the_state_directory() {
        let place = |home: &str, state: &str| {
            default_in(|name| match name {
                "HOME" => Some(home.to_owned()),
                "XDG_STATE_HOME" => Some(state.to_owned()),
                _ => None,
            })
        };
        assert_eq!(place("/home/a", "").as_deref(), Some("/home/a/.local/state/statewarden/ledger.db"));
        assert_eq!(place("/home/a", "/var/state").as_deref(), Some("/var/state/statewarden/ledger.db"));
        assert_eq!(place("/home/a", "state").as_deref(), Some("/home/a/.local/state/statewarden/ledger.db"));
        assert_eq!(place("", ""), None);
    }
}
