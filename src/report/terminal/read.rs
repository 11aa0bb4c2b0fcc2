//! What was read of each view, so that "nothing found" never looks like "could not look".

use crate::compare::Lang;
use crate::domain::text::printable;
use crate::report::layout::Page;
use crate::report::model::{ClusterRead, Recording, Report, ResourcesRead};
use crate::report::words::{self, Word};

pub(super) fn views(page: &mut Page, report: &Report) {
    let lang = report.lang;
    page.heading(Word::WhatWasRead.text(lang));
    if report.views.flink.clusters.is_empty() {
        page.item("  flink             ", no_flink(report.views.flink.declared_none, lang));
    }
    for cluster in &report.views.flink.clusters {
        page.item("  flink             ", &cluster_line(cluster, lang));
    }
    page.item("  hdfs              ", &hdfs_line(report));
    match &report.views.dolphinscheduler {
        Some(read) => {
            page.item("  dolphinscheduler  ", &resources_line(read, lang));
            page.item("  workflows         ", &workflows_line(read, lang));
        }
        None => {
            page.item(
                "  dolphinscheduler  ",
                if lang == Lang::En { "none in the configuration" } else { "配置中没有" },
            );
        }
    }
    if let Some(said) = &report.recording {
        recording(page, said, lang);
    }
}

fn recording(page: &mut Page, recording: &Recording, lang: Lang) {
    const LABEL: &str = "  ledger            ";
    let place = recording.ledger.as_deref().map(printable).unwrap_or_default();
    if recording.trouble.is_empty() {
        let line = match lang {
            Lang::En => format!("recorded as run {} in {place}", recording.run),
            Lang::Zh => format!("已记为运行 {}，台账 {place}", recording.run),
        };
        page.item(LABEL, &line);
    }
    for trouble in &recording.trouble {
        page.item(LABEL, &printable(trouble));
    }
}

fn no_flink(declared: bool, lang: Lang) -> &'static str {
    match (declared, lang) {
        (true, Lang::En) => "none on purpose (flink = \"none\")",
        (true, Lang::Zh) => "按配置没有 Flink（flink = \"none\"）",
        (false, Lang::En) => "NOTHING READ: no cluster is configured",
        (false, Lang::Zh) => "未读取：没有配置集群",
    }
}

fn cluster_line(cluster: &ClusterRead, lang: Lang) -> String {
    let version = cluster.version.as_deref().map(|version| format!(" {}", printable(version))).unwrap_or_default();
    let head = format!("{}{version}{}", printable(&cluster.name), cluster_notes(cluster, lang));
    let read_nothing = cluster.version.is_none() && cluster.live + cluster.ended == 0;
    let body = match (lang, read_nothing && cluster.gaps > 0) {
        (Lang::En, true) => "NOTHING READ".to_owned(),
        (Lang::Zh, true) => "未能读取".to_owned(),
        (Lang::En, false) => format!(
            "{}, {} ended{}, read {}",
            words::count(cluster.live, "live job", "live jobs"),
            cluster.ended,
            cluster
                .task_managers
                .map(|n| format!(", {}", words::count(to_usize(n), "TaskManager", "TaskManagers")))
                .unwrap_or_default(),
            words::count(cluster.readings, "time", "times"),
        ),
        (Lang::Zh, false) => format!(
            "{} 个运行中作业，{} 个已结束{}，读取 {} 次",
            cluster.live,
            cluster.ended,
            cluster.task_managers.map(|n| format!("，{n} 个 TaskManager")).unwrap_or_default(),
            cluster.readings,
        ),
    };
    format!("{head}: {body}{}", gaps(cluster.gaps, lang))
}

fn to_usize(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

fn cluster_notes(cluster: &ClusterRead, lang: Lang) -> String {
    let mut notes = Vec::new();
    if cluster.history {
        notes.push(if lang == Lang::En { "history server" } else { "历史服务器" });
    }
    if cluster.retired {
        notes.push(if lang == Lang::En { "retired" } else { "已下线" });
    }
    if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) }
}

fn gaps(n: usize, lang: Lang) -> String {
    match (n, lang) {
        (0, _) => String::new(),
        (n, Lang::En) => format!("; {} (above)", words::count(n, "gap", "gaps")),
        (n, Lang::Zh) => format!("；{n} 处缺口（见上）"),
    }
}

fn hdfs_line(report: &Report) -> String {
    let read = &report.views.hdfs;
    let lang = report.lang;
    let user = read.user.as_deref().map(printable).unwrap_or_default();
    let nothing = read.directories + read.directories_cut_short + read.questions == 0;
    let body = match (lang, nothing) {
        (Lang::En, true) => "NOTHING READ".to_owned(),
        (Lang::Zh, true) => "未能读取".to_owned(),
        (Lang::En, false) => format!(
            "{} listed to the end{}, {}, {} asked one by one{}",
            words::count(read.directories, "directory", "directories"),
            if read.directories_cut_short > 0 {
                format!(", {} cut short", read.directories_cut_short)
            } else {
                String::new()
            },
            words::count(read.entries, "entry", "entries"),
            words::count(read.questions, "path", "paths"),
            if user.is_empty() { String::new() } else { format!(", as {user}") },
        ),
        (Lang::Zh, false) => format!(
            "完整列出 {} 个目录{}，共 {} 个条目，逐一询问 {} 个路径{}",
            read.directories,
            if read.directories_cut_short > 0 {
                format!("，{} 个未列完", read.directories_cut_short)
            } else {
                String::new()
            },
            read.entries,
            read.questions,
            if user.is_empty() { String::new() } else { format!("，账号 {user}") },
        ),
    };
    format!("{body}{}", gaps(read.gaps, lang))
}

fn resources_line(read: &ResourcesRead, lang: Lang) -> String {
    let unknown = if lang == Lang::En { "unknown" } else { "未知" };
    let generation = read.generation.map_or_else(|| unknown.to_owned(), |generation| generation.to_string());
    let shown = read.version_text.as_deref().map(|text| match lang {
        Lang::En => format!(" (shows {})", printable(text)),
        Lang::Zh => format!("（显示 {}）", printable(text)),
    });
    let listed = read.generation.is_some_and(|generation| !generation.has_records());
    let body = match (lang, listed) {
        (Lang::En, true) => format!(
            "{}, {}",
            words::count(read.storage_directories, "directory", "directories"),
            words::count(read.storage_entries, "entry", "entries")
        ),
        (Lang::Zh, true) => format!("{} 个目录，{} 个条目", read.storage_directories, read.storage_entries),
        (Lang::En, false) => format!(
            "{}{}, {}",
            words::count(read.records, "record", "records"),
            if read.records_complete { "" } else { " (NOT known to be all)" },
            words::count(read.users, "user", "users")
        ),
        (Lang::Zh, false) => format!(
            "{} 条资源记录{}，{} 个用户",
            read.records,
            if read.records_complete { "" } else { "（不能确认是全部）" },
            read.users
        ),
    };
    let head = if lang == Lang::En { "generation" } else { "代际" };
    format!("{head} {generation}{}: {body}{}{}", shown.unwrap_or_default(), account(read, lang), gaps(read.gaps, lang))
}

fn account(read: &ResourcesRead, lang: Lang) -> String {
    let Some(name) = read.account.as_deref().map(printable) else { return String::new() };
    match (lang, read.administrator) {
        (Lang::En, true) => format!(", as {name} (administrator)"),
        (Lang::En, false) => format!(", as {name} (NO administrator: sees a part only)"),
        (Lang::Zh, true) => format!("，账号 {name}（管理员）"),
        (Lang::Zh, false) => format!("，账号 {name}（非管理员，只能看到一部分）"),
    }
}

fn workflows_line(read: &ResourcesRead, lang: Lang) -> String {
    let body = match (lang, read.workflows == 0 && read.workflow_gaps > 0) {
        (Lang::En, true) => "NOTHING READ".to_owned(),
        (Lang::Zh, true) => "未能读取".to_owned(),
        (Lang::En, false) => {
            format!("{}, {} online", words::count(read.workflows, "definition", "definitions"), read.workflows_online)
        }
        (Lang::Zh, false) => format!("{} 个工作流定义，{} 个已上线", read.workflows, read.workflows_online),
    };
    format!("{body}{}", gaps(read.workflow_gaps, lang))
}
