//! What cannot be read as a configuration: each fault with its line and remedy, and all of them at once.

use super::{Place, SOUND, TOKEN, errors, load};
use crate::config::load::LoadOptions;

/// Name of the case, text added to [`SOUND`], then place, key, and words of message and remedy that must come out.
type Case = (&'static str, &'static str, &'static str, &'static str, &'static str, &'static str);

const CASES: &[Case] = &[
    ("a key nobody knows", "retries = 3\n", "13", "clusters[1].retries", "no such key", "known here: "),
    ("a slip of the pen", "[policies]\nmin_aeg = \"3d\"\n", "14", "policies.min_aeg", "no such key", "`min_age`"),
    ("a key in the wrong section", "[policies]\npage_size = 3\n", "14", "policies.page_size", "no such key", "[ds]"),
    ("a section nobody knows", "[dolphin]\nurl = \"\"\n", "13", "dolphin", "no such key", "known here"),
    (
        "text for a number",
        "min_live_jobs = \"1\"\n",
        "13",
        "clusters[1].min_live_jobs",
        "the file has text",
        "without quotes",
    ),
    ("a number for text", "[policies]\nmin_age = 72\n", "14", "policies.min_age", "text is expected", "quotes"),
    ("a table for a list", "[ignores]\ncode = \"x\"\n", "13", "ignores", "a list is expected", "[["),
    (
        "a list for text",
        "[policies]\nprotect = [\"/a\",\n  7]\n",
        "15",
        "policies.protect[1]",
        "text is expected",
        "quotes",
    ),
    (
        "a bad duration",
        "[policies]\nmin_age = \"1 hour\"\n",
        "14",
        "policies.min_age",
        "`1 hour` is no duration",
        "`72h`",
    ),
    ("no time at all", "timeout = \"0s\"\n", "13", "clusters[1].timeout", "no time", "`30s`"),
    ("no requests at all", "max_concurrency = 0\n", "13", "clusters[1].max_concurrency", "0 is too small", "from 1 on"),
    ("a negative number", "min_live_jobs = -1\n", "13", "clusters[1].min_live_jobs", "-1 is too small", "from 0 on"),
    ("a huge number", "min_live_jobs = 4294967296\n", "13", "clusters[1].min_live_jobs", "too large", "4294967295"),
    (
        "not a number",
        "[policies]\nmax_delete_fraction = nan\n",
        "14",
        "policies.max_delete_fraction",
        "no finite",
        "0.5",
    ),
    (
        "a cluster without a name",
        "[[clusters]]\nurl = \"http://x\"\n",
        "13",
        "clusters[2].name",
        "missing",
        "A name of your own",
    ),
    (
        "two of a name",
        "[[clusters]]\nname = \"c1\"\nurl = \"http://x\"\n",
        "14",
        "clusters[2].name",
        "(statewarden.toml:8)",
        "a name of its own",
    ),
    ("no address", "[[clusters]]\nname = \"c3\"\n", "13", "clusters[2].url", "no address", "yarn_resource_manager"),
    (
        "half a YARN address",
        "[[clusters]]\nname = \"c3\"\nyarn_application = \"x\"\n",
        "13",
        "clusters[2].yarn_resource_manager",
        "missing",
        "both",
    ),
    ("two addresses", "yarn_application = \"x\"\n", "10", "clusters[1]", "two addresses", "keep"),
    (
        "a YARN id",
        "[[clusters]]\nname = \"c3\"\nyarn_resource_manager = \"http://rm:8088\"\nyarn_application = \"application_1_0002\"\n",
        "16",
        "clusters[2].yarn_application",
        "changes with each start",
        "the name of the application",
    ),
    (
        "no URL",
        "[[clusters]]\nname = \"c3\"\nurl = \"jm:8081\"\n",
        "15",
        "clusters[2].url",
        "neither http nor https",
        "http://",
    ),
    ("half a URL", "[[clusters]]\nname = \"c3\"\nurl = \"jm\"\n", "15", "clusters[2].url", "this is no URL", "http://"),
    (
        "a query",
        "[[clusters]]\nname = \"c3\"\nurl = \"http://x/?token=1\"\n",
        "15",
        "clusters[2].url",
        "`?`",
        "base URL alone",
    ),
    (
        "a user without a password",
        "basic_user = \"u\"\n",
        "10",
        "clusters[1].basic_password_env",
        "without a password",
        "basic_password_file",
    ),
    (
        "a CA that is not there",
        "ca_file = \"no.pem\"\n",
        "13",
        "clusters[1].ca_file",
        "no.pem cannot be read",
        "this account may read",
    ),
    (
        "a CA that is none",
        "ca_file = \"statewarden.toml\"\n",
        "13",
        "clusters[1].ca_file",
        "no PEM certificate",
        "BEGIN CERTIFICATE",
    ),
    (
        "a token file that is not there",
        "bearer_token_file = \"none\"\n",
        "13",
        "clusters[1].bearer_token_file",
        "cannot be read",
        "relative ones start",
    ),
    (
        "a bad directory",
        "checkpoint_dir = \"flink/ckpt\"\n",
        "13",
        "clusters[1].checkpoint_dir",
        "not an absolute path",
        "absolute path",
    ),
    (
        "another file system",
        "checkpoint_dir = \"s3://b/x\"\n",
        "13",
        "clusters[1].checkpoint_dir",
        "not in HDFS",
        "absolute path",
    ),
    (
        "a bad alias",
        "[aliases]\n\"nn-a:8020\" = \"hdfs://ns1\"\n",
        "14",
        "aliases.\"nn-a:8020\"",
        "no file system",
        "hdfs://",
    ),
    ("a bad mount", "[viewfs.c]\n\"data\" = \"hdfs://ns1/x\"\n", "14", "viewfs.c.data", "no absolute path", "/data"),
    (
        "no Flink beside clusters",
        "[[clusters]]\nname = \"c3\"\nurl = \"http://x\"\n[policies]\nflink = \"none\"\n",
        "17",
        "policies.flink",
        "no such key",
        "remove it",
    ),
    (
        "a root of an unknown cluster",
        "[[checkpoint_roots]]\npath = \"/a/b\"\nlayout = \"job\"\nclusters = [\"c1\", \"c9\"]\n",
        "16",
        "checkpoint_roots[0].clusters[1]",
        "no cluster is called `c9`",
        "c1, c2",
    ),
    (
        "an unknown layout",
        "[[checkpoint_roots]]\npath = \"/a/b\"\nlayout = \"jobs\"\n",
        "15",
        "checkpoint_roots[0].layout",
        "`jobs`",
        "`job`",
    ),
    (
        "a root without a layout",
        "[[checkpoint_roots]]\npath = \"/a/b\"\n",
        "13",
        "checkpoint_roots[0].layout",
        "missing",
        "layout = ",
    ),
    (
        "a relative root",
        "[[checkpoint_roots]]\npath = \"a/b\"\nlayout = \"job\"\n",
        "14",
        "checkpoint_roots[0].path",
        "not an absolute path",
        "absolute path",
    ),
    (
        "a root that climbs",
        "[[checkpoint_roots]]\npath = \"/a/../b\"\nlayout = \"job\"\n",
        "14",
        "checkpoint_roots[0].path",
        "`..` component",
        "absolute path",
    ),
    (
        "a root elsewhere",
        "[[checkpoint_roots]]\npath = \"hdfs://ns2/a/b\"\nlayout = \"job\"\n",
        "14",
        "checkpoint_roots[0].path",
        "lies in `hdfs://ns2`",
        "[aliases]",
    ),
    (
        "a short job id",
        "[[registry]]\napp = \"a\"\nstatus = \"current\"\nflink_job_id = \"7f13\"\n",
        "16",
        "registry[0].flink_job_id",
        "`7f13`",
        "32 hex digits",
    ),
    (
        "an empty registry line",
        "[[registry]]\napp = \"a\"\nstatus = \"current\"\n",
        "13",
        "registry[0].restore_path",
        "about nothing",
        "flink_job_id",
    ),
    (
        "a job state that Flink does not have",
        "[[registry]]\napp = \"a\"\nstatus = \"expired\"\nrestore_path = \"/x/y\"\njob_state = \"CANCELLED\"\n",
        "17",
        "registry[0].job_state",
        "`CANCELLED`",
        "CANCELED",
    ),
    (
        "a moment without a zone",
        "[[registry]]\napp = \"a\"\nstatus = \"expired\"\nrestore_path = \"/x/y\"\njob_ended = 2026-01-31T18:00:00\n",
        "17",
        "registry[0].job_ended",
        "no moment",
        "zone",
    ),
    (
        "an application's job id",
        "[[applications]]\nname = \"a\"\njobs = [\n  \"xyz\"]\n",
        "16",
        "applications[0].jobs[0]",
        "`xyz`",
        "32 hex digits",
    ),
    (
        "a job of two applications",
        "[[applications]]\nname = \"a\"\njobs = [\"7f132d501fb9863844ab51697900d494\"]\n[[applications]]\nname = \"b\"\njobs = [\"7F132D50-1fb9863844ab51697900d494\"]\n",
        "18",
        "applications[1].jobs[0]",
        "(statewarden.toml:13)",
        "one application",
    ),
    (
        "a migration without a target",
        "[[migrations]]\napp = \"a\"\nfrom = \"/x\"\nstate = \"started\"\n",
        "13",
        "migrations[0].to",
        "missing",
        "New root",
    ),
    (
        "an ignore without a reason",
        "[[ignores]]\ncode = \"size-mismatch\"\nexpires = 2027-01-01\n",
        "13",
        "ignores[0].reason",
        "missing",
        "Why it is expected",
    ),
    (
        "an ignore with an empty reason",
        "[[ignores]]\ncode = \"size-mismatch\"\nexpires = 2027-01-01\nreason = \" \"\n",
        "16",
        "ignores[0].reason",
        "no reason",
        "say why",
    ),
    (
        "an ignore for ever",
        "[[ignores]]\ncode = \"size-mismatch\"\nreason = \"x\"\n",
        "13",
        "ignores[0].expires",
        "missing",
        "Until when",
    ),
    (
        "an unknown code",
        "[[ignores]]\ncode = \"size-mismatches\"\nreason = \"x\"\nexpires = 2027-01-01\n",
        "14",
        "ignores[0].code",
        "`size-mismatches`",
        "`size-mismatch`",
    ),
    (
        "an expiry that is no date",
        "[[ignores]]\ncode = \"size-mismatch\"\nreason = \"x\"\nexpires = \"next week\"\n",
        "16",
        "ignores[0].expires",
        "`next week` is no moment",
        "2027-01-31",
    ),
    ("no TOML", "[policies\n", "13", "", "not TOML", "correct the line"),
];

#[test]
fn every_fault_names_its_line_and_its_remedy() {
    for (name, text, line, key, what, remedy) in CASES {
        let errors = errors(&format!("{SOUND}{text}"));
        let place = format!("statewarden.toml:{line}");
        let fits = errors.iter().any(|error| {
            error.place == place && error.key == *key && error.what.contains(what) && error.remedy.contains(remedy)
        });
        assert!(fits, "{name}: expected {place} {key} `{what}` `{remedy}`, got {errors:#?}");
        assert_eq!(errors.len(), 1, "{name}: {errors:#?}");
    }
}

/// Faults in the tables that [`SOUND`] has already: one of its lines is replaced.
#[test]
fn faults_of_the_servers() {
    let ds = "url = \"http://ds:12345/dolphinscheduler\"";
    let version = "version = \"3.1.9\"";
    let hdfs = "urls = [\"http://nn1:9870\"]";
    for (old, new, line, key, what, remedy) in [
        ("\"hdfs://ns1\"", "\"ns1\"", 1, "authority", "names no file system", "hdfs://ns1"),
        ("\"hdfs://ns1\"", "\"viewfs://c\"", 1, "authority", "no HDFS", "[viewfs.NAME]"),
        ("authority = ", "flink = \"none\"\nauthority = ", 1, "flink", "exclude", "remove `flink`"),
        ("authority = ", "flink = \"no\"\nauthority = ", 1, "flink", "`no`", "`none`"),
        (hdfs, "user = \"x\"", 2, "hdfs.urls", "no address of HDFS", "HADOOP_CONF_DIR"),
        (hdfs, "urls = [\"http://nn1\",\n \"nn2\"]", 4, "hdfs.urls[1]", "no URL", "http://"),
        (ds, "tenants = []", 4, "ds.url", "no address of DolphinScheduler", "leave `[ds]` out"),
        (version, "page_size = 50", 4, "ds.version", "its API differs", "3.2.2"),
        (version, "version = \"4.0\"", 6, "ds.version", "`4.0`", "known are"),
        (version, "version = \"3.1.9\"\ngeneration = \"storage\"", 7, "ds.generation", "\"db\"", "correct one"),
        (version, "version = \"3.2.1\"\ngeneration = \"db\"", 7, "ds.generation", "\"storage\"", "correct one"),
        (version, "version = \"3.1.9\"\npage_size = 0", 7, "ds.page_size", "0 is too small", "from 1 on"),
        (version, "version = \"3.1.9\"\ntime_zone = \"Asia/Shanghi\"", 7, "ds.time_zone", "no time zone", "+08:00"),
        (version, "version = \"3.1.9\"\ntime_zone = \"+15:00\"", 7, "ds.time_zone", "no time zone", "+08:00"),
        (version, "version = \"3.1.9\"\nbase_path = \"dolphinscheduler\"", 7, "ds.base_path", "absolute", "absolute"),
        (version, "version = \"3.1.9\"\ntenants = [\"a/b\"]", 7, "ds.tenants[0]", "no tenant code", "without `/`"),
    ] {
        let errors = errors(&SOUND.replacen(old, new, 1));
        assert_eq!(errors.len(), 1, "{new}: {errors:#?}");
        let error = &errors[0];
        assert_eq!(
            (error.place.as_str(), error.key.as_str()),
            (format!("statewarden.toml:{line}").as_str(), key),
            "{new}"
        );
        assert!(error.what.contains(what) && error.remedy.contains(remedy), "{new}: {error:#?}");
    }
}

#[test]
fn all_faults_come_out_at_once_and_in_order() {
    let text =
        format!("{SOUND}[policies]\nmin_aeg = \"3d\"\nmin_age = 5\nplan_ttl = \"x\"\n[[ignores]]\ncode = \"no\"\n")
            .replace("3.1.9", "9.9");
    let errors = load(&text).expect_err("faults");
    let keys: Vec<_> = errors.iter().map(|error| error.key.as_str()).collect();
    assert_eq!(
        keys,
        [
            "ds.version",
            "policies.min_aeg",
            "policies.min_age",
            "policies.plan_ttl",
            "ignores[0].reason",
            "ignores[0].expires",
            "ignores[0].code"
        ]
    );
    let shown = errors.to_string();
    assert!(shown.starts_with("the configuration has 7 errors\n  statewarden.toml:6: ds.version: `9.9`"), "{shown}");
    assert_eq!(shown.lines().filter(|line| line.trim_start().starts_with("-> ")).count(), 7, "{shown}");
}

#[test]
fn a_key_of_the_wrong_type_is_not_reported_as_missing_too() {
    let errors = errors(&SOUND.replace("urls = [\"http://nn1:9870\"]", "urls = \"http://nn1:9870\""));
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert_eq!(errors[0].what, "a list is expected here, the file has text");
}

#[test]
fn a_missing_token_names_variable_and_file_key() {
    let errors = Place::with_file(SOUND)
        .variable("STATEWARDEN_DS_TOKEN", "")
        .load(&LoadOptions::default())
        .expect_err("no token");
    let error = errors.iter().next().expect("one error");
    assert_eq!(error.place, "statewarden.toml:4");
    assert!(error.what.contains("STATEWARDEN_DS_TOKEN is not set") && error.what.contains("ds.token_file"), "{error}");
    assert!(error.remedy.contains("set STATEWARDEN_DS_TOKEN") && error.remedy.contains("ds.token_file"), "{error}");
}

/// Secrets that somebody wrote where they do not belong must not be repeated.
#[test]
fn misplaced_secrets_are_never_repeated() {
    for misplaced in [
        format!("{SOUND}basic_user = \"u\"\nbasic_password = \"{TOKEN}\"\n"),
        format!("{SOUND}bearer_token_env = \"{TOKEN}\"\n"),
        format!("{SOUND}bearer_token_file = \"{TOKEN}\"\n"),
        format!("{SOUND}min_live_jobs = \"{TOKEN}\"\n"),
        SOUND.replace("[ds]", &format!("[ds]\ntoken = \"{TOKEN}\"")),
        SOUND.replace("[ds]", &format!("[ds]\ntoken = \"{TOKEN}")),
        SOUND.replace("http://jm1", &format!("http://user:{TOKEN}@jm1")),
        SOUND.replace("http://jm1:8081", &format!("http://user:{TOKEN}@jm1:x")),
        SOUND.replace("http://ds:12345/", &format!("http://ds:12345/?token={TOKEN}&x=")),
        SOUND.replace("hdfs://ns1", &format!("hdfs://user:{TOKEN}@ns1")),
    ] {
        let errors = load(&misplaced).expect_err("a misplaced secret");
        assert!(!format!("{errors} {errors:?}").contains(TOKEN), "{errors}");
    }
}

#[test]
fn a_secret_in_the_file_or_a_url_is_answered_with_the_right_keys() {
    let token = errors(&SOUND.replace("[ds]", "[ds]\ntoken = \"x\""));
    assert!(token[0].remedy.contains("`token_env`") && token[0].remedy.contains("`token_file`"), "{token:?}");
    let url = errors(&SOUND.replace("http://jm1", "http://user:pw@jm1"));
    assert_eq!((url.len(), url[0].place.as_str()), (1, "statewarden.toml:9"));
    assert!(url[0].remedy.contains("basic_user") && url[0].remedy.contains("basic_password_env"), "{url:?}");
}

#[test]
fn a_password_without_a_user() {
    let place = Place::with_file(&format!("{SOUND}basic_password_env = \"PW\"\n")).variable("PW", "a");
    let errors = place.load(&LoadOptions::default()).expect_err("no user");
    assert!(
        errors.to_string().contains("statewarden.toml:10: clusters[1].basic_user: a password without a user"),
        "{errors}"
    );
}

#[test]
fn two_kinds_of_credentials_exclude_one_another() {
    let place = Place::with_file(&format!(
        "{SOUND}basic_user = \"u\"\nbasic_password_env = \"PW\"\nbearer_token_env = \"BT\"\n"
    ))
    .variable("PW", "a")
    .variable("BT", "b");
    let errors = place.load(&LoadOptions::default()).expect_err("two kinds");
    assert!(errors.to_string().contains("statewarden.toml:10: clusters[1]: basic and bearer"), "{errors}");
}

#[test]
fn a_secret_that_no_header_can_carry() {
    let place = Place::with_file(SOUND).variable("STATEWARDEN_DS_TOKEN", "two\nlines");
    let errors = place.load(&LoadOptions::default()).expect_err("a line break");
    assert!(errors.to_string().contains("line breaks") && !errors.to_string().contains("two\nlines"), "{errors}");
}

#[test]
fn a_file_that_is_no_text() {
    let place = Place::empty();
    std::fs::write(place.path().join("statewarden.toml"), b"a = 1\nb = \"\xff\"\n").expect("a file");
    let errors = place.load(&LoadOptions::default()).expect_err("not UTF-8");
    assert!(errors.to_string().contains("statewarden.toml:2: the file is not UTF-8"), "{errors}");
}
