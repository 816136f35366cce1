//! Runs every script of the corpus as an attacker would have it run: in a child process, on threads with a large and
//! with a small stack, with tight limits. Each must end in a value or a clear error within its budget and leave the
//! engine as good as new. A child that dies is named by the script it was at; the rest runs in another child.
//! MOONKEEP_HOSTILE_FILES (a part of a path) chooses some, MOONKEEP_HOSTILE_ROUNDS (1) repeats the check of determinism,
//! for which a script gets MOONKEEP_HOSTILE_WORK (200,000) units.

use super::mutator::Mutator;
use moonkeep::reply::Resp;
use moonkeep::reply::resp::encode;
use moonkeep::{Client, Engine, Limits, Reply};
use rustix::time::{ClockId, clock_gettime};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Names the scripts that a child process is to run.
const FILES: &str = "MOONKEEP_TEST_HOSTILE";
/// How many scripts one child runs.
const BATCH: usize = 64;
/// After so long without a word a child hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// The real time that a script may take.
const TIME_MS: u64 = 100;
/// The same of a mutant.
const MUTANT_TIME_MS: u64 = 30;
/// What it may take beyond that.
const GRACE_MS: u64 = 50;
/// One instruction of these may copy, compare or rehash a good part of all memory.
const LONG_INSTRUCTIONS: [&str; 2] = ["hash_collide_long", "concat_double"];
const LONG_GRACE_MS: u64 = 1000;
/// A script that takes longer for the work after which two runs are compared, which few do, is not compared: the clock
/// would stop it, anywhere.
const COMPARED_TIME_MS: u64 = 5_000;

/// Stacks, in KiB. What AddressSanitizer builds needs more of it, and more time; so does what is not optimised.
const STACKS: [usize; 2] = if cfg!(moonkeep_asan) { [16384, 8192] } else { [2048, 512] };
const SLOWNESS: u64 = if cfg!(moonkeep_asan) {
    20
} else if cfg!(debug_assertions) {
    4
} else {
    1
};

pub(super) fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// The bounds of runs that are compared: a fraction of the work that fits into the time.
fn compared_limits() -> Limits {
    Limits { work: number("MOONKEEP_HOSTILE_WORK", 200_000), time_ms: COMPARED_TIME_MS, ..Limits::default() }
}

pub(super) fn files() -> Vec<String> {
    let wanted = std::env::var("MOONKEEP_HOSTILE_FILES").unwrap_or_default();
    let mut files = Vec::new();
    for folder in ["given", "own"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile").join(folder);
        for entry in std::fs::read_dir(&folder).into_iter().flatten() {
            files.push(entry.expect("a file").path().display().to_string());
        }
    }
    files.retain(|file| file.contains(&wanted));
    files.sort();
    files
}

#[test]
fn no_attack_crashes_hangs_or_leaves_a_trace() {
    let files = files();
    let found = run_in_children(&files);
    assert!(found.is_empty(), "{} of {}:\n{}", found.len(), files.len(), found.join("\n"));
}

/// Runs scripts in two children at a time; what was found.
pub(super) fn run_in_children(files: &[String]) -> Vec<String> {
    let halves: Vec<&[String]> = files.chunks(files.len().div_ceil(2).max(1)).collect();
    std::thread::scope(|scope| {
        let halves: Vec<_> = halves.iter().map(|half| scope.spawn(|| run_all(half))).collect();
        halves.into_iter().flat_map(|half| half.join().expect("no panic")).collect()
    })
}

/// Runs scripts in as many children as it takes; what was found.
fn run_all(files: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = files;
    while !rest.is_empty() {
        let batch = &rest[..rest.len().min(BATCH)];
        rest = &rest[run_batch(batch, &mut found)..];
    }
    found
}

/// Runs scripts in one child until all are done or it dies; how many were done.
fn run_batch(batch: &[String], found: &mut Vec<String>) -> usize {
    let mut child = Command::new(std::env::current_exe().expect("this test binary"))
        .args(["hostile::runner::in_a_child", "--exact", "--nocapture", "--test-threads=1"])
        .env(FILES, batch.join("\n"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a child process");
    let (sender, lines) = channel();
    let output = BufReader::new(child.stdout.take().expect("piped"));
    let reader = std::thread::spawn(move || {
        output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
    });
    let errors = BufReader::new(child.stderr.take().expect("piped"));
    let errors =
        std::thread::spawn(move || errors.lines().map_while(Result::ok).collect::<Vec<_>>().join("\n"));
    let (mut done, mut hangs) = (0, false);
    loop {
        match lines.recv_timeout(PATIENCE) {
            Ok(line) if line == "@done" => done += 1,
            Ok(line) => found.extend(line.strip_prefix("@found ").map(str::to_owned)),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                hangs = true;
                child.kill().expect("the child is ours");
            }
        }
    }
    let status = child.wait().expect("the child ends");
    let _ = reader.join();
    let errors = errors.join().unwrap_or_default();
    if done == batch.len() {
        return done;
    }
    let how = if hangs { "hangs".to_owned() } else { format!("crashes: {status}\n{errors}") };
    found.push(format!("{}: {how}", batch[done]));
    done + 1
}

/// Does nothing unless `run_batch` asks for it.
#[test]
fn in_a_child() {
    let Ok(files) = std::env::var(FILES) else { return };
    let mutator = files.contains("mutant:").then(Mutator::new);
    for file in files.lines() {
        let (script, time_ms) = match (file.strip_prefix("mutant:"), &mutator) {
            (Some(seed), Some(mutator)) => (mutator.script(seed.parse().expect("a number")), MUTANT_TIME_MS),
            _ => (std::fs::read(file).expect("a script"), TIME_MS),
        };
        for stack in STACKS {
            let (file, script) = (file.to_owned(), script.clone());
            let thread = std::thread::Builder::new().stack_size(stack << 10);
            let attacked =
                thread.spawn(move || attack(&file, &script, time_ms, stack)).expect("a thread").join();
            attacked
                .unwrap_or_else(|_| vec!["a panic".into()])
                .iter()
                .for_each(|text| println!("\n@found {text}"));
        }
        println!("\n@done");
    }
}

/// What a script must not be able to change: all that the next one sees.
const PROBE: &str = include_str!("probe.lua");

/// What the next script sees. On a busy machine the time may be over before it has begun: then again.
fn probe(client: &mut Client) -> Reply {
    loop {
        let reply = eval(client, PROBE.as_bytes());
        if !is_out_of_time(&reply) {
            return reply;
        }
    }
}

fn is_out_of_time(reply: &Reply) -> bool {
    reply.error_message().is_some_and(|text| text.starts_with(b"ERR Script stopped: it ran longer"))
}

/// Runs one script; what is wrong with it.
fn attack(file: &str, script: &[u8], time_ms: u64, stack: usize) -> Vec<String> {
    let name = file.rsplit('/').next().unwrap_or(file);
    let mut found = Vec::new();
    let mut note = |text: String| found.push(format!("{name} on {stack} KiB: {text}"));
    let limits = Limits { time_ms, ..Limits::default() };
    let engine = Engine::builder().script_limits(limits.clone()).build();
    let mut client = engine.client();
    let before = cpu();
    let reply = eval(&mut client, script);
    let used = (cpu() - before).as_millis() as u64;
    // A mutant may hold a long one.
    let is_long = LONG_INSTRUCTIONS.iter().any(|long| name.starts_with(long)) || name.starts_with("mutant");
    let allowed = (time_ms + if is_long { LONG_GRACE_MS } else { GRACE_MS }) * SLOWNESS;
    if used > allowed {
        note(format!("took {used} ms, of {allowed}"));
    }
    if let Err(text) = is_one_reply(&reply) {
        note(text);
    }
    let probed = probe(&mut client);
    let fresh = probe(&mut Engine::builder().script_limits(limits).build().client());
    assert!(!fresh.is_error(), "{}", shown(&fresh));
    if probed != fresh {
        note(format!("the probe answers {} instead of {}", shown(&probed), shown(&fresh)));
    }
    if std::env::var_os("MOONKEEP_HOSTILE_SHOW").is_some() {
        println!("\n{name} on {stack} KiB, {used} ms: {}", shown(&reply));
    }
    if stack == STACKS[0] {
        if !is_long {
            same_end_each_time(script).unwrap_or_else(note);
        }
    } else {
        as_function(script).unwrap_or_else(note);
    }
    found
}

/// The same attack as a function, and as the code of a library: the next library is none the wiser.
fn as_function(script: &[u8]) -> Result<(), String> {
    let mut client = Engine::builder().script_limits(compared_limits()).build().client();
    let mut reply = Reply::new();
    let mut call = |words: &[&[u8]]| {
        client.call_into(words, &mut reply).expect("the engine is free");
        is_one_reply(&reply).map(|()| shown(&reply))
    };
    let start = b"#!lua name=attack\nredis.register_function('attack', function(KEYS, ARGV) ";
    let function = [&start[..], script, b"\nend)"].concat();
    let code = [b"#!lua name=attack\n", script].concat();
    for code in [&function, &code] {
        call(&[b"FUNCTION", b"LOAD", b"REPLACE", code])?;
        call(&[b"FCALL", b"attack", b"0"])?;
        let probe =
            b"#!lua name=probe\nredis.register_function('probe', function() return tostring(tonumber('12')) end)";
        let load = call(&[b"FUNCTION", b"LOAD", b"REPLACE", probe])?;
        let answers = [load, call(&[b"FCALL", b"probe", b"0"])?, call(&[b"EVAL", b"return 1", b"0"])?];
        if answers != ["$5\r\nprobe\r\n", "$2\r\n12\r\n", ":1\r\n"] {
            return Err(format!("after it as a function: {answers:?}"));
        }
    }
    Ok(())
}

/// The same script in the same state stops at the same unit of work and answers the same, each time.
fn same_end_each_time(script: &[u8]) -> Result<(), String> {
    let run = || {
        let engine = Engine::builder().script_limits(compared_limits()).build();
        let reply = eval(&mut engine.client(), script);
        (engine.script_control().work_left(), reply)
    };
    let (left, reply) = run();
    if is_out_of_time(&reply) {
        return Ok(());
    }
    for _ in 0..number("MOONKEEP_HOSTILE_ROUNDS", 1) {
        let (again_left, again) = run();
        if is_out_of_time(&again) {
            return Ok(());
        }
        if again_left != left {
            return Err(format!("{left} units of work left, then {again_left}"));
        }
        // Addresses, which scripts see of tables and functions, differ.
        if again != reply && !shown(&reply).contains(": 0x") {
            return Err(format!("{}, then {}", shown(&reply), shown(&again)));
        }
    }
    Ok(())
}

fn eval(client: &mut Client, script: &[u8]) -> Reply {
    let mut reply = Reply::new();
    client.call_into([b"EVAL", script, b"0"], &mut reply).expect("the engine is free");
    reply
}

/// A reply, cut where it is long.
fn shown(reply: &Reply) -> String {
    let mut bytes = Vec::new();
    encode(reply, Resp::V2, &mut bytes);
    bytes.truncate(300);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether a client reads exactly one reply in the bytes that go out.
pub(super) fn is_one_reply(reply: &Reply) -> Result<(), String> {
    for resp in [Resp::V2, Resp::V3] {
        let mut bytes = Vec::new();
        encode(reply, resp, &mut bytes);
        let (mut rest, mut open) = (&bytes[..], 1u64);
        while open > 0 {
            let (line, after) = split_line(rest).ok_or("a reply that does not end")?;
            let (kind, text) = line.split_first().ok_or("a reply without a kind")?;
            let count = || std::str::from_utf8(text).ok()?.parse::<i64>().ok();
            rest = after;
            open -= 1;
            match kind {
                b'+' | b'-' | b':' | b'_' | b',' | b'#' | b'(' => {}
                b'$' | b'=' => {
                    let length = count().ok_or("a length that is none")?;
                    if let Ok(length) = usize::try_from(length) {
                        rest = rest
                            .get(length..)
                            .and_then(|rest| rest.strip_prefix(b"\r\n"))
                            .ok_or("a short bulk")?;
                    }
                }
                b'*' | b'~' | b'>' | b'%' => {
                    let count = count().ok_or("a count that is none")?.max(0).unsigned_abs();
                    open += if *kind == b'%' { count * 2 } else { count };
                }
                other => return Err(format!("a reply of kind {other}")),
            }
        }
        if !rest.is_empty() {
            return Err(format!("{} bytes after the reply", rest.len()));
        }
    }
    Ok(())
}

fn split_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.windows(2).position(|pair| pair == b"\r\n")?;
    let line = &bytes[..end];
    (!line.contains(&b'\n') && !line.contains(&b'\r')).then_some((line, &bytes[end + 2..]))
}

/// The processor time of this thread.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

#[test]
fn a_split_reply_is_seen() {
    let mut reply = Reply::new();
    reply.int(1);
    assert_eq!(is_one_reply(&reply), Ok(()));
    reply.int(2);
    assert_eq!(is_one_reply(&reply), Err("4 bytes after the reply".into()));
    assert_eq!(split_line(b"+a\nb\r\n"), None);
}
