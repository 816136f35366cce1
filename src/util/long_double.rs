//! The 80-bit floating point numbers (x87 extended) that INCRBYFLOAT, HINCRBYFLOAT and timeouts are
//! computed in, in plain Rust: reading, adding, scaling, and the `%.17Lf` text with its zeros trimmed.
//! Rounding is to nearest even everywhere, as on the server.

use std::cmp::Ordering;

use super::bigint::BigInt;
use super::decimal::{self, Format, Magnitude, Rounded, shift_right_to_even};
use super::num::is_space;

/// x87 extended precision.
const EXTENDED: Format = Format { bits: 64, min_exponent: -16_445, max_exponent: 16_320 };
/// The longest text that is read; the server copies it into a buffer of 5 * 1024 bytes.
const MOST_CHARS: usize = 5 * 1024 - 1;

/// An 80-bit floating point number.
#[derive(Debug, Clone, Copy)]
pub struct LongDouble {
    negative: bool,
    magnitude: Size,
}

/// A double as coordinates are written, see [`LongDouble::write_human`].
pub fn format_human(value: f64) -> Vec<u8> {
    let mut text = Vec::new();
    LongDouble::from(value).write_human(&mut text);
    text
}

/// The number without its sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Size {
    Nan,
    Infinite,
    /// `mantissa * 2^exponent`; the top bit is set unless the exponent is the smallest one or the
    /// mantissa is zero (then the exponent is zero).
    Finite {
        mantissa: u64,
        exponent: i32,
    },
}

impl LongDouble {
    /// Zero.
    pub const ZERO: LongDouble =
        LongDouble { negative: false, magnitude: Size::Finite { mantissa: 0, exponent: 0 } };
    const NAN: LongDouble = LongDouble { negative: true, magnitude: Size::Nan };

    /// Reads a whole text as a number (the server's `string2ld`): shorter than 5 KiB, no leading space,
    /// nothing left over, no NaN, no overflow, no underflow to zero; `inf` and hexadecimal are fine.
    pub fn parse(text: &[u8]) -> Option<Self> {
        if text.len() > MOST_CHARS || is_space(*text.first()?) {
            return None;
        }
        let scanned = decimal::scan(text)?;
        if scanned.end != text.len() {
            return None;
        }
        let (rounded, zero) = match &scanned.magnitude {
            Magnitude::Nan => return None,
            Magnitude::Infinity => {
                return Some(LongDouble { negative: scanned.negative, magnitude: Size::Infinite });
            }
            Magnitude::Decimal(digits) => (decimal::round_decimal(&EXTENDED, digits), digits.are_zero()),
            Magnitude::Hex(digits) => (decimal::round_hex(&EXTENDED, digits), digits.are_zero()),
        };
        match rounded {
            Rounded::Infinite => None,
            Rounded::Finite { mantissa: 0, .. } if !zero => None,
            Rounded::Finite { mantissa, exponent } => Some(LongDouble {
                negative: scanned.negative,
                magnitude: Size::Finite { mantissa, exponent },
            }),
        }
    }

    /// Whether this is not a number.
    pub fn is_nan(self) -> bool {
        self.magnitude == Size::Nan
    }

    /// Whether this is an infinity of either sign.
    pub fn is_infinite(self) -> bool {
        self.magnitude == Size::Infinite
    }

    /// A finite number from an exact value, rounded.
    fn from_parts(negative: bool, value: u128, exponent: i64, sticky: bool) -> Self {
        let magnitude = match decimal::round(&EXTENDED, value, exponent, sticky) {
            Rounded::Infinite => Size::Infinite,
            Rounded::Finite { mantissa, exponent } => Size::Finite { mantissa, exponent },
        };
        LongDouble { negative, magnitude }
    }

    /// The product with a small factor, for units: seconds to milliseconds.
    pub fn scale(self, factor: u32) -> Self {
        match self.magnitude {
            Size::Finite { mantissa, exponent } => {
                let product = u128::from(mantissa) * u128::from(factor);
                LongDouble::from_parts(self.negative, product, i64::from(exponent), false)
            }
            _ => self,
        }
    }

    /// The next integer upwards as an i64. As on x86, what does not fit, the positive included, becomes
    /// the smallest one.
    pub fn ceil_to_i64(self) -> i64 {
        let Size::Finite { mantissa, exponent } = self.magnitude else {
            return i64::MIN;
        };
        let magnitude = match exponent {
            _ if mantissa == 0 => Some(0),
            0.. => mantissa
                .checked_shl(exponent.unsigned_abs())
                .filter(|_| exponent <= mantissa.leading_zeros().cast_signed()),
            _ => {
                let whole = mantissa.checked_shr(exponent.unsigned_abs()).unwrap_or_default();
                let exact = whole.checked_shl(exponent.unsigned_abs()).unwrap_or_default() == mantissa;
                if exact || self.negative { Some(whole) } else { whole.checked_add(1) }
            }
        };
        let signed = magnitude.and_then(|magnitude| {
            if self.negative { 0i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
        });
        signed.unwrap_or(i64::MIN)
    }

    /// Appends the number as INCRBYFLOAT replies it (`%.17Lf` without the zeros at its end, and never
    /// `-0`): up to 17 decimals, all digits of the whole part.
    pub fn write_human(self, out: &mut Vec<u8>) {
        let start = out.len();
        if self.negative {
            out.push(b'-');
        }
        match self.magnitude {
            Size::Nan => out.extend_from_slice(b"nan"),
            Size::Infinite => out.extend_from_slice(b"inf"),
            Size::Finite { mantissa, exponent } => write_fixed(out, mantissa, exponent),
        }
        if out[start..] == *b"-0" {
            out.remove(start);
        }
    }
}

impl From<i64> for LongDouble {
    fn from(value: i64) -> Self {
        LongDouble::from_parts(value < 0, u128::from(value.unsigned_abs()), 0, false)
    }
}

impl From<f64> for LongDouble {
    fn from(value: f64) -> Self {
        let negative = value.is_sign_negative();
        if value.is_nan() {
            return LongDouble { negative, magnitude: Size::Nan };
        }
        if value.is_infinite() {
            return LongDouble { negative, magnitude: Size::Infinite };
        }
        let bits = value.abs().to_bits();
        let (biased, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
        let (mantissa, exponent) = match biased {
            0 => (fraction, -1074),
            _ => (fraction | (1 << 52), biased.cast_signed() - 1075),
        };
        LongDouble::from_parts(negative, u128::from(mantissa), exponent, false)
    }
}

impl std::ops::Neg for LongDouble {
    type Output = LongDouble;

    fn neg(self) -> LongDouble {
        LongDouble { negative: !self.negative, ..self }
    }
}

impl std::ops::Add for LongDouble {
    type Output = LongDouble;

    fn add(self, other: LongDouble) -> LongDouble {
        match (self.magnitude, other.magnitude) {
            (Size::Nan, _) => self,
            (_, Size::Nan) => other,
            (Size::Infinite, Size::Infinite) if self.negative != other.negative => LongDouble::NAN,
            (Size::Infinite, _) => self,
            (_, Size::Infinite) => other,
            (Size::Finite { mantissa: 0, .. }, Size::Finite { mantissa: 0, .. }) => {
                LongDouble { negative: self.negative && other.negative, ..LongDouble::ZERO }
            }
            (Size::Finite { mantissa: 0, .. }, _) => other,
            (_, Size::Finite { mantissa: 0, .. }) => self,
            (Size::Finite { mantissa: a, exponent: e }, Size::Finite { mantissa: b, exponent: f }) => {
                if (e, a) >= (f, b) {
                    add_ordered((self.negative, a, e), (other.negative, b, f))
                } else {
                    add_ordered((other.negative, b, f), (self.negative, a, e))
                }
            }
        }
    }
}

/// Sign, mantissa and exponent of a finite number that is not zero.
type Parts = (bool, u64, i32);

/// Adds two numbers, the larger one in magnitude first.
fn add_ordered(large: Parts, small: Parts) -> LongDouble {
    // Room for every bit that can matter; what is shifted out is kept as one sticky bit.
    const GUARD_BITS: u32 = 63;
    let (negative, mantissa, exponent) = large;
    let wide = u128::from(mantissa) << GUARD_BITS;
    let other = u128::from(small.1) << GUARD_BITS;
    let distance = exponent.abs_diff(small.2);
    let shifted = other.checked_shr(distance).unwrap_or_default();
    let lost = shifted.checked_shl(distance).unwrap_or_default() != other;
    let sum = if negative == small.0 {
        wide + shifted
    } else {
        // With a bit lost the true difference is a little less: one unit less, and a bit.
        wide - shifted - u128::from(lost)
    };
    let exponent = i64::from(exponent) - i64::from(GUARD_BITS);
    match sum {
        0 => LongDouble::ZERO,
        _ => LongDouble::from_parts(negative, sum, exponent, lost),
    }
}

impl PartialEq for LongDouble {
    fn eq(&self, other: &LongDouble) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for LongDouble {
    fn partial_cmp(&self, other: &LongDouble) -> Option<Ordering> {
        Some(self.order()?.cmp(&other.order()?))
    }
}

impl LongDouble {
    /// A key that sorts as the number does; none for NaN.
    fn order(&self) -> Option<(i8, i32, i128)> {
        let sign: i8 = if self.negative { -1 } else { 1 };
        let (rank, exponent, mantissa) = match self.magnitude {
            Size::Nan => return None,
            Size::Infinite => (2, 0, 0),
            Size::Finite { mantissa: 0, .. } => (0, 0, 0),
            Size::Finite { mantissa, exponent } => (1, exponent, i128::from(mantissa)),
        };
        Some((rank * sign, exponent * i32::from(sign), mantissa * i128::from(sign)))
    }
}

/// Appends `mantissa * 2^exponent` with up to 17 decimals.
fn write_fixed(out: &mut Vec<u8>, mantissa: u64, exponent: i32) {
    if exponent > 0 {
        BigInt::from_shifted(mantissa, u64::from(exponent.unsigned_abs())).write_decimal(out);
        return;
    }
    let shift = exponent.unsigned_abs();
    let whole = mantissa.checked_shr(shift).unwrap_or_default();
    let rest = mantissa ^ whole.checked_shl(shift).unwrap_or_default();
    write_parts(out, whole, rest, u64::from(shift));
}

/// Appends `whole + rest / 2^shift`, the second part being below one.
fn write_parts(out: &mut Vec<u8>, whole: u64, rest: u64, shift: u64) {
    const DECIMALS: usize = 17;
    const SCALE: u64 = 10u64.pow(DECIMALS as u32);
    let product = u128::from(rest) * u128::from(SCALE);
    let scaled = match shift {
        0 => 0,
        _ => shift_right_to_even(product, shift, false),
    };
    // Rounding may carry into the whole part.
    let (carry, decimals) = if scaled >= u128::from(SCALE) { (1, 0) } else { (0, scaled as u64) };
    let whole = u128::from(whole) + carry;
    let mut buffer = itoa::Buffer::new();
    out.extend_from_slice(buffer.format(whole).as_bytes());
    if decimals == 0 {
        return;
    }
    out.push(b'.');
    let digits = buffer.format(decimals).as_bytes();
    out.extend_from_slice(&[b'0'; DECIMALS][digits.len()..]);
    out.extend_from_slice(digits);
    let kept = out.iter().rposition(|digit| *digit != b'0').map_or(0, |last| last + 1);
    out.truncate(kept);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::recorded::{rows, show};
    use super::*;

    fn human(value: LongDouble) -> String {
        let mut out = Vec::new();
        value.write_human(&mut out);
        show(&out)
    }

    fn number(text: &str) -> LongDouble {
        LongDouble::parse(text.as_bytes()).expect("a number")
    }

    /// What INCRBYFLOAT does.
    fn increment(value: &[u8], by: &[u8]) -> String {
        let (Some(value), Some(by)) = (LongDouble::parse(value), LongDouble::parse(by)) else {
            return "!float".into();
        };
        let sum = value + by;
        if sum.is_nan() || sum.is_infinite() { "!range".into() } else { human(sum) }
    }

    #[test]
    fn recorded_increments() {
        for row in rows(include_str!("../../tests/tables/incrbyfloat.txt")) {
            let [value, by, reply] = &row[..] else { panic!("three columns: {row:?}") };
            assert_eq!(increment(value, by), show(reply), "{} + {}", show(value), show(by));
        }
    }

    #[test]
    fn timeouts_in_milliseconds_are_rounded_up() {
        let rows = [
            ("0", 0),
            ("0.0000001", 1),
            ("0.001", 1),
            ("1.0005", 1001),
            ("0x1p-9", 2),
            ("-0.0001", 0),
            ("-1.5", -1500),
            ("9223372036854775.807", i64::MAX),
            ("9223372036854775.808", i64::MIN),
            ("1e300", i64::MIN),
            ("inf", i64::MIN),
        ];
        for (seconds, milliseconds) in rows {
            assert_eq!(number(seconds).scale(1000).ceil_to_i64(), milliseconds, "{seconds}");
        }
    }

    #[test]
    fn numbers_are_ordered() {
        let ascending =
            ["-inf", "-1e4000", "-2", "-1.5", "-1e-4940", "0", "1e-4940", "0.1", "1", "1e4000", "inf"];
        for pair in ascending.windows(2) {
            assert!(number(pair[0]) < number(pair[1]), "{pair:?}");
        }
        assert!(number("-0") == number("0") && LongDouble::ZERO == number("0"));
        assert!(LongDouble::NAN.partial_cmp(&LongDouble::ZERO).is_none());
        assert!((number("inf") + number("-inf")).is_nan());
    }

    #[test]
    fn doubles_are_widened_exactly() {
        let rows = [
            (0.1, "0.10000000000000001"),
            (-2.5, "-2.5"),
            (5e-324, "0"),
            (-0.0, "0"),
            (1e22, "10000000000000000000000"),
        ];
        for (value, text) in rows {
            assert_eq!(human(LongDouble::from(value)), text);
        }
        assert_eq!(human(LongDouble::from(f64::NEG_INFINITY)), "-inf");
        assert!(LongDouble::from(f64::NAN).is_nan());
    }

    proptest! {
        #[test]
        fn integers_are_exact(value in any::<i64>(), by in any::<i32>()) {
            prop_assert_eq!(human(LongDouble::from(value)), value.to_string());
            let sum = i128::from(value) + i128::from(by);
            prop_assert_eq!(human(LongDouble::from(value) + LongDouble::from(i64::from(by))), sum.to_string());
        }

        #[test]
        fn adding_and_taking_away_an_integer_is_nothing(value in any::<i64>()) {
            prop_assert!(LongDouble::from(value) + -LongDouble::from(value) == LongDouble::ZERO);
        }

        #[test]
        fn any_bytes_are_read_without_panic(text in prop::collection::vec(any::<u8>(), 0..40)) {
            prop_assert!(LongDouble::parse(&text).is_none_or(|value| !value.is_nan()));
        }
    }
}
