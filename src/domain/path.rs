//! Absolute HDFS paths, compared byte by byte and component by component.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;

use serde::{Deserialize, Serialize};

/// An absolute, normalised HDFS path without scheme and authority.
///
/// Invariants: starts with `/`; no empty, `.` or `..` component; no trailing slash (the root is `/`). Everything else is
/// data: `%`, `+`, `:`, spaces and control characters are part of a name and are never decoded (Hadoop `Path` does not
/// decode either). Two paths are the same entry only if their bytes are equal; Unicode forms are not folded.
///
/// Ordered by bytes, so that all paths below `/a/b` lie together, right behind `/a/b/`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HdfsPath(Box<str>);

/// Why a text is no [`HdfsPath`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// The text does not begin with `/`.
    #[error("`{}` is not an absolute path; it must begin with `/`", crate::domain::text::printable(.0))]
    Relative(String),
    /// A `.` or `..` component: HDFS resolves these in some calls and not in others, so none is ever sent.
    #[error("`{}` holds a `.` or `..` component", crate::domain::text::printable(.0))]
    DotComponent(String),
    /// A NUL character, which no HDFS name holds.
    #[error("`{}` holds a NUL character", crate::domain::text::printable(.0))]
    Nul(String),
}

impl HdfsPath {
    /// The root directory.
    pub fn root() -> Self {
        Self("/".into())
    }

    /// Parses an absolute path; doubled and trailing slashes are dropped, as Hadoop's `Path` does.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        Self::try_from(text.to_owned())
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is `/`.
    pub fn is_root(&self) -> bool {
        &*self.0 == "/"
    }

    /// The components from the root down; none for the root.
    pub fn components(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/').filter(|part| !part.is_empty())
    }

    /// Number of components; 0 for the root.
    pub fn depth(&self) -> usize {
        if self.is_root() { 0 } else { self.0.bytes().filter(|b| *b == b'/').count() }
    }

    /// The last component, or `None` for the root.
    pub fn name(&self) -> Option<&str> {
        if self.is_root() { None } else { self.0.rsplit('/').next() }
    }

    /// The directory of a restore point, which Flink takes by its `_metadata` as well.
    #[must_use]
    pub fn restore_point(&self) -> Self {
        let above = self.parent().filter(|_| self.name() == Some("_metadata"));
        above.unwrap_or_else(|| self.clone())
    }

    /// The parent directory, or `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        self.parent_str().map(|text| Self(text.into()))
    }

    /// The parent directory as text, or `None` for the root; allocates nothing.
    pub fn parent_str(&self) -> Option<&str> {
        if self.is_root() {
            return None;
        }
        match self.0.rfind('/') {
            Some(0) | None => Some("/"),
            Some(at) => Some(&self.0[..at]),
        }
    }

    /// This path and its ancestors, the path itself first and `/` last, as text.
    pub fn ancestors(&self) -> impl Iterator<Item = &str> {
        let text: &str = &self.0;
        let mut end = Some(text.len());
        std::iter::from_fn(move || {
            let at = end?;
            let here = if at == 0 { "/" } else { &text[..at] };
            end = if at <= 1 { None } else { text[..at].rfind('/').map(|cut| if cut == 0 { 1 } else { cut }) };
            if here == "/" {
                end = None;
            }
            Some(here)
        })
    }

    /// The entry `name` in this directory.
    ///
    /// # Panics
    /// Never for a name that came from a listing; `name` must hold no `/` and be neither empty nor `.` or `..`.
    #[must_use]
    pub fn join(&self, name: &str) -> Self {
        debug_assert!(!name.is_empty() && !name.contains('/') && name != "." && name != "..");
        if self.is_root() { Self(format!("/{name}").into()) } else { Self(format!("{}/{name}", self.0).into()) }
    }

    /// Joins a relative path of several components; refuses what [`HdfsPath::parse`] refuses.
    pub fn join_relative(&self, relative: &str) -> Result<Self, PathError> {
        let mut text = String::with_capacity(self.0.len() + 1 + relative.len());
        text.push_str(&self.0);
        text.push('/');
        text.push_str(relative);
        Self::try_from(text)
    }

    /// Whether this path lies strictly below `ancestor`, by whole components: `/a/b2` is not below `/a/b`.
    pub fn is_below(&self, ancestor: &Self) -> bool {
        if ancestor.is_root() {
            return !self.is_root();
        }
        self.0.len() > ancestor.0.len()
            && self.0.starts_with(&*ancestor.0)
            && self.0.as_bytes()[ancestor.0.len()] == b'/'
    }

    /// Whether this path is `other` or lies below it.
    pub fn is_at_or_below(&self, other: &Self) -> bool {
        self == other || self.is_below(other)
    }

    /// The ancestor of this path that lies `depth` components below `root`, if the path is that deep.
    pub fn ancestor_below(&self, root: &Self, depth: usize) -> Option<Self> {
        if !self.is_at_or_below(root) {
            return None;
        }
        let wanted = root.depth() + depth;
        if self.depth() < wanted {
            return None;
        }
        let mut out = String::new();
        for part in self.components().take(wanted) {
            out.push('/');
            out.push_str(part);
        }
        Some(if out.is_empty() { Self::root() } else { Self(out.into()) })
    }

    /// The text after `ancestor` and its slash; empty for the path itself, `None` outside.
    pub fn relative_to(&self, ancestor: &Self) -> Option<&str> {
        if self == ancestor {
            return Some("");
        }
        if !self.is_below(ancestor) {
            return None;
        }
        Some(if ancestor.is_root() { &self.0[1..] } else { &self.0[ancestor.0.len() + 1..] })
    }
}

/// The entries of a map at or below a path, in path order: those below lie together, right behind `<top>/`.
pub fn at_or_below<'m, V>(
    map: &'m BTreeMap<HdfsPath, V>,
    top: &HdfsPath,
) -> impl Iterator<Item = (&'m HdfsPath, &'m V)> + use<'m, V> {
    let prefix = if top.is_root() { "/".to_owned() } else { format!("{top}/") };
    let from = (Bound::Excluded(prefix.as_str()), Bound::Unbounded);
    let below: Vec<_> = map.range::<str, _>(from).take_while(|(path, _)| path.0.starts_with(&prefix)).collect();
    map.get_key_value(top).into_iter().chain(below)
}

impl Borrow<str> for HdfsPath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for HdfsPath {
    type Error = PathError;

    fn try_from(text: String) -> Result<Self, PathError> {
        if !text.starts_with('/') {
            return Err(PathError::Relative(text));
        }
        if text.contains('\0') {
            return Err(PathError::Nul(text));
        }
        let parts = || text.as_bytes()[1..].split(|byte| *byte == b'/');
        if parts().any(|part| part == b"." || part == b"..") {
            return Err(PathError::DotComponent(text));
        }
        if text.len() == 1 || parts().all(|part| !part.is_empty()) {
            return Ok(Self(text.into()));
        }
        let clean: String = text.split('/').filter(|part| !part.is_empty()).flat_map(|part| ["/", part]).collect();
        Ok(if clean.is_empty() { Self::root() } else { Self(clean.into()) })
    }
}

impl From<HdfsPath> for String {
    fn from(path: HdfsPath) -> Self {
        path.0.into()
    }
}

impl std::str::FromStr for HdfsPath {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        Self::parse(text)
    }
}

impl fmt::Display for HdfsPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for HdfsPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

impl schemars::JsonSchema for HdfsPath {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "HdfsPath".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": "^/",
            "description": "absolute HDFS path without scheme and authority, bytes as HDFS has them"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> HdfsPath {
        HdfsPath::parse(text).expect("test path")
    }

    #[test]
    fn slashes_collapse_and_nothing_else_changes() {
        assert_eq!(path("//a///b/").as_str(), "/a/b");
        assert_eq!(path("/").as_str(), "/");
        assert_eq!(path("//").as_str(), "/");
        assert_eq!(path("/a b%20+c:#\n\u{301}").as_str(), "/a b%20+c:#\n\u{301}");
    }

    #[test]
    fn dot_components_and_relative_paths_are_refused() {
        assert_eq!(HdfsPath::parse("a/b"), Err(PathError::Relative("a/b".into())));
        assert!(matches!(HdfsPath::parse("/a/../b"), Err(PathError::DotComponent(_))));
        assert!(matches!(HdfsPath::parse("/a/."), Err(PathError::DotComponent(_))));
        assert!(HdfsPath::parse("/a/..b").is_ok());
    }

    #[test]
    fn below_means_whole_components() {
        assert!(path("/a/b/c").is_below(&path("/a/b")));
        assert!(!path("/a/b2").is_below(&path("/a/b")));
        assert!(!path("/a/b").is_below(&path("/a/b")));
        assert!(path("/a").is_below(&HdfsPath::root()));
    }

    #[test]
    fn ancestors_run_from_the_path_to_the_root() {
        assert_eq!(path("/a/b/c").ancestors().collect::<Vec<_>>(), ["/a/b/c", "/a/b", "/a", "/"]);
        assert_eq!(HdfsPath::root().ancestors().collect::<Vec<_>>(), ["/"]);
    }

    #[test]
    fn ancestor_below_counts_from_the_root_given() {
        let run = path("/r/app/job/chk-1/_metadata").ancestor_below(&path("/r"), 2);
        assert_eq!(run, Some(path("/r/app/job")));
        assert_eq!(path("/r/app").ancestor_below(&path("/r"), 2), None);
        assert_eq!(path("/other/app/job").ancestor_below(&path("/r"), 2), None);
    }
}
