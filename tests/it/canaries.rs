//! Secrets that must be seen nowhere: not in any output of any command, not in the loudest log, not in a plan, an inventory or
//! the ledger; also not when a server sends back what it was sent.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use jiff::Timestamp;
use statewarden::demo::servers::{Options, Platform};
use statewarden::demo::world::World;

/// A value nobody may ever print, and where the program gets it from.
const ENVIRONMENT: [(&str, &str); 4] = [
    ("HDFS_TOKEN", "canary-hdfs-delegation+token/="),
    ("HDFS_PASSWORD", "canary-hdfs-password"),
    ("FLINK_TOKEN", "canary-flink-bearer"),
    ("STATEWARDEN_DS_APPLY_TOKEN", "canary-ds-apply-token"),
];

/// Other forms: the delegation token as a query parameter, and `reader:canary-hdfs-password` as a header.
const OTHER_FORMS: [&str; 2] = ["canary-hdfs-delegation%2Btoken%2F%3D", "cmVhZGVyOmNhbmFyeS1oZGZzLXBhc3N3b3Jk"];

/// Two stale records, workflows whose tasks hold secrets beside what is looked for, and a live job.
const WORLD: &str = r#"
title: 'Secrets everywhere'
config:
  authority: hdfs://ns1
  ds: {generation: db, version: "3.1.9", base_path: /dolphinscheduler, tenants: [etl], token: admin}
  checkpoint_roots: [{path: /flink/checkpoints, layout: app/job, clusters: [c1]}]
  policies: {record_grace: 1h, confirm_after: 1s, max_delete_fraction: 0.9}
flink:
  - cluster: c1
    jobs:
      - id: 7f132d501fb9863844ab51697900d494
        name: app1
        state: RUNNING
        started_age: 29d
        latest_external_path: hdfs://ns1/flink/checkpoints/app1/7f132d501fb9863844ab51697900d494/chk-5
hdfs:
  listing:
    - {path: /dolphinscheduler/etl/resources, type: dir, mtime_age: 1d}
    - {path: /dolphinscheduler/etl/resources/known.sql, type: file, size: 12, mtime_age: 30d}
    - {path: /flink/checkpoints/app1/7f132d501fb9863844ab51697900d494/chk-5/_metadata, type: file, mtime_age: 1m}
  absent: [/dolphinscheduler/etl/resources/old]
dolphinscheduler:
  generation: db
  records:
    - {id: 10, full_name: /old, dir: true, size: 9, owner: u1, tenant: etl, age: 60d}
    - {id: 11, full_name: /old/a.sql, dir: false, size: 9, owner: u1, tenant: etl, age: 60d}
    - {id: 12, full_name: /known.sql, dir: false, size: 12, owner: u1, tenant: etl, age: 30d}
  workflows:
    - code: 9001
      name: nightly
      release: ONLINE
      resource_ids: [12, 77]
      tasks:
        - name: submit
          type: FLINK
          raw_script: "export PASSWORD=canary-in-a-script\nflink run -Dstate.checkpoints.dir=hdfs:///dolphinscheduler/etl/resources/ckpt -Ds3.secret-key=canary-s3-key app.jar --jdbc 'jdbc:mysql://db/x?password=canary-jdbc'"
          main_args: "--password canary-in-arguments --checkpoint-dir s3a://key:canary-in-a-url@bucket/ckpt"
          others: "-Dstate.savepoints.dir=hdfs:///dolphinscheduler/etl/resources/sp -Dsecurity.kerberos.login.password=canary-in-others"
"#;

/// A platform, and a folder in which the program works.
struct Bench {
    platform: Platform,
    folder: tempfile::TempDir,
    token: String,
    t0: Timestamp,
}

impl Bench {
    fn start() -> Self {
        let t0 = Timestamp::now();
        let world = World::load(WORLD, t0).expect("a world");
        let token = world.ds_token().expect("a token");
        let platform = Platform::start(world, Options::default()).expect("servers");
        Self { platform, folder: tempfile::tempdir().expect("a folder"), token, t0 }
    }

    /// Writes a configuration with these lines in its `[hdfs]` section. Secrets come from the environment.
    fn configure(&self, hdfs: &str) {
        let mut table: toml::Table = self.platform.config_toml().parse().expect("TOML");
        let hdfs: toml::Table = hdfs.parse().expect("TOML");
        table["hdfs"].as_table_mut().expect("a table").extend(hdfs);
        table["hdfs"].as_table_mut().expect("a table").insert("timeout".to_owned(), "2s".into());
        let cluster = table["clusters"][0].as_table_mut().expect("a cluster");
        cluster.insert("bearer_token_env".to_owned(), "FLINK_TOKEN".into());
        std::fs::write(self.folder.path().join("statewarden.toml"), table.to_string()).expect("written");
    }

    fn run(&self, arguments: &[&str], apply_token: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_statewarden"));
        command.env_clear().current_dir(self.folder.path()).args(arguments).stdin(Stdio::null());
        command.envs(ENVIRONMENT).env("STATEWARDEN_DS_TOKEN", &self.token).env("STATEWARDEN_LEDGER", "ledger.db");
        command.env("STATEWARDEN_DS_APPLY_TOKEN", apply_token).env("RUST_LOG", "trace");
        command.output().expect("the program")
    }

    /// Runs, expects this exit code, and looks for every secret in what it printed.
    fn quiet(&self, code: i32, arguments: &[&str]) -> String {
        self.quiet_with(code, arguments, &self.token)
    }

    fn quiet_with(&self, code: i32, arguments: &[&str], apply_token: &str) -> String {
        let output = self.run(arguments, apply_token);
        let [stdout, stderr] =
            [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        self.assert_clean(&stdout, &format!("stdout of {arguments:?}"));
        self.assert_clean(&stderr, &format!("stderr of {arguments:?}"));
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stdout}{}", last_lines(&stderr));
        format!("{stdout}{stderr}")
    }

    /// The same for people and as JSON.
    fn both(&self, code: i32, arguments: &[&str]) -> String {
        let text = self.quiet(code, arguments);
        text + &self.quiet(code, &[arguments, &["--output", "json", "--log", "json"]].concat())
    }

    fn assert_clean(&self, text: &str, what: &str) {
        let secrets = ENVIRONMENT.map(|(_, secret)| secret);
        for secret in secrets.into_iter().chain(OTHER_FORMS).chain([self.token.as_str(), "canary"]) {
            let found = text.find(secret).map(|at| &text[text[..at].rfind('\n').map_or(0, |line| line + 1)..]);
            assert!(
                found.is_none(),
                "{secret} is in {what}: {}",
                found.and_then(|it| it.lines().next()).unwrap_or_default()
            );
        }
    }

    /// Every file that the program wrote.
    fn assert_files_are_clean(&self) -> usize {
        let mut seen = 0;
        for entry in std::fs::read_dir(self.folder.path()).expect("a folder") {
            let path = entry.expect("an entry").path();
            let text = String::from_utf8_lossy(&std::fs::read(&path).expect("a file")).into_owned();
            self.assert_clean(&text, &name_of(&path));
            seen += 1;
        }
        seen
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().expect("a name").to_string_lossy().into_owned()
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.contains("TRACE") && !line.contains("DEBUG")).collect();
    lines[lines.len().saturating_sub(10)..].join("\n")
}

const WITH_TOKEN: &str = "delegation_token_env = 'HDFS_TOKEN'";
const WITH_PASSWORD: &str = "basic_user = 'reader'\nbasic_password_env = 'HDFS_PASSWORD'";

#[test]
fn no_command_prints_logs_or_writes_a_secret() {
    let bench = Bench::start();
    bench.configure(WITH_PASSWORD);
    let printed = bench.both(2, &["drift", "--save", "inventory.json"]);
    // It did look at what holds the secrets, and it did log.
    assert!(printed.contains("workflow-writes-checkpoints-into-resources") && printed.contains("TRACE"), "{printed}");
    assert!(printed.contains("/dolphinscheduler/etl/resources/ckpt"));
    let inventory = std::fs::read_to_string(bench.folder.path().join("inventory.json")).expect("an inventory");
    assert!(inventory.contains("s3a://***@bucket/ckpt"), "{inventory}");
    bench.configure(WITH_TOKEN);
    bench.both(0, &["doctor"]);
    bench.quiet(0, &["config", "check"]);
    for target in ["record:10", "workflow:9001", "/flink/checkpoints/app1", "7f132d501fb9863844ab51697900d494"] {
        bench.both(0, &["explain", target]);
    }
    bench.both(2, &["drift", "--from", "inventory.json"]);
    bench.both(2, &["plan", "--wait", "-o", "plan.json"]);
    bench.both(0, &["show", "plan.json"]);
    bench.both(0, &["apply", "plan.json", "--dry-run"]);
    // Not one that the server knows: it answers 401.
    bench.quiet_with(5, &["apply", "plan.json", "--yes"], "canary-ds-apply-token");
    bench.both(0, &["apply", "plan.json", "--yes"]);
    bench.both(2, &["drift", "--since", "last"]);
    for arguments in [&["history"][..], &["diff", "previous", "last"], &["audit", "show"], &["audit", "verify"]] {
        bench.both(0, arguments);
    }
    let files = bench.assert_files_are_clean();
    assert!(files >= 4, "configuration, inventory, plan and ledger, but {files} files");
}

/// A server or a proxy in between that sends back what it was sent, in a message or in a page.
#[test]
fn a_secret_that_is_sent_back_is_not_passed_on() {
    let mut bench = Bench::start();
    let [hdfs_token, hdfs_password, flink_token, _] = ENVIRONMENT.map(|(_, secret)| secret);
    let in_url = format!("{hdfs_token} {}", OTHER_FORMS[0]);
    let in_header = format!("{hdfs_password} {}", OTHER_FORMS[1]);
    let (ds, flink) = (echoes(DOLPHIN, &bench.token), echoes(FLINK, flink_token));
    let with_token: Vec<String> = ds.into_iter().chain(flink).chain(echoes(HDFS, &in_url)).collect();
    for (hdfs, worlds) in [(WITH_TOKEN, with_token), (WITH_PASSWORD, echoes(HDFS, &in_header))] {
        bench.configure(hdfs);
        for world in worlds {
            bench.platform.replace_world(World::load(&world, bench.t0).expect("a world")).expect("exchanged");
            let forms = ["--output", "terminal", "--output", "json=report.json"];
            bench.quiet(3, &[&["drift", "--save", "inventory.json"], &forms[..]].concat());
            bench.quiet(3, &[&["doctor"], &forms[..]].concat());
            bench.assert_files_are_clean();
        }
    }
}

/// A server of the world: the line behind which its faults go, how deep they are, and an operation that each run asks for.
type Place = (&'static str, &'static str, &'static str);

const DOLPHIN: Place = ("\ndolphinscheduler:\n", "  ", "workflows");
const FLINK: Place = ("  - cluster: c1\n", "    ", "jobs-overview");
const HDFS: Place = ("\nhdfs:\n", "  ", "list");

/// Worlds in which a server answers with what it was sent, in each form that an answer of one of them has.
fn echoes((line, indent, op): Place, sent: &str) -> Vec<String> {
    let json = |text: &str| format!("http: 403, content_type: application/json, body: '{text}'");
    let exception = |class: &str, message: &str| {
        json(&format!(r#"{{"RemoteException": {{"exception": "{class}", "message": "{message}"}}}}"#))
    };
    let answers = [
        format!("http: 200, content_type: text/html, body: '<html><title>{sent}</title>{sent}</html>'"),
        format!("http: 302, location: 'http://login.example/{sent}/?token={sent}'"),
        format!(
            "http: 200, content_type: application/json, body: '{{\"code\": 10000, \"msg\": \"{sent}\", \"data\": null}}'"
        ),
        format!("http: 500, content_type: application/json, body: '{{\"errors\": [\"{sent}\"]}}'"),
        format!("http: 200, content_type: 'text/{sent}', body: '{sent}'"),
        exception("SecurityException", sent),
        exception(sent, "no"),
    ];
    let at = WORLD.find(line).expect("the line") + line.len();
    let faulty = |answer| format!("{}{indent}faults: [{{op: {op}, {answer}}}]\n{}", &WORLD[..at], &WORLD[at..]);
    answers.into_iter().map(faulty).collect()
}
