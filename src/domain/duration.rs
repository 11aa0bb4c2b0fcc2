//! Durations as operators write them: `10s`, `15m`, `72h`, `30d`.

use std::fmt;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// A length of time of whole seconds, written as a number with one of the units `s`, `m`, `h`, `d` (a day is 24 h).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Age(u64);

/// The text is no duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is no duration; write a whole number with a unit, such as `90s`, `15m`, `72h` or `30d`", crate::domain::text::printable(.0))]
pub struct AgeError(String);

impl Age {
    /// A duration of whole seconds.
    pub const fn from_seconds(seconds: u64) -> Self {
        Self(seconds)
    }

    /// A duration of whole hours.
    pub const fn from_hours(hours: u64) -> Self {
        Self(hours * 3600)
    }

    /// Parses `90s`, `15m`, `72h`, `30d`.
    pub fn parse(text: &str) -> Result<Self, AgeError> {
        let wrong = || AgeError(text.to_owned());
        let unit = text.chars().last().ok_or_else(wrong)?;
        let factor = match unit {
            's' => 1,
            'm' => 60,
            'h' => 3600,
            'd' => 86_400,
            _ => return Err(wrong()),
        };
        let digits = &text[..text.len() - 1];
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(wrong());
        }
        // A hundred years is far beyond any sense and far below what the time arithmetic can hold.
        digits
            .parse::<u64>()
            .ok()
            .and_then(|n| n.checked_mul(factor))
            .filter(|s| *s <= 3_155_760_000)
            .map(Self)
            .ok_or_else(wrong)
    }

    /// Whole seconds.
    pub const fn seconds(self) -> u64 {
        self.0
    }

    /// As a time-out or pause.
    pub const fn to_std(self) -> Duration {
        Duration::from_secs(self.0)
    }

    /// Whether `then` lies at least this long before `now`.
    pub fn has_passed(self, then: Timestamp, now: Timestamp) -> bool {
        now.duration_since(then) >= SignedDuration::from_secs(i64::try_from(self.0).unwrap_or(i64::MAX))
    }
}

impl TryFrom<String> for Age {
    type Error = AgeError;

    fn try_from(text: String) -> Result<Self, AgeError> {
        Self::parse(&text)
    }
}

impl From<Age> for String {
    fn from(age: Age) -> Self {
        age.to_string()
    }
}

impl std::str::FromStr for Age {
    type Err = AgeError;

    fn from_str(text: &str) -> Result<Self, AgeError> {
        Self::parse(text)
    }
}

impl fmt::Display for Age {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (n, unit) = match self.0 {
            0 => (0, "s"),
            n if n % 86_400 == 0 => (n / 86_400, "d"),
            n if n % 3600 == 0 => (n / 3600, "h"),
            n if n % 60 == 0 => (n / 60, "m"),
            n => (n, "s"),
        };
        write!(f, "{n}{unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_nonsense() {
        assert_eq!(Age::parse("72h"), Ok(Age::from_hours(72)));
        assert_eq!(Age::parse("72h").expect("a duration").to_string(), "3d");
        assert_eq!(Age::parse("90s").expect("a duration").to_string(), "90s");
        for wrong in ["", "h", "12", "-3h", "1.5h", "1w", "99999999999999999999d", "3\u{e9}"] {
            assert!(Age::parse(wrong).is_err(), "{wrong}");
        }
    }
}
