//! Single things read again right before a write: the record, its owner, its path, what is below it, and every live job.

use super::Sources;
use super::evidence;
use crate::config::Config;
use crate::domain::HdfsPath;
use crate::ports::clock::Clock;
use crate::views::flink::merge_readings;
use crate::views::{Gap, Inventory, Record};

/// Brings an inventory up to date around one record. What cannot be read is a gap in it, so that the gates stay open.
///
/// Returns the records that the server has directly below it now, whatever they are called: up to 3.0 a delete takes all of
/// them along, by parent id and not by name.
pub async fn around(
    sources: &Sources,
    config: &Config,
    clock: &dyn Clock,
    inventory: &mut Inventory,
    record: &Record,
) -> usize {
    let below = refresh_resources(sources, inventory, record).await;
    refresh_path(sources, config, inventory, record).await;
    refresh_flink(sources, inventory).await;
    evidence::ask_opinions_around(sources, config, inventory, record).await;
    inventory.hdfs.clock = sources.hdfs.clock();
    inventory.taken = clock.now();
    below
}

/// Re-reads workflows and functions: who uses a thing is asked last and often enough.
pub async fn workflows(sources: &Sources, inventory: &mut Inventory) {
    let (Some(source), Some(view)) = (&sources.resources, &mut inventory.resources) else { return };
    view.workflows.clear();
    view.functions.clear();
    view.gaps.retain(|gap| gap.view != crate::views::ViewName::Workflows);
    source.fetch_workflows(view).await;
}

async fn refresh_resources(sources: &Sources, inventory: &mut Inventory, record: &Record) -> usize {
    let (Some(source), Some(view)) = (&sources.resources, &mut inventory.resources) else { return 0 };
    match source.fetch_users().await {
        Ok(users) => view.users = users,
        Err(gap) => {
            view.users_complete = false;
            view.gaps.push(gap);
        }
    }
    let found = source.fetch_record(record).await;
    let below = if record.directory { source.fetch_below(record).await } else { Ok(Vec::new()) };
    match (found, below) {
        (Ok(found), Ok(below)) => {
            let count = below.len();
            view.records.retain(|other| other.id != record.id);
            let known: std::collections::BTreeSet<_> = view.records.iter().map(|other| other.id).collect();
            view.records.extend(found);
            view.records.extend(below.into_iter().filter(|child| !known.contains(&child.id)));
            view.records.sort_by_key(|other| other.id);
            count
        }
        (Err(gap), _) | (_, Err(gap)) => {
            not_read(view, gap);
            0
        }
    }
}

fn not_read(view: &mut crate::views::ResourceView, gap: Gap) {
    view.records_complete = false;
    view.gaps.push(gap);
}

/// Forgets what was known of the path and what covers it, lists the nearest directory that exists again, and asks anew.
async fn refresh_path(sources: &Sources, config: &Config, inventory: &mut Inventory, record: &Record) {
    let (Some(view), Some(ds)) = (&inventory.resources, &config.ds) else { return };
    let Ok(Some(path)) = view.path_of(record, &ds.base_path) else { return };
    let hdfs = &mut inventory.hdfs;
    for at in path.ancestors() {
        hdfs.answers.remove(at);
    }
    let nearest =
        path.ancestors().skip(1).find(|at| hdfs.listings.contains_key(*at)).and_then(|at| HdfsPath::parse(at).ok());
    if let Some(nearest) = nearest {
        let answer = sources.hdfs.list_directory(&nearest).await;
        hdfs.listings.remove(&nearest);
        super::list::take_answer(hdfs, &nearest, answer);
    }
    evidence::ask_about(sources, hdfs, &path).await;
}

async fn refresh_flink(sources: &Sources, inventory: &mut Inventory) {
    let now = super::read_clusters(sources).await;
    for after in now {
        if let Some(at) = inventory.flink.clusters.iter().position(|cluster| cluster.name == after.name) {
            let before = inventory.flink.clusters.swap_remove(at);
            inventory.flink.clusters.push(merge_readings(before, after));
        }
    }
    inventory.flink.clusters.sort_by(|a, b| a.name.cmp(&b.name));
}
