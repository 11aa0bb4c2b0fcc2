//! The gates of run directories over HTTP: what the program proves free, and what keeps it from proving it.

use statewarden::compare::{Comparison, Context, FindingCode, Severity};
use statewarden::demo::world::Fault;
use statewarden::domain::HdfsPath;
use statewarden::gates::run::{RunVerdict, verdicts};
use statewarden::gates::{RunGate, Verdict};
use statewarden::views::flink::Restored;
use statewarden::views::{Cause, Gap, ViewName};

use crate::acting::{Bench, world};

const ROOT: &str = "/flink/checkpoints/prod/app1";
const OLD: &str = "49b5926251bfc0e5166a1c407ccd1050";
const MIDDLE: &str = "1ae5d681bd3ee0abdb58119f986648f3";
const LIVE: &str = "7f132d501fb9863844ab51697900d494";

/// Three runs of one application, two of them over, and what each `_metadata` names.
struct Platform {
    old: &'static str,
    middle: &'static str,
    live: &'static str,
    more: &'static str,
    mode: &'static str,
}

const PLAIN: Platform = Platform { old: "", middle: "", live: "", more: "", mode: "unknown" };

impl Platform {
    fn yaml(&self) -> String {
        let metadata = |run: &str, chk: u32, age: &str, extra: &str| {
            format!("    - {{path: {ROOT}/{run}/chk-{chk}/_metadata, type: file, mtime_age: {age}{extra}}}\n")
        };
        format!(
            "
title: 'Three runs'
config:
  ds: {{generation: db, version: '3.1.9', base_path: /dolphinscheduler, tenants: [etl], token: admin}}
  checkpoint_roots: [{{path: /flink/checkpoints/prod, layout: app/job, clusters: [c1]}}]
  policies: {{min_age: 72h, keep_generations: 1, restore_mode: {mode}}}
flink:
  - cluster: c1
    jobs:
      - {{id: {OLD}, name: app1, state: CANCELED, ended_age: 60d}}
      - {{id: {MIDDLE}, name: app1, state: CANCELED, ended_age: 30d}}
      - {{id: {LIVE}, name: app1, state: RUNNING, started_age: 29d, restored_from: null, latest_external_path: 'hdfs://ns1{ROOT}/{LIVE}/chk-9'}}
hdfs:
  server: {{trash_interval: 2880m}}
  listing:
    - {{path: /dolphinscheduler/etl/resources/known.sql, type: file, size: 12, mtime_age: 30d}}
    - {{path: {ROOT}/{OLD}/shared/f1, type: file, size: 1, mtime_age: 60d}}
    - {{path: {ROOT}/{MIDDLE}/shared/f2, type: file, size: 1, mtime_age: 30d}}
{old}{middle}{live}{more}
dolphinscheduler:
  generation: db
  records: [{{id: 1, full_name: /known.sql, dir: false, size: 12, owner: u1, tenant: etl, age: 30d}}]
",
            mode = self.mode,
            old = metadata(OLD, 5, "60d", self.old),
            middle = metadata(MIDDLE, 6, "30d", self.middle),
            live = metadata(LIVE, 9, "1m", self.live),
            more = self.more,
        )
    }

    async fn start(&self) -> Bench {
        Bench::start(&world(&self.yaml()), "10s").await
    }
}

async fn judged(bench: &Bench) -> (Vec<RunVerdict>, Comparison) {
    let (inventory, comparison) = bench.look().await;
    (verdicts(&Context::new(&inventory, &bench.config)), comparison)
}

fn run<'v>(verdicts: &'v [RunVerdict], id: &str) -> &'v RunVerdict {
    verdicts.iter().find(|verdict| verdict.path.name() == Some(id)).expect("the run was judged")
}

fn answer(verdicts: &[RunVerdict], id: &str, gate: RunGate) -> (Verdict, String) {
    let result = run(verdicts, id).of(gate).expect("every gate is answered");
    (result.verdict, result.evidence.clone())
}

fn orphans(verdicts: &[RunVerdict]) -> Vec<&str> {
    verdicts.iter().filter(|verdict| verdict.is_orphan).filter_map(|verdict| verdict.path.name()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_runs_that_nothing_names_are_free_and_every_gate_says_why() {
    let (verdicts, comparison) = judged(&PLAIN.start().await).await;
    assert_eq!(orphans(&verdicts), [MIDDLE, OLD]);
    for id in [OLD, MIDDLE] {
        let gates = &run(&verdicts, id).gates;
        let order: Vec<RunGate> = gates.iter().map(|result| result.gate).collect();
        assert_eq!(order, RunGate::ALL, "each gate once, in order");
        let open = gates.iter().filter(|result| result.verdict != Verdict::Proved);
        assert_eq!(open.map(|result| result.gate).collect::<Vec<_>>(), [RunGate::Budget]);
        assert!(gates.iter().all(|result| !result.evidence.is_empty()));
    }
    assert_eq!(answer(&verdicts, LIVE, RunGate::Live).0, Verdict::Refuted);
    let codes = comparison.findings.iter().filter(|finding| finding.severity > Severity::Info);
    assert!(codes.map(|finding| finding.code).eq([FindingCode::OrphanJobRunDir; 2]), "{:?}", comparison.findings);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_need_of_a_need_keeps_both() {
    // The live run names a file of the middle one, whose own restore point names a file of the oldest.
    let platform = Platform {
        live: ", refers_to: [/flink/checkpoints/prod/app1/1ae5d681bd3ee0abdb58119f986648f3/shared/f2]",
        middle: ", refers_to: [/flink/checkpoints/prod/app1/49b5926251bfc0e5166a1c407ccd1050/shared/f1]",
        ..PLAIN
    };
    let (verdicts, _) = judged(&platform.start().await).await;
    assert!(orphans(&verdicts).is_empty());
    let (verdict, evidence) = answer(&verdicts, OLD, RunGate::References);
    assert_eq!(verdict, Verdict::Refuted);
    assert!(evidence.contains(MIDDLE) && evidence.contains("shared/f1"), "{evidence}");
    // Without the first need the second binds nobody: both go together.
    let (verdicts, _) = judged(&Platform { live: "", ..platform }.start().await).await;
    assert_eq!(orphans(&verdicts), [MIDDLE, OLD]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_leads_nowhere_keeps_every_file_of_that_name() {
    let platform = Platform {
        live: ", refers_to: [/flink/checkpoints/prod/app1/7f132d501fb9863844ab51697900d494/shared/f1]",
        ..PLAIN
    };
    let (verdicts, comparison) = judged(&platform.start().await).await;
    assert_eq!(orphans(&verdicts), Vec::<&str>::new(), "the live checkpoint is not whole, so nothing is superseded");
    let (verdict, evidence) = answer(&verdicts, OLD, RunGate::References);
    assert!(verdict == Verdict::Refuted && evidence.contains("a file of that name lies here"), "{evidence}");
    assert_eq!(answer(&verdicts, MIDDLE, RunGate::References).0, Verdict::Proved);
    assert_eq!(answer(&verdicts, MIDDLE, RunGate::Checkpointed).0, Verdict::Refuted);
    let lost = comparison.findings.iter().find(|finding| finding.code == FindingCode::LiveJobCheckpointMissing);
    assert!(lost.is_some_and(|finding| finding.target.path.as_deref().is_some_and(|path| path.ends_with("chk-9"))));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_understood_may_name_anything_but_not_about_itself() {
    for damage in [", metadata: garbage", ", metadata: truncated"] {
        // In a run that stays it closes REFERENCES for all others.
        let more: &'static str = Box::leak(
            format!("    - {{path: {ROOT}/0bf8a9e67aadee231938cadd6e85d369/chk-1/_metadata, type: file, mtime_age: 90d{damage}}}\n")
                .into_boxed_str(),
        );
        let (verdicts, comparison) = judged(&Platform { more, ..PLAIN }.start().await).await;
        assert!(orphans(&verdicts).is_empty());
        for id in [OLD, MIDDLE] {
            let (verdict, evidence) = answer(&verdicts, id, RunGate::References);
            assert_eq!(verdict, Verdict::Unknown);
            assert!(evidence.contains("0bf8a9e67aadee231938cadd6e85d369/chk-1"), "{evidence}");
        }
        let told = comparison.findings.iter().find(|finding| finding.code == FindingCode::DeadRestorePoint);
        assert_eq!(told.map(|finding| finding.severity), Some(Severity::Info), "what blocks is told");
        // In the run itself it keeps nothing: whatever it names, it goes with it.
        let (verdicts, _) = judged(&Platform { old: damage, ..PLAIN }.start().await).await;
        assert_eq!(orphans(&verdicts), [MIDDLE, OLD]);
    }
}

fn refuse(op: &str, path: String) -> Fault {
    Fault {
        op: Some(op.to_owned()),
        path: Some(path),
        http: Some(403),
        exception: Some("AccessControlException".to_owned()),
        ..Fault::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_read_closes_the_gates_that_rest_on_it() {
    let bench = PLAIN.start().await;
    bench.platform.hdfs.faults.set_faults(&[refuse("open", format!("{ROOT}/{LIVE}/chk-9/_metadata"))]);
    let (verdicts, comparison) = judged(&bench).await;
    assert!(orphans(&verdicts).is_empty());
    for gate in [RunGate::View, RunGate::Checkpointed, RunGate::Ownership, RunGate::References] {
        assert_eq!(answer(&verdicts, OLD, gate).0, Verdict::Unknown, "{gate}");
    }
    let gap = comparison.findings.iter().find(|finding| finding.code == FindingCode::ViewIncomplete).expect("a gap");
    let run_path = format!("{ROOT}/{LIVE}");
    assert_eq!((gap.severity, gap.target.path.as_deref()), (Severity::Warning, Some(run_path.as_str())));

    let bench = PLAIN.start().await;
    bench.platform.hdfs.faults.set_faults(&[refuse("list", format!("{ROOT}/{OLD}/shared"))]);
    let (verdicts, _) = judged(&bench).await;
    assert_eq!(answer(&verdicts, OLD, RunGate::Age).0, Verdict::Unknown);
    assert!(orphans(&verdicts).is_empty(), "one unread inside closes the view of the root");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_comes_short_is_no_content() {
    let bench = PLAIN.start().await;
    let path = Some(format!("{ROOT}/{LIVE}/chk-9/_metadata"));
    let short =
        Fault { op: Some("open".to_owned()), path, http: Some(200), body: Some("I`g-".to_owned()), ..Fault::default() };
    bench.platform.hdfs.faults.set_faults(&[short]);
    let (verdicts, comparison) = judged(&bench).await;
    assert!(orphans(&verdicts).is_empty());
    assert!(comparison.findings.iter().any(|finding| finding.code == FindingCode::ViewIncomplete));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkpoint_that_goes_while_it_is_read_names_nothing() {
    let platform = Platform {
        more: "    - {path: /flink/checkpoints/prod/app1/7f132d501fb9863844ab51697900d494/chk-8/_metadata, type: file, mtime_age: 2m}\n",
        ..PLAIN
    };
    let bench = platform.start().await;
    let path = format!("{ROOT}/{LIVE}/chk-8/_metadata");
    let gone = |op: &str| Fault {
        op: Some(op.to_owned()),
        path: Some(path.clone()),
        http: Some(404),
        exception: Some("FileNotFoundException".to_owned()),
        ..Fault::default()
    };
    bench.platform.hdfs.faults.set_faults(&[gone("open"), gone("stat")]);
    let (verdicts, comparison) = judged(&bench).await;
    assert_eq!(orphans(&verdicts), [MIDDLE, OLD]);
    assert!(comparison.findings.iter().all(|finding| finding.code != FindingCode::ViewIncomplete));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_metadata_that_is_known_is_not_read_again() {
    let bench = PLAIN.start().await;
    let opened =
        |bench: &Bench| bench.platform.hdfs.faults.log().iter().filter(|seen| seen.request.op == "open").count();
    let (first, _) = judged(&bench).await;
    assert_eq!(opened(&bench), 3);
    let (again, _) = judged(&bench).await;
    assert_eq!(opened(&bench), 3, "the same file id, length and time");
    assert_eq!(first, again);
}

#[tokio::test(flavor = "multi_thread")]
async fn claim_mode_decides_only_where_metadata_cannot() {
    let claimed = Platform {
        live: ", refers_to: [/flink/checkpoints/prod/app1/49b5926251bfc0e5166a1c407ccd1050/shared/f1]",
        ..PLAIN
    };
    for mode in ["CLAIM", "LEGACY", "unknown"] {
        let (verdicts, comparison) = judged(&Platform { mode, ..claimed }.start().await).await;
        assert_eq!(orphans(&verdicts), [MIDDLE], "{mode}");
        assert_eq!(answer(&verdicts, OLD, RunGate::Ownership).0, Verdict::Refuted, "{mode}");
        assert!(comparison.findings.iter().any(|finding| finding.code == FindingCode::SharedStateDependency));
    }
    // What NO_CLAIM promises is not believed against the file itself.
    let (verdicts, _) = judged(&Platform { mode: "NO_CLAIM", ..claimed }.start().await).await;
    assert_eq!(orphans(&verdicts), [MIDDLE]);
    assert_eq!(answer(&verdicts, OLD, RunGate::Ownership).0, Verdict::Proved);
    assert_eq!(answer(&verdicts, OLD, RunGate::References).0, Verdict::Refuted);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_ended_while_it_was_looked_at_carries_nothing_on() {
    let bench = PLAIN.start().await;
    let (mut inventory, _) = bench.look().await;
    let jobs = inventory.flink.clusters.iter_mut().flat_map(|cluster| &mut cluster.jobs);
    let live = jobs.into_iter().find(|job| job.id.as_str() == LIVE).expect("the live job");
    // What `merge_readings` makes of alive before and over after: alive, with an end.
    live.ended = Some(inventory.taken);
    let verdicts = verdicts(&Context::new(&inventory, &bench.config));
    assert!(orphans(&verdicts).is_empty());
    assert_eq!(answer(&verdicts, OLD, RunGate::Successor).0, Verdict::Refuted);
}

#[tokio::test(flavor = "multi_thread")]
async fn savepoints_that_were_not_read_may_name_anything() {
    let bench = PLAIN.start().await;
    let (mut inventory, _) = bench.look().await;
    inventory.flink.clusters[0].savepoint_dir = Some("hdfs://ns1/user/savepoints".to_owned());
    let at = HdfsPath::parse("/user/savepoints").expect("a path");
    let gap = Gap::incomplete(ViewName::Hdfs, Cause::NotAuthorized, "AccessControlException").at(&at);
    inventory.hdfs.gaps.push(gap);
    let verdicts = verdicts(&Context::new(&inventory, &bench.config));
    assert!(orphans(&verdicts).is_empty());
    assert_eq!(answer(&verdicts, OLD, RunGate::References).0, Verdict::Unknown);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_starting_job_may_restore_from_keeps_what_it_names() {
    // The middle run may be restored from right now; it names a file of the oldest.
    let platform = Platform {
        middle: ", refers_to: [/flink/checkpoints/prod/app1/49b5926251bfc0e5166a1c407ccd1050/shared/f1]",
        ..PLAIN
    };
    let bench = platform.start().await;
    let (mut inventory, _) = bench.look().await;
    let jobs = inventory.flink.clusters.iter_mut().flat_map(|cluster| &mut cluster.jobs);
    let live = jobs.into_iter().find(|job| job.id.as_str() == LIVE).expect("the live job");
    live.restored = Restored::Unknown { why: "the path was not shown".to_owned() };
    let verdicts = verdicts(&Context::new(&inventory, &bench.config));
    assert_eq!(answer(&verdicts, MIDDLE, RunGate::References).0, Verdict::Unknown);
    assert_eq!(answer(&verdicts, OLD, RunGate::References).0, Verdict::Refuted, "named by a run that stays");
}
