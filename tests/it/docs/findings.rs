//! `docs/findings.md` and `docs/zh/findings.md`, made from the finding codes.

use std::fmt::Write as _;

use statewarden::compare::{Effect, FindingCode, Lang, Remedy};

use super::assert_is_up_to_date;

const PAGES: [(Lang, &str); 2] = [(Lang::En, "docs/findings.md"), (Lang::Zh, "docs/zh/findings.md")];

#[test]
fn the_pages_on_findings_are_up_to_date() {
    for (lang, name) in PAGES {
        assert_is_up_to_date(name, &page(lang));
    }
}

#[test]
fn every_code_has_a_section_with_meaning_severity_and_remedy() {
    for (lang, name) in PAGES {
        let text = page(lang);
        for code in FindingCode::ALL {
            let heading = format!("\n## {code}\n");
            let section = text.split(&heading).nth(1).unwrap_or_else(|| panic!("{name} has no section on {code}"));
            let section = section.split("\n## ").next().unwrap_or_default();
            for part in [code.title(lang), code.meaning(lang), code.severity_rule(lang), code.remedy().text(lang)] {
                assert!(!part.trim().is_empty() && section.contains(part), "{name}, {code}: {part}");
            }
        }
    }
}

/// The words of one page that hang on no code.
struct Words {
    head: &'static str,
    columns: &'static str,
    drift: &'static str,
    incomplete: &'static str,
    acting: &'static str,
    severity: &'static str,
    exit: &'static str,
    remedy: &'static str,
    special: &'static str,
    colon: &'static str,
}

const EN: Words = Words {
    head: "# Findings\n\n\
        <!-- Made from `src/compare/code.rs`, `meaning.rs` and `finding.rs`: UPDATE_DOCS=1 cargo test --test it docs:: -->\n\n\
        What the codes in a report mean, how bad each one is, and what to do. A code is never renamed once released.\n\n\
        The severities are `info` (worth knowing, not drift), `warning` (drift), `error` (drift that hurts, or a view that \
        cannot be trusted) and `critical` (live state is lost or about to be). Drift of severity `info` does not count in the exit \
        code. Codes of the second kind say what could not be told: they end the program with 3 whatever their severity, and no `[[ignores]]` entry hides them.\n\n",
    columns: "| code | title | kind |\n|---|---|---|\n",
    drift: "drift",
    incomplete: "could not be told",
    acting: "acting",
    severity: "Severity",
    exit: "Exit code",
    remedy: "What to do",
    special: "What to do in special cases",
    colon: ": ",
};

const ZH: Words = Words {
    head: "# 问题代码\n\n\
        <!-- 由 `src/compare/code.rs`、`meaning.rs`、`finding.rs` 生成：UPDATE_DOCS=1 cargo test --test it docs:: -->\n\n\
        报告中每个代码的含义、级别和处理办法。代码一经发布不再改名。\n\n\
        级别有 `info`（提示：值得知道，不算不一致）、`warning`（警告：不一致）、`error`（错误：有影响的不一致，或视图不可信）\
        和 `critical`（严重：运行中作业的状态已经丢失或即将丢失）。级别为 `info` 的不一致不计入退出码。“无法判断”类代码说明哪些内容没有结论：无论级别如何，\
        退出码都是 3，并且不能用 `[[ignores]]` 隐藏。\n\n",
    columns: "| 代码 | 标题 | 类别 |\n|---|---|---|\n",
    drift: "不一致",
    incomplete: "无法判断",
    acting: "执行",
    severity: "级别",
    exit: "退出码",
    remedy: "处理办法",
    special: "特殊情况下的处理办法",
    colon: "：",
};

impl Words {
    const fn kind(&self, code: FindingCode) -> &'static str {
        match code.effect() {
            Effect::Drift => self.drift,
            Effect::Incomplete => self.incomplete,
            Effect::Note | Effect::Refused | Effect::NotProven => self.acting,
        }
    }
}

fn page(lang: Lang) -> String {
    let words = match lang {
        Lang::En => EN,
        Lang::Zh => ZH,
    };
    let mut page = String::from(words.head);
    page.push_str(words.columns);
    for code in FindingCode::ALL {
        let _ = writeln!(page, "| [`{code}`](#{code}) | {} | {} |", code.title(lang), words.kind(*code));
    }
    for code in FindingCode::ALL {
        section(&mut page, &words, *code, lang);
    }
    page
}

fn section(page: &mut String, words: &Words, code: FindingCode, lang: Lang) {
    let colon = words.colon;
    let exit = match code.effect() {
        Effect::Note => 0,
        Effect::Drift => 2,
        Effect::Incomplete => 3,
        Effect::Refused => 4,
        Effect::NotProven => 5,
    };
    let _ = write!(
        page,
        "\n## {code}\n\n**{}**\n\n{}\n\n- {}{colon}{}\n- {}{colon}{}\n- {}{colon}{}\n",
        code.title(lang),
        code.meaning(lang),
        words.severity,
        code.severity_rule(lang),
        words.exit,
        if code.severity_rule(lang) == info(lang) { 0 } else { exit },
        words.remedy,
        code.remedy().text(lang),
    );
    for remedy in code.special_remedies() {
        let _ = writeln!(page, "- {}{colon}{}", words.special, remedy.text(lang));
    }
}

/// The severity rule of a code that is always info, and so never drift.
const fn info(lang: Lang) -> &'static str {
    FindingCode::ForeignEntryInRoot.severity_rule(lang)
}

#[test]
fn a_remedy_that_is_given_is_on_the_page() {
    // These wait for rules that are not there yet.
    let waiting = [Remedy::RestoreFromTrash, Remedy::RebindToCandidate];
    let named: Vec<Remedy> = FindingCode::ALL
        .iter()
        .flat_map(|code| code.special_remedies().iter().copied().chain([code.remedy()]))
        .collect();
    for remedy in Remedy::ALL.iter().filter(|remedy| !waiting.contains(remedy)) {
        assert!(named.contains(remedy), "{remedy:?} is on no page");
    }
}
