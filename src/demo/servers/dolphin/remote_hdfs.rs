//! A store in any HDFS, over WebHDFS: for a laboratory where the embedded server keeps its files in a real one.

use async_trait::async_trait;
use jiff::Timestamp;
use reqwest::{Client, Method, Response, StatusCode};
use serde_json::Value;
use url::Url;

use super::store::{FileStore, StoreError, StoredStatus};
use crate::domain::HdfsPath;

/// One HDFS, asked as one user.
#[derive(Debug, Clone)]
pub struct RemoteHdfs {
    client: Client,
    base: Url,
    user: String,
}

impl RemoteHdfs {
    /// An HDFS by the base URL of its NameNode (`http://nn:9870`), asked as `user`.
    pub fn new(name_node: &str, user: &str) -> Result<Self, StoreError> {
        let base = Url::parse(name_node).map_err(|error| StoreError(error.to_string()))?;
        // Fails only if the program has chosen one already; plain HTTP needs none, but the client wants to know it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().no_proxy().build().map_err(|error| failed(&error))?;
        Ok(Self { client, base, user: user.to_owned() })
    }

    fn url(&self, path: &HdfsPath, op: &str, more: &[(&str, &str)]) -> Result<Url, StoreError> {
        let mut url = self.base.clone();
        {
            let mut segments = url.path_segments_mut().map_err(|()| StoreError("the URL has no path".to_owned()))?;
            segments.pop_if_empty().extend(["webhdfs", "v1"]).extend(path.components());
        }
        url.query_pairs_mut().append_pair("op", op).append_pair("user.name", &self.user).extend_pairs(more);
        Ok(url)
    }

    /// One call that answers JSON; `None`: not found.
    async fn call(&self, method: Method, url: Url) -> Result<Option<Value>, StoreError> {
        let response = self.client.request(method, url).send().await.map_err(|error| failed(&error))?;
        match found(response).await? {
            Some(response) => Ok(Some(response.json().await.map_err(|error| failed(&error))?)),
            None => Ok(None),
        }
    }

    /// Whether a write that answers `{"boolean": …}` was done.
    async fn done(&self, method: Method, url: Url) -> Result<bool, StoreError> {
        let answer = self.call(method, url).await?;
        Ok(answer.is_some_and(|answer| answer["boolean"] == Value::Bool(true)))
    }
}

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
        let answer = self.call(Method::GET, self.url(path, "GETFILESTATUS", &[])?).await?;
        answer.map(|answer| status(&answer["FileStatus"]).ok_or_else(unreadable)).transpose()
    }

    async fn list(&self, path: &HdfsPath) -> Result<Option<Vec<(String, StoredStatus)>>, StoreError> {
        let Some(answer) = self.call(Method::GET, self.url(path, "LISTSTATUS", &[])?).await? else { return Ok(None) };
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
        let sent = self.client.get(self.url(path, "OPEN", &[])?).send().await.map_err(|error| failed(&error))?;
        match found(sent).await? {
            Some(response) => Ok(Some(response.bytes().await.map_err(|error| failed(&error))?.to_vec())),
            None => Ok(None),
        }
    }

    async fn create(&self, path: &HdfsPath, bytes: &[u8]) -> Result<(), StoreError> {
        // With `noredirect` the NameNode names the DataNode in JSON, and the body goes there in one step.
        let first = self.url(path, "CREATE", &[("overwrite", "true"), ("noredirect", "true")])?;
        let answer = self.call(Method::PUT, first).await?.ok_or_else(unreadable)?;
        let location = answer["Location"].as_str().and_then(|text| Url::parse(text).ok()).ok_or_else(unreadable)?;
        let sent = self.client.put(location).body(bytes.to_vec()).send().await.map_err(|error| failed(&error))?;
        found(sent).await?.map(drop).ok_or_else(unreadable)
    }

    async fn make_directory(&self, path: &HdfsPath) -> Result<(), StoreError> {
        if self.done(Method::PUT, self.url(path, "MKDIRS", &[])?).await? {
            return Ok(());
        }
        Err(StoreError("the directory was not made".to_owned()))
    }

    async fn delete(&self, path: &HdfsPath, keeps: &[String]) -> Result<bool, StoreError> {
        if !keeps.is_empty() {
            return Err(StoreError("a real HDFS does not delete in part".to_owned()));
        }
        self.done(Method::DELETE, self.url(path, "DELETE", &[("recursive", "true")])?).await
    }

    async fn rename(&self, from: &HdfsPath, to: &HdfsPath) -> Result<bool, StoreError> {
        self.done(Method::PUT, self.url(from, "RENAME", &[("destination", to.as_str())])?).await
    }
}
