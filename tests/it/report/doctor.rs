//! What `doctor` makes of good and of bad answers.

use jiff::Timestamp;
use statewarden::config::Refusal;
use statewarden::domain::{EntryKind, Existence, Status};
use statewarden::report::Style;
use statewarden::report::doctor::{
    Answers, Applying, Checkup, HdfsAnswers, LedgerSeen, Listable, State, address, render,
};
use statewarden::views::{Cause, Gap, Generation, ViewName};

use super::sample;

fn root() -> Existence {
    let modified = Timestamp::UNIX_EPOCH;
    Existence::Present(Status {
        kind: EntryKind::Directory,
        length: 0,
        modified,
        owner: "hdfs".into(),
        file_id: 1,
        snapshottable: false,
    })
}

fn hdfs() -> HdfsAnswers {
    let standby = Existence::Unknown { why: "403 StandbyException".into() };
    HdfsAnswers {
        nodes: vec![("http://nn1:9870".into(), standby), ("http://nn2:9870".into(), root())],
        user: Some("statewarden".into()),
        home: Ok(sample::path("/user/statewarden")),
        trash_root: Ok(sample::path("/user/statewarden/.Trash")),
        trash_minutes: Ok(Some(1440)),
        clock: sample::inventory().hdfs.clock,
        directories: vec![(sample::path("/dolphinscheduler"), Listable::Yes(2))],
    }
}

fn ledger() -> LedgerSeen {
    LedgerSeen::NotYet { place: "/var/lib/statewarden/ledger.db".into() }
}

#[test]
fn a_platform_that_can_be_read() {
    let (inventory, _) = sample::in_sync();
    let config = sample::config();
    let answers = Answers {
        config: &config,
        flink: inventory.flink.clusters,
        hdfs: hdfs(),
        resources: inventory.resources,
        applying: Some(Applying::Reader),
        ledger: ledger(),
    };
    let checkup = Checkup::new(&answers);
    assert!(checkup.is_complete());
    insta::assert_snapshot!(render(&checkup, Style::default()));
}

#[test]
fn everything_that_is_missing_is_named_with_a_way_to_get_it() {
    let inventory = sample::inventory();
    let mut config = sample::config();
    config.refusals.push(Refusal {
        place: "statewarden.toml:12".into(),
        what: "the checkpoint root `/` is too broad".into(),
        remedy: "name the directory itself".into(),
    });
    config.file_systems.canonical = None;
    let mut hdfs = hdfs();
    let gap = Gap::incomplete(ViewName::Hdfs, Cause::Unsupported, "GETSERVERDEFAULTS: 400, not known to this version");
    hdfs.trash_minutes = Err(gap);
    hdfs.directories.push((sample::path("/flink/checkpoints"), Listable::Absent));
    hdfs.directories.push((sample::path("/private"), Listable::No("403 AccessControlException".into())));
    hdfs.clock = None;
    let mut resources = inventory.resources.expect("a resource view");
    resources.generation = Some(Generation::V322);
    resources.administrator = false;
    resources.gaps.push(Gap::incomplete(ViewName::Resources, Cause::PartialRights, "the token belongs to a user"));
    let answers = Answers {
        config: &config,
        flink: inventory.flink.clusters,
        hdfs,
        resources: Some(resources),
        applying: Some(Applying::Unusable("HTTP 401".into())),
        ledger: LedgerSeen::Unusable("cannot open the ledger /l: permission denied".into()),
    };
    let checkup = Checkup::new(&answers);
    assert!(!checkup.is_complete());
    insta::assert_snapshot!(render(&checkup, Style::default()));
}

#[test]
fn no_active_namenode_is_missing_whatever_the_single_addresses_say() {
    let (inventory, _) = sample::in_sync();
    let config = sample::config();
    let mut hdfs = hdfs();
    hdfs.nodes.truncate(1);
    let answers = Answers {
        config: &config,
        flink: inventory.flink.clusters,
        hdfs,
        resources: inventory.resources,
        applying: None,
        ledger: ledger(),
    };
    let missing: Vec<String> = Checkup::new(&answers)
        .checks
        .into_iter()
        .filter(|check| check.state == State::Missing)
        .map(|check| check.said)
        .collect();
    assert_eq!(missing, ["http://nn1:9870: 403 StandbyException", "no address answered as the active NameNode"]);
}

#[test]
fn another_base_directory_or_another_store_is_missing_and_not_ok() {
    let (inventory, _) = sample::in_sync();
    let config = sample::config();
    let missing = |base: &str| {
        let mut resources = inventory.resources.clone().expect("a resource view");
        resources.administrator = true;
        resources.base_dir = Some(base.to_owned());
        let flink = inventory.flink.clusters.clone();
        let answers = Answers {
            config: &config,
            flink,
            hdfs: hdfs(),
            resources: Some(resources),
            applying: None,
            ledger: ledger(),
        };
        let checks = Checkup::new(&answers).checks;
        checks.into_iter().filter(|check| check.state == State::Missing).map(|check| check.said).collect::<Vec<_>>()
    };
    assert_eq!(missing("hdfs://ns1/dolphinscheduler"), [""; 0]);
    assert_eq!(
        missing("hdfs://ns1/ds322"),
        ["base directory as the server says it: hdfs://ns1/ds322, but the configuration says /dolphinscheduler"]
    );
    assert_eq!(
        missing("s3a://bucket/dolphinscheduler"),
        ["base directory as the server says it: s3a://bucket/dolphinscheduler, which is no HDFS"]
    );
}

#[test]
fn addresses_are_shown_without_what_may_be_secret() {
    let url = "https://user:secret@knox:8443/gateway/hdfs/?token=secret".parse().expect("a URL");
    assert_eq!(address(&url), "https://knox:8443/gateway/hdfs");
}
