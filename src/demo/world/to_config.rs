//! A world's `config` as the program's configuration file.

use jiff::{SignedDuration, Timestamp};
use toml::{Table, Value};

use super::{
    Application, ClusterStatement, DsGeneration, DsStatement, FlinkCluster, Migration, Policies, RegistryLine, Root,
    World, before, whole_seconds,
};
use crate::domain::Age;

/// Where the embedded servers answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Addresses {
    /// Base URL by cluster name, in the order of the world.
    pub flink: Vec<(String, String)>,
    /// Base URLs of the NameNodes, without `/webhdfs/v1`.
    pub hdfs: Vec<String>,
    /// Base URL of DolphinScheduler, with its context path.
    pub ds: Option<String>,
}

impl Addresses {
    fn of_cluster(&self, name: &str) -> Option<&str> {
        self.flink.iter().find(|(cluster, _)| cluster == name).map(|(_, url)| url.as_str())
    }
}

impl World {
    /// The configuration file of a program that looks at this world at `addresses`. Ages become times.
    pub fn to_config_toml(&self, addresses: &Addresses) -> String {
        let mut file = Table::new();
        put(&mut file, "authority", self.authority());
        put_some(&mut file, "flink", self.config.flink.map(|_| "none"));
        put_some(&mut file, "migrate_to", self.config.migrate_to.clone());
        put_table(&mut file, "aliases", table_of(&self.config.aliases));
        let mounts = self.config.viewfs.iter().map(|(name, mounts)| (name.clone(), Value::Table(table_of(mounts))));
        put_table(&mut file, "viewfs", mounts.collect());
        put_table(&mut file, "hdfs", self.hdfs_table(addresses));
        if let Some(ds) = &self.config.ds {
            put_table(&mut file, "ds", ds_table(ds, addresses));
        }
        put_list(&mut file, "clusters", self.cluster_tables(addresses));
        put_list(&mut file, "checkpoint_roots", self.config.checkpoint_roots.iter().map(root_table));
        put_table(&mut file, "policies", policies_table(&self.config.policies));
        put_list(&mut file, "registry", self.config.registry.iter().map(|line| registry_table(line, self.t0)));
        put_list(&mut file, "applications", self.config.applications.iter().map(application_table));
        put_list(&mut file, "migrations", self.config.migrations.iter().map(migration_table));
        file.to_string()
    }

    fn hdfs_table(&self, addresses: &Addresses) -> Table {
        let mut table = Table::new();
        put(&mut table, "urls", addresses.hdfs.clone());
        put(&mut table, "user", self.caller().user);
        table
    }

    /// Every cluster of `flink[]`, with what `config.clusters[]` says about it; then statements about others.
    fn cluster_tables(&self, addresses: &Addresses) -> Vec<Table> {
        let statement = |name: &str| self.config.clusters.iter().find(|said| said.name == name);
        self.flink.iter().map(|cluster| cluster_table(cluster, statement(&cluster.cluster), addresses)).collect()
    }
}

fn cluster_table(cluster: &FlinkCluster, said: Option<&ClusterStatement>, addresses: &Addresses) -> Table {
    let mut table = Table::new();
    put(&mut table, "name", cluster.cluster.as_str());
    put_some(&mut table, "url", addresses.of_cluster(&cluster.cluster));
    if cluster.history {
        put(&mut table, "history", true);
    }
    if let Some(said) = said {
        put_some(&mut table, "checkpoint_dir", said.checkpoint_dir.clone());
        put_some(&mut table, "min_live_jobs", said.min_live_jobs);
        if said.retired {
            put(&mut table, "retired", true);
        }
    }
    table
}

fn ds_table(ds: &DsStatement, addresses: &Addresses) -> Table {
    let mut table = Table::new();
    put_some(&mut table, "url", addresses.ds.clone());
    put(&mut table, "version", ds.version.as_str());
    let generation = match ds.generation {
        DsGeneration::Db => "db",
        DsGeneration::Storage => "storage",
    };
    put(&mut table, "generation", generation);
    put(&mut table, "base_path", ds.base_path.as_str());
    put(&mut table, "tenants", ds.tenants.clone());
    put_some(&mut table, "page_size", ds.page_size);
    put_some(&mut table, "time_zone", ds.time_zone.clone());
    table
}

fn root_table(root: &Root) -> Table {
    let mut table = Table::new();
    put(&mut table, "path", root.path.as_str());
    put(&mut table, "layout", root.layout.word());
    put(&mut table, "clusters", root.clusters.clone());
    table
}

fn policies_table(policies: &Policies) -> Table {
    let mut table = Table::new();
    let ages = [
        ("min_age", policies.min_age),
        ("stable_for", policies.stable_for),
        ("record_grace", policies.record_grace),
        ("confirm_after", policies.confirm_after),
        ("plan_ttl", policies.plan_ttl),
        ("rollback_window", policies.rollback_window),
        ("min_trash_interval", policies.min_trash_interval),
    ];
    for (key, age) in ages {
        put_some(&mut table, key, age.map(|age| age.to_string()));
    }
    put_some(&mut table, "keep_generations", policies.keep_generations);
    put_some(&mut table, "restore_mode", policies.restore_mode.clone());
    put_some(&mut table, "allow_irreversible", policies.allow_irreversible);
    put_some(&mut table, "allow_unverified_version", policies.allow_unverified_version);
    put_some(&mut table, "max_delete_fraction", policies.max_delete_fraction);
    put_some(&mut table, "quarantine", policies.quarantine.clone());
    put_some(&mut table, "trash_restore_window", policies.trash_restore_window);
    if !policies.protect.is_empty() {
        put(&mut table, "protect", policies.protect.clone());
    }
    table
}

fn registry_table(line: &RegistryLine, t0: Timestamp) -> Table {
    let created = line.created_age.map(|age| before(t0, age));
    let protected_for = line.protected_for.map(|age| after(created.unwrap_or(t0), whole_seconds(age)));
    let protected_until = line.protected_until.map(|offset| after(t0, offset.0)).or(protected_for);
    let mut table = Table::new();
    put(&mut table, "app", line.app.as_str());
    put_some(&mut table, "environment", line.environment.clone());
    put(&mut table, "flink_job_id", line.flink_job_id.as_str());
    put_some(&mut table, "code_version", line.code_version.clone());
    put_some(&mut table, "restore_path", line.restore_path.clone());
    put_some(&mut table, "restore_type", line.restore_type.clone());
    put_some(&mut table, "claim_mode", line.claim_mode.clone());
    put_some(&mut table, "created", created.map(written));
    put(&mut table, "status", line.status.word());
    put_some(&mut table, "protected_until", protected_until.map(written));
    put_some(&mut table, "job_state", line.job_state.clone());
    put_some(&mut table, "job_ended", line.job_ended_age.map(|age: Age| written(before(t0, age))));
    table
}

fn application_table(application: &Application) -> Table {
    let mut table = Table::new();
    put(&mut table, "name", application.name.as_str());
    put_some(&mut table, "environment", application.environment.clone());
    put_some(&mut table, "retired", application.retired);
    put(&mut table, "jobs", application.jobs.clone());
    table
}

fn migration_table(migration: &Migration) -> Table {
    let mut table = Table::new();
    put(&mut table, "app", migration.app.as_str());
    put(&mut table, "from", migration.from.as_str());
    put(&mut table, "to", migration.to.as_str());
    put(&mut table, "state", migration.state.as_str());
    table
}

/// RFC 3339 with whole seconds.
fn written(time: Timestamp) -> String {
    Timestamp::from_second(time.as_second()).unwrap_or(time).to_string()
}

fn after(then: Timestamp, seconds: i64) -> Timestamp {
    then.saturating_add(SignedDuration::from_secs(seconds)).unwrap_or(then)
}

fn table_of(map: &std::collections::BTreeMap<String, String>) -> Table {
    map.iter().map(|(key, value)| (key.clone(), Value::from(value.as_str()))).collect()
}

fn put(table: &mut Table, key: &str, value: impl Into<Value>) {
    table.insert(key.to_owned(), value.into());
}

fn put_some(table: &mut Table, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        put(table, key, value);
    }
}

fn put_table(table: &mut Table, key: &str, value: Table) {
    if !value.is_empty() {
        put(table, key, value);
    }
}

fn put_list(table: &mut Table, key: &str, values: impl IntoIterator<Item = Table>) {
    let list: Vec<Value> = values.into_iter().map(Value::Table).collect();
    if !list.is_empty() {
        put(table, key, Value::Array(list));
    }
}
