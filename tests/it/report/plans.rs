//! Plans, outcomes, runs and the audit chain as a person and a program read them.

use jiff::Timestamp;
use statewarden::compare::{Finding, FindingCode, Lang, Remedy, Severity, Target};
use statewarden::domain::{RecordId, ResourceKind, WorkflowCode};
use statewarden::gates::{Gate, GateResult};
use statewarden::plan::action::PLAN_SCHEMA;
use statewarden::plan::effect::effect;
use statewarden::plan::{Action, Advice, HeldBack, Plan, RecordTarget, fingerprint};
use statewarden::ports::ledger::{AuditEntry, AuditVerdict, Difference, Outcome, OutcomeWord, RunEntry};
use statewarden::report::applied::{self, ActionLine, Applied, Facts};
use statewarden::report::audit::{self, AuditCheck, Trail};
use statewarden::report::confirm::question;
use statewarden::report::history::{self, Changes, History};
use statewarden::report::plan::{
    Obstacle, PlanPrint, Planned, SHOWN_SCHEMA, Shown, Tried, Unchecked, render, render_shown,
};
use statewarden::report::{Report, Style, Verdict, json};
use statewarden::views::Generation;

use super::sample;

fn time(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

fn target(record: i64, name: &str, directory: bool) -> RecordTarget {
    RecordTarget {
        record: RecordId(record),
        full_name: name.to_owned(),
        kind: ResourceKind::File,
        directory,
        owner_id: 4,
        owner: "anna".into(),
        tenant: "etl".into(),
        updated: Some("2026-05-01T08:30:00".parse().expect("a time without zone")),
        size: Some(9),
        path: sample::path(&format!("{}{name}", sample::BASE)),
    }
}

fn action(id: u32, target: RecordTarget, after: &[u32]) -> Action {
    let gates = vec![
        GateResult::proved(Gate::View, "everything was read whole"),
        GateResult::proved(Gate::Absent, "the active NameNode answered not-found"),
        GateResult::proved(Gate::AbsentTwice, "a run at 2026-07-31T23:40:00Z saw the same"),
        GateResult::proved(Gate::SameStore, "DolphinScheduler's view answers 20012 as well"),
    ];
    let effect = effect(Some(Generation::V31), &target, Lang::En);
    Action { id, action: "ds_api_delete".into(), target, after: after.to_vec(), gates, effect }
}

fn held(record: i64, name: &str, waits_for: Vec<GateResult>) -> HeldBack {
    let path = sample::path(&format!("{}{name}", sample::BASE));
    HeldBack { record: RecordId(record), path, by_limit: waits_for.is_empty(), waits_for }
}

fn held_back() -> Vec<HeldBack> {
    let young = || GateResult::unknown(Gate::AbsentTwice, "no earlier run of this scope saw it; run again in 10m");
    let used = GateResult::refuted(Gate::Unreferenced, "OFFLINE workflow 9003 (weekly) uses it");
    vec![
        held(21, "/new/a.sql", vec![young()]),
        held(22, "/new/b.sql", vec![young(), used]),
        held(23, "/large.bin", Vec::new()),
    ]
}

fn advice(target: Target, remedy: Remedy) -> Advice {
    Advice { action: "advise".into(), target, to: None, whose: None, remedy, what: remedy.text(Lang::En).to_owned() }
}

fn plan() -> Plan {
    let workflow = |code, remedy| advice(Target { workflow: Some(WorkflowCode(code)), ..Target::default() }, remedy);
    let mut root = advice(Target::path(&sample::path(sample::BASE)), Remedy::MoveRootOut);
    root.to = Some(sample::path("/flink/checkpoints/prod"));
    let mut plan = Plan {
        schema: PLAN_SCHEMA.into(),
        hash: String::new(),
        run: "0198f5a0-1b2c-7def-8123-456789abcdef".into(),
        created: time("2026-08-01T00:00:00Z"),
        expires: time("2026-08-01T01:00:00Z"),
        config: "c".repeat(64),
        inventory: "d".repeat(64),
        generation: Some(Generation::V31),
        from_file: false,
        limit: Some(2),
        actions: vec![action(1, target(11, "/old/a.bin", false), &[]), action(2, target(10, "/old", true), &[1])],
        held_back: held_back(),
        advice: (9001..9008).map(|code| workflow(code, Remedy::RebindTask)).chain([root]).collect(),
        notes: vec!["a replica was not excluded: nothing absent can be viewed".into()],
    };
    plan.hash = fingerprint::of_plan(&plan);
    plan
}

fn planned(lang: Lang) -> Planned {
    let (inventory, comparison) = sample::in_sync();
    Planned::new(Report::new(&inventory, &comparison, lang), plan(), Some("/var/lib/statewarden/ledger.db".into()))
}

fn print(file: Option<&'static str>) -> PlanPrint<'static> {
    PlanPrint { file, options: "--config /etc/statewarden.toml", ..PlanPrint::default() }
}

/// The part of the page behind the report.
fn behind_the_report(text: &str, word: &str) -> String {
    text[text.find(word).expect("the plan")..].to_owned()
}

fn assert_valid<T: schemars::JsonSchema + serde::Serialize>(document: &T) {
    let schema = schemars::schema_for!(T).to_value();
    let document: serde_json::Value = serde_json::from_str(&json::render(document).expect("JSON")).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let errors: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn a_plan_says_what_will_happen_and_what_waits_in_english() {
    let text = render(&planned(Lang::En), print(Some("plan.json")));
    insta::assert_snapshot!(behind_the_report(&text, "PLAN: "));
}

#[test]
fn a_plan_says_what_will_happen_and_what_waits_in_chinese() {
    let text = render(&planned(Lang::Zh), print(Some("plan.json")));
    insta::assert_snapshot!(behind_the_report(&text, "计划："));
}

#[test]
fn a_dry_look_and_a_plan_of_a_saved_inventory_say_that_they_are_never_applied() {
    let mut dry = Planned { recorded_in: None, ..planned(Lang::En) };
    let text = render(&dry, print(None));
    assert!(text.contains("A dry look: not recorded") && !text.contains("statewarden apply"), "{text}");
    dry.plan.from_file = true;
    let text = render(&dry, print(Some("plan.json")));
    assert!(text.contains("Made from a saved inventory") && !text.contains("statewarden apply"), "{text}");
}

#[test]
fn many_actions_are_cut_for_a_person_unless_everything_is_asked_for() {
    let mut planned = planned(Lang::En);
    planned.plan.actions = (1..=60).map(|n| action(n, target(i64::from(n), &format!("/x{n}"), false), &[])).collect();
    let text = render(&planned, print(Some("plan.json")));
    assert!(text.contains("and 10 more; `statewarden show plan.json` prints each"), "{text}");
    let all = render(&planned, PlanPrint { all: true, ..print(Some("plan.json")) });
    assert!(all.contains("delete record 60,") && !all.contains("more; `"), "{all}");
}

#[test]
fn planning_is_refused_for_an_unsafe_setting_a_mass_absence_and_clocks() {
    let (inventory, mut comparison) = sample::in_sync();
    let mut exit = |code| {
        comparison.findings = vec![Finding::new(code, Severity::Error, Target::default(), "test")];
        let planned = Planned::new(Report::new(&inventory, &comparison, Lang::En), plan(), None);
        assert_eq!(planned.exit, planned.report.exit);
        (planned.exit.word, planned.exit.code)
    };
    for code in [FindingCode::ConfigRefused, FindingCode::MassAbsence, FindingCode::ClockSkew] {
        assert_eq!(exit(code), (Verdict::Refused, 4), "{code}");
    }
    assert_eq!(exit(FindingCode::ViewIncomplete), (Verdict::Incomplete, 3));
    assert_eq!(exit(FindingCode::SizeMismatch), (Verdict::Drift, 2));
}

fn shown(lang: Lang, obstacles: Vec<Obstacle>, unchecked: Vec<Unchecked>) -> Shown {
    let outcome = Outcome { outcome: OutcomeWord::Done, why: "record and path are gone".into() };
    let tried = vec![Tried { action: 1, outcome: Some(outcome) }, Tried { action: 2, outcome: None }];
    Shown { schema: SHOWN_SCHEMA.into(), lang, obstacles, unchecked, tried, plan: plan() }
}

#[test]
fn a_shown_plan_has_every_gate_and_what_speaks_against_it() {
    let all = vec![
        Obstacle::FromFile,
        Obstacle::Edited,
        Obstacle::NotRecorded,
        Obstacle::Expired,
        Obstacle::ConfigurationChanged,
    ];
    let unchecked = vec![Unchecked { what: "ledger".into(), why: "there is no ledger at /l".into() }];
    insta::assert_snapshot!(
        "a_shown_plan_english",
        render_shown(&shown(Lang::En, all.clone(), Vec::new()), Style::default())
    );
    insta::assert_snapshot!("a_shown_plan_chinese", render_shown(&shown(Lang::Zh, all, unchecked), Style::default()));
    let sound = render_shown(&shown(Lang::En, Vec::new(), Vec::new()), Style::default());
    assert!(sound.contains("It can be applied") && !sound.contains("STALE"), "{sound}");
}

#[test]
fn the_question_names_counts_and_what_cannot_be_undone() {
    let url = "http://user:s3cret@ds:12345/dolphinscheduler?token=s3cret".parse().expect("a URL");
    let text = [Lang::En, Lang::Zh].map(|lang| question(&plan(), Some(&url), lang)).join("\n---\n");
    assert!(!text.contains("s3cret"), "{text}");
    insta::assert_snapshot!(text);
}

fn facts() -> Facts {
    let line = |id, record, name: &str, outcome, why: &str| ActionLine {
        id,
        record: RecordId(record),
        path: sample::path(&format!("{}{name}", sample::BASE)),
        outcome: Outcome { outcome, why: why.into() },
    };
    let refused = "code 20018: the directory still has records below it; delete them first";
    let finding = Finding::new(
        FindingCode::ApiDeleteRefused,
        Severity::Error,
        Target::record(RecordId(10), Some(&sample::path(&format!("{}/old", sample::BASE)))),
        "apply::run",
    );
    let drift = Finding::new(FindingCode::SizeMismatch, Severity::Warning, Target::default(), "test");
    Facts {
        run: "0198f5a0-1b2c-7def-8123-456789abcdef".into(),
        plan: "e".repeat(64),
        dry_run: false,
        interrupted: false,
        outcomes: vec![
            line(1, 11, "/old/a.bin", OutcomeWord::Done, "the server said success; record and path are gone"),
            line(2, 10, "/old", OutcomeWord::Refused, refused),
            line(
                3,
                12,
                "/very/long/name/below/the/resources.bin",
                OutcomeWord::NotStarted,
                "action 2 below it is Refused",
            ),
        ],
        findings: vec![finding.because(refused), drift],
        audit_head: Some("f".repeat(64)),
        ledger: "/var/lib/statewarden/ledger.db".into(),
    }
}

#[test]
fn outcomes_in_both_languages() {
    for (name, lang) in [("outcomes_english", Lang::En), ("outcomes_chinese", Lang::Zh)] {
        let applied = Applied::new(facts(), lang);
        assert_eq!(applied.exit.code, 5);
        insta::assert_snapshot!(name, applied::render(&applied, Style::default(), "--config sw.toml"));
    }
}

#[test]
fn no_line_of_the_outcomes_is_wider_than_the_terminal() {
    use unicode_width::UnicodeWidthStr as _;
    for width in [80, 100, 160] {
        let text = applied::render(&Applied::new(facts(), Lang::En), Style { color: false, width }, "");
        // Hashes are for copying and are never broken.
        for line in text.lines().filter(|line| !line.contains(&"f".repeat(64))) {
            assert!(line.width() <= width, "{} columns: {line}", line.width());
        }
    }
}

fn run(id: &str, scope: &str) -> RunEntry {
    RunEntry {
        run: id.into(),
        verb: "drift".into(),
        started: time("2026-08-01T00:00:00Z"),
        ended: Some(time("2026-08-01T00:00:07Z")),
        scope: scope.repeat(64),
        exit: Some("drift".into()),
        findings: 3,
    }
}

fn difference() -> Difference {
    let of = |record| {
        let target = Target::record(RecordId(record), Some(&sample::path("/dolphinscheduler/etl/resources/gone.sql")));
        vec![Finding::new(FindingCode::StaleResourceRecord, Severity::Warning, target, "test")]
    };
    Difference { new: of(1), gone: of(2), known: of(3), unclear: of(4) }
}

const EARLIER: &str = "0198f5a0-1b2c-7def-8123-456789abcdef";
const LATER: &str = "0198f5a1-aaaa-7def-8123-456789abcdef";

#[test]
fn runs_and_what_changed_between_two() {
    let (earlier, later) = (run(EARLIER, "a"), RunEntry { ended: None, exit: None, ..run(LATER, "b") });
    let mut texts = Vec::new();
    for lang in [Lang::En, Lang::Zh] {
        let list = History::new("/var/lib/statewarden/ledger.db".into(), &[later.clone(), earlier.clone()]);
        let changes = Changes::new(&earlier, &later, &difference(), lang);
        assert_valid(&list);
        assert_valid(&changes);
        texts.push(history::render(&list, lang, Style::default()));
        texts.push(history::render_changes(&changes, Style::default()));
    }
    insta::assert_snapshot!(texts.join("\n---\n"));
}

#[test]
fn a_report_marks_what_is_new_since_a_run_and_lists_what_is_gone() {
    let (inventory, mut comparison) = sample::in_sync();
    let difference = difference();
    comparison.findings = difference.new.iter().chain(&difference.known).cloned().collect();
    for (name, lang) in [("since_english", Lang::En), ("since_chinese", Lang::Zh)] {
        let report = Report::new(&inventory, &comparison, lang).with_since(&run(EARLIER, "a"), &difference);
        assert_valid(&report);
        let text = statewarden::report::terminal::render(&report, statewarden::report::terminal::Print::default());
        insta::assert_snapshot!(name, text);
    }
}

fn link(number: i64, what: &str, body: &serde_json::Value) -> AuditEntry {
    AuditEntry {
        number,
        at: time("2026-08-01T00:00:07Z"),
        actor: "etl@worker1 ds-task-instance=4711".into(),
        run: EARLIER.into(),
        what: what.into(),
        body: body.to_string(),
        previous: "0".repeat(64),
        hash: "1".repeat(64),
    }
}

#[test]
fn the_audit_chain_and_the_check_of_it() {
    let outcome =
        serde_json::json!({"intent": 1, "action": 1, "outcome": {"outcome": "Done", "why": "gone"}, "undo": "none"});
    let entries = vec![
        link(1, "intent", &serde_json::json!({"intent": 1, "action": plan().actions[0]})),
        link(2, "outcome", &outcome),
    ];
    let trail = Trail::new("/l".into(), entries);
    assert_valid(&trail);
    let head = "1".repeat(64);
    let whole = AuditVerdict::Whole { entries: 2, head: head.clone() };
    let broken = AuditVerdict::Broken { number: 2, why: "its hash does not fit its content".into() };
    let mut texts = Vec::new();
    for lang in [Lang::En, Lang::Zh] {
        texts.push(audit::render(&trail, lang, Style::default()));
        for (asked, verdict) in [(None, &whole), (Some(head.as_str()), &whole), (None, &broken)] {
            let check = AuditCheck::new("/l".into(), asked, verdict.clone());
            assert_valid(&check);
            texts.push(audit::render_check(&check, lang, Style::default()));
        }
    }
    insta::assert_snapshot!(texts.join("\n---\n"));
}

#[test]
fn json_is_as_the_schemas_say_and_comes_back_as_it_went() {
    let planned = planned(Lang::En);
    assert_valid(&planned);
    assert_valid(&planned.plan);
    assert_eq!(serde_json::from_str::<Planned>(&json::render(&planned).expect("JSON")).expect("a plan"), planned);
    let unchecked = vec![Unchecked { what: "configuration".into(), why: "no file".into() }];
    assert_valid(&shown(Lang::En, vec![Obstacle::Expired], unchecked));
    let applied = Applied::new(facts(), Lang::En);
    assert_valid(&applied);
    assert_eq!(serde_json::from_str::<Applied>(&json::render(&applied).expect("JSON")).expect("a run"), applied);
    let value = serde_json::to_value(&applied).expect("JSON");
    assert_eq!(value["outcomes"][1]["outcome"], "Refused");
    assert_eq!(value["exit"], serde_json::json!({"word": "not_proven", "code": 5}));
}

#[test]
fn hostile_names_do_not_drive_the_terminal() {
    const HOSTILE: &str = "/a\u{1b}[31m\u{9b}2J\r\nPLAN: 0\u{202e}\u{301}.sql";
    let mut planned = planned(Lang::En);
    for action in &mut planned.plan.actions {
        action.target.full_name = HOSTILE.into();
        action.target.owner = HOSTILE.into();
        action.target.tenant = HOSTILE.into();
        action.effect.expected = HOSTILE.into();
        action.gates[1].evidence = HOSTILE.into();
    }
    let shown = Shown { plan: planned.plan.clone(), ..shown(Lang::Zh, Vec::new(), Vec::new()) };
    let text = render(&planned, print(None))
        + &render_shown(&shown, Style::default())
        + &question(&planned.plan, None, Lang::En);
    let bad = |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{202e}' | '\u{301}');
    assert!(!text.contains(bad), "{text:?}");
    assert!(!text.lines().any(|line| line.starts_with("PLAN: 0")), "{text}");
}
