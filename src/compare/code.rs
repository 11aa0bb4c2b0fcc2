//! The finding codes, with title, meaning and remedy. The one owner of that list: docs, schema and pages are made from it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::finding::{Lang, Remedy};

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; not drift.
    Info,
    /// Drift.
    Warning,
    /// Drift that hurts, or a view that cannot be trusted.
    Error,
    /// Live state is lost or about to be.
    Critical,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
        })
    }
}

/// What a finding does to the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// The systems disagree (exit 2 from severity warning on).
    Drift,
    /// Worth knowing only.
    Note,
    /// A view is incomplete or a guard closed (exit 3 in reports).
    Incomplete,
    /// Something was not done on purpose (exit 4).
    Refused,
    /// Something was attempted and is not proven done (exit 5).
    NotProven,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $text:literal, $effect:ident, $remedy:ident, $title_en:literal, $title_zh:literal;)*) => {
        /// A finding code. The text is never changed once released.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
        pub enum FindingCode {
            $($(#[$doc])* #[serde(rename = $text)] $variant,)*
        }

        impl FindingCode {
            /// All codes, in the order reports use.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The kebab-case text.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }

            /// A short title.
            pub const fn title(self, lang: Lang) -> &'static str {
                match (self, lang) { $((Self::$variant, Lang::En) => $title_en, (Self::$variant, Lang::Zh) => $title_zh),* }
            }

            /// What it does to the exit code.
            pub const fn effect(self) -> Effect {
                match self { $(Self::$variant => Effect::$effect),* }
            }

            /// The usual remedy; a rule may give a more exact one.
            pub const fn remedy(self) -> Remedy {
                match self { $(Self::$variant => Remedy::$remedy),* }
            }
        }
    };
}

codes! {
    /// A live job keeps state below the base path of the resource center, where a tenant or resource delete takes it along.
    CheckpointInResourceNamespace = "checkpoint-in-resource-namespace", Drift, MoveRootOut,
        "live checkpoints inside the resource namespace", "Checkpoint 写入了资源中心目录";
    /// The latest completed restore point of a live job is not there.
    LiveJobCheckpointMissing = "live-job-checkpoint-missing", Drift, TakeSavepointNow,
        "the restore point of a live job is gone", "运行中作业的恢复点已丢失";
    /// A live job keeps its checkpoints where nobody can restore from.
    CheckpointNotAddressable = "checkpoint-not-addressable", Drift, UseCheckpointStorage,
        "a live job's checkpoints have no path", "运行中作业的 Checkpoint 没有可用路径";
    /// A record whose path is proven absent.
    StaleResourceRecord = "stale-resource-record", Drift, RestoreOrRemoveRecord,
        "stale resource record", "残留的资源记录（HDFS 已不存在）";
    /// A record whose file lies under another tenant.
    MovedResourceRecord = "moved-resource-record", Drift, MoveOwnerBack,
        "record and file are under different tenants", "记录与文件分处两个租户";
    /// A record that no API call can act on: its owner is gone or has no tenant.
    UndeletableRecord = "undeletable-record", Drift, OwnerIsGone,
        "no call can act on this record", "该资源记录的所有者已删除或没有租户，无法通过 API 处理";
    /// A file or directory below a tenant's directory that has no record.
    UnmanagedHdfsPath = "unmanaged-hdfs-path", Drift, RegisterOrRemoveByHand,
        "HDFS path without a resource record", "未登记的 HDFS 路径";
    /// A record and a file that are two halves of one rename.
    RenameSplit = "rename-split", Drift, FinishRename,
        "half-done rename", "重命名只完成了一半";
    /// Record and HDFS disagree about the size.
    SizeMismatch = "size-mismatch", Drift, UploadAgain,
        "size differs from the record", "大小与资源记录不一致";
    /// Record and HDFS disagree about file or directory.
    TypeMismatch = "type-mismatch", Drift, InspectByHand,
        "file here, directory there", "类型（文件／目录）与资源记录不一致";
    /// A full name that must not be looked up.
    IllegalResourceName = "illegal-resource-name", Drift, ReviewRow,
        "illegal resource name", "非法的资源名称";
    /// A record without a file beside a file whose name differs only by form.
    NameFormConflict = "name-form-conflict", Drift, RenameOneOfTwo,
        "names differ only in form", "名称仅编码或 Unicode 形式不同";
    /// An entry of a checkpoint root that is no run directory.
    ForeignEntryInRoot = "foreign-entry-in-root", Drift, MoveElsewhere,
        "entry in a checkpoint root that is no run directory", "Checkpoint 根目录中有非作业运行目录";
    /// A task holds a reference to something that is not there.
    DanglingWorkflowReference = "dangling-workflow-reference", Drift, RebindTask,
        "workflow references a missing resource", "工作流引用了不存在的资源";
    /// A task sets a checkpoint directory below the base path.
    WorkflowWritesCheckpointsIntoResources = "workflow-writes-checkpoints-into-resources", Drift, ChangeTaskOption,
        "a task puts checkpoints into the resource namespace", "任务把 Checkpoint 目录设在资源中心目录下";
    /// A run directory that cannot be given to one job.
    AmbiguousJobDir = "ambiguous-job-dir", Drift, UniqueJobIds,
        "run directory of several jobs", "作业运行目录无法对应到唯一作业";
    /// A run directory that somebody else's state rests on.
    SharedStateDependency = "shared-state-dependency", Drift, KeepUntilFree,
        "another run needs files of this one", "其他作业运行的状态依赖该目录中的文件";
    /// A run directory that nothing needs any more.
    OrphanJobRunDir = "orphan-job-run-dir", Drift, RetireRun,
        "run directory that nothing needs any more", "已无人需要的作业运行目录";
    /// A run directory that has to stay.
    ProtectedJobRunDir = "protected-job-run-dir", Drift, NothingToDo,
        "run directory that has to stay", "需要保留的作业运行目录";
    /// A run directory of which nobody saw the end.
    UnknownOwnerRunDir = "unknown-owner-run-dir", Drift, SayHowItEnded,
        "run directory of a job nobody remembers", "无法确认作业是否已结束的运行目录";
    /// A registered restore point that nobody can restore from.
    DeadRestorePoint = "dead-restore-point", Drift, RegisterAnother,
        "registered restore point that cannot be restored from", "已登记的恢复点无法恢复";
    /// A root inside the namespace that holds only what is over.
    MigrationResidue = "migration-residue", Drift, RetireLeftovers,
        "left-over state inside the resource namespace", "资源中心目录中残留的旧状态";
    /// A view could not be read as a whole.
    ViewIncomplete = "view-incomplete", Incomplete, MakeReadable,
        "a view is incomplete", "视图不完整，无法判断";
    /// A view that claims to be whole is not believed.
    ViewContradiction = "view-contradiction", Incomplete, CompareSystems,
        "a view contradicts itself or another one", "视图自相矛盾或互相矛盾";
    /// Nearly everything of a tenant or root looks absent.
    MassAbsence = "mass-absence", Incomplete, CheckMapping,
        "nearly everything looks absent", "几乎全部缺失，怀疑映射有误";
    /// An authority that nobody declared.
    AuthorityUnresolved = "authority-unresolved", Incomplete, DeclareAuthority,
        "unknown file system", "无法识别的文件系统";
    /// Clocks disagree, or a time lies in the future.
    ClockSkew = "clock-skew", Incomplete, FixClocks,
        "clocks disagree", "时钟不一致";
    /// The resource center does not store in HDFS.
    UnsupportedStorage = "unsupported-storage", Incomplete, NothingToCompare,
        "the resource center does not store in HDFS", "资源中心未使用 HDFS 存储";
    /// The Trash is off or empties too soon, while something could go there.
    TrashUnavailable = "trash-unavailable", Drift, TurnTrashOn,
        "no Trash to move things to", "HDFS 回收站不可用或保留时间过短";
    /// Something that HDFS would refuse to delete or move.
    DeleteBlocked = "delete-blocked", Drift, RemoveSnapshots,
        "snapshots hold this directory", "快照占用该目录，无法删除或移动";
    /// A setting that is unsafe.
    ConfigRefused = "config-refused", Incomplete, ChangeConfig,
        "unsafe setting", "因安全规则拒绝的配置";
    /// A plan, or a record in it, that is no longer as it was planned.
    PlanStale = "plan-stale", Refused, PlanAnew,
        "no longer as planned", "与计划时不一致";
    /// A plan all of which was done before.
    PlanAlreadyApplied = "plan-already-applied", Note, NothingToDo,
        "the plan was applied before", "计划已执行过";
    /// The run was stopped before the first call.
    ApplyBlocked = "apply-blocked", Refused, WaitAndApply,
        "nothing was done", "因安全规则拒绝执行";
    /// The server refused a delete clearly.
    ApiDeleteRefused = "api-delete-refused", NotProven, ReadTheRefusal,
        "the server refused the delete", "服务端拒绝删除";
    /// An action whose outcome cannot be told.
    ActionOutcome = "action-outcome", NotProven, LookByHand,
        "the outcome cannot be told", "结果无法判断";
    /// Success was reported and something is still there.
    ResidueAfterDelete = "residue-after-delete", NotProven, LookByHand,
        "success was reported, something is still there", "已报告成功，但仍有残留";
}

impl fmt::Display for FindingCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::str::FromStr for FindingCode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .iter()
            .copied()
            .find(|code| code.as_str() == text)
            .ok_or_else(|| format!("`{text}` is no finding code"))
    }
}
