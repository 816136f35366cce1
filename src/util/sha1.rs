//! SHA-1: the name of a script is that of its source, in lower-case hexadecimal; digests of what is stored are made of it.
//! No allocation but for text. The digest itself is the `sha1` crate's.

use sha1::{Digest, Sha1};

const HEX: &[u8; 16] = b"0123456789abcdef";

/// SHA-1 of the bytes.
pub fn sha1(bytes: &[u8]) -> [u8; 20] {
    Sha1::digest(bytes).into()
}

/// SHA-1 of the bytes as 40 lower-case hexadecimal digits.
pub fn sha1_hex(bytes: &[u8]) -> [u8; 40] {
    let mut text = [0; 40];
    for (pair, byte) in text.chunks_exact_mut(2).zip(sha1(bytes)) {
        pair[0] = HEX[usize::from(byte >> 4)];
        pair[1] = HEX[usize::from(byte & 15)];
    }
    text
}

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
    digits.map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_digests() {
        assert_eq!(&sha1_hex(b""), b"da39a3ee5e6b4b0d3255bfef95601890afd80709");
        assert_eq!(&sha1_hex(b"return 1"), b"e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
        assert_eq!(hex(&sha1(b"")), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    }
}
