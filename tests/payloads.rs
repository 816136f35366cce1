//! DUMP and RESTORE beside the server's, on random values of each type and form: a dump made on either side is taken by
//! the other with the same value, which DEBUG DIGEST-VALUE confirms; where the form leaves no choice the dumps are equal
//! byte for byte. And damaged dumps: whatever is changed in one, it is refused or read, and costs no memory.

use crate::diff::rng::Rng;
use crate::support::moonkeep::Moonkeep;
use crate::support::server::{Server, server_or_skip};
use crate::support::target::{MAIN, Target, argv};
use crate::support::wire::Wire;

const PROGRAMS: u64 = 400;

/// Keys whose dumps leave no choice to who makes them. Of what was deleted within a stream the
/// server dumps all, moonkeep what it goes by.
fn is_determined(encoding: &[u8], commands: &[Vec<Vec<u8>>]) -> bool {
    match encoding {
        b"hashtable" => false,
        b"stream" => !commands.iter().any(|command| command[0] == b"XDEL" || command[0] == b"XTRIM"),
        _ => true,
    }
}

fn call(side: &mut dyn Target, words: &[&[u8]]) -> Wire {
    side.call(MAIN, &words.iter().map(|word| word.to_vec()).collect::<Vec<_>>())
}

fn bytes(reply: &Wire) -> Vec<u8> {
    reply.bytes().unwrap_or_else(|| panic!("no bytes: {reply}")).to_vec()
}

fn text(rng: &mut Rng) -> Vec<u8> {
    match rng.below(12) {
        0 => Vec::new(),
        1 => vec![b'x'; rng.below(200)],
        2 => (0..rng.below(300)).map(|_| rng.next() as u8).collect(),
        3 => vec![rng.next() as u8; 1 + rng.below(9000)],
        4..=7 => ((rng.next() as i64) >> rng.below(64)).to_string().into_bytes(),
        _ => format!("text{}", rng.below(50)).into_bytes(),
    }
}

fn score(rng: &mut Rng) -> Vec<u8> {
    let text = match rng.below(8) {
        0 => "inf".into(),
        1 => "-inf".into(),
        2 => "-0".into(),
        3 => format!("{:e}", f64::from_bits(rng.next()).abs().min(1e300)),
        4 => format!("{}.5", rng.below(1000)),
        _ => ((rng.next() as i64) >> rng.below(64)).to_string(),
    };
    if text == "NaN" { b"0".to_vec() } else { text.into_bytes() }
}

/// Commands that make a value of a random type and form under the key `k`.
pub(crate) fn recipe(rng: &mut Rng) -> Vec<Vec<Vec<u8>>> {
    let few = [1, 3, 20, 200, 700][rng.below(5)];
    let mut commands = Vec::new();
    let mut command = |words: Vec<Vec<u8>>| commands.push(words);
    let start = |name: &str| vec![name.as_bytes().to_vec(), b"k".to_vec()];
    let kind = rng.below(9);
    if kind > 6 {
        return stream(rng, few);
    }
    for _ in 0..1 + rng.below(few) {
        match kind {
            0 => command([start("SET"), vec![text(rng)]].concat()),
            1 => command([start("APPEND"), vec![text(rng)]].concat()),
            2 => command([start(["RPUSH", "RPUSH", "LPUSH"][rng.below(3)]), vec![text(rng)]].concat()),
            3 => command([start("SADD"), vec![text(rng)]].concat()),
            4 => command(
                [start("SADD"), vec![(rng.next() as i64 >> rng.below(64)).to_string().into()]].concat(),
            ),
            5 => command([start("HSET"), vec![text(rng), text(rng)]].concat()),
            _ => command([start("ZADD"), vec![score(rng), text(rng)]].concat()),
        }
    }
    commands
}

/// Commands that make a stream with groups.
fn stream(rng: &mut Rng, steps: usize) -> Vec<Vec<Vec<u8>>> {
    let mut commands = vec![argv(&["XGROUP", "CREATE", "k", "g", "0", "MKSTREAM"])];
    for step in 0..3 + rng.below(steps) {
        let id = format!("{}-{}", 1 + rng.below(step + 2), rng.below(3));
        let count = rng.below(20).to_string();
        let consumer = ["c", "d", "e"][rng.below(3)];
        commands.push(match rng.below(24) {
            0 => argv(&["XDEL", "k", &id]),
            1 => {
                argv(&["XTRIM", "k", "MAXLEN", ["~", "="][rng.below(2)], &(50 + rng.below(100)).to_string()])
            }
            2 => argv(&["XGROUP", "CREATE", "k", "h", &id, "ENTRIESREAD", &count]),
            3 => argv(&["XGROUP", "CREATE", "k", "i", "$"]),
            4..8 => argv(&["XREADGROUP", "GROUP", "g", consumer, "COUNT", &count, "STREAMS", "k", ">"]),
            8 => argv(&["XREADGROUP", "GROUP", "h", consumer, "STREAMS", "k", ">"]),
            9 => argv(&["XACK", "k", "g", &id, "3-0", "5-1"]),
            10 => argv(&["XAUTOCLAIM", "k", "g", consumer, "0", &id, "COUNT", "3"]),
            11 => argv(&["XGROUP", "DELCONSUMER", "k", "g", consumer]),
            12 => argv(&["XGROUP", "CREATECONSUMER", "k", "g", consumer]),
            13 => argv(&["XADD", "k", &format!("{}-*", step + 1), "other", "1", "field", "-70000"]),
            _ => {
                let mut words =
                    argv(&["XADD", "k", &format!("{}-{}", step + 1, rng.below(3)), "a", "1", "b"]);
                words.push(text(rng));
                words
            }
        });
    }
    commands
}

struct Pair {
    server: Server,
    moonkeep: Moonkeep,
}

impl Pair {
    fn digest(&mut self, key: &[u8]) -> String {
        call(&mut self.server, &[b"DEBUG", b"DIGEST-VALUE", key]).to_string()
    }
    fn encodings(&mut self, key: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let ask = [&b"OBJECT"[..], b"ENCODING", key];
        (bytes(&call(&mut self.server, &ask)), bytes(&call(&mut self.moonkeep, &ask)))
    }
    /// Makes a value on both sides and passes it to and fro; what went wrong.
    fn compare(&mut self, commands: &[Vec<Vec<u8>>]) -> Result<(), String> {
        self.server.reset();
        self.moonkeep.reset();
        for command in commands {
            self.server.call(MAIN, command);
            self.moonkeep.call(MAIN, command);
        }
        let dumps = [
            bytes(&call(&mut self.server, &[b"DUMP", b"k"])),
            bytes(&call(&mut self.moonkeep, &[b"DUMP", b"k"])),
        ];
        let digest = self.digest(b"k");
        let (encoding, own) = self.encodings(b"k");
        if encoding != own {
            return Err("the forms differ before".into());
        }
        if is_determined(&encoding, commands) && pushed_at_the_back(commands) && dumps[0] != dumps[1] {
            return Err(format!("the dumps differ:\n{:?}\n{:?}", dumps[0], dumps[1]));
        }
        for (at, dump) in dumps.iter().enumerate() {
            for side in [&mut self.server as &mut dyn Target, &mut self.moonkeep] {
                let reply = call(side, &[b"RESTORE", b"copy", b"0", dump, b"REPLACE"]).to_string();
                if reply != "+OK" {
                    return Err(format!("dump {at} is answered {reply}"));
                }
            }
            let found = self.digest(b"copy");
            if found != digest {
                return Err(format!("dump {at}: another value at the server"));
            }
            let again = bytes(&call(&mut self.moonkeep, &[b"DUMP", b"copy"]));
            let reply = call(&mut self.server, &[b"RESTORE", b"again", b"0", &again, b"REPLACE"]).to_string();
            if reply != "+OK" || self.digest(b"again") != digest {
                return Err(format!("dump {at}: another value here ({reply})"));
            }
            let info = [&b"XINFO"[..], b"STREAM", b"copy", b"FULL", b"COUNT", b"0"];
            let (expected, got) = (call(&mut self.server, &info), call(&mut self.moonkeep, &info));
            if expected != got {
                return Err(format!("dump {at}: XINFO answers\n{expected}\n{got}"));
            }
            let (there, here) = self.encodings(b"copy");
            if there != here {
                return Err(format!("dump {at}: {there:?} is {here:?} here"));
            }
        }
        Ok(())
    }
}

/// The nodes of a list are those of the pushes only when all were at the same end.
fn pushed_at_the_back(commands: &[Vec<Vec<u8>>]) -> bool {
    commands.iter().all(|command| command[0] != b"LPUSH")
}

#[test]
fn dumps_pass_to_and_fro() {
    let Some(server) = server_or_skip("dumps_pass_to_and_fro") else { return };
    let mut pair = Pair { server, moonkeep: Moonkeep::default() };
    let number =
        |name: &str, default| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let seed: u64 = number("MOONKEEP_SEED", 1);
    for program in 0..number("MOONKEEP_DIFF_PROGRAMS", PROGRAMS) {
        let commands = recipe(&mut Rng::new(seed ^ (program << 20)));
        if let Err(problem) = pair.compare(&commands) {
            let lines: Vec<String> =
                commands.iter().map(|words| crate::support::words::join(words)).collect();
            panic!("seed {seed}, program {program}: {problem}\n{}", lines.join("\n"));
        }
    }
}

/// Nodes of a stream that lost their last entry, or all, are in its dump.
#[test]
fn a_dump_of_a_stream_keeps_its_nodes() {
    keeps_nodes(&mut Moonkeep::default());
    if let Some(mut server) = server_or_skip("a_dump_of_a_stream_keeps_its_nodes") {
        keeps_nodes(&mut server);
    }
}

fn keeps_nodes(side: &mut dyn Target) {
    let words = |line: &str| line.split(' ').map(|word| word.as_bytes().to_vec()).collect::<Vec<_>>();
    side.call(MAIN, &words("CONFIG SET stream-node-max-entries 2"));
    for line in ["XADD s 1-1 f v", "XADD s 1-2 f v", "XADD s 1-3 f v", "XDEL s 1-2"] {
        side.call(MAIN, &words(line));
    }
    for line in ["XADD t 1-2 f v", "XADD t 2-1 f v", "XDEL t 2-1", "XTRIM t MINID 2-1"] {
        side.call(MAIN, &words(line));
    }
    for key in ["s", "t"] {
        let dump = bytes(&side.call(MAIN, &words(&format!("DUMP {key}"))));
        let reply = call(side, &[b"RESTORE", key.as_bytes(), b"0", &dump, b"REPLACE"]);
        assert_eq!(reply.to_string(), "+OK");
    }
    for (line, expected) in [
        ("XTRIM s MINID ~ 1-2", ":0"),
        ("XTRIM s MINID ~ 1-3", ":1"),
        (
            "XINFO STREAM t",
            r#"["length", :0, "radix-tree-keys", :1, "radix-tree-nodes", :2, "last-generated-id", "2-1", "max-deleted-entry-id", "2-1", "entries-added", :2, "recorded-first-entry-id", "0-0", "groups", :0, "first-entry", nil, "last-entry", nil]"#,
        ),
    ] {
        assert_eq!(side.call(MAIN, &words(line)).to_string(), expected, "{line}");
    }
}

#[test]
fn a_dump_that_contradicts_itself_is_refused() {
    let twice = b"\x04\x02\x01a\x01b\x01a\x01c";
    let uncounted = b"\x10\x0d\x0d\0\0\0\x03\0\x81a\x02\x81b\x02\xff";
    let disordered = b"\x0b\x0c\x02\0\0\0\x02\0\0\0\x02\0\x01\0";
    let mut moonkeep = Moonkeep::default();
    for bytes in [&twice[..], uncounted, disordered] {
        let mut dump = moonkeep::value::rdb::Writer::default();
        dump.bytes(bytes);
        let reply = call(&mut moonkeep, &[b"RESTORE", b"k", b"0", &dump.finish()]);
        assert_eq!(reply.to_string(), "-ERR Bad data format", "{bytes:?}");
    }
}

#[test]
fn migrate_says_that_there_is_no_network() {
    let mut moonkeep = Moonkeep::default();
    moonkeep.call(MAIN, &argv(&["SET", "k", "v"]));
    let reply = moonkeep.call(MAIN, &argv(&["MIGRATE", "host", "6379", "k", "0", "100"])).to_string();
    assert_eq!(
        reply,
        "-ERR MIGRATE is not supported by moonkeep: an engine has no network. Use DUMP and RESTORE."
    );
}
