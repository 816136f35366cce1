//! Streams in the server's format: a listpack for each block, the counters, then the groups with what their consumers
//! have not acknowledged. Of the entries that were deleted within a block only one is written, and without fields: the last
//! of the block, by whose ID blocks are trimmed.

use super::listpack::{self, Builder, Item};
use super::{Broken, Fault, Reader, Writer, kinds};
use crate::value::stream::{Stream, StreamId};
use crate::value::stream_block::Block;
use crate::value::stream_groups::{Group, Pending};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Flags of an entry.
const DELETED: i64 = 1;
const SAME_FIELDS: i64 = 2;

/// Writes a stream.
pub(super) fn write(writer: &mut Writer, stream: &Stream) {
    writer.length(stream.blocks().count() as u64);
    for block in stream.blocks() {
        writer.string(&raw_id(block.first));
        writer.string(&listpack_of(block));
    }
    writer.length(stream.len() as u64);
    for id in [stream.last_id(), stream.first_id(), stream.max_deleted_id()] {
        write_id(writer, id);
    }
    writer.length(stream.entries_added());
    writer.length(stream.groups().len() as u64);
    for (name, group) in stream.groups() {
        writer.string(name);
        write_id(writer, group.last_id);
        // Unknown is -1.
        writer.length(group.entries_read.unwrap_or(-1) as u64);
        write_group(writer, group);
    }
}

fn write_group(writer: &mut Writer, group: &Group) {
    writer.length(group.pending_len() as u64);
    for (id, pending) in group.pending_in(StreamId::MIN..=StreamId::MAX) {
        writer.bytes(&raw_id(id));
        writer.bytes(&pending.delivered_at_ms.to_le_bytes());
        writer.length(pending.deliveries);
    }
    writer.length(group.consumers_len() as u64);
    for consumer in group.consumers() {
        writer.string(consumer.name());
        writer.bytes(&consumer.seen_at_ms.to_le_bytes());
        writer.length(consumer.pending_len() as u64);
        consumer.pending_from(StreamId::MIN).for_each(|id| writer.bytes(&raw_id(id)));
    }
}

fn write_id(writer: &mut Writer, id: StreamId) {
    writer.length(id.ms);
    writer.length(id.seq);
}

fn raw_id(id: StreamId) -> [u8; 16] {
    (u128::from(id.ms) << 64 | u128::from(id.seq)).to_be_bytes()
}

fn id_of_raw(raw: [u8; 16]) -> StreamId {
    let raw = u128::from_be_bytes(raw);
    StreamId::new((raw >> 64) as u64, raw as u64)
}

/// A block as the server's node has it: a header with the names of the fields, then the entries.
fn listpack_of(block: &Block) -> Vec<u8> {
    let mut listpack = Builder::default();
    let last = block.items(None, None).next_back().map(|item| block.decode(item).id);
    let is_last_deleted = last != Some(block.last);
    listpack.push_integer(block.len() as i64);
    listpack.push_integer(i64::from(is_last_deleted));
    listpack.push_integer(block.names.len() as i64);
    block.names.iter().for_each(|name| listpack.push(name));
    listpack.push_integer(0);
    for entry in block.items(None, None).map(|item| block.decode(item)) {
        let (count, same) = (entry.field_count() as i64, entry.names.is_some());
        push_place(&mut listpack, block, if same { SAME_FIELDS } else { 0 }, entry.id);
        if !same {
            listpack.push_integer(count);
        }
        for (name, value) in entry.fields() {
            if !same {
                listpack.push(name);
            }
            listpack.push(value);
        }
        listpack.push_integer(if same { count + 3 } else { 2 * count + 4 });
    }
    if is_last_deleted {
        push_place(&mut listpack, block, DELETED, block.last);
        // No fields, and four items before this one.
        listpack.push_integer(0);
        listpack.push_integer(4);
    }
    listpack.finish()
}

/// What an entry begins with: its flags, and its ID as the difference to the first of the block.
fn push_place(listpack: &mut Builder, block: &Block, flags: i64, id: StreamId) {
    listpack.push_integer(flags);
    listpack.push_integer(id.ms.wrapping_sub(block.first.ms) as i64);
    listpack.push_integer(id.seq.wrapping_sub(block.first.seq) as i64);
}

/// Reads a stream.
pub(super) fn read(reader: &mut Reader<'_>, kind: u8) -> Result<Stream, Broken> {
    let mut stream = Stream::new();
    for _ in 0..reader.length()? {
        let offset = reader.offset();
        let broken = |fault| Broken { offset, fault };
        let raw = reader.string()?;
        let first = id_of_raw(raw.as_ref().try_into().map_err(|_| broken(Fault::Stream))?);
        let blob = reader.string()?;
        let items = listpack::items(&blob).ok_or(broken(Fault::Listpack))?;
        let block = Parts { items }.block(first, blob.len()).ok_or(broken(Fault::Stream))?;
        if !stream.push_block(block) {
            return Err(broken(Fault::Stream));
        }
    }
    let is_new = kind == kinds::STREAM_LISTPACKS_2;
    read_counters(reader, &mut stream, is_new)?;
    for _ in 0..reader.length()? {
        read_group(reader, &mut stream, is_new)?;
    }
    Ok(stream)
}

fn read_counters(reader: &mut Reader<'_>, stream: &mut Stream, is_new: bool) -> Result<(), Broken> {
    let offset = reader.offset();
    let len = reader.length()?;
    let last_id = read_id(reader)?;
    let (max_deleted_id, entries_added) = if is_new {
        // The first ID follows from the entries.
        read_id(reader)?;
        (read_id(reader)?, reader.length()?)
    } else {
        (StreamId::MIN, len)
    };
    let fits =
        len == stream.len() as u64 && stream.iter().next_back().is_none_or(|entry| entry.id <= last_id);
    if !fits {
        return Err(Broken { offset, fault: Fault::Stream });
    }
    stream.set_last_id(last_id);
    stream.set_max_deleted_id(max_deleted_id);
    stream.set_entries_added(entries_added);
    Ok(())
}

fn read_id(reader: &mut Reader<'_>) -> Result<StreamId, Broken> {
    Ok(StreamId::new(reader.length()?, reader.length()?))
}

fn read_group(reader: &mut Reader<'_>, stream: &mut Stream, is_new: bool) -> Result<(), Broken> {
    let offset = reader.offset();
    let name = reader.string()?;
    let last_id = read_id(reader)?;
    let entries_read = if is_new {
        Some(reader.length()? as i64).filter(|&count| count != -1)
    } else {
        stream.entries_up_to(last_id)
    };
    if !stream.create_group(&name, last_id, entries_read) {
        return Err(Broken { offset, fault: Fault::Duplicate });
    }
    let mut unowned = BTreeMap::new();
    for _ in 0..reader.length()? {
        let offset = reader.offset();
        let id = id_of_raw(reader.array()?);
        let pending = (i64::from_le_bytes(reader.array()?), reader.length()?);
        if unowned.insert(id, pending).is_some() {
            return Err(Broken { offset, fault: Fault::Duplicate });
        }
    }
    let read = stream.with_group(&name, |_, group| read_consumers(reader, group, &mut unowned));
    read.unwrap_or(Ok(()))?;
    if unowned.is_empty() { Ok(()) } else { Err(Broken { offset, fault: Fault::Stream }) }
}

fn read_consumers(
    reader: &mut Reader<'_>,
    group: &mut Group,
    unowned: &mut BTreeMap<StreamId, (i64, u64)>,
) -> Result<(), Broken> {
    for _ in 0..reader.length()? {
        let offset = reader.offset();
        let name = reader.string()?;
        let seen_at_ms = i64::from_le_bytes(reader.array()?);
        let consumer = group.add(&name, seen_at_ms).ok_or(Broken { offset, fault: Fault::Duplicate })?;
        for _ in 0..reader.length()? {
            let offset = reader.offset();
            let id = id_of_raw(reader.array()?);
            let pending = unowned.remove(&id).ok_or(Broken { offset, fault: Fault::Stream })?;
            let (delivered_at_ms, deliveries) = pending;
            group.assign(id, Pending { consumer, delivered_at_ms, deliveries });
        }
    }
    Ok(())
}

/// The items of the listpack of a block.
struct Parts<'a> {
    items: listpack::Items<'a>,
}

impl<'a> Parts<'a> {
    fn integer(&mut self) -> Option<i64> {
        self.items.next()?.integer()
    }
    fn text(&mut self) -> Option<Cow<'a, [u8]>> {
        Some(match self.items.next()? {
            Item::Text(text) => Cow::Borrowed(text),
            Item::Integer(value) => Cow::Owned(value.to_string().into_bytes()),
        })
    }
    fn texts(&mut self, count: i64) -> Option<Vec<Cow<'a, [u8]>>> {
        (0..count).map(|_| self.text()).collect()
    }
    /// The block, when the parts fit together and the IDs ascend.
    fn block(mut self, first: StreamId, listpack_bytes: usize) -> Option<Block> {
        let (count, deleted) = (self.integer()?, self.integer()?);
        let name_count = self.integer()?;
        let names = self.texts(name_count)?;
        if self.integer()? != 0 || count < 0 || deleted < 0 || name_count < 0 {
            return None;
        }
        let mut header: Vec<&[u8]> = Vec::new();
        names.iter().for_each(|name| header.extend([&**name, &[]]));
        let mut block = Block::new(first, &header);
        let (mut last, mut found) = (None, (0, 0));
        for _ in 0..count.checked_add(deleted)? {
            let (id, flags) = self.entry(&mut block, &names)?;
            if id < first || last.is_some_and(|last| last >= id) {
                return None;
            }
            last = Some(id);
            *(if flags & DELETED == 0 { &mut found.0 } else { &mut found.1 }) += 1;
        }
        let fits = found == (count, deleted) && self.items.next().is_none();
        block.note_deleted(last.unwrap_or(first), usize::try_from(deleted).ok()?, listpack_bytes);
        fits.then_some(block)
    }
    /// The next entry; it goes to the block unless it is deleted.
    fn entry(&mut self, block: &mut Block, names: &[Cow<'a, [u8]>]) -> Option<(StreamId, i64)> {
        let flags = self.integer()?;
        let (ms, seq) = (self.integer()?, self.integer()?);
        let id =
            StreamId::new(block.first.ms.wrapping_add(ms as u64), block.first.seq.wrapping_add(seq as u64));
        let same = flags & SAME_FIELDS != 0;
        let count = if same { names.len() as i64 } else { self.integer()? };
        let parts = self.texts(if same { count } else { count.checked_mul(2)? })?;
        let stated = if same { count.checked_add(3)? } else { count.checked_mul(2)?.checked_add(4)? };
        if self.integer()? != stated || count < 0 {
            return None;
        }
        if flags & DELETED == 0 {
            let pairs: Vec<&[u8]> = if same {
                names.iter().zip(&parts).flat_map(|(name, value)| [&**name, &**value]).collect()
            } else {
                parts.iter().map(|part| &**part).collect()
            };
            block.push(id, &pairs);
        }
        Some((id, flags))
    }
}
