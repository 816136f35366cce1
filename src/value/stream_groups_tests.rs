//! Tests of consumer groups: who has which entry, equality, and the lag.

use super::*;
use crate::value::stream::NodeLimits;

fn id(ms: u64) -> StreamId {
    StreamId::new(ms, 0)
}

fn stream(ids: std::ops::RangeInclusive<u64>) -> Stream {
    let mut stream = Stream::new();
    ids.for_each(|ms| assert!(stream.append(id(ms), &[b"f", b"v"], &NodeLimits::DEFAULT)));
    stream
}

fn pending(consumer: u32, deliveries: u64) -> Pending {
    Pending { consumer, delivered_at_ms: 7, deliveries }
}

#[test]
fn an_entry_is_pending_with_one_consumer() {
    let mut group = Group::default();
    let ((a, new_a), (b, new_b)) = (group.seen(b"a", 1), group.seen(b"b", 1));
    assert_eq!((new_a, new_b, group.seen(b"a", 2)), (true, true, (a, false)));
    assert_eq!(group.add(b"a", 3), None);
    group.assign(id(1), pending(a, 1));
    group.assign(id(2), pending(a, 1));
    group.assign(id(1), pending(b, 2));
    let counts = |group: &Group| group.consumers().map(Consumer::pending_len).collect::<Vec<_>>();
    assert_eq!((counts(&group), group.pending_len()), (vec![1, 1], 2));
    assert_eq!(group.owner(&group.pending(id(1)).expect("pending")), b"b");
    assert_eq!(group.acknowledge(id(1)), Some(pending(b, 2)));
    assert_eq!(group.acknowledge(id(1)), None);
    assert_eq!(counts(&group), [1, 0]);
    assert_eq!((group.remove_consumer(b"a"), group.remove_consumer(b"a")), (Some(1), None));
    assert_eq!((group.pending_len(), group.consumers_len()), (0, 1));
    assert_eq!(group.seen(b"c", 4), (a, true), "a number is used again");
}

#[test]
fn groups_are_equal_whatever_the_numbers_of_their_consumers() {
    let build = |names: [&[u8]; 2]| {
        let mut group = Group { last_id: id(9), entries_read: Some(2), ..Group::default() };
        names.iter().for_each(|name| _ = group.seen(name, 1));
        let a = group.find(b"a").expect("there");
        group.assign(id(1), pending(a, 1));
        group
    };
    let digest = |group: &Group| {
        let mut digest = Digest::new(0);
        group.digest(&mut digest);
        digest.finish()
    };
    let (one, other) = (build([b"a", b"b"]), build([b"b", b"a"]));
    assert_eq!(one, other);
    assert_eq!(digest(&one), digest(&other));
    let mut moved = one.clone();
    let b = moved.find(b"b").expect("there");
    moved.assign(id(1), pending(b, 1));
    assert_ne!(one, moved);
    assert_ne!(digest(&one), digest(&moved));
}

#[test]
fn the_lag_is_known_where_the_server_knows_it() {
    let mut stream = stream(1..=5);
    let mut group = Group::default();
    assert_eq!(stream.lag(&group), Some(5));
    stream.note_read(&mut group, id(1));
    stream.note_read(&mut group, id(2));
    assert_eq!((group.entries_read, stream.lag(&group)), (Some(2), Some(3)));
    stream.delete(id(4));
    assert_eq!(stream.lag(&group), None, "a gap ahead");
    stream.note_read(&mut group, id(3));
    assert_eq!(group.entries_read, None);
    stream.note_read(&mut group, id(5));
    assert_eq!((group.entries_read, stream.lag(&group)), (Some(5), Some(0)));
}

#[test]
fn the_lag_of_a_set_id_is_known_at_the_ends() {
    let stream = stream(3..=5);
    let at = |ms: u64| stream.lag(&Group { last_id: id(ms), ..Group::default() });
    assert_eq!([1, 3, 4, 5, 6].map(at), [Some(3), Some(2), None, Some(0), None]);
    assert_eq!(Stream::new().lag(&Group { last_id: id(9), ..Group::default() }), Some(0));
}

#[test]
fn the_memory_of_groups_follows_each_change() {
    let mut stream = stream(1..=3);
    let before = stream.memory_bytes();
    let counted = |stream: &Stream| {
        before
            + stream
                .groups()
                .iter()
                .map(|(name, group)| name.heap_bytes() + group.memory_bytes())
                .sum::<usize>()
    };
    let long = vec![b'g'; 100];
    for name in [&b"g"[..], &long] {
        assert!(stream.create_group(name, StreamId::MIN, None));
        stream.with_group(name, |_, group| {
            let (consumer, _) = group.seen(&long, 1);
            group.assign(id(1), pending(consumer, 1));
            group.assign(id(2), pending(consumer, 1));
        });
        assert_eq!(stream.memory_bytes(), counted(&stream));
    }
    assert!(!stream.create_group(b"g", StreamId::MIN, None));
    stream.with_group(b"g", |_, group| group.acknowledge(id(1)));
    stream.with_group(&long, |_, group| group.remove_consumer(&long));
    assert_eq!(stream.memory_bytes(), counted(&stream));
    assert!(stream.destroy_group(b"g") && stream.destroy_group(&long) && !stream.destroy_group(&long));
    assert_eq!(stream.memory_bytes(), before);
}
