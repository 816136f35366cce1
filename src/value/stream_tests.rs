//! Tests of the stream: IDs, blocks where the server has nodes, trimming, and a comparison with a sorted map.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn id(ms: u64) -> StreamId {
    StreamId::new(ms, 0)
}

fn filled(count: u64) -> Stream {
    let mut stream = Stream::new();
    for ms in 1..=count {
        assert!(stream.append(id(ms), &[b"field", b"value"], &NodeLimits::DEFAULT));
    }
    stream
}

fn times(stream: &Stream) -> Vec<u64> {
    stream.iter().map(|entry| entry.id.ms).collect()
}

#[test]
fn ids_follow_each_other() {
    assert_eq!(StreamId::new(1, u64::MAX).next(), Some(StreamId::new(2, 0)));
    assert_eq!(StreamId::new(2, 0).previous(), Some(StreamId::new(1, u64::MAX)));
    assert_eq!((StreamId::MAX.next(), StreamId::MIN.previous()), (None, None));
    assert_eq!(StreamId::new(5, 3).to_string(), "5-3");
    let mut stream = Stream::new();
    assert_eq!(stream.next_id(7), Some(id(7)));
    stream.append(StreamId::new(7, 4), &[], &NodeLimits::DEFAULT);
    assert_eq!(
        (stream.next_id(7), stream.next_id(3)),
        (Some(StreamId::new(7, 5)), Some(StreamId::new(7, 5)))
    );
    assert!(!stream.append(StreamId::new(7, 4), &[], &NodeLimits::DEFAULT));
    stream.set_last_id(StreamId::MAX);
    assert_eq!(stream.next_id(9), None);
}

#[test]
fn approximate_trimming_drops_whole_blocks() {
    let mut stream = filled(250);
    assert_eq!(stream.block_count(), 3);
    assert_eq!(stream.trim(Trim::MaxLen(120), true, 0), 100);
    assert_eq!(stream.trim(Trim::MaxLen(120), true, 0), 0);
    assert_eq!((stream.first_id(), stream.len()), (id(101), 150));
    assert_eq!(stream.trim(Trim::MaxLen(120), false, 0), 30);
    assert_eq!(stream.first_id(), id(131));
    assert_eq!(stream.trim(Trim::MinId(id(201)), true, 69), 0);
    assert_eq!(stream.trim(Trim::MinId(id(201)), true, 70), 70);
    assert_eq!(stream.trim(Trim::MinId(id(249)), false, 0), 48);
    assert_eq!(times(&stream), [249, 250]);
    assert_eq!(stream.trim(Trim::MaxLen(0), false, 0), 2);
    assert_eq!((stream.first_id(), stream.last_id(), stream.entries_added()), (StreamId::MIN, id(250), 250));
    assert_eq!((stream.max_deleted_id(), stream.block_count()), (StreamId::MIN, 0));
    assert_eq!(stream.memory_bytes(), Stream::new().memory_bytes());
}

#[test]
fn deleted_entries_count_for_their_block() {
    let mut stream = filled(100);
    assert!(stream.delete(id(100)) && !stream.delete(id(100)) && stream.delete(id(1)));
    assert_eq!((stream.first_id(), stream.max_deleted_id(), stream.len()), (id(2), id(100), 98));
    stream.append(id(101), &[b"field", b"value"], &NodeLimits::DEFAULT);
    assert_eq!(stream.block_count(), 2);
    // The first block ever held 100, which is not below 100.
    assert_eq!(stream.trim(Trim::MinId(id(100)), true, 0), 0);
    assert_eq!(stream.trim(Trim::MinId(id(100)), false, 0), 98);
    assert_eq!((times(&stream), stream.block_count()), (vec![101], 2));
    assert_eq!(stream.trim(Trim::MinId(id(101)), true, 0), 0);
    assert_eq!(stream.block_count(), 1);
    assert!(stream.delete(id(101)));
    assert_eq!(
        (stream.block_count(), stream.first_id(), stream.max_deleted_id()),
        (0, StreamId::MIN, id(101))
    );
}

#[test]
fn entries_are_packed_closely() {
    let mut stream = Stream::new();
    for number in 0..100_000_u64 {
        let (user, amount) = (format!("{number:06}"), format!("{:04}", number % 7919));
        let pairs = [b"user".as_slice(), user.as_bytes(), b"amount", amount.as_bytes()];
        stream.append(
            StreamId::new(1_700_000_000_000 + number / 3, number % 3),
            &pairs,
            &NodeLimits::DEFAULT,
        );
    }
    let real: usize = stream.blocks.iter().map(|block| size_of::<Block>() + block.heap_bytes()).sum();
    assert!(real < 2_400_000, "{real}");
    assert!(stream.memory_bytes().abs_diff(real) < 10_000, "{} {real}", stream.memory_bytes());
}

#[test]
fn fields_that_differ_are_kept_with_their_entry() {
    let mut stream = Stream::new();
    let entries: [&[&[u8]]; 5] =
        [&[b"a", b"1", b"b", b"2"], &[b"a", b"", b"b", b"4"], &[b"b", b"5"], &[b"a", b"6", b"c", b"7"], &[]];
    for (ms, pairs) in entries.iter().enumerate() {
        stream.append(id(ms as u64 + 1), pairs, &NodeLimits::DEFAULT);
    }
    assert_eq!(stream.block_count(), 1);
    for (entry, pairs) in stream.iter().zip(entries) {
        let fields: Vec<_> = entry.fields().flat_map(|(name, value)| [name, value]).collect();
        assert_eq!((entry.field_count(), fields.as_slice()), (pairs.len() / 2, pairs));
    }
    assert_eq!(format!("{:?}", stream.get(id(3))), r#"Some(3-0 {b"b": b"5"})"#);
}

type Model = BTreeMap<StreamId, Vec<Vec<u8>>>;

fn entries<'a>(iter: impl Iterator<Item = Entry<'a>>) -> Vec<(StreamId, Vec<Vec<u8>>)> {
    iter.map(|entry| (entry.id, entry.fields().flat_map(|(n, v)| [n.to_vec(), v.to_vec()]).collect()))
        .collect()
}

fn plain<'a>(iter: impl Iterator<Item = (&'a StreamId, &'a Vec<Vec<u8>>)>) -> Vec<(StreamId, Vec<Vec<u8>>)> {
    iter.map(|(id, pairs)| (*id, pairs.clone())).collect()
}

fn step(stream: &mut Stream, model: &mut Model, limits: &NodeLimits, (kind, pick, len): (u8, u16, usize)) {
    let picked = model.keys().nth(usize::from(pick) % model.len().max(1)).copied().unwrap_or(StreamId::MAX);
    match kind {
        0 => assert_eq!(stream.delete(picked), model.remove(&picked).is_some()),
        1 if len < 10 => {
            let max = usize::from(pick) % (model.len() + 1);
            let removed = stream.trim(Trim::MaxLen(max), false, 0);
            assert_eq!(removed, model.len() - max);
            (0..removed).for_each(|_| drop(model.pop_first()));
        }
        2 if len < 10 => {
            let kept = model.split_off(&picked);
            assert_eq!(stream.trim(Trim::MinId(picked), false, 0), model.len());
            *model = kept;
        }
        _ => {
            let last = stream.last_id();
            let id = match kind % 3 {
                0 => last.next().unwrap_or(last),
                1 => StreamId::new(last.ms + u64::from(pick), u64::MAX - 5),
                _ => StreamId::new(last.ms + 1 + u64::from(pick), 0),
            };
            let pairs: Vec<Vec<u8>> =
                (0..len % 3 * 2).map(|part| vec![b'0' + kind % 2 * part as u8; len]).collect();
            let borrowed: Vec<&[u8]> = pairs.iter().map(Vec::as_slice).collect();
            assert_eq!(stream.append(id, &borrowed, limits), id > last);
            if id > last {
                model.insert(id, pairs);
            }
        }
    }
}

proptest! {
    #[test]
    fn it_behaves_like_a_sorted_map(
        limits in (prop_oneof![Just(0), 20..500_usize], 0..12_usize),
        steps in prop::collection::vec((0..9_u8, any::<u16>(), 0..120_usize), 1..200),
    ) {
        let limits = NodeLimits { max_bytes: limits.0, max_entries: limits.1 };
        let (mut stream, mut model, mut added) = (Stream::new(), Model::new(), 0);
        for number in steps {
            let before = stream.last_id();
            step(&mut stream, &mut model, &limits, number);
            added += u64::from(stream.last_id() != before);
            prop_assert_eq!((stream.len(), stream.entries_added()), (model.len(), added));
            prop_assert_eq!(stream.first_id(), model.keys().next().copied().unwrap_or_default());
        }
        prop_assert_eq!(entries(stream.iter()), plain(model.iter()));
        prop_assert_eq!(entries(stream.iter().rev()), plain(model.iter().rev()));
        let ids: Vec<_> = model.keys().copied().collect();
        for (index, start) in ids.iter().enumerate().step_by(3) {
            let end = ids[index + (ids.len() - index) / 2];
            prop_assert_eq!(entries(stream.range(*start, end)), plain(model.range(*start..=end)));
            let (after, before) = (start.next().unwrap(), end.previous().unwrap());
            if after <= before {
                prop_assert_eq!(entries(stream.range(after, before).rev()), plain(model.range(after..=before).rev()));
            }
            prop_assert!(stream.get(*start).is_some());
        }
        let bytes: usize = stream.blocks.iter().map(Block::memory_bytes).sum();
        prop_assert_eq!(stream.memory_bytes(), size_of::<Stream>() + bytes);
        prop_assert_eq!(&stream.clone(), &stream);
    }
}
