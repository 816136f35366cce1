//! Values from all forms that the server reads, kept in the form that its settings ask for. Duplicates, scores that are
//! no numbers and packed forms that do not hold together are errors, whatever the server's sanitizing would say.

use super::listpack::{self, Item};
use super::{Broken, Fault, Reader, Thresholds, kinds, ziplist};
use crate::util::float::strtod;
use crate::value::hash::Hash;
use crate::value::list::List;
use crate::value::packed::Limits;
use crate::value::set::Set;
use crate::value::zset::{Change, ZSet};
use crate::value::{Str, Value};
use std::sync::Arc;

const NODE_PLAIN: u64 = 1;
const NODE_PACKED: u64 = 2;

/// Limits that keep the small form, and those that never do.
const SMALL: Limits = Limits { max_entries: usize::MAX, max_value: usize::MAX };
const LARGE: Limits = Limits { max_entries: 0, max_value: 0 };

/// Reads the value behind the byte that says what it is.
///
/// # Errors
/// When there is no such value.
pub fn value(reader: &mut Reader<'_>, kind: u8, thresholds: &Thresholds) -> Result<Value, Broken> {
    let start = reader.offset();
    let at_start = |fault| Broken { offset: start, fault };
    let value = match kind {
        kinds::STRING => return Ok(Value::String(Str::new(&reader.string()?))),
        kinds::LIST | kinds::LIST_ZIPLIST | kinds::LIST_QUICKLIST | kinds::LIST_QUICKLIST_2 => {
            Value::List(Arc::new(list(reader, kind)?))
        }
        kinds::SET => Value::Set(Arc::new(set(reader, thresholds.set)?)),
        kinds::SET_INTSET => Value::Set(Arc::new(intset(reader, thresholds.set)?)),
        kinds::ZSET | kinds::ZSET_2 => Value::ZSet(Arc::new(zset(reader, kind, &thresholds.zset)?)),
        kinds::ZSET_ZIPLIST | kinds::ZSET_LISTPACK => {
            Value::ZSet(Arc::new(packed_zset(reader, kind, &thresholds.zset)?))
        }
        kinds::HASH => Value::Hash(Arc::new(hash(reader, &thresholds.hash)?)),
        kinds::HASH_ZIPMAP => Value::Hash(Arc::new(zipmap(reader, &thresholds.hash)?)),
        kinds::HASH_ZIPLIST | kinds::HASH_LISTPACK => {
            Value::Hash(Arc::new(packed_hash(reader, kind, &thresholds.hash)?))
        }
        kinds::STREAM_LISTPACKS | kinds::STREAM_LISTPACKS_2 => {
            Value::Stream(Arc::new(super::streams::read(reader, kind)?))
        }
        kinds::MODULE | kinds::MODULE_2 => return Err(at_start(Fault::Module)),
        _ => return Err(Broken { offset: start.saturating_sub(1), fault: Fault::Kind(kind) }),
    };
    if value.is_empty() { Err(at_start(Fault::Empty)) } else { Ok(value) }
}

/// Passes the items of a packed form to `each`; the offset is where it begins.
fn packed<'a>(
    blob: &'a [u8],
    offset: usize,
    is_listpack: bool,
    each: &mut dyn FnMut(Item<'a>) -> Result<(), Fault>,
) -> Result<(), Broken> {
    let broken = |fault| Broken { offset, fault };
    if is_listpack {
        let mut items = listpack::items(blob).ok_or(broken(Fault::Listpack))?;
        items.try_for_each(each).map_err(broken)
    } else {
        let mut items = ziplist::items(blob).ok_or(broken(Fault::Ziplist))?;
        items.try_for_each(each).map_err(broken)
    }
}

/// Passes pairs of items to `each`.
fn packed_pairs<'a>(
    blob: &'a [u8],
    offset: usize,
    is_listpack: bool,
    each: &mut dyn FnMut(Item<'a>, Item<'a>) -> Result<(), Fault>,
) -> Result<(), Broken> {
    let mut first = None;
    packed(blob, offset, is_listpack, &mut |item| match first.take() {
        None => {
            first = Some(item);
            Ok(())
        }
        Some(first) => each(first, item),
    })?;
    let fault = if is_listpack { Fault::Listpack } else { Fault::Ziplist };
    if first.is_some() { Err(Broken { offset, fault }) } else { Ok(()) }
}

fn list(reader: &mut Reader<'_>, kind: u8) -> Result<List, Broken> {
    let mut list = List::new();
    let mut buffer = itoa::Buffer::new();
    let nodes = if kind == kinds::LIST_ZIPLIST { 1 } else { reader.length()? };
    for _ in 0..nodes {
        let start = reader.offset();
        let container = if kind == kinds::LIST_QUICKLIST_2 { reader.length()? } else { NODE_PACKED };
        let offset = reader.offset();
        let blob = reader.string()?;
        if kind == kinds::LIST || container == NODE_PLAIN {
            if container == NODE_PLAIN && blob.is_empty() {
                return Err(Broken { offset, fault: Fault::Node });
            }
            list.push_back(&blob);
            continue;
        }
        if container != NODE_PACKED {
            return Err(Broken { offset: start, fault: Fault::Node });
        }
        packed(&blob, offset, kind == kinds::LIST_QUICKLIST_2, &mut |item| {
            list.push_back(item.text(&mut buffer));
            Ok(())
        })?;
    }
    Ok(list)
}

fn set(reader: &mut Reader<'_>, max_intset_entries: usize) -> Result<Set, Broken> {
    let mut set = Set::new();
    let count = reader.length()?;
    let is_small = usize::try_from(count).is_ok_and(|count| count <= max_intset_entries);
    for _ in 0..count {
        let offset = reader.offset();
        if !set.insert(&reader.string()?, if is_small { max_intset_entries } else { 0 }) {
            return Err(Broken { offset, fault: Fault::Duplicate });
        }
    }
    Ok(set)
}

fn intset(reader: &mut Reader<'_>, max_intset_entries: usize) -> Result<Set, Broken> {
    let offset = reader.offset();
    let blob = reader.string()?;
    let integers = ziplist::integers(&blob).ok_or(Broken { offset, fault: Fault::Intset })?;
    Ok(Set::of_integers(integers.collect(), max_intset_entries))
}

/// The large form first, as on the server: the small one would lose the sign of zero.
fn zset(reader: &mut Reader<'_>, kind: u8, limits: &Limits) -> Result<ZSet, Broken> {
    let (mut large, mut longest) = (ZSet::new(), 0);
    for _ in 0..reader.length()? {
        let offset = reader.offset();
        let member = reader.string()?;
        let score =
            if kind == kinds::ZSET_2 { f64::from_le_bytes(reader.array()?) } else { early_score(reader)? };
        add(&mut large, &member, score, &LARGE).map_err(|fault| Broken { offset, fault })?;
        longest = longest.max(member.len());
    }
    if large.len() > limits.max_entries || longest > limits.max_value {
        return Ok(large);
    }
    let mut small = ZSet::new();
    for (member, score) in large.iter() {
        small.insert(member, score, &SMALL);
    }
    Ok(small)
}

/// A score as a text with its length before it; lengths above 252 stand for what is not finite.
fn early_score(reader: &mut Reader<'_>) -> Result<f64, Broken> {
    let offset = reader.offset();
    match reader.byte()? {
        255 => Ok(f64::NEG_INFINITY),
        254 => Ok(f64::INFINITY),
        253 => Ok(f64::NAN),
        length => {
            let number = strtod(reader.take(length.into())?);
            if number.consumed == 0 { Err(Broken { offset, fault: Fault::Score }) } else { Ok(number.value) }
        }
    }
}

fn add(zset: &mut ZSet, member: &[u8], score: f64, limits: &Limits) -> Result<(), Fault> {
    if score.is_nan() {
        return Err(Fault::Score);
    }
    if zset.insert(member, score, limits) == Change::Added { Ok(()) } else { Err(Fault::Duplicate) }
}

/// What a value of these pairs is to be built with: small when it has few enough, however long they are.
fn packed_limits(blob: &[u8], offset: usize, is_listpack: bool, limits: &Limits) -> Result<Limits, Broken> {
    let mut count = 0;
    packed_pairs(blob, offset, is_listpack, &mut |_, _| {
        count += 1;
        Ok(())
    })?;
    Ok(if count <= limits.max_entries { SMALL } else { LARGE })
}

fn packed_zset(reader: &mut Reader<'_>, kind: u8, limits: &Limits) -> Result<ZSet, Broken> {
    let (offset, mut zset) = (reader.offset(), ZSet::new());
    let blob = reader.string()?;
    let is_listpack = kind == kinds::ZSET_LISTPACK;
    let limits = packed_limits(&blob, offset, is_listpack, limits)?;
    let mut buffer = itoa::Buffer::new();
    packed_pairs(&blob, offset, is_listpack, &mut |member, score| {
        let score = match score {
            Item::Integer(score) => score as f64,
            Item::Text(text) => strtod(text).value,
        };
        add(&mut zset, member.text(&mut buffer), score, &limits)
    })?;
    Ok(zset)
}

fn hash(reader: &mut Reader<'_>, limits: &Limits) -> Result<Hash, Broken> {
    let mut hash = Hash::new();
    let count = reader.length()?;
    let is_small = usize::try_from(count).is_ok_and(|count| count <= limits.max_entries);
    let limits = if is_small { limits } else { &LARGE };
    for _ in 0..count {
        let offset = reader.offset();
        let (field, value) = (reader.string()?, reader.string()?);
        if !hash.insert(&field, &value, limits) {
            return Err(Broken { offset, fault: Fault::Duplicate });
        }
    }
    Ok(hash)
}

fn zipmap(reader: &mut Reader<'_>, limits: &Limits) -> Result<Hash, Broken> {
    let (offset, mut hash) = (reader.offset(), Hash::new());
    let blob = reader.string()?;
    let pairs = ziplist::pairs(&blob).ok_or(Broken { offset, fault: Fault::Zipmap })?;
    let limits = if pairs.len() <= limits.max_entries { limits } else { &LARGE };
    for (field, value) in pairs {
        if !hash.insert(field, value, limits) {
            return Err(Broken { offset, fault: Fault::Duplicate });
        }
    }
    Ok(hash)
}

fn packed_hash(reader: &mut Reader<'_>, kind: u8, limits: &Limits) -> Result<Hash, Broken> {
    let (offset, mut hash) = (reader.offset(), Hash::new());
    let blob = reader.string()?;
    let is_listpack = kind == kinds::HASH_LISTPACK;
    let limits = packed_limits(&blob, offset, is_listpack, limits)?;
    let mut buffers = (itoa::Buffer::new(), itoa::Buffer::new());
    packed_pairs(&blob, offset, is_listpack, &mut |field, value| {
        let is_new = hash.insert(field.text(&mut buffers.0), value.text(&mut buffers.1), &limits);
        if is_new { Ok(()) } else { Err(Fault::Duplicate) }
    })?;
    Ok(hash)
}
