//! What crosses the border to C as addresses: the only unsafe code of the fronts. The types here stand for promises of the
//! header: a value of one comes from C, and with it the promise, so their methods are safe to call.
//!
//! What is given to C and has a function that frees it is noted, but for replies: what is not noted is not freed.

use super::fault::{Fault, MK_ERR_USAGE};
use super::reply::mk_reply;
use super::tree::Tree;
use parking_lot::Mutex;
use std::any::TypeId;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;

/// The longest word: proto-max-bulk-len, which is what a server reads. More is a length that was never set.
const MAX_WORD_BYTES: usize = 512 << 20;

/// Calls of up to so many words need no memory for the list of words.
const FEW_WORDS: usize = 12;

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
    /// So many bytes.
    #[inline]
    pub(super) fn of_length(self, len: usize, what: impl Fn() -> String) -> Result<&'a [u8], Fault> {
        if len == 0 {
            return Ok(&[]);
        }
        if self.0.is_null() {
            return Err(Fault::null(&what()));
        }
        if len > MAX_WORD_BYTES {
            let text = format!("the length of {} is {len}; at most {MAX_WORD_BYTES} bytes are taken", what());
            return Err(Fault(MK_ERR_USAGE, text));
        }
        // SAFETY: the caller says that `len` bytes can be read there for `'a`, and `len` is far below `isize::MAX`.
        Ok(unsafe { std::slice::from_raw_parts(self.0.cast(), len) })
    }
}

impl<'a> Words<'a> {
    /// One word; `index` is below the count that was passed with both arrays.
    #[inline]
    fn word(self, lengths: Lengths<'a>, index: usize) -> Result<&'a [u8], Fault> {
        // SAFETY: the caller passes an array of more than `index` texts; that it is not NULL was checked.
        let word = unsafe { self.0.add(index).read() };
        if lengths.0.is_null() {
            return if word.0.is_null() {
                Err(Fault::null(&format!("argv[{index}]")))
            } else {
                word.until_nul("argv")
            };
        }
        // SAFETY: the caller passes an array of more than `index` lengths.
        let len = unsafe { lengths.0.add(index).read() };
        word.of_length(len, || format!("argv[{index}]"))
    }
    /// Does something with the words of C behind some of our own.
    #[inline]
    pub(super) fn with<T>(
        self,
        own: &[&'a [u8]],
        argc: c_int,
        lengths: Lengths<'a>,
        act: impl FnOnce(&mut [&'a [u8]]) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let count = usize::try_from(argc)
            .map_err(|_| Fault::usage(format!("argc is {argc}; there are 0 words or more")))?;
        if self.0.is_null() && count > 0 {
            return Err(Fault::null("argv"));
        }
        let mut few: [&[u8]; FEW_WORDS] = [&[]; FEW_WORDS];
        let all = own.len() + count;
        if all > FEW_WORDS {
            let mut many = own.to_vec();
            for index in 0..count {
                many.push(self.word(lengths, index)?);
            }
            return act(&mut many);
        }
        few[..own.len()].copy_from_slice(own);
        for (index, slot) in few[own.len()..all].iter_mut().enumerate() {
            *slot = self.word(lengths, index)?;
        }
        act(&mut few[..all])
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
        if self.text.is_null() {
            return &[];
        }
        // SAFETY: a reply that C can see points into the texts of its tree, or of its client's tape, `len` bytes each.
        unsafe { std::slice::from_raw_parts(self.text.cast(), self.len) }
    }
    /// Its elements.
    pub(super) fn elements(&self) -> &[mk_reply] {
        if self.elements.is_null() {
            return &[];
        }
        // SAFETY: a reply that C can see points at as many elements of its tree as it counts.
        unsafe { std::slice::from_raw_parts(self.elements, self.count) }
    }
}
