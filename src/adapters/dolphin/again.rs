//! Single things asked again right before and right after a write.

use std::collections::BTreeMap;

use super::Dolphin;
use super::envelope::{Failure, Question};
use super::records::{RESOURCE_NOT_EXIST, WireRecord, list_directory, to_record};
use super::users;
use crate::views::resources::User;
use crate::views::{Cause, Gap, Generation, Record, ViewName};

impl Dolphin {
    /// One record by id, or by name up to 2.0, which has no question by id: `GET /resources/{id}` there answers with the
    /// parent (facts of 2.0.9 and 3.1.9).
    pub(super) async fn record_again(&self, record: &Record) -> Result<Option<Record>, Gap> {
        let what = format!("record {}", record.id);
        let question = if self.generation == Generation::V20 {
            Question::new(what.clone(), "/resources/0")
                .with("type", record.kind.api_name())
                .with("fullName", &record.full_name)
        } else {
            Question::new(what.clone(), format!("/resources/{}/query", record.id))
        };
        match self.api.ask::<WireRecord>(&question).await {
            Ok(found) if found.id == record.id.0 => Ok(Some(to_record(found, record.kind))),
            // By name another record may have taken the place: ours is gone.
            Ok(_) if self.generation == Generation::V20 => Ok(None),
            Ok(_) => Err(Failure::Shape { column: 0 }.gap(ViewName::Resources, &what)),
            Err(failure) if failure.has_code(RESOURCE_NOT_EXIST) => Ok(None),
            Err(failure) => Err(failure.gap(ViewName::Resources, &what)),
        }
    }

    /// The records directly below a directory record; none if the directory is gone.
    pub(super) async fn below_again(&self, directory: &Record) -> Result<Vec<Record>, Gap> {
        let listed = list_directory(&self.api, self.limits, directory.kind, directory.id.0).await;
        match listed.trouble {
            Some(trouble) if trouble.has_code(RESOURCE_NOT_EXIST) => Ok(Vec::new()),
            Some(trouble) => Err(trouble.gap(ViewName::Resources)),
            None => Ok(listed.entries.into_iter().map(|wire| to_record(wire, directory.kind)).collect()),
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
