//! The words of a plan in both languages.

use super::Obstacle;
use crate::compare::Lang;
use crate::gates::{Gate, Verdict};
use crate::plan::effect::effect;
use crate::plan::{Action, Effect, Plan};

/// The effect of an action in a language. A text that is not this program's own is shown as it stands in the plan.
pub fn effect_of(plan: &Plan, action: &Action, lang: Lang) -> Effect {
    let own = |lang| effect(plan.generation, &action.target, lang);
    if action.effect == own(Lang::En) { own(lang) } else { action.effect.clone() }
}

/// The condition of a gate.
pub(super) const fn gate(gate: Gate, lang: Lang) -> &'static str {
    match lang {
        Lang::En => gate_en(gate),
        Lang::Zh => gate_zh(gate),
    }
}

const fn gate_en(gate: Gate) -> &'static str {
    match gate {
        Gate::Version => "a server whose delete is known",
        Gate::View => "every view read whole",
        Gate::Guard => "no guard closed",
        Gate::Identity => "name, owner and tenant known now",
        Gate::Absent => "the path proven absent",
        Gate::AbsentTwice => "absent in an earlier run as well",
        Gate::Sentinel => "something of this tenant seen that exists",
        Gate::SameStore => "the server looks at the same file system",
        Gate::Grace => "older than `record_grace`",
        Gate::Stale => "stale and nothing else",
        Gate::Unreferenced => "used by no workflow, online or offline",
        Gate::Unbound => "bound to no UDF function",
        Gate::NoLiveState => "no live Flink state at, below or above it",
        Gate::Children => "everything below it goes first",
        Gate::Parents => "the records above agree with HDFS",
        Gate::Trash => "no copy of its file in a Trash",
    }
}

const fn gate_zh(gate: Gate) -> &'static str {
    match gate {
        Gate::Version => "该版本服务端的删除行为已知",
        Gate::View => "各视图均完整读取",
        Gate::Guard => "没有触发保护规则",
        Gate::Identity => "名称、所有者、租户均已确认",
        Gate::Absent => "已证实路径不存在",
        Gate::AbsentTwice => "之前的一次运行也看到不存在",
        Gate::Sentinel => "看到该租户下确实存在的资源",
        Gate::SameStore => "服务端与本程序看的是同一文件系统",
        Gate::Grace => "已超过 `record_grace`",
        Gate::Stale => "只是残留，没有其他问题",
        Gate::Unreferenced => "没有工作流引用（含已下线的）",
        Gate::Unbound => "没有绑定 UDF 函数",
        Gate::NoLiveState => "该路径及其上下级没有运行中作业的状态",
        Gate::Children => "下级先于它删除",
        Gate::Parents => "上级记录与 HDFS 一致",
        Gate::Trash => "HDFS 回收站中没有其文件的副本",
    }
}

/// The answer of a gate.
pub(super) const fn verdict(verdict: Verdict, lang: Lang) -> &'static str {
    match (verdict, lang) {
        (Verdict::Proved, Lang::En) => "proved",
        (Verdict::Refuted, Lang::En) => "refuted",
        (Verdict::Unknown, Lang::En) => "unknown",
        (Verdict::Proved, Lang::Zh) => "已证实",
        (Verdict::Refuted, Lang::Zh) => "已否定",
        (Verdict::Unknown, Lang::Zh) => "无法判断",
    }
}

/// What speaks against applying.
pub(super) const fn obstacle(obstacle: Obstacle, lang: Lang) -> &'static str {
    match (obstacle, lang) {
        (Obstacle::FromFile, Lang::En) => {
            "it was made from a saved inventory: it can be shown, never applied; plan again without --from"
        }
        (Obstacle::FromFile, Lang::Zh) => "根据保存的清单生成：只能查看，不能执行；请去掉 --from 重新生成",
        (Obstacle::Edited, Lang::En) => {
            "the file was changed: its hash is not that of its content; plan again instead of editing"
        }
        (Obstacle::Edited, Lang::Zh) => "文件被改动：哈希与内容不符；请重新生成计划，不要手工修改",
        (Obstacle::NotRecorded, Lang::En) => {
            "this ledger did not record it; name the one it was made with (--ledger), or plan again"
        }
        (Obstacle::NotRecorded, Lang::Zh) => "该台账没有记录此计划；用 --ledger 指定生成时的台账，或重新生成",
        (Obstacle::Expired, Lang::En) => "it has expired; plan again",
        (Obstacle::Expired, Lang::Zh) => "已过期；请重新生成",
        (Obstacle::ConfigurationChanged, Lang::En) => {
            "the configuration that decides (servers, tenants, roots, policies, registry) is not the one it was made with; \
             plan again"
        }
        (Obstacle::ConfigurationChanged, Lang::Zh) => {
            "起决定作用的配置（服务端、租户、根目录、策略、登记）与生成时不同；请重新生成"
        }
    }
}
