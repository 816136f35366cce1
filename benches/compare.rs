//! moonkeep against a redis-server started by this bench, in one run, as ratios. Run: `cargo bench --bench compare`.
//! Our side is CPU time of this thread through the public API; the server's side is its own time per call at
//! pipeline 64 (its execution alone, no network), or the round trip over a unix socket with both on one processor.

#![allow(unsafe_code)]

mod measure;
mod server;

use measure::{cpu_ns, held_bytes, median, per_call, wall_ns};
use moonkeep::{Client, Engine, Limits, Reply};
use server::{Connection, Server, command};
use std::hint::black_box;

#[global_allocator]
static ALLOCATOR: measure::Counting = measure::Counting;

const ROUNDS: usize = 7;
const STOCK_KEY: &[u8] = b"demo:repair:stock:{p1}:ten";
const LOCK_KEY: &[u8] = b"demo:repair:lock:{p1}";
const TOKEN: &[u8] = b"tokenA-0123456789abcdef";
const OTHER: &[u8] = b"tokenB-0123456789abcdef";

/// A call that both sides run.
struct Case {
    name: &'static str,
    argv: Vec<Vec<u8>>,
}

fn script(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/lua/{name}.lua", env!("CARGO_MANIFEST_DIR"))).expect("a shipped script")
}

fn evalsha(name: &'static str, source: &[u8], keys: &[&[u8]], args: &[&[u8]]) -> Case {
    let sha = moonkeep::Script::new(source).sha().as_bytes().to_vec();
    let mut argv = vec![b"EVALSHA".to_vec(), sha, keys.len().to_string().into_bytes()];
    argv.extend(keys.iter().chain(args).map(|word| word.to_vec()));
    Case { name, argv }
}

fn words(argv: &[Vec<u8>]) -> Vec<&[u8]> {
    argv.iter().map(Vec::as_slice).collect()
}

/// Scripts and keys that the cases use, on both sides.
fn set_up(client: &mut Client, redis: &mut Connection, sources: &[Vec<u8>]) {
    set_up_own(client, sources);
    preparation(sources, |argv| drop(redis.call(argv)));
}

fn set_up_own(client: &mut Client, sources: &[Vec<u8>]) {
    preparation(sources, |argv| drop(client.call(argv).expect("set-up")));
}

fn preparation(sources: &[Vec<u8>], mut run: impl FnMut(&[&[u8]])) {
    let far = b"600000000";
    let mut both: Vec<Vec<&[u8]>> = vec![
        vec![b"SET", STOCK_KEY, b"1000000000"],
        vec![b"SET", LOCK_KEY, TOKEN, b"PX", far],
        vec![b"SET", b"str", b"0123456789abcdef"],
    ];
    both.extend(sources.iter().map(|source| vec![&b"SCRIPT"[..], b"LOAD", source]));
    for argv in both {
        run(&argv);
    }
}

const GET_100: &[u8] = b"local k = KEYS[1] for i = 1, 100 do redis.call('GET', k) end return 1";
const RETURN_1: &[u8] = b"return 1";

fn cases() -> (Vec<Case>, Vec<Vec<u8>>) {
    let sources = vec![
        script("decrease_stock"),
        script("unlock"),
        script("renew_lock"),
        RETURN_1.to_vec(),
        GET_100.to_vec(),
    ];
    let cases = vec![
        evalsha("decrease_stock", &sources[0], &[STOCK_KEY], &[b"1"]),
        evalsha("unlock (miss)", &sources[1], &[LOCK_KEY], &[OTHER]),
        evalsha("renew_lock", &sources[2], &[LOCK_KEY], &[TOKEN, b"600000000"]),
        evalsha("return 1", RETURN_1, &[], &[]),
        evalsha("100 x GET", GET_100, &[b"str"], &[]),
        Case { name: "GET", argv: vec![b"GET".to_vec(), b"str".to_vec()] },
        Case { name: "SET", argv: vec![b"SET".to_vec(), b"str".to_vec(), b"0123456789abcdef".to_vec()] },
    ];
    (cases, sources)
}

/// Medians of our time, the server's execution and the round trip for one case.
struct Figures {
    ours_ns: f64,
    exec_ns: f64,
    trip_ns: f64,
    ratio: f64,
}

fn measure_case(case: &Case, client: &mut Client, redis: &mut Connection) -> Figures {
    let argv = words(&case.argv);
    let mut out = Reply::new();
    let name = String::from_utf8_lossy(argv[0]).to_lowercase();
    let one = command(&argv);
    let (mut ours, mut exec, mut trip, mut ratio) = (vec![], vec![], vec![], vec![]);
    for _ in 0..ROUNDS {
        let own = per_call(40.0, || client.call_into(&argv, black_box(&mut out)).expect("runs"));
        assert!(!out.is_error(), "{}: {out}", case.name);
        let server = redis.exec_ns(&name, &argv, if argv.len() > 3 { 60 } else { 400 });
        ours.push(own);
        exec.push(server);
        ratio.push(own / server);
        trip.push(round_trip(redis, &one));
    }
    Figures { ours_ns: median(ours), exec_ns: median(exec), trip_ns: median(trip), ratio: median(ratio) }
}

fn round_trip(redis: &mut Connection, one: &[u8]) -> f64 {
    let trips = (0..400).map(|_| {
        let start = wall_ns();
        redis.send(one, 1);
        wall_ns() - start
    });
    median(trips.collect())
}

fn row(name: &str, figure: String, must: &str, aim: &str) {
    println!("| {name} | {figure} | {must} | {aim} |");
}

fn scripts_and_commands(server: &Server) {
    let engine = Engine::new();
    let (mut client, mut redis) = (engine.client(), server.connect());
    let (cases, sources) = cases();
    set_up(&mut client, &mut redis, &sources);
    let figures: Vec<Figures> =
        cases.iter().map(|case| measure_case(case, &mut client, &mut redis)).collect();
    for (case, figure) in cases.iter().zip(&figures) {
        let text = format!(
            "{:.3} ({:.0} ns to {:.0} ns; round trip {:.1} us)",
            figure.ratio,
            figure.ours_ns,
            figure.exec_ns,
            figure.trip_ns / 1000.0
        );
        row(&format!("{}: time ÷ Redis exec", case.name), text, "", "");
    }
    let geometric = (figures[0].ratio * figures[1].ratio * figures[2].ratio).powf(1.0 / 3.0);
    row("three scripts, geometric mean ÷ Redis exec", format!("{geometric:.3}"), "0.50", "0.38");
    for (at, must, aim) in [(0, "8", "11"), (1, "20", "30"), (2, "12", "16")] {
        let times = figures[at].trip_ns / figures[at].ours_ns;
        row(
            &format!("{}: times faster than the round trip", cases[at].name),
            format!("{times:.1}"),
            must,
            aim,
        );
    }
    let marginal = (figures[4].ours_ns - figures[3].ours_ns) / (figures[4].exec_ns - figures[3].exec_ns);
    row("one more redis.call(\"GET\") ÷ Redis", format!("{marginal:.3}"), "0.50", "0.36");
    row("GET through the API ÷ Redis exec", format!("{:.3}", figures[5].ratio), "0.6", "0.3");
    row("SET through the API ÷ Redis exec", format!("{:.3}", figures[6].ratio), "0.5", "0.25");
}

/// The three scripts with instructions counted, to the same without.
fn budget() {
    let engines = [Limits::default(), Limits { work: u64::MAX, time_ms: u64::MAX, ..Limits::default() }]
        .map(|limits| Engine::builder().script_limits(limits).build());
    let (cases, sources) = cases();
    let mut out = Reply::new();
    let mut ratios = Vec::new();
    for case in &cases[..3] {
        let argv = words(&case.argv);
        for _ in 0..ROUNDS {
            let [on, off] = engines.each_ref().map(|engine| {
                let mut client = engine.client();
                set_up_own(&mut client, &sources);
                per_call(30.0, || client.call_into(&argv, black_box(&mut out)).expect("runs"))
            });
            ratios.push(on / off);
        }
    }
    row("instruction budget on, to off", format!("{:.3}", median(ratios)), "1.05", "1.02");
}

fn creation() {
    let fresh = per_call(40.0, || drop(black_box(Engine::new())));
    row("new engine", format!("{:.3} us", fresh / 1000.0), "2 us", "0.2 us");
    let source = script("decrease_stock");
    let first = per_call(80.0, || {
        let engine = Engine::new();
        let mut client = engine.client();
        client.call(["SET", "s", "10"]).expect("set");
        client.call([&b"EVAL"[..], &source, b"1", b"s", b"1"]).expect("runs");
    });
    row("new engine to first script result", format!("{:.1} us", first / 1000.0), "100 us", "60 us");
}

fn reset() {
    let engine = Engine::new();
    let mut client = engine.client();
    let keys: Vec<String> = (0..10).map(|n| format!("key:{n}")).collect();
    let mut out = Reply::new();
    let mut fill = || {
        for key in &keys {
            client.call_into(["SET", key, "0123456789abcdef"], &mut out).expect("set");
        }
    };
    let mut spent = Vec::new();
    for _ in 0..2000 {
        fill();
        let start = cpu_ns();
        engine.reset().expect("reset");
        spent.push(cpu_ns() - start);
    }
    row("reset of ten keys, scripts kept", format!("{:.2} us", median(spent) / 1000.0), "5 us", "1.5 us");
}

fn memory(server: &Server) {
    const KEYS: usize = 1_000_000;
    let engine = Engine::new();
    let mut client = engine.client();
    let mut out = Reply::new();
    let before = held_bytes();
    for n in 0..KEYS {
        client.call_into(["SET", &format!("key:{n}"), "0123456789abcdef"], &mut out).expect("set");
    }
    let ours = (held_bytes() - before) as f64 / KEYS as f64;
    let mut redis = server.connect();
    redis.call(&[b"FLUSHALL"]);
    let before = redis.used_memory();
    for chunk in 0..KEYS / 1000 {
        let batch: Vec<u8> = (0..1000)
            .flat_map(|n| {
                command(&[b"SET", format!("key:{}", chunk * 1000 + n).as_bytes(), b"0123456789abcdef"])
            })
            .collect();
        redis.send(&batch, 1000);
    }
    let theirs = (redis.used_memory() - before) / KEYS as f64;
    let text = format!("{:.3} ({ours:.1} to {theirs:.1} bytes)", ours / theirs);
    row("bytes per string key ÷ Redis used_memory", text, "0.90", "0.70");
}

/// Eight threads on one engine: none of a known number of increments is lost, and what they cost each other.
fn contention() {
    const THREADS: usize = 8;
    const EACH: usize = 100_000;
    let engine = Engine::new();
    let start = wall_ns();
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            let mut client = engine.client();
            scope.spawn(move || {
                let mut out = Reply::new();
                for _ in 0..EACH {
                    client.call_into(["INCR", "n"], &mut out).expect("incr");
                }
            });
        }
    });
    let together = (wall_ns() - start) / (THREADS * EACH) as f64;
    let sum: usize = engine.client().query(["GET", "n"]).expect("a number");
    assert_eq!(sum, THREADS * EACH, "an update was lost");
    let mut client = engine.client();
    let mut out = Reply::new();
    let alone = per_call(40.0, || client.call_into(["INCR", "n"], &mut out).expect("incr"));
    row("8 threads on one engine: ns an INCR, to one thread", format!("{together:.0} to {alone:.0}"), "", "");
}

fn main() {
    // `cargo test` runs benches with --test: nothing is measured then.
    if std::env::args().any(|arg| arg == "--test") {
        return;
    }
    let Some(server) = Server::start(0) else {
        println!("no redis-server here: nothing to compare with");
        return;
    };
    pin_to_first_processor();
    println!("| figure | measured | must | aim |\n|---|---|---|---|");
    scripts_and_commands(&server);
    budget();
    creation();
    reset();
    memory(&server);
    contention();
}

/// The round trip is at its best with client and server on one processor.
fn pin_to_first_processor() {
    let mut set = rustix::thread::CpuSet::new();
    set.set(0);
    let _ = rustix::thread::sched_setaffinity(None, &set);
}
