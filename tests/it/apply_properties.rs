//! Random worlds: what a plan may hold is worked out here from the world itself, without looking at how the program decides.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config as Runs, TestRunner};
use statewarden::demo::world::Fault;
use statewarden::ports::ledger::OutcomeWord;

use crate::acting::{Bench, outcomes, world};

/// Random worlds looked at, unless `PROPTEST_CASES` says how many.
const WORLDS: u32 = 48;

/// What one world may take; half a second is usual.
const ONE_WORLD: Duration = Duration::from_mins(2);

/// Nobody may ever print this.
const CANARY: &str = "canary-7d1f-secret";

const BASE: &str = "/dolphinscheduler/etl/resources";
const JOB: &str = "7f132d501fb9863844ab51697900d494";

/// How a record and HDFS stand to one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Absent,
    /// Absent, but the record is within its grace.
    Young,
    Present,
    /// A file where the record says directory, or the other way round.
    OtherType,
}

/// One record as it was drawn; its directory is one of the directories drawn before.
#[derive(Debug, Clone)]
struct Node {
    above: u8,
    directory: bool,
    viewable: bool,
    standing: Standing,
}

/// What a fault is put on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gap {
    /// The listing of the directory that holds a record.
    ListingAround(u8),
    Workflows,
    Users,
    Pages,
    Jobs,
    Views,
}

#[derive(Debug, Clone)]
struct Drawn {
    version: &'static str,
    nodes: Vec<Node>,
    /// Records used by a workflow, and whether it is ONLINE.
    used: Vec<(u8, bool)>,
    /// The record at or below which a live job keeps its state.
    live: Option<u8>,
    /// The record whose file, or the directory that went with it, waits in a Trash.
    trashed: Option<u8>,
    gap: Option<Gap>,
}

fn node() -> impl Strategy<Value = Node> {
    let standing = prop_oneof![
        6 => Just(Standing::Absent),
        1 => Just(Standing::Young),
        3 => Just(Standing::Present),
        1 => Just(Standing::OtherType),
    ];
    (any::<u8>(), any::<bool>(), any::<bool>(), standing).prop_map(|(above, directory, viewable, standing)| Node {
        above,
        directory,
        viewable,
        standing,
    })
}

fn gap() -> impl Strategy<Value = Gap> {
    prop_oneof![
        3 => any::<u8>().prop_map(Gap::ListingAround),
        1 => Just(Gap::Workflows),
        1 => Just(Gap::Users),
        1 => Just(Gap::Pages),
        1 => Just(Gap::Jobs),
        1 => Just(Gap::Views),
    ]
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let version = prop_oneof![Just("2.0.9"), Just("3.0.6"), Just("3.1.9")];
    let used = proptest::collection::vec((any::<u8>(), any::<bool>()), 0..2);
    let rarely = || proptest::option::weighted(0.25, any::<u8>());
    let nodes = proptest::collection::vec(node(), 1..10);
    (version, nodes, used, rarely(), rarely(), proptest::option::weighted(0.25, gap()))
        .prop_map(|(version, nodes, used, live, trashed, gap)| Drawn { version, nodes, used, live, trashed, gap })
}

/// A record as it stands in the world.
#[derive(Debug, Clone)]
struct Placed {
    id: i64,
    name: String,
    directory: bool,
    size: usize,
    above: Option<usize>,
    standing: Standing,
    /// Whether something lies at its path.
    there: bool,
}

impl Placed {
    fn path(&self) -> String {
        format!("{BASE}{}", self.name)
    }
}

/// The world of a draw, and what follows from it.
struct Model {
    drawn: Drawn,
    placed: Vec<Placed>,
}

impl Model {
    fn new(drawn: Drawn) -> Self {
        let mut placed: Vec<Placed> = Vec::new();
        for (at, node) in drawn.nodes.iter().enumerate() {
            let directories: Vec<usize> = (0..at).filter(|above| placed[*above].directory).collect();
            // One in three lies directly in the tenant's directory.
            let above = match directories.len() {
                0 => None,
                _ if node.above % 3 == 0 => None,
                n => Some(directories[usize::from(node.above) % n]),
            };
            let in_something =
                above.is_none_or(|above| placed[above].there && placed[above].standing != Standing::OtherType);
            let suffix = match (node.directory, node.viewable) {
                (true, _) => "",
                (false, true) => ".sql",
                (false, false) => ".jar",
            };
            let folder = above.map_or("", |above| &placed[above].name);
            let name = format!("{folder}/n{at}{suffix}");
            let there = in_something && matches!(node.standing, Standing::Present | Standing::OtherType);
            let standing = match node.standing {
                Standing::Present | Standing::OtherType if !there => Standing::Absent,
                standing => standing,
            };
            let id = 100 + i64::try_from(at).expect("few");
            // Sizes are unlike, or two halves of a rename would be seen in them.
            let size = if node.directory { 0 } else { 1000 + at };
            placed.push(Placed { id, name, directory: node.directory, size, above, standing, there });
        }
        Self { drawn, placed }
    }

    fn pick(&self, drawn: u8) -> usize {
        usize::from(drawn) % self.placed.len()
    }

    fn ancestors(&self, at: usize) -> Vec<usize> {
        std::iter::successors(self.placed[at].above, |above| self.placed[*above].above).collect()
    }

    fn descendants(&self, at: usize) -> Vec<usize> {
        (0..self.placed.len()).filter(|other| self.ancestors(*other).contains(&at)).collect()
    }

    fn family(&self, at: usize) -> Vec<usize> {
        let mut family = self.ancestors(at);
        family.push(at);
        family.extend(self.descendants(at));
        family
    }

    /// The topmost record at or above one that has nothing at its path: what was moved away was moved with it.
    fn topmost_absent(&self, at: usize) -> usize {
        let absent = self.ancestors(at).into_iter().rfind(|above| !self.placed[*above].there);
        absent.unwrap_or(at)
    }

    fn trashed(&self) -> Option<usize> {
        let at = self.pick(self.drawn.trashed?);
        (!self.placed[at].there).then(|| self.topmost_absent(at))
    }

    /// Where the live job keeps its state.
    fn live_path(&self) -> Option<String> {
        let at = self.pick(self.drawn.live?);
        Some(format!("{}/app1/{JOB}/chk-1", self.placed[at].path()))
    }

    /// Whether one record may go, its children left aside.
    fn may_go_alone(&self, at: usize) -> bool {
        let it = &self.placed[at];
        let used: BTreeSet<usize> = self.drawn.used.iter().map(|(drawn, _)| self.pick(*drawn)).collect();
        let live = self.live_path().is_some_and(|live| {
            let path = it.path();
            live.starts_with(&format!("{path}/")) || path.starts_with(&format!("{live}/"))
        });
        it.standing == Standing::Absent
            && !it.there
            && !self.family(at).iter().any(|other| used.contains(other))
            && !live
            && self.trashed() != Some(self.topmost_absent(at))
            && !self.ancestors(at).iter().any(|above| self.placed[*above].standing == Standing::OtherType)
    }

    /// The records that may go in a world without gaps.
    fn may_go(&self) -> BTreeSet<i64> {
        let all = 0..self.placed.len();
        let free =
            |at: &usize| self.may_go_alone(*at) && self.descendants(*at).iter().all(|below| self.may_go_alone(*below));
        all.filter(free).map(|at| self.placed[at].id).collect()
    }

    /// The directory whose listing fails, if one does.
    fn unlisted(&self) -> Option<String> {
        let Some(Gap::ListingAround(drawn)) = self.drawn.gap else { return None };
        let at = self.pick(drawn);
        let there = self.ancestors(at).into_iter().find(|above| self.placed[*above].there);
        Some(there.map_or_else(|| BASE.to_owned(), |above| self.placed[above].path()))
    }

    /// The records of which something may go although there is a gap.
    fn may_go_beside_the_gap(&self) -> BTreeSet<i64> {
        match (self.drawn.gap, self.unlisted()) {
            (None, _) => self.may_go(),
            (_, Some(unlisted)) => {
                let outside = |id: &i64| {
                    let it = self.placed.iter().find(|it| it.id == *id).expect("a record");
                    !it.path().starts_with(&format!("{unlisted}/"))
                };
                self.may_go().into_iter().filter(outside).collect()
            }
            _ => BTreeSet::new(),
        }
    }

    fn yaml(&self) -> String {
        let mut listing = format!("    - {{path: {BASE}, type: dir, mtime_age: 5m}}\n");
        let _ = writeln!(listing, "    - {{path: {BASE}/known.sql, type: file, size: 12, mtime_age: 30d}}");
        let mut records = String::new();
        for it in &self.placed {
            let age = if it.standing == Standing::Young { "10m" } else { "30d" };
            let _ = writeln!(
                records,
                "    - {{id: {}, full_name: {}, dir: {}, size: {}, owner: u1, tenant: etl, age: {age}}}",
                it.id, it.name, it.directory, it.size
            );
            if it.there {
                let is_directory = it.directory != (it.standing == Standing::OtherType);
                let (kind, size) = if is_directory { ("dir", 0) } else { ("file", it.size) };
                let _ = writeln!(listing, "    - {{path: {}, type: {kind}, size: {size}, mtime_age: 5m}}", it.path());
            }
        }
        if let Some(at) = self.trashed() {
            let path = self.placed[at].path();
            let _ =
                writeln!(listing, "    - {{path: /user/u1/.Trash/Current{path}, type: file, size: 1, mtime_age: 5m}}");
        }
        let workflows: BTreeMap<i64, (i64, bool)> = (9001..)
            .zip(&self.drawn.used)
            .map(|(code, (drawn, online))| (code, (self.placed[self.pick(*drawn)].id, *online)))
            .collect();
        let workflows: Vec<String> = workflows
            .iter()
            .map(|(code, (id, online))| {
                let release = if *online { "ONLINE" } else { "OFFLINE" };
                format!(
                    "{{code: {code}, name: w{code}, release: {release}, resource_ids: [{id}], \
                     tasks: [{{name: t, type: SHELL, raw_script: 'export PASSWORD={CANARY}'}}]}}"
                )
            })
            .collect();
        let latest = self.live_path().map_or_else(|| "null".to_owned(), |path| format!("hdfs://ns1{path}"));
        format!(
            "
title: 'A random world'
config:
  ds: {{generation: db, version: '{}', base_path: /dolphinscheduler, tenants: [etl], token: admin}}
  policies: {{record_grace: 1h, max_delete_fraction: 1.0}}
flink:
  - cluster: c1
    jobs: [{{id: {JOB}, name: app1, state: RUNNING, started_age: 1d, restored_from: null, latest_external_path: {latest}}}]
hdfs:
  listing:
    - {{path: /user, type: dir, mtime_age: 1d}}
{listing}
dolphinscheduler:
  generation: db
  records:
    - {{id: 1, full_name: /known.sql, dir: false, size: 12, owner: u1, tenant: etl, age: 30d}}
{records}
  workflows: [{}]
",
            self.drawn.version,
            workflows.join(", ")
        )
    }

    fn set_gap(&self, bench: &Bench) {
        let refused = |op: &str| Fault {
            op: Some(op.to_owned()),
            http: Some(500),
            body: Some(String::new()),
            ..Fault::default()
        };
        let dolphin = bench.platform.dolphin.as_ref().expect("a server").faults();
        match self.drawn.gap {
            None => {}
            Some(Gap::ListingAround(_)) => {
                bench.platform.hdfs.faults.set_faults(&[Fault { path: self.unlisted(), ..refused("list") }]);
            }
            Some(Gap::Jobs) => bench.platform.flink[0].1.faults.set_faults(&[refused("jobs-overview")]),
            Some(Gap::Workflows) => dolphin.set_faults(&[refused("workflows")]),
            Some(Gap::Users) => dolphin.set_faults(&[refused("users")]),
            Some(Gap::Pages) => dolphin.set_faults(&[refused("list-page")]),
            Some(Gap::Views) => dolphin.set_faults(&[refused("view")]),
        }
    }
}

/// What one world showed; the number of records that went.
async fn try_world(model: &Model) -> Result<usize, TestCaseError> {
    let bench = Bench::start(&world(&model.yaml()), "10s").await;
    bench.observe().await;
    model.set_gap(&bench);
    let (plan, comparison) = bench.plan().await;
    let planned: Vec<i64> = plan.actions.iter().map(|action| action.target.record.0).collect();
    let allowed = model.may_go_beside_the_gap();
    let as_set: BTreeSet<i64> = planned.iter().copied().collect();
    prop_assert!(as_set.is_subset(&allowed), "planned {planned:?}, allowed {allowed:?}");
    if model.drawn.gap.is_none() {
        prop_assert_eq!(&as_set, &allowed, "held back: {:#?}\nfindings: {:#?}", plan.held_back, comparison.findings);
    }
    let files = bench.platform.hdfs.file_system.lock().clone();
    bench.clear_requests();
    let applied = bench.apply(&plan).await;
    let done: Vec<(i64, OutcomeWord)> = planned.iter().map(|id| (*id, OutcomeWord::Done)).collect();
    prop_assert_eq!(outcomes(&applied), done, "{:#?}", applied);
    prop_assert_eq!(bench.deletes(), planned.clone(), "one call each, in the order of the plan");
    prop_assert!(files == *bench.platform.hdfs.file_system.lock(), "nothing in HDFS changes");
    twice_is_once(&bench, &plan, &planned).await?;
    let (after, _) = bench.plan().await;
    prop_assert!(after.actions.is_empty(), "planned after all was done: {:?}", after.actions);
    no_canary(&bench, &[&plan, &after], &applied)?;
    Ok(planned.len())
}

async fn twice_is_once(bench: &Bench, plan: &statewarden::plan::Plan, planned: &[i64]) -> Result<(), TestCaseError> {
    bench.clear_requests();
    let again = bench.apply(plan).await;
    let before: Vec<(i64, OutcomeWord)> = planned.iter().map(|id| (*id, OutcomeWord::AlreadyDone)).collect();
    prop_assert_eq!(outcomes(&again), before, "{:#?}", again);
    prop_assert!(bench.deletes().is_empty());
    Ok(())
}

fn no_canary(
    bench: &Bench,
    plans: &[&statewarden::plan::Plan],
    applied: &statewarden::apply::Applied,
) -> Result<(), TestCaseError> {
    let mut texts: Vec<String> = plans.iter().map(|plan| serde_json::to_string(plan).expect("JSON")).collect();
    texts.push(serde_json::to_string(applied).expect("JSON"));
    texts.push(bench.ledger_text());
    let token = bench.platform.world.ds_token().expect("a token");
    for text in texts {
        prop_assert!(!text.contains(CANARY) && !text.contains(&token));
    }
    Ok(())
}

#[test]
fn no_action_on_anything_needed_and_applying_twice_is_once() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let default = Runs::with_source_file(file!());
    let worlds = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { WORLDS };
    let mut runner = TestRunner::new(Runs { cases: worlds, max_shrink_iters: 100, ..default });
    let gone = std::sync::atomic::AtomicUsize::new(0);
    let result = runner.run(&drawn(), |drawn| {
        let model = Model::new(drawn);
        let ends = async { tokio::time::timeout(ONE_WORLD, try_world(&model)).await };
        let count = runtime.block_on(ends).expect("a world comes to an end")?;
        gone.fetch_add(count, std::sync::atomic::Ordering::Relaxed);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    let gone = gone.into_inner();
    assert!(gone > worlds as usize / 4, "only {gone} records went: the worlds are too poor to show anything");
}
