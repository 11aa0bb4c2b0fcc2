//! Everything in the lab's HDFS, to see that nothing was touched.

use std::collections::BTreeMap;

use reqwest::{Client, Url};
use serde_json::Value;

use super::stage::Jvm;
use super::stage::center::HDFS_USER;

/// What a path is: its status without the time of the last access, and its content if it is a file.
///
/// Below the root of a running job, which writes all the time, only which directories there are, by their file ids.
pub type Census = BTreeMap<String, (Value, Option<Vec<u8>>)>;

/// Roots of the jobs of the lab by the end of their path.
const BUSY: [&str; 2] = ["/ckpt_storage", "/flink/checkpoints"];

/// Reads the whole file system, straight from the NameNode.
pub async fn take(jvm: &Jvm) -> Census {
    let mut census = Census::new();
    let mut todo = vec![("/".to_owned(), false)];
    while let Some((directory, busy)) = todo.pop() {
        for status in list(jvm, &directory).await {
            let path =
                format!("{}/{}", directory.trim_end_matches('/'), status["pathSuffix"].as_str().expect("a name"));
            let is_directory = status["type"] == "DIRECTORY";
            let is_busy = busy || BUSY.iter().any(|root| path.ends_with(root));
            if is_busy && (!is_directory || path.contains("/chk-")) {
                continue;
            }
            let content = if is_directory { None } else { Some(read(jvm, &path).await) };
            if is_directory {
                todo.push((path.clone(), is_busy));
            }
            census.insert(path, (if is_busy { status["fileId"].clone() } else { status }, content));
        }
    }
    census
}

async fn list(jvm: &Jvm, directory: &str) -> Vec<Value> {
    let answer = Client::new().get(url(jvm, directory, "LISTSTATUS")).send().await.expect("an answer");
    // A checkpoint directory may go while it is looked at.
    if answer.status() == reqwest::StatusCode::NOT_FOUND {
        return Vec::new();
    }
    let mut answer: Value = answer.json().await.expect("JSON");
    let listed = answer["FileStatuses"]["FileStatus"].as_array_mut().unwrap_or_else(|| panic!("{directory}"));
    for status in listed.iter_mut() {
        status.as_object_mut().expect("an object").remove("accessTime");
    }
    std::mem::take(listed)
}

/// The bytes of a file; OPEN leads to a DataNode, and the client follows.
async fn read(jvm: &Jvm, path: &str) -> Vec<u8> {
    let answer = Client::new().get(url(jvm, path, "OPEN")).send().await.expect("an answer");
    assert!(answer.status().is_success(), "{path}: {}", answer.status());
    answer.bytes().await.expect("bytes").to_vec()
}

fn url(jvm: &Jvm, path: &str, op: &str) -> Url {
    let mut url = Url::parse(&jvm.addresses().webhdfs[0]).expect("a URL");
    url.path_segments_mut()
        .expect("a base")
        .extend(["webhdfs", "v1"])
        .extend(path.split('/').filter(|s| !s.is_empty()));
    url.query_pairs_mut().append_pair("op", op).append_pair("user.name", HDFS_USER);
    url
}
