//! Large values against a redis-server started by this bench, in one run: bytes an element, time an operation on a
//! million elements, and how both sides' time would grow. Run: `cargo bench --bench structures`, or `-- growth` for the
//! table of time by size. Our side is CPU time of this thread through the public API and the bytes that are held; the
//! server's is its own time per call at pipeline 64 and what it says of its memory.

#![allow(unsafe_code)]

#[allow(dead_code, reason = "shared with other benches")]
mod measure;
#[allow(dead_code, reason = "shared with other benches")]
mod server;

use measure::{cpu_ns, held_bytes, median};
use moonkeep::util::rng::Rng;
use moonkeep::{Client, Engine, Reply};
use server::{Connection, Server, command};

#[global_allocator]
static ALLOCATOR: measure::Counting = measure::Counting;

const ROUNDS: usize = 7;
const MILLION: u64 = 1_000_000;
/// Commands of one round.
const CALLS: u64 = 64 * 200;
/// Elements that one command adds while a value is built.
const TOGETHER: u64 = 100;

type Words = Vec<Vec<u8>>;

/// A value: how it is built, and what is done with it.
struct Structure {
    name: &'static str,
    /// Elements from a number on, as the words of one command.
    build: fn(from: u64, count: u64) -> Words,
    /// Bytes an element as a share of the server's, at most: must and aim.
    bytes: (&'static str, &'static str),
    operations: &'static [Operation],
}

/// What is done, on a value of so many elements. Several commands are timed together.
struct Operation {
    name: &'static str,
    make: fn(rng: &mut Rng, size: u64, step: u64) -> Vec<Words>,
    time: (&'static str, &'static str),
}

fn words<const N: usize>(words: [&str; N]) -> Words {
    words.map(|word| word.as_bytes().to_vec()).to_vec()
}

fn member(number: u64) -> String {
    format!("member:{number}")
}

fn any_member(rng: &mut Rng, size: u64) -> String {
    member(rng.below(size))
}

/// Scores in no order, the same ones in each run.
fn score(number: u64) -> String {
    (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24).to_string()
}

/// A command with so many elements.
fn adding(head: &[&str], from: u64, count: u64, element: impl Fn(u64) -> Vec<String>) -> Words {
    let head = head.iter().map(|word| word.as_bytes().to_vec());
    head.chain((from..from + count).flat_map(element).map(String::into_bytes)).collect()
}

const VALUE: &str = "0123456789abcdef";

static STRUCTURES: &[Structure] = &[
    Structure {
        name: "sorted set",
        build: |from, count| adding(&["ZADD", "k"], from, count, |n| vec![score(n), member(n)]),
        bytes: ("0.75", "0.60"),
        operations: &[
            Operation {
                name: "ZRANK",
                make: |rng, size, _| vec![words(["ZRANK", "k", &any_member(rng, size)])],
                time: ("0.60", "0.40"),
            },
            Operation {
                name: "ZRANGE of ten by rank",
                make: |rng, size, _| {
                    let from = rng.below(size.saturating_sub(10).max(1));
                    vec![words(["ZRANGE", "k", &from.to_string(), &(from + 9).to_string()])]
                },
                time: ("0.30", "0.15"),
            },
            Operation {
                name: "ZADD that moves a member",
                make: |rng, size, _| {
                    let to = score(rng.next_u64());
                    vec![words(["ZADD", "k", &to, &any_member(rng, size)])]
                },
                time: ("0.50", "0.35"),
            },
            Operation {
                name: "ZSCORE",
                make: |rng, size, _| vec![words(["ZSCORE", "k", &any_member(rng, size)])],
                time: ("", ""),
            },
        ],
    },
    Structure {
        name: "list",
        build: |from, count| adding(&["RPUSH", "k"], from, count, |n| vec![format!("{n:016}")]),
        bytes: ("1.2", "1.0"),
        operations: &[Operation {
            name: "LPUSH and RPOP",
            make: |_, _, _| vec![words(["LPUSH", "k", VALUE]), words(["RPOP", "k"])],
            time: ("0.6", ""),
        }],
    },
    Structure {
        name: "set",
        build: |from, count| adding(&["SADD", "k"], from, count, |n| vec![member(n)]),
        bytes: ("1.0", "0.95"),
        operations: &[
            Operation {
                name: "SISMEMBER",
                make: |rng, size, _| vec![words(["SISMEMBER", "k", &any_member(rng, size)])],
                time: ("0.6", ""),
            },
            Operation {
                name: "SADD",
                make: |_, size, step| vec![words(["SADD", "k", &member(size + step)])],
                time: ("0.6", ""),
            },
        ],
    },
    Structure {
        name: "hash",
        build: |from, count| adding(&["HSET", "k"], from, count, |n| vec![member(n), VALUE.into()]),
        bytes: ("", ""),
        operations: &[
            Operation {
                name: "HSET",
                make: |rng, size, _| {
                    let value = score(rng.next_u64());
                    vec![words(["HSET", "k", &any_member(rng, size), &value])]
                },
                time: ("0.6", ""),
            },
            Operation {
                name: "HGET",
                make: |rng, size, _| vec![words(["HGET", "k", &any_member(rng, size)])],
                time: ("0.6", ""),
            },
        ],
    },
    Structure {
        name: "stream",
        build: |from, _| {
            words(["XADD", "k", &format!("{}-1", from + 1), "temperature", "21", "humidity", "40"])
        },
        bytes: ("1.2", "0.8"),
        operations: &[
            Operation {
                name: "XADD",
                make: |_, _, _| vec![words(["XADD", "k", "*", "temperature", "21", "humidity", "40"])],
                time: ("0.6", ""),
            },
            Operation {
                name: "XREADGROUP and XACK",
                make: |_, _, step| {
                    let id = format!("{}-1", step + 1);
                    vec![
                        words(["XREADGROUP", "GROUP", "g", "c", "COUNT", "1", "STREAMS", "k", ">"]),
                        words(["XACK", "k", "g", &id]),
                    ]
                },
                time: ("0.6", ""),
            },
        ],
    },
];

/// What adds one element at a time.
fn adds_one(structure: &Structure) -> bool {
    structure.name == "stream"
}

fn commands_to_build(structure: &'static Structure, size: u64) -> impl Iterator<Item = Words> {
    let together = if adds_one(structure) { 1 } else { TOGETHER.min(size) };
    (0..size / together).map(move |at| (structure.build)(at * together, together))
}

fn slices(argv: &Words) -> Vec<&[u8]> {
    argv.iter().map(Vec::as_slice).collect()
}

fn build(structure: &'static Structure, size: u64, client: &mut Client, out: &mut Reply) {
    for argv in commands_to_build(structure, size) {
        client.call_into(slices(&argv), out).expect("runs");
        assert!(!out.is_error(), "{}: {out}", structure.name);
    }
    if adds_one(structure) {
        client.call_into(["XGROUP", "CREATE", "k", "g", "0"], out).expect("runs");
    }
}

fn build_there(structure: &'static Structure, size: u64, redis: &mut Connection) {
    redis.call(&[b"FLUSHALL"]);
    send(redis, commands_to_build(structure, size));
    if adds_one(structure) {
        redis.call(&[b"XGROUP", b"CREATE", b"k", b"g", b"0"]);
    }
}

/// Sends commands in pipelines of 64.
fn send(redis: &mut Connection, commands: impl Iterator<Item = Words>) {
    let (mut batch, mut count) = (Vec::new(), 0);
    for argv in commands {
        batch.extend(command(&slices(&argv)));
        count += 1;
        if count == 64 {
            redis.send(&batch, count);
            (batch, count) = (Vec::new(), 0);
        }
    }
    redis.send(&batch, count);
}

/// CPU nanoseconds of the commands of one step. The words of a pipeline's commands are new, as the server has just read
/// those it runs.
fn run_here(steps: &[Vec<Words>], client: &mut Client, out: &mut Reply) -> f64 {
    let mut spent = 0.0;
    for pipeline in steps.chunks(64) {
        let read: Vec<Words> = pipeline.iter().flatten().cloned().collect();
        let argvs: Vec<Vec<&[u8]>> = read.iter().map(slices).collect();
        let start = cpu_ns();
        for argv in &argvs {
            client.call_into(argv, out).expect("runs");
        }
        spent += cpu_ns() - start;
        assert!(!out.is_error(), "{out}");
    }
    spent / steps.len() as f64
}

/// The server's own nanoseconds for the commands of one step.
fn run_there(steps: &[Vec<Words>], redis: &mut Connection) -> f64 {
    redis.call(&[b"CONFIG", b"RESETSTAT"]);
    send(redis, steps.iter().flatten().cloned());
    let names: Vec<String> =
        steps[0].iter().map(|argv| String::from_utf8_lossy(&argv[0]).to_lowercase()).collect();
    names.iter().map(|name| redis.exec_so_far_ns(name)).sum()
}

fn make(operation: &Operation, rng: &mut Rng, size: u64, round: u64, calls: u64) -> Vec<Vec<Words>> {
    (0..calls).map(|call| (operation.make)(rng, size, round * calls + call)).collect()
}

fn row(name: &str, figure: String, (must, aim): (&str, &str)) {
    println!("| {name} | {figure} | {must} | {aim} |");
}

fn compare(structure: &'static Structure, redis: &mut Connection) {
    let mut out = Reply::new();
    let engine = Engine::new();
    let mut client = engine.client();
    let before = held_bytes();
    build(structure, MILLION, &mut client, &mut out);
    let ours = (held_bytes() - before) as f64 / MILLION as f64;
    redis.call(&[b"FLUSHALL"]);
    let before = redis.used_memory();
    build_there(structure, MILLION, redis);
    let theirs = (redis.used_memory() - before) / MILLION as f64;
    let figure = format!("{:.3} ({ours:.1} to {theirs:.1})", ours / theirs);
    row(&format!("{}: bytes an element ÷ Redis", structure.name), figure, structure.bytes);
    let mut rng = Rng::new(7);
    for operation in structure.operations {
        let (mut here, mut there, mut ratios) = (vec![], vec![], vec![]);
        for round in 0..ROUNDS {
            let steps = make(operation, &mut rng, MILLION, round as u64, CALLS);
            let own = run_here(&steps, &mut client, &mut out);
            let server = run_there(&steps, redis);
            here.push(own);
            there.push(server);
            ratios.push(own / server);
        }
        let figure = format!("{:.3} ({:.0} ns to {:.0} ns)", median(ratios), median(here), median(there));
        row(&format!("{}: time ÷ Redis exec", operation.name), figure, operation.time);
    }
}

/// Bytes of many hashes of ten fields.
fn small_hashes(redis: &mut Connection) {
    const HASHES: u64 = 100_000;
    let fill = |number: u64| {
        let key = format!("hash:{number}");
        adding(&["HSET", &key], 0, 10, |n| vec![format!("field:{n}"), VALUE.into()])
    };
    let mut out = Reply::new();
    let engine = Engine::new();
    let mut client = engine.client();
    let before = held_bytes();
    for number in 0..HASHES {
        client.call_into(slices(&fill(number)), &mut out).expect("runs");
    }
    let ours = (held_bytes() - before) as f64 / HASHES as f64;
    redis.call(&[b"FLUSHALL"]);
    let before = redis.used_memory();
    send(redis, (0..HASHES).map(fill));
    let theirs = (redis.used_memory() - before) / HASHES as f64;
    let figure = format!("{:.3} ({ours:.0} to {theirs:.0})", ours / theirs);
    row("hash of ten fields: bytes ÷ Redis", figure, ("1.3", "1.0"));
}

/// Nanoseconds an operation by the number of elements, to be plotted.
fn growth() {
    const SIZES: [u64; 5] = [1_000, 10_000, 100_000, 1_000_000, 10_000_000];
    println!(
        "| operation, ns | {} |\n|---|{}",
        SIZES.map(|size| size.to_string()).join(" | "),
        "---|".repeat(5)
    );
    for structure in STRUCTURES {
        let mut lines: Vec<String> =
            structure.operations.iter().map(|one| format!("| {} |", one.name)).collect();
        for size in SIZES {
            let mut out = Reply::new();
            let engine = Engine::new();
            let mut client = engine.client();
            build(structure, size, &mut client, &mut out);
            let mut rng = Rng::new(7);
            for (operation, line) in structure.operations.iter().zip(&mut lines) {
                // No more reads of a group than there are entries.
                let calls = CALLS.min(size / 5);
                let figures = (0..5).map(|round| {
                    let steps = make(operation, &mut rng, size, round, calls);
                    run_here(&steps, &mut client, &mut out)
                });
                line.push_str(&format!(" {:.0} |", median(figures.collect())));
            }
        }
        lines.iter().for_each(|line| println!("{line}"));
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    // `cargo test` runs benches with --test: nothing is measured then.
    if args.iter().any(|arg| arg == "--test") {
        return;
    }
    if args.iter().any(|arg| arg == "growth") {
        return growth();
    }
    let Some(server) = Server::start(0) else {
        println!("no redis-server here: nothing to compare with");
        return;
    };
    let mut cpus = rustix::thread::CpuSet::new();
    cpus.set(0);
    let _ = rustix::thread::sched_setaffinity(None, &cpus);
    let mut redis = server.connect();
    println!("| figure | measured | must | aim |\n|---|---|---|---|");
    let only = args.iter().skip(1).find(|arg| !arg.starts_with('-'));
    for structure in STRUCTURES.iter().filter(|one| only.is_none_or(|only| one.name == only)) {
        compare(structure, &mut redis);
    }
    small_hashes(&mut redis);
}
