//! Recorded histories of jobs as worlds: what the program calls free is what no metadata of a kept restore point names.
//!
//! Files lie in an embedded HDFS where they lay on disk, each recorded `_metadata` with its own bytes, and are collected as in
//! use. What each restore point names is taken from what Flink itself read, not from this program's reader.

mod moment;
mod truth;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use statewarden::adapters::webhdfs::WebHdfs;
use statewarden::collect::{Silent, Sources, collect};
use statewarden::compare::Context;
use statewarden::config::Config;
use statewarden::config::load::{LoadOptions, load};
use statewarden::demo::servers::file_system::Maker;
use statewarden::demo::servers::{Options, Platform};
use statewarden::demo::world::World;
use statewarden::domain::HdfsPath;
use statewarden::gates::run::{RunVerdict, verdicts};
use statewarden::gates::{RunGate, Verdict};
use statewarden::graph::{Completeness, Graph, Movable};
use statewarden::ports::clock::SystemClock;
use statewarden::ports::read::HdfsRead;
use statewarden::views::Inventory;

use crate::world::path;
use moment::{Moment, name};
use truth::{Truth, is_at_or_below};

/// The one NameNode of the recordings.
const AUTHORITY: &str = "hdfs://localhost:8020";

/// A moment as the program sees it.
struct Seen {
    moment: Moment,
    truth: Truth,
    config: Config,
    inventory: Inventory,
}

/// One embedded NameNode for all of them, and one reader: what takes the time is to start them.
struct Looker {
    platform: Platform,
    hdfs: Arc<WebHdfs>,
}

impl Looker {
    fn new() -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let platform = Platform::start(load_world("title: 'Nothing'\n"), Options::default()).expect("servers");
        let config = configuration(&platform);
        let hdfs = WebHdfs::new(config.hdfs.as_ref().expect("an [hdfs] section")).expect("a reader");
        Self { platform, hdfs: Arc::new(hdfs) }
    }

    async fn look(&mut self, moment: Moment) -> Seen {
        self.platform.replace_world(load_world(&yaml(&moment))).expect("another world");
        fill(&self.platform, &moment);
        let config = configuration(&self.platform);
        let sources = Sources {
            flink: Vec::new(),
            hdfs: Arc::clone(&self.hdfs) as Arc<dyn HdfsRead>,
            resources: None,
            recurse: false,
            metadata: Arc::default(),
        };
        let inventory = collect(&sources, &config, &SystemClock, &Silent).await;
        assert_eq!(inventory.hdfs.gaps, [], "{}", moment.name);
        let truth = Truth::of(&moment);
        Seen { moment, truth, config, inventory }
    }
}

fn load_world(yaml: &str) -> World {
    World::load(yaml, Timestamp::now()).expect("a world")
}

/// What is said to the program: roots and savepoints, and of every job that it ended long ago and its application was given up,
/// so that only metadata can keep anything.
fn yaml(moment: &Moment) -> String {
    let list = |items: Vec<String>| format!("[{}]", items.join(", "));
    let roots = moment.roots().into_iter().map(|path| format!("{{path: {path}, layout: job, clusters: []}}"));
    let jobs: Vec<String> = moment.runs().iter().map(|path| format!("'{}'", name(path))).collect();
    let ended = jobs.iter().map(|job| {
        format!("{{app: old, flink_job_id: {job}, status: expired, job_state: CANCELED, job_ended_age: 20d}}")
    });
    let savepoints = moment.savepoints().into_iter().map(|path| {
        let nobody = "'00000000000000000000000000000001'";
        format!("{{app: old, flink_job_id: {nobody}, status: expired, restore_path: {path}, restore_type: savepoint}}")
    });
    let others = moment.authorities().into_iter().filter(|authority| authority != AUTHORITY);
    let aliases: Vec<String> = others.map(|authority| format!("'{authority}': '{AUTHORITY}'")).collect();
    format!(
        "title: 'A recorded history'
config:
  authority: '{AUTHORITY}'
  aliases: {{{}}}
  flink: none
  policies: {{keep_generations: 0, max_delete_fraction: 1.0}}
  checkpoint_roots: {}
  registry: {}
  applications: [{{name: old, retired: true, jobs: {}}}]
",
        aliases.join(", "),
        list(roots.collect()),
        list(ended.chain(savepoints).collect()),
        list(jobs.clone()),
    )
}

fn fill(platform: &Platform, moment: &Moment) {
    let maker = Maker::new("flink");
    let mut fs = platform.hdfs.file_system.lock();
    for directory in &moment.directories {
        fs.mkdirs(directory, &maker).expect("a directory");
    }
    for file in &moment.files {
        let point = file.strip_suffix("/_metadata").and_then(|directory| moment.points.get(directory));
        let content = point.map_or_else(|| vec![0; moment.sizes[file]], |point| point.bytes.clone());
        fs.create(file, content, false, &maker).expect("a file");
    }
    let old = (platform.world.t0 - SignedDuration::from_hours(30 * 24)).as_millisecond();
    for path in moment.files.iter().chain(&moment.directories) {
        fs.set_mtime(path, old);
    }
}

fn configuration(platform: &Platform) -> Config {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("statewarden.toml");
    std::fs::write(&file, platform.config_toml()).expect("written");
    load(&LoadOptions { file: Some(file), ..LoadOptions::default() }).expect("a configuration")
}

/// Each of them, all and none.
fn alone(all: &[String]) -> Vec<BTreeSet<String>> {
    let each = all.iter().map(|item| BTreeSet::from([item.clone()]));
    [BTreeSet::new(), all.iter().cloned().collect()].into_iter().chain(each).collect()
}

/// Choices of what to keep: all choices of a few; of many each alone, all but each, and some by chance.
fn choices(all: &[String]) -> Vec<BTreeSet<String>> {
    let chosen = |mask: u64| {
        let of = all.iter().enumerate().filter(|(at, _)| mask >> (at % 64) & 1 == 1);
        of.map(|(_, item)| item.clone()).collect::<BTreeSet<_>>()
    };
    if all.len() <= 5 {
        return (0..1 << all.len()).map(chosen).collect();
    }
    let but = all.iter().map(|item| all.iter().filter(|other| *other != item).cloned().collect());
    // Any odd multiplier spreads the bits; the same choices every time.
    let by_chance = (1..16_u64).map(|n| chosen(n.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
    alone(all).into_iter().chain(but).chain(by_chance).collect()
}

fn paths(texts: &BTreeSet<String>) -> BTreeSet<HdfsPath> {
    texts.iter().map(|text| path(text)).collect()
}

fn texts<'p>(paths: impl IntoIterator<Item = &'p HdfsPath>) -> BTreeSet<String> {
    paths.into_iter().map(ToString::to_string).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_kept_restore_point_names_is_free_and_nothing_else() {
    let mut looker = Looker::new();
    let mut answers: BTreeMap<Verdict, usize> = BTreeMap::new();
    let mut broken = BTreeSet::new();
    let moments = moment::all();
    assert!(moments.len() >= 150, "{} recordings with a tree", moments.len());
    // Each by itself, and all of one version as if they had been there at one time.
    for moment in moment::by_version(&moments).into_iter().chain(moments) {
        let seen = looker.look(moment).await;
        let graph = Graph::new(&seen.inventory, &seen.config.file_systems);
        assert_points(&seen, &graph);
        let files = &seen.moment.files;
        let parts = [seen.moment.runs(), seen.moment.savepoints(), seen.moment.changelogs()];
        let directories = parts.into_iter().flatten().collect();
        let points: Vec<String> = seen.moment.points.keys().cloned().collect();
        // A file is no place for restore points, so what stays of files is the sum over the kept points.
        assert_free(&seen, &graph, files, alone(&points));
        assert_free(&seen, &graph, &directories, choices(&points));
        for verdict in assert_gates(&seen) {
            *answers.entry(verdict).or_insert(0) += 1;
        }
        broken.extend(seen.moment.points.keys().filter(|point| !seen.truth.holes(point).is_empty()).cloned());
    }
    // Both answers came up, and so did broken restore points: Flink wrote wrong names into some, and others lost files to a
    // later job that had claimed them.
    assert!(answers[&Verdict::Proved] > 500 && answers[&Verdict::Refuted] > 500, "{answers:?}");
    assert!(broken.len() >= 10, "{broken:#?}");
}

/// What is said of each restore point alone: the files it needs, whether they are there, and whether it can be moved.
fn assert_points(seen: &Seen, graph: &Graph) {
    let recorded: BTreeSet<String> = seen.moment.points.keys().cloned().collect();
    assert_eq!(texts(graph.points().map(|(at, _)| at)), recorded, "{}", seen.moment.name);
    for point in &recorded {
        let at = path(point);
        let holes: BTreeSet<String> = match graph.completeness(&at) {
            Completeness::Complete => BTreeSet::new(),
            Completeness::Holes(names) => names.into_iter().collect(),
            Completeness::Unknown(why) => panic!("{point}: {why}"),
        };
        assert_eq!(&holes, seen.truth.holes(point), "{point} in {}", seen.moment.name);
        let movable = match seen.truth.absolute(point) {
            0 => Movable::Yes,
            absolute => Movable::No(absolute),
        };
        assert_eq!(graph.movable(&at), movable, "{point}");
    }
}

/// For each choice of kept restore points, what stays of `units` and so what is free.
fn assert_free(seen: &Seen, graph: &Graph, units: &BTreeSet<String>, choices: Vec<BTreeSet<String>>) {
    let as_paths = paths(units);
    for kept in choices {
        let seeds = paths(&kept);
        let found = graph.kept(&seeds, &as_paths);
        assert_eq!(found.unread.len(), 0, "{}", seen.moment.name);
        let stays = texts(found.needed.keys());
        let expected = seen.truth.kept(&kept, units);
        let wrong: Vec<&String> = stays.symmetric_difference(&expected).collect();
        assert!(wrong.is_empty(), "{} keeping {kept:#?}: {wrong:#?}", seen.moment.name);
    }
    let all: BTreeSet<String> = seen.moment.points.keys().cloned().collect();
    for point in &all {
        let rest = all.iter().filter(|other| *other != point).cloned().collect();
        let without = seen.truth.kept(&rest, units);
        let free: BTreeSet<String> = seen.truth.kept(&all, units).difference(&without).cloned().collect();
        assert_eq!(texts(&graph.free_without(&path(point), &as_paths)), free, "without {point}");
    }
}

/// For each choice of runs that somebody protects, the gate and the verdict on every run. Returns what the gate answered.
fn assert_gates(seen: &Seen) -> Vec<Verdict> {
    let mut answers = Vec::new();
    let runs = seen.moment.runs();
    for protected in choices(&runs.iter().cloned().collect::<Vec<_>>()) {
        let mut config = seen.config.clone();
        config.policies.protect = protected.iter().cloned().collect();
        let stays = |point: &&String| {
            let run = runs.iter().find(|run| is_at_or_below(point, run));
            run.is_none_or(|run| protected.contains(run))
        };
        let points: BTreeSet<String> = seen.moment.points.keys().filter(stays).cloned().collect();
        let needed = seen.truth.kept(&points, &runs);
        let context = Context::new(&seen.inventory, &config);
        let verdicts = verdicts(&context);
        assert_eq!(texts(verdicts.iter().map(|verdict| &verdict.path)), runs, "{}", seen.moment.name);
        for verdict in verdicts {
            let run = verdict.path.to_string();
            let references = verdict.of(RunGate::References).expect("a gate");
            let expected = if needed.contains(&run) { Verdict::Refuted } else { Verdict::Proved };
            assert_eq!(references.verdict, expected, "{run} protecting {protected:#?}: {references:?}");
            let may_go = !protected.contains(&run) && !needed.contains(&run);
            assert_eq!(verdict.is_orphan, may_go, "{run} protecting {protected:#?}: {:#?}", verdict.gates);
            answers.push(references.verdict);
        }
    }
    answers
}

/// A kept restore point that cannot be read to its end may name anything: whatever nothing else needs is then unknown, and stays.
#[tokio::test(flavor = "multi_thread")]
async fn beside_a_restore_point_that_is_cut_off_nothing_is_free() {
    let all = moment::all();
    let is_chosen = |moment: &&Moment| moment.name.ends_with("1.20.5/rocksdb-incr-claim-rescaled");
    let whole = all.iter().find(is_chosen).expect("a history of several jobs");
    let cut = whole.points.keys().find(|point| point.contains("/savepoints/")).expect("a savepoint").clone();
    let mut moment = whole.clone();
    let bytes = &mut moment.points.get_mut(&cut).expect("there").bytes;
    bytes.truncate(bytes.len() / 2);
    let runs = moment.runs();
    let needed = Truth::of(&moment)
        .kept(&moment.points.keys().filter(|it| it.contains("/savepoints/")).cloned().collect(), &runs);
    assert!(needed.is_empty(), "savepoints need nothing but themselves");
    let mut looker = Looker::new();
    let (before, after) = (looker.look(whole.clone()).await, looker.look(moment).await);
    let answers = |seen: &Seen| {
        let context = Context::new(&seen.inventory, &seen.config);
        let answer = |verdict: &RunVerdict| {
            (verdict.path.to_string(), verdict.of(RunGate::References).expect("a gate").verdict, verdict.is_orphan)
        };
        verdicts(&context).iter().map(answer).collect::<Vec<_>>()
    };
    let expected = |verdict, orphan| runs.iter().map(|run| (run.clone(), verdict, orphan)).collect::<Vec<_>>();
    assert_eq!(answers(&before), expected(Verdict::Proved, true));
    assert_eq!(answers(&after), expected(Verdict::Unknown, false));
}
