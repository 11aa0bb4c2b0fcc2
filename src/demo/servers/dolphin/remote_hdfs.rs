//! A store in any HDFS, over WebHDFS: for a laboratory where the embedded server keeps its files in a real one.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use jiff::Timestamp;
use reqwest::{Client, Method, Response, StatusCode};
use serde_json::Value;
use url::Url;

use super::store::{FileStore, StoreError, StoredStatus};
use crate::domain::HdfsPath;

/// One HDFS, asked as one user.
#[derive(Debug)]
pub struct RemoteHdfs {
    client: Client,
    name_nodes: Vec<Url>,
    /// The one that answered last.
    active: AtomicUsize,
    user: String,
}

impl RemoteHdfs {
    /// An HDFS by the base URL of its NameNode (`http://nn:9870`), or of both of an HA pair, asked as `user`.
    pub fn new<S: AsRef<str>>(name_nodes: &[S], user: &str) -> Result<Self, StoreError> {
        let parsed = name_nodes.iter().map(|text| Url::parse(text.as_ref())).collect::<Result<_, _>>();
        let name_nodes = parsed.map_err(|error| StoreError(error.to_string()))?;
        // Fails only if the program has chosen one already; plain HTTP needs none, but the client wants to know it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().no_proxy().build().map_err(|error| failed(&error))?;
        Ok(Self { client, name_nodes, active: AtomicUsize::new(0), user: user.to_owned() })
    }

    fn url(&self, name_node: &Url, path: &HdfsPath, op: &str, more: &[(&str, &str)]) -> Result<Url, StoreError> {
        let mut url = name_node.clone();
        {
            let mut segments = url.path_segments_mut().map_err(|()| StoreError("the URL has no path".to_owned()))?;
            segments.pop_if_empty().extend(["webhdfs", "v1"]).extend(path.components());
        }
        url.query_pairs_mut().append_pair("op", op).append_pair("user.name", &self.user).extend_pairs(more);
        Ok(url)
    }

    /// Asks the NameNode that answered last, then the others: a standby does nothing, and one that is not there gets nothing,
    /// so that a write is never done twice. `None`: not found.
    async fn ask(
        &self,
        method: Method,
        path: &HdfsPath,
        op: &str,
        more: &[(&str, &str)],
    ) -> Result<Option<Response>, StoreError> {
        let first = self.active.load(Ordering::Relaxed);
        let mut refusal = StoreError("no NameNode is named".to_owned());
        for offset in 0..self.name_nodes.len() {
            let index = (first + offset) % self.name_nodes.len();
            let url = self.url(&self.name_nodes[index], path, op, more)?;
            match self.client.request(method.clone(), url).send().await {
                Err(error) if error.is_connect() => refusal = failed(&error),
                Err(error) => return Err(failed(&error)),
                Ok(response) => match found(response).await {
                    Err(StoreError(reason)) if reason == STANDBY => refusal = StoreError(reason),
                    answer => {
                        self.active.store(index, Ordering::Relaxed);
                        return answer;
                    }
                },
            }
        }
        Err(refusal)
    }

    /// One call that answers JSON; `None`: not found.
    async fn call(
        &self,
        method: Method,
        path: &HdfsPath,
        op: &str,
        more: &[(&str, &str)],
    ) -> Result<Option<Value>, StoreError> {
        match self.ask(method, path, op, more).await? {
            Some(response) => Ok(Some(response.json().await.map_err(|error| failed(&error))?)),
            None => Ok(None),
        }
    }

    /// Whether a write that answers `{"boolean": …}` was done.
    async fn done(&self, method: Method, path: &HdfsPath, op: &str, more: &[(&str, &str)]) -> Result<bool, StoreError> {
        let answer = self.call(method, path, op, more).await?;
        Ok(answer.is_some_and(|answer| answer["boolean"] == Value::Bool(true)))
    }
}

const STANDBY: &str = "StandbyException";

/// The message without the URL: it names the account.
fn failed(error: &reqwest::Error) -> StoreError {
    let mut reason: &dyn std::error::Error = error;
    while let Some(source) = reason.source() {
        reason = source;
    }
    StoreError(if error.url().is_some() { format!("request failed: {reason}") } else { reason.to_string() })
}

/// The response if it is a success; `None` for a FileNotFoundException, told by the exception and not by the status.
async fn found(response: Response) -> Result<Option<Response>, StoreError> {
    if response.status().is_success() || response.status() == StatusCode::TEMPORARY_REDIRECT {
        return Ok(Some(response));
    }
    let status = response.status();
    let body: Value = response.json().await.unwrap_or_default();
    match body["RemoteException"]["exception"].as_str() {
        Some("FileNotFoundException") => Ok(None),
        Some(exception) => Err(StoreError(exception.to_owned())),
        None => Err(StoreError(format!("status {status}"))),
    }
}

fn status(json: &Value) -> Option<StoredStatus> {
    Some(StoredStatus {
        directory: json["type"].as_str()? == "DIRECTORY",
        size: json["length"].as_u64()?,
        modified: Timestamp::from_millisecond(json["modificationTime"].as_i64()?).ok()?,
    })
}

fn unreadable() -> StoreError {
    StoreError("the answer is no WebHDFS answer".to_owned())
}

#[async_trait]
impl FileStore for RemoteHdfs {
    async fn stat(&self, path: &HdfsPath) -> Result<Option<StoredStatus>, StoreError> {
        let answer = self.call(Method::GET, path, "GETFILESTATUS", &[]).await?;
        answer.map(|answer| status(&answer["FileStatus"]).ok_or_else(unreadable)).transpose()
    }

    async fn list(&self, path: &HdfsPath) -> Result<Option<Vec<(String, StoredStatus)>>, StoreError> {
        let Some(answer) = self.call(Method::GET, path, "LISTSTATUS", &[]).await? else { return Ok(None) };
        let listed = answer["FileStatuses"]["FileStatus"].as_array().ok_or_else(unreadable)?;
        let entry = |json: &Value| Some((json["pathSuffix"].as_str()?.to_owned(), status(json)?));
        listed.iter().map(|json| entry(json).ok_or_else(unreadable)).collect::<Result<Vec<_>, _>>().map(Some)
    }

    async fn read(&self, path: &HdfsPath) -> Result<Option<Vec<u8>>, StoreError> {
        match self.stat(path).await? {
            Some(status) if !status.directory => {}
            _ => return Ok(None),
        }
        // OPEN redirects to a DataNode; the client follows.
        match self.ask(Method::GET, path, "OPEN", &[]).await? {
            Some(response) => Ok(Some(response.bytes().await.map_err(|error| failed(&error))?.to_vec())),
            None => Ok(None),
        }
    }

    async fn create(&self, path: &HdfsPath, bytes: &[u8]) -> Result<(), StoreError> {
        // A standby names a DataNode as readily as the active one, so the active one is found by another question first.
        self.stat(path).await?;
        // With `noredirect` the NameNode names the DataNode in JSON, and the body goes there in one step.
        let more = [("overwrite", "true"), ("noredirect", "true")];
        let answer = self.call(Method::PUT, path, "CREATE", &more).await?.ok_or_else(unreadable)?;
        let location = answer["Location"].as_str().and_then(|text| Url::parse(text).ok()).ok_or_else(unreadable)?;
        let sent = self.client.put(location).body(bytes.to_vec()).send().await.map_err(|error| failed(&error))?;
        found(sent).await?.map(drop).ok_or_else(unreadable)
    }

    async fn make_directory(&self, path: &HdfsPath) -> Result<(), StoreError> {
        if self.done(Method::PUT, path, "MKDIRS", &[]).await? {
            Ok(())
        } else {
            Err(StoreError("the directory was not made".to_owned()))
        }
    }

    async fn delete(&self, path: &HdfsPath, keeps: &[String]) -> Result<bool, StoreError> {
        if !keeps.is_empty() {
            return Err(StoreError("a real HDFS does not delete in part".to_owned()));
        }
        self.done(Method::DELETE, path, "DELETE", &[("recursive", "true")]).await
    }

    async fn rename(&self, from: &HdfsPath, to: &HdfsPath) -> Result<bool, StoreError> {
        self.done(Method::PUT, from, "RENAME", &[("destination", to.as_str())]).await
    }
}
