//! Options and statements in scripts that set a checkpoint or savepoint directory.
//!
//! Pure text search. Scripts hold passwords and keys, so only the key and the directory leave this module, cut at the
//! first white space, quote or shell operator; nothing of what surrounds them. A restore path (`-s`, `--fromSavepoint`) sets
//! no directory and is passed over. `${param}` stays as written: DolphinScheduler fills it in when the task runs.

use std::collections::BTreeSet;

/// Keys of the Flink configuration that name a directory for state, old and new spelling (Flink 1.0 to 2.x).
const KEYS: [&str; 6] = [
    "state.checkpoints.dir",
    "execution.checkpointing.dir",
    "state.savepoints.dir",
    "execution.checkpointing.savepoint-dir",
    "state.backend.fs.checkpointdir",
    "savepoints.state.backend.fs.dir",
];

/// Names of program arguments that programs commonly give such a directory, without case, dots, dashes and underscores.
const ARGUMENTS: [&str; 14] = [
    "checkpointdir",
    "checkpointsdir",
    "checkpointdirectory",
    "checkpointpath",
    "checkpointroot",
    "checkpointuri",
    "savepointdir",
    "savepointsdir",
    "savepointdirectory",
    "statecheckpointsdir",
    "executioncheckpointingdir",
    "statesavepointsdir",
    "executioncheckpointingsavepointdir",
    "statebackendfscheckpointdir",
];

/// An option that was found: its key as written and the directory as written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Found {
    /// The key or the name of the program argument, dashes included.
    pub(super) key: String,
    /// The directory.
    pub(super) value: String,
}

/// Every option in `text` that sets a checkpoint or savepoint directory, sorted, without doubles.
pub(super) fn find(text: &str) -> Vec<Found> {
    let mut found = BTreeSet::new();
    for line in text.lines().filter(|line| !is_comment(line)) {
        find_keys(line, &mut found);
        find_arguments(line, &mut found);
    }
    found.into_iter().collect()
}

/// Comments of shell, YAML and SQL. `--` alone begins an argument, so SQL's needs its blank.
fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with('#') || line.starts_with("-- ")
}

/// `-Dkey=value`, `-yD key=value`, `--conf key=value`, `SET 'key' = 'value'`, `set key=value`, `key: value`.
fn find_keys(line: &str, found: &mut BTreeSet<Found>) {
    for key in KEYS {
        for (at, _) in line.match_indices(key) {
            let before = &line[..at];
            let lead = &before[before.trim_end_matches(is_key_char).len()..];
            if !matches!(lead, "" | "-D" | "-yD") {
                continue;
            }
            let after = skip_quote(&line[at + key.len()..]).trim_start_matches([' ', '\t']);
            let Some(after) = after.strip_prefix(['=', ':']) else { continue };
            keep(key, after, found);
        }
    }
}

/// `--checkpoint-dir value`, `--checkpointDir=value`, `-checkpointDir value`.
fn find_arguments(line: &str, found: &mut BTreeSet<Found>) {
    for (at, _) in line.match_indices('-') {
        let starts_a_word = !line[..at].ends_with(|c: char| is_key_char(c) || c == '/' || c == '}');
        let name = &line[at..];
        let name = &name[..name.find(|c| !is_key_char(c)).unwrap_or(name.len())];
        if !starts_a_word || !is_directory_argument(name) {
            continue;
        }
        let after = &line[at + name.len()..];
        if after.starts_with(['=', ' ', '\t']) {
            keep(name, after.strip_prefix('=').unwrap_or(after), found);
        }
    }
}

fn is_directory_argument(name: &str) -> bool {
    let plain: String =
        name.chars().filter(|c| !matches!(c, '-' | '_' | '.')).map(|c| c.to_ascii_lowercase()).collect();
    ARGUMENTS.contains(&plain.as_str())
}

fn keep(key: &str, after: &str, found: &mut BTreeSet<Found>) {
    let value = skip_quote(after.trim_start_matches([' ', '\t']));
    let value = &value[..value.find(ends_value).unwrap_or(value.len())];
    let value = value.trim_end_matches('\\');
    if is_directory(value) {
        found.insert(Found { key: key.to_owned(), value: without_credentials(value) });
    }
}

fn is_key_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')
}

/// A quote, also one that a surrounding text has escaped.
fn skip_quote(text: &str) -> &str {
    let bare = text.trim_start_matches('\\');
    bare.strip_prefix(['"', '\'', '`']).unwrap_or(text)
}

/// White space, quotes, and what ends a word in a shell.
fn ends_value(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ';' | '|' | '&' | '<' | '>' | '(' | ')')
}

fn is_directory(value: &str) -> bool {
    let is_uri = value.split_once(":/").is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    });
    value.starts_with('/') || is_uri || value.contains("${")
}

/// A URI can carry user and password before its host.
fn without_credentials(value: &str) -> String {
    let Some((scheme, rest)) = value.split_once("://") else { return value.to_owned() };
    let host_end = rest.find('/').unwrap_or(rest.len());
    match rest[..host_end].rfind('@') {
        Some(at) => format!("{scheme}://***{}", &rest[at..]),
        None => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        find(text).into_iter().map(|found| (found.key, found.value)).collect()
    }

    fn one(text: &str) -> (String, String) {
        let mut all = pairs(text);
        assert_eq!(all.len(), 1, "{text}: {all:?}");
        all.remove(0)
    }

    fn pair(key: &str, value: &str) -> (String, String) {
        (key.to_owned(), value.to_owned())
    }

    #[test]
    fn command_line_options() {
        let dir = || pair("state.checkpoints.dir", "hdfs:///a/b");
        assert_eq!(one("flink run -m yarn-cluster -Dstate.checkpoints.dir=hdfs:///a/b -c Main x.jar"), dir());
        assert_eq!(one("-yD state.checkpoints.dir=hdfs:///a/b"), dir());
        assert_eq!(one("-yDstate.checkpoints.dir=hdfs:///a/b"), dir());
        assert_eq!(one("-D state.checkpoints.dir='hdfs:///a/b'"), dir());
        assert_eq!(one("-D\"state.checkpoints.dir=hdfs:///a/b\""), dir());
        assert_eq!(one("--conf state.checkpoints.dir=hdfs:///a/b \\"), dir());
        assert_eq!(one("x -Dstate.checkpoints.dir=hdfs:///a/b; y"), dir());
        assert_eq!(one("x=$(flink run -Dstate.checkpoints.dir=hdfs:///a/b)"), dir());
        assert_eq!(one("-Dexecution.checkpointing.dir=/a").0, "execution.checkpointing.dir");
        assert_eq!(one("-Dstate.savepoints.dir=/a").0, "state.savepoints.dir");
        assert_eq!(one("-Dexecution.checkpointing.savepoint-dir=/a").0, "execution.checkpointing.savepoint-dir");
        assert_eq!(one("-Dstate.backend.fs.checkpointdir=/a").0, "state.backend.fs.checkpointdir");
        assert_eq!(one("-Dsavepoints.state.backend.fs.dir=/a").0, "savepoints.state.backend.fs.dir");
    }

    #[test]
    fn statements_and_configuration_lines() {
        let dir = || pair("state.checkpoints.dir", "hdfs:///a/b");
        assert_eq!(one("SET 'state.checkpoints.dir' = 'hdfs:///a/b';"), dir());
        assert_eq!(one("set state.checkpoints.dir=hdfs:///a/b;"), dir());
        assert_eq!(one("Set \"state.checkpoints.dir\"=\"hdfs:///a/b\";"), dir());
        assert_eq!(one("cat > flink-conf.yaml <<E\n  state.checkpoints.dir: hdfs:///a/b\nE\n"), dir());
        assert_eq!(one(r#"{"state.checkpoints.dir": "hdfs:///a/b", "x": 1}"#), dir());
        assert_eq!(one(r#"curl -d "{\"state.checkpoints.dir\":\"hdfs:///a/b\"}""#), dir());
    }

    #[test]
    fn program_arguments_keep_their_spelling() {
        assert_eq!(one("--checkpoint-dir hdfs:///a"), pair("--checkpoint-dir", "hdfs:///a"));
        assert_eq!(one("--checkpointDir=/a/b --x y"), pair("--checkpointDir", "/a/b"));
        assert_eq!(one("run.py -checkpoint_dir \"/a\""), pair("-checkpoint_dir", "/a"));
        assert_eq!(one("--state.checkpoints.dir /a"), pair("--state.checkpoints.dir", "/a"));
        assert_eq!(pairs("--checkpoint-directory-mode /a"), []);
        assert_eq!(pairs("my-checkpoint-dir /a"), []);
    }

    #[test]
    fn what_sets_no_directory_is_passed_over() {
        for text in [
            "flink run -s hdfs:///a/b/chk-7 x.jar",
            "flink run --fromSavepoint hdfs:///a/b/chk-7 x.jar",
            "-Dexecution.savepoint.path=hdfs:///a/b/chk-7",
            "-Dstate.checkpoints.dir=",
            "-Dstate.checkpoints.dir=relative/dir",
            "-Dstate.checkpoints.dir.other=/a",
            "-Dmy.state.checkpoints.dir=/a",
            "RESET 'state.checkpoints.dir';",
            "state.checkpoints.dir is documented at /docs",
            "# state.checkpoints.dir: hdfs:///a/b",
            "-- SET 'state.checkpoints.dir' = 'hdfs:///a/b';",
            "python3 two.py --root hdfs:///dolphinscheduler/etl/resources/ckpt_storage",
        ] {
            assert_eq!(pairs(text), [], "{text}");
        }
    }

    #[test]
    fn parameters_stay_as_written() {
        assert_eq!(one("-Dstate.checkpoints.dir=${root}/app").1, "${root}/app");
        assert_eq!(one("-Dstate.checkpoints.dir=hdfs:///a/${env}/b").1, "hdfs:///a/${env}/b");
        assert_eq!(one("-Dstate.checkpoints.dir=hdfs:///a/$[yyyyMMdd]").1, "hdfs:///a/$[yyyyMMdd]");
    }

    #[test]
    fn secrets_beside_the_option_stay_behind() {
        let script = "export AWS_SECRET_ACCESS_KEY=canary-aws-key\nflink run \
            -Dstate.checkpoints.dir=hdfs:///dolphinscheduler/etl/resources/ckpt -Ds3.secret-key=canary-s3-key -c Main \
            app.jar --jdbc \"jdbc:mysql://db/x?password=canary-db-pass\"";
        let found = pairs(script);
        assert_eq!(found, [pair("state.checkpoints.dir", "hdfs:///dolphinscheduler/etl/resources/ckpt")]);
        let hostile = "-Dstate.checkpoints.dir=\"/a -Ds3.secret-key=canary\" --checkpoint-dir s3://u:canary@b/c";
        assert!(!format!("{:?}", find(hostile)).contains("canary"), "{:?}", find(hostile));
        assert_eq!(pairs(hostile)[0], pair("--checkpoint-dir", "s3://***@b/c"));
    }

    #[test]
    fn odd_text_does_no_harm() {
        for text in ["", "state.checkpoints.dir", "报表-state.checkpoints.dir=报表", "-", "--", "é--checkpoint-dir"]
        {
            assert_eq!(pairs(text), [], "{text}");
        }
        assert_eq!(one("-Dstate.checkpoints.dir=/报表/é").1, "/报表/é");
    }
}
