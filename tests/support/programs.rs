//! Random programs for the fuzz targets: commands drawn from the syntax that COMMAND DOCS tells, with arguments that
//! meet each other often (few keys, few values, the edges of numbers) and now and then a broken word.

use crate::fuzz_smoke::bodies::{START_MS, escape};
use moonkeep::util::rng::Rng;
use moonkeep::{Engine, ReplyRef};

/// All commands with their syntax.
pub(crate) struct Programs {
    commands: Vec<Command>,
}

struct Command {
    name: String,
    /// The family, as in `sorted-set`: most keys of its commands are of one type.
    group: String,
    arguments: Vec<Argument>,
}

#[derive(Default)]
struct Argument {
    kind: String,
    token: Option<String>,
    flags: Vec<String>,
    arguments: Vec<Argument>,
}

const KEYS: &[&str] =
    &["k1", "k2", "string1", "list1", "hash1", "set1", "sorted-set1", "stream1", "generic1", "", "a\u{e9}\n"];
const STRINGS: &[&str] =
    &["", "a", "b", "c", "field", "hello world", "10", "-1", "3.0", "nan", "\u{0}\u{1}", "*", "1-1"];
const INTEGERS: &[&str] = &[
    "0",
    "1",
    "2",
    "-1",
    "10",
    "100",
    "-100",
    "7",
    "00",
    "+1",
    " 1",
    "1.5",
    "",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "4294967296",
    "2147483648",
    "1000000000000",
];
const DOUBLES: &[&str] =
    &["0", "1", "-1.5", "3.0e3", "inf", "-inf", "nan", "1e309", "5e-324", "0x10", "17179869184.5", "(1"];
const PATTERNS: &[&str] = &["*", "k?", "[a-k]*", "k[^1]", "\\*", "", "**a", "[", "k1"];
const SCRIPTS: &[&str] = &[
    "return 1",
    "return KEYS",
    "return redis.call('INCR', KEYS[1])",
    "redis.call('SET', KEYS[1], ARGV[1]) return redis.call('LPUSH', KEYS[1], 1)",
    "return redis.pcall(unpack(ARGV))",
    "return {1, {2, 'x'}, false, nil, 3}",
    "error('stop')",
];

/// Libraries, some with functions of the same names, some wrong.
const LIBRARIES: &[&str] = &[
    "#!lua name=a\nredis.register_function('f', function(keys, args) return redis.call('INCR', keys[1]) end)",
    "#!lua name=a\nlocal n = 0 redis.register_function('f', function() n = n + 1 return n end)",
    "#!lua name=b\nredis.register_function{function_name='g', flags={'no-writes'}, callback=function(keys, args)\n\
     return {keys, args, redis.pcall('SET', keys[1], 1)} end}",
    "#!lua name=b\nredis.register_function('F', redis.log) redis.register_function('h', function() return x end)",
    "#!lua name=c\nreturn redis.call('PING')",
    "#!lua name=c",
];
const FUNCTIONS: &[&str] = &["f", "F", "g", "h", "nope"];
/// FUNCTION DUMP without a library, and one that was changed since.
const DUMPS: &[&[u8]] = &[b"\n\0]\x9b\\@\x0f\x7f\xa2\xda", b"\xf5\x01a\n\0]\x9b\\@\x0f\x7f\xa2\xda"];

impl Programs {
    pub(crate) fn new() -> Programs {
        let docs = Engine::new().client().call(["COMMAND", "DOCS"]).expect("COMMAND DOCS answers");
        let mut commands = Vec::new();
        read_commands(docs.view(), &mut commands);
        assert!(commands.len() > 50, "COMMAND DOCS tells all commands");
        Programs { commands }
    }

    /// The names of all commands; those of subcommands as in `config|get`.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.commands.iter().map(|command| command.name.as_str())
    }

    /// A program of some commands, as the target `commands` reads it.
    pub(crate) fn program(&self, rng: &mut Rng) -> String {
        let lines: Vec<String> = (0..1 + rng.below(60)).map(|_| self.line(rng)).collect();
        lines.join("\n")
    }

    fn line(&self, rng: &mut Rng) -> String {
        if rng.below(20) == 0 {
            return format!("advance {}", pick(rng, &["0", "1", "100", "10000", "1000000000"]));
        }
        let mut words = self.command(rng);
        if rng.below(12) == 0 {
            spoil(rng, &mut words);
        }
        words.iter().map(|word| escape(word)).collect::<Vec<_>>().join(" ")
    }

    fn command(&self, rng: &mut Rng) -> Vec<Vec<u8>> {
        let mut chosen = &self.commands[rng.below(self.commands.len() as u64) as usize];
        if matches!(&*chosen.group, "server" | "connection") {
            // They have many commands and touch no keys: half as often.
            chosen = &self.commands[rng.below(self.commands.len() as u64) as usize];
        }
        let Command { name, group, arguments } = chosen;
        let mut words: Vec<Vec<u8>> = name.split('|').map(|word| word.as_bytes().to_vec()).collect();
        let named = words.len();
        arguments.iter().for_each(|argument| argument.write(rng, group, &mut words));
        if name.starts_with("eval") {
            words.truncate(named);
            words.extend(eval_words(rng));
        }
        if name.starts_with("fcall") {
            words.truncate(named);
            words.extend(eval_words(rng));
            words[named] = pick(rng, FUNCTIONS).into();
        }
        aim_at_group(rng, name, &mut words);
        match name.as_str() {
            "function|load" => *words.last_mut().expect("the name") = pick(rng, LIBRARIES).into(),
            "function|delete" => words[named] = pick(rng, &["a", "b", "c"]).into(),
            "function|restore" if rng.below(2) == 0 => words[named] = DUMPS[rng.below(2) as usize].to_vec(),
            _ => {}
        }
        if name == "debug" {
            words.extend([b"sleep".to_vec(), pick(rng, DOUBLES).into()]);
        }
        if name.starts_with("command|getkeys") {
            words.extend(self.command(rng));
        }
        words
    }
}

fn pick<'a>(rng: &mut Rng, from: &[&'a str]) -> &'a str {
    from[rng.below(from.len() as u64) as usize]
}

/// Most commands of consumer groups mean the same one, and most reads by it what is new.
fn aim_at_group(rng: &mut Rng, name: &str, words: &mut [Vec<u8>]) {
    let at = match name {
        "xreadgroup" | "xclaim" | "xautoclaim" | "xack" | "xpending" => 2,
        "xgroup|create"
        | "xgroup|setid"
        | "xgroup|createconsumer"
        | "xgroup|delconsumer"
        | "xgroup|destroy"
        | "xinfo|consumers" => 3,
        _ => return,
    };
    if let Some(word) = words.get_mut(at).filter(|_| rng.below(8) > 0) {
        *word = b"a".to_vec();
    }
    if let Some(word) = words.last_mut().filter(|_| name == "xreadgroup" && rng.below(3) > 0) {
        *word = b">".to_vec();
    }
}

fn eval_words(rng: &mut Rng) -> Vec<Vec<u8>> {
    let words = [pick(rng, SCRIPTS), "1", pick(rng, KEYS), pick(rng, STRINGS), pick(rng, INTEGERS)];
    words.iter().map(|word| word.as_bytes().to_vec()).collect()
}

/// Drops, doubles, swaps or replaces a word behind the name.
fn spoil(rng: &mut Rng, words: &mut Vec<Vec<u8>>) {
    if words.len() < 2 {
        return words.push(b"extra".to_vec());
    }
    let at = 1 + rng.below(words.len() as u64 - 1) as usize;
    let other = 1 + rng.below(words.len() as u64 - 1) as usize;
    match rng.below(4) {
        0 => drop(words.remove(at)),
        1 => words.insert(at, words[at].clone()),
        2 => words.swap(at, other),
        _ => words[at] = (0..rng.below(40)).map(|_| rng.below(256) as u8).collect(),
    }
}

impl Argument {
    fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|own| own == flag)
    }

    fn write(&self, rng: &mut Rng, group: &str, words: &mut Vec<Vec<u8>>) {
        if self.has("optional") && rng.below(5) < 3 {
            return;
        }
        let times = if self.has("multiple") { 1 + rng.below(3) } else { 1 };
        for time in 0..times {
            if let Some(token) = &self.token
                && (time == 0 || self.has("multiple_token"))
            {
                words.push(token.as_bytes().to_vec());
            }
            self.write_value(rng, group, words);
        }
    }

    fn write_value(&self, rng: &mut Rng, group: &str, words: &mut Vec<Vec<u8>>) {
        let word = match self.kind.as_str() {
            "pure-token" => return,
            "oneof" if self.arguments.is_empty() => return,
            "oneof" => {
                let chosen = rng.below(self.arguments.len() as u64) as usize;
                return self.arguments[chosen].write(rng, group, words);
            }
            "block" => return self.arguments.iter().for_each(|argument| argument.write(rng, group, words)),
            "key" if rng.below(4) > 0 => format!("{group}{}", rng.below(3)),
            "key" => pick(rng, KEYS).into(),
            "integer" if rng.below(3) > 0 => (rng.below(12) as i64 - 2).to_string(),
            "integer" => pick(rng, INTEGERS).into(),
            "double" => pick(rng, DOUBLES).into(),
            "pattern" => pick(rng, PATTERNS).into(),
            "unix-time" => {
                (START_MS / [1, 1000][rng.below(2) as usize] + rng.below(2000) as i64 - 500).to_string()
            }
            _ if rng.below(30) == 0 => "long".repeat(1 + rng.below(200) as usize),
            _ => pick(rng, STRINGS).into(),
        };
        words.push(word.into_bytes());
    }
}

/// The pairs of a map.
fn pairs<'a>(map: ReplyRef<'a>) -> Vec<(String, ReplyRef<'a>)> {
    let (ReplyRef::Map(items) | ReplyRef::Array(items)) = map else { return Vec::new() };
    let items: Vec<ReplyRef<'a>> = items.collect();
    items.chunks_exact(2).map(|pair| (text(pair[0]), pair[1])).collect()
}

fn text(value: ReplyRef<'_>) -> String {
    match value {
        ReplyRef::Bulk(bytes) | ReplyRef::Status(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        _ => String::new(),
    }
}

fn elements(value: ReplyRef<'_>) -> Vec<ReplyRef<'_>> {
    match value {
        ReplyRef::Array(items) | ReplyRef::Set(items) => items.collect(),
        _ => Vec::new(),
    }
}

fn read_commands(docs: ReplyRef<'_>, commands: &mut Vec<Command>) {
    for (name, doc) in pairs(docs) {
        let (mut arguments, mut group) = (Vec::new(), String::new());
        let mut is_container = false;
        for (field, value) in pairs(doc) {
            match field.as_str() {
                "group" => group = text(value),
                "arguments" => arguments = elements(value).into_iter().map(read_argument).collect(),
                "subcommands" => {
                    is_container = true;
                    read_commands(value, commands);
                }
                _ => {}
            }
        }
        if !is_container {
            commands.push(Command { name, group, arguments });
        }
    }
}

fn read_argument(value: ReplyRef<'_>) -> Argument {
    let mut argument = Argument::default();
    for (field, value) in pairs(value) {
        match field.as_str() {
            "type" => argument.kind = text(value),
            "token" => argument.token = Some(text(value)),
            "flags" => argument.flags = elements(value).into_iter().map(text).collect(),
            "arguments" => argument.arguments = elements(value).into_iter().map(read_argument).collect(),
            _ => {}
        }
    }
    argument
}
