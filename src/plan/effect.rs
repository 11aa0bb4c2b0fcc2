//! What a call does on a version of DolphinScheduler, in words. The plan holds them in English; a reader of Chinese gets the
//! same from the same place.

use super::action::{Effect, RecordTarget};
use crate::compare::Lang;
use crate::views::Generation;

/// The effect of deleting one record (facts of `ResourcesServiceImpl.delete` in 2.0.9, 3.0.6 and 3.1.9).
pub fn effect(generation: Option<Generation>, target: &RecordTarget, lang: Lang) -> Effect {
    let takes_all = matches!(generation, Some(Generation::V20 | Generation::V30)) && target.directory;
    match lang {
        Lang::En => english(generation, target, takes_all),
        Lang::Zh => chinese(generation, target, takes_all),
    }
}

fn english(generation: Option<Generation>, target: &RecordTarget, takes_all: bool) -> Effect {
    let subtree = if takes_all {
        " On this version the same call takes every record and every file below the directory along; \
         that there is nothing below is checked again right before the call."
    } else {
        ""
    };
    let trouble = match generation {
        Some(Generation::V30 | Generation::V31) => {
            " If HDFS fails during the call, the record goes all the same and the server answers 10058."
        }
        Some(Generation::V20) => " If HDFS fails during the call, the server answers 10058 and keeps the record.",
        _ => "",
    };
    Effect {
        expected: format!(
            "DELETE /resources/{}: the server removes the record, then deletes {} in HDFS (recursively, without Trash), where nothing is.{subtree}{trouble}",
            target.record, target.path
        ),
        undo: "cannot be undone; a new upload of the same name makes a new record with a new id".to_owned(),
    }
}

fn chinese(generation: Option<Generation>, target: &RecordTarget, takes_all: bool) -> Effect {
    let subtree = if takes_all {
        "该版本的同一调用会连同目录下的所有记录和文件一起删除；调用前会再次确认其下没有任何内容。"
    } else {
        ""
    };
    let trouble = match generation {
        Some(Generation::V30 | Generation::V31) => "若调用期间 HDFS 出错，记录仍会被删除，服务端返回 10058。",
        Some(Generation::V20) => "若调用期间 HDFS 出错，服务端返回 10058 并保留记录。",
        _ => "",
    };
    Effect {
        expected: format!(
            "DELETE /resources/{}：服务端先删除记录，再删除 HDFS 上的 {}（递归，不进回收站），该路径下已没有内容。{subtree}{trouble}",
            target.record, target.path
        ),
        undo: "不可撤销；以同名重新上传会生成新 id 的记录".to_owned(),
    }
}
