//! Progress for a person: a line on stderr, only where stderr is a terminal.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::collect::Progress;

/// A spinner, or nothing.
pub(super) struct Spinner {
    bar: ProgressBar,
}

impl Spinner {
    /// Visible only if stderr is a terminal.
    pub(super) fn new() -> Self {
        let bar = if std::io::stderr().is_terminal() { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        // The template is a constant; with the default one the line would only look different.
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {prefix}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(120));
        Self { bar }
    }
}

impl Spinner {
    /// Whether nobody sees it.
    pub(super) fn is_hidden(&self) -> bool {
        self.bar.is_hidden()
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Progress for Spinner {
    fn stage(&self, text: &str) {
        self.bar.set_prefix("");
        self.bar.set_message(text.to_owned());
    }

    fn count(&self, entries: u64) {
        self.bar.set_prefix(format!("({entries} entries)"));
    }
}
