//! Holds the text of a configuration file against the schema of [`super::file`]: unknown keys, wrong types and missing keys,
//! all at once and with their lines. serde alone would stop at the first.
//!
//! What does not fit is reported and left out, so that the checks that follow see all the rest. No value is ever quoted
//! except those of keys with a fixed choice of words: a value in the wrong place may be a secret.

use std::ops::Range;

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::error::{Report, below, line_at};
use super::file::{self, FileConfig};
use crate::domain::text::printable;

/// Reads the text of a configuration file; what does not fit is in `report`. `None` for what is no TOML.
pub(super) fn read(text: &str, report: &mut Report) -> Option<FileConfig> {
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let line = line_of(text, &error.span().unwrap_or_default());
        report.error_at_line(line, "", format!("this is not TOML: {}", error.message()), "correct the line");
    }
    if !errors.is_empty() {
        return None;
    }
    let schema = file::schema();
    let value = Shape { text, root: &schema, report }.closed_table("", table.get_ref(), &schema);
    let file = serde_json::from_value(value).ok();
    if file.is_none() {
        // Not reached as long as the schema is made from the same types: it objects to all that serde would object to.
        let remedy = "compare it with `statewarden config example`";
        report.error("", "the file does not have the shape of a configuration", remedy);
    }
    file
}

struct Shape<'a> {
    text: &'a str,
    root: &'a Value,
    report: &'a mut Report,
}

impl<'a> Shape<'a> {
    fn value(&mut self, key: &str, value: &Spanned<DeValue<'_>>, schema: &'a Value) -> Option<Value> {
        self.report.seen_at_line(key, line_of(self.text, &value.span()));
        let schema = self.resolve(schema);
        if let Some(choices) = choices(schema) {
            return self.choice(key, value.get_ref(), &choices);
        }
        match (schema["type"].as_str().unwrap_or_default(), value.get_ref()) {
            ("object", DeValue::Table(table)) if schema["properties"].is_object() => {
                Some(self.closed_table(key, table, schema))
            }
            ("object", DeValue::Table(table)) => Some(self.open_table(key, table, &schema["additionalProperties"])),
            ("array", DeValue::Array(items)) => self.list(key, items, &schema["items"]),
            ("string", DeValue::String(text)) => Some(Value::from(text.as_ref())),
            // A date may be written with or without quotes.
            ("string", DeValue::Datetime(datetime)) => Some(Value::from(datetime.to_string())),
            ("boolean", DeValue::Boolean(flag)) => Some(Value::from(*flag)),
            ("integer", DeValue::Integer(number)) => {
                let number = i64::from_str_radix(number.as_str(), number.radix()).ok();
                self.whole_number(key, number, schema)
            }
            ("number", DeValue::Integer(number)) => self.number(key, number.as_str()),
            ("number", DeValue::Float(number)) => self.number(key, number.as_str()),
            (wanted, found) => self.wrong_type(key, wanted, found),
        }
    }

    /// A list; `None` if any item does not fit, since the places of the others hang on their numbers.
    fn list(&mut self, key: &str, items: &DeArray<'_>, schema: &'a Value) -> Option<Value> {
        let items: Vec<_> =
            items.iter().enumerate().map(|(at, item)| self.value(&format!("{key}[{at}]"), item, schema)).collect();
        items.into_iter().collect::<Option<_>>().map(Value::Array)
    }

    /// A table whose keys are all known.
    fn closed_table(&mut self, key: &str, table: &DeTable<'_>, schema: &'a Value) -> Value {
        let mut out = Map::new();
        let known = &schema["properties"];
        for (name, value) in table {
            let path = below(key, name.get_ref());
            match known.get(name.get_ref().as_ref()) {
                Some(schema) => {
                    if let Some(value) = self.value(&path, value, schema) {
                        out.insert(name.get_ref().to_string(), value);
                    }
                }
                None => self.unknown_key(&path, name, known),
            }
        }
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !table.contains_key(name) {
                let meaning = self.resolve(&known[name])["description"].as_str().unwrap_or_default();
                let meaning = known[name]["description"].as_str().unwrap_or(meaning);
                self.report.error(&below(key, name), "this key is missing", format!("add `{name} = ...`: {meaning}"));
            }
        }
        Value::Object(out)
    }

    /// A table whose keys are names of the writer's own.
    fn open_table(&mut self, key: &str, table: &DeTable<'_>, schema: &'a Value) -> Value {
        let entries = table.iter().filter_map(|(name, value)| {
            let value = self.value(&below(key, name.get_ref()), value, schema)?;
            Some((name.get_ref().to_string(), value))
        });
        Value::Object(entries.collect())
    }

    fn choice(&mut self, key: &str, value: &DeValue<'_>, choices: &[&'a str]) -> Option<Value> {
        let list = choices.iter().map(|choice| format!("`{choice}`")).collect::<Vec<_>>().join(", ");
        match value {
            DeValue::String(text) if choices.contains(&text.as_ref()) => return Some(Value::from(text.as_ref())),
            DeValue::String(text) => {
                let near = nearest(text, choices.iter().copied());
                let remedy = near.map_or(format!("write one of {list}"), |near| format!("did you mean `{near}`?"));
                self.report.error(key, format!("`{}` is none of the words known here", printable(text)), remedy);
            }
            other => {
                self.report.error(
                    key,
                    format!("the file has {}", type_name(other)),
                    format!("write one of {list}, in quotes"),
                );
            }
        }
        None
    }

    fn whole_number(&mut self, key: &str, number: Option<i64>, schema: &Value) -> Option<Value> {
        let min = schema["minimum"].as_i64().unwrap_or(i64::MIN);
        let max = if schema["format"] == "uint32" { i64::from(u32::MAX) } else { i64::MAX };
        match number {
            Some(number) if (min..=max).contains(&number) => return Some(Value::from(number)),
            Some(number) if number < min => {
                self.report.error(key, format!("{number} is too small"), format!("write a whole number from {min} on"));
            }
            _ => self.report.error(key, "the number is too large", format!("write a whole number up to {max}")),
        }
        None
    }

    fn number(&mut self, key: &str, text: &str) -> Option<Value> {
        let number = text.parse::<f64>().ok().and_then(serde_json::Number::from_f64);
        if number.is_none() {
            self.report.error(key, "this is no finite number", "write a decimal number such as 0.5");
        }
        number.map(Value::Number)
    }

    fn wrong_type(&mut self, key: &str, wanted: &str, found: &DeValue<'_>) -> Option<Value> {
        let (wanted, example) = match wanted {
            "object" => ("a table", "write a table, such as `[name]` with its keys below"),
            "array" => ("a list", "write a list in brackets, or repeated `[[...]]` headers for a list of tables"),
            "string" => ("text", "put the value in double quotes"),
            "boolean" => ("true or false", "write true or false, without quotes"),
            "integer" => ("a whole number", "write a whole number, without quotes"),
            _ => ("a number", "write a number, without quotes"),
        };
        self.report.error(key, format!("{wanted} is expected here, the file has {}", type_name(found)), example);
        None
    }

    fn unknown_key(&mut self, path: &str, name: &Spanned<std::borrow::Cow<'_, str>>, known: &Value) {
        let line = line_of(self.text, &name.span());
        self.report.seen_at_line(path, line);
        let remedy = self.remedy_for_unknown(name.get_ref(), known);
        self.report.error(path, "there is no such key", remedy);
    }

    fn remedy_for_unknown(&self, name: &str, known: &Value) -> String {
        let here = || known.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
        if ["token", "password", "delegation_token", "bearer_token", "basic_password"].contains(&name) {
            let stems = || here().filter_map(|key| key.strip_suffix("_env"));
            let same = stems().find(|stem| *stem == name);
            let stem = same.or_else(|| stems().rfind(|stem| stem.ends_with(name))).unwrap_or(name);
            return format!(
                "remove the secret from the file and replace it at its origin; name the variable that holds it in \
                 `{stem}_env`, or the file in `{stem}_file`"
            );
        }
        if let Some(near) = nearest(name, here()) {
            return format!("did you mean `{near}`?");
        }
        if let Some(section) = self.section_with(name) {
            return format!("`{}` belongs under {section}", printable(name));
        }
        format!("remove it; known here: {}", here().collect::<Vec<_>>().join(", "))
    }

    /// The header of the section that knows a key, for keys that stand in the wrong one.
    fn section_with(&self, name: &str) -> Option<String> {
        self.root["properties"].as_object()?.iter().find_map(|(section, schema)| {
            let table = self.resolve(schema);
            if table["properties"].get(name).is_some() {
                return Some(format!("[{section}]"));
            }
            self.resolve(&table["items"])["properties"].get(name).map(|_| format!("[[{section}]]"))
        })
    }

    fn resolve(&self, schema: &'a Value) -> &'a Value {
        let name = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/$defs/"));
        name.map_or(schema, |name| &self.root["$defs"][name])
    }
}

/// The words a schema allows, if it is a fixed choice of words.
fn choices(schema: &Value) -> Option<Vec<&str>> {
    if let Some(words) = schema["enum"].as_array() {
        return Some(words.iter().filter_map(Value::as_str).collect());
    }
    let variants = schema["oneOf"].as_array()?.iter();
    let words = variants.flat_map(|variant| match &variant["enum"] {
        Value::Array(words) => words.iter().collect(),
        _ => vec![&variant["const"]],
    });
    Some(words.filter_map(Value::as_str).collect())
}

fn line_of(text: &str, span: &Range<usize>) -> usize {
    line_at(text.as_bytes(), span.start)
}

fn type_name(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// The known word that is at most two edits away, and closer than a rewrite.
fn nearest<'k>(word: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    known
        .map(|candidate| (edits(&word.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= 2 && *distance * 2 < candidate.len())
        .min()
        .map(|(_, candidate)| candidate)
}

/// Levenshtein distance.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
