//! What crosses the border to C as addresses: the only unsafe code of the fronts. The types here stand for promises of the
//! header: a value of one comes from C, and with it the promise, so their methods are safe to call.
//!
//! What is given to C and has a function that frees it is noted, but for replies: what is not noted is not freed.

use super::fault::Fault;
use super::reply::mk_reply;
use super::tree::Tree;
use parking_lot::Mutex;
use std::any::TypeId;
use std::cell::UnsafeCell;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

/// The longest word: proto-max-bulk-len, which is what a server reads. More is a length that was never set.
const MAX_WORD_BYTES: usize = 512 << 20;

/// Calls of up to so many words need no memory for the list of words.
const FEW_WORDS: usize = 8;

/// A text or bytes of the caller: NULL, or readable up to a NUL, or for the length that is passed with it.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Text<'a>(*const c_char, PhantomData<&'a c_char>);

/// The words of a call: NULL, or as many texts as the count that is passed with it says.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Words<'a>(*const Text<'a>, PhantomData<&'a Text<'a>>);

/// Their lengths: NULL, or as many as there are words.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Lengths<'a>(*const usize, PhantomData<&'a usize>);

/// A reply that C hands back to be freed: NULL, one that was given to it, or an element of one.
#[repr(transparent)]
pub struct Returned(*mut mk_reply);

/// Where a function writes a result: NULL, or a place that may hold anything until then.
pub(super) type Out<'a, T> = Option<&'a mut MaybeUninit<T>>;

impl<'a> Text<'a> {
    /// The bytes before the NUL.
    pub(super) fn until_nul(self, what: &str) -> Result<&'a [u8], Fault> {
        if self.0.is_null() {
            return Err(Fault::null(what));
        }
        // SAFETY: where no length goes with it, the caller passes a text that ends in a NUL and stays as it is for `'a`.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_bytes())
    }
    pub(super) fn is_null(self) -> bool {
        self.0.is_null()
    }
    /// So many bytes; None when they cannot be.
    #[inline(always)]
    fn bytes(self, len: usize) -> Option<&'a [u8]> {
        if len == 0 {
            return Some(&[]);
        }
        if self.0.is_null() || len > MAX_WORD_BYTES {
            return None;
        }
        // SAFETY: the caller says that `len` bytes can be read there for `'a`, and `len` is far below `isize::MAX`.
        Some(unsafe { std::slice::from_raw_parts(self.0.cast(), len) })
    }
    /// So many bytes.
    pub(super) fn of_length(self, len: usize, what: &str) -> Result<&'a [u8], Fault> {
        self.bytes(len).ok_or_else(|| self.refused(len, what))
    }
    #[cold]
    fn refused(self, len: usize, what: &str) -> Fault {
        if self.0.is_null() {
            return Fault::null(what);
        }
        Fault::usage(format!("the length of {what} is {len}; at most {MAX_WORD_BYTES} bytes are taken"))
    }
}

impl<'a> Words<'a> {
    /// One word; `index` is below the count that was passed with both arrays.
    #[inline(always)]
    fn word(self, lengths: Lengths<'a>, index: usize) -> Result<&'a [u8], Fault> {
        // SAFETY: the caller passes an array of more than `index` texts; that it is not NULL was checked.
        let word = unsafe { self.0.add(index).read() };
        if lengths.0.is_null() {
            return word.until_nul("argv").map_err(|_| no_word(index));
        }
        // SAFETY: the caller passes an array of more than `index` lengths.
        let len = unsafe { lengths.0.add(index).read() };
        match word.bytes(len) {
            Some(word) => Ok(word),
            None => Err(refused_word(word, len, index)),
        }
    }
    /// Does something with the words of C behind some of our own; without memory of its own where they are few.
    #[inline(always)]
    pub(super) fn with<T>(
        self,
        own: &[&'a [u8]],
        argc: c_int,
        lengths: Lengths<'a>,
        act: impl FnOnce(&mut [&'a [u8]]) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let Ok(count) = usize::try_from(argc) else { return Err(fewer_than_none(argc)) };
        if self.0.is_null() && count > 0 {
            return Err(Fault::null("argv"));
        }
        let all = own.len() + count;
        // Most calls have two or three words: to set all places first would cost more than to fill those.
        let mut few = [const { MaybeUninit::uninit() }; FEW_WORDS];
        let mut many = Vec::new();
        let words = if all > FEW_WORDS {
            many.extend_from_slice(own);
            self.collect(count, lengths, &mut many)?;
            &mut many[..]
        } else {
            for (slot, word) in few.iter_mut().zip(own) {
                slot.write(*word);
            }
            for (index, slot) in few[own.len()..all].iter_mut().enumerate() {
                slot.write(self.word(lengths, index)?);
            }
            // SAFETY: the loops have written the first `all` places, which are those of slices.
            unsafe { std::slice::from_raw_parts_mut(few.as_mut_ptr().cast(), all) }
        };
        act(words)
    }
    #[cold]
    fn collect(self, count: usize, lengths: Lengths<'a>, words: &mut Vec<&'a [u8]>) -> Result<(), Fault> {
        for index in 0..count {
            words.push(self.word(lengths, index)?);
        }
        Ok(())
    }
}

#[cold]
#[inline(never)]
fn refused_word(word: Text<'_>, len: usize, index: usize) -> Fault {
    word.refused(len, &format!("argv[{index}]"))
}

#[cold]
fn no_word(index: usize) -> Fault {
    Fault::null(&format!("argv[{index}]"))
}

#[cold]
fn fewer_than_none(argc: c_int) -> Fault {
    Fault::usage(format!("argc is {argc}; there are 0 words or more"))
}

/// Lets one in at a time, without waiting: whoever comes second is turned away. Cheaper than a lock that threads wait for.
pub(super) struct Gate<T> {
    is_entered: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached through an `Entered` alone, of which there is one at a time, whatever the thread.
unsafe impl<T: Send> Sync for Gate<T> {}

/// The one who is in; dropping it opens the gate.
pub(super) struct Entered<'a, T>(&'a Gate<T>);

impl<T> Gate<T> {
    pub(super) fn new(value: T) -> Gate<T> {
        Gate { is_entered: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }
    /// The value, unless somebody is in.
    #[inline]
    pub(super) fn enter(&self) -> Option<Entered<'_, T>> {
        if self.is_entered.swap(true, Ordering::Acquire) { None } else { Some(Entered(self)) }
    }
}

impl<T> Deref for Entered<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: while this is there, nobody else is in.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Entered<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: while this is there, nobody else is in, and it is borrowed alone.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for Entered<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.0.is_entered.store(false, Ordering::Release);
    }
}

/// What was given to C and not freed: the address and what stands there.
static LIVING: Mutex<BTreeMap<usize, TypeId>> = parking_lot::const_mutex(BTreeMap::new());

/// Gives a value to C, which frees it with `free`; NULL for none.
pub(super) fn give<T: 'static>(value: Option<T>) -> *mut T {
    let Some(value) = value else { return ptr::null_mut() };
    let address = Box::into_raw(Box::new(value));
    LIVING.lock().insert(address.addr(), TypeId::of::<T>());
    address
}

/// Takes back and drops what `give` gave; NULL is nothing.
pub(super) fn free<T: 'static>(address: *mut T, what: &str) -> Result<(), Fault> {
    if address.is_null() {
        return Ok(());
    }
    let mut living = LIVING.lock();
    if living.get(&address.addr()) != Some(&TypeId::of::<T>()) {
        return Err(Fault::usage(format!(
            "there is no such {what}: it was freed before, or is something else"
        )));
    }
    living.remove(&address.addr());
    drop(living);
    // SAFETY: `give` made it of a Box of this type, and it was not taken back since: it was noted until now.
    drop(unsafe { Box::from_raw(address) });
    Ok(())
}

/// Gives a reply to C, which frees it with `free_reply`.
pub(super) fn give_reply(tree: Box<Tree>) -> *mut mk_reply {
    // The reply is the first field of what is there.
    Box::into_raw(tree).cast()
}

/// Takes back and drops a reply; an element, or a reply that belongs to a client, is refused.
pub(super) fn free_reply(reply: Returned) -> Result<(), Fault> {
    // SAFETY: C hands back NULL, or a reply that lives; replies do not change.
    let Some(is_free) = (unsafe { reply.0.as_ref() }).map(|reply| reply.is_free) else { return Ok(()) };
    if !is_free {
        return Err(Fault::usage(
            "this is no reply to be freed: an element belongs to its reply, one that was borrowed to its client",
        ));
    }
    // SAFETY: of replies that C has, those of `give_reply` alone are marked so, and each is the first field of a Tree.
    drop(unsafe { Box::from_raw(reply.0.cast::<Tree>()) });
    Ok(())
}

impl mk_reply {
    /// Its text; empty where it has none.
    pub(super) fn text(&self) -> &[u8] {
        if !self.has_text() || self.start.is_null() {
            return &[];
        }
        // SAFETY: the text of a reply that C can see stands in its tree, or on its client's tape, `len` bytes of it.
        unsafe { std::slice::from_raw_parts(self.start.cast(), self.len) }
    }
    /// Its elements.
    pub(super) fn elements(&self) -> &[mk_reply] {
        if !self.has_elements() || self.len == 0 {
            return &[];
        }
        // SAFETY: the elements of a reply that C can see stand in its tree, `len` of them.
        unsafe { std::slice::from_raw_parts(self.start.cast(), self.len) }
    }
}
