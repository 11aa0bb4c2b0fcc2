//! The layers over the configuration file: defaults, file, environment, flags.
//!
//! Flags and their environment variables arrive together (the command line reads both); variables that the file names
//! for secrets are read when the value is checked. Nothing here asks any outside system.

use std::path::{Path, PathBuf};

use super::check::{self, Checker};
use super::error::{ConfigErrors, Report, line_at};
use super::file::{ClusterTable, FileConfig, FlinkWord};
use super::shape;
use super::valid::Config;

/// Default name of the configuration file in the working directory.
pub const DEFAULT_FILE: &str = "statewarden.toml";

/// What the command line and the environment say over the file.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions {
    /// The file; `None`: [`DEFAULT_FILE`] in the working directory, else `statewarden/config.toml` below
    /// `$XDG_CONFIG_HOME` (default `~/.config`), else none.
    pub file: Option<PathBuf>,
    /// `--cluster NAME=URL`: adds a cluster, or gives the one of that name another address.
    pub clusters: Vec<(String, String)>,
    /// `--flink-none`: there is no Flink on purpose.
    pub flink_none: bool,
    /// `--authority`.
    pub authority: Option<String>,
    /// `--hdfs-url`, repeatable.
    pub hdfs_urls: Vec<String>,
    /// `--hdfs-user`.
    pub hdfs_user: Option<String>,
    /// `--ds-url`.
    pub ds_url: Option<String>,
    /// `--ds-version`.
    pub ds_version: Option<String>,
    /// `--ds-base-path`.
    pub ds_base_path: Option<String>,
    /// `--ds-tenant`, repeatable.
    pub ds_tenants: Vec<String>,
    /// `--ds-time-zone`.
    pub ds_time_zone: Option<String>,
    /// An inventory file is judged: addresses, tokens and CA files need not be there and are not looked at.
    pub judge_only: bool,
    /// Something is to be applied: the token for deletes is looked at. A task that only reads need not have it.
    pub applies: bool,
}

impl LoadOptions {
    /// Whether nothing is said but where the file is.
    fn says_nothing(&self) -> bool {
        self.clusters.is_empty()
            && !self.flink_none
            && self.hdfs_urls.is_empty()
            && self.ds_tenants.is_empty()
            && [
                &self.authority,
                &self.hdfs_user,
                &self.ds_url,
                &self.ds_version,
                &self.ds_base_path,
                &self.ds_time_zone,
            ]
            .iter()
            .all(|value| value.is_none())
    }
}

/// What the program stands in: environment and working directory. A value, so that tests need not change the process.
pub struct Surroundings<'a> {
    /// Looks up an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Working directory.
    pub directory: PathBuf,
}

impl Surroundings<'_> {
    /// The variable, unless it is unset or empty.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        (self.variable)(name).filter(|value| !value.is_empty())
    }
}

/// Reads and checks the configuration of this process.
pub fn load(options: &LoadOptions) -> Result<Config, ConfigErrors> {
    let variable = |name: &str| std::env::var(name).ok();
    load_in(options, &Surroundings { variable: &variable, directory: PathBuf::new() })
}

/// Reads and checks the configuration in other surroundings than those of the process.
pub fn load_in(options: &LoadOptions, surroundings: &Surroundings<'_>) -> Result<Config, ConfigErrors> {
    let found = find_file(options, surroundings);
    let mut report = Report::new(found.as_deref().map(|path| path.display().to_string()));
    let file = match &found {
        Some(path) => read_file(&surroundings.directory.join(path), &mut report),
        None => file_of_flags(options, surroundings, &mut report),
    };
    let Some(mut file) = file else { return Err(report.into_errors()) };
    overlay(&mut file, options, &mut report);
    let folder = found.as_deref().and_then(Path::parent).unwrap_or(Path::new("")).to_owned();
    let checker = Checker::new(report, surroundings, surroundings.directory.join(folder), options);
    check::check(&file, checker, found)
}

fn find_file(options: &LoadOptions, surroundings: &Surroundings<'_>) -> Option<PathBuf> {
    if let Some(file) = &options.file {
        return Some(file.clone());
    }
    let here = PathBuf::from(DEFAULT_FILE);
    if surroundings.directory.join(&here).exists() {
        return Some(here);
    }
    user_file(surroundings).filter(|path| path.exists())
}

fn user_file(surroundings: &Surroundings<'_>) -> Option<PathBuf> {
    let base = match surroundings.get("XDG_CONFIG_HOME") {
        Some(directory) => PathBuf::from(directory),
        None => PathBuf::from(surroundings.get("HOME")?).join(".config"),
    };
    Some(base.join("statewarden/config.toml"))
}

fn user_file_name(surroundings: &Surroundings<'_>) -> String {
    user_file(surroundings)
        .map_or("$XDG_CONFIG_HOME/statewarden/config.toml".to_owned(), |path| path.display().to_string())
}

/// Without a file the flags have to say it all; without flags too there is nothing to go by.
fn file_of_flags(options: &LoadOptions, surroundings: &Surroundings<'_>, report: &mut Report) -> Option<FileConfig> {
    if !options.says_nothing() {
        return Some(FileConfig::default());
    }
    report.error(
        "",
        format!("neither {DEFAULT_FILE} nor {} is there", user_file_name(surroundings)),
        format!("write one (`statewarden config example > {DEFAULT_FILE}`), or name it with --config"),
    );
    None
}

/// `None` if the file is no TOML at all; then there is nothing else to judge.
fn read_file(path: &Path, report: &mut Report) -> Option<FileConfig> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            let remedy =
                "name another file with --config, or print a commented starter file with `statewarden config example`";
            report.error("", format!("the file cannot be read: {error}"), remedy);
            return None;
        }
    };
    match std::str::from_utf8(&bytes) {
        Ok(text) => shape::read(text.strip_prefix('\u{feff}').unwrap_or(text), report),
        Err(error) => {
            let line = line_at(&bytes, error.valid_up_to());
            report.error_at_line(line, "", "the file is not UTF-8", "save it as UTF-8");
            None
        }
    }
}

/// Puts flags and environment over the file.
fn overlay(file: &mut FileConfig, options: &LoadOptions, report: &mut Report) {
    set(&mut file.authority, options.authority.as_ref(), "authority", "--authority (STATEWARDEN_AUTHORITY)", report);
    if options.flink_none {
        file.flink = Some(FlinkWord::None);
        report.seen_in_flag("flink", "--flink-none (STATEWARDEN_FLINK_NONE)");
    }
    overlay_hdfs(file, options, report);
    overlay_ds(file, options, report);
    for (name, url) in &options.clusters {
        overlay_cluster(&mut file.clusters, name, url, report);
    }
}

fn overlay_hdfs(file: &mut FileConfig, options: &LoadOptions, report: &mut Report) {
    if options.hdfs_urls.is_empty() && options.hdfs_user.is_none() {
        return;
    }
    let hdfs = file.hdfs.get_or_insert_default();
    set_list(&mut hdfs.urls, &options.hdfs_urls, "hdfs.urls", "--hdfs-url (STATEWARDEN_HDFS_URL)", report);
    set(&mut hdfs.user, options.hdfs_user.as_ref(), "hdfs.user", "--hdfs-user (STATEWARDEN_HDFS_USER)", report);
}

fn overlay_ds(file: &mut FileConfig, options: &LoadOptions, report: &mut Report) {
    let texts = [&options.ds_url, &options.ds_version, &options.ds_base_path, &options.ds_time_zone];
    if options.ds_tenants.is_empty() && texts.iter().all(|text| text.is_none()) {
        return;
    }
    let ds = file.ds.get_or_insert_default();
    set(&mut ds.url, options.ds_url.as_ref(), "ds.url", "--ds-url (STATEWARDEN_DS_URL)", report);
    set(&mut ds.version, options.ds_version.as_ref(), "ds.version", "--ds-version (STATEWARDEN_DS_VERSION)", report);
    set(
        &mut ds.base_path,
        options.ds_base_path.as_ref(),
        "ds.base_path",
        "--ds-base-path (STATEWARDEN_DS_BASE_PATH)",
        report,
    );
    set(
        &mut ds.time_zone,
        options.ds_time_zone.as_ref(),
        "ds.time_zone",
        "--ds-time-zone (STATEWARDEN_DS_TIME_ZONE)",
        report,
    );
    set_list(&mut ds.tenants, &options.ds_tenants, "ds.tenants", "--ds-tenant (STATEWARDEN_DS_TENANT)", report);
}

/// A known name gets the new address and keeps the rest of its table.
fn overlay_cluster(clusters: &mut Vec<ClusterTable>, name: &str, url: &str, report: &mut Report) {
    const FLAG: &str = "--cluster (STATEWARDEN_CLUSTER)";
    let url = Some(url.to_owned());
    let known = clusters.iter().position(|cluster| cluster.name.as_deref() == Some(name));
    if let Some(at) = known {
        clusters[at].url = url;
        clusters[at].yarn_resource_manager = None;
        clusters[at].yarn_application = None;
        report.seen_in_flag(&format!("clusters[{at}].url"), FLAG);
    } else {
        report.seen_in_flag(&format!("clusters[{}]", clusters.len()), FLAG);
        clusters.push(ClusterTable { name: Some(name.to_owned()), url, ..ClusterTable::default() });
    }
}

fn set(slot: &mut Option<String>, value: Option<&String>, key: &str, flag: &'static str, report: &mut Report) {
    if let Some(value) = value {
        *slot = Some(value.clone());
        report.seen_in_flag(key, flag);
    }
}

fn set_list(slot: &mut Vec<String>, values: &[String], key: &str, flag: &'static str, report: &mut Report) {
    if !values.is_empty() {
        slot.clear();
        slot.extend_from_slice(values);
        report.seen_in_flag(key, flag);
    }
}
