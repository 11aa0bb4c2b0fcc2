//! Starts the lab for a person: real HDFS and Flink, the embedded DolphinScheduler, records, and the drift between them.
//!
//! Prints the addresses and a configuration file for the program, and ends everything on Ctrl-C. `tests/lab/start.sh` runs it.

use std::io::Write as _;

use anyhow::Result;

mod stage;

use stage::{HdfsAccess, NameNodes, Stage, TOKEN_ENV};

#[tokio::main]
async fn main() -> Result<()> {
    let pair = std::env::args().any(|argument| argument == "--ha");
    let name_nodes = if pair { NameNodes::Pair } else { NameNodes::Single };
    say("Building and starting HDFS and Flink; the first time Maven fetches about 200 MB ...")?;
    let mut stage = Stage::start(name_nodes).await?;
    // A single NameNode is named by its address, a pair by Hadoop's own configuration files.
    let hdfs = if pair { HdfsAccess::ConfDir } else { HdfsAccess::Urls(stage.jvm.addresses().webhdfs.clone()) };
    let config = stage.write_config("statewarden.toml", &hdfs, &stage.center)?;
    say(&introduction(&stage, &config.display().to_string()))?;
    wait_for_the_end(&mut stage).await
}

fn introduction(stage: &Stage, config: &str) -> String {
    let addresses = stage.jvm.addresses();
    format!(
        "HDFS               {hdfs}\nWebHDFS            {webhdfs}\nFlink              {flink}\nDolphinScheduler   {ds}\n\
         Configuration      {config}\nStale records      {stale}\n\n\
         In another terminal:\n\n    export {TOKEN_ENV}={token}\n    cargo run -- drift --config {config}\n\n\
         Commands to the lab, one a line (list: tests/lab/src/Commands.java); Ctrl-C ends it.",
        hdfs = addresses.hdfs,
        webhdfs = addresses.webhdfs.join(" "),
        flink = addresses.flink,
        ds = stage.center.url,
        stale = stage.center.stale.len(),
        token = stage.center.token,
    )
}

/// Passes typed commands on until Ctrl-C.
async fn wait_for_the_end(stage: &mut Stage) -> Result<()> {
    let mut lines = typed_lines();
    loop {
        tokio::select! {
            interrupted = tokio::signal::ctrl_c() => return Ok(interrupted?),
            Some(line) = lines.recv() => match tokio::task::block_in_place(|| stage.jvm.command(&line)) {
                Ok(answer) => say(&answer)?,
                Err(error) => say(&format!("{error:#}"))?,
            },
        }
    }
}

/// Lines from the terminal, read by a plain thread: one that waits inside the runtime would keep the program from ending.
fn typed_lines() -> tokio::sync::mpsc::Receiver<String> {
    let (sender, receiver) = tokio::sync::mpsc::channel(1);
    std::thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok).filter(|line| !line.trim().is_empty()) {
            if sender.blocking_send(line).is_err() {
                break;
            }
        }
    });
    receiver
}

fn say(text: &str) -> Result<()> {
    Ok(writeln!(std::io::stdout(), "{text}")?)
}
