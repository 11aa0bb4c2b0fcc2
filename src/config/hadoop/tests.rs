use super::*;
use crate::domain::{HdfsUri, Place};

fn dir(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hadoop-conf").join(name)
}

fn conf(name: &str) -> HadoopConf {
    let environment = |name: &str| (name == "STATEWARDEN_TEST_USER").then(|| "etl".to_owned());
    read_with(&dir(name), &environment).expect("a configuration")
}

/// The message with the place of the fixtures taken out, and those of its sources.
fn message(name: &str) -> String {
    let error = read_with(&dir(name), &|_| None).expect_err("an error");
    error.to_string().replace(&format!("{}/", dir("").display()).replace("//", "/"), "")
}

fn urls(conf: &HadoopConf) -> Vec<&str> {
    conf.namenode_urls.iter().map(Url::as_str).collect()
}

fn canonical(conf: &HadoopConf) -> Option<&str> {
    conf.file_systems.canonical.as_ref().map(crate::domain::Authority::as_str)
}

fn place(conf: &HadoopConf, text: &str) -> Place {
    conf.file_systems.resolve(&HdfsUri::parse(text).expect("test URI"))
}

fn here(conf: &HadoopConf, text: &str) -> Option<String> {
    place(conf, text).here().map(ToString::to_string)
}

#[test]
fn an_ha_pair_with_includes_and_variables() {
    let conf = conf("ha");
    assert_eq!(canonical(&conf), Some("hdfs://ns1"));
    // The second one listens on all interfaces, so its host is that of its RPC address.
    assert_eq!(urls(&conf), ["http://nn1.example:50070/", "http://nn2.example:50070/"]);
    for same in ["hdfs://ns1/p", "hdfs://nn1.example:8020/p", "hdfs://nn2.example/p", "webhdfs://nn1.example:50070/p"] {
        assert_eq!(here(&conf, same).as_deref(), Some("/p"), "{same}");
    }
    assert!(matches!(place(&conf, "hdfs://nn-x.example:8020/p"), Place::Elsewhere(authority, _)
        if authority.as_str() == "hdfs://ns2"));
    assert!(matches!(place(&conf, "hdfs://nn3.example:8020/p"), Place::Unresolved(..)));
}

#[test]
fn later_files_win_but_not_over_final() {
    let conf = conf("ha");
    let value = |key: &str| conf.properties.get(key).map(String::as_str);
    assert_eq!(value("io.file.buffer.size"), Some("131072"));
    assert_eq!(value("cluster.name"), Some("NS1"));
    assert_eq!(value("hadoop.tmp.dir"), Some("/tmp/etl"));
    assert_eq!(value("from.fallback"), Some("yes"));
    assert_eq!(value("compact.form"), Some("yes"));
    assert_eq!(value("dfs.namenode.rpc-address.NS1.nn2"), Some("nn2.example:8020"));
}

#[test]
fn values_are_never_shown() {
    let shown = format!("{:?}", conf("ha"));
    assert!(shown.contains("fs.s3a.secret.key"));
    assert!(!shown.contains("s3cr3t-value"));
    assert!(!message("malformed").contains("s3cr3t-value"));
}

#[test]
fn a_default_file_system_written_as_one_namenode_is_its_nameservice() {
    let conf = conf("https");
    assert_eq!(canonical(&conf), Some("hdfs://ns1"));
    assert_eq!(here(&conf, "hdfs://nn2.example:8020/p").as_deref(), Some("/p"));
    // nn2 has no https address: its RPC host with the default port.
    assert_eq!(urls(&conf), ["https://nn1.example:9871/", "https://nn2.example:9871/"]);
}

#[test]
fn a_single_namenode() {
    let plain = conf("single");
    assert_eq!(canonical(&plain), Some("hdfs://namenode.example:9000"));
    assert_eq!(urls(&plain), ["http://namenode.example:9870/"]);
    assert!(plain.file_systems.aliases.is_empty());
    let addressed = conf("single-addressed");
    assert_eq!(canonical(&addressed), Some("hdfs://namenode.example"));
    assert_eq!(urls(&addressed), ["http://nn1.example:9870/"]);
    assert_eq!(here(&addressed, "hdfs://nn1.example:8020/p").as_deref(), Some("/p"));
}

#[test]
fn mount_tables() {
    let conf = conf("viewfs");
    assert_eq!(canonical(&conf), Some("hdfs://ns1"));
    assert_eq!(here(&conf, "viewfs://cluster/data/t").as_deref(), Some("/warehouse/t"));
    assert_eq!(here(&conf, "viewfs://Cluster/user/x").as_deref(), Some("/rest/user/x"));
    // The mount of another kind of file system is not covered by the wider one around it.
    assert!(matches!(place(&conf, "viewfs://cluster/data/lake/t"), Place::Unresolved(authority, _)
        if authority.as_str() == "s3a://lake"));
}

#[test]
fn what_is_not_certain_is_left_open() {
    for name in ["viewfs-federated", "object-store"] {
        let conf = conf(name);
        assert_eq!(canonical(&conf), None, "{name}");
        assert_eq!(urls(&conf), Vec::<&str>::new(), "{name}");
    }
}

#[test]
fn errors_name_file_and_line() {
    assert!(
        message("malformed").starts_with("malformed/core-site.xml:4: not well-formed: "),
        "{}",
        message("malformed")
    );
    assert_eq!(
        message("not-a-configuration"),
        "not-a-configuration/core-site.xml:3: the outermost element must be `configuration`"
    );
    assert_eq!(
        message("missing-include"),
        "cannot read missing-include/gone.xml, which missing-include/core-site.xml:8 includes"
    );
    assert_eq!(
        message("include-circle"),
        "include-circle/core-site.xml:4: files include one another in a circle or too deep"
    );
    assert_eq!(
        message("include-url"),
        "include-url/core-site.xml:4: cannot include `http://conf.example/core-site.xml`: only files are read, no URLs"
    );
    assert_eq!(
        message("no-authority"),
        "no-authority/core-site.xml:4: `fs.defaultFS` cannot be used: it names no file system, as in `hdfs://NAME`"
    );
    assert_eq!(
        message("variable-circle"),
        "variable-circle/core-site.xml:4: `fs.defaultFS` cannot be used: `${a}` is not set, or only by itself"
    );
    assert!(message("bad-mount").starts_with("bad-mount/core-site.xml:4: `fs.viewfs.mounttable.c.link.data` cannot"));
    assert!(message("empty").starts_with("empty holds neither core-site.xml nor hdfs-site.xml"));
}
