//! Random calls of the libraries' functions, and the script that makes several and shows what came of each.

use super::data;
use super::values::{bytes, literal, number, text, value};
use crate::diff::rng::Rng;

/// One call: the function's name for the figures, and an expression.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) function: &'static str,
    pub(crate) expression: String,
}

/// What each script starts with: `show` tells all of a value, in the order in which `pairs` finds it unless that depends
/// on addresses; `try` calls.
const PREAMBLE: &str = "local cj, co, print1 = cjson.new(), coroutine.create(function() end), function() end \
    local function show(v, d) local t = type(v) if t == 'string' then return v end \
    if t == 'number' then return string.format('%.17g', v) end \
    if t == 'function' or t == 'thread' then return t end \
    if t ~= 'table' then return tostring(v) end if d > 5 then return '..' end local r, sort = {}, false \
    for k, x in pairs(v) do if #r > 300 then break end sort = sort or type(k) == 'table' \
    r[#r + 1] = show(k, d + 1) .. '=' .. show(x, d + 1) end if sort then table.sort(r) end \
    return '{' .. table.concat(r, ',') .. '}' .. #v end \
    local function all(ok, ...) local n, r = select('#', ...), {} \
    for i = 1, math.min(n, 40) do r[i] = show((select(i, ...)), 0) end \
    return (ok and 'V' or 'E') .. n .. ':' .. table.concat(r, '|') end \
    local function try(f, ...) return all(pcall(f, ...)) end \
    local function nest(n, v) for i = 1, n do v = {v} end return v end \
    local function nestmap(n, v) for i = 1, n do v = {k = v} end return v end \
    local function fill(n, v) local t = {} for i = 1, n do t[i] = v end return t end ";

/// A script that returns what came of each call.
pub(crate) fn script(calls: &[Call]) -> String {
    let expressions: Vec<&str> = calls.iter().map(|call| call.expression.as_str()).collect();
    format!("{PREAMBLE}return {{{}}}", expressions.join(", "))
}

pub(crate) fn program(rng: &mut Rng) -> Vec<Call> {
    (0..2 + rng.below(5)).map(|_| call(rng)).collect()
}

fn call(rng: &mut Rng) -> Call {
    match rng.below(20) {
        0..=3 => bit(rng),
        4..=8 => structure(rng),
        9..=14 => cjson(rng),
        _ => cmsgpack(rng),
    }
}

/// The call with these arguments, either direct or through `pcall` alone: that shows in the error's text.
fn guarded(rng: &mut Rng, function: &'static str, arguments: &str) -> Call {
    let path = if function.starts_with("cjson.") && rng.percent(70) {
        function.replacen("cjson.", "cj.", 1)
    } else {
        function.to_string()
    };
    // Changed settings of the library itself would reach the server's next script.
    let changes = function.starts_with("cjson.encode_") || function.starts_with("cjson.decode_");
    let path = if changes { function.replacen("cjson.", "cj.", 1) } else { path };
    let expression = match rng.below(3) {
        0 => format!("try(function() return {path}({arguments}) end)"),
        1 => format!("try(function() local r = {{{path}({arguments})}} return unpack(r) end)"),
        _ if arguments.is_empty() => format!("try({path})"),
        _ => format!("try({path}, {arguments})"),
    };
    Call { function, expression }
}

fn arguments(rng: &mut Rng, most: usize, one: fn(&mut Rng) -> String) -> String {
    let list: Vec<String> = (0..rng.below(most + 1)).map(|_| one(rng)).collect();
    list.join(", ")
}

fn mostly_number(rng: &mut Rng) -> String {
    if rng.percent(92) { number(rng) } else { value(rng, 1) }
}

fn bit(rng: &mut Rng) -> Call {
    let one = ["bit.tobit", "bit.bnot", "bit.bswap", "bit.tohex", "bit.band", "bit.bor", "bit.bxor"];
    let two = ["bit.lshift", "bit.rshift", "bit.arshift", "bit.rol", "bit.ror", "bit.tohex"];
    if rng.percent(50) {
        let arguments = arguments(rng, 4, mostly_number);
        let function = *rng.pick(&one);
        return guarded(rng, function, &arguments);
    }
    let arguments = format!("{}, {}", mostly_number(rng), mostly_number(rng));
    let function = *rng.pick(&two);
    guarded(rng, function, &arguments)
}

fn structure(rng: &mut Rng) -> Call {
    let format = data::format(rng);
    let quoted = literal(&format.chars().map(|c| c as u32 as u8).collect::<Vec<u8>>());
    match rng.below(5) {
        0 => guarded(rng, "struct.size", &quoted),
        1 | 2 => {
            let values = pack_arguments(rng, &format);
            guarded(rng, "struct.pack", &format!("{quoted}{values}"))
        }
        3 => {
            let place = match rng.below(4) {
                0 => format!(
                    ", {}",
                    rng.pick(&["1", "2", "3", "9", "0", "-1", "-8", "2^53", "1.9", "'2'", "{}", "nil"])
                ),
                _ => String::new(),
            };
            let input = literal(&bytes(rng, 40));
            guarded(rng, "struct.unpack", &format!("{quoted}, {input}{place}"))
        }
        _ => {
            let values = pack_arguments(rng, &format);
            guarded(rng, "struct.unpack", &format!("{quoted}, struct.pack({quoted}{values})"))
        }
    }
}

/// What each option of a format takes, mostly.
fn pack_arguments(rng: &mut Rng, format: &str) -> String {
    let mut list = String::new();
    for option in format.chars() {
        let argument = match option {
            'b' | 'B' | 'h' | 'H' | 'l' | 'L' | 'T' | 'i' | 'I' | 'f' | 'd' => number(rng),
            's' | 'c' => text(rng),
            _ => continue,
        };
        if rng.percent(97) {
            let argument = if rng.percent(97) { argument } else { value(rng, 1) };
            list.push_str(&format!(", {argument}"));
        }
    }
    list
}

fn cjson(rng: &mut Rng) -> Call {
    match rng.below(12) {
        0..=3 => {
            let arguments = value(rng, 3);
            guarded(rng, "cjson.encode", &arguments)
        }
        4..=7 => {
            let input = literal(&data::json(rng));
            guarded(rng, "cjson.decode", &input)
        }
        8 => {
            let value = value(rng, 3);
            guarded(rng, "cjson.decode", &format!("cj.encode({value})"))
        }
        9 => {
            let arguments = arguments(rng, 2, |rng| value(rng, 1));
            let function = *rng.pick(&["cjson.encode", "cjson.decode", "cjson.new"]);
            guarded(rng, function, &arguments)
        }
        _ => cjson_setting(rng),
    }
}

fn cjson_setting(rng: &mut Rng) -> Call {
    let switch = |rng: &mut Rng| {
        (*rng.pick(&["true", "false", "'on'", "'off'", "'null'", "nil", "1", "'x'", "{}"])).to_string()
    };
    let count = |rng: &mut Rng| {
        let usual = ["1", "2", "3", "5", "10", "14", "20", "1000", "1e5", "nil"];
        let odd = ["0", "-1", "15", "2^31-1", "2^31", "2^32+1", "1.9", "'7'", "'x'", "{}", "2^30"];
        let pool: &[&str] = if rng.percent(70) { &usual } else { &odd };
        (*rng.pick(pool)).to_string()
    };
    let (function, arguments) = match rng.below(7) {
        0 => {
            let all = [switch(rng), count(rng), count(rng), count(rng)];
            let given = rng.below(5);
            ("cjson.encode_sparse_array", all[..given].join(", "))
        }
        1 => ("cjson.encode_max_depth", count(rng)),
        2 => ("cjson.decode_max_depth", count(rng)),
        3 => ("cjson.encode_number_precision", count(rng)),
        4 => ("cjson.encode_keep_buffer", switch(rng)),
        5 => ("cjson.encode_invalid_numbers", switch(rng)),
        _ => ("cjson.decode_invalid_numbers", switch(rng)),
    };
    let arguments = match rng.below(12) {
        0 => String::new(),
        1 => format!("{arguments}, 1"),
        _ => arguments,
    };
    guarded(rng, function, arguments.trim_start_matches(", "))
}

/// A value of which thousands fit into memory.
fn small(rng: &mut Rng) -> String {
    let nested = *rng.pick(&["{}", "{{}}", "{{{{}}}}", "{a={b={}}}", "nest(16, 1)", "nestmap(17, 1)"]);
    if rng.percent(50) { nested.into() } else { number(rng) }
}

fn cmsgpack(rng: &mut Rng) -> Call {
    let offset = |rng: &mut Rng| {
        (*rng.pick(&["0", "1", "2", "3", "5", "100", "-1", "2^40", "1.9", "'1'", "nil", "{}"])).to_string()
    };
    match rng.below(24) {
        0..=6 => {
            let arguments = arguments(rng, 3, |rng| value(rng, 3));
            guarded(rng, "cmsgpack.pack", &arguments)
        }
        7 => {
            let count = *rng.pick(&["100", "3990", "3999", "4000", "4001", "7900"]);
            let filler = small(rng);
            guarded(rng, "cmsgpack.pack", &format!("{filler}, unpack(fill({count}, {filler}))"))
        }
        8..=10 => {
            let arguments = arguments(rng, 3, |rng| value(rng, 3));
            guarded(rng, "cmsgpack.unpack", &format!("cmsgpack.pack({arguments})"))
        }
        11..=13 => {
            let input = literal(&data::message_pack(rng));
            let arguments = format!("{input}, {}", offset(rng));
            guarded(rng, "cmsgpack.unpack_one", &arguments)
        }
        14..=17 => {
            let input = literal(&data::message_pack(rng));
            let arguments = format!("{input}, {}, {}", offset(rng), offset(rng));
            guarded(rng, "cmsgpack.unpack_limit", &arguments)
        }
        18..=19 => {
            let arguments = arguments(rng, 3, |rng| value(rng, 1));
            let function = *rng.pick(&["cmsgpack.unpack", "cmsgpack.unpack_one", "cmsgpack.unpack_limit"]);
            guarded(rng, function, &arguments)
        }
        _ => {
            let input = literal(&data::message_pack(rng));
            guarded(rng, "cmsgpack.unpack", &input)
        }
    }
}
