//! Durations as people write them: `500ms`, `5s`, `2m`, `1h`, `1d`, or a number of milliseconds; and the real time
//! that something took as people read it.

use crate::Refusal;
use std::time::Duration;

const UNITS: [(&str, u64); 6] =
    [("", 1), ("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

/// Reads a duration; `whose` says in the error who takes it.
pub(crate) fn parse(text: &str, whose: &str) -> Result<Duration, Refusal> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit));
    let (Some((_, factor)), 1..) = (factor, digits) else {
        return Err(Refusal(format!(
            "{whose} takes a duration as in 500ms, 5s, 2m, 1h, 1d, or a number of milliseconds, not {text:?}"
        )));
    };
    // The clock counts microseconds from 1970 in 63 bits.
    let longest_ms = i64::MAX.unsigned_abs() / 1000;
    let time_ms = number.parse::<u64>().ok().and_then(|number| number.checked_mul(*factor));
    match time_ms.filter(|time_ms| *time_ms <= longest_ms) {
        Some(time_ms) => Ok(Duration::from_millis(time_ms)),
        None => Err(Refusal(format!("{whose} takes at most {longest_ms} ms; {text:?} is longer"))),
    }
}

/// A real time, with a digit or two that mean something.
pub(crate) fn shown(time: Duration) -> String {
    let nanoseconds = time.as_nanos();
    match nanoseconds {
        0..100_000 => format!("{:.1} us", nanoseconds as f64 / 1e3),
        100_000..100_000_000 => format!("{:.1} ms", nanoseconds as f64 / 1e6),
        _ => format!("{:.1} s", nanoseconds as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(text: &str) -> Result<u128, String> {
        parse(text, "--advance").map(|time| time.as_millis()).map_err(|refusal| refusal.0)
    }

    #[test]
    fn each_unit_is_read() {
        let cases = [
            ("0", 0),
            ("7", 7),
            ("500ms", 500),
            ("5s", 5_000),
            ("2m", 120_000),
            ("1h", 3_600_000),
            ("1d", 86_400_000),
            ("1D", 86_400_000),
        ];
        for (text, wanted) in cases {
            assert_eq!(ms(text), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_told_what_is_one() {
        for text in ["", "s", "-1", "1.5s", "5 s", "5sec", "1h30m", "ü"] {
            let error = ms(text).unwrap_err();
            let wanted =
                "--advance takes a duration as in 500ms, 5s, 2m, 1h, 1d, or a number of milliseconds, not ";
            assert_eq!(error, format!("{wanted}{text:?}"));
        }
        assert_eq!(
            ms("999999999999d"),
            Err("--advance takes at most 9223372036854775 ms; \"999999999999d\" is longer".into())
        );
        assert!(ms("99999999999999999999").is_err());
    }

    #[test]
    fn real_times_are_short() {
        let shown = |nanoseconds| shown(Duration::from_nanos(nanoseconds));
        assert_eq!([shown(40), shown(1_250), shown(99_900)], ["0.0 us", "1.2 us", "99.9 us"]);
        assert_eq!([shown(150_000), shown(2_000_000_000)], ["0.1 ms", "2.0 s"]);
    }
}
