//! From text to a binary floating point number, correctly rounded to nearest even, with the syntax of
//! C's `strtod` and `strtold`: decimal and hexadecimal digits, exponents, `inf`, `infinity`, `nan`.
//! The types on top are in `float` (53 bits) and `long_double` (64 bits).

use super::bigint::BigInt;
use super::num::is_space;

/// Digits beyond these cannot change a rounding: the longest halfway point has fewer.
const MOST_DIGITS: usize = 20_000;
/// Beyond `10^±this` every number is infinite or zero in every format here.
const LARGEST_POWER: i64 = 5_100;

/// A binary format: finite values are `mantissa * 2^exponent`.
pub(super) struct Format {
    /// Bits of the mantissa, the leading one included.
    pub(super) bits: u32,
    /// Smallest exponent, that of the subnormal numbers.
    pub(super) min_exponent: i32,
    /// Largest exponent.
    pub(super) max_exponent: i32,
}

/// A magnitude rounded to a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rounded {
    /// Too large for the format.
    Infinite,
    /// `mantissa * 2^exponent`; the top bit is set unless the exponent is the smallest one.
    Finite {
        /// The mantissa; zero when the magnitude was too small, or zero.
        mantissa: u64,
        /// The binary exponent.
        exponent: i32,
    },
}

const ZERO: Rounded = Rounded::Finite { mantissa: 0, exponent: 0 };

/// The longest prefix of a text that is a number to C.
pub(super) struct Scanned<'a> {
    /// Whether a minus stands in front.
    pub(super) negative: bool,
    /// What the number is.
    pub(super) magnitude: Magnitude<'a>,
    /// Where the number starts (at its first digit, after space and sign).
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
}

/// A magnitude as written.
pub(super) enum Magnitude<'a> {
    /// `nan`.
    Nan,
    /// `inf` or `infinity`.
    Infinity,
    /// Decimal digits.
    Decimal(Digits<'a>),
    /// Hexadecimal digits after `0x`.
    Hex(Digits<'a>),
}

/// Digits around a point, and an exponent (of ten, or of two after hexadecimal digits).
pub(super) struct Digits<'a> {
    whole: &'a [u8],
    fraction: &'a [u8],
    exponent: i64,
}

impl<'a> Digits<'a> {
    /// All digits without the point and without leading zeros.
    fn significant(&self) -> impl Iterator<Item = &'a u8> + Clone {
        self.whole.iter().chain(self.fraction).skip_while(|digit| **digit == b'0')
    }

    /// Whether every digit is a zero.
    pub(super) fn are_zero(&self) -> bool {
        self.significant().next().is_none()
    }

    /// Whether length and exponent stay within what every decimal parser gets right.
    pub(super) fn are_moderate(&self) -> bool {
        self.whole.len() + self.fraction.len() < 10_000 && self.exponent.abs() < 10_000
    }
}

/// Finds the number at the start of a text, after optional space, as `strtod` does.
pub(super) fn scan(text: &[u8]) -> Option<Scanned<'_>> {
    let spaces = text.iter().take_while(|byte| is_space(**byte)).count();
    let sign = text.get(spaces).filter(|byte| matches!(byte, b'+' | b'-'));
    let negative = sign == Some(&b'-');
    let start = spaces + usize::from(sign.is_some());
    let rest = text.get(start..)?;
    let (magnitude, length) = scan_word(rest).or_else(|| scan_hex(rest)).or_else(|| scan_decimal(rest))?;
    Some(Scanned { negative, magnitude, start, end: start + length })
}

/// `infinity`, `inf` or `nan` in any case.
fn scan_word(text: &[u8]) -> Option<(Magnitude<'static>, usize)> {
    let starts_with =
        |word: &[u8]| text.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word));
    if starts_with(b"infinity") {
        Some((Magnitude::Infinity, 8))
    } else if starts_with(b"inf") {
        Some((Magnitude::Infinity, 3))
    } else if starts_with(b"nan") {
        Some((Magnitude::Nan, 3))
    } else {
        None
    }
}

fn scan_hex(text: &[u8]) -> Option<(Magnitude<'_>, usize)> {
    let body = text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X"))?;
    let (digits, length) = scan_digits(body, |byte| byte.is_ascii_hexdigit(), b'p')?;
    Some((Magnitude::Hex(digits), 2 + length))
}

fn scan_decimal(text: &[u8]) -> Option<(Magnitude<'_>, usize)> {
    let (digits, length) = scan_digits(text, |byte| byte.is_ascii_digit(), b'e')?;
    Some((Magnitude::Decimal(digits), length))
}

/// Digits with an optional point and exponent; at least one digit is needed.
fn scan_digits(text: &[u8], is_digit: fn(&u8) -> bool, mark: u8) -> Option<(Digits<'_>, usize)> {
    let run = |from: usize| text[from..].iter().take_while(|byte| is_digit(byte)).count();
    let whole_end = run(0);
    let whole = &text[..whole_end];
    let (fraction, mut end) = if text.get(whole_end) == Some(&b'.') {
        let fraction_end = whole_end + 1 + run(whole_end + 1);
        (&text[whole_end + 1..fraction_end], fraction_end)
    } else {
        (&text[..0], whole_end)
    };
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut exponent = 0;
    if text.get(end).is_some_and(|byte| byte.eq_ignore_ascii_case(&mark))
        && let Some((value, length)) = scan_exponent(&text[end + 1..])
    {
        exponent = value;
        end += 1 + length;
    }
    Some((Digits { whole, fraction, exponent }, end))
}

/// An exponent after its mark; absurd ones saturate.
fn scan_exponent(text: &[u8]) -> Option<(i64, usize)> {
    let sign = text.first().filter(|byte| matches!(byte, b'+' | b'-'));
    let start = usize::from(sign.is_some());
    let digits = text[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 {
        return None;
    }
    let magnitude = text[start..start + digits]
        .iter()
        .fold(0i64, |sum, byte| sum.saturating_mul(10).saturating_add(i64::from(byte - b'0')));
    Some((if sign == Some(&b'-') { -magnitude } else { magnitude }, start + digits))
}

/// Rounds decimal digits to a format.
pub(super) fn round_decimal(format: &Format, digits: &Digits<'_>) -> Rounded {
    let exponent = digits.exponent.saturating_sub(digits.fraction.len() as i64);
    let count = digits.significant().count();
    if count == 0 {
        return ZERO;
    }
    if count <= 38
        && let Some(rounded) = round_short_decimal(format, digits, exponent)
    {
        return rounded;
    }
    let power = exponent.saturating_add(count as i64);
    if power > LARGEST_POWER {
        Rounded::Infinite
    } else if power < -LARGEST_POWER {
        ZERO
    } else {
        round_long_decimal(format, digits, exponent, count)
    }
}

/// At most 38 digits and a small exponent: everything fits 128 bits.
fn round_short_decimal(format: &Format, digits: &Digits<'_>, exponent: i64) -> Option<Rounded> {
    let value =
        digits.significant().fold(0u128, |sum, digit| sum * 10 + u128::from(digit.wrapping_sub(b'0')));
    if let Ok(power) = u32::try_from(exponent) {
        let scaled = value.checked_mul(10u128.checked_pow(power)?)?;
        return Some(round(format, scaled, 0, false));
    }
    // With the dividend's top bit set and a divisor below 2^60 the quotient has more than 66 bits.
    let power = u32::try_from(exponent.unsigned_abs()).ok().filter(|power| *power <= 18)?;
    let divisor = 10u128.pow(power);
    let shift = value.leading_zeros();
    let dividend = value << shift;
    Some(round(format, dividend / divisor, -i64::from(shift), dividend % divisor != 0))
}

/// Any number of digits, exactly.
fn round_long_decimal(format: &Format, digits: &Digits<'_>, exponent: i64, count: usize) -> Rounded {
    let dropped = count.saturating_sub(MOST_DIGITS);
    let lost = digits.significant().skip(MOST_DIGITS).any(|digit| *digit != b'0');
    let exponent = exponent + dropped as i64;
    let mut big = BigInt::from_digits(digits.significant().take(MOST_DIGITS));
    if exponent >= 0 {
        big.mul_power_of_ten(exponent.unsigned_abs());
        let (top, shift, sticky) = big.top_bits();
        return round(format, top, shift.cast_signed(), sticky || lost);
    }
    let mut divisor = BigInt::from_shifted(1, 0);
    divisor.mul_power_of_ten(exponent.unsigned_abs());
    let (quotient, shift, sticky) = big.divide(divisor);
    round(format, quotient, shift, sticky || lost)
}

/// Rounds hexadecimal digits to a format.
pub(super) fn round_hex(format: &Format, digits: &Digits<'_>) -> Rounded {
    const FITTING: usize = 32;
    let value = |digit: &u8| (*digit as char).to_digit(16).unwrap_or_default();
    let head =
        digits.significant().take(FITTING).fold(0u128, |sum, digit| (sum << 4) | u128::from(value(digit)));
    let lost = digits.significant().skip(FITTING).any(|digit| *digit != b'0');
    let dropped = digits.significant().count().saturating_sub(FITTING);
    let shift = 4 * (dropped as i64 - digits.fraction.len() as i64);
    round(format, head, digits.exponent.saturating_add(shift), lost)
}

/// Rounds `value * 2^exponent`, plus something below its last bit when `sticky`, to nearest even.
/// A sticky value must have more bits than the format.
pub(super) fn round(format: &Format, value: u128, exponent: i64, sticky: bool) -> Rounded {
    if value == 0 {
        return ZERO;
    }
    let length = i64::from(128 - value.leading_zeros());
    let normal = exponent.saturating_add(length - i64::from(format.bits));
    let mut target = normal.max(i64::from(format.min_exponent));
    if target > i64::from(format.max_exponent) {
        return Rounded::Infinite;
    }
    let mut mantissa = match target.saturating_sub(exponent) {
        left @ ..=0 => value << left.unsigned_abs(),
        right => shift_right_to_even(value, right.unsigned_abs(), sticky),
    };
    if mantissa >> format.bits != 0 {
        mantissa >>= 1;
        target += 1;
    }
    match (u64::try_from(mantissa), i32::try_from(target)) {
        (Ok(0), _) => ZERO,
        (Ok(mantissa), Ok(exponent)) if exponent <= format.max_exponent => {
            Rounded::Finite { mantissa, exponent }
        }
        _ => Rounded::Infinite,
    }
}

/// `value / 2^shift` to nearest even; `sticky` stands for a part below the last bit.
pub(super) fn shift_right_to_even(value: u128, shift: u64, sticky: bool) -> u128 {
    if shift > 128 {
        return 0;
    }
    let kept = value.checked_shr(shift as u32).unwrap_or_default();
    let half = 1u128 << (shift - 1);
    let rest = if shift == 128 { value } else { value & ((1u128 << shift) - 1) };
    let up = rest > half || rest == half && (sticky || kept & 1 == 1);
    kept + u128::from(up)
}
