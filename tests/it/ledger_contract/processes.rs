//! Real processes on one ledger: racing for the lease, and killed at any moment.
//!
//! The other process is this test binary once more, told by a variable which part to play.

use std::io::{BufRead as _, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::json;
use statewarden::domain::RecordId;
use statewarden::ledger::SqlLedger;
use statewarden::ledger::actor::{TASK_INSTANCE, actor, holder};
use statewarden::ports::ledger::{AuditVerdict, LeaseAnswer, Ledger as _};

use super::store::plan;

const PART: &str = "STATEWARDEN_TEST_PART";
const PLACE: &str = "STATEWARDEN_TEST_PLACE";

struct Other {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Other {
    fn start(part: &str, place: &str) -> Self {
        Self::start_in_task(part, place, None)
    }

    /// As a DolphinScheduler task would start it.
    fn start_in_task(part: &str, place: &str, instance: Option<&str>) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("this binary"))
            .args(["--exact", "ledger_contract::processes::the_other_process", "--nocapture"])
            .env(PART, part)
            .env(PLACE, place)
            .env_remove(TASK_INSTANCE)
            .envs(instance.map(|id| (TASK_INSTANCE, id)))
            .stdout(Stdio::piped())
            .stdin(Stdio::piped())
            .spawn()
            .expect("it starts");
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        Self { child, lines }
    }

    /// The next word it says.
    fn says(&mut self) -> String {
        let line = self.lines.by_ref().map(|line| line.expect("text")).find(|line| line.contains("=> "));
        let line = line.expect("it says something");
        line.split_once("=> ").map(|(_, word)| word.to_owned()).expect("found above")
    }

    fn kill(mut self) {
        self.child.kill().expect("SIGKILL");
        self.child.wait().expect("it ended");
    }
}

#[allow(clippy::print_stdout, reason = "the test that started this process reads it")]
fn say(word: &str) {
    println!("=> {word}");
}

/// Does nothing in a normal run of the tests.
#[tokio::test]
async fn the_other_process() {
    let Ok(part) = std::env::var(PART) else { return };
    let ledger = SqlLedger::open(&std::env::var(PLACE).expect("a place")).await.expect("it opens");
    match part.as_str() {
        "actor" => say(&actor()),
        "lease" => hold_the_lease(&ledger).await,
        _ => write_without_end(&ledger).await,
    }
}

async fn hold_the_lease(ledger: &SqlLedger) {
    let answer = ledger.take_lease(&holder(), 3600).await.expect("an answer");
    let LeaseAnswer::Granted(lease) = answer else {
        say("held");
        return wait_to_be_ended();
    };
    let plan = plan("r1");
    ledger.save_plan(&plan).await.expect("recorded");
    ledger.open_intent(&lease, &plan.hash, 1, RecordId(1)).await.expect("written");
    say("granted");
    wait_to_be_ended();
}

fn wait_to_be_ended() {
    // Ends with the pipe too, should the other side be gone without having killed this one.
    let _ = std::io::stdin().lines().next();
}

async fn write_without_end(ledger: &SqlLedger) {
    for number in 0.. {
        let head = ledger.audit("etl@w1", "r1", "outcome", &json!(number)).await.expect("appended");
        say(&head);
    }
}

fn place() -> (tempfile::TempDir, String) {
    let directory = tempfile::tempdir().expect("a directory");
    let place = directory.path().join("ledger.db").to_string_lossy().into_owned();
    (directory, place)
}

#[test]
fn the_actor_names_the_task_instance_if_there_is_one() {
    let (_directory, place) = place();
    let said = |instance| {
        let mut other = Other::start_in_task("actor", &place, instance);
        let actor = other.says();
        other.kill();
        actor
    };
    let person = said(None);
    let (user, host) = person.split_once('@').expect("user@host");
    assert!(!user.is_empty() && !host.is_empty() && !host.contains(' '), "{person}");
    assert_eq!(said(Some("4711")), format!("{person} ds-task-instance=4711"));
    // DolphinScheduler 1.3 leaves the placeholder as it is.
    assert_eq!(said(Some("${system.task.instance.id}")), person);
}

#[tokio::test]
async fn one_of_several_processes_gets_the_lease_and_its_death_frees_it() {
    let (_directory, place) = place();
    let mut others: Vec<Other> = (0..3).map(|_| Other::start("lease", &place)).collect();
    let mut words: Vec<String> = others.iter_mut().map(Other::says).collect();
    let winner = words.iter().position(|word| word == "granted").expect("one got it");
    let winner_process = others.swap_remove(winner);
    words.swap_remove(winner);
    assert_eq!(words, ["held", "held"]);

    let ledger = SqlLedger::open(&place).await.expect("it opens");
    let held = ledger.take_lease(&holder(), 60).await.expect("an answer");
    assert!(matches!(&held, LeaseAnswer::Held(lease) if lease.fence == 1), "{held:?}");
    winner_process.kill();
    let ours = ledger.take_lease(&holder(), 60).await.expect("an answer");
    let LeaseAnswer::Granted(lease) = ours else { panic!("its process is gone: {ours:?}") };
    assert_eq!(lease.fence, 2);
    let open = ledger.open_intents().await.expect("listed");
    assert_eq!(open.iter().map(|intent| (intent.record, intent.fence)).collect::<Vec<_>>(), [(RecordId(1), 1)]);
    others.into_iter().for_each(Other::kill);
}

#[tokio::test]
async fn a_kill_in_the_midst_of_writing_loses_nothing_that_was_said() {
    let (_directory, place) = place();
    let mut last = None;
    for round in 0..4_usize {
        let mut other = Other::start("write", &place);
        for _ in 0..=round * 7 {
            last = Some(other.says());
        }
        other.kill();
        let ledger = SqlLedger::open(&place).await.expect("it opens after a kill");
        let verdict = ledger.verify_audit_to(last.as_deref().expect("it said something")).await.expect("an answer");
        assert!(matches!(verdict, AuditVerdict::Whole { .. }), "round {round}: {verdict:?}");
    }
}
