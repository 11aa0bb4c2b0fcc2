//! Reads the `use crate::` lines (and `crate::` paths) of every module and fails on an import that the table does not allow,
//! so that the pure part could become packages of its own without moving a line.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Module, and the modules of ours it may import beside itself.
const ALLOWED: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("flink_metadata", &[]),
    ("views", &["domain"]),
    ("config", &["domain", "views", "compare"]),
    ("graph", &["domain", "views", "flink_metadata"]),
    // These two lean on each other: gates of records judge from findings, findings on run directories come from their gates.
    ("compare", &["domain", "views", "config", "graph", "gates"]),
    ("gates", &["domain", "views", "config", "graph", "compare"]),
    ("plan", &["domain", "views", "config", "compare", "gates"]),
    ("ports", &["domain", "views", "compare", "plan"]),
    ("ledger", &["domain", "views", "compare", "plan", "ports"]),
    ("apply", &["domain", "views", "config", "compare", "gates", "plan", "collect", "ports"]),
    ("collect", &["domain", "views", "config", "ports", "flink_metadata"]),
    ("adapters", &["domain", "views", "config", "ports", "plan"]),
    ("report", &["domain", "flink_metadata", "views", "config", "compare", "gates", "graph", "plan", "ports"]),
    // The worlds write `_metadata`, and their test reads it back.
    ("demo", &["domain", "adapters", "flink_metadata"]),
    (
        "cli",
        &[
            "domain",
            "flink_metadata",
            "views",
            "config",
            "compare",
            "ports",
            "collect",
            "adapters",
            "report",
            "demo",
            "gates",
            "plan",
            "ledger",
            "apply",
        ],
    ),
    ("main", &["cli"]),
    ("lib", &[]),
];

fn rust_files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the source folder is readable") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            rust_files(&path, out);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            out.push(path);
        }
    }
}

fn module_of(file: &Path, src: &Path) -> String {
    let relative = file.strip_prefix(src).expect("below src");
    let first = relative.components().next().expect("a component").as_os_str().to_string_lossy().into_owned();
    first.trim_end_matches(".rs").to_owned()
}

/// The top-level modules of ours that a text names as `crate::name`, comments left out.
fn imports(text: &str) -> BTreeSet<String> {
    let code: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let code = code.join("\n");
    let names = |word: &str| {
        let pieces: Vec<String> = code
            .split(word)
            .skip(1)
            .map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
            .collect();
        pieces
    };
    let mut found: BTreeSet<String> = names("crate::").into_iter().chain(names("statewarden::")).collect();
    found.remove("");
    for group in code.split("crate::{").skip(1) {
        let inside = group.split('}').next().unwrap_or_default();
        found.extend(inside.split(',').map(|part| part.trim().split("::").next().unwrap_or_default().to_owned()));
    }
    found.remove("");
    found
}

#[test]
fn modules_import_only_what_the_table_allows() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&src, &mut files);
    let mut wrong = Vec::new();
    for file in files {
        let module = module_of(&file, &src);
        let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == module) else {
            wrong.push(format!("{}: module `{module}` is not in the table", file.display()));
            continue;
        };
        let text = fs::read_to_string(&file).expect("a source file is readable");
        for import in imports(&text) {
            if import != module && !allowed.contains(&import.as_str()) {
                wrong.push(format!("{}: imports `{import}`, which `{module}` may not", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_reader_of_imports_sees_all_forms() {
    let text = "use crate::domain::{HdfsPath};\nuse crate::{views, config::Config};\nlet x = crate::ports::read::A; // crate::cli";
    let found: Vec<String> = imports(text).into_iter().collect();
    assert_eq!(found, ["config", "domain", "ports", "views"]);
}
