//! The operator guides name every flag, variable, configuration key and cause, and what they show works as shown.

use std::collections::BTreeSet;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser as _};
use serde_json::Value;
use statewarden::cli::args::{Cli, SchemaOf};
use statewarden::cli::commands::schema::schema;

use super::text_of;

const GUIDES: [&str; 2] = ["docs/operator-guide.md", "docs/zh/operator-guide.md"];

/// Pages with commands and settings for people to copy.
const SHOWING: [&str; 4] =
    ["README.md", "docs/operator-guide.md", "docs/zh/operator-guide.md", "docs/zh/quick-start.md"];

/// Flags and their environment variables, of all commands.
fn flags() -> BTreeSet<(String, String)> {
    let mut flags = BTreeSet::new();
    let mut pending = vec![Cli::command()];
    while let Some(command) = pending.pop() {
        for flag in command.get_arguments() {
            if let (Some(long), Some(variable)) = (flag.get_long(), flag.get_env()) {
                flags.insert((format!("--{long}"), variable.to_string_lossy().into_owned()));
            }
        }
        pending.extend(command.get_subcommands().cloned());
    }
    flags
}

#[test]
fn every_flag_is_in_the_guides_with_its_variable() {
    let flags = flags();
    assert!(flags.len() > 20, "{flags:?}");
    for guide in GUIDES {
        let text = text_of(guide);
        for (flag, variable) in &flags {
            let row = format!("| `{flag}");
            let row = text.lines().find(|line| {
                line.starts_with(&row) && !line[row.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '-')
            });
            let row = row.unwrap_or_else(|| panic!("{guide} has no row for {flag}"));
            assert!(row.contains(&format!("`{variable}`")), "{guide}: {row}");
        }
    }
}

#[test]
fn every_configuration_key_is_in_the_guides() {
    let schema = schema(SchemaOf::Config);
    let tables = schema["$defs"].as_object().expect("definitions").values().chain([&schema]);
    let keys: BTreeSet<&String> =
        tables.filter_map(|table| table["properties"].as_object()).flat_map(|p| p.keys()).collect();
    assert!(keys.len() > 60, "{keys:?}");
    for guide in GUIDES {
        let text = text_of(guide);
        for key in &keys {
            let named = [format!("`{key}`"), format!("`[{key}"), format!("`[[{key}")];
            assert!(named.iter().any(|name| text.contains(name)), "{guide} does not name the key `{key}`");
        }
    }
}

#[test]
fn every_cause_of_a_gap_is_in_the_guides() {
    let schema = schema(SchemaOf::Inventory);
    let causes: Vec<&str> = constants(&schema["$defs"]["Cause"]);
    assert!(causes.len() > 10, "{causes:?}");
    for guide in GUIDES {
        let text = text_of(guide);
        for cause in &causes {
            assert!(text.contains(&format!("| `{cause}` |")), "{guide} has no row for the cause {cause}");
        }
    }
}

fn constants(schema: &Value) -> Vec<&str> {
    schema["oneOf"].as_array().expect("choices").iter().filter_map(|choice| choice["const"].as_str()).collect()
}

/// The blocks of one language in a page.
pub fn blocks(page: &str, language: &str) -> Vec<String> {
    let text = text_of(page);
    let fence = format!("```{language}\n");
    text.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn commands_that_are_shown_are_taken() {
    let mut seen = 0;
    for page in SHOWING {
        for line in blocks(page, "sh").iter().flat_map(|block| block.lines()) {
            let words: Vec<&str> = line.split_whitespace().take_while(|word| !ends_command(word)).collect();
            let Some(start) = words.iter().position(|word| *word == "statewarden") else { continue };
            let taken = Cli::try_parse_from(&words[start..]);
            let is_taken = taken.as_ref().map_or_else(|error| error.kind() == ErrorKind::DisplayVersion, |_| true);
            assert!(is_taken, "{page}: `{line}`: {}", taken.err().map(|error| error.to_string()).unwrap_or_default());
            seen += 1;
        }
    }
    assert!(seen > 10, "only {seen} commands were found");
}

fn ends_command(word: &str) -> bool {
    word.starts_with(['#', '>', '|', ';', '&', '2'])
}

/// As the program holds a file against the schema: a date is a text.
fn with_dates_as_text(value: toml::Value) -> Value {
    match value {
        toml::Value::Table(table) => table.into_iter().map(|(key, value)| (key, with_dates_as_text(value))).collect(),
        toml::Value::Array(items) => items.into_iter().map(with_dates_as_text).collect(),
        toml::Value::Datetime(moment) => Value::String(moment.to_string()),
        other => serde_json::to_value(other).expect("a value"),
    }
}

#[test]
fn settings_that_are_shown_have_the_shape_of_a_configuration() {
    let validator = jsonschema::validator_for(&schema(SchemaOf::Config)).expect("a schema");
    let mut seen = 0;
    for page in SHOWING {
        for block in blocks(page, "toml") {
            let table: toml::Table = block.parse().unwrap_or_else(|error| panic!("{page}: {error}\n{block}"));
            let value = with_dates_as_text(toml::Value::Table(table));
            if let Err(error) = validator.validate(&value) {
                panic!("{page}: {error} at {}\n{block}", error.instance_path);
            }
            seen += 1;
        }
    }
    assert!(seen > 8, "only {seen} blocks were found");
}

/// The report in the README is the one the demo prints, moments aside.
#[test]
fn the_report_that_is_shown_is_the_one_of_the_demo() {
    let mut command = assert_cmd::Command::cargo_bin("statewarden").expect("the program");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("STATEWARDEN_")) {
        command.env_remove(name);
    }
    let output = command.arg("demo").output().expect("the demo").stdout;
    let printed = String::from_utf8(output).expect("text");
    let shown = blocks("README.md", "text").remove(0);
    assert!(shown.lines().count() > 20, "{shown}");
    let has = |line: &str| printed.lines().any(|other| other.trim_end() == line.trim_end());
    let strangers: Vec<&str> = shown.lines().filter(|line| !line.starts_with("As of ") && !has(line)).collect();
    assert!(strangers.is_empty(), "the demo does not print:\n{}\nbut:\n{printed}", strangers.join("\n"));
}
