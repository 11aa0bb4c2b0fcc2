//! The starter files: they load as they are, fit the schema, and show every key.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Place;
use crate::config::example::{EXAMPLE, EXAMPLE_STORAGE};
use crate::config::file::schema;
use crate::config::load::LoadOptions;

#[test]
fn both_load_without_errors_and_refusals() {
    for text in [EXAMPLE, EXAMPLE_STORAGE] {
        let config = Place::with_file(text).load(&LoadOptions::default()).expect("a sound example");
        assert_eq!(config.refusals, []);
        assert!(config.hdfs.is_some() && config.ds.is_some());
    }
}

#[test]
fn both_fit_the_published_schema() {
    let validator = jsonschema::validator_for(&schema()).expect("a schema");
    for text in [EXAMPLE, EXAMPLE_STORAGE] {
        let value = json_of(&toml::Value::Table(text.parse().expect("TOML")));
        let errors: Vec<_> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new());
    }
}

/// TOML as an editor with a JSON Schema sees it: times are text.
fn json_of(value: &toml::Value) -> Value {
    match value {
        toml::Value::Datetime(moment) => Value::from(moment.to_string()),
        toml::Value::Array(items) => items.iter().map(json_of).collect(),
        toml::Value::Table(table) => table.iter().map(|(key, value)| (key.clone(), json_of(value))).collect(),
        other => serde_json::to_value(other).expect("JSON"),
    }
}

#[test]
fn every_key_of_the_schema_is_shown() {
    let (schema, shown) = (schema(), shown_keys(EXAMPLE));
    for (name, property) in schema["properties"].as_object().expect("properties") {
        let table = definition(&schema, property).or_else(|| definition(&schema, &property["items"]));
        let keys = table.and_then(|table| table["properties"].as_object());
        let names: Vec<&str> = keys.into_iter().flatten().map(|(key, _)| key.as_str()).collect();
        for key in &names {
            assert!(shown.contains(&(name.clone(), (*key).to_owned())), "[{name}] does not show {key}");
        }
        let itself = shown.iter().any(|(section, key)| section == name || (section.is_empty() && key == name));
        assert!(itself, "{name} is not shown");
    }
}

fn definition<'a>(schema: &'a Value, property: &Value) -> Option<&'a Value> {
    let name = property["$ref"].as_str()?.strip_prefix("#/$defs/")?;
    Some(&schema["$defs"][name])
}

/// Section and key of each assignment, also of those that stand in a comment without a space.
fn shown_keys(text: &str) -> BTreeSet<(String, String)> {
    let mut section = String::new();
    let mut keys = BTreeSet::new();
    for line in text.lines() {
        if let Some(header) = line.strip_prefix('[') {
            let name = header.trim_matches(['[', ']']);
            name.split('.').next().unwrap_or_default().clone_into(&mut section);
        } else if let Some((key, _)) = line.strip_prefix('#').unwrap_or(line).split_once(" = ")
            && !key.contains(' ')
        {
            keys.insert((section.clone(), key.to_owned()));
        }
    }
    keys
}
