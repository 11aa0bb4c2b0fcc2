//! Fingerprints over canonical JSON: object keys sorted, no floats that print two ways.

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::Plan;
use crate::config::Config;
use crate::views::{Generation, Inventory};

/// Hex SHA-256 of the canonical JSON of a value.
pub fn of<T: Serialize>(value: &T) -> String {
    // Through `Value`, whose maps are sorted as long as no crate turns on `preserve_order`; a test guards that.
    let text = serde_json::to_value(value).map(|value| value.to_string()).unwrap_or_default();
    hex(&Sha256::digest(text.as_bytes()))
}

/// Lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The hash of a plan: over everything but the hash itself.
pub fn of_plan(plan: &Plan) -> String {
    of(&Plan { hash: String::new(), ..plan.clone() })
}

/// The fingerprint of an inventory.
pub fn of_inventory(inventory: &Inventory) -> String {
    of(inventory)
}

/// The fingerprint of the part of the configuration that decides: authorities, DolphinScheduler's address, version and base
/// path, clusters, roots, policies, registry, applications. No credentials, time-outs or outputs.
pub fn of_config(config: &Config) -> String {
    let ds = config.ds.as_ref().map(|ds| {
        (
            ds.url.as_ref().map(ToString::to_string),
            &ds.version,
            ds.generation,
            &ds.base_path,
            &ds.tenants,
            ds.time_zone.iana_name().map(str::to_owned),
        )
    });
    let clusters: Vec<String> = config
        .clusters
        .iter()
        .map(|c| {
            format!(
                "{} {:?} {} {} {:?} {}",
                c.name, c.endpoint, c.history, c.retired, c.checkpoint_dir, c.min_live_jobs
            )
        })
        .collect();
    let hdfs: Option<Vec<String>> =
        config.hdfs.as_ref().map(|hdfs| hdfs.urls.iter().map(ToString::to_string).collect());
    let judged = format!(
        "{:?} {:?} {:?} {:?} {:?} {:?}",
        config.roots, config.policies, config.registry, config.applications, config.migrate_to, config.migrations
    );
    of(&serde_json::json!({
        "file_systems": config.file_systems, "ds": ds, "hdfs": hdfs, "flink_none": config.flink_none, "clusters": clusters, "judged": judged,
    }))
}

/// The scope in which two observations of one record may be compared: the same file system, server, generation and judging
/// configuration.
pub fn of_scope(config: &Config, inventory: &Inventory) -> String {
    scope(config, inventory.resources.as_ref().and_then(|view| view.generation))
}

/// The same for a generation found by probing.
pub fn scope(config: &Config, generation: Option<Generation>) -> String {
    of(&(of_config(config), generation))
}
