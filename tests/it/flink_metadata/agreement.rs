//! Every recorded file is read as Flink itself read it, field by field.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use statewarden::flink_metadata::{Metadata, Properties, Reference, Snapshot, read, resolve, walk};

use super::fixtures::{self, Fixture};
use super::tree::Tree;

#[test]
fn every_file_is_read_as_flink_reads_it() {
    let fixtures = fixtures::all();
    assert!(fixtures.len() >= 153, "{} recorded files", fixtures.len());
    let wrong: Vec<String> = fixtures.iter().flat_map(differences).collect();
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

/// Fields of `expected.json` that say how it was made.
const NOT_READ: [&str; 3] = ["producedBy", "flinkVersion", "externalPointer"];

fn differences(fixture: &Fixture) -> Vec<String> {
    let ours = match read_all(fixture) {
        Ok(ours) => ours,
        Err(error) => return vec![format!("{}: {error}", fixture.name())],
    };
    let mut wrong = Vec::new();
    let expected = fixture.expected.as_object().expect("an object");
    for (key, value) in expected.iter().filter(|(key, _)| !NOT_READ.contains(&key.as_str())) {
        let mut at = Vec::new();
        compare(value, ours.get(key).unwrap_or(&Value::Null), key, &mut at);
        wrong.extend(at.iter().map(|difference| format!("{}: {difference}", fixture.name())));
    }
    for key in ours.as_object().expect("an object").keys().filter(|key| !expected.contains_key(*key)) {
        wrong.push(format!("{}: {key} is not in expected.json", fixture.name()));
    }
    wrong
}

fn compare(expected: &Value, ours: &Value, place: &str, wrong: &mut Vec<String>) {
    match (expected, ours) {
        (Value::Object(expected), Value::Object(ours)) => {
            let keys: std::collections::BTreeSet<&String> = expected.keys().chain(ours.keys()).collect();
            for key in keys {
                match (expected.get(key), ours.get(key)) {
                    (Some(expected), Some(ours)) => compare(expected, ours, &format!("{place}/{key}"), wrong),
                    (expected, ours) => wrong.push(format!("{place}/{key}: Flink {expected:?}, ours {ours:?}")),
                }
            }
        }
        (Value::Array(expected), Value::Array(ours)) if expected.len() == ours.len() => {
            for (at, (expected, ours)) in expected.iter().zip(ours).enumerate() {
                compare(expected, ours, &format!("{place}/{at}"), wrong);
            }
        }
        _ if expected == ours => (),
        _ => wrong.push(format!("{place}: Flink {expected}, ours {ours}")),
    }
}

/// What this program reads, in the shape of `expected.json`.
fn read_all(fixture: &Fixture) -> Result<Value, String> {
    let metadata = read(&fixture.bytes).map_err(|error| error.to_string())?;
    let directory = directory(&fixture.expected);
    let mut tree = Tree::new(&directory, knows_checkpointed_size(&fixture.expected), metadata.version >= 5);
    let frame = walk(&fixture.bytes, |event| tree.add(event)).map_err(|error| error.to_string())?;
    assert_eq!(frame.version, metadata.version);
    let masters = std::mem::take(&mut tree.masters);
    let master_bytes: i64 = masters.iter().map(|state| state["bytes"].as_i64().expect("a number")).sum();
    let operators = tree.sized_operators();
    let size: i64 = operators.iter().map(|operator| operator["stateSize"].as_i64().expect("a size")).sum();
    let mut classes = BTreeMap::new();
    count_classes(&json!(operators), &mut classes);
    assert_eq!(metadata.operators.len(), operators.len());
    let magic = fixture.bytes[..4].try_into().expect("four bytes");
    Ok(json!({
        "metadataFileSize": fixture.bytes.len(),
        "magic": format!("{:#010x}", u32::from_be_bytes(magic)),
        "metadataVersion": metadata.version,
        "checkpointId": metadata.checkpoint_id,
        "checkpointProperties": metadata.properties.as_ref().map(properties),
        "masterStates": masters,
        "totalStateSize": size + master_bytes,
        "operatorStateSize": size,
        "referencedFiles": files(&metadata, &directory),
        "referencedDirectories": metadata.directories,
        "inlineHandles": metadata.inline.handles,
        "inlineBytes": metadata.inline.bytes,
        "handleClassCounts": classes,
        "operatorCount": metadata.operators.len(),
        "operators": operators,
    }))
}

/// The directory the file was loaded from. Where Flink made a missing authority explicit, it is in what it resolved.
fn directory(expected: &Value) -> String {
    let pointer = expected["externalPointer"].as_str().expect("a path");
    let relative = expected["referencedFiles"].as_array().expect("a list").iter().find_map(|file| {
        let name = file.get("relativePath")?.as_str()?;
        file["path"].as_str()?.strip_suffix(name)?.strip_suffix('/')
    });
    let directory = relative.unwrap_or(pointer);
    let path = |uri: &str| match uri.split_once("://") {
        Some((_, rest)) => rest[rest.find('/').unwrap_or(rest.len())..].to_owned(),
        None => uri.split_once(':').map_or(uri, |(_, path)| path).to_owned(),
    };
    assert_eq!(path(directory), path(pointer));
    directory.to_owned()
}

fn knows_checkpointed_size(expected: &Value) -> bool {
    let version = expected["flinkVersion"].as_str().expect("a version");
    let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    (parts.next(), parts.next()) >= (Some(1), Some(15))
}

fn files(metadata: &Metadata<'_>, directory: &str) -> Vec<Value> {
    let mut files: Vec<Value> = metadata.files.iter().map(|file| one_file(file, directory)).collect();
    files.sort_by(|a, b| a["path"].as_str().cmp(&b["path"].as_str()));
    files
}

fn one_file(file: &Reference<'_>, directory: &str) -> Value {
    let class = match (file.relative, file.segments) {
        (true, _) => "RelativeFileStateHandle",
        (false, 0) => "FileStateHandle",
        (false, _) => "SegmentFileStateHandle",
    };
    let path = if file.relative { resolve(directory, &file.path) } else { Some(file.path.to_string()) };
    let mut object = json!({
        "path": path, "handleClass": class, "stateSize": file.size, "references": file.references,
    });
    if file.relative {
        object["relativePath"] = json!(file.path);
    }
    object
}

fn properties(properties: &Properties) -> Value {
    let kind = match &properties.snapshot {
        Snapshot::Unknown => Value::Null,
        Snapshot::Checkpoint { name, sharing } => {
            json!({ "class": "CheckpointType", "name": name, "sharingFilesStrategy": sharing })
        }
        Snapshot::Savepoint { name, format, action } => json!({
            "class": "SavepointType", "name": name, "formatType": format, "postCheckpointAction": action,
        }),
    };
    json!({
        "checkpointType": kind,
        "forced": properties.forced,
        "discardSubsumed": properties.discard_subsumed,
        "discardFinished": properties.discard_finished,
        "discardCancelled": properties.discard_cancelled,
        "discardFailed": properties.discard_failed,
        "discardSuspended": properties.discard_suspended,
        "unclaimed": properties.unclaimed,
    })
}

fn count_classes(value: &Value, counts: &mut BTreeMap<String, u64>) {
    match value {
        Value::Object(object) => {
            if let Some(class) = object.get("class").and_then(Value::as_str) {
                *counts.entry(class.to_owned()).or_default() += 1;
            }
            object.values().for_each(|value| count_classes(value, counts));
        }
        Value::Array(list) => list.iter().for_each(|value| count_classes(value, counts)),
        _ => (),
    }
}
