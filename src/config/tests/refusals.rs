//! What can be read but is unsafe: reported with its place, and not in effect.

use super::{Config, SOUND, load, sound_with};
use crate::config::valid::Layout;
use crate::domain::{Age, Authority, HdfsPath};

fn root(path: &str, layout: &str) -> String {
    // Not a TOML writer's choice of quotes: with three of them a line break would move the lines that the tests count.
    let path = path.replace('\n', "\\n").replace('\u{1b}', "\\u001b");
    format!("[[checkpoint_roots]]\npath = \"{path}\"\nlayout = {layout:?}\nclusters = [\"c1\"]\n")
}

fn paths(config: &Config) -> Vec<&str> {
    config.roots.iter().map(|root| root.path.as_str()).collect()
}

#[test]
fn unsafe_roots_are_refused_with_their_line_and_left_out() {
    for (path, why) in [
        ("/", "too broad"),
        ("//", "too broad"),
        ("/flink", "too broad"),
        ("hdfs://ns1/user/", "too broad"),
        ("/flink/*", "globs"),
        ("/flink/ckpt?", "globs"),
        ("/flink/ckpt[0-9]", "globs"),
        ("/flink/{a,b}", "globs"),
        ("/flink/a\nb", "control character"),
        ("/flink/a\u{1b}b", "control character"),
        ("/dolphinscheduler", "resource namespace"),
        ("/dolphinscheduler/etl", "resource namespace"),
        ("/dolphinscheduler/etl/resources", "resource namespace"),
        ("/dolphinscheduler/etl/udfs/", "resource namespace"),
    ] {
        // Behind the twelve lines of the sound part and one header.
        let config = sound_with(&root(path, "app/job"));
        assert_eq!(config.roots, [], "{path:?}");
        assert_eq!(config.refusals.len(), 1, "{path:?}: {:?}", config.refusals);
        let refusal = &config.refusals[0];
        assert_eq!(refusal.place, "statewarden.toml:14", "{path:?}");
        let too_broad_too = path == "/dolphinscheduler" && refusal.what.contains("too broad");
        assert!(refusal.what.contains(why) || too_broad_too, "{path:?}: {refusal:?}");
        assert!(!refusal.remedy.is_empty() && !refusal.what.contains(['\n', '\u{1b}']), "{path:?}: {refusal:?}");
    }
}

#[test]
fn a_root_above_a_deep_namespace_is_refused() {
    let text = SOUND.replace("version =", "base_path = \"/data/ds/prod\"\nversion =") + &root("/data/ds", "app/job");
    let config = load(&text).expect("a configuration");
    assert!(config.roots.is_empty() && config.refusals[0].what.contains("(/data/ds/prod)"), "{:?}", config.refusals);
}

#[test]
fn roots_below_the_namespace_and_beside_it_are_taken() {
    let inside = "/dolphinscheduler/etl/resources/ckpt_storage";
    let config = sound_with(&format!(
        "{}{}{}{}",
        root(inside, "job"),
        root("/dolphinscheduler2/ckpt", "app/job"),
        root("/flink/ckpt", "app/job"),
        root("/flink/ckpt2", "job"),
    ));
    assert_eq!(paths(&config), [inside, "/dolphinscheduler2/ckpt", "/flink/ckpt", "/flink/ckpt2"]);
    assert_eq!(config.refusals, []);
    assert_eq!((config.roots[0].layout, config.roots[0].clusters.as_slice()), (Layout::Job, &["c1".to_owned()][..]));
}

/// A root of one component whose name is a string prefix of, or has as prefix, the base path.
#[test]
fn one_component_is_taken_only_if_it_is_a_checkpoint_directory_with_applications_in_it() {
    let config = sound_with(&root("/dolphinscheduler_ckpt", "app/job"));
    assert_eq!((paths(&config), config.refusals.len()), (vec!["/dolphinscheduler_ckpt"], 0));
    assert_eq!(paths(&sound_with(&root("/Flink-Checkpoints", "app/run"))), ["/Flink-Checkpoints"]);
    assert_eq!(sound_with(&root("/dolphinscheduler_ckpt", "job")).refusals.len(), 1);
    assert_eq!(sound_with(&root("/prod", "app/job")).refusals.len(), 1);
}

#[test]
fn roots_that_hold_one_another_are_both_refused() {
    let config = sound_with(&format!("{}{}{}", root("/f/a", "job"), root("/f/b", "job"), root("/f/a/x", "job")));
    assert_eq!(paths(&config), ["/f/b"]);
    let places: Vec<_> = config.refusals.iter().map(|refusal| refusal.place.as_str()).collect();
    assert_eq!(places, ["statewarden.toml:14", "statewarden.toml:22"]);
    assert!(config.refusals[0].what.contains("(statewarden.toml:22)"), "{:?}", config.refusals[0]);
    assert_eq!(paths(&sound_with(&format!("{}{}", root("/f/a", "job"), root("/f/a/", "job")))), [""; 0]);
}

#[test]
fn a_refused_root_does_not_take_the_one_below_it_along() {
    let config = sound_with(&format!("{}{}", root("/flink", "app/job"), root("/flink/ckpt", "job")));
    assert_eq!((paths(&config), config.refusals.len()), (vec!["/flink/ckpt"], 1));
}

#[test]
fn min_age_has_a_floor_that_stays_in_effect() {
    let config = sound_with("[policies]\nmin_age = \"59m\"\n");
    assert_eq!(config.policies.min_age, Age::from_hours(1));
    assert_eq!(config.refusals[0].place, "statewarden.toml:14");
    assert_eq!(config.refusals[0].what, "policies.min_age: 59m is below the floor of 1h, which is in effect");
    assert_eq!(sound_with("[policies]\nmin_age = \"1h\"\n").refusals, []);
}

#[test]
fn a_fraction_outside_the_whole_is_refused_and_the_default_holds() {
    for wrong in ["0", "0.0", "-0.1", "1.01", "50"] {
        let config = sound_with(&format!("[policies]\nmax_delete_fraction = {wrong}\n"));
        assert_eq!(config.refusals.len(), 1, "{wrong}");
        assert_eq!((config.policies.max_delete_fraction, config.policies.max_delete_fraction_named), (0.5, false));
    }
    let config = sound_with("[policies]\nmax_delete_fraction = 1\n");
    assert_eq!((config.policies.max_delete_fraction, config.policies.max_delete_fraction_named), (1.0, true));
}

#[test]
fn what_protects_nothing_is_refused_one_by_one() {
    let good =
        ["/a/b", "hdfs://elsewhere/a/b/", "app1/3f9134f5adeb8d5268617f3bd8a31247", "3f9134f5adeb8d5268617f3bd8a31247"];
    let bad = ["", "app1", "/a/*", "s3://b/x", "a/../b", "/a\\u0007"];
    let list: Vec<_> = good.iter().chain(&bad).map(|entry| format!("  \"{entry}\",\n")).collect();
    let config = sound_with(&format!("[policies]\nprotect = [\n{}]\n", list.concat()));
    assert_eq!(config.policies.protect, good);
    let places: Vec<_> = config.refusals.iter().map(|refusal| refusal.place.as_str()).collect();
    assert_eq!(places, ["19", "20", "21", "22", "23", "24"].map(|line| format!("statewarden.toml:{line}")));
}

#[test]
fn no_flink_at_all_must_be_said() {
    let text: String = SOUND.split_inclusive('\n').take(6).collect();
    let silent = load(&text).expect("a configuration");
    assert_eq!(silent.refusals.len(), 1);
    assert_eq!(silent.refusals[0].place, "statewarden.toml");
    assert!(silent.refusals[0].what.contains("no Flink is named"), "{:?}", silent.refusals);
    assert!(silent.refusals[0].remedy.contains("flink = \"none\""), "{:?}", silent.refusals);
    let said = load(&format!("flink = \"none\"\n{text}")).expect("a configuration");
    assert!(said.flink_none && said.refusals.is_empty());
}

#[test]
fn aliases_that_lead_nowhere_are_refused() {
    let config = sound_with(
        "[aliases]\n\"hdfs://nn-a:8020\" = \"hdfs://ns1\"\n\"hdfs://x\" = \"hdfs://x\"\n\"hdfs://a\" = \"hdfs://b\"\n\
         \"hdfs://b\" = \"hdfs://a\"\n\"hdfs://ns1\" = \"hdfs://ns2\"\n\"hdfs://old\" = \"hdfs://ns2\"\n",
    );
    let kept: Vec<_> = config.file_systems.aliases.keys().map(Authority::as_str).collect();
    assert_eq!(kept, ["hdfs://nn-a:8020", "hdfs://old"]);
    let places: Vec<_> = config.refusals.iter().map(|refusal| refusal.place.as_str()).collect();
    assert_eq!(places, ["15", "16", "17", "18"].map(|line| format!("statewarden.toml:{line}")));
}

#[test]
fn targets_in_the_namespace_are_refused() {
    for target in ["/dolphinscheduler/etl/resources/x", "/dolphinscheduler", "/", "/flink/*"] {
        let config = load(&format!("migrate_to = {target:?}\n{SOUND}")).expect("a configuration");
        assert_eq!((config.migrate_to, config.refusals.len()), (None, 1), "{target}");
        let config = sound_with(&format!("[policies]\nquarantine = {target:?}\n"));
        assert_eq!((config.policies.quarantine, config.refusals.len()), (None, 1), "{target}");
    }
    let config = load(&format!("migrate_to = \"/flink/new\"\n{SOUND}")).expect("a configuration");
    assert_eq!(config.migrate_to.as_ref().map(HdfsPath::as_str), Some("/flink/new"));
}

#[test]
fn a_base_path_of_everything_leaves_dolphinscheduler_out() {
    let config = load(&SOUND.replace("version =", "base_path = \"/\"\nversion =")).expect("a configuration");
    assert!(config.ds.is_none());
    assert_eq!(config.refusals.len(), 1);
    assert_eq!(config.refusals[0].place, "statewarden.toml:6");
}

#[test]
fn an_expired_ignore_is_kept_with_its_expiry_for_the_report() {
    let config = sound_with("[[ignores]]\ncode = \"size-mismatch\"\nreason = \"x\"\nexpires = 2020-02-29\n");
    assert_eq!(config.ignores[0].expires.to_string(), "2020-02-29T23:59:59Z");
    assert_eq!((config.ignores[0].place.as_str(), config.refusals.len()), ("statewarden.toml:13", 0));
}
