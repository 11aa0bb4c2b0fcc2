//! HDFS and DolphinScheduler.

use url::Url;

use super::secret::SecretKeys;
use super::value::known_time_zone;
use super::{Checker, roots};
use crate::config::file::{DsTable, GenerationWord, HdfsTable};
use crate::config::valid::{DsConfig, HdfsConfig};
use crate::domain::record::tenant_directory;
use crate::domain::text::printable;
use crate::domain::{HdfsPath, ResourceKind};
use crate::views::Generation;

/// Variable of the DolphinScheduler access token, unless another is named.
const TOKEN_VARIABLE: &str = "STATEWARDEN_DS_TOKEN";

/// Variable of the access token for deletes, unless another is named.
const APPLY_TOKEN_VARIABLE: &str = "STATEWARDEN_DS_APPLY_TOKEN";

/// `resource.storage.upload.base.path` as DolphinScheduler ships it.
const DEFAULT_BASE_PATH: &str = "/dolphinscheduler";

impl Checker<'_> {
    /// How to reach HDFS; `namenodes` come from the Hadoop configuration.
    pub(super) fn hdfs(&mut self, table: Option<&HdfsTable>, namenodes: Vec<Url>) -> Option<HdfsConfig> {
        let default = HdfsTable::default();
        let written = table.unwrap_or(&default);
        let urls = self.hdfs_urls(written, namenodes);
        if urls.is_empty() && self.judge_only {
            return None;
        }
        Some(HdfsConfig {
            urls,
            user: written.user.clone(),
            doas: written.doas.clone(),
            delegation_token: self.optional_secret(&SecretKeys {
                table: "hdfs",
                stem: "delegation_token",
                env: written.delegation_token_env.as_deref(),
                default_env: None,
                file: written.delegation_token_file.as_deref(),
            }),
            http: self.http("hdfs", &written.http),
        })
    }

    fn hdfs_urls(&mut self, table: &HdfsTable, namenodes: Vec<Url>) -> Vec<Url> {
        let written = table.urls.iter().enumerate();
        let urls: Vec<Url> = written.filter_map(|(at, text)| self.url(&format!("hdfs.urls[{at}]"), text)).collect();
        if !table.urls.is_empty() {
            return urls;
        }
        if namenodes.is_empty() && !self.judge_only && !self.report.has_seen("hdfs.conf_dir") {
            self.report.missing(
                "hdfs.urls",
                "no address of HDFS: neither `hdfs.urls` nor a Hadoop configuration directory is named",
                "name the NameNodes in `hdfs.urls` (such as `[\"http://nn1:9870\", \"http://nn2:9870\"]`), or the client \
                 configuration in `hdfs.conf_dir` or HADOOP_CONF_DIR",
            );
        } else if namenodes.is_empty() && !self.judge_only && !self.report.is_wrong("hdfs.conf_dir") {
            self.report.missing(
                "hdfs.urls",
                "the Hadoop configuration directory names no NameNode (`dfs.namenode.http-address`)",
                "name the NameNodes in `hdfs.urls`, such as `[\"http://nn1:9870\", \"http://nn2:9870\"]`",
            );
        }
        namenodes
    }

    /// How to reach DolphinScheduler; `None` with an error, or with a base path that is refused.
    pub(super) fn ds(&mut self, table: &DsTable) -> Option<DsConfig> {
        let url = self.ds_url(table);
        let token = self.secret(&SecretKeys {
            table: "ds",
            stem: "token",
            env: table.token_env.as_deref(),
            default_env: Some(TOKEN_VARIABLE),
            file: table.token_file.as_deref(),
        });
        let apply_token = self.apply_token(&SecretKeys {
            table: "ds",
            stem: "apply_token",
            env: table.apply_token_env.as_deref(),
            default_env: Some(APPLY_TOKEN_VARIABLE),
            file: table.apply_token_file.as_deref(),
        });
        let generation = self.generation(table);
        let base_path = self.base_path(table);
        let time_zone = table.time_zone.as_deref().map(|text| self.time_zone("ds.time_zone", text));
        self.tenants(&table.tenants);
        let http = self.http("ds", &table.http);
        let (version, generation) = generation?;
        Some(DsConfig {
            url,
            token,
            apply_token,
            version,
            generation,
            base_path: base_path?,
            tenants: table.tenants.clone(),
            page_size: table.page_size.unwrap_or(100),
            time_zone: time_zone.unwrap_or_else(|| Some(known_time_zone(generation.default_time_zone())))?,
            http,
        })
    }

    fn ds_url(&mut self, table: &DsTable) -> Option<Url> {
        if let Some(text) = &table.url {
            return self.url("ds.url", text);
        }
        if !self.judge_only {
            self.report.missing(
                "ds.url",
                "no address of DolphinScheduler",
                "write its base URL with the context path, such as `http://ds:12345/dolphinscheduler`, or leave `[ds]` out if there is none",
            );
        }
        None
    }

    fn generation(&mut self, table: &DsTable) -> Option<(String, Generation)> {
        let example = "write the version of the server, such as \"3.1.9\" or \"3.2.2\"";
        let Some(version) = &table.version else {
            self.report.missing(
                "ds.version",
                "the version of DolphinScheduler is needed: its API differs by version",
                example,
            );
            return None;
        };
        let Some(generation) = Generation::of_version(version) else {
            let what = format!("`{}` is no version of DolphinScheduler known here", printable(version));
            self.report.error("ds.version", what, format!("{example}; known are 1.3, 2.0, 3.0, 3.1, 3.2, 3.3 and dev"));
            return None;
        };
        let (word, other) =
            if generation.has_records() { (GenerationWord::Db, "db") } else { (GenerationWord::Storage, "storage") };
        if table.generation.is_some_and(|said| said != word) {
            let what = format!("version {} has the generation \"{other}\"", printable(version));
            self.report.error("ds.generation", what, "correct one of the two, or leave `generation` out");
        }
        Some((version.clone(), generation))
    }

    fn base_path(&mut self, table: &DsTable) -> Option<HdfsPath> {
        const KEY: &str = "ds.base_path";
        let text = table.base_path.as_deref().unwrap_or(DEFAULT_BASE_PATH);
        if let Some(what) = roots::unsafe_text(text) {
            self.report.refuse(
                KEY,
                what,
                "write the base path as the server has it in `resource.storage.upload.base.path`",
            );
            return None;
        }
        let path = self.path(KEY, text)?;
        if path.is_root() {
            self.report.refuse(
                KEY,
                "the whole file system would be the resource namespace; DolphinScheduler is left out of this run",
                "write the base path as the server has it in `resource.storage.upload.base.path`, such as `/dolphinscheduler`",
            );
            return None;
        }
        Some(path)
    }

    fn tenants(&mut self, tenants: &[String]) {
        for (at, tenant) in tenants.iter().enumerate() {
            let usable = tenant_directory(&HdfsPath::root(), tenant, ResourceKind::File).is_some();
            if !usable || tenant.chars().any(char::is_control) {
                let what = format!("`{}` is no tenant code", printable(tenant));
                self.report.error(
                    &format!("ds.tenants[{at}]"),
                    what,
                    "write the code that DolphinScheduler shows, one name without `/`",
                );
            }
        }
    }
}
