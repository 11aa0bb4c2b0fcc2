//! The content of a file: the NameNode says which DataNode has it, and that sends it; HttpFS and Knox send it themselves.
//!
//! A DataNode sends what it has and then closes the connection, so only the length that the NameNode knows tells a whole file
//! from the beginning of one.

use url::Url;

use super::WebHdfs;
use super::address;
use super::failover::Node;
use super::question::{Class, Failure, Operation, Question};
use super::wire::{self, Content};
use crate::domain::{EntryKind, HdfsPath, Status};
use crate::ports::read::ReadAnswer;

impl WebHdfs {
    /// Status, content, and both compared.
    pub(super) async fn read_whole(&self, path: &HdfsPath, limit: usize) -> ReadAnswer {
        let question = Question::new(Operation::Status, path);
        let asked = self.ask(&question).await;
        let status = match asked.and_then(|fetched| self.understand(&fetched, |text| self.status(text))) {
            Ok(status) => status,
            Err(failure) => return unread(failure, &question),
        };
        if status.kind != EntryKind::File {
            return ReadAnswer::NotAFile(status);
        }
        match usize::try_from(status.length).ok().filter(|length| *length <= limit) {
            Some(length) => self.read_of_length(path, length, status).await,
            None => ReadAnswer::TooLong(status),
        }
    }

    async fn read_of_length(&self, path: &HdfsPath, length: usize, status: Status) -> ReadAnswer {
        let question = Question::new(Operation::Open, path);
        match self.fetch_content(&question, length).await {
            Ok(bytes) if bytes.len() == length => ReadAnswer::Read { bytes, status },
            Ok(bytes) => {
                let came_back = format!("{} bytes of a file of {length}", bytes.len());
                unread(Failure::new(Class::CutShort, came_back), &question)
            }
            // Its status was there a moment ago.
            Err(Failure { class: Class::NotFound, came_back }) => {
                let came_back = format!("the file went away while it was read ({came_back})");
                unread(Failure::new(Class::Shifting, came_back), &question)
            }
            Err(failure) => unread(failure, &question),
        }
    }

    async fn fetch_content(&self, question: &Question<'_>, length: usize) -> Result<Vec<u8>, Failure> {
        let mut failures = Vec::new();
        for (_, node) in self.nodes.in_order() {
            match self.fetch_content_by(node, question, length).await {
                Err(failure) if failure.class.tries_next() => failures.push(failure),
                outcome => return outcome,
            }
        }
        Err(Failure::of_all(failures))
    }

    /// Asks one NameNode; if the DataNode that it names fails, once more for another one.
    async fn fetch_content_by(&self, node: &Node, question: &Question<'_>, length: usize) -> Result<Vec<u8>, Failure> {
        let url = address::of(&node.base, question, &self.identity);
        let place = match self.ask_for_content(&url, node, length).await? {
            Found::Here(bytes) => return Ok(bytes),
            Found::There(place) => place,
        };
        let first = match self.fetch_from(&place, length).await {
            Err(failure) if matches!(failure.class, Class::DataNode(_)) => failure,
            outcome => return outcome,
        };
        match self.ask_for_content(&without(&url, &place), node, length).await? {
            Found::Here(bytes) => Ok(bytes),
            Found::There(same) if same.host() == place.host() && same.port() == place.port() => Err(first),
            Found::There(other) => self.fetch_from(&other, length).await,
        }
    }

    async fn ask_for_content(&self, url: &Url, node: &Node, length: usize) -> Result<Found, Failure> {
        // An error is JSON and may be longer than a short file.
        let answer = self.http.get_at_most(url, length.max(MAX_ERROR)).await;
        let answer = answer.map_err(|fault| Failure::http(&fault).by(&node.name))?;
        tracing::debug!(op = "OPEN", status = answer.status, "asked the NameNode");
        match wire::open_content(&answer, |text| self.identity.scrub(text)).map_err(|failure| failure.by(&node.name))? {
            Content::Here(bytes) => Ok(Found::Here(bytes.to_vec())),
            Content::There(location) => self.check_place(node, location).map(Found::There),
        }
    }

    /// Where a NameNode may send us: to HTTP, and not from an encrypted to an open one. None of our headers goes there; what a
    /// DataNode needs, a delegation token among it, the NameNode has written into the URL.
    fn check_place(&self, node: &Node, location: &str) -> Result<Url, Failure> {
        let refused = |why: &str| Err(Failure::new(Class::Redirect, format!("a redirect {why}")).by(&node.name));
        let Ok(place) = node.base.join(location) else { return refused("to what is no URL") };
        match (node.base.scheme(), place.scheme()) {
            (_, "https") | ("http", "http") => (),
            ("https", "http") => return refused("from https to http"),
            _ => return refused("to what is no HTTP server"),
        }
        Ok(place)
    }

    async fn fetch_from(&self, place: &Url, length: usize) -> Result<Vec<u8>, Failure> {
        let name = address::name(place);
        let answer = self.data.get_at_most(place, length.max(MAX_ERROR)).await.map_err(|fault| {
            let failure = Failure::http(&fault);
            Failure::new(Class::DataNode(fault.cause()), failure.came_back).by(&name)
        })?;
        match wire::open_content(&answer, |text| self.identity.scrub(text)).map_err(|failure| failure.by(&name))? {
            Content::Here(bytes) => Ok(bytes.to_vec()),
            Content::There(_) => Err(Failure::new(Class::Redirect, "a redirect after a redirect").by(&name)),
        }
    }
}

/// Bytes of an error that are read where a shorter file was expected.
const MAX_ERROR: usize = 64 << 10;

enum Found {
    Here(Vec<u8>),
    There(Url),
}

/// The same question, but for a DataNode (`excludedatanodes`, Hadoop 2.6 and later).
fn without(url: &Url, place: &Url) -> Url {
    let mut url = url.clone();
    url.query_pairs_mut().append_pair("excludedatanodes", &address::name(place));
    url
}

fn unread(failure: Failure, question: &Question<'_>) -> ReadAnswer {
    match failure.class {
        Class::NotFound => ReadAnswer::Absent,
        _ => ReadAnswer::Unread(failure.into_gap(question)),
    }
}
