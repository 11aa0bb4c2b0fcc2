//! The answers as they come over the wire. NameNode, HttpFS and Knox agree on few members, so only those are required.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use serde::Deserialize;

use super::question::{Class, Failure, Operation, first_line};
use crate::adapters::http::Answer;
use crate::domain::{EntryKind, HdfsPath, HdfsUri, Status};
use crate::views::hdfs::ContentSummary;

/// `FileStatus`, as far as every server sends it. HttpFS of older releases has no `fileId`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileStatus<'a> {
    /// Name in the directory that was listed; empty for the path itself.
    #[serde(borrow)]
    pub(super) path_suffix: Cow<'a, str>,
    #[serde(rename = "type")]
    kind: Kind,
    length: u64,
    modification_time: i64,
    #[serde(borrow)]
    owner: Cow<'a, str>,
    #[serde(default)]
    file_id: u64,
    #[serde(default)]
    snapshot_enabled: bool,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Kind {
    File,
    Directory,
    Symlink,
}

impl FileStatus<'_> {
    /// As a domain value.
    pub(super) fn to_status(&self, owners: &Owners) -> Result<Status, Failure> {
        let modified = Timestamp::from_millisecond(self.modification_time).map_err(|_| {
            Failure::new(Class::NotUnderstood, format!("{} is no time in milliseconds", self.modification_time))
        })?;
        let owner = owners.intern(&self.owner);
        Ok(Status {
            kind: self.kind.into(),
            length: self.length,
            modified,
            owner,
            file_id: self.file_id,
            snapshottable: self.snapshot_enabled,
        })
    }

    /// Whether this is the answer to listing a file: the file itself, without a name.
    pub(super) fn is_file_itself(&self) -> bool {
        self.path_suffix.is_empty() && matches!(self.kind, Kind::File)
    }
}

impl From<Kind> for EntryKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::File => Self::File,
            Kind::Directory => Self::Directory,
            Kind::Symlink => Self::Symlink,
        }
    }
}

/// The few names that own millions of entries, each held once.
#[derive(Default)]
pub(super) struct Owners(Mutex<HashSet<Arc<str>>>);

impl Owners {
    fn intern(&self, name: &str) -> Arc<str> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(owner) = known.get(name) {
            return Arc::clone(owner);
        }
        let owner: Arc<str> = name.into();
        known.insert(Arc::clone(&owner));
        owner
    }
}

/// One page of a listing.
#[derive(Debug)]
pub(super) struct Page<'a> {
    /// Entries in the order of the server: by signed Java bytes, so names beyond ASCII come first.
    pub(super) entries: Vec<FileStatus<'a>>,
    /// Whether there is more. The number itself is not used: HttpFS says 1 for any.
    pub(super) remaining: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Statuses<'a> {
    #[serde(borrow)]
    file_statuses: StatusList<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct StatusList<'a> {
    #[serde(borrow)]
    file_status: Vec<FileStatus<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Batch<'a> {
    #[serde(borrow)]
    directory_listing: DirectoryListing<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DirectoryListing<'a> {
    #[serde(borrow)]
    partial_listing: Statuses<'a>,
    remaining_entries: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct OneStatus<'a> {
    #[serde(borrow)]
    file_status: FileStatus<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Summary {
    content_summary: Totals,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Totals {
    length: u64,
    file_count: u64,
    directory_count: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct PathAnswer<'a> {
    #[serde(borrow)]
    path: Cow<'a, str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct DefaultsAnswer {
    fs_server_defaults: Defaults,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Defaults {
    #[serde(default)]
    trash_interval: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ErrorAnswer {
    remote_exception: RemoteException,
}

#[derive(Deserialize)]
struct RemoteException {
    exception: String,
    #[serde(default)]
    message: Option<String>,
}

/// The answer to [`Operation::ListBatch`] or [`Operation::List`].
pub(super) fn parse_page(op: Operation, text: &str) -> Result<Page<'_>, Failure> {
    if op == Operation::List {
        let answer: Statuses<'_> = parse(text)?;
        return Ok(Page { entries: answer.file_statuses.file_status, remaining: 0 });
    }
    let listing = parse::<Batch<'_>>(text)?.directory_listing;
    Ok(Page { entries: listing.partial_listing.file_statuses.file_status, remaining: listing.remaining_entries })
}

/// The answer to [`Operation::Status`].
pub(super) fn parse_status(text: &str, owners: &Owners) -> Result<Status, Failure> {
    parse::<OneStatus<'_>>(text)?.file_status.to_status(owners)
}

/// The answer to [`Operation::Summary`].
pub(super) fn parse_summary(text: &str) -> Result<ContentSummary, Failure> {
    let Totals { length, file_count: files, directory_count: directories } = parse::<Summary>(text)?.content_summary;
    Ok(ContentSummary { length, files, directories })
}

/// The answer to [`Operation::TrashRoot`] or [`Operation::Home`]; HttpFS may write a whole URI.
pub(super) fn parse_path(text: &str) -> Result<HdfsPath, Failure> {
    let said = parse::<PathAnswer<'_>>(text)?.path;
    HdfsUri::parse(&said)
        .map(|uri| uri.path)
        .map_err(|_| Failure::new(Class::NotUnderstood, format!("`{}` is no path", first_line(&said))))
}

/// The answer to [`Operation::ServerDefaults`]: the Trash interval in minutes.
pub(super) fn parse_trash_interval(text: &str) -> Result<Option<u64>, Failure> {
    Ok(parse::<DefaultsAnswer>(text)?.fs_server_defaults.trash_interval)
}

fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Failure> {
    serde_json::from_str(text).map_err(|error| match error.classify() {
        serde_json::error::Category::Eof => Failure::new(Class::CutShort, "the JSON ends in the middle"),
        // The words of serde can repeat values of the answer, so only its place is told.
        _ => Failure::new(
            Class::NotUnderstood,
            format!("not the JSON of this operation (line {}, column {})", error.line(), error.column()),
        ),
    })
}

/// Where the content of a file is.
pub(super) enum Content<'a> {
    /// In this answer (HttpFS, and DataNodes).
    Here(&'a [u8]),
    /// At this URL, as a NameNode says.
    There(&'a str),
}

/// The answer to [`Operation::Open`]. Content has no shape that would tell it from a proxy's page, so its type must be the
/// one that servers send files with.
pub(super) fn open_content(answer: &Answer, scrub: impl Fn(&str) -> String) -> Result<Content<'_>, Failure> {
    match (answer.status, answer.content_type.as_str(), &answer.location) {
        (200, "application/octet-stream", _) => Ok(Content::Here(&answer.body)),
        (302 | 303 | 307 | 308, _, Some(location)) => Ok(Content::There(location)),
        _ => match open(answer, Operation::Open, scrub) {
            Ok(_) => Err(Failure::new(Class::NotWebHdfs, "JSON where WebHDFS sends the content of a file")),
            Err(failure) => Err(failure),
        },
    }
}

/// The text of a successful answer, or what the failure is. `scrub` takes secrets out of what the server wrote.
pub(super) fn open(answer: &Answer, op: Operation, scrub: impl Fn(&str) -> String) -> Result<&str, Failure> {
    let typed = answer.is_json().then(|| serde_json::from_slice::<ErrorAnswer>(&answer.body).ok()).flatten();
    if let Some(ErrorAnswer { remote_exception: RemoteException { exception, message } }) = typed {
        let message = scrub(&message.unwrap_or_default());
        let class = class_of(answer.status, &exception, &message, op);
        let came_back = format!("{} {}: {}", answer.status, first_line(&exception), first_line(&message));
        return Err(Failure::new(class, came_back));
    }
    if answer.status == 200 && answer.is_json() {
        return std::str::from_utf8(&answer.body)
            .map_err(|_| Failure::new(Class::NotUnderstood, "JSON that is no UTF-8"));
    }
    Err(untyped(answer))
}

/// The class of a typed exception. Only the pair of 404 and `FileNotFoundException` is an absence: NameNode and HttpFS both
/// send the two together, so one without the other came from somewhere else.
fn class_of(status: u16, exception: &str, message: &str, op: Operation) -> Class {
    match exception {
        "FileNotFoundException" if status == 404 => Class::NotFound,
        "AccessControlException" => Class::Denied,
        "StandbyException" | "ObserverRetryOnActiveException" => Class::Standby,
        "RetriableException" => Class::Busy,
        "SafeModeException" => Class::SafeMode,
        "AuthorizationException" => Class::NotImpersonated,
        // A bad, expired or cancelled delegation token is a 403 `SecurityException`.
        "SecurityException" | "AuthenticationException" | "InvalidToken" => Class::NotAuthenticated,
        "UnresolvedPathException" => Class::Symlink,
        "IllegalArgumentException" | "UnsupportedOperationException" if is_about_operation(message, op) => {
            Class::UnknownOperation
        }
        _ if status == 401 => Class::NotAuthenticated,
        _ => Class::Exception,
    }
}

/// `Invalid value for webhdfs parameter "op": X is not a valid GET operation.`, or `No enum constant ….X` from 2.x, or
/// `Invalid HTTP GET operation [X]` from HttpFS.
fn is_about_operation(message: &str, op: Operation) -> bool {
    message.contains(op.name()) || message.contains("parameter \"op\"")
}

fn untyped(answer: &Answer) -> Failure {
    let what = if answer.is_json() { "JSON without an exception" } else { kind_of(&answer.content_type) };
    let class = match answer.status {
        // Without the exception nothing says that it was the NameNode which refused, hence never `Denied`.
        401 | 403 => Class::NotAuthenticated,
        500..=599 => Class::ServerError,
        _ => Class::NotWebHdfs,
    };
    Failure::new(class, format!("{} with {what} where WebHDFS sends JSON", answer.status))
}

fn kind_of(content_type: &str) -> &'static str {
    match content_type {
        "" => "no content type",
        "text/html" => "an HTML page",
        _ => "another content type",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, content_type: &str, body: &str) -> Answer {
        Answer { status, content_type: content_type.into(), body: body.into(), date: None, location: None }
    }

    fn class(status: u16, exception: &str, message: &str) -> Class {
        let body = serde_json::json!({"RemoteException": {"exception": exception, "message": message}}).to_string();
        let answer = answer(status, "application/json", &body);
        open(&answer, Operation::ListBatch, str::to_owned).expect_err("an exception").class
    }

    #[test]
    fn the_exception_decides_not_the_status() {
        assert_eq!(class(404, "FileNotFoundException", "File does not exist: /x"), Class::NotFound);
        assert_eq!(class(500, "FileNotFoundException", "x"), Class::Exception);
        assert_eq!(class(403, "AccessControlException", "x"), Class::Denied);
        assert_eq!(class(500, "AccessControlException", "HttpFS"), Class::Denied);
        assert_eq!(class(404, "AccessControlException", "x"), Class::Denied);
        assert_eq!(class(403, "StandbyException", "x"), Class::Standby);
        assert_eq!(class(500, "RetriableException", "x"), Class::Busy);
        assert_eq!(class(403, "SafeModeException", "x"), Class::SafeMode);
        assert_eq!(class(403, "SnapshotAccessControlException", "x"), Class::Exception);
        assert_eq!(class(404, "SomethingElseException", "x"), Class::Exception);
        assert_eq!(class(400, "InvalidPathException", "Invalid path name /a:b"), Class::Exception);
        assert_eq!(class(401, "SomethingElse", "x"), Class::NotAuthenticated);
    }

    #[test]
    fn unknown_operations_are_told_apart_from_other_bad_arguments() {
        for message in [
            "Invalid value for webhdfs parameter \"op\": LISTSTATUS_BATCH is not a valid GET operation.",
            "No enum constant org.apache.hadoop.fs.http.client.HttpFSFileSystem.Operation.LISTSTATUS_BATCH",
            "Invalid HTTP GET operation [LISTSTATUS_BATCH]",
        ] {
            assert_eq!(class(400, "IllegalArgumentException", message), Class::UnknownOperation, "{message}");
        }
        let other = "Invalid value for webhdfs parameter \"user.name\": Invalid value: \"bad user!\"";
        assert_eq!(class(400, "IllegalArgumentException", other), Class::Exception);
    }

    #[test]
    fn without_a_typed_exception_nothing_is_absent_or_denied() {
        let class = |status, kind: &str, body: &str| {
            open(&answer(status, kind, body), Operation::Status, str::to_owned).expect_err("no answer").class
        };
        assert_eq!(class(404, "text/html", "<html>not found</html>"), Class::NotWebHdfs);
        assert_eq!(class(404, "application/json", "{\"error\": \"no such route\"}"), Class::NotWebHdfs);
        let as_html = "{\"RemoteException\":{\"exception\":\"FileNotFoundException\"}}";
        assert_eq!(class(404, "text/html", as_html), Class::NotWebHdfs);
        assert_eq!(class(401, "text/html", "<html>"), Class::NotAuthenticated);
        assert_eq!(class(403, "text/html", "<html>"), Class::NotAuthenticated);
        assert_eq!(class(502, "text/html", "<html>"), Class::ServerError);
        assert_eq!(class(302, "", ""), Class::NotWebHdfs);
        assert_eq!(class(200, "text/html", "<html>log in</html>"), Class::NotWebHdfs);
        // A failure under 200 is still a failure.
        assert_eq!(class(200, "application/json", as_html), Class::Exception);
    }

    #[test]
    fn answers_that_are_no_utf8_are_not_used() {
        let mut bad = answer(200, "application/json", "");
        bad.body = b"{\"FileStatus\":{\"pathSuffix\":\"\xff\"}}".to_vec();
        assert_eq!(
            open(&bad, Operation::Status, str::to_owned),
            Err(Failure::new(Class::NotUnderstood, "JSON that is no UTF-8"))
        );
    }

    #[test]
    fn old_http_fs_sends_little() {
        let text = r#"{"FileStatus":{"pathSuffix":"","type":"FILE","length":7,"owner":"hdfs","group":"g",
            "permission":"644","accessTime":0,"modificationTime":1600000000000,"blockSize":1,"replication":3}}"#;
        let status = parse_status(text, &Owners::default()).expect("a status");
        assert_eq!(status.file_id, 0);
        assert_eq!(status.length, 7);
        assert_eq!(status.modified.as_millisecond(), 1_600_000_000_000);
    }

    #[test]
    fn wrong_shapes_are_failures() {
        let class = |text: &str| parse_status(text, &Owners::default()).expect_err("a failure").class;
        assert_eq!(class("{}"), Class::NotUnderstood);
        assert_eq!(class("null"), Class::NotUnderstood);
        assert_eq!(class(r#"{"FileStatus":{"pathSuffix":"","type":"FI"#), Class::CutShort);
        let socket = r#"{"FileStatus":{"pathSuffix":"","type":"SOCKET","length":0,"owner":"o","modificationTime":0}}"#;
        assert_eq!(class(socket), Class::NotUnderstood);
        let ages = r#"{"FileStatus":{"pathSuffix":"","type":"FILE","length":0,"owner":"o",
            "modificationTime":9223372036854775807}}"#;
        assert_eq!(class(ages), Class::NotUnderstood);
    }

    #[test]
    fn paths_come_with_and_without_authority() {
        let path = |text: &str| parse_path(text).map(|path| path.to_string());
        assert_eq!(path(r#"{"Path":"/user/root/.Trash"}"#).as_deref(), Ok("/user/root/.Trash"));
        assert_eq!(path(r#"{"Path":"hdfs://ns1/user/a"}"#).as_deref(), Ok("/user/a"));
        assert!(path(r#"{"Path":"user"}"#).is_err());
    }
}
