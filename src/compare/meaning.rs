//! What each finding code means and which severity it gets, in words. `docs/findings.md` is made from it.
//!
//! The texts describe the rules in `rules`; a rule that changes takes its text along.

use super::code::FindingCode;
use super::finding::{Lang, Remedy};

macro_rules! meanings {
    ($($variant:ident {
        means: $en:literal, $zh:literal;
        severity: $severity_en:literal, $severity_zh:literal;
    })*) => {
        impl FindingCode {
            /// What the code means: when it is said, and when not.
            pub const fn meaning(self, lang: Lang) -> &'static str {
                match (self, lang) { $((Self::$variant, Lang::En) => $en, (Self::$variant, Lang::Zh) => $zh),* }
            }

            /// Which severity it gets in which context.
            pub const fn severity_rule(self, lang: Lang) -> &'static str {
                match (self, lang) {
                    $((Self::$variant, Lang::En) => $severity_en, (Self::$variant, Lang::Zh) => $severity_zh),*
                }
            }
        }
    };
}

impl FindingCode {
    /// Remedies that a rule gives in place of the usual one where it knows more.
    pub const fn special_remedies(self) -> &'static [Remedy] {
        match self {
            Self::UndeletableRecord => &[Remedy::AssignTenant],
            Self::SizeMismatch => &[Remedy::LeaveTheSum],
            Self::MassAbsence => &[Remedy::UploadSentinel],
            Self::DanglingWorkflowReference => &[Remedy::BindFullName],
            Self::DeadRestorePoint => &[Remedy::InspectPoint],
            _ => &[],
        }
    }
}

meanings! {
    CheckpointInResourceNamespace {
        means: "The latest or the restored restore point of a live job lies below the base path of the resource center. \
            Everything below the base path counts, also below tenants that no longer exist. A delete of the tenant or of a \
            resource directory takes the state along, recursively and without Trash. The finding names the checkpoint root, \
            or the run directory if no root is configured there.",
            "运行中作业的最新恢复点或恢复来源位于资源中心 base path 之下。整个 base path 都算在内，包括已不存在的租户目录。\
            删除租户或资源目录会连同状态一起递归删除，且不经过 HDFS 回收站。位置一栏是 Checkpoint 根目录；\
            如果该处没有配置根目录，则是作业运行目录。";
        severity: "critical", "严重";
    }
    LiveJobCheckpointMissing {
        means: "The latest completed restore point of a live job is proven absent: its directory, or the `_metadata` in it. \
            The point it was restored from counts only while the job has no completed checkpoint of its own that is there. \
            Before it is said, Flink is asked again after its cache has run out, so a checkpoint that was merely replaced by a \
            newer one is not reported. A restore point whose `_metadata` names files that are proven absent counts as well: it exists \
            and cannot be restored from.",
            "运行中作业最近完成的恢复点已被证实不存在：目录不在，或其中的 `_metadata` 不在。只有当作业自己还没有可用的\
            已完成 Checkpoint 时，才检查它的恢复来源。下结论之前会等 Flink 的缓存过期后再问一次，因此只是被新 Checkpoint \
            取代的情况不会报告。`_metadata` 仍在、但其引用的文件已被证实不存在的恢复点同样报告：它存在，却无法恢复。";
        severity: "critical", "严重";
    }
    CheckpointNotAddressable {
        means: "A live job keeps its checkpoints in the JobManager (`JobManagerCheckpointStorage`): REST shows a marker in place of a \
            path. Nobody can restore from them once the JobManager is gone.",
            "运行中作业的 Checkpoint 保存在 JobManager 内存中（`JobManagerCheckpointStorage`）：REST 给出的是占位标记而不是路径。\
            JobManager 一旦退出，无法从这些 Checkpoint 恢复。";
        severity: "warning", "警告";
    }
    StaleResourceRecord {
        means: "A resource record (DolphinScheduler up to 3.1) whose file or directory is proven absent: the active NameNode answered \
            not-found, under a directory that was listed to the end. Said only for records older than `record_grace`. Where \
            DolphinScheduler can view files of that suffix, it is asked for its own opinion; if it can open the file, this is no stale record but a \
            `view-contradiction`.",
            "资源记录（DolphinScheduler 3.1 及以前）对应的文件或目录已被证实不存在：active NameNode 回答 not-found，且上级目录已完整列出。\
            只对早于 `record_grace` 的记录下结论。对于可在线查看的后缀，还会询问 DolphinScheduler 自己的看法；如果它能打开该文件，\
            则不是残留记录，而是 `view-contradiction`。";
        severity: "error if an ONLINE workflow or a UDF function uses the record, one above it or one below it; else warning",
            "已上线的工作流或 UDF 函数使用了该记录、其上级或下级记录时为错误；否则为警告";
    }
    MovedResourceRecord {
        means: "A record whose file is absent under the tenant its owner has now, while a file of the same name and size lies under another tenant: \
            the owner was moved, the files were not. A directory record counts if a record below it was moved. Said only after `record_grace`.",
            "按所有者当前租户推算的位置上没有文件，而另一个租户下有同名、同大小的文件：所有者换了租户，文件没有跟着移动。\
            目录记录只要下级有被移动的记录就算。仅在 `record_grace` 之后报告。";
        severity: "error if an ONLINE workflow or a UDF function uses the record, one above it or one below it; else warning",
            "已上线的工作流或 UDF 函数使用了该记录、其上级或下级记录时为错误；否则为警告";
    }
    UndeletableRecord {
        means: "The owner of the record was deleted, or belongs to no tenant. Every API call on such a record fails (10010, 10181), \
            so nobody can repair or remove it through the resource center.",
            "资源记录的所有者已被删除，或不属于任何租户。对这类记录的所有 API 调用都会失败（10010、10181），\
            因此无法通过资源中心修复或删除。";
        severity: "warning", "警告";
    }
    UnmanagedHdfsPath {
        means: "A file or directory below a tenant's `resources` or `udfs` directory that no record maps to (DolphinScheduler up to 3.1). \
            Of a directory without any record below it only the topmost is named. Silent while the records or users could not be read as a whole, and about \
            run directories in checkpoint roots.",
            "租户的 `resources` 或 `udfs` 目录下没有任何资源记录对应的文件或目录（DolphinScheduler 3.1 及以前）。\
            整个目录都没有记录时，只报告最上层。资源记录或用户列表没有读全时不报告；Checkpoint 根目录中的作业运行目录不算。";
        severity: "warning; info while it was modified less than `record_grace` ago", "警告；修改时间距今不足 `record_grace` 时为提示";
    }
    RenameSplit {
        means: "A record without its file, and beside it (or under the same name in another directory of the tenant) a file of the same size without a record: \
            the two halves of a rename that did not finish. The other half is named with it. Silent while the records or users could not be read as a whole.",
            "有记录而无文件，同时在同一目录（或租户的其他目录中同名）有一个大小相同而无记录的文件：是一次未完成的重命名留下的两半。\
            报告中会给出另一半。资源记录或用户列表没有读全时不报告。";
        severity: "error; warning while one of the halves is younger than `record_grace`", "错误；任一半的时间距今不足 `record_grace` 时为警告";
    }
    SizeMismatch {
        means: "Record and file differ in size: somebody changed the file behind the record. For a directory the record's running sum \
            is compared with the files below it; that sum drifts by itself in DolphinScheduler.",
            "资源记录与文件大小不一致：有人绕过资源中心改了文件。目录则比较记录中的累计值与其下文件的总大小；\
            这个累计值在 DolphinScheduler 中本来就会逐渐失准。";
        severity: "warning for a file, info for a directory", "文件为警告，目录为提示";
    }
    TypeMismatch {
        means: "The record says file and HDFS has a directory, or the other way round. A delete through the API would remove whatever is there, recursively.",
            "资源记录说是文件而 HDFS 上是目录，或者相反。通过 API 删除会递归删除该处的任何内容。";
        severity: "error", "错误";
    }
    IllegalResourceName {
        means: "A full name that must not be looked up: it climbs out of its tenant's directory, or holds a `.`, `..` or empty component or a control character.",
            "不应查询的名称：越出租户目录，或含有 `.`、`..`、空的路径段或控制字符。";
        severity: "critical if the name leaves the tenant's directory; else warning", "名称越出租户目录时为严重；否则为警告";
    }
    NameFormConflict {
        means: "A record without a file, beside a file whose name differs only in form: another Unicode form of the same letters, or one percent-encoding more.",
            "有记录而无文件，旁边有一个名称只是写法不同的文件：同一文字的另一种 Unicode 形式，或多了一层百分号编码。";
        severity: "warning", "警告";
    }
    ForeignEntryInRoot {
        means: "An entry of a checkpoint root that is no run directory: a file, or a directory that is not named by a job id where one is expected. \
            `.Trash` and `.snapshot` do not count.",
            "Checkpoint 根目录中不是作业运行目录的内容：文件，或本应以 job id 命名却不是的目录。`.Trash` 和 `.snapshot` 不算。";
        severity: "info", "提示";
    }
    DanglingWorkflowReference {
        means: "A task, online or offline, holds a reference to something that is not there: no record has that id or name, the record has lost its file, a record \
            below the directory has lost its file, or (from 3.2 on) the path does not exist or the task still holds a numeric id.",
            "任务（无论工作流是否上线）引用了不存在的资源：没有这个 id 或名称的记录，记录的文件已不在，所引用目录下有记录丢失了文件，\
            或者（3.2 及以后）路径不存在、任务仍持有数字 id。";
        severity: "error if the workflow is ONLINE, else warning", "工作流已上线时为错误，否则为警告";
    }
    WorkflowWritesCheckpointsIntoResources {
        means: "An option or statement in a task (program arguments, Flink options, SQL or shell text) sets a checkpoint or savepoint directory at or below the base path. \
            Nothing may have been written yet; the next start will. Only the matched option is kept, nothing else of the script.",
            "任务中的选项或语句（程序参数、Flink 选项、SQL 或 shell 脚本）把 Checkpoint 或 Savepoint 目录设在 base path 之下。\
            现在可能还没有写入，但下次启动就会写入。只保留匹配到的选项，不保留脚本的其他内容。";
        severity: "error if the workflow is ONLINE, else warning", "工作流已上线时为错误，否则为警告";
    }
    AmbiguousJobDir {
        means: "A run directory that cannot be given to one job: its id is all zeros or ends in sixteen zeros (derived from a cluster id), \
            so several applications can share it; or checkpoints lie directly where directories named by job ids are expected. A `[[registry]]` line with that job id and its `job_state` settles it.",
            "无法对应到唯一作业的运行目录：job id 全为零或以十六个零结尾（由 cluster id 推导），可能被多个应用共用；\
            或者 Checkpoint 直接位于本应是 job id 目录的位置。在 `[[registry]]` 中登记该 job id 及其 `job_state` 后不再报告。";
        severity: "error", "错误";
    }
    SharedStateDependency {
        means: "A run directory that a restore point of another run names files in, or from which a live job was restored with a mode \
            that is not NO_CLAIM. Found in the content of `_metadata`, since Flink records the claim mode nowhere and REST forgets \
            the first restore after a failover. A named file that is not where the name says counts for every run directory that \
            holds a file of that bare name.",
            "另一次运行的恢复点引用了该作业运行目录中的文件，或运行中的作业以非 NO_CLAIM 模式从这里恢复。依据来自 `_metadata` 的内容：\
            Flink 不会记录 Claim 模式，failover 之后 REST 也不再显示最初的恢复来源。被引用的文件不在所写位置时，\
            凡是含有同名文件的作业运行目录都算在内。";
        severity: "info; warning inside the resource namespace", "提示；位于资源中心目录内时为警告";
    }
    OrphanJobRunDir {
        means: "A run directory of which everything is proved that its removal needs: the end of its job was seen, a live run of the same \
            application has a complete checkpoint of its own since (or the application is given up), no kept restore point names \
            anything in it, nothing protects it, it is no generation that has to stay, and it is old enough. Views of other roots and the \
            limits of a plan are left aside. Inside the resource namespace it is said too, although only the resource API may act there.",
            "删除该作业运行目录所需的条件均已证实：看到了作业的终态；同一应用有运行中的作业，并在其后完成了自己的完整 Checkpoint（或应用已停用）；\
            保留的恢复点都不引用其中的文件；没有保护；不属于要保留的恢复代际；时间足够久。其他根目录的视图和计划的限额不计在内。\
            位于资源中心目录内时也会报告，但那里只能通过资源 API 处理。";
        severity: "warning", "警告";
    }
    ProtectedJobRunDir {
        means: "A run directory that has to stay because somebody needs it: its job is not over, there is no successor with a checkpoint of \
            its own that is there, a restore may have claimed its files, a protection or the rollback window covers it, or it is among \
            the newest restorable runs. The evidence names the first such reason.",
            "仍有人需要、必须保留的作业运行目录：作业尚未结束；没有已完成自身 Checkpoint 的后继运行；其文件可能被恢复的作业占用；\
            处于保护期或回滚窗口内；或属于最新的可恢复代际。依据给出第一个原因。";
        severity: "info", "提示";
    }
    UnknownOwnerRunDir {
        means: "A run directory of a job whose end nobody saw: no cluster, history server or registry line knows it in a terminal state. Not \
            listed is unknown, at any age. Silent while the views of its root are not usable.",
            "没有任何集群、History Server 或登记显示其作业已进入终态的运行目录。未列出即无法判断，与时间长短无关。\
            该根目录的视图不可用时不报告。";
        severity: "info", "提示";
    }
    DeadRestorePoint {
        means: "A restore point of the registry that is proven absent, whose `_metadata` cannot be read or understood, or that names files \
            that are proven absent. Its `_metadata` may be there and parse all the same: Flink itself removes shared files of restore \
            points that a later run has claimed.",
            "登记的恢复点已被证实不存在，或其 `_metadata` 无法读取、无法理解，或它引用的文件已被证实不存在。`_metadata` 可能仍在且可解析：\
            被后续运行占用（CLAIM）的恢复点，其共享文件会由 Flink 自行删除。";
        severity: "error if it is `current`, `rollback` or `pre-release`; else warning; info for one that nobody registered and whose \
            `_metadata` is not understood",
            "状态为 `current`、`rollback` 或 `pre-release` 时为错误；否则为警告；未登记但 `_metadata` 无法理解的为提示";
    }
    MigrationResidue {
        means: "A checkpoint root below the base path, the old root of a recorded migration, or a `.migrate` tree, that holds something and no state of a live job. \
            Silent while a Flink cluster has a gap.",
            "位于 base path 之下的 Checkpoint 根目录、已登记迁移的旧根目录或 `.migrate` 目录中还有内容，但没有运行中作业的状态。\
            任一 Flink 集群没有读全时不报告。";
        severity: "warning; info while a migration away from it is not finished", "警告；从该处迁出的迁移尚未完成时为提示";
    }
    ViewIncomplete {
        means: "Something that was asked for could not be read, so nothing is concluded about it. One finding a view and cluster; for HDFS one a topmost path. \
            Also said if recent run directories belong to no configured cluster: one may be missing from the configuration. It cannot be ignored.",
            "需要的内容没有读到，因此对该部分不下结论。每个视图、每个集群一项；HDFS 按最上层路径一项。\
            如果近期的作业运行目录不属于任何已配置的集群，也会报告：可能漏配了集群。此项不能被忽略规则隐藏。";
        severity: "error; warning if only the inside of one run directory is unread", "错误；只是某个作业运行目录内部未读到时为警告";
    }
    ViewContradiction {
        means: "Two answers that both claim to be whole disagree: the job lists of one cluster, the pages of one list, the configured and the probed version, \
            the server's storage listing and HDFS, or a file that HDFS calls absent and DolphinScheduler opens. One reader is wrong or looks somewhere else. It cannot be ignored.",
            "两个都自称完整的回答互相矛盾：同一集群的两份作业列表、同一列表的各页、配置的版本与探测到的版本、\
            服务端的存储列表与 HDFS，或者 HDFS 说不存在而 DolphinScheduler 能打开的文件。其中一方有误，或看的不是同一处。此项不能被忽略规则隐藏。";
        severity: "error; warning if it is only about the inside of one run directory", "错误；只涉及某个作业运行目录内部时为警告";
    }
    MassAbsence {
        means: "Nearly everything of a tenant looks absent: its directory is not there, no record is known to be present, or more than `max_delete_fraction` of its records are stale. \
            That is more often a wrong base path, file system or storage type than the truth, so no single record of this tenant is judged. If a record is newer than the last change of its directory, or DolphinScheduler itself opens a file that is absent here, this is not where the server writes. It cannot be ignored.",
            "一个租户的资源几乎全部缺失：租户目录不存在，没有任何记录被证实存在，或残留记录超过 `max_delete_fraction`。\
            这多半是 base path、文件系统或存储类型配置不对，而不是事实，因此不判断该租户的单条记录。\
            如果某条记录比其目录的最后修改时间还新，或 DolphinScheduler 自己能打开这里不存在的文件，说明服务端不是写在这里。此项不能被忽略规则隐藏。";
        severity: "critical", "严重";
    }
    AuthorityUnresolved {
        means: "State of a live job, a registered restore point, a workflow's reference or the server's base directory names a file system (host, port or nameservice) that is neither the one read nor a declared alias. \
            It may be the same one under another name, so nothing there is judged. It cannot be ignored.",
            "运行中作业的状态、已登记的恢复点、工作流引用或服务端的 base directory 指向一个既不是当前读取、也未声明为别名的文件系统\
            （主机、端口或 nameservice）。它可能就是同一个文件系统的另一种写法，因此不对其下结论。此项不能被忽略规则隐藏。";
        severity: "error", "错误";
    }
    ClockSkew {
        means: "This host and the NameNode differ by more than five minutes, or the newest file or record lies more than five minutes in the future. Ages cannot be judged then. It cannot be ignored.",
            "本机与 NameNode 的时钟相差超过五分钟，或最新的文件、资源记录的时间比现在晚五分钟以上。此时无法判断时长。此项不能被忽略规则隐藏。";
        severity: "error", "错误";
    }
    UnsupportedStorage {
        means: "The base directory that the server names (DolphinScheduler 3.2 and later) is in no HDFS but in S3, OSS or a local file system, so HDFS says nothing about its resources. It cannot be ignored.",
            "服务端（DolphinScheduler 3.2 及以后）给出的 base directory 不在 HDFS 上，而在 S3、OSS 或本地文件系统中，HDFS 无法说明其资源情况。此项不能被忽略规则隐藏。";
        severity: "error", "错误";
    }
    TrashUnavailable {
        means: "A run directory could go, and the server's Trash is off or is emptied sooner than `min_trash_interval`: a move there would be \
            no undo. The server's own interval counts. Silent where the server does not tell it (NameNodes before 3.3).",
            "有作业运行目录可以处理，但服务端的 HDFS 回收站已关闭，或清空得比 `min_trash_interval` 更早：移入回收站起不到可撤销的作用。\
            以服务端的设置为准。服务端不告知时（3.3 之前的 NameNode）不报告。";
        severity: "error", "错误";
    }
    DeleteBlocked {
        means: "A run directory that nothing needs any more is, or holds, a directory with snapshots. HDFS refuses to delete or rename such a \
            directory and everything above it.",
            "已无人需要的作业运行目录本身或其中某个目录带有快照。HDFS 拒绝删除或重命名这类目录及其所有上级目录。";
        severity: "warning", "警告";
    }
    ConfigRefused {
        means: "Something the configuration asks for is readable but unsafe or without effect, and was not put into effect: a root that is too broad or around the resource namespace, roots that hold one another, \
            a `protect` entry that matches nothing, an expired ignore, an ignore of something that cannot be ignored, or no Flink named. One finding for all of them. It cannot be ignored.",
            "配置中有可读但不安全或不起作用的设置，未生效：根目录过宽或包含资源中心目录、根目录互相包含、\
            `protect` 没有匹配到任何内容、已过期的忽略规则、试图忽略不可忽略的问题，或没有声明 Flink。全部合为一项。此项不能被忽略规则隐藏。";
        severity: "error", "错误";
    }
    PlanStale {
        means: "A plan is no longer good: it expired, the configuration that decides has changed, or the record of one of its actions, \
            or a gate it rests on, is no longer as it was planned. Nothing was done to it.",
            "计划已失效：已过期、起决定作用的配置有变化，或其中某个动作的记录、所依据的条件与计划时不一致。未对其做任何操作。";
        severity: "error", "错误";
    }
    PlanAlreadyApplied {
        means: "Every record of the plan is gone and nothing is at its path. That was seen by looking; no call was made.",
            "计划中的所有记录都已不存在，对应路径上也没有任何内容。这是查看得知的，没有发出调用。";
        severity: "info", "提示";
    }
    ApplyBlocked {
        means: "The run was stopped before a call: somebody else holds the lease, the NameNode takes no writes (safe mode), an \
            earlier run broke off and what became of it cannot be seen, a view failed, or the plan is not one this ledger recorded.",
            "在发出调用之前停止：租约被他人持有、NameNode 不接受写入（安全模式）、先前的执行中断且结果无法查明、某个视图读取失败，或该计划不是本台账记录的计划。";
        severity: "error", "错误";
    }
    ApiDeleteRefused {
        means: "The server answered with a code that means it did nothing: the record is used, has children, is bound, or the right \
            is missing. The record is still there; nothing else was tried.",
            "服务端以错误码表示没有执行：记录被使用、有子项、已绑定，或缺少权限。记录仍在，没有尝试其他办法。";
        severity: "error", "错误";
    }
    ActionOutcome {
        means: "A call was made and what became of it cannot be told: the answer was unclear, and reading back did not show that \
            it was done. The run stopped there. The call is never repeated by itself.",
            "已发出调用但结果无法判断：应答不明确，回读也未能证实已完成。执行就此停止，程序不会自行重复调用。";
        severity: "error", "错误";
    }
    ResidueAfterDelete {
        means: "The server reported success, and the views show that the record or something at its path is still there. The run \
            stopped there.",
            "服务端报告成功，但视图显示记录或其路径上仍有内容。执行就此停止。";
        severity: "error", "错误";
    }
}
