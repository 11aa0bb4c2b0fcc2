//! Resource records of 2.0, 3.0 and 3.1: the tree says which there are, the pages say what they are.
//!
//! Neither is enough. The tree (`/resources/list`) has no owner, size or time. The pages show one directory level each,
//! in an order that moves, and never show an orphan whose parent is gone, nor in 3.0 a record whose owner was deleted
//! (`ResourceMapper.xml` joins the users). So: tree, pages of every directory, tree again; what only the tree shows is
//! asked for one by one.

use std::collections::{BTreeMap, BTreeSet};

use futures::StreamExt as _;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::Deserialize;

use super::envelope::{Api, Failure, Question};
use super::pages::{self, Trouble};
use crate::domain::{RecordId, ResourceKind};
use crate::views::resources::Record;
use crate::views::{Cause, Gap, ViewName};

/// The id that stands for the root directory in a page question.
const ROOT: i64 = -1;

/// Records asked for one by one. Usually none; thousands mean that the pages failed, and then as many single questions
/// would only add to the trouble.
const MAX_SINGLE: usize = 1_000;

/// "The resource does not exist": what the pages of a directory say that went away since the tree was read.
pub(super) const RESOURCE_NOT_EXIST: i64 = 20004;

/// The generations with records that are read here, by what differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordApi {
    /// 2.0: no record by its id, the tree of a general user mixes both kinds, times are those of +08:00.
    V20,
    /// 3.0: the pages leave out records of deleted owners.
    V30,
    /// 3.1.
    V31,
}

impl RecordApi {
    /// The question for one record. `/resources/{id}` without `/query` answers with the parent of `id`, or by name with any
    /// number in place of the id; 2.0 has nothing else.
    pub(super) fn single(self, kind: ResourceKind, id: i64, full_name: &str) -> Question {
        let what = format!("record {id}");
        match self {
            Self::V20 => Question::new(what, "/resources/0").with("type", kind.api_name()).with("fullName", full_name),
            Self::V30 | Self::V31 => Question::new(what, format!("/resources/{id}/query")),
        }
    }

    /// A time as the server prints it, without zone and in whole seconds. 2.0 has two forms, `2026-11-29 23:28:00` and
    /// `2026-11-29T23:28:02.312+0800`; the first is of +08:00 whatever the zone of the server (`Resource.java`).
    fn parse_time(self, text: &str) -> Option<DateTime> {
        let plain = DateTime::strptime("%Y-%m-%d %H:%M:%S", text).ok();
        match self {
            Self::V20 => plain.or_else(|| parse_time_with_offset(text)),
            Self::V30 | Self::V31 => plain,
        }
    }
}

fn parse_time_with_offset(text: &str) -> Option<DateTime> {
    let time = jiff::Timestamp::strptime("%Y-%m-%dT%H:%M:%S%.f%z", text).ok()?;
    let printed = time.to_zoned_datetime(TimeZone::fixed(jiff::tz::offset(8))).datetime();
    printed.with().subsec_nanosecond(0).build().ok()
}

/// How much is asked at once, and in what portions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Entries a page.
    pub(super) page_size: u32,
    /// Questions in flight.
    pub(super) concurrency: usize,
}

/// The records of both kinds, sorted by id, and what is missing in them. `sees_all`: asked as an administrator.
pub(super) async fn fetch_records(
    api: &Api,
    limits: Limits,
    manner: RecordApi,
    sees_all: bool,
) -> (Vec<Record>, Vec<Gap>) {
    let mut records = Vec::new();
    let mut gaps = Vec::new();
    for kind in [ResourceKind::File, ResourceKind::Udf] {
        let mut reading = Reading { api, limits, manner, kind, sees_all, gaps: Vec::new() };
        records.extend(reading.fetch().await);
        gaps.append(&mut reading.gaps);
    }
    records.sort_by_key(|record| record.id);
    (records, gaps)
}

/// A node of the tree. The server spells `dirctory`, and strips the leading slash of `fullName`.
#[derive(Deserialize)]
struct WireNode {
    id: i64,
    #[serde(rename = "fullName")]
    full_name: String,
    dirctory: bool,
    #[serde(rename = "type")]
    kind: ResourceKind,
    #[serde(default)]
    children: Option<Vec<WireNode>>,
}

/// A record on a page or by id.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireRecord {
    pub(super) id: i64,
    pid: i64,
    #[serde(rename = "type")]
    kind: ResourceKind,
    full_name: String,
    directory: bool,
    user_id: i64,
    size: i64,
    #[serde(default)]
    create_time: Option<String>,
    #[serde(default)]
    update_time: Option<String>,
}

/// Name and sort of a record, from the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    full_name: String,
    directory: bool,
}

type Tree = BTreeMap<i64, Entry>;

struct Reading<'a> {
    api: &'a Api,
    limits: Limits,
    manner: RecordApi,
    kind: ResourceKind,
    sees_all: bool,
    gaps: Vec<Gap>,
}

impl Reading<'_> {
    async fn fetch(&mut self) -> Vec<Record> {
        let before = self.fetch_tree().await;
        let walked = self.walk(before.as_ref()).await;
        let after = self.fetch_tree().await;
        let newest = after.as_ref().or(before.as_ref());
        self.report(&walked, newest);
        if let (Some(before), Some(after)) = (&before, &after) {
            self.report_strangers(&walked.details, before, after);
        }
        let mut details = walked.details;
        if let Some(newest) = newest {
            // What went away while the pages were read is an ordinary change; what no tree ever showed is kept, as a
            // contradiction (or beside a gap, if one tree is missing).
            let gone = |id: &i64| !newest.contains_key(id) && before.as_ref().is_some_and(|tree| tree.contains_key(id));
            details.retain(|id, _| !gone(id));
            self.fill(&mut details, newest).await;
        }
        let empty = Tree::new();
        self.to_records(details, newest.unwrap_or(&empty))
    }

    async fn fetch_tree(&mut self) -> Option<Tree> {
        let question = tree_question(self.kind);
        match self.api.ask::<Vec<WireNode>>(&question).await {
            Ok(nodes) => {
                let mut tree = Tree::new();
                let is_mixed = self.manner == RecordApi::V20 && !self.sees_all;
                if let Err(how) = flatten(nodes, self.kind, is_mixed, &mut tree) {
                    self.contradict(&format!("{}: {how}", question.what()));
                }
                Some(tree)
            }
            Err(failure) => {
                self.gaps.push(failure.gap(ViewName::Resources, question.what()));
                None
            }
        }
    }

    /// Reads the pages of the root, of every directory in the tree, and of those the pages show.
    async fn walk(&self, tree: Option<&Tree>) -> Walk {
        let mut walk = Walk::new(self.kind);
        let directories = tree.into_iter().flatten().filter(|(_, entry)| entry.directory).map(|(id, _)| *id);
        let mut todo: BTreeSet<i64> = directories.chain([ROOT]).collect();
        let mut done = BTreeSet::new();
        while !todo.is_empty() {
            let wave = std::mem::take(&mut todo);
            done.extend(wave.iter().copied());
            let mut answers = futures::stream::iter(wave)
                .map(|directory| async move { (directory, self.fetch_directory(directory).await) })
                .buffered(self.limits.concurrency.max(1));
            while let Some((directory, listed)) = answers.next().await {
                walk.take(directory, listed);
            }
            todo.extend(walk.details.values().filter(|r| r.directory && !done.contains(&r.id)).map(|r| r.id));
        }
        walk
    }

    async fn fetch_directory(&self, directory: i64) -> pages::Listed<WireRecord> {
        list_directory(self.api, self.limits, self.kind, directory).await
    }

    fn report(&mut self, walk: &Walk, newest: Option<&Tree>) {
        for (directory, trouble) in &walk.troubles {
            let is_gone = *directory != ROOT
                && newest.is_some_and(|tree| !tree.contains_key(directory))
                && trouble.has_code(RESOURCE_NOT_EXIST);
            if !is_gone {
                self.gaps.push(trouble.gap(ViewName::Resources));
            }
        }
        for how in &walk.misplaced {
            self.contradict(how);
        }
    }

    fn report_strangers(&mut self, details: &BTreeMap<i64, WireRecord>, before: &Tree, after: &Tree) {
        let strangers: Vec<i64> =
            details.keys().copied().filter(|id| !before.contains_key(id) && !after.contains_key(id)).collect();
        if let Some(first) = strangers.first() {
            let count = strangers.len();
            self.contradict(&format!(
                "pages show {count} records that the tree has neither before nor after, such as {first}"
            ));
        }
    }

    fn contradict(&mut self, how: &str) {
        let detail =
            format!("the records of DolphinScheduler contradict each other: {how}; run again when nobody writes");
        self.gaps.push(Gap::contradiction(ViewName::Resources, detail));
    }

    /// Asks by id for the records that no page showed, or showed under an older name.
    async fn fill(&mut self, details: &mut BTreeMap<i64, WireRecord>, newest: &Tree) {
        let is_known =
            |(id, entry): &(&i64, &Entry)| details.get(id).is_some_and(|record| record.full_name == entry.full_name);
        let wanted: Vec<(i64, Question)> = newest
            .iter()
            .filter(|pair| !is_known(pair))
            .map(|(id, entry)| (*id, self.manner.single(self.kind, *id, &entry.full_name)))
            .collect();
        let skipped = wanted.len().saturating_sub(MAX_SINGLE);
        let api = self.api;
        let mut answers = futures::stream::iter(wanted.into_iter().take(MAX_SINGLE))
            .map(|(id, question)| async move { (id, fetch_record(api, id, &question).await) })
            .buffered(self.limits.concurrency.max(1));
        let mut failed = Vec::new();
        while let Some((id, answer)) = answers.next().await {
            match answer {
                Ok(record) => drop(details.insert(id, record)),
                Err(failure) => failed.push((id, failure)),
            }
        }
        drop(answers);
        self.report_unfilled(&failed, skipped);
    }

    /// A page that failed has been reported already, with the same consequence.
    fn report_unfilled(&mut self, failed: &[(i64, Failure)], skipped: usize) {
        if !self.gaps.is_empty() {
            return;
        }
        if let Some((id, failure)) = failed.first() {
            let what = format!("the details of record {id} ({} such records)", failed.len() + skipped);
            self.gaps.push(failure.gap(ViewName::Resources, &what));
        } else if skipped > 0 {
            let detail = format!(
                "no page shows {skipped} records of the tree; run again, then look for records whose parent is gone"
            );
            self.gaps.push(Gap::incomplete(ViewName::Resources, Cause::CutShort, detail));
        }
    }

    fn to_records(&self, details: BTreeMap<i64, WireRecord>, newest: &Tree) -> Vec<Record> {
        let bare = newest.iter().filter(|(id, _)| !details.contains_key(id));
        let mut records: Vec<Record> = bare.map(|(id, entry)| bare_record(*id, entry, self.kind)).collect();
        records.extend(details.into_values().map(|wire| to_record(wire, self.kind, self.manner)));
        records
    }
}

/// The records that the tree shows anywhere below a directory record: id, full name and sort only. Unlike the pages of 3.0
/// it holds those of deleted owners, which a delete of the directory would take along.
pub(super) async fn list_tree_below(api: &Api, kind: ResourceKind, directory: i64) -> Result<Vec<Record>, Failure> {
    let nodes: Vec<WireNode> = api.ask(&tree_question(kind)).await?;
    let mut todo: Vec<WireNode> = nodes;
    let mut found = None;
    while let Some(node) = todo.pop() {
        if node.id == directory {
            found = node.children;
            break;
        }
        todo.extend(node.children.unwrap_or_default());
    }
    let mut below = Tree::new();
    // What else may be wrong with the tree does not make it empty.
    flatten(found.unwrap_or_default(), kind, true, &mut below).map_err(|_| Failure::Shape { column: 0 })?;
    Ok(below.iter().map(|(id, entry)| bare_record(*id, entry, kind)).collect())
}

/// The record of this id as the tree shows it, whatever its name is by now: id, full name and sort only.
pub(super) async fn find_in_tree(api: &Api, kind: ResourceKind, id: i64) -> Result<Option<Record>, Failure> {
    let nodes: Vec<WireNode> = api.ask(&tree_question(kind)).await?;
    let mut tree = Tree::new();
    flatten(nodes, kind, true, &mut tree).map_err(|_| Failure::Shape { column: 0 })?;
    Ok(tree.get(&id).map(|entry| bare_record(id, entry, kind)))
}

fn tree_question(kind: ResourceKind) -> Question {
    let what = format!("the tree of {} records", kind.api_name());
    Question::new(what, "/resources/list").with("type", kind.api_name())
}

/// A record of which only the tree is known.
fn bare_record(id: i64, entry: &Entry, kind: ResourceKind) -> Record {
    Record {
        id: RecordId(id),
        full_name: entry.full_name.as_str().into(),
        kind,
        directory: entry.directory,
        size: None,
        owner: None,
        created: None,
        updated: None,
    }
}

/// The records of one directory level, page by page.
pub(super) async fn list_directory(
    api: &Api,
    limits: Limits,
    kind: ResourceKind,
    directory: i64,
) -> pages::Listed<WireRecord> {
    let name = kind.api_name();
    let what = match directory {
        ROOT => format!("{name} records of the root directory"),
        id => format!("{name} records of directory {id}"),
    };
    let question = Question::new(what, "/resources").with("type", name).with("id", directory);
    pages::list_all(api, &question, limits.page_size, |record: &WireRecord| record.id).await
}

async fn fetch_record(api: &Api, id: i64, question: &Question) -> Result<WireRecord, Failure> {
    let record: WireRecord = api.ask(question).await?;
    // By name the database may be laxer than HDFS (case, trailing blanks); never take one record for another.
    if record.id == id { Ok(record) } else { Err(Failure::Shape { column: 0 }) }
}

/// What the pages showed.
struct Walk {
    kind: ResourceKind,
    details: BTreeMap<i64, WireRecord>,
    troubles: Vec<(i64, Trouble)>,
    misplaced: Vec<String>,
}

impl Walk {
    fn new(kind: ResourceKind) -> Self {
        Self { kind, details: BTreeMap::new(), troubles: Vec::new(), misplaced: Vec::new() }
    }

    /// Takes the records that belong where they were asked for.
    fn take(&mut self, directory: i64, listed: pages::Listed<WireRecord>) {
        self.troubles.extend(listed.trouble.map(|trouble| (directory, trouble)));
        let kind = self.kind;
        let (own, strays): (Vec<_>, Vec<_>) =
            listed.entries.into_iter().partition(|record| record.pid == directory && record.kind == kind);
        if let Some(stray) = strays.first() {
            self.misplaced.push(format!(
                "asked for {} records of directory {directory}, got the {} record {} of directory {}",
                kind.api_name(),
                stray.kind.api_name(),
                stray.id,
                stray.pid
            ));
        }
        self.details.extend(own.into_iter().map(|record| (record.id, record)));
    }
}

/// `is_mixed`: records of the other kind are expected, and left out.
fn flatten(nodes: Vec<WireNode>, kind: ResourceKind, is_mixed: bool, tree: &mut Tree) -> Result<(), String> {
    for node in nodes {
        // `ResourceTreeVisitor` removes exactly one slash.
        let entry = Entry { full_name: format!("/{}", node.full_name), directory: node.dirctory };
        if node.kind != kind && !is_mixed {
            return Err(format!("record {} is of another kind", node.id));
        }
        if node.kind == kind && tree.insert(node.id, entry).is_some() {
            return Err(format!("record {} is in it twice", node.id));
        }
        flatten(node.children.unwrap_or_default(), kind, is_mixed, tree)?;
    }
    Ok(())
}

pub(super) fn to_record(wire: WireRecord, kind: ResourceKind, manner: RecordApi) -> Record {
    let time = |text: Option<String>| text.and_then(|text| manner.parse_time(&text));
    Record {
        id: RecordId(wire.id),
        full_name: wire.full_name.into(),
        kind,
        directory: wire.directory,
        size: u64::try_from(wire.size).ok(),
        owner: Some(wire.user_id),
        created: time(wire.create_time),
        updated: time(wire.update_time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_no_zone() {
        let at = |h, m, s| Some(jiff::civil::date(2026, 11, 29).at(h, m, s, 0));
        for manner in [RecordApi::V30, RecordApi::V31] {
            assert_eq!(manner.parse_time("2026-11-29 14:22:30"), at(14, 22, 30));
            assert_eq!(manner.parse_time("2026-11-29T14:22:30.000+0800"), None);
            assert_eq!(manner.parse_time(""), None);
        }
        // Both forms of 2.0.9 are one time of +08:00, and the fraction is in one of them only.
        assert_eq!(RecordApi::V20.parse_time("2026-11-29 23:28:02"), at(23, 28, 2));
        assert_eq!(RecordApi::V20.parse_time("2026-11-29T23:28:02.312+0800"), at(23, 28, 2));
        assert_eq!(RecordApi::V20.parse_time("2026-11-29T15:28:02.312+0000"), at(23, 28, 2));
        assert_eq!(RecordApi::V20.parse_time("2026-11-29T23:28:02.312"), None);
    }

    #[test]
    fn the_tree_is_flattened_with_its_slashes_back() {
        let nodes: Vec<WireNode> = serde_json::from_str(
            r#"[{"id":1,"pid":-1,"fullName":"d","dirctory":true,"type":"FILE","children":[
                 {"id":2,"pid":1,"fullName":"d/x","dirctory":false,"type":"FILE","children":null}]}]"#,
        )
        .expect("a tree");
        let mut tree = Tree::new();
        flatten(nodes, ResourceKind::File, false, &mut tree).expect("no doubles");
        assert_eq!(tree[&1], Entry { full_name: "/d".into(), directory: true });
        assert_eq!(tree[&2], Entry { full_name: "/d/x".into(), directory: false });
    }

    #[test]
    fn the_other_kind_is_left_out_only_where_it_is_expected() {
        let mixed = r#"[{"id":1,"pid":-1,"fullName":"u","dirctory":true,"type":"UDF","children":[
             {"id":2,"pid":1,"fullName":"u/f.jar","dirctory":false,"type":"UDF","children":[]}]},
             {"id":3,"pid":-1,"fullName":"x","dirctory":false,"type":"FILE"}]"#;
        let read = |is_mixed| {
            let nodes = serde_json::from_str(mixed).expect("a tree");
            let mut tree = Tree::new();
            flatten(nodes, ResourceKind::File, is_mixed, &mut tree).map(|()| tree.into_keys().collect::<Vec<_>>())
        };
        assert_eq!(read(true), Ok(vec![3]));
        assert!(read(false).is_err());
    }
}
