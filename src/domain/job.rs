//! Flink job ids and states.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A Flink job id: 32 lower-case hex digits.
///
/// Not unique by itself: application mode with HA derives it from the cluster id, see [`JobId::is_shared`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct JobId(Box<str>);

/// The text is no job id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is no Flink job id; 32 hex digits are expected", crate::domain::text::printable(.0))]
pub struct JobIdError(String);

impl JobId {
    /// Parses any spelling: upper case and dashes are accepted and normalised.
    pub fn parse(text: &str) -> Result<Self, JobIdError> {
        let id: String = text.chars().filter(|c| *c != '-').map(|c| c.to_ascii_lowercase()).collect();
        if id.len() == 32 && id.bytes().all(|b| b.is_ascii_hexdigit()) {
            Ok(Self(id.into()))
        } else {
            Err(JobIdError(text.to_owned()))
        }
    }

    /// Whether a directory of this name is a run directory as Flink makes them: exactly 32 lower-case hex digits.
    pub fn is_directory_name(name: &str) -> bool {
        name.len() == 32 && name.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    }

    /// Whether several applications may carry this id: all zeros (Flink 1.13 application mode with HA) or ending in
    /// sixteen zeros (derived from a cluster id, `ApplicationDispatcherBootstrap`).
    pub fn is_shared(&self) -> bool {
        self.0.ends_with("0000000000000000")
    }

    /// The 32 digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for JobId {
    type Error = JobIdError;

    fn try_from(text: String) -> Result<Self, JobIdError> {
        Self::parse(&text)
    }
}

impl From<JobId> for String {
    fn from(id: JobId) -> Self {
        id.0.into()
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A Flink job state as REST names it (`JobStatus`, the same enum from 1.13 to 2.3).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(from = "String", into = "String")]
#[schemars(with = "String")]
pub enum JobState {
    /// Starting; hides what it restores from.
    Initializing,
    /// Starting; hides what it restores from.
    Created,
    /// Running.
    Running,
    /// Ended with success: globally terminal.
    Finished,
    /// Ended by a person: globally terminal.
    Canceled,
    /// Ended by an error: globally terminal.
    Failed,
    /// Alive or only locally terminal: FAILING, CANCELLING, RESTARTING, RECONCILING, SUSPENDED, and every name this
    /// program does not know.
    Other(String),
}

impl JobState {
    /// Whether the job is seen to be over for good. An allow-list: unknown names are alive.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Finished | Self::Canceled | Self::Failed)
    }

    /// Whether the job is still starting, so that REST does not show its restore path yet.
    pub fn is_starting(&self) -> bool {
        matches!(self, Self::Initializing | Self::Created)
    }
}

impl From<String> for JobState {
    fn from(name: String) -> Self {
        match name.as_str() {
            "INITIALIZING" => Self::Initializing,
            "CREATED" => Self::Created,
            "RUNNING" => Self::Running,
            "FINISHED" => Self::Finished,
            "CANCELED" => Self::Canceled,
            "FAILED" => Self::Failed,
            _ => Self::Other(name),
        }
    }
}

impl From<JobState> for String {
    fn from(state: JobState) -> Self {
        state.to_string()
    }
}

impl fmt::Display for JobState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Initializing => "INITIALIZING",
            Self::Created => "CREATED",
            Self::Running => "RUNNING",
            Self::Finished => "FINISHED",
            Self::Canceled => "CANCELED",
            Self::Failed => "FAILED",
            Self::Other(name) => name,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_spelling_of_an_id_is_one_id() {
        let id = JobId::parse("49B59262-51bf-c0e5-166a-1c407ccd1050").expect("an id");
        assert_eq!(id.as_str(), "49b5926251bfc0e5166a1c407ccd1050");
        assert!(JobId::parse("49b5").is_err());
    }

    #[test]
    fn derived_and_zero_ids_are_shared() {
        assert!(JobId::parse("00000000000000000000000000000000").expect("an id").is_shared());
        assert!(JobId::parse("000000004f1c2d3e0000000000000000").expect("an id").is_shared());
        assert!(!JobId::parse("49b5926251bfc0e5166a1c407ccd1050").expect("an id").is_shared());
    }

    #[test]
    fn unknown_states_are_alive() {
        assert!(!JobState::from("SOMETHING_NEW".to_owned()).is_terminal());
        assert!(!JobState::from("SUSPENDED".to_owned()).is_terminal());
        assert!(JobState::from("CANCELED".to_owned()).is_terminal());
    }
}
