//! Who is asking, and which generation of the API answers: probed by what the server does.
//!
//! The version a server shows is not used to decide: 3.2.2 says 3.3.0 (the version of its database schema).

use serde::Deserialize;

use super::envelope::{Api, Dropped, Failure, Question};
use crate::views::Generation;

/// The account the token belongs to. The answer also holds a password hash, which no field here takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity {
    /// User id.
    pub(super) id: i64,
    /// Login name.
    pub(super) name: String,
    /// Sees everything.
    pub(super) administrator: bool,
    /// Code of its tenant, if the server says it.
    pub(super) tenant: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireIdentity {
    id: i64,
    user_name: String,
    user_type: String,
    tenant_code: Option<String>,
}

/// The account of the token.
pub(super) async fn fetch_identity(api: &Api) -> Result<Identity, Failure> {
    let wire: WireIdentity = api.ask(&identity_question()).await?;
    Ok(Identity {
        id: wire.id,
        name: wire.user_name,
        administrator: wire.user_type == "ADMIN_USER",
        tenant: wire.tenant_code.filter(|code| !code.is_empty()),
    })
}

/// The question behind [`fetch_identity`], for messages.
pub(super) fn identity_question() -> Question {
    Question::new("the account of the token", "/users/get-user-info")
}

/// The version text the server shows without login (3.2 and later). Its absence means nothing.
pub(super) async fn fetch_version_text(api: &Api) -> Option<String> {
    #[derive(Deserialize)]
    struct Docs {
        info: Info,
    }
    #[derive(Deserialize)]
    struct Info {
        version: String,
    }
    let docs: Docs = api.ask_bare(&Question::new("the API documentation", "/v3/api-docs/v1")).await?;
    Some(docs.info.version)
}

/// What the probes found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Probed {
    /// Records in a database.
    Records(Generation),
    /// A listing of the storage, with the base directory as the server says it.
    Storage(Generation, String),
    /// 3.3 and later.
    Newer,
    /// None of them decided.
    Undecided {
        /// The code that the base directory call was answered with, if it was.
        base_dir_code: Option<i64>,
    },
}

impl Probed {
    /// The generation, if the probes decided.
    pub(super) fn generation(&self) -> Option<Generation> {
        match self {
            Self::Records(generation) | Self::Storage(generation, _) => Some(*generation),
            Self::Newer => Some(Generation::V33),
            Self::Undecided { .. } => None,
        }
    }
}

/// Finds the generation. An error is a server that could not be asked, never an endpoint that is not there.
pub(super) async fn fetch_generation(api: &Api) -> Result<Probed, Failure> {
    // One failed question does not stop the others: several of them decide by themselves.
    let unasked = match is_newer(api).await {
        Ok(true) => return Ok(Probed::Newer),
        Ok(false) => None,
        Err(failure @ (Failure::Unauthorized | Failure::NotConfigured(_))) => return Err(failure),
        Err(failure) => Some(failure),
    };
    let base_dir_code = match reply::<String>(api, &base_dir_question()).await? {
        Reply::Data(base) => return fetch_storage_generation(api, base, unasked).await,
        Reply::Code(code) => code,
        Reply::NoEndpoint => None,
    };
    // Only 3.0 and 3.1 have this path; the record 0 exists nowhere.
    let by_id = Question::new("a record by id", "/resources/0/query");
    match reply::<Dropped>(api, &by_id).await {
        Ok(Reply::NoEndpoint) => fetch_old_generation(api, base_dir_code).await,
        Ok(_) if has_clusters(api).await? => Ok(Probed::Records(Generation::V31)),
        Ok(_) => Ok(Probed::Records(Generation::V30)),
        // A directory by id is up to 3.1, the clusters are from 3.1 on.
        Err(_) if has_record_pages(api, "/resources").await? && has_clusters(api).await? => {
            Ok(Probed::Records(Generation::V31))
        }
        Err(failure) => Err(failure),
    }
}

async fn has_clusters(api: &Api) -> Result<bool, Failure> {
    let question = Question::new("the cluster list", "/cluster/query-cluster-list");
    Ok(!matches!(reply::<Dropped>(api, &question).await?, Reply::NoEndpoint))
}

async fn has_record_pages(api: &Api, path: &str) -> Result<bool, Failure> {
    let question = Question::new("the resource page", path).with("type", "FILE").with("id", -1).page(1, 1);
    Ok(matches!(reply::<Dropped>(api, &question).await?, Reply::Data(_)))
}

async fn is_newer(api: &Api) -> Result<bool, Failure> {
    #[derive(Deserialize)]
    struct Product {
        #[serde(rename = "version")]
        _version: String,
    }
    // Older servers take "query-product-info" for a plugin id (3.2.2: 110003).
    let question = Question::new("the product version", "/ui-plugins/query-product-info");
    Ok(matches!(reply::<Product>(api, &question).await?, Reply::Data(_)))
}

fn base_dir_question() -> Question {
    Question::new("the base directory", "/resources/base-dir").with("type", "FILE")
}

/// 3.2.2 refuses paths that climb (20020); 3.2.0 and 3.2.1 check none, and still have `query-full-name`.
async fn fetch_storage_generation(api: &Api, base: String, unasked: Option<Failure>) -> Result<Probed, Failure> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Any {
        total_list: Option<Vec<Dropped>>,
    }
    let above = format!("{}/../", base.trim_end_matches('/'));
    let climbing = Question::new("a path above the base directory", "/resources")
        .with("fullName", above)
        .with("tenantCode", "")
        .with("type", "FILE");
    let listed = match reply::<Any>(api, &climbing.page(1, 1)).await? {
        Reply::Code(Some(20020)) => return Ok(Probed::Storage(Generation::V322, base)),
        Reply::Data(page) => page.total_list.is_some_and(|entries| !entries.is_empty()),
        Reply::Code(_) | Reply::NoEndpoint => false,
    };
    if let Some(failure) = unasked {
        return Err(failure);
    }
    let by_name = Question::new("a status by full name", "/resources/query-full-name")
        .with("type", "FILE")
        .with("fullName", &base)
        .with("tenantCode", "");
    let is_lax = listed || !matches!(reply::<Dropped>(api, &by_name).await?, Reply::NoEndpoint);
    let found = if is_lax { Generation::V320 } else { Generation::V322 };
    Ok(Probed::Storage(found, base))
}

async fn fetch_old_generation(api: &Api, base_dir_code: Option<i64>) -> Result<Probed, Failure> {
    if has_record_pages(api, "/resources").await? {
        return Ok(Probed::Records(Generation::V20));
    }
    if has_record_pages(api, "/resources/list-paging").await? {
        return Ok(Probed::Records(Generation::V13));
    }
    Ok(Probed::Undecided { base_dir_code })
}

/// What a probe is answered with.
enum Reply<T> {
    Data(T),
    Code(Option<i64>),
    NoEndpoint,
}

async fn reply<T: serde::de::DeserializeOwned>(api: &Api, question: &Question) -> Result<Reply<T>, Failure> {
    match api.ask(question).await {
        Ok(data) => Ok(Reply::Data(data)),
        Err(Failure::Code { code, .. }) => Ok(Reply::Code(code)),
        // An unknown endpoint is 404 or 200 with HTML, depending on whether the web UI is installed.
        Err(Failure::NotTheApi { .. } | Failure::Shape { .. }) => Ok(Reply::NoEndpoint),
        Err(failure) => Err(failure),
    }
}
