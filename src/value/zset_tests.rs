//! Tests of the sorted set: the forms and their conversion, scores, ranges, and a comparison with a sorted vector.

use proptest::prelude::*;

use super::*;

const LARGE: Limits = Limits { max_entries: 0, max_value: 0 };

fn names(iter: impl Iterator<Item = (impl AsRef<[u8]>, f64)>) -> Vec<String> {
    iter.map(|(name, _)| String::from_utf8_lossy(name.as_ref()).into_owned()).collect()
}

fn both_forms(members: &[(&str, f64)]) -> [ZSet; 2] {
    [Limits::ZSET, LARGE].map(|limits| {
        let mut zset = ZSet::new();
        for (name, score) in members {
            assert_eq!(zset.insert(name.as_bytes(), *score, &limits), Change::Added);
        }
        zset
    })
}

#[test]
fn it_becomes_large_as_the_server_decides() {
    let limits = Limits { max_entries: 2, max_value: 3 };
    let mut zset = ZSet::new();
    zset.insert(b"a", 1.0, &limits);
    zset.insert(b"bbb", 2.0, &limits);
    assert_eq!(zset.insert(b"a", 3.0, &limits), Change::Updated);
    assert_eq!(zset.encoding(), "listpack");
    zset.insert(b"c", 3.0, &limits);
    zset.remove(b"c");
    assert_eq!((zset.encoding(), zset.len()), ("skiplist", 2));
    let mut zset = ZSet::new();
    zset.insert(b"long", 1.0, &limits);
    assert_eq!(zset.encoding(), "skiplist");
}

#[test]
fn zero_keeps_its_sign_only_in_the_large_form() {
    let [small, large] = both_forms(&[("a", -0.0)]);
    assert_eq!(small.score(b"a").map(f64::to_bits), Some(0.0_f64.to_bits()));
    assert_eq!(large.score(b"a").map(f64::to_bits), Some((-0.0_f64).to_bits()));
    for mut zset in [small, large] {
        assert_eq!(zset.insert(b"a", 0.0, &Limits::ZSET), Change::Unchanged);
    }
    for zset in both_forms(&[("b", -0.0), ("c", 0.0), ("a", 0.0), ("d", -0.0)]) {
        assert_eq!(names(zset.iter()), ["a", "b", "c", "d"]);
    }
}

#[test]
fn ranges_by_score() {
    let inf = f64::INFINITY;
    for zset in both_forms(&[("low", -inf), ("b", 1.0), ("a", 1.0), ("c", 2.5), ("high", inf)]) {
        assert_eq!(names(zset.iter()), ["low", "a", "b", "c", "high"]);
        assert_eq!(zset.ranks_by_score(Bound::Included(1.0), Bound::Included(2.5)), 1..4);
        assert_eq!(zset.ranks_by_score(Bound::Excluded(1.0), Bound::Excluded(inf)), 3..4);
        assert_eq!(zset.ranks_by_score(Bound::Included(-inf), Bound::Included(inf)), 0..5);
        assert_eq!(zset.ranks_by_score(Bound::Excluded(-inf), Bound::Unbounded), 1..5);
        assert_eq!(zset.ranks_by_score(Bound::Included(3.0), Bound::Included(1.0)).len(), 0);
        assert_eq!(names(zset.range(1..4).rev()), ["c", "b", "a"]);
        assert_eq!((zset.nth(3), zset.nth(5)), (Some((b"c".as_slice(), 2.5)), None));
        assert_eq!((zset.rank(b"high"), zset.rank(b"none"), zset.score(b"b")), (Some(4), None, Some(1.0)));
    }
}

#[test]
fn ranges_by_member() {
    use LexBound::{Excluded, Included, Maximum, Minimum};
    for zset in both_forms(&[("a", 0.0), ("b", 0.0), ("bb", 0.0), ("c", 0.0)]) {
        assert_eq!(zset.ranks_by_lex(Minimum, Maximum, false, 0), 0..4);
        assert_eq!(zset.ranks_by_lex(Excluded(b"b"), Included(b"c"), false, 0), 2..4);
        assert_eq!(zset.ranks_by_lex(Included(b"b"), Excluded(b"c"), false, 0), 1..3);
        assert_eq!(zset.ranks_by_lex(Maximum, Minimum, false, 0).len(), 0);
        assert_eq!(zset.ranks_by_lex(Minimum, Minimum, false, 0).len(), 0);
        assert_eq!(zset.ranks_by_lex(Included(b"c"), Included(b"a"), false, 0).len(), 0);
    }
}

#[test]
fn ranges_are_removed_whole() {
    for mut zset in both_forms(&[("a", 1.0), ("b", 2.0), ("c", 3.0), ("d", 4.0)]) {
        assert_eq!(zset.remove_range(1..3), 2);
        assert_eq!(names(zset.iter()), ["a", "d"]);
        assert_eq!((zset.remove_range(1..9), zset.remove_range(5..9)), (1, 0));
        assert_eq!((zset.remove(b"a"), zset.remove(b"a"), zset.is_empty()), (Some(1.0), None, true));
    }
}

#[test]
fn a_large_set_takes_up_half_of_what_the_server_needs() {
    let mut zset = ZSet::new();
    for number in 0..100_000_u32 {
        let score = f64::from(number.wrapping_mul(2_654_435_761) >> 8);
        zset.insert(format!("member:{number}").as_bytes(), score, &Limits::ZSET);
    }
    let Form::Indexed(indexed) = &zset.form else { panic!("{}", zset.encoding()) };
    let real = (indexed.members.heap_bytes() + indexed.order.heap_bytes()) / 100_000;
    assert!(real <= 72, "{real}");
    assert_eq!(zset.memory_bytes() / 100_000, 60);
}

/// The plain model: a vector sorted by score and member.
#[derive(Default)]
struct Model(Vec<(f64, Vec<u8>)>);

impl Model {
    fn remove(&mut self, member: &[u8]) -> Option<f64> {
        let index = self.0.iter().position(|(_, name)| name == member)?;
        Some(self.0.remove(index).0)
    }

    fn insert(&mut self, member: &[u8], score: f64) -> Change {
        let old = self.remove(member);
        self.0.push((score, member.to_vec()));
        self.0.sort_by(|a, b| order(a.0, &a.1, b.0, &b.1));
        match old {
            None => Change::Added,
            Some(old) if old == score => Change::Unchanged,
            Some(_) => Change::Updated,
        }
    }
}

fn check(zset: &mut ZSet, model: &Model) -> Result<(), TestCaseError> {
    let entries: Vec<_> = zset.iter().map(|(name, score)| (score, name.to_vec())).collect();
    prop_assert_eq!(&entries, &model.0);
    let reversed: Vec<_> = zset.iter().rev().map(|(name, score)| (score, name.to_vec())).collect();
    prop_assert_eq!(reversed, model.0.iter().rev().cloned().collect::<Vec<_>>());
    prop_assert_eq!(zset.len(), model.0.len());
    for (rank, (score, name)) in model.0.iter().enumerate() {
        prop_assert_eq!((zset.rank(name), zset.score(name)), (Some(rank), Some(*score)));
        prop_assert_eq!(zset.nth(rank), Some((name.as_slice(), *score)));
    }
    let (mut scanned, mut cursor) = (Vec::new(), 0);
    loop {
        cursor = zset.scan(cursor, 5, |name, score| scanned.push((score, name.to_vec())));
        if cursor == 0 {
            break;
        }
    }
    scanned.sort_by(|a, b| order(a.0, &a.1, b.0, &b.1));
    prop_assert_eq!(&scanned, &model.0);
    Ok(())
}

proptest! {
    #[test]
    fn it_behaves_like_a_sorted_vector(
        max_entries in 0..40_usize,
        steps in prop::collection::vec((0..6_u8, 0..60_u8, -4..5_i8), 1..200),
    ) {
        let limits = Limits { max_entries, max_value: 64 };
        let (mut zset, mut model) = (ZSet::new(), Model::default());
        for (step, member, score) in steps {
            let (member, score) = (member.to_string().into_bytes(), f64::from(score) / 2.0);
            match step {
                0 => prop_assert_eq!(zset.remove(&member), model.remove(&member)),
                1 => {
                    let ranks = zset.ranks_by_score(Bound::Included(score), Bound::Excluded(score + 0.5));
                    let expected = model.0.iter().filter(|(other, _)| *other == score).count();
                    prop_assert_eq!(zset.remove_range(ranks), expected);
                    model.0.retain(|(other, _)| *other != score);
                }
                // Members that a walk has passed do not move back to those that it has not.
                2 => {
                    zset.set_walk(1);
                    zset.scan(0, usize::from(member[0] - b'0'), |_, _| ());
                }
                _ => prop_assert_eq!(zset.insert(&member, score, &limits), model.insert(&member, score)),
            }
        }
        check(&mut zset, &model)?;
        let mut large = ZSet::new();
        model.0.iter().for_each(|(score, name)| { large.insert(name, *score, &LARGE); });
        prop_assert_eq!(&large, &zset);
        prop_assert_eq!(&zset.clone(), &zset);
    }
}
