//! Which restore point needs what: the files that every `_metadata` names, as a graph over run directories. Pure.
//!
//! A reference that does not lead to a file never means "nothing to protect": Flink writes wrong relative references after some
//! restores (FLINK-39964), so every directory that holds a file of that bare name stays.

mod need;

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::path::at_or_below;
use crate::domain::{FileSystems, HdfsPath};
use crate::views::Inventory;
use crate::views::state::Reading;

pub use need::{Need, Standing};

/// One restore point of the graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// Everything it names.
    pub needs: Vec<Need>,
    /// Why its `_metadata` could not be read whole; then it may name anything.
    pub unread: Option<String>,
}

/// Whether a restore point can be restored from, as far as the files it names tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Completeness {
    /// Every file it names is there.
    Complete,
    /// These files are proven absent, or too short.
    Holes(Vec<String>),
    /// It could not be told, and why.
    Unknown(String),
}

/// Whether the directory of a restore point can be moved and still be restored from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Movable {
    /// It names only files of its own directory, by relative names.
    Yes,
    /// It names so many files or directories by absolute paths.
    No(usize),
    /// Its `_metadata` was not read whole.
    Unknown,
}

/// Why a directory is needed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Needed {
    /// The restore point that needs it.
    pub by: HdfsPath,
    /// The file or directory it names, as written.
    pub name: String,
    /// How the name leads there.
    pub how: How,
}

/// How a name leads into a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// The file lies there.
    Lies,
    /// The path lies there, under an authority that nobody declared: possibly the same file system.
    Possibly,
    /// The named file was not found where the name says, and a file of the same bare name lies there.
    SameName,
}

/// What stays because something kept needs it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept {
    /// Needed directories, each with the restore points outside that need it.
    pub needed: BTreeMap<HdfsPath, Vec<Needed>>,
    /// Kept restore points whose `_metadata` was not read whole, and why.
    pub unread: BTreeMap<HdfsPath, String>,
}

/// All restore points of one inventory with what they need.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    points: BTreeMap<HdfsPath, Point>,
    /// Files of a name that was not found where a reference says, wherever they lie.
    namesakes: BTreeMap<String, Vec<HdfsPath>>,
}

impl Graph {
    /// The graph of an inventory.
    pub fn new(inventory: &Inventory, file_systems: &FileSystems) -> Self {
        let points: BTreeMap<HdfsPath, Point> = inventory
            .state
            .points
            .iter()
            .map(|(directory, point)| (directory.clone(), point_of(directory, &point.reading, inventory, file_systems)))
            .collect();
        let namesakes = namesakes(&points, inventory);
        Self { points, namesakes }
    }

    /// One restore point, by its directory.
    pub fn point(&self, directory: &HdfsPath) -> Option<&Point> {
        self.points.get(directory)
    }

    /// All restore points, in path order.
    pub fn points(&self) -> impl Iterator<Item = (&HdfsPath, &Point)> {
        self.points.iter()
    }

    /// The restore points at or below a path.
    pub fn points_below(&self, path: &HdfsPath) -> impl Iterator<Item = (&HdfsPath, &Point)> + use<'_> {
        at_or_below(&self.points, path)
    }

    /// Whether every file that a restore point names is there.
    pub fn completeness(&self, directory: &HdfsPath) -> Completeness {
        let Some(point) = self.points.get(directory) else {
            return Completeness::Unknown("no restore point was read there".to_owned());
        };
        if let Some(why) = &point.unread {
            return Completeness::Unknown(why.clone());
        }
        let of = |standing: Standing| point.needs.iter().filter(move |need| need.standing == standing);
        let gone = of(Standing::Absent).map(|need| need.name.clone());
        let holes: Vec<String> =
            gone.chain(of(Standing::Short).map(|need| format!("{} (too short)", need.name))).collect();
        if !holes.is_empty() {
            return Completeness::Holes(holes);
        }
        match of(Standing::Unknown).next() {
            Some(need) => Completeness::Unknown(format!("whether {} is there could not be told", need.name)),
            None => Completeness::Complete,
        }
    }

    /// Whether the directory of a restore point can be moved.
    pub fn movable(&self, directory: &HdfsPath) -> Movable {
        match self.points.get(directory) {
            Some(point) if point.unread.is_none() => match point.needs.iter().filter(|need| !need.relative).count() {
                0 => Movable::Yes,
                absolute => Movable::No(absolute),
            },
            _ => Movable::Unknown,
        }
    }

    /// How a restore point needs something at or below `path`, if it does.
    pub fn needs_below(&self, point: &HdfsPath, path: &HdfsPath) -> Option<Needed> {
        let units = BTreeSet::from([path.clone()]);
        self.units_needed(point, &units).into_iter().next().map(|(_, needed)| needed)
    }

    /// The units (directories that stay or go as a whole) that a restore point needs, itself lying outside of them.
    pub fn units_needed(&self, by: &HdfsPath, units: &BTreeSet<HdfsPath>) -> BTreeMap<HdfsPath, Needed> {
        let mut found = BTreeMap::new();
        let Some(point) = self.points.get(by) else { return found };
        for need in &point.needs {
            for (unit, how) in self.units_of(need, units) {
                if !by.is_at_or_below(&unit) {
                    found.entry(unit).or_insert_with(|| Needed { by: by.clone(), name: need.name.clone(), how });
                }
            }
        }
        found
    }

    fn units_of(&self, need: &Need, units: &BTreeSet<HdfsPath>) -> Vec<(HdfsPath, How)> {
        let mut found = Vec::new();
        if let Some(path) = &need.path {
            let how = if need.is_here { How::Lies } else { How::Possibly };
            found.extend(units_around(path, units).map(|unit| (unit.clone(), how)));
            if need.directory {
                found.extend(units.iter().filter(|unit| unit.is_below(path)).map(|unit| (unit.clone(), how)));
            }
        }
        if need.standing != Standing::Present {
            let namesakes = self.namesakes.get(need.bare_name()).into_iter().flatten();
            found.extend(namesakes.flat_map(|at| units_around(at, units)).map(|unit| (unit.clone(), How::SameName)));
        }
        found
    }

    /// What stays if `seeds` are kept: a unit that a kept restore point needs is kept as a whole, and then its own restore points
    /// bind as well.
    pub fn kept<'g>(&'g self, seeds: impl IntoIterator<Item = &'g HdfsPath>, units: &BTreeSet<HdfsPath>) -> Kept {
        let mut kept = Kept::default();
        let mut queue: Vec<&HdfsPath> = seeds.into_iter().collect();
        let mut seen: BTreeSet<&HdfsPath> = queue.iter().copied().collect();
        while let Some(at) = queue.pop() {
            if let Some(why) = self.points.get(at).and_then(|point| point.unread.as_ref()) {
                kept.unread.insert(at.clone(), why.clone());
            }
            for (unit, needed) in self.units_needed(at, units) {
                let inside = self.points_below(&unit).map(|(point, _)| point);
                let new: Vec<&HdfsPath> = inside.filter(|point| seen.insert(point)).collect();
                queue.extend(new);
                kept.needed.entry(unit).or_default().push(needed);
            }
        }
        kept.needed.values_mut().for_each(|needed| needed.sort());
        kept
    }

    /// The units that nothing needs any more once one restore point is gone, of those that are needed now.
    pub fn free_without(&self, point: &HdfsPath, units: &BTreeSet<HdfsPath>) -> Vec<HdfsPath> {
        let all: Vec<&HdfsPath> = self.points.keys().collect();
        let with = self.kept(all.iter().copied(), units);
        let without = self.kept(all.into_iter().filter(|other| *other != point), units);
        with.needed.into_keys().filter(|unit| !without.needed.contains_key(unit)).collect()
    }
}

/// The units at or above a path.
fn units_around<'u>(path: &HdfsPath, units: &'u BTreeSet<HdfsPath>) -> impl Iterator<Item = &'u HdfsPath> {
    path.ancestors().filter_map(|at| units.get(at)).collect::<Vec<_>>().into_iter()
}

fn point_of(directory: &HdfsPath, reading: &Reading, inventory: &Inventory, file_systems: &FileSystems) -> Point {
    match reading {
        Reading::Failed { why } => Point { needs: Vec::new(), unread: Some(why.clone()) },
        Reading::Whole { files, directories, .. } => {
            let looker = need::Looker { inventory, file_systems };
            let files = files.iter().map(|file| looker.file(directory, file));
            let directories = directories.iter().map(|name| looker.directory(name));
            Point { needs: files.chain(directories).flatten().collect(), unread: None }
        }
    }
}

/// Files of the names that were not found where a reference says.
fn namesakes(points: &BTreeMap<HdfsPath, Point>, inventory: &Inventory) -> BTreeMap<String, Vec<HdfsPath>> {
    let lost = points.values().flat_map(|point| &point.needs).filter(|need| need.standing != Standing::Present);
    let mut found: BTreeMap<String, Vec<HdfsPath>> =
        lost.map(|need| (need.bare_name().to_owned(), Vec::new())).collect();
    if found.is_empty() {
        return found;
    }
    for (directory, listing) in &inventory.hdfs.listings {
        for entry in &listing.entries {
            if let Some(same) = found.get_mut(&*entry.name) {
                same.push(directory.join(&entry.name));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
