//! 64-bit floating point numbers as the server reads and writes them: `strtod` with the server's extra
//! checks, and C's `%.17g`, `%.14g` and `%.4f` without libc. Digits come from the standard library,
//! which rounds exactly. The 80-bit numbers of INCRBYFLOAT are in `long_double`.

use std::fmt::Write;

use super::decimal::{self, Digits, Format, Magnitude, Rounded};
use super::num::{NumBuf, format_i64, is_space};

/// IEEE 754 binary64.
const BINARY64: Format = Format { bits: 53, min_exponent: -1074, max_exponent: 971 };

/// What C's `strtod` makes of the start of a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Strtod {
    /// The number; zero when the text starts with none.
    pub value: f64,
    /// How many bytes were used, leading space included; zero when the text starts with no number.
    pub consumed: usize,
    /// Whether the number was finite but became infinite, or was not zero but became zero.
    pub out_of_range: bool,
}

/// C's `strtod`: skips leading space, takes the longest prefix that is a number (decimal or hexadecimal
/// digits, `inf`, `infinity`, `nan`), rounded to nearest even. Score ranges and SORT read numbers so.
pub fn strtod(text: &[u8]) -> Strtod {
    let Some(scanned) = decimal::scan(text) else {
        return Strtod { value: 0.0, consumed: 0, out_of_range: false };
    };
    let (magnitude, out_of_range) = match &scanned.magnitude {
        Magnitude::Nan => (f64::NAN, false),
        Magnitude::Infinity => (f64::INFINITY, false),
        Magnitude::Decimal(digits) => {
            let value = decimal_value(&text[scanned.start..scanned.end], digits);
            (value, value.is_infinite() || value == 0.0 && !digits.are_zero())
        }
        Magnitude::Hex(digits) => {
            let value = from_rounded(decimal::round_hex(&BINARY64, digits));
            (value, value.is_infinite() || value == 0.0 && !digits.are_zero())
        }
    };
    let value = if scanned.negative { -magnitude } else { magnitude };
    Strtod { value, consumed: scanned.end, out_of_range }
}

/// Reads a whole text as a number the way arguments and scores are read (the server's `string2d`): no
/// leading space, nothing left over, no NaN, no overflow, no underflow to zero; infinities are fine.
pub fn parse_f64(text: &[u8]) -> Option<f64> {
    if is_space(*text.first()?) {
        return None;
    }
    let number = strtod(text);
    let whole = number.consumed == text.len();
    (whole && !number.out_of_range && !number.value.is_nan()).then_some(number.value)
}

/// The value of decimal digits. The standard parser is exact for all but absurdly long texts.
fn decimal_value(text: &[u8], digits: &Digits<'_>) -> f64 {
    if digits.are_moderate()
        && let Ok(text) = std::str::from_utf8(text)
        && let Ok(value) = text.parse()
    {
        return value;
    }
    from_rounded(decimal::round_decimal(&BINARY64, digits))
}

/// Packs a rounded magnitude.
fn from_rounded(rounded: Rounded) -> f64 {
    const HIDDEN_BIT: u64 = 1 << 52;
    match rounded {
        Rounded::Infinite => f64::INFINITY,
        Rounded::Finite { mantissa, .. } if mantissa < HIDDEN_BIT => f64::from_bits(mantissa),
        Rounded::Finite { mantissa, exponent } => {
            let biased = u64::from((exponent + 1075).unsigned_abs());
            f64::from_bits((biased << 52) | (mantissa & (HIDDEN_BIT - 1)))
        }
    }
}

/// Writes a number as replies carry it: `%.17g`, so `inf`, `-inf`, `nan`, `-0`, `1e+17`, and a plain
/// integer when it is one below 10^17. Numbers that scripts pass to `redis.call` look the same.
pub fn format_f64(buf: &mut NumBuf, value: f64) -> &[u8] {
    // Up to here all digits of an integer show.
    const PLAIN: f64 = 1e17;
    if value.abs() < PLAIN && value.trunc() == value && !is_negative_zero(value) {
        return format_i64(buf, value as i64);
    }
    format_general(buf, value, 17)
}

/// Writes a number as it is kept in compact encodings (the server's `d2string`): integers up to 2^62
/// with all their digits, else `%.17g`.
pub fn format_score(buf: &mut NumBuf, value: f64) -> &[u8] {
    const LARGEST_INTEGER: f64 = 4_611_686_018_427_387_904.0;
    if value.is_nan() {
        buf.clear();
        buf.push(b"nan");
        return buf.pushed();
    }
    if value.abs() <= LARGEST_INTEGER && value.trunc() == value && !is_negative_zero(value) {
        return format_i64(buf, value as i64);
    }
    format_general(buf, value, 17)
}

/// Zero with a minus sign prints as `-0`, never as an integer.
fn is_negative_zero(value: f64) -> bool {
    value == 0.0 && value.is_sign_negative()
}

/// Writes a number as C's `%.{precision}g`, the precision being from 1 to 17. Lua's `tostring` is 14.
pub fn format_general(buf: &mut NumBuf, value: f64, precision: usize) -> &[u8] {
    buf.clear();
    if value.is_sign_negative() {
        buf.push(b"-");
    }
    if value.is_nan() {
        buf.push(b"nan");
    } else if value.is_infinite() {
        buf.push(b"inf");
    } else if value == 0.0 {
        buf.push(b"0");
    } else {
        push_general(buf, value.abs(), precision.clamp(1, 17));
    }
    buf.pushed()
}

/// Appends a positive finite number in the form `%g` chooses by its decimal exponent.
fn push_general(buf: &mut NumBuf, value: f64, precision: usize) {
    let mut scientific = NumBuf::new();
    // Writing into the buffer cannot fail.
    let _ = write!(scientific, "{value:.*e}", precision - 1);
    let (digits, exponent) = split_scientific(scientific.pushed());
    let digits = trim_zeros(&digits[..precision]);
    match usize::try_from(exponent) {
        Ok(whole) if whole < precision => push_plain(buf, digits, whole + 1),
        Err(_) if exponent >= -4 => {
            buf.push(b"0.");
            buf.push(&b"000"[..exponent.unsigned_abs() as usize - 1]);
            buf.push(digits);
        }
        _ => push_scientific(buf, digits, exponent),
    }
}

/// The digits, zero-filled, and the exponent of a text like `1.25e-7`.
fn split_scientific(text: &[u8]) -> ([u8; 17], i32) {
    let mut digits = [b'0'; 17];
    let mark = text.iter().position(|byte| *byte == b'e').unwrap_or(text.len());
    let (mantissa, tail) = text.split_at(mark);
    for (slot, digit) in digits.iter_mut().zip(mantissa.iter().filter(|byte| **byte != b'.')) {
        *slot = *digit;
    }
    let exponent = tail.get(1..).and_then(|text| std::str::from_utf8(text).ok()?.parse().ok());
    (digits, exponent.unwrap_or_default())
}

/// The digits without the zeros at their end; the first digit stays.
fn trim_zeros(digits: &[u8]) -> &[u8] {
    let used = digits.iter().rposition(|digit| *digit != b'0').unwrap_or_default();
    &digits[..=used]
}

/// Appends digits of which the first `whole` stand before the point, filling up with zeros.
fn push_plain(buf: &mut NumBuf, digits: &[u8], whole: usize) {
    if digits.len() > whole {
        buf.push(&digits[..whole]);
        buf.push(b".");
        buf.push(&digits[whole..]);
    } else {
        buf.push(digits);
        buf.push(&[b'0'; 17][..whole - digits.len()]);
    }
}

/// Appends `d.ddde±xx`.
fn push_scientific(buf: &mut NumBuf, digits: &[u8], exponent: i32) {
    buf.push(&digits[..1]);
    if digits.len() > 1 {
        buf.push(b".");
        buf.push(&digits[1..]);
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    // Writing into the buffer cannot fail.
    let _ = write!(buf, "e{sign}{:02}", exponent.unsigned_abs());
}

/// Writes a distance with four decimals, as GEODIST replies (the server's `fixedpoint_d2string`): the
/// number times 10000, rounded to nearest even as a 64-bit integer.
pub fn format_distance(buf: &mut NumBuf, value: f64) -> &[u8] {
    const SCALE: f64 = 10_000.0;
    let scaled = to_i64_or_min((value * SCALE).round_ties_even());
    buf.clear();
    if scaled < 0 {
        buf.push(b"-");
    }
    let magnitude = scaled.unsigned_abs();
    // Writing into the buffer cannot fail.
    let _ = write!(buf, "{}.{:04}", magnitude / 10_000, magnitude % 10_000);
    buf.pushed()
}

/// The x86 conversion to a 64-bit integer: what does not fit becomes the smallest one.
fn to_i64_or_min(value: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&value) { value as i64 } else { i64::MIN }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::recorded::{rows, show};
    use super::*;

    #[test]
    fn recorded_scores() {
        let mut buf = NumBuf::new();
        for row in rows(include_str!("../../tests/tables/float_parse.txt")) {
            let [text, reply] = &row[..] else { panic!("two columns: {row:?}") };
            let found = parse_f64(text).map(|value| format_f64(&mut buf, value));
            assert_eq!(found.map_or_else(|| "!float".into(), show), show(reply), "{}", show(text));
        }
    }

    #[test]
    fn recorded_texts() {
        let mut buf = NumBuf::new();
        for row in rows(include_str!("../../tests/tables/float_format.txt")) {
            let [bits, argument, lua] = &row[..] else { panic!("three columns: {row:?}") };
            let bits = u64::from_str_radix(&show(bits), 16).expect("hexadecimal");
            assert_eq!(show(format_f64(&mut buf, f64::from_bits(bits))), show(argument));
            assert_eq!(show(format_general(&mut buf, f64::from_bits(bits), 14)), show(lua));
        }
    }

    #[test]
    fn compact_scores_keep_integers() {
        let mut buf = NumBuf::new();
        let rows: [(f64, &[u8]); 8] = [
            (1e17, b"100000000000000000"),
            (4_611_686_018_427_387_904.0, b"4611686018427387904"),
            (-4_611_686_018_427_387_904.0, b"-4611686018427387904"),
            (1e19, b"1e+19"),
            (-0.0, b"-0"),
            (0.5, b"0.5"),
            (f64::NEG_INFINITY, b"-inf"),
            (-f64::NAN, b"nan"),
        ];
        for (value, text) in rows {
            assert_eq!(format_score(&mut buf, value), text);
        }
    }

    #[test]
    fn distances_have_four_decimals() {
        let mut buf = NumBuf::new();
        let rows: [(f64, &[u8]); 7] = [
            (0.0, b"0.0000"),
            (166_274.151_56, b"166274.1516"),
            (0.00005, b"0.0000"),
            (0.00015, b"0.0001"),
            (12.5, b"12.5000"),
            (-0.01, b"-0.0100"),
            (1e300, b"-922337203685477.5808"),
        ];
        for (value, text) in rows {
            assert_eq!(format_distance(&mut buf, value), text);
        }
    }

    #[test]
    fn strtod_takes_a_prefix() {
        let rows: [(&[u8], f64, usize); 10] = [
            (b"", 0.0, 0),
            (b" \t1.5x", 1.5, 5),
            (b"-", 0.0, 0),
            (b".", 0.0, 0),
            (b"1e+", 1.0, 1),
            (b"0x", 0.0, 1),
            (b"0x.8p1q", 1.0, 6),
            (b"0x1p", 1.0, 3),
            (b"-infin", f64::NEG_INFINITY, 4),
            (b"1\x002", 1.0, 1),
        ];
        for (text, value, consumed) in rows {
            assert_eq!(strtod(text), Strtod { value, consumed, out_of_range: false }, "{}", show(text));
        }
        assert!(strtod(b"1e999").out_of_range && strtod(b"-1e-999").out_of_range);
    }

    /// The big integer path, which the usual texts do not take.
    fn fallback(text: &str) -> f64 {
        let scanned = decimal::scan(text.as_bytes()).expect("a number");
        let Magnitude::Decimal(digits) = scanned.magnitude else { panic!("{text} is decimal") };
        from_rounded(decimal::round_decimal(&BINARY64, &digits))
    }

    proptest! {
        #[test]
        fn every_double_is_read_back(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            let mut buf = NumBuf::new();
            if !value.is_nan() {
                prop_assert_eq!(parse_f64(format_f64(&mut buf, value)).map(f64::to_bits), Some(bits));
                prop_assert_eq!(parse_f64(format_score(&mut buf, value)).map(f64::to_bits), Some(bits));
            }
        }

        #[test]
        fn the_fallback_agrees_with_the_standard_parser(digits in "[0-9]{1,60}", power in -400i32..400) {
            let text = format!("{digits}e{power}");
            prop_assert_eq!(fallback(&text), text.parse::<f64>().expect("a number"));
        }

        #[test]
        fn any_bytes_are_read_without_panic(text in prop::collection::vec(any::<u8>(), 0..40)) {
            let number = strtod(&text);
            prop_assert!(number.consumed <= text.len());
        }
    }
}
