//! What is asked, and why an answer cannot be used, in words for a person.

use crate::adapters::http::HttpFault;
use crate::domain::text::printable;
use crate::domain::{Existence, HdfsPath};
use crate::views::{Cause, Gap, ViewName};

/// The reading operations of WebHDFS that this program uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    /// One page of a directory (NameNode since 2.9, HttpFS since 2.9/3.0).
    ListBatch,
    /// A directory in one answer, for servers that do not know pages.
    List,
    /// One path.
    Status,
    /// The content of a file.
    Open,
    /// Totals of a subtree.
    Summary,
    /// Where a deleted file would go (2.8).
    TrashRoot,
    /// Defaults of the server (3.3).
    ServerDefaults,
    /// Home of the effective user.
    Home,
    /// Making the root directory, which is there: changes nothing, and safe mode refuses it.
    MakeRoot,
}

impl Operation {
    /// The `op` parameter.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::ListBatch => "LISTSTATUS_BATCH",
            Self::List => "LISTSTATUS",
            Self::Status => "GETFILESTATUS",
            Self::Open => "OPEN",
            Self::Summary => "GETCONTENTSUMMARY",
            Self::TrashRoot => "GETTRASHROOT",
            Self::ServerDefaults => "GETSERVERDEFAULTS",
            Self::Home => "GETHOMEDIRECTORY",
            Self::MakeRoot => "MKDIRS",
        }
    }

    /// Whether only an active NameNode answers; the home directory is a matter of names alone.
    pub(super) const fn needs_active(self) -> bool {
        !matches!(self, Self::Home)
    }
}

/// One question.
#[derive(Debug, Clone, Copy)]
pub(super) struct Question<'a> {
    /// Operation.
    pub(super) op: Operation,
    /// On what.
    pub(super) path: &'a HdfsPath,
    /// The last name of the page before.
    pub(super) start_after: Option<&'a str>,
}

impl<'a> Question<'a> {
    /// A question about a path.
    pub(super) const fn new(op: Operation, path: &'a HdfsPath) -> Self {
        Self { op, path, start_after: None }
    }
}

/// What kind of failure it is. Decided on the typed exception, not on the status: 403 alone stands for a dozen things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// 404 with `FileNotFoundException`: the only answer that means "does not exist".
    NotFound,
    /// `AccessControlException`.
    Denied,
    /// No, wrong or expired credentials.
    NotAuthenticated,
    /// `AuthorizationException`: the account may not impersonate.
    NotImpersonated,
    /// `StandbyException`.
    Standby,
    /// `RetriableException`: the same question may be answered later.
    Busy,
    /// `SafeModeException`: reads work, writes do not; a few reads fail too while block reports are missing.
    SafeMode,
    /// The server does not know the operation.
    UnknownOperation,
    /// `UnresolvedPathException`: a symbolic link on the way.
    Symlink,
    /// Any other typed exception.
    Exception,
    /// A failure without a typed exception (5xx).
    ServerError,
    /// No WebHDFS answer: HTML, a redirect, another service.
    NotWebHdfs,
    /// JSON of another shape than the operation gives.
    NotUnderstood,
    /// The JSON ends in the middle.
    CutShort,
    /// The entries do not advance or changed while they were read.
    Shifting,
    /// The NameNode named a DataNode, and that did not deliver.
    DataNode(Cause),
    /// The NameNode named a place for the content where this program does not go.
    Redirect,
    /// No NameNode is configured.
    NotConfigured,
    /// No whole answer.
    Http(Cause),
}

impl Class {
    /// Whether another NameNode may know better. Reads only, so asking twice does no harm.
    pub(super) const fn tries_next(self) -> bool {
        match self {
            Self::Http(cause) => !matches!(cause, Cause::Throttled),
            _ => matches!(self, Self::Standby | Self::Busy | Self::SafeMode | Self::ServerError | Self::NotWebHdfs),
        }
    }

    /// Whether the same question may be answered a little later.
    pub(super) const fn may_pass(self) -> bool {
        matches!(self, Self::Standby | Self::Busy | Self::SafeMode)
    }

    /// Whether only an active NameNode gives this answer. A standby checks credentials and parameters before its own state,
    /// so failures of these tell nothing.
    pub(super) const fn is_from_active(self) -> bool {
        matches!(self, Self::NotFound | Self::Denied | Self::Symlink)
    }

    const fn cause(self) -> Cause {
        match self {
            Self::Denied | Self::NotAuthenticated | Self::NotImpersonated => Cause::NotAuthorized,
            Self::Standby => Cause::Standby,
            Self::Busy | Self::SafeMode | Self::Exception | Self::ServerError => Cause::ServerError,
            Self::UnknownOperation | Self::Symlink => Cause::Unsupported,
            // An absence is a failure only where it is no answer: for the root, which always exists.
            Self::NotWebHdfs | Self::NotUnderstood | Self::Redirect | Self::NotFound => Cause::NotUnderstood,
            Self::CutShort => Cause::CutShort,
            Self::Shifting => Cause::Shifting,
            Self::NotConfigured => Cause::NotConfigured,
            Self::Http(cause) | Self::DataNode(cause) => cause,
        }
    }

    const fn advice(self) -> &'static str {
        match self {
            Self::NotFound => "it does not exist on this server",
            Self::Denied => "give the account `r-x` there and `x` on everything above",
            Self::NotAuthenticated => {
                "SPNEGO is not supported yet: run `kinit`, then `curl --negotiate -u : \
                 'http://NAMENODE:9870/webhdfs/v1/?op=GETDELEGATIONTOKEN'`, put the `urlString` into the file of \
                 `hdfs.delegation_token_file`, and fetch a new one before it expires (a day, unless renewed)"
            }
            Self::NotImpersonated => "allow it with `hadoop.proxyuser.*` on the server, or leave out `hdfs.doas`",
            Self::Standby => {
                "name both NameNodes in `hdfs.urls`, and see `hdfs haadmin -getAllServiceState` for the active one"
            }
            Self::Busy => "the NameNode is starting; run again once it is up",
            Self::SafeMode => "the NameNode is in safe mode; run again once it has left it",
            Self::UnknownOperation => "this server is too old for the question",
            Self::Symlink => "symbolic links are not followed; name what the link points at",
            Self::Exception => "look into the log of the NameNode, and check `hdfs.user` and `hdfs.urls`",
            Self::ServerError => "look into the log of the server or of the proxy before it",
            Self::NotWebHdfs => "check `hdfs.urls`: is it the HTTP address of a NameNode, of HttpFS or of Knox?",
            Self::NotUnderstood => "ask the same with `curl` and compare; is there a proxy that rewrites answers?",
            Self::CutShort => "run again; if it stays, look at the proxy before the server",
            Self::DataNode(_) => {
                "contents come from the DataNodes: their names must resolve here and their HTTP ports (9864) be open; \
                 else name HttpFS or Knox in `hdfs.urls`"
            }
            Self::Redirect => "ask the same with `curl -i` and look at `Location`",
            Self::Shifting => "run again when less is being written there",
            Self::NotConfigured => "set `hdfs.urls` or `hdfs.conf_dir`",
            Self::Http(Cause::TimedOut) => "raise `hdfs.timeout`, or look at the load of the NameNode",
            Self::Http(_) => "check `hdfs.urls`, the network and that the server runs",
        }
    }
}

/// Why there is no usable answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    /// Kind.
    pub(super) class: Class,
    /// What came back, printable and without secrets.
    pub(super) came_back: String,
}

/// Longest text of a server that is repeated to a person, in characters.
const MAX_TEXT: usize = 200;

impl Failure {
    /// A failure with the words of this program.
    pub(super) fn new(class: Class, came_back: impl Into<String>) -> Self {
        Self { class, came_back: came_back.into() }
    }

    /// A failure of the transport.
    pub(super) fn http(fault: &HttpFault) -> Self {
        Self::new(Class::Http(fault.cause()), printable(&fault.to_string()))
    }

    /// The same, said of one server.
    pub(super) fn by(mut self, node: &str) -> Self {
        self.came_back = format!("{node}: {}", self.came_back);
        self
    }

    /// The one failure that stands for those of all servers: what may pass first, then what the first one said.
    pub(super) fn of_all(failures: Vec<Self>) -> Self {
        let class = [Class::SafeMode, Class::Busy, Class::Standby]
            .into_iter()
            .find(|class| failures.iter().any(|failure| failure.class == *class))
            .or_else(|| failures.first().map(|failure| failure.class));
        let Some(class) = class else { return Self::new(Class::NotConfigured, "no NameNode is configured") };
        let came_back = failures.into_iter().map(|failure| failure.came_back).collect::<Vec<_>>().join("; ");
        Self { class, came_back }
    }

    /// What was asked, what came back, what to do.
    pub(super) fn explain(&self, question: &Question<'_>) -> String {
        let (op, path) = (question.op.name(), printable(question.path.as_str()));
        format!("{op} of `{path}`: {}; {}", self.came_back, self.class.advice())
    }

    /// As a gap at the path of the question.
    pub(super) fn into_gap(self, question: &Question<'_>) -> Gap {
        Gap::incomplete(ViewName::Hdfs, self.class.cause(), self.explain(question)).at(question.path)
    }

    /// As one of the four answers.
    pub(super) fn into_existence(self, question: &Question<'_>) -> Existence {
        match self.class {
            Class::NotFound => Existence::Absent,
            Class::Denied => Existence::Denied { why: self.explain(question) },
            _ => Existence::Unknown { why: self.explain(question) },
        }
    }
}

/// The first line of a foreign text, cut and made printable. Java puts stack traces behind it.
pub(super) fn first_line(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    let mut cut: String = line.chars().take(MAX_TEXT).collect();
    if cut.len() < line.len() {
        cut.push('…');
    }
    printable(&cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_is_cut_and_escaped() {
        assert_eq!(first_line("\n  one\u{1b}[31m\nat org.apache…"), "one\\u{1b}[31m");
        let long = first_line(&"检".repeat(500));
        assert_eq!(long.chars().count(), MAX_TEXT + 1);
        assert_eq!(first_line(""), "");
    }

    #[test]
    fn several_failures_become_the_most_hopeful_one() {
        let down = Failure::new(Class::Http(Cause::Unreachable), "nn1: cannot connect");
        let standby = Failure::new(Class::Standby, "nn2: StandbyException");
        let both = Failure::of_all(vec![down.clone(), standby]);
        assert_eq!(both, Failure::new(Class::Standby, "nn1: cannot connect; nn2: StandbyException"));
        assert_eq!(Failure::of_all(vec![down.clone()]), down);
        assert_eq!(Failure::of_all(vec![]).class, Class::NotConfigured);
    }
}
