//! What HDFS holds, as far as it was read.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::gap::Gap;
use crate::domain::{Existence, HdfsPath, Status};

/// One entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Entry {
    /// Name within the directory, bytes as HDFS has them.
    pub name: Box<str>,
    /// Kind, length, times.
    #[serde(flatten)]
    pub status: Status,
}

/// The entries of one directory.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Listing {
    /// Sorted by name (bytes). Names are unique.
    pub entries: Vec<Entry>,
    /// Whether the server said that this is all (`remainingEntries` reached 0).
    pub complete: bool,
}

impl Listing {
    /// The entry of this name.
    pub fn find(&self, name: &str) -> Option<&Entry> {
        self.entries.binary_search_by(|entry| (*entry.name).cmp(name)).ok().map(|at| &self.entries[at])
    }
}

/// Totals of a subtree (`GETCONTENTSUMMARY`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ContentSummary {
    /// Bytes of all files, without replication.
    pub length: u64,
    /// Number of files.
    pub files: u64,
    /// Number of directories, the top one included.
    pub directories: u64,
}

/// One comparison of the server's clock with ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ClockReading {
    /// The `Date` header of an answer; whole seconds.
    #[schemars(with = "String")]
    pub server: Timestamp,
    /// Our clock when the answer arrived.
    #[schemars(with = "String")]
    pub local: Timestamp,
}

/// What was seen of the Trashes of all accounts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TrashView {
    /// Whether every Trash that was found could be looked into.
    #[serde(default)]
    pub readable: bool,
    /// `Current` and the emptier's checkpoints of every account: `/user/<name>/.Trash/<checkpoint>`.
    #[serde(default)]
    pub checkpoints: Vec<HdfsPath>,
    /// Copies of paths that look absent, by the path they were moved from.
    #[serde(default)]
    pub copies: BTreeMap<HdfsPath, HdfsPath>,
}

/// What HDFS holds, as far as it was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct HdfsView {
    /// The account that looked; others may see more or less.
    #[serde(default)]
    pub user: Option<String>,
    /// Directories that were listed.
    #[serde(default)]
    pub listings: BTreeMap<HdfsPath, Listing>,
    /// Paths that were asked for one by one, after the listing.
    #[serde(default)]
    pub answers: BTreeMap<HdfsPath, Existence>,
    /// Sizes of directories that were not walked.
    #[serde(default)]
    pub summaries: BTreeMap<HdfsPath, ContentSummary>,
    /// Trash directories, and which of the asked paths have a copy in one.
    #[serde(default)]
    pub trash: TrashView,
    /// The NameNode's clock against ours.
    #[serde(default)]
    pub clock: Option<ClockReading>,
    /// What could not be read.
    #[serde(default)]
    pub gaps: Vec<Gap>,
}

/// What the view says of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look<'a> {
    /// It is there.
    Present(&'a Status),
    /// The NameNode said not-found for this path or for an ancestor of it.
    Absent,
    /// Not in the complete listing of its parent, or below something that is not; nobody has asked for the path itself.
    NotListed,
    /// Refused.
    Denied(&'a str),
    /// Asked, and no usable answer came.
    Unknown(&'a str),
    /// Outside what was read.
    NotRead,
}

impl HdfsView {
    /// What this view says of `path`. A direct answer goes before a listing, an ancestor's absence covers everything below.
    pub fn look(&self, path: &HdfsPath) -> Look<'_> {
        self.look_str(path.as_str())
    }

    fn look_str(&self, path: &str) -> Look<'_> {
        match self.answers.get(path) {
            Some(Existence::Present(status)) => return Look::Present(status),
            Some(Existence::Absent) => return Look::Absent,
            Some(Existence::Denied { why }) => return Look::Denied(why),
            Some(Existence::Unknown { why }) => return Look::Unknown(why),
            None => {}
        }
        let Some((parent, name)) = split(path) else { return Look::NotRead };
        if let Some(listing) = self.listings.get(parent) {
            return match listing.find(name) {
                Some(entry) => Look::Present(&entry.status),
                None if listing.complete => Look::NotListed,
                None => Look::Unknown("its directory was not listed to the end"),
            };
        }
        match self.look_str(parent) {
            Look::Absent => Look::Absent,
            Look::NotListed => Look::NotListed,
            Look::Denied(why) => Look::Denied(why),
            Look::Unknown(why) => Look::Unknown(why),
            // Below a file there is nothing, but only the NameNode may say so.
            Look::Present(_) | Look::NotRead => Look::NotRead,
        }
    }

    /// Whether the absence of `path` is proven: the NameNode's own not-found for it or an ancestor, under a nearest existing
    /// ancestor that was listed completely and does not hold the missing name.
    pub fn is_proven_absent(&self, path: &HdfsPath) -> bool {
        self.look(path) == Look::Absent
            && self.nearest_listed(path).is_some_and(|(_, listing, missing)| {
                listing.complete
                    && listing.find(missing).is_none_or(|e| e.status.kind == crate::domain::EntryKind::File)
            })
    }

    /// The nearest ancestor that was listed, its listing, and the name below it on the way to `path`.
    fn nearest_listed<'a>(&'a self, path: &'a HdfsPath) -> Option<(&'a HdfsPath, &'a Listing, &'a str)> {
        path.ancestors().skip(1).find_map(|ancestor| {
            let (key, listing) = self.listings.get_key_value(ancestor)?;
            let rest = path.relative_to(key)?;
            Some((key, listing, rest.split('/').next().unwrap_or(rest)))
        })
    }

    /// The topmost ancestor-or-self of `path` that a complete listing does not show: the one path to ask the NameNode about.
    /// `None` if the path is present, unread, or already answered.
    pub fn topmost_not_listed(&self, path: &HdfsPath) -> Option<HdfsPath> {
        if self.look(path) != Look::NotListed {
            return None;
        }
        let (ancestor, _, missing) = self.nearest_listed(path)?;
        Some(ancestor.join(missing))
    }

    /// The copy in a Trash of a path or of the nearest ancestor that was moved there with it.
    pub fn trash_copy(&self, path: &HdfsPath) -> Option<&HdfsPath> {
        path.ancestors().find_map(|at| self.trash.copies.get(at))
    }

    /// All listed directories at or below `root`, in order.
    pub fn listings_below<'a>(
        &'a self,
        root: &HdfsPath,
    ) -> impl Iterator<Item = (&'a HdfsPath, &'a Listing)> + use<'a> {
        crate::domain::path::at_or_below(&self.listings, root)
    }
}

fn split(path: &str) -> Option<(&str, &str)> {
    match path.rfind('/') {
        Some(0) if path.len() > 1 => Some(("/", &path[1..])),
        Some(at) if at > 0 => Some((&path[..at], &path[at + 1..])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::EntryKind;

    fn path(text: &str) -> HdfsPath {
        HdfsPath::parse(text).expect("test path")
    }

    fn status(kind: EntryKind) -> Status {
        Status {
            kind,
            length: 1,
            modified: Timestamp::UNIX_EPOCH,
            owner: "hdfs".into(),
            file_id: 1,
            snapshottable: false,
        }
    }

    fn view() -> HdfsView {
        let entries = vec![
            Entry { name: "a".into(), status: status(EntryKind::Directory) },
            Entry { name: "f".into(), status: status(EntryKind::File) },
        ];
        HdfsView {
            listings: BTreeMap::from([
                (path("/r"), Listing { entries, complete: true }),
                (path("/r/a"), Listing { entries: vec![], complete: false }),
            ]),
            ..HdfsView::default()
        }
    }

    #[test]
    fn a_listing_alone_never_proves_absence() {
        let mut view = view();
        let gone = path("/r/gone/deep/x");
        assert_eq!(view.look(&gone), Look::NotListed);
        assert!(!view.is_proven_absent(&gone));
        assert_eq!(view.topmost_not_listed(&gone), Some(path("/r/gone")));
        view.answers.insert(path("/r/gone"), Existence::Absent);
        assert_eq!(view.look(&gone), Look::Absent);
        assert!(view.is_proven_absent(&gone));
    }

    #[test]
    fn an_unfinished_listing_says_unknown() {
        let mut view = view();
        assert!(matches!(view.look(&path("/r/a/x")), Look::Unknown(_)));
        view.answers.insert(path("/r/a/x"), Existence::Absent);
        assert!(!view.is_proven_absent(&path("/r/a/x")), "its parent was not listed to the end");
    }

    #[test]
    fn what_was_not_read_is_not_absent() {
        assert_eq!(view().look(&path("/other/x")), Look::NotRead);
        assert_eq!(view().look(&path("/r/f/x")), Look::NotRead);
    }
}
