//! A first contract for a script that has none: it is read for its keys, arguments, names and errors, and run on states and
//! arguments that tell more, for a person to finish.

mod read;
mod refine;

use crate::command::spec::Group;
use crate::command::{TracedCall, keys};
use crate::commands::table;
use crate::contract::{Contract, Input};
use crate::engine::{Client, Engine, Script};
use crate::error::Error;
use crate::reply::{Reply, ReplyRef};
use crate::script::Limits;
use crate::store::Change;
use crate::util::rng::Rng;
use crate::util::words::quote;
use read::Read;
use std::collections::BTreeSet;

const TYPES: [&str; 6] = ["string", "list", "hash", "set", "zset", "stream"];
/// No integer that Lua counts with exactly is greater.
const INT_MOST: i64 = 9_007_199_254_740_991;
/// How many ways to call a script are tried until one is no error.
const TRIES: usize = 400;

/// What a key holds in a run: nothing, or a value of this type; a string has the text.
#[derive(Debug, Clone, PartialEq)]
struct Held(Option<(&'static str, Vec<u8>)>);

/// A way to call the script.
#[derive(Debug, Clone)]
struct Call {
    keys: Vec<Held>,
    args: Vec<Vec<u8>>,
}

/// What a run came to.
struct Ran {
    reply: Reply,
    calls: Vec<TracedCall>,
    changes: Vec<Change>,
}

impl Ran {
    /// How the call was refused, if it was.
    fn refusal(&self) -> Option<Refusal> {
        self.reply.error_message().map(|text| {
            let told = String::from_utf8_lossy(text);
            match told.contains(" script: ") {
                true => Refusal::Raised(told.split(' ').next().unwrap_or("ERR").to_owned()),
                false => Refusal::Text(text.to_vec()),
            }
        })
    }
}

/// What was seen in all runs.
struct Lab<'a> {
    script: &'a Script,
    client: Client,
    engine: Engine,
    kinds: Vec<Option<&'static str>>,
    written: Vec<bool>,
    removed: Vec<bool>,
    expiries: Vec<BTreeSet<&'static str>>,
    replies: BTreeSet<String>,
    instructions: u64,
}

/// How a text is refused.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Refusal {
    /// By the script.
    Text(Vec<u8>),
    /// By a command, or by Lua.
    Raised(String),
}

/// What was found out of an argument, or of what a string key holds.
struct Found {
    grammar: String,
    /// What is wrong, as an error clause has it, and the refusal.
    errors: Vec<(&'static str, Refusal)>,
}

impl Contract {
    /// A draft of a contract for a script that has none: what it seems to promise, for a person to finish. The script is
    /// read, and run on states and arguments of many kinds. What was not found out stands in remarks.
    ///
    /// ```
    /// use moonkeep::{Contract, Script};
    /// let script = Script::new("local n = ARGV[1] return redis.call('LPUSH', KEYS[1], n)");
    /// let draft = Contract::draft("push", &script)?;
    /// assert!(draft.contains("--!key   key1  list optional rw\n--!argv  n  bytes\n"), "{draft}");
    /// assert!(Contract::parse(&draft).is_ok());
    /// # Ok::<(), moonkeep::Error>(())
    /// ```
    ///
    /// # Errors
    /// A script that does not compile.
    pub fn draft(name: &str, script: &Script) -> Result<String, Error> {
        let read = Read::of(script.source());
        let mut lab = Lab::new(script, read.keys + usize::from(read.many_keys))?;
        let is_name = |name: &str| {
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
                && name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit())
        };
        let name = if is_name(name) { name.to_owned() } else { "script".to_owned() };
        lab.write(&name, &read)
    }
}

impl<'a> Lab<'a> {
    fn new(script: &'a Script, keys: usize) -> Result<Self, Error> {
        let limits = Limits { work: 1_000_000, ..Limits::default() };
        let engine = Engine::builder().script_limits(limits).build();
        let mut client = engine.try_client()?;
        client.call([b"SCRIPT", &b"LOAD"[..], script.source()])?;
        Ok(Lab {
            script,
            client,
            engine,
            kinds: vec![None; keys],
            written: vec![false; keys],
            removed: vec![false; keys],
            expiries: vec![BTreeSet::new(); keys],
            replies: BTreeSet::new(),
            instructions: 0,
        })
    }
    fn key(at: usize) -> Vec<u8> {
        format!("{{k}}{at}").into_bytes()
    }
    /// Runs a call and notes what it shows.
    fn run(&mut self, call: &Call) -> Result<Ran, Error> {
        let mut setup: Vec<Vec<Vec<u8>>> = Vec::new();
        for (at, held) in call.keys.iter().enumerate() {
            let Held(Some((kind, text))) = held else { continue };
            let key = Self::key(at);
            let words: &[&[u8]] = match *kind {
                "list" => &[b"RPUSH", &key, b"1", b"2"],
                "hash" => &[b"HSET", &key, b"f", b"1"],
                "set" => &[b"SADD", &key, b"1", b"2"],
                "zset" => &[b"ZADD", &key, b"1", b"1"],
                "stream" => &[b"XADD", &key, b"1-1", b"f", b"1"],
                _ => &[b"SET", &key, text],
            };
            setup.push(words.iter().map(|word| word.to_vec()).collect());
            setup.push([b"PEXPIRE", &key[..], b"500000"].iter().map(|word| word.to_vec()).collect());
        }
        let keys = (0..call.keys.len()).map(Self::key).collect();
        self.run_on(&Input { setup, keys, args: call.args.clone(), ..Input::default() })
    }
    /// The same for a call on a state.
    fn run_on(&mut self, input: &Input) -> Result<Ran, Error> {
        self.make(input)?;
        let before = self.engine.snapshot()?;
        let script = self.script.call().keys(&input.keys).args(&input.args);
        let (reply, calls) = script.trace(&mut self.client)?;
        let changes = before.diff(&self.engine.snapshot()?);
        let ran = Ran { reply, calls, changes };
        self.note(&ran, &input.keys);
        Ok(ran)
    }
    /// Makes the state of a call.
    fn make(&mut self, input: &Input) -> Result<(), Error> {
        self.engine.reset()?;
        let mut reply = Reply::new();
        for command in &input.setup {
            self.client.call_into(command, &mut reply)?;
        }
        self.engine.advance(input.advance())
    }
    /// The number of the declaration that a key belongs to.
    fn declared(&self, key: &[u8], keys: &[Vec<u8>]) -> Option<usize> {
        let at = keys.iter().position(|one| one == key)?;
        self.kinds.len().checked_sub(1).map(|last| at.min(last))
    }
    fn note(&mut self, ran: &Ran, names: &[Vec<u8>]) {
        for call in &ran.calls {
            let words: Vec<&[u8]> = call.argv.iter().map(Vec::as_slice).collect();
            let Ok(row) = table().lookup(&words) else { continue };
            let Some(kind) = kind_of(row.spec.group) else { continue };
            for key in keys::find(row.spec, &words) {
                let at = words.get(key.at).and_then(|word| self.declared(word, names));
                if let Some(at) = at {
                    self.kinds[at].get_or_insert(kind);
                }
            }
        }
        for change in &ran.changes {
            let Some(at) = self.declared(&change.key, names) else { continue };
            let expiry = |held: &Option<crate::store::Held>| held.as_ref().and_then(|held| held.expire_at_ms);
            match (expiry(&change.before), &change.after) {
                (_, None) => self.removed[at] = true,
                (before, Some(after)) => {
                    self.written[at] = true;
                    let rule = match (before, after.expire_at_ms) {
                        (before, after) if before == after => "kept",
                        (_, Some(_)) => "set",
                        (_, None) => "dropped",
                    };
                    self.expiries[at].insert(rule);
                }
            }
        }
        if !ran.reply.is_error() {
            self.replies.insert(shape(ran.reply.view(), 0));
        }
    }
    /// How a call is refused, if it is.
    fn refusal(&mut self, call: &Call) -> Result<Option<Refusal>, Error> {
        Ok(self.run(call)?.refusal())
    }
    /// What a key is made to hold so that the script works on it.
    fn fitting(&self, at: usize) -> Held {
        let kind = self.kinds.get(at).or(self.kinds.last()).copied().flatten();
        Held(Some((kind.unwrap_or("string"), b"5".to_vec())))
    }
    /// A call that is no error, and makes as much happen as possible.
    fn working_call(&mut self, read: &Read) -> Result<Option<Call>, Error> {
        const TEXTS: [&[u8]; 8] = [b"1", b"5", b"a", b"1000", b"{}", b"NX", b"0", b"2024"];
        let (keys, args) = read.tried();
        let mut rng = Rng::new(1);
        let mut found: Option<(usize, Call)> = None;
        for number in 0..TRIES {
            let uniform = TEXTS.get(number / 2);
            let mut pick = || TEXTS[rng.below(TEXTS.len() as u64) as usize].to_vec();
            let texts = (0..args).map(|_| uniform.map_or_else(&mut pick, |text| text.to_vec())).collect();
            let keys =
                (0..keys).map(|at| if number % 2 == 0 { self.fitting(at) } else { Held(None) }).collect();
            let call = Call { keys, args: texts };
            let ran = self.run(&call)?;
            let worth = 1 + ran.changes.len() * 4 + ran.calls.len();
            if !ran.reply.is_error() && found.as_ref().is_none_or(|(best, _)| *best < worth) {
                found = Some((worth, call));
            }
        }
        Ok(found.map(|(_, call)| call))
    }
    /// What texts are taken where `place` puts them.
    fn explore(&mut self, call: &Call, place: &dyn Fn(&mut Call, &[u8])) -> Result<Found, Error> {
        let mut refused = |text: &[u8]| {
            let mut changed = call.clone();
            place(&mut changed, text);
            self.refusal(&changed)
        };
        let base = [1, 5, 1000]
            .into_iter()
            .find(|value: &i64| matches!(refused(value.to_string().as_bytes()), Ok(None)));
        let (Some(base), Some(syntax)) = (base, refused(b"x")?) else {
            return Ok(match refused(b"")? {
                Some(empty) if refused(b"x")?.is_none() => {
                    Found { grammar: "token".into(), errors: vec![("range", empty)] }
                }
                _ => Found { grammar: "bytes".into(), errors: Vec::new() },
            });
        };
        let mut takes = |value: i64| matches!(refused(value.to_string().as_bytes()), Ok(None));
        let most = edge(base, INT_MOST, &mut takes);
        let least = edge(base, -INT_MOST, &mut takes);
        let is_digits = least >= 0 && refused(format!("0{base}").as_bytes())?.is_none();
        let range = match refused((i128::from(most) + 1).to_string().as_bytes())? {
            Some(range) => range,
            None => syntax.clone(),
        };
        let form = if is_digits { " digits" } else { "" };
        let errors = vec![("syntax", syntax), ("range", range)];
        Ok(Found { grammar: format!("int({least}, {most}){form}"), errors })
    }
}

/// The last integer towards `end` that is taken, from one that is.
fn edge(base: i64, end: i64, takes: &mut dyn FnMut(i64) -> bool) -> i64 {
    if takes(end) {
        return end;
    }
    let (mut inside, mut outside) = (base, end);
    while inside.abs_diff(outside) > 1 {
        let middle = inside / 2 + outside / 2 + (inside % 2 + outside % 2) / 2;
        if takes(middle) { inside = middle } else { outside = middle }
    }
    inside
}

/// The type that the commands of a group work on.
fn kind_of(group: Group) -> Option<&'static str> {
    match group {
        Group::String | Group::Bitmap | Group::Hyperloglog => Some("string"),
        Group::List => Some("list"),
        Group::Set => Some("set"),
        Group::SortedSet | Group::Geo => Some("zset"),
        Group::Hash => Some("hash"),
        Group::Stream => Some("stream"),
        _ => None,
    }
}

/// The shape of a reply as a contract writes it.
fn shape(reply: ReplyRef<'_>, depth: usize) -> String {
    match reply {
        ReplyRef::Int(_) => "int".into(),
        ReplyRef::Bulk(_) => "bytes".into(),
        ReplyRef::Nil | ReplyRef::NilArray => "nil".into(),
        ReplyRef::Status(text) => format!("status {}", quote(text)),
        ReplyRef::Array(items) if items.len() <= 4 && depth < 2 => {
            let items: Vec<String> = items.map(|item| shape(item, depth + 1)).collect();
            format!("[{}]", items.join(", "))
        }
        _ => "any".into(),
    }
}

/// What is wrong with a key or an argument, by its name alone where all is answered the same.
fn merged(name: &str, errors: Vec<(&'static str, Refusal)>) -> Vec<(String, Refusal)> {
    if errors.len() > 1 && errors.windows(2).all(|pair| pair[0].1 == pair[1].1) {
        return errors.into_iter().take(1).map(|(_, refusal)| (name.to_owned(), refusal)).collect();
    }
    errors.into_iter().map(|(how, refusal)| (format!("{name}.{how}"), refusal)).collect()
}

/// An error clause: where its text stands in the script, what is wrong, and the answer.
type Clause = (usize, String, Refusal);

/// What a draft says, but for what is known when all has run.
struct Draft {
    name: String,
    /// The clauses of keys and arguments; in those of keys `ACCESS` stands for what is done to them.
    declared: Vec<String>,
    trusts_arity: bool,
    errors: Vec<Clause>,
    remarks: Vec<&'static str>,
}

impl Lab<'_> {
    fn write(&mut self, name: &str, read: &Read) -> Result<String, Error> {
        // The first runs show which types the keys have; those after them are made with such keys.
        let working = match self.working_call(read)? {
            Some(_) => self.working_call(read)?,
            None => None,
        };
        let place_of = |refusal: &Refusal| match refusal {
            Refusal::Text(text) => {
                let source = read.source.as_slice();
                source.windows(text.len().max(1)).position(|part| part == text).unwrap_or(source.len())
            }
            Refusal::Raised(_) => read.source.len(),
        };
        let mut errors: Vec<Clause> = Vec::new();
        let mut add = |what: String, refusal: Refusal| errors.push((place_of(&refusal), what, refusal));
        let mut remarks = Vec::new();
        let (keys, args) = read.tried();
        let call = working.clone().unwrap_or(Call {
            keys: (0..keys).map(|at| self.fitting(at)).collect(),
            args: vec![b"1".to_vec(); args],
        });
        let arity = self.arity(&call, read)?;
        let trusts_arity = arity.is_none();
        match arity {
            Some(refusal) => add("arity".into(), refusal),
            None => remarks.push("the script does not look how many keys and arguments there are"),
        }
        let mut declared = Vec::new();
        for (at, name) in read.key_names.iter().enumerate() {
            let is_last = at == read.keys;
            let many = if is_last {
                self.many(&call, |call, count| call.keys.truncate(at + count))?
            } else {
                String::new()
            };
            let (line, errors) = self.key_clause(at, &call, name)?;
            declared.push(format!("{line}{many}\n"));
            errors.into_iter().for_each(|(what, refusal)| add(what, refusal));
        }
        for (at, name) in read.arg_names.iter().enumerate() {
            let is_last = at == read.args;
            let many = if is_last {
                self.many(&call, |call, count| call.args.truncate(at + count))?
            } else {
                String::new()
            };
            let end = if is_last { call.args.len() } else { at + 1 };
            let found = self.explore(&call, &|call, text| call.args[at..end].fill(text.to_vec()))?;
            declared.push(format!("--!argv  {name}  {}{many}\n", found.grammar));
            merged(name, found.errors).into_iter().for_each(|(what, refusal)| add(what, refusal));
        }
        if working.is_none() {
            remarks.push("no call was found that is no error: types and replies are not known");
        }
        self.measure(&call)?;
        errors.sort_by_key(|(place, ..)| *place);
        let mut draft = Draft { name: name.to_owned(), declared, trusts_arity, errors, remarks };
        if working.is_some() {
            self.refine(&mut draft)?;
        }
        Ok(self.text(&draft))
    }
    /// What every wrong number of keys and arguments is answered, if it is one thing.
    fn arity(&mut self, call: &Call, read: &Read) -> Result<Option<Refusal>, Error> {
        let bare = self.refusal(&Call { keys: Vec::new(), args: Vec::new() })?;
        let mut wrong = Vec::new();
        let mut change = |make: &dyn Fn(&mut Call)| {
            let mut changed = call.clone();
            make(&mut changed);
            wrong.push(changed);
        };
        if !read.many_keys {
            change(&|call| call.keys.push(Held(None)));
            change(&|call| call.keys.truncate(read.keys.saturating_sub(1)));
        }
        if !read.many {
            change(&|call| call.args.push(b"1".to_vec()));
            change(&|call| call.args.truncate(read.args.saturating_sub(1)));
        }
        for changed in wrong {
            let is_other = (changed.keys.len(), changed.args.len()) != (call.keys.len(), call.args.len());
            if is_other && self.refusal(&changed)? != bare {
                return Ok(None);
            }
        }
        Ok(bare.filter(|refusal| matches!(refusal, Refusal::Text(_))))
    }
    /// How many may be given of what there may be many of: `take` leaves so many of them.
    fn many(&mut self, call: &Call, take: impl Fn(&mut Call, usize)) -> Result<String, Error> {
        for least in 0..=2 {
            let mut changed = call.clone();
            take(&mut changed, least);
            if self.refusal(&changed)?.is_none() {
                return Ok(if least == 0 { " ...".into() } else { format!(" ...({least}, 1000)") });
            }
        }
        Ok(" ...".into())
    }
    /// The draft with what is known now.
    fn text(&self, draft: &Draft) -> String {
        let mut text = format!("--!contract {}\n", draft.name);
        for (at, line) in draft.declared.iter().enumerate() {
            let access = if at < self.kinds.len() { self.access(at) } else { String::new() };
            text += &line.replace(ACCESS, &access);
        }
        if draft.trusts_arity {
            text += "--!arity trusted\n";
        }
        for (_, what, refusal) in &draft.errors {
            text += &match refusal {
                Refusal::Text(told) => format!("--!error {what}  {}\n", quote(told)),
                Refusal::Raised(code) => format!("--!error {what}  {code}\n"),
            };
        }
        text += &format!("--!reply {}\n", self.reply_clause());
        text += &format!("--!instructions {}\n", (self.instructions * 2).next_multiple_of(10).max(20));
        text += "-- To finish: names, the order of errors, cases, and what was not found out.\n";
        draft.remarks.iter().for_each(|remark| text += &format!("-- {remark}\n"));
        text
    }
    /// The clause of a key, and its errors.
    fn key_clause(
        &mut self,
        at: usize,
        call: &Call,
        name: &str,
    ) -> Result<(String, Vec<(String, Refusal)>), Error> {
        let end = if at + 1 == self.kinds.len() { call.keys.len() } else { at + 1 };
        let with = |held: Held| {
            let mut changed = call.clone();
            changed.keys[at..end].fill(held);
            changed
        };
        let mut errors = Vec::new();
        let missing = self.refusal(&with(Held(None)))?;
        let kind = self.kinds[at];
        let other = TYPES.into_iter().find(|one| Some(*one) != kind && *one != "string").unwrap_or("list");
        let wrong = self.refusal(&with(Held(Some((other, Vec::new())))))?;
        let (Some(kind), Some(wrong)) = (kind, wrong) else {
            return Ok((format!("--!key   {name}  any{ACCESS}"), errors));
        };
        let mut broken = Vec::new();
        let mut grammar = String::new();
        if kind == "string" {
            let found = self.explore(call, &|call, text| {
                call.keys[at..end].fill(Held(Some(("string", text.to_vec()))))
            })?;
            grammar = format!(" {}", found.grammar);
            broken = found.errors;
        }
        let presence = if missing.is_some() { "required" } else { "optional" };
        broken.extend(missing.map(|refusal| ("missing", refusal)));
        errors.extend(merged(name, broken));
        errors.push((format!("{name}.type"), wrong));
        Ok((format!("--!key   {name}  {kind}{grammar} {presence}{ACCESS}"), errors))
    }
    fn access(&self, at: usize) -> String {
        let mut words = String::new();
        match (self.written[at], self.removed[at]) {
            (false, false) => words += " ro",
            (true, false) => words += " rw",
            (false, true) => words += " rm",
            (true, true) => words += " rw rm",
        }
        let rules: Vec<&str> = self.expiries[at].iter().copied().collect();
        match rules[..] {
            [] | ["kept"] => {}
            [one] => words += &format!(" ttl={one}"),
            _ => words += " ttl=any",
        }
        words
    }
    fn reply_clause(&self) -> String {
        let shapes: Vec<&str> = self.replies.iter().map(String::as_str).collect();
        if shapes.is_empty() || shapes.len() > 6 || shapes.contains(&"any") {
            return "any".to_owned();
        }
        shapes.join(" | ")
    }
    /// Notes what a call takes that works.
    fn measure(&mut self, call: &Call) -> Result<(), Error> {
        self.run(call)?;
        self.engine.reset()?;
        let keys: Vec<Vec<u8>> = (0..call.keys.len()).map(Self::key).collect();
        self.count(&keys, &call.args)
    }
    /// Notes what a call takes on the state that there is.
    fn count(&mut self, keys: &[Vec<u8>], args: &[Vec<u8>]) -> Result<(), Error> {
        let count = keys.len().to_string();
        let mut words: Vec<&[u8]> = vec![b"EVAL", self.script.source(), count.as_bytes()];
        words.extend(keys.iter().chain(args).map(Vec::as_slice));
        let (_, taken) = self.client.count_instructions(&words)?;
        self.instructions = self.instructions.max(taken);
        Ok(())
    }
}

/// Stands for the access to a key until all has run.
const ACCESS: &str = "\u{1}";
