//! The writing port. Named by `apply` and the wiring alone, so that no caller can write by accident.

use async_trait::async_trait;

use crate::plan::RecordTarget;

/// What came back from one delete call. Never the outcome: that is what the views show afterwards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeleteAnswer {
    /// Code 0.
    Success,
    /// Code 20004: there is no such record (any more).
    NoSuchRecord,
    /// The server says that it will not: 20013, 20014, 20018, 30001, 1400001, 10010, 10017, 10181. Nothing was done.
    Refused {
        /// Code and meaning.
        why: String,
    },
    /// The credentials were not accepted (401): nothing was done, and nothing more will be.
    NotAuthorized {
        /// What came back.
        why: String,
    },
    /// Anything else: an error code such as 10058, a null code, HTML, 5xx, a cut or missing answer. It may have been done.
    Unclear {
        /// What came back.
        why: String,
    },
}

/// Deletes records of the resource center through the official API of that version. One record a call; never repeated.
#[async_trait]
pub trait ResourceWrite: Send + Sync {
    /// Calls the delete of one record, once.
    async fn delete_record(&self, target: &RecordTarget) -> DeleteAnswer;
}
