//! Random programs: steps on two connections, from the server's own syntax tables.

use super::grammar::{Argument, Kind, Syntax};
use super::lua::Lua;
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
}

impl Command {
    /// The name with the subcommand, for those written out in full.
    pub(crate) fn full_name(&self) -> String {
        let container = ["CLIENT", "CONFIG", "OBJECT", "SCRIPT"].contains(&self.name.as_str());
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

/// Sequences that lead to errors which chance alone seldom meets.
pub(crate) const PROVOCATIONS: &[&[&str]] = &[
    &["SET s0 9223372036854775807", "INCR s0", "INCRBY s0 5"],
    &["SET s0 -9223372036854775808", "DECR s0", "DECRBY s0 1", "INCRBY s0 -1"],
    &["DECRBY s0 -9223372036854775808"],
    &["SET s1 1e308", "INCRBYFLOAT s1 1e4931", "INCRBYFLOAT s1 inf"],
    &["INCRBYFLOAT s1 nan", "INCRBYFLOAT s1 -inf"],
    &["HSET h0 a 9223372036854775807 b abc", "HINCRBY h0 a 1", "HINCRBY h0 b 1", "HINCRBYFLOAT h0 b 1"],
    &["HINCRBYFLOAT h0 c inf", "HINCRBYFLOAT h0 a nan"],
    &["RPUSH l0 x", "INCR l0", "GET l0", "HGET l0 a", "LCS l0 s1"],
    &["SET s2 v", "RPUSH s2 a", "LPOP s2", "SADD s2 a", "HSET s2 f v", "ZADD s2 1 m", "XADD s2 * f v"],
    &["SETRANGE s0 536870912 x", "APPEND s0 y"],
    &["SETRANGE s0 -1 x"],
    &["EXEC"],
    &["DISCARD"],
    &["MULTI", "MULTI", "WATCH s0", "EXEC"],
    &["MULTI", "NOSUCH", "EXEC"],
    &["HELLO 9", "HELLO x", "HELLO 2 AUTH nobody x"],
    &["XADD x0 1-1 f v", "XADD x0 MAXLEN -1 2-1 f v", "XADD x0 1-1 a b", "XADD x0 0-0 a b"],
    &["XADD x1 5-1 f v", "XSETID x1 0-1", "XSETID x1 9-9 ENTRIESADDED 0 MAXDELETEDID 1-1"],
    &["XADD x1 * f v", "XSETID x1 2-0 ENTRIESADDED 5 MAXDELETEDID 9-9"],
    &["XADD x1 * f v", "XSETID x1 9-9 ENTRIESADDED -1 MAXDELETEDID 1-1"],
    &["XADD x0 1-1 f v", "XGROUP CREATE x0 g 0", "XREADGROUP GROUP g c STREAMS x0 >", "XDEL x0 1-1"],
    &["XGROUP CREATE x0 g $ MKSTREAM", "XADD x0 * f v", "XADD x0 * g w", "XREADGROUP GROUP g d STREAMS x0 >"],
    &["XGROUP CREATE x1 g 0 MKSTREAM", "XGROUP CREATE x1 g 0", "XGROUP SETID x1 g 0 ENTRIESREAD -2"],
    &["XGROUP SETID x0 g 0", "XREADGROUP GROUP g c NOACK STREAMS x0 >", "XINFO GROUPS x0"],
    &[
        "XREADGROUP GROUP g c COUNT 1 STREAMS x0 >",
        "XREADGROUP GROUP g c STREAMS x0 0",
        "XPENDING x0 g - + 10",
    ],
    &[
        "XAUTOCLAIM x0 g d 0 0",
        "XAUTOCLAIM x0 g c 0 0 COUNT 1 JUSTID",
        "XTRIM x0 MAXLEN 1",
        "XCLAIM x0 g c 0 1-1",
    ],
    &[
        "XREAD STREAMS x0 x1 0",
        "XREAD STREAMS x0 >",
        "XREADGROUP GROUP g c STREAMS x0 $",
        "XREADGROUP COUNT 1 NOACK STREAMS x0 >",
    ],
    &["XADD x2 18446744073709551615-18446744073709551615 f v", "XADD x2 * f v", "DEL x2"],
    &["HELLO 3 BOGUS"],
    &["HELLO 2 AUTH default x"],
    &["HELLO 2 SETNAME a"],
    &["SWAPDB x 1", "SWAPDB 1 x", "SWAPDB 0 77"],
    &["SELECT 16", "SELECT 4294967296"],
    &["SCRIPT LOAD ')'", "EVAL 'local' 0", "EVAL 'x y' 0"],
    &["SCRIPT FLUSH BOGUS"],
    &["SCRIPT BOGUS"],
    &["OBJECT BOGUS s0", "CONFIG BOGUS", "CLIENT BOGUS"],
    &["EVAL 'return redis.call(\"NOSUCH\")' 0"],
    &["EVAL 'return (' 0"],
    &["EVAL 'return x' 0"],
    &["EVAL 'redis.x = 1' 0"],
    &["EVAL 'return redis.call(\"GET\", {})' 0"],
    &["EVAL 'return redis.call()' 0"],
    &["EVAL '#!lua flags=bogus\nreturn 1' 0"],
    &["EVAL 'return 1' 5 a"],
    &["EVAL 'return 1' -1"],
    &["EVALSHA 0123456789012345678901234567890123456789 0"],
    &["SCRIPT LOAD 'return KEYS'", "EVALSHA 4ca238f611c9d0ae4e9a75a5dbac22aedc1e44ef 1 k"],
    &["SCAN abc", "SCAN 0 COUNT 0", "SCAN 0 TYPE bogus"],
    &["COPY s0 s0", "COPY s0 s1 DB 99", "MOVE s0 0", "MOVE s0 99"],
    &["EXPIRE s0 9223372036854775807", "EXPIRE s0 10 NX XX", "EXPIRE s0 10 GT LT", "PEXPIRE s0 1 BOGUS"],
    &["SET s0 v EX 0", "SETEX s0 -1 v", "GETEX s0 PX 0", "PSETEX s0 9223372036854775807 v"],
    &["CLIENT SETNAME 'a b'"],
    &["NOSUCHCOMMAND a b"],
    &["EVAL 'for i=1,513 do redis.call(\"HSET\",KEYS[1],i,\"v\"..i) end' 1 h0", "HDEL h0 5 6", "HLEN h0"],
    &["EVAL 'for i=1,600 do redis.call(\"SADD\",KEYS[1],i) end' 1 e0", "SREM e0 5 6", "SADD e0 x"],
    &["EVAL 'for i=1,511 do redis.call(\"SADD\",KEYS[1],i*1000000) end' 1 e1", "SADD e1 7 -3"],
    &[
        "EVAL 'for i=1,129 do redis.call(\"ZADD\",KEYS[1],i%7,\"m\"..i) end' 1 z0",
        "ZREM z0 m5",
        "ZRANGE z0 0 -1",
    ],
    &["EVAL 'for i=1,300 do redis.call(\"RPUSH\",KEYS[1],string.rep(\"x\",i)) end' 1 l0", "LINDEX l0 250"],
    &[
        "EVAL 'for i=1,250 do redis.call(\"XADD\",KEYS[1],i..\"-1\",\"f\",i) end' 1 x0",
        "XTRIM x0 MAXLEN ~ 120",
    ],
    &["ZADD z1 1 'a' 1 \"x\"{65}", "HSET h1 f \"x\"{65}", "HSET h2 \"x\"{64} v", "SADD e2 1 2 \"x\"{65}"],
    &["RPUSH l1 \"x\"{9000}", "LPUSH l1 a b c", "LINSERT l1 BEFORE a d", "LSET l1 0 z", "LREM l1 0 b"],
    &["SADD e0 1 2 x", "SADD e1 x", "SDIFFSTORE e2 e0 e1 n0 s9", "SUNIONSTORE e1 e0 e2", "SPOP e0 3"],
    &[
        "EVAL 'for i=1,600 do redis.call(\"SADD\",KEYS[1],i) end' 1 e0",
        "SSCAN e0 0 COUNT 1000",
        "SPOP e0 550",
        "SRANDMEMBER e0 600",
    ],
    &["SINTERCARD 1 e0 LIMIT -1", "SINTERCARD 0 e0", "SINTERCARD 5 e0", "SPOP e0 -1", "SRANDMEMBER e0 -3"],
    &[
        "EVAL 'for i=1,130 do redis.call(\"ZADD\",KEYS[1],i/4,\"m\"..i) end' 1 z0",
        "ZUNIONSTORE z1 2 z0 e0 WEIGHTS 2 -1",
        "ZINTERSTORE z2 2 z0 z1 AGGREGATE MIN",
        "ZDIFFSTORE z2 2 z1 e1",
        "ZSCAN z0 0 COUNT 1000",
        "ZRANDMEMBER z0 130",
        "ZMPOP 1 z0 MAX COUNT 100",
    ],
    &["ZADD z0 inf a -inf b", "ZADD z1 -inf a inf b", "ZUNIONSTORE z2 2 z0 z1", "ZINTER 2 z0 z1 WEIGHTS 0 1"],
    &["ZUNION 0 z0", "ZINTERCARD 1 z0 LIMIT -1", "ZUNION 1 z0 WEIGHTS abc", "ZMPOP 1 z0 MIN COUNT 0"],
    &["ZRANDMEMBER z0 4611686018427387904 WITHSCORES", "HRANDFIELD h0 4611686018427387904 WITHVALUES"],
    &[
        "EVAL 'for i=1,520 do redis.call(\"HSET\",KEYS[1],i,i) end' 1 h1",
        "HSCAN h1 0 COUNT 2000",
        "HRANDFIELD h1 600 WITHVALUES",
    ],
    &["EVAL 'for i=1,200 do redis.call(\"GEOADD\",KEYS[1],i*37%360-180,i*53%170-85,i) end' 1 z0"],
    &["EVAL 'for i=1,60 do redis.call(\"GEOADD\",KEYS[1],13+i%5/9,38+i%4/7,i) end' 1 z1"],
    &[
        "GEOADD z0 13.361389 38.115556 a 15.087269 37.502669 b 13.36 38.1 c",
        "GEOSEARCH z0 FROMLONLAT 14 38 BYBOX 400 400 km COUNT 2",
        "GEORADIUS z0 14 38 200 km WITHCOORD WITHDIST WITHHASH COUNT 2 ANY",
        "GEOSEARCHSTORE z1 z0 FROMMEMBER a BYRADIUS 50 mi DESC STOREDIST",
    ],
    &["GEOADD z0 181 0 a", "GEOADD z0 0 1e308 a", "GEOSEARCH z0 FROMMEMBER nosuch BYRADIUS 1 m"],
    &[
        "GEOADD z0 1 1 a",
        "GEORADIUS z0 0 0 1 km COUNT 0",
        "GEORADIUS z0 0 0 1 km ANY",
        "GEORADIUS z0 0 0 1 yd",
    ],
    &["GEOADD z0 1 1 a", "GEORADIUS z0 0 0 1 km WITHDIST STORE z1", "GEOSEARCHSTORE z1 z0 WITHCOORD"],
    &["ZADD z0 -1 a 1e300 b 0.5 c -1e19 d inf e 4e15 f", "GEOPOS z0 a b c d e f", "GEOHASH z0 a b c d e f"],
    &["GEOSEARCH z0 FROMMEMBER a", "GEOSEARCH z0 BYRADIUS 1 m", "GEOSEARCH z0 FROMLONLAT 0 0 BYBOX -1 1 m"],
    &["BITOP NOT s2 s0 s1", "BITFIELD s0 GET u64 0", "BITFIELD_RO s0 SET u8 0 1", "BITFIELD s0 OVERFLOW x"],
    &["BITFIELD s0 SET i64 3 9223372036854775807 OVERFLOW SAT INCRBY i64 3 5 OVERFLOW WRAP INCRBY i64 3 5"],
    &[
        "PFADD p0 a b c",
        "PFDEBUG DECODE p0",
        "PFDEBUG TODENSE p0",
        "PFADD p0 d",
        "PFCOUNT p0",
        "PFMERGE p1 p0",
    ],
    &["PFADD s0 a", "PFCOUNT s0", "PFDEBUG BOGUS p0", "PFDEBUG DECODE p9", "PFDEBUG GETREG p1"],
    &["EVAL 'for i=1,300 do redis.call(\"PFADD\",KEYS[1],i) end' 1 p0", "PFCOUNT p0 p1", "GET p0"],
    &["CONFIG GET hll-sparse-max-bytes", "SET p2 HYLL", "PFADD p2 x"],
    &["RPUSH l0 3 1 2 10", "SORT l0 DESC LIMIT 1 2", "SORT l0 BY s* GET # GET s* ALPHA STORE l1"],
    &["RESTORE s0 0 x", "RESTORE s0 -1 x", "RESTORE n0 0 x IDLETIME -1", "RESTORE n0 0 x FREQ 256"],
    &["LPOS l0 a RANK 0", "LPOS l0 a COUNT -1", "LPOS l0 a MAXLEN -1", "LSET l0 99 x"],
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
const PROVOCATION: usize = 5;

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
        program
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

    /// A script that runs a command.
    fn script(&mut self, focus: &str) -> Command {
        let inner = self.command(focus);
        let script = *self.rng.pick(SCRIPTS);
        let verb = if self.rng.percent(15) { "EVAL_RO" } else { "EVAL" };
        let mut argv = vec![verb.as_bytes().to_vec(), script.as_bytes().to_vec(), b"0".to_vec()];
        argv.extend(inner.argv);
        Command { argv, name: verb.into(), tokens: Vec::new(), inner: Some(inner.name) }
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
    let mut argv = vec![name.as_bytes().to_vec()];
    argv.extend(rest);
    Step::Call(connection, Command { argv, name: name.into(), ..Command::default() })
}

/// A step from a line of text.
pub(crate) fn parsed(connection: &'static str, line: &str) -> Step {
    let argv = words::split(line).expect("a well-formed line");
    let mut command =
        Command { name: String::from_utf8_lossy(&argv[0]).into_owned(), argv, ..Command::default() };
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
