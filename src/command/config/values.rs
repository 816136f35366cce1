//! Values of parameters that have a form of their own: how each is read, and as what it is shown.

use super::Config;
use super::setting::{Unit, one_of_these, until_nul};
use crate::command::args::is;
use crate::store::{Classes, Policy};
use crate::util::float::parse_f64;

pub(super) const CANNOT_BIND: &str = "Failed to bind to specified addresses.";
pub(super) const CANNOT_LISTEN: &str = "Unable to listen on this port. Check server logs.";
pub(super) const CANNOT_USE_TLS: &str = "Unable to update TLS configuration. Check server logs.";

type Read = Result<String, String>;
type Check = Result<(), &'static str>;

/// The words of a parameter that takes several: single blanks stand between them.
fn words(value: &[u8]) -> Vec<&[u8]> {
    if value.is_empty() { Vec::new() } else { value.split(|byte| *byte == b' ').collect() }
}

fn shown(value: &[u8]) -> String {
    String::from_utf8_lossy(until_nul(value)).into_owned()
}

pub(super) fn as_it_is(value: &[u8]) -> Read {
    Ok(shown(value))
}

/// A whole word as C's `strtoll` reads it; nothing counts as zero.
fn strtoll(word: &[u8]) -> Option<i64> {
    let word = until_nul(word).trim_ascii_start();
    let (negative, digits) = match word.split_first() {
        Some((b'-', digits)) => (true, digits),
        Some((b'+', digits)) => (false, digits),
        _ => (false, word),
    };
    if !digits.iter().all(u8::is_ascii_digit) || (digits.is_empty() && digits.len() != word.len()) {
        return None;
    }
    Some(digits.iter().fold(0i64, |number, digit| {
        let digit = i64::from(digit - b'0');
        let number = number.saturating_mul(10);
        if negative { number.saturating_sub(digit) } else { number.saturating_add(digit) }
    }))
}

/// Pairs of seconds and changes.
pub(super) fn save(value: &[u8]) -> Read {
    let wrong = || "Invalid save parameters".to_owned();
    let words = words(value);
    if words.len() % 2 == 1 {
        return Err(wrong());
    }
    let mut shown = Vec::new();
    for pair in words.chunks_exact(2) {
        let seconds = strtoll(pair[0]).filter(|seconds| *seconds >= 1).ok_or_else(wrong)?;
        let changes = strtoll(pair[1]).filter(|changes| *changes >= 0).ok_or_else(wrong)?;
        shown.push(format!("{seconds} {}", changes as i32));
    }
    Ok(shown.join(" "))
}

pub(super) fn oom_score_adj(value: &[u8]) -> Read {
    const NAMES: [&str; 4] = ["no", "yes", "relative", "absolute"];
    let known = NAMES.iter().find(|name| is(value, name)).ok_or_else(|| one_of_these(&NAMES))?;
    // Both mean the same.
    Ok(if *known == "relative" { "yes" } else { known }.to_owned())
}

pub(super) fn oom_score_adj_values(value: &[u8]) -> Read {
    let words = words(value);
    if words.len() != 3 {
        return Err("wrong number of arguments".to_owned());
    }
    let mut shown = Vec::new();
    for word in words {
        let value = strtoll(word).filter(|value| (-2000..=2000).contains(value));
        let value = value.ok_or("Invalid oom-score-adj-values, elements must be between -2000 and 2000.")?;
        shown.push(value.to_string());
    }
    Ok(shown.join(" "))
}

pub(super) fn percentiles(value: &[u8]) -> Read {
    let mut shown = Vec::new();
    for word in words(value) {
        let percentile = parse_f64(word).ok_or("Invalid latency-tracking-info-percentiles parameters")?;
        if !(0.0..=100.0).contains(&percentile) {
            return Err(
                "latency-tracking-info-percentiles parameters should sit between [0.0,100.0]".to_owned()
            );
        }
        let text = format!("{percentile:.6}");
        shown.push(text.trim_end_matches('0').trim_end_matches('.').to_owned());
    }
    Ok(shown.join(" "))
}

pub(super) fn addresses(value: &[u8]) -> Read {
    const MOST: usize = 16;
    if words(value).len() > MOST {
        return Err("Too many bind addresses specified.".to_owned());
    }
    Ok(shown(value))
}

/// Frequencies beyond what makes sense are cut.
pub(super) fn hz(value: &[u8]) -> Read {
    let hz = Unit::Plain.read(value)?;
    Unit::Plain.check(hz, 0, i32::MAX.into())?;
    Ok(hz.clamp(1, 500).to_string())
}

/// A backlog has a least size.
pub(super) fn backlog_size(value: &[u8]) -> Read {
    let bytes = Unit::Memory.read(value)?;
    Unit::Memory.check(bytes, 1, i64::MAX.into())?;
    Ok(bytes.max(16 * 1024).to_string())
}

/// Names of options, shown in the order of their bits.
pub(super) fn shutdown_options(value: &[u8]) -> Read {
    const NAMES: [&str; 5] = ["default", "save", "nosave", "now", "force"];
    let mut chosen = [false; NAMES.len()];
    let words: Vec<&[u8]> = value.split(|byte| *byte == b' ').collect();
    for word in words {
        let known = NAMES.iter().position(|name| is(word, name)).ok_or_else(|| one_of_these(&NAMES))?;
        chosen[known] = true;
    }
    if chosen[1] && chosen[2] {
        return Err("shutdown options SAVE and NOSAVE can't be used simultaneously".to_owned());
    }
    let names: Vec<&str> = (1..NAMES.len()).filter(|at| chosen[*at]).map(|at| NAMES[at]).collect();
    Ok(if names.is_empty() { NAMES[0].to_owned() } else { names.join(" ") })
}

/// A size, or a share of maxmemory in percent, which is below zero.
pub(super) fn memory_clients(config: &Config) -> String {
    Unit::MemoryOrPercent.show(config.maxmemory_clients.into())
}

pub(super) fn set_memory_clients(config: &mut Config, value: &[u8]) -> Result<(), String> {
    let number = Unit::MemoryOrPercent.read(value)?;
    Unit::MemoryOrPercent.check(number, -100, i64::MAX.into())?;
    config.maxmemory_clients = i64::try_from(number).unwrap_or_default();
    Ok(())
}

pub(super) fn policy(config: &mut Config, value: &[u8]) -> Result<(), String> {
    let known = Policy::NAMES.iter().find(|(name, _)| is(value, name));
    let names = || one_of_these(&Policy::NAMES.map(|(name, _)| name));
    config.memory.policy = known.map(|(_, policy)| *policy).ok_or_else(names)?;
    Ok(())
}

pub(super) fn keyspace_events(config: &mut Config, value: &[u8]) -> Result<(), String> {
    let classes = Classes::parse(value);
    config.notify_keyspace_events = classes.ok_or("Invalid event class character. Use 'Ag$lshzxeKEtmdn'.")?;
    Ok(())
}

pub(super) fn no_defrag(value: &[u8]) -> Check {
    if value == b"yes" {
        return Err(
            "Active defragmentation cannot be enabled: it requires a Redis server compiled with a modified Jemalloc like the one shipped by default with the Redis source distribution",
        );
    }
    Ok(())
}

pub(super) fn hostname(value: &[u8]) -> Check {
    if value.len() >= 256 {
        return Err("Hostnames must be less than 256 characters");
    }
    if !value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(byte)) {
        return Err("Hostnames may only contain alphanumeric characters, hyphens or dots");
    }
    Ok(())
}

fn is_path(value: &[u8]) -> bool {
    value.iter().any(|byte| b"/\\".contains(byte))
}

pub(super) fn file_name(value: &[u8]) -> Check {
    if is_path(value) { Err("dbfilename can't be a path, just a filename") } else { Ok(()) }
}

pub(super) fn append_file_name(value: &[u8]) -> Check {
    match value {
        b"" => Err("appendfilename can't be empty"),
        value if is_path(value) => Err("appendfilename can't be a path, just a filename"),
        _ => Ok(()),
    }
}

pub(super) fn append_dir_name(value: &[u8]) -> Check {
    match value {
        b"" => Err("appenddirname can't be empty"),
        value if is_path(value) => Err("appenddirname can't be a path, just a dirname"),
        _ => Ok(()),
    }
}

/// A template must give something to show.
pub(super) fn title_template(value: &[u8]) -> Check {
    match title_shows(value) {
        Some(true) => Ok(()),
        _ => Err("template format is invalid or contains unknown variables"),
    }
}

/// Whether a template shows anything but blanks; None when it is broken.
fn title_shows(mut rest: &[u8]) -> Option<bool> {
    let mut shows = false;
    while let Some(open) = rest.iter().position(|byte| *byte == b'{') {
        shows |= rest[..open].iter().any(|byte| *byte != b' ');
        rest = &rest[open + 1..];
        if let Some(after) = rest.strip_prefix(b"{") {
            (rest, shows) = (after, true);
            continue;
        }
        let close = rest.iter().position(|byte| *byte == b'}')?;
        shows |= match &rest[..close] {
            b"listen-addr" | b"port" | b"tls-port" => true,
            b"title" | b"server-mode" | b"unixsocket" | b"config-file" => false,
            _ => return None,
        };
        rest = &rest[close + 1..];
    }
    Some(shows || rest.iter().any(|byte| *byte != b' '))
}
