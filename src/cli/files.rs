//! Files that appear whole or not at all, and inventories read back.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::domain::text::printable;
use crate::plan::Plan;
use crate::plan::action::PLAN_SCHEMA;
use crate::report::json;
use crate::views::Inventory;
use crate::views::inventory::INVENTORY_VERSION;

/// A file beside its final place; removed unless it is kept.
struct Unfinished {
    path: PathBuf,
    kept: bool,
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.kept {
            // What cannot be removed was not created, or its directory is gone.
            drop(std::fs::remove_file(&self.path));
        }
    }
}

/// Writes a file through a temporary one in the same directory, so that a reader sees the old or the new one, never half.
///
/// `private`: mode 0600. Inventories name users, paths and job names.
pub(super) fn write_whole(
    path: &Path,
    private: bool,
    fill: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    write_beside(path, private, fill).with_context(|| format!("cannot write {}", shown(path)))
}

fn write_beside(
    path: &Path,
    private: bool,
    fill: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let name = path.file_name().context("it names no file")?;
    let mut temporary = std::ffi::OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".{}.tmp", std::process::id()));
    let mut unfinished = Unfinished { path: path.with_file_name(temporary), kept: false };
    let mut out = BufWriter::new(create(&unfinished.path, private)?);
    fill(&mut out)?;
    out.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
    std::fs::rename(&unfinished.path, path)?;
    unfinished.kept = true;
    Ok(())
}

fn create(path: &Path, private: bool) -> std::io::Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(if private { 0o600 } else { 0o644 });
    }
    #[cfg(not(unix))]
    let _ = private;
    options.open(path)
}

/// Saves an inventory, readable for its owner only.
pub(super) fn save_inventory(path: &Path, inventory: &Inventory) -> anyhow::Result<()> {
    write_whole(path, true, |out| Ok(serde_json::to_writer(out, inventory)?))
}

/// The version alone, to say what is wrong with a file of another form.
#[derive(serde::Deserialize)]
struct Head {
    inventory_version: Option<u32>,
}

/// Reads an inventory.
pub(super) fn load_inventory(path: &Path) -> anyhow::Result<Inventory> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read the inventory {}", shown(path)))?;
    parse_inventory(&bytes)
        .with_context(|| format!("{} cannot be judged; make a new one with `statewarden drift --save`", shown(path)))
}

fn parse_inventory(bytes: &[u8]) -> anyhow::Result<Inventory> {
    let head: Head = serde_json::from_slice(bytes).context("it is no inventory: not JSON, or cut short")?;
    match head.inventory_version {
        Some(INVENTORY_VERSION) => serde_json::from_slice(bytes).context("its content is not as its version says"),
        Some(version) => anyhow::bail!("it has version {version}, this program reads version {INVENTORY_VERSION}"),
        None => anyhow::bail!("it is no inventory: `inventory_version` is missing"),
    }
}

/// Writes a plan, readable for its owner only.
pub(super) fn save_plan(path: &Path, plan: &Plan) -> anyhow::Result<()> {
    // Through `Value`, which sorts the members: the file is canonical whatever the order of the fields.
    let text = json::render(&serde_json::to_value(plan)?)?;
    write_whole(path, true, |out| Ok(out.write_all(text.as_bytes())?))
}

/// A plan as it stands in a file.
pub(super) struct LoadedPlan {
    /// The plan.
    pub(super) plan: Plan,
    /// Whether the file holds the plan and nothing else. The hash covers only what a plan has.
    pub(super) faithful: bool,
}

/// Reads a plan.
pub(super) fn load_plan(path: &Path) -> anyhow::Result<LoadedPlan> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read the plan {}", shown(path)))?;
    parse_plan(&bytes)
        .with_context(|| format!("{} is no plan to be used; make one with `statewarden plan -o FILE`", shown(path)))
}

fn parse_plan(bytes: &[u8]) -> anyhow::Result<LoadedPlan> {
    let value: serde_json::Value = serde_json::from_slice(bytes).context("it is not JSON, or cut short")?;
    match value.get("schema").and_then(serde_json::Value::as_str) {
        Some(PLAN_SCHEMA) => {}
        Some(other) => anyhow::bail!("its form is {}, this program reads {PLAN_SCHEMA}", printable(other)),
        None => anyhow::bail!("`schema` is missing"),
    }
    let plan: Plan = serde_json::from_value(value.clone()).context("its content is not as its form says")?;
    Ok(LoadedPlan { faithful: serde_json::to_value(&plan)? == value, plan })
}

fn shown(path: &Path) -> String {
    printable(&path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::views::{FlinkView, HdfsView};

    fn inventory() -> Inventory {
        Inventory {
            inventory_version: INVENTORY_VERSION,
            started: jiff::Timestamp::UNIX_EPOCH,
            taken: jiff::Timestamp::UNIX_EPOCH,
            flink: FlinkView::default(),
            hdfs: HdfsView::default(),
            resources: None,
            state: crate::views::StateView::default(),
        }
    }

    #[test]
    fn an_inventory_comes_back_and_only_its_owner_can_read_it() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("inventory.json");
        save_inventory(&path, &inventory()).expect("saved");
        assert_eq!(load_inventory(&path).expect("loaded"), inventory());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(std::fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_beside_it() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("report.json");
        write_whole(&path, false, |out| Ok(out.write_all(b"old")?)).expect("written");
        let failed = write_whole(&path, false, |out| {
            out.write_all(b"half")?;
            anyhow::bail!("the disk is full")
        });
        assert!(failed.is_err());
        assert_eq!(std::fs::read(&path).expect("a file"), b"old");
        assert_eq!(std::fs::read_dir(directory.path()).expect("a directory").count(), 1);
    }

    #[test]
    fn other_files_are_named_for_what_they_are() {
        let chain = |bytes: &[u8]| format!("{:#}", parse_inventory(bytes).expect_err("no inventory"));
        assert!(chain(b"{\"inventory_version\": 99}").contains("version 99"));
        assert!(chain(b"{\"schema\": \"x\"}").contains("missing"));
        assert!(chain(b"{\"inventory_ver").contains("cut short"));
    }
}
