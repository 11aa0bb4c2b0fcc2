//! The question before a plan is applied.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use url::Url;

use super::doctor::address;
use super::plan::{effect_of, what_goes};
use crate::compare::Lang;
use crate::domain::text::printable;
use crate::plan::Plan;

/// Names what goes and what cannot be undone; ends with the prompt.
pub fn question(plan: &Plan, server: Option<&Url>, lang: Lang) -> String {
    let server = server.map(address).unwrap_or_default();
    let what = what_goes(plan, lang);
    let mut text = match lang {
        Lang::En => format!("This deletes {what},\nthrough the resource API of {server}.\n"),
        Lang::Zh => format!("将通过 {server} 的资源 API 删除{what}。\n"),
    };
    let mut undo: BTreeMap<String, usize> = BTreeMap::new();
    for action in &plan.actions {
        *undo.entry(effect_of(plan, action, lang).undo).or_default() += 1;
    }
    for (undo, n) in undo {
        // Writing to a String cannot fail.
        let _ = match lang {
            Lang::En => writeln!(text, "Undo ({n} of {}): {}", plan.actions.len(), printable(&undo)),
            Lang::Zh => writeln!(text, "撤销（{n}/{}）：{}", plan.actions.len(), printable(&undo)),
        };
    }
    text.push_str(match lang {
        Lang::En => "Type `yes` to go on: ",
        Lang::Zh => "输入 `yes` 继续：",
    });
    text
}
