//! The libraries `bit`, `cjson`, `cmsgpack` and `struct`: their bounds, what survives the way there and back, and random
//! calls with values at the edges on both sides.
//! `MOONKEEP_SEED` and `MOONKEEP_DIFF_PROGRAMS` as in `diff`.

mod calls;
mod data;
mod values;

use crate::diff::rng::Rng;
use crate::support::moonkeep::Moonkeep;
use crate::support::server::server_or_skip;
use crate::support::shrink::without_needless;
use crate::support::target::{MAIN, Target};
use crate::support::wire::Wire;
use calls::Call;
use moonkeep::{Client, Engine, Limits, Reply};
use std::collections::BTreeMap;

const PROGRAMS: u64 = 2000;
/// Both sides forget their scripts after so many.
const SCRIPTS_KEPT: u64 = 1000;
const DIFFERENCES_MAX: usize = 10;

#[test]
fn random_calls_of_libraries_agree_with_the_server() {
    let Some(mut server) = server_or_skip("random_calls_of_libraries_agree_with_the_server") else { return };
    let mut moonkeep = Moonkeep::default();
    let (seed, programs) = (setting("MOONKEEP_SEED", 1), setting("MOONKEEP_DIFF_PROGRAMS", PROGRAMS));
    let mut reached: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    let mut reports = Vec::new();
    for number in 0..programs {
        if number % SCRIPTS_KEPT == 0 {
            server.reset();
            moonkeep.reset();
        }
        let calls = calls::program(&mut Rng::new(seed ^ (number << 20)));
        let (expected, got) = (run(&mut server, &calls), run(&mut moonkeep, &calls));
        for (call, result) in calls.iter().zip(expected.items()) {
            let failed = result.bytes().is_some_and(|text| text.starts_with(b"E"));
            reached.entry(call.function).or_default()[usize::from(failed)] += 1;
        }
        if expected != got {
            let calls = without_needless(calls, |calls| run(&mut server, calls) != run(&mut moonkeep, calls));
            let (expected, got) = (run(&mut server, &calls), run(&mut moonkeep, &calls));
            let lines: Vec<&str> = calls.iter().map(|call| call.expression.as_str()).collect();
            reports.push(format!(
                "program {number}\n{}\nexpected {expected}\ngot      {got}\n",
                lines.join("\n")
            ));
            if reports.len() >= DIFFERENCES_MAX {
                break;
            }
        }
    }
    println!("seed {seed}, {programs} programs: calls that returned, and that failed");
    for (function, [returned, failed]) in &reached {
        println!("{function:32} {returned:9} {failed:9}");
    }
    assert!(reports.is_empty(), "{} differences (seed {seed}):\n\n{}", reports.len(), reports.join("\n"));
}

fn setting(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn run(target: &mut dyn Target, calls: &[Call]) -> Wire {
    target.call(MAIN, &[b"EVAL".to_vec(), calls::script(calls).into_bytes(), b"0".to_vec()])
}

fn eval(client: &mut Client, script: &str) -> String {
    let mut reply = Reply::new();
    client.call_into(["EVAL", script, "0"], &mut reply).expect("the engine is free");
    format!("{reply:?}")
}

/// A value that both JSON and MessagePack keep as it is.
fn plain_value(rng: &mut Rng, depth: usize) -> String {
    match rng.below(if depth == 0 { 4 } else { 8 }) {
        0 => ((rng.next() as i64) >> (17 + rng.below(46))).to_string(),
        1 => format!("{}", (rng.next() % 1_000_000_000) as f64 / 64.0),
        2 => (*rng.pick(&["true", "false"])).into(),
        3 => values::literal(&values::bytes(rng, 20)),
        4 | 5 => {
            let items: Vec<String> = (0..1 + rng.below(4)).map(|_| plain_value(rng, depth - 1)).collect();
            format!("{{{}}}", items.join(", "))
        }
        _ => {
            let count = rng.below(4);
            let pair = |at| {
                format!(
                    "[{}..'{at}'] = {}",
                    values::literal(&values::bytes(rng, 8)),
                    plain_value(rng, depth - 1)
                )
            };
            let pairs: Vec<String> = (0..count).map(pair).collect();
            format!("{{{}}}", pairs.join(", "))
        }
    }
}

#[test]
fn values_survive_the_way_there_and_back() {
    const SAME: &str = "local function same(a, b) if type(a) ~= 'table' or type(b) ~= 'table' then return a == b end \
        for k, v in pairs(a) do if not same(v, b[k]) then return false end end \
        for k in pairs(b) do if a[k] == nil then return false end end return true end ";
    let mut client = Engine::new().client();
    for seed in 0..300 {
        let rng = &mut Rng::new(seed);
        let (value, other) = (plain_value(rng, 4), plain_value(rng, 2));
        let script = format!(
            "{SAME} local v, w = {value}, {other} local a, b, c = cmsgpack.unpack(cmsgpack.pack(v, w, nil)) \
             local after, first = cmsgpack.unpack_one(cmsgpack.pack(v, w)) \
             local last, second = cmsgpack.unpack_one(cmsgpack.pack(v, w), after) \
             return {{same(v, cjson.decode(cjson.encode(v))), same(v, a), same(w, b), c == nil, \
             same(v, first), same(w, second), last == -1}}"
        );
        assert_eq!(eval(&mut client, &script), "[:1, :1, :1, :1, :1, :1, :1]", "seed {seed}: {value}");
    }
}

#[test]
fn integers_of_every_size_survive_struct_and_shifts_undo_each_other() {
    let mut client = Engine::new().client();
    let script = "for size = 1, 8 do for bit = 0, math.min(size * 8, 53) - 1 do for _, e in ipairs({'<', '>'}) do \
        local n, f = 2 ^ bit, e .. 'I' .. size if struct.unpack(f, struct.pack(f, n)) ~= n then return f .. ' ' .. n end \
        f = e .. 'i' .. size if bit < size * 8 - 1 and struct.unpack(f, struct.pack(f, -n)) ~= -n then return f .. ' -' .. n end \
        end end end \
        for n = 0, 31 do local x = bit.tobit(0x9e3779b9 * (n + 1)) \
        if bit.ror(bit.rol(x, n), n) ~= x or bit.bswap(bit.bswap(x)) ~= x or bit.bnot(bit.bnot(x)) ~= x \
        or bit.bxor(x, n, n) ~= x or tonumber(bit.tohex(x), 16) % 2 ^ 32 ~= x % 2 ^ 32 then return n end end return 'all'";
    assert_eq!(eval(&mut client, script), "\"all\"");
}

#[test]
fn what_the_libraries_make_is_bounded_by_the_memory_of_scripts() {
    let limits = Limits { memory: 8 << 20, ..Limits::default() };
    let mut client = Engine::builder().script_limits(limits).build().client();
    for script in [
        "local s = ('\\1'):rep(1500000) return #cjson.encode(s)",
        "local s = ('x'):rep(1000000) return #cjson.encode({s, s, s, s, s, s, s, s, s, s})",
        "local s = ('x'):rep(1000000) return #cmsgpack.pack(s, s, s, s, s, s, s, s, s, s)",
        "local s = ('x'):rep(1000000) return #struct.pack('ssssssssss', s, s, s, s, s, s, s, s, s, s)",
        "return #cjson.decode('[' .. ('[],'):rep(500000) .. '1]')",
        "return #cmsgpack.unpack('\\221\\0\\16\\0\\0' .. ('\\144'):rep(1000000))",
    ] {
        let got = eval(&mut client, script);
        assert!(got.contains("not enough memory"), "{script}: {got}");
        assert_eq!(eval(&mut client, "return cjson.encode({1})"), "\"[1]\"");
    }
}

/// As deep as Lua's stack allows, on a stack of 512 KiB.
#[test]
fn any_nesting_fits_a_small_stack() {
    let script = "local c = cjson.new() c.encode_max_depth(1e6) c.decode_max_depth(1e6) \
        local deep = ('['):rep(7990) .. (']'):rep(7990) local t = {} for i = 1, 7000 do t = {t} end \
        local keys = ('{\"a\":'):rep(3990) .. '1' .. ('}'):rep(3990) \
        return {#c.decode(deep), #c.encode(t), c.encode(c.decode(keys)) == keys, \
        #cmsgpack.unpack(('\\145'):rep(3990) .. '\\1'), #cmsgpack.pack(t)}";
    let run = move || eval(&mut Engine::new().client(), script);
    let small = std::thread::Builder::new().stack_size(512 << 10).spawn(run).expect("a thread");
    assert_eq!(small.join().expect("no overflow"), "[:1, :14002, :1, :1, :17]");
}

#[test]
fn work_in_the_libraries_counts() {
    let limits = Limits { work: 1_000_000, ..Limits::default() };
    let mut client = Engine::builder().script_limits(limits).build().client();
    for script in [
        "local t = {} for i = 1, 100 do t = {t, t} end return #cjson.encode(t)",
        "local c = cjson.new() c.encode_sparse_array(false, 0) return #c.encode({[2147483647] = 1})",
        "local t = {} for i = 1, 15 do t = {t, t, t, t, t} end return #cmsgpack.pack(t)",
        "local s = ('[1],'):rep(100000) while true do pcall(cjson.decode, s) end",
        "local s = ('\\145\\1'):rep(1000) while true do pcall(cmsgpack.unpack, s) end",
        "local f = ('b'):rep(10000) while true do struct.size(f) end",
        "local t = {} for i = 1, 5000 do t[i] = i end while true do bit.bor(unpack(t)) end",
    ] {
        let got = eval(&mut client, script);
        assert!(got.contains("used up its work budget"), "{script}: {got}");
    }
}
