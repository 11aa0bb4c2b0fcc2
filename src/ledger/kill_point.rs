//! Where a test stops the process: on either side of a transaction that writes. Only builds with debug assertions have it.
//!
//! `STATEWARDEN_TEST_KILL_AT=before:7:FILE` stops before the seventh commit, `after:7:FILE` right after it: FILE is made and
//! holds what is being written; the process goes on once FILE is gone, or it is killed.

use std::sync::atomic::{AtomicU32, Ordering};

/// Commits of this process, the one at hand included.
static COMMITS: AtomicU32 = AtomicU32::new(0);

/// The process is about to commit.
pub async fn before(what: &str) {
    let number = COMMITS.fetch_add(1, Ordering::Relaxed) + 1;
    stop("before", number, what).await;
}

/// The process has committed.
pub async fn after(what: &str) {
    stop("after", COMMITS.load(Ordering::Relaxed), what).await;
}

async fn stop(side: &str, number: u32, what: &str) {
    let Ok(wanted) = std::env::var("STATEWARDEN_TEST_KILL_AT") else { return };
    let Some(mark) = wanted.strip_prefix(&format!("{side}:{number}:")) else { return };
    if std::fs::write(mark, what).is_ok() {
        while std::path::Path::new(mark).exists() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }
}
