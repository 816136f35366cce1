//! What copies share and what expiry costs, counted in pages and steps rather than in time.

use super::*;
use crate::value::Str;

const KEYS: u32 = 100_000;

fn name(n: u32) -> Vec<u8> {
    format!("a key that does not fit in place: {n}").into_bytes()
}

fn set(store: &mut Store, n: u32, expiry: Expiry) {
    let value = Value::String(Str::new(&[b'x'; 100]));
    store.put(0, &name(n), value, expiry, Event::string("set"));
}

fn full() -> Store {
    let mut store = Store::new(2, 0, 0);
    (0..KEYS).for_each(|n| set(&mut store, n, Expiry::Clear));
    store.finish_unit();
    store
}

/// How many entries of `one` lie in pages that `other` does not share.
fn unshared(one: &Store, other: &Store) -> usize {
    one.dbs[0].unshared(Some(&other.dbs[0])).count()
}

#[test]
fn a_copy_shares_all_until_one_side_writes_and_then_all_but_a_page() {
    let origin = full();
    let mut copy = origin.detached();
    assert_eq!(unshared(&origin, &copy), 0);
    set(&mut copy, 7, Expiry::Clear);
    assert_eq!(unshared(&origin, &copy), 64);
    copy.remove(0, &name(70_000), Event::generic("del"));
    assert_eq!((unshared(&origin, &copy), unshared(&copy, &origin)), (128, 127));
    assert_eq!(origin.diff(&copy).len(), 1);
    assert_eq!(origin.len(0), KEYS as usize);
    // The values in a page that was copied are shared themselves.
    let value = |store: &Store| match store.dbs[0].find_live(&name(8), 0).map(Entry::value) {
        Some(Value::String(Str::Fixed(bytes))) => bytes.clone(),
        other => panic!("{other:?}"),
    };
    assert!(std::sync::Arc::ptr_eq(&value(&origin), &value(&copy)));
}

#[test]
fn reading_twice_in_a_second_copies_nothing() {
    let mut origin = full();
    origin.begin_unit(1_000_000);
    assert!(origin.read(0, &name(1)).is_some());
    let mut copy = origin.detached();
    assert!(copy.read(0, &name(1)).is_some());
    assert_eq!(unshared(&origin, &copy), 0);
    copy.begin_unit(2_000_000);
    assert!(copy.read(0, &name(1)).is_some());
    assert_eq!(unshared(&origin, &copy), 64);
}

#[test]
fn a_digest_looks_again_at_what_changed_only() {
    let mut store = full();
    let before = store.digest();
    let unknown = |store: &Store| store.dbs[0].pages().filter(|page| !page.has_digest()).count();
    assert_eq!(unknown(&store), 0);
    store.begin_unit(1_000_000);
    assert!(store.read(0, &name(1)).is_some());
    assert_eq!(unknown(&store), 0);
    set(&mut store, 5, Expiry::At(9_999));
    assert_eq!(unknown(&store), 1);
    assert_ne!(store.digest(), before);
    set(&mut store, 5, Expiry::Clear);
    assert_eq!(store.digest(), before);
    // A copy knows what its origin knows, and what either finds out in a shared page both know.
    set(&mut store, 6, Expiry::At(9_999));
    let copy = store.detached();
    assert_eq!(unknown(&copy), 1);
    assert_eq!(store.digest(), copy.digest());
    assert_eq!(unknown(&copy), 0);
}

#[test]
fn expiring_costs_what_expires_not_what_exists() {
    const MANY: u32 = 1_000_000;
    let mut store = Store::new(1, 0, 0);
    for n in 0..MANY {
        let key = n.to_le_bytes();
        let value = Value::String(Str::Int(1));
        store.put(0, &key, value, Expiry::At(1_000 + i64::from(n)), Event::string("set"));
    }
    for (now_ms, due) in
        [(1_000, 0), (1_001, 1), (2_000, 999), (2_001, 1), (102_000, 99_999), (i64::MAX / 1000, 899_000)]
    {
        let before = store.dbs[0].deadlines.entries();
        store.begin_unit(now_ms * 1000);
        assert_eq!(store.expire_due(usize::MAX), due, "at {now_ms}");
        assert_eq!(before - store.dbs[0].deadlines.entries(), due, "steps at {now_ms}");
        store.finish_unit();
    }
    assert_eq!((store.len(0), store.stats.expired), (0, u64::from(MANY)));
}

#[test]
fn a_deadline_set_again_and_again_costs_no_more_than_twice() {
    let mut store = Store::new(1, 0, 0);
    for round in 0..100 {
        for n in 0..1_000 {
            set(&mut store, n, Expiry::At(1_000 + round));
        }
    }
    assert!(store.dbs[0].deadlines.entries() <= 2_064);
    store.begin_unit(2_000_000);
    assert_eq!(store.expire_due(usize::MAX), 1_000);
}

#[test]
fn a_keyspace_without_keys_gives_its_pages_back() {
    let mut store = full();
    for n in 0..KEYS {
        assert!(store.remove(0, &name(n), Event::generic("del")));
    }
    assert_eq!(store.dbs[0].pages().count(), KEYS.div_ceil(64) as usize);
    store.finish_unit();
    assert_eq!(store.dbs[0].pages().count(), 0);
    set(&mut store, 1, Expiry::Clear);
    assert_eq!((store.len(0), store.dbs[0].pages().count()), (1, 1));
}
