//! One call under way: who calls, what for, on which content, and what a fault changes about lists.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::asked::Asked;
use super::database::{Database, User};
use super::generation::Generation;
use super::paging::OffsetKey;
use super::reply::Refusal;
use super::store::FileStore;
use crate::demo::servers::wire::ServerClock;
use crate::demo::world::Fault;
use crate::domain::{HdfsPath, ResourceKind};

/// What stays the same over the life of a server.
#[derive(Debug, Clone)]
pub struct Traits {
    /// Whose API this is.
    pub generation: Generation,
    /// Zone of the times it prints.
    pub zone: TimeZone,
    /// Its clock.
    pub clock: ServerClock,
}

impl Traits {
    /// A time as the server prints it: no zone (`spring.jackson.date-format`).
    pub fn time(&self, time: Timestamp) -> String {
        time.to_zoned_datetime(self.zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string()
    }

    /// A time as 2.0 prints it where its answer is no entity: with fraction and offset.
    pub fn precise_time(&self, time: Timestamp) -> String {
        time.to_zoned_datetime(self.zone.clone()).strftime("%Y-%m-%dT%H:%M:%S%.3f%z").to_string()
    }

    /// How pages call their offset.
    pub fn offset_key(&self) -> OffsetKey {
        if self.generation.has_records() { OffsetKey::Start } else { OffsetKey::PageNo }
    }
}

/// One call under way.
pub struct Visit<'a> {
    /// The request.
    pub asked: &'a Asked,
    /// Who calls.
    pub account: &'a User,
    /// The server.
    pub traits: &'a Traits,
    /// Its files.
    pub store: &'a dyn FileStore,
    /// What a fault changes about lists; the default fault changes nothing.
    pub change: &'a Fault,
}

impl Visit<'_> {
    /// Required parameter `type`; `None`: missing or unknown, which makes the call fail with the code of its endpoint.
    pub fn kind(&self) -> Option<ResourceKind> {
        match self.asked.param("type")? {
            "FILE" => Some(ResourceKind::File),
            "UDF" => Some(ResourceKind::Udf),
            _ => None,
        }
    }

    /// The tenant of the caller; without one most writes, and everything in 3.2, fail (10181), also for administrators.
    pub fn tenant(&self) -> Result<&str, Refusal> {
        self.account.tenant.as_deref().ok_or_else(Refusal::no_tenant)
    }

    /// A time as the server prints it.
    pub fn time(&self, time: Timestamp) -> String {
        self.traits.time(time)
    }

    /// Lines `skipLineNum` to `skipLineNum + limit` of a text file.
    pub fn asked_lines(&self, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes);
        let skip = self.asked.number("skipLineNum").and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
        let limit = self.asked.number("limit").and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX);
        text.lines().skip(skip).take(limit).collect::<Vec<_>>().join("\n")
    }
}

/// Whether the suffix can be viewed (`resource.view.suffixs`, the shipped list).
pub fn is_viewable(name: &str) -> bool {
    const SUFFIXES: &str = "txt,log,sh,bat,conf,cfg,py,java,sql,xml,hql,properties,json,yml,yaml,ini,js";
    let file = name.rsplit('/').next().unwrap_or_default();
    file.rsplit_once('.').is_some_and(|(_, suffix)| SUFFIXES.split(',').any(|known| known == suffix))
}

/// Whether a fault leaves the row `id` out of lists.
pub fn omits_id(change: &Fault, id: i64) -> bool {
    change.omit_ids.iter().any(|gone| gone.as_i64() == Some(id))
}

/// The row ids a fault says a list holds.
pub fn ids_of(change: &Fault) -> Option<Vec<i64>> {
    Some(change.ids.as_ref()?.iter().filter_map(serde_json::Value::as_i64).collect())
}

/// The paths a fault says a list holds.
pub fn entries_of(change: &Fault) -> Option<Vec<HdfsPath>> {
    Some(change.entries.as_ref()?.iter().filter_map(|text| super::database::path_of_uri(text)).collect())
}

/// The content, which one call at a time may change.
pub type Content<'a> = &'a mut Database;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_suffixes_can_be_viewed() {
        assert!(is_viewable("/a/b.sql") && is_viewable("run.sh"));
        assert!(!is_viewable("/a.sh/_metadata") && !is_viewable("a.jar") && !is_viewable("a.SH"));
    }

    #[test]
    fn times_are_printed_in_the_zone_of_the_server() {
        let traits = |zone| Traits { generation: Generation::V31, zone, clock: ServerClock { behind: 0 } };
        let time: Timestamp = "2026-11-29T14:22:27Z".parse().expect("a time");
        assert_eq!(traits(TimeZone::UTC).time(time), "2026-11-29 14:22:27");
        let plus_eight = TimeZone::fixed(jiff::tz::offset(8));
        assert_eq!(traits(plus_eight.clone()).precise_time(time), "2026-11-29T22:22:27.000+0800");
        assert_eq!(traits(plus_eight).time(time), "2026-11-29 22:22:27");
    }
}
