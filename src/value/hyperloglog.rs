//! HyperLogLogs, which are strings: a header, then 16,384 registers of 6 bits, all of them ("dense") or as runs
//! ("sparse"). Bytes are changed as the server changes them, so that equal calls leave equal strings. A string that only
//! looks like one may hold anything: what does not fit is none. The commands are in `commands::hyperloglog`.
//!
//! A sparse run is a byte 00xxxxxx (x + 1 zeros), two bytes 01xxxxxx yyyyyyyy (that many zeros and one), or a byte
//! 1vvvvvxx (x + 1 registers of v + 1).

use std::ops::Range;

/// How many registers there are.
pub const REGISTERS: usize = 1 << 14;
const HEADER: usize = 16;
const DENSE_LEN: usize = HEADER + REGISTERS * 6 / 8;
/// The bits of a hash that do not choose the register.
const HASH_BITS: usize = 50;
const MAGIC: &[u8] = b"HYLL";
const DENSE: u8 = 0;
const SPARSE: u8 = 1;
/// Where the cached count stands; its highest bit says that it does not hold.
const CACHE: Range<usize> = 8..16;
const STALE: u8 = 0x80;
const REGISTER_MAX: u8 = 63;
/// What a sparse run can hold.
const SPARSE_VALUE_MAX: u8 = 32;
const SPARSE_VALUES_MAX: usize = 4;
const SPARSE_ZEROS_MAX: usize = 64;

/// The registers, each in a byte of its own.
pub type Registers = Box<[u8]>;

/// The string holds no such thing, or a broken one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Corrupted;

/// A run of a sparse string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Run {
    /// So many zeros, in a byte.
    Zeros(usize),
    /// So many zeros, in two bytes.
    ManyZeros(usize),
    /// A value, and how many registers have it.
    Value(u8, usize),
}

impl Run {
    /// The run at the start of these bytes. A missing second byte is the zero behind the string.
    fn first(bytes: &[u8]) -> Option<Run> {
        let &first = bytes.first()?;
        Some(match first >> 6 {
            0 => Run::Zeros(usize::from(first & 0x3f) + 1),
            1 => {
                let low = bytes.get(1).copied().unwrap_or_default();
                Run::ManyZeros((usize::from(first & 0x3f) << 8 | usize::from(low)) + 1)
            }
            _ => Run::Value((first >> 2 & 0x1f) + 1, usize::from(first & 3) + 1),
        })
    }
    fn registers(self) -> usize {
        match self {
            Run::Zeros(count) | Run::ManyZeros(count) | Run::Value(_, count) => count,
        }
    }
    fn value(self) -> u8 {
        if let Run::Value(value, _) = self { value } else { 0 }
    }
    fn byte_len(self) -> usize {
        if let Run::ManyZeros(_) = self { 2 } else { 1 }
    }
    /// So many zeros.
    fn zeros(count: usize) -> Run {
        if count > SPARSE_ZEROS_MAX { Run::ManyZeros(count) } else { Run::Zeros(count) }
    }
    fn write(self, out: &mut Vec<u8>) {
        match self {
            Run::Zeros(count) => out.push((count - 1) as u8),
            Run::ManyZeros(count) => out.extend([0x40 | ((count - 1) >> 8) as u8, (count - 1) as u8]),
            Run::Value(value, count) => out.push(0x80 | (value - 1) << 2 | (count - 1) as u8),
        }
    }
}

/// An empty one, sparse.
pub fn empty() -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.push(SPARSE);
    bytes.resize(HEADER, 0);
    Run::ManyZeros(REGISTERS).write(&mut bytes);
    bytes
}

/// Whether a string has the header of one, and the length when it is dense.
pub fn is_one(bytes: &[u8]) -> bool {
    bytes.len() >= HEADER
        && bytes.starts_with(MAGIC)
        && match bytes.get(4) {
            Some(&DENSE) => bytes.len() == DENSE_LEN,
            Some(&SPARSE) => true,
            _ => false,
        }
}

/// Whether it is sparse.
pub fn is_sparse(bytes: &[u8]) -> bool {
    bytes.get(4) == Some(&SPARSE)
}

/// The count that is kept in the string, while it holds.
pub fn cached(bytes: &[u8]) -> Option<i64> {
    let cache: [u8; 8] = bytes.get(CACHE)?.try_into().ok()?;
    (cache[7] & STALE == 0).then(|| i64::from_le_bytes(cache))
}

/// Keeps a count in the string.
pub fn keep_count(bytes: &mut [u8], count: i64) {
    if let Some(cache) = bytes.get_mut(CACHE) {
        cache.copy_from_slice(&count.to_le_bytes());
    }
}

/// The count that is kept in the string does not hold any more.
pub fn forget_count(bytes: &mut [u8]) {
    if let Some(last) = bytes.get_mut(CACHE.end - 1) {
        *last |= STALE;
    }
}

/// The runs of a sparse string.
pub fn runs(bytes: &[u8]) -> impl Iterator<Item = Run> {
    let mut rest = bytes.get(HEADER..).unwrap_or_default();
    std::iter::from_fn(move || {
        let run = Run::first(rest)?;
        rest = rest.get(run.byte_len()..).unwrap_or_default();
        Some(run)
    })
}

fn dense_get(bytes: &[u8], index: usize) -> u8 {
    let (at, shift) = (HEADER + index * 6 / 8, index * 6 % 8);
    let pair = |at: usize| u16::from(bytes.get(at).copied().unwrap_or_default());
    ((pair(at) | pair(at + 1) << 8) >> shift) as u8 & REGISTER_MAX
}

fn dense_put(bytes: &mut [u8], index: usize, value: u8) {
    let (at, shift) = (HEADER + index * 6 / 8, index * 6 % 8);
    let (mask, bits) = (u16::from(REGISTER_MAX) << shift, u16::from(value) << shift);
    for (at, mask, bits) in [(at, mask as u8, bits as u8), (at + 1, (mask >> 8) as u8, (bits >> 8) as u8)] {
        if let Some(byte) = bytes.get_mut(at) {
            *byte = *byte & !mask | bits;
        }
    }
}

/// All registers.
///
/// # Errors
/// Corrupted when the runs are not as many as there are registers.
pub fn registers(bytes: &[u8]) -> Result<Registers, Corrupted> {
    let mut all = vec![0; REGISTERS].into_boxed_slice();
    raise(&mut all, bytes)?;
    Ok(all)
}

/// Raises each register to that of the string.
///
/// # Errors
/// As [`registers`]; some may be raised then.
pub fn raise(all: &mut Registers, bytes: &[u8]) -> Result<(), Corrupted> {
    if !is_sparse(bytes) {
        for (index, register) in all.iter_mut().enumerate() {
            *register = dense_get(bytes, index).max(*register);
        }
        return Ok(());
    }
    let mut index = 0;
    for run in runs(bytes) {
        let end = index + run.registers();
        if run.value() > 0 {
            let covered = all.get_mut(index..end).ok_or(Corrupted)?;
            covered.iter_mut().for_each(|register| *register = run.value().max(*register));
        }
        index = end;
    }
    if index == REGISTERS { Ok(()) } else { Err(Corrupted) }
}

/// Makes it dense. The count that it keeps stays.
///
/// # Errors
/// Corrupted when it cannot be read; it is then as it was.
pub fn make_dense(bytes: &mut Vec<u8>) -> Result<(), Corrupted> {
    if !is_sparse(bytes) {
        return Ok(());
    }
    let all = registers(bytes)?;
    let mut dense = bytes.get(..HEADER).unwrap_or_default().to_vec();
    dense.resize(DENSE_LEN, 0);
    dense[4] = DENSE;
    all.iter().enumerate().filter(|(_, value)| **value > 0).for_each(|(index, value)| {
        dense_put(&mut dense, index, *value);
    });
    *bytes = dense;
    Ok(())
}

/// Adds an element; whether a register changed. The count that is kept is forgotten where the server forgets it.
///
/// # Errors
/// Corrupted when it cannot be read.
pub fn add(bytes: &mut Vec<u8>, element: &[u8], sparse_max: usize) -> Result<bool, Corrupted> {
    let (index, value) = place(element);
    set(bytes, index, value, sparse_max)
}

/// The register that an element belongs to, and the value that it asks for.
fn place(element: &[u8]) -> (usize, u8) {
    let hash = murmur(element, 0xadc8_3b19);
    let rest = hash >> 14 | 1 << HASH_BITS;
    ((hash as usize) & (REGISTERS - 1), rest.trailing_zeros() as u8 + 1)
}

/// Raises a register; whether it changed.
///
/// # Errors
/// As [`add`].
pub fn set(bytes: &mut Vec<u8>, index: usize, value: u8, sparse_max: usize) -> Result<bool, Corrupted> {
    if is_sparse(bytes) {
        return set_sparse(bytes, index, value, sparse_max);
    }
    let raised = value > dense_get(bytes, index);
    if raised {
        dense_put(bytes, index, value);
    }
    Ok(raised)
}

fn promote(bytes: &mut Vec<u8>, index: usize, value: u8) -> Result<bool, Corrupted> {
    make_dense(bytes)?;
    let raised = value > dense_get(bytes, index);
    if raised {
        dense_put(bytes, index, value);
    }
    Ok(raised)
}

fn set_sparse(bytes: &mut Vec<u8>, index: usize, value: u8, sparse_max: usize) -> Result<bool, Corrupted> {
    if value > SPARSE_VALUE_MAX {
        return promote(bytes, index, value);
    }
    let (mut at, mut first, mut before) = (HEADER, 0, None);
    let run = loop {
        let run = Run::first(bytes.get(at..).unwrap_or_default()).ok_or(Corrupted)?;
        if index < first + run.registers() {
            break run;
        }
        before = Some(at);
        at += run.byte_len();
        first += run.registers();
    };
    if run.value() >= value {
        return Ok(false);
    }
    let one = Run::Value(value, 1);
    let of_run = |count: usize| match run {
        Run::Value(value, _) => Run::Value(value, count),
        _ => Run::zeros(count),
    };
    let (less, more) = (index - first, first + run.registers() - 1 - index);
    let mut new = Vec::with_capacity(5);
    if less > 0 {
        of_run(less).write(&mut new);
    }
    one.write(&mut new);
    if more > 0 {
        of_run(more).write(&mut new);
    }
    let old = run.byte_len();
    if new.len() > old && bytes.len() + new.len() - old > sparse_max {
        return promote(bytes, index, value);
    }
    bytes.splice(at..(at + old).min(bytes.len()), new);
    merge(bytes, before.unwrap_or(HEADER));
    forget_count(bytes);
    Ok(true)
}

/// Joins runs of the same value, looking at five from a place on.
fn merge(bytes: &mut Vec<u8>, from: usize) {
    let mut at = from;
    for _ in 0..5 {
        let rest = bytes.get(at..).unwrap_or_default();
        let Some(run) = Run::first(rest) else { return };
        if let Run::Value(value, count) = run
            && let Some(Run::Value(next, more)) = Run::first(&rest[1..])
            && value == next
            && count + more <= SPARSE_VALUES_MAX
        {
            let mut joined = Vec::with_capacity(1);
            Run::Value(value, count + more).write(&mut joined);
            bytes.splice(at..at + 2, joined);
            continue;
        }
        at += run.byte_len();
    }
}

/// About how many elements were added.
///
/// # Errors
/// Corrupted when a sparse string has not as many registers as it should.
pub fn count(bytes: &[u8]) -> Result<i64, Corrupted> {
    let mut histogram = [0usize; 64];
    if is_sparse(bytes) {
        let mut index = 0;
        for run in runs(bytes) {
            index += run.registers();
            histogram[usize::from(run.value())] += run.registers();
        }
        if index != REGISTERS {
            return Err(Corrupted);
        }
    } else {
        (0..REGISTERS).for_each(|index| histogram[usize::from(dense_get(bytes, index))] += 1);
    }
    Ok(estimate(&histogram))
}

/// About how many elements these registers stand for.
pub fn count_registers(all: &Registers) -> i64 {
    let mut histogram = [0usize; 64];
    all.iter().for_each(|register| histogram[usize::from(register & REGISTER_MAX)] += 1);
    estimate(&histogram)
}

/// Otmar Ertl's estimator, from how many registers have each value.
fn estimate(histogram: &[usize; 64]) -> i64 {
    const ALPHA_INFINITY: f64 = 0.721_347_520_444_481_7;
    let m = REGISTERS as f64;
    let mut z = m * tau((m - histogram[HASH_BITS + 1] as f64) / m);
    for of_value in histogram[1..=HASH_BITS].iter().rev() {
        z += *of_value as f64;
        z *= 0.5;
    }
    z += m * sigma(histogram[0] as f64 / m);
    let estimate = (ALPHA_INFINITY * m * m / z).round();
    // What no integer can hold becomes the lowest, as in C.
    if estimate < 9.2e18 { estimate as i64 } else { i64::MIN }
}

fn sigma(mut x: f64) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    let (mut y, mut z) = (1.0, x);
    loop {
        x *= x;
        let before = z;
        z += x * y;
        y += y;
        if before == z {
            return z;
        }
    }
}

fn tau(mut x: f64) -> f64 {
    if x == 0.0 || x == 1.0 {
        return 0.0;
    }
    let (mut y, mut z) = (1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        let before = z;
        y *= 0.5;
        z -= (1.0 - x) * (1.0 - x) * y;
        if before == z {
            return z / 3.0;
        }
    }
}

/// MurmurHash2, the variant of 64 bits.
fn murmur(bytes: &[u8], seed: u64) -> u64 {
    const M: u64 = 0xc6a4_a793_5bd1_e995;
    let mut hash = seed ^ (bytes.len() as u64).wrapping_mul(M);
    let (words, tail) = bytes.as_chunks();
    for word in words {
        let mut mixed = u64::from_le_bytes(*word).wrapping_mul(M);
        mixed = (mixed ^ mixed >> 47).wrapping_mul(M);
        hash = (hash ^ mixed).wrapping_mul(M);
    }
    if !tail.is_empty() {
        let mut word = [0; 8];
        word.iter_mut().zip(tail).for_each(|(place, byte)| *place = *byte);
        hash = (hash ^ u64::from_le_bytes(word)).wrapping_mul(M);
    }
    hash = (hash ^ hash >> 47).wrapping_mul(M);
    hash ^ hash >> 47
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparse_and_dense_hold_the_same() {
        let (mut sparse, mut dense) = (empty(), empty());
        make_dense(&mut dense).expect("an empty one");
        for number in 0..3000_u32 {
            let element = number.to_le_bytes();
            assert_eq!(add(&mut sparse, &element, 1 << 20), add(&mut dense, &element, 0), "{number}");
        }
        assert!(is_one(&sparse) && is_one(&dense) && is_sparse(&sparse) && !is_sparse(&dense));
        assert_eq!(registers(&sparse), registers(&dense));
        assert_eq!(count(&sparse), count(&dense));
        assert!(count(&dense).is_ok_and(|count| (2900..3100).contains(&count)));
        make_dense(&mut sparse).expect("a whole one");
        assert_eq!(sparse[HEADER..], dense[HEADER..]);
    }

    #[test]
    fn any_bytes_behind_the_header_are_read_without_panic() {
        let mut rng = crate::util::rng::Rng::new(5);
        for _ in 0..20_000 {
            let mut bytes = empty()[..HEADER].to_vec();
            bytes.extend((0..rng.below(40)).map(|_| rng.next_u64() as u8));
            let before = registers(&bytes);
            _ = (count(&bytes), add(&mut bytes.clone(), &rng.next_u64().to_le_bytes(), 3000));
            _ = set(&mut bytes, rng.below(REGISTERS as u64) as usize, 1 + rng.below(51) as u8, 3000);
            assert!(before.is_err() || registers(&bytes).is_ok());
        }
    }

    #[test]
    fn hashes_are_those_of_the_server() {
        assert_eq!(place(b""), (place(b"").0, place(b"").1));
        assert_eq!(murmur(b"", 0), 0);
    }
}
