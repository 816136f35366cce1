//! How many nodes the server's radix tree of a stream has, which XINFO STREAM tells. The tree's keys are the IDs that
//! the blocks begin with, sixteen bytes each, the high ones first; there is no such tree here.

use super::stream::StreamId;

/// The bytes of a key.
const KEY_BYTES: usize = 16;

/// The nodes of a tree with these keys, given in their order: one where each key ends, one where keys part, one for
/// each run of bytes in between. The byte by which keys part belongs to the node where they do.
pub(super) fn node_count(keys: impl Iterator<Item = StreamId>) -> usize {
    let run = |from: usize, to: usize| usize::from(to > from + 1);
    // How many bytes deep the keys part, on the way to the last one.
    let mut partings: Vec<usize> = Vec::new();
    let (mut nodes, mut last) = (0, None);
    for key in keys {
        nodes += 1;
        let Some(last) = last.replace(key) else { continue };
        let common = common_bytes(last, key);
        let mut below = KEY_BYTES;
        while let Some(&parting) = partings.last().filter(|&&parting| parting > common) {
            partings.pop();
            nodes += run(parting, below);
            below = parting;
        }
        nodes += run(common, below);
        if partings.last() != Some(&common) {
            partings.push(common);
            nodes += 1;
        }
    }
    if last.is_none() {
        return 1;
    }
    let mut below = KEY_BYTES;
    while let Some(parting) = partings.pop() {
        nodes += run(parting, below);
        below = parting;
    }
    nodes + usize::from(below > 0)
}

/// How many bytes two keys have in common at their beginning.
fn common_bytes(a: StreamId, b: StreamId) -> usize {
    let common = |a: u64, b: u64| (a ^ b).leading_zeros() as usize / 8;
    if a.ms == b.ms { 8 + common(a.seq, b.seq) } else { common(a.ms, b.ms) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(keys: &[(u64, u64)]) -> usize {
        node_count(keys.iter().map(|&(ms, seq)| StreamId::new(ms, seq)))
    }

    #[test]
    fn nodes_are_ends_partings_and_runs() {
        assert_eq!((count(&[]), count(&[(1, 1)])), (1, 2));
        // A run of fifteen bytes, the parting, two ends.
        assert_eq!(count(&[(1, 1), (1, 2)]), 4);
        // They part in the first byte: it and twice a run with its end.
        assert_eq!(count(&[(1, 1), (1 << 60, 1)]), 5);
        // Two that part late within one that parts early.
        assert_eq!(count(&[(1, 1), (1, 2), (2, 1)]), 8);
    }
}
