//! Compares what the program reported with what a case expects. Pure, so that a wrong expectation can be shown to fail.

use serde_json::Value;
use statewarden::compare::Severity;
use statewarden::demo::world::{ExpectedAction, ExpectedFinding};

/// A finding as the program's JSON report has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Reported {
    json: Value,
}

impl Reported {
    /// The findings of a JSON report.
    pub fn all_of(report: &Value) -> Result<Vec<Self>, String> {
        let findings = report["findings"].as_array().ok_or("the JSON report has no list `findings`")?;
        findings.iter().map(Self::of).collect()
    }

    fn of(json: &Value) -> Result<Self, String> {
        let is_text = |key: &str| json[key].as_str().is_some_and(|text| !text.is_empty());
        if ["code", "severity", "remedy_text"].into_iter().all(is_text) {
            Ok(Self { json: json.clone() })
        } else {
            Err(format!("a reported finding lacks code, severity or remedy: {json}"))
        }
    }

    /// A text of the finding; empty if it has none of that key.
    pub fn text(&self, key: &str) -> &str {
        self.json[key].as_str().unwrap_or_default()
    }

    fn is_info(&self) -> bool {
        self.text("severity") == Severity::Info.to_string()
    }

    /// One line: code, severity and what it is on.
    fn shown(&self) -> String {
        let keys = TARGET_KEYS.iter().filter(|key| !self.json[**key].is_null());
        let target = keys.map(|key| format!("{key}={}", self.json[key])).collect::<Vec<_>>();
        format!("{} {} {}", self.text("severity"), self.text("code"), target.join(" "))
    }
}

const TARGET_KEYS: [&str; 8] = ["path", "record", "workflow", "reference", "view", "cluster", "job", "authority"];

/// The keys an entry says its target by, with their values; `path` is compared apart.
fn keys_of_finding(expected: &ExpectedFinding) -> Vec<(&'static str, Value)> {
    let texts = [
        ("view", &expected.view),
        ("cluster", &expected.cluster),
        ("job", &expected.job),
        ("authority", &expected.authority),
    ];
    let texts = texts.into_iter().filter_map(|(key, text)| Some((key, Value::from(text.clone()?))));
    let numbers = [("record", expected.record), ("workflow", expected.workflow)];
    let numbers = numbers.into_iter().filter_map(|(key, number)| Some((key, Value::from(number?))));
    let reference = expected.reference.clone().map(|value| ("reference", value));
    texts.chain(numbers).chain(reference).collect()
}

/// Whether a reported finding is what an entry expects: all given keys are equal, what is not given matches anything.
fn matches(expected: &ExpectedFinding, reported: &Reported) -> bool {
    let on_path = expected.path.as_deref().is_none_or(|path| {
        let got = reported.text("path");
        got == path || (expected.covers_many() && is_below(got, path))
    });
    reported.text("code") == expected.kind
        && reported.text("severity") == expected.severity
        && on_path
        && keys_of_finding(expected).iter().all(|(key, value)| reported.json[key] == *value)
}

/// Whether `path` lies strictly below `ancestor`.
pub fn is_below(path: &str, ancestor: &str) -> bool {
    let ancestor = ancestor.trim_end_matches('/');
    path.strip_prefix(ancestor).is_some_and(|rest| rest.starts_with('/'))
}

/// What is wrong with the findings: expected ones that are missing, and unexpected ones of severity warning and above.
pub fn compare_findings(expected: &[ExpectedFinding], may: &[ExpectedFinding], reported: &[Reported]) -> Vec<String> {
    let taken = assign(expected, reported);
    let missing = expected.iter().enumerate().filter(|(at, _)| !taken.contains(&Some(*at)));
    let mut wrong: Vec<String> = missing.map(|(_, entry)| format!("not reported: {}", shown(entry))).collect();
    for (finding, owner) in reported.iter().zip(&taken) {
        // An entry of `may_find`, and one that covers many, stands for any number of findings.
        let more = expected.iter().filter(|entry| entry.covers_many()).chain(may);
        let is_allowed = owner.is_some() || finding.is_info() || more.into_iter().any(|entry| matches(entry, finding));
        if !is_allowed {
            wrong.push(format!("unexpected: {}", finding.shown()));
        }
    }
    wrong
}

/// Whether an entry of either list matches a finding.
#[allow(dead_code, reason = "the runner uses it, the unit tests of this module do not")]
pub fn is_expected(expected: &[ExpectedFinding], may: &[ExpectedFinding], reported: &Reported) -> bool {
    expected.iter().chain(may).any(|entry| matches(entry, reported))
}

/// Which entry each finding stands for: a matching as large as possible, so that a loose entry never takes the only finding
/// of a strict one. Augmenting paths; the lists are short.
fn assign(expected: &[ExpectedFinding], reported: &[Reported]) -> Vec<Option<usize>> {
    let mut taken = vec![None; reported.len()];
    for entry in 0..expected.len() {
        let mut tried = vec![false; reported.len()];
        place(entry, expected, reported, &mut taken, &mut tried);
    }
    taken
}

fn place(
    entry: usize,
    expected: &[ExpectedFinding],
    reported: &[Reported],
    taken: &mut [Option<usize>],
    tried: &mut [bool],
) -> bool {
    for at in 0..reported.len() {
        if tried[at] || !matches(&expected[entry], &reported[at]) {
            continue;
        }
        tried[at] = true;
        let is_free = match taken[at] {
            None => true,
            Some(owner) => place(owner, expected, reported, taken, tried),
        };
        if is_free {
            taken[at] = Some(entry);
            return true;
        }
    }
    false
}

fn shown(expected: &ExpectedFinding) -> String {
    let path = expected.path.as_ref().map(|path| ("path", Value::from(path.as_str())));
    let keys = path.into_iter().chain(keys_of_finding(expected));
    let target = keys.map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>();
    format!("{} {} {}", expected.severity, expected.kind, target.join(" "))
}

/// In a scan the only thing to plan is advice: a finding on that very target, which always carries a remedy.
pub fn compare_advice(must_plan: &[ExpectedAction], reported: &[Reported]) -> Vec<String> {
    let missing = must_plan.iter().filter(|action| !reported.iter().any(|finding| is_advised(action, finding)));
    missing.map(|action| format!("no remedy on {}", shown_target(action))).collect()
}

/// Whether a finding with a remedy is on the very target of an action.
pub fn is_advised(action: &ExpectedAction, finding: &Reported) -> bool {
    action.action == "advise" && keys_of_action(action).iter().all(|(key, value)| finding.json[key] == *value)
}

/// The keys an action says its target by, with their values.
pub fn keys_of_action(action: &ExpectedAction) -> Vec<(&'static str, Value)> {
    let texts = [("path", &action.path), ("cluster", &action.cluster), ("job", &action.job)];
    let texts = texts.into_iter().filter_map(|(key, text)| Some((key, Value::from(text.clone()?))));
    let numbers = [("record", action.record), ("workflow", action.workflow)];
    let numbers = numbers.into_iter().filter_map(|(key, number)| Some((key, Value::from(number?))));
    texts.chain(numbers).chain(action.reference.clone().map(|value| ("reference", value))).collect()
}

/// An action and its target for a message.
pub fn shown_target(action: &ExpectedAction) -> String {
    let keys = keys_of_action(action);
    let shown: Vec<String> = keys.iter().map(|(key, value)| format!("{key}={value}")).collect();
    format!("{} {}", action.action, shown.join(" "))
}

/// The exit code a word stands for.
pub fn exit_code(word: &str) -> Option<i32> {
    Some(match word {
        "clean" => 0,
        "failure" => 1,
        "drift" => 2,
        "incomplete" => 3,
        "refused" => 4,
        "not_proven" => 5,
        _ => return None,
    })
}

/// The same in a scan, where nothing can be refused: what would be is incomplete there.
pub fn exit_code_of_scan(word: &str) -> Option<i32> {
    exit_code(if word == "refused" { "incomplete" } else { word })
}

/// Which of the forbidden strings occur in the outputs, by the name of the output. Each is looked for as it is and as JSON writes it.
pub fn leaks(forbidden: &[String], outputs: &[(&str, &str)]) -> Vec<String> {
    let mut found = Vec::new();
    for secret in forbidden {
        let quoted = Value::from(secret.as_str()).to_string();
        let escaped = quoted.trim_matches('"');
        let holds = |text: &str| text.contains(secret.as_str()) || text.contains(escaped);
        found.extend(
            outputs.iter().filter(|(_, text)| holds(text)).map(|(name, _)| format!("`{secret}` is printed in {name}")),
        );
    }
    found
}
