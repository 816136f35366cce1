//! The business database beside the keyspace: what a client may ask of it and what it is told. Each operation is a point of
//! the schedule, as a call is. The rows and what transactions do to them stand in `tables`.

mod tables;

pub(super) use tables::Tables;

use std::collections::BTreeMap;
use std::fmt;

use super::client::Client;
use super::desk::{Answer, Request};
use crate::error::Error;

/// What a column of a row holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// An integer.
    Int(i64),
    /// A text.
    Text(String),
}

impl From<i64> for Value {
    fn from(n: i64) -> Self {
        Value::Int(n)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Text(text)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Int(n) => write!(f, "{n}"),
            Value::Text(text) => write!(f, "'{}'", text.replace('\'', "''")),
        }
    }
}

/// The columns of a row beside its primary key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Row(pub(super) BTreeMap<String, Value>);

impl Row {
    /// The integer in this column.
    pub fn int(&self, column: &str) -> Option<i64> {
        match self.0.get(column)? {
            Value::Int(n) => Some(*n),
            Value::Text(_) => None,
        }
    }

    /// The text in this column.
    pub fn text(&self, column: &str) -> Option<&str> {
        match self.0.get(column)? {
            Value::Text(text) => Some(text),
            Value::Int(_) => None,
        }
    }
}

impl<V: Into<Value>, const N: usize> From<[(&str, V); N]> for Row {
    fn from(columns: [(&str, V); N]) -> Self {
        Row(columns.into_iter().map(|(column, value)| (column.to_owned(), value.into())).collect())
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.0.iter().map(|(column, value)| format!("{column}={value}")).collect();
        f.write_str(&parts.join(" "))
    }
}

/// What a column has to be for a row to be changed. A column that a row does not have is nothing of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Is {
    /// This value.
    Equal(Value),
    /// An integer below this one.
    Below(i64),
    /// An integer of at least this one.
    AtLeast(i64),
}

impl Is {
    fn holds(&self, value: Option<&Value>) -> bool {
        match (self, value) {
            (Is::Equal(wanted), Some(value)) => wanted == value,
            (Is::Below(bound), Some(Value::Int(n))) => n < bound,
            (Is::AtLeast(bound), Some(Value::Int(n))) => n >= bound,
            _ => false,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Change {
    Set(Value),
    Add(i64),
}

/// A conditional change, as UPDATE ... SET ... WHERE ... is: looks and changes in one step.
///
/// ```
/// use moonkeep::sim::{Is, Update};
/// let update = Update::row("stock", "p1").when("fence", Is::Below(42)).set("fence", 42).add("left", -1);
/// assert_eq!(
///     update.to_string(),
///     "UPDATE stock SET fence=42, left=left-1 WHERE id='p1' AND fence<42",
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[must_use = "an update does nothing before Store::update runs it"]
pub struct Update {
    pub(super) table: String,
    pub(super) key: Option<String>,
    pub(super) conditions: Vec<(String, Is)>,
    pub(super) changes: Vec<(String, Change)>,
}

impl Update {
    /// Changes this row of the table.
    pub fn row(table: &str, key: &str) -> Self {
        Update { key: Some(key.to_owned()), ..Update::all(table) }
    }

    /// Changes all rows of the table that meet the conditions.
    pub fn all(table: &str) -> Self {
        Update { table: table.to_owned(), key: None, conditions: Vec::new(), changes: Vec::new() }
    }

    /// Only where this column is so.
    pub fn when(mut self, column: &str, is: Is) -> Self {
        self.conditions.push((column.to_owned(), is));
        self
    }

    /// Gives a column a value.
    pub fn set(mut self, column: &str, value: impl Into<Value>) -> Self {
        self.changes.push((column.to_owned(), Change::Set(value.into())));
        self
    }

    /// Adds to the integer in a column; one that is not there counts as 0. Where a row that is to be changed holds a text
    /// there, nothing is changed ([`StoreError::NotAnInteger`]).
    pub fn add(mut self, column: &str, by: i64) -> Self {
        self.changes.push((column.to_owned(), Change::Add(by)));
        self
    }
}

impl fmt::Display for Update {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let change = |(column, change): &(String, Change)| match change {
            Change::Set(value) => format!("{column}={value}"),
            Change::Add(by) => format!("{column}={column}{by:+}"),
        };
        let condition = |(column, is): &(String, Is)| match is {
            Is::Equal(value) => format!("{column}={value}"),
            Is::Below(bound) => format!("{column}<{bound}"),
            Is::AtLeast(bound) => format!("{column}>={bound}"),
        };
        let changes: Vec<String> = self.changes.iter().map(change).collect();
        let mut conditions: Vec<String> = self.key.iter().map(|key| format!("id='{key}'")).collect();
        conditions.extend(self.conditions.iter().map(condition));
        write!(f, "UPDATE {} SET {}", self.table, changes.join(", "))?;
        if conditions.is_empty() { Ok(()) } else { write!(f, " WHERE {}", conditions.join(" AND ")) }
    }
}

/// One operation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Op {
    Begin,
    Commit,
    Rollback,
    Get { table: String, key: String, locks: bool },
    Select { table: String },
    Insert { table: String, key: String, row: Row },
    Update(Update),
    Delete { table: String, key: String },
}

impl Op {
    /// The table that it looks at or changes.
    pub(super) fn table(&self) -> Option<&str> {
        match self {
            Op::Begin | Op::Commit | Op::Rollback => None,
            Op::Get { table, .. } | Op::Select { table } => Some(table),
            Op::Insert { table, .. } | Op::Update(Update { table, .. }) | Op::Delete { table, .. } => {
                Some(table)
            }
        }
    }

    pub(super) fn is_read(&self) -> bool {
        matches!(self, Op::Get { locks: false, .. } | Op::Select { .. })
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Op::Begin => f.write_str("BEGIN"),
            Op::Commit => f.write_str("COMMIT"),
            Op::Rollback => f.write_str("ROLLBACK"),
            Op::Get { table, key, locks } => {
                let lock = if *locks { " FOR UPDATE" } else { "" };
                write!(f, "SELECT {table} WHERE id='{key}'{lock}")
            }
            Op::Select { table } => write!(f, "SELECT {table}"),
            Op::Insert { table, key, row } if row.0.is_empty() => write!(f, "INSERT {table} id='{key}'"),
            Op::Insert { table, key, row } => write!(f, "INSERT {table} id='{key}' {row}"),
            Op::Update(update) => update.fmt(f),
            Op::Delete { table, key } => write!(f, "DELETE {table} WHERE id='{key}'"),
        }
    }
}

/// What an operation gave.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Told {
    Done,
    /// So many rows were changed.
    Changed(u64),
    Rows(Vec<(String, Row)>),
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Told::Done => f.write_str("ok"),
            Told::Changed(count) => write!(f, "{count}"),
            Told::Rows(rows) if rows.is_empty() => f.write_str("nothing"),
            Told::Rows(rows) => {
                let rows: Vec<String> =
                    rows.iter().map(|(key, row)| format!("{key} {row}").trim_end().to_owned()).collect();
                f.write_str(&rows.join("; "))
            }
        }
    }
}

/// Why an operation of the business database did nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A row with the same value in a unique column, or with the same key (column `id`), is there.
    #[error("duplicate {column} in {table}")]
    Duplicate {
        /// The table.
        table: String,
        /// The column.
        column: String,
    },
    /// [`Update::add`] was asked for where a column holds a text.
    #[error(
        "cannot add to {column} in {table}: it holds a text, and only an integer or nothing can be added to"
    )]
    NotAnInteger {
        /// The table.
        table: String,
        /// The column.
        column: String,
    },
    /// The transaction waited for one that waits for it; it was rolled back.
    #[error("deadlock, rolled back")]
    Deadlock,
    /// BEGIN within a transaction, COMMIT or ROLLBACK without one.
    #[error("{0}")]
    Transaction(&'static str),
    /// The schedule lost the request or its answer: it may have been done or not, but for a transaction that was open, which
    /// is rolled back.
    #[error("the connection was lost")]
    ConnectionLost,
    /// The call could not be made; the text says why.
    #[error("{0}")]
    Call(String),
}

impl StoreError {
    /// A row with the same value is there.
    pub fn is_duplicate(&self) -> bool {
        matches!(self, StoreError::Duplicate { .. })
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::ConnectionLost => Error::connection_lost(),
            other => Error::usage(other.to_string()),
        }
    }
}

/// A client's connection to the business database of its world. What it does outside of a transaction is committed at once.
///
/// Transactions read what is committed and what they did themselves (READ COMMITTED). A row that one has changed, inserted,
/// deleted or read with [`lock`](Self::lock) is locked until its end: who wants to change it has to wait, and goes on from
/// what is committed then; of transactions that wait for each other one is rolled back. A client that crashes or loses its
/// connection is rolled back.
///
/// ```
/// use moonkeep::sim::{At, Explore, Faults, StoreError};
///
/// // A message is delivered again when its worker dies. The unique key makes its effect happen once.
/// let report = Explore::new(|world| {
///     world.setup(["RPUSH", "queue", "O42"]);
///     for name in ["A", "B"] {
///         world.client(name, |client| async move {
///             let store = client.store();
///             let order: Option<String> = client.query(["LINDEX", "queue", "0"]).await?;
///             let Some(order) = order else { return Ok(()) };
///             match store.insert("effects", &order, [("by", "worker")]).await {
///                 Err(StoreError::Duplicate { .. }) => {}
///                 other => other?,
///             }
///             client.call(["LREM", "queue", "1", &order]).await?;
///             Ok::<_, moonkeep::Error>(())
///         });
///     }
/// })
/// .faults(Faults { crashes: 1, ..Faults::default() })
/// .invariant("one effect", At::End, |view| view.rows("effects").len() == 1)
/// .run()?;
/// report.assert_ok();
/// # Ok::<(), moonkeep::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Store {
    pub(super) client: Client,
}

impl Store {
    async fn ask(&self, op: Op) -> Result<Told, StoreError> {
        match self.client.ask(Request::Store(op)).await {
            Ok(Answer::Store(told)) => told,
            Ok(_) => Err(StoreError::Call("another answer than the database gives".into())),
            Err(error) if error.is_connection_lost() => Err(StoreError::ConnectionLost),
            Err(error) => Err(StoreError::Call(error.to_string())),
        }
    }

    /// Adds a row under this key.
    ///
    /// # Errors
    /// [`StoreError::Duplicate`], and as all operations: a deadlock, a lost connection.
    pub async fn insert(&self, table: &str, key: &str, row: impl Into<Row>) -> Result<(), StoreError> {
        let (table, key, row) = (table.to_owned(), key.to_owned(), row.into());
        self.ask(Op::Insert { table, key, row }).await.map(drop)
    }

    /// The row under this key.
    ///
    /// # Errors
    /// As [`insert`](Self::insert), without the first.
    pub async fn get(&self, table: &str, key: &str) -> Result<Option<Row>, StoreError> {
        self.get_one(table, key, false).await
    }

    /// The same, as SELECT ... FOR UPDATE: in a transaction nobody else changes the row until its end.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn lock(&self, table: &str, key: &str) -> Result<Option<Row>, StoreError> {
        self.get_one(table, key, true).await
    }

    async fn get_one(&self, table: &str, key: &str, locks: bool) -> Result<Option<Row>, StoreError> {
        let (table, key) = (table.to_owned(), key.to_owned());
        match self.ask(Op::Get { table, key, locks }).await? {
            Told::Rows(mut rows) => Ok(rows.pop().map(|(_, row)| row)),
            _ => Ok(None),
        }
    }

    /// All rows of a table with their keys, in their order.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn select(&self, table: &str) -> Result<Vec<(String, Row)>, StoreError> {
        match self.ask(Op::Select { table: table.to_owned() }).await? {
            Told::Rows(rows) => Ok(rows),
            _ => Ok(Vec::new()),
        }
    }

    /// Changes the rows that meet the conditions; how many there were.
    ///
    /// # Errors
    /// As [`insert`](Self::insert), and [`StoreError::NotAnInteger`].
    pub async fn update(&self, update: Update) -> Result<u64, StoreError> {
        self.count(Op::Update(update)).await
    }

    /// Deletes the row under this key; 1 when it was there.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn delete(&self, table: &str, key: &str) -> Result<u64, StoreError> {
        self.count(Op::Delete { table: table.to_owned(), key: key.to_owned() }).await
    }

    async fn count(&self, op: Op) -> Result<u64, StoreError> {
        match self.ask(op).await? {
            Told::Changed(count) => Ok(count),
            _ => Ok(0),
        }
    }

    /// Begins a transaction: all that this client does in the database until its end.
    ///
    /// # Errors
    /// [`StoreError::Transaction`] within one; else as [`get`](Self::get).
    pub async fn begin(&self) -> Result<(), StoreError> {
        self.ask(Op::Begin).await.map(drop)
    }

    /// Ends the transaction: others see what it did.
    ///
    /// # Errors
    /// [`StoreError::Transaction`] without one; else as [`get`](Self::get).
    pub async fn commit(&self) -> Result<(), StoreError> {
        self.ask(Op::Commit).await.map(drop)
    }

    /// Ends the transaction as if it had not been.
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    pub async fn rollback(&self) -> Result<(), StoreError> {
        self.ask(Op::Rollback).await.map(drop)
    }
}

/// The business database while a world is set up.
pub struct StoreSetup<'w> {
    /// None when another run's set-up was kept.
    pub(super) tables: Option<&'w mut Tables>,
    pub(super) error: &'w mut Option<Error>,
}

impl StoreSetup<'_> {
    /// No two rows of the table have the same value in this column; its key is unique anyway. Rows that do already end the
    /// exploration with that error.
    pub fn unique(&mut self, table: &str, column: &str) -> &mut Self {
        if let Some(tables) = &mut self.tables
            && let Err(error) = tables.make_unique(table, column)
        {
            self.error.get_or_insert_with(|| error.into());
        }
        self
    }

    /// Adds a row before the clients begin; a duplicate ends the exploration with that error.
    pub fn insert(&mut self, table: &str, key: &str, row: impl Into<Row>) -> &mut Self {
        if let Some(tables) = &mut self.tables {
            let op = Op::Insert { table: table.to_owned(), key: key.to_owned(), row: row.into() };
            if let Err(error) = tables.run(0, &op) {
                self.error.get_or_insert_with(|| error.into());
            }
        }
        self
    }
}
