//! Time as people write and read it: durations as `250us`, `500ms`, `5s`, `2m`, `1h`, `1d`, or a number of milliseconds; the
//! real time that something took; an instant of the engine's clock as a date. No clock is read here.

use crate::Refusal;
use std::time::Duration;

/// In microseconds.
const UNITS: [(&str, u64); 7] = [
    ("", 1_000),
    ("us", 1),
    ("ms", 1_000),
    ("s", 1_000_000),
    ("m", 60_000_000),
    ("h", 3_600_000_000),
    ("d", 86_400_000_000),
];

/// Reads a duration; `whose` says in the error who takes it.
pub(crate) fn parse_duration(text: &str, whose: &str) -> Result<Duration, Refusal> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit));
    let (Some((_, factor)), 1..) = (factor, digits) else {
        return Err(Refusal(format!(
            "{whose} takes a duration as in 250us, 500ms, 5s, 2m, 1h, 1d, or a number of milliseconds, not {text:?}"
        )));
    };
    // The clock counts microseconds from 1970 in 63 bits.
    let longest_ms = i64::MAX.unsigned_abs() / 1000;
    let time_us = number.parse::<u64>().ok().and_then(|number| number.checked_mul(*factor));
    match time_us.filter(|time_us| *time_us <= longest_ms * 1000) {
        Some(time_us) => Ok(Duration::from_micros(time_us)),
        None => Err(Refusal(format!("{whose} takes at most {longest_ms} ms; {text:?} is longer"))),
    }
}

/// A real time, with a digit or two that mean something.
pub(crate) fn shown_duration(time: Duration) -> String {
    let nanoseconds = time.as_nanos();
    match nanoseconds {
        0..100_000 => format!("{:.1} us", nanoseconds as f64 / 1e3),
        100_000..100_000_000 => format!("{:.1} ms", nanoseconds as f64 / 1e6),
        _ => format!("{:.1} s", nanoseconds as f64 / 1e9),
    }
}

/// An instant as a date and with its Unix milliseconds: `2024-01-01T00:00:05.000Z (1704067205000)`.
pub(crate) fn shown_instant(unix_ms: i64) -> String {
    let (days, rest_ms) = (unix_ms.div_euclid(86_400_000), unix_ms.rem_euclid(86_400_000));
    let (year, month, day) = date(days);
    format!("{year:04}-{month:02}-{day:02}T{}Z ({unix_ms})", shown_clock(rest_ms))
}

/// The time of the day: `00:00:05.000`.
pub(crate) fn shown_clock(unix_ms: i64) -> String {
    let ms = unix_ms.rem_euclid(86_400_000);
    let (hours, minutes, seconds) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
    format!("{hours:02}:{minutes:02}:{seconds:02}.{:03}", ms % 1000)
}

/// Year, month and day, by days since 1970. Years are counted from the first of March, so that the leap day is last.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(text: &str) -> Result<u128, String> {
        parse_duration(text, "--advance").map(|time| time.as_millis()).map_err(|refusal| refusal.0)
    }

    #[test]
    fn each_unit_is_read() {
        let cases = [
            ("0", 0),
            ("7", 7),
            ("2000us", 2),
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
            let wanted = "--advance takes a duration as in 250us, 500ms, 5s, 2m, 1h, 1d, or a number of milliseconds, not ";
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
        let shown = |nanoseconds| shown_duration(Duration::from_nanos(nanoseconds));
        assert_eq!([shown(40), shown(1_250), shown(99_900)], ["0.0 us", "1.2 us", "99.9 us"]);
        assert_eq!([shown(150_000), shown(2_000_000_000)], ["0.1 ms", "2.0 s"]);
    }

    #[test]
    fn instants_are_dates() {
        let cases = [
            (0, "1970-01-01T00:00:00.000Z (0)"),
            (1_704_067_205_000, "2024-01-01T00:00:05.000Z (1704067205000)"),
            (1_709_251_199_999, "2024-02-29T23:59:59.999Z (1709251199999)"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z (951782400000)"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z (4107542400000)"),
            (9_223_372_036_854_775, "294247-01-10T04:00:54.775Z (9223372036854775)"),
        ];
        for (unix_ms, wanted) in cases {
            assert_eq!(shown_instant(unix_ms), wanted);
        }
        assert_eq!(shown_clock(1_704_067_205_001), "00:00:05.001");
    }
}
