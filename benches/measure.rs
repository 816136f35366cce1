//! How the bench measures on a busy machine: CPU time of this thread, medians, variants interleaved by the caller;
//! and an allocator that counts bytes.

use rustix::time::{ClockId, clock_gettime};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicI64, Ordering};

/// Nanoseconds of CPU time of this thread.
pub(crate) fn cpu_ns() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// Nanoseconds of real time.
pub(crate) fn wall_ns() -> f64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// CPU nanoseconds per call, over about `budget_ms` milliseconds.
pub(crate) fn per_call(budget_ms: f64, mut f: impl FnMut()) -> f64 {
    let mut count = 16u64;
    loop {
        let start = cpu_ns();
        for _ in 0..count {
            f();
        }
        let spent = cpu_ns() - start;
        if spent >= budget_ms * 1e6 {
            return spent / count as f64;
        }
        count = if spent < 1e5 { count * 8 } else { (count as f64 * budget_ms * 1.1e6 / spent) as u64 + 1 };
    }
}

/// The middle of some figures.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Counts the bytes that are held.
pub(crate) struct Counting;

static HELD: AtomicI64 = AtomicI64::new(0);

/// Bytes held now, with the rounding of the system's allocator for small blocks.
pub(crate) fn held_bytes() -> i64 {
    HELD.load(Ordering::Relaxed)
}

/// What a block of glibc's malloc takes.
fn block(size: usize) -> i64 {
    ((size + 8).max(24).div_ceil(16) * 16) as i64
}

// SAFETY: every call is handed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(block(layout.size()), Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        HELD.fetch_sub(block(layout.size()), Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        HELD.fetch_add(block(size) - block(layout.size()), Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(at, layout, size) }
    }
}
