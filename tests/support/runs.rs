//! Random programs: commands of all families on a few keys and databases, transactions, scripts, and time that
//! passes. Same seed, same program.

use moonkeep::util::rng::Rng;
use moonkeep::{Client, Engine, Reply};
use std::time::Duration;

/// One step of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// A command.
    Call(Vec<String>),
    /// So many milliseconds pass.
    Advance(u64),
}

const PATTERNS: &[&str] = &[
    "SET K V",
    "SET K V PX MS",
    "SET K V NX EX N",
    "SET K V XX KEEPTTL GET",
    "SETNX K V",
    "PSETEX K MS V",
    "GETSET K V",
    "GETDEL K",
    "GETEX K PX MS",
    "GETEX K PERSIST",
    "GET K",
    "MGET K K K",
    "MSET K V K V",
    "MSETNX K V K V",
    "INCR K",
    "DECRBY K N",
    "INCRBYFLOAT K N.25",
    "APPEND K V",
    "SETRANGE K N V",
    "SETBIT K N 1",
    "BITOP XOR K K K",
    "BITFIELD K SET u8 N 200 INCRBY u8 N 100 GET i4 #1",
    "STRLEN K",
    "RPUSH K V V",
    "LRANGE K 0 -1",
    "SADD K V N",
    "SMEMBERS K",
    "SPOP K",
    "SPOP K 2",
    "SRANDMEMBER K -2",
    "SUNIONSTORE K K K",
    "SDIFFSTORE K K K",
    "SMOVE K K V",
    "SSCAN K 0",
    "HSET K V N",
    "HGETALL K",
    "HRANDFIELD K -2 WITHVALUES",
    "HSCAN K 0",
    "ZADD K N V",
    "ZRANGE K 0 -1",
    "ZPOPMAX K",
    "ZMPOP 2 K K MIN COUNT 2",
    "ZUNIONSTORE K 2 K K WEIGHTS 2 N",
    "ZINTERSTORE K 2 K K",
    "ZRANDMEMBER K 2",
    "ZSCAN K 0",
    "XADD K * V N",
    "XRANGE K - +",
    "XREAD COUNT 2 STREAMS K K 0 $",
    "XGROUP CREATE K g 0 MKSTREAM",
    "XGROUP CREATE K g 0 MKSTREAM",
    "XGROUP SETID K g 0",
    "XREADGROUP GROUP g V STREAMS K >",
    "XREADGROUP GROUP g c COUNT 1 STREAMS K >",
    "XREADGROUP GROUP g V NOACK STREAMS K >",
    "XAUTOCLAIM K g V MS 0 COUNT 2",
    "XINFO STREAM K FULL",
    "PFADD K V V",
    "PFCOUNT K",
    "PFMERGE K K",
    "SORT K ALPHA STORE K",
    "SORT K BY nosort GET # GET K",
    "DUMP K",
    "DEL K",
    "DEL K K",
    "UNLINK K",
    "EXISTS K K",
    "TYPE K",
    "TOUCH K",
    "EXPIRE K N",
    "EXPIRE K N NX",
    "PEXPIRE K MS GT",
    "PEXPIRE K MS LT",
    "PEXPIRE K -1",
    "PEXPIRE K MS XX",
    "PEXPIREAT K 1",
    "PERSIST K",
    "PTTL K",
    "PEXPIRETIME K",
    "RENAME K K",
    "RENAMENX K K",
    "COPY K K",
    "COPY K K DB D REPLACE",
    "MOVE K D",
    "OBJECT ENCODING K",
    "OBJECT IDLETIME K",
    "RANDOMKEY",
    "RANDOMKEY",
    "KEYS *",
    "SCAN 0 COUNT 3",
    "SCAN 0 TYPE string",
    "DBSIZE",
    "TIME",
    "SELECT D",
    "SELECT 0",
    "MULTI",
    "EXEC",
    "EXEC",
    "DISCARD",
    "WATCH K",
    "UNWATCH",
    "FLUSHDB",
    "SWAPDB D D",
    "ECHO V",
    "INFO stats",
    "CLIENT GETNAME",
];

const SCRIPTS: &[&str] = &[
    "redis.call('SET', KEYS[1], ARGV[1]) return redis.call('INCRBY', KEYS[2], ARGV[2])",
    "return redis.call('SET', KEYS[1], tostring(math.random()))",
    "redis.call('DEL', KEYS[1]) return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2] * 10)",
    "return {redis.pcall('APPEND', KEYS[1], ARGV[1]), redis.pcall('RPUSH', KEYS[2], ARGV[2])}",
    "return redis.call('TIME')",
    "return redis.call('RANDOMKEY')",
    "redis.call('EXPIRE', KEYS[1], ARGV[2]) return redis.call('PTTL', KEYS[1])",
];

/// A program of so many steps.
pub(crate) fn program(seed: u64, steps: usize) -> Vec<Step> {
    let mut rng = Rng::new(seed);
    (0..steps).map(|_| step(&mut rng)).collect()
}

fn step(rng: &mut Rng) -> Step {
    match rng.below(20) {
        0 => Step::Advance(rng.below(40)),
        1 => Step::Advance(1),
        2 | 3 => {
            let script = pick(rng, SCRIPTS);
            let words = ["EVAL", script, "2", &key(rng), &key(rng), &value(rng), &number(rng)];
            Step::Call(words.map(str::to_owned).into())
        }
        _ => Step::Call(pick(rng, PATTERNS).split(' ').map(|word| fill(rng, word)).collect()),
    }
}

fn pick<'a>(rng: &mut Rng, from: &[&'a str]) -> &'a str {
    from[rng.below(from.len() as u64) as usize]
}

fn fill(rng: &mut Rng, word: &str) -> String {
    match word {
        "K" => key(rng),
        "V" => value(rng),
        "N" => number(rng),
        "N.25" => format!("{}.25", rng.below(9)),
        "MS" => (1 + rng.below(60)).to_string(),
        "D" => rng.below(3).to_string(),
        other => other.to_owned(),
    }
}

fn key(rng: &mut Rng) -> String {
    format!("key:{}", rng.below(12))
}

fn number(rng: &mut Rng) -> String {
    (1 + rng.below(30)).to_string()
}

fn value(rng: &mut Rng) -> String {
    match rng.below(4) {
        0 => rng.below(1000).to_string(),
        1 => "x".repeat(rng.below(80) as usize),
        _ => format!("value {}", rng.below(20)),
    }
}

/// Does a step; the bytes of the reply, as RESP2.
pub(crate) fn perform(engine: &Engine, client: &mut Client, step: &Step) -> Vec<u8> {
    let mut bytes = Vec::new();
    match step {
        Step::Call(words) => {
            let mut out = Reply::new();
            client.call_into(words, &mut out).expect("an engine that works");
            moonkeep::reply::resp::encode(&out, moonkeep::reply::Resp::V2, &mut bytes);
        }
        Step::Advance(ms) => engine.advance(Duration::from_millis(*ms)).expect("a manual clock"),
    }
    bytes
}

/// Does all steps with one client.
pub(crate) fn run(engine: &Engine, steps: &[Step]) -> Vec<u8> {
    let mut client = engine.client();
    steps.iter().flat_map(|step| perform(engine, &mut client, step)).collect()
}
