//! Caps of one run: a count cuts the plan. Fractions are guards and refuse it; they are judged with the findings.

use std::collections::BTreeSet;

/// One record that may go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Position in the context.
    pub at: usize,
    /// Positions of the records above it that may go too, nearest first.
    pub above: Vec<usize>,
    /// Bytes the record says.
    pub size: u64,
}

/// The candidates that fit under a limit. Whole subtrees are taken, those that say most bytes first; where not even one fits
/// whole, the largest is begun from its leaves, so that a long tail is worked off run by run.
pub fn cut(candidates: &[Candidate], limit: usize) -> BTreeSet<usize> {
    if candidates.len() <= limit {
        return candidates.iter().map(|candidate| candidate.at).collect();
    }
    let mut subtrees = subtrees(candidates);
    subtrees.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let mut kept = BTreeSet::new();
    for (_, members) in &subtrees {
        if kept.len() + members.len() <= limit {
            kept.extend(members.iter().copied());
        }
    }
    if kept.is_empty()
        && let Some((_, members)) = subtrees.first()
    {
        let mut leaves_first: Vec<&Candidate> = candidates.iter().filter(|c| members.contains(&c.at)).collect();
        leaves_first.sort_by_key(|candidate| (std::cmp::Reverse(candidate.above.len()), candidate.at));
        kept.extend(leaves_first.iter().take(limit).map(|candidate| candidate.at));
    }
    kept
}

/// Subtrees of candidates by their topmost member: bytes and members.
fn subtrees(candidates: &[Candidate]) -> Vec<(u64, Vec<usize>)> {
    let mut by_top = std::collections::BTreeMap::<usize, (u64, Vec<usize>)>::new();
    for candidate in candidates {
        let top = candidate.above.last().copied().unwrap_or(candidate.at);
        let entry = by_top.entry(top).or_default();
        // A directory's size is the sum of its files: counting both would count twice.
        entry.0 = entry.0.max(candidate.size);
        entry.1.push(candidate.at);
    }
    by_top.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(at: usize, above: &[usize], size: u64) -> Candidate {
        Candidate { at, above: above.to_vec(), size }
    }

    #[test]
    fn whole_subtrees_largest_first() {
        let tree = [candidate(1, &[], 10), candidate(2, &[1], 10), candidate(3, &[], 50), candidate(4, &[], 7)];
        assert_eq!(cut(&tree, 4), BTreeSet::from([1, 2, 3, 4]));
        assert_eq!(cut(&tree, 3), BTreeSet::from([1, 2, 3]));
        assert_eq!(cut(&tree, 2), BTreeSet::from([3, 4]), "the pair does not fit beside 3");
    }

    #[test]
    fn a_subtree_that_never_fits_is_begun_from_its_leaves() {
        let tree = [candidate(1, &[], 9), candidate(2, &[1], 9), candidate(3, &[2, 1], 9)];
        assert_eq!(cut(&tree, 2), BTreeSet::from([2, 3]));
    }
}
