//! Where results go: stdout or files.

use std::io::{IsTerminal as _, Write as _};

use anyhow::Context as _;

use super::args::{ColorChoice, OutputFormat, OutputTarget};
use super::files::write_whole;
use crate::report::Style;

/// Columns if stdout is no terminal.
const WIDTH_ELSEWHERE: usize = 100;

/// Results in both forms; each is made only if somebody wants it.
pub(super) struct Results<'a> {
    /// For a person.
    pub(super) terminal: &'a dyn Fn(Style) -> String,
    /// For a program.
    pub(super) json: &'a dyn Fn() -> anyhow::Result<String>,
}

/// Writes the results to every target; without any to stdout, for a person.
pub(super) fn write(targets: &[OutputTarget], color: ColorChoice, results: &Results<'_>) -> anyhow::Result<()> {
    let default = [OutputTarget { format: OutputFormat::Terminal, file: None }];
    let targets = if targets.is_empty() { &default } else { targets };
    if targets.iter().filter(|target| target.file.is_none()).count() > 1 {
        anyhow::bail!(
            "only one `--output` can go to stdout; give the others a file, as in `--output json=report.json`"
        );
    }
    for target in targets {
        let text = match target.format {
            OutputFormat::Terminal => (results.terminal)(style(color, target.file.is_none())),
            OutputFormat::Json => (results.json)()?,
        };
        match &target.file {
            Some(file) => write_whole(file, false, |out| Ok(out.write_all(text.as_bytes())?))?,
            None => to_stdout(&text)?,
        }
    }
    Ok(())
}

/// Colours and width for stdout or a file.
pub(super) fn style(color: ColorChoice, to_stdout: bool) -> Style {
    let automatic = || to_stdout && anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never;
    let color = match color {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => automatic(),
    };
    Style { color, width: if to_stdout { width() } else { WIDTH_ELSEWHERE } }
}

fn width() -> usize {
    if !std::io::stdout().is_terminal() {
        return WIDTH_ELSEWHERE;
    }
    terminal_size::terminal_size().map_or(WIDTH_ELSEWHERE, |(width, _)| usize::from(width.0).max(60))
}

/// Writes to stdout. A reader that has gone away (`| head`) has all it wanted, so a broken pipe is no error.
pub(super) fn to_stdout(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to stdout"),
    }
}

/// Writes to stderr; where that is closed there is nobody to tell.
pub(super) fn to_stderr(text: &str) {
    drop(std::io::stderr().write_all(text.as_bytes()));
}
