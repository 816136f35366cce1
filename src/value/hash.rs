//! The hash value: fields and their values. Small hashes are packed in insertion order ("listpack"), large ones are
//! a table ("hashtable"); a hash that became large stays so. Commands are in `commands::hashes`.

use crate::util::bytes::Bytes;
use crate::value::packed::{Limits, PACKED_MAX_BYTES, Packed, Position};
use crate::value::table::{Keyed, Table};

/// Fields and their values.
#[derive(Clone, Debug, Default)]
pub struct Hash {
    form: Form,
}

#[derive(Clone)]
enum Form {
    /// Field, value, field, value, in the order of insertion.
    Packed(Packed),
    Table(Box<Table<Field>>),
}

#[derive(Clone)]
struct Field {
    name: Bytes,
    value: Bytes,
}

impl Keyed for Field {
    #[inline]
    fn key(&self) -> &[u8] {
        &self.name
    }

    #[inline]
    fn heap_bytes(&self) -> usize {
        self.name.heap_bytes() + self.value.heap_bytes()
    }
}

impl Default for Form {
    fn default() -> Self {
        Form::Packed(Packed::new())
    }
}

impl Hash {
    /// An empty hash in the small form.
    pub fn new() -> Self {
        Hash::default()
    }

    /// How many fields there are.
    pub fn len(&self) -> usize {
        match &self.form {
            Form::Packed(packed) => packed.len() / 2,
            Form::Table(table) => table.len(),
        }
    }

    /// Whether there is no field; such a hash is never left in the keyspace.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it has the small form.
    pub fn is_packed(&self) -> bool {
        matches!(self.form, Form::Packed(_))
    }

    /// The form, as OBJECT ENCODING names it.
    pub fn encoding(&self) -> &'static str {
        match &self.form {
            Form::Packed(_) => "listpack",
            Form::Table(_) => "hashtable",
        }
    }

    /// The value of a field.
    pub fn get(&self, field: &[u8]) -> Option<&[u8]> {
        match &self.form {
            Form::Packed(packed) => find_packed(packed, field).map(|at| packed.get(packed.next(at))),
            Form::Table(table) => table.get(field).map(|item| item.value.as_slice()),
        }
    }

    /// Whether the field is there.
    pub fn contains(&self, field: &[u8]) -> bool {
        self.get(field).is_some()
    }

    /// Sets a field and returns whether it is new. The hash becomes large when the limits ask for it.
    pub fn insert(&mut self, field: &[u8], value: &[u8], limits: &Limits) -> bool {
        self.prepare(field.len().max(value.len()), limits);
        let new = match &mut self.form {
            Form::Packed(packed) => insert_packed(packed, field, value),
            Form::Table(table) => insert_table(table, field, value),
        };
        if self.len() > limits.max_entries {
            self.convert();
        }
        new
    }

    /// Makes the hash large if a string of `len` bytes would: commands do so for all their arguments beforehand,
    /// even when in the end they set nothing (HSETNX).
    pub fn prepare(&mut self, len: usize, limits: &Limits) {
        if let Form::Packed(packed) = &self.form
            && (len > limits.max_value || packed.byte_len() + len > PACKED_MAX_BYTES)
        {
            self.convert();
        }
    }

    /// Removes a field and returns whether it was there.
    pub fn remove(&mut self, field: &[u8]) -> bool {
        match &mut self.form {
            Form::Packed(packed) => {
                let Some(at) = find_packed(packed, field) else { return false };
                packed.remove_run(at, 2);
                true
            }
            Form::Table(table) => table.remove_key(field).is_some(),
        }
    }

    /// Fields and values; the order is that of insertion while the hash is small.
    pub fn iter(&self) -> Iter<'_> {
        match &self.form {
            Form::Packed(packed) => Iter(IterForm::Packed(packed.iter())),
            Form::Table(table) => Iter(IterForm::Table(table.items().iter())),
        }
    }

    /// The field with this index, in the order of [`iter`](Self::iter).
    pub fn nth(&self, index: usize) -> Option<(&[u8], &[u8])> {
        match &self.form {
            Form::Packed(packed) if index < self.len() => {
                let at = packed.seek(index * 2);
                Some((packed.get(at), packed.get(packed.next(at))))
            }
            Form::Packed(_) => None,
            Form::Table(table) => table.items().get(index).map(Field::pair),
        }
    }

    /// The number in cursors of this value, see [`Table::walk`]; None in a form that is walked at once.
    pub fn walk(&self) -> Option<u32> {
        match &self.form {
            Form::Packed(_) => None,
            Form::Table(table) => Some(table.walk()),
        }
    }

    /// Sets the number in cursors of this value.
    pub fn set_walk(&mut self, number: u32) {
        if let Form::Table(table) = &mut self.form {
            table.set_walk(number);
        }
    }

    /// Passes about `count` fields (all, while the hash is small) to `each`; returns the next cursor, 0 at the end.
    /// A field that is there throughout the walk is passed at least once, and twice only when walks over the value meet.
    pub fn scan(&mut self, cursor: u64, count: usize, mut each: impl FnMut(&[u8], &[u8])) -> u64 {
        match &mut self.form {
            Form::Packed(_) => {
                self.iter().for_each(|(field, value)| each(field, value));
                0
            }
            Form::Table(table) => table.scan(cursor, count, |item| each(&item.name, &item.value)),
        }
    }

    /// About how many bytes this hash takes up, itself included.
    pub fn memory_bytes(&self) -> usize {
        let heap = match &self.form {
            Form::Packed(packed) => packed.byte_len(),
            Form::Table(table) => table.memory_bytes(),
        };
        size_of::<Self>() + heap
    }

    fn convert(&mut self) {
        let Form::Packed(_) = &self.form else { return };
        let mut table = Table::with_capacity(self.len() + 1);
        for (field, value) in self.iter() {
            insert_table(&mut table, field, value);
        }
        self.form = Form::Table(Box::new(table));
    }
}

impl Field {
    fn pair(&self) -> (&[u8], &[u8]) {
        (&self.name, &self.value)
    }
}

/// Where a field begins.
#[inline]
fn find_packed(packed: &Packed, field: &[u8]) -> Option<Position> {
    packed.find(2, |name| name == field).map(|(_, at)| at)
}

fn insert_packed(packed: &mut Packed, field: &[u8], value: &[u8]) -> bool {
    if let Some(at) = find_packed(packed, field) {
        packed.replace(packed.next(at), value);
        return false;
    }
    packed.push_back(field);
    packed.push_back(value);
    true
}

fn insert_table(table: &mut Table<Field>, field: &[u8], value: &[u8]) -> bool {
    match table.find(field) {
        Ok(place) => {
            table.update(place, |item| item.value = Bytes::from(value));
            false
        }
        Err(hash) => {
            table.push(hash, Field { name: Bytes::from(field), value: Bytes::from(value) });
            true
        }
    }
}

/// Fields and values of a [`Hash`](struct@Hash).
pub struct Iter<'a>(IterForm<'a>);

enum IterForm<'a> {
    Packed(crate::value::packed::Iter<'a>),
    Table(std::slice::Iter<'a, Field>),
}

impl<'a> Iterator for Iter<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            IterForm::Packed(iter) => Some((iter.next()?, iter.next()?)),
            IterForm::Table(iter) => iter.next().map(Field::pair),
        }
    }
}

/// Equal when they have the same fields with the same values, in whatever order and form.
impl PartialEq for Hash {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(field, value)| other.get(field) == Some(value))
    }
}

impl std::fmt::Debug for Form {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Form::Packed(packed) => packed.fmt(f),
            Form::Table(table) => {
                let pairs = table.items().iter().map(|item| (&item.name, &item.value));
                f.debug_map().entries(pairs).finish()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn small() -> Limits {
        Limits { max_entries: 4, max_value: 8 }
    }

    #[test]
    fn it_becomes_large_as_the_server_decides() {
        let mut hash = Hash::new();
        for number in 0..4_u8 {
            assert!(hash.insert(&[number], b"value", &small()));
        }
        assert_eq!(hash.encoding(), "listpack");
        assert!(hash.insert(b"5", b"v", &small()));
        assert_eq!(hash.encoding(), "hashtable");
        assert!(hash.remove(b"5"));
        assert_eq!((hash.encoding(), hash.len()), ("hashtable", 4));

        let mut hash = Hash::new();
        hash.insert(b"12345678", b"12345678", &small());
        assert_eq!(hash.encoding(), "listpack");
        hash.insert(b"12345678", b"123456789", &small());
        assert_eq!((hash.encoding(), hash.len()), ("hashtable", 1));
    }

    #[test]
    fn the_small_form_keeps_the_order() {
        let mut hash = Hash::new();
        for field in ["c", "a", "b"] {
            hash.insert(field.as_bytes(), b"1", &small());
        }
        assert!(!hash.insert(b"a", b"another", &small()));
        assert!(hash.remove(b"c"));
        let fields: Vec<_> = hash.iter().collect();
        assert_eq!(fields, [(b"a".as_slice(), b"another".as_slice()), (b"b", b"1")]);
        assert_eq!(hash.nth(1), Some((b"b".as_slice(), b"1".as_slice())));
        assert_eq!(hash.nth(2), None);
    }

    #[test]
    fn ten_short_fields_take_up_about_their_bytes() {
        let mut hash = Hash::new();
        for number in 0..10 {
            hash.insert(format!("field:{number}").as_bytes(), b"0123456789abcdef", &Limits::HASH);
        }
        let Form::Packed(packed) = &hash.form else { panic!("{}", hash.encoding()) };
        assert_eq!((packed.byte_len(), hash.memory_bytes()), (270, 270 + size_of::<Hash>()));
        assert!(packed.heap_bytes() <= 270 * 5 / 4);
    }

    #[test]
    fn equality_ignores_form_and_order() {
        let (mut one, mut other) = (Hash::new(), Hash::new());
        one.insert(b"a", b"1", &small());
        one.insert(b"b", b"2", &small());
        other.insert(b"b", b"2", &Limits { max_entries: 0, max_value: 0 });
        other.insert(b"a", b"1", &small());
        assert_eq!(one, other);
        other.insert(b"a", b"2", &small());
        assert_ne!(one, other);
    }

    proptest! {
        #[test]
        fn it_behaves_like_a_map(
            max_entries in 0..20_usize,
            steps in prop::collection::vec((0..4_u8, 0..24_u8, 0..80_usize), 1..120),
        ) {
            let limits = Limits { max_entries, max_value: 64 };
            let (mut hash, mut model) = (Hash::new(), BTreeMap::<Vec<u8>, Vec<u8>>::new());
            for (step, field, len) in steps {
                let (field, value) = (vec![b'f', field], vec![step; len]);
                if step == 0 {
                    prop_assert_eq!(hash.remove(&field), model.remove(&field).is_some());
                } else {
                    prop_assert_eq!(hash.insert(&field, &value, &limits), model.insert(field, value).is_none());
                }
                prop_assert_eq!(hash.len(), model.len());
                let sorted: BTreeMap<_, _> = hash.iter().map(|(f, v)| (f.to_vec(), v.to_vec())).collect();
                prop_assert_eq!(&sorted, &model);
                let mut scanned = BTreeMap::new();
                let mut cursor = 0;
                loop {
                    cursor = hash.scan(cursor, 3, |f, v| { scanned.insert(f.to_vec(), v.to_vec()); });
                    if cursor == 0 { break; }
                }
                prop_assert_eq!(&scanned, &model);
                for index in 0..hash.len() {
                    let (field, value) = hash.nth(index).unwrap();
                    prop_assert_eq!(model.get(field).map(Vec::as_slice), Some(value));
                }
                prop_assert_eq!(&hash.clone(), &hash);
            }
        }
    }
}
