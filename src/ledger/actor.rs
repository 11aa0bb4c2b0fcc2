//! Who acts: OS user, host, process, and the DolphinScheduler task where there is one.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// The variable in which a Shell task passes its instance id on.
///
/// DolphinScheduler (2.0.9 to 3.2.2) gives a task no variables of its own; it replaces `${system.task.instance.id}` in the
/// text of the script, so the script has to say `export STATEWARDEN_DS_TASK_INSTANCE='${system.task.instance.id}'`.
pub const TASK_INSTANCE: &str = "STATEWARDEN_DS_TASK_INSTANCE";

/// The actor for the audit chain: `user@host`, and ` ds-task-instance=ID` inside a DolphinScheduler task.
pub fn actor() -> String {
    let person = format!("{}@{}", user(), host());
    match std::env::var(TASK_INSTANCE).ok().filter(|id| is_id(id)) {
        Some(id) => format!("{person} ds-task-instance={id}"),
        None => person,
    }
}

/// A placeholder that nobody replaced is no id.
fn is_id(text: &str) -> bool {
    !text.is_empty() && text.len() <= 20 && text.bytes().all(|b| b.is_ascii_digit())
}

/// This process as the holder of a lease.
pub fn holder() -> String {
    holder_of(std::process::id())
}

/// A process of this host as the holder of a lease: `user@host:pid:starttime:table`. The start time (clock ticks since boot,
/// field 22 of `/proc/PID/stat`) notices a pid that was given out again; the table (boot id and pid namespace) tells whether
/// two holders were seen in the same process table, as two containers of one host name are not.
pub fn holder_of(pid: u32) -> String {
    let started = stat(pid).map_or(0, |stat| stat.started);
    let table = table().unwrap_or_else(|| "-".to_owned());
    format!("{}@{}:{pid}:{started}:{table}", user(), host())
}

/// Whether the process behind a holder is surely gone: it ran in our process table, and it is not there any more, dead and
/// not yet reaped, or its pid is another's. Anything less certain is `false`, and the lease runs out by itself.
pub fn is_gone(holder: &str) -> bool {
    let Some(holder) = Process::parse(holder) else { return false };
    if table().is_none_or(|table| table != holder.table) {
        return false;
    }
    match fs::read_to_string(format!("/proc/{}/stat", holder.pid)) {
        Ok(text) => Stat::parse(&text).is_some_and(|stat| stat.dead || stat.started != holder.started),
        // Where other users' processes are hidden (hidepid), nothing can be concluded: the first process is then hidden too.
        Err(error) => error.kind() == ErrorKind::NotFound && Path::new("/proc/1/stat").exists(),
    }
}

struct Process<'a> {
    pid: u32,
    started: u64,
    table: &'a str,
}

impl<'a> Process<'a> {
    fn parse(holder: &'a str) -> Option<Self> {
        let mut parts = holder.rsplitn(4, ':');
        let table = parts.next()?;
        let started = parts.next()?.parse().ok().filter(|started| *started > 0)?;
        let pid = parts.next()?.parse().ok()?;
        parts.next().filter(|person| person.contains('@')).map(|_| Self { pid, started, table })
    }
}

struct Stat {
    dead: bool,
    started: u64,
}

impl Stat {
    fn parse(text: &str) -> Option<Self> {
        // The name in parentheses may hold anything, parentheses and spaces included.
        let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
        let state = fields.next()?;
        // `state` is field 3 of the line, the start time field 22.
        let started = fields.nth(18)?.parse().ok()?;
        Some(Self { dead: matches!(state, "Z" | "X" | "x"), started })
    }
}

fn stat(pid: u32) -> Option<Stat> {
    Stat::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Boot id and pid namespace: what tells process tables apart.
fn table() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
    let digits: String = namespace.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    Some(format!("{}-{digits}", boot.trim().split('-').next()?))
}

fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => std::env::var("HOSTNAME").unwrap_or_else(|_| "localhost".to_owned()),
        name => name.to_owned(),
    }
}

/// The name of the user this process runs as, by the kernel and the password file. A user of a directory service is told by
/// number, with the name that the environment claims.
fn user() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let claimed = std::env::var("USER").ok().filter(|name| !name.is_empty());
    let Some(uid) = real_uid(&status) else { return claimed.unwrap_or_else(|| "unknown".to_owned()) };
    let passwords = fs::read_to_string("/etc/passwd").unwrap_or_default();
    match (name_of(&passwords, uid), claimed) {
        (Some(name), _) => name.to_owned(),
        (None, Some(claimed)) => format!("uid{uid}({claimed})"),
        (None, None) => format!("uid{uid}"),
    }
}

fn real_uid(status: &str) -> Option<&str> {
    status.lines().find_map(|line| line.strip_prefix("Uid:"))?.split_ascii_whitespace().next()
}

fn name_of<'a>(passwords: &'a str, uid: &str) -> Option<&'a str> {
    let fields = passwords.lines().map(|line| line.split(':').collect::<Vec<_>>());
    fields.filter(|fields| fields.get(2) == Some(&uid)).find_map(|fields| fields.first().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_process_is_read_behind_its_name() {
        let line =
            "15186 (a) b (c) R 15175 15175 920 0 -1 4194304 100 0 0 0 0 0 0 0 20 0 1 0 444656 3133440 413 18446744";
        let stat = Stat::parse(line).expect("a stat line");
        assert!(!stat.dead);
        assert_eq!(stat.started, 444_656);
        assert!(Stat::parse(&line.replace(" R ", " Z ")).expect("a stat line").dead);
        assert!(Stat::parse("15186 (cat) R 1").is_none());
    }

    #[test]
    fn this_process_is_not_gone_and_a_reused_pid_is() {
        let ours = holder();
        assert!(!is_gone(&ours), "{ours}");
        let (head, table) = ours.rsplit_once(':').expect("four parts");
        let (head, started) = head.rsplit_once(':').expect("four parts");
        let other = started.parse::<u64>().expect("ticks") + 1;
        assert!(is_gone(&format!("{head}:{other}:{table}")));
        assert!(!is_gone(&format!("{head}:{other}:other-table")), "another process table says nothing");
    }

    #[test]
    fn a_holder_that_is_not_understood_is_not_gone() {
        for odd in ["", "somebody else", "etl@host:1:1", "etl@host:x:1:t", "etl@host:4194999:0:t"] {
            assert!(!is_gone(odd), "{odd}");
        }
    }

    #[test]
    fn an_ended_process_is_gone_reaped_or_not() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("sleep starts");
        let holder = holder_of(child.id());
        assert!(!is_gone(&holder));
        child.kill().expect("it is ours");
        while !is_gone(&holder) {
            // Dead and unreaped after a moment; the loop ends by itself or the test hangs.
            std::thread::yield_now();
        }
        child.wait().expect("it ended");
        assert!(is_gone(&holder));
    }

    #[test]
    fn users_by_number() {
        let passwords = "root:x:0:0:root:/root:/bin/bash\netl:x:1001:1001::/home/etl:/bin/sh\n";
        assert_eq!(name_of(passwords, "1001"), Some("etl"));
        assert_eq!(name_of(passwords, "1"), None);
        assert_eq!(real_uid("Name:\tcat\nUid:\t1001\t0\t0\t0\n"), Some("1001"));
    }

    #[test]
    fn a_placeholder_is_no_task_instance() {
        assert!(is_id("4711"));
        assert!(!is_id("${system.task.instance.id}"));
        assert!(!is_id(""));
    }
}
