//! From properties to file systems and NameNode addresses.

use std::collections::BTreeMap;

use url::Url;

use super::resource::{Properties, Property};
use super::{HadoopConf, HadoopConfError};
use crate::domain::{Authority, FileSystems, HdfsPath, HdfsUri};

const MOUNT_TABLES: &str = "fs.viewfs.mounttable.";

/// Ports of `dfs.namenode.http-address` and `dfs.namenode.https-address` in hdfs-default.xml of Hadoop 3.
const HTTP_PORT: u16 = 9870;
const HTTPS_PORT: u16 = 9871;

type Mounts = BTreeMap<String, BTreeMap<HdfsPath, HdfsUri>>;

/// Reads the topology out of the properties.
pub(super) fn build(properties: &Properties) -> Result<HadoopConf, HadoopConfError> {
    let view = View { properties, nameservices: nameservices(properties)? };
    let default = view.default_authority()?;
    let aliases = view.aliases(default.as_ref())?;
    let canonical = view.canonical(default, &aliases);
    let namenode_urls = view.namenode_urls(canonical.as_ref())?;
    let file_systems = FileSystems { canonical, aliases, mounts: view.mounts()? };
    let properties = properties.iter().map(|(key, property)| (key.to_owned(), property.value.clone())).collect();
    Ok(HadoopConf { file_systems, namenode_urls, properties })
}

struct View<'a> {
    properties: &'a Properties,
    nameservices: Vec<Nameservice>,
}

/// One nameservice. Keys spell it as written, authorities in lower case.
struct Nameservice {
    name: String,
    authority: Authority,
}

fn nameservices(properties: &Properties) -> Result<Vec<Nameservice>, HadoopConfError> {
    let Some(property) = properties.get("dfs.nameservices")? else { return Ok(Vec::new()) };
    let of = |name: String| match Authority::parse(&format!("hdfs://{name}")) {
        Ok(authority) => Ok(Nameservice { name, authority }),
        Err(error) => Err(wrong("dfs.nameservices", property, &error)),
    };
    list(property).map(of).collect()
}

impl View<'_> {
    /// What `fs.defaultFS` names, if that is an HDFS. Where it is a mount table or not set, the only nameservice is meant;
    /// where it is another kind of file system, nothing is.
    fn default_authority(&self) -> Result<Option<Authority>, HadoopConfError> {
        let property = self.properties.get("fs.defaultFS")?;
        let scheme = property.and_then(|property| property.value.split_once(':')).map(|(scheme, _)| scheme);
        match (property, scheme.map(str::to_ascii_lowercase).as_deref()) {
            (Some(property), Some("hdfs")) => {
                let uri = HdfsUri::parse(&property.value).map_err(|error| wrong("fs.defaultFS", property, &error))?;
                let missing = "it names no file system, as in `hdfs://NAME`";
                uri.authority.ok_or_else(|| property.wrong("fs.defaultFS", missing.to_owned())).map(Some)
            }
            (None, _) | (_, Some("viewfs")) => Ok(match self.nameservices.as_slice() {
                [only] => Some(only.authority.clone()),
                _ => None,
            }),
            _ => Ok(None),
        }
    }

    /// The default file system by its best name: that of the nameservice, if it is written as one of its NameNodes.
    fn canonical(&self, default: Option<Authority>, aliases: &BTreeMap<Authority, Authority>) -> Option<Authority> {
        let default = default?;
        let root = HdfsUri { authority: Some(default.clone()), path: HdfsPath::root() };
        let is_default = |nameservice: &&Nameservice| {
            let canonical = Some(nameservice.authority.clone());
            let systems = FileSystems { canonical, aliases: aliases.clone(), mounts: Mounts::new() };
            systems.resolve(&root).here().is_some()
        };
        Some(self.nameservices.iter().find(is_default).map_or(default, |found| found.authority.clone()))
    }

    /// The addresses of each NameNode, as other names of its nameservice; without nameservices, of the default file system.
    fn aliases(&self, default: Option<&Authority>) -> Result<BTreeMap<Authority, Authority>, HadoopConfError> {
        let mut aliases = BTreeMap::new();
        for nameservice in &self.nameservices {
            for suffix in self.suffixes(nameservice)? {
                self.add_aliases(&mut aliases, &suffix, &nameservice.authority)?;
            }
        }
        if let (true, Some(default)) = (self.nameservices.is_empty(), default) {
            self.add_aliases(&mut aliases, "", default)?;
        }
        Ok(aliases)
    }

    fn add_aliases(
        &self,
        aliases: &mut BTreeMap<Authority, Authority>,
        suffix: &str,
        target: &Authority,
    ) -> Result<(), HadoopConfError> {
        for (scheme, kind) in [("hdfs", "rpc"), ("webhdfs", "http"), ("swebhdfs", "https")] {
            let key = format!("dfs.namenode.{kind}-address{suffix}");
            let Some(property) = self.specific(&key)? else { continue };
            let address = Authority::parse(&format!("{scheme}://{}", property.value))
                .map_err(|error| wrong(&key, property, &error))?;
            if address != *target {
                aliases.insert(address, target.clone());
            }
        }
        Ok(())
    }

    /// An address that names a host.
    fn specific(&self, key: &str) -> Result<Option<&Property>, HadoopConfError> {
        Ok(self.properties.get(key)?.filter(|property| !is_wildcard(&property.value)))
    }

    /// What is appended to the keys of one nameservice: `.ns.nn` for each NameNode, or `.ns` without high availability.
    fn suffixes(&self, Nameservice { name, .. }: &Nameservice) -> Result<Vec<String>, HadoopConfError> {
        let namenodes = self.properties.get(&format!("dfs.ha.namenodes.{name}"))?;
        let suffixes: Vec<_> = namenodes.into_iter().flat_map(list).map(|node| format!(".{name}.{node}")).collect();
        Ok(if suffixes.is_empty() { vec![format!(".{name}")] } else { suffixes })
    }

    /// The web addresses of the default file system's NameNodes.
    fn namenode_urls(&self, canonical: Option<&Authority>) -> Result<Vec<Url>, HadoopConfError> {
        let Some(canonical) = canonical else { return Ok(Vec::new()) };
        let nameservice = self.nameservices.iter().find(|nameservice| nameservice.authority == *canonical);
        let suffixes = nameservice.map_or_else(|| Ok(vec![String::new()]), |found| self.suffixes(found))?;
        let default = self.properties.get("fs.defaultFS")?.filter(|_| nameservice.is_none());
        let default = default.map(|property| (property, host_of(canonical.host())));
        suffixes.iter().filter_map(|suffix| self.namenode_url(suffix, default).transpose()).collect()
    }

    /// The web address of one NameNode. Where none is set, or one for all interfaces, it is on the host of the RPC address
    /// or of the default file system.
    fn namenode_url(&self, suffix: &str, default: Option<(&Property, &str)>) -> Result<Option<Url>, HadoopConfError> {
        let https = self.properties.get("dfs.http.policy")?.is_some_and(|property| property.value == "HTTPS_ONLY");
        let (scheme, port) = if https { ("https", HTTPS_PORT) } else { ("http", HTTP_PORT) };
        let key = format!("dfs.namenode.{scheme}-address{suffix}");
        let (from, address) = if let Some(property) = self.specific(&key)? {
            (property, with_port(&property.value, port))
        } else {
            let rpc = self.specific(&format!("dfs.namenode.rpc-address{suffix}"))?;
            let rpc = rpc.map(|property| (property, host_of(&property.value)));
            let Some((property, host)) = rpc.or(default) else { return Ok(None) };
            let wildcard = self.properties.get(&key)?.and_then(|property| port_of(&property.value));
            (property, format!("{host}:{}", wildcard.unwrap_or(port)))
        };
        Url::parse(&format!("{scheme}://{address}")).map(Some).map_err(|error| wrong(&key, from, &error))
    }

    fn mounts(&self) -> Result<Mounts, HadoopConfError> {
        let mut mounts = Mounts::new();
        for (key, property) in self.properties.iter() {
            let Some((table, mount)) = key.strip_prefix(MOUNT_TABLES).and_then(mount_of) else { continue };
            let property = property.check(key)?;
            let mount = HdfsPath::parse(mount).map_err(|error| wrong(key, property, &error))?;
            let target = mount_target(&property.value).map_err(|what| property.wrong(key, what))?;
            mounts.entry(table.to_ascii_lowercase()).or_default().insert(mount, target);
        }
        Ok(mounts)
    }
}

fn wrong(key: &str, property: &Property, error: &dyn std::error::Error) -> HadoopConfError {
    let source = error.source().map(|source| format!(": {source}")).unwrap_or_default();
    property.wrong(key, format!("{error}{source}"))
}

fn list(property: &Property) -> impl Iterator<Item = String> {
    property.value.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned)
}

/// Table and mount point of a key behind [`MOUNT_TABLES`]. `linkMergeSlash` replaces the root, and `linkFallback` takes what
/// no other mount does; both are the mount of `/`.
fn mount_of(key: &str) -> Option<(&str, &str)> {
    key.split_once(".link.").or_else(|| {
        let table = key.strip_suffix(".linkFallback").or_else(|| key.strip_suffix(".linkMergeSlash"))?;
        Some((table, "/"))
    })
}

/// Where a mount leads. Targets outside HDFS are kept under their own authority: dropping them would let a wider mount of
/// HDFS claim their paths.
fn mount_target(text: &str) -> Result<HdfsUri, String> {
    match HdfsUri::parse(text) {
        Ok(uri) => Ok(uri),
        Err(crate::domain::authority::UriError::OtherFileSystem(_)) => {
            let (scheme, rest) = text.split_once(':').unwrap_or((text, ""));
            let rest = rest.strip_prefix("//").unwrap_or(rest);
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let host = if host.is_empty() { "local" } else { host };
            let authority = Authority::parse(&format!("{scheme}://{host}")).map_err(|error| error.to_string())?;
            let path = HdfsPath::parse(if path.is_empty() { "/" } else { path }).map_err(|error| error.to_string())?;
            Ok(HdfsUri { authority: Some(authority), path })
        }
        Err(error) => Err(error.to_string()),
    }
}

fn host_of(address: &str) -> &str {
    match address.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host,
        _ => address,
    }
}

fn port_of(address: &str) -> Option<u16> {
    address.rsplit_once(':').and_then(|(_, port)| port.parse().ok())
}

fn with_port(address: &str, port: u16) -> String {
    if port_of(address).is_some() { address.to_owned() } else { format!("{address}:{port}") }
}

/// Whether an address means "all interfaces of this host", which tells a client nothing.
fn is_wildcard(address: &str) -> bool {
    matches!(host_of(address), "0.0.0.0" | "[::]" | "")
}
