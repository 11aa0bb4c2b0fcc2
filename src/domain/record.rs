//! Resource records of DolphinScheduler: keys and names.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::HdfsPath;

/// Id of a resource record (`t_ds_resources.id`), up to DolphinScheduler 3.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct RecordId(pub i64);

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Code of a workflow definition, 64 bits wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct WorkflowCode(pub i64);

impl fmt::Display for WorkflowCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The two kinds of resources that DolphinScheduler keeps apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum ResourceKind {
    /// A file resource, below `<base>/<tenant>/resources`.
    File,
    /// A UDF jar, below `<base>/<tenant>/udfs`.
    Udf,
}

impl ResourceKind {
    /// The directory below the tenant's that holds resources of this kind.
    pub const fn directory(self) -> &'static str {
        match self {
            Self::File => "resources",
            Self::Udf => "udfs",
        }
    }

    /// The word the API wants in `type=`.
    pub const fn api_name(self) -> &'static str {
        match self {
            Self::File => "FILE",
            Self::Udf => "UDF",
        }
    }
}

/// Why a full name must not be looked up.
///
/// DolphinScheduler validates only `name`, never `currentDir` (2.0 to 3.1), so a full name can climb out of its tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NameFault {
    /// A `..` that leaves `<base>/<tenant>/<kind>` after normalisation: a delete would hit somebody else's file.
    LeavesTenant,
    /// A `.` or `..` component that stays inside.
    DotComponent,
    /// An empty component (`//`), or no name at all.
    EmptyComponent,
    /// A control character.
    ControlCharacter,
}

/// The full name checked: the path of a record relative to its tenant's directory, or the fault in it.
pub fn check_full_name(full_name: &str) -> Result<&str, NameFault> {
    let relative = full_name.strip_prefix('/').unwrap_or(full_name);
    let mut depth = 0_i64;
    let mut fault = None;
    for part in relative.split('/') {
        match part {
            "" => fault = fault.or(Some(NameFault::EmptyComponent)),
            "." => fault = fault.or(Some(NameFault::DotComponent)),
            ".." => {
                depth -= 1;
                fault = fault.or(Some(NameFault::DotComponent));
                if depth < 0 {
                    return Err(NameFault::LeavesTenant);
                }
            }
            _ => depth += 1,
        }
    }
    if relative.chars().any(char::is_control) {
        fault = fault.or(Some(NameFault::ControlCharacter));
    }
    fault.map_or(Ok(relative), Err)
}

/// The directory of a tenant for one kind: `<base>/<tenant>/resources` or `…/udfs`.
pub fn tenant_directory(base: &HdfsPath, tenant: &str, kind: ResourceKind) -> Option<HdfsPath> {
    if tenant.is_empty() || tenant.contains('/') || tenant == "." || tenant == ".." || tenant.contains('\0') {
        return None;
    }
    Some(base.join(tenant).join(kind.directory()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_climb_are_told_apart() {
        assert_eq!(check_full_name("/a/b.sh"), Ok("a/b.sh"));
        assert_eq!(check_full_name("/lib/../../../ops/resources/run.sh"), Err(NameFault::LeavesTenant));
        assert_eq!(check_full_name("/lib/../run.sh"), Err(NameFault::DotComponent));
        assert_eq!(check_full_name("/a//b"), Err(NameFault::EmptyComponent));
        assert_eq!(check_full_name("/a\nb"), Err(NameFault::ControlCharacter));
        assert_eq!(check_full_name("/"), Err(NameFault::EmptyComponent));
    }
}
