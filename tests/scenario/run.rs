//! Runs the real program against the world of one case, and says what was wrong.

use std::time::Duration;

use serde_json::Value;
use statewarden::compare::FindingCode;
use statewarden::demo::world::{Case, ExpectedFinding};

use super::matching::{Reported, compare_advice, compare_findings, exit_code, exit_code_of_scan};
use super::program::{Bench, Ran, unwanted_writes};
use super::{applying, planning};

/// Longest time one case may take, the start of the servers included.
const LIMIT: Duration = Duration::from_mins(2);

/// How much of a case is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All that the case expects.
    Whole,
    /// Only the findings of codes this build has, in a report: for cases of later phases.
    KnownFindings,
}

/// What is wrong with the program's answer to a case; empty: it passed.
pub async fn run(case: &Case, extent: Extent) -> Vec<String> {
    let judged = async {
        match (extent, case.phase.as_str()) {
            (Extent::Whole, "plan") => planning::judge(case).await,
            (Extent::Whole, "apply") => applying::judge(case).await,
            _ => judge_scan(case, extent).await,
        }
    };
    match tokio::time::timeout(LIMIT, judged).await {
        Ok(judged) => judged.unwrap_or_else(|what| vec![what]),
        Err(_) => vec![format!("took more than {} s", LIMIT.as_secs())],
    }
}

const SCAN: &[&str] = &[
    "drift",
    "--no-ledger",
    "--output",
    "terminal",
    "--output",
    "json=report.json",
    "--save",
    "inventory.json",
    "--all",
    "--color",
    "never",
];

async fn judge_scan(case: &Case, extent: Extent) -> Result<Vec<String>, String> {
    let mut bench = Bench::start(&case.world)?;
    let ran = bench.run(SCAN).await?;
    let mut wrong = Vec::new();
    let (known, may) = (expected_findings(case, extent), &case.expect.may_find);
    match bench.json("report.json", &ran).and_then(|report: Value| Reported::all_of(&report)) {
        Ok(reported) => {
            wrong.extend(compare_findings(&known, may, &reported));
            if extent == Extent::Whole {
                wrong.extend(compare_advice(&case.expect.must_plan, &reported));
            }
        }
        Err(what) => wrong.push(what),
    }
    wrong.extend(bench.leaks(case));
    wrong.extend(unwanted_writes(&bench.requests()));
    if extent == Extent::Whole {
        wrong.extend(compare_exit(case, &ran, exit_code_of_scan));
    }
    Ok(wrong)
}

fn expected_findings(case: &Case, extent: Extent) -> Vec<ExpectedFinding> {
    let is_known = |finding: &&ExpectedFinding| extent == Extent::Whole || finding.kind.parse::<FindingCode>().is_ok();
    case.expect.findings.iter().filter(is_known).cloned().collect()
}

fn compare_exit(case: &Case, ran: &Ran, number_of: fn(&str) -> Option<i32>) -> Option<String> {
    let word = &case.expect.exit_code;
    let Some(expected) = number_of(word) else { return Some(format!("`{word}` is no exit code")) };
    (ran.code != Some(expected)).then(|| format!("exit code {:?} instead of {expected} ({word})", ran.code))
}

/// The exit code of a command that may refuse.
pub fn compare_exit_of_act(case: &Case, ran: &Ran) -> Option<String> {
    compare_exit(case, ran, exit_code)
}
