//! What bytes the server front makes of bytes: requests in pieces of any size, inline commands, broken and mutated ones,
//! all compared with the reference server to the last byte and to the end of the connection.

use crate::support::served::{Front, served_engine};
use crate::support::server::server_or_skip;
use moonkeep::server::Listen;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// What each conversation begins with: it depends on nothing before.
const BEGIN: &[u8] = b"FLUSHALL\r\n";

/// Sends the pieces, ends the sending, and reads to the end of the connection.
fn converse(socket: &Path, pieces: &[&[u8]]) -> Vec<u8> {
    let mut stream = UnixStream::connect(socket).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout can be set");
    let mut answer = Vec::new();
    for piece in pieces {
        // It may have ended the connection already.
        if stream.write_all(piece).is_err() {
            break;
        }
    }
    let _ = stream.shutdown(Shutdown::Write);
    match stream.read_to_end(&mut answer) {
        Ok(_) => {}
        // Ended while we were still sending.
        Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
        Err(error) => panic!("no end of {} to {}: {error}", shown(&answer), shown(&pieces.concat())),
    }
    without_ids(answer)
}

/// What HELLO says of the client's number depends on how many came before.
fn without_ids(answer: Vec<u8>) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::new(), &answer[..]);
    const BEFORE: &[u8] = b"$2\r\nid\r\n:";
    while let Some(at) = rest.windows(BEFORE.len()).position(|window| window == BEFORE) {
        let (before, after) = rest.split_at(at + BEFORE.len());
        out.extend_from_slice(before);
        let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
        rest = &after[digits..];
    }
    out.extend_from_slice(rest);
    out
}

fn shown(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

/// Conversations that end as the server ends them, from the server's own tests of the protocol and around them.
fn conversations() -> Vec<Vec<u8>> {
    let long = |head: &[u8]| [head, &vec![b'1'; 70_000]].concat();
    let mut all: Vec<Vec<u8>> = [
        &b"\r\nPING\r\n"[..],
        b"PING\nPING\r\n",
        b"*1\r\n$4\r\nPING\r\n*2\r\n$4\r\nECHO\r\n$5\r\nhello\r\n",
        b"*0\r\nPING\r\n*-10\r\nPING\r\n",
        b"*20000000000\r\n",
        b"*2147483648\r\n",
        b"*blabla\r\n",
        b"*\r\nPING\r\n",
        b"*1 \r\n$4\r\nPING\r\n",
        b"*+1\r\n$4\r\nPING\r\n",
        b"*01\r\n$4\r\nPING\r\n",
        b"*3\r\n$3\r\nSET\r\n$1\r\nx\r\n$-10\r\n",
        b"*3\r\n$3\r\nSET\r\n$1\r\nx\r\n$2000000000\r\n",
        b"*3\r\n$3\r\nSET\r\n$1\r\nx\r\nfooz\r\n",
        b"*3\r\n$3\r\nSET\r\n$1\r\nx\r\n\x00zz\r\n",
        b"*1\r\n$blabla\r\n",
        b"*1\r\n$\r\n",
        b"*1\r\n$0\r\n\r\nPING\r\n",
        b"*1\r\n$4\r\nPINGxxPING\r\n",
        b"set \"\"\"test-key\"\"\" test-value\r\n",
        b"set 'a b' \"c\\x41\\n\"\r\nget 'a b'\r\n",
        b"get \"a\"b\r\n",
        b"get 'a\r\nPING\r\n",
        b"SET k v\r\nGET k\r\nDEL k\r\nGET k\r\n",
        b"HELLO 3\r\nGET nil\r\nHGETALL h\r\nSMEMBERS s\r\nHELLO 2\r\nGET nil\r\n",
        b"HELLO 4\r\nHELLO x\r\nHELLO 3 SETNAME\r\nHELLO 3 SETNAME \"a b\"\r\n",
        b"CLIENT REPLY OFF\r\nPING\r\nCLIENT REPLY ON\r\nPING\r\nCLIENT REPLY SKIP\r\nPING\r\nPING\r\n",
        b"MULTI\r\nSET a 1\r\nINCR a\r\nEXEC\r\nMULTI\r\nNOSUCH\r\nEXEC\r\n",
        b"SUBSCRIBE a b\r\nPING\r\nGET k\r\nUNSUBSCRIBE a b\r\nGET k\r\n",
        b"PING\r\nQUIT\r\nPING\r\n",
        b"QUIT now\r\nPING\r\n",
        b"NOSUCH a b c\r\nGET\r\nGET a b\r\nCLIENT NOSUCH\r\nOBJECT\r\n",
        b"EVAL \"return {1,2,{3,'four'},redis.status_reply('OK'),redis.error_reply('ERR x'),false,1.5}\" 0\r\n",
        b"EVAL \"redis.setresp(3) return {map={a=1}}\" 0\r\nHELLO 3\r\nEVAL \"redis.setresp(3) return {double=1.5}\" 0\r\n",
        b"BLPOP nothing 0\r\n",
        b"RPUSH l a b\r\nBLPOP l 0\r\nBLMPOP 0 1 l LEFT\r\n",
        b"GET /\r\nPOST / HTTP/1.1\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\nPING\r\n",
        b"SELECT 3\r\nSET k v\r\nSELECT 0\r\nGET k\r\nSELECT 16\r\nSELECT x\r\nSWAPDB 0 3\r\nGET k\r\n",
        b"RESET\r\nRESET\r\nPING\r\n",
    ]
    .into_iter()
    .map(<[u8]>::to_vec)
    .collect();
    all.extend([
        long(b""),
        long(b"*"),
        long(b"*1\r\n$"),
        long(b"*2\r\n$4\r\nECHO\r\n$70000\r\n"),
        long(b"PING "),
    ]);
    all
}

#[test]
fn bytes_are_answered_as_by_the_server() {
    let Some(server) = server_or_skip("bytes_are_answered_as_by_the_server") else { return };
    let engine = served_engine();
    let front = Front::new(&engine, Listen::default());
    let mut problems = Vec::new();
    for bytes in conversations() {
        let expected = converse(&server.socket(), &[&[BEGIN, &bytes].concat()]);
        let got = converse(&front.socket(), &[&[BEGIN, &bytes].concat()]);
        if got != expected {
            problems.push(format!(
                "{}\nexpected {}\ngot      {}\n",
                shown(&bytes),
                shown(&expected),
                shown(&got)
            ));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn bytes_may_come_in_pieces_of_any_size() {
    let engine = served_engine();
    let front = Front::new(&engine, Listen::default());
    // What ends a connection at once may come before earlier answers are written.
    let ends_at_once = |bytes: &[u8]| bytes.windows(4).any(|word| word == b"POST" || word == b"Host");
    for bytes in conversations().iter().filter(|bytes| bytes.len() < 200 && !ends_at_once(bytes)) {
        let whole = converse(&front.socket(), &[BEGIN, bytes]);
        for split in 1..bytes.len() {
            let (a, b) = bytes.split_at(split);
            let pieces = converse(&front.socket(), &[BEGIN, a, b]);
            assert_eq!(shown(&pieces), shown(&whole), "{} split at {split}", shown(bytes));
        }
        let bytewise: Vec<&[u8]> = [BEGIN].into_iter().chain(bytes.chunks(1)).collect();
        assert_eq!(shown(&converse(&front.socket(), &bytewise)), shown(&whole), "{} bytewise", shown(bytes));
    }
}

/// What CLIENT REPLY keeps back: in transactions, of requests without a word, before an end.
const KEPT_BACK: &[&str] = &[
    "CLIENT REPLY OFF|PING|CLIENT REPLY ON|PING",
    "CLIENT REPLY SKIP|PING|PING",
    "CLIENT REPLY SKIP|CLIENT REPLY SKIP|PING|PING",
    "CLIENT REPLY SKIP|CLIENT REPLY ON|PING",
    "CLIENT REPLY SKIP|CLIENT REPLY OFF|PING|CLIENT REPLY ON",
    "CLIENT REPLY OFF|CLIENT REPLY SKIP|PING|CLIENT REPLY ON",
    "CLIENT REPLY SKIP||PING|PING",
    "CLIENT REPLY SKIP|||PING|PING",
    "CLIENT REPLY SKIP|*0|PING|PING",
    "CLIENT REPLY SKIP|*-1|PING|PING",
    "CLIENT REPLY OFF||*0|PING|CLIENT REPLY ON",
    "CLIENT REPLY SKIP|nosuch|PING",
    "CLIENT REPLY SKIP|GET|PING",
    "CLIENT REPLY SKIP|CLIENT REPLY nosuch|PING",
    "MULTI|CLIENT REPLY OFF|PING|EXEC|PING|CLIENT REPLY ON|PING",
    "MULTI|CLIENT REPLY SKIP|PING|EXEC|PING|PING",
    "MULTI|CLIENT REPLY SKIP|EXEC|PING|PING",
    "MULTI|PING|CLIENT REPLY SKIP|EXEC|PING|PING",
    "MULTI|PING|CLIENT REPLY OFF|PING|CLIENT REPLY ON|PING|EXEC|PING",
    "MULTI|CLIENT REPLY SKIP|CLIENT REPLY ON|PING|EXEC|PING|PING",
    "MULTI|CLIENT REPLY SKIP|CLIENT REPLY OFF|EXEC|PING",
    "MULTI|CLIENT REPLY OFF|SUBSCRIBE a|LPUSH a x|LRANGE a 0 9|CLIENT REPLY ON|EXEC|PING",
    "MULTI|CLIENT REPLY SKIP|DISCARD|PING",
    "MULTI|CLIENT REPLY OFF|nosuch|EXEC|PING|CLIENT REPLY ON",
    "CLIENT REPLY SKIP|MULTI|PING|EXEC|PING",
    "MULTI|PING|CLIENT REPLY SKIP|PING|EXEC|EXEC|PING",
    "CLIENT REPLY OFF|MULTI|PING|CLIENT REPLY ON|EXEC|PING",
    "CLIENT REPLY OFF|MULTI|CLIENT REPLY ON|EXEC|PING",
    "CLIENT REPLY OFF|QUIT|PING",
    "CLIENT REPLY SKIP|QUIT|PING",
    "PING|CLIENT REPLY OFF|QUIT|PING",
    "CLIENT REPLY OFF|*x|PING",
    "CLIENT REPLY SKIP|*x|PING",
    "PING|CLIENT REPLY SKIP|*1|$y|PING",
    "CLIENT REPLY OFF|PING \"|PING",
    "CLIENT REPLY SKIP|RESET|PING|PING",
    "CLIENT REPLY OFF|RESET|PING",
    "CLIENT REPLY OFF|SUBSCRIBE a|PING|UNSUBSCRIBE a|CLIENT REPLY ON|PING",
    "HELLO 3|SUBSCRIBE a|CLIENT REPLY SKIP|PUBLISH a x|PING",
    "HELLO 3|CLIENT TRACKING ON|GET k|CLIENT REPLY OFF|SET k 1|CLIENT REPLY ON|GET k|CLIENT REPLY SKIP|SET k 2|PING",
];

#[test]
fn what_client_reply_keeps_back_is_not_written() {
    let test = "what_client_reply_keeps_back_is_not_written";
    let Some(server) = server_or_skip(test) else { return };
    let front = Front::new(&served_engine(), Listen::default());
    for lines in KEPT_BACK {
        let bytes = [BEGIN, lines.replace('|', "\r\n").as_bytes(), b"\r\n"].concat();
        let (ours, theirs) = (converse(&front.socket(), &[&bytes]), converse(&server.socket(), &[&bytes]));
        assert_eq!(shown(&ours), shown(&theirs), "{lines}");
    }
}

/// What a client might send, whole or not.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        prop::sample::select(vec!["a", "b", "1", "-1", "0", "", "x y", "GET", "*1"])
            .prop_map(|w| w.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..6),
    ];
    let name = prop::sample::select(vec![
        "SET", "GET", "RPUSH", "LRANGE", "ECHO", "PING", "MULTI", "EXEC", "HELLO", "DEL",
    ]);
    let array = (name, prop::collection::vec(word, 0..4)).prop_map(|(name, words)| {
        let mut bytes = format!("*{}\r\n${}\r\n{name}\r\n", words.len() + 1, name.len()).into_bytes();
        for word in words {
            bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
            bytes.extend_from_slice(&word);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes
    });
    let odd = prop::sample::select(vec![
        "PING\r\n",
        "SET a 'b c'\r\n",
        "\r\n",
        "*0\r\n",
        "*1\r\n",
        "$3\r\n",
        "*-1\r\n",
        "GET \"a",
        "\n",
        "*2\r\n$3\r\nGET\r\n",
    ]);
    let junk = prop_oneof![
        4 => array,
        1 => odd.prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 1..12),
    ];
    prop::collection::vec(junk, 1..8).prop_map(|pieces| pieces.concat())
}

/// Bytes, some of them changed or left out.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let change = (any::<prop::sample::Index>(), any::<u8>(), any::<bool>());
    (pieces(), prop::collection::vec(change, 0..4)).prop_map(|(mut bytes, changes)| {
        for (at, byte, removes) in changes {
            let at = at.index(bytes.len());
            match removes {
                true if bytes.len() > 1 => drop(bytes.remove(at)),
                _ => bytes[at] = byte,
            }
        }
        bytes
    })
}

#[test]
fn random_bytes_are_answered_as_by_the_server() {
    let Some(server) = server_or_skip("random_bytes_are_answered_as_by_the_server") else { return };
    let engine = served_engine();
    let front = Front::new(&engine, Listen::default());
    let cases = std::env::var("MOONKEEP_DIFF_BYTES").ok().and_then(|count| count.parse().ok()).unwrap_or(400);
    let config = Config { failure_persistence: None, ..Config::with_cases(cases) };
    let seed = moonkeep_seed();
    let rng = proptest::test_runner::TestRng::from_seed(proptest::test_runner::RngAlgorithm::ChaCha, &seed);
    let run = TestRunner::new_with_rng(config, rng).run(
        &(mutated(), any::<prop::sample::Index>()),
        |(bytes, split)| {
            let (a, b) = bytes.split_at(split.index(bytes.len()));
            let expected = converse(&server.socket(), &[&[BEGIN, &bytes].concat()]);
            let got = converse(&front.socket(), &[BEGIN, a, b]);
            prop_assert_eq!(shown(&got), shown(&expected));
            Ok(())
        },
    );
    run.expect("the same bytes");
}

fn moonkeep_seed() -> [u8; 32] {
    let seed: u64 = std::env::var("MOONKEEP_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes
}
