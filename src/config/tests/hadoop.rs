//! What comes from a Hadoop configuration directory, and what the file says over it.

use super::{Place, SOUND};
use crate::config::load::LoadOptions;
use crate::config::valid::Config;
use crate::domain::{Authority, HdfsUri};

/// The nameservice NS1 with two NameNodes, in a directory that exists.
fn directory() -> String {
    format!("{}/tests/fixtures/hadoop-conf/ha", env!("CARGO_MANIFEST_DIR"))
}

/// The sound configuration without the lines that say authority and URLs.
fn silent() -> String {
    SOUND.replace("authority = \"hdfs://ns1\"\n", "").replace("urls = [\"http://nn1:9870\"]\n", "")
}

fn urls(config: &Config) -> usize {
    config.hdfs.as_ref().map_or(0, |hdfs| hdfs.urls.len())
}

fn canonical(config: &Config) -> &str {
    config.file_systems.canonical.as_ref().map_or("", Authority::as_str)
}

#[test]
fn a_directory_gives_what_the_file_does_not_say() {
    let by_key = Place::with_file(&silent().replace("[hdfs]", &format!("[hdfs]\nconf_dir = {:?}", directory())));
    let by_variable = Place::with_file(&silent()).variable("HADOOP_CONF_DIR", directory());
    for place in [by_key, by_variable] {
        let config = place.load(&LoadOptions::default()).expect("a configuration");
        assert_eq!((canonical(&config), urls(&config)), ("hdfs://ns1", 2));
    }
}

#[test]
fn the_file_wins_and_the_directory_still_knows_the_other_names() {
    let place = Place::with_file(SOUND).variable("HADOOP_CONF_DIR", directory());
    let config = place.load(&LoadOptions::default()).expect("a configuration");
    assert_eq!((canonical(&config), urls(&config)), ("hdfs://ns1", 1));
    assert!(!config.file_systems.aliases.is_empty());
}

/// `authority` may be another name of the file system that the directory calls NS1: both stay names of one thing.
#[test]
fn an_authority_that_is_an_alias_of_the_default_one_renames_it() {
    let place = Place::with_file(SOUND).variable("HADOOP_CONF_DIR", directory());
    let aliases = place.load(&LoadOptions::default()).expect("a configuration").file_systems.aliases;
    let (alias, _) =
        aliases.iter().find(|(from, to)| from.scheme() == "hdfs" && to.as_str() == "hdfs://ns1").expect("one");
    let text = silent().replacen("[hdfs]", &format!("authority = \"{alias}\"\n[hdfs]"), 1);
    let config = Place::with_file(&text).variable("HADOOP_CONF_DIR", directory()).load(&LoadOptions::default());
    let config = config.expect("a configuration");
    assert_eq!((canonical(&config), urls(&config)), (alias.as_str(), 2));
    for name in ["hdfs://ns1/p", &format!("{alias}/p")] {
        let place = config.file_systems.resolve(&HdfsUri::parse(name).expect("a uri"));
        assert!(place.here().is_some(), "{name}: {place:?}");
    }
}

/// Two HDFSs: the NameNodes of the one must not be asked about the other.
#[test]
fn a_directory_about_another_file_system_gives_no_addresses() {
    let text = silent().replacen("[hdfs]", "authority = \"hdfs://other\"\n[hdfs]", 1);
    let place = |text: &str| Place::with_file(text).variable("HADOOP_CONF_DIR", directory());
    let errors = place(&text).load(&LoadOptions::default()).expect_err("another file system").to_string();
    assert!(errors.contains("statewarden.toml:1: authority: the Hadoop configuration is about another"), "{errors}");
    let with_urls = text.replacen("[hdfs]", "[hdfs]\nurls = [\"http://x:9870\"]", 1);
    assert_eq!(urls(&place(&with_urls).load(&LoadOptions::default()).expect("a configuration")), 1);
    let same = format!("{text}[aliases]\n\"hdfs://ns1\" = \"hdfs://other\"\n");
    assert_eq!(urls(&place(&same).load(&LoadOptions::default()).expect("a configuration")), 2);
}

#[test]
fn a_directory_that_is_none_names_the_variable_or_the_line() {
    let place = Place::with_file(&silent()).variable("HADOOP_CONF_DIR", "nowhere");
    let errors = place.load(&LoadOptions::default()).expect_err("no directory");
    let places: Vec<_> = errors.iter().map(|error| (error.place.as_str(), error.key.as_str())).collect();
    assert_eq!(places, [("HADOOP_CONF_DIR", "hdfs.conf_dir")], "{errors}");
    let place = Place::with_file(&silent().replace("[hdfs]", "[hdfs]\nconf_dir = \"nowhere\""));
    let errors = place.load(&LoadOptions::default()).expect_err("no directory");
    let places: Vec<_> = errors.iter().map(|error| (error.place.as_str(), error.key.as_str())).collect();
    assert_eq!(places, [("statewarden.toml:2", "hdfs.conf_dir")], "{errors}");
}
