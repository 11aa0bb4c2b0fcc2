//! Lists in pages, believed only if the pages agree with one another.
//!
//! The server takes no snapshot: each page is a new query, ordered by a time that changes (`update_time desc`), or a new
//! listing of the storage. A list is whole if all pages name the same total and hold exactly that many different
//! entries; else it is read again from the first page, a few times.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::envelope::{Api, Failure, Question};
use crate::views::{Cause, Gap, ViewName};

/// Times a list that changes under the hand is read from its first page.
const MAX_PASSES: usize = 3;

/// `PageInfo` (2.0 and later). `totalList` is null for "nothing visible".
#[derive(Deserialize)]
struct Page<T> {
    total: u64,
    #[serde(rename = "totalList")]
    entries: Option<Vec<T>>,
}

/// Why a list is not whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trouble {
    /// A page was not answered.
    Failed {
        /// What was asked for.
        what: String,
        /// What came back.
        failure: Failure,
    },
    /// A page is short, but the total is not reached: a filter cannot be told from a truncation.
    CutShort {
        /// What was asked for.
        what: String,
        /// How the numbers differ.
        how: String,
    },
    /// The pages disagree in every pass.
    Shifting {
        /// What was asked for.
        what: String,
        /// How they disagreed last.
        how: String,
    },
}

impl Trouble {
    /// The gap this leaves in a view.
    pub(super) fn gap(&self, view: ViewName) -> Gap {
        match self {
            Self::Failed { what, failure } => failure.gap(view, what),
            Self::CutShort { what, how } => Gap::incomplete(
                view,
                Cause::CutShort,
                format!("cannot read {what} to the end: {how}; run again, then look into the log of the API server"),
            ),
            Self::Shifting { what, how } => Gap {
                cause: Cause::Shifting,
                ..Gap::contradiction(
                    view,
                    format!(
                        "the pages of {what} contradict each other in {MAX_PASSES} passes: {how}; run again when nobody writes"
                    ),
                )
            },
        }
    }

    /// Whether the server said that what was listed does not exist.
    pub(super) fn has_code(&self, code: i64) -> bool {
        matches!(self, Self::Failed { failure, .. } if failure.has_code(code))
    }
}

/// What came of a list: the entries of the last pass, and why they are not all.
#[derive(Debug)]
pub(super) struct Listed<T> {
    /// Entries.
    pub(super) entries: Vec<T>,
    /// `None`: the list is whole.
    pub(super) trouble: Option<Trouble>,
}

enum Pass<T> {
    Whole(Vec<T>),
    Ended(Vec<T>, Trouble),
    Shifted(Vec<T>, String),
}

/// All entries of a list; `key` tells them apart.
pub(super) async fn list_all<T, K>(api: &Api, question: &Question, size: u32, key: fn(&T) -> K) -> Listed<T>
where
    T: DeserializeOwned,
    K: Ord,
{
    let mut last = (Vec::new(), String::new());
    for _ in 0..MAX_PASSES {
        match read_once(api, question, size, key).await {
            Pass::Whole(entries) => return Listed { entries, trouble: None },
            Pass::Ended(entries, trouble) => return Listed { entries, trouble: Some(trouble) },
            Pass::Shifted(entries, how) => last = (entries, how),
        }
    }
    let trouble = Trouble::Shifting { what: question.what().to_owned(), how: last.1 };
    Listed { entries: last.0, trouble: Some(trouble) }
}

async fn read_once<T, K>(api: &Api, question: &Question, size: u32, key: fn(&T) -> K) -> Pass<T>
where
    T: DeserializeOwned,
    K: Ord,
{
    let mut entries = Vec::new();
    let mut seen = BTreeSet::new();
    let mut total = None;
    for number in 1.. {
        let asked = question.page(number, size);
        let page: Page<T> = match api.ask(&asked).await {
            Ok(page) => page,
            Err(failure) => return Pass::Ended(entries, Trouble::Failed { what: asked.what().to_owned(), failure }),
        };
        let first = *total.get_or_insert(page.total);
        let page_entries = page.entries.unwrap_or_default();
        let count = page_entries.len();
        let unique = page_entries.iter().all(|entry| seen.insert(key(entry)));
        entries.extend(page_entries);
        if page.total != first {
            return Pass::Shifted(
                entries,
                format!("page 1 says {first} entries in all, page {number} says {}", page.total),
            );
        }
        if !unique {
            return Pass::Shifted(entries, format!("page {number} repeats an entry"));
        }
        match progress(&entries, first, count, size) {
            Progress::More => {}
            Progress::Whole => return Pass::Whole(entries),
            Progress::TooMany => {
                let how = format!("{first} entries in all, but {} on pages 1 to {number}", entries.len());
                return Pass::Shifted(entries, how);
            }
            Progress::CutShort => {
                let how = format!("page {number} holds {count} of {size} entries, {} of {first} in all", entries.len());
                return Pass::Ended(entries, Trouble::CutShort { what: asked.what().to_owned(), how });
            }
        }
    }
    Pass::Whole(entries)
}

enum Progress {
    More,
    Whole,
    TooMany,
    CutShort,
}

/// Where a pass stands. A full last page is not the end yet: if the total is too low, the next page shows it.
fn progress<T>(entries: &[T], total: u64, on_page: usize, size: u32) -> Progress {
    let is_full = on_page >= size as usize;
    match (entries.len() as u64).cmp(&total) {
        Ordering::Greater => Progress::TooMany,
        Ordering::Equal | Ordering::Less if is_full => Progress::More,
        Ordering::Equal => Progress::Whole,
        Ordering::Less => Progress::CutShort,
    }
}

/// The entries of a list whose total counts something else than its entries: the task list counts the rows of a join
/// and merges them (3.1.9 `TaskDefinitionServiceImpl`). Only the number of pages is to be had from it.
pub(super) async fn list_loosely<T: DeserializeOwned>(api: &Api, question: &Question, size: u32) -> Listed<T> {
    let mut entries = Vec::new();
    let mut pages = 1;
    let mut number = 1;
    while number <= pages {
        let asked = question.page(number, size);
        match api.ask::<Page<T>>(&asked).await {
            Ok(page) => {
                pages = u32::try_from(page.total.div_ceil(u64::from(size.max(1)))).unwrap_or(u32::MAX);
                let page_entries = page.entries.unwrap_or_default();
                if page_entries.is_empty() && number <= pages {
                    let how = format!("page {number} of {pages} is empty");
                    return Listed { entries, trouble: Some(Trouble::CutShort { what: asked.what().to_owned(), how }) };
                }
                entries.extend(page_entries);
            }
            Err(failure) => {
                return Listed { entries, trouble: Some(Trouble::Failed { what: asked.what().to_owned(), failure }) };
            }
        }
        number += 1;
    }
    Listed { entries, trouble: None }
}
