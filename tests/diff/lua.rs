//! Random Lua expressions for scripts: values of all kinds through operators, the libraries, `redis.*` and the
//! conversion to a reply. No loops, and no addresses in the output, so that each has one answer.

use super::rng::Rng;

/// Makes scripts.
pub(crate) struct Lua<'a> {
    pub(crate) rng: &'a mut Rng,
}

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "-1",
    "10",
    "0.5",
    "1.5",
    "-2.25",
    "1e15",
    "1e16",
    "123456789012",
    "0.1",
    "3.7",
    "-3.7",
    "255",
    "(1/0)",
    "(0/0)",
    "2^53",
    "1e300",
    "0x10",
    "100",
    "7",
    "-0",
];
const STRINGS: &[&str] = &[
    "''",
    "'a'",
    "'hello'",
    "'10'",
    "'0x1F'",
    "' 5 '",
    "'1e2'",
    "'abc123'",
    "'a,b,c'",
    "'x\\0y'",
    "'%d'",
    "'A b'",
    "'line\\nbreak'",
    "'3.14'",
    "'-7'",
    "'\\255'",
    "'key=val'",
    "'foobar'",
];
const PATTERNS: &[&str] = &[
    "'l+'",
    "'%a+'",
    "'(%w)(%w)'",
    "'%d+'",
    "'.'",
    "'^h'",
    "'o$'",
    "'[a-c]'",
    "'[^a]'",
    "'a-'",
    "'%s*'",
    "'(%w+)=(%w+)'",
    "'()'",
    "'%b()'",
    "'%f[%w]'",
    "'['",
    "'%'",
    "'('",
    "''",
    "'x*'",
    "'.-b'",
    "'[%d.]+'",
    "'%1'",
    "'(a*(.)%w(%s*))'",
];
const FORMATS: &[&str] = &[
    "'%d'",
    "'%5d|%-5d'",
    "'%05.1f'",
    "'%s'",
    "'%10s'",
    "'%q'",
    "'%x'",
    "'%X'",
    "'%e'",
    "'%g'",
    "'%c'",
    "'%i'",
    "'%u'",
    "'%o'",
    "'%%'",
    "'%.3s'",
    "'%+d'",
    "'%#x'",
    "'%y'",
    "'%'",
    "'%s %s'",
    "'%.14g'",
    "'%5.2s|'",
    "'% d'",
];
const COMMANDS: &[&str] = &[
    "'GET','s0'",
    "'SET','s0','v'",
    "'SET','s0',7",
    "'INCR','s0'",
    "'GET','none'",
    "'HGETALL','h0'",
    "'LRANGE','l0',0,-1",
    "'HSET','h0','f',1",
    "'RPUSH','l0','a',1.5",
    "'NOSUCH'",
    "'GET'",
    "'LPUSH','s0','x'",
    "'MGET','s0','none'",
    "'PING'",
    "'ECHO',3.0",
    "'EXISTS','s0'",
    "'STRLEN','s0'",
    "'TYPE','h0'",
    "'TTL','s0'",
    "'INCRBYFLOAT','s1','0.1'",
    "'HGET','h0','f'",
    "'SMEMBERS','e0'",
    "'SADD','e0','m'",
    "'EXPIRE','s0',100",
    "'SET','s0','v','XX','GET'",
    "'MULTI'",
    "'SELECT',1",
    "'ZADD','z0',1.5,'m'",
    "'ZSCORE','z0','m'",
    "'ZRANGE','z0',0,-1,'WITHSCORES'",
];

/// Names that each script starts with.
const PREAMBLE: &str = "local function s(v) if type(v) == 'table' then return 'T' \
    elseif type(v) == 'function' then return 'F' end return tostring(v) end \
    local function p(f) local r = {pcall(f)} if r[1] then return unpack(r, 2) end return s(r[2]) end ";

impl Lua<'_> {
    /// A whole script.
    pub(crate) fn script(&mut self) -> String {
        let mut text = String::from(PREAMBLE);
        if self.rng.percent(20) {
            text.push_str("redis.setresp(3) ");
        }
        let (a, b, c) = (self.guarded(3), self.guarded(2), self.guarded(2));
        text.push_str(&format!("local a, b, c = {a}, {b}, {c} "));
        for _ in 0..self.rng.below(3) {
            let statement = self.statement();
            text.push_str(&statement);
        }
        let result = match self.rng.below(4) {
            0 => self.expression(4),
            1 => "a".into(),
            2 => self.reply_table(),
            _ => format!("{{{}, {}, {}}}", self.guarded(3), self.scalar(3), self.guarded(2)),
        };
        text.push_str("return ");
        text.push_str(&result);
        text
    }

    /// An expression whose error mostly becomes its value, so that the script goes on.
    fn guarded(&mut self, depth: usize) -> String {
        let inner = self.expression(depth);
        if self.rng.percent(75) { format!("p(function() return {inner} end)") } else { inner }
    }

    fn statement(&mut self) -> String {
        let (e, f) = (self.guarded(2), self.guarded(2));
        match self.rng.below(6) {
            0 => format!("if {e} then a = {f} end "),
            1 => format!("local t = {{{e}, {f}}} table.insert(t, {}) b = #t ", self.expression(1)),
            2 => format!("local ok, r = pcall(function() return {e} end) a = r c = ok "),
            3 => format!("if s({e}) == 'nil' then error(s({f})) end "),
            4 => format!("math.randomseed({}) c = math.random(1, 1000) ", self.number()),
            _ => format!("c = {e} "),
        }
    }

    fn number(&mut self) -> String {
        (*self.rng.pick(NUMBERS)).into()
    }

    fn expression(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.atom();
        }
        match self.rng.below(14) {
            0 | 1 => self.atom(),
            2 | 3 => self.operation(depth - 1),
            4 => self.reply_table(),
            5 => format!("{{{}, {}}}", self.expression(depth - 1), self.expression(depth - 1)),
            6 | 7 => self.string_call(depth - 1),
            8 => self.math_call(depth - 1),
            9 => self.table_call(depth - 1),
            10 => format!("redis.pcall({})", self.rng.pick(COMMANDS)),
            11 => format!("redis.call({})", self.rng.pick(COMMANDS)),
            12 => self.redis_call(depth - 1),
            _ => self.scalar(depth),
        }
    }

    fn atom(&mut self) -> String {
        match self.rng.below(10) {
            0..=2 => self.number(),
            3..=5 => (*self.rng.pick(STRINGS)).into(),
            6 => (*self.rng.pick(&["true", "false", "nil", "{}", "{1,2,3}", "{1,nil,3}"])).into(),
            7 => (*self.rng.pick(&["KEYS[1]", "ARGV[1]", "ARGV[2]", "KEYS", "ARGV", "#ARGV"])).into(),
            _ => (*self.rng.pick(&["a", "b", "c"])).into(),
        }
    }

    /// Something whose text holds no address.
    fn scalar(&mut self, depth: usize) -> String {
        let inner = self.expression(depth.saturating_sub(1));
        match self.rng.below(5) {
            0 => format!("s({inner})"),
            1 => format!("type({inner})"),
            2 => format!("tonumber(s({inner}))"),
            3 => format!(
                "tonumber({}, {})",
                self.atom(),
                self.rng.pick(&["2", "8", "10", "16", "36", "1", "37"])
            ),
            _ => format!("#{inner}"),
        }
    }

    fn operation(&mut self, depth: usize) -> String {
        let (left, right) = (self.expression(depth), self.expression(depth));
        match self.rng.below(4) {
            0 => format!("({left} {} {right})", self.rng.pick(&["+", "-", "*", "/", "%", "^"])),
            1 => format!("({left} {} {right})", self.rng.pick(&["==", "~=", "<", "<=", ">", ">="])),
            2 => format!("({left} {} {right})", self.rng.pick(&["..", "and", "or"])),
            _ => format!("({} {right})", self.rng.pick(&["not", "-", "#"])),
        }
    }

    fn string_call(&mut self, depth: usize) -> String {
        let (text, other) = (self.expression(depth), self.atom());
        let (pattern, format) = (*self.rng.pick(PATTERNS), *self.rng.pick(FORMATS));
        let (from, to) = (self.number(), self.number());
        let replacement = *self.rng.pick(&["'<%1>'", "'%0%0'", "'%2'", "{h='H'}", "string.upper", "'%'"]);
        match self.rng.below(14) {
            0 => format!("string.sub({text}, {from}, {to})"),
            1 => format!("{{string.find({text}, {pattern})}}"),
            2 => format!("{{string.find({text}, {other}, {from}, true)}}"),
            3 => format!("{{string.match({text}, {pattern}, {from})}}"),
            4 => format!("{{string.gsub({text}, {pattern}, {other})}}"),
            5 => format!("{{string.gsub({text}, {pattern}, {replacement})}}"),
            6 => format!("string.format({format}, {text})"),
            7 => format!("string.format({format}, {other}, {text})"),
            8 => format!("string.{}({text})", self.rng.pick(&["upper", "lower", "len", "reverse"])),
            9 => format!("string.rep({text}, {})", self.rng.pick(&["0", "1", "3", "-1", "'2'", "2.7"])),
            10 => format!("{{string.byte({text}, {from}, {})}}", self.rng.pick(&["1", "3", "-1", "nil"])),
            11 => format!("string.char({})", self.rng.pick(&["65", "72, 105", "256", "-1", "0", "", "'66'"])),
            12 => {
                let method = *self.rng.pick(&["find", "match", "rep", "nosuch", "upper", "gsub"]);
                format!("({text}):{method}({pattern})")
            }
            _ => format!("string.gmatch({text}, {pattern})()"),
        }
    }

    fn math_call(&mut self, depth: usize) -> String {
        let (x, y) = (self.expression(depth), self.number());
        let one = [
            "floor", "ceil", "abs", "sqrt", "exp", "log", "log10", "sin", "deg", "frexp", "modf", "tan",
            "rad",
        ];
        let two = ["fmod", "max", "min", "pow", "ldexp", "atan2"];
        if self.rng.percent(60) {
            format!("{{math.{}({x})}}", self.rng.pick(&one))
        } else {
            format!("math.{}({x}, {y})", self.rng.pick(&two))
        }
    }

    fn table_call(&mut self, depth: usize) -> String {
        let (x, y) = (self.expression(depth), self.atom());
        match self.rng.below(9) {
            0 => format!("table.concat({{{x}, {y}}}, ',')"),
            1 => format!("table.concat({{1, 2, 'x'}}, {y}, {})", self.number()),
            2 => format!("{{unpack({{{x}, {y}, 3}})}}"),
            3 => {
                format!("{{select({}, {x}, {y})}}", self.rng.pick(&["1", "2", "'#'", "-1", "0", "5", "'x'"]))
            }
            4 => format!("table.getn({{{x}, {y}}})"),
            5 => format!("{{next({{{y}}})}}"),
            6 => format!("rawequal({x}, {y})"),
            7 => format!("table.remove({{{x}, {y}}}, {})", self.rng.pick(&["1", "2", "nil", "5"])),
            _ => format!("table.maxn({{{x}, {y}}})"),
        }
    }

    fn redis_call(&mut self, depth: usize) -> String {
        let x = self.expression(depth);
        match self.rng.below(5) {
            0 => format!("redis.sha1hex({x})"),
            1 => format!("redis.error_reply({x})"),
            2 => format!("redis.status_reply({x})"),
            3 => format!("redis.call('ECHO', {x})"),
            _ => format!("{{pcall(redis.call, 'ECHO', {x})}}"),
        }
    }

    fn reply_table(&mut self) -> String {
        let (x, y) = (self.atom(), self.atom());
        match self.rng.below(9) {
            0 => format!("{{ok={x}}}"),
            1 => format!("{{err={x}}}"),
            2 => format!("{{double={}}}", self.number()),
            3 => format!("{{map={{k={x}}}}}"),
            4 => format!("{{set={{k={x}}}}}"),
            5 => format!("{{big_number={x}}}"),
            6 => format!("{{verbatim_string={{format={x}, string={y}}}}}"),
            7 => format!("{{{x}, {y}, k=1}}"),
            _ => format!("{{map={{[1]={x}}}}}"),
        }
    }
}
