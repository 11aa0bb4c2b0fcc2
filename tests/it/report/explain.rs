//! All that is known of one target.

use statewarden::compare::Lang;
use statewarden::report::explain::{Relation, Subject, SubjectError, explain, render};
use statewarden::report::{Style, explain::Explanation};

use super::sample;

fn ask(target: &str) -> Result<Explanation, SubjectError> {
    explain(&sample::inventory(), &sample::config(), &sample::comparison(), target, Lang::En)
}

fn known(target: &str) -> Explanation {
    ask(target).expect("something to explain")
}

#[test]
fn a_record_with_everything_that_hangs_on_it() {
    insta::assert_snapshot!(render(&known("record:2"), Style::default()));
}

#[test]
fn a_directory_of_live_checkpoints() {
    insta::assert_snapshot!(render(&known(&format!("hdfs://ns1{}/ckpt_storage", sample::BASE)), Style::default()));
}

#[test]
fn a_job_and_where_its_state_lies() {
    insta::assert_snapshot!(render(&known(sample::JOB), Style::default()));
}

#[test]
fn a_workflow_and_what_it_uses() {
    insta::assert_snapshot!(render(&known("workflow:9001"), Style::default()));
}

#[test]
fn a_path_that_nobody_read_is_not_called_absent() {
    let facts = known("/user/somebody/file");
    assert_eq!(facts.paths[0].answer, "not-read");
    assert!(!facts.paths[0].proven_absent);
    assert!(facts.jobs.is_empty() && facts.records.is_empty() && facts.findings.is_empty());
}

#[test]
fn relations_run_both_ways() {
    let above = known(&format!("{}/ckpt_storage/{}/chk-42", sample::BASE, sample::JOB));
    let finding = &above.findings[0];
    assert_eq!(finding.finding.code.as_str(), "checkpoint-in-resource-namespace");
    assert_eq!(finding.relation, Some(Relation::Above));
    assert!(above.jobs.iter().any(|job| job.live && job.state_paths.iter().any(|s| s.relation == Some(Relation::At))));
    let below = known("/dolphinscheduler");
    assert!(below.findings.iter().all(|finding| finding.relation != Some(Relation::Above)));
    assert_eq!(below.records.len(), 3);
}

#[test]
fn forms_of_a_target() {
    assert_eq!(known("2").subject, known("record:2").subject);
    assert!(matches!(known("9001").subject, Subject::Workflow(_)));
    assert!(matches!(known("7F132D50-1fb98638-44ab5169-7900d494").subject, Subject::Job(_)));
    let stale = &sample::comparison().findings[0];
    assert!(matches!(known(&stale.fingerprint()).subject, Subject::Record(_)));
    let of_a_view = &sample::comparison().findings[3];
    assert!(matches!(ask(&of_a_view.fingerprint()), Err(SubjectError::NoTarget(_))));
    assert!(matches!(ask("0123456789abcdef"), Err(SubjectError::NoSuchFinding(_))));
    assert!(matches!(ask("hdfs://other:8020/a"), Err(SubjectError::NotHere { .. })));
    assert!(matches!(ask("gone.sql"), Err(SubjectError::NoForm(_))));
}

#[test]
fn hostile_names_do_not_drive_the_terminal() {
    let mut inventory = sample::inventory();
    let view = inventory.resources.as_mut().expect("a resource view");
    view.records[1].full_name = "/x\u{1b}[2J\u{9b}\n\u{202e}y".into();
    view.workflows[0].name = "\u{1b}]0;title\u{7}".into();
    let text = render(
        &explain(&inventory, &sample::config(), &sample::comparison(), "record:2", Lang::En).expect("an explanation"),
        Style::default(),
    );
    assert!(!text.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}'), "{text:?}");
    assert!(text.contains("never looked up"), "{text}");
}
