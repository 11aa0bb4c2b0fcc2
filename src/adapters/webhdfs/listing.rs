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

/// What to do after a page.
pub(super) enum Step {
    /// Ask for the next page.
    More,
    /// This is the answer.
    End(ListAnswer),
    /// Pages cannot be trusted here: list the directory in one answer.
    Whole,
}

/// What has come of a directory so far.
#[derive(Default)]
pub(super) struct Collected {
    entries: BTreeMap<Box<str>, Status>,
    last: Option<Box<str>>,
    /// Entries to come, by the page before.
    promised: u64,
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

    /// Adds a page.
    pub(super) fn add(&mut self, page: &Page<'_>, question: &Question<'_>, owners: &Owners) -> Step {
        if let ([only], true) = (page.entries.as_slice(), self.entries.is_empty())
            && only.is_file_itself()
        {
            return Step::End(ListAnswer::NotADirectory);
        }
        let promised = std::mem::replace(&mut self.promised, page.remaining);
        match self.try_add(page, owners) {
            Err(failure) => Step::End(self.stop(failure, question)),
            Ok(()) if falls_short(page, promised) => Step::Whole,
            Ok(()) if page.remaining == 0 => Step::End(ListAnswer::Listed(self.take(true), None)),
            Ok(()) if self.last.as_deref().is_some_and(is_decoded_twice) => Step::Whole,
            Ok(()) => Step::More,
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

/// Whether entries are missing that the page before announced. They may have been deleted meanwhile, or the server may have
/// begun behind the name it was given; only a listing in one answer tells. HttpFS announces 1 for any number.
fn falls_short(page: &Page<'_>, promised: u64) -> bool {
    let told = u64::try_from(page.entries.len()).unwrap_or(u64::MAX).saturating_add(page.remaining);
    told < promised
}

/// Whether a NameNode misunderstands this name as `startAfter`: that of Hadoop 3.4.1 decodes the parameter twice, so after
/// `a%7E` it goes on behind `a~` and passes over all between. Encoding twice would do the same to servers that decode once.
fn is_decoded_twice(name: &str) -> bool {
    name.contains('%')
}

/// A name that can stand in a path. Anything else would lead a walker out of the directory.
fn check_name(name: &str) -> Result<&str, Failure> {
    if name.is_empty() || name == "." || name == ".." || name.contains(['/', '\0']) {
        let shown = super::question::first_line(name);
        return Err(Failure::new(Class::NotUnderstood, format!("an entry is named `{shown}`, which no entry can be")));
    }
    Ok(name)
}
