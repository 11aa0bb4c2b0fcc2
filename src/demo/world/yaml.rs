//! YAML to typed values, with the line and the key path in every error.

use saphyr::{LoadableYamlNode, MarkedYaml, Scalar, YamlData};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use serde_path_to_error::Segment;

/// Keys of a case that a world does not have. `case` reads them; what is in neither list is an error or an extra key.
const CASE_KEYS: [&str; 7] = ["source", "class", "phase", "timeline", "plan_actions", "before", "expect"];

/// The file is no world.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorldError {
    /// Not YAML, or not one document.
    #[error("the world file is not one YAML document: {0}")]
    Yaml(String),
    /// YAML that JSON cannot hold.
    #[error("line {line}: {what} cannot be used in a world file")]
    Node {
        /// Line, from 1.
        line: usize,
        /// What was met.
        what: &'static str,
    },
    /// A key or a value that has no place there.
    #[error("line {line}, `{place}`: {what}")]
    Value {
        /// Line of the innermost node that is known, from 1.
        line: usize,
        /// Keys from the top.
        place: String,
        /// What is wrong.
        what: String,
    },
}

/// A parsed document with the lines of its nodes.
#[derive(Debug, Clone)]
pub struct Document {
    value: Value,
    lines: Lines,
}

/// The line of a node and of the nodes below it.
#[derive(Debug, Clone, Default)]
struct Lines {
    line: usize,
    keys: std::collections::BTreeMap<String, Lines>,
    items: Vec<Lines>,
}

impl Document {
    /// Parses one YAML document.
    pub fn parse(text: &str) -> Result<Self, WorldError> {
        let documents = MarkedYaml::load_from_str(text).map_err(|error| WorldError::Yaml(error.to_string()))?;
        let [root] = documents.as_slice() else {
            return Err(WorldError::Yaml(format!("it holds {} documents", documents.len())));
        };
        let (value, lines) = convert(root)?;
        Ok(Self { value, lines })
    }

    /// The keys of a world, and those that only a case has.
    pub fn split_case_keys(self) -> (Self, Self) {
        self.split(|key| CASE_KEYS.contains(&key))
    }

    /// Splits the top-level keys: those `second` does not take, and those it takes.
    pub fn split(mut self, second: impl Fn(&str) -> bool) -> (Self, Self) {
        let mut other = Map::new();
        if let Value::Object(map) = &mut self.value {
            let keys: Vec<String> = map.keys().filter(|key| second(key)).cloned().collect();
            for key in keys {
                if let Some(value) = map.remove(&key) {
                    other.insert(key, value);
                }
            }
        }
        let lines = self.lines.clone();
        (self, Self { value: Value::Object(other), lines })
    }

    /// The document with the sections of `over` put over it: a map replaces key by key, anything else as a whole.
    pub fn overlaid(mut self, over: &Map<String, Value>) -> Self {
        let Value::Object(map) = &mut self.value else { return self };
        for (section, part) in over {
            match (map.get_mut(section), part) {
                (Some(Value::Object(old)), Value::Object(new)) => old.extend(new.clone()),
                _ => {
                    map.insert(section.clone(), part.clone());
                }
            }
        }
        self
    }

    /// The value, if it is a map.
    pub fn map(&self) -> Option<&Map<String, Value>> {
        self.value.as_object()
    }

    /// Reads the document into a type.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, WorldError> {
        serde_path_to_error::deserialize(&self.value).map_err(|error| WorldError::Value {
            line: self.lines.at(error.path()),
            place: error.path().to_string(),
            what: error.inner().to_string(),
        })
    }
}

impl Lines {
    /// Line of the innermost node on `path` that is known.
    fn at(&self, path: &serde_path_to_error::Path) -> usize {
        let mut here = self;
        for segment in path {
            let next = match segment {
                Segment::Map { key } => here.keys.get(key),
                Segment::Seq { index } => here.items.get(*index),
                _ => None,
            };
            match next {
                Some(next) => here = next,
                None => break,
            }
        }
        here.line
    }
}

fn convert(node: &MarkedYaml<'_>) -> Result<(Value, Lines), WorldError> {
    let line = node.span.start.line();
    let mut lines = Lines { line, ..Lines::default() };
    let value = match &node.data {
        YamlData::Value(scalar) => convert_scalar(scalar, line)?,
        YamlData::Sequence(items) => {
            let mut values = Vec::with_capacity(items.len());
            for item in items {
                let (value, below) = convert(item)?;
                values.push(value);
                lines.items.push(below);
            }
            Value::Array(values)
        }
        YamlData::Mapping(map) => {
            let mut values = Map::new();
            for (key, item) in map {
                let name = key_text(key)?;
                let (value, mut below) = convert(item)?;
                below.line = key.span.start.line();
                values.insert(name.clone(), value);
                lines.keys.insert(name, below);
            }
            Value::Object(values)
        }
        YamlData::Tagged(..) => return Err(WorldError::Node { line, what: "a tag" }),
        _ => return Err(WorldError::Node { line, what: "an alias or an unreadable value" }),
    };
    Ok((value, lines))
}

fn key_text(key: &MarkedYaml<'_>) -> Result<String, WorldError> {
    match &key.data {
        YamlData::Value(Scalar::String(text)) => Ok(text.to_string()),
        _ => Err(WorldError::Node { line: key.span.start.line(), what: "a key that is no text" }),
    }
}

fn convert_scalar(scalar: &Scalar<'_>, line: usize) -> Result<Value, WorldError> {
    Ok(match scalar {
        Scalar::Null => Value::Null,
        Scalar::Boolean(flag) => Value::Bool(*flag),
        Scalar::Integer(number) => Value::from(*number),
        Scalar::FloatingPoint(number) => serde_json::Number::from_f64(number.into_inner())
            .map(Value::Number)
            .ok_or(WorldError::Node { line, what: "an infinite number" })?,
        Scalar::String(text) => Value::String(text.to_string()),
    })
}
