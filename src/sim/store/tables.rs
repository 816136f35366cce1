//! The rows of the business database, and what open transactions have done to them: a plain value that a schedule begins
//! with a copy of.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Change, Op, Row, StoreError, Told, Update, Value};

/// Where a row is: its table and its key.
type Place = (String, String);

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Table {
    unique: BTreeSet<String>,
    rows: BTreeMap<String, Row>,
}

/// What a transaction has done so far, and keeps from others.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Transaction {
    locks: BTreeSet<Place>,
    /// None where a row was deleted.
    changes: BTreeMap<Place, Option<Row>>,
}

/// All of the database. Clients are told by their place in the world.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(in crate::sim) struct Tables {
    committed: Arc<BTreeMap<String, Table>>,
    open: BTreeMap<usize, Transaction>,
}

impl Tables {
    /// # Errors
    /// Two rows have the same value in this column; then nothing was changed.
    pub(in crate::sim) fn make_unique(&mut self, table: &str, column: &str) -> Result<(), StoreError> {
        let mut values = BTreeSet::new();
        if self.rows(table).filter_map(|(_, row)| row.0.get(column)).any(|value| !values.insert(value)) {
            return Err(StoreError::Duplicate { table: table.to_owned(), column: column.to_owned() });
        }
        let tables = Arc::make_mut(&mut self.committed);
        tables.entry(table.to_owned()).or_default().unique.insert(column.to_owned());
        Ok(())
    }

    /// The committed rows of a table.
    pub(in crate::sim) fn rows(&self, table: &str) -> impl Iterator<Item = (&String, &Row)> {
        self.committed.get(table).into_iter().flat_map(|table| table.rows.iter())
    }

    /// A row as the client sees it.
    fn seen(&self, client: usize, place: &Place) -> Option<&Row> {
        let own = self.open.get(&client).and_then(|own| own.changes.get(place));
        match own {
            Some(row) => row.as_ref(),
            None => self.committed.get(&place.0)?.rows.get(&place.1),
        }
    }

    /// All rows of a table as the client sees them.
    fn seen_rows(&self, client: usize, table: &str) -> BTreeMap<String, Row> {
        let mut rows: BTreeMap<String, Row> =
            self.rows(table).map(|(key, row)| (key.clone(), row.clone())).collect();
        let own = self.open.get(&client).into_iter().flat_map(|own| own.changes.iter());
        for ((_, key), row) in own.filter(|((other, _), _)| other == table) {
            match row {
                Some(row) => rows.insert(key.clone(), row.clone()),
                None => rows.remove(key),
            };
        }
        rows
    }

    /// The column that an update would add to in a row where it holds a text.
    fn not_an_integer(&self, client: usize, op: &Op) -> Option<StoreError> {
        let Op::Update(update) = op else { return None };
        let rows = self.met(client, update);
        let adds = update.changes.iter().filter(|(_, change)| matches!(change, Change::Add(_)));
        let is_text = |column: &String| rows.iter().any(|(_, row)| row.text(column).is_some());
        let (column, _) = adds.into_iter().find(|(column, _)| is_text(column))?;
        Some(StoreError::NotAnInteger { table: update.table.clone(), column: column.clone() })
    }

    /// What an operation would change, as it is before and would be after.
    fn changes_of(&self, client: usize, op: &Op) -> Vec<(Place, Option<Row>)> {
        match op {
            Op::Insert { table, key, row } => vec![((table.clone(), key.clone()), Some(row.clone()))],
            Op::Delete { table, key } => {
                let place = (table.clone(), key.clone());
                self.seen(client, &place).is_some().then_some((place, None)).into_iter().collect()
            }
            Op::Update(update) => self.updated(client, update),
            Op::Begin | Op::Commit | Op::Rollback | Op::Get { .. } | Op::Select { .. } => Vec::new(),
        }
    }

    /// The rows that meet the conditions of an update.
    fn met(&self, client: usize, update: &Update) -> Vec<(String, Row)> {
        let mut rows: Vec<(String, Row)> = match &update.key {
            Some(key) => {
                let row = self.seen(client, &(update.table.clone(), key.clone()));
                row.map(|row| (key.clone(), row.clone())).into_iter().collect()
            }
            None => self.seen_rows(client, &update.table).into_iter().collect(),
        };
        rows.retain(|(_, row)| update.conditions.iter().all(|(column, is)| is.holds(row.0.get(column))));
        rows
    }

    fn updated(&self, client: usize, update: &Update) -> Vec<(Place, Option<Row>)> {
        let change = |(key, mut row): (String, Row)| {
            for (column, change) in &update.changes {
                let value = match change {
                    Change::Set(value) => value.clone(),
                    Change::Add(by) => Value::Int(row.int(column).unwrap_or(0).saturating_add(*by)),
                };
                row.0.insert(column.clone(), value);
            }
            ((update.table.clone(), key), Some(row))
        };
        self.met(client, update).into_iter().map(change).collect()
    }

    /// The other client whose transaction has to end before this operation can run.
    pub(in crate::sim) fn blocker(&self, client: usize, op: &Op) -> Option<usize> {
        if self.open.keys().all(|&other| other == client) {
            return None;
        }
        if let Op::Get { table, key, locks: true } = op {
            return self.holder(client, &(table.clone(), key.clone()));
        }
        // Where the row that is there now does not meet the conditions, that of an open transaction may: that row counts.
        let awaited = self.awaited(client, op);
        let changes = self.changes_of(client, op);
        let places = changes.iter().map(|(place, _)| place).chain(&awaited);
        let holder = places.into_iter().find_map(|place| self.holder(client, place));
        holder.or_else(|| changes.iter().find_map(|(place, row)| self.rival(client, place, row.as_ref()?)))
    }

    /// The row that an operation names by its key, whether it is there or not.
    fn awaited(&self, client: usize, op: &Op) -> Option<Place> {
        let (table, key) = match op {
            Op::Update(Update { table, key: Some(key), .. }) | Op::Delete { table, key } => (table, key),
            _ => return None,
        };
        let place = (table.clone(), key.clone());
        self.holder(client, &place).map(|_| place)
    }

    fn others(&self, client: usize) -> impl Iterator<Item = (usize, &Transaction)> {
        self.open.iter().map(|(&other, open)| (other, open)).filter(move |&(other, _)| other != client)
    }

    /// Who has locked a row.
    fn holder(&self, client: usize, place: &Place) -> Option<usize> {
        self.others(client).find(|(_, open)| open.locks.contains(place)).map(|(other, _)| other)
    }

    /// Whose open change decides whether a row is unique: it has the same value, or takes it away.
    fn rival(&self, client: usize, place: &Place, row: &Row) -> Option<usize> {
        let columns = &self.committed.get(&place.0)?.unique;
        let same = |other: &Row| {
            columns
                .iter()
                .any(|column| row.0.contains_key(column) && other.0.get(column) == row.0.get(column))
        };
        let rivals = |(other, open): (usize, &Transaction)| {
            let of_table = |(at, changed): (&Place, &Option<Row>)| {
                let committed = self.committed.get(&at.0).and_then(|table| table.rows.get(&at.1));
                at.0 == place.0 && at != place && changed.iter().chain(committed).any(same)
            };
            open.changes.iter().any(of_table).then_some(other)
        };
        self.others(client).find_map(rivals)
    }

    /// Which unique column a row would break.
    fn duplicate(&self, client: usize, place: &Place, row: &Row) -> Option<String> {
        let table = self.committed.get(&place.0)?;
        let seen = self.seen_rows(client, &place.0);
        table
            .unique
            .iter()
            .find(|column| {
                let value = row.0.get(*column);
                value.is_some()
                    && seen.iter().any(|(key, other)| *key != place.1 && other.0.get(*column) == value)
            })
            .cloned()
    }

    /// Runs an operation of a client that nobody blocks.
    ///
    /// # Errors
    /// See [`StoreError`]; then nothing was changed.
    pub(in crate::sim) fn run(&mut self, client: usize, op: &Op) -> Result<Told, StoreError> {
        let is_open = self.open.contains_key(&client);
        match op {
            Op::Begin if is_open => return Err(StoreError::Transaction("a transaction is open already")),
            Op::Begin => {
                self.open.insert(client, Transaction::default());
                return Ok(Told::Done);
            }
            Op::Commit | Op::Rollback if !is_open => {
                return Err(StoreError::Transaction("no transaction is open"));
            }
            Op::Commit => self.commit(client),
            Op::Rollback => self.roll_back(client),
            Op::Get { table, key, locks } => {
                let place = (table.clone(), key.clone());
                let row = self.seen(client, &place).map(|row| (key.clone(), row.clone()));
                if let (true, Some(open)) = (*locks, self.open.get_mut(&client)) {
                    open.locks.insert(place);
                }
                return Ok(Told::Rows(row.into_iter().collect()));
            }
            Op::Select { table } => {
                return Ok(Told::Rows(self.seen_rows(client, table).into_iter().collect()));
            }
            Op::Insert { .. } | Op::Update(_) | Op::Delete { .. } => return self.change(client, op, is_open),
        }
        Ok(Told::Done)
    }

    fn change(&mut self, client: usize, op: &Op, is_open: bool) -> Result<Told, StoreError> {
        if let Some(error) = self.not_an_integer(client, op) {
            return Err(error);
        }
        let is_insert = matches!(op, Op::Insert { .. });
        let before = self.open.get(&client).cloned();
        let changes = self.changes_of(client, op);
        let count = changes.len() as u64;
        for (place, row) in changes {
            let is_there = is_insert && self.seen(client, &place).is_some();
            let broken = if is_there {
                Some("id".to_owned())
            } else {
                row.as_ref().and_then(|row| self.duplicate(client, &place, row))
            };
            if let Some(column) = broken {
                match before {
                    Some(before) => self.open.insert(client, before),
                    None => self.open.remove(&client),
                };
                return Err(StoreError::Duplicate { table: place.0, column });
            }
            let open = self.open.entry(client).or_default();
            open.locks.insert(place.clone());
            open.changes.insert(place, row);
        }
        if !is_open {
            self.commit(client);
        }
        Ok(if is_insert { Told::Done } else { Told::Changed(count) })
    }

    fn commit(&mut self, client: usize) {
        let Some(open) = self.open.remove(&client) else { return };
        if open.changes.is_empty() {
            return;
        }
        let tables = Arc::make_mut(&mut self.committed);
        for ((table, key), row) in open.changes {
            let rows = &mut tables.entry(table).or_default().rows;
            match row {
                Some(row) => rows.insert(key, row),
                None => rows.remove(&key),
            };
        }
    }

    /// Ends a client's transaction, if one is open, as if it had not been.
    pub(in crate::sim) fn roll_back(&mut self, client: usize) {
        self.open.remove(&client);
    }

    /// The tables in which a client has locked or changed rows.
    pub(in crate::sim) fn touched(&self, client: usize) -> BTreeSet<&str> {
        self.open
            .get(&client)
            .into_iter()
            .flat_map(|open| open.locks.iter())
            .map(|(table, _)| table.as_str())
            .collect()
    }
}
