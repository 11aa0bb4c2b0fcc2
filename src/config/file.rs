//! The configuration file as written (TOML), and its JSON Schema.
//!
//! One owner of the shape: the types below, with their doc comments, are the published schema, and `shape.rs` holds
//! the file against that schema. What a text means is decided in `check`, not here.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde::Deserialize;
use serde_json::Value;

use super::valid::{Layout, RegistryStatus, RestoreMode, RestoreType};
use crate::compare::code::FindingCode;

/// The configuration of statewarden.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, title = "statewarden configuration")]
pub struct FileConfig {
    /// The file system that is read, such as `hdfs://ns1`. Default: `fs.defaultFS` from `hdfs.conf_dir`.
    pub authority: Option<String>,
    /// `"none"`: there is no Flink on purpose. Excludes `[[clusters]]`; one of the two has to be said.
    pub flink: Option<FlinkWord>,
    /// Directory to which checkpoint roots inside the resource namespace should move. It must lie outside of it.
    pub migrate_to: Option<String>,
    /// Other authorities and the one each of them stands for: `"hdfs://nn-a:8020" = "hdfs://ns1"`.
    #[serde(default)]
    pub aliases: BTreeMap<String, String>,
    /// ViewFs mount tables by name: mount point to target.
    #[serde(default)]
    pub viewfs: BTreeMap<String, BTreeMap<String, String>>,
    /// How to reach HDFS.
    pub hdfs: Option<HdfsTable>,
    /// How to reach DolphinScheduler (DS), and what it is. Left out: there is none.
    pub ds: Option<DsTable>,
    /// Flink clusters and history servers: all that may use the same HDFS.
    #[serde(default)]
    pub clusters: Vec<ClusterTable>,
    /// Directories in which Flink makes run directories.
    #[serde(default)]
    pub checkpoint_roots: Vec<RootTable>,
    /// Limits and graces.
    #[serde(default)]
    pub policies: PoliciesTable,
    /// Known restore points.
    #[serde(default)]
    pub registry: Vec<RegistryTable>,
    /// Known applications.
    #[serde(default)]
    pub applications: Vec<ApplicationTable>,
    /// Recorded migrations of checkpoint roots.
    #[serde(default)]
    pub migrations: Vec<MigrationTable>,
    /// Findings that are expected.
    #[serde(default)]
    pub ignores: Vec<IgnoreTable>,
}

/// The only word that `flink` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FlinkWord {
    /// There is no Flink on purpose.
    None,
}

/// A duration: a whole number with a unit, such as `90s`, `15m`, `72h` or `30d`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("pattern" = "^[0-9]+[smhd]$"))]
pub struct DurationText(pub String);

/// A moment: RFC 3339 with a zone, or a date, which means the end of that day in UTC.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("pattern" = "^[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt ].+)?$"))]
pub struct MomentText(pub String);

/// `[hdfs]`: how to reach HDFS over WebHDFS or HttpFS.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct HdfsTable {
    /// The NameNodes of one HA pair, or one HttpFS or Knox base URL. Default: from `conf_dir`.
    #[serde(default)]
    pub urls: Vec<String>,
    /// Directory with `core-site.xml` and `hdfs-site.xml`, for what is not set here: authority, aliases, mount tables,
    /// URLs. Default: the environment variable `HADOOP_CONF_DIR`.
    pub conf_dir: Option<String>,
    /// `user.name` of the questions; a cluster with Kerberos ignores it.
    pub user: Option<String>,
    /// User to act as (`doas`); the cluster must allow the impersonation.
    pub doas: Option<String>,
    /// Environment variable that holds a delegation token.
    pub delegation_token_env: Option<String>,
    /// File that holds a delegation token, read anew at each run so that it can be rotated.
    pub delegation_token_file: Option<String>,
    /// What all servers have in common.
    #[serde(flatten)]
    pub http: HttpKeys,
}

/// `[ds]`: how to reach DolphinScheduler, and what it is.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct DsTable {
    /// Base URL with the context path, such as `http://ds:12345/dolphinscheduler`.
    pub url: Option<String>,
    /// Environment variable that holds the access token. Default: `STATEWARDEN_DS_TOKEN`.
    pub token_env: Option<String>,
    /// File that holds the access token, where the variable is not set.
    pub token_file: Option<String>,
    /// Environment variable that holds the access token for deletes. Default: `STATEWARDEN_DS_APPLY_TOKEN`; where that is not
    /// set either, the token above deletes too.
    pub apply_token_env: Option<String>,
    /// File that holds the access token for deletes, where the variable is not set.
    pub apply_token_file: Option<String>,
    /// Version of the server, such as `3.1.9`, `3.2.2` or `dev`; compared with what the server can do.
    pub version: Option<String>,
    /// What follows from the version, said once more: a contradiction is an error.
    pub generation: Option<GenerationWord>,
    /// Base path of the resource center in HDFS (`resource.storage.upload.base.path`). Default: `/dolphinscheduler`.
    pub base_path: Option<String>,
    /// Tenants to look at. Default: those of all users.
    #[serde(default)]
    pub tenants: Vec<String>,
    /// Entries a page. Default: 100.
    #[schemars(range(min = 1))]
    pub page_size: Option<u32>,
    /// Zone of the times that the server prints without one: a name such as `Asia/Shanghai`, or an offset such as
    /// `+08:00`. Default: +08:00 up to 2.0, UTC from 3.0.
    pub time_zone: Option<String>,
    /// What all servers have in common.
    #[serde(flatten)]
    pub http: HttpKeys,
}

/// The two kinds of resource centers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GenerationWord {
    /// Records with ids in a database: up to 3.1.
    Db,
    /// A listing of the storage: from 3.2.0 on.
    Storage,
}

/// Keys that all servers have in common.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct HttpKeys {
    /// Deadline of one question with all its retries. Default: `30s`.
    pub timeout: Option<DurationText>,
    /// A private CA (PEM) to trust beside those of the system.
    pub ca_file: Option<String>,
    /// User of HTTP basic authentication.
    pub basic_user: Option<String>,
    /// Environment variable that holds its password.
    pub basic_password_env: Option<String>,
    /// File that holds its password.
    pub basic_password_file: Option<String>,
    /// Environment variable that holds a bearer token.
    pub bearer_token_env: Option<String>,
    /// File that holds a bearer token.
    pub bearer_token_file: Option<String>,
    /// Requests in flight at once. Default: 8.
    #[schemars(range(min = 1))]
    pub max_concurrency: Option<u32>,
    /// Requests a second. Default: as fast as the answers come.
    #[schemars(range(min = 1))]
    pub requests_per_second: Option<u32>,
}

/// `[[clusters]]`: one Flink cluster or history server.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ClusterTable {
    /// A name of your own, unique.
    #[schemars(required)]
    pub name: Option<String>,
    /// REST base URL of a session or application cluster, a YARN proxy or a reverse proxy, with its path prefix.
    pub url: Option<String>,
    /// ResourceManager to ask for the address at each run, such as `http://rm:8088`; instead of `url`.
    pub yarn_resource_manager: Option<String>,
    /// Exact name of the YARN application, not its id, which changes with each start.
    pub yarn_application: Option<String>,
    /// A history server: it knows ended jobs only.
    #[serde(default)]
    pub history: bool,
    /// Gone for good: its silence vetoes nothing.
    #[serde(default)]
    pub retired: bool,
    /// Checkpoint directory that the cluster's own configuration must show.
    pub checkpoint_dir: Option<String>,
    /// Fewer live jobs than this is a gap, not an empty cluster. Default: 0.
    pub min_live_jobs: Option<u32>,
    /// What all servers have in common.
    #[serde(flatten)]
    pub http: HttpKeys,
}

/// `[[checkpoint_roots]]`: a directory in which Flink makes run directories.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct RootTable {
    /// The directory: at least two components, no globs, not at or above the resource namespace.
    #[schemars(required)]
    pub path: Option<String>,
    /// How run directories lie below it.
    #[schemars(required)]
    pub layout: Option<Layout>,
    /// Names of the clusters that write there. Default: all of them.
    #[serde(default)]
    pub clusters: Vec<String>,
}

/// `[policies]`: limits and graces.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct PoliciesTable {
    /// Age of the newest time in a run directory before it may go; at least `1h`. Default: `72h`.
    pub min_age: Option<DurationText>,
    /// How long a successor must have been stable. Default: `1h`.
    pub stable_for: Option<DurationText>,
    /// Newest restorable runs to keep, the running one counted. Default: 1.
    pub keep_generations: Option<u32>,
    /// Age of a record, or of a file without a record, before it is drift. Default: `24h`.
    pub record_grace: Option<DurationText>,
    /// Distance of the two observations that a stale record needs. Default: `10m`.
    pub confirm_after: Option<DurationText>,
    /// Restore mode of jobs for which nothing else says it. Default: `unknown`.
    pub restore_mode: Option<RestoreMode>,
    /// Whether deletes without an undo may be planned. Default: false.
    pub allow_irreversible: Option<bool>,
    /// Whether DS versions that nobody recorded may be written to. Default: false.
    pub allow_unverified_version: Option<bool>,
    /// Share of a tenant's records that may be stale before it is a mass absence, above 0 and at most 1. Default: 0.5,
    /// from five records on; if it is named, at once, and for the run directories of a root too.
    pub max_delete_fraction: Option<f64>,
    /// Protected paths, or `app/run` below a root.
    #[serde(default)]
    pub protect: Vec<String>,
    /// How long a plan may be applied. Default: `1h`.
    pub plan_ttl: Option<DurationText>,
    /// How long a rollback must stay possible. Default: `24h`.
    pub rollback_window: Option<DurationText>,
    /// A Trash that empties sooner counts as none. Default: `rollback_window`.
    pub min_trash_interval: Option<DurationText>,
    /// Directory for what is put aside instead of into the Trash, outside the resource namespace. Default: none.
    pub quarantine: Option<String>,
    /// Whether a copy in a Trash keeps its record from being deleted. Default: true.
    pub trash_restore_window: Option<bool>,
}

/// `[[registry]]`: one known restore point.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct RegistryTable {
    /// Application.
    #[schemars(required)]
    pub app: Option<String>,
    /// Environment, such as `prod`.
    pub environment: Option<String>,
    /// The job that wrote the restore point, in any spelling.
    pub flink_job_id: Option<String>,
    /// Version of the application's code.
    pub code_version: Option<String>,
    /// Where the restore point lies; left out: the line is about the run directory of its job.
    pub restore_path: Option<String>,
    /// Checkpoint or savepoint.
    pub restore_type: Option<RestoreType>,
    /// Restore mode of the jobs that were restored from it.
    pub claim_mode: Option<RestoreMode>,
    /// When it was made.
    pub created: Option<MomentText>,
    /// State of the line.
    #[schemars(required)]
    pub status: Option<RegistryStatus>,
    /// Protected at least until then.
    pub protected_until: Option<MomentText>,
    /// Last state of the job as somebody saw it, as Flink names it: `CANCELED`, `FINISHED`, `FAILED`, ….
    pub job_state: Option<String>,
    /// When the job ended.
    pub job_ended: Option<MomentText>,
}

/// `[[applications]]`: one known application.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ApplicationTable {
    /// Name.
    #[schemars(required)]
    pub name: Option<String>,
    /// Environment, such as `prod`.
    pub environment: Option<String>,
    /// Given up: it needs no successor.
    #[serde(default)]
    pub retired: bool,
    /// Its job ids: the explicit map for roots of layout `job`.
    #[serde(default)]
    pub jobs: Vec<String>,
}

/// `[[migrations]]`: one recorded migration of a checkpoint root.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct MigrationTable {
    /// Application.
    #[schemars(required)]
    pub app: Option<String>,
    /// Old root.
    #[schemars(required)]
    pub from: Option<String>,
    /// New root.
    #[schemars(required)]
    pub to: Option<String>,
    /// How far it is.
    #[schemars(required)]
    pub state: Option<MigrationState>,
}

/// How far a migration is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MigrationState {
    /// Begun.
    Started,
    /// The job writes to the new root.
    Switched,
    /// Waiting until the old state is needed by nobody.
    Soaking,
    /// Over.
    Finished,
}

/// `[[ignores]]`: a finding that is expected. All keys that are given must match; a path covers everything below.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct IgnoreTable {
    /// Finding code.
    #[schemars(required)]
    pub code: Option<FindingCode>,
    /// Path, with everything below.
    pub path: Option<String>,
    /// Record id.
    pub record: Option<i64>,
    /// Workflow code.
    pub workflow: Option<i64>,
    /// Cluster name.
    pub cluster: Option<String>,
    /// Why it is expected.
    #[schemars(required)]
    pub reason: Option<String>,
    /// Until when. An expired one hides nothing and is reported.
    #[schemars(required)]
    pub expires: Option<MomentText>,
}

/// The JSON Schema (draft 2020-12) of the configuration file, for editors and for the check of the shape.
pub fn schema() -> Value {
    let generator = SchemaSettings::draft2020_12().with_transform(RecursiveTransform(drop_null)).into_generator();
    generator.into_root_schema_for::<FileConfig>().to_value()
}

/// TOML has no null, so "absent" is the only way to leave a key out and the schema should not offer another.
fn drop_null(schema: &mut schemars::Schema) {
    let Some(object) = schema.as_object_mut() else { return };
    if object.get("default").is_some_and(Value::is_null) {
        object.remove("default");
    }
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
        choices.retain(|choice| choice["type"] != "null");
        if let [Value::Object(only)] = choices.as_slice() {
            let only = only.clone();
            object.remove("anyOf");
            object.extend(only);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_is_closed_and_has_no_null() {
        let schema = schema();
        let text = schema.to_string();
        assert!(!text.contains("null"), "{text}");
        assert_eq!(schema["additionalProperties"], false);
        for (name, definition) in schema["$defs"].as_object().expect("definitions") {
            assert!(definition["description"].is_string(), "{name} has no description");
            if definition["type"] == "object" {
                assert_eq!(definition["additionalProperties"], false, "{name}");
            }
        }
    }

    #[test]
    fn common_keys_stand_in_each_server_table() {
        let schema = schema();
        for table in ["HdfsTable", "DsTable", "ClusterTable"] {
            assert!(schema["$defs"][table]["properties"]["ca_file"]["description"].is_string(), "{table}");
        }
        assert_eq!(schema["$defs"]["ClusterTable"]["required"], serde_json::json!(["name"]));
    }
}
