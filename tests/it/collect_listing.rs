//! What is asked of HDFS, and how often.

use std::time::Duration;

use statewarden::compare::FindingCode;

use crate::acting::{Bench, world};

/// Records below a record whose path holds a file: nothing below that file can exist, and the file says so once.
const FILE_AS_DIRECTORY: &str = "
title: 'A file where a record says directory'
config:
  ds: {generation: db, version: '3.1.9', base_path: /dolphinscheduler, tenants: [etl], token: admin}
  policies: {record_grace: 1h, max_delete_fraction: 1.0}
flink:
  - cluster: c1
    jobs: []
hdfs:
  listing:
    - {path: /user, type: dir, mtime_age: 1d}
    - {path: /dolphinscheduler/etl/resources, type: dir, mtime_age: 5m}
    - {path: /dolphinscheduler/etl/resources/known.sql, type: file, size: 12, mtime_age: 30d}
    - {path: /dolphinscheduler/etl/resources/n1, type: file, size: 0, mtime_age: 5m}
dolphinscheduler:
  generation: db
  records:
    - {id: 1, full_name: /known.sql, dir: false, size: 12, owner: u1, tenant: etl, age: 30d}
    - {id: 101, full_name: /n1, dir: true, size: 0, owner: u1, tenant: etl, age: 30d}
    - {id: 102, full_name: /n1/deep/n2.sql, dir: false, size: 1002, owner: u1, tenant: etl, age: 30d}
  workflows:
    - {code: 9001, name: w, release: OFFLINE, resource_ids: [101, 102], tasks: [{name: t, type: SHELL, raw_script: 'true'}]}
";

#[tokio::test(flavor = "multi_thread")]
async fn a_file_where_a_record_says_directory_is_listed_once() {
    let bench = Bench::start(&world(FILE_AS_DIRECTORY), "10s").await;
    let (_, comparison) =
        tokio::time::timeout(Duration::from_mins(1), bench.look()).await.expect("the look comes to an end");
    let of_file = |op: &str| {
        let log = bench.platform.hdfs.faults.log();
        let file = Some("/dolphinscheduler/etl/resources/n1");
        log.iter().filter(|seen| seen.request.op == op && seen.request.path.as_deref() == file).count()
    };
    assert!((1..=2).contains(&of_file("list")), "{} listings of one file", of_file("list"));
    let on = |record: i64| {
        comparison
            .findings
            .iter()
            .filter(|finding| finding.target.record.is_some_and(|id| id.0 == record))
            .map(|finding| finding.code)
            .collect::<Vec<_>>()
    };
    assert_eq!(on(101), [FindingCode::TypeMismatch]);
    assert!(on(102).contains(&FindingCode::StaleResourceRecord), "{:?}", on(102));
}
