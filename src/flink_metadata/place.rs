//! Where a relative reference leads.

/// The place of a file that `_metadata` names relative to itself; `directory` is where that `_metadata` was read, not where
/// something else says it is.
///
/// `None` for a name that does not stay inside the directory: Flink writes bare file names, so what such a name means is not
/// for this program to guess. What `None` names may be anywhere.
pub fn resolve(directory: &str, relative: &str) -> Option<String> {
    let plain = |part: &str| !matches!(part, "" | "." | "..");
    if !relative.split('/').all(plain) || relative.contains(':') {
        return None;
    }
    let directory = directory.strip_suffix('/').unwrap_or(directory);
    Some(format!("{directory}/{relative}"))
}

#[cfg(test)]
mod tests {
    use super::resolve;

    #[test]
    fn names_inside() {
        assert_eq!(resolve("hdfs://ns1/c/j/chk-3", "8b37d5a0").as_deref(), Some("hdfs://ns1/c/j/chk-3/8b37d5a0"));
        assert_eq!(resolve("file:/c/chk-3/", "a/b").as_deref(), Some("file:/c/chk-3/a/b"));
        assert_eq!(resolve("/", "a").as_deref(), Some("/a"));
    }

    #[test]
    fn names_that_may_lead_elsewhere() {
        for name in ["", "/a", "..", "a/../b", "./a", "a//b", "a/", "hdfs:/a", "a:b"] {
            assert_eq!(resolve("/c/chk-3", name), None, "{name}");
        }
    }
}
