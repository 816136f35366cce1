//! The two sorts of the server, step by step: where elements compare equal, or a comparison is no order, the result
//! depends on how they go. `merge_sort` is glibc's `qsort`, `partial_sort` the server's own.

use std::cmp::Ordering;
use std::ops::Range;

/// Sorts all; equal elements keep their order.
pub fn merge_sort<T: Copy>(items: &mut [T], compare: &impl Fn(&T, &T) -> Ordering) {
    if items.len() < 2 {
        return;
    }
    let (left, right) = items.split_at_mut(items.len() / 2);
    merge_sort(left, compare);
    merge_sort(right, compare);
    let merged: Vec<T> = merge(left, right, compare);
    items.copy_from_slice(&merged);
}

/// Two sorted parts as one.
fn merge<T: Copy>(mut left: &[T], mut right: &[T], compare: &impl Fn(&T, &T) -> Ordering) -> Vec<T> {
    let mut merged = Vec::with_capacity(left.len() + right.len());
    while let ([first, left_rest @ ..], [second, right_rest @ ..]) = (left, right) {
        if compare(first, second).is_le() {
            merged.push(*first);
            left = left_rest;
        } else {
            merged.push(*second);
            right = right_rest;
        }
    }
    merged.extend_from_slice(left);
    merged.extend_from_slice(right);
    merged
}

/// Sorts so far that the elements at the `wanted` places are those that sorting all would put there: a quick sort
/// (Bentley and McIlroy, "Engineering a Sort Function") that leaves alone the parts in which no wanted place is.
pub fn partial_sort<T>(items: &mut [T], wanted: Range<usize>, compare: &impl Fn(&T, &T) -> Ordering) {
    let mut todo: Vec<Range<usize>> = std::iter::once(0..items.len()).collect();
    while let Some(part) = todo.pop() {
        if wanted.end <= part.start || wanted.start >= part.end {
            continue;
        }
        let (start, len) = (part.start, part.len());
        let Some(part) = items.get_mut(part) else { continue };
        if len < INSERTION_MAX {
            insertion_sort(part, compare);
        } else {
            let (less, greater) = partition(part, compare);
            todo.push(start..start + less);
            todo.push(start + len - greater..start + len);
        }
    }
}

/// Parts shorter than this are sorted by insertion.
const INSERTION_MAX: usize = 7;
/// In parts longer than this the pivot is the median of three medians.
const NINTHER_MIN: usize = 40;

fn insertion_sort<T>(items: &mut [T], compare: &impl Fn(&T, &T) -> Ordering) {
    for end in 1..items.len() {
        let mut at = end;
        while at > 0 && compare(&items[at - 1], &items[at]).is_gt() {
            items.swap(at, at - 1);
            at -= 1;
        }
    }
}

/// Puts what is equal to a pivot between what is less and what is greater; returns how many are less and how many are
/// greater. The part has seven elements at least.
fn partition<T>(items: &mut [T], compare: &impl Fn(&T, &T) -> Ordering) -> (usize, usize) {
    let len = items.len();
    items.swap(0, pivot(items, compare));
    // Equal ones are gathered at both ends first: before `left_equal` and behind `right_equal`.
    let (mut left_equal, mut left) = (1, 1);
    let (mut right_equal, mut right) = (len - 1, len - 1);
    loop {
        while left <= right && compare(&items[left], &items[0]).is_le() {
            if compare(&items[left], &items[0]).is_eq() {
                items.swap(left_equal, left);
                left_equal += 1;
            }
            left += 1;
        }
        while left <= right && compare(&items[right], &items[0]).is_ge() {
            if compare(&items[right], &items[0]).is_eq() {
                items.swap(right, right_equal);
                right_equal -= 1;
            }
            right -= 1;
        }
        if left > right {
            break;
        }
        items.swap(left, right);
        left += 1;
        right -= 1;
    }
    let (less, greater) = (left - left_equal, right_equal - right);
    swap_runs(items, 0, left, left_equal.min(less));
    swap_runs(items, left, len, greater.min(len - right_equal - 1));
    (less, greater)
}

/// Exchanges `count` elements from `at` on with those before `end`.
fn swap_runs<T>(items: &mut [T], at: usize, end: usize, count: usize) {
    for offset in 0..count {
        items.swap(at + offset, end - count + offset);
    }
}

fn pivot<T>(items: &[T], compare: &impl Fn(&T, &T) -> Ordering) -> usize {
    let len = items.len();
    let (first, middle, last) = (0, len / 2, len - 1);
    if len == INSERTION_MAX {
        return middle;
    }
    let median = |a, b, c| median(items, a, b, c, compare);
    if len <= NINTHER_MIN {
        return median(first, middle, last);
    }
    let step = len / 8;
    median(
        median(first, first + step, first + 2 * step),
        median(middle - step, middle, middle + step),
        median(last - 2 * step, last - step, last),
    )
}

fn median<T>(items: &[T], a: usize, b: usize, c: usize, compare: &impl Fn(&T, &T) -> Ordering) -> usize {
    let less = |a: usize, b: usize| compare(&items[a], &items[b]).is_lt();
    let greater = |a: usize, b: usize| compare(&items[a], &items[b]).is_gt();
    if less(a, b) {
        if less(b, c) {
            b
        } else if less(a, c) {
            c
        } else {
            a
        }
    } else if greater(b, c) {
        b
    } else if less(a, c) {
        a
    } else {
        c
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn equal_elements_keep_their_order(keys in prop::collection::vec(0u8..9, 0..200)) {
            let mut items: Vec<(u8, usize)> = keys.iter().copied().zip(0..).collect();
            merge_sort(&mut items, &|a, b| a.0.cmp(&b.0));
            prop_assert!(items.is_sorted());
        }

        #[test]
        fn the_wanted_places_are_right(
            keys in prop::collection::vec(0u8..60, 0..300),
            start in 0usize..300,
            len in 0usize..300,
        ) {
            let (mut sorted, mut items) = (keys.clone(), keys);
            sorted.sort_unstable();
            let wanted = start.min(items.len())..(start + len).min(items.len());
            partial_sort(&mut items, wanted.clone(), &u8::cmp);
            prop_assert_eq!(&items[wanted.clone()], &sorted[wanted]);
            items.sort_unstable();
            prop_assert_eq!(items, sorted);
        }

        #[test]
        fn no_order_at_all_is_no_harm(seed in any::<u64>(), len in 0usize..200) {
            let state = std::cell::Cell::new(seed | 1);
            let odd = |_: &u8, _: &u8| {
                state.set(state.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
                [Ordering::Less, Ordering::Equal, Ordering::Greater][(state.get() >> 33) as usize % 3]
            };
            let mut items = vec![0u8; len];
            partial_sort(&mut items, 0..len, &odd);
            merge_sort(&mut items, &odd);
        }
    }
}
