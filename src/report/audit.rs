//! The audit chain for a person and for a program.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::layout::{Page, Style};
use super::words::{choose, count};
use crate::compare::{Lang, Severity};
use crate::domain::text::printable;
use crate::ports::ledger::{AuditEntry, AuditVerdict};

/// Version of the JSON form of `audit show`.
pub const TRAIL_SCHEMA: &str = "statewarden/audit/v1";

/// Version of the JSON form of `audit verify`.
pub const CHECK_SCHEMA: &str = "statewarden/audit-check/v1";

/// One link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// Position, from 1 without holes.
    pub number: i64,
    /// When.
    #[schemars(with = "String")]
    pub at: Timestamp,
    /// Who: OS user, host, and the DolphinScheduler task instance where there is one.
    pub actor: String,
    /// Run.
    pub run: String,
    /// What was done.
    pub what: String,
    /// On what, for what reason, with which gates and result: the text that the hash covers, canonical JSON.
    pub body: String,
    /// Hash of the link before; 64 zeros for the first.
    pub previous: String,
    /// Hex SHA-256 over all of the above.
    pub hash: String,
}

impl From<AuditEntry> for Link {
    fn from(entry: AuditEntry) -> Self {
        let AuditEntry { number, at, actor, run, what, body, previous, hash } = entry;
        Self { number, at, actor, run, what, body, previous, hash }
    }
}

/// The chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Trail {
    /// Name and version of this form: `statewarden/audit/v1`.
    pub schema: String,
    /// Place of the ledger.
    pub ledger: String,
    /// The links, oldest first.
    pub entries: Vec<Link>,
}

impl Trail {
    /// The chain of a ledger.
    pub fn new(ledger: String, entries: Vec<AuditEntry>) -> Self {
        Self { schema: TRAIL_SCHEMA.to_owned(), ledger, entries: entries.into_iter().map(Link::from).collect() }
    }
}

/// Prints the chain for a person.
pub fn render(trail: &Trail, lang: Lang, style: Style) -> String {
    let mut page = Page::new(style);
    let (n, ledger) = (trail.entries.len(), printable(&trail.ledger));
    page.line(&style.strong(&match lang {
        Lang::En => format!("{} in the audit chain of {ledger}", count(n, "entry", "entries")),
        Lang::Zh => format!("台账 {ledger} 的审计链共 {n} 条"),
    }));
    for link in &trail.entries {
        let at = link.at.strftime("%Y-%m-%d %H:%M:%S UTC");
        page.heading(&format!("{:>4}  {at}  {}", link.number, printable(&link.what)));
        page.item("      ", &format!("{}  run {}", printable(&link.actor), printable(&link.run)));
        for (key, value) in said(&link.body) {
            page.item(&format!("      {key:<9} "), &value);
        }
        page.item("      hash      ", &link.hash);
    }
    page.into_text()
}

/// The members of a body that a person reads first; the JSON form has all of it.
fn said(body: &str) -> Vec<(String, String)> {
    let Ok(serde_json::Value::Object(members)) = serde_json::from_str(body) else {
        return vec![("body".to_owned(), printable(body))];
    };
    let mut lines = Vec::new();
    for (key, value) in &members {
        match (key.as_str(), value) {
            ("action", serde_json::Value::Object(action)) => lines.extend(of_action(action)),
            (_, serde_json::Value::Object(inner)) if key == "outcome" => {
                let text = |name: &str| inner.get(name).and_then(serde_json::Value::as_str).unwrap_or_default();
                lines.push((key.clone(), printable(&format!("{}: {}", text("outcome"), text("why")))));
            }
            (_, serde_json::Value::String(text)) => lines.push((key.clone(), printable(text))),
            (_, other) => lines.push((key.clone(), printable(&other.to_string()))),
        }
    }
    lines
}

fn of_action(action: &serde_json::Map<String, serde_json::Value>) -> Vec<(String, String)> {
    let text = |name: &str| match action.get(name) {
        Some(serde_json::Value::String(text)) => printable(text),
        Some(other) => printable(&other.to_string()),
        None => String::new(),
    };
    vec![
        ("action".to_owned(), format!("{} {}", text("id"), text("action"))),
        ("record".to_owned(), format!("{} {}", text("record"), text("full_name"))),
        ("path".to_owned(), text("path")),
        ("owner".to_owned(), format!("{}, tenant {}", text("owner"), text("tenant"))),
    ]
}

/// What checking the chain found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditCheck {
    /// Name and version of this form: `statewarden/audit-check/v1`.
    pub schema: String,
    /// Place of the ledger.
    pub ledger: String,
    /// Whether every link fits, and the given head is among them.
    pub whole: bool,
    /// Number of links, if it is whole.
    pub entries: Option<i64>,
    /// Hash of the last link, if it is whole.
    pub head: Option<String>,
    /// The head that was asked for.
    pub asked_head: Option<String>,
    /// First link that does not fit, if it is broken.
    pub broken_at: Option<i64>,
    /// In what, if it is broken.
    pub why: Option<String>,
}

impl AuditCheck {
    /// The verdict on the chain of a ledger.
    pub fn new(ledger: String, asked_head: Option<&str>, verdict: AuditVerdict) -> Self {
        let unknown = Self {
            schema: CHECK_SCHEMA.to_owned(),
            ledger,
            whole: false,
            entries: None,
            head: None,
            asked_head: asked_head.map(str::to_owned),
            broken_at: None,
            why: None,
        };
        match verdict {
            AuditVerdict::Whole { entries, head } => {
                Self { whole: true, entries: Some(entries), head: Some(head), ..unknown }
            }
            AuditVerdict::Broken { number, why } => Self { broken_at: Some(number), why: Some(why), ..unknown },
        }
    }
}

/// Prints the verdict for a person.
pub fn render_check(check: &AuditCheck, lang: Lang, style: Style) -> String {
    let mut page = Page::new(style);
    let ledger = printable(&check.ledger);
    if check.whole {
        let (entries, head) = (check.entries.unwrap_or_default(), check.head.as_deref().unwrap_or_default());
        page.line(&style.good(&match lang {
            Lang::En => format!(
                "WHOLE: {}, each fits the one before",
                count(usize::try_from(entries).unwrap_or_default(), "entry", "entries")
            ),
            Lang::Zh => format!("完整：共 {entries} 条，每条都与前一条吻合"),
        }));
        page.line(&format!("{}{head}", choose(lang, "head    ", "末端    ")));
        page.item("", &head_note(check, lang));
    } else {
        let number = check.broken_at.unwrap_or_default();
        let why = printable(check.why.as_deref().unwrap_or_default());
        page.line(&style.severity(
            Severity::Error,
            &match lang {
                Lang::En => format!("BROKEN at entry {number}: {why}"),
                Lang::Zh => format!("第 {number} 条已损坏：{why}"),
            },
        ));
        let remedy = choose(
            lang,
            "Somebody changed, removed or exchanged entries. Keep the file as it is, and compare it with a backup.",
            "有条目被修改、删除或调换。请保留该文件原样，并与备份比对。",
        );
        page.item("-> ", remedy);
    }
    page.line(&format!("{}{ledger}", choose(lang, "ledger  ", "台账    ")));
    page.into_text()
}

fn head_note(check: &AuditCheck, lang: Lang) -> String {
    match (&check.asked_head, lang) {
        (Some(_), Lang::En) => "The given head is in the chain: nothing up to it was cut off.".to_owned(),
        (Some(_), Lang::Zh) => "所给的末端在链中：到该处为止没有条目被删。".to_owned(),
        (None, Lang::En) => {
            "Newest entries that were cut off are noticed only with a head that an apply printed: --head HASH"
                .to_owned()
        }
        (None, Lang::Zh) => "最新条目是否被删，只能用执行时打印的末端来判断：--head HASH".to_owned(),
    }
}
