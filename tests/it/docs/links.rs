//! Relative links lead to a file that is there, and to a heading in it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::file;

#[test]
fn no_relative_link_is_dead() {
    let mut dead = Vec::new();
    let pages = pages();
    assert!(pages.len() > 8, "{pages:?}");
    for page in &pages {
        for link in links(&read(page)) {
            if let Err(why) = follow(page, &link) {
                dead.push(format!("{}: {link}: {why}", page.display()));
            }
        }
    }
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}

/// All pages that people read: the root's and those below `docs`.
fn pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    let mut folders = vec![file("docs")];
    for entry in fs::read_dir(file(".")).expect("the root") {
        let path = entry.expect("an entry").path();
        pages.extend(Some(path).filter(|path| is_page(path)));
    }
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder of docs") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if is_page(&path) {
                pages.push(path);
            }
        }
    }
    pages
}

fn is_page(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("a page")
}

/// The page without its code blocks, where brackets are no links and `#` begins no heading.
fn prose(text: &str) -> String {
    let mut inside = false;
    let mut kept = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            inside = !inside;
        } else if !inside {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

fn links(text: &str) -> Vec<String> {
    let prose = prose(text);
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let outside = |target: &&str| target.contains("://") || target.starts_with("mailto:");
    targets.filter(|target| !outside(target)).map(str::to_owned).collect()
}

fn follow(page: &Path, link: &str) -> Result<(), String> {
    let (name, anchor) = link.split_once('#').map_or((link, None), |(name, anchor)| (name, Some(anchor)));
    let target = if name.is_empty() { page.to_owned() } else { page.parent().expect("a folder").join(name) };
    if !target.exists() {
        return Err("no such file".to_owned());
    }
    match anchor {
        Some(anchor) if is_page(&target) && !anchors(&read(&target)).contains(anchor) => {
            Err("no such heading".to_owned())
        }
        _ => Ok(()),
    }
}

/// The anchors that a forge makes from headings: lower case, blanks as dashes, other punctuation left out.
fn anchors(text: &str) -> BTreeSet<String> {
    prose(text)
        .lines()
        .filter_map(|line| {
            let title = line.trim_start_matches('#');
            (title.len() < line.len() && title.starts_with(' ')).then(|| anchor(title.trim()))
        })
        .collect()
}

fn anchor(title: &str) -> String {
    let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).flat_map(char::to_lowercase).collect()
}

#[test]
fn anchors_are_made_as_forges_make_them() {
    assert_eq!(anchor("HDFS: HA, Knox and `HttpFS`"), "hdfs-ha-knox-and-httpfs");
    assert_eq!(anchor("退出码"), "退出码");
}
