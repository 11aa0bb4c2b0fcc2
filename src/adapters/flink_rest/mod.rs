//! Flink clusters and history servers over Flink's REST API, 1.13 to 2.3.
//!
//! An answer counts only if it is JSON by content type and has the shape of what was asked. A login page, a proxy's error
//! page, a redirect, a timeout or a body that breaks off is a [`Gap`], never "no job". Redirects are not followed.

mod ask;
mod lists;
mod reading;
mod shown;
mod wire;
mod yarn;

use async_trait::async_trait;
use jiff::Timestamp;
use tokio::sync::OnceCell;
use url::Url;

use self::ask::{Says, Server};
use self::reading::Reading;
use super::http::{HttpClient, HttpSetupError};
use crate::config::ClusterConfig;
use crate::config::valid::Endpoint;
use crate::domain::JobId;
use crate::ports::read::FlinkRead;
use crate::views::flink::{ClusterKind, ShownRestorePoint};
use crate::views::{ClusterView, Gap};

/// One Flink cluster or history server, asked over REST.
pub struct FlinkRest {
    config: ClusterConfig,
    http: HttpClient,
    /// Where it answers; found once a run. A failed search is not kept.
    base: OnceCell<Url>,
}

impl FlinkRest {
    /// A reader for the configured cluster. Nothing is asked yet.
    pub fn new(config: &ClusterConfig) -> Result<Self, HttpSetupError> {
        Ok(Self { config: config.clone(), http: HttpClient::new(&config.http, &[])?, base: OnceCell::new() })
    }

    async fn server(&self) -> Result<Server<'_>, Gap> {
        let base = self.base.get_or_try_init(|| self.find_base()).await?.clone();
        let fixed = matches!(self.config.endpoint, Endpoint::Url(_));
        Ok(Server { http: &self.http, base, cluster: &self.config.name, fixed })
    }

    async fn find_base(&self) -> Result<Url, Gap> {
        match &self.config.endpoint {
            Endpoint::Url(url) => Ok(url.clone()),
            Endpoint::Yarn { resource_manager, application } => {
                yarn::find(&self.http, &self.config.name, resource_manager, application).await
            }
        }
    }

    fn unread(&self) -> ClusterView {
        let kind = if self.config.history { ClusterKind::History } else { ClusterKind::Live };
        let mut view = ClusterView::unread(&self.config.name, kind, self.config.retired);
        view.read_at.push(Timestamp::now());
        view
    }
}

#[async_trait]
impl FlinkRead for FlinkRest {
    fn name(&self) -> &str {
        &self.config.name
    }

    async fn fetch_cluster(&self) -> ClusterView {
        let view = self.unread();
        let mut view = match self.server().await {
            Ok(server) => Reading::new(&server, &self.config, view).read().await,
            Err(gap) => ClusterView { gaps: vec![gap], ..view },
        };
        if view.retired && view.jobs.is_empty() {
            // Declared gone for good: its silence says nothing and vetoes nothing.
            view.gaps.clear();
        }
        view
    }

    async fn fetch_latest(&self, job: &JobId) -> Result<Option<ShownRestorePoint>, Gap> {
        let server = self.server().await?;
        let path = format!("jobs/{job}/checkpoints");
        let alive = !self.config.history;
        let answer = server.ask(&path, |body| shown::shown(wire::parse_checkpoints(body)?, alive)).await;
        match answer {
            Ok(shown) => Ok(shown.latest),
            Err(failure) if failure.says() == Some(Says::NoCheckpointing) => Ok(None),
            Err(failure) => Err(server.gap(&path, &failure)),
        }
    }
}
