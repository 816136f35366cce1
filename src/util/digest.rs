//! Digests: the SHA-1 that names a script and sums what is stored, the SHA-256 that a password is kept as. The digests
//! themselves are the `sha1` and `sha2` crates'.

use sha1::{Digest, Sha1};
use sha2::Sha256;

const HEX: &[u8; 16] = b"0123456789abcdef";

/// SHA-1 of the bytes.
pub fn sha1(bytes: &[u8]) -> [u8; 20] {
    Sha1::digest(bytes).into()
}

/// SHA-1 of the bytes as 40 lower-case hexadecimal digits.
pub fn sha1_hex(bytes: &[u8]) -> [u8; 40] {
    digits(&sha1(bytes))
}

/// The same of bytes that may be many, with a call before each slice of them, which may end it.
pub fn sha1_hex_by_slices<E>(
    bytes: &[u8],
    mut before: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<[u8; 40], E> {
    const SLICE: usize = 256 * 1024;
    let mut sum = Sha1::new();
    for slice in bytes.chunks(SLICE) {
        before(slice)?;
        sum.update(slice);
    }
    Ok(digits(&<[u8; 20]>::from(sum.finalize())))
}

/// SHA-256 of the bytes as 64 lower-case hexadecimal digits.
pub fn sha256_hex(bytes: &[u8]) -> [u8; 64] {
    digits(&Sha256::digest(bytes))
}

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
    digits.map(char::from).collect()
}

/// The same where the length is known: no allocation.
fn digits<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut text = [0; N];
    for (pair, byte) in text.chunks_exact_mut(2).zip(bytes) {
        pair[0] = HEX[usize::from(byte >> 4)];
        pair[1] = HEX[usize::from(byte & 15)];
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_digests() {
        assert_eq!(&sha1_hex(b""), b"da39a3ee5e6b4b0d3255bfef95601890afd80709");
        assert_eq!(&sha1_hex(b"return 1"), b"e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
        let long = vec![b'x'; 700_000];
        let mut slices = Vec::new();
        let sum = sha1_hex_by_slices(&long, |slice| {
            slices.push(slice.len());
            Ok::<_, ()>(())
        });
        assert_eq!((sum, slices), (Ok(sha1_hex(&long)), vec![262_144, 262_144, 175_712]));
        assert_eq!(sha1_hex_by_slices(b"x", |_| Err("over")), Err("over"));
        assert_eq!(hex(&sha1(b"")), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
        assert_eq!(&sha256_hex(b"abc"), b"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
