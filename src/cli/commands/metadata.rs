//! `metadata`: what a restore point consists of.

use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, bail};

use crate::cli::args::{ConfigArgs, MetadataArgs};
use crate::cli::exit::ExitCode;
use crate::cli::output::{self, Results};
use crate::cli::wiring;
use crate::config::Config;
use crate::config::load::load;
use crate::domain::text::printable;
use crate::domain::{EntryKind, HdfsPath, HdfsUri, Place, Status};
use crate::flink_metadata;
use crate::ports::read::{HdfsRead, ReadAnswer};
use crate::report::json;
use crate::report::metadata::{Contents, render};

/// Name of the file in a checkpoint or savepoint directory (`AbstractFsCheckpointStorageAccess.METADATA_FILE_NAME`).
const NAME: &str = "_metadata";

/// The longest file that is read. It holds no more state than `state.storage.fs.memory-threshold` a handle, so a file of some
/// megabytes is large already.
const LIMIT: usize = 256 << 20;

/// Reads, parses, prints.
pub async fn run(args: &MetadataArgs) -> anyhow::Result<ExitCode> {
    let found = find(args).await?;
    let metadata = flink_metadata::read(&found.bytes).with_context(|| {
        format!("cannot read the metadata in {}; nothing can be said of what it needs", printable(&found.file))
    })?;
    let contents = Contents::new(found.file, &found.directory, &metadata);
    let results = Results {
        terminal: &|style| render(&contents, args.output.lang, style),
        json: &|| Ok(json::render(&contents)?),
    };
    output::write(&args.output.output, args.output.color, &results)?;
    Ok(ExitCode::InSync)
}

/// A file, and the directory in which its relative references lie.
struct Found {
    file: String,
    directory: String,
    bytes: Vec<u8>,
}

async fn find(args: &MetadataArgs) -> anyhow::Result<Found> {
    let target = args.target.as_str();
    if let Some(path) = local(target) {
        return read_local(Path::new(path));
    }
    let Ok(uri) = HdfsUri::parse(target) else {
        bail!(
            "`{}` is no file here, and no place in HDFS; write the name of a file, an absolute path or hdfs://…",
            printable(target)
        );
    };
    read_hdfs(&uri, &args.config).await
}

/// The path, if it is one of this host: `file:` says so; else something must be there.
fn local(target: &str) -> Option<&str> {
    match target.strip_prefix("file:") {
        Some(path) => Some(path.strip_prefix("//").unwrap_or(path)),
        None => Path::new(target).try_exists().unwrap_or(true).then_some(target),
    }
}

fn read_local(path: &Path) -> anyhow::Result<Found> {
    let shown = || printable(&path.display().to_string());
    let file = if path.is_dir() { path.join(NAME) } else { path.to_owned() };
    let whole = std::path::absolute(&file).with_context(|| format!("cannot tell where {} is", shown()))?;
    let open = std::fs::File::open(&file)
        .with_context(|| format!("cannot open {}", printable(&file.display().to_string())))?;
    let mut bytes = Vec::new();
    open.take(LIMIT as u64 + 1).read_to_end(&mut bytes).with_context(|| format!("cannot read {}", shown()))?;
    if bytes.len() > LIMIT {
        bail!("{} is longer than {LIMIT} bytes; that is no checkpoint metadata", shown());
    }
    let directory = whole.parent().unwrap_or(Path::new("/")).display().to_string();
    Ok(Found { file: whole.display().to_string(), directory, bytes })
}

async fn read_hdfs(uri: &HdfsUri, args: &ConfigArgs) -> anyhow::Result<Found> {
    let config = load(&args.to_options(false))?;
    let path = place(&config, uri)?;
    let hdfs = wiring::hdfs(&config)?;
    match hdfs.read_file(&path, LIMIT).await {
        ReadAnswer::NotAFile(Status { kind: EntryKind::Directory, .. }) => {
            let inside = path.join(NAME);
            let answer = hdfs.read_file(&inside, LIMIT).await;
            taken(&config, &inside, answer)
        }
        answer => taken(&config, &path, answer),
    }
}

/// The path in the one file system that is read.
fn place(config: &Config, uri: &HdfsUri) -> anyhow::Result<HdfsPath> {
    match config.file_systems.resolve(uri) {
        Place::Here(path) => Ok(path),
        Place::Elsewhere(authority, _) | Place::Unresolved(authority, _) => bail!(
            "{} is not the file system that is read ({}); if it is another spelling of it, say so under `[aliases]`",
            printable(authority.as_str()),
            config.file_systems.canonical.as_ref().map_or("its name is not configured", |known| known.as_str()),
        ),
    }
}

fn taken(config: &Config, path: &HdfsPath, answer: ReadAnswer) -> anyhow::Result<Found> {
    let authority = config.file_systems.canonical.as_ref().map_or("", |known| known.as_str());
    let shown = printable(path.as_str());
    match answer {
        ReadAnswer::Read { bytes, .. } => {
            let directory = format!("{authority}{}", path.parent_str().unwrap_or("/"));
            Ok(Found { file: format!("{authority}{path}"), directory, bytes })
        }
        ReadAnswer::Absent => bail!("{shown} does not exist in HDFS, nor on this host"),
        ReadAnswer::NotAFile(_) => bail!("{shown} is no file; name a `_metadata` file or the directory that holds it"),
        ReadAnswer::TooLong(_) => bail!("{shown} is longer than {LIMIT} bytes; that is no checkpoint metadata"),
        ReadAnswer::Unread(gap) => bail!("{}", gap.detail),
    }
}
