//! Reader and writer against the embedded servers of 2.0, 3.0 and 3.1: what a delete does, and what both sides show after it.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use secrecy::SecretString;
use statewarden::adapters::dolphin::{Dolphin, DolphinWrite};
use statewarden::config::{Credentials, DsConfig, HttpConfig};
use statewarden::demo::servers::{Options, Platform};
use statewarden::demo::world::World;
use statewarden::domain::{HdfsPath, RecordId, ResourceKind};
use statewarden::plan::RecordTarget;
use statewarden::ports::read::ResourceRead;
use statewarden::ports::write::{DeleteAnswer, ResourceWrite};
use statewarden::views::resources::{OwnerTenant, Record};
use statewarden::views::{Generation, ResourceView};

const VERSIONS: [&str; 3] = ["2.0.9", "3.0.6", "3.1.9"];

const WORLD: &str = r#"
title: t
config: {flink: none, ds: {generation: db, version: "VERSION", base_path: /ds, tenants: [etl], token: TOKEN}}
hdfs:
  server: {safemode: SAFE}
  listing:
    - {path: /ds/etl/resources/dir/sub/a.sh, type: file, size: 3, mtime_age: 3d}
    - {path: /ds/etl/resources/dir/stranger, type: file, size: 3, mtime_age: 3d}
    - {path: /ds/etl/resources/b.sh, type: file, size: 3, mtime_age: 3d}
dolphinscheduler:
  generation: db
  users: [{name: gone, deleted: true}, {name: loose}]
  records:
    - {id: 1, full_name: /dir, dir: true, size: 3, owner: u1, tenant: etl, age: 9d}
    - {id: 2, full_name: /dir/sub, dir: true, size: 3, owner: u1, tenant: etl, age: 9d}
    - {id: 3, full_name: /dir/sub/a.sh, dir: false, size: 3, owner: u2, tenant: etl, age: 9d}
    - {id: 4, full_name: /b.sh, dir: false, size: 3, owner: u1, tenant: etl, age: 9d}
    - {id: 5, full_name: /left.sh, dir: false, size: 3, owner: gone, tenant: null, age: 9d}
    - {id: 6, full_name: /homeless.sh, dir: false, size: 3, owner: loose, tenant: null, age: 9d}
    - {id: 7, full_name: /lib, kind: UDF, dir: true, size: 3, owner: u1, tenant: etl, age: 9d}
    - {id: 8, full_name: /lib/f.jar, kind: UDF, dir: false, size: 3, owner: u1, tenant: etl, age: 9d}
    - {id: 9, full_name: /used.sh, dir: false, size: 3, owner: u1, tenant: etl, age: 9d}
  workflows: [{code: 11, name: on, release: ONLINE, resource_ids: [9]}]
  functions: [{name: f, record: 8}]
"#;

struct Side {
    platform: Platform,
    reader: Dolphin,
    writer: DolphinWrite,
}

impl Side {
    fn new(version: &str) -> Self {
        Self::of(version, "admin", "false", "")
    }

    fn of(version: &str, token: &str, safe: &str, faults: &str) -> Self {
        Self::of_text(WORLD, version, token, safe, faults)
    }

    fn of_text(text: &str, version: &str, token: &str, safe: &str, faults: &str) -> Self {
        let text = text.replace("VERSION", version).replace("TOKEN", token).replace("SAFE", safe);
        let world = World::load(&(text + faults), Timestamp::now()).expect("a world");
        let platform = Platform::start(world, Options::default()).expect("servers");
        let config = config(&platform, version);
        let generation = Generation::of_version(version).expect("a version");
        let writer = DolphinWrite::new(&config, generation).expect("a writer");
        Self { reader: Dolphin::new(&config).expect("a reader"), writer, platform }
    }

    async fn delete(&self, record: i64) -> DeleteAnswer {
        self.writer.delete_record(&target(record)).await
    }

    async fn view(&self) -> ResourceView {
        self.reader.fetch_resources().await
    }

    async fn ids(&self) -> Vec<i64> {
        let view = self.view().await;
        assert_eq!(view.gaps, []);
        view.records.iter().map(|record| record.id.0).collect()
    }

    fn exists(&self, path: &str) -> bool {
        self.platform.hdfs.file_system.lock().exists(path)
    }
}

fn config(platform: &Platform, version: &str) -> DsConfig {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let url = platform.addresses.ds.as_ref().expect("a server");
    DsConfig {
        url: Some(url.parse().expect("a URL")),
        apply_token: None,
        token: Some(SecretString::from(platform.world.ds_token().expect("a token"))),
        version: version.to_owned(),
        generation: Generation::of_version(version).expect("a version"),
        base_path: HdfsPath::parse("/ds").expect("a path"),
        tenants: Vec::new(),
        page_size: 2,
        time_zone: TimeZone::UTC,
        http: HttpConfig {
            timeout: "2s".parse().expect("an age"),
            ca_file: None,
            credentials: Credentials::None,
            max_concurrency: 4,
            requests_per_second: None,
        },
    }
}

/// Only the id of a target reaches the server.
fn target(record: i64) -> RecordTarget {
    RecordTarget {
        record: RecordId(record),
        full_name: "/x".to_owned(),
        kind: ResourceKind::File,
        directory: false,
        owner_id: 1,
        owner: "x".to_owned(),
        tenant: "etl".to_owned(),
        updated: None,
        size: None,
        path: HdfsPath::parse("/ds/etl/resources/x").expect("a path"),
    }
}

fn refused_with(answer: &DeleteAnswer, code: &str) -> bool {
    matches!(answer, DeleteAnswer::Refused { why } if why.starts_with(&format!("code {code}: ")))
}

#[tokio::test]
async fn each_generation_is_read_whole() {
    for version in VERSIONS {
        let side = Side::new(version);
        let view = side.view().await;
        assert_eq!(view.gaps, [], "{version}");
        assert_eq!(view.generation, Generation::of_version(version));
        assert!(view.records_complete && view.users_complete, "{version}");
        assert_eq!(view.records.iter().map(|record| record.id.0).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
        let record = |id: i64| view.records.iter().find(|record| record.id.0 == id).expect("a record");
        assert!(view.records.iter().all(|record| record.owner.is_some() && record.updated.is_some()), "{version}");
        assert_eq!(view.tenant_of(record(5)), OwnerTenant::Deleted, "{version}");
        assert_eq!(view.tenant_of(record(6)), OwnerTenant::NoTenant, "{version}");
        let mut view = view.clone();
        side.reader.fetch_workflows(&mut view).await;
        assert_eq!(view.gaps, [], "{version}");
        assert_eq!(view.workflows.iter().map(|workflow| workflow.code.0).collect::<Vec<_>>(), [11], "{version}");
        assert_eq!(view.functions[0].record, Some(RecordId(8)), "{version}");
    }
}

#[tokio::test]
async fn times_are_those_of_the_zone_of_the_generation() {
    for version in VERSIONS {
        let side = Side::new(version);
        let view = side.view().await;
        let hours = if version == "2.0.9" { 8 } else { 0 };
        let zone = TimeZone::fixed(jiff::tz::offset(hours));
        let ages = view.records.iter().map(|Record { updated, .. }| {
            let updated = zone.to_timestamp(updated.expect("a time")).expect("a time of this zone");
            (Timestamp::now().as_second() - updated.as_second() - 9 * 24 * 3600).abs()
        });
        assert!(ages.max().is_some_and(|off| off < 60), "{version}");
    }
}

#[tokio::test]
async fn a_directory_goes_with_its_subtree_up_to_3_0_and_not_at_all_in_3_1() {
    for version in VERSIONS {
        let side = Side::new(version);
        let answer = side.delete(1).await;
        let is_3_1 = version == "3.1.9";
        assert!(
            if is_3_1 { refused_with(&answer, "20018") } else { answer == DeleteAnswer::Success },
            "{version}: {answer:?}"
        );
        let left: &[i64] = if is_3_1 { &[1, 2, 3, 4, 5, 6, 7, 8, 9] } else { &[4, 5, 6, 7, 8, 9] };
        assert_eq!(side.ids().await, left, "{version}");
        assert_eq!(side.exists("/ds/etl/resources/dir/stranger"), is_3_1, "{version}");
        assert!(side.exists("/ds/etl/resources/b.sh"));
    }
}

#[tokio::test]
async fn single_questions_see_what_the_lists_see() {
    for version in VERSIONS {
        let side = Side::new(version);
        let view = side.view().await;
        let record = |id: i64| view.records.iter().find(|record| record.id.0 == id).expect("a record").clone();
        for id in 1..=9 {
            let found = side.reader.fetch_record(&record(id)).await.expect("an answer");
            assert_eq!(found, Some(record(id)), "{version}: {id}");
        }
        let gone = Record { id: RecordId(77), full_name: "/none.sh".into(), ..record(4) };
        assert_eq!(side.reader.fetch_record(&gone).await, Ok(None), "{version}");
        // Another record under the name of a planned one is not that one.
        let renumbered = Record { id: RecordId(77), ..record(4) };
        assert_eq!(side.reader.fetch_record(&renumbered).await, Ok(None), "{version}");
        let below = side.reader.fetch_below(&record(2)).await.expect("an answer");
        assert_eq!(below.iter().map(|record| record.id.0).collect::<Vec<_>>(), [3], "{version}");
        assert_eq!(side.reader.fetch_below(&record(7)).await.expect("an answer").len(), 1, "{version}: UDF");
        assert_eq!(side.reader.fetch_below(&gone).await, Ok(Vec::new()), "{version}");
    }
}

#[tokio::test]
async fn a_child_of_a_deleted_owner_is_seen_below_its_directory() {
    for version in VERSIONS {
        let text = WORLD.replace("owner: u2, tenant: etl", "owner: gone, tenant: null");
        let side = Side::of_text(&text, version, "admin", "false", "");
        let view = side.view().await;
        let directory = view.records.iter().find(|record| record.id.0 == 2).expect("a record");
        let below = side.reader.fetch_below(directory).await.expect("an answer");
        assert_eq!(below.iter().map(|record| record.id.0).collect::<Vec<_>>(), [3], "{version}");
    }
}

#[tokio::test]
async fn leaf_first_every_generation_deletes_record_by_record() {
    for version in VERSIONS {
        let side = Side::new(version);
        for (record, size_of_the_root) in [(3, Some(0)), (2, Some(0)), (1, None)] {
            assert_eq!(side.delete(record).await, DeleteAnswer::Success, "{version}: {record}");
            let view = side.view().await;
            assert!(!view.records.iter().any(|left| left.id.0 == record), "{version}: {record}");
            let root = view.records.iter().find(|left| left.id.0 == 1);
            assert_eq!(root.and_then(|root| root.size), size_of_the_root, "{version}: {record}");
        }
        assert_eq!(side.delete(1).await, DeleteAnswer::NoSuchRecord, "{version}");
        assert_eq!(side.ids().await, [4, 5, 6, 7, 8, 9], "{version}");
    }
}

#[tokio::test]
async fn an_hdfs_in_safe_mode_rolls_back_in_2_0_only() {
    for version in VERSIONS {
        let side = Side::of(version, "admin", "true", "");
        let answer = side.delete(4).await;
        assert!(matches!(&answer, DeleteAnswer::Unclear { why } if why.contains("10058")), "{version}: {answer:?}");
        assert_eq!(side.ids().await.contains(&4), version == "2.0.9", "{version}");
        assert!(side.exists("/ds/etl/resources/b.sh"), "{version}");
    }
}

#[tokio::test]
async fn refusals_change_nothing() {
    for version in VERSIONS {
        let side = Side::new(version);
        let homeless = if version == "2.0.9" { "10017" } else { "10181" };
        // 8 is bound to a function; up to 3.0 so is its directory, which would go with it.
        let above_the_bound = if version == "3.1.9" { "20018" } else { "20013" };
        for (record, code) in [(5, "10010"), (6, homeless), (8, "20013"), (7, above_the_bound)] {
            let answer = side.delete(record).await;
            assert!(refused_with(&answer, code), "{version}: {record}: {answer:?}");
        }
        assert_eq!(side.ids().await, [1, 2, 3, 4, 5, 6, 7, 8, 9], "{version}");
    }
}

#[tokio::test]
async fn the_guard_of_online_workflows_is_broken_in_2_0() {
    for version in VERSIONS {
        let answer = Side::new(version).delete(9).await;
        let is_broken = version == "2.0.9";
        assert!(
            if is_broken { answer == DeleteAnswer::Success } else { refused_with(&answer, "20014") },
            "{version}: {answer:?}"
        );
    }
}

#[tokio::test]
async fn rows_of_others_are_refused_but_go_with_a_directory_of_one_s_own() {
    for (version, code) in [("2.0.9", "30001"), ("3.0.6", "30001"), ("3.1.9", "1400001")] {
        let side = Side::of(version, "'user:u1'", "false", "");
        assert!(refused_with(&side.delete(3).await, code), "{version}");
        if version != "3.1.9" {
            assert_eq!(side.delete(1).await, DeleteAnswer::Success, "{version}");
            assert_eq!(side.delete(3).await, DeleteAnswer::NoSuchRecord, "{version}");
        }
    }
}

#[tokio::test]
async fn faults_of_deletes_have_the_effect_they_say() {
    // The answer to the delete of directory 1, and whether its rows and its files are left.
    for (fault, word, rows_stay, files_stay) in [
        ("http: 200, code: 10058, effect: rows_only", "code 10058", false, true),
        ("http: 500", "HTTP 500", true, true),
        ("http: 500, effect: done", "HTTP 500", false, false),
        ("http: 200, content_type: text/html, body: '<html>', effect: done", "text/html", false, false),
        ("cut: before_answer, effect: done", "broke", false, false),
        ("cut: mid_body, effect: done", "broke off", false, false),
        ("timeout: true, effect: done", "no answer within", false, false),
        ("http: 200, code: 10058, effect: partial, keeps: [/ds/etl/resources/dir/stranger]", "code 10058", true, true),
    ] {
        let side = Side::of("3.0.6", "admin", "false", &format!("  faults: [{{op: delete, record: 1, {fault}}}]\n"));
        let answer = side.delete(1).await;
        assert!(matches!(&answer, DeleteAnswer::Unclear { why } if why.contains(word)), "{fault}: {answer:?}");
        let rows = side.ids().await;
        assert_eq!([1, 2, 3].map(|id| rows.contains(&id)), [rows_stay; 3], "{fault}");
        assert_eq!(side.exists("/ds/etl/resources/dir/stranger"), files_stay, "{fault}");
    }
}

#[tokio::test]
async fn the_log_shows_one_delete_a_call() {
    let side = Side::of("3.0.6", "admin", "false", "  faults: [{op: delete, nth: 1, http: 429}]\n");
    assert!(matches!(side.delete(4).await, DeleteAnswer::Refused { .. }));
    assert!(side.ids().await.contains(&4), "traffic control stands before everything");
    assert_eq!(side.delete(4).await, DeleteAnswer::Success);
    let log = side.platform.dolphin.as_ref().expect("a server").faults().log();
    assert_eq!(log.iter().filter(|seen| seen.request.method == "DELETE").count(), 2);
}
