//! Tests of the counted tree: its shape, and a comparison with a sorted vector.

use proptest::prelude::*;

use super::*;

/// A tree of numbers in ascending order, which are scores and IDs alike.
#[derive(Default)]
struct Numbers(CountedTree);

impl Numbers {
    fn insert(&mut self, id: u32) {
        self.0.insert(|_, other| other < id, Entry { score: f64::from(id), id });
    }

    fn remove(&mut self, id: u32) {
        let removed = self.0.remove(|_, other| other <= id);
        assert_eq!(removed.map(|entry| entry.id), Some(id));
    }

    fn ids(&self) -> Vec<u32> {
        self.0.range(0..self.0.len()).map(|entry| entry.id).collect()
    }
}

fn random(bound: usize) -> impl FnMut() -> u32 {
    let mut state = 1_u64;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as usize % bound) as u32
    }
}

#[test]
fn ascending_insertion_fills_the_leaves() {
    let mut tree = Numbers::default();
    (0..64_000).for_each(|id| tree.insert(id));
    assert_eq!((tree.0.leaves.nodes.len(), tree.0.height), (1000, 2));
    assert_eq!(tree.ids(), (0..64_000).collect::<Vec<_>>());
    assert_eq!(tree.0.partition_point(|score, _| score < 12345.5), 12346);
    assert_eq!(tree.0.partition_point(|_, _| true), 64_000);
    assert_eq!(tree.0.partition_point(|_, _| false), 0);
    assert_eq!(tree.0.remove(|_, _| false), None);
}

#[test]
fn a_large_tree_survives_insertion_and_removal_everywhere() {
    let (mut tree, mut model, mut next) =
        (Numbers::default(), std::collections::BTreeSet::new(), random(1 << 20));
    while model.len() < 20_000 {
        let id = next();
        if model.insert(id) {
            tree.insert(id);
        }
    }
    assert_eq!(tree.ids(), model.iter().copied().collect::<Vec<_>>());
    while model.len() > 100 {
        let id = next();
        let id = model.range(id..).next().or(model.first()).copied().unwrap_or(0);
        tree.remove(id);
        model.remove(&id);
    }
    assert_eq!(tree.ids(), model.iter().copied().collect::<Vec<_>>());
    assert!(tree.0.heap_bytes() < 64 * 1024, "{}", tree.0.heap_bytes());
}

proptest! {
    #[test]
    fn it_behaves_like_a_sorted_vector(
        start in 0..700_u32,
        steps in prop::collection::vec((0..4_u8, 0..2000_u32), 0..400),
    ) {
        let (mut tree, mut model) = (Numbers::default(), Vec::new());
        for id in (0..start).rev() {
            tree.insert(3 * id + 1);
            model.insert(0, 3 * id + 1);
        }
        for (step, id) in steps {
            match (step, model.binary_search(&id)) {
                (0, Err(rank)) => { tree.insert(id); model.insert(rank, id); }
                // Another number in the same place.
                (1, Ok(rank)) if !model.contains(&(id + 1)) => {
                    tree.0.replace(|_, other| other <= id, Entry { score: f64::from(id + 1), id: id + 1 });
                    model[rank] = id + 1;
                }
                // Runs of removals empty whole leaves.
                (2.., Ok(rank) | Err(rank)) => {
                    for id in model.drain(rank..model.len().min(rank + 30)) {
                        tree.remove(id);
                    }
                }
                _ => {}
            }
            prop_assert_eq!(tree.0.len(), model.len());
        }
        prop_assert_eq!(tree.ids(), model.clone());
        for (rank, id) in model.iter().enumerate() {
            prop_assert_eq!(tree.0.partition_point(|_, other| other < *id), rank);
            prop_assert_eq!(tree.0.get(rank).map(|entry| entry.id), Some(*id));
        }
        prop_assert_eq!(tree.0.get(model.len()), None);
        let mut both = tree.0.range(0..tree.0.len());
        let (mut front, mut back) = (Vec::new(), Vec::new());
        while let Some(entry) = both.next() {
            front.push(entry.id);
            back.extend(both.next_back().map(|entry| entry.id));
        }
        front.extend(back.iter().rev());
        prop_assert_eq!(front, model.clone());
        let third = model.len() / 3;
        let backwards: Vec<u32> = tree.0.range(third..2 * third).rev().map(|entry| entry.id).collect();
        prop_assert_eq!(backwards, model[third..2 * third].iter().rev().copied().collect::<Vec<_>>());
    }
}
