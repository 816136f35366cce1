//! The set value: distinct members. A set of integers alone is a sorted vector of numbers ("intset") up to a
//! configured size, any other is a table ("hashtable"); a set that became a table stays one.
//! Unions and the like are in `commands::set_algebra`.

use crate::util::bytes::Bytes;
use crate::util::num::parse_i64;
use crate::value::table::{Keyed, Table};

/// The server's default for `set-max-intset-entries`.
pub const MAX_INTSET_ENTRIES: usize = 512;

/// Distinct members.
#[derive(Clone)]
pub struct Set {
    form: Form,
}

#[derive(Clone)]
enum Form {
    /// Ascending.
    Integers(Vec<i64>),
    Table(Table<Bytes>),
}

impl Keyed for Bytes {
    #[inline]
    fn key(&self) -> &[u8] {
        self
    }

    #[inline]
    fn heap_bytes(&self) -> usize {
        Bytes::heap_bytes(self)
    }
}

impl Default for Set {
    fn default() -> Self {
        Set { form: Form::Integers(Vec::new()) }
    }
}

impl Set {
    /// An empty set in the small form.
    pub fn new() -> Self {
        Set::default()
    }

    /// A set of these integers, which ascend; a table when there are more than `max_intset_entries`.
    pub fn of_integers(integers: Vec<i64>, max_intset_entries: usize) -> Self {
        debug_assert!(integers.is_sorted());
        let is_large = integers.len() > max_intset_entries.min(1 << 30);
        let mut set = Set { form: Form::Integers(integers) };
        if is_large {
            set.table();
        }
        set
    }

    /// The members, ascending, while the set is one of integers.
    pub fn integers(&self) -> Option<&[i64]> {
        match &self.form {
            Form::Integers(integers) => Some(integers),
            Form::Table(_) => None,
        }
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        match &self.form {
            Form::Integers(integers) => integers.len(),
            Form::Table(table) => table.len(),
        }
    }

    /// Whether there is no member; such a set is never left in the keyspace.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The form, as OBJECT ENCODING names it.
    pub fn encoding(&self) -> &'static str {
        match &self.form {
            Form::Integers(_) => "intset",
            Form::Table(_) => "hashtable",
        }
    }

    /// Whether the member is there.
    pub fn contains(&self, member: &[u8]) -> bool {
        match &self.form {
            Form::Integers(integers) => {
                parse_i64(member).is_some_and(|integer| integers.binary_search(&integer).is_ok())
            }
            Form::Table(table) => table.find(member).is_ok(),
        }
    }

    /// Adds a member and returns whether it is new. The set becomes a table when the member is not an integer or
    /// the set then holds more than `max_intset_entries`.
    pub fn insert(&mut self, member: &[u8], max_intset_entries: usize) -> bool {
        let Form::Integers(integers) = &mut self.form else { return self.insert_in_table(member) };
        let Some(integer) = parse_i64(member) else { return self.insert_in_table(member) };
        let Err(index) = integers.binary_search(&integer) else { return false };
        if integers.len() == integers.capacity() {
            integers.reserve_exact((integers.len() / 2).max(1));
        }
        integers.insert(index, integer);
        if integers.len() > max_intset_entries.min(1 << 30) {
            self.table();
        }
        true
    }

    fn insert_in_table(&mut self, member: &[u8]) -> bool {
        let table = self.table();
        let found = table.find(member);
        found.map_err(|hash| table.push(hash, Bytes::from(member))).is_err()
    }

    /// The table of this set, which it becomes if it is not one.
    fn table(&mut self) -> &mut Table<Bytes> {
        if let Form::Integers(integers) = &self.form {
            let mut table = Table::with_capacity(integers.len() + 1);
            for integer in integers {
                let member = format_integer(*integer);
                if let Err(hash) = table.find(&member) {
                    table.push(hash, member);
                }
            }
            self.form = Form::Table(table);
        }
        match &mut self.form {
            Form::Table(table) => table,
            Form::Integers(_) => unreachable!("made a table above"),
        }
    }

    /// Removes a member and returns whether it was there.
    pub fn remove(&mut self, member: &[u8]) -> bool {
        match &mut self.form {
            Form::Integers(integers) => {
                let found = parse_i64(member).and_then(|integer| integers.binary_search(&integer).ok());
                found.map(|index| integers.remove(index)).is_some()
            }
            Form::Table(table) => table.remove_key(member).is_some(),
        }
    }

    /// Removes the member with this index, in the order of [`iter`](Self::iter), and returns it.
    pub fn take(&mut self, index: usize) -> Option<Bytes> {
        match &mut self.form {
            Form::Integers(integers) if index < integers.len() => {
                Some(format_integer(integers.remove(index)))
            }
            Form::Integers(_) => None,
            Form::Table(table) => table.remove(index as u32),
        }
    }

    /// Takes the small form again if the members allow it, as the server does with what SPOP leaves of a large set.
    pub fn compact(&mut self, max_intset_entries: usize) {
        let Form::Table(table) = &self.form else { return };
        if table.len() > max_intset_entries.min(1 << 30) {
            return;
        }
        let integers: Option<Vec<i64>> = table.items().iter().map(|member| parse_i64(member)).collect();
        if let Some(mut integers) = integers {
            integers.sort_unstable();
            self.form = Form::Integers(integers);
        }
    }

    /// The members; in ascending order while the set is one of integers.
    pub fn iter(&self) -> Iter<'_> {
        match &self.form {
            Form::Integers(integers) => Iter(IterForm::Integers(integers.iter())),
            Form::Table(table) => Iter(IterForm::Table(table.items().iter())),
        }
    }

    /// The member with this index, in the order of [`iter`](Self::iter).
    pub fn nth(&self, index: usize) -> Option<Bytes> {
        match &self.form {
            Form::Integers(integers) => integers.get(index).copied().map(format_integer),
            Form::Table(table) => table.items().get(index).cloned(),
        }
    }

    /// The number in cursors of this value, see [`Table::walk`]; None in a form that is walked at once.
    pub fn walk(&self) -> Option<u32> {
        match &self.form {
            Form::Integers(_) => None,
            Form::Table(table) => Some(table.walk()),
        }
    }

    /// Sets the number in cursors of this value.
    pub fn set_walk(&mut self, number: u32) {
        if let Form::Table(table) = &mut self.form {
            table.set_walk(number);
        }
    }

    /// Passes about `count` members (all, while the set is one of integers) to `each`; returns the next cursor, 0 at
    /// the end. A member that is there throughout the walk is passed at least once, and twice only when walks over the value meet.
    pub fn scan(&mut self, cursor: u64, count: usize, mut each: impl FnMut(&[u8])) -> u64 {
        match &mut self.form {
            Form::Integers(_) => {
                self.iter().for_each(|member| each(&member));
                0
            }
            Form::Table(table) => table.scan(cursor, count, |member| each(member)),
        }
    }

    /// About how many bytes this set takes up, itself included.
    pub fn memory_bytes(&self) -> usize {
        let heap = match &self.form {
            Form::Integers(integers) => integers.len() * size_of::<i64>(),
            Form::Table(table) => table.memory_bytes(),
        };
        size_of::<Self>() + heap
    }
}

/// The members of a [`Set`].
pub struct Iter<'a>(IterForm<'a>);

enum IterForm<'a> {
    Integers(std::slice::Iter<'a, i64>),
    Table(std::slice::Iter<'a, Bytes>),
}

impl Iterator for Iter<'_> {
    type Item = Bytes;

    #[inline]
    fn next(&mut self) -> Option<Bytes> {
        match &mut self.0 {
            IterForm::Integers(iter) => iter.next().copied().map(format_integer),
            IterForm::Table(iter) => iter.next().cloned(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            IterForm::Integers(iter) => iter.size_hint(),
            IterForm::Table(iter) => iter.size_hint(),
        }
    }
}

impl ExactSizeIterator for Iter<'_> {}

/// Equal when they have the same members, in whatever order and form.
impl PartialEq for Set {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|member| other.contains(&member))
    }
}

impl std::fmt::Debug for Set {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

fn format_integer(integer: i64) -> Bytes {
    Bytes::from(itoa::Buffer::new().format(integer))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn members(set: &Set) -> Vec<String> {
        set.iter().map(|member| String::from_utf8_lossy(&member).into_owned()).collect()
    }

    #[test]
    fn integers_are_sorted_until_there_are_too_many() {
        let mut set = Set::new();
        for member in ["10", "-3", "9223372036854775807", "-9223372036854775808"] {
            assert!(set.insert(member.as_bytes(), 4));
            assert!(!set.insert(member.as_bytes(), 4));
        }
        assert_eq!(members(&set), ["-9223372036854775808", "-3", "10", "9223372036854775807"]);
        assert_eq!(set.encoding(), "intset");
        assert!(set.insert(b"0", 4));
        assert!(set.remove(b"0"));
        assert_eq!((set.encoding(), set.len()), ("hashtable", 4));
    }

    #[test]
    fn few_integers_that_are_left_become_small_again() {
        let mut set = Set::new();
        for member in ["b", "3", "a", "-1"] {
            set.insert(member.as_bytes(), 2);
        }
        set.compact(2);
        assert_eq!(set.encoding(), "hashtable");
        assert!(set.remove(b"a") && set.remove(b"b"));
        set.compact(1);
        assert_eq!(set.encoding(), "hashtable");
        set.compact(2);
        assert_eq!((set.encoding(), members(&set)), ("intset", vec!["-1".to_owned(), "3".to_owned()]));
        assert_eq!((set.take(1).as_deref(), set.take(1)), (Some(&b"3"[..]), None));
    }

    #[test]
    fn what_only_looks_like_an_integer_makes_a_table() {
        for member in ["01", "+1", "-0", "", "1.0", " 1", "9223372036854775808", "a"] {
            let mut set = Set::new();
            assert!(set.insert(member.as_bytes(), 512));
            assert_eq!((set.encoding(), members(&set)), ("hashtable", vec![member.to_owned()]));
            assert!(set.contains(member.as_bytes()));
        }
        let mut set = Set::new();
        set.insert(b"1", 512);
        assert!(!set.contains(b"01") && !set.remove(b"+1"));
    }

    #[test]
    fn a_large_set_takes_up_less_than_the_server_needs() {
        let mut set = Set::new();
        for number in 0..100_000 {
            set.insert(format!("member:{number}").as_bytes(), 512);
        }
        let Form::Table(table) = &set.form else { panic!("{}", set.encoding()) };
        assert!(table.heap_bytes() / 100_000 < 56, "{}", table.heap_bytes());
        assert_eq!(set.memory_bytes(), size_of::<Set>() + 100_000 * 34);
    }

    proptest! {
        #[test]
        fn it_behaves_like_a_set(
            max in 0..20_usize,
            steps in prop::collection::vec((any::<bool>(), "[0-2]{1,2}|a?"), 1..150),
        ) {
            let (mut set, mut model) = (Set::new(), BTreeSet::new());
            for (insert, member) in steps {
                let key = member.as_bytes();
                if insert {
                    prop_assert_eq!(set.insert(key, max), model.insert(member.clone()));
                } else {
                    prop_assert_eq!(set.remove(key), model.remove(&member));
                }
                prop_assert_eq!(set.contains(key), model.contains(&member));
                prop_assert_eq!(members(&set).into_iter().collect::<BTreeSet<_>>(), model.clone());
                prop_assert_eq!(set.len(), model.len());
                let (mut scanned, mut cursor) = (BTreeSet::new(), 0);
                loop {
                    cursor = set.scan(cursor, 2, |m| { scanned.insert(String::from_utf8_lossy(m).into_owned()); });
                    if cursor == 0 { break; }
                }
                prop_assert_eq!(&scanned, &model);
                let picked: BTreeSet<_> = (0..set.len()).filter_map(|index| set.nth(index)).collect();
                prop_assert_eq!(picked.len(), model.len());
                let (mut compact, mut emptied) = (set.clone(), set.clone());
                compact.compact(max);
                prop_assert_eq!(&compact, &set);
                let taken = (0..set.len()).rev().filter_map(|index| emptied.take(index / 2)).count();
                prop_assert_eq!((taken, emptied.len()), (set.len(), 0));
            }
        }
    }
}
