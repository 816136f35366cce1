//! What dumps are made of, in the server's format: lengths, strings (integers and LZF among them), and the footer with
//! the format's version and a checksum. What a dump holds is up to those who write and read it.

use crate::util::crc64::crc64;
use crate::util::lzf;
use crate::util::num::parse_i64;

/// The version of the format that is written, and the newest one that is read.
const VERSION: u16 = 10;
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
    /// The whole dump, with its footer.
    pub fn finish(mut self) -> Vec<u8> {
        self.out.extend_from_slice(&VERSION.to_le_bytes());
        let checksum = crc64(&self.out);
        self.out.extend_from_slice(&checksum.to_le_bytes());
        self.out
    }
}

/// Reads a dump. Nothing that it holds is relied on: what does not fit is none.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A reader of a dump whose footer is right.
    pub fn new(dump: &'a [u8]) -> Option<Self> {
        let (checked, checksum) = dump.split_last_chunk()?;
        let (_, version) = checked.split_last_chunk()?;
        let fits = u16::from_le_bytes(*version) <= VERSION && u64::from_le_bytes(*checksum) == crc64(checked);
        fits.then_some(Reader { rest: dump })
    }
    /// True when nothing is left before the footer.
    pub fn is_done(&self) -> bool {
        self.rest.len() <= FOOTER_BYTES
    }
    fn take(&mut self, count: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(usize::try_from(count).ok()?)?;
        self.rest = rest;
        Some(taken)
    }
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N as u64)?.try_into().ok()
    }
    /// The next byte.
    pub fn byte(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }
    /// The next length.
    pub fn length(&mut self) -> Option<u64> {
        let first = self.byte()?;
        self.length_after(first)
    }
    fn length_after(&mut self, first: u8) -> Option<u64> {
        Some(match first {
            0..LENGTH_14 => first.into(),
            LENGTH_14..LENGTH_32 => u64::from(first & 0x3f) << 8 | u64::from(self.byte()?),
            LENGTH_32 => u32::from_be_bytes(self.array()?).into(),
            LENGTH_64 => u64::from_be_bytes(self.array()?),
            _ => return None,
        })
    }
    /// The next string, whatever its form.
    pub fn string(&mut self) -> Option<Vec<u8>> {
        let first = self.byte()?;
        let integer = match first {
            INTEGER_8 => i8::from_le_bytes(self.array()?).into(),
            INTEGER_16 => i16::from_le_bytes(self.array()?).into(),
            INTEGER_32 => i32::from_le_bytes(self.array()?),
            COMPRESSED => {
                let (small, length) = (self.length()?, self.length()?);
                return lzf::decompress(self.take(small)?, usize::try_from(length).ok()?);
            }
            _ => {
                let length = self.length_after(first)?;
                return self.take(length).map(<[u8]>::to_vec);
            }
        };
        Some(integer.to_string().into_bytes())
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
            let mut reader = Reader::new(&dump).expect("the footer is right");
            assert!(!reader.is_done());
            assert_eq!(reader.string().as_deref(), Some(&text[..]));
            assert!(reader.is_done());
        }
    }

    #[test]
    fn a_footer_that_is_wrong_is_seen() {
        let right = dump(b"some text");
        assert!(Reader::new(&right).is_some());
        for at in 0..right.len() {
            let mut wrong = right.clone();
            wrong[at] ^= 1;
            assert!(Reader::new(&wrong).is_none());
            assert!(Reader::new(&right[..at]).is_none());
        }
    }

    #[test]
    fn what_does_not_fit_is_none() {
        for bytes in [&b""[..], b"\xff", b"\xc4", b"\x05abc", b"\xc1\x01", b"\xc3\x02\x05\x20\x20", b"\x82"] {
            assert_eq!(Reader { rest: bytes }.string(), None);
        }
    }
}
