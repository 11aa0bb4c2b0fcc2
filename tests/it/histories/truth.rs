//! What stays and what is free, from Flink's own reading of each file and the recorded names alone.

use std::collections::{BTreeMap, BTreeSet};

use super::moment::{Moment, Point, path_of};

/// Which files each restore point needs.
pub struct Truth {
    needs: BTreeMap<String, BTreeSet<String>>,
    holes: BTreeMap<String, BTreeSet<String>>,
    absolute: BTreeMap<String, usize>,
}

impl Truth {
    /// Of all restore points of a moment.
    pub fn of(moment: &Moment) -> Self {
        let mut by_name: BTreeMap<&str, BTreeSet<&String>> = BTreeMap::new();
        for file in &moment.files {
            by_name.entry(file.rsplit('/').next().expect("a name")).or_default().insert(file);
        }
        let mut truth = Self { needs: BTreeMap::new(), holes: BTreeMap::new(), absolute: BTreeMap::new() };
        for (directory, point) in &moment.points {
            let mut needs = BTreeSet::new();
            let mut holes = BTreeSet::new();
            for (path, written) in files(point) {
                if !moment.files.contains(&path) {
                    // Its name alone is known: every file of that name may be the one.
                    let name = path.rsplit('/').next().expect("a name");
                    needs.extend(by_name.get(name).into_iter().flatten().map(|file| (*file).clone()));
                    holes.insert(written);
                }
                // A directory in which a kept restore point names a file stays, also if the file is gone.
                needs.insert(path);
            }
            for whole in directories(point) {
                needs.extend(moment.files.iter().filter(|file| is_below(file, &whole)).cloned());
            }
            let relative = |file: &&serde_json::Value| file.get("relativePath").is_some();
            let listed = point.expected["referencedFiles"].as_array().expect("a list");
            let absolute = listed.iter().filter(|file| !relative(file)).count() + directories(point).count();
            truth.needs.insert(directory.clone(), needs);
            truth.holes.insert(directory.clone(), holes);
            truth.absolute.insert(directory.clone(), absolute);
        }
        truth
    }

    /// Files that a restore point needs.
    pub fn needs(&self, point: &str) -> &BTreeSet<String> {
        &self.needs[point]
    }

    /// Names in it that lead to no file.
    pub fn holes(&self, point: &str) -> &BTreeSet<String> {
        &self.holes[point]
    }

    /// How many of its names are absolute.
    pub fn absolute(&self, point: &str) -> usize {
        self.absolute[point]
    }

    /// Which of `units` a kept restore point outside of them needs. Whatever is kept is kept as a whole, so restore points in it
    /// count from then on.
    pub fn kept(&self, points: &BTreeSet<String>, units: &BTreeSet<String>) -> BTreeSet<String> {
        let mut points = points.clone();
        let mut todo: Vec<String> = points.iter().cloned().collect();
        let mut kept = BTreeSet::new();
        while let Some(point) = todo.pop() {
            let around =
                self.needs(&point).iter().flat_map(|file| at_and_above(file)).filter(|path| units.contains(*path));
            for unit in around.filter(|unit| !is_at_or_below(&point, unit)) {
                kept.insert(unit.to_owned());
                let within = self.needs.keys().filter(|point| is_at_or_below(point, unit));
                todo.extend(within.filter(|point| points.insert((*point).clone())).cloned());
            }
        }
        kept
    }
}

/// A path and every directory above it.
fn at_and_above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').skip(1).map(|(at, _)| &path[..at]).chain([path])
}

/// Path and the name as written of each file that Flink found in the metadata.
fn files(point: &Point) -> impl Iterator<Item = (String, String)> {
    point.expected["referencedFiles"].as_array().expect("a list").iter().map(|file| {
        let uri = file["path"].as_str().expect("a path");
        let written = file.get("relativePath").map_or(uri, |name| name.as_str().expect("a name"));
        (path_of(uri), written.replace("file:/", "hdfs:/"))
    })
}

/// Directories that Flink found in it. An empty name means none.
fn directories(point: &Point) -> impl Iterator<Item = String> {
    let named = point.expected["referencedDirectories"].as_array().expect("a list").iter();
    named.map(|uri| path_of(uri.as_str().expect("a path"))).filter(|path| !path.is_empty())
}

/// Whether a path lies below another.
pub fn is_below(path: &str, above: &str) -> bool {
    path.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'))
}

/// Whether a path is another one or lies below it.
pub fn is_at_or_below(path: &str, above: &str) -> bool {
    path == above || is_below(path, above)
}
