//! The recorded files: those of the project, and those of each folder that `FLINK_FIXTURE_DIR` names (colon separated).

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// A `_metadata` file with what Flink read from it.
pub struct Fixture {
    /// Folder.
    pub folder: PathBuf,
    /// The file.
    pub bytes: Vec<u8>,
    /// `expected.json`.
    pub expected: Value,
}

impl Fixture {
    fn load(folder: &Path) -> Self {
        let bytes = fs::read(folder.join("_metadata")).expect("a fixture is readable");
        let expected = fs::read(folder.join("expected.json")).expect("a fixture is readable");
        let expected = serde_json::from_slice(&expected).expect("expected.json is JSON");
        Self { folder: folder.to_owned(), bytes, expected }
    }

    /// Folder, for messages.
    pub fn name(&self) -> String {
        self.folder.display().to_string()
    }

    /// Where the body ends: the checkpoint properties of version 4 and later begin there.
    pub fn end_of_body(&self) -> usize {
        if self.expected["metadataVersion"].as_u64().expect("a version") < 4 {
            return self.bytes.len();
        }
        let header = b"\xAC\xED\x00\x05sr";
        self.bytes.windows(header.len()).rposition(|window| window == header).expect("an object stream")
    }
}

/// All of them.
pub fn all() -> Vec<Fixture> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/flink-metadata")];
    if let Some(more) = std::env::var_os("FLINK_FIXTURE_DIR") {
        folders.extend(std::env::split_paths(&more).filter(|path| !path.as_os_str().is_empty()));
    }
    let mut found = Vec::new();
    for folder in folders {
        let before = found.len();
        collect(&folder, &mut found);
        assert!(found.len() > before, "no _metadata with expected.json below {}", folder.display());
    }
    found
}

fn collect(folder: &Path, found: &mut Vec<Fixture>) {
    if folder.join("_metadata").is_file() && folder.join("expected.json").is_file() {
        found.push(Fixture::load(folder));
    }
    let entries = fs::read_dir(folder).expect("a fixture folder is readable");
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    for folder in folders {
        collect(&folder, found);
    }
}
