//! What was on disk when a `_metadata` was recorded, and which other recorded ones lay there too.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::flink_metadata::fixtures::{self, Fixture};

/// A recorded restore point.
#[derive(Clone)]
pub struct Point {
    /// Its `_metadata`.
    pub bytes: Vec<u8>,
    /// What Flink read from it.
    pub expected: Value,
}

/// Files and directories of one recording, and the restore points of which the content was recorded as well.
#[derive(Clone)]
pub struct Moment {
    /// Folder of the fixture.
    pub name: String,
    /// Paths of directories.
    pub directories: BTreeSet<String>,
    /// Paths of files. A `_metadata` that nobody recorded is left out, as if Flink had just removed that checkpoint.
    pub files: BTreeSet<String>,
    /// Their lengths.
    pub sizes: BTreeMap<String, usize>,
    /// Restore points by directory.
    pub points: BTreeMap<String, Point>,
}

impl Moment {
    /// Run directories: named by a job id, with what a job makes in them.
    pub fn runs(&self) -> BTreeSet<String> {
        let inside = self.directories.iter().filter(|path| is_of_job(name(path))).filter_map(|path| parent(path));
        inside.filter(|path| is_job_id(name(path))).map(str::to_owned).collect()
    }

    /// Checkpoint roots: what holds run directories, or the checkpoints themselves where jobs have no directory of their own.
    pub fn roots(&self) -> BTreeSet<String> {
        let holders = self.directories.iter().filter(|path| is_of_job(name(path))).filter_map(|path| parent(path));
        let roots = holders.filter_map(|path| if is_job_id(name(path)) { parent(path) } else { Some(path) });
        roots.map(str::to_owned).collect()
    }

    /// Savepoints, also those whose metadata was not recorded.
    pub fn savepoints(&self) -> BTreeSet<String> {
        self.directories.iter().filter(|path| name(path).starts_with("savepoint-")).cloned().collect()
    }

    /// Directories of the changelogs of one job each.
    pub fn changelogs(&self) -> BTreeSet<String> {
        let inside = self.directories.iter().filter(|path| name(path) == "dstl").filter_map(|path| parent(path));
        inside.filter(|path| is_job_id(name(path))).map(str::to_owned).collect()
    }

    /// Authorities in names and pointers: one file system under several names.
    pub fn authorities(&self) -> BTreeSet<String> {
        let names = self.points.values().flat_map(|point| {
            let files = point.expected["referencedFiles"].as_array().expect("a list");
            files.iter().map(|file| &file["path"]).chain([&point.expected["externalPointer"]])
        });
        let authority = |uri: &str| {
            let (_, rest) = uri.split_once("hdfs://")?;
            let host = &rest[..rest.find('/').expect("a path")];
            (!host.is_empty()).then(|| format!("hdfs://{host}"))
        };
        names.filter_map(|uri| authority(uri.as_str().expect("a URI"))).collect()
    }

    fn join(&mut self, other: Self) {
        self.directories.extend(other.directories);
        self.files.extend(other.files);
        self.sizes.extend(other.sizes);
        self.points.extend(other.points);
    }
}

/// The last component of a path.
pub fn name(path: &str) -> &str {
    path.rsplit('/').next().expect("a name")
}

fn parent(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(parent, _)| parent)
}

fn is_of_job(name: &str) -> bool {
    name.starts_with("chk-") || name == "shared" || name == "taskowned"
}

fn is_job_id(name: &str) -> bool {
    name.len() == 32 && name.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Every recording with what was on disk.
pub fn all() -> Vec<Moment> {
    let fixtures = fixtures::all();
    fixtures
        .iter()
        .filter(|fixture| fixture.folder.join("tree.txt").is_file())
        .map(|it| moment(it, &fixtures))
        .collect()
}

/// All that one Flink version wrote, as if it had been there at one time.
pub fn by_version(moments: &[Moment]) -> Vec<Moment> {
    let mut versions: BTreeMap<String, Moment> = BTreeMap::new();
    for moment in moments {
        let version = Path::new(&moment.name).parent().expect("a version").display().to_string();
        match versions.get_mut(&version) {
            Some(all) => all.join(moment.clone()),
            None => drop(versions.insert(version.clone(), Moment { name: version, ..moment.clone() })),
        }
    }
    versions.into_values().collect()
}

fn moment(fixture: &Fixture, all: &[Fixture]) -> Moment {
    let mut directories = BTreeSet::new();
    let mut sizes = BTreeMap::new();
    for name in ["tree.txt", "tree-dstl.txt", "tree-restored-from.txt"] {
        let Ok(text) = fs::read_to_string(fixture.folder.join(name)) else { continue };
        for line in text.lines() {
            match entry(line) {
                (path, None) => drop(directories.insert(path)),
                (path, Some(size)) => drop(sizes.insert(path, size)),
            }
        }
    }
    let above =
        |path: &String| path.match_indices('/').skip(1).map(|(at, _)| path[..at].to_owned()).collect::<Vec<_>>();
    directories.extend(directories.clone().iter().chain(sizes.keys()).flat_map(above));
    let of_version = all.iter().filter(|other| other.expected["flinkVersion"] == fixture.expected["flinkVersion"]);
    let there = of_version.filter_map(|other| {
        let directory = path_of(other.expected["externalPointer"].as_str().expect("a path"));
        let size = sizes.get(&format!("{directory}/_metadata"))?;
        assert_eq!(*size, other.bytes.len(), "{directory} was recorded twice");
        Some((directory, Point { bytes: on_hdfs(&other.bytes), expected: other.expected.clone() }))
    });
    let points: BTreeMap<String, Point> = there.collect();
    let is_recorded = |path: &String| path.strip_suffix("/_metadata").is_none_or(|it| points.contains_key(it));
    let files = sizes.keys().filter(|path| is_recorded(path)).cloned().collect();
    Moment { name: fixture.name(), directories, files, sizes, points }
}

/// Path, and size unless it is a directory, of a line of `find` or of `hdfs dfs -ls -R`.
fn entry(line: &str) -> (String, Option<usize>) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let ([_, size, _] | [_, _, _, _, size, _, _, _]) = words[..] else { panic!("{line}") };
    let path = path_of(words[words.len() - 1]);
    if line.starts_with('d') { (path, None) } else { (path, Some(size.parse().expect("a size"))) }
}

/// The path of a URI, without a slash at its end.
pub fn path_of(uri: &str) -> String {
    let path = match uri.split_once("://") {
        Some((_, rest)) => &rest[rest.find('/').expect("a path")..],
        None => uri.split_once(':').map_or(uri, |(_, path)| path),
    };
    path.trim_end_matches('/').to_owned()
}

/// The same file as if a local directory of the recording had been one of HDFS: the two schemes are equally long, so no length
/// in the file changes.
fn on_hdfs(bytes: &[u8]) -> Vec<u8> {
    let (local, hdfs) = (b"file:/", b"hdfs:/");
    let mut bytes = bytes.to_vec();
    let mut at = 0;
    while let Some(found) = bytes[at..].windows(local.len()).position(|window| window == local) {
        bytes[at + found..][..hdfs.len()].copy_from_slice(hdfs);
        at += found + hdfs.len();
    }
    bytes
}
