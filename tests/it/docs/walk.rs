//! The walk in the README, from a report to a clean resource page, is what a newcomer gets who types what the demo proposes.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use super::guide::blocks;

/// `statewarden demo --keep`, ended with this value.
struct Kept {
    child: Child,
    /// The commands it proposes, without the program's name.
    proposed: Vec<Vec<String>>,
}

impl Drop for Kept {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The program, as on a machine where nothing is set up.
fn statewarden() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_statewarden"));
    command.env_clear().stdin(Stdio::null());
    command
}

fn keep() -> Kept {
    let mut child =
        statewarden().args(["demo", "--keep"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the demo");
    let mut proposed = Vec::new();
    for line in BufReader::new(child.stderr.take().expect("a pipe")).lines() {
        let line = line.expect("text");
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        if words.first().is_some_and(|word| word == "statewarden") {
            proposed.push(words[1..].to_vec());
        }
        if line.contains("export PATH=") {
            break;
        }
    }
    Kept { child, proposed }
}

/// Runs what is proposed for a command, with more words, and returns what it prints and how it ends.
fn run(kept: &Kept, begins: &[&str], more: &[&str]) -> (String, Option<i32>) {
    let is_meant = |words: &&Vec<String>| {
        begins.iter().all(|word| words.contains(&(*word).to_owned())) && words.first().is_some_and(|w| w == begins[0])
    };
    let words = kept.proposed.iter().find(is_meant).unwrap_or_else(|| panic!("{begins:?} in {:?}", kept.proposed));
    assert!(words.contains(&"--ledger".to_owned()), "the demo's own ledger: {words:?}");
    let output = statewarden().args(words).args(more).output().expect("the program");
    let text = [output.stderr, output.stdout].map(|bytes| String::from_utf8(bytes).expect("text")).concat();
    (text, output.status.code())
}

/// Whether a printed line is the shown one; `…` stands for what differs from run to run.
fn is_shown(printed: &str, shown: &str) -> bool {
    let mut rest = printed.trim_end();
    let mut parts = shown.trim_end().split('…');
    let first = parts.next().unwrap_or_default();
    let Some(after) = rest.strip_prefix(first) else { return false };
    rest = after;
    let mut ended = rest.is_empty();
    for part in parts {
        ended = part.is_empty() || rest.ends_with(part);
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    ended
}

#[test]
fn the_walk_that_is_shown_is_what_the_demo_proposes() {
    let kept = keep();
    let walk = [
        (run(&kept, &["plan", "--wait"], &[]), 3),
        (run(&kept, &["show"], &[]), 0),
        (run(&kept, &["apply"], &[]), 4),
        (run(&kept, &["apply"], &["--yes"]), 0),
        (run(&kept, &["drift", "--since"], &[]), 3),
        (run(&kept, &["audit", "show"], &[]), 0),
        (run(&kept, &["audit", "verify"], &[]), 0),
    ];
    for ((text, code), expected) in &walk {
        assert_eq!(*code, Some(*expected), "{text}");
    }
    let printed: Vec<&str> = walk.iter().flat_map(|((text, _), _)| text.lines()).collect();
    let shown = blocks("README.md", "text").split_off(1).concat();
    assert!(shown.lines().count() > 40, "{shown}");
    let has = |line: &str| printed.iter().any(|other| is_shown(other, line));
    let strangers: Vec<&str> = shown.lines().filter(|line| !has(line)).collect();
    assert!(strangers.is_empty(), "nothing prints:\n{}\nbut:\n{}", strangers.join("\n"), printed.join("\n"));
}

#[test]
fn shown_lines_are_matched_around_what_differs() {
    assert!(is_shown("Since run 17 of today: 0 new", "Since run …: 0 new"));
    assert!(is_shown("head 0a1b", "head …") && is_shown("whole  ", "whole"));
    assert!(!is_shown("Since run 17: 1 new", "Since run …: 0 new"));
    assert!(
        !is_shown("whole and more", "whole") && !is_shown("a run at 7 saw the same thing", "a run at … saw the same")
    );
}
