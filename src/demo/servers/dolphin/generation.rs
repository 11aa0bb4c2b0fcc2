//! The generations of the resource API this server speaks. The others get a variant here and their calls in `routes`.

use crate::demo::world::DsGeneration;

/// A generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Generation {
    /// 2.0: rows with ids; a directory is deleted with its subtree, and an error of the storage rolls that back.
    V20,
    /// 3.0: the same without the rolling back.
    V30,
    /// 3.1: rows with ids; a directory that has rows below it is not deleted.
    V31,
    /// 3.2.2: a listing of the storage.
    V322,
}

impl Generation {
    /// The one spoken for a version text; `None`: not spoken.
    pub fn of_version(version: &str) -> Option<Self> {
        match numbers(version)? {
            (2, 0, _) => Some(Self::V20),
            (3, 0, _) => Some(Self::V30),
            (3, 1, _) => Some(Self::V31),
            (3, 2, 2..) => Some(Self::V322),
            _ => None,
        }
    }

    /// The one spoken where only the kind is known.
    pub const fn of_kind(kind: DsGeneration) -> Self {
        match kind {
            DsGeneration::Db => Self::V31,
            DsGeneration::Storage => Self::V322,
        }
    }

    /// Zone of the times it prints unless told otherwise.
    pub const fn hours_from_utc(self) -> i8 {
        if matches!(self, Self::V20) { 8 } else { 0 }
    }

    /// The kind a version is of: rows up to 3.1, a listing from 3.2 on and on the development branch.
    pub fn kind_of_version(version: &str) -> Option<DsGeneration> {
        match numbers(version) {
            _ if version == "dev" => Some(DsGeneration::Storage),
            Some((major, minor, _)) if (major, minor) < (3, 2) => Some(DsGeneration::Db),
            Some(_) => Some(DsGeneration::Storage),
            None => None,
        }
    }

    /// Whether resources are rows with ids.
    pub const fn has_records(self) -> bool {
        matches!(self, Self::V20 | Self::V30 | Self::V31)
    }
}

/// The first three numbers of a version; what is missing counts as 0, what follows a number in its part (`-SNAPSHOT`) is dropped.
fn numbers(version: &str) -> Option<(u32, u32, u32)> {
    let number = |part: &str| part.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u32>().ok();
    let mut parts = version.split('.');
    Some((number(parts.next()?)?, number(parts.next()?)?, parts.next().and_then(number).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_and_kinds() {
        assert_eq!(["3.1.0", "3.1.9", "3.2.2", "3.2.2-SNAPSHOT"].map(Generation::of_version), {
            use Generation::{V31, V322};
            [V31, V31, V322, V322].map(Some)
        });
        assert_eq!(["1.3.9", "3.2.0", "3.2.1", "3.3.0", "dev", "x"].map(Generation::of_version), [None; 6]);
        let older = ["2.0.0", "2.0.9", "3.0.0", "3.0.6"].map(Generation::of_version);
        assert_eq!(older, [Generation::V20, Generation::V20, Generation::V30, Generation::V30].map(Some));
        let kinds = ["1.3.9", "3.1.9", "3.2.0", "dev"].map(Generation::kind_of_version);
        assert_eq!(kinds, [DsGeneration::Db, DsGeneration::Db, DsGeneration::Storage, DsGeneration::Storage].map(Some));
    }
}
