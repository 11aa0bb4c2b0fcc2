//! The XML files as one set of properties.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use roxmltree::{Document, Node};

use super::{HadoopConfError, Position};

/// How deep files may include one another. Hadoop has no limit and loops; nobody nests so deep on purpose.
const MAX_INCLUDES: usize = 16;

/// `Configuration.MAX_SUBST`: substitutions in one value before Hadoop gives up.
const MAX_SUBSTITUTIONS: usize = 20;

/// Old names of the properties read here, by the table in Hadoop's `Configuration` and `HdfsConfiguration`.
const DEPRECATED: &[(&str, &str)] = &[
    ("fs.default.name", "fs.defaultFS"),
    ("dfs.federation.nameservices", "dfs.nameservices"),
    ("dfs.http.address", "dfs.namenode.http-address"),
    ("dfs.https.address", "dfs.namenode.https-address"),
];

/// One property.
#[derive(Debug, Clone)]
pub(super) struct Property {
    /// Value, trimmed.
    pub(super) value: String,
    /// Where it is set.
    pub(super) at: Position,
    is_final: bool,
}

impl Property {
    /// The property, unless a variable in it could not be replaced.
    pub(super) fn check(&self, key: &str) -> Result<&Self, HadoopConfError> {
        match innermost(&self.value) {
            Some((start, end)) => {
                Err(self.wrong(key, format!("`{}` is not set, or only by itself", &self.value[start..=end])))
            }
            None => Ok(self),
        }
    }

    /// The error that says why the value cannot be used.
    pub(super) fn wrong(&self, key: &str, what: String) -> HadoopConfError {
        HadoopConfError::Value { at: self.at.clone(), key: key.to_owned(), what }
    }
}

/// Properties with the places that set them.
#[derive(Default)]
pub(super) struct Resource {
    properties: BTreeMap<String, Property>,
}

/// One file that is being read.
struct File<'a> {
    path: &'a Path,
    depth: usize,
}

impl File<'_> {
    fn at(&self, node: Node<'_, '_>) -> Position {
        let line = node.document().text_pos_at(node.range().start).row;
        Position { file: self.path.to_owned(), line }
    }

    fn wrong(&self, node: Node<'_, '_>, what: impl Into<String>) -> HadoopConfError {
        HadoopConfError::Structure { at: self.at(node), what: what.into() }
    }
}

impl Resource {
    /// Reads one file over what was read before; says whether it is there.
    pub(super) fn load(&mut self, path: &Path) -> Result<bool, HadoopConfError> {
        match std::fs::read_to_string(path) {
            Ok(text) => self.load_text(&text, &File { path, depth: 0 }).map(|()| true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(HadoopConfError::Read { file: path.to_owned(), included_from: None, source }),
        }
    }

    fn load_text(&mut self, text: &str, file: &File<'_>) -> Result<(), HadoopConfError> {
        let document = Document::parse(text).map_err(|error| HadoopConfError::Xml {
            at: Position { file: file.path.to_owned(), line: error.pos().row },
            what: error.to_string(),
        })?;
        let root = document.root_element();
        if !is_named(root, "configuration") {
            return Err(file.wrong(root, "the outermost element must be `configuration`"));
        }
        self.load_children(root, file)
    }

    fn load_children(&mut self, parent: Node<'_, '_>, file: &File<'_>) -> Result<(), HadoopConfError> {
        for node in parent.children().filter(Node::is_element) {
            match node.tag_name().name() {
                "property" => self.load_property(node, file),
                "configuration" => self.load_children(node, file)?,
                "include" => self.include(node, file)?,
                // Hadoop passes over what it does not know.
                _ => {}
            }
        }
        Ok(())
    }

    fn load_property(&mut self, node: Node<'_, '_>, file: &File<'_>) {
        let (Some(name), Some(value)) = (part(node, "name"), part(node, "value")) else { return };
        let name = DEPRECATED.iter().find(|(old, _)| *old == name).map_or(name, |(_, new)| (*new).to_owned());
        let is_final = part(node, "final").is_some_and(|text| text == "true");
        let known = self.properties.get_mut(&name);
        match known {
            Some(known) if known.is_final => {}
            _ => {
                self.properties.insert(name, Property { value, at: file.at(node), is_final });
            }
        }
    }

    fn include(&mut self, node: Node<'_, '_>, file: &File<'_>) -> Result<(), HadoopConfError> {
        let Some(href) = node.attribute("href") else {
            return Err(file.wrong(node, "`xi:include` without `href`"));
        };
        let path = included_path(href, file.path)
            .ok_or_else(|| file.wrong(node, format!("cannot include `{href}`: only files are read, no URLs")))?;
        if file.depth == MAX_INCLUDES {
            return Err(file.wrong(node, "files include one another in a circle or too deep"));
        }
        match std::fs::read_to_string(&path) {
            Ok(text) => self.load_text(&text, &File { path: &path, depth: file.depth + 1 }),
            Err(source) => match node.children().find(|child| is_named(*child, "fallback")) {
                Some(fallback) => self.load_children(fallback, file),
                None => Err(HadoopConfError::Read { file: path, included_from: Some(file.at(node)), source }),
            },
        }
    }

    /// The same properties with `${…}` replaced, as far as what it names is known.
    pub(super) fn substituted(&self, environment: &dyn Fn(&str) -> Option<String>) -> Properties {
        let lookup = |name: &str| lookup(name, environment, &self.properties);
        let substituted = |(name, property): (&String, &Property)| {
            let value = substitute(&property.value, &lookup).unwrap_or_else(|| property.value.clone());
            (name.clone(), Property { value, ..property.clone() })
        };
        Properties(self.properties.iter().map(substituted).collect())
    }
}

/// Properties after substitution.
pub(super) struct Properties(BTreeMap<String, Property>);

impl Properties {
    /// A property that is set to something. One that still holds a variable must not be used as if it were a name.
    pub(super) fn get(&self, key: &str) -> Result<Option<&Property>, HadoopConfError> {
        let property = self.0.get(key).filter(|property| !property.value.is_empty());
        property.map(|property| property.check(key)).transpose()
    }

    /// All properties.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Property)> {
        self.0.iter().map(|(key, property)| (key.as_str(), property))
    }
}

fn is_named(node: Node<'_, '_>, name: &str) -> bool {
    node.is_element() && node.tag_name().name() == name
}

/// A part of a property: a child element, or an attribute in the compact form of Hadoop 3.
fn part(property: Node<'_, '_>, name: &str) -> Option<String> {
    if let Some(text) = property.attribute(name) {
        return Some(text.trim().to_owned());
    }
    let child = property.children().find(|child| is_named(*child, name))?;
    // Comments split a text into several nodes.
    let text: String = child.descendants().filter(Node::is_text).filter_map(|node| node.text()).collect();
    Some(text.trim().to_owned())
}

fn included_path(href: &str, from: &Path) -> Option<PathBuf> {
    let plain = href.strip_prefix("file://").or_else(|| href.strip_prefix("file:")).unwrap_or(href);
    if plain.is_empty() || plain.contains("://") {
        return None;
    }
    Some(from.parent().unwrap_or(Path::new("")).join(plain))
}

/// Replaces each `${name}`, innermost first, over and over. `None` after [`MAX_SUBSTITUTIONS`], as in a circle; Hadoop
/// refuses such a value when it is asked for. A name that nobody sets stays as it is, and ends the replacing.
fn substitute(value: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let mut text = value.to_owned();
    for _ in 0..MAX_SUBSTITUTIONS {
        let Some((start, end)) = innermost(&text) else { return Some(text) };
        let Some(replacement) = lookup(&text[start + 2..end]) else { return Some(text) };
        text.replace_range(start..=end, &replacement);
    }
    innermost(&text).is_none().then_some(text)
}

/// The first `${…}` that holds no other: where `$` is and where `}` is.
fn innermost(text: &str) -> Option<(usize, usize)> {
    let mut from = 0;
    loop {
        let end = from + text[from..].find('}')?;
        if let Some(start) = text[..end].rfind("${").filter(|start| *start >= from && start + 2 < end) {
            return Some((start, end));
        }
        from = end + 1;
    }
}

fn lookup(
    name: &str,
    environment: &dyn Fn(&str) -> Option<String>,
    properties: &BTreeMap<String, Property>,
) -> Option<String> {
    let Some(variable) = name.strip_prefix("env.") else {
        return properties.get(name).map(|property| property.value.clone());
    };
    // As in a shell: `:-` also stands in for an empty value, `-` only for a missing one.
    if let Some((variable, default)) = variable.split_once(":-") {
        let value = environment(variable).filter(|value| !value.is_empty());
        return Some(value.unwrap_or_else(|| default.to_owned()));
    }
    if let Some((variable, default)) = variable.split_once('-') {
        return Some(environment(variable).unwrap_or_else(|| default.to_owned()));
    }
    environment(variable)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(text: &str) -> Option<String> {
        let properties = [
            ("host", "nn1"),
            ("port", "8020"),
            ("address", "${host}:${port}"),
            ("which", "host"),
            ("loop", "${loop}"),
            ("a", "${b}"),
            ("b", "${a}"),
        ];
        let environment = |name: &str| match name {
            "SET" => Some("set".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        let at = Position { file: PathBuf::new(), line: 1 };
        let property = |value: &str| Property { value: value.to_owned(), at: at.clone(), is_final: false };
        let properties = properties.map(|(name, value)| (name.to_owned(), property(value))).into();
        substitute(text, &|name| lookup(name, &environment, &properties))
    }

    #[test]
    fn variables_are_replaced() {
        let ok = |text: &str| replaced(text).expect("no circle");
        assert_eq!(ok("hdfs://${address}/"), "hdfs://nn1:8020/");
        assert_eq!(ok("${${which}}"), "nn1");
        assert_eq!(ok("${host} ${host} ${host}"), "nn1 nn1 nn1");
        assert_eq!(ok("}${host}"), "}nn1");
        assert_eq!(ok("${nobody}/x"), "${nobody}/x");
        assert_eq!(ok("${}/$x/${unclosed"), "${}/$x/${unclosed");
    }

    #[test]
    fn the_environment_has_defaults() {
        let ok = |text: &str| replaced(text).expect("no circle");
        assert_eq!(ok("${env.SET}"), "set");
        assert_eq!(ok("${env.SET:-x} ${env.SET-x}"), "set set");
        assert_eq!(ok("${env.NONE:-x} ${env.NONE-y}"), "x y");
        assert_eq!(ok("[${env.EMPTY:-x}] [${env.EMPTY-y}]"), "[x] []");
        assert_eq!(ok("${env.NONE}"), "${env.NONE}");
    }

    #[test]
    fn circles_end() {
        assert_eq!(replaced("${loop}"), None);
        assert_eq!(replaced("${a}"), None);
        assert_eq!(replaced(&"${host}".repeat(21)), None);
        assert!(replaced(&"${host}".repeat(20)).is_some());
    }
}
