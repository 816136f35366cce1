//! Makes what fails small by leaving out one part after another.

/// As few of the parts as still fail, in their order.
pub(crate) fn without_needless<T: Clone>(mut parts: Vec<T>, mut fails: impl FnMut(&[T]) -> bool) -> Vec<T> {
    let mut at = 0;
    while at < parts.len() {
        let mut fewer = parts.clone();
        fewer.remove(at);
        if fails(&fewer) {
            parts = fewer;
        } else {
            at += 1;
        }
    }
    parts
}

#[test]
fn what_is_not_needed_is_left_out() {
    let fails = |parts: &[i32]| parts.contains(&3) && parts.contains(&7);
    assert_eq!(without_needless((0..10).collect(), fails), [3, 7]);
}
