//! What stands inside literals: patterns, replacements, formats with their arguments, JSON, names of chunks and the
//! words of commands. As much of it is wrong as programs get wrong.

use super::maker::Maker;
use crate::support::moonkeep::Moonkeep;
use crate::support::not_yet::is_unknown;
use crate::support::target::{MAIN, Target, argv};
use std::sync::OnceLock;

const CLASSES: &[&str] = &[
    "%a", "%d", "%s", "%w", "%p", "%l", "%u", "%x", "%c", "%z", "%A", "%D", "%S", "%W", ".", "a", "b", "l",
    "o", ",", "=", "%.", "%%", "%-", "[abc]", "[^abc]", "[a-f]", "[%w_]", "[%a%d]", "[]]", "[^]]", "[a-]",
    "[%]]", "[0-9.]", "x", "%(", "%)",
];
const BROKEN: &[&str] = &[
    "[", "%", "(", ")", "[a", "%b", "%bx", "%f", "%f[", "%1", "%9", "(()", "[%", "[^", "^^", "$$", "(a", "a)",
];
const DIRECTIVES: &[(&str, &str)] = &[
    ("%d", "N"),
    ("%i", "N"),
    ("%5d", "N"),
    ("%-5d", "N"),
    ("%05d", "N"),
    ("%+d", "N"),
    ("% d", "N"),
    ("%.3d", "N"),
    ("%u", "N"),
    ("%c", "I"),
    ("%x", "N"),
    ("%X", "N"),
    ("%#x", "N"),
    ("%o", "N"),
    ("%e", "N"),
    ("%E", "N"),
    ("%f", "N"),
    ("%g", "N"),
    ("%G", "N"),
    ("%.0f", "N"),
    ("%.3f", "N"),
    ("%10.2f", "N"),
    ("%-10.2f", "N"),
    ("%.14g", "N"),
    ("%.17g", "N"),
    ("%.99f", "I"),
    ("%s", "T"),
    ("%10s", "T"),
    ("%-10s", "T"),
    ("%.2s", "T"),
    ("%5.1s", "T"),
    ("%q", "T"),
    ("%%", ""),
    ("%s", "A"),
    ("%d", "A"),
    ("%q", "A"),
    ("%99d", "I"),
    ("%20s", "T"),
    ("%.20s", "T"),
];
const BROKEN_DIRECTIVES: &[&str] =
    &["%", "%y", "%100d", "%.100d", "%a", "%n", "%L", "%-+ #0d", "%------d", "%p", "%5", "%.", "%*d", "%1$d"];
const CHUNK_NAMES: &[&str] = &[
    "'@file.lua'",
    "'=name'",
    "'return 1'",
    "'=(load)'",
    "'two\\nlines'",
    "'@'",
    "'='",
    "''",
    "string.rep('x',70)",
    "'@'..string.rep('y',70)",
    "'='..string.rep('z',70)",
    "{A}",
    "'a\\0b'",
];
const SOURCES: &[&str] = &[
    "'return 1,...'",
    "'return ...'",
    "'x='",
    "'return nil+1'",
    "'error(\"inner\")'",
    "''",
    "'return nosuch'",
    "'\\27Lua'",
    "'for'",
    "'return function(a) return a end'",
    "'local a,b=... return b,a'",
    "'return KEYS'",
    "'error({err=\"X y\"})'",
    "'return 1 .. {}'",
    "'\\n\\n return x.y.z'",
    "'goto a'",
    "'return \"unfinished'",
    "'--[[ open'",
    "'return [[open'",
    "'x y'",
    "'return 0x'",
    "'return 1e'",
    "'a=b=c'",
    "'f(\\n)'",
    "'return \"\\\\400\"'",
    "'break'",
    "'return\\t#\"x\\0y\"'",
    "'local a <const> = 1'",
    "'return 1;;'",
    "'if x then'",
    "'x=1'",
    "'#!comment\\nreturn 7'",
];
const JSON: &[&str] = &[
    "'[1,2,3]'",
    "'{\"a\":1}'",
    "'null'",
    "'[null,true,false]'",
    "'\"text\"'",
    "'1.5e3'",
    "'[1,'",
    "'{\"a\"}'",
    "'[]'",
    "'{}'",
    "'nul'",
    "'\"\\\\u00e9\\\\n\"'",
    "' 12 '",
    "'[[[[]]]]'",
    "'{\"x\":{\"y\":[0]}}'",
    "'-0'",
    "'1 2'",
    "'\"\\\\x\"'",
    "''",
];
/// Commands that have one answer: no time, no chance, no order of a hash table.
const COMMANDS: &[(&str, &str)] = &[
    ("GET", "'GET',{k}"),
    ("SET", "'SET',{k},Z({T})"),
    ("SET", "'SET',{k},{N}"),
    ("SET", "'SET','s',Z({T}),'XX','GET'"),
    ("SET", "'SET','no',1,'NX','EX',100"),
    ("SETEX", "'SETEX','s',{I},'v'"),
    ("SETNX", "'SETNX',{k},'v'"),
    ("GETSET", "'GETSET',{k},'w'"),
    ("GETDEL", "'GETDEL',{k}"),
    ("GETEX", "'GETEX',{k},'PERSIST'"),
    ("APPEND", "'APPEND',{k},Z({T})"),
    ("STRLEN", "'STRLEN',{k}"),
    ("INCR", "'INCR',{k}"),
    ("INCRBY", "'INCRBY',{k},{N}"),
    ("DECRBY", "'DECRBY',{k},{I}"),
    ("INCRBYFLOAT", "'INCRBYFLOAT',{k},{N}"),
    ("MGET", "'MGET',{k},{k}"),
    ("MSET", "'MSET','s',1,'n',{N}"),
    ("GETRANGE", "'GETRANGE',{k},{I},{I}"),
    ("SETRANGE", "'SETRANGE',{k},{I},'z'"),
    ("SETBIT", "'SETBIT',{k},{I},1"),
    ("GETBIT", "'GETBIT',{k},{I}"),
    ("BITCOUNT", "'BITCOUNT',{k}"),
    ("LCS", "'LCS','s','n','LEN'"),
    ("LCS", "'LCS','s','s','IDX'"),
    ("LPUSH", "'LPUSH',{k},Z({T}),{N}"),
    ("RPUSH", "'RPUSH',{k},{N},'a'"),
    ("LPOP", "'LPOP',{k}"),
    ("RPOP", "'RPOP',{k},{I}"),
    ("LRANGE", "'LRANGE',{k},{I},{I}"),
    ("LLEN", "'LLEN',{k}"),
    ("LINDEX", "'LINDEX',{k},{I}"),
    ("LSET", "'LSET',{k},{I},Z({T})"),
    ("LREM", "'LREM',{k},{I},'a'"),
    ("LINSERT", "'LINSERT',{k},'BEFORE','b','x'"),
    ("LPOS", "'LPOS',{k},'b'"),
    ("LMOVE", "'LMOVE','l','l','LEFT','RIGHT'"),
    ("LMPOP", "'LMPOP',1,'l','LEFT'"),
    ("LTRIM", "'LTRIM',{k},{I},{I}"),
    ("HSET", "'HSET',{k},'f',{t}"),
    ("HGET", "'HGET',{k},'f1'"),
    ("HGETALL", "'HGETALL',{k}"),
    ("HDEL", "'HDEL',{k},'f1'"),
    ("HMGET", "'HMGET',{k},'f1','nof'"),
    ("HINCRBY", "'HINCRBY',{k},'f2',{N}"),
    ("HKEYS", "'HKEYS',{k}"),
    ("HVALS", "'HVALS',{k}"),
    ("HEXISTS", "'HEXISTS',{k},'f1'"),
    ("HLEN", "'HLEN',{k}"),
    ("HSTRLEN", "'HSTRLEN',{k},'f1'"),
    ("HINCRBYFLOAT", "'HINCRBYFLOAT',{k},'f2',1.5"),
    ("SADD", "'SADD','e',5"),
    ("SREM", "'SREM',{k},1"),
    ("SCARD", "'SCARD',{k}"),
    ("SMEMBERS", "'SMEMBERS','e'"),
    ("SISMEMBER", "'SISMEMBER',{k},2"),
    ("SMISMEMBER", "'SMISMEMBER',{k},1,9"),
    ("SINTER", "'SINTER','e','e'"),
    ("SINTERCARD", "'SINTERCARD',1,'e'"),
    ("ZADD", "'ZADD',{k},{N},'m'"),
    ("ZADD", "'ZADD','z','INCR',{N},'m'"),
    ("ZSCORE", "'ZSCORE',{k},'m1'"),
    ("ZRANGE", "'ZRANGE',{k},0,-1,'WITHSCORES'"),
    ("ZRANGE", "'ZRANGE','z',{I},{I}"),
    ("ZRANK", "'ZRANK',{k},'m2'"),
    ("ZREM", "'ZREM',{k},'m1'"),
    ("ZINCRBY", "'ZINCRBY',{k},{N},'m1'"),
    ("ZCARD", "'ZCARD',{k}"),
    ("ZMSCORE", "'ZMSCORE','z','m1','q'"),
    ("ZPOPMIN", "'ZPOPMIN',{k}"),
    ("ZCOUNT", "'ZCOUNT',{k},{N},{N}"),
    ("ZRANGEBYSCORE", "'ZRANGEBYSCORE','z','-inf','(2'"),
    ("XADD", "'XADD',{k},'5-1','f','v'"),
    ("XRANGE", "'XRANGE',{k},'-','+'"),
    ("XLEN", "'XLEN',{k}"),
    ("XREAD", "'XREAD','STREAMS','x','0'"),
    ("XREAD", "'XREAD','BLOCK',0,'STREAMS','x','$'"),
    ("DEL", "'DEL',{k}"),
    ("EXISTS", "'EXISTS',{k},{k}"),
    ("TYPE", "'TYPE',{k}"),
    ("EXPIRE", "'EXPIRE',{k},{I}"),
    ("TTL", "'TTL',{k}"),
    ("PTTL", "'PTTL',{k}"),
    ("PERSIST", "'PERSIST',{k}"),
    ("RENAME", "'RENAME',{k},'r'"),
    ("COPY", "'COPY',{k},'c'"),
    ("OBJECT", "'OBJECT','ENCODING',{k}"),
    ("PEXPIREAT", "'PEXPIREAT',{k},1700000000500"),
    ("PING", "'PING'"),
    ("PING", "'PING',Z({T})"),
    ("ECHO", "'ECHO',Z({T})"),
    ("ECHO", "'ECHO',{A}"),
    ("SELECT", "'SELECT',{I}"),
    ("DBSIZE", "'DBSIZE'"),
    ("PUBLISH", "'PUBLISH','c','m'"),
    ("TOUCH", "'TOUCH',{k}"),
    ("SORT", "'SORT','l','ALPHA'"),
    ("not allowed", "'MULTI'"),
    ("not allowed", "'EXEC'"),
    ("not allowed", "'WATCH','s'"),
    ("not allowed", "'EVAL','return 1',0"),
    ("not allowed", "'SUBSCRIBE','c'"),
    ("not allowed", "'BLPOP','l',0"),
    ("not allowed", "'BLPOP','no',0"),
    ("not allowed", "'SCRIPT','FLUSH'"),
    ("not allowed", "'CLIENT','ID'"),
    ("not allowed", "'HELLO',3"),
    ("not allowed", "'AUTH','x'"),
    ("not allowed", "'BRPOPLPUSH','no','l',0"),
    ("not allowed", "'WAIT',0,0"),
    ("not allowed", "'FUNCTION','LIST'"),
    ("not allowed", "'CONFIG','SET','maxmemory','0'"),
    ("not allowed", "'SHUTDOWN'"),
    ("not allowed", "'RESET'"),
    ("unknown", "'NOSUCH',Z({T})"),
    ("unknown", "'OBJECT','nosuch'"),
    ("unknown", "Z({T}),Z({T})"),
    ("unknown", "''"),
    ("arity", "'GET'"),
    ("arity", "'GET',1,2"),
    ("arity", "'SET','s'"),
    ("arity", "'OBJECT'"),
    ("arity", "'HSET','h','f'"),
    ("argument", "'GET',{A}"),
    ("argument", "{A},'s'"),
    ("argument", "'SET','s',{A}"),
    ("lower case", "'get',{k}"),
    ("lower case", "'sEt',{k},'q'"),
];

impl Maker<'_> {
    /// A pattern between quotes.
    pub(crate) fn pattern(&mut self) -> String {
        if self.rng.percent(10) {
            return self.text_literal().into();
        }
        let mut pattern = String::from(if self.rng.percent(15) { "^" } else { "" });
        let mut open = 0;
        for _ in 0..=self.rng.below(4) {
            match self.rng.below(16) {
                0 | 1 => {
                    pattern.push('(');
                    open += 1;
                }
                2 if open > 0 => {
                    pattern.push(')');
                    open -= 1;
                }
                3 => pattern.push_str("()"),
                4 => pattern.push_str("%b()"),
                5 => pattern.push_str("%f[%w]"),
                6 if self.rng.percent(40) => pattern.push_str(self.word(BROKEN)),
                _ => {
                    pattern.push_str(self.word(CLASSES));
                    pattern.push_str(self.word(&["", "", "", "*", "+", "-", "?"]));
                }
            }
        }
        pattern.push_str(&")".repeat(if self.rng.percent(97) { open } else { 0 }));
        pattern.push_str(self.word(&["", "", "", "", "$", "%1"]));
        self.tag("pattern");
        format!("'{pattern}'")
    }

    /// What takes the place of a match.
    pub(crate) fn replacement(&mut self, depth: usize) -> String {
        match self.rng.below(12) {
            0..=3 => (*self
                .rng
                .pick(&["'<%0>'", "'%1'", "'%2%1'", "''", "'x'", "'%%'", "'%'", "'%9'", "'%a'", "'%1%1'"]))
            .into(),
            4 | 5 => "{a='A',hello=1,l=true,['1']=false,x=print_me}".replace("print_me", "'Y'"),
            6..=8 => {
                let body = self.fill("function{f}", depth);
                self.tag("gsub function");
                body
            }
            9 => "string.upper".into(),
            10 => "function(a,b) return b or a..'!' end".into(),
            _ => self.fill("{A}", depth),
        }
    }

    /// A format and what it formats.
    pub(crate) fn format_call(&mut self, depth: usize) -> String {
        let (mut format, mut arguments) = (String::from("'"), String::new());
        for _ in 0..=self.rng.below(3) {
            if self.rng.percent(8) {
                format.push_str(self.word(BROKEN_DIRECTIVES));
                continue;
            }
            let (directive, kind) = *self.rng.pick(DIRECTIVES);
            format.push_str(directive);
            format.push_str(self.word(&["", " ", "|", "\\0"]));
            self.tag("directive");
            if !kind.is_empty() && self.rng.percent(97) {
                arguments.push(',');
                arguments.push_str(&self.fill(&format!("{{{kind}}}"), depth));
            }
        }
        format!("{format}'{arguments}")
    }

    /// The words of a command, as arguments.
    pub(crate) fn command(&mut self, depth: usize) -> String {
        let (name, template) = *self.rng.pick(commands());
        self.tag(name);
        self.fill(template, depth)
    }

    pub(crate) fn key(&mut self) -> String {
        (*self.rng.pick(&[
            "'s'", "'n'", "'l'", "'h'", "'e'", "'z'", "'x'", "'no'", "'s'", "'n'", "KEYS[1]", "KEYS[2]",
        ]))
        .into()
    }

    pub(crate) fn source(&mut self) -> String {
        (*self.rng.pick(SOURCES)).into()
    }

    pub(crate) fn chunk_name(&mut self, depth: usize) -> String {
        let name = *self.rng.pick(CHUNK_NAMES);
        self.fill(name, depth)
    }

    pub(crate) fn json(&mut self) -> String {
        (*self.rng.pick(JSON)).into()
    }
}

/// The commands that moonkeep has.
pub(crate) fn commands() -> &'static [(&'static str, &'static str)] {
    static KNOWN: OnceLock<Vec<(&'static str, &'static str)>> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let mut moonkeep = Moonkeep::default();
        let mut knows = |template: &str| {
            let name = template.split('\'').nth(1).unwrap_or_default();
            let unknown = is_unknown(&moonkeep.call(MAIN, &argv(&[name])).to_string());
            !template.starts_with('\'') || !unknown
        };
        COMMANDS.iter().filter(|(tag, template)| *tag == "unknown" || knows(template)).copied().collect()
    })
}
