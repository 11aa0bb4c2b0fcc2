//! One drift, typed: what, where, how bad, on what evidence, and what to do.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::code::{FindingCode, Severity};
use crate::domain::{Authority, HdfsPath, JobId, RecordId, WorkflowCode};
use crate::views::ViewName;
use crate::views::resources::Reference;

/// Language of titles and remedies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Chinese.
    Zh,
}

/// What a finding is on. All keys together identify it; the fingerprint is made from them and the code.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Target {
    /// HDFS path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Resource record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<RecordId>,
    /// Workflow definition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<WorkflowCode>,
    /// What the task holds: record id or full name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
    /// View.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<ViewName>,
    /// Cluster name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// Job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobId>,
    /// Authority of a file system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authority: Option<Authority>,
}

impl Target {
    /// A path.
    pub fn path(path: &HdfsPath) -> Self {
        Self { path: Some(path.to_string()), ..Self::default() }
    }

    /// A record and the path it maps to.
    pub fn record(id: RecordId, path: Option<&HdfsPath>) -> Self {
        Self { record: Some(id), path: path.map(ToString::to_string), ..Self::default() }
    }
}

/// One drift.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Finding {
    /// Code.
    pub code: FindingCode,
    /// Severity in this context.
    pub severity: Severity,
    /// What it is on.
    #[serde(flatten)]
    pub target: Target,
    /// The other half, where there is one: an HDFS path or a record id as text. Not part of the identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
    /// What was seen, one fact a line, in English.
    pub evidence: Vec<String>,
    /// What to do.
    pub remedy: Remedy,
    /// The rule that said so, by module and function.
    pub rule: String,
}

impl Finding {
    /// A finding with the usual remedy of its code.
    pub fn new(code: FindingCode, severity: Severity, target: Target, rule: &'static str) -> Self {
        Self { code, severity, target, other: None, evidence: Vec::new(), remedy: code.remedy(), rule: rule.to_owned() }
    }

    /// The same finding with one more fact.
    #[must_use]
    pub fn because(mut self, fact: impl Into<String>) -> Self {
        self.evidence.push(fact.into());
        self
    }

    /// The same finding with another remedy.
    #[must_use]
    pub fn with_remedy(mut self, remedy: Remedy) -> Self {
        self.remedy = remedy;
        self
    }

    /// The same finding with its other half.
    #[must_use]
    pub fn with_other(mut self, other: &impl ToString) -> Self {
        self.other = Some(other.to_string());
        self
    }

    /// Sixteen hex digits that stay the same from run to run: made from code and target only, not from severity or evidence.
    pub fn fingerprint(&self) -> String {
        // serde_json sorts object keys (no `preserve_order`), so this text is canonical.
        let key = serde_json::json!([self.code, self.target]).to_string();
        let digest = Sha256::digest(key.as_bytes());
        digest.iter().take(8).fold(String::with_capacity(16), |mut text, byte| {
            // Writing to a String cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

macro_rules! remedies {
    ($($(#[$doc:meta])* $variant:ident = $en:literal, $zh:literal;)*) => {
        /// What to do about a finding.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Remedy {
            $($(#[$doc])* $variant,)*
        }

        impl Remedy {
            /// All remedies.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The remedy in words.
            pub const fn text(self, lang: Lang) -> &'static str {
                match (self, lang) { $((Self::$variant, Lang::En) => $en, (Self::$variant, Lang::Zh) => $zh),* }
            }
        }
    };
}

remedies! {
    /// Move the checkpoint root.
    MoveRootOut =
        "Give the job a checkpoint root outside the resource namespace and restart it from a savepoint; until then delete neither the tenant nor the resource directory, both take the state along.",
        "把作业的 Checkpoint 根目录迁出资源中心目录，并从 Savepoint 重启；在此之前不要删除该租户或资源目录，否则状态会一并删除。";
    /// Save what can be saved.
    TakeSavepointNow =
        "Take a savepoint of the running job now, to a root outside the resource namespace; look in the Trash of every account that can write there; delete nothing of this application.",
        "立即为运行中的作业做一次 Savepoint，存到资源中心目录之外；检查所有有写权限账号的 HDFS 回收站；不要删除该应用的任何状态。";
    /// Use a real checkpoint storage.
    UseCheckpointStorage =
        "Set a checkpoint directory in HDFS for this job, or take a savepoint before any move: it cannot be restored from a checkpoint as it is.",
        "为该作业设置 HDFS 上的 Checkpoint 目录；迁移前先做 Savepoint，目前无法从 Checkpoint 恢复。";
    /// Restore the file or remove the record.
    RestoreOrRemoveRecord =
        "If the file is still needed, bring it back (Trash, backup, new upload under the same name); if not, remove the record in the resource center, children first.",
        "仍需要该文件时，从回收站、备份恢复或以同名重新上传；不需要时在资源中心删除该资源记录，先删子项。";
    /// Restore from Trash or confirm.
    RestoreFromTrash =
        "A copy waits in a Trash: restore it from there, or confirm that the deletion was meant before the record goes.",
        "HDFS 回收站中还有副本：从回收站恢复，或确认确实要删除后再处理记录。";
    /// Undo the move of the owner.
    MoveOwnerBack =
        "Move the owner back to the old tenant, or copy the file to the directory of the new one.",
        "把所有者移回原租户，或把文件复制到新租户的目录。";
    /// The owner was deleted.
    OwnerIsGone =
        "No call can act on it any more, and a user made again under the same name gets another id. If it has to go, whoever runs the database of DolphinScheduler gives the row another owner first; until then it only keeps its name taken.",
        "任何 API 调用都无法再处理该记录，同名重建的用户会得到新的 id。确需清理时，由 DolphinScheduler 数据库管理员先为该行指定其他所有者；在此之前它只是占用名称。";
    /// The owner has no tenant.
    AssignTenant =
        "An administrator has to assign a tenant to the owner; until then every call on this record fails.",
        "需要管理员为该所有者指定租户；在此之前对该记录的任何调用都会失败。";
    /// Register or remove.
    RegisterOrRemoveByHand =
        "Ask the owner of the path; upload the file through the resource center if tasks need it, else remove it by hand. The resource API cannot act on what has no record.",
        "询问路径的所有者；任务需要时通过资源中心重新上传，否则人工删除。没有记录的路径，资源 API 无法处理。";
    /// Finish the rename.
    FinishRename =
        "Finish or revert the rename: the record and this file belong together. Do not delete either.",
        "完成或撤销这次重命名：记录与该文件是同一资源的两半，不要删除任何一个。";
    /// Upload again.
    UploadAgain =
        "Find out who changed the file behind the record, and upload the right one through the resource center.",
        "查明是谁绕过资源中心改了文件，并通过资源中心上传正确的文件。";
    /// A sum that drifts by itself.
    LeaveTheSum =
        "Nothing to do: DolphinScheduler's own sum for a directory drifts, with uploads at the same time and with every file that comes or goes behind its back.",
        "无需处理：DolphinScheduler 为目录累计的大小会自行偏移，例如并发上传，或有文件绕过它增减。";
    /// Look by hand.
    InspectByHand =
        "Look at the path by hand: a delete through the API would take whatever sits there, recursively.",
        "人工检查该路径：通过 API 删除会递归删除该路径下的任何内容。";
    /// Security review.
    ReviewRow =
        "Have an administrator review this row: its name does not stay inside the tenant's directory or holds what no name should. It was not looked up.",
        "请管理员做安全检查：该记录的名称越出租户目录或含有非法内容，未做任何查询。";
    /// Rename one.
    RenameOneOfTwo =
        "Confirm by hand which of the two names is meant and rename the other; a file of nearly the same name exists.",
        "人工确认以哪个名称为准，并重命名另一个；存在名称几乎相同的文件。";
    /// Move it elsewhere.
    MoveElsewhere =
        "Keep savepoints, HA data and notes outside checkpoint roots; this entry is never touched.",
        "Savepoint、HA 数据和说明文件请放到 Checkpoint 根目录之外；本程序不会处理该项。";
    /// Rebind the task.
    RebindTask =
        "Bring the file back, or bind the task to the resource again in the workflow editor; removing records does not help the task.",
        "恢复该文件，或在工作流编辑器中重新绑定资源；删除记录解决不了任务的问题。";
    /// Rebind to a known record.
    RebindToCandidate =
        "Bind the task again: a resource of that name exists under a new id, the task still holds the old one.",
        "重新绑定任务：同名资源已有新的 id，任务仍持有旧 id。";
    /// Bind by full name.
    BindFullName =
        "Bind the task to the full name again: since 3.2 numeric ids mean nothing to the resource center.",
        "用完整名称重新绑定任务：自 3.2 起资源中心不再识别数字 id。";
    /// Change the option.
    ChangeTaskOption =
        "Change the directory in the task before its next start, to a root outside the resource namespace.",
        "在下次启动前修改任务中的目录，改到资源中心目录之外。";
    /// Unique ids.
    UniqueJobIds =
        "Give every application its own checkpoint root, or a fixed unique job id (or a cluster id of its own).",
        "为每个应用使用独立的 Checkpoint 根目录，或固定且唯一的作业 id（或独立的 cluster id）。";
    /// Nothing may go while the other run needs it.
    KeepUntilFree =
        "Keep this directory: a restore of the other run needs files in it. It is free once no `_metadata` that is kept names anything in it, which a savepoint in canonical format and a restart from it bring about.",
        "保留该目录：另一次运行恢复时需要其中的文件。当保留的 `_metadata` 都不再引用其中的文件时才可释放；做一次 canonical 格式的 Savepoint 并从它重启即可达到。";
    /// It may go.
    RetireRun =
        "Nothing needs it any more; `statewarden explain PATH` prints every gate with its evidence. Move it to the Trash or a quarantine as a whole, never single parts of it.",
        "已无人需要；`statewarden explain PATH` 会列出每个条件及其依据。请整体移入 HDFS 回收站或隔离区，不要只移动其中一部分。";
    /// Somebody has to say how the job ended.
    SayHowItEnded =
        "Say in `[[registry]]` how this run ended (`flink_job_id`, `job_state`, `job_ended`), or add the history server that saw it; until then it stays.",
        "在 `[[registry]]` 中写明该次运行如何结束（`flink_job_id`、`job_state`、`job_ended`），或加入记录过它的 History Server；在此之前予以保留。";
    /// The registration protects nothing.
    RegisterAnother =
        "Register another restore point for this application, such as a new savepoint of the running job; this one cannot be restored from.",
        "为该应用登记另一个恢复点，例如对运行中的作业新做一次 Savepoint；当前登记的恢复点已无法恢复。";
    /// The Trash is no undo.
    TurnTrashOn =
        "Have the administrator of HDFS set `fs.trash.interval` on the NameNode to at least `min_trash_interval`, or set `policies.quarantine`; nothing is deleted for good in place of a move to the Trash.",
        "请 HDFS 管理员在 NameNode 上把 `fs.trash.interval` 设为不小于 `min_trash_interval`，或设置 `policies.quarantine`；不会以直接删除代替移入回收站。";
    /// Snapshots first.
    RemoveSnapshots =
        "Remove the snapshots first if nobody needs them (`hdfs dfs -deleteSnapshot`); they are somebody's backup, so ask. A move around them is no way out.",
        "确认无人需要后先删除快照（`hdfs dfs -deleteSnapshot`）；快照可能是他人的备份，请先询问。不要用移动来绕过。";
    /// A restore point that is not understood.
    InspectPoint =
        "Look at this `_metadata` by hand (`statewarden metadata PATH` names the place that is not understood). While it stays, no other run directory can be proved free.",
        "人工检查该 `_metadata`（`statewarden metadata PATH` 会指出无法理解的位置）。它还在时，无法证实其他作业运行目录已可释放。";
    /// Retire leftovers.
    RetireLeftovers =
        "Check that nobody needs this state any more, then remove it through the resource center; nothing live is below it.",
        "确认无人需要这些状态后，通过资源中心删除；其下没有运行中的作业。";
    /// Make it readable.
    MakeReadable =
        "Make the missing part readable (see the evidence) and run again; nothing is concluded about it until then. `statewarden doctor` says what is missing.",
        "按依据中的说明恢复可读后重新运行；在此之前不对该部分下结论。`statewarden doctor` 会说明缺少什么。";
    /// Compare the systems.
    CompareSystems =
        "Compare the two answers by hand: one reader is wrong or looks somewhere else (file system, tenant, token, storage plug-in).",
        "人工比对两边的答案：其中一方有误，或看的不是同一处（文件系统、租户、token、存储插件）。";
    /// Check the mapping.
    CheckMapping =
        "Check base path, default file system and storage type of the server against the configuration; the single records are not judged until then.",
        "核对服务端的 base path、默认文件系统、存储类型与配置是否一致；在此之前不判断单条记录。";
    /// Upload a sentinel.
    UploadSentinel =
        "If the records really are all stale: upload one small text file to this tenant in the resource center and run again; it proves that both sides look at the same place. Otherwise check base path, default file system and storage type of the server.",
        "若这些记录确实全部残留：在资源中心为该租户上传一个小文本文件后重新运行，以证明两边看的是同一处；否则请核对服务端的 base path、默认文件系统和存储类型。";
    /// Declare the authority.
    DeclareAuthority =
        "Say in `[aliases]` which file system this is, e.g. \"hdfs://nn-a:8020\" = \"hdfs://ns1\", or point `hdfs.conf_dir` at the cluster's configuration.",
        "在 `[aliases]` 中声明它是哪个文件系统，例如 \"hdfs://nn-a:8020\" = \"hdfs://ns1\"，或让 `hdfs.conf_dir` 指向集群配置。";
    /// Fix clocks.
    FixClocks =
        "Synchronise the clocks (NTP) of this host and the NameNode, or set `ds.time_zone` if times of DolphinScheduler lie in the future; ages are not judged until then.",
        "同步本机与 NameNode 的时钟（NTP）；若 DolphinScheduler 的时间在未来，请设置 `ds.time_zone`。在此之前不判断任何时长。";
    /// Nothing to compare.
    NothingToCompare =
        "The server keeps its resources elsewhere; HDFS says nothing about them. Point the configuration at the right server, or leave `[ds]` out.",
        "该服务端的资源存储在别处，HDFS 无法说明其情况。请改为正确的服务端，或去掉 `[ds]`。";
    /// Plan anew.
    PlanAnew =
        "Nothing was done to it. Look at what changed, then make a new plan: `statewarden plan`.",
        "未对其做任何操作。查看变化后重新生成计划：`statewarden plan`。";
    /// Nothing to do.
    NothingToDo =
        "Nothing is left to do.",
        "没有需要执行的操作。";
    /// Wait.
    WaitAndApply =
        "Remove the cause named in the evidence and apply the same plan again before it expires.",
        "消除依据中所述原因后，在计划过期前重新执行同一计划。";
    /// Read the refusal.
    ReadTheRefusal =
        "The record is still there. The code says why: a use, a child, or a missing right; nothing else was tried.",
        "记录仍在。错误码说明了原因：被使用、有子项或权限不足；没有尝试其他办法。";
    /// Look by hand.
    LookByHand =
        "Look at the record and its path by hand, then make a new plan. The call is never repeated by itself.",
        "人工检查该记录及其路径，然后重新生成计划。程序不会自行重复调用。";
    /// Change the configuration.
    ChangeConfig =
        "Change the setting named in the evidence; it was not put into effect.",
        "修改依据中指出的配置项；该项未生效。";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_hangs_on_code_and_target_alone() {
        let target = Target { path: Some("/a".into()), ..Target::default() };
        let finding = Finding::new(FindingCode::SizeMismatch, Severity::Warning, target.clone(), "test");
        let other = Finding { severity: Severity::Info, ..finding.clone() }.because("something");
        assert_eq!(finding.fingerprint(), other.fingerprint());
        assert_ne!(
            finding.fingerprint(),
            Finding::new(FindingCode::TypeMismatch, Severity::Warning, target, "test").fingerprint()
        );
        assert_eq!(finding.fingerprint(), "ffcf0006e0b57b73");
    }
}
