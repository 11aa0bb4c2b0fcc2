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

/// An insert that turns into an update where the key is taken.
#[derive(Debug, Clone, Copy)]
pub struct Upsert {
    /// The insert with `?` for each value.
    pub insert: &'static str,
    /// Columns of the key, as a list.
    pub key: &'static str,
    /// The other columns, which take the new values.
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

    fn upsert_text(self, upsert: &Upsert) -> String {
        let (head, word) = match self {
            Self::Sqlite | Self::Postgres => (format!("ON CONFLICT ({}) DO UPDATE SET", upsert.key), "excluded"),
            Self::MySql => ("ON DUPLICATE KEY UPDATE".to_owned(), "VALUES"),
        };
        let new = |column: &&str| match word {
            "VALUES" => format!("{column} = VALUES({column})"),
            _ => format!("{column} = {word}.{column}"),
        };
        let set: Vec<String> = upsert.set.iter().map(new).collect();
        format!("{} {head} {}", upsert.insert, set.join(", "))
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
    made: Mutex<HashMap<&'static str, Arc<str>>>,
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
            Dialect::Postgres => self.made(text, || self.dialect.placeholders(text)),
        }
    }

    /// An upsert.
    pub fn upsert(&self, upsert: &Upsert) -> SqlStr {
        self.made(upsert.insert, || self.dialect.placeholders(&self.dialect.upsert_text(upsert)))
    }

    fn made(&self, key: &'static str, make: impl FnOnce() -> String) -> SqlStr {
        // A poisoned map is still whole: an entry is put in at once or not at all.
        let mut texts = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let text = texts.entry(key).or_insert_with(|| make().into());
        AssertSqlSafe(Arc::clone(text)).into_sql_str()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UPSERT: Upsert = Upsert { insert: "INSERT INTO t (a, b, c) VALUES (?, ?, ?)", key: "a", set: &["b", "c"] };

    #[test]
    fn placeholders_are_numbered_for_postgres_alone() {
        let text = "SELECT a FROM t WHERE b = ? AND c = '?' AND d > ?";
        let sql = |dialect| Wording::new(dialect).sql(text).as_str().to_owned();
        assert_eq!(sql(Dialect::Sqlite), text);
        assert_eq!(sql(Dialect::MySql), text);
        assert_eq!(sql(Dialect::Postgres), "SELECT a FROM t WHERE b = $1 AND c = '?' AND d > $2");
    }

    #[test]
    fn an_upsert_is_worded_for_each() {
        let sql = |dialect| Wording::new(dialect).upsert(&UPSERT).as_str().to_owned();
        assert_eq!(
            sql(Dialect::Sqlite),
            "INSERT INTO t (a, b, c) VALUES (?, ?, ?) ON CONFLICT (a) DO UPDATE SET b = excluded.b, c = excluded.c"
        );
        assert_eq!(
            sql(Dialect::Postgres),
            "INSERT INTO t (a, b, c) VALUES ($1, $2, $3) ON CONFLICT (a) DO UPDATE SET b = excluded.b, c = excluded.c"
        );
        assert_eq!(
            sql(Dialect::MySql),
            "INSERT INTO t (a, b, c) VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE b = VALUES(b), c = VALUES(c)"
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
