//! The matcher of the scenario tests: a wrong expectation fails.

#[path = "../scenario/acts.rs"]
mod acts;
#[path = "../scenario/matching.rs"]
mod matching;

use acts::{compare_confirmed, compare_plan, is_forbidden, number_of, outcome_of};
use matching::{Reported, compare_advice, compare_findings, exit_code, exit_code_of_scan, is_expected, leaks};
use serde_json::{Value, json};
use statewarden::demo::world::{ExpectedAction, ExpectedFinding, PlanAction};

fn reported(findings: Value) -> Vec<Reported> {
    let mut findings = findings;
    for finding in findings.as_array_mut().expect("a list") {
        finding["remedy_text"] = json!("do something");
    }
    Reported::all_of(&json!({"findings": findings})).expect("findings")
}

fn expected(entries: Value) -> Vec<ExpectedFinding> {
    serde_json::from_value(entries).expect("entries")
}

fn stale(record: i64, path: &str) -> Value {
    json!({"code": "stale-resource-record", "severity": "warning", "record": record, "path": path})
}

#[test]
fn what_is_given_must_be_equal_and_the_rest_matches_anything() {
    let got = reported(json!([stale(2, "/b/gone.sql")]));
    let holds = |entry: Value| compare_findings(&expected(json!([entry])), &[], &got).is_empty();
    assert!(holds(json!({"kind": "stale-resource-record", "severity": "warning"})));
    assert!(holds(json!({"kind": "stale-resource-record", "severity": "warning", "record": 2, "path": "/b/gone.sql"})));
    assert!(holds(json!({"kind": "stale-resource-record", "severity": "warning", "candidate": 7, "other": "/x"})));
    assert!(!holds(json!({"kind": "stale-resource-record", "severity": "error"})));
    assert!(!holds(json!({"kind": "moved-resource-record", "severity": "warning"})));
    assert!(!holds(json!({"kind": "stale-resource-record", "severity": "warning", "record": 3})));
    assert!(!holds(json!({"kind": "stale-resource-record", "severity": "warning", "path": "/b"})));
    assert!(!holds(json!({"kind": "stale-resource-record", "severity": "warning", "view": "hdfs"})));
}

#[test]
fn a_missing_and_an_unexpected_finding_are_both_named() {
    let got = reported(json!([stale(2, "/b/gone.sql")]));
    let wrong =
        compare_findings(&expected(json!([{"kind": "mass-absence", "severity": "critical", "path": "/b"}])), &[], &got);
    assert_eq!(
        wrong,
        [
            r#"not reported: critical mass-absence path="/b""#,
            r#"unexpected: warning stale-resource-record path="/b/gone.sql" record=2"#
        ]
    );
}

#[test]
fn one_entry_stands_for_one_finding_unless_it_covers_many() {
    let got = reported(json!([stale(2, "/b/x"), stale(3, "/b/y"), stale(4, "/bc")]));
    let one = json!({"kind": "stale-resource-record", "severity": "warning"});
    assert_eq!(compare_findings(&expected(json!([one])), &[], &got).len(), 2);
    assert_eq!(compare_findings(&expected(json!([one, one, one])), &[], &got), Vec::<String>::new());
    assert_eq!(compare_findings(&expected(json!([one, one, one, one])), &[], &got).len(), 1);
    let many = json!({"kind": "stale-resource-record", "severity": "warning", "path": "/b", "covers": "many"});
    // `/bc` is not below `/b`.
    assert_eq!(compare_findings(&expected(json!([many])), &[], &got).len(), 1);
    assert_eq!(compare_findings(&expected(json!([many])), &[], &reported(json!([]))).len(), 1);
    assert_eq!(compare_findings(&expected(json!([many])), &expected(json!([one])), &got), Vec::<String>::new());
}

#[test]
fn a_loose_entry_does_not_take_the_finding_of_a_strict_one() {
    let got = reported(json!([stale(2, "/b/x"), stale(3, "/b/y")]));
    let (loose, strict) = (
        json!({"kind": "stale-resource-record", "severity": "warning"}),
        json!({"kind": "stale-resource-record", "severity": "warning", "record": 2}),
    );
    assert_eq!(compare_findings(&expected(json!([loose, strict])), &[], &got), Vec::<String>::new());
    assert_eq!(compare_findings(&expected(json!([strict, strict])), &[], &got).len(), 2);
}

#[test]
fn extra_notes_are_allowed_extra_warnings_only_if_the_case_says_so() {
    let note = json!({"code": "foreign-entry-in-root", "severity": "info", "path": "/r/x"});
    assert!(compare_findings(&[], &[], &reported(json!([note]))).is_empty());
    let got = reported(json!([stale(2, "/b/x"), stale(3, "/b/y")]));
    assert_eq!(compare_findings(&[], &[], &got).len(), 2);
    let may =
        expected(json!([{"kind": "stale-resource-record", "severity": "warning", "path": "/b", "covers": "many"}]));
    assert!(compare_findings(&[], &may, &got).is_empty());
    // A note that a case asks for has to be there.
    let wanted = expected(json!([{"kind": "foreign-entry-in-root", "severity": "info", "path": "/r/y"}]));
    assert_eq!(compare_findings(&wanted, &[], &reported(json!([note]))).len(), 1);
}

#[test]
fn references_keep_their_type() {
    let got =
        reported(json!([{"code": "dangling-workflow-reference", "severity": "error", "workflow": 9, "reference": 7}]));
    let with = |reference: Value| {
        expected(
            json!([{"kind": "dangling-workflow-reference", "severity": "error", "workflow": 9, "reference": reference}]),
        )
    };
    assert!(compare_findings(&with(json!(7)), &[], &got).is_empty());
    assert!(!compare_findings(&with(json!("7")), &[], &got).is_empty());
}

#[test]
fn advice_needs_a_finding_on_the_very_target() {
    let got = reported(json!([stale(2, "/b/x")]));
    let advise = |target: Value| -> Vec<ExpectedAction> {
        let mut action = target;
        action["action"] = json!("advise");
        serde_json::from_value(json!([action])).expect("an action")
    };
    assert!(compare_advice(&advise(json!({"path": "/b/x", "what": "anything"})), &got).is_empty());
    assert!(compare_advice(&advise(json!({"record": 2})), &got).is_empty());
    assert_eq!(compare_advice(&advise(json!({"path": "/b"})), &got).len(), 1);
    let delete: Vec<ExpectedAction> =
        serde_json::from_value(json!([{"action": "ds_api_delete", "record": 2}])).expect("an action");
    assert_eq!(compare_advice(&delete, &got).len(), 1);
}

#[test]
fn a_finding_without_a_remedy_is_no_finding() {
    assert!(Reported::all_of(&json!({"findings": [stale(2, "/b/x")]})).is_err());
    assert!(Reported::all_of(&json!({})).is_err());
}

#[test]
fn leaks_are_found_in_every_output_also_in_their_json_form() {
    let secrets = ["pass\"word".to_owned(), "canary".to_owned()];
    let outputs = [("stdout", "nothing"), ("the JSON report", r#"{"a": "pass\"word"}"#), ("stderr", "a canary sings")];
    assert_eq!(
        leaks(&secrets, &outputs),
        ["`pass\"word` is printed in the JSON report", "`canary` is printed in stderr"]
    );
}

#[test]
fn words_of_exit_codes() {
    assert_eq!(
        ["clean", "failure", "drift", "incomplete", "refused"].map(exit_code_of_scan),
        [0, 1, 2, 3, 3].map(Some)
    );
    assert_eq!(exit_code_of_scan("fine"), None);
}

#[test]
fn an_entry_of_either_list_expects_a_finding() {
    let got = reported(json!([stale(2, "/b/gone.sql")]));
    let entry = expected(json!([{"kind": "stale-resource-record", "severity": "warning"}]));
    assert!(is_expected(&entry, &[], &got[0]) && is_expected(&[], &entry, &got[0]));
    assert!(!is_expected(&[], &[], &got[0]));
}

fn actions(entries: Value) -> Vec<ExpectedAction> {
    serde_json::from_value(entries).expect("entries")
}

/// Records 2 below 1, and advice to move a root.
fn plan() -> Value {
    json!({
        "actions": [
            {"id": 1, "action": "ds_api_delete", "record": 2, "path": "/b/d/x", "full_name": "/d/x", "owner": "u1"},
            {"id": 2, "action": "ds_api_delete", "record": 1, "path": "/b/d", "full_name": "/d", "owner": "u1"},
        ],
        "advice": [{"action": "migrate_checkpoint_root", "path": "/b/root", "to": "/flink"}],
    })
}

fn wrong_with_plan(must: Value, must_not: Value) -> Vec<String> {
    compare_plan(&actions(must), &actions(must_not), &plan(), &[]).expect("a plan")
}

#[test]
fn a_plan_holds_what_it_must_in_order_and_nothing_else_that_destroys() {
    let both = json!([
        {"action": "ds_api_delete", "record": 2, "order": 1},
        {"action": "ds_api_delete", "record": 1, "order": 2},
        {"action": "migrate_checkpoint_root", "path": "/b/root", "to": "/flink"},
    ]);
    assert_eq!(wrong_with_plan(both.clone(), json!([])), Vec::<String>::new());
    let swapped = json!([
        {"action": "ds_api_delete", "record": 1, "order": 1}, {"action": "ds_api_delete", "record": 2, "order": 2},
    ]);
    assert_eq!(wrong_with_plan(swapped, json!([])).len(), 1);
    let one = json!([{"action": "ds_api_delete", "record": 2}]);
    assert!(wrong_with_plan(one, json!([]))[0].starts_with("planned: ds_api_delete record=1"));
    let elsewhere = json!([{"action": "migrate_checkpoint_root", "path": "/b/root", "to": "/elsewhere"}]);
    assert!(wrong_with_plan(elsewhere, json!([]))[0].starts_with("not planned: migrate_checkpoint_root"));
    for forbidden in [
        json!([{"action": "any_destructive", "path": "*"}]),
        json!([{"action": "ds_api_delete", "record": 1}]),
        json!([{"action": "ds_api_delete", "path": "/b/d/x/below"}]),
        json!([{"action": "ds_api_delete", "path": "/b/d"}]),
    ] {
        assert!(!wrong_with_plan(both.clone(), forbidden.clone()).is_empty(), "{forbidden}");
    }
    for harmless in [
        json!([{"action": "hdfs_any", "path": "*"}]),
        json!([{"action": "ds_api_delete", "record": 3}]),
        json!([{"action": "ds_api_delete", "path": "/b/dd"}]),
        json!([{"action": "ds_api_delete", "path": "/b/d/x/below", "exact": true}]),
    ] {
        assert_eq!(wrong_with_plan(both.clone(), harmless), Vec::<String>::new());
    }
}

#[test]
fn a_confirmed_plan_is_compared_with_its_identities() {
    let confirmed = |name: &str| -> Vec<PlanAction> {
        let actions = json!([
            {"id": 7, "action": "ds_api_delete", "record": 1, "identity": {"full_name": name, "owner": "u1"}},
            {"id": 8, "action": "ds_api_delete", "record": 2, "identity": {"path": "/b/d/x"}},
        ]);
        serde_json::from_value(actions).expect("actions")
    };
    let wrong = |confirmed: &[PlanAction]| compare_confirmed(confirmed, &plan()).expect("a plan");
    assert_eq!(wrong(&confirmed("/d")), Vec::<String>::new());
    assert_eq!(wrong(&confirmed("/other")).len(), 1, "another name");
    assert_eq!(wrong(&confirmed("/d")[..1]).len(), 1, "one more than confirmed");
    assert_eq!(number_of(&confirmed("/d")[0], &plan()), Some(2));
    assert_eq!(outcome_of(&json!([{"id": 2, "outcome": "Done"}]), 2), Some("Done"));
    let parent_first = json!({"actions": [plan()["actions"][1], plan()["actions"][0]]});
    assert_eq!(compare_confirmed(&confirmed("/d"), &parent_first).expect("a plan").len(), 1);
}

#[test]
fn requests_that_must_not_reach_a_server() {
    let must_not = actions(json!([{"action": "hdfs_any", "path": "/b"}, {"action": "ds_api_delete", "record": 5}]));
    assert!(is_forbidden(&must_not, &["hdfs_delete"], None, Some("/b/x")));
    assert!(is_forbidden(&must_not, &["ds_api_delete"], Some(5), None));
    assert!(!is_forbidden(&must_not, &["ds_api_delete"], Some(6), Some("/b/x")));
    assert!(!is_forbidden(&must_not, &["hdfs_delete"], None, Some("/c")));
}

#[test]
fn exit_words() {
    assert_eq!(
        ["clean", "failure", "drift", "incomplete", "refused", "not_proven"].map(exit_code),
        [0, 1, 2, 3, 4, 5].map(Some)
    );
    assert_eq!((exit_code_of_scan("refused"), exit_code("fine")), (Some(3), None));
}
