//! What a restore point consists of, as its `_metadata` says.

use std::collections::BTreeMap;

use bytesize::ByteSize;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::layout::{Page, Style};
use super::words::{choose, count};
use crate::compare::Lang;
use crate::domain::text::printable;
use crate::flink_metadata::{Kind, Metadata, Operator, Properties, Reference, Snapshot, resolve};

/// Version of the JSON form of `metadata`.
pub const METADATA_SCHEMA: &str = "statewarden/metadata/v1";

/// What a restore point consists of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Contents {
    /// Name and version of this form: `statewarden/metadata/v1`.
    pub schema: String,
    /// The file that was read.
    pub file: String,
    /// The checkpoint's number in its job.
    pub checkpoint_id: u64,
    /// Version of the format: 2 to 6.
    pub metadata_version: u8,
    /// What the writer meant to do with it; `null` before version 4 (Flink 1.16), which does not say.
    pub properties: Option<Meant>,
    /// State inside the file itself.
    pub inline: Inline,
    /// The operators, in the order of the file.
    pub operators: Vec<OperatorLine>,
    /// Directories that merged state names, as written (file merging, Flink 1.20 and later): whatever lies below is needed.
    pub directories: Vec<String>,
    /// Every file that is named, once for each spelling, by path.
    pub files: Vec<FileLine>,
}

/// What the job that wrote a restore point meant to do with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Meant {
    /// `checkpoint`, `savepoint` or `unknown`.
    pub snapshot: String,
    /// Of a savepoint: `CANONICAL` or `NATIVE`.
    pub format: Option<String>,
    /// Flink's name of its sort, such as `Savepoint` or `Terminate Savepoint`.
    pub name: Option<String>,
    /// Whether it was to be discarded when the job is cancelled; `false`: it was kept on purpose.
    pub discard_cancelled: Option<bool>,
    /// Whether it was to be discarded when later ones replace it.
    pub discard_subsumed: Option<bool>,
}

/// State inside the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Inline {
    /// Number of handles.
    pub handles: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// An operator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OperatorLine {
    /// Id, 32 hex digits.
    pub id: String,
    /// Name; from Flink 2.0 on, where the job gave one.
    pub name: Option<String>,
    /// User-given uid; from Flink 2.0 on, where the job gave one.
    pub uid: Option<String>,
    /// Parallelism when the state was written.
    pub parallelism: u32,
    /// Number of key groups.
    pub max_parallelism: u32,
}

/// A file that is named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileLine {
    /// As written: an absolute URI, or a name in the directory of the file that was read.
    pub path: String,
    /// Whether it is such a name.
    pub relative: bool,
    /// Where it leads; `null` for a relative name that does not stay in the directory, so that nobody can say.
    pub place: Option<String>,
    /// Bytes of state: the length of the file, or of the named segments of it together; `null` if Flink did not know.
    pub size: Option<u64>,
    /// How many handles name it.
    pub references: u32,
    /// How many of them name only a segment of it (file merging).
    pub segments: u32,
    /// What it is there for.
    pub kinds: Vec<String>,
}

impl Contents {
    /// What `metadata` says, read from `file` in `directory`.
    pub fn new(file: String, directory: &str, metadata: &Metadata<'_>) -> Self {
        let mut files: Vec<FileLine> = metadata.files.iter().map(|file| FileLine::new(file, directory)).collect();
        files.sort_by(|a, b| (&a.path, a.relative).cmp(&(&b.path, b.relative)));
        Self {
            schema: METADATA_SCHEMA.to_owned(),
            file,
            checkpoint_id: metadata.checkpoint_id,
            metadata_version: metadata.version,
            properties: metadata.properties.as_ref().map(Meant::from),
            inline: Inline { handles: metadata.inline.handles, bytes: metadata.inline.bytes },
            operators: metadata.operators.iter().map(OperatorLine::from).collect(),
            directories: metadata.directories.iter().map(ToString::to_string).collect(),
            files,
        }
    }
}

impl FileLine {
    fn new(file: &Reference<'_>, directory: &str) -> Self {
        let path = file.path.to_string();
        Self {
            place: if file.relative { resolve(directory, &path) } else { Some(path.clone()) },
            path,
            relative: file.relative,
            size: file.size,
            references: file.references,
            segments: file.segments,
            kinds: file.kinds.iter().map(Kind::word).map(str::to_owned).collect(),
        }
    }

    /// The directory in which it is, and its name there.
    fn split(&self) -> (&str, &str) {
        let place = self.place.as_deref().unwrap_or(&self.path);
        place.rsplit_once('/').unwrap_or(("", place))
    }
}

impl From<&Operator<'_>> for OperatorLine {
    fn from(operator: &Operator<'_>) -> Self {
        Self {
            id: operator.hex_id(),
            name: operator.name.as_deref().map(str::to_owned),
            uid: operator.uid.as_deref().map(str::to_owned),
            parallelism: operator.parallelism,
            max_parallelism: operator.max_parallelism,
        }
    }
}

impl From<&Properties> for Meant {
    fn from(properties: &Properties) -> Self {
        let (snapshot, format, name) = match &properties.snapshot {
            Snapshot::Unknown => ("unknown", None, None),
            Snapshot::Checkpoint { name, .. } => ("checkpoint", None, Some(name)),
            Snapshot::Savepoint { name, format, .. } => ("savepoint", Some(format), Some(name)),
        };
        Self {
            snapshot: snapshot.to_owned(),
            format: format.cloned(),
            name: name.cloned(),
            discard_cancelled: properties.discard_cancelled,
            discard_subsumed: properties.discard_subsumed,
        }
    }
}

/// Prints the contents for a person.
pub fn render(contents: &Contents, lang: Lang, style: Style) -> String {
    let mut page = Page::new(style);
    page.item("", &style.strong(&headline(contents, lang)));
    page.item("  ", &printable(&contents.file));
    if let Some(meant) = &contents.properties {
        page.item("  ", &meaning(meant, lang));
    }
    page.item("  ", &inside(contents.inline, lang));
    print_operators(&mut page, &contents.operators, lang);
    if !contents.directories.is_empty() {
        page.heading(choose(
            lang,
            "Directories of merged state (all that is below is needed)",
            "合并状态文件的目录（其下全部内容都需要）",
        ));
        for directory in &contents.directories {
            page.item("  ", &printable(directory));
        }
    }
    print_files(&mut page, &contents.files, lang);
    page.into_text()
}

fn headline(contents: &Contents, lang: Lang) -> String {
    let Contents { checkpoint_id, metadata_version, operators, files, .. } = contents;
    match lang {
        Lang::En => format!(
            "Checkpoint {checkpoint_id}: {}, {} (metadata version {metadata_version})",
            count(operators.len(), "operator", "operators"),
            count(files.len(), "file", "files"),
        ),
        Lang::Zh => format!(
            "检查点 {checkpoint_id}：{} 个算子，{} 个文件（元数据版本 {metadata_version}）",
            operators.len(),
            files.len()
        ),
    }
}

fn meaning(meant: &Meant, lang: Lang) -> String {
    let sort = match (meant.snapshot.as_str(), &meant.format) {
        ("savepoint", Some(format)) => format!("{} ({})", choose(lang, "savepoint", "保存点"), printable(format)),
        ("checkpoint", _) => choose(lang, "checkpoint", "检查点").to_owned(),
        (other, _) => printable(other),
    };
    let kept = match meant.discard_cancelled {
        Some(true) => choose(lang, "; was to be discarded when the job is cancelled", "；作业取消时应被丢弃"),
        Some(false) => choose(lang, "; kept when the job is cancelled", "；作业取消时保留"),
        None => "",
    };
    sort + kept
}

fn inside(inline: Inline, lang: Lang) -> String {
    let (handles, size) = (usize::try_from(inline.handles).unwrap_or(usize::MAX), bytes(inline.bytes));
    match lang {
        Lang::En => format!("{size} of state in {} inside the file", count(handles, "handle", "handles")),
        Lang::Zh => format!("文件内含 {handles} 个句柄、共 {size} 状态"),
    }
}

fn bytes(bytes: u64) -> String {
    ByteSize::b(bytes).display().iec().to_string()
}

fn print_operators(page: &mut Page, operators: &[OperatorLine], lang: Lang) {
    if operators.is_empty() {
        return;
    }
    page.heading(choose(lang, "Operators (parallelism / maximum)", "算子（并行度 / 最大并行度）"));
    for operator in operators {
        let names: Vec<String> =
            [&operator.name, &operator.uid].into_iter().flatten().map(|text| printable(text)).collect();
        let size = format!("{} / {}", operator.parallelism, operator.max_parallelism);
        page.item(&format!("  {}  {size:<11}", operator.id), &names.join(" · "));
    }
}

fn print_files(page: &mut Page, files: &[FileLine], lang: Lang) {
    let mut directories: BTreeMap<&str, Vec<&FileLine>> = BTreeMap::new();
    for file in files {
        directories.entry(file.split().0).or_default().push(file);
    }
    for (directory, files) in directories {
        let known: u64 = files.iter().filter_map(|file| file.size).fold(0, u64::saturating_add);
        let number = match lang {
            Lang::En => count(files.len(), "file", "files"),
            Lang::Zh => format!("{} 个文件", files.len()),
        };
        page.heading(&format!("{} — {number}, {}", printable(directory), bytes(known)));
        for file in files {
            page.item(&format!("  {:>10}  ", file.size.map_or_else(|| "?".to_owned(), bytes)), &described(file, lang));
        }
    }
}

fn described(file: &FileLine, lang: Lang) -> String {
    let times = (file.references > 1).then(|| match lang {
        Lang::En => format!(", named {} times", file.references),
        Lang::Zh => format!("，被引用 {} 次", file.references),
    });
    let part = (file.segments > 0).then_some(choose(lang, ", only a part of the file", "，仅引用文件的一部分"));
    let outside = file.place.is_none().then_some(choose(lang, ", leads out of the directory", "，指向目录之外"));
    let notes: Vec<&str> = [times.as_deref(), part, outside].into_iter().flatten().collect();
    format!("{}  {}{}", printable(file.split().1), file.kinds.join(", "), notes.concat())
}
