//! The events of a walk put together to the object graph that Flink's loader builds, in the shape of `expected.json`.

use std::borrow::Cow;

use serde_json::{Map, Value, json};
use statewarden::flink_metadata::{
    Event, Handle, KeyGroups, List, Mode, Offsets, Operator, Part, Scope, Stream, Tail, resolve,
};

/// The graph while it grows.
pub struct Tree<'d> {
    /// Where relative handles lead.
    directory: &'d str,
    /// Whether this Flink knows `checkpointedSize` (1.15 and later).
    checkpointed: bool,
    /// Whether operators have names and uids (version 5 and later).
    named: bool,
    pub masters: Vec<Value>,
    pub operators: Vec<Value>,
    subtask: Option<String>,
    part: &'static str,
    open: Vec<Node>,
}

/// A handle that was opened and not yet closed.
struct Node {
    object: Map<String, Value>,
    /// Key under which the next handle goes.
    into: Into,
    output: bool,
}

#[derive(Clone)]
enum Into {
    Key(&'static str),
    List(&'static str),
    LocalFile(&'static str, String),
    LogOffset(i64),
}

impl<'d> Tree<'d> {
    pub fn new(directory: &'d str, checkpointed: bool, named: bool) -> Self {
        let (masters, operators, open) = Default::default();
        Self { directory, checkpointed, named, masters, operators, subtask: None, part: "", open }
    }

    pub fn add(&mut self, event: Event<'_>) {
        match event {
            Event::Master { name, version, bytes } => {
                self.masters.push(json!({ "name": name, "version": version, "bytes": bytes }));
            }
            Event::Operator(operator) => self.begin_operator(&operator),
            Event::FullyFinished => self.operator().insert("fullyFinished".into(), true.into()).map_or((), drop),
            Event::Subtask { index, finished } => self.begin_subtask(index, finished),
            Event::Part(part) => self.part = part_key(part),
            Event::Open(handle) => self.begin(handle),
            Event::State { name, mode, offsets } => {
                let state = json!({ "mode": mode_word(mode), "offsets": numbers(offsets) });
                self.top()["states"][name.as_ref()] = state;
            }
            Event::Directories { task_owned, shared, empty } => self.directories(&task_owned, &shared, empty),
            Event::List(list) => self.begin_list(list),
            Event::LocalFile(name) => self.local_file(name),
            Event::LogOffset(offset) => self.open.last_mut().expect("an open handle").into = Into::LogOffset(offset),
            Event::Stream { stream, .. } => {
                let leaf = self.leaf(&stream);
                self.place(leaf);
            }
            Event::Close(tail) => self.end(tail),
        }
    }

    fn operator(&mut self) -> &mut Map<String, Value> {
        self.operators.last_mut().and_then(Value::as_object_mut).expect("an operator came before")
    }

    fn begin_operator(&mut self, operator: &Operator<'_>) {
        let mut object = json!({
            "operatorId": operator.hex_id(), "parallelism": operator.parallelism,
            "maxParallelism": operator.max_parallelism, "fullyFinished": false, "subtasks": {},
        });
        for (key, text) in [("name", &operator.name), ("uid", &operator.uid)] {
            if self.named {
                object[key] = json!(text);
            }
        }
        self.operators.push(object);
        self.subtask = None;
    }

    fn begin_subtask(&mut self, index: u32, finished: bool) {
        let subtask = if finished { json!({ "finished": true }) } else { json!({}) };
        let subtasks = self.operator()["subtasks"].as_object_mut().expect("an object");
        assert!(subtasks.insert(index.to_string(), subtask).is_none(), "subtask {index} comes twice");
        self.subtask = Some(index.to_string());
    }

    fn top(&mut self) -> &mut Map<String, Value> {
        &mut self.open.last_mut().expect("an open handle").object
    }

    fn begin(&mut self, handle: Handle<'_>) {
        let output = self.part == "resultSubpartition";
        let (object, into) = opened(handle, output);
        let Value::Object(object) = object else { unreachable!("handles are objects") };
        self.open.push(Node { object, into, output });
    }

    fn begin_list(&mut self, list: List) {
        let (key, into) = match list {
            List::Metadata => return self.open.last_mut().expect("an open handle").into = Into::Key("meta"),
            List::Shared => ("shared", Into::LocalFile("shared", String::new())),
            List::Private => ("private", Into::LocalFile("private", String::new())),
            List::Materialized => ("materialized", Into::List("materialized")),
            List::Increments => ("nonMaterialized", Into::List("nonMaterialized")),
        };
        self.top().insert(key.into(), json!([]));
        self.open.last_mut().expect("an open handle").into = into;
    }

    fn local_file(&mut self, name: Cow<'_, str>) {
        let into = &mut self.open.last_mut().expect("an open handle").into;
        let Into::LocalFile(_, current) = into else { panic!("a local file outside of a list") };
        *current = name.into_owned();
    }

    fn directories(&mut self, task_owned: &str, shared: &str, empty: bool) {
        let class =
            if empty { "EmptyFileMergingOperatorStreamStateHandle" } else { "FileMergingOperatorStreamStateHandle" };
        let top = self.top();
        top.insert("class".into(), class.into());
        top.insert("TaskOwnedDirHandle".into(), task_owned.into());
        top.insert("SharedDirHandle".into(), shared.into());
    }

    fn end(&mut self, tail: Tail<'_>) {
        let top = self.top();
        match tail {
            Tail::None => (),
            Tail::Changelog { materialization, checkpoint } => {
                top.insert("materializationId".into(), json!(materialization));
                top.insert("checkpointId".into(), json!(checkpoint));
            }
            Tail::FileIncrement { size, checkpointed_size, storage } => {
                top.insert("stateSize".into(), json!(size));
                top.insert("checkpointedSize".into(), json!(checkpointed_size));
                top.insert("storageIdentifier".into(), json!(storage));
            }
            Tail::MergedChannel(bytes) => {
                top.insert("serializedChannelOffsetsLength".into(), json!(bytes));
            }
        }
        let Node { mut object, .. } = self.open.pop().expect("an open handle");
        // Lists of local files are maps to Flink, in no order of their own.
        for key in ["shared", "private"] {
            if let Some(Value::Array(files)) = object.get_mut(key) {
                files.sort_by(|a, b| a["localPath"].as_str().cmp(&b["localPath"].as_str()));
            }
        }
        let size = own_size(&object);
        object.insert("stateSize".into(), size.into());
        let class = object["class"].as_str().expect("a class").to_owned();
        if self.checkpointed && (class.starts_with("KeyGroups") || class == "InMemoryChangelogStateHandle") {
            object.insert("checkpointedSize".into(), size.into());
        }
        self.place(Value::Object(object));
    }

    /// Puts a finished handle where it belongs.
    fn place(&mut self, handle: Value) {
        let Some(node) = self.open.last_mut() else { return self.place_in_operator(handle) };
        let (key, entry) = match node.into.clone() {
            Into::Key(key) => {
                node.object.insert(key.into(), handle);
                return;
            }
            Into::List(key) => (key, handle),
            Into::LocalFile(key, name) => (key, json!({ "localPath": name, "handle": handle })),
            Into::LogOffset(offset) => ("handles", json!({ "offset": offset, "handle": handle })),
        };
        node.object[key].as_array_mut().expect("a list").push(entry);
        assert!(!node.output || key != "handles");
    }

    fn place_in_operator(&mut self, handle: Value) {
        let (part, subtask) = (self.part, self.subtask.clone());
        let operator = self.operator();
        match subtask {
            None => drop(operator.insert(part.into(), handle)),
            Some(index) => {
                let list = &mut operator["subtasks"][index][part];
                match list {
                    Value::Array(list) => list.push(handle),
                    _ => *list = json!([handle]),
                }
            }
        }
    }

    fn leaf(&self, stream: &Stream<'_>) -> Value {
        match stream {
            Stream::Inline { name, bytes } => {
                json!({ "class": "ByteStreamStateHandle", "handleName": name, "size": bytes })
            }
            Stream::File { path, size } => json!({ "class": "FileStateHandle", "path": path, "size": size }),
            Stream::Relative { path, size } => {
                let place = resolve(self.directory, path).expect("a bare name");
                json!({ "class": "RelativeFileStateHandle", "relativePath": path, "path": place, "size": size })
            }
            Stream::Segment { path, start, size, scope, logical_file } => {
                let scope = if *scope == Scope::Shared { "SHARED" } else { "EXCLUSIVE" };
                json!({
                    "class": "SegmentFileStateHandle", "path": path, "startPos": start, "size": size, "scope": scope,
                    "logicalFileId": logical_file,
                })
            }
            Stream::EmptySegment => json!({ "class": "EmptySegmentFileStateHandle", "size": 0 }),
        }
    }

    /// The operators with the sizes that Flink sums up.
    pub fn sized_operators(mut self) -> Vec<Value> {
        for operator in &mut self.operators {
            let mut sum = operator.get("coordinatorState").map_or(0, own_leaf_size);
            for (_, subtask) in operator["subtasks"].as_object_mut().expect("an object") {
                let parts = subtask.as_object().expect("an object").values().filter_map(Value::as_array).flatten();
                let size: i64 = parts.map(|handle| handle["stateSize"].as_i64().expect("a size")).sum();
                subtask["stateSize"] = size.into();
                sum += size;
            }
            operator["stateSize"] = sum.into();
        }
        self.operators
    }
}

fn opened(handle: Handle<'_>, output: bool) -> (Value, Into) {
    let delegate = Into::Key("delegate");
    match handle {
        Handle::OperatorState { .. } => (json!({ "class": "OperatorStreamStateHandle", "states": {} }), delegate),
        Handle::KeyGroups { savepoint, groups, offsets } => {
            let class = if savepoint { "KeyGroupsSavepointStateHandle" } else { "KeyGroupsStateHandle" };
            (ranged(groups, json!({ "class": class, "offsets": numbers(offsets) })), delegate)
        }
        Handle::Incremental { checkpoint, backend, groups, checkpointed_size } => {
            let class = "IncrementalRemoteKeyedStateHandle";
            let object = json!({ "class": class, "checkpointId": checkpoint, "backendIdentifier": backend });
            (with_checkpointed_size(ranged(groups, object), checkpointed_size), Into::Key("meta"))
        }
        Handle::Changelog { groups, checkpointed_size } => {
            let object = ranged(groups, json!({ "class": "ChangelogStateBackendHandleImpl" }));
            (with_checkpointed_size(object, checkpointed_size), Into::List("materialized"))
        }
        Handle::MemoryIncrement { groups, from, to, changes, bytes } => {
            let object = json!({
                "class": "InMemoryChangelogStateHandle", "from": from.to_string(), "to": to.to_string(),
                "changes": changes, "changeBytes": bytes,
            });
            (ranged(groups, object), delegate)
        }
        Handle::FileIncrement { groups } => {
            let object = json!({ "class": "ChangelogStateHandleStreamImpl", "handles": [] });
            (ranged(groups, object), Into::LogOffset(0))
        }
        Handle::Channel { subtask, place: (a, b), offsets, size } => {
            let (class, info) = if output {
                (
                    "ResultSubpartitionStateHandle",
                    format!("ResultSubpartitionInfo{{partitionIdx={a}, subPartitionIdx={b}}}"),
                )
            } else {
                ("InputChannelStateHandle", format!("InputChannelInfo{{gateIdx={a}, inputChannelIdx={b}}}"))
            };
            let offsets = numbers(offsets);
            let object = json!({
                "class": class, "subtaskIndex": subtask, "info": info, "offsets": offsets, "stateSize": size,
            });
            (object, delegate)
        }
        Handle::MergedChannel { subtask, size } => {
            let class = if output { "MergedResultSubpartitionStateHandle" } else { "MergedInputChannelStateHandle" };
            (json!({ "class": class, "subtaskIndex": subtask, "stateSize": size }), delegate)
        }
    }
}

fn ranged(groups: KeyGroups, mut object: Value) -> Value {
    object["keyGroupStart"] = groups.first.into();
    object["keyGroupCount"] = groups.count.into();
    object
}

fn with_checkpointed_size(mut object: Value, size: Option<i64>) -> Value {
    if let Some(size) = size {
        object["checkpointedSize"] = size.into();
    }
    object
}

fn numbers(offsets: Offsets<'_>) -> Vec<i64> {
    offsets.iter().collect()
}

fn part_key(part: Part) -> &'static str {
    match part {
        Part::Coordinator => "coordinatorState",
        Part::ManagedOperator => "managedOperator",
        Part::RawOperator => "rawOperator",
        Part::ManagedKeyed => "managedKeyed",
        Part::RawKeyed => "rawKeyed",
        Part::InputChannel => "inputChannel",
        Part::OutputChannel => "resultSubpartition",
    }
}

fn mode_word(mode: Mode) -> &'static str {
    match mode {
        Mode::Split => "SPLIT_DISTRIBUTE",
        Mode::Union => "UNION",
        Mode::Broadcast => "BROADCAST",
    }
}

fn own_leaf_size(handle: &Value) -> i64 {
    handle.get("size").or(handle.get("stateSize")).and_then(Value::as_i64).expect("a size")
}

/// `getStateSize` of each class: what the handle says itself, or the sum of what it holds.
fn own_size(object: &Map<String, Value>) -> i64 {
    if let Some(size) = object.get("stateSize").or(object.get("changeBytes")) {
        return size.as_i64().expect("a size");
    }
    let single = ["delegate", "meta"].into_iter().filter_map(|key| object.get(key));
    let lists = ["shared", "private", "materialized", "nonMaterialized"].into_iter().filter_map(|key| object.get(key));
    let entries = lists.filter_map(Value::as_array).flatten().map(|entry| entry.get("handle").unwrap_or(entry));
    single.chain(entries).map(own_leaf_size).sum()
}
