//! The pages in `docs/`: those that are made from the code are up to date, and those written by hand name every flag, key and
//! cause, hold commands and settings that the program takes, and lead nowhere dead.

mod findings;
mod guide;
mod links;
mod schemas;
mod walk;

use std::fs;
use std::path::{Path, PathBuf};

/// A file of the repository.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn text_of(name: &str) -> String {
    fs::read_to_string(file(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Holds a generated file against what the code says now. With UPDATE_DOCS=1 the file is written instead.
fn assert_is_up_to_date(name: &str, expected: &str) {
    if std::env::var("UPDATE_DOCS").is_ok_and(|value| value == "1") {
        let path = file(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("the folder");
        fs::write(&path, expected).unwrap_or_else(|error| panic!("{name}: {error}"));
        return;
    }
    let found = fs::read_to_string(file(name)).unwrap_or_default();
    assert!(
        found == expected,
        "{name} is out of date; run `UPDATE_DOCS=1 cargo test --test it docs::`, look at the difference, and commit it"
    );
}
