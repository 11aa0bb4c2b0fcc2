//! What differs between the SQL servers, and nothing else: scheme, placeholders, upsert wording, how a transaction begins.
//!
//! Statements are written once, with `?`. This is the only place that makes SQL text at run time, and it is made from
//! constants alone.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use sqlx::{AssertSqlSafe, SqlSafeStr as _, SqlStr};

/// The SQL that a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// SQLite, a file on this host.
    Sqlite,
    /// PostgreSQL.
    Postgres,
    /// MySQL or MariaDB.
    MySql,
}

/// An insert, of one row or several, that turns into an update where the key is taken.
#[derive(Debug, Clone, Copy)]
pub struct Insert {
    /// Table with its columns.
    pub into: &'static str,
    /// The place of one row, `(?, ?)`.
    pub row: &'static str,
    /// Columns of the key, as a list.
    pub key: &'static str,
    /// The columns that take the new values where the key is taken; none: a taken key is an error.
    pub set: &'static [&'static str],
}

impl Dialect {
    /// The dialect of a URL scheme; `None` for one that is no ledger's.
    pub fn of_scheme(scheme: &str) -> Option<Self> {
        match scheme {
            "sqlite" => Some(Self::Sqlite),
            "postgres" | "postgresql" => Some(Self::Postgres),
            "mysql" | "mariadb" => Some(Self::MySql),
            _ => None,
        }
    }

    /// The name that people know.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
            Self::MySql => "MySQL/MariaDB",
        }
    }

    /// Begins a transaction that will write. SQLite takes the write lock here: taken later, after a read, it could be
    /// refused without waiting.
    pub const fn begin_write(self) -> &'static str {
        match self {
            Self::Sqlite => "BEGIN IMMEDIATE",
            Self::Postgres => "BEGIN",
            Self::MySql => "START TRANSACTION",
        }
    }

    /// Begins a transaction that only reads: all its answers are of one moment.
    pub const fn begin_read(self) -> &'static str {
        match self {
            Self::Sqlite => "BEGIN",
            Self::Postgres => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            Self::MySql => "START TRANSACTION READ ONLY",
        }
    }

    fn insert(self, insert: &Insert, rows: usize) -> String {
        let values = vec![insert.row; rows].join(", ");
        format!("INSERT INTO {} VALUES {values}{}", insert.into, self.or_update(insert))
    }

    fn or_update(self, insert: &Insert) -> String {
        let set = |new: &dyn Fn(&str) -> String| {
            let columns: Vec<String> = insert.set.iter().map(|column| format!("{column} = {}", new(column))).collect();
            columns.join(", ")
        };
        match self {
            _ if insert.set.is_empty() => String::new(),
            Self::Sqlite | Self::Postgres => {
                format!(" ON CONFLICT ({}) DO UPDATE SET {}", insert.key, set(&|column| format!("excluded.{column}")))
            }
            Self::MySql => format!(" ON DUPLICATE KEY UPDATE {}", set(&|column| format!("VALUES({column})"))),
        }
    }

    fn placeholders(self, text: &str) -> String {
        if self != Self::Postgres {
            return text.to_owned();
        }
        let mut rewritten = String::with_capacity(text.len() + 16);
        let (mut count, mut quoted) = (0_usize, false);
        for c in text.chars() {
            quoted ^= c == '\'';
            if c == '?' && !quoted {
                count += 1;
                rewritten.push('$');
                rewritten.push_str(&count.to_string());
            } else {
                rewritten.push(c);
            }
        }
        rewritten
    }
}

/// Statements in the words of one dialect, each made once.
#[derive(Debug)]
pub struct Wording {
    /// The dialect.
    pub dialect: Dialect,
    made: Mutex<HashMap<(&'static str, usize), Arc<str>>>,
}

impl Wording {
    /// The wording of a dialect.
    pub fn new(dialect: Dialect) -> Self {
        Self { dialect, made: Mutex::default() }
    }

    /// A statement.
    pub fn sql(&self, text: &'static str) -> SqlStr {
        match self.dialect {
            Dialect::Sqlite | Dialect::MySql => text.into_sql_str(),
            Dialect::Postgres => self.made((text, 0), || self.dialect.placeholders(text)),
        }
    }

    /// An insert of some rows.
    pub fn insert(&self, insert: &Insert, rows: usize) -> SqlStr {
        self.made((insert.into, rows), || self.dialect.placeholders(&self.dialect.insert(insert, rows)))
    }

    fn made(&self, key: (&'static str, usize), make: impl FnOnce() -> String) -> SqlStr {
        // A poisoned map is still whole: an entry is put in at once or not at all.
        let mut texts = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let text = texts.entry(key).or_insert_with(|| make().into());
        AssertSqlSafe(Arc::clone(text)).into_sql_str()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INSERT: Insert = Insert { into: "t (a, b, c)", row: "(?, ?, ?)", key: "a", set: &["b", "c"] };

    #[test]
    fn placeholders_are_numbered_for_postgres_alone() {
        let text = "SELECT a FROM t WHERE b = ? AND c = '?' AND d > ?";
        let sql = |dialect| Wording::new(dialect).sql(text).as_str().to_owned();
        assert_eq!(sql(Dialect::Sqlite), text);
        assert_eq!(sql(Dialect::MySql), text);
        assert_eq!(sql(Dialect::Postgres), "SELECT a FROM t WHERE b = $1 AND c = '?' AND d > $2");
    }

    #[test]
    fn an_insert_that_updates_is_worded_for_each() {
        let sql = |dialect, rows| Wording::new(dialect).insert(&INSERT, rows).as_str().to_owned();
        assert_eq!(
            sql(Dialect::Sqlite, 1),
            "INSERT INTO t (a, b, c) VALUES (?, ?, ?) ON CONFLICT (a) DO UPDATE SET b = excluded.b, c = excluded.c"
        );
        assert_eq!(
            sql(Dialect::Postgres, 2),
            "INSERT INTO t (a, b, c) VALUES ($1, $2, $3), ($4, $5, $6) \
             ON CONFLICT (a) DO UPDATE SET b = excluded.b, c = excluded.c"
        );
        assert_eq!(
            sql(Dialect::MySql, 1),
            "INSERT INTO t (a, b, c) VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE b = VALUES(b), c = VALUES(c)"
        );
        let plain = Insert { set: &[], ..INSERT };
        assert_eq!(
            Wording::new(Dialect::Sqlite).insert(&plain, 1).as_str(),
            "INSERT INTO t (a, b, c) VALUES (?, ?, ?)"
        );
    }

    #[test]
    fn schemes() {
        assert_eq!(Dialect::of_scheme("sqlite"), Some(Dialect::Sqlite));
        assert_eq!(Dialect::of_scheme("postgresql"), Some(Dialect::Postgres));
        assert_eq!(Dialect::of_scheme("mariadb"), Some(Dialect::MySql));
        assert_eq!(Dialect::of_scheme("oracle"), None);
    }
}
