//! The graph of small inventories, by hand.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::{Completeness, Graph, How, Movable};
use crate::domain::{Authority, EntryKind, Existence, FileSystems, HdfsPath, Status};
use crate::views::inventory::INVENTORY_VERSION;
use crate::views::state::{NamedFile, Reading, RestorePoint};
use crate::views::{Entry, FlinkView, HdfsView, Inventory, Listing, StateView};

fn path(text: &str) -> HdfsPath {
    HdfsPath::parse(text).expect("a path")
}

fn units(paths: &[&str]) -> BTreeSet<HdfsPath> {
    paths.iter().map(|text| path(text)).collect()
}

fn file(name: &str) -> NamedFile {
    NamedFile { path: name.to_owned(), relative: !name.contains('/'), size: Some(1) }
}

fn whole(files: &[&str], directories: &[&str]) -> Reading {
    let directories = directories.iter().map(|text| (*text).to_owned()).collect();
    Reading::Whole { checkpoint: 1, files: files.iter().map(|name| file(name)).collect(), directories }
}

/// Directories with their files, listed to the end, and restore points.
fn graph(directories: &[(&str, &[&str])], points: &[(&str, Reading)]) -> Graph {
    let status = |kind| Status {
        kind,
        length: 1,
        modified: Timestamp::UNIX_EPOCH,
        owner: "flink".into(),
        file_id: 1,
        snapshottable: false,
    };
    let mut hdfs = HdfsView::default();
    for (directory, files) in directories {
        let mut entries: Vec<Entry> =
            files.iter().map(|name| Entry { name: (*name).into(), status: status(EntryKind::File) }).collect();
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        hdfs.listings.insert(path(directory), Listing { entries, complete: true });
    }
    for gone in ["/r/a/shared/gone", "/r/b/shared/gone", "/r/b/chk-1/lost"] {
        hdfs.answers.insert(path(gone), Existence::Absent);
    }
    let points: BTreeMap<HdfsPath, RestorePoint> = points
        .iter()
        .map(|(at, reading)| (path(at), RestorePoint { modified: Timestamp::UNIX_EPOCH, reading: reading.clone() }))
        .collect();
    let inventory = Inventory {
        inventory_version: INVENTORY_VERSION,
        started: Timestamp::UNIX_EPOCH,
        taken: Timestamp::UNIX_EPOCH,
        flink: FlinkView::default(),
        hdfs,
        resources: None,
        state: StateView { points, ..StateView::default() },
    };
    let canonical = Some(Authority::parse("hdfs://ns1").expect("an authority"));
    Graph::new(&inventory, &FileSystems { canonical, ..FileSystems::default() })
}

const TREE: &[(&str, &[&str])] = &[
    ("/r/a/shared", &["s1", "s2"]),
    ("/r/a/chk-1", &["x"]),
    ("/r/b/shared", &["s3"]),
    ("/r/b/chk-1", &["y"]),
    ("/r/c/chk-1", &["z"]),
];

#[test]
fn a_file_keeps_the_unit_around_it_whatever_the_spelling() {
    for name in ["hdfs://ns1/r/a/shared/s1", "hdfs:/r/a/shared/s1", "/r//a/shared/s1"] {
        let graph = graph(TREE, &[("/r/b/chk-1", whole(&[name], &[]))]);
        let needed = graph.needs_below(&path("/r/b/chk-1"), &path("/r/a")).expect("needed");
        assert_eq!((needed.how, needed.name.as_str()), (How::Lies, name));
        assert_eq!(graph.needs_below(&path("/r/b/chk-1"), &path("/r/c")), None);
    }
    let possibly = graph(TREE, &[("/r/b/chk-1", whole(&["hdfs://other:8020/r/a/shared/s1"], &[]))]);
    let needed = possibly.needs_below(&path("/r/b/chk-1"), &path("/r/a")).expect("needed");
    assert_eq!(needed.how, How::Possibly);
    let elsewhere = graph(TREE, &[("/r/b/chk-1", whole(&["s3://bucket/r/a/shared/s1"], &[]))]);
    assert_eq!(elsewhere.needs_below(&path("/r/b/chk-1"), &path("/r/a")), None, "no HDFS at all");
}

#[test]
fn a_lost_file_keeps_whoever_holds_one_of_that_name() {
    // As FLINK-39964 leaves it: a relative name that is not beside its `_metadata`, the file in another directory.
    let tree: &[(&str, &[&str])] = &[("/r/b/chk-1", &[]), ("/s/savepoint-1", &["lost"]), ("/r/a/shared", &["s1"])];
    let graph = graph(tree, &[("/r/b/chk-1", whole(&["lost"], &[]))]);
    let units = units(&["/r/a", "/r/b", "/s/savepoint-1"]);
    let needed = graph.units_needed(&path("/r/b/chk-1"), &units);
    assert_eq!(needed.keys().map(HdfsPath::as_str).collect::<Vec<_>>(), ["/s/savepoint-1"]);
    assert_eq!(needed[&path("/s/savepoint-1")].how, How::SameName);
    assert_eq!(graph.completeness(&path("/r/b/chk-1")), Completeness::Holes(vec!["lost".to_owned()]));
}

#[test]
fn everything_below_a_named_directory_is_needed() {
    let graph = graph(TREE, &[("/r/b/chk-1", whole(&[], &["hdfs://ns1/r/a"]))]);
    for unit in ["/r/a", "/r/a/shared", "/r/a/shared/s1", "/r"] {
        let needed = graph.needs_below(&path("/r/b/chk-1"), &path(unit));
        assert_eq!(needed.is_some(), unit != "/r", "{unit}: the point itself lies in /r");
    }
}

#[test]
fn needs_are_followed_through_what_is_kept_for_them() {
    let points = [
        ("/r/c/chk-1", whole(&["/r/b/shared/s3"], &[])),
        ("/r/b/chk-1", whole(&["/r/a/shared/s1"], &[])),
        ("/r/a/chk-1", whole(&["x"], &[])),
    ];
    let graph = graph(TREE, &points);
    let units = units(&["/r/a", "/r/b", "/r/c"]);
    let seed = path("/r/c/chk-1");
    let kept = graph.kept([&seed], &units);
    assert_eq!(kept.needed.keys().map(HdfsPath::as_str).collect::<Vec<_>>(), ["/r/a", "/r/b"]);
    let other = path("/r/a/chk-1");
    assert!(graph.kept([&other], &units).needed.is_empty());
    let free = graph.free_without(&path("/r/c/chk-1"), &units);
    assert_eq!(free, [path("/r/b")], "/r/a is needed by /r/b, which is still there");
}

#[test]
fn a_restore_point_that_was_not_read_is_told_and_never_complete() {
    let graph = graph(TREE, &[("/r/a/chk-1", Reading::Failed { why: "cut short".to_owned() })]);
    let seed = path("/r/a/chk-1");
    assert_eq!(graph.kept([&seed], &units(&["/r/b"])).unread, BTreeMap::from([(seed.clone(), "cut short".to_owned())]));
    assert_eq!(graph.completeness(&seed), Completeness::Unknown("cut short".to_owned()));
    assert_eq!(graph.movable(&seed), Movable::Unknown);
}

#[test]
fn a_file_that_is_too_short_is_a_hole_and_one_that_is_longer_is_not() {
    let named = |size| Reading::Whole {
        checkpoint: 1,
        files: vec![NamedFile { path: "x".to_owned(), relative: true, size }],
        directories: Vec::new(),
    };
    let state = |size| graph(TREE, &[("/r/a/chk-1", named(size))]).completeness(&path("/r/a/chk-1"));
    assert_eq!(state(None), Completeness::Complete);
    // A segment is a part of its file, and a changelog file is one byte longer than its handle says.
    assert_eq!(state(Some(0)), Completeness::Complete);
    assert_eq!(state(Some(1)), Completeness::Complete);
    assert_eq!(state(Some(2)), Completeness::Holes(vec!["x (too short)".to_owned()]));
}

#[test]
fn whole_movable_or_with_holes() {
    let points = [
        ("/r/a/chk-1", whole(&["x"], &[])),
        ("/r/b/chk-1", whole(&["y", "/r/a/shared/s1", "/r/a/shared/gone"], &[])),
        ("/r/c/chk-1", whole(&["z", "/not/read/f"], &[])),
    ];
    let graph = graph(TREE, &points);
    assert_eq!(graph.completeness(&path("/r/a/chk-1")), Completeness::Complete);
    assert_eq!(graph.movable(&path("/r/a/chk-1")), Movable::Yes);
    assert_eq!(graph.completeness(&path("/r/b/chk-1")), Completeness::Holes(vec!["/r/a/shared/gone".to_owned()]));
    assert_eq!(graph.movable(&path("/r/b/chk-1")), Movable::No(2));
    assert!(matches!(graph.completeness(&path("/r/c/chk-1")), Completeness::Unknown(_)), "nobody read there");
    assert!(matches!(graph.completeness(&path("/r/d/chk-1")), Completeness::Unknown(_)), "no such point");
}
