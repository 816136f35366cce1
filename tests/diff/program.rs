//! Random programs: steps on two connections, from the server's own syntax tables. What stands in them word for word is
//! in `provocations`, values of arguments in `values`.

use super::grammar::{Argument, Kind, Syntax};
use super::lua::Lua;
use super::provocations::{BEGINNINGS, LIBRARIES, SETTINGS};
use super::rng::Rng;
use super::values;
use crate::support::target::MAIN;
use crate::support::words;

/// One step of a program.
#[derive(Clone)]
pub(crate) enum Step {
    Call(&'static str, Command),
    Advance(i64),
}

/// A command with what the generator knows of it.
#[derive(Clone, Default)]
pub(crate) struct Command {
    pub(crate) argv: Vec<Vec<u8>>,
    /// The command's name, `EVAL` for scripts.
    pub(crate) name: String,
    /// The tokens of its usage that it carries.
    pub(crate) tokens: Vec<String>,
    /// The command that a script calls with its arguments.
    pub(crate) inner: Option<String>,
    /// It was written by hand: its tokens are among its words.
    pub(crate) written: bool,
}

impl Command {
    /// The name with the subcommand, for those written out in full.
    pub(crate) fn full_name(&self) -> String {
        let container = CONTAINERS.contains(&self.name.as_str());
        match self.argv.get(1).filter(|_| container) {
            Some(subcommand) => format!("{} {}", self.name, String::from_utf8_lossy(subcommand)),
            None => self.name.clone(),
        }
    }
}

impl Step {
    /// The step as a line of a corpus file.
    pub(crate) fn line(&self) -> String {
        match self {
            Step::Call(connection, command) => format!("{connection}> {}", words::join(&command.argv)),
            Step::Advance(ms) => format!("advance {ms} ms"),
        }
    }
}

/// Commands with subcommands.
const CONTAINERS: &[&str] =
    &["CLIENT", "CONFIG", "FUNCTION", "MEMORY", "OBJECT", "PUBSUB", "SCRIPT", "XGROUP", "XINFO"];

/// Scripts that run the command in their arguments in all the ways in which a script can.
const SCRIPTS: &[&str] = &[
    "return redis.call(unpack(ARGV))",
    "return redis.pcall(unpack(ARGV))",
    "redis.setresp(3) return redis.call(unpack(ARGV))",
    "redis.setresp(3) return {redis.pcall(unpack(ARGV))}",
    "local r = redis.pcall(unpack(ARGV)) if type(r) == 'table' then return {r.err or r.ok or #r} end return type(r)",
    "local ok, r = pcall(redis.call, unpack(ARGV)) if type(r) == 'table' then r = #r end return {tostring(ok), tostring(r)}",
    "redis.call('APPEND', 's0', 'x') return redis.call(unpack(ARGV))",
    "redis.call(unpack(ARGV)) error('boom')",
    "#!lua flags=no-writes\nreturn redis.call(unpack(ARGV))",
    "#!lua\nreturn redis.call(unpack(ARGV))",
];

/// What a program is made of.
pub(crate) struct Generator<'a> {
    pub(crate) syntaxes: &'a [Syntax],
    pub(crate) provocations: &'a [&'static [&'static str]],
    pub(crate) rng: Rng,
}

/// Of a hundred steps, how many are something else than a plain command.
const SCRIPT: usize = 10;
const TRANSACTION: usize = 6;
const TIME: usize = 4;
const PROVOCATION: usize = 6;
/// Of so many programs one tests the registers.
const SELF_TEST: usize = 1000;

impl<'a> Generator<'a> {
    /// A program of about so many steps.
    pub(crate) fn program(&mut self, steps: usize) -> Vec<Step> {
        let groups = [
            "string",
            "generic",
            "hash",
            "list",
            "set",
            "sorted-set",
            "stream",
            "bitmap",
            "hyperloglog",
            "geo",
            "",
        ];
        let focus = *self.rng.pick(&groups);
        let mut program = Vec::new();
        for connection in [MAIN, "b"] {
            if self.rng.percent(30) {
                let argv = vec![b"HELLO".to_vec(), b"3".to_vec()];
                program.push(Step::Call(
                    connection,
                    Command { argv, name: "HELLO".into(), ..Command::default() },
                ));
            }
        }
        self.begin(focus, &mut program);
        while program.len() < steps {
            let dice = self.rng.below(100);
            let connection = self.connection();
            if dice < TIME {
                let ms = *self.rng.pick(&[1, 1, 10, 50, 100, 1000, 1001, 10_000, 1_000_000]);
                program.push(Step::Advance(ms));
            } else if dice < TIME + TRANSACTION {
                self.transaction(connection, focus, &mut program);
            } else if dice < TIME + TRANSACTION + SCRIPT {
                let command = self.script(focus);
                program.push(Step::Call(connection, command));
            } else if dice < TIME + TRANSACTION + SCRIPT + PROVOCATION {
                for line in *self.rng.pick(self.provocations) {
                    program.push(parsed(connection, line));
                }
            } else {
                let command = self.command(focus);
                program.push(Step::Call(connection, command));
            }
        }
        // It computes for half a second. At sizes between these two its outcome is left to chance.
        if self.rng.below(SELF_TEST) == 0 {
            let bytes = self.rng.pick(&["3000", "18"]);
            program.push(parsed(MAIN, &format!("CONFIG SET hll-sparse-max-bytes {bytes}")));
            program.push(parsed(MAIN, "PFSELFTEST"));
        }
        program
    }

    /// What most programs about some types begin with, settings, a library and a script.
    fn begin(&mut self, focus: &str, program: &mut Vec<Step>) {
        let beginning =
            BEGINNINGS.iter().find(|(group, _)| *group == focus).map_or(&[][..], |(_, lines)| lines);
        if self.rng.percent(70) {
            program.extend(beginning.iter().map(|line| parsed(MAIN, line)));
        }
        if self.rng.percent(20) {
            for _ in 0..1 + self.rng.below(3) {
                let line = format!("CONFIG SET {}", self.rng.pick(SETTINGS));
                program.push(parsed(MAIN, &line));
            }
        }
        if self.rng.percent(25) {
            program.push(call(MAIN, "FUNCTION LOAD", vec![LIBRARIES[self.rng.below(2)].as_bytes().to_vec()]));
        }
        if self.rng.percent(25) {
            let script = *self.rng.pick(SCRIPTS);
            program.push(call(MAIN, "SCRIPT LOAD", vec![script.as_bytes().to_vec()]));
        }
    }

    fn connection(&mut self) -> &'static str {
        if self.rng.percent(75) { MAIN } else { "b" }
    }

    fn transaction(&mut self, connection: &'static str, focus: &str, program: &mut Vec<Step>) {
        let other = if connection == MAIN { "b" } else { MAIN };
        if self.rng.percent(50) {
            let keys =
                (0..1 + self.rng.below(2)).map(|_| values::key(&mut self.rng, focus)).collect::<Vec<_>>();
            program.push(call(connection, "WATCH", keys));
            if self.rng.percent(40) {
                let command = self.command(focus);
                program.push(Step::Call(other, command));
            }
        }
        program.push(call(connection, "MULTI", Vec::new()));
        for _ in 0..self.rng.below(5) {
            let who = if self.rng.percent(85) { connection } else { other };
            let command = if self.rng.percent(12) { self.script(focus) } else { self.command(focus) };
            program.push(Step::Call(who, command));
        }
        let end = if self.rng.percent(90) { "EXEC" } else { "DISCARD" };
        program.push(call(connection, end, Vec::new()));
    }

    /// A script or function that runs a command.
    fn script(&mut self, focus: &str) -> Command {
        let inner = self.command(focus);
        let script = *self.rng.pick(SCRIPTS);
        let verb = match self.rng.below(20) {
            0..12 => "EVAL",
            12 | 13 => "EVAL_RO",
            14 | 15 => "EVALSHA",
            16 => "EVALSHA_RO",
            17 | 18 => "FCALL",
            _ => "FCALL_RO",
        };
        let what = match verb {
            "EVAL" | "EVAL_RO" => script.as_bytes().to_vec(),
            "EVALSHA" | "EVALSHA_RO" => moonkeep::util::digest::sha1_hex(script.as_bytes()).to_vec(),
            _ => b"f".to_vec(),
        };
        let mut argv = vec![verb.as_bytes().to_vec(), what, b"0".to_vec()];
        argv.extend(inner.argv);
        Command { argv, name: verb.into(), inner: Some(inner.name), ..Command::default() }
    }

    /// A command, mostly of one group, mostly right.
    pub(crate) fn command(&mut self, focus: &str) -> Command {
        let syntax = self.syntax(focus);
        let mut command = Command { name: syntax.name.clone(), ..Command::default() };
        command.argv.extend(syntax.name.split(' ').map(|word| word.as_bytes().to_vec()));
        let mut filler = Filler { rng: &mut self.rng, syntax, count: 0, command: &mut command };
        filler.sequence(&syntax.arguments);
        if self.rng.percent(14) {
            self.spoil(&mut command);
        }
        bound(&mut command);
        command
    }

    /// One of the commands, mostly of the group in focus, the oftener the more tokens it has.
    fn syntax(&mut self, focus: &str) -> &'a Syntax {
        let all = self.syntaxes;
        let focused = self.rng.percent(70) && all.iter().any(|one| one.group == focus);
        let candidates = || all.iter().filter(|one| !focused || one.group == focus);
        let mut dice = self.rng.below(candidates().map(|one| one.weight).sum());
        for one in candidates() {
            match dice.checked_sub(one.weight) {
                Some(rest) => dice = rest,
                None => return one,
            }
        }
        &all[0]
    }

    /// Makes a command wrong, or odd, somewhere.
    fn spoil(&mut self, command: &mut Command) {
        command.tokens.clear();
        let rng = &mut self.rng;
        let at = 1 + rng.below(command.argv.len());
        let within = at < command.argv.len();
        match rng.below(6) {
            0 if within => drop(command.argv.remove(at)),
            1 if within => command.argv[at] = values::junk(rng),
            2 if within => {
                let copy = command.argv[at].clone();
                command.argv.insert(at, copy);
            }
            3 => {
                let other = rng.below(command.argv.len());
                if within && other > 0 {
                    command.argv.swap(at, other);
                }
            }
            4 => command.argv.truncate(at.max(1)),
            _ => command.argv.insert(at, values::junk(rng)),
        }
    }
}

/// Of a negative count both sides make as many random elements as it says.
fn bound(command: &mut Command) {
    if !command.name.contains("RAND") {
        return;
    }
    for word in &mut command.argv {
        let number = std::str::from_utf8(word).ok().and_then(|text| text.parse::<i64>().ok());
        if number.is_some_and(|number| number < -100 && number > i64::MIN) {
            *word = b"-3".to_vec();
        }
    }
}

fn call(connection: &'static str, name: &str, rest: Vec<Vec<u8>>) -> Step {
    let mut argv: Vec<Vec<u8>> = name.split(' ').map(|word| word.as_bytes().to_vec()).collect();
    argv.extend(rest);
    Step::Call(connection, Command { argv, name: name.into(), ..Command::default() })
}

/// A step from a line of text.
pub(crate) fn parsed(connection: &'static str, line: &str) -> Step {
    let argv = words::split(line).expect("a well-formed line");
    let mut command = Command {
        name: String::from_utf8_lossy(&argv[0]).into_owned(),
        argv,
        written: true,
        ..Command::default()
    };
    command.name = command.full_name();
    Step::Call(connection, command)
}

/// A program of random scripts, on a few keys.
pub(crate) fn of_scripts(mut rng: Rng) -> Vec<Step> {
    let mut program = Vec::new();
    if rng.percent(40) {
        program.push(parsed(MAIN, "HELLO 3"));
    }
    for line in ["SET s0 5", "HSET h0 f v", "RPUSH l0 a b", "SADD e0 m"] {
        program.push(parsed(MAIN, line));
    }
    for _ in 0..20 {
        let script = Lua { rng: &mut rng }.script();
        let argv = ["EVAL", &script, "1", "s0", "a1", "2.50"].map(|word| word.as_bytes().to_vec()).into();
        program.push(Step::Call(MAIN, Command { argv, name: "EVAL".into(), ..Command::default() }));
    }
    program
}

/// A program that loads scripts as functions and calls them; some do while they are loaded what functions do.
pub(crate) fn of_functions(mut rng: Rng) -> Vec<Step> {
    let mut program = Vec::new();
    if rng.percent(40) {
        program.push(parsed(MAIN, "HELLO 3"));
    }
    for line in ["SET s0 5", "HSET h0 f v", "RPUSH l0 a b", "SADD e0 m"] {
        program.push(parsed(MAIN, line));
    }
    for _ in 0..15 {
        let script = Lua { rng: &mut rng }.script();
        let code = match rng.below(20) {
            0 => format!("redis.register_function('f', redis.log) do {script} end"),
            1..6 => format!(
                "redis.register_function{{function_name='f', flags={{'no-writes'}}, callback=function(KEYS, ARGV) {script} end}}"
            ),
            6..10 => format!(
                "local up, g = {{}} redis.register_function('f', function(KEYS, ARGV) up[#up + 1] = KEYS g = ARGV[1] {script} end)"
            ),
            _ => format!("redis.register_function('f', function(KEYS, ARGV) {script} end)"),
        };
        let code = format!("#!lua name=l\n{code}");
        let name = if rng.percent(20) { "FCALL_RO" } else { "FCALL" };
        let call = [name, "f", "1", "s0", "a1", "2.50"];
        for argv in [&["FUNCTION", "LOAD", "REPLACE", &code][..], &call, &call] {
            let words = argv.iter().map(|word| word.as_bytes().to_vec()).collect();
            program
                .push(Step::Call(MAIN, Command { argv: words, name: argv[0].into(), ..Command::default() }));
        }
    }
    program
}

/// Fills the arguments of one command.
struct Filler<'a> {
    rng: &'a mut Rng,
    syntax: &'a Syntax,
    /// How many keys there are, once that is said: numbers of weights and IDs follow it.
    count: usize,
    command: &'a mut Command,
}

impl Filler<'_> {
    fn sequence(&mut self, arguments: &[Argument]) {
        for argument in arguments {
            if !argument.optional || self.rng.percent(45) {
                self.argument(argument);
            }
        }
    }

    fn argument(&mut self, argument: &Argument) {
        let times = self.times(argument);
        for at in 0..times {
            if at == 0 || argument.multiple_token {
                self.token(argument);
            }
            self.once(argument);
        }
    }

    fn times(&mut self, argument: &Argument) -> usize {
        if !argument.multiple {
            return 1;
        }
        let follows = self.count > 0 && ["key", "weight", "id"].contains(&argument.name.as_str());
        let times = if follows && self.rng.percent(95) { self.count } else { 1 + self.rng.below(3) };
        if argument.kind == Kind::Key {
            self.count = times;
        }
        times
    }

    fn token(&mut self, argument: &Argument) {
        let Some(token) = &argument.token else { return };
        let word = if self.rng.percent(10) { token.to_ascii_lowercase() } else { token.clone() };
        self.command.argv.push(word.into_bytes());
        self.command.tokens.push(format!("{} {token}", self.syntax.name));
    }

    fn once(&mut self, argument: &Argument) {
        match argument.kind {
            Kind::Token => {}
            Kind::Block => self.sequence(&argument.arguments),
            Kind::OneOf => {
                let one = self.rng.pick(&argument.arguments);
                self.argument(one);
            }
            Kind::Key => {
                let key = values::key(self.rng, &self.syntax.group);
                self.command.argv.push(key);
            }
            _ if argument.name == "numkeys" => self.numkeys(),
            _ => {
                let value = values::of(self.rng, argument, &self.syntax.group);
                self.command.argv.push(value);
            }
        }
    }

    fn numkeys(&mut self) {
        self.count = 1 + self.rng.below(3);
        let told = if self.rng.percent(94) {
            self.count.to_string()
        } else {
            ["0", "-1", "9", "abc"][self.rng.below(4)].into()
        };
        self.command.argv.push(told.into_bytes());
    }
}
