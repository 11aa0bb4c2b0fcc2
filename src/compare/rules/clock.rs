//! Clocks that disagree, and times in the future.

use jiff::{SignedDuration, Timestamp};

use crate::compare::{Context, Finding, FindingCode, Severity, Target};
use crate::domain::text::printable;

/// Skew that is let through: five minutes, as Kerberos does.
pub const TOLERANCE: SignedDuration = SignedDuration::from_mins(5);

/// `clock-skew`: this host and the NameNode differ by more than five minutes, or a time lies in the future.
pub fn skewed(context: &Context<'_>) -> Option<Finding> {
    let facts: Vec<String> =
        [between_hosts(context), newest_file(context), newest_record(context)].into_iter().flatten().collect();
    if facts.is_empty() {
        return None;
    }
    let finding = Finding::new(FindingCode::ClockSkew, Severity::Error, Target::default(), "clock::skewed");
    Some(facts.into_iter().fold(finding, Finding::because))
}

/// Whether ages cannot be trusted.
pub fn is_skewed(context: &Context<'_>) -> bool {
    skewed(context).is_some()
}

fn between_hosts(context: &Context<'_>) -> Option<String> {
    let clock = context.inventory.hdfs.clock?;
    let skew = clock.local.duration_since(clock.server);
    (skew.abs() > TOLERANCE).then(|| {
        let (direction, amount) = if skew.is_negative() { ("behind", -skew) } else { ("ahead of", skew) };
        format!("this host is {} s {direction} the NameNode", amount.as_secs())
    })
}

fn newest_file(context: &Context<'_>) -> Option<String> {
    let now = context.inventory.server_now().unwrap_or(context.inventory.taken);
    let hdfs = &context.inventory.hdfs;
    let (path, entry) = hdfs
        .listings
        .iter()
        .flat_map(|(path, listing)| listing.entries.iter().map(move |entry| (path, entry)))
        .max_by_key(|(_, entry)| entry.status.modified)?;
    is_future(entry.status.modified, now).then(|| {
        format!("{} was modified at {}, after now", printable(path.join(&entry.name).as_str()), entry.status.modified)
    })
}

fn newest_record(context: &Context<'_>) -> Option<String> {
    let newest = context
        .records
        .iter()
        .filter_map(|f| Some((context.record_time(f.record)?, f.record)))
        .max_by_key(|(t, _)| *t)?;
    is_future(newest.0, context.inventory.taken.max(context.now)).then(|| {
        format!(
            "record {} was changed at {} in the configured time zone of DolphinScheduler, after now; is `ds.time_zone` right?",
            newest.1.id, newest.0
        )
    })
}

fn is_future(time: Timestamp, now: Timestamp) -> bool {
    time.duration_since(now) > TOLERANCE
}
