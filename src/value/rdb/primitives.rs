//! What the format is made of: lengths, strings (integers and LZF among them), and the footer of a dump with the
//! format's version and a checksum. What a dump holds is up to those who write and read it.

use crate::util::crc64::crc64;
use crate::util::lzf;
use crate::util::num::parse_i64;
use crate::value::rdb::{Broken, Fault, VERSION};
use std::borrow::Cow;

/// Version and checksum.
const FOOTER_BYTES: usize = 10;
/// Strings up to this length may be integers.
const INTEGER_DIGITS_MAX: usize = 11;
/// Strings up to this length are not compressed.
const UNCOMPRESSED_MAX: usize = 20;

/// In the two upper bits of a length's first byte: a length of 14 bits.
const LENGTH_14: u8 = 0x40;
const LENGTH_32: u8 = 0x80;
const LENGTH_64: u8 = 0x81;
const INTEGER_8: u8 = 0xc0;
const INTEGER_16: u8 = 0xc1;
const INTEGER_32: u8 = 0xc2;
const COMPRESSED: u8 = 0xc3;

/// Writes a dump.
#[derive(Debug, Clone, Default)]
pub struct Writer {
    out: Vec<u8>,
}

impl Writer {
    /// Adds a byte.
    pub fn byte(&mut self, byte: u8) {
        self.out.push(byte);
    }
    /// Adds bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }
    /// Adds a length.
    pub fn length(&mut self, length: u64) {
        match length {
            0..0x40 => self.out.push(length as u8),
            0x40..0x4000 => {
                self.out.extend_from_slice(&(u16::from(LENGTH_14) << 8 | length as u16).to_be_bytes())
            }
            0x4000..=0xffff_ffff => {
                self.out.push(LENGTH_32);
                self.out.extend_from_slice(&(length as u32).to_be_bytes());
            }
            _ => {
                self.out.push(LENGTH_64);
                self.out.extend_from_slice(&length.to_be_bytes());
            }
        }
    }
    /// Adds a string, in the form that the server gives it.
    pub fn string(&mut self, text: &[u8]) {
        if self.integer(text) || self.compressed(text) {
            return;
        }
        self.length(text.len() as u64);
        self.out.extend_from_slice(text);
    }
    fn integer(&mut self, text: &[u8]) -> bool {
        let value = if text.len() <= INTEGER_DIGITS_MAX { parse_i64(text) } else { None };
        let Some(value) = value.and_then(|value| i32::try_from(value).ok()) else { return false };
        if let Ok(value) = i8::try_from(value) {
            self.out.push(INTEGER_8);
            self.out.extend_from_slice(&value.to_le_bytes());
        } else if let Ok(value) = i16::try_from(value) {
            self.out.push(INTEGER_16);
            self.out.extend_from_slice(&value.to_le_bytes());
        } else {
            self.out.push(INTEGER_32);
            self.out.extend_from_slice(&value.to_le_bytes());
        }
        true
    }
    fn compressed(&mut self, text: &[u8]) -> bool {
        if text.len() <= UNCOMPRESSED_MAX {
            return false;
        }
        let Some(small) = lzf::compress(text, text.len() - 4) else { return false };
        self.out.push(COMPRESSED);
        self.length(small.len() as u64);
        self.length(text.len() as u64);
        self.out.extend_from_slice(&small);
        true
    }
    /// What was written so far.
    pub fn written(&self) -> &[u8] {
        &self.out
    }
    /// What was written, with nothing behind it.
    pub fn into_written(self) -> Vec<u8> {
        self.out
    }
    /// The whole dump, with its footer.
    pub fn finish(mut self) -> Vec<u8> {
        self.out.extend_from_slice(&VERSION.to_le_bytes());
        let checksum = crc64(&self.out);
        self.out.extend_from_slice(&checksum.to_le_bytes());
        self.out
    }
}

/// Reads a dump or a file. Nothing that it holds is relied on: what does not fit is an error that says where.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// A reader from the start of the data.
    pub fn new(data: &'a [u8]) -> Self {
        Reader { data, at: 0 }
    }
    /// A reader of a dump; none when its version or checksum is wrong.
    pub fn of_dump(dump: &'a [u8]) -> Option<Self> {
        let (checked, checksum) = dump.split_last_chunk()?;
        let (_, version) = checked.split_last_chunk()?;
        let fits = u16::from_le_bytes(*version) <= VERSION && u64::from_le_bytes(*checksum) == crc64(checked);
        fits.then_some(Reader::new(dump))
    }
    /// True when nothing is left before the footer of a dump.
    pub fn is_done(&self) -> bool {
        self.left() <= FOOTER_BYTES
    }
    /// How many bytes are read.
    pub fn offset(&self) -> usize {
        self.at
    }
    /// How many bytes are left.
    pub fn left(&self) -> usize {
        self.data.len() - self.at
    }
    fn fail<T>(&self, fault: Fault) -> Result<T, Broken> {
        Err(Broken { offset: self.at, fault })
    }
    /// The next bytes, so many.
    ///
    /// # Errors
    /// Short.
    pub fn take(&mut self, count: u64) -> Result<&'a [u8], Broken> {
        let end = usize::try_from(count).ok().and_then(|count| self.at.checked_add(count));
        let Some((end, taken)) = end.and_then(|end| Some((end, self.data.get(self.at..end)?))) else {
            return self.fail(Fault::Short);
        };
        self.at = end;
        Ok(taken)
    }
    /// The next bytes, as an array.
    ///
    /// # Errors
    /// Short.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Broken> {
        let start = self.at;
        let taken = self.take(N as u64)?;
        taken.try_into().map_err(|_| Broken { offset: start, fault: Fault::Short })
    }
    /// The next byte.
    ///
    /// # Errors
    /// Short.
    pub fn byte(&mut self) -> Result<u8, Broken> {
        self.array().map(|[byte]| byte)
    }
    /// The next length.
    ///
    /// # Errors
    /// Short, Length.
    pub fn length(&mut self) -> Result<u64, Broken> {
        let first = self.byte()?;
        self.length_after(first)
    }
    fn length_after(&mut self, first: u8) -> Result<u64, Broken> {
        Ok(match first {
            0..LENGTH_14 => first.into(),
            LENGTH_14..LENGTH_32 => u64::from(first & 0x3f) << 8 | u64::from(self.byte()?),
            LENGTH_32 => u32::from_be_bytes(self.array()?).into(),
            LENGTH_64 => u64::from_be_bytes(self.array()?),
            _ => return Err(Broken { offset: self.at - 1, fault: Fault::Length }),
        })
    }
    /// The next string, whatever its form.
    ///
    /// # Errors
    /// Short, Length, Compressed.
    pub fn string(&mut self) -> Result<Cow<'a, [u8]>, Broken> {
        let start = self.at;
        let first = self.byte()?;
        let integer = match first {
            INTEGER_8 => i8::from_le_bytes(self.array()?).into(),
            INTEGER_16 => i16::from_le_bytes(self.array()?).into(),
            INTEGER_32 => i32::from_le_bytes(self.array()?),
            COMPRESSED => {
                let (small, length) = (self.length()?, self.length()?);
                let small = self.take(small)?;
                let whole = usize::try_from(length).ok().and_then(|length| lzf::decompress(small, length));
                return whole.map(Cow::Owned).ok_or(Broken { offset: start, fault: Fault::Compressed });
            }
            _ => {
                let length = self.length_after(first)?;
                return self.take(length).map(Cow::Borrowed);
            }
        };
        Ok(Cow::Owned(integer.to_string().into_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dump(text: &[u8]) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.string(text);
        writer.finish()
    }

    #[test]
    fn a_dump_is_that_of_the_server() {
        // The server's own: FUNCTION DUMP without a library, and DUMP of `10` without its type.
        assert_eq!(Writer::default().finish(), b"\x0a\x00\x5d\x9b\x5c\x40\x0f\x7f\xa2\xda");
        assert_eq!(dump(b"10")[..2], *b"\xc0\x0a");
    }

    #[test]
    fn strings_come_back_in_every_form() {
        let lengths = [0u64, 1, 20, 21, 63, 64, 16_383, 16_384, 70_000];
        let texts = lengths.map(|length| (0..length).map(|byte| (byte * byte / 7) as u8).collect());
        let integers =
            ["0", "-128", "128", "-32768", "32768", "2147483647", "-2147483648", "2147483648", "007", "-0"];
        for text in texts.into_iter().chain(integers.map(|text| text.as_bytes().to_vec())) {
            let dump = dump(&text);
            let mut reader = Reader::of_dump(&dump).expect("the footer is right");
            assert!(!reader.is_done());
            assert_eq!(reader.string().as_deref(), Ok(&text[..]));
            assert!(reader.is_done());
        }
    }

    #[test]
    fn a_footer_that_is_wrong_is_seen() {
        let right = dump(b"some text");
        assert!(Reader::of_dump(&right).is_some());
        for at in 0..right.len() {
            let mut wrong = right.clone();
            wrong[at] ^= 1;
            assert!(Reader::of_dump(&wrong).is_none());
            assert!(Reader::of_dump(&right[..at]).is_none());
        }
    }

    #[test]
    fn what_does_not_fit_is_told_with_its_place() {
        let rows: [(&[u8], Fault, usize); 8] = [
            (b"", Fault::Short, 0),
            (b"\xff", Fault::Length, 0),
            (b"\xc4", Fault::Length, 0),
            (b"\x05abc", Fault::Short, 1),
            (b"\xc1\x01", Fault::Short, 1),
            (b"\xc3\x02\x05\x20\x20", Fault::Compressed, 0),
            (b"\x82", Fault::Length, 0),
            (b"\x81\xff\xff\xff\xff\xff\xff\xff\xffabc", Fault::Short, 9),
        ];
        for (bytes, fault, offset) in rows {
            assert_eq!(Reader::new(bytes).string(), Err(Broken { offset, fault }), "{bytes:?}");
        }
    }
}
