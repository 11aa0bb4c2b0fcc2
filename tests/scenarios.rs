//! Runs every case file of `tests/scenarios`, and of the folders in `SCENARIO_DIR` (colon separated), through the real program
//! against embedded servers.
//!
//! One line a case: `ok NAME`, `FAILED NAME: why` or `later NAME: why` (the case needs something this build does not have). Words on
//! the command line choose cases by a part of their name. Cases of the phases `plan` and `runs` that are for later are run as
//! scans all the same, and must give those of their findings that this build knows; their line says `findings ok`.

#![expect(clippy::print_stdout, reason = "the lines are what this program is for")]

#[path = "scenario/acts.rs"]
mod acts;
#[path = "scenario/applying.rs"]
mod applying;
#[path = "scenario/ledger_file.rs"]
mod ledger_file;
#[path = "scenario/matching.rs"]
mod matching;
#[path = "scenario/need.rs"]
mod need;
#[path = "scenario/planning.rs"]
mod planning;
#[path = "scenario/program.rs"]
mod program;
#[path = "scenario/run.rs"]
mod run;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use futures::StreamExt as _;
use jiff::Timestamp;
use statewarden::demo::world::Case;

use run::Extent;

/// Cases at a time: each starts servers and a program of its own, most of which wait for one another.
const AT_A_TIME: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Verdict {
    Passed,
    Failed(String),
    Later(String),
}

#[derive(Default)]
struct Counts {
    passed: usize,
    failed: usize,
    skipped: usize,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    if std::env::args().any(|word| word == "--list") {
        return ExitCode::SUCCESS;
    }
    // Another library may have chosen one; either serves.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let counts = runtime.block_on(run_all(&words));
    println!("{} passed, {} failed, {} skipped", counts.passed, counts.failed, counts.skipped);
    if counts.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn run_all(words: &[String]) -> Counts {
    let mut counts = Counts::default();
    let mut files = Vec::new();
    for folder in folders() {
        match case_files(&folder) {
            Ok(found) => files.extend(found),
            Err(why) => counts.add(&folder.display().to_string(), &Verdict::Failed(why)),
        }
    }
    files.retain(|file| words.is_empty() || words.iter().any(|word| name_of(file).contains(word)));
    let mut verdicts = futures::stream::iter(files)
        .map(|file| async move { (name_of(&file), run_file(&file).await) })
        .buffered(AT_A_TIME);
    while let Some((name, verdict)) = verdicts.next().await {
        counts.add(&name, &verdict);
    }
    counts
}

fn folders() -> Vec<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let more = std::env::var_os("SCENARIO_DIR").unwrap_or_default();
    let more = std::env::split_paths(&more).filter(|path| !path.as_os_str().is_empty()).collect::<Vec<_>>();
    std::iter::once(own).chain(more).collect()
}

fn case_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let unreadable = |error: std::io::Error| format!("the folder cannot be read: {error}");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn name_of(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

async fn run_file(file: &Path) -> Verdict {
    let loaded = std::fs::read_to_string(file).map_err(|error| error.to_string());
    let case = match loaded.and_then(|text| Case::load(&text, Timestamp::now()).map_err(|error| error.to_string())) {
        Ok(case) => case,
        Err(why) => return Verdict::Failed(why),
    };
    let Some(missing) = need::missing(&case) else {
        let wrong = run::run(&case, Extent::Whole).await;
        return if wrong.is_empty() { Verdict::Passed } else { Verdict::Failed(wrong.join("; ")) };
    };
    if need::missing_as_scan(&case).is_some() {
        return Verdict::Later(missing);
    }
    let wrong = run::run(&case, Extent::KnownFindings).await;
    if wrong.is_empty() {
        Verdict::Later(format!("findings ok, {missing}"))
    } else {
        Verdict::Failed(format!("as a scan: {}", wrong.join("; ")))
    }
}

impl Counts {
    /// Prints the line of a case and counts it.
    fn add(&mut self, name: &str, verdict: &Verdict) {
        match verdict {
            Verdict::Passed => {
                self.passed += 1;
                println!("ok {name}");
            }
            Verdict::Failed(why) => {
                self.failed += 1;
                println!("FAILED {name}: {}", one_line(why));
            }
            Verdict::Later(why) => {
                self.skipped += 1;
                println!("later {name}: {}", one_line(why));
            }
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
