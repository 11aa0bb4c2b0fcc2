//! The audit chain: entries that each carry the hash of the one before.
//!
//! It shows that an entry was changed, taken out, put elsewhere or added by somebody who did not rehash the rest. Who can
//! write to the ledger can rehash it; only a head that was noted elsewhere tells then, which is why each apply prints it.

use std::cmp::Ordering;

use super::unit::{Row, Unit, stamp};
use crate::plan::fingerprint;
use crate::ports::ledger::{AuditEntry, AuditVerdict, LedgerError};

/// What stands before the first entry.
const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Entries read at a time.
const PAGE: usize = 500;

/// An entry as the table holds it: the time as text, since any other spelling of it is a change too.
struct Link {
    number: i64,
    made: String,
    actor: String,
    run: String,
    what: String,
    body: String,
    previous: String,
}

impl Link {
    /// Hex SHA-256 over the canonical JSON array of all members.
    fn hash(&self) -> String {
        fingerprint::of(&(&self.number, &self.made, &self.actor, &self.run, &self.what, &self.body, &self.previous))
    }

    fn of(row: &Row) -> Result<Self, LedgerError> {
        Ok(Self {
            number: row.number("number")?,
            made: row.text("made")?,
            actor: row.text("actor")?,
            run: row.text("run")?,
            what: row.text("what")?,
            body: row.text("body")?,
            previous: row.text("previous")?,
        })
    }
}

/// Appends an entry; the new head.
pub async fn append(
    unit: &mut Unit<'_>,
    actor: &str,
    run: &str,
    what: &str,
    body: &serde_json::Value,
) -> Result<String, LedgerError> {
    // First the update: it locks the head, so that two writers cannot take the same number.
    let next = unit.query("UPDATE audit_head SET number = number + 1 WHERE name = 'audit'");
    unit.execute(next).await?;
    let head = head(unit).await?;
    let link = Link {
        number: head.0,
        made: stamp(unit.now),
        actor: actor.to_owned(),
        run: run.to_owned(),
        what: what.to_owned(),
        body: unit.json(body)?,
        previous: head.1,
    };
    let hash = link.hash();
    insert(unit, link, &hash).await?;
    let head = unit.query("UPDATE audit_head SET hash = ? WHERE name = 'audit'").bind(hash.clone());
    unit.execute(head).await?;
    Ok(hash)
}

async fn insert(unit: &mut Unit<'_>, link: Link, hash: &str) -> Result<(), LedgerError> {
    let query = unit
        .query(
            "INSERT INTO audit (number, made, actor, run, what, body, previous, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(link.number)
        .bind(link.made)
        .bind(link.actor)
        .bind(link.run)
        .bind(link.what)
        .bind(link.body)
        .bind(link.previous)
        .bind(hash.to_owned());
    unit.execute(query).await.map(drop)
}

/// Number and hash of the newest entry, as written beside the chain.
async fn head(unit: &mut Unit<'_>) -> Result<(i64, String), LedgerError> {
    let query = unit.query("SELECT number, hash FROM audit_head WHERE name = 'audit'");
    let row = unit.one(query).await?;
    Ok((row.number("number")?, row.text("hash")?))
}

/// The whole chain, oldest first.
pub async fn entries(unit: &mut Unit<'_>) -> Result<Vec<AuditEntry>, LedgerError> {
    let query = unit.query("SELECT number, made, actor, run, what, body, previous, hash FROM audit ORDER BY number");
    let entry = |row: &Row| {
        Ok(AuditEntry {
            number: row.number("number")?,
            at: row.time("made")?,
            actor: row.text("actor")?,
            run: row.text("run")?,
            what: row.text("what")?,
            body: row.text("body")?,
            previous: row.text("previous")?,
            hash: row.text("hash")?,
        })
    };
    unit.all(query).await?.iter().map(entry).collect()
}

/// The walk along the chain.
struct Walk<'a> {
    entries: i64,
    head: String,
    wanted: Option<&'a str>,
    met: bool,
}

impl<'a> Walk<'a> {
    fn new(wanted: Option<&'a str>) -> Self {
        let met = wanted.is_none_or(|wanted| wanted == GENESIS);
        Self { entries: 0, head: GENESIS.to_owned(), wanted, met }
    }

    /// One entry further, or why not.
    fn step(&mut self, row: &Row) -> Result<(), AuditVerdict> {
        let next = self.entries + 1;
        let link = Link::of(row).map_err(|_| broken(next, "it cannot be read".to_owned()))?;
        let hash = row.text("hash").map_err(|_| broken(next, "it cannot be read".to_owned()))?;
        if link.number != next {
            return Err(broken(next, format!("entry {} follows entry {}", link.number, self.entries)));
        }
        if link.previous != self.head {
            return Err(broken(next, "it does not carry the hash of the entry before".to_owned()));
        }
        if link.hash() != hash {
            return Err(broken(next, "its hash does not fit what it says".to_owned()));
        }
        self.entries = next;
        self.met |= self.wanted == Some(hash.as_str());
        self.head = hash;
        Ok(())
    }

    /// The verdict over a chain whose links fit, held against what was written beside it.
    fn end(self, (written, hash): &(i64, String)) -> AuditVerdict {
        let next = self.entries + 1;
        match self.entries.cmp(written) {
            Ordering::Less => broken(next, format!("{written} entries were written, the chain ends before this one")),
            Ordering::Greater => broken(written + 1, format!("only {written} entries were written")),
            Ordering::Equal if self.head != *hash => {
                broken(*written, "it is not the entry that was written last".to_owned())
            }
            Ordering::Equal if !self.met => {
                broken(next, "the given head does not occur: the end was cut off, or the chain made anew".to_owned())
            }
            Ordering::Equal => AuditVerdict::Whole { entries: self.entries, head: self.head },
        }
    }
}

fn broken(number: i64, why: String) -> AuditVerdict {
    AuditVerdict::Broken { number, why }
}

/// Checks the chain link by link, and that a head noted before occurs in it.
pub async fn verify(unit: &mut Unit<'_>, wanted: Option<&str>) -> Result<AuditVerdict, LedgerError> {
    let mut walk = Walk::new(wanted);
    let mut from = i64::MIN;
    loop {
        let query = unit
            .query(
                "SELECT number, made, actor, run, what, body, previous, hash FROM audit WHERE number >= ? \
                 ORDER BY number LIMIT ?",
            )
            .bind(from)
            .bind(i64::try_from(PAGE).unwrap_or(i64::MAX));
        let rows = unit.all(query).await?;
        for row in &rows {
            if let Err(verdict) = walk.step(row) {
                return Ok(verdict);
            }
        }
        if rows.len() < PAGE {
            return Ok(walk.end(&head(unit).await?));
        }
        from = walk.entries + 1;
    }
}
