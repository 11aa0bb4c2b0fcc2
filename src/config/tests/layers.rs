//! Defaults, file, environment and flags over one another.

use std::path::PathBuf;

use secrecy::ExposeSecret;

use super::{Place, SOUND, TOKEN};
use crate::config::load::LoadOptions;
use crate::config::valid::{Credentials, Endpoint};
use crate::config::{Policies, load};
use crate::domain::{Age, Authority, HdfsUri};
use crate::views::Generation;

fn words(texts: &[&str]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

#[test]
fn defaults_where_nothing_is_said() {
    let config = Place::with_file(SOUND).load(&LoadOptions::default()).expect("a configuration");
    assert_eq!(config.policies, Policies::default());
    let ds = config.ds.as_ref().expect("ds");
    assert_eq!((ds.generation, ds.base_path.as_str(), ds.page_size), (Generation::V31, "/dolphinscheduler", 100));
    assert_eq!(ds.time_zone.iana_name(), Some("UTC"));
    assert_eq!(ds.token.as_ref().map(ExposeSecret::expose_secret), Some(TOKEN));
    let hdfs = config.hdfs.as_ref().expect("hdfs");
    assert_eq!((hdfs.http.timeout, hdfs.http.max_concurrency), (Age::from_seconds(30), 8));
    assert_eq!(hdfs.http.requests_per_second, None);
    assert_eq!(config.file_systems.canonical.as_ref().map(Authority::as_str), Some("hdfs://ns1"));
    assert_eq!(config.source, Some(PathBuf::from("statewarden.toml")));
}

#[test]
fn nothing_secret_shows_in_debug() {
    let place =
        Place::with_file(&format!("{SOUND}basic_user = \"u\"\nbasic_password_env = \"PW\"\n")).variable("PW", "s3cr3t");
    let config = place.load(&LoadOptions::default()).expect("a configuration");
    assert!(
        matches!(&config.clusters[1].http.credentials, Credentials::Basic { password, .. } if password.expose_secret() == "s3cr3t")
    );
    let shown = format!("{config:?}");
    assert!(!shown.contains(TOKEN) && !shown.contains("s3cr3t"), "{shown}");
}

#[test]
fn flags_override_the_file_key_by_key() {
    let options = LoadOptions {
        clusters: vec![("c1".into(), "http://new:1".into()), ("c3".into(), "http://third:1".into())],
        authority: Some("hdfs://ns9".into()),
        hdfs_urls: words(&["http://a:1", "http://b:1"]),
        hdfs_user: Some("me".into()),
        ds_url: Some("http://other:1/ds".into()),
        ds_version: Some("2.0.9".into()),
        ds_base_path: Some("/ds".into()),
        ds_tenants: words(&["t1", "t2"]),
        ..LoadOptions::default()
    };
    let file = SOUND.replace("url = \"http://jm1:8081\"", "url = \"http://jm1:8081\"\nmin_live_jobs = 3");
    let config = Place::with_file(&file).load(&options).expect("a configuration");
    let urls: Vec<_> = config
        .clusters
        .iter()
        .map(|cluster| match &cluster.endpoint {
            Endpoint::Url(url) => (cluster.name.as_str(), url.as_str(), cluster.min_live_jobs),
            Endpoint::Yarn { .. } => panic!("no YARN here"),
        })
        .collect();
    assert_eq!(urls, [("c1", "http://new:1/", 3), ("c2", "http://jm2:8081/", 0), ("c3", "http://third:1/", 0)]);
    let hdfs = config.hdfs.expect("hdfs");
    assert_eq!((hdfs.urls.len(), hdfs.user.as_deref()), (2, Some("me")));
    let ds = config.ds.expect("ds");
    assert_eq!((ds.url.expect("url").as_str(), ds.base_path.as_str()), ("http://other:1/ds", "/ds"));
    assert_eq!((ds.generation, ds.tenants), (Generation::V20, words(&["t1", "t2"])));
    // The zone follows from the version: +08:00 up to 2.0.
    assert_eq!(ds.time_zone.to_offset(jiff::Timestamp::UNIX_EPOCH).seconds(), 8 * 3600);
}

#[test]
fn flags_alone_are_a_configuration() {
    let options = LoadOptions {
        clusters: vec![("c1".into(), "http://jm:8081".into())],
        hdfs_urls: words(&["http://nn:9870"]),
        ..LoadOptions::default()
    };
    let config = Place::empty().load(&options).expect("a configuration");
    assert!(config.ds.is_none() && config.source.is_none() && config.refusals.is_empty());
}

#[test]
fn a_fault_in_a_flag_names_flag_and_variable() {
    let options = LoadOptions {
        clusters: vec![("c9".into(), "jm".into())],
        ds_version: Some("x".into()),
        ds_time_zone: Some("Mars".into()),
        ..LoadOptions::default()
    };
    let errors = Place::with_file(SOUND).load(&options).expect_err("faults");
    let places: Vec<_> = errors.iter().map(|error| error.place.as_str()).collect();
    assert_eq!(
        places,
        [
            "--cluster (STATEWARDEN_CLUSTER)",
            "--ds-time-zone (STATEWARDEN_DS_TIME_ZONE)",
            "--ds-version (STATEWARDEN_DS_VERSION)"
        ]
    );
}

#[test]
fn without_file_and_flags_the_newcomer_is_told_how_to_begin() {
    let errors = Place::empty().variable("HOME", "/home/me").load(&LoadOptions::default()).expect_err("nothing");
    let shown = errors.to_string();
    assert!(
        shown.contains("neither statewarden.toml nor /home/me/.config/statewarden/config.toml is there"),
        "{shown}"
    );
    assert!(shown.contains("statewarden config example"), "{shown}");
}

#[test]
fn a_named_file_that_is_not_there_is_an_error_even_beside_a_default_one() {
    let options = LoadOptions { file: Some("other.toml".into()), ..LoadOptions::default() };
    let errors = Place::with_file(SOUND).load(&options).expect_err("no such file");
    assert!(errors.to_string().contains("other.toml: the file cannot be read"), "{errors}");
}

#[test]
fn the_users_own_file_is_second() {
    let place = Place::empty();
    place.write("xdg/statewarden/config.toml", SOUND);
    let xdg = place.path().join("xdg");
    let place = place.variable("XDG_CONFIG_HOME", xdg.to_str().expect("UTF-8"));
    let config = place.load(&LoadOptions::default()).expect("a configuration");
    assert_eq!(config.source, Some(xdg.join("statewarden/config.toml")));
    place.write("statewarden.toml", &SOUND.replace("c2", "here"));
    let config = place.load(&LoadOptions::default()).expect("a configuration");
    assert_eq!(config.clusters[1].name, "here");
}

#[test]
fn a_token_file_is_read_relative_to_the_configuration_and_after_the_variable() {
    let place = Place::empty().variable("STATEWARDEN_DS_TOKEN", "");
    place.write("etc/sw.toml", &SOUND.replace("[ds]", "[ds]\ntoken_file = \"ds.token\""));
    place.write("etc/ds.token", "from-file\r\n");
    let options = LoadOptions { file: Some("etc/sw.toml".into()), ..LoadOptions::default() };
    let token = |place: &Place| {
        let ds = place.load(&options).expect("a configuration").ds.expect("ds");
        ds.token.expect("a token").expose_secret().to_owned()
    };
    assert_eq!(token(&place), "from-file");
    assert_eq!(token(&place.variable("STATEWARDEN_DS_TOKEN", "from-variable")), "from-variable");
}

#[test]
fn a_judge_needs_no_addresses_tokens_or_certificates() {
    let text = "authority = \"hdfs://ns1\"\n[ds]\nversion = \"3.2.2\"\ntoken_file = \"gone\"\nca_file = \"gone\"\n\
                [[clusters]]\nname = \"c1\"\nbearer_token_env = \"GONE\"\n[hdfs]\nconf_dir = \"gone\"\n";
    let place = Place::with_file(text).variable("STATEWARDEN_DS_TOKEN", "");
    let options = LoadOptions { judge_only: true, ..LoadOptions::default() };
    let config = place.load(&options).expect("a configuration");
    let ds = config.ds.expect("ds");
    assert!(config.hdfs.is_none() && ds.url.is_none() && ds.token.is_none());
    assert_eq!((config.clusters[0].name.as_str(), config.refusals.len()), ("c1", 0));
    assert_eq!(place.load(&LoadOptions::default()).expect_err("faults").iter().count(), 6);
}

#[test]
fn mount_tables_and_aliases_resolve() {
    let text = format!(
        "{SOUND}[aliases]\n\"hdfs://NN-A:8020\" = \"hdfs://ns1\"\n[viewfs.Cluster]\n\"/data\" = \"hdfs://nn-a:8020/warehouse\"\n"
    );
    let config = Place::with_file(&text).load(&LoadOptions::default()).expect("a configuration");
    let uri = HdfsUri::parse("viewfs://cluster/data/t").expect("a uri");
    let place = config.file_systems.resolve(&uri);
    assert_eq!(place.here().map(ToString::to_string).as_deref(), Some("/warehouse/t"));
}

#[test]
fn the_process_is_asked_where_no_other_surroundings_are_given() {
    let options = LoadOptions { file: Some("/nonexistent/statewarden.toml".into()), ..LoadOptions::default() };
    assert!(load(&options).is_err());
}

#[test]
fn the_token_for_deletes_is_looked_at_only_where_something_is_applied() {
    let applies = LoadOptions { applies: true, ..LoadOptions::default() };
    let token = |place: &Place, options: &LoadOptions| {
        let ds = place.load(options).expect("sound").ds.expect("a [ds] section");
        ds.apply_token.map(|token| token.expose_secret().to_owned())
    };
    let plain = Place::with_file(SOUND);
    assert_eq!(token(&plain, &applies), None, "none is named: the one that reads deletes too");
    let by_variable = plain.variable("STATEWARDEN_DS_APPLY_TOKEN", "of-the-variable");
    assert_eq!(token(&by_variable, &LoadOptions::default()), None);
    assert_eq!(token(&by_variable, &applies).as_deref(), Some("of-the-variable"));

    let gone = Place::with_file(&SOUND.replace("[ds]", "[ds]\napply_token_file = \"gone\""));
    assert_eq!(token(&gone, &LoadOptions::default()), None, "a task that reads need not have it");
    let errors = gone.load(&applies).expect_err("the file is not there");
    assert!(errors.iter().any(|error| error.key == "ds.apply_token_file"), "{errors}");

    let misplaced = Place::with_file(&SOUND.replace("[ds]", &format!("[ds]\napply_token_env = \"{TOKEN}\"")));
    for options in [&applies, &LoadOptions::default()] {
        let errors = misplaced.load(options).expect_err("no name of a variable");
        assert!(!errors.to_string().contains(TOKEN), "{errors}");
    }
}
