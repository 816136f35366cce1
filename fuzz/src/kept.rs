//! Engines that are kept from input to input: making one takes longer than most inputs run.

use moonkeep::{Engine, Snapshot};
use std::cell::RefCell;

/// Engines that are as new each time somebody works with one.
pub(crate) struct Kept {
    build: fn() -> Engine,
    resting: RefCell<Vec<(Engine, Snapshot)>>,
}

impl Kept {
    pub(crate) const fn new(build: fn() -> Engine) -> Self {
        Kept { build, resting: RefCell::new(Vec::new()) }
    }
    /// Works with one; within that work another one is another engine. One whose work panics is not kept.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&Engine) -> T) -> T {
        let resting = self.resting.borrow_mut().pop();
        let (engine, new) = resting.unwrap_or_else(|| {
            let engine = (self.build)();
            let new = engine.snapshot().expect("a new engine is free");
            (engine, new)
        });
        let result = work(&engine);
        engine.restore(&new).expect("nobody is in the engine");
        self.resting.borrow_mut().push((engine, new));
        result
    }
}
