//! Compares the shape of two JSON values: every key the recording has, and its JSON type; values aside.

use serde_json::Value;

/// Pointers at which one side may be null because a world file cannot say it (savepoints, failed checkpoints).
pub type Nullable<'a> = &'a [&'a str];

/// The places where `ours` lacks what `recorded` has, or has it with another type. Of an array the first element counts.
pub fn differences(recorded: &Value, ours: &Value, nullable: Nullable) -> Vec<String> {
    let mut found = Vec::new();
    compare(recorded, ours, nullable, "", &mut found);
    found
}

fn compare(recorded: &Value, ours: &Value, nullable: Nullable, place: &str, found: &mut Vec<String>) {
    let may_be_null = nullable.iter().any(|end| place.ends_with(end));
    match (recorded, ours) {
        (Value::Null, _) | (_, Value::Null) if may_be_null => {}
        (Value::Object(recorded), Value::Object(ours)) => {
            for (key, value) in recorded {
                let place = format!("{place}/{key}");
                match ours.get(key) {
                    Some(own) => compare(value, own, nullable, &place, found),
                    None => found.push(format!("{place} is missing")),
                }
            }
        }
        (Value::Array(recorded), Value::Array(ours)) => match (recorded.first(), ours.first()) {
            (Some(recorded), Some(ours)) => compare(recorded, ours, nullable, &format!("{place}/0"), found),
            (None, None) => {}
            (Some(_), None) if may_be_null => {}
            (recorded, _) => found.push(format!("{place}: recorded {}, ours not", emptiness(recorded.is_none()))),
        },
        _ if kind(recorded) == kind(ours) => {}
        _ => found.push(format!("{place}: recorded {}, ours {}", kind(recorded), kind(ours))),
    }
}

fn emptiness(empty: bool) -> &'static str {
    if empty { "empty" } else { "filled" }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "fraction",
        Value::Number(_) => "integer",
        Value::String(_) => "text",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
