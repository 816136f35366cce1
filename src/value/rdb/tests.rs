//! Values that are written and read again; what real servers wrote is in `tests/payloads.rs`.

use super::*;
use crate::value::Str;
use proptest::prelude::*;
use std::sync::Arc;

fn back(value: &Value) -> Value {
    let dump = dump(value, &Thresholds::DEFAULT);
    restore(&dump, &Thresholds::DEFAULT).expect("its own footer").expect("its own value")
}

fn list(items: &[&[u8]]) -> Value {
    let mut list = crate::value::list::List::new();
    items.iter().for_each(|item| list.push_back(item));
    Value::List(Arc::new(list))
}

#[test]
fn dumps_are_those_of_the_server() {
    let dump = |value: &Value| super::dump(value, &Thresholds::DEFAULT);
    assert_eq!(dump(&Value::String(Str::new(b"10"))), b"\x00\xc0\x0a\x0a\x00n\x9fWE\x0e\xaec\xbb");
    assert!(
        dump(&list(&[b"a", b"1"]))
            .starts_with(b"\x12\x01\x02\x0c\x0c\0\0\0\x02\0\x81a\x02\x01\x01\xff\x0a\0")
    );
}

#[test]
fn long_lists_have_nodes_as_the_server_divides_them() {
    let items: Vec<Vec<u8>> = (0..2000_u32).map(|number| format!("item {number}").into_bytes()).collect();
    let value = list(&items.iter().map(Vec::as_slice).collect::<Vec<_>>());
    assert_eq!(back(&value), value);
    let nodes = |size| {
        let dump = super::dump(&value, &Thresholds { list: size, ..Thresholds::DEFAULT });
        let mut reader = Reader::new(&dump[1..]);
        reader.length()
    };
    assert_eq!([-1, -2, -9, 100, 0].map(nodes), [Ok(6), Ok(3), Ok(1), Ok(20), Ok(2000)]);
}

#[test]
fn what_holds_nothing_or_something_twice_is_no_value() {
    let rows: [(u8, &[u8], Fault, usize); 9] = [
        (kinds::LIST, b"\0", Fault::Empty, 0),
        (kinds::SET, b"\x02\x01a\x01a", Fault::Duplicate, 3),
        (kinds::HASH, b"\x02\x01a\x01b\x01a\x01c", Fault::Duplicate, 5),
        (kinds::ZSET_2, b"\x01\x01a\0\0\0\0\0\0\xf8\x7f", Fault::Score, 1),
        (kinds::ZSET, b"\x01\x01a\xfd", Fault::Score, 1),
        (kinds::LIST_QUICKLIST_2, b"\x01\x03\x01a", Fault::Node, 1),
        (kinds::LIST_QUICKLIST_2, b"\x01\x01\x00", Fault::Node, 2),
        (kinds::HASH_LISTPACK, b"\x0a\x0a\0\0\0\x01\0\x81a\x02\xff", Fault::Listpack, 0),
        (99, b"", Fault::Kind(99), 0),
    ];
    for (kind, bytes, fault, offset) in rows {
        let read = read_value(&mut Reader::new(bytes), kind, &Thresholds::DEFAULT);
        assert_eq!(read, Err(Broken { offset, fault }), "{kind} {bytes:?}");
    }
}

#[test]
fn early_scores_are_texts() {
    let bytes = b"\x04\x01a\xff\x01b\xfe\x01c\x031.5\x01d\x02-3";
    let value = read_value(&mut Reader::new(bytes), kinds::ZSET, &Thresholds::DEFAULT).expect("a value");
    let zset = value.as_zset().expect("a sorted set");
    assert_eq!(
        [b"a", b"b", b"c", b"d"].map(|member| zset.score(member)),
        [Some(f64::NEG_INFINITY), Some(f64::INFINITY), Some(1.5), Some(-3.0)]
    );
    assert_eq!(zset.encoding(), "listpack");
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_panic(kind in 0..20_u8, bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let mut reader = Reader::new(&bytes);
        let read = read_value(&mut reader, kind, &Thresholds::DEFAULT);
        if let Ok(value) = read {
            prop_assert_eq!(back(&value), value);
        }
    }
}
