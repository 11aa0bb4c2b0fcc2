//! Ctrl-C and a polite kill.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::output;

/// A flag that Ctrl-C or SIGTERM sets. From now on neither ends the process: what is under way is finished first.
pub(super) fn flag(said: &'static str) -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&stop);
    tokio::spawn(async move {
        if told_to_stop().await.is_ok() {
            set.store(true, Ordering::SeqCst);
            output::to_stderr(said);
        }
    });
    stop
}

/// Waits for Ctrl-C or SIGTERM.
#[cfg(unix)]
pub(super) async fn told_to_stop() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted,
        _ = terminate.recv() => Ok(()),
    }
}

/// Waits for Ctrl-C.
#[cfg(not(unix))]
pub(super) async fn told_to_stop() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}
