//! One transaction: its statements, its moment, and rows that say what was asked when they cannot be read.

use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::any::{AnyArguments, AnyRow};
use sqlx::query::Query as SqlxQuery;
use sqlx::{Any, Decode, Row as _, Transaction, Type};

use super::dialect::{Insert, Wording};
#[cfg(debug_assertions)]
use super::kill_point;
use crate::ports::ledger::LedgerError;

/// A statement with its values.
pub type Query = SqlxQuery<'static, Any, AnyArguments>;

/// A time as the ledger writes it: RFC 3339, UTC, always six digits of fraction, so that text order is time order.
pub fn stamp(time: Timestamp) -> String {
    format!("{time:.6}")
}

/// A time cut to what the ledger keeps.
pub fn cut(time: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(time.as_microsecond()).unwrap_or(time)
}

/// One transaction. Dropped without `commit`, it never was.
pub struct Unit<'a> {
    tx: Transaction<'static, Any>,
    wording: &'a Wording,
    what: &'static str,
    /// When it began, cut to microseconds.
    pub now: Timestamp,
}

impl<'a> Unit<'a> {
    /// A transaction that has begun.
    pub fn new(tx: Transaction<'static, Any>, wording: &'a Wording, what: &'static str, now: Timestamp) -> Self {
        Self { tx, wording, what, now: cut(now) }
    }

    /// A statement, written with `?`.
    pub fn query(&self, text: &'static str) -> Query {
        sqlx::query(self.wording.sql(text))
    }

    /// An insert of some rows; their values follow each other.
    pub fn insert(&self, insert: &Insert, rows: usize) -> Query {
        sqlx::query(self.wording.insert(insert, rows))
    }

    /// Runs a statement; the number of rows it touched.
    pub async fn execute(&mut self, query: Query) -> Result<u64, LedgerError> {
        let done = query.execute(&mut *self.tx).await;
        done.map(|done| done.rows_affected()).map_err(|error| self.failed(error))
    }

    /// All rows.
    pub async fn all(&mut self, query: Query) -> Result<Vec<Row>, LedgerError> {
        let rows = query.fetch_all(&mut *self.tx).await.map_err(|error| self.failed(error))?;
        Ok(rows.into_iter().map(|row| Row { row, what: self.what }).collect())
    }

    /// The first row, if there is one.
    pub async fn first(&mut self, query: Query) -> Result<Option<Row>, LedgerError> {
        let row = query.fetch_optional(&mut *self.tx).await.map_err(|error| self.failed(error))?;
        Ok(row.map(|row| Row { row, what: self.what }))
    }

    /// The only row.
    pub async fn one(&mut self, query: Query) -> Result<Row, LedgerError> {
        let row = query.fetch_one(&mut *self.tx).await.map_err(|error| self.failed(error))?;
        Ok(Row { row, what: self.what })
    }

    /// Makes it last.
    pub async fn commit(self) -> Result<(), LedgerError> {
        let what = self.what;
        #[cfg(debug_assertions)]
        kill_point::before(what).await;
        self.tx.commit().await.map_err(|error| failed(what, error))?;
        #[cfg(debug_assertions)]
        kill_point::after(what).await;
        Ok(())
    }

    /// Canonical JSON of a value: object keys are sorted.
    pub fn json<T: Serialize>(&self, value: &T) -> Result<String, LedgerError> {
        serde_json::to_value(value).map(|value| value.to_string()).map_err(|error| self.failed(error))
    }

    /// An error of this transaction.
    pub fn failed(&self, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> LedgerError {
        failed(self.what, error)
    }
}

/// A row of an answer.
pub struct Row {
    row: AnyRow,
    what: &'static str,
}

impl Row {
    fn get<'r, T: Decode<'r, Any> + Type<Any>>(&'r self, column: &str) -> Result<T, LedgerError> {
        self.row.try_get(column).map_err(|error| failed(self.what, error))
    }

    /// Text.
    pub fn text(&self, column: &str) -> Result<String, LedgerError> {
        self.get(column)
    }

    /// Text that may be missing.
    pub fn maybe_text(&self, column: &str) -> Result<Option<String>, LedgerError> {
        self.get(column)
    }

    /// A number.
    pub fn number(&self, column: &str) -> Result<i64, LedgerError> {
        self.get(column)
    }

    /// A number, or nothing.
    pub fn maybe_number(&self, column: &str) -> Result<Option<i64>, LedgerError> {
        self.get(column)
    }

    /// A number that fits another type.
    pub fn count<T: TryFrom<i64>>(&self, column: &str) -> Result<T, LedgerError>
    where
        T::Error: std::error::Error + Send + Sync + 'static,
    {
        T::try_from(self.number(column)?).map_err(|error| failed(self.what, error))
    }

    /// A yes or no.
    pub fn flag(&self, column: &str) -> Result<bool, LedgerError> {
        Ok(self.number(column)? != 0)
    }

    /// A time.
    pub fn time(&self, column: &str) -> Result<Timestamp, LedgerError> {
        self.parse_time(&self.text(column)?)
    }

    /// A time that may be missing.
    pub fn maybe_time(&self, column: &str) -> Result<Option<Timestamp>, LedgerError> {
        self.maybe_text(column)?.map(|text| self.parse_time(&text)).transpose()
    }

    /// A value kept as JSON.
    pub fn json<T: DeserializeOwned>(&self, column: &str) -> Result<T, LedgerError> {
        serde_json::from_str(&self.text(column)?).map_err(|error| failed(self.what, error))
    }

    fn parse_time(&self, text: &str) -> Result<Timestamp, LedgerError> {
        text.parse().map_err(|error: jiff::Error| failed(self.what, error))
    }
}

fn failed(what: &'static str, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> LedgerError {
    LedgerError::Query { what, source: error.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_one_width_and_sort_as_text() {
        let time = |text: &str| text.parse::<Timestamp>().expect("a time");
        assert_eq!(stamp(time("2026-03-01T08:00:00+08:00")), "2026-03-01T00:00:00.000000Z");
        assert_eq!(stamp(time("2026-03-01T00:00:00.1234569Z")), "2026-03-01T00:00:00.123456Z");
        assert!(stamp(time("2026-03-01T00:00:09Z")) < stamp(time("2026-03-01T00:00:09.5Z")));
        assert_eq!(stamp(cut(time("2026-03-01T00:00:00.1234569Z"))), "2026-03-01T00:00:00.123456Z");
    }
}
