//! One task definition: what it references and where it sets a state directory.
//!
//! `taskParams` is an object in answers, but a string of JSON where an old version wrote it. Nothing but references and the
//! matched spans of [`super::state_options`] leaves this module.

use std::collections::BTreeSet;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::state_options;
use crate::views::resources::{Reference, StateOption};

/// The fields of `taskParams` that can set a directory: program arguments, Flink options, SQL and shell text.
const TEXT_FIELDS: [&str; 4] = ["mainArgs", "others", "initScript", "rawScript"];

/// What decides which resource a task gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binding {
    /// The record id, up to 3.1: the master reads the name anew by id.
    ById,
    /// The full name, from 3.2 on. Tasks that were not edited since the upgrade still hold ids alone.
    ByName,
}

/// A task definition as answered.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireTask {
    pub(super) code: i64,
    pub(super) name: String,
    /// Whose it is.
    #[serde(default)]
    pub(super) user_id: Option<i64>,
    #[serde(default)]
    task_params: Params,
    #[serde(default)]
    resource_ids: Option<String>,
    #[serde(default)]
    pub(super) task_execute_type: Option<String>,
    #[serde(default)]
    pub(super) flag: Option<String>,
}

/// The parameters: `None` if they are neither an object nor the text of one.
struct Params(Option<serde_json::Map<String, Value>>);

impl Default for Params {
    fn default() -> Self {
        Self(Some(serde_json::Map::new()))
    }
}

impl<'de> Deserialize<'de> for Params {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = match Value::deserialize(deserializer)? {
            Value::String(text) if text.trim().is_empty() => Value::Null,
            Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::Bool(false)),
            value => value,
        };
        Ok(match value {
            Value::Object(map) => Self(Some(map)),
            Value::Null => Self::default(),
            _ => Self(None),
        })
    }
}

/// What a task contributes to its workflow.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Use {
    /// Resources.
    pub(super) references: BTreeSet<Reference>,
    /// UDF functions.
    pub(super) functions: BTreeSet<i64>,
    /// Directories.
    pub(super) state_options: BTreeSet<StateOption>,
}

/// The parameters of a task are not what the API gives; what it uses is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Garbled;

impl WireTask {
    /// Adds what this task uses to `to`.
    pub(super) fn add_use(&self, binding: Binding, to: &mut Use) -> Result<(), Garbled> {
        let params = self.task_params.0.as_ref().ok_or(Garbled)?;
        for field in TEXT_FIELDS {
            let text = params.get(field).and_then(Value::as_str).unwrap_or_default();
            to.state_options.extend(state_options::find(text).into_iter().map(|found| StateOption {
                key: found.key,
                value: found.value,
                field: field.to_owned(),
                task: self.name.clone(),
            }));
        }
        to.functions.extend(id_list(params.get("udfs"))?);
        let bound = resources(params)?;
        let stale_ids: BTreeSet<i64> = match binding {
            Binding::ById => BTreeSet::new(),
            Binding::ByName => bound.iter().filter(|r| r.name.is_some()).filter_map(|r| r.id).collect(),
        };
        to.references.extend(bound.iter().filter_map(|resource| resource.reference(binding)));
        let ids = self.resource_ids.as_deref().map_or(Ok(Vec::new()), ids_of_text)?;
        to.references.extend(ids.into_iter().filter(|id| !stale_ids.contains(id)).map(Reference::Id));
        Ok(())
    }
}

/// An element of `resourceList`, or `mainJar`.
struct Bound {
    id: Option<i64>,
    name: Option<String>,
    old_name: Option<String>,
}

impl Bound {
    fn reference(&self, binding: Binding) -> Option<Reference> {
        let id = self.id.map(Reference::Id);
        let name = self.name.clone().map(Reference::Name);
        let old_name = self.old_name.clone().map(Reference::Name);
        match binding {
            Binding::ById => id.or(name).or(old_name),
            Binding::ByName => name.or(id).or(old_name),
        }
    }
}

fn resources(params: &serde_json::Map<String, Value>) -> Result<Vec<Bound>, Garbled> {
    let list = match params.get("resourceList") {
        None | Some(Value::Null) => &[][..],
        Some(Value::Array(list)) => list,
        Some(_) => return Err(Garbled),
    };
    list.iter().chain(params.get("mainJar")).filter(|value| !is_nothing(value)).map(bound).collect()
}

/// The web UI leaves null or an empty text where nothing is chosen.
fn is_nothing(value: &Value) -> bool {
    value.is_null() || value.as_str() == Some("")
}

fn bound(value: &Value) -> Result<Bound, Garbled> {
    let Value::Object(map) = value else { return Err(Garbled) };
    let text = |key: &str| match map.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.is_empty())),
        Some(_) => Err(Garbled),
    };
    // Id 0 (2.0) and no id mean "by name".
    let id = match map.get("id") {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) if text.is_empty() => None,
        Some(Value::String(text)) => Some(text.parse().map_err(|_| Garbled)?),
        Some(value) => Some(value.as_i64().ok_or(Garbled)?),
    };
    Ok(Bound { id: id.filter(|id| *id > 0), name: text("resourceName")?, old_name: text("res")? })
}

fn id_list(value: Option<&Value>) -> Result<Vec<i64>, Garbled> {
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::String(text)) => ids_of_text(text),
        Some(value) => Ok(vec![value.as_i64().ok_or(Garbled)?]),
    }
}

fn ids_of_text(text: &str) -> Result<Vec<i64>, Garbled> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(|part| part.parse().map_err(|_| Garbled)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(json: &str, binding: Binding) -> Result<Use, Garbled> {
        let task: WireTask = serde_json::from_str(json).expect("a task");
        let mut used = Use::default();
        task.add_use(binding, &mut used).map(|()| used)
    }

    fn references(json: &str, binding: Binding) -> Vec<Reference> {
        used(json, binding).expect("understood").references.into_iter().collect()
    }

    fn task(params: &str, ids: &str) -> String {
        format!(r#"{{"code":1,"name":"t","taskParams":{params},"resourceIds":{ids}}}"#)
    }

    fn name(text: &str) -> Reference {
        Reference::Name(text.to_owned())
    }

    #[test]
    fn up_to_3_1_the_id_decides() {
        let both = task(r#"{"resourceList":[{"id":6,"resourceName":"/a","res":"a"}],"mainJar":{"id":7}}"#, r#""6,7""#);
        assert_eq!(references(&both, Binding::ById), [Reference::Id(6), Reference::Id(7)]);
        let legacy = task(r#"{"resourceList":[{"id":0,"res":"old.sh"},{"resourceName":"/b"}],"mainJar":null}"#, "null");
        assert_eq!(references(&legacy, Binding::ById), [name("/b"), name("old.sh")]);
        assert_eq!(references(&task(r#"{"mainJar":{},"resourceList":null}"#, r#""""#), Binding::ById), []);
    }

    #[test]
    fn from_3_2_the_name_decides_and_bare_ids_stay_ids() {
        let both = task(r#"{"resourceList":[{"id":6,"resourceName":"hdfs://h/a"}]}"#, r#""6""#);
        assert_eq!(references(&both, Binding::ByName), [name("hdfs://h/a")]);
        assert_eq!(references(&task(r#"{"resourceList":[{"id":7}]}"#, "null"), Binding::ByName), [Reference::Id(7)]);
        assert_eq!(references(&task("{}", r#""7""#), Binding::ByName), [Reference::Id(7)]);
        assert_eq!(
            references(&task(r#"{"resourceList":[{"id":7,"res":"x"}]}"#, "null"), Binding::ByName),
            [Reference::Id(7)]
        );
    }

    #[test]
    fn parameters_may_be_the_text_of_an_object() {
        let text = task(r#""{\"resourceList\":[{\"id\":3}],\"udfs\":\"4,5\"}""#, "null");
        let found = used(&text, Binding::ById).expect("understood");
        assert_eq!(found.references.into_iter().collect::<Vec<_>>(), [Reference::Id(3)]);
        assert_eq!(found.functions.into_iter().collect::<Vec<_>>(), [4, 5]);
        assert_eq!(used(&task("null", "null"), Binding::ById), Ok(Use::default()));
        assert_eq!(used(&task(r#""""#, "null"), Binding::ById), Ok(Use::default()));
    }

    #[test]
    fn what_is_not_understood_is_not_taken_for_no_reference() {
        for params in [
            r#""{broken""#,
            "[]",
            "7",
            r#"{"resourceList":{}}"#,
            r#"{"resourceList":["x"]}"#,
            r#"{"mainJar":{"id":"x"}}"#,
        ] {
            assert_eq!(used(&task(params, "null"), Binding::ById), Err(Garbled), "{params}");
        }
        assert_eq!(used(&task("{}", r#""6,x""#), Binding::ById), Err(Garbled));
        assert_eq!(used(&task(r#"{"udfs":"a"}"#, "null"), Binding::ById), Err(Garbled));
    }
}
