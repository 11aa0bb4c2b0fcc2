//! The report as a program reads it.

use statewarden::compare::{Comparison, Finding, FindingCode, Lang, Severity, Target};
use statewarden::report::explain::{Explanation, explain};
use statewarden::report::{Report, Verdict, json};

use super::sample;

fn report() -> Report {
    Report::new(&sample::inventory(), &sample::comparison(), Lang::En)
}

fn schema<T: schemars::JsonSchema>() -> serde_json::Value {
    schemars::schema_for!(T).to_value()
}

fn assert_valid(schema: &serde_json::Value, document: &str) {
    let document: serde_json::Value = serde_json::from_str(document).expect("JSON");
    let validator = jsonschema::validator_for(schema).expect("a schema");
    let errors: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn the_report_is_as_its_schema_says_and_comes_back_as_it_went() {
    let text = json::render(&report()).expect("JSON");
    assert_valid(&schema::<Report>(), &text);
    assert_eq!(serde_json::from_str::<Report>(&text).expect("a report"), report());
    insta::assert_snapshot!(text);
}

#[test]
fn an_explanation_is_as_its_schema_says() {
    let explanation = explain(&sample::inventory(), &sample::config(), &sample::comparison(), "record:2", Lang::En);
    let explanation = explanation.expect("an explanation");
    let text = json::render(&explanation).expect("JSON");
    assert_valid(&schema::<Explanation>(), &text);
    assert_eq!(serde_json::from_str::<Explanation>(&text).expect("an explanation"), explanation);
}

#[test]
fn a_report_of_every_code_is_valid_in_both_languages() {
    let findings = FindingCode::ALL
        .iter()
        .map(|code| Finding::new(*code, Severity::Warning, Target::path(&sample::path("/a")), "test"))
        .collect();
    let comparison = Comparison { findings, ..Comparison::default() };
    for lang in [Lang::En, Lang::Zh] {
        let report = Report::new(&sample::inventory(), &comparison, lang);
        assert_valid(&schema::<Report>(), &json::render(&report).expect("JSON"));
        assert!(report.findings.iter().all(|found| !found.title.is_empty() && !found.remedy_text.is_empty()));
    }
}

#[test]
fn the_verdict_is_the_worst_effect() {
    let of = |code, severity| Finding::new(code, severity, Target::default(), "test");
    let note = of(FindingCode::SizeMismatch, Severity::Info);
    let drift = of(FindingCode::SizeMismatch, Severity::Warning);
    let critical = of(FindingCode::LiveJobCheckpointMissing, Severity::Critical);
    // Only the inside of a run directory is unread: a warning, but still not everything was seen.
    let gap = of(FindingCode::ViewIncomplete, Severity::Warning);
    let cases: [(&[&Finding], Verdict, u8); 6] = [
        (&[], Verdict::Clean, 0),
        (&[&note], Verdict::Clean, 0),
        (&[&note, &drift], Verdict::Drift, 2),
        (&[&critical], Verdict::Drift, 2),
        (&[&gap], Verdict::Incomplete, 3),
        (&[&critical, &gap, &note], Verdict::Incomplete, 3),
    ];
    for (findings, verdict, number) in cases {
        let findings: Vec<Finding> = findings.iter().copied().cloned().collect();
        assert_eq!(Verdict::of(&findings), verdict, "{findings:?}");
        assert_eq!(verdict.number(), number);
    }
}

#[test]
fn another_exit_code_for_drift_changes_nothing_else() {
    let mut comparison = sample::comparison();
    let incomplete = Report::new(&sample::inventory(), &comparison, Lang::En).with_drift_exit_code(0);
    assert_eq!((incomplete.exit.word, incomplete.exit.code), (Verdict::Incomplete, 3));
    comparison.findings.retain(|finding| finding.code != FindingCode::ViewIncomplete);
    let drift = Report::new(&sample::inventory(), &comparison, Lang::En).with_drift_exit_code(0);
    assert_eq!((drift.exit.word, drift.exit.code), (Verdict::Drift, 0));
}
