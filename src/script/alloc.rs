//! Lua's memory: the allocator behind `lua_newstate`. Small blocks come from size-class free lists over
//! a few chunks, large ones straight from the system; every byte is counted against a limit that is always set.
//! A pristine image of the first chunk can be copied back, which makes a used interpreter new in about a microsecond.
//! Not here: what a script may spend in instructions (`limits`), the Lua interface itself (`stack`, `bridge`).
#![allow(unsafe_code)]

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::mem::MaybeUninit;
use std::ptr::{NonNull, null_mut};

/// Blocks up to this size are rounded up to a multiple of 16.
const FINE_MAX: usize = 512;
/// Blocks up to this size come from chunks; four classes for each doubling above `FINE_MAX`.
const SMALL_MAX: usize = 32 * 1024;
const CLASSES: usize = FINE_MAX / 16 + 1 + 6 * 4;
/// A heap up to this size may grow to many times its size before it is collected.
pub(super) const LARGE_HEAP: usize = 1 << 20;
/// After so much was granted the instruction hook looks at once: it bounds how late a stop comes.
const BURST: u64 = 4 << 20;
/// More than this is not granted between two looks: a function of Lua's must not go on and on without one.
const BURST_MAX: u64 = 1 << 30;
/// What Lua puts around the bytes of a string.
const STRING_HEADER: usize = 25;
/// The bytes of one entry of a table's hash part, which comes in powers of two.
const HASH_ENTRY: usize = 40;
/// Where such an entry has the kinds of its value and of its key, and its key.
const VALUE_KIND: usize = 8;
const KEY: usize = 16;
const KEY_KIND: usize = 24;
/// Keys that are numbers may share one place in a table, though they did not in one of another size: to move them to a
/// new hash part then takes the square of their number, in one instruction. Parts of so many entries are looked at.
const GATHERED_ENTRIES: usize = 1 << 13;
/// A move that takes more comparisons than this, about 50 milliseconds, is refused.
const GATHERED_STEPS: u64 = 1 << 25;
/// What is taken from the system at once for small blocks. The pristine image must fit into one chunk.
const CHUNK: usize = 256 * 1024;

/// The size class of a small block: its index, and the bytes a block of the class has.
#[inline(always)]
fn class(size: usize) -> (usize, usize) {
    if size <= FINE_MAX {
        let class = size.div_ceil(16);
        return (class, class * 16);
    }
    let last = size - 1;
    let doubling = (usize::BITS - 1 - last.leading_zeros()) as usize;
    let quarter = (last >> (doubling - 2)) & 3;
    (FINE_MAX / 16 + 1 + (doubling - 9) * 4 + quarter, (quarter + 5) << (doubling - 2))
}

/// The bytes that a block of a class has.
fn class_bytes(index: usize) -> usize {
    match index.checked_sub(FINE_MAX / 16 + 1) {
        None => index * 16,
        Some(index) => (index % 4 + 5) << (index / 4 + 7),
    }
}

/// What AddressSanitizer is told of blocks: only those that Lua holds may be touched. With `--cfg moonkeep_asan`, for
/// it knows the chunks only; else nothing.
#[cfg(moonkeep_asan)]
mod sanitizer {
    use std::ffi::c_void;
    unsafe extern "C" {
        fn __asan_poison_memory_region(start: *const c_void, bytes: usize);
        fn __asan_unpoison_memory_region(start: *const c_void, bytes: usize);
    }
    pub(super) fn forbid(start: *const u8, bytes: usize) {
        // SAFETY: a note about memory of the arena; nothing is read or written.
        unsafe { __asan_poison_memory_region(start.cast(), bytes) };
    }
    pub(super) fn allow(start: *const u8, bytes: usize) {
        // SAFETY: as above.
        unsafe { __asan_unpoison_memory_region(start.cast(), bytes) };
    }
}
#[cfg(not(moonkeep_asan))]
mod sanitizer {
    #[inline(always)]
    pub(super) fn forbid(_: *const u8, _: usize) {}
    #[inline(always)]
    pub(super) fn allow(_: *const u8, _: usize) {}
}

/// In front of each large block: the list of all large blocks, and the bytes taken from the system.
#[repr(C, align(16))]
struct Large {
    previous: *mut Large,
    next: *mut Large,
    bytes: usize,
}

/// The first chunk as it was when the interpreter was new.
struct Image {
    bytes: Box<[MaybeUninit<u8>]>,
    free: [*mut u8; CLASSES],
    used: usize,
}

/// Limits that do not hold for a while.
pub(super) struct Suspended {
    ceiling: usize,
    string_max: usize,
    granted_max: u64,
    burst_at: u64,
    pressure_at: usize,
    refuse_at: u64,
}

/// The memory of one Lua state.
pub(super) struct Arena {
    free: [*mut u8; CLASSES],
    next: *mut u8,
    left: usize,
    used: usize,
    held: usize,
    ceiling: usize,
    limit: usize,
    requests: u64,
    granted: u64,
    granted_max: u64,
    burst_at: u64,
    pressure_at: usize,
    /// Bytes in large blocks.
    in_large: usize,
    /// The longest string, with its header.
    string_max: usize,
    string_limit: usize,
    refuse_at: u64,
    refuse: u64,
    #[cfg(test)]
    refused: bool,
    large: *mut Large,
    chunks: Vec<NonNull<u8>>,
    image: Option<Image>,
}

impl Arena {
    /// An empty arena in which nothing may hold more than `limit` bytes once `enforce` was called.
    pub(super) fn new(limit: usize, string_limit: usize) -> Self {
        let mut arena = Arena {
            free: [null_mut(); CLASSES],
            next: null_mut(),
            left: 0,
            used: 0,
            held: 0,
            ceiling: usize::MAX,
            limit,
            requests: 0,
            granted: 0,
            granted_max: u64::MAX,
            burst_at: u64::MAX,
            pressure_at: usize::MAX,
            in_large: 0,
            string_max: usize::MAX,
            string_limit: string_limit.saturating_add(STRING_HEADER),
            refuse_at: u64::MAX,
            refuse: u64::MAX,
            #[cfg(test)]
            refused: false,
            large: null_mut(),
            chunks: Vec::with_capacity(4),
            image: None,
        };
        if !arena.add_chunk() {
            handle_alloc_error(chunk_layout());
        }
        arena
    }

    /// Bytes that Lua has asked for and not given back.
    pub(super) fn used(&self) -> usize {
        self.used
    }

    /// Bytes that a new interpreter uses.
    pub(super) fn pristine(&self) -> usize {
        self.image.as_ref().map_or(0, |image| image.used)
    }

    /// Bytes taken from the system.
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// The limit in force while a script runs.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Lets the `n`-th request for more memory inside each run fail (1 is the first), or none.
    #[cfg(test)]
    pub(super) fn refuse_nth(&mut self, n: Option<u64>) {
        self.refuse = n.unwrap_or(u64::MAX);
        self.refused = false;
    }

    /// Whether a request of the last run was refused by `refuse_nth`.
    #[cfg(test)]
    pub(super) fn has_refused(&self) -> bool {
        self.refused
    }

    /// Bytes in large blocks.
    pub(super) fn in_large(&self) -> usize {
        self.in_large
    }

    /// Bytes granted since the last time this was asked: each of them was written, so they are charged as work.
    /// Until it is asked again, no more than `BURST_MAX` are granted.
    pub(super) fn take_granted(&mut self) -> u64 {
        (self.granted_max, self.burst_at) = (BURST_MAX, BURST);
        std::mem::take(&mut self.granted)
    }

    /// True once more is in use than was set to be looked at, or a good deal was granted since the last look.
    #[inline(always)]
    pub(super) fn is_pressed(&self) -> bool {
        self.used > self.pressure_at || self.granted > self.burst_at
    }

    /// Somebody will look soon: `is_pressed` is false until then.
    pub(super) fn note_pressure(&mut self) {
        (self.pressure_at, self.burst_at) = (usize::MAX, u64::MAX);
    }

    /// Sets how much may be in use until `is_pressed` says so.
    pub(super) fn set_pressure(&mut self, bytes: usize) {
        self.pressure_at = bytes;
    }

    /// From here on memory is limited: to be called when a protected call begins.
    #[inline]
    pub(super) fn enforce(&mut self) {
        self.ceiling = self.limit;
        self.string_max = self.string_limit;
        self.pressure_at = LARGE_HEAP;
        self.take_granted();
        self.refuse_at = if self.refuse == u64::MAX { u64::MAX } else { self.requests + self.refuse };
    }

    /// From here on requests are granted as long as the system has memory: outside protected calls a
    /// failure could not be caught.
    #[inline]
    pub(super) fn relax(&mut self) {
        self.ceiling = usize::MAX;
        self.string_max = usize::MAX;
        self.note_pressure();
        self.granted_max = u64::MAX;
        self.refuse_at = u64::MAX;
    }

    /// As `relax`, up to `resume` within the same protected call.
    pub(super) fn suspend(&mut self) -> Suspended {
        let Arena { ceiling, string_max, granted_max, burst_at, pressure_at, refuse_at, .. } = *self;
        self.relax();
        Suspended { ceiling, string_max, granted_max, burst_at, pressure_at, refuse_at }
    }

    /// The limits of before `suspend`.
    pub(super) fn resume(&mut self, limits: Suspended) {
        let Suspended { ceiling, string_max, granted_max, burst_at, pressure_at, refuse_at } = limits;
        (self.ceiling, self.string_max, self.refuse_at) = (ceiling, string_max, refuse_at);
        (self.granted_max, self.burst_at, self.pressure_at) = (granted_max, burst_at, pressure_at);
    }

    /// Remembers the present contents as those of a new interpreter. False when they do not fit into one chunk.
    pub(super) fn snapshot(&mut self) -> bool {
        let [chunk] = self.chunks[..] else { return false };
        if !self.large.is_null() {
            return false;
        }
        let length = CHUNK - self.left;
        let mut bytes = Box::new_uninit_slice(length);
        sanitizer::allow(chunk.as_ptr(), CHUNK);
        // SAFETY: the chunk is at least that long, and the box a place of its own. What Lua has not written is
        // copied as it is: never looked at.
        unsafe { bytes.as_mut_ptr().copy_from_nonoverlapping(chunk.as_ptr().cast(), length) };
        self.image = Some(Image { bytes, free: self.free, used: self.used });
        self.forbid_unused();
        true
    }

    /// Back to the snapshot: same contents at the same addresses. False when there is no snapshot.
    ///
    /// Whoever calls this must hold no reference into the Lua state.
    pub(super) fn restore(&mut self) -> bool {
        let Some(image) = self.image.take() else { return false };
        self.free_large();
        for chunk in self.chunks.drain(1..) {
            sanitizer::allow(chunk.as_ptr(), CHUNK);
            // SAFETY: made by `add_chunk` with this layout, and no block in it is used any more.
            unsafe { dealloc(chunk.as_ptr(), chunk_layout()) };
        }
        let length = image.bytes.len();
        let first = self.chunks[0].as_ptr();
        sanitizer::allow(first, CHUNK);
        // SAFETY: the first chunk is CHUNK bytes long, and the image was cut from it.
        unsafe {
            first.copy_from_nonoverlapping(image.bytes.as_ptr().cast(), length);
            self.next = first.add(length);
        }
        self.left = CHUNK - length;
        self.free = image.free;
        self.used = image.used;
        self.held = CHUNK;
        self.image = Some(image);
        self.forbid_unused();
        true
    }

    /// Tells the sanitizer which parts of the only chunk are not in use.
    fn forbid_unused(&self) {
        if !cfg!(moonkeep_asan) {
            return;
        }
        sanitizer::forbid(self.next, self.left);
        for (index, &head) in self.free.iter().enumerate() {
            let (mut block, bytes) = (head, class_bytes(index));
            while !block.is_null() {
                // SAFETY: a free block starts with the address of the next one.
                let next = unsafe { block.cast::<*mut u8>().read() };
                sanitizer::forbid(block, bytes);
                block = next;
            }
        }
    }

    fn add_chunk(&mut self) -> bool {
        if self.held > self.ceiling.saturating_sub(CHUNK) {
            return false;
        }
        // SAFETY: the layout is not empty.
        let chunk = unsafe { alloc(chunk_layout()) };
        let Some(start) = NonNull::new(chunk) else { return false };
        self.chunks.push(start);
        self.next = chunk;
        self.left = CHUNK;
        self.held += CHUNK;
        sanitizer::forbid(chunk, CHUNK);
        true
    }

    #[inline(always)]
    fn take_small(&mut self, size: usize) -> *mut u8 {
        let (index, bytes) = class(size);
        let first = self.free[index];
        if !first.is_null() {
            sanitizer::allow(first, bytes);
            // SAFETY: a free block of at least 16 bytes starts with the address of the next one.
            self.free[index] = unsafe { first.cast::<*mut u8>().read() };
            sanitizer::forbid(first, bytes);
            sanitizer::allow(first, size);
            return first;
        }
        if self.left < bytes && !self.add_chunk() {
            return null_mut();
        }
        let block = self.next;
        // SAFETY: `left` bytes of the chunk follow `next`, and `bytes` is not more than that.
        self.next = unsafe { block.add(bytes) };
        self.left -= bytes;
        sanitizer::allow(block, size);
        block
    }

    #[inline(always)]
    fn give_small(&mut self, block: *mut u8, size: usize) {
        let (index, bytes) = class(size);
        sanitizer::allow(block, bytes);
        // SAFETY: Lua gives the block back with the size it asked for; it is of this class and unused now.
        unsafe { block.cast::<*mut u8>().write(self.free[index]) };
        self.free[index] = block;
        sanitizer::forbid(block, bytes);
    }

    #[cold]
    fn take_large(&mut self, size: usize) -> *mut u8 {
        let Some(layout) = large_layout(size) else { return null_mut() };
        if self.ceiling != usize::MAX && self.would_gather(size) {
            return null_mut();
        }
        if self.held > self.ceiling.saturating_sub(layout.size()) {
            return null_mut();
        }
        // SAFETY: the layout is not empty.
        let head = unsafe { alloc(layout) }.cast::<Large>();
        if head.is_null() {
            return null_mut();
        }
        // SAFETY: fresh memory of more than a header; the list holds only living headers.
        unsafe {
            head.write(Large { previous: null_mut(), next: self.large, bytes: layout.size() });
            if let Some(next) = self.large.as_mut() {
                next.previous = head;
            }
            self.large = head;
            self.held += layout.size();
            self.in_large += layout.size();
            head.add(1).cast()
        }
    }

    /// Whether a block of this size may become the hash part of a table in which thousands of numbers share a place.
    /// Whose part it will be is not known: that of any large table.
    fn would_gather(&self, size: usize) -> bool {
        let Some(entries) = entries_of(size).filter(|entries| *entries >= GATHERED_ENTRIES) else {
            return false;
        };
        let mut head = self.large;
        // SAFETY: the list holds only living headers.
        while let Some(large) = unsafe { head.as_ref() } {
            let bytes = large.bytes - size_of::<Large>();
            if entries_of(bytes).is_some_and(|entries| entries >= GATHERED_ENTRIES) {
                // SAFETY: the block starts after its header and is `bytes` long. Should it be none of a table's, its
                // contents mean nothing and are just numbers here.
                let block =
                    unsafe { std::slice::from_raw_parts(head.add(1).cast::<MaybeUninit<u8>>(), bytes) };
                if comparisons(block, entries) > GATHERED_STEPS {
                    return true;
                }
            }
            head = large.next;
        }
        false
    }

    #[cold]
    fn give_large(&mut self, block: *mut u8) {
        // SAFETY: a block above SMALL_MAX was made by `take_large`: its header stands in front of it.
        unsafe {
            let head = block.cast::<Large>().sub(1);
            let Large { previous, next, bytes } = head.read();
            if let Some(next) = next.as_mut() {
                next.previous = previous;
            }
            match previous.as_mut() {
                Some(previous) => previous.next = next,
                None => self.large = next,
            }
            self.held -= bytes;
            self.in_large -= bytes;
            dealloc(head.cast(), Layout::from_size_align_unchecked(bytes, 16));
        }
    }

    fn free_large(&mut self) {
        while !self.large.is_null() {
            // SAFETY: the list holds only living headers; the block starts after its header.
            let block = unsafe { self.large.add(1) }.cast();
            self.give_large(block);
        }
    }

    #[inline(always)]
    fn take(&mut self, size: usize) -> *mut u8 {
        if size <= SMALL_MAX { self.take_small(size) } else { self.take_large(size) }
    }

    #[inline(always)]
    fn give(&mut self, block: *mut u8, size: usize) {
        if size <= SMALL_MAX { self.give_small(block, size) } else { self.give_large(block) }
    }

    /// Whether a request for `size` bytes in place of `old` is within the limits and not chosen to fail.
    #[inline(always)]
    fn admit(&mut self, old: usize, size: usize) -> bool {
        self.requests += 1;
        self.granted += size as u64;
        #[cfg(test)]
        {
            self.refused |= self.requests == self.refuse_at;
        }
        self.requests != self.refuse_at
            && self.used <= self.ceiling.saturating_sub(size - old)
            && self.granted <= self.granted_max
    }

    /// What Lua asks of its allocator: a block of `new` bytes with the contents of `block`, which has `old` bytes.
    /// Null is none on both sides.
    ///
    /// # Safety
    /// `block` is null or was handed out by this arena with the size `old`.
    #[inline(always)]
    pub(super) unsafe fn request(&mut self, block: *mut u8, old: usize, new: usize) -> *mut u8 {
        if block.is_null() {
            if new == 0 || !self.admit(0, new) || (new > self.string_max && !is_hash_part(new)) {
                return null_mut();
            }
            let fresh = self.take(new);
            self.used += if fresh.is_null() { 0 } else { new };
            return fresh;
        }
        if new == 0 {
            self.give(block, old);
            self.used -= old;
            return null_mut();
        }
        self.resize(block, old, new)
    }

    fn resize(&mut self, block: *mut u8, old: usize, new: usize) -> *mut u8 {
        if old <= SMALL_MAX && new <= SMALL_MAX && class(old).0 == class(new).0 {
            self.used = self.used - old + new;
            sanitizer::forbid(block, class(old).1);
            sanitizer::allow(block, new);
            return block;
        }
        if new > old && !self.admit(old, new) {
            return null_mut();
        }
        let fresh = self.take(new);
        if fresh.is_null() {
            if new > old {
                return null_mut();
            }
            // Lua relies on a block that gets smaller never failing. Given back later as a block of its new
            // size, it is one of the smaller class; a large one stays on the list of large blocks until the end.
            self.used = self.used - old + new;
            return block;
        }
        // SAFETY: both blocks hold at least the smaller of the two sizes, and are different.
        unsafe { fresh.copy_from_nonoverlapping(block, old.min(new)) };
        self.give(block, old);
        self.used = self.used - old + new;
        fresh
    }
}

/// Whether a new block of this size is the hash part of a table or the table of all strings; else it is a string.
/// An array grows in its place.
#[cold]
fn is_hash_part(size: usize) -> bool {
    size.is_power_of_two() || (size.is_multiple_of(HASH_ENTRY) && (size / HASH_ENTRY).is_power_of_two())
}

/// How many entries a hash part of so many bytes has; none when it cannot be one.
fn entries_of(size: usize) -> Option<usize> {
    let entries = size / HASH_ENTRY;
    (size.is_multiple_of(HASH_ENTRY) && entries.is_power_of_two()).then_some(entries)
}

/// How many comparisons it takes to move the numbers among the keys of one hash part to one with so many entries.
fn comparisons(block: &[MaybeUninit<u8>], entries: usize) -> u64 {
    const NIL: u32 = 0;
    const NUMBER: u32 = 3;
    let places = (entries as u32 - 1) | 1;
    let mut taken = vec![0u32; entries];
    let mut steps = 0;
    for entry in block.chunks_exact(HASH_ENTRY) {
        let word = |at: usize| {
            // SAFETY: four bytes of an entry. Lua has written those of a table's part; elsewhere any value will do, and
            // a volatile read takes what there is.
            unsafe { entry.as_ptr().add(at).cast::<u32>().read_volatile() }
        };
        if word(VALUE_KIND) == NIL || word(KEY_KIND) != NUMBER {
            continue;
        }
        let place = word(KEY).wrapping_add(word(KEY + 4)) % places;
        let taken = &mut taken[place as usize];
        steps += u64::from(*taken);
        *taken += 1;
    }
    steps
}

impl Drop for Arena {
    fn drop(&mut self) {
        self.free_large();
        for chunk in self.chunks.drain(..) {
            sanitizer::allow(chunk.as_ptr(), CHUNK);
            // SAFETY: made by `add_chunk` with this layout; the Lua state in it is not used any more.
            unsafe { dealloc(chunk.as_ptr(), chunk_layout()) };
        }
    }
}

fn chunk_layout() -> Layout {
    const { assert!(CHUNK.is_multiple_of(4096)) };
    Layout::from_size_align(CHUNK, 16).expect("a constant layout")
}

fn large_layout(size: usize) -> Option<Layout> {
    Layout::from_size_align(size.checked_add(size_of::<Large>())?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Arena {
        fn ask(&mut self, block: *mut u8, old: usize, new: usize) -> *mut u8 {
            // SAFETY: the tests keep the sizes.
            unsafe { self.request(block, old, new) }
        }
    }

    #[test]
    fn classes_cover_every_small_size_tightly() {
        let mut last = (0, 0);
        for size in 1..=SMALL_MAX {
            let (index, bytes) = class(size);
            assert!(bytes >= size && index < CLASSES, "{size}: {index} {bytes}");
            assert!(bytes < size + 16 || bytes * 4 < size * 5 + 4, "{size}: {bytes}");
            assert!((index, bytes) == last || (index > last.0 && bytes > last.1), "{size}");
            assert_eq!(class_bytes(index), bytes);
            last = (index, bytes);
        }
        assert_eq!(last, (CLASSES - 1, SMALL_MAX));
    }

    #[test]
    fn blocks_do_not_overlap_and_keep_their_contents_when_resized() {
        let mut arena = Arena::new(1 << 20, 1 << 20);
        let sizes = [1, 16, 17, 500, 513, 4000, 32768, 32769, 100_000];
        let mut blocks: Vec<(*mut u8, usize)> = Vec::new();
        for (i, &size) in sizes.iter().enumerate() {
            let block = arena.ask(null_mut(), 0, size);
            assert!(!block.is_null());
            // SAFETY: the block is `size` bytes long.
            unsafe { block.write_bytes(i as u8, size) };
            blocks.push((block, size));
        }
        for (i, (block, size)) in blocks.iter_mut().enumerate() {
            let grown = arena.ask(*block, *size, *size * 2);
            // SAFETY: `size` bytes were filled above and carried over.
            let kept = unsafe { std::slice::from_raw_parts(grown, *size) };
            assert!(kept.iter().all(|&b| b == i as u8));
            (*block, *size) = (grown, *size * 2);
        }
        assert_eq!(arena.used(), sizes.iter().sum::<usize>() * 2);
        for (block, size) in blocks {
            arena.ask(block, size, 0);
        }
        assert_eq!(arena.used(), 0);
        assert_eq!(arena.held, CHUNK);
    }

    #[test]
    fn the_limit_holds_only_while_enforced() {
        let mut arena = Arena::new(CHUNK + 100_000, CHUNK);
        arena.enforce();
        let first = arena.ask(null_mut(), 0, 60_000);
        assert!(!first.is_null());
        assert!(arena.ask(null_mut(), 0, 60_000).is_null());
        assert!(arena.ask(first, 60_000, 300_000).is_null());
        arena.relax();
        assert!(!arena.ask(null_mut(), 0, 60_000).is_null());
    }

    #[test]
    fn strings_are_bounded_apart_from_tables() {
        let mut arena = Arena::new(8 << 20, 1000);
        arena.enforce();
        assert!(!arena.ask(null_mut(), 0, 1025).is_null());
        assert!(arena.ask(null_mut(), 0, 1026).is_null());
        let table = arena.ask(null_mut(), 0, HASH_ENTRY * 1024);
        assert!(!table.is_null() && !arena.ask(table, HASH_ENTRY * 1024, 100_000).is_null());
        arena.relax();
        assert!(!arena.ask(null_mut(), 0, 1026).is_null());
    }

    #[test]
    fn numbers_that_would_gather_in_one_place_are_not_moved() {
        let count = GATHERED_ENTRIES * 2;
        let mut arena = Arena::new(64 << 20, 64 << 20);
        arena.enforce();
        for spread in [true, false] {
            let block = arena.ask(null_mut(), 0, count * HASH_ENTRY);
            for index in 0..count as u32 {
                let low = if spread { index } else { index * (2 * count as u32 - 1) };
                // SAFETY: an entry of the block, aligned to 8 bytes.
                unsafe {
                    let entry = block.add(index as usize * HASH_ENTRY).cast::<u32>();
                    entry.write_bytes(0, HASH_ENTRY / 4);
                    entry.add(VALUE_KIND / 4).write(1);
                    entry.add(KEY / 4).write(low);
                    entry.add(KEY_KIND / 4).write(3);
                }
            }
            let larger = arena.ask(null_mut(), 0, 2 * count * HASH_ENTRY);
            assert_eq!(larger.is_null(), !spread);
            assert!(!arena.ask(null_mut(), 0, 2 * count * HASH_ENTRY + 8).is_null());
        }
        arena.relax();
        assert!(!arena.ask(null_mut(), 0, 2 * count * HASH_ENTRY).is_null());
    }

    #[test]
    fn a_burst_and_growth_ask_for_a_look() {
        let mut arena = Arena::new(64 << 20, 64 << 20);
        arena.enforce();
        let mut block = arena.ask(null_mut(), 0, 900_000);
        assert!(!arena.is_pressed());
        for _ in 0..4 {
            arena.ask(block, 900_000, 0);
            block = arena.ask(null_mut(), 0, 900_000);
        }
        assert!(arena.is_pressed());
        arena.note_pressure();
        assert!(!arena.is_pressed());
        assert_eq!((arena.take_granted(), arena.is_pressed()), (4_500_000, false));
    }

    #[test]
    fn the_nth_request_fails_and_only_that_one() {
        let mut arena = Arena::new(1 << 20, 1 << 20);
        arena.refuse_nth(Some(2));
        assert!(!arena.ask(null_mut(), 0, 8).is_null());
        arena.enforce();
        assert!(!arena.ask(null_mut(), 0, 8).is_null());
        assert!(arena.ask(null_mut(), 0, 8).is_null());
        assert!(!arena.ask(null_mut(), 0, 8).is_null());
    }

    #[test]
    fn a_restored_arena_has_the_old_contents_and_hands_out_the_same_addresses() {
        let mut arena = Arena::new(8 << 20, 8 << 20);
        let block = arena.ask(null_mut(), 0, 100);
        // SAFETY: the block is 100 bytes long.
        unsafe { block.write_bytes(7, 100) };
        assert!(arena.snapshot());
        let next = arena.ask(null_mut(), 0, 40);
        for size in [50, 40_000, 300_000, 10_000].repeat(20) {
            assert!(!arena.ask(null_mut(), 0, size).is_null());
        }
        // SAFETY: the block is 100 bytes long.
        unsafe { block.write_bytes(9, 100) };
        assert!(arena.restore());
        assert_eq!((arena.used(), arena.held), (100, CHUNK));
        // SAFETY: the block is 100 bytes long and was filled before the snapshot.
        assert!(unsafe { std::slice::from_raw_parts(block, 100) }.iter().all(|&b| b == 7));
        assert_eq!(arena.ask(null_mut(), 0, 40), next);
    }
}
