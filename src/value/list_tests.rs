//! Tests of the list: its chunks, removal from both ends, and a comparison with a vector.

use proptest::prelude::*;

use super::*;

fn items(list: &List) -> Vec<Vec<u8>> {
    list.iter().map(<[u8]>::to_vec).collect()
}

fn check_invariants(list: &List) {
    assert!(list.chunks.iter().all(|chunk| !chunk.is_empty()));
    assert!(list.chunks.iter().all(|chunk| chunk.len() == 1 || chunk.byte_len() <= CHUNK_BYTES));
    assert_eq!(list.item_bytes, list.chunks.iter().map(Packed::byte_len).sum::<usize>());
}

#[test]
fn items_are_packed_closely() {
    let (mut back, mut front) = (List::new(), List::new());
    for number in 0..100_000 {
        back.push_back(format!("{number:016}").as_bytes());
        front.push_front(format!("{number:016}").as_bytes());
    }
    for list in [back, front] {
        let real: usize = list.chunks.iter().map(|chunk| chunk.heap_bytes() + size_of::<Packed>()).sum();
        assert!(real < 1_860_000 && list.memory_bytes() < 1_860_000, "{real} {}", list.memory_bytes());
    }
}

#[test]
fn long_items_stand_alone() {
    let mut list = List::new();
    for len in [10_000, 1, 5_000, 2, 3] {
        list.push_back(&vec![b'x'; len]);
    }
    check_invariants(&list);
    assert_eq!(list.chunks.len(), 4);
    assert!(list.set(3, &[b'y'; 4094]));
    check_invariants(&list);
    assert_eq!(list.iter().map(<[u8]>::len).collect::<Vec<_>>(), [10_000, 1, 5_000, 4094, 3]);
}

#[test]
fn equal_items_are_removed_from_either_end() {
    let source = ["a", "b", "a", "c", "a"];
    let removed = |limit, from_back| {
        let mut list = List::new();
        source.iter().for_each(|item| list.push_back(item.as_bytes()));
        let count = list.remove_equal(b"a", limit, from_back);
        (count, items(&list).concat())
    };
    assert_eq!(removed(2, false), (2, b"bca".to_vec()));
    assert_eq!(removed(2, true), (2, b"abc".to_vec()));
    assert_eq!(removed(usize::MAX, true), (3, b"bc".to_vec()));
}

fn step(list: &mut List, model: &mut Vec<Vec<u8>>, (kind, pick, len): (u8, u16, usize)) {
    let item = [kind, len as u8].repeat(len / 2);
    let index = usize::from(pick) % (model.len() + 1);
    match kind {
        0 => {
            list.push_back(&item);
            model.push(item);
        }
        1 => {
            list.push_front(&item);
            model.insert(0, item);
        }
        2 => {
            list.insert(index, &item);
            model.insert(index, item);
        }
        3 => {
            let there = index < model.len();
            assert_eq!(list.set(index, &item), there);
            if there {
                model[index] = item;
            }
        }
        4 => assert_eq!(
            list.pop_front().map(|item| item.to_vec()),
            (!model.is_empty()).then(|| model.remove(0))
        ),
        5 => assert_eq!(list.pop_back().map(|item| item.to_vec()), model.pop()),
        6 => {
            if let Some(item) = model.get(index).cloned() {
                let (limit, from_back) = (1 + len % 3, len % 2 == 0);
                let mut places: Vec<_> = (0..model.len()).filter(|place| model[*place] == item).collect();
                if from_back {
                    places.reverse();
                }
                places.truncate(limit);
                assert_eq!(list.remove_equal(&item, limit, from_back), places.len());
                let mut place = 0;
                model.retain(|_| {
                    place += 1;
                    !places.contains(&(place - 1))
                });
            }
        }
        _ => {
            let keep = index / 8..model.len() - (model.len() - index) / 8;
            list.trim(keep.clone());
            *model = model[keep].to_vec();
        }
    }
}

proptest! {
    #[test]
    fn it_behaves_like_a_vec(
        steps in prop::collection::vec((0..8_u8, any::<u16>(), prop_oneof![0..6_usize, 500..1500_usize, Just(5000)]), 1..200),
        start in any::<u16>(),
        end in any::<u16>(),
    ) {
        let (mut list, mut model) = (List::new(), Vec::new());
        for number in steps {
            step(&mut list, &mut model, number);
            check_invariants(&list);
            prop_assert_eq!(list.len(), model.len());
        }
        prop_assert_eq!(&items(&list), &model);
        for (index, item) in model.iter().enumerate() {
            prop_assert_eq!(list.get(index), Some(item.as_slice()));
            let position = list.position(item);
            prop_assert_eq!(position, model.iter().position(|other| other == item));
        }
        let end = usize::from(end) % (model.len() + 1);
        let start = usize::from(start) % (end + 1);
        let range: Vec<_> = list.range(start..end).map(<[u8]>::to_vec).collect();
        prop_assert_eq!(&range, &model[start..end]);
        let mut both = list.range(start..end);
        let (mut front, mut back) = (Vec::new(), Vec::new());
        while let Some(item) = both.next_back() {
            back.push(item.to_vec());
            front.extend(both.next().map(<[u8]>::to_vec));
        }
        front.extend(back.into_iter().rev());
        prop_assert_eq!(front, range);
        prop_assert_eq!(&list.clone(), &list);
    }
}
