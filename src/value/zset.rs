//! The sorted set value: members ordered by score, then by their bytes. Small ones are packed in order ("listpack"),
//! large ones are a table of members and a tree of their order ("skiplist", the server's name for that form); a set
//! that became large stays so. Everything about ranges is in terms of ranks: turn a range of scores or of members
//! into ranks, then count, walk or remove these. Commands are in `commands::zsets`.

use std::cmp::Ordering;
use std::ops::{Bound, Range};

use crate::util::bytes::Bytes;
use crate::value::counted_tree::{self, CountedTree, Entry};
use crate::value::packed::{self, Limits, PACKED_MAX_BYTES, Packed, Position};
use crate::value::table::{Keyed, Table};

/// Members with scores. A score is never NaN.
#[derive(Clone, Default)]
pub struct ZSet {
    form: Form,
}

#[derive(Clone)]
enum Form {
    /// Items of eight bytes of score and the member, in order.
    Packed(Packed),
    Indexed(Box<Indexed>),
}

impl Default for Form {
    fn default() -> Self {
        Form::Packed(Packed::new())
    }
}

#[derive(Clone, Default)]
struct Indexed {
    members: Table<Member>,
    order: CountedTree,
}

#[derive(Clone)]
struct Member {
    name: Bytes,
    score: f64,
}

impl Keyed for Member {
    #[inline]
    fn key(&self) -> &[u8] {
        &self.name
    }

    #[inline]
    fn heap_bytes(&self) -> usize {
        self.name.heap_bytes()
    }
}

/// What setting a score did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The member is new.
    Added,
    /// The member has another score now.
    Updated,
    /// The member had that score.
    Unchanged,
}

/// One end of a range of members, for sets whose scores are all equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LexBound<'a> {
    /// Before every member: `-`.
    Minimum,
    /// Behind every member: `+`.
    Maximum,
    /// At the member, which is part of the range: `[member`.
    Included(&'a [u8]),
    /// At the member, which is not part of the range: `(member`.
    Excluded(&'a [u8]),
}

impl LexBound<'_> {
    /// Whether a range that starts here leaves the member out.
    fn is_after(&self, member: &[u8]) -> bool {
        match self {
            LexBound::Minimum => false,
            LexBound::Maximum => true,
            LexBound::Included(bound) => member < *bound,
            LexBound::Excluded(bound) => member <= *bound,
        }
    }

    /// Whether a range that ends here leaves the member out.
    fn is_before(&self, member: &[u8]) -> bool {
        match self {
            LexBound::Minimum => true,
            LexBound::Maximum => false,
            LexBound::Included(bound) => member > *bound,
            LexBound::Excluded(bound) => member >= *bound,
        }
    }
}

impl ZSet {
    /// An empty sorted set in the small form.
    pub fn new() -> Self {
        ZSet::default()
    }

    /// A set of these members, in the form that their number and the longest of them ask for.
    pub fn collect<M: AsRef<[u8]>>(pairs: &[(M, f64)], limits: &Limits) -> Self {
        let mut zset = ZSet::new();
        let fits = |(member, _): &(M, f64)| member.as_ref().len() <= limits.max_value;
        if pairs.len() > limits.max_entries || !pairs.iter().all(fits) {
            zset.indexed();
        }
        for (member, score) in pairs {
            zset.insert(member.as_ref(), *score, limits);
        }
        zset
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        match &self.form {
            Form::Packed(packed) => packed.len(),
            Form::Indexed(indexed) => indexed.members.len(),
        }
    }

    /// Whether there is no member; such a set is never left in the keyspace.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it has the small form.
    pub fn is_packed(&self) -> bool {
        matches!(self.form, Form::Packed(_))
    }

    /// The form, as OBJECT ENCODING names it.
    pub fn encoding(&self) -> &'static str {
        match &self.form {
            Form::Packed(_) => "listpack",
            Form::Indexed(_) => "skiplist",
        }
    }

    /// The score of a member.
    pub fn score(&self, member: &[u8]) -> Option<f64> {
        match &self.form {
            Form::Packed(packed) => find_packed(packed, member).map(|(_, at)| decode(packed.get(at)).1),
            Form::Indexed(indexed) => indexed.members.get(member).map(|found| found.score),
        }
    }

    /// Whether the member is there.
    pub fn contains(&self, member: &[u8]) -> bool {
        self.score(member).is_some()
    }

    /// How many members are before this one.
    pub fn rank(&self, member: &[u8]) -> Option<usize> {
        match &self.form {
            Form::Packed(packed) => find_packed(packed, member).map(|(rank, _)| rank),
            Form::Indexed(indexed) => {
                let found = indexed.members.get(member)?;
                Some(indexed.rank_of(found.score, member))
            }
        }
    }

    /// Sets the score of a member. The set becomes large when a new member goes beyond the limits.
    pub fn insert(&mut self, member: &[u8], score: f64, limits: &Limits) -> Change {
        debug_assert!(!score.is_nan());
        if let Form::Packed(packed) = &mut self.form {
            if let Some((_, at)) = find_packed(packed, member) {
                return update_packed(packed, at, member, score);
            }
            if packed.len() < limits.max_entries
                && member.len() <= limits.max_value
                && packed.byte_len() + member.len() < PACKED_MAX_BYTES
            {
                insert_packed(packed, member, score);
                return Change::Added;
            }
        }
        self.indexed().insert(member, score)
    }

    /// The large form of this set, which it takes if it has not yet.
    fn indexed(&mut self) -> &mut Indexed {
        if let Form::Packed(packed) = &self.form {
            let mut indexed = Box::<Indexed>::default();
            for item in packed.iter() {
                let (member, score) = decode(item);
                indexed.insert(member, score);
            }
            self.form = Form::Indexed(indexed);
        }
        match &mut self.form {
            Form::Indexed(indexed) => indexed,
            Form::Packed(_) => unreachable!("made large above"),
        }
    }

    /// Takes the large form, whatever the limits say.
    pub fn make_large(&mut self) {
        self.indexed();
    }

    /// Removes a member and returns its score.
    pub fn remove(&mut self, member: &[u8]) -> Option<f64> {
        match &mut self.form {
            Form::Packed(packed) => {
                let (_, at) = find_packed(packed, member)?;
                let (_, score) = decode(packed.get(at));
                packed.remove(at);
                Some(score)
            }
            Form::Indexed(indexed) => indexed.remove(member),
        }
    }

    /// Removes the members with these ranks and returns how many there were.
    pub fn remove_range(&mut self, ranks: Range<usize>) -> usize {
        let end = ranks.end.min(self.len());
        let count = end.saturating_sub(ranks.start);
        match &mut self.form {
            Form::Packed(packed) => packed.remove_run(packed.seek(ranks.start), count),
            Form::Indexed(indexed) => (0..count).for_each(|_| indexed.remove_at(ranks.start)),
        }
        count
    }

    /// The member with this rank.
    pub fn nth(&self, rank: usize) -> Option<(&[u8], f64)> {
        match &self.form {
            Form::Packed(packed) if rank < packed.len() => Some(decode(packed.get(packed.seek(rank)))),
            Form::Packed(_) => None,
            Form::Indexed(indexed) => indexed.pair(indexed.order.get(rank)?),
        }
    }

    /// The member with this index, in no order in particular: the quickest way to a random one.
    pub fn any(&self, index: usize) -> Option<(&[u8], f64)> {
        match &self.form {
            Form::Packed(_) => self.nth(index),
            Form::Indexed(indexed) => indexed.members.items().get(index).map(Member::pair),
        }
    }

    /// The ranks of the members whose scores are in a range.
    pub fn ranks_by_score(&self, min: Bound<f64>, max: Bound<f64>) -> Range<usize> {
        let start = match min {
            Bound::Unbounded => 0,
            Bound::Included(min) => self.partition_point(|score, _| score < min),
            Bound::Excluded(min) => self.partition_point(|score, _| score <= min),
        };
        let end = match max {
            Bound::Unbounded => self.len(),
            Bound::Included(max) => self.partition_point(|score, _| score <= max),
            Bound::Excluded(max) => self.partition_point(|score, _| score < max),
        };
        start..end.max(start)
    }

    /// The ranks of the members in a range of members. It means something only when all scores are equal; else a small
    /// set answers what the server does: the walk starts at the end that `rev` says, passes over the first `skip`
    /// whatever they are, and stops behind the range.
    pub fn ranks_by_lex(&self, min: LexBound<'_>, max: LexBound<'_>, rev: bool, skip: usize) -> Range<usize> {
        let from_min = |member: &[u8]| !min.is_after(member);
        let to_max = |member: &[u8]| !max.is_before(member);
        if let Form::Packed(_) = &self.form {
            let meets = self.iter().next().is_some_and(|item| to_max(item.0))
                && self.iter().next_back().is_some_and(|item| from_min(item.0));
            if !meets {
                return 0..0;
            }
            if rev {
                let end = self.len() - self.iter().rev().take_while(|item| !to_max(item.0)).count();
                let first = self.range(0..end).next_back();
                let end =
                    if first.is_some_and(|item| from_min(item.0)) { end.saturating_sub(skip) } else { 0 };
                let inside = self.range(0..end).rev().take_while(|item| from_min(item.0)).count();
                return end - inside..end;
            }
            let start = self.iter().take_while(|item| !from_min(item.0)).count();
            let first = self.range(start..self.len()).next();
            let start = if first.is_some_and(|item| to_max(item.0)) {
                start.saturating_add(skip)
            } else {
                self.len()
            };
            let start = start.min(self.len());
            let inside = self.range(start..self.len()).take_while(|item| to_max(item.0)).count();
            return start..start + inside;
        }
        let start = self.partition_point(|_, member| !from_min(member));
        let end = self.partition_point(|_, member| to_max(member)).max(start);
        if rev {
            start..end.saturating_sub(skip).max(start)
        } else {
            start.saturating_add(skip).min(end)..end
        }
    }

    /// How many members from the start satisfy `before`, which must hold for a prefix of the order only.
    pub fn partition_point(&self, before: impl Fn(f64, &[u8]) -> bool) -> usize {
        match &self.form {
            Form::Packed(packed) => {
                let passes = |item: &&[u8]| {
                    let (member, score) = decode(item);
                    before(score, member)
                };
                packed.iter().take_while(passes).count()
            }
            Form::Indexed(indexed) => indexed.partition_point(before),
        }
    }

    /// All members in order, from both ends.
    pub fn iter(&self) -> Iter<'_> {
        self.range(0..self.len())
    }

    /// The members with these ranks in order, from both ends.
    pub fn range(&self, ranks: Range<usize>) -> Iter<'_> {
        match &self.form {
            Form::Packed(packed) => {
                let items = packed.iter_between(packed.seek(ranks.start), packed.seek(ranks.end));
                Iter(IterForm::Packed(items))
            }
            Form::Indexed(indexed) => {
                indexed.look_ahead(ranks.clone());
                Iter(IterForm::Indexed(indexed, indexed.order.range(ranks)))
            }
        }
    }

    /// The number in cursors of this value, see [`Table::walk`]; None in a form that is walked at once.
    pub fn walk(&self) -> Option<u32> {
        match &self.form {
            Form::Packed(_) => None,
            Form::Indexed(indexed) => Some(indexed.members.walk()),
        }
    }

    /// Sets the number in cursors of this value.
    pub fn set_walk(&mut self, number: u32) {
        if let Form::Indexed(indexed) = &mut self.form {
            indexed.members.set_walk(number);
        }
    }

    /// Passes about `count` members (all, while the set is small) to `each`; returns the next cursor, 0 at the end.
    /// A member that is there throughout the walk is passed at least once, and twice only when walks over the value meet.
    pub fn scan(&mut self, cursor: u64, count: usize, mut each: impl FnMut(&[u8], f64)) -> u64 {
        match &mut self.form {
            Form::Packed(_) => {
                self.iter().for_each(|(member, score)| each(member, score));
                0
            }
            Form::Indexed(indexed) => {
                indexed.members.scan(cursor, count, |member| each(&member.name, member.score))
            }
        }
    }

    /// About how many bytes this set takes up, itself included.
    pub fn memory_bytes(&self) -> usize {
        let heap = match &self.form {
            Form::Packed(packed) => packed.byte_len(),
            Form::Indexed(indexed) => {
                size_of::<Indexed>() + indexed.members.memory_bytes() + indexed.order.memory_bytes()
            }
        };
        size_of::<Self>() + heap
    }
}

impl Indexed {
    fn insert(&mut self, member: &[u8], score: f64) -> Change {
        match self.members.find(member) {
            Ok(place) => self.set_score(place, score),
            Err(hash) => {
                let id = self.members.push(hash, Member { name: Bytes::from(member), score });
                self.insert_in_order(id, score);
                Change::Added
            }
        }
    }

    fn set_score(&mut self, place: u32, score: f64) -> Change {
        if self.members.at(place).is_none_or(|member| member.score == score) {
            return Change::Unchanged;
        }
        self.remove_from_order(place);
        self.members.update(place, |member| member.score = score);
        self.insert_in_order(place, score);
        Change::Updated
    }

    fn remove(&mut self, member: &[u8]) -> Option<f64> {
        let place = self.members.find(member).ok()?;
        self.remove_place(place)
    }

    fn remove_at(&mut self, rank: usize) {
        if let Some(entry) = self.order.get(rank) {
            self.remove_place(entry.id);
        }
    }

    /// Removes the member at a place. Up to two others move in the table: see [`Table::remove`].
    fn remove_place(&mut self, place: u32) -> Option<f64> {
        self.remove_from_order(place);
        self.expect_move(self.members.passed_at(place), place);
        let place = self.members.pass(place);
        let last = (self.members.len() as u32).checked_sub(1)?;
        self.expect_move(last, place);
        self.members.remove(place).map(|member| member.score)
    }

    /// Tells the order that the member at one place is about to move to another, that of a member it does not have.
    fn expect_move(&mut self, from: u32, to: u32) {
        let members = self.members.items();
        if from != to
            && let Some(moved) = members.get(from as usize)
        {
            let entry = Entry { score: moved.score, id: to };
            self.order.replace(through(members, moved), entry);
        }
    }

    fn insert_in_order(&mut self, place: u32, score: f64) {
        let members = self.members.items();
        if let Some(member) = members.get(place as usize) {
            let before = |other, id: u32| {
                order(other, &members[id as usize].name, score, &member.name) == Ordering::Less
            };
            self.order.insert(before, Entry { score, id: place });
        }
    }

    fn remove_from_order(&mut self, place: u32) {
        let members = self.members.items();
        if let Some(member) = members.get(place as usize) {
            self.order.remove(through(members, member));
        }
    }

    /// How many members are before this score and member.
    fn rank_of(&self, score: f64, member: &[u8]) -> usize {
        self.partition_point(|other, name| order(other, name, score, member) == Ordering::Less)
    }

    #[inline]
    fn partition_point(&self, before: impl Fn(f64, &[u8]) -> bool) -> usize {
        let members = self.members.items();
        self.order.partition_point(|score, id| before(score, &members[id as usize].name))
    }

    /// Reads a little of the members of a short walk before it begins: they lie apart, and the processor fetches side by
    /// side what does not wait for anything else.
    #[inline]
    fn look_ahead(&self, ranks: Range<usize>) {
        const SHORT: Range<usize> = 2..33;
        if SHORT.contains(&ranks.len()) {
            let scores = self.order.range(ranks).filter_map(|entry| self.members.at(entry.id));
            std::hint::black_box(scores.fold(0, |sum, member| sum ^ member.score.to_bits()));
        }
    }

    fn pair(&self, entry: Entry) -> Option<(&[u8], f64)> {
        self.members.at(entry.id).map(Member::pair)
    }
}

impl Member {
    #[inline]
    fn pair(&self) -> (&[u8], f64) {
        (&self.name, self.score)
    }
}

/// By score, then by bytes. Zeros of both signs are equal, as they are for the server.
#[inline]
fn order(score: f64, member: &[u8], other_score: f64, other_member: &[u8]) -> Ordering {
    score.partial_cmp(&other_score).unwrap_or(Ordering::Equal).then_with(|| member.cmp(other_member))
}

/// Whether an entry of the tree is not behind a member.
fn through<'a>(members: &'a [Member], member: &'a Member) -> impl Fn(f64, u32) -> bool + 'a {
    move |score, id| order(score, &members[id as usize].name, member.score, &member.name) != Ordering::Greater
}

fn decode(item: &[u8]) -> (&[u8], f64) {
    match item.split_first_chunk() {
        Some((score, member)) => (member, f64::from_le_bytes(*score)),
        None => (&[], 0.0),
    }
}

/// The rank and the position of a member.
fn find_packed(packed: &Packed, member: &[u8]) -> Option<(usize, Position)> {
    packed.find(1, |item| decode(item).0 == member)
}

fn insert_packed(packed: &mut Packed, member: &[u8], score: f64) {
    let behind = packed.find(1, |item| {
        let (other, other_score) = decode(item);
        order(other_score, other, score, member) == Ordering::Greater
    });
    let at = behind.map_or(packed.end(), |(_, at)| at);
    // The server's small form keeps integers as such, and so loses the sign of zero.
    let score = if score == 0.0 { 0.0 } else { score };
    packed.insert(at, &[&score.to_le_bytes(), member]);
}

fn update_packed(packed: &mut Packed, at: Position, member: &[u8], score: f64) -> Change {
    if decode(packed.get(at)).1 == score {
        return Change::Unchanged;
    }
    packed.remove(at);
    insert_packed(packed, member, score);
    Change::Updated
}

/// Members of a [`ZSet`] with their scores, from both ends.
#[derive(Clone)]
pub struct Iter<'a>(IterForm<'a>);

#[derive(Clone)]
enum IterForm<'a> {
    Packed(packed::Iter<'a>),
    Indexed(&'a Indexed, counted_tree::Iter<'a>),
}

impl<'a> Iterator for Iter<'a> {
    type Item = (&'a [u8], f64);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            IterForm::Packed(iter) => iter.next().map(decode),
            IterForm::Indexed(indexed, iter) => indexed.pair(iter.next()?),
        }
    }
}

impl DoubleEndedIterator for Iter<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            IterForm::Packed(iter) => iter.next_back().map(decode),
            IterForm::Indexed(indexed, iter) => indexed.pair(iter.next_back()?),
        }
    }
}

/// Equal when the same members have the same scores, in whatever form.
impl PartialEq for ZSet {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl std::fmt::Debug for ZSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.iter().map(|(member, score)| (Bytes::from(member), score))).finish()
    }
}

#[cfg(test)]
#[path = "zset_tests.rs"]
mod tests;
