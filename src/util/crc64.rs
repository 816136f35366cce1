//! CRC-64 with the polynomial that Redis took from Jones (0xad93d23594c935a9, reflected, no inversion): the checksum of
//! its dumps.

/// CRC-64 of each single byte.
static TABLE: [u64; 256] = table();

const fn table() -> [u64; 256] {
    const POLYNOMIAL: u64 = 0xad93_d235_94c9_35a9_u64.reverse_bits();
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u64;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 != 0 { (crc >> 1) ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
}

/// The checksum of the bytes.
pub fn crc64(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |crc, byte| (crc >> 8) ^ TABLE[usize::from(crc as u8 ^ byte)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_checksums() {
        assert_eq!(crc64(b""), 0);
        assert_eq!(crc64(b"123456789"), 0xe9c6_d914_c4b8_d9ca);
    }
}
