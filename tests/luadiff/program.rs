//! One program: how it is put together, how it is sent, and what of it may be dropped when it is made small.

use super::grammar::PREAMBLE;
use super::maker::Maker;
use crate::diff::rng::Rng;

/// Fills the keyspace before each program that calls commands, and puts back what scripts of a server share.
pub(crate) const SET_UP: &str = "local c=redis.call c('FLUSHALL') c('SET','s','hello') c('SET','n','10') \
c('RPUSH','l','a','b','c') c('HSET','h','f1','v1','f2','2') c('SADD','e','1','2','3') \
c('ZADD','z','1','m1','2','m2','2.5','m3') c('XADD','x','1-1','f','v') return 1";
/// What the databases hold, as one reply.
pub(crate) const STATE: &str = "local c,out=redis.call,{} for db=0,5 do c('SELECT',db) local ks=c('KEYS','*') \
table.sort(ks) for i=1,#ks do local k=ks[i] local t=c('TYPE',k).ok local v if t=='string' then v=c('GET',k) \
elseif t=='list' then v=c('LRANGE',k,0,-1) elseif t=='set' then v=c('SMEMBERS',k) table.sort(v) elseif t=='zset' then \
v=c('ZRANGE',k,0,-1,'WITHSCORES') elseif t=='hash' then v=c('HGETALL',k) else v=c('XRANGE',k,'-','+') end \
out[#out+1]={db,k,t,c('OBJECT','ENCODING',k),c('PEXPIRETIME',k),v} end end return out";

/// What stands before a program that becomes a function.
const LIBRARY: &[u8] =
    b"#!lua name=lib\nredis.register_function{function_name='f',callback=function(KEYS,ARGV,...) ";

/// How a program goes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Eval,
    ReadOnly,
    /// Only compiled.
    Load,
    /// Loaded, asked for, called by its name twice.
    Known,
    Exec,
    /// As the only function of a library.
    Function,
}

#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) form: Form,
    /// What stays when the program is made small.
    pub(crate) head: String,
    pub(crate) lines: Vec<String>,
    pub(crate) tail: String,
    /// The rules by which it was made.
    pub(crate) tags: Vec<&'static str>,
}

impl Program {
    /// A program made from random choices.
    pub(crate) fn make(mut rng: Rng) -> Program {
        let kind = rng.below(100);
        let mut maker = Maker::new(&mut rng);
        let mut program = match kind {
            0..=69 => checks(&mut maker),
            70..=87 => raw(&mut maker),
            _ => broken(&mut maker),
        };
        program.tags = std::mem::take(&mut maker.tags);
        program.tags.push(match program.form {
            Form::Eval => "EVAL",
            Form::ReadOnly => "EVAL_RO",
            Form::Load => "SCRIPT LOAD",
            Form::Known => "EVALSHA",
            Form::Exec => "EVAL in EXEC",
            Form::Function => "FCALL",
        });
        program
    }

    pub(crate) fn text(&self) -> String {
        let mut text = self.head.clone();
        for line in &self.lines {
            text.push_str(line);
            text.push('\n');
        }
        text + &self.tail
    }

    /// Whether it may call commands.
    pub(crate) fn calls_commands(&self) -> bool {
        self.text().contains("redis.")
    }

    /// The commands that run it.
    pub(crate) fn calls(&self) -> Vec<Vec<Vec<u8>>> {
        let text = self.text().into_bytes();
        let words = |first: &[&[u8]]| {
            let rest: [&[u8]; 6] = [b"2", b"s", b"l", b"10", b"\x00\xff\r\n", b"arg"];
            first.iter().chain(&rest).map(|word| word.to_vec()).collect::<Vec<_>>()
        };
        let load = vec![b"SCRIPT".to_vec(), b"LOAD".to_vec(), text.clone()];
        match self.form {
            Form::Eval => vec![words(&[b"EVAL", &text])],
            Form::ReadOnly => vec![words(&[b"EVAL_RO", &text])],
            Form::Load => vec![load],
            Form::Known => {
                let sha = sha1_hex(&text);
                let exists = vec![b"SCRIPT".to_vec(), b"EXISTS".to_vec(), sha.clone(), b"no".to_vec()];
                let evalsha = words(&[b"EVALSHA", &sha]);
                vec![exists.clone(), evalsha.clone(), load, exists, evalsha, words(&[b"EVALSHA_RO", &sha])]
            }
            Form::Function => {
                let library = [LIBRARY, &text, b"\nend}"].concat();
                let load = [&b"FUNCTION"[..], b"LOAD", b"REPLACE", &library].map(<[u8]>::to_vec);
                vec![load.into(), words(&[b"FCALL", b"f"]), words(&[b"FCALL_RO", b"f"])]
            }
            Form::Exec => {
                vec![vec![b"MULTI".to_vec()], words(&[b"EVAL", &text]), vec![b"EXEC".to_vec()]]
            }
        }
    }
}

fn sha1_hex(text: &[u8]) -> Vec<u8> {
    use sha1::{Digest, Sha1};
    Sha1::digest(text).iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect()
}

/// Programs that use chance begin with a seed: it lasts longer on the server.
fn seed(maker: &mut Maker<'_>, text: &[&str]) -> String {
    let random = text.iter().any(|text| text.contains("math.random"));
    if random { format!("math.randomseed({}) ", maker.rng.below(100_000)) } else { String::new() }
}

fn shebang(maker: &mut Maker<'_>) -> &'static str {
    if maker.rng.percent(88) {
        return "";
    }
    maker.tag("shebang");
    maker.word(&[
        "#!lua\n",
        "#!lua flags=no-writes\n",
        "#!lua flags=allow-oom\n",
        "#!lua flags=no-writes,allow-stale\n",
        "#!lua flags=allow-cross-slot-keys\n",
        "#!lua flags=no-cluster\n",
        "#!lua flags=\n",
        "#!lua flags=nosuch\n",
        "#!js\n",
        "#!lua name=x\n",
        "#!lua",
        "#!lua \"flags=no-writes\"\n",
        "#!lua flags=no-writes flags=allow-oom\n",
    ])
}

fn form(maker: &mut Maker<'_>) -> Form {
    match maker.rng.below(100) {
        0..=84 => Form::Eval,
        85..=91 => Form::ReadOnly,
        92..=94 => Form::Known,
        95 | 96 => Form::Exec,
        _ => Form::Function,
    }
}

/// A dozen expressions, each protected; the reply shows what each gave.
fn checks(maker: &mut Maker<'_>) -> Program {
    let declarations = maker.declarations();
    let mut lines = Vec::new();
    for _ in 0..5 + maker.rng.below(10) {
        let depth = 1 + maker.rng.below(3);
        let line = if maker.rng.percent(3) { maker.statement(2) } else { maker.line(depth) };
        lines.push(line);
    }
    let setresp = if maker.rng.percent(10) { "redis.setresp(3) " } else { "" };
    let form = form(maker);
    let shebang = if form == Form::Function { "" } else { shebang(maker) };
    let all: Vec<&str> = lines.iter().map(String::as_str).chain([declarations.as_str()]).collect();
    let head = format!("{shebang}{PREAMBLE} {setresp}{}\n{declarations}\n", seed(maker, &all));
    Program { form, head, lines, tail: "return O".into(), tags: Vec::new() }
}

/// Statements whose errors end the program, and a value of any kind as its reply.
fn raw(maker: &mut Maker<'_>) -> Program {
    let declarations = maker.declarations();
    let count = maker.rng.below(4);
    let lines: Vec<String> = (0..count).map(|_| maker.statement(2)).collect();
    let result = match maker.rng.below(5) {
        0 => maker.fill("return {X}", 2),
        1 => maker.fill("return {L}", 2),
        2 => maker.fill("return { {A},{L},{N},{B},{T} }", 2),
        3 => maker.fill("return redis.call({C})", 2),
        _ => maker.fill("return {A}", 3),
    };
    let setresp = if maker.rng.percent(20) { "redis.setresp(3) " } else { "" };
    let form = form(maker);
    let shebang = if form == Form::Function { "" } else { shebang(maker) };
    let all: Vec<&str> = lines.iter().map(String::as_str).chain([declarations.as_str(), &result]).collect();
    let head = format!("{shebang}{PREAMBLE} {setresp}{}\n{declarations}\n", seed(maker, &all));
    maker.tag("reply");
    Program { form, head, lines, tail: result, tags: Vec::new() }
}

/// Statements with a few tokens changed, to be compiled only.
fn broken(maker: &mut Maker<'_>) -> Program {
    let count = 1 + maker.rng.below(4);
    let mut lines: Vec<String> = (0..count).map(|_| maker.statement(2)).collect();
    for _ in 0..=maker.rng.below(3) {
        let at = maker.rng.below(lines.len());
        lines[at] = damage(maker.rng, &lines[at]);
    }
    maker.tags.clear();
    maker.tag("damaged");
    Program { form: Form::Load, head: String::new(), lines, tail: String::new(), tags: Vec::new() }
}

const STRAY: &[&str] = &[
    "end",
    "then",
    "do",
    "=",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "..",
    "...",
    "local",
    "function",
    "return",
    "break",
    "until",
    "in",
    "if",
    "else",
    "elseif",
    "for",
    "nil",
    "and",
    "not",
    "~",
    "@",
    "$",
    "!",
    "?",
    "\"",
    "'",
    "[[",
    "]]",
    "[=[",
    "--[[",
    "--",
    "#",
    ";",
    ",",
    ":",
    ".",
    "==",
    "~=",
    "1x",
    "0x",
    "...",
    "[==",
    "[==x",
    "f\n(1)",
    "function() return ... end",
    "1e",
    "1..2",
    "'\\q'",
    "'\\300'",
    "\\",
    "\u{e9}",
    "\x01",
    "9a",
    "3.4.5",
    "goto",
    "%",
    "^",
];

fn damage(rng: &mut Rng, line: &str) -> String {
    let mut tokens = super::shrink::tokens(line);
    if tokens.is_empty() {
        return line.into();
    }
    let at = rng.below(tokens.len());
    let stray = *rng.pick(STRAY);
    match rng.below(6) {
        0 => drop(tokens.remove(at)),
        1 => tokens.insert(at, format!(" {stray} ")),
        2 => tokens[at] = stray.into(),
        3 => tokens.insert(at, tokens[at].clone()),
        4 => tokens.truncate(at),
        _ => {
            let other = rng.below(tokens.len());
            tokens.swap(at, other);
        }
    }
    tokens.concat()
}
