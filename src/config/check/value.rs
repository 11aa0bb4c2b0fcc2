//! Texts turned into values.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::{Offset, TimeZone};
use url::Url;

use super::Checker;
use crate::config::file::{DurationText, MomentText};
use crate::domain::text::printable;
use crate::domain::{Age, HdfsPath, HdfsUri, JobId, Place};

impl Checker<'_> {
    /// A duration, or the default.
    pub(super) fn age(&mut self, key: &str, text: Option<&DurationText>, default: Age) -> Age {
        let Some(DurationText(text)) = text else { return default };
        Age::parse(text).unwrap_or_else(|_| {
            let remedy = "write a whole number with a unit, such as `90s`, `15m`, `72h` or `30d`";
            self.report.error(key, format!("`{}` is no duration", printable(text)), remedy);
            default
        })
    }

    /// A duration that must not be zero.
    pub(super) fn positive_age(&mut self, key: &str, text: Option<&DurationText>, default: Age) -> Age {
        let age = self.age(key, text, default);
        if age == Age::from_seconds(0) {
            self.report.error(key, "no time at all", "write a duration such as `30s`");
        }
        age
    }

    /// A moment; a date means its end in UTC, since a protection or an ignore should hold on the day it names.
    pub(super) fn moment(&mut self, key: &str, text: Option<&MomentText>) -> Option<Timestamp> {
        let MomentText(text) = text?;
        let moment = text.parse::<Timestamp>().ok().or_else(|| end_of_day(text));
        if moment.is_none() {
            let remedy = "write it with date, time and zone such as `2027-01-31T18:00:00+08:00`, or as a date such as `2027-01-31`";
            self.report.error(key, format!("`{}` is no moment", printable(text)), remedy);
        }
        moment
    }

    /// A place in HDFS, in any file system.
    pub(super) fn uri(&mut self, key: &str, text: &str) -> Option<HdfsUri> {
        match HdfsUri::parse(text) {
            Ok(uri) => Some(uri),
            Err(error) => {
                let remedy = "write an absolute path such as `/flink/checkpoints/prod`, or a URI such as `hdfs://ns1/flink/checkpoints/prod`";
                self.report.error(key, with_sources(&error), remedy);
                None
            }
        }
    }

    /// A path in the file system that is read.
    pub(super) fn path(&mut self, key: &str, text: &str) -> Option<HdfsPath> {
        let uri = self.uri(key, text)?;
        match self.file_systems.resolve(&uri) {
            Place::Here(path) => Some(path),
            Place::Elsewhere(other, _) | Place::Unresolved(other, _) => {
                let read = self.file_systems.canonical.as_ref();
                let read = read.map_or("which nobody named".to_owned(), |name| format!("`{name}`"));
                self.report.error(
                    key,
                    format!("it lies in `{other}`, not in the file system that is read ({read})"),
                    "write the path alone, or say in `authority` and `[aliases]` that both are the same",
                );
                None
            }
        }
    }

    /// The base URL of a server. The text is never quoted: it may hold a password.
    pub(super) fn url(&mut self, key: &str, text: &str) -> Option<Url> {
        let example = "write scheme, host and port, such as `http://host.example:8081`";
        let url = match Url::parse(text) {
            Ok(url) => url,
            Err(error) => {
                self.report.error(key, format!("this is no URL: {error}"), example);
                return None;
            }
        };
        let (what, remedy) = if !matches!(url.scheme(), "http" | "https") {
            ("the URL is neither http nor https", example)
        } else if !url.username().is_empty() || url.password().is_some() {
            (
                "the URL holds a user or password",
                "take both out of the URL: name the user in `basic_user`, and the variable or file with the password in \
                 `basic_password_env` or `basic_password_file`",
            )
        } else if url.query().is_some() || url.fragment().is_some() {
            ("the URL holds a `?` or `#` part", "write the base URL alone; tokens go into a variable or file")
        } else {
            return Some(url);
        };
        self.report.error(key, what, remedy);
        None
    }

    /// A Flink job id in any spelling.
    pub(super) fn job(&mut self, key: &str, text: &str) -> Option<JobId> {
        let id = JobId::parse(text).ok();
        if id.is_none() {
            let remedy = "write the 32 hex digits that Flink shows, such as `49b5926251bfc0e5166a1c407ccd1050`";
            self.report.error(key, format!("`{}` is no Flink job id", printable(text)), remedy);
        }
        id
    }

    /// A name that a person gave: not empty, without control characters.
    pub(super) fn name(&mut self, key: &str, text: Option<&String>) -> Option<String> {
        let text = text?;
        if text.trim().is_empty() || text.chars().any(char::is_control) {
            self.report.error(key, "the name is empty or holds control characters", "write a plain name");
            return None;
        }
        Some(text.clone())
    }

    /// A time zone: a name of the zone database, or a fixed offset.
    pub(super) fn time_zone(&mut self, key: &str, text: &str) -> Option<TimeZone> {
        let zone = fixed_offset(text).or_else(|| TimeZone::get(text).ok());
        if zone.is_none() {
            let remedy = "write a name such as `Asia/Shanghai` or an offset such as `+08:00` (an offset needs no zone database on this host)";
            self.report.error(key, format!("`{}` is no time zone known here", printable(text)), remedy);
        }
        zone
    }
}

/// The zone of a text that is known to be one; UTC otherwise.
pub(super) fn known_time_zone(text: &str) -> TimeZone {
    fixed_offset(text).unwrap_or(TimeZone::UTC)
}

/// `UTC`, `Z`, `+08:00`, `-05:30`, without looking into the zone database.
fn fixed_offset(text: &str) -> Option<TimeZone> {
    if matches!(text, "UTC" | "Z") {
        return Some(TimeZone::UTC);
    }
    let (sign, digits) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = digits.split_once(':')?;
    if hours.len() != 2 || minutes.len() != 2 || !digits.bytes().all(|b| b.is_ascii_digit() || b == b':') {
        return None;
    }
    let (hours, minutes) = (hours.parse::<i32>().ok()?, minutes.parse::<i32>().ok()?);
    let seconds = sign * (hours * 3600 + minutes * 60);
    // Zones run from -12 to +14 hours.
    (hours <= 14 && minutes < 60).then_some(())?;
    Offset::from_seconds(seconds).ok().map(TimeZone::fixed)
}

fn end_of_day(text: &str) -> Option<Timestamp> {
    // The parser would also take a date with a time behind it, and drop the time.
    if text.len() != "2027-01-31".len() {
        return None;
    }
    let date: Date = text.parse().ok()?;
    TimeZone::UTC.to_timestamp(date.at(23, 59, 59, 0)).ok()
}

/// An error with all its sources, as one line.
pub(super) fn with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
