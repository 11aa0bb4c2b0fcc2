//! DolphinScheduler over its REST API: 2.0, 3.0 and 3.1 (records with ids) and 3.2.2 (a listing of the storage).
//!
//! The reader has no method that writes, and no GET that mutates is ever sent. What a server of another generation says
//! is not guessed at: the view then names the generation and a gap. A further generation is a further `Reader`. The
//! writer is a type of its own, with a client of its own, for records only.

use std::collections::BTreeMap;

use async_trait::async_trait;

mod again;
mod envelope;
mod pages;
mod probe;
mod records;
mod state_options;
mod storage;
mod tasks;
mod users;
mod workflows;
mod write;

pub use self::write::{DolphinWrite, WriteSetupError};

use self::envelope::{Api, Dropped, Failure, Question};
use self::probe::{Identity, Probed};
use self::records::{Limits, RecordApi};
use self::tasks::Binding;
use self::workflows::TaskLists;
use crate::adapters::http::HttpSetupError;
use crate::config::DsConfig;
use crate::domain::HdfsPath;
use crate::ports::read::ResourceRead;
use crate::views::resources::{Opinion, Record, StorageEntry, User};
use crate::views::{Cause, Gap, GapKind, Generation, ResourceView, ViewName};

/// The account behind a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Login name.
    pub name: String,
    /// May see and delete everything.
    pub administrator: bool,
}

/// The resource center of one server.
#[derive(Debug)]
pub struct Dolphin {
    api: Api,
    limits: Limits,
    version: String,
    generation: Generation,
}

/// The generations this build reads, by how their resources are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    /// Up to 3.1: tree and pages of records.
    Records(RecordApi),
    /// 3.2.2: directories of the storage, listed on demand.
    Storage,
}

impl Reader {
    const fn of(generation: Generation) -> Option<Self> {
        match generation {
            Generation::V20 => Some(Self::Records(RecordApi::V20)),
            Generation::V30 => Some(Self::Records(RecordApi::V30)),
            Generation::V31 => Some(Self::Records(RecordApi::V31)),
            Generation::V322 => Some(Self::Storage),
            Generation::V13 | Generation::V320 | Generation::V33 => None,
        }
    }

    /// What decides which resource a task of this generation gets.
    const fn binding(self) -> Binding {
        match self {
            Self::Records(_) => Binding::ById,
            Self::Storage => Binding::ByName,
        }
    }

    /// How the tasks of a project are listed.
    const fn task_lists(self) -> TaskLists {
        match self {
            Self::Records(RecordApi::V20 | RecordApi::V30) => TaskLists::One,
            Self::Records(RecordApi::V31) | Self::Storage => TaskLists::ByExecuteType,
        }
    }
}

impl Dolphin {
    /// A reader of the server the configuration names. Asks nothing yet.
    pub fn new(config: &DsConfig) -> Result<Self, HttpSetupError> {
        Ok(Self {
            api: Api::new(config)?,
            limits: Limits { page_size: config.page_size.max(1), concurrency: config.http.max_concurrency.max(1) },
            version: config.version.clone(),
            generation: config.generation,
        })
    }

    /// Whom the server takes us for.
    pub async fn fetch_account(&self) -> Result<Account, Gap> {
        self.api.begin();
        let identity = probe::fetch_identity(&self.api).await;
        let identity =
            identity.map_err(|failure| failure.gap(ViewName::Resources, probe::identity_question().what()))?;
        Ok(Account { name: identity.name, administrator: identity.administrator })
    }

    /// Who asks and whom, then what belongs to that generation; stops where going on would only repeat the failure.
    async fn fill(&self, view: &mut ResourceView) {
        let identity = match probe::fetch_identity(&self.api).await {
            Ok(identity) => Some(identity),
            Err(failure) => {
                view.gaps.push(failure.gap(ViewName::Resources, probe::identity_question().what()));
                // An error code comes from a server that otherwise answers; anything else does not get better.
                if !matches!(failure, Failure::Code { .. }) {
                    return;
                }
                None
            }
        };
        view.account = identity.as_ref().map(|identity| identity.name.clone());
        view.administrator = identity.as_ref().is_some_and(|identity| identity.administrator);
        view.version_text = probe::fetch_version_text(&self.api).await;
        match probe::fetch_generation(&self.api).await {
            Ok(probed) => {
                view.generation = probed.generation();
                match self.judge(&probed) {
                    Ok(reader) => self.fill_by(reader, probed, identity, view).await,
                    Err(gap) => view.gaps.push(gap),
                }
            }
            Err(failure) => view.gaps.push(failure.gap(ViewName::Resources, "the version of the server")),
        }
    }

    /// Whether what was found is what the configuration says, and can be read.
    fn judge(&self, probed: &Probed) -> Result<Reader, Gap> {
        let Some(found) = probed.generation() else { return Err(self.undecided(probed)) };
        if found != self.generation {
            let detail = format!(
                "configured {} ({}), but the server behaves as {found}; set `ds.version` to what the server runs",
                self.version, self.generation
            );
            return Err(Gap::contradiction(ViewName::Resources, detail));
        }
        Reader::of(found).ok_or_else(|| unsupported(ViewName::Resources, found))
    }

    fn undecided(&self, probed: &Probed) -> Gap {
        let code = match probed {
            Probed::Undecided { base_dir_code } => *base_dir_code,
            _ => None,
        };
        let detail = match code {
            Some(code @ (10017 | 10181)) => format!(
                "cannot tell the version of the server: the base directory is refused with code {code}; the account of the \
                 token has no tenant, give it one (administrators need one too)"
            ),
            Some(code) if !self.generation.has_records() => format!(
                "cannot tell the version of the server: the base directory is refused with code {code}; give the account \
                 of the token a tenant, and check that resource storage is on"
            ),
            _ => "cannot tell the version of the server from its answers; is `ds.url` the API server, with its context path?"
                .to_owned(),
        };
        Gap::incomplete(ViewName::Resources, Cause::ServerError, detail)
    }

    async fn fill_by(&self, reader: Reader, probed: Probed, identity: Option<Identity>, view: &mut ResourceView) {
        self.fill_users(identity.as_ref(), view).await;
        match reader {
            Reader::Records(manner) => {
                let (records, gaps) = records::fetch_records(&self.api, self.limits, manner, view.administrator).await;
                view.records = records;
                view.records_complete = gaps.is_empty() && view.administrator;
                view.gaps.extend(gaps);
            }
            Reader::Storage => {
                if let Probed::Storage(_, said) = probed {
                    view.base_dir = Some(base_of(&said, identity.as_ref()));
                }
            }
        }
        if let Some(Identity { name, administrator: false, .. }) = &identity {
            view.gaps.push(partial(ViewName::Resources, name, "its own and granted resources"));
        }
    }

    async fn fill_users(&self, identity: Option<&Identity>, view: &mut ResourceView) {
        match identity {
            Some(identity) if !identity.administrator => view.users = users::only_self(identity),
            _ => {
                let (users, trouble) = users::fetch_users(&self.api, self.limits.page_size).await;
                view.users = users;
                view.users_complete = trouble.is_none();
                // A list that shifts is unread, not a contradiction of the resource center with itself.
                view.gaps.extend(
                    trouble.map(|trouble| Gap { kind: GapKind::Incomplete, ..trouble.gap(ViewName::Resources) }),
                );
            }
        }
    }
}

#[async_trait]
impl ResourceRead for Dolphin {
    async fn fetch_resources(&self) -> ResourceView {
        self.api.begin();
        let mut view = ResourceView::default();
        self.fill(&mut view).await;
        fold(&mut view.gaps);
        view
    }

    async fn list_storage(&self, directory: &HdfsPath, base_dir: &str) -> Result<Vec<StorageEntry>, Gap> {
        storage::fetch_directory(&self.api, directory, base_dir, self.limits.page_size).await
    }

    async fn fetch_workflows(&self, view: &mut ResourceView) {
        let generation = view.generation.unwrap_or(self.generation);
        let Some(reader) = Reader::of(generation) else {
            view.gaps.push(unsupported(ViewName::Workflows, generation));
            return;
        };
        let found =
            workflows::fetch_users_of_resources(&self.api, self.limits, reader.binding(), reader.task_lists()).await;
        view.workflows = found.workflows;
        view.functions = found.functions;
        view.gaps.extend(found.gaps);
        if found.has_projects && !view.administrator {
            view.gaps.push(match &view.account {
                Some(name) => partial(ViewName::Workflows, name, "its own and granted projects"),
                None => unknown_part(),
            });
        }
        fold(&mut view.gaps);
    }

    async fn fetch_record(&self, record: &Record) -> Result<Option<Record>, Gap> {
        self.record_again(record).await
    }

    async fn fetch_below(&self, directory: &Record) -> Result<Vec<Record>, Gap> {
        self.below_again(directory).await
    }

    async fn fetch_users(&self) -> Result<BTreeMap<i64, User>, Gap> {
        self.users_again().await
    }

    async fn fetch_opinion(&self, record: &Record) -> Opinion {
        let question =
            Question::new(format!("the file of record {}", record.id), format!("/resources/{}/view", record.id))
                .with("skipLineNum", 0)
                .with("limit", 1);
        match self.api.ask::<Dropped>(&question).await {
            Ok(_) => Opinion::Opens,
            Err(failure) if failure.has_code(20012) => Opinion::NotThere,
            Err(failure) if failure.has_code(20006) => Opinion::NoOpinion { why: failure.to_string() },
            Err(failure) => Opinion::Failed { why: failure.to_string() },
        }
    }
}

fn unsupported(view: ViewName, found: Generation) -> Gap {
    let detail = format!("the server is of generation {found}; this build reads 2.0, 3.0, 3.1 and 3.2.2");
    Gap::incomplete(view, Cause::Unsupported, detail)
}

fn partial(view: ViewName, account: &str, part: &str) -> Gap {
    let account = crate::domain::text::printable(account);
    let detail =
        format!("the account {account} is no administrator and sees only {part}; use the token of an administrator");
    Gap::incomplete(view, Cause::PartialRights, detail)
}

fn unknown_part() -> Gap {
    let detail = "it is not known whether the account of the token is an administrator, so projects may be missing; \
                  look into the log of the API server";
    Gap::incomplete(ViewName::Workflows, Cause::PartialRights, detail)
}

/// 3.2.2 gives a general user the resources directory of its tenant instead of the base directory (recorded).
fn base_of(said: &str, identity: Option<&Identity>) -> String {
    let own = identity.filter(|identity| !identity.administrator).and_then(|identity| identity.tenant.as_deref());
    let base = own.and_then(|tenant| said.trim_end_matches('/').strip_suffix(&format!("/{tenant}/resources")));
    base.unwrap_or(said).to_owned()
}

/// Details that one folded gap spells out.
const MAX_DETAILS: usize = 3;

/// Gaps of one view, one kind and one cause become one: a server that fails fails in many places. Contradictions are one
/// whatever their cause, since not a word of such a view is believed.
fn fold(gaps: &mut Vec<Gap>) {
    let mut folded: Vec<(Gap, Vec<String>)> = Vec::new();
    for gap in gaps.drain(..) {
        let cause = |gap: &Gap| (gap.kind != GapKind::Contradiction).then_some(gap.cause);
        let key = |gap: &Gap| (gap.view, gap.kind, cause(gap), gap.path.clone());
        match folded.iter_mut().find(|(first, _)| key(first) == key(&gap)) {
            Some((first, more)) if first.detail != gap.detail && !more.contains(&gap.detail) => more.push(gap.detail),
            Some(_) => {}
            None => folded.push((gap, Vec::new())),
        }
    }
    gaps.extend(folded.into_iter().map(|(gap, more)| Gap { detail: join_details(&gap.detail, &more), ..gap }));
}

fn join_details(first: &str, more: &[String]) -> String {
    let mut details: Vec<&str> = vec![first];
    details.extend(more.iter().take(MAX_DETAILS - 1).map(String::as_str));
    match more.len().saturating_sub(MAX_DETAILS - 1) {
        0 => details.join("; "),
        rest => format!("{}; and {rest} more like these", details.join("; ")),
    }
}
