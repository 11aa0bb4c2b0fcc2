//! Which of the NameNodes to ask first.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use url::Url;

use super::address;

/// Passes over all NameNodes before a question is given up while none is active.
pub(super) const ROUNDS: usize = 2;

/// Pause between two passes: `dfs.client.failover.sleep.base.millis` of the Java client.
pub(super) const PAUSE: Duration = Duration::from_millis(500);

/// One server.
pub(super) struct Node {
    /// URL up to `/webhdfs/v1`.
    pub(super) base: Url,
    /// Host and port, for messages.
    pub(super) name: String,
}

/// The NameNodes of one HA pair, or one HttpFS or Knox.
pub(super) struct Nodes {
    list: Vec<Node>,
    good: AtomicUsize,
    impatient: AtomicBool,
}

impl Nodes {
    /// The servers of the configuration.
    pub(super) fn new(urls: &[Url]) -> Self {
        let node = |configured| {
            let base = address::base(configured);
            Node { name: address::name(&base), base }
        };
        Self { list: urls.iter().map(node).collect(), good: AtomicUsize::new(0), impatient: AtomicBool::new(false) }
    }

    /// All servers with their numbers, the one that answered as active last first.
    pub(super) fn in_order(&self) -> impl Iterator<Item = (usize, &Node)> {
        let first = self.good.load(Ordering::Relaxed);
        let count = self.list.len();
        (0..count).map(move |step| (first + step) % count).map(|at| (at, &self.list[at]))
    }

    /// Host and port of one server.
    pub(super) fn name(&self, at: usize) -> &str {
        &self.list[at].name
    }

    /// Notes that this one answered as active.
    pub(super) fn remember(&self, at: usize) {
        self.good.store(at, Ordering::Relaxed);
        self.impatient.store(false, Ordering::Relaxed);
    }

    /// Notes that waiting did not help: until one is active again, a question asks each server once. A run with thousands
    /// of questions would otherwise wait thousands of times.
    pub(super) fn give_up(&self) {
        self.impatient.store(true, Ordering::Relaxed);
    }

    /// How many passes the next question is worth.
    pub(super) fn rounds(&self) -> usize {
        if self.impatient.load(Ordering::Relaxed) { 1 } else { ROUNDS }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes() -> Nodes {
        Nodes::new(&["http://nn1:9870", "http://nn2:9870"].map(|text| Url::parse(text).expect("test URL")))
    }

    #[test]
    fn the_good_one_is_asked_first() {
        let nodes = nodes();
        let names = |nodes: &Nodes| nodes.in_order().map(|(_, node)| node.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&nodes), ["nn1:9870", "nn2:9870"]);
        nodes.remember(1);
        assert_eq!(names(&nodes), ["nn2:9870", "nn1:9870"]);
        assert_eq!(Nodes::new(&[]).in_order().count(), 0);
    }

    #[test]
    fn patience_is_spent_once() {
        let nodes = nodes();
        nodes.give_up();
        assert_eq!(nodes.rounds(), 1);
        nodes.remember(0);
        assert_eq!(nodes.rounds(), ROUNDS);
    }
}
