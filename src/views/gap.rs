//! What could not be read, and why.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::domain::HdfsPath;

/// One of the views, by the name reports use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
pub enum ViewName {
    /// The Flink clusters.
    #[serde(rename = "flink")]
    Flink,
    /// The file system.
    #[serde(rename = "hdfs")]
    Hdfs,
    /// The resource records or the storage listing of DolphinScheduler.
    #[serde(rename = "dolphinscheduler")]
    Resources,
    /// The workflow and task definitions of DolphinScheduler.
    #[serde(rename = "dolphinscheduler-workflows")]
    Workflows,
}

impl fmt::Display for ViewName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Flink => "flink",
            Self::Hdfs => "hdfs",
            Self::Resources => "dolphinscheduler",
            Self::Workflows => "dolphinscheduler-workflows",
        })
    }
}

/// How a view falls short.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GapKind {
    /// An answer is missing, denied, failed, or admits to be short.
    Incomplete,
    /// An answer that claims to be whole disagrees with another one.
    Contradiction,
    /// The server keeps its resources in no HDFS.
    UnsupportedStorage,
}

/// Why an answer could not be used. The class, for machines; the words are in [`Gap::detail`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// No connection, or it broke before the answer began.
    Unreachable,
    /// No answer within the deadline.
    TimedOut,
    /// Credentials missing, wrong, expired, or without the right that is needed.
    NotAuthorized,
    /// The server slowed us down (429) for longer than the deadline.
    Throttled,
    /// The server said that it cannot answer (5xx, an error code, a typed exception).
    ServerError,
    /// The answer is not what the API gives: HTML, a redirect, a wrong shape.
    NotUnderstood,
    /// The answer broke off, or the pages end before the total they name.
    CutShort,
    /// The entries changed while they were read, again and again.
    Shifting,
    /// Two answers disagree.
    Disagreement,
    /// A NameNode that is not active answered, and no active one was found.
    Standby,
    /// The cluster has just started, or lists fewer jobs than it must have.
    TooYoung,
    /// The account sees only a part by design.
    PartialRights,
    /// A version or feature this build does not read.
    Unsupported,
    /// The configuration does not say what is needed.
    NotConfigured,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unreachable => "unreachable",
            Self::TimedOut => "timed out",
            Self::NotAuthorized => "not authorized",
            Self::Throttled => "throttled",
            Self::ServerError => "server error",
            Self::NotUnderstood => "answer not understood",
            Self::CutShort => "cut short",
            Self::Shifting => "changing while read",
            Self::Disagreement => "answers disagree",
            Self::Standby => "standby NameNode",
            Self::TooYoung => "just started",
            Self::PartialRights => "partial rights",
            Self::Unsupported => "not supported",
            Self::NotConfigured => "not configured",
        })
    }
}

/// A part of a view that could not be read or cannot be believed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Gap {
    /// The view that falls short.
    pub view: ViewName,
    /// How.
    pub kind: GapKind,
    /// The cluster, for a gap of the Flink view that is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// The topmost path that is affected, for a gap about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<HdfsPath>,
    /// Only the inside of one run directory is unread.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inside_run: bool,
    /// Why, as a class.
    pub cause: Cause,
    /// What was asked, what came back, what to do next: one line, without secrets.
    pub detail: String,
}

impl Gap {
    /// A view that is incomplete as a whole.
    pub fn incomplete(view: ViewName, cause: Cause, detail: impl Into<String>) -> Self {
        Self {
            view,
            kind: GapKind::Incomplete,
            cluster: None,
            path: None,
            inside_run: false,
            cause,
            detail: detail.into(),
        }
    }

    /// A view that contradicts itself or another one.
    pub fn contradiction(view: ViewName, detail: impl Into<String>) -> Self {
        Self { kind: GapKind::Contradiction, ..Self::incomplete(view, Cause::Disagreement, detail) }
    }

    /// The same gap, about one cluster.
    #[must_use]
    pub fn of_cluster(mut self, name: &str) -> Self {
        self.cluster = Some(name.to_owned());
        self
    }

    /// The same gap, about one path and everything below it.
    #[must_use]
    pub fn at(mut self, path: &HdfsPath) -> Self {
        self.path = Some(path.clone());
        self
    }
}
