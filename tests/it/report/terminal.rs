//! The report as a person reads it.

use statewarden::compare::{Comparison, Finding, FindingCode, Lang, Severity, Target};
use statewarden::domain::RecordId;
use statewarden::report::terminal::Print;
use statewarden::report::{Report, Style, terminal};

use super::sample;

fn rendered(comparison: &Comparison, lang: Lang) -> String {
    terminal::render(&Report::new(&sample::inventory(), comparison, lang), Print::default())
}

#[test]
fn drift_with_gaps_in_english() {
    insta::assert_snapshot!(rendered(&sample::comparison(), Lang::En));
}

#[test]
fn drift_with_gaps_in_chinese() {
    insta::assert_snapshot!(rendered(&sample::comparison(), Lang::Zh));
}

#[test]
fn in_sync_says_what_was_read() {
    let (inventory, comparison) = sample::in_sync();
    insta::assert_snapshot!(terminal::render(&Report::new(&inventory, &comparison, Lang::En), Print::default()));
}

#[test]
fn nothing_found_never_looks_like_in_sync_if_something_could_not_be_told() {
    let mut comparison = sample::comparison();
    comparison.findings.retain(|finding| finding.code == FindingCode::ViewIncomplete);
    insta::assert_snapshot!(rendered(&comparison, Lang::En));
}

fn stale(id: i64, path: &str) -> Finding {
    let target = Target::record(RecordId(id), Some(&sample::path(path)));
    Finding::new(FindingCode::StaleResourceRecord, Severity::Warning, target, "test").because("absent")
}

#[test]
fn many_of_one_code_in_one_directory_are_folded_and_counted() {
    let findings = (1..=40).map(|n| stale(n, &format!("/dolphinscheduler/etl/resources/old/{n:02}.sql"))).collect();
    let comparison = Comparison { findings, ..Comparison::default() };
    insta::assert_snapshot!(rendered(&comparison, Lang::En));
    let report = Report::new(&sample::inventory(), &comparison, Lang::En);
    let all = terminal::render(&report, Print { all: true, ..Print::default() });
    assert_eq!(all.matches("stale-resource-record").count(), 40);
}

#[test]
fn many_directories_of_one_code_end_in_one_line() {
    let findings = (1..=40).map(|n| stale(n, &format!("/dolphinscheduler/etl/resources/{n:02}/x.sql"))).collect();
    let text = rendered(&Comparison { findings, ..Comparison::default() }, Lang::En);
    assert!(text.contains("40 findings (40 warning)"), "{text}");
    assert!(text.contains("in other places") && text.contains("+ 26"), "{text}");
}

/// What a file name may hold, and what must not reach a terminal.
const HOSTILE: &str = "/dolphinscheduler/etl/resources/a\u{1b}[31m\u{9b}2J\r\nDRIFT: 0\u{202e}\u{301}.sql";

#[test]
fn hostile_names_do_not_drive_the_terminal() {
    let mut comparison = Comparison { findings: vec![stale(1, HOSTILE).because(HOSTILE)], ..Comparison::default() };
    comparison.findings[0].evidence.insert(0, format!("evidence on {HOSTILE}"));
    for lang in [Lang::En, Lang::Zh] {
        let text = rendered(&comparison, lang);
        let bad = |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{202e}' | '\u{301}');
        assert!(!text.contains(bad), "{text:?}");
        assert!(!text.lines().any(|line| line.starts_with("DRIFT: 0")), "{text}");
    }
}

#[test]
fn proposed_commands_look_at_the_same_thing() {
    let report = Report::new(&sample::inventory(), &sample::comparison(), Lang::En);
    let text = terminal::render(&report, Print { options: Some("--config 'my conf.toml'"), ..Print::default() });
    assert!(text.contains("\n  statewarden explain --config 'my conf.toml' workflow:9001\n"), "{text}");
}

#[test]
fn a_judged_inventory_is_named_where_a_command_takes_it_and_is_not_saved_again() {
    let report = Report::new(&sample::inventory(), &sample::comparison(), Lang::En);
    let print = Print { options: Some("--config c.toml"), from: Some("--from i.json"), ..Print::default() };
    let text = terminal::render(&report, print);
    assert!(text.contains("\n  statewarden explain --config c.toml --from i.json workflow:9001\n"), "{text}");
    assert!(text.contains("\n  statewarden doctor --config c.toml\n"), "{text}");
    assert!(!text.contains("--save"), "{text}");
}

#[test]
fn colours_frame_only_words_of_our_own() {
    let style = Style { color: true, width: 100 };
    let report = Report::new(&sample::inventory(), &sample::comparison(), Lang::En);
    let colored = terminal::render(&report, Print { style, ..Print::default() });
    assert!(colored.contains("\u{1b}["));
    let plain = terminal::render(&report, Print::default());
    assert_eq!(anstream::adapter::strip_str(&colored).to_string(), plain);
}

#[test]
fn no_line_of_the_table_is_wider_than_the_terminal() {
    use unicode_width::UnicodeWidthStr as _;
    for (width, lang) in [(80, Lang::En), (100, Lang::Zh), (160, Lang::En)] {
        let report = Report::new(&sample::inventory(), &sample::comparison(), lang);
        let text = terminal::render(&report, Print { style: Style { color: false, width }, ..Print::default() });
        let table = text.lines().filter(|line| !line.starts_with("  statewarden"));
        for line in table {
            assert!(line.width() <= width, "{} columns: {line}", line.width());
        }
    }
}
