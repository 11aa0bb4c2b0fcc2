//! Each kind of fault on each kind of request that a plan or an apply makes: nothing that is there is called absent, nothing is
//! called but the one planned delete, and nothing twice.
//!
//! Run with `--nocapture` to see the tables.

use futures::{StreamExt as _, stream};
use statewarden::apply::Applied;
use statewarden::compare::{Comparison, FindingCode};
use statewarden::demo::world::{Cut, Effect, Fault, World};
use statewarden::plan::Plan;
use statewarden::ports::ledger::OutcomeWord::{self, AlreadyDone, Done, NotStarted, Refused, Unknown};

use crate::acting::{Bench, outcomes, world};

/// Two files and their directory are stale; a file and a directory with a file are there; a job runs elsewhere.
fn platform(version: &str) -> World {
    let records = "
        - {id: 10, full_name: /old, dir: true, size: 0, owner: u1, tenant: etl, age: 60d}
        - {id: 11, full_name: /old/a.sql, dir: false, size: 9, owner: u1, tenant: etl, age: 60d}
        - {id: 12, full_name: /gone.sql, dir: false, size: 9, owner: u1, tenant: etl, age: 60d}
        - {id: 20, full_name: /known.sql, dir: false, size: 12, owner: u1, tenant: etl, age: 60d}
        - {id: 21, full_name: /kept, dir: true, size: 5, owner: u1, tenant: etl, age: 60d}
        - {id: 22, full_name: /kept/b.sql, dir: false, size: 5, owner: u1, tenant: etl, age: 60d}";
    world(&format!(
        "
title: 'Three stale records beside three good ones'
config:
  ds: {{generation: db, version: '{version}', base_path: /dolphinscheduler, tenants: [etl], token: admin}}
  checkpoint_roots: [{{path: /flink/checkpoints, layout: app/job, clusters: [c1]}}]
  policies: {{record_grace: 1h, max_delete_fraction: 0.9}}
flink:
  - cluster: c1
    jobs:
      - id: 7f132d501fb9863844ab51697900d494
        name: app1
        state: RUNNING
        started_age: 29d
        latest_external_path: hdfs://ns1/flink/checkpoints/app1/7f132d501fb9863844ab51697900d494/chk-5
hdfs:
  listing:
    - {{path: /dolphinscheduler/etl/resources, type: dir, mtime_age: 1d}}
    - {{path: /dolphinscheduler/etl/resources/known.sql, type: file, size: 12, mtime_age: 30d}}
    - {{path: /dolphinscheduler/etl/resources/kept, type: dir, mtime_age: 30d}}
    - {{path: /dolphinscheduler/etl/resources/kept/b.sql, type: file, size: 5, mtime_age: 30d}}
    - {{path: /flink/checkpoints/app1/7f132d501fb9863844ab51697900d494/chk-5/_metadata, type: file, mtime_age: 1m}}
dolphinscheduler:
  generation: db
  records: {records}
  workflows: [{{code: 9001, name: nightly, release: ONLINE, resource_ids: [20]}}]
"
    ))
}

/// The stale ones, in the order they have to go.
const STALE: [i64; 3] = [11, 12, 10];

/// Deadline of one question: long enough for a machine that is busy with other tests, short enough to wait for.
const DEADLINE: &str = "3s";

/// A kind of fault, as one of the servers would show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Timeout,
    Http500,
    CutBody,
    Html200,
    Http401,
    Http429,
    Reset,
    Standby,
}

const KINDS: [Kind; 8] = [
    Kind::Timeout,
    Kind::Http500,
    Kind::CutBody,
    Kind::Html200,
    Kind::Http401,
    Kind::Http429,
    Kind::Reset,
    Kind::Standby,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Server {
    Flink,
    Hdfs,
    Dolphin,
}

const READS: [(Server, &str); 15] = [
    (Server::Dolphin, "whoami"),
    (Server::Dolphin, "users"),
    (Server::Dolphin, "list-tree"),
    (Server::Dolphin, "list-page"),
    (Server::Dolphin, "record"),
    (Server::Dolphin, "view"),
    (Server::Dolphin, "projects"),
    (Server::Dolphin, "workflows"),
    (Server::Dolphin, "functions"),
    (Server::Hdfs, "list"),
    (Server::Hdfs, "stat"),
    (Server::Hdfs, "mkdirs"),
    (Server::Flink, "overview"),
    (Server::Flink, "jobs-overview"),
    (Server::Flink, "checkpoints"),
];

/// A fault of a kind on an operation. `standby` is a word of the NameNode; of another server it is a gateway that has lost
/// what is behind it.
fn fault(kind: Kind, op: &str) -> Fault {
    let plain = Fault { op: Some(op.to_owned()), ..Fault::default() };
    let status = |http: u16| Fault { http: Some(http), body: Some(String::new()), ..plain.clone() };
    match kind {
        Kind::Timeout => Fault { timeout: true, ..plain },
        Kind::Http500 => status(500),
        Kind::CutBody => Fault { cut: Some(Cut::MidBody), ..plain },
        Kind::Html200 => {
            Fault { http: Some(200), body: Some("<html><body>please log in</body></html>".to_owned()), ..plain }
        }
        Kind::Http401 => status(401),
        Kind::Http429 => status(429),
        Kind::Reset => Fault { cut: Some(Cut::BeforeAnswer), ..plain },
        Kind::Standby => Fault { http: Some(403), exception: Some("StandbyException".to_owned()), ..plain },
    }
}

fn set(bench: &Bench, server: Server, fault: Fault) {
    let faults = [fault];
    match server {
        Server::Flink => bench.platform.flink[0].1.faults.set_faults(&faults),
        Server::Hdfs => bench.platform.hdfs.faults.set_faults(&faults),
        Server::Dolphin => bench.platform.dolphin.as_ref().expect("a server").faults().set_faults(&faults),
    }
}

fn clear(bench: &Bench) {
    for server in [Server::Flink, Server::Hdfs, Server::Dolphin] {
        let none: &[Fault] = &[];
        match server {
            Server::Flink => bench.platform.flink[0].1.faults.set_faults(none),
            Server::Hdfs => bench.platform.hdfs.faults.set_faults(none),
            Server::Dolphin => bench.platform.dolphin.as_ref().expect("a server").faults().set_faults(none),
        }
    }
}

/// Records that are called absent in any way.
fn called_absent(comparison: &Comparison) -> Vec<i64> {
    let absent = [FindingCode::StaleResourceRecord, FindingCode::MovedResourceRecord, FindingCode::RenameSplit];
    let of_records = comparison.findings.iter().filter(|finding| absent.contains(&finding.code));
    let mut ids: Vec<i64> = of_records.filter_map(|finding| finding.target.record).map(|id| id.0).collect();
    ids.sort_unstable();
    ids
}

/// Runs all combinations, prints the table, and fails with the lines that are wrong.
#[expect(clippy::print_stdout, reason = "the table is looked at by people")]
async fn all<T, F>(combinations: Vec<T>, check: impl Fn(T) -> F)
where
    F: Future<Output = Result<String, String>>,
{
    const AT_A_TIME: usize = 16;
    let results: Vec<Result<String, String>> =
        stream::iter(combinations.into_iter().map(check)).buffered(AT_A_TIME).collect().await;
    let mut wrong = Vec::new();
    for result in results {
        match result {
            Ok(line) => println!("{line}"),
            Err(line) => {
                println!("{line}  WRONG");
                wrong.push(line);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn reads() -> Vec<(Server, &'static str, Kind)> {
    READS.iter().flat_map(|(server, op)| KINDS.map(|kind| (*server, *op, kind))).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_faults_the_plan_holds_the_stale_records_and_the_apply_removes_them() {
    let bench = Bench::start(&platform("3.1.9"), DEADLINE).await;
    bench.observe().await;
    let (plan, comparison) = bench.plan().await;
    assert_eq!(
        plan.actions.iter().map(|action| action.target.record.0).collect::<Vec<_>>(),
        STALE,
        "{:?}",
        plan.held_back
    );
    assert_eq!(called_absent(&comparison), [10, 11, 12]);
    bench.clear_requests();
    let applied = bench.apply(&plan).await;
    assert_eq!(outcomes(&applied), STALE.map(|id| (id, Done)), "{applied:#?}");
    assert_eq!(bench.deletes(), STALE);
}

/// A view that cannot be read proves nothing: a plan made while a question has no answer holds no action.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_made_under_a_fault_holds_nothing() {
    all(reads(), |(server, op, kind)| async move {
        let bench = Bench::start(&platform("3.1.9"), DEADLINE).await;
        bench.observe().await;
        bench.clear_requests();
        set(&bench, server, fault(kind, op));
        let (plan, comparison) = bench.plan().await;
        let met = bench.faulted().len();
        let planned: Vec<i64> = plan.actions.iter().map(|action| action.target.record.0).collect();
        let absent = called_absent(&comparison);
        let line = format!("plan   {server:?} {op} {kind:?}: met {met}, planned {planned:?}, called absent {absent:?}");
        let right =
            absent.iter().all(|id| STALE.contains(id)) && (if met > 0 { planned.is_empty() } else { planned == STALE });
        if right { Ok(line) } else { Err(line) }
    })
    .await;
}

/// A plan that holds all that is stale, after a first look. On a machine so busy that a question takes longer than the deadline a
/// look rightly sees less; both are made again then.
async fn plan_of_the_stale(bench: &Bench) -> Plan {
    for _ in 0..10 {
        bench.observe().await;
        let plan = bench.plan().await.0;
        if plan.actions.len() == STALE.len() {
            return plan;
        }
    }
    panic!("without a fault the plan holds the stale records");
}

/// How an apply ends that could not look: nothing was begun, nothing is called stale, and the run says that it was blocked.
fn blocked(applied: &Applied) -> bool {
    let said = applied.findings.iter().any(|finding| finding.code == FindingCode::ApplyBlocked);
    said && applied.actions.iter().all(|action| action.outcome.outcome == NotStarted)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_apply_under_a_fault_calls_nothing() {
    all(reads(), |(server, op, kind)| async move {
        let bench = Bench::start(&platform("3.1.9"), DEADLINE).await;
        let plan = plan_of_the_stale(&bench).await;
        bench.clear_requests();
        set(&bench, server, fault(kind, op));
        let applied = bench.apply(&plan).await;
        let (met, deletes) = (bench.faulted().len(), bench.deletes());
        clear(&bench);
        let absent: Vec<i64> = called_absent(&bench.look().await.1);
        let line = format!(
            "apply  {server:?} {op} {kind:?}: met {met}, called {deletes:?}, {:?}, since {:?}",
            words(&applied),
            applied.actions[0].outcome.why
        );
        let right = if met > 0 {
            deletes.is_empty() && blocked(&applied) && absent.len() == STALE.len()
        } else {
            deletes == STALE
        };
        if right { Ok(line) } else { Err(line) }
    })
    .await;
}

fn words(applied: &Applied) -> Vec<OutcomeWord> {
    applied.actions.iter().map(|action| action.outcome.outcome).collect()
}

/// The first delete meets a fault: it is sent once, and the views decide what it was.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fault_on_the_delete_itself_is_settled_by_looking() {
    let effects = [Effect::Done, Effect::None, Effect::RowsOnly];
    let combinations = KINDS.iter().flat_map(|kind| effects.map(|effect| (*kind, effect))).collect();
    all(combinations, |(kind, effect)| async move {
        let bench = Bench::start(&platform("3.1.9"), DEADLINE).await;
        let plan = plan_of_the_stale(&bench).await;
        bench.clear_requests();
        set(&bench, Server::Dolphin, Fault { record: Some(11), effect: Some(effect), ..fault(kind, "delete") });
        let applied = bench.apply(&plan).await;
        let (deletes, words) = (bench.deletes(), words(&applied));
        clear(&bench);
        let line = format!("delete {kind:?} {effect:?}: called {deletes:?}, {words:?}");
        // The path is absent all along, so a row that went is all that there is to see.
        let gone = effect != Effect::None;
        let expected: (&[i64], [OutcomeWord; 3]) = match (gone, kind) {
            // 401 and 429 say clearly that nothing was done; gone all the same, it was somebody else. After a 401 nothing more
            // is called, after a 429 nothing above.
            (true, Kind::Http401) => (&[11], [AlreadyDone, NotStarted, NotStarted]),
            (true, Kind::Http429) => (&STALE, [AlreadyDone, Done, Done]),
            (true, _) => (&STALE, [Done; 3]),
            (false, Kind::Http401) => (&[11], [Refused, NotStarted, NotStarted]),
            (false, Kind::Http429) => (&[11, 12], [Refused, Done, NotStarted]),
            (false, _) => (&[11], [Unknown, NotStarted, NotStarted]),
        };
        // Applied again, nothing that was called is called again.
        bench.clear_requests();
        let again = bench.apply(&plan).await;
        // What was refused clearly may be tried again.
        let repeated = bench.deletes().contains(&11) && !matches!(kind, Kind::Http401 | Kind::Http429);
        let line = format!("{line}; again: called {:?}, {:?}", bench.deletes(), self::words(&again));
        if (&*deletes, &*words) == (expected.0, &expected.1[..]) && !repeated { Ok(line) } else { Err(line) }
    })
    .await;
}

/// The server breaks down with the delete and stays down, so that nothing can be read back: whatever was done, it is not known.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_read_back_is_unknown() {
    let combinations =
        KINDS.iter().flat_map(|kind| [Effect::Done, Effect::None].map(|effect| (*kind, effect))).collect();
    all(combinations, |(kind, effect)| async move {
        let bench = Bench::start(&platform("3.1.9"), DEADLINE).await;
        let plan = plan_of_the_stale(&bench).await;
        bench.clear_requests();
        set(&bench, Server::Dolphin, Fault { effect: Some(effect), sticky: true, ..fault(kind, "delete") });
        let applied = bench.apply(&plan).await;
        let (deletes, words) = (bench.deletes(), words(&applied));
        let line = format!("down   {kind:?} {effect:?}: called {deletes:?}, {words:?}");
        let first = if matches!(kind, Kind::Http401 | Kind::Http429) { Refused } else { Unknown };
        if deletes == [11] && words == [first, NotStarted, NotStarted] { Ok(line) } else { Err(line) }
    })
    .await;
}
