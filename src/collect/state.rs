//! Stage two: everything below run directories, and what each restore point names.
//!
//! Candidates were listed first, so what could save them is read after them: the insides of run directories, savepoint
//! directories, and every `_metadata` that was found or that Flink or the registry names.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use futures::stream::{self, StreamExt as _};
use jiff::Timestamp;

use super::list::{AT_ONCE, walk};
use super::{Progress, Sources, evidence};
use crate::config::Config;
use crate::domain::{EntryKind, Existence, HdfsPath, HdfsUri, Place, Status};
use crate::flink_metadata;
use crate::ports::read::{ListAnswer, ReadAnswer};
use crate::views::flink::{Pointer, Restored};
use crate::views::hdfs::Look;
use crate::views::state::{NamedFile, Reading, RestorePoint};
use crate::views::{Gap, HdfsView, Inventory};

/// The name of the file that makes a directory a restore point.
const METADATA: &str = "_metadata";

/// A larger `_metadata` is not read: it would be held whole in memory. The largest seen in practice are some tens of megabytes.
const LARGEST: usize = 256 << 20;

/// Contents of `_metadata` files by file id, length and time, kept between the readings of one process. Such a file never
/// changes under the same three: Flink writes it once.
#[derive(Debug, Default)]
pub struct MetadataCache(Mutex<HashMap<(u64, u64, Timestamp), Arc<Reading>>>);

impl MetadataCache {
    fn get(&self, status: &Status) -> Option<Reading> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&key(status)).map(|reading| Reading::clone(reading))
    }

    fn put(&self, status: &Status, reading: &Reading) {
        // Where the server tells no file id, length and time alone could be another file's.
        if status.file_id != 0 && matches!(reading, Reading::Whole { .. }) {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            known.insert(key(status), Arc::new(reading.clone()));
        }
    }
}

const fn key(status: &Status) -> (u64, u64, Timestamp) {
    (status.file_id, status.length, status.modified)
}

/// Reads stage two into the inventory.
pub(super) async fn gather(sources: &Sources, config: &Config, inventory: &mut Inventory, progress: &dyn Progress) {
    if inventory.hdfs.gaps.iter().any(|gap| gap.path.is_none()) {
        // HDFS as a whole gave no answer; that is said once.
        return;
    }
    if !config.roots.is_empty() {
        inventory.state.trash_interval_minutes = sources.hdfs.fetch_trash_interval().await;
    }
    list_insides(sources, config, &mut inventory.hdfs, progress).await;
    list_snapshots(sources, config, inventory).await;
    list_restore_points(sources, config, inventory, progress).await;
    progress.stage("reading restore points");
    read_points(sources, config, inventory, progress).await;
    ask_named_files(sources, config, inventory).await;
}

/// Reads the restore points that live jobs name now, unless they are known, and asks for the files they name. Of one with files
/// that are gone its `_metadata` is asked for again: Flink may have replaced the checkpoint since.
pub(super) async fn read_named(sources: &Sources, config: &Config, inventory: &mut Inventory) {
    let unread: BTreeSet<HdfsPath> = named_points(config, inventory)
        .into_iter()
        .filter(|path| !inventory.state.points.contains_key(path) && !is_known_absent(&inventory.hdfs, path))
        .collect();
    for path in unread {
        let metadata = path.join(METADATA);
        let status = match sources.hdfs.fetch_status(&metadata).await {
            Existence::Present(status) => status,
            other => {
                inventory.hdfs.answers.insert(metadata, other);
                continue;
            }
        };
        take_point(inventory, &path, read_point(sources, &path, status).await);
    }
    ask_named_files(sources, config, inventory).await;
    let holed: Vec<HdfsPath> = named_points(config, inventory)
        .into_iter()
        .filter(|path| has_hole(config, inventory, path))
        .map(|path| path.join(METADATA))
        .collect();
    for path in holed {
        let answer = sources.hdfs.fetch_status(&path).await;
        inventory.hdfs.answers.insert(path, answer);
    }
    super::list::prove_absences(sources.hdfs.as_ref(), &mut inventory.hdfs).await;
}

fn has_hole(config: &Config, inventory: &Inventory, point: &HdfsPath) -> bool {
    let Some(found) = inventory.state.points.get(point) else { return false };
    named_here(config, point, &found.reading).iter().any(|path| inventory.hdfs.look(path) == Look::Absent)
}

/// Lists everything below the run directories of all roots. What cannot be listed there is a gap inside one run.
async fn list_insides(sources: &Sources, config: &Config, view: &mut HdfsView, progress: &dyn Progress) {
    for root in &config.roots {
        let depth = root.path.depth() + root.layout.run_depth();
        let is_run = |path: &HdfsPath| path.depth() == depth;
        let directories = view.listings_below(&root.path).flat_map(|(path, listing)| {
            let below = listing.entries.iter().filter(|entry| entry.status.kind == EntryKind::Directory);
            below.map(|entry| path.join(&entry.name)).collect::<Vec<_>>()
        });
        let runs: Vec<HdfsPath> = directories.filter(is_run).collect();
        let known = view.gaps.len();
        walk(sources.hdfs.as_ref(), view, runs, |_| true, progress).await;
        for gap in &mut view.gaps[known..] {
            let run = gap.path.as_ref().and_then(|path| path.ancestor_below(&root.path, root.layout.run_depth()));
            if let Some(run) = run {
                gap.path = Some(run);
                gap.inside_run = true;
            }
        }
    }
}

/// Lists the snapshots of every snapshottable directory in a root. What cannot be listed is said to have one that nobody could name.
async fn list_snapshots(sources: &Sources, config: &Config, inventory: &mut Inventory) {
    let listings = &inventory.hdfs.listings;
    let in_root = listings.iter().filter(|(path, _)| config.root_of(path).is_some());
    let snapshottable: Vec<HdfsPath> = in_root
        .flat_map(|(path, listing)| {
            let entries = listing.entries.iter().filter(|entry| entry.status.snapshottable);
            entries.map(|entry| path.join(&entry.name))
        })
        .collect();
    for path in snapshottable {
        let names = match sources.hdfs.list_directory(&path.join(".snapshot")).await {
            ListAnswer::Listed(listing, None) => listing.entries.iter().map(|entry| entry.name.to_string()).collect(),
            ListAnswer::Absent => Vec::new(),
            ListAnswer::Listed(..) | ListAnswer::NotADirectory | ListAnswer::Unread(_) => {
                vec!["(could not be listed)".to_owned()]
            }
        };
        inventory.state.snapshots.insert(path, names);
    }
}

/// Lists the savepoint directories of clusters and the directories of restore points that Flink or the registry names.
async fn list_restore_points(sources: &Sources, config: &Config, inventory: &mut Inventory, progress: &dyn Progress) {
    let directories: Vec<HdfsPath> = inventory
        .flink
        .clusters
        .iter()
        .filter_map(|cluster| here(config, &HdfsUri::parse(cluster.savepoint_dir.as_deref()?).ok()?))
        .filter(|path| path.depth() > 1 && config.root_of(path).is_none())
        .collect();
    let depths: BTreeMap<HdfsPath, usize> = directories.iter().map(|path| (path.clone(), path.depth())).collect();
    let near = |path: &HdfsPath| depths.iter().any(|(top, depth)| path.is_below(top) && path.depth() <= depth + 2);
    walk(sources.hdfs.as_ref(), &mut inventory.hdfs, directories, near, progress).await;
    let named: Vec<HdfsPath> = named_points(config, inventory)
        .into_iter()
        .filter(|path| !inventory.hdfs.listings.contains_key(path) && !is_known_absent(&inventory.hdfs, path))
        .collect();
    let known = inventory.hdfs.gaps.len();
    walk(sources.hdfs.as_ref(), &mut inventory.hdfs, named, |_| false, progress).await;
    for gap in &mut inventory.hdfs.gaps[known..] {
        gap.inside_run = true;
    }
}

fn is_known_absent(view: &HdfsView, path: &HdfsPath) -> bool {
    matches!(view.look(path), Look::Absent)
}

/// Where live jobs and the registry say that restore points lie.
fn named_points(config: &Config, inventory: &Inventory) -> BTreeSet<HdfsPath> {
    let of_jobs = inventory.flink.live_jobs().flat_map(|(_, job)| {
        let restored = match &job.restored {
            Restored::From { pointer } => Some(pointer),
            Restored::NoneShown | Restored::Unknown { .. } => None,
        };
        job.latest.iter().chain(&job.retained).map(|point| &point.pointer).chain(restored)
    });
    let registered = config.registry.iter().filter_map(|line| line.restore_path.as_ref());
    of_jobs
        .filter_map(Pointer::uri)
        .chain(registered)
        .filter_map(|uri| here(config, uri))
        .map(|path| path.restore_point())
        .collect()
}

fn here(config: &Config, uri: &HdfsUri) -> Option<HdfsPath> {
    match config.file_systems.resolve(uri) {
        Place::Here(path) if !path.is_root() => Some(path),
        _ => None,
    }
}

/// Reads every `_metadata` that a listing shows in a root, a savepoint directory or a named restore point.
async fn read_points(sources: &Sources, config: &Config, inventory: &mut Inventory, progress: &dyn Progress) {
    let found: Vec<(HdfsPath, Status)> = inventory
        .hdfs
        .listings
        .iter()
        .filter_map(|(directory, listing)| {
            let entry = listing.find(METADATA)?;
            // In a root anything of that name that is no file (a link, a directory) is a restore point that cannot be read.
            let counts = entry.status.kind == EntryKind::File || config.root_of(directory).is_some();
            counts.then(|| (directory.clone(), entry.status.clone()))
        })
        .collect();
    let read = |(directory, status): (HdfsPath, Status)| async move {
        let point = read_point(sources, &directory, status).await;
        (directory, point)
    };
    let mut answers = stream::iter(found.into_iter().map(read)).buffered(AT_ONCE);
    let mut count = 0;
    while let Some((directory, answer)) = answers.next().await {
        take_point(inventory, &directory, answer);
        count += 1;
        progress.count(count);
    }
}

fn take_point(inventory: &mut Inventory, directory: &HdfsPath, answer: PointAnswer) {
    match answer {
        Ok(Some(point)) => {
            inventory.state.points.insert(directory.clone(), point);
        }
        Ok(None) => {
            inventory.hdfs.answers.insert(directory.join(METADATA), Existence::Absent);
        }
        Err(unread) => {
            let (gap, point) = *unread;
            let run = evidence::run_directory(directory);
            inventory.hdfs.gaps.push(Gap { inside_run: true, ..gap.at(&run) });
            inventory.state.points.insert(directory.clone(), point);
        }
    }
}

/// A restore point, or none if it went while it was read; with a gap if the file system did not give its content.
type PointAnswer = Result<Option<RestorePoint>, Box<(Gap, RestorePoint)>>;

/// One restore point. One that changed or went while it was read is looked at once more.
async fn read_point(sources: &Sources, directory: &HdfsPath, listed: Status) -> PointAnswer {
    if let Some(reading) = sources.metadata.get(&listed) {
        return Ok(Some(RestorePoint { modified: listed.modified, reading }));
    }
    let path = directory.join(METADATA);
    let hdfs = sources.hdfs.as_ref();
    if listed.kind != EntryKind::File {
        let reading = Reading::Failed { why: "it is no file".to_owned() };
        return Ok(Some(RestorePoint { modified: listed.modified, reading }));
    }
    let mut answer = hdfs.read_file(&path, LARGEST).await;
    if matches!(answer, ReadAnswer::Unread(_)) {
        answer = hdfs.read_file(&path, LARGEST).await;
    }
    let failed = |modified, why| RestorePoint { modified, reading: Reading::Failed { why } };
    match answer {
        ReadAnswer::Read { bytes, status } => {
            let reading = match flink_metadata::read(&bytes) {
                Ok(metadata) => reading(metadata),
                Err(error) => Reading::Failed { why: error.to_string() },
            };
            sources.metadata.put(&status, &reading);
            Ok(Some(RestorePoint { modified: status.modified, reading }))
        }
        ReadAnswer::Absent => Ok(None),
        ReadAnswer::NotAFile(status) => Ok(Some(failed(status.modified, "it is no file".to_owned()))),
        ReadAnswer::TooLong(status) => {
            Ok(Some(failed(status.modified, format!("{} bytes are more than this program reads", status.length))))
        }
        ReadAnswer::Unread(gap) => {
            let why = gap.detail.clone();
            Err(Box::new((gap, failed(listed.modified, why))))
        }
    }
}

fn reading(metadata: flink_metadata::Metadata<'_>) -> Reading {
    let files = metadata.files.into_iter();
    Reading::Whole {
        checkpoint: metadata.checkpoint_id,
        files: files
            .map(|file| NamedFile { path: file.path.into_owned(), relative: file.relative, size: file.size })
            .collect(),
        directories: metadata.directories.into_iter().map(std::borrow::Cow::into_owned).collect(),
    }
}

/// Lists the directories of named files that no listing covers, and asks for each file that looks absent.
async fn ask_named_files(sources: &Sources, config: &Config, inventory: &mut Inventory) {
    let named: BTreeSet<HdfsPath> = inventory
        .state
        .points
        .iter()
        .flat_map(|(directory, point)| named_here(config, directory, &point.reading))
        .collect();
    let unlisted: Vec<HdfsPath> = named
        .iter()
        .filter(|path| inventory.hdfs.look(path) == Look::NotRead)
        .filter_map(HdfsPath::parent)
        .filter(|path| path.depth() > 0)
        .collect();
    let known = inventory.hdfs.gaps.len();
    walk(sources.hdfs.as_ref(), &mut inventory.hdfs, unlisted, |_| false, &super::Silent).await;
    evidence::ask_inside(sources, &mut inventory.hdfs, named).await;
    for gap in &mut inventory.hdfs.gaps[known..] {
        gap.inside_run = true;
    }
}

fn named_here(config: &Config, directory: &HdfsPath, reading: &Reading) -> Vec<HdfsPath> {
    let Reading::Whole { files, .. } = reading else { return Vec::new() };
    let place = |file: &NamedFile| {
        if file.relative {
            HdfsPath::parse(&flink_metadata::resolve(directory.as_str(), &file.path)?).ok()
        } else {
            here(config, &HdfsUri::parse(&file.path).ok()?)
        }
    };
    files.iter().filter_map(place).collect()
}
