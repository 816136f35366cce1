//! `CountedTree`: the order of a large sorted set, as a B+tree that knows how many entries are under each child.
//! Insertion, removal, reading by rank and search take logarithmic time, and walking from any rank in both directions
//! is a walk along linked leaves. What the order means is the caller's business (`value::zset`): the tree only asks
//! "is this entry before what you look for?", and expects a yes for a prefix of its entries only.
//! Nodes live in two vectors and name each other by number, so that a clone is a copy of two blocks of memory.

use std::ops::Range;

/// The most items a node holds.
const CAPACITY: usize = 64;
/// Below this many, a node is merged with a neighbour or filled up from it.
const MINIMUM: usize = CAPACITY / 4;
const NONE: u32 = u32::MAX;

/// A score and the number of the member that has it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, packed(4))]
pub struct Entry {
    /// The score.
    pub score: f64,
    /// The member's place in the table.
    pub id: u32,
}

const _: () = assert!(size_of::<Entry>() == 12);

/// A subtree as its parent knows it.
#[derive(Clone, Copy, Default)]
struct Child {
    node: u32,
    count: u32,
    first: Entry,
}

#[derive(Clone, Copy)]
struct Items<T> {
    len: u16,
    items: [T; CAPACITY],
}

impl<T: Copy + Default> Items<T> {
    fn new(source: &[T]) -> Self {
        let mut items = [T::default(); CAPACITY];
        items[..source.len()].copy_from_slice(source);
        Items { len: source.len() as u16, items }
    }

    fn len(&self) -> usize {
        usize::from(self.len)
    }

    fn as_slice(&self) -> &[T] {
        &self.items[..self.len()]
    }

    fn insert(&mut self, index: usize, item: T) {
        let len = self.len();
        self.items.copy_within(index..len, index + 1);
        self.items[index] = item;
        self.len += 1;
    }

    fn remove(&mut self, index: usize) -> T {
        let (item, len) = (self.items[index], self.len());
        self.items.copy_within(index + 1..len, index);
        self.len -= 1;
        item
    }

    /// Inserts into a full node: returns the right one of the two it becomes. Appending leaves the left one full, so
    /// that ascending insertion fills every node.
    fn split_insert(&mut self, index: usize, item: T) -> Self {
        if index == CAPACITY {
            return Items::new(&[item]);
        }
        let mut right = Items::new(&self.items[CAPACITY / 2..]);
        self.len = (CAPACITY / 2) as u16;
        match index.checked_sub(CAPACITY / 2) {
            Some(index) if index > 0 => right.insert(index, item),
            _ => self.insert(index, item),
        }
        right
    }

    /// Makes `self` and its right neighbour one, if they fit (then true), or else about equally long.
    fn merge_or_share(&mut self, right: &mut Self) -> bool {
        let (left_len, total) = (self.len(), self.len() + right.len());
        if total <= CAPACITY {
            self.items[left_len..total].copy_from_slice(right.as_slice());
            self.len = total as u16;
            return true;
        }
        let mut all = [T::default(); 2 * CAPACITY];
        all[..left_len].copy_from_slice(self.as_slice());
        all[left_len..total].copy_from_slice(right.as_slice());
        *self = Items::new(&all[..total / 2]);
        *right = Items::new(&all[total / 2..total]);
        false
    }
}

#[derive(Clone, Copy)]
struct Leaf {
    entries: Items<Entry>,
    previous: u32,
    next: u32,
}

type Inner = Items<Child>;

/// Nodes by number; numbers of freed nodes are used again.
#[derive(Clone)]
struct Arena<T> {
    nodes: Vec<T>,
    free: Vec<u32>,
}

impl<T> Arena<T> {
    const EMPTY: Arena<T> = Arena { nodes: Vec::new(), free: Vec::new() };

    fn add(&mut self, node: T) -> u32 {
        if let Some(number) = self.free.pop() {
            self.nodes[number as usize] = node;
            return number;
        }
        if self.nodes.len() == self.nodes.capacity() {
            self.nodes.reserve_exact(self.nodes.len() / 4 + 1);
        }
        self.nodes.push(node);
        self.nodes.len() as u32 - 1
    }

    #[inline]
    fn get(&self, number: u32) -> &T {
        &self.nodes[number as usize]
    }

    #[inline]
    fn get_mut(&mut self, number: u32) -> &mut T {
        &mut self.nodes[number as usize]
    }

    #[cfg(test)]
    fn heap_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<T>() + self.free.capacity() * size_of::<u32>()
    }
}

/// Entries in an order, with logarithmic access by rank.
#[derive(Clone)]
pub struct CountedTree {
    leaves: Arena<Leaf>,
    inners: Arena<Inner>,
    root: u32,
    /// 0 when the root is a leaf.
    height: u32,
    len: usize,
}

impl Default for CountedTree {
    fn default() -> Self {
        let mut leaves = Arena::EMPTY;
        let root = leaves.add(Leaf { entries: Items::new(&[]), previous: NONE, next: NONE });
        CountedTree { leaves, inners: Arena::EMPTY, root, height: 0, len: 0 }
    }
}

impl CountedTree {
    /// How many entries there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many entries from the start satisfy `before`, which must hold for a prefix of the sequence only.
    pub fn partition_point(&self, before: impl Fn(f64, u32) -> bool) -> usize {
        let (mut node, mut rank) = (self.root, 0);
        for _ in 0..self.height {
            let children = self.inners.get(node).as_slice();
            let chosen = choose_child(children, &before);
            rank += count_all(&children[..chosen]);
            node = children[chosen].node;
        }
        let entries = self.leaves.get(node).entries.as_slice();
        rank + entries.partition_point(|entry| before(entry.score, entry.id))
    }

    /// The entry at a rank.
    pub fn get(&self, rank: usize) -> Option<Entry> {
        let (leaf, index) = self.seek(rank)?;
        Some(self.leaves.get(leaf).entries.items[index])
    }

    /// Puts another entry in the place of the last one that satisfies `through`.
    pub fn replace(&mut self, through: impl Fn(f64, u32) -> bool, entry: Entry) {
        self.replace_under(self.root, self.height, &through, entry);
    }

    /// Inserts an entry behind those that satisfy `before`.
    pub fn insert(&mut self, before: impl Fn(f64, u32) -> bool, entry: Entry) {
        self.len += 1;
        if let Some(right) = self.insert_under(self.root, self.height, &before, entry) {
            let count = self.len - right.count as usize;
            let left =
                Child { node: self.root, count: count as u32, first: self.first_of(self.root, self.height) };
            self.root = self.inners.add(Items::new(&[left, right]));
            self.height += 1;
        }
    }

    /// Removes the last of the entries that satisfy `through`.
    pub fn remove(&mut self, through: impl Fn(f64, u32) -> bool) -> Option<Entry> {
        let entry = self.remove_under(self.root, self.height, &through)?;
        self.len -= 1;
        if self.len == 0 {
            *self = CountedTree::default();
            return Some(entry);
        }
        while self.height > 0 && self.inners.get(self.root).len() == 1 {
            let only = self.inners.get(self.root).items[0].node;
            self.inners.free.push(self.root);
            (self.root, self.height) = (only, self.height - 1);
        }
        if self.leaves.nodes.len() > 64 && self.leaves.free.len() > self.leaves.nodes.len() / 4 * 3 {
            self.rebuild();
        }
        Some(entry)
    }

    /// The entries with these ranks, from both ends.
    pub fn range(&self, ranks: Range<usize>) -> Iter<'_> {
        let end = ranks.end.min(self.len);
        Iter { tree: self, ranks: ranks.start.min(end)..end, front: None, back: None }
    }

    /// About how many bytes the tree takes up, its nodes being two thirds full.
    pub fn memory_bytes(&self) -> usize {
        self.len * (size_of::<Entry>() * 3 / 2)
    }

    /// The bytes really allocated.
    #[cfg(test)]
    pub(super) fn heap_bytes(&self) -> usize {
        self.leaves.heap_bytes() + self.inners.heap_bytes()
    }

    /// The leaf and the index in it of the entry at a rank.
    fn seek(&self, rank: usize) -> Option<(u32, usize)> {
        if rank >= self.len {
            return None;
        }
        let (mut node, mut rest) = (self.root, rank);
        for _ in 0..self.height {
            let children = self.inners.get(node).as_slice();
            let index;
            (index, rest) = find_child(children, rest);
            node = children[index].node;
        }
        Some((node, rest))
    }

    fn first_of(&self, node: u32, height: u32) -> Entry {
        match height {
            0 => self.leaves.get(node).entries.items[0],
            _ => self.inners.get(node).items[0].first,
        }
    }

    fn len_of(&self, node: u32, height: u32) -> usize {
        match height {
            0 => self.leaves.get(node).entries.len(),
            _ => self.inners.get(node).len(),
        }
    }

    fn replace_under(&mut self, node: u32, height: u32, through: &impl Fn(f64, u32) -> bool, entry: Entry) {
        if height == 0 {
            let entries = &mut self.leaves.get_mut(node).entries;
            let passed = entries.as_slice().partition_point(|entry| through(entry.score, entry.id));
            if let Some(index) = passed.checked_sub(1) {
                entries.items[index] = entry;
            }
            return;
        }
        let children = self.inners.get(node).as_slice();
        let index = choose_child(children, through);
        let child = children[index].node;
        self.replace_under(child, height - 1, through, entry);
        self.inners.get_mut(node).items[index].first = self.first_of(child, height - 1);
    }

    /// Returns the new right neighbour when the node was split.
    fn insert_under(
        &mut self,
        node: u32,
        height: u32,
        before: &impl Fn(f64, u32) -> bool,
        entry: Entry,
    ) -> Option<Child> {
        if height == 0 {
            return self.insert_in_leaf(node, before, entry);
        }
        let children = self.inners.get(node).as_slice();
        let index = choose_child(children, before);
        let child = children[index].node;
        let split = self.insert_under(child, height - 1, before, entry);
        let first = self.first_of(child, height - 1);
        let known = &mut self.inners.get_mut(node).items[index];
        known.first = first;
        known.count += 1;
        let right = split?;
        known.count -= right.count;
        self.insert_child(node, index + 1, right)
    }

    fn insert_in_leaf(
        &mut self,
        node: u32,
        before: &impl Fn(f64, u32) -> bool,
        entry: Entry,
    ) -> Option<Child> {
        let leaf = self.leaves.get_mut(node);
        let index = leaf.entries.as_slice().partition_point(|entry| before(entry.score, entry.id));
        if leaf.entries.len() < CAPACITY {
            leaf.entries.insert(index, entry);
            return None;
        }
        let entries = leaf.entries.split_insert(index, entry);
        let next = leaf.next;
        let right = self.leaves.add(Leaf { entries, previous: node, next });
        self.leaves.get_mut(node).next = right;
        if next != NONE {
            self.leaves.get_mut(next).previous = right;
        }
        Some(Child { node: right, count: u32::from(entries.len), first: entries.items[0] })
    }

    fn insert_child(&mut self, node: u32, index: usize, child: Child) -> Option<Child> {
        let inner = self.inners.get_mut(node);
        if inner.len() < CAPACITY {
            inner.insert(index, child);
            return None;
        }
        let right = inner.split_insert(index, child);
        let (count, first) = (count_all(right.as_slice()) as u32, right.items[0].first);
        Some(Child { node: self.inners.add(right), count, first })
    }

    fn remove_under(&mut self, node: u32, height: u32, through: &impl Fn(f64, u32) -> bool) -> Option<Entry> {
        if height == 0 {
            let entries = &mut self.leaves.get_mut(node).entries;
            let passed = entries.as_slice().partition_point(|entry| through(entry.score, entry.id));
            return Some(entries.remove(passed.checked_sub(1)?));
        }
        let children = self.inners.get(node).as_slice();
        let index = choose_child(children, through);
        let child = children[index].node;
        let entry = self.remove_under(child, height - 1, through)?;
        let inner = self.inners.get_mut(node);
        inner.items[index].count -= 1;
        if inner.items[index].count == 0 {
            inner.remove(index);
            self.free(child, height - 1);
            return Some(entry);
        }
        self.inners.get_mut(node).items[index].first = self.first_of(child, height - 1);
        if self.len_of(child, height - 1) < MINIMUM {
            self.rebalance(node, index, height - 1);
        }
        Some(entry)
    }

    /// Merges the child at `index` with a neighbour, or fills it up from there.
    fn rebalance(&mut self, node: u32, index: usize, height: u32) {
        let inner = *self.inners.get(node);
        let left_index = if index + 1 < inner.len() { index } else { index.saturating_sub(1) };
        let [mut left, mut right] = match inner.as_slice().get(left_index..left_index + 2) {
            Some(&[left, right]) => [left, right],
            _ => return,
        };
        let both = left.count + right.count;
        let merged = self.merge_or_share(left.node, right.node, height);
        left.count = if merged { both } else { self.count_of(left.node, height) };
        self.inners.get_mut(node).items[left_index] = left;
        if merged {
            self.inners.get_mut(node).remove(left_index + 1);
            self.free(right.node, height);
            return;
        }
        right.count = both - left.count;
        right.first = self.first_of(right.node, height);
        self.inners.get_mut(node).items[left_index + 1] = right;
    }

    fn merge_or_share(&mut self, left: u32, right: u32, height: u32) -> bool {
        if height == 0 {
            let mut right_entries = self.leaves.get(right).entries;
            let merged = self.leaves.get_mut(left).entries.merge_or_share(&mut right_entries);
            self.leaves.get_mut(right).entries = right_entries;
            return merged;
        }
        let mut right_children = *self.inners.get(right);
        let merged = self.inners.get_mut(left).merge_or_share(&mut right_children);
        *self.inners.get_mut(right) = right_children;
        merged
    }

    fn count_of(&self, node: u32, height: u32) -> u32 {
        match height {
            0 => u32::from(self.leaves.get(node).entries.len),
            _ => count_all(self.inners.get(node).as_slice()) as u32,
        }
    }

    fn free(&mut self, node: u32, height: u32) {
        if height > 0 {
            self.inners.free.push(node);
            return;
        }
        let Leaf { previous, next, .. } = *self.leaves.get(node);
        if previous != NONE {
            self.leaves.get_mut(previous).next = next;
        }
        if next != NONE {
            self.leaves.get_mut(next).previous = previous;
        }
        self.leaves.free.push(node);
    }

    /// Builds the tree anew, to give back the memory of freed nodes.
    fn rebuild(&mut self) {
        let mut tree = CountedTree::default();
        for entry in self.range(0..self.len) {
            tree.insert(|_, _| true, entry);
        }
        *self = tree;
    }
}

fn count_all(children: &[Child]) -> usize {
    children.iter().map(|child| child.count as usize).sum()
}

/// The child that holds the last entry that passes, or else the first child.
#[inline]
fn choose_child(children: &[Child], passes: &impl Fn(f64, u32) -> bool) -> usize {
    children.partition_point(|child| passes(child.first.score, child.first.id)).saturating_sub(1)
}

/// The child that holds the entry at a rank, and the entry's rank in there.
fn find_child(children: &[Child], rank: usize) -> (usize, usize) {
    let (mut index, mut rest) = (0, rank);
    while index + 1 < children.len() && rest >= children[index].count as usize {
        rest -= children[index].count as usize;
        index += 1;
    }
    (index, rest)
}

/// Entries of a [`CountedTree`], from both ends. Each end is looked up when it is first asked for.
#[derive(Clone)]
pub struct Iter<'a> {
    tree: &'a CountedTree,
    ranks: Range<usize>,
    front: Option<(u32, usize)>,
    back: Option<(u32, usize)>,
}

impl Iterator for Iter<'_> {
    type Item = Entry;

    #[inline]
    fn next(&mut self) -> Option<Entry> {
        let rank = self.ranks.next()?;
        let (leaf_number, index) = self.front.or_else(|| self.tree.seek(rank))?;
        let leaf = self.tree.leaves.get(leaf_number);
        let last = index + 1 == leaf.entries.len();
        self.front = Some(if last { (leaf.next, 0) } else { (leaf_number, index + 1) });
        Some(leaf.entries.items[index])
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.ranks.size_hint()
    }
}

impl DoubleEndedIterator for Iter<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<Entry> {
        let rank = self.ranks.next_back()?;
        let (leaf_number, index) = self.back.or_else(|| self.tree.seek(rank))?;
        let leaf = self.tree.leaves.get(leaf_number);
        self.back = match index.checked_sub(1) {
            Some(index) => Some((leaf_number, index)),
            // At the very first leaf the ranks are used up as well.
            None if leaf.previous == NONE => None,
            None => Some((leaf.previous, self.tree.leaves.get(leaf.previous).entries.len() - 1)),
        };
        Some(leaf.entries.items[index])
    }
}

impl ExactSizeIterator for Iter<'_> {}

#[cfg(test)]
#[path = "counted_tree_tests.rs"]
mod tests;
