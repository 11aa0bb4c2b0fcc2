//! What is wrong with a configuration, where it was said, and what to do: all of it at once.

use std::collections::BTreeMap;
use std::fmt;

use super::valid::Refusal;
use crate::domain::text::printable;

/// One thing that cannot be read as a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// `file:line`, or the flag and the environment variable.
    pub place: String,
    /// Path of the key, such as `clusters[1].url`; empty for the file as a whole.
    pub key: String,
    /// What is wrong. Never a value that may be a secret.
    pub what: String,
    /// What to do.
    pub remedy: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", printable(&self.place))?;
        if !self.key.is_empty() {
            write!(f, "{}: ", printable(&self.key))?;
        }
        write!(f, "{}\n    -> {}", self.what, self.remedy)
    }
}

/// All that is wrong with a configuration, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigErrors(Vec<ConfigError>);

impl ConfigErrors {
    /// The errors, in the order of the file, those without a line first.
    pub fn iter(&self) -> std::slice::Iter<'_, ConfigError> {
        self.0.iter()
    }
}

impl<'a> IntoIterator for &'a ConfigErrors {
    type Item = &'a ConfigError;
    type IntoIter = std::slice::Iter<'a, ConfigError>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.len() {
            1 => writeln!(f, "the configuration has an error")?,
            n => writeln!(f, "the configuration has {n} errors")?,
        }
        for (at, error) in self.0.iter().enumerate() {
            let end = if at + 1 < self.0.len() { "\n" } else { "" };
            write!(f, "  {error}{end}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigErrors {}

/// Where a key was said.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// Nowhere in particular: the file as a whole, or no file.
    Whole,
    /// A line of the file.
    Line(usize),
    /// A flag with its environment variable.
    Flag(&'static str),
}

/// Collects what is wrong and what is refused, and knows where each key was said.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// The file as it should be called in messages; `None` without a file.
    file: Option<String>,
    places: BTreeMap<String, Place>,
    errors: Vec<(Place, ConfigError)>,
    refusals: Vec<(Place, Refusal)>,
}

impl Report {
    /// A report on a configuration file, or on flags alone.
    pub(super) fn new(file: Option<String>) -> Self {
        Self { file, ..Self::default() }
    }

    /// Notes that `key` was said in this line of the file.
    pub(super) fn seen_at_line(&mut self, key: &str, line: usize) {
        self.places.insert(key.to_owned(), Place::Line(line));
    }

    /// Notes that `key` with all below it comes from a flag, whatever the file says.
    pub(super) fn seen_in_flag(&mut self, key: &str, flag: &'static str) {
        self.places.retain(|other, _| !is_at_or_below(other, key));
        self.places.insert(key.to_owned(), Place::Flag(flag));
    }

    /// Whether the file or a flag says `key`, readable or not.
    pub(super) fn has_seen(&self, key: &str) -> bool {
        self.places.contains_key(key)
    }

    /// Whether anything was found wrong at `key` or below it.
    pub(super) fn is_wrong(&self, key: &str) -> bool {
        self.errors.iter().any(|(_, error)| is_at_or_below(&error.key, key))
    }

    /// `key` cannot be used.
    pub(super) fn error(&mut self, key: &str, what: impl Into<String>, remedy: impl Into<String>) {
        let place = self.place_of(key);
        self.push(place, key, what.into(), remedy.into());
    }

    /// A line of the file cannot be read, whatever key it holds.
    pub(super) fn error_at_line(&mut self, line: usize, key: &str, what: impl Into<String>, remedy: impl Into<String>) {
        self.push(Place::Line(line), key, what.into(), remedy.into());
    }

    /// `key` is needed. Says nothing if the key is there but was found wrong before.
    pub(super) fn missing(&mut self, key: &str, what: impl Into<String>, remedy: impl Into<String>) {
        if !self.has_seen(key) {
            self.error(key, what, remedy);
        }
    }

    /// `key` is readable but unsafe.
    pub(super) fn refuse(&mut self, key: &str, what: &str, remedy: impl Into<String>) {
        let place = self.place_of(key);
        let refusal =
            Refusal { place: self.name(&place), what: format!("{}: {what}", printable(key)), remedy: remedy.into() };
        self.refusals.push((place, refusal));
    }

    /// Where `key` was said, as `file:line` or flag.
    pub(super) fn place(&self, key: &str) -> String {
        self.name(&self.place_of(key))
    }

    /// The refusals, or the errors if there are any.
    pub(super) fn finish(mut self) -> Result<Vec<Refusal>, ConfigErrors> {
        if !self.errors.is_empty() {
            return Err(self.into_errors());
        }
        self.refusals.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(self.refusals.into_iter().map(|(_, refusal)| refusal).collect())
    }

    /// The errors, where it makes no sense to look further.
    pub(super) fn into_errors(mut self) -> ConfigErrors {
        self.errors.sort_by(|a, b| a.0.cmp(&b.0));
        ConfigErrors(self.errors.into_iter().map(|(_, error)| error).collect())
    }

    fn push(&mut self, place: Place, key: &str, what: String, remedy: String) {
        let error = ConfigError { place: self.name(&place), key: key.to_owned(), what, remedy };
        self.errors.push((place, error));
    }

    /// The place of a key that was not said is that of the table it would stand in.
    fn place_of(&self, key: &str) -> Place {
        let mut at = key;
        loop {
            if let Some(place) = self.places.get(at) {
                return place.clone();
            }
            match at.rfind(['.', '[']) {
                Some(cut) => at = &at[..cut],
                None => return Place::Whole,
            }
        }
    }

    fn name(&self, place: &Place) -> String {
        let file = self.file.as_deref().unwrap_or("no configuration file");
        match place {
            Place::Whole => file.to_owned(),
            Place::Line(line) => format!("{file}:{line}"),
            Place::Flag(flag) => (*flag).to_owned(),
        }
    }
}

/// The path of a key in a table, quoted where TOML would want it quoted.
pub(super) fn below(table: &str, name: &str) -> String {
    let bare = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    let name = if bare { name.to_owned() } else { format!("{name:?}") };
    if table.is_empty() { name } else { format!("{table}.{name}") }
}

/// The number of the line that holds the byte at `offset`.
pub(super) fn line_at(text: &[u8], offset: usize) -> usize {
    text.get(..offset).unwrap_or(text).split(|byte| *byte == b'\n').count()
}

fn is_at_or_below(key: &str, above: &str) -> bool {
    key.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let mut report = Report::new(Some("x.toml".to_owned()));
        report.seen_at_line("hdfs", 3);
        report.seen_at_line("hdfs.urls", 4);
        report.seen_at_line("hdfs.urls[1]", 6);
        report
    }

    #[test]
    fn a_key_that_was_not_said_is_missed_in_its_table() {
        assert_eq!(report().place("hdfs.urls[1]"), "x.toml:6");
        assert_eq!(report().place("hdfs.urls[0]"), "x.toml:4");
        assert_eq!(report().place("hdfs.user"), "x.toml:3");
        assert_eq!(report().place("ds.url"), "x.toml");
        assert_eq!(Report::new(None).place("ds.url"), "no configuration file");
    }

    #[test]
    fn a_flag_hides_the_lines_it_overrides() {
        let mut report = report();
        report.seen_in_flag("hdfs.urls", "--hdfs-url");
        assert_eq!(report.place("hdfs.urls[1]"), "--hdfs-url");
        assert_eq!(report.place("hdfs.user"), "x.toml:3");
    }

    #[test]
    fn errors_come_out_in_the_order_of_the_file() {
        let mut report = report();
        report.error("hdfs.urls[1]", "second", "mend it");
        report.error("hdfs.urls[0]", "first", "mend it");
        let errors = report.finish().expect_err("two errors");
        assert_eq!(
            errors.to_string(),
            "the configuration has 2 errors\n  x.toml:4: hdfs.urls[0]: first\n    -> mend it\n  x.toml:6: hdfs.urls[1]: \
             second\n    -> mend it"
        );
    }
}
