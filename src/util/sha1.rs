//! The name of a script: the SHA-1 of its source in lower-case hexadecimal. No allocation.
//! The digest itself is the `sha1` crate's.

use sha1::{Digest, Sha1};

/// SHA-1 of the bytes as 40 lower-case hexadecimal digits.
pub fn sha1_hex(bytes: &[u8]) -> [u8; 40] {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut text = [0; 40];
    for (pair, byte) in text.chunks_exact_mut(2).zip(Sha1::digest(bytes)) {
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
    }
}
