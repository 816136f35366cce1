//! Histories: what several clients did at the same time, each operation with its beginning, its end and what it was told; and
//! whether some order of the operations, each at one moment between its beginning and its end, explains all of it.

use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashSet;
use parking_lot::Mutex;

use super::footprint::hash_of;

/// What one operation does to the thing that is tested, one at a time.
///
/// ```
/// use moonkeep::sim::{History, Model};
///
/// struct Counter;
/// impl Model for Counter {
///     type State = i64;
///     type Call = i64;
///     type Told = i64;
///     fn step(state: &i64, by: &i64) -> (i64, i64) { (state + by, state + by) }
/// }
///
/// let history = History::<Counter>::new();
/// history.record(1, || Some(1));
/// history.record(1, || Some(2));
/// assert!(history.is_linearizable(0));
/// history.record(1, || Some(2));            // an increment that was lost
/// assert!(!history.is_linearizable(0));
/// ```
pub trait Model {
    /// What the thing holds.
    type State: Clone + Eq + Hash;
    /// What is asked.
    type Call;
    /// What is told.
    type Told: Eq;

    /// What is held behind the call, and what it is told.
    fn step(state: &Self::State, call: &Self::Call) -> (Self::State, Self::Told);
}

/// One operation.
struct Operation<M: Model> {
    call: M::Call,
    /// None when no answer came: it may have been done or not, at any time behind its beginning.
    told: Option<M::Told>,
    begins: u64,
    ends: u64,
}

/// What clients did. Threads record into it at the same time.
pub struct History<M: Model> {
    clock: AtomicU64,
    operations: Mutex<Vec<Operation<M>>>,
}

impl<M: Model> Default for History<M> {
    fn default() -> Self {
        History { clock: AtomicU64::new(0), operations: Mutex::new(Vec::new()) }
    }
}

impl<M: Model> History<M> {
    /// An empty history.
    pub fn new() -> Self {
        History::default()
    }

    /// Records an operation around its running; `run` gives what it was told, or nothing when no answer came.
    pub fn record(&self, call: M::Call, run: impl FnOnce() -> Option<M::Told>) {
        let begins = self.clock.fetch_add(1, Ordering::SeqCst);
        let told = run();
        let ends = if told.is_some() { self.clock.fetch_add(1, Ordering::SeqCst) } else { u64::MAX };
        self.operations.lock().push(Operation { call, told, begins, ends });
    }

    /// How many operations were recorded.
    pub fn len(&self) -> usize {
        self.operations.lock().len()
    }

    /// Whether none was.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether some order of all operations explains what they were told, beginning with this state, each between its beginning
    /// and its end (Wing and Gong, 1993; what was tried is remembered, after Lowe, 2017). Takes long where very many run at the
    /// same time; things that have nothing to do with each other, as keys, are to be recorded apart.
    pub fn is_linearizable(&self, start: M::State) -> bool {
        let mut operations = self.operations.lock();
        operations.sort_unstable_by_key(|operation| operation.begins);
        let mut search = Search {
            operations: &operations,
            done: vec![0; operations.len().div_ceil(64)],
            tried: HashSet::default(),
        };
        search.explains(start)
    }
}

struct Search<'h, M: Model> {
    operations: &'h [Operation<M>],
    /// A bit for each operation.
    done: Vec<u64>,
    /// The points that explain nothing: what was done, and what is held.
    tried: HashSet<u64, foldhash::fast::FixedState>,
}

/// A point of the search that may go on with other operations.
struct Point<S> {
    state: S,
    /// Those that may come next.
    next: Vec<usize>,
    at: usize,
    taken: Option<usize>,
}

impl<M: Model> Search<'_, M> {
    fn is_done(&self, at: usize) -> bool {
        self.done[at / 64] >> (at % 64) & 1 == 1
    }

    fn flip(&mut self, at: usize) {
        self.done[at / 64] ^= 1 << (at % 64);
    }

    /// The operations that began before the first end of those that are open; none when all that were answered are done.
    fn next(&self, first: usize) -> Option<Vec<usize>> {
        let open = |at: &usize| !self.is_done(*at);
        let end = (first..self.operations.len()).filter(open).map(|at| self.operations[at].ends).min();
        let end = end.filter(|end| *end != u64::MAX)?;
        let begun = |at: &usize| self.operations[*at].begins < end;
        Some((first..self.operations.len()).take_while(begun).filter(open).collect())
    }

    fn first_open(&self) -> usize {
        let word = self.done.iter().position(|word| *word != u64::MAX).unwrap_or(self.done.len());
        let bit = self.done.get(word).map_or(0, |word| word.trailing_ones() as usize);
        (word * 64 + bit).min(self.operations.len())
    }

    /// Depth first, without recursion: histories are long.
    fn explains(&mut self, start: M::State) -> bool {
        let Some(next) = self.next(0) else { return true };
        let mut points = vec![Point { state: start, next, at: 0, taken: None }];
        while let Some(point) = points.last_mut() {
            let Some(&at) = point.next.get(point.at) else {
                let taken = point.taken;
                points.pop();
                taken.into_iter().for_each(|taken| self.flip(taken));
                continue;
            };
            point.at += 1;
            let operation = &self.operations[at];
            let (state, told) = M::step(&point.state, &operation.call);
            if operation.told.as_ref().is_some_and(|answer| *answer != told) {
                continue;
            }
            self.flip(at);
            if !self.tried.insert(hash_of(&(&self.done, &state))) {
                self.flip(at);
                continue;
            }
            match self.next(self.first_open()) {
                Some(next) => points.push(Point { state, next, at: 0, taken: Some(at) }),
                None => return true,
            }
        }
        false
    }
}
