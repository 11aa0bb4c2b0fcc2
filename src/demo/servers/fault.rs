//! Which fault meets a request, and the log of requests; the same for all three servers.
//!
//! A server describes each request, asks [`Faults::decide`] once, and gives the answer that the [`Fault`] says. What a
//! fault means in the words of one API (a RemoteException, a body code) is that server's part.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use globset::GlobBuilder;

use crate::demo::world::{Effect, Fault};

/// One request, in the words a fault can name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Request {
    /// HTTP method.
    pub method: String,
    /// Path of the URL as it came, percent forms kept, without the query.
    pub raw_path: String,
    /// Operation by the table of the server; empty for a request that is none of them.
    pub op: String,
    /// Path asked about; the source of a rename.
    pub path: Option<String>,
    /// Row asked about.
    pub record: Option<i64>,
    /// Job asked about.
    pub job: Option<String>,
    /// Project asked about.
    pub project: Option<i64>,
    /// Tenant asked about.
    pub tenant: Option<String>,
    /// Page asked for, from 1; `None` for a call without pages.
    pub page: Option<u32>,
}

/// One request that a server saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The request.
    pub request: Request,
    /// Whether a fault met it.
    pub faulted: bool,
}

/// The faults of one server, with what they have seen so far, and the log of its requests.
#[derive(Debug, Default)]
pub struct Faults {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    rules: Vec<Rule>,
    sticky: Option<Arc<Fault>>,
    log: Vec<Seen>,
}

#[derive(Debug)]
struct Rule {
    fault: Arc<Fault>,
    /// Requests so far that the fault is about, whether or not it was their turn.
    seen: u32,
}

impl Faults {
    /// The faults of a world file.
    pub fn new(faults: &[Fault]) -> Self {
        let faults_of_server = Self::default();
        faults_of_server.set_faults(faults);
        faults_of_server
    }

    /// Replaces the faults; counting starts anew, the log stays.
    pub fn set_faults(&self, faults: &[Fault]) {
        let mut state = self.lock();
        state.rules = faults.iter().map(|fault| Rule { fault: Arc::new(fault.clone()), seen: 0 }).collect();
        state.sticky = None;
    }

    /// Logs the request and says which fault meets it: a sticky one that was hit before, else the first whose turn it is.
    pub fn decide(&self, request: Request) -> Option<Arc<Fault>> {
        let mut state = self.lock();
        let due = state.due(&request);
        let fault = state.sticky.clone().or(due);
        if let Some(fault) = &fault
            && fault.sticky
        {
            state.sticky = Some(Arc::clone(fault));
        }
        state.log.push(Seen { request, faulted: fault.is_some() });
        fault
    }

    /// The requests so far, oldest first.
    pub fn log(&self) -> Vec<Seen> {
        self.lock().log.clone()
    }

    /// Forgets the requests so far.
    pub fn clear_log(&self) {
        self.lock().log.clear();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is whole after each statement, so a panic elsewhere leaves nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Counts the request at every rule that is about it; the first rule whose turn it is wins.
    fn due(&mut self, request: &Request) -> Option<Arc<Fault>> {
        let mut winner = None;
        for rule in self.rules.iter_mut().filter(|rule| is_about(&rule.fault, request)) {
            rule.seen += 1;
            if winner.is_none() && is_due(&rule.fault, rule.seen) {
                winner = Some(Arc::clone(&rule.fault));
            }
        }
        winner
    }
}

fn is_due(fault: &Fault, seen: u32) -> bool {
    fault.nth.is_none_or(|n| seen == n) && fault.from.is_none_or(|n| seen >= n)
}

fn is_about(fault: &Fault, request: &Request) -> bool {
    names_operation(fault, request)
        && fault.path.as_ref().is_none_or(|glob| request.path.as_ref().is_some_and(|path| path_matches(glob, path)))
        && equal_if_given(fault.record.as_ref(), request.record.as_ref())
        && equal_if_given(fault.job.as_ref(), request.job.as_ref())
        && equal_if_given(fault.project.as_ref(), request.project.as_ref())
        && equal_if_given(fault.tenant.as_ref(), request.tenant.as_ref())
        && equal_if_given(fault.page.as_ref(), request.page.as_ref())
        && fault.from_page.is_none_or(|from| request.page.is_some_and(|page| page >= from))
}

/// A fault names an operation, or method and URL, or both; one that names nothing is about nothing.
fn names_operation(fault: &Fault, request: &Request) -> bool {
    let by_op = fault.op.as_ref().map(|op| op == "*" || op == &request.op || covers_lists(op, &request.op));
    let by_method = fault.method.as_ref().map(|method| method.eq_ignore_ascii_case(&request.method));
    let by_url = fault.url.as_ref().map(|glob| glob_matches(glob, &request.raw_path, false));
    let said = [by_op, by_method, by_url];
    said.iter().any(Option::is_some) && said.into_iter().all(|it| it != Some(false))
}

/// `list` stands for both ways to list resources.
fn covers_lists(op: &str, asked: &str) -> bool {
    op == "list" && matches!(asked, "list-tree" | "list-page")
}

fn equal_if_given<T: PartialEq>(wanted: Option<&T>, got: Option<&T>) -> bool {
    wanted.is_none() || wanted == got
}

/// Whether a path glob of a world file covers `path`: `*` stays within a name, `/**` is everything below.
///
/// A path that is spelled out matches itself whatever characters it holds.
pub fn path_matches(glob: &str, path: &str) -> bool {
    glob == path || glob_matches(glob, path, true)
}

fn glob_matches(glob: &str, text: &str, within_a_name: bool) -> bool {
    let built = GlobBuilder::new(glob).literal_separator(within_a_name).backslash_escape(true).build();
    built.is_ok_and(|glob| glob.compile_matcher().is_match(text))
}

impl Fault {
    /// Whether the answer says, or would have said, that all went well.
    pub fn answers_success(&self) -> bool {
        self.http.is_none_or(|status| (200..300).contains(&status))
            && self.code.is_none_or(|code| code == 0)
            && self.exception.is_none()
            && self.errors.is_none()
    }

    /// Whether the answer is something else than the server's own, beyond changed entries.
    pub fn replaces_answer(&self) -> bool {
        !self.answers_success() || self.body.is_some() || self.location.is_some()
    }

    /// What a write that meets this fault does.
    pub fn effect_of_write(&self) -> Effect {
        let clear_success = self.answers_success() && !self.timeout && self.cut.is_none();
        self.effect.unwrap_or(if clear_success { Effect::Done } else { Effect::None })
    }

    /// Whether a list leaves `path` out.
    pub fn omits(&self, path: &str) -> bool {
        let below = |gone: &str| path.strip_prefix(gone).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        self.omit.iter().any(|gone| below(gone.trim_end_matches('/')))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(yaml: &str) -> Faults {
        let text = format!("title: t\nhdfs:\n  faults:\n{yaml}");
        let world = crate::demo::world::World::load(&text, jiff::Timestamp::UNIX_EPOCH).expect("a world");
        Faults::new(&world.hdfs.faults)
    }

    fn stat(path: &str) -> Request {
        Request { method: "GET".into(), op: "stat".into(), path: Some(path.into()), ..Request::default() }
    }

    fn page(number: u32) -> Request {
        Request { op: "list-page".into(), page: Some(number), ..Request::default() }
    }

    #[test]
    fn nth_counts_the_requests_the_fault_is_about() {
        let faults = faults("    - {op: stat, path: /a, nth: 2, http: 500}");
        let hits: Vec<bool> =
            ["/a", "/b", "/a", "/a"].map(|path| faults.decide(stat(path)).is_some()).into_iter().collect();
        assert_eq!(hits, [false, false, true, false]);
        assert_eq!(faults.log().iter().map(|seen| seen.faulted).collect::<Vec<_>>(), hits);
    }

    #[test]
    fn from_and_pages_open_a_range() {
        let faults = faults("    - {op: list, from_page: 2, http: 500}\n    - {op: list-page, from: 3, http: 401}");
        let status = |request| faults.decide(request).and_then(|fault| fault.http);
        assert_eq!(status(page(1)), None);
        assert_eq!(status(page(2)), Some(500));
        assert_eq!(status(page(1)), Some(401));
    }

    #[test]
    fn a_sticky_fault_stays_for_every_later_request() {
        let faults = faults("    - {op: stat, path: /a/b, http: 401, sticky: true}");
        assert!(faults.decide(stat("/c")).is_none());
        assert!(faults.decide(stat("/a/b")).is_some());
        assert!(faults.decide(page(1)).is_some());
        faults.set_faults(&[]);
        assert!(faults.decide(stat("/a/b")).is_none());
    }

    #[test]
    fn globs_stay_within_a_name_unless_they_say_below() {
        assert!(path_matches("/a/*", "/a/b") && !path_matches("/a/*", "/a/b/c"));
        assert!(path_matches("/a/**", "/a/b/c") && !path_matches("/a/**", "/a") && !path_matches("/a/**", "/ab"));
        assert!(path_matches("/a/[x", "/a/[x"));
        let faults = faults("    - {method: delete, url: '/webhdfs/*', http: 500}");
        let request =
            |method: &str| Request { method: method.into(), raw_path: "/webhdfs/v1/a%20b".into(), ..stat("/a b") };
        assert!(faults.decide(request("DELETE")).is_some() && faults.decide(request("GET")).is_none());
    }

    #[test]
    fn a_write_has_its_effect_only_if_the_answer_is_a_success() {
        let effect = |yaml: &str| {
            let fault = faults(yaml).decide(stat("/a")).expect("a fault");
            fault.effect_of_write()
        };
        assert_eq!(effect("    - {op: stat, http: 200, code: 0}"), Effect::Done);
        assert_eq!(effect("    - {op: stat, http: 200, code: 10058}"), Effect::None);
        assert_eq!(effect("    - {op: stat, cut: before_answer}"), Effect::None);
        assert_eq!(effect("    - {op: stat, cut: before_answer, effect: done}"), Effect::Done);
    }

    #[test]
    fn what_is_left_out_takes_everything_below_along() {
        let fault = Fault { omit: vec!["/a/b".into()], ..Fault::default() };
        assert!(fault.omits("/a/b") && fault.omits("/a/b/c") && !fault.omits("/a/bc"));
    }
}
