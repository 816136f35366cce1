//! A whole `.rdb` file: its records one after another, without a word about where they go. Read are all versions up to
//! that of 7.0; the version that is written is the newest of these.

use super::{Broken, Fault, Reader, Thresholds, VERSION, Writer, kind, kinds, read_value, write_value};
use crate::util::crc64::crc64;
use crate::value::Value;
use std::borrow::Cow;

const MAGIC: &[u8; 5] = b"REDIS";
/// The first version that ends in a checksum.
const VERSION_CHECKSUM: u16 = 5;

mod opcodes {
    pub(super) const FUNCTION2: u8 = 245;
    pub(super) const FUNCTION_EARLY: u8 = 246;
    pub(super) const MODULE_AUX: u8 = 247;
    pub(super) const IDLE: u8 = 248;
    pub(super) const FREQ: u8 = 249;
    pub(super) const AUX: u8 = 250;
    pub(super) const RESIZEDB: u8 = 251;
    pub(super) const EXPIRETIME_MS: u8 = 252;
    pub(super) const EXPIRETIME: u8 = 253;
    pub(super) const SELECTDB: u8 = 254;
    pub(super) const EOF: u8 = 255;
}

/// What stands beside a key and its value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Attributes {
    /// The instant of expiry in Unix milliseconds.
    pub expire_at_ms: Option<i64>,
    /// For how many seconds the key was not used.
    pub idle_s: Option<i64>,
    /// The counter of uses.
    pub frequency: Option<u8>,
}

/// A record of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Record<'a> {
    /// The code of a library of functions.
    Library(Cow<'a, [u8]>),
    /// A key with its value.
    Key {
        /// The number of the database.
        db: u64,
        /// The key.
        key: Cow<'a, [u8]>,
        /// The value.
        value: Value,
        /// What stands beside it.
        attributes: Attributes,
    },
}

/// Reads a file and passes each record, with the offset at which it begins, to `each`, which may refuse it.
///
/// # Errors
/// When the file is broken, or a record was refused.
pub fn read<'a, E: From<Broken>>(
    file: &'a [u8],
    thresholds: &Thresholds,
    mut each: impl FnMut(usize, Record<'a>) -> Result<(), E>,
) -> Result<(), E> {
    let mut reader = Reader::new(file);
    let version = version(&mut reader)?;
    let (mut db, mut attributes) = (0, Attributes::default());
    loop {
        let start = reader.offset();
        match reader.byte()? {
            opcodes::EOF => break,
            opcodes::SELECTDB => db = reader.length()?,
            opcodes::RESIZEDB => _ = (reader.length()?, reader.length()?),
            opcodes::AUX => _ = (reader.string()?, reader.string()?),
            opcodes::MODULE_AUX => return Err(Broken { offset: start, fault: Fault::ModuleAux }.into()),
            opcodes::FUNCTION2 => each(start, Record::Library(reader.string()?))?,
            opcodes::FUNCTION_EARLY => each(start, Record::Library(early_library(&mut reader)?))?,
            opcodes::EXPIRETIME => {
                let at_s = i32::from_le_bytes(reader.array()?);
                attributes.expire_at_ms = Some(i64::from(at_s) * 1000);
            }
            opcodes::EXPIRETIME_MS => attributes.expire_at_ms = Some(i64::from_le_bytes(reader.array()?)),
            opcodes::IDLE => attributes.idle_s = Some(i64::try_from(reader.length()?).unwrap_or(i64::MAX)),
            opcodes::FREQ => attributes.frequency = Some(reader.byte()?),
            kind => {
                let attributes = std::mem::take(&mut attributes);
                if let Some((key, value)) = key(&mut reader, kind, start, thresholds)? {
                    each(start, Record::Key { db, key, value, attributes })?;
                }
            }
        }
    }
    Ok(check_end(file, &mut reader, version)?)
}

fn version(reader: &mut Reader<'_>) -> Result<u16, Broken> {
    let start = reader.offset();
    let broken = |fault| Broken { offset: start, fault };
    let head = reader.take(MAGIC.len() as u64 + 4).map_err(|_| broken(Fault::Magic))?;
    let digits = head.strip_prefix(MAGIC).ok_or(broken(Fault::Magic))?;
    let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse::<u16>().ok());
    let number = number.ok_or(broken(Fault::Magic))?;
    if (1..=VERSION).contains(&number) { Ok(number) } else { Err(broken(Fault::Version(number))) }
}

/// A key and its value.
type Pair<'a> = (Cow<'a, [u8]>, Value);

/// A key with its value; a value without elements is passed over, as early servers wrote such.
fn key<'a>(
    reader: &mut Reader<'a>,
    kind: u8,
    start: usize,
    thresholds: &Thresholds,
) -> Result<Option<Pair<'a>>, Broken> {
    if kind > kinds::STREAM_LISTPACKS_2 {
        return Err(Broken { offset: start, fault: Fault::Kind(kind) });
    }
    let key = reader.string()?;
    match read_value(reader, kind, thresholds) {
        Ok(value) => Ok(Some((key, value))),
        Err(Broken { fault: Fault::Empty, .. }) => Ok(None),
        Err(Broken { fault: Fault::Kind(kind), .. }) => {
            Err(Broken { offset: start, fault: Fault::Kind(kind) })
        }
        Err(broken) => Err(broken),
    }
}

/// A library as it was written before 7.0 was released: name, engine and description stand apart from the code.
fn early_library<'a>(reader: &mut Reader<'a>) -> Result<Cow<'a, [u8]>, Broken> {
    let (name, engine) = (reader.string()?, reader.string()?);
    if reader.length()? != 0 {
        reader.string()?;
    }
    let code = reader.string()?;
    Ok([b"#!", &engine[..], b" name=", &name, b"\n", &code].concat().into())
}

/// The checksum; one of zero was not made.
fn check_end(file: &[u8], reader: &mut Reader<'_>, version: u16) -> Result<(), Broken> {
    if version < VERSION_CHECKSUM {
        return Ok(());
    }
    let offset = reader.offset();
    let stated = u64::from_le_bytes(reader.array()?);
    let checked = file.get(..offset).unwrap_or_default();
    if stated == 0 || stated == crc64(checked) {
        Ok(())
    } else {
        Err(Broken { offset, fault: Fault::Checksum })
    }
}

/// Writes a file.
#[derive(Debug, Clone)]
pub struct FileWriter {
    writer: Writer,
}

impl FileWriter {
    /// Begins a file made at this time.
    pub fn new(redis_version: &str, now_s: i64) -> Self {
        let mut writer = Writer::default();
        writer.bytes(MAGIC);
        writer.bytes(format!("{VERSION:04}").as_bytes());
        let now_s = now_s.to_string();
        for (name, value) in
            [("redis-ver", redis_version), ("redis-bits", "64"), ("ctime", &now_s), ("aof-base", "0")]
        {
            writer.byte(opcodes::AUX);
            writer.string(name.as_bytes());
            writer.string(value.as_bytes());
        }
        FileWriter { writer }
    }
    /// Adds a library of functions.
    pub fn library(&mut self, code: &[u8]) {
        self.writer.byte(opcodes::FUNCTION2);
        self.writer.string(code);
    }
    /// Begins a database with so many keys, of which so many have an expiry.
    pub fn database(&mut self, db: u64, keys: usize, expiring: usize) {
        self.writer.byte(opcodes::SELECTDB);
        self.writer.length(db);
        self.writer.byte(opcodes::RESIZEDB);
        self.writer.length(keys as u64);
        self.writer.length(expiring as u64);
    }
    /// Adds a key to the database that was begun last.
    pub fn key(&mut self, key: &[u8], value: &Value, attributes: Attributes, thresholds: &Thresholds) {
        if let Some(expire_at_ms) = attributes.expire_at_ms {
            self.writer.byte(opcodes::EXPIRETIME_MS);
            self.writer.bytes(&expire_at_ms.to_le_bytes());
        }
        if let Some(idle_s) = attributes.idle_s {
            self.writer.byte(opcodes::IDLE);
            self.writer.length(idle_s.max(0) as u64);
        }
        if let Some(frequency) = attributes.frequency {
            self.writer.byte(opcodes::FREQ);
            self.writer.byte(frequency);
        }
        self.writer.byte(kind(value));
        self.writer.string(key);
        write_value(&mut self.writer, value, thresholds);
    }
    /// The file.
    pub fn finish(mut self) -> Vec<u8> {
        self.writer.byte(opcodes::EOF);
        let checksum = crc64(self.writer.written());
        self.writer.bytes(&checksum.to_le_bytes());
        self.writer.into_written()
    }
}
