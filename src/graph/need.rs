//! One name in a `_metadata`, and where it leads.

use crate::domain::{Existence, FileSystems, HdfsPath, HdfsUri, Place, UriError};
use crate::views::Inventory;
use crate::views::hdfs::Look;
use crate::views::state::NamedFile;

/// Whether a named file is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// It is there.
    Present,
    /// It is there and shorter than what a restore reads of it.
    Short,
    /// It is proven absent.
    Absent,
    /// Not read, refused, failed, or under an authority that nobody declared.
    Unknown,
}

/// A file or directory that a restore point needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// As written.
    pub name: String,
    /// Where it leads; `None` if the name is no path that can be followed.
    pub path: Option<HdfsPath>,
    /// Whether that is in the file system that is read for sure; else possibly.
    pub is_here: bool,
    /// Whether the name is relative to the restore point's own directory.
    pub relative: bool,
    /// Whether it is a directory of which everything is needed.
    pub directory: bool,
    /// Whether it is there.
    pub standing: Standing,
}

impl Need {
    /// The last component: names of state files are random, so the same one elsewhere is the same file or a copy.
    pub fn bare_name(&self) -> &str {
        self.name.rsplit('/').find(|part| !part.is_empty()).unwrap_or(&self.name)
    }
}

/// Follows names in one inventory.
pub(super) struct Looker<'a> {
    pub(super) inventory: &'a Inventory,
    pub(super) file_systems: &'a FileSystems,
}

impl Looker<'_> {
    /// A file named by the restore point in `directory`; `None` if it lies in another kind of file system or another cluster.
    pub(super) fn file(&self, directory: &HdfsPath, file: &NamedFile) -> Option<Need> {
        if file.relative {
            let inside = crate::flink_metadata::resolve(directory.as_str(), &file.path);
            let path = inside.and_then(|text| HdfsPath::parse(&text).ok());
            let standing = path.as_ref().map_or(Standing::Unknown, |path| self.standing(path, file.size));
            let is_here = path.is_some();
            return Some(Need { name: file.path.clone(), path, is_here, relative: true, directory: false, standing });
        }
        self.absolute(&file.path, false, file.size)
    }

    /// A directory of merged files; an empty name means none.
    pub(super) fn directory(&self, name: &str) -> Option<Need> {
        if name.is_empty() { None } else { self.absolute(name, true, None) }
    }

    fn absolute(&self, name: &str, directory: bool, size: Option<u64>) -> Option<Need> {
        let unknown = Need {
            name: name.to_owned(),
            path: None,
            is_here: false,
            relative: false,
            directory,
            standing: Standing::Unknown,
        };
        let place = match HdfsUri::parse(name) {
            Ok(uri) => self.file_systems.resolve(&uri),
            Err(UriError::OtherFileSystem(_)) => return None,
            Err(UriError::Path(_) | UriError::Authority(_)) => return Some(unknown),
        };
        match place {
            Place::Here(path) => {
                let standing = self.standing(&path, size);
                Some(Need { path: Some(path), is_here: true, standing, ..unknown })
            }
            Place::Elsewhere(..) => None,
            Place::Unresolved(_, path) => Some(Need { path: Some(path), ..unknown }),
        }
    }

    /// A longer file than named is fine: merged and changelog files hold more than one handle names.
    fn standing(&self, path: &HdfsPath, size: Option<u64>) -> Standing {
        let hdfs = &self.inventory.hdfs;
        match hdfs.look(path) {
            Look::Present(status) if size.is_some_and(|size| status.length < size) => Standing::Short,
            Look::Present(_) => Standing::Present,
            Look::Absent if hdfs.is_proven_absent(path) => Standing::Absent,
            // The answer of the NameNode itself; the listing around it was not read, which a single file does not need.
            Look::Absent if hdfs.answers.get(path) == Some(&Existence::Absent) => Standing::Absent,
            _ => Standing::Unknown,
        }
    }
}
