//! Errors as a person reads them. The one place that prints a chain of errors: their `Display` never repeats the source.

use std::fmt::Write as _;
use std::io::Write as _;

use clap::error::ErrorKind;

use super::exit::ExitCode;

/// Prints a chain, outermost first, and ends with failure.
pub(super) fn report(error: &anyhow::Error) -> ExitCode {
    let mut text = format!("error: {error}\n");
    for source in error.chain().skip(1) {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  because: {source}");
    }
    // Where stderr is closed there is nobody to tell.
    drop(std::io::stderr().write_all(text.as_bytes()));
    ExitCode::Failure
}

/// Help and version end well; a usage error ends 1, since clap's own 2 means drift here.
pub(super) fn usage(error: &clap::Error) -> ExitCode {
    drop(error.print());
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => ExitCode::InSync,
        _ => ExitCode::Failure,
    }
}
