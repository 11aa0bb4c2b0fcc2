//! Pages put together to one listing, each checked to bring something new.

use std::collections::BTreeMap;

use super::question::{Class, Failure, Question};
use super::wire::{Owners, Page};
use crate::domain::Status;
use crate::ports::read::ListAnswer;
use crate::views::Listing;
use crate::views::hdfs::Entry;

/// The most children a NameNode can be told to allow a directory (`dfs.namenode.fs-limits.max-directory-items`, bounded by
/// `FSDirectory`). A server that goes on beyond it is making names up.
const MAX_ENTRIES: usize = 6_400_000;

/// What has come of a directory so far.
#[derive(Default)]
pub(super) struct Collected {
    entries: BTreeMap<Box<str>, Status>,
    last: Option<Box<str>>,
    node: Option<usize>,
}

impl Collected {
    /// Where the next page begins.
    pub(super) fn start_after(&self) -> Option<&str> {
        self.last.as_deref()
    }

    /// Whether a page of `node` fits to the ones before. Pages of two NameNodes are never mixed.
    pub(super) fn fits(&mut self, node: usize) -> bool {
        *self.node.get_or_insert(node) == node
    }

    /// Adds a page; `Some` is the end of the listing.
    pub(super) fn add(&mut self, page: &Page<'_>, question: &Question<'_>, owners: &Owners) -> Option<ListAnswer> {
        if let ([only], true) = (page.entries.as_slice(), self.entries.is_empty())
            && only.is_file_itself()
        {
            return Some(ListAnswer::NotADirectory);
        }
        match self.try_add(page, owners) {
            Ok(()) if page.remaining == 0 => Some(ListAnswer::Listed(self.take(true), None)),
            Ok(()) => None,
            Err(failure) => Some(self.stop(failure, question)),
        }
    }

    /// Ends the listing with what came before the failure, if anything did.
    pub(super) fn stop(&mut self, failure: Failure, question: &Question<'_>) -> ListAnswer {
        match failure.class {
            Class::NotFound if self.node.is_none() => ListAnswer::Absent,
            Class::NotFound => {
                let came_back = format!("the directory went away while it was listed ({})", failure.came_back);
                self.stop(Failure::new(Class::Shifting, came_back), question)
            }
            _ if self.entries.is_empty() => ListAnswer::Unread(failure.into_gap(question)),
            _ => ListAnswer::Listed(self.take(false), Some(failure.into_gap(question))),
        }
    }

    fn try_add(&mut self, page: &Page<'_>, owners: &Owners) -> Result<(), Failure> {
        self.check_advance(page)?;
        for entry in &page.entries {
            let name = check_name(&entry.path_suffix)?;
            let status = entry.to_status(owners)?;
            self.entries.insert(name.into(), status);
        }
        if self.entries.len() > MAX_ENTRIES {
            return Err(Failure::new(Class::NotUnderstood, format!("more than {MAX_ENTRIES} entries")));
        }
        self.last = page.entries.last().map(|entry| (*entry.path_suffix).into());
        Ok(())
    }

    /// A page that brings nothing new would be asked for again and again.
    fn check_advance(&self, page: &Page<'_>) -> Result<(), Failure> {
        let (Some(first), Some(last)) = (page.entries.first(), page.entries.last()) else {
            return if page.remaining == 0 {
                Ok(())
            } else {
                Err(Failure::new(Class::NotUnderstood, format!("an empty page with {} to come", page.remaining)))
            };
        };
        if [first, last].iter().any(|entry| self.entries.contains_key(&*entry.path_suffix)) {
            return Err(Failure::new(Class::Shifting, "a page repeats names of the pages before"));
        }
        Ok(())
    }

    fn take(&mut self, complete: bool) -> Listing {
        let entries = std::mem::take(&mut self.entries);
        Listing { entries: entries.into_iter().map(|(name, status)| Entry { name, status }).collect(), complete }
    }
}

/// A name that can stand in a path. Anything else would lead a walker out of the directory.
fn check_name(name: &str) -> Result<&str, Failure> {
    if name.is_empty() || name == "." || name == ".." || name.contains(['/', '\0']) {
        let shown = super::question::first_line(name);
        return Err(Failure::new(Class::NotUnderstood, format!("an entry is named `{shown}`, which no entry can be")));
    }
    Ok(name)
}
