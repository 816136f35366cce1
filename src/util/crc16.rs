//! Cluster slots: CRC-16 (XMODEM, polynomial 0x1021) of a key or of its `{tag}`, modulo 16384.

/// How many slots the key space has.
pub const SLOT_COUNT: u16 = 16384;

/// CRC-16 of each single byte.
const TABLE: [u16; 256] = table();

const fn table() -> [u16; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = (byte as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 != 0 { (crc << 1) ^ 0x1021 } else { crc << 1 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
}

/// CRC-16/XMODEM of the bytes.
pub fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| (crc << 8) ^ TABLE[usize::from((crc >> 8) as u8 ^ byte)])
}

/// The slot of a key. Only what stands between the first `{` and the first `}` after it counts, when
/// that is not empty, so that keys with the same tag share a slot.
pub fn key_slot(key: &[u8]) -> u16 {
    crc16(hash_tag(key).unwrap_or(key)) % SLOT_COUNT
}

/// The non-empty `{tag}` of a key.
fn hash_tag(key: &[u8]) -> Option<&[u8]> {
    let open = key.iter().position(|byte| *byte == b'{')?;
    let rest = &key[open + 1..];
    let close = rest.iter().position(|byte| *byte == b'}')?;
    (close > 0).then(|| &rest[..close])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_as_recorded_from_the_server() {
        let rows: [(&[u8], u16); 16] = [
            (b"", 0),
            (b"a", 15495),
            (b"foo", 12182),
            (b"123456789", 12739),
            (b"{user1000}.following", 3443),
            (b"user1000", 3443),
            (b"foo{}{bar}", 8363),
            (b"foo{{bar}}zap", 4015),
            (b"{bar", 4015),
            (b"foo{bar}{zap}", 5061),
            (b"}{a}", 15495),
            (b"{}", 15257),
            (b"a{b", 13340),
            (b"stock:{p1}", 11819),
            (b"p1", 11819),
            (b"\xff\x00\x80", 7915),
        ];
        for (key, slot) in rows {
            assert_eq!(key_slot(key), slot, "{:?}", String::from_utf8_lossy(key));
        }
    }
}
