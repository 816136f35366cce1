//! Unsigned integers of any size, only what correct rounding of decimal text needs.
//! Slow and simple on purpose: the usual numbers never come here (see `decimal` and `long_double`).

use std::cmp::Ordering;

/// The largest power of ten in one limb, and its exponent.
const LIMB_POWER: u64 = 10_000_000_000_000_000_000;
const LIMB_DIGITS: u64 = 19;

/// An unsigned integer; little-endian limbs, the last one not zero.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct BigInt {
    limbs: Vec<u64>,
}

impl BigInt {
    /// The integer that the decimal digits spell; all bytes are ASCII digits.
    pub(super) fn from_digits<'a>(digits: impl Iterator<Item = &'a u8>) -> Self {
        let mut big = BigInt { limbs: Vec::new() };
        let (mut factor, mut chunk) = (1, 0);
        for digit in digits {
            chunk = chunk * 10 + u64::from(digit.wrapping_sub(b'0'));
            factor *= 10;
            if factor == LIMB_POWER {
                big.mul_add(factor, chunk);
                (factor, chunk) = (1, 0);
            }
        }
        big.mul_add(factor, chunk);
        big
    }

    /// `value * 2^shift`.
    pub(super) fn from_shifted(value: u64, shift: u64) -> Self {
        let mut big = BigInt { limbs: vec![value] };
        big.trim();
        big.shift_left(shift);
        big
    }

    /// `self *= 10^exponent`.
    pub(super) fn mul_power_of_ten(&mut self, exponent: u64) {
        for _ in 0..exponent / LIMB_DIGITS {
            self.mul_add(LIMB_POWER, 0);
        }
        let rest = u32::try_from(exponent % LIMB_DIGITS).unwrap_or_default();
        self.mul_add(10u64.pow(rest), 0);
    }

    /// `self = self * factor + addend`.
    fn mul_add(&mut self, factor: u64, addend: u64) {
        let mut carry = addend;
        for limb in &mut self.limbs {
            let product = u128::from(*limb) * u128::from(factor) + u128::from(carry);
            *limb = product as u64;
            carry = (product >> 64) as u64;
        }
        if carry != 0 {
            self.limbs.push(carry);
        }
        self.trim();
    }

    /// Drops leading zero limbs.
    fn trim(&mut self) {
        while self.limbs.last() == Some(&0) {
            self.limbs.pop();
        }
    }

    /// How many bits the integer has; zero has none.
    pub(super) fn bit_length(&self) -> u64 {
        let top = self.limbs.last().map_or(0, |limb| u64::from(limb.leading_zeros()));
        self.limbs.len() as u64 * 64 - top
    }

    /// `self *= 2^shift`.
    pub(super) fn shift_left(&mut self, shift: u64) {
        if self.limbs.is_empty() {
            return;
        }
        let bits = shift % 64;
        if bits != 0 {
            let mut carry = 0;
            for limb in &mut self.limbs {
                let shifted = (*limb << bits) | carry;
                carry = *limb >> (64 - bits);
                *limb = shifted;
            }
            self.limbs.push(carry);
            self.trim();
        }
        let zeros = usize::try_from(shift / 64).unwrap_or_default();
        self.limbs.splice(0..0, std::iter::repeat_n(0, zeros));
    }

    /// The most significant 128 bits, how far they were shifted down, and whether a bit was lost.
    pub(super) fn top_bits(&self) -> (u128, u64, bool) {
        let dropped = self.bit_length().saturating_sub(128);
        let (whole, bits) = (usize::try_from(dropped / 64).unwrap_or_default(), dropped % 64);
        let limb = |index: usize| u128::from(self.limbs.get(whole + index).copied().unwrap_or_default());
        let mut top = (limb(0) | (limb(1) << 64)) >> bits;
        if bits != 0 {
            top |= limb(2) << (128 - bits);
        }
        let lost_in_limb = bits != 0 && limb(0) & ((1u128 << bits) - 1) != 0;
        let lost = lost_in_limb || self.limbs.iter().take(whole).any(|limb| *limb != 0);
        (top, dropped, lost)
    }

    /// `self / divisor` as at least 67 bits `q`, a binary exponent `e` (the quotient is `q * 2^e` and a
    /// bit), and whether there is such a bit. Neither number may be zero.
    pub(super) fn divide(mut self, mut divisor: BigInt) -> (u128, i64, bool) {
        const BITS: u32 = 68;
        let (left, right) = (self.bit_length(), divisor.bit_length());
        // Equal lengths, then one long division bit by bit; each step doubles the remainder.
        self.shift_left(right.saturating_sub(left));
        divisor.shift_left(left.saturating_sub(right));
        let mut quotient: u128 = 0;
        for _ in 0..BITS {
            quotient <<= 1;
            if self.compare(&divisor) != Ordering::Less {
                self.subtract(&divisor);
                quotient |= 1;
            }
            self.shift_left(1);
        }
        let exponent = left.cast_signed() - right.cast_signed() - i64::from(BITS - 1);
        (quotient, exponent, !self.limbs.is_empty())
    }

    fn compare(&self, other: &BigInt) -> Ordering {
        let by_length = self.limbs.len().cmp(&other.limbs.len());
        by_length.then_with(|| self.limbs.iter().rev().cmp(other.limbs.iter().rev()))
    }

    /// `self -= other`, which is not the greater one.
    fn subtract(&mut self, other: &BigInt) {
        let mut borrow = false;
        for (index, limb) in self.limbs.iter_mut().enumerate() {
            let taken = other.limbs.get(index).copied().unwrap_or_default();
            let (first, under) = limb.overflowing_sub(taken);
            let (second, under_again) = first.overflowing_sub(u64::from(borrow));
            *limb = second;
            borrow = under || under_again;
        }
        self.trim();
    }

    /// Appends the integer in decimal.
    pub(super) fn write_decimal(mut self, out: &mut Vec<u8>) {
        let mut chunks = Vec::new();
        while !self.limbs.is_empty() {
            chunks.push(self.divide_by_limb_power());
        }
        let mut buffer = itoa::Buffer::new();
        out.extend_from_slice(buffer.format(chunks.pop().unwrap_or_default()).as_bytes());
        for chunk in chunks.iter().rev() {
            let digits = buffer.format(*chunk).as_bytes();
            out.extend(std::iter::repeat_n(b'0', LIMB_DIGITS as usize - digits.len()));
            out.extend_from_slice(digits);
        }
    }

    /// `self /= LIMB_POWER`, giving the remainder.
    fn divide_by_limb_power(&mut self) -> u64 {
        let mut remainder: u64 = 0;
        for limb in self.limbs.iter_mut().rev() {
            let value = (u128::from(remainder) << 64) | u128::from(*limb);
            *limb = (value / u128::from(LIMB_POWER)) as u64;
            remainder = (value % u128::from(LIMB_POWER)) as u64;
        }
        self.trim();
        remainder
    }
}
