//! Single things asked again right before and right after a write.

use std::collections::BTreeMap;

use super::envelope::Failure;
use super::records::{
    RESOURCE_NOT_EXIST, RecordApi, WireRecord, find_in_tree, list_directory, list_tree_below, to_record,
};
use super::users;
use super::{Dolphin, Reader, unsupported};
use crate::views::resources::User;
use crate::views::{Cause, Gap, Record, ViewName};

impl Dolphin {
    /// One record by id, or by name in 2.0, which has no question by id.
    pub(super) async fn record_again(&self, record: &Record) -> Result<Option<Record>, Gap> {
        let manner = self.manner()?;
        let question = manner.single(record.kind, record.id.0, &record.full_name);
        match self.api.ask::<WireRecord>(&question).await {
            Ok(found) if found.id == record.id.0 => Ok(Some(to_record(found, record.kind, manner))),
            Ok(_) if manner == RecordApi::V20 => self.under_any_name(record).await,
            Ok(_) => Err(Failure::Shape { column: 0 }.gap(ViewName::Resources, question.what())),
            Err(failure) if failure.has_code(RESOURCE_NOT_EXIST) && manner == RecordApi::V20 => {
                self.under_any_name(record).await
            }
            Err(failure) if failure.has_code(RESOURCE_NOT_EXIST) => Ok(None),
            Err(failure) => Err(failure.gap(ViewName::Resources, question.what())),
        }
    }

    /// A record that is not found by its name, or another in its place, may have been renamed: the tree tells by id.
    async fn under_any_name(&self, record: &Record) -> Result<Option<Record>, Gap> {
        let found = find_in_tree(&self.api, record.kind, record.id.0).await;
        let found = found.map_err(|failure| failure.gap(ViewName::Resources, &format!("record {}", record.id)))?;
        let Some(renamed) = found else { return Ok(None) };
        let question = RecordApi::V20.single(record.kind, record.id.0, &renamed.full_name);
        Ok(match self.api.ask::<WireRecord>(&question).await {
            Ok(found) if found.id == record.id.0 => Some(to_record(found, record.kind, RecordApi::V20)),
            // It is there; of what it is only the name is known.
            _ => Some(renamed),
        })
    }

    /// The records directly below a directory record; none if the directory is gone. In 3.0 all records below it, of which
    /// only id, name and sort are known: its pages hide those of deleted owners, and they would go with the directory.
    pub(super) async fn below_again(&self, directory: &Record) -> Result<Vec<Record>, Gap> {
        let manner = self.manner()?;
        if manner == RecordApi::V30 {
            let what = format!("the records below record {}", directory.id);
            let listed = list_tree_below(&self.api, directory.kind, directory.id.0).await;
            return listed.map_err(|failure| failure.gap(ViewName::Resources, &what));
        }
        let listed = list_directory(&self.api, self.limits, directory.kind, directory.id.0).await;
        match listed.trouble {
            Some(trouble) if trouble.has_code(RESOURCE_NOT_EXIST) => Ok(Vec::new()),
            Some(trouble) => Err(trouble.gap(ViewName::Resources)),
            None => Ok(listed.entries.into_iter().map(|wire| to_record(wire, directory.kind, manner)).collect()),
        }
    }

    fn manner(&self) -> Result<RecordApi, Gap> {
        match Reader::of(self.generation) {
            Some(Reader::Records(manner)) => Ok(manner),
            _ => Err(unsupported(ViewName::Resources, self.generation)),
        }
    }

    /// All users, whole or not at all.
    pub(super) async fn users_again(&self) -> Result<BTreeMap<i64, User>, Gap> {
        let (users, trouble) = users::fetch_users(&self.api, self.limits.page_size).await;
        match trouble {
            Some(trouble) => Err(Gap { cause: Cause::ServerError, ..trouble.gap(ViewName::Resources) }),
            None => Ok(users),
        }
    }
}
