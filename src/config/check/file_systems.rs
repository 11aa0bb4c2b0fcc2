//! Which file system is read, and its other spellings: from the file, else from a Hadoop configuration directory.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use url::Url;

use super::Checker;
use super::value::with_sources;
use crate::config::error::below;
use crate::config::file::FileConfig;
use crate::config::hadoop::{self, HadoopConf};
use crate::domain::{Authority, HdfsPath, HdfsUri, Place};

impl Checker<'_> {
    /// Settles the file systems; returns the NameNodes that the Hadoop configuration names for the one that is read.
    pub(super) fn file_systems(&mut self, file: &FileConfig) -> Vec<Url> {
        let conf = self.hadoop_conf(file);
        let default = conf.file_systems.canonical.clone();
        self.file_systems = conf.file_systems;
        self.authority(file.authority.as_deref());
        self.aliases(&file.aliases);
        self.mounts(&file.viewfs);
        if default.is_none_or(|default| self.is_read(default)) {
            return conf.namenode_urls;
        }
        if file.hdfs.as_ref().is_none_or(|hdfs| hdfs.urls.is_empty()) && !self.judge_only {
            self.report.error(
                "authority",
                "the Hadoop configuration is about another file system, so its NameNodes cannot be asked about this one",
                "name the NameNodes of this one in `hdfs.urls`, leave `authority` out, or say in `[aliases]` that both are the same",
            );
        }
        Vec::new()
    }

    /// Whether an authority is the file system that is read.
    fn is_read(&self, authority: Authority) -> bool {
        let root = HdfsUri { authority: Some(authority), path: HdfsPath::root() };
        matches!(self.file_systems.resolve(&root), Place::Here(_))
    }

    fn hadoop_conf(&mut self, file: &FileConfig) -> HadoopConf {
        const KEY: &str = "hdfs.conf_dir";
        let named = file.hdfs.as_ref().and_then(|hdfs| hdfs.conf_dir.as_deref()).map(|dir| self.file(dir));
        let variable = self.surroundings.get("HADOOP_CONF_DIR").map(PathBuf::from);
        let Some(directory) = named.clone().or_else(|| variable.map(|dir| self.surroundings.directory.join(dir)))
        else {
            return HadoopConf::default();
        };
        if self.judge_only && !directory.exists() {
            return HadoopConf::default();
        }
        if named.is_none() {
            self.report.seen_in_flag(KEY, "HADOOP_CONF_DIR");
        }
        hadoop::read(&directory).unwrap_or_else(|error| {
            let remedy =
                "name the directory with `core-site.xml` and `hdfs-site.xml` in `hdfs.conf_dir` or HADOOP_CONF_DIR";
            self.report.error(KEY, with_sources(&error), remedy);
            HadoopConf::default()
        })
    }

    /// Takes the configured authority over that of the Hadoop configuration, which stays known as another name of it if it is
    /// one.
    fn authority(&mut self, text: Option<&str>) {
        const KEY: &str = "authority";
        let Some(authority) = text.and_then(|text| self.parsed_authority(KEY, text)) else { return };
        if authority.scheme() != "hdfs" {
            let remedy = "name the `hdfs://` file system that is read; mount tables go under `[viewfs.NAME]`";
            self.report.error(KEY, format!("`{authority}` is no HDFS"), remedy);
            return;
        }
        let same = self.is_read(authority.clone());
        let before = self.file_systems.canonical.replace(authority.clone()).filter(|before| *before != authority);
        if let (true, Some(before)) = (same, before) {
            self.file_systems.aliases.remove(&authority);
            self.file_systems.aliases.insert(before, authority);
        }
    }

    fn parsed_authority(&mut self, key: &str, text: &str) -> Option<Authority> {
        let parsed = Authority::parse(text).ok();
        if parsed.is_none() {
            // Not quoted: an authority may hold a password by mistake.
            let remedy = "write scheme and authority alone, such as `hdfs://ns1` or `hdfs://nn1.example:8020`";
            self.report.error(key, "this names no file system", remedy);
        }
        parsed
    }

    fn aliases(&mut self, written: &BTreeMap<String, String>) {
        let mut keys = BTreeMap::new();
        for (from, to) in written {
            let key = below("aliases", from);
            let pair = (self.parsed_authority(&key, from), self.parsed_authority(&key, to));
            if let (Some(from), Some(to)) = pair {
                self.file_systems.aliases.insert(from.clone(), to);
                keys.insert(from, key);
            }
        }
        let refused: Vec<_> = keys.into_iter().filter(|(from, _)| self.leads_astray(from)).collect();
        for (from, key) in refused {
            self.file_systems.aliases.remove(&from);
            self.report.refuse(
                &key,
                "the alias ends at no other file system: it names itself, runs in a circle, or renames `authority`",
                "name the file system that this one really is, on the right side",
            );
        }
    }

    /// Whether an alias renames the file system that is read, or leads back to where it began.
    fn leads_astray(&self, from: &Authority) -> bool {
        if self.file_systems.canonical.as_ref() == Some(from) {
            return true;
        }
        let mut seen = BTreeSet::from([from]);
        let mut at = from;
        while let Some(next) = self.file_systems.aliases.get(at) {
            if self.file_systems.canonical.as_ref() == Some(next) {
                return false;
            }
            if !seen.insert(next) {
                return true;
            }
            at = next;
        }
        false
    }

    fn mounts(&mut self, written: &BTreeMap<String, BTreeMap<String, String>>) {
        for (name, table) in written {
            let table_key = below("viewfs", name);
            let mut mounts = BTreeMap::new();
            for (mount, target) in table {
                let key = below(&table_key, mount);
                let mount = HdfsPath::parse(mount).ok();
                if mount.is_none() {
                    self.report.error(&key, "the mount point is no absolute path", "write a path such as `/data`");
                }
                if let (Some(target), Some(mount)) = (self.uri(&key, target), mount) {
                    mounts.insert(mount, target);
                }
            }
            // Authorities are compared in lower case.
            self.file_systems.mounts.insert(name.to_ascii_lowercase(), mounts);
        }
    }
}
