//! The storage listing of 3.2.2: one directory at a time, as the server's own file system shows it.
//!
//! Each page lists the directory anew, without a snapshot. A missing directory, and a sibling whose name merely begins
//! like the base path, are an empty success (recorded); so "empty" here never means "exists".

use serde::Deserialize;

use super::envelope::{Api, Question};
use super::pages;
use crate::domain::text::printable;
use crate::domain::{Authority, HdfsPath, HdfsUri};
use crate::views::resources::StorageEntry;
use crate::views::{Cause, Gap, ViewName};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireEntry {
    full_name: String,
    directory: bool,
    size: i64,
}

/// The entries of one directory, each checked to lie in it. The gap names the directory in its words only, so that
/// one cause over many directories stays one gap of the view.
pub(super) async fn fetch_directory(
    api: &Api,
    directory: &HdfsPath,
    base_dir: &str,
    page_size: u32,
) -> Result<Vec<StorageEntry>, Gap> {
    let base = HdfsUri::parse(base_dir).map_err(|error| {
        let detail =
            format!("cannot list {} from the server: its base directory {error}", printable(directory.as_str()));
        Gap::incomplete(ViewName::Resources, Cause::Unsupported, detail)
    })?;
    let what = format!("the storage listing of {}", printable(directory.as_str()));
    // `tenantCode` is required and may be empty; a foreign one is refused for general users.
    let question = Question::new(what, "/resources")
        .with("fullName", spell(directory, &base, base_dir))
        .with("tenantCode", "")
        .with("type", "FILE");
    let listed = pages::list_all(api, &question, page_size, |entry: &WireEntry| entry.full_name.clone()).await;
    // Entries of another directory are a contradiction however short the list is.
    if let Some(stray) = listed.entries.iter().find(|entry| !lies_in(&entry.full_name, directory, &base)) {
        return Err(stray_gap(directory, &stray.full_name));
    }
    match listed.trouble {
        Some(trouble) => Err(trouble.gap(ViewName::Resources)),
        None => Ok(listed.entries.into_iter().map(to_entry).collect()),
    }
}

/// The directory in the server's spelling: 3.2.2 compares the raw beginning of the text with its own base directory.
fn spell(directory: &HdfsPath, base: &HdfsUri, base_dir: &str) -> String {
    match directory.relative_to(&base.path) {
        Some("") => base_dir.trim_end_matches('/').to_owned(),
        Some(relative) => format!("{}/{relative}", base_dir.trim_end_matches('/')),
        None => match &base.authority {
            Some(authority) => format!("{authority}{directory}"),
            None => directory.to_string(),
        },
    }
}

fn lies_in(full_name: &str, directory: &HdfsPath, base: &HdfsUri) -> bool {
    let Ok(uri) = HdfsUri::parse(full_name) else { return false };
    let same_store = match (&uri.authority, &base.authority) {
        (Some(entry), Some(base)) => same_authority(entry, base),
        // The server's default file system, whichever side leaves it out.
        _ => true,
    };
    same_store && uri.path.parent_str() == Some(directory.as_str())
}

/// Equal, leaving aside the default RPC port: the listing comes from the file system, the prefix from a property.
fn same_authority(a: &Authority, b: &Authority) -> bool {
    let bare = |authority: &Authority| authority.as_str().trim_end_matches(":8020").to_owned();
    bare(a) == bare(b)
}

fn stray_gap(directory: &HdfsPath, full_name: &str) -> Gap {
    let detail = format!(
        "asked for {}, got entries of {}; the server lists another directory than the one it is asked for",
        printable(directory.as_str()),
        printable(full_name.trim_end_matches('/').rsplit_once('/').map_or(full_name, |(parent, _)| parent)),
    );
    Gap::contradiction(ViewName::Resources, detail)
}

fn to_entry(wire: WireEntry) -> StorageEntry {
    StorageEntry {
        full_name: wire.full_name.into(),
        directory: wire.directory,
        size: u64::try_from(wire.size).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> HdfsPath {
        HdfsPath::parse(text).expect("test path")
    }

    #[test]
    fn the_prefix_is_spelled_as_the_server_does() {
        let spelled = |directory: &str, base: &str| spell(&path(directory), &HdfsUri::parse(base).expect("base"), base);
        assert_eq!(spelled("/ds/etl/resources", "hdfs://h:18020/ds"), "hdfs://h:18020/ds/etl/resources");
        assert_eq!(spelled("/ds/etl", "hdfs://h:18020/ds/"), "hdfs://h:18020/ds/etl");
        assert_eq!(spelled("/ds", "hdfs://h:18020//ds/"), "hdfs://h:18020//ds");
        assert_eq!(spelled("/other", "hdfs://h:18020/ds"), "hdfs://h:18020/other");
        assert_eq!(spelled("/ds/etl", "/ds"), "/ds/etl");
    }

    #[test]
    fn entries_must_lie_directly_in_the_directory() {
        let lies =
            |name: &str| lies_in(name, &path("/ds/etl/resources"), &HdfsUri::parse("hdfs://ns1/ds").expect("base"));
        assert!(lies("hdfs://ns1/ds/etl/resources//lib/"));
        assert!(lies("hdfs://ns1:8020/ds/etl/resources/a%20+b.jar"));
        assert!(lies("/ds/etl/resources/a$1.jar"));
        assert!(!lies("hdfs://ns1/ds/ops/resources/a.sh"));
        assert!(!lies("hdfs://ns2/ds/etl/resources/a.sh"));
        assert!(!lies("hdfs://ns1/ds/etl/resources/lib/a.jar"));
        assert!(!lies("hdfs://ns1/ds/etl/resources2/a.jar"));
        assert!(!lies("hdfs://ns1/ds/etl/resources"));
        assert!(!lies("s3a://lake/ds/etl/resources/a.sh"));
        assert!(!lies("hdfs://ns1/ds/etl/resources/../x"));
    }
}
