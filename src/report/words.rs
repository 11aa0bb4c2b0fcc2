//! The fixed words of terminal output, in both languages. Titles and remedies belong to their codes, not here.

use crate::compare::{Finding, Lang, Severity, Target};
use crate::domain::text::printable;

macro_rules! words {
    ($($variant:ident = $en:literal, $zh:literal;)*) => {
        /// A heading or label.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Word {
            $($variant,)*
        }

        impl Word {
            /// In words.
            pub(super) const fn text(self, lang: Lang) -> &'static str {
                match (self, lang) { $((Self::$variant, Lang::En) => $en, (Self::$variant, Lang::Zh) => $zh),* }
            }
        }
    };
}

words! {
    Drift = "DRIFT", "不一致";
    InSync = "IN SYNC", "一致";
    Incomplete = "INCOMPLETE", "无法完整判断";
    Severity = "severity", "级别";
    What = "what", "问题";
    Where = "where", "位置";
    Why = "why", "依据";
    Remedy = "remedy", "处理";
    WhatToDo = "What to do", "处理办法";
    CouldNotTell = "What could not be told", "无法判断的部分";
    Cause = "cause", "原因";
    WhatWasRead = "What was read", "读取范围";
    Ignored = "Ignored, as the configuration says", "按配置忽略";
    Next = "Next", "下一步";
    NothingFound = "The views agree in all that was read (below).", "所读取的各视图一致（读取范围见下）。";
    NothingFoundSoFar = "No drift in what could be read; this proves nothing about the rest (below).",
        "可读部分未发现不一致；其余部分（见下）无法下结论。";
}

/// The word for a severity.
pub(super) const fn severity(severity: Severity, lang: Lang) -> &'static str {
    match (severity, lang) {
        (Severity::Info, Lang::En) => "info",
        (Severity::Warning, Lang::En) => "warning",
        (Severity::Error, Lang::En) => "error",
        (Severity::Critical, Lang::En) => "critical",
        (Severity::Info, Lang::Zh) => "提示",
        (Severity::Warning, Lang::Zh) => "警告",
        (Severity::Error, Lang::Zh) => "错误",
        (Severity::Critical, Lang::Zh) => "严重",
    }
}

/// One of two fixed texts.
pub(super) const fn choose<'t>(lang: Lang, en: &'t str, zh: &'t str) -> &'t str {
    match lang {
        Lang::En => en,
        Lang::Zh => zh,
    }
}

/// Whom the lease of a ledger excludes.
pub fn lease_reach(place: &str, lang: Lang) -> String {
    let place = printable(place);
    match lang {
        Lang::En => format!(
            "the lease excludes every apply that uses the ledger {place} on this host; one with another ledger, or on \
             another host, is not excluded"
        ),
        Lang::Zh => {
            format!("租约只排斥本机上使用台账 {place} 的其他执行；使用其他台账或在其他主机上的执行不受约束")
        }
    }
}

/// "1 finding", "2 findings": a number with its noun, for English.
pub fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// A target in words, one part a line, safe to print.
pub(super) fn place(target: &Target, lang: Lang) -> Vec<String> {
    let label = |en: &str, zh: &str| if lang == Lang::En { en.to_owned() } else { zh.to_owned() };
    let mut parts = Vec::new();
    if let Some(view) = target.view {
        parts.push(format!("{} {view}", label("view", "视图")));
    }
    if let Some(cluster) = &target.cluster {
        parts.push(format!("{} {}", label("cluster", "集群"), printable(cluster)));
    }
    if let Some(job) = &target.job {
        parts.push(format!("{} {job}", label("job", "作业")));
    }
    if let Some(record) = target.record {
        parts.push(format!("{} {record}", label("record", "资源记录")));
    }
    if let Some(workflow) = target.workflow {
        parts.push(format!("{} {workflow}", label("workflow", "工作流")));
    }
    if let Some(reference) = &target.reference {
        parts.push(format!("{} {}", label("reference", "引用"), printable(&reference.to_string())));
    }
    if let Some(authority) = &target.authority {
        parts.push(printable(authority.as_str()));
    }
    if let Some(path) = &target.path {
        parts.push(printable(path));
    }
    parts
}

/// What to write behind `statewarden explain` for this finding: a word that a shell takes as it is. A name that cannot be
/// shown as it is (control characters, invisible marks) is named by the finding's fingerprint.
pub(super) fn explain_argument(finding: &Finding) -> String {
    let target = &finding.target;
    if let Some(record) = target.record {
        return format!("record:{record}");
    }
    if let Some(workflow) = target.workflow {
        return format!("workflow:{workflow}");
    }
    match (&target.path, &target.job) {
        (Some(path), _) if printable(path) == *path => shell_word(path),
        (None, Some(job)) => job.to_string(),
        _ => finding.fingerprint(),
    }
}

/// Quoted for a POSIX shell where needed.
pub fn shell_word(text: &str) -> String {
    let plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | ':' | '=' | ',' | '@' | '%' | '+');
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_a_shell() {
        assert_eq!(shell_word("/a/b-1.sh"), "/a/b-1.sh");
        assert_eq!(shell_word("/a b/$(rm)"), "'/a b/$(rm)'");
        assert_eq!(shell_word("/it's"), "'/it'\\''s'");
    }
}
