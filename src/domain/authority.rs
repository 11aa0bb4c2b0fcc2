//! Which file system a URI means: authorities, their aliases and mount tables.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::HdfsPath;
use super::path::PathError;

/// Scheme and authority of a file system, such as `hdfs://ns1` or `hdfs://nn1:8020`; lower case, no path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Authority(Box<str>);

/// The text names no file system.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` names no file system; write scheme and authority, such as `hdfs://ns1` or `hdfs://nn1:8020`", crate::domain::text::printable(.0))]
pub struct AuthorityError(String);

impl Authority {
    /// Parses `scheme://authority`, with or without a trailing slash. Host names are compared in lower case.
    pub fn parse(text: &str) -> Result<Self, AuthorityError> {
        let trimmed = text.trim_end_matches('/');
        let Some((scheme, rest)) = trimmed.split_once("://") else {
            return Err(AuthorityError(text.to_owned()));
        };
        let clean = !scheme.is_empty()
            && !rest.is_empty()
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'+' || b == b'.' || b == b'-')
            && !rest.chars().any(|c| c == '/' || c == '@' || c.is_whitespace() || c.is_control());
        if clean { Ok(Self(trimmed.to_ascii_lowercase().into())) } else { Err(AuthorityError(text.to_owned())) }
    }

    /// `hdfs`, `viewfs`, `webhdfs`, ….
    pub fn scheme(&self) -> &str {
        self.0.split("://").next().unwrap_or_default()
    }

    /// Host, host and port, nameservice or mount-table name.
    pub fn host(&self) -> &str {
        self.0.split_once("://").map_or("", |(_, host)| host)
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The same authority with the default RPC port 8020 written out or left out.
    fn other_port_spelling(&self) -> Option<Self> {
        if self.scheme() != "hdfs" {
            return None;
        }
        match self.0.strip_suffix(":8020") {
            Some(bare) => Some(Self(bare.into())),
            None if !self.host().contains(':') => Some(Self(format!("{}:8020", self.0).into())),
            None => None,
        }
    }
}

impl TryFrom<String> for Authority {
    type Error = AuthorityError;

    fn try_from(text: String) -> Result<Self, AuthorityError> {
        Self::parse(&text)
    }
}

impl From<Authority> for String {
    fn from(authority: Authority) -> Self {
        authority.0.into()
    }
}

impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A place as some system wrote it: a URI with or without scheme and authority.
///
/// Cut by hand, never through a URL parser: Hadoop does not percent-decode, so `hdfs://h/a%20b` names the literal `a%20b`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
pub struct HdfsUri {
    /// Scheme and authority as written; `None` for `/p`, `hdfs:/p` and `hdfs:///p`: the writer's default file system.
    pub authority: Option<Authority>,
    /// The path.
    pub path: HdfsPath,
}

/// Why a text is no place in HDFS.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UriError {
    /// Another kind of file system (`s3`, `file`, `oss`): passed over, never looked up in HDFS.
    #[error("`{}` is not in HDFS", crate::domain::text::printable(.0))]
    OtherFileSystem(String),
    /// The path part is not usable.
    #[error("the path cannot be used")]
    Path(#[from] PathError),
    /// The authority part is not usable.
    #[error("the authority cannot be used")]
    Authority(#[from] AuthorityError),
}

impl HdfsUri {
    /// Parses `/p`, `hdfs:/p`, `hdfs:///p`, `hdfs://authority/p`, `viewfs://…`, `webhdfs://…`.
    pub fn parse(text: &str) -> Result<Self, UriError> {
        if text.starts_with('/') {
            // Java reads a leading `//m` as an authority; nobody means that, and collapsing it protects the wider path.
            return Ok(Self { authority: None, path: HdfsPath::parse(text)? });
        }
        let Some((scheme, rest)) = text.split_once(':') else {
            return Err(PathError::Relative(text.to_owned()).into());
        };
        if !matches!(scheme.to_ascii_lowercase().as_str(), "hdfs" | "viewfs" | "webhdfs" | "swebhdfs") {
            return Err(if scheme.bytes().all(|b| b.is_ascii_alphanumeric()) && rest.starts_with('/') {
                UriError::OtherFileSystem(text.to_owned())
            } else {
                PathError::Relative(text.to_owned()).into()
            });
        }
        let Some(after) = rest.strip_prefix("//") else {
            return Ok(Self { authority: None, path: HdfsPath::parse(rest)? });
        };
        let (host, path) = match after.find('/') {
            Some(at) => (&after[..at], &after[at..]),
            None => (after, "/"),
        };
        let authority = if host.is_empty() { None } else { Some(Authority::parse(&format!("{scheme}://{host}"))?) };
        Ok(Self { authority, path: HdfsPath::parse(path)? })
    }
}

impl fmt::Display for HdfsUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.authority {
            Some(authority) => write!(f, "{authority}{}", self.path),
            None => self.path.fmt(f),
        }
    }
}

/// Where a URI leads, seen from the one file system this program reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In the file system that is read, at this path.
    Here(HdfsPath),
    /// In another file system that the configuration names; not ours to judge.
    Elsewhere(Authority, HdfsPath),
    /// Under an authority nobody declared: possibly the same file system, so it protects, and it never allows.
    Unresolved(Authority, HdfsPath),
}

impl Place {
    /// The path in whatever file system; protection matches on this alone.
    pub fn path(&self) -> &HdfsPath {
        match self {
            Self::Here(path) | Self::Elsewhere(_, path) | Self::Unresolved(_, path) => path,
        }
    }

    /// The path if it is in the file system that is read.
    pub fn here(&self) -> Option<&HdfsPath> {
        match self {
            Self::Here(path) => Some(path),
            _ => None,
        }
    }
}

/// The file system that is read, and every other spelling of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FileSystems {
    /// The canonical authority; `None` if nobody said it, then every written authority is unresolved.
    pub canonical: Option<Authority>,
    /// Other authorities and the one each of them stands for (the canonical one, or another cluster).
    pub aliases: BTreeMap<Authority, Authority>,
    /// Mount tables by name: mount point to target.
    pub mounts: BTreeMap<String, BTreeMap<HdfsPath, HdfsUri>>,
}

impl FileSystems {
    /// Where `uri` leads. An empty authority is the writer's default file system and counts as the canonical one.
    pub fn resolve(&self, uri: &HdfsUri) -> Place {
        self.resolve_within(uri, 8)
    }

    fn resolve_within(&self, uri: &HdfsUri, hops: u8) -> Place {
        let Some(written) = &uri.authority else {
            return Place::Here(uri.path.clone());
        };
        if written.scheme() == "viewfs" {
            return match (hops, self.mount_target(written.host(), &uri.path)) {
                (1.., Some(target)) => self.resolve_within(&target, hops - 1),
                _ => Place::Unresolved(written.clone(), uri.path.clone()),
            };
        }
        let mut authority = written.clone();
        for _ in 0..hops {
            if self.is_canonical(&authority) {
                return Place::Here(uri.path.clone());
            }
            match self.alias_of(&authority) {
                Some(next) if *next != authority => authority = next.clone(),
                _ => break,
            }
        }
        if authority == *written {
            Place::Unresolved(authority, uri.path.clone())
        } else {
            Place::Elsewhere(authority, uri.path.clone())
        }
    }

    fn is_canonical(&self, authority: &Authority) -> bool {
        let Some(canonical) = &self.canonical else { return false };
        authority == canonical || authority.other_port_spelling().as_ref() == Some(canonical)
    }

    fn alias_of(&self, authority: &Authority) -> Option<&Authority> {
        self.aliases
            .get(authority)
            .or_else(|| authority.other_port_spelling().and_then(|other| self.aliases.get(&other)))
    }

    fn mount_target(&self, table: &str, path: &HdfsPath) -> Option<HdfsUri> {
        let mounts = self.mounts.get(table)?;
        let (mount, target) = path.ancestors().find_map(|at| mounts.get_key_value(at))?;
        let rest = path.relative_to(mount)?;
        let path = if rest.is_empty() { target.path.clone() } else { target.path.join_relative(rest).ok()? };
        Some(HdfsUri { authority: target.authority.clone(), path })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(text: &str) -> HdfsUri {
        HdfsUri::parse(text).expect("test uri")
    }

    fn systems() -> FileSystems {
        let authority = |text| Authority::parse(text).expect("test authority");
        FileSystems {
            canonical: Some(authority("hdfs://ns1")),
            aliases: BTreeMap::from([
                (authority("hdfs://nn-a:8020"), authority("hdfs://ns1")),
                (authority("hdfs://old"), authority("hdfs://ns2")),
            ]),
            mounts: BTreeMap::from([(
                "cluster".to_owned(),
                BTreeMap::from([
                    (HdfsPath::parse("/data").expect("path"), uri("hdfs://ns1/warehouse")),
                    (HdfsPath::parse("/data/x").expect("path"), uri("hdfs://ns2/x")),
                ]),
            )]),
        }
    }

    #[test]
    fn spellings_of_one_file_system() {
        let here = |text: &str| systems().resolve(&uri(text)).here().map(ToString::to_string);
        for text in [
            "/p",
            "hdfs:/p",
            "hdfs:///p",
            "hdfs://ns1/p",
            "hdfs://NS1//p/",
            "hdfs://nn-a:8020/p",
            "hdfs://nn-a/p",
            "hdfs://ns1:8020/p",
        ] {
            assert_eq!(here(text).as_deref(), Some("/p"), "{text}");
        }
        assert_eq!(here("viewfs://cluster/data/t/1").as_deref(), Some("/warehouse/t/1"));
    }

    #[test]
    fn others_are_elsewhere_or_unresolved_never_here() {
        assert!(matches!(systems().resolve(&uri("hdfs://nn-b:8020/p")), Place::Unresolved(..)));
        assert!(matches!(systems().resolve(&uri("hdfs://nn-a:9000/p")), Place::Unresolved(..)));
        assert!(matches!(systems().resolve(&uri("hdfs://old/p")), Place::Elsewhere(..)));
        assert!(matches!(systems().resolve(&uri("viewfs://cluster/data/x/1")), Place::Unresolved(..)));
        assert!(matches!(systems().resolve(&uri("viewfs://cluster/none")), Place::Unresolved(..)));
        assert!(matches!(HdfsUri::parse("s3a://lake/p"), Err(UriError::OtherFileSystem(_))));
        assert!(HdfsUri::parse("<checkpoint-not-externally-addressable>").is_err());
    }

    #[test]
    fn percent_signs_are_not_decoded() {
        assert_eq!(uri("hdfs://h/a%20b").path.as_str(), "/a%20b");
    }
}
