//! The server's sort of a part: a quick sort that leaves alone what lies outside of the wanted places. It is not stable,
//! and SORT shows in which order it leaves what is equal: so this is the same algorithm (Bentley and McIlroy's), step by
//! step.

use std::cmp::Ordering;
use std::ops::RangeInclusive;

/// Below this length items are inserted one by one.
const FEW: usize = 7;
/// From this length on the pivot is the median of nine.
const MANY: usize = 40;

/// Sorts so that the places in `wanted` hold what they would in a sorted slice.
pub fn partial_sort<T>(
    items: &mut [T],
    wanted: RangeInclusive<usize>,
    compare: &mut dyn FnMut(&T, &T) -> Ordering,
) {
    let whole = 0..items.len();
    let mut parts = Vec::from([whole]);
    while let Some(part) = parts.pop() {
        let Some(slice) = items.get_mut(part.clone()) else { continue };
        if slice.len() < FEW {
            insertion_sort(slice, compare);
            continue;
        }
        let (less, more) = partition(slice, compare);
        let (left, right) = (part.start..part.start + less, part.end - more..part.end);
        let is_wanted = |part: &std::ops::Range<usize>| {
            part.len() > 1 && !(*wanted.end() < part.start || *wanted.start() >= part.end)
        };
        parts.extend([left, right].into_iter().filter(is_wanted));
    }
}

fn insertion_sort<T>(items: &mut [T], compare: &mut dyn FnMut(&T, &T) -> Ordering) {
    for end in 1..items.len() {
        let mut at = end;
        while at > 0 && compare(&items[at - 1], &items[at]).is_gt() {
            items.swap(at, at - 1);
            at -= 1;
        }
    }
}

/// Parts a slice by a pivot: how many items at the start are less, how many at the end are more.
fn partition<T>(items: &mut [T], compare: &mut dyn FnMut(&T, &T) -> Ordering) -> (usize, usize) {
    let len = items.len();
    items.swap(0, pivot(items, compare));
    // Those equal to the pivot gather at both ends: below `equal`, above `equal_behind`.
    let (mut equal, mut low) = (1, 1);
    let (mut high, mut equal_behind) = (len - 1, len - 1);
    loop {
        while low <= high {
            match compare(&items[low], &items[0]) {
                Ordering::Greater => break,
                Ordering::Equal => {
                    items.swap(equal, low);
                    equal += 1;
                }
                Ordering::Less => {}
            }
            low += 1;
        }
        while low <= high {
            match compare(&items[high], &items[0]) {
                Ordering::Less => break,
                Ordering::Equal => {
                    items.swap(high, equal_behind);
                    equal_behind -= 1;
                }
                Ordering::Greater => {}
            }
            high -= 1;
        }
        if low > high {
            break;
        }
        items.swap(low, high);
        low += 1;
        high -= 1;
    }
    let moved = equal.min(low - equal);
    (0..moved).for_each(|at| items.swap(at, low - moved + at));
    let moved = (equal_behind - high).min(len - 1 - equal_behind);
    (0..moved).for_each(|at| items.swap(low + at, len - moved + at));
    (low - equal, equal_behind - high)
}

/// The place of the pivot.
fn pivot<T>(items: &[T], compare: &mut dyn FnMut(&T, &T) -> Ordering) -> usize {
    let len = items.len();
    let middle = len / 2;
    if len == FEW {
        return middle;
    }
    let (mut first, mut middle, mut last) = (0, middle, len - 1);
    if len > MANY {
        let step = len / 8;
        first = median(items, [first, first + step, first + 2 * step], compare);
        middle = median(items, [middle - step, middle, middle + step], compare);
        last = median(items, [last - 2 * step, last - step, last], compare);
    }
    median(items, [first, middle, last], compare)
}

fn median<T>(items: &[T], at: [usize; 3], compare: &mut dyn FnMut(&T, &T) -> Ordering) -> usize {
    let [a, b, c] = at;
    let mut order = |one: usize, other: usize| compare(&items[one], &items[other]);
    if order(a, b).is_lt() {
        if order(b, c).is_lt() {
            b
        } else if order(a, c).is_lt() {
            c
        } else {
            a
        }
    } else if order(b, c).is_gt() {
        b
    } else if order(a, c).is_lt() {
        a
    } else {
        c
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn wanted_places_are_sorted(
            items in prop::collection::vec(0..20_u8, 0..200),
            start in 0..200_usize,
            len in 1..200_usize,
        ) {
            let mut sorted = items.clone();
            sorted.sort_unstable();
            let mut partly = items.clone();
            let wanted = start..=start + len - 1;
            partial_sort(&mut partly, wanted.clone(), &mut u8::cmp);
            for at in wanted.filter(|&at| at < items.len()) {
                prop_assert_eq!(partly[at], sorted[at]);
            }
            partly.sort_unstable();
            prop_assert_eq!(partly, sorted);
        }
    }
}
