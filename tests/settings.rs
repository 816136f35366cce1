//! CONFIG GET and SET of each parameter, held against the reference server: defaults, values of all kinds, refusals.

use crate::support::moonkeep::Moonkeep;
use crate::support::server::server_or_skip;
use crate::support::target::{MAIN, Target, argv};
use crate::support::wire::Wire;

/// Parameters of a process: each server has its own values.
const OF_THE_PROCESS: &[&str] = &["bind", "dir", "unixsocket"];

/// Not to be set at will on a server that goes on being used: its clients would be ended, or it.
const LEFT_ALONE: &[&str] = &["maxclients", "maxmemory-clients", "requirepass", "timeout", "port", "bind"];

const VALUES: &[&str] = &[
    "",
    "0",
    "1",
    "-1",
    "yes",
    "NO",
    "x",
    "5%",
    "101%",
    "1gb",
    "1 2",
    "1 2 3",
    "1.5 99",
    "a/b",
    "10k",
    "2147483648",
    "-2147483649",
    "4294967296",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "always",
    "Debug",
    "noeviction",
    "KEA",
    "save nosave",
    "nosave now",
    "relative",
    "absolute",
    "clients",
    "hostname",
    "swapdb",
    "ignore",
    "panic",
    "allchannels",
    "optional",
    "{title}",
    "normal 1mb 2mb 60",
    "pubsub 1 1",
    "{title} {port}",
    " 1",
    "+1",
    "1\0x",
    "1,2",
    "0x10",
];

fn pairs(reply: &Wire) -> Vec<(String, String)> {
    let text = |wire: &Wire| String::from_utf8_lossy(wire.bytes().unwrap_or_default()).into_owned();
    let mut pairs: Vec<_> = reply.items().chunks(2).map(|pair| (text(&pair[0]), text(&pair[1]))).collect();
    pairs.sort();
    pairs
}

#[test]
fn a_new_engine_has_the_parameters_of_a_new_server() {
    let Some(mut server) = server_or_skip("a_new_engine_has_the_parameters_of_a_new_server") else { return };
    let (ours, theirs) = both(&mut server, &["CONFIG", "GET", "*"]);
    let (ours, theirs) = (pairs(&ours), pairs(&theirs));
    let names = |pairs: &[(String, String)]| pairs.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&ours), names(&theirs));
    let differ = ours.iter().zip(&theirs).filter(|(ours, theirs)| ours != theirs);
    let differ: Vec<&str> = differ.map(|((name, _), _)| name.as_str()).collect();
    assert_eq!(differ, OF_THE_PROCESS);
}

fn both(server: &mut impl Target, words: &[&str]) -> (Wire, Wire) {
    (Moonkeep::default().call(MAIN, &argv(words)), server.call(MAIN, &argv(words)))
}

#[test]
fn each_parameter_takes_what_the_server_takes() {
    let Some(mut server) = server_or_skip("each_parameter_takes_what_the_server_takes") else { return };
    let mut moonkeep = Moonkeep::default();
    let mut problems = Vec::new();
    let known = pairs(&moonkeep.call(MAIN, &argv(&["CONFIG", "GET", "*"])));
    let known = known.iter().filter(|(name, _)| !LEFT_ALONE.contains(&name.as_str()));
    for (name, default) in known {
        for value in VALUES.iter().chain([&default.as_str()]) {
            for words in [&["CONFIG", "SET", name, value][..], &["CONFIG", "GET", name]] {
                let (ours, theirs) = (moonkeep.call(MAIN, &argv(words)), server.call(MAIN, &argv(words)));
                let is_value = words.len() == 3 && OF_THE_PROCESS.contains(&name.as_str());
                if ours != theirs && !is_value {
                    problems.push(format!("{name} {value:?}\nserver   {theirs}\nmoonkeep {ours}"));
                }
            }
        }
    }
    assert!(problems.is_empty(), "{} differ:\n{}", problems.len(), problems.join("\n"));
}
