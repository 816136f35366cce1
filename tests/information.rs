//! What INFO and MEMORY tell, held to the reference server: the sections and fields in their order, and what is counted of
//! commands and errors after programs that reach every way in which a command can end.

use crate::support::served::Served;
use crate::support::server::server_or_skip;
use crate::support::target::{MAIN, Target, argv};
use crate::support::wire::Wire;
use crate::support::words;
use moonkeep::Engine;
use std::collections::BTreeMap;

fn text(target: &mut dyn Target, words: &[&str]) -> String {
    match target.call(MAIN, &argv(words)) {
        Wire::Bulk(text) | Wire::Verbatim(text) => String::from_utf8_lossy(&text).into_owned(),
        other => panic!("{words:?} answered {other}"),
    }
}

/// The names of sections and fields, in order. Commands of which something is counted are left out.
fn fields(target: &mut dyn Target, words: &[&str]) -> Vec<String> {
    let info = text(target, words);
    let names = info.split("\r\n").map(|line| line.split(':').next().unwrap_or_default().to_owned());
    let counted = ["cmdstat_", "latency_percentiles_usec_"];
    names.filter(|name| !counted.iter().any(|start| name.starts_with(start))).collect()
}

#[test]
fn info_has_the_fields_of_the_server_in_their_order() {
    let Some(mut server) = server_or_skip("info_has_the_fields_of_the_server_in_their_order") else { return };
    let mut moonkeep = Served::default();
    let setups: &[&[&str]] = &[
        &["SET k v"],
        &[
            "NOSUCH",
            "GET",
            "CONFIG SET appendonly yes",
            "CONFIG SET min-replicas-to-write 1",
            "DEBUG SLEEP 0",
        ],
        &["REPLICAOF 127.0.0.1 1"],
        &["REPLICAOF NO ONE", "CONFIG SET appendonly no", "CONFIG SET min-replicas-to-write 0"],
    ];
    for setup in setups {
        for line in *setup {
            let words = words::split(line).expect("words");
            moonkeep.call(MAIN, &words);
            server.call(MAIN, &words);
        }
        for words in [
            &["INFO"][..],
            &["INFO", "everything"],
            &["INFO", "ALL"],
            &["INFO", "default", "commandstats"],
            &["INFO", "cpu", "memory", "CPU"],
            &["INFO", "modules", "module_list", "sentinel"],
            &["INFO", "replication", "stats", "persistence", "clients"],
        ] {
            let mut ours = fields(&mut moonkeep, words);
            ours.retain(|name| name != "moonkeep_version");
            assert_eq!(ours, fields(&mut server, words), "{words:?} after {setup:?}");
        }
    }
}

#[test]
fn memory_stats_has_the_fields_of_the_server_in_their_order() {
    let Some(mut server) = server_or_skip("memory_stats_has_the_fields_of_the_server_in_their_order") else {
        return;
    };
    let mut moonkeep = Served::default();
    let names = |target: &mut dyn Target| {
        target.call(MAIN, &argv(&["SET", "k", "v", "EX", "100"]));
        let Wire::Array(items) = target.call(MAIN, &argv(&["MEMORY", "STATS"])) else { panic!("an array") };
        let pairs = items.chunks_exact(2).map(|pair| (pair[0].to_string(), pair[1].shape()));
        pairs.collect::<Vec<_>>()
    };
    let theirs = names(&mut server);
    assert_eq!(names(&mut moonkeep), theirs);
    assert_eq!(theirs.len(), 28);
}

/// Calls, refusals and failures of each command, and how often each error was answered.
fn counts(target: &mut dyn Target) -> BTreeMap<String, String> {
    let info = text(target, &["INFO", "commandstats", "errorstats"]);
    let total = text(target, &["INFO", "stats"]);
    let total =
        total.lines().find(|line| line.starts_with("total_error_replies:")).expect("a line").to_owned();
    let lines = info.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).chain([total]);
    let pairs = lines.filter_map(|line| {
        let (name, values) = line.split_once(':')?;
        let kept = values.split(',').filter(|value| !value.starts_with("usec"));
        Some((name.to_owned(), kept.collect::<Vec<_>>().join(",")))
    });
    pairs.filter(|(name, _)| !name.contains("cmdstat_info") && !name.contains("debug")).collect()
}

/// Lines of a program; `2>` before one is another connection.
const PROGRAMS: &[&[&str]] = &[
    &[
        "SET k v",
        "GET k",
        "GET",
        "GET k k",
        "NOSUCH",
        "",
        "INCR k",
        "LPUSH k 1",
        "set k v EX 0",
        "CLIENT ID",
        "CLIENT NOSUCH",
    ],
    &[
        "MULTI", "SET a 1", "INCR", "EXEC", "EXEC", "DISCARD", "MULTI", "MULTI", "WATCH k", "EXEC",
        "WATCH k", "UNWATCH",
    ],
    &["SET s x", "MULTI", "INCR s", "LPUSH s 1", "GET s", "AUTH a", "EXEC", "MULTI", "NOSUCH", "DISCARD"],
    &["WATCH k", "2> SET k 1", "MULTI", "GET k", "EXEC", "MULTI x", "EXEC x"],
    &[
        "EVAL \"return 1\" 0",
        "EVAL \"return redis.call('GET')\" 0",
        "EVAL \"return redis.call('NOSUCH')\" 0",
        "EVAL \"return redis.pcall('INCR', 'k')\" 0",
        "EVAL \"redis.pcall('INCR', 'k') return 1\" 0",
        "EVAL \"redis.pcall('INCR', 'k') redis.pcall('LPUSH', 'k', 1) return redis.pcall('INCR', 'k')\" 0",
        "EVAL \"return redis.error_reply('MY code')\" 0",
        "EVAL \"return {err='OWN x'}\" 0",
        "EVAL \"return {1, {err='IN x'}, redis.pcall('INCR', 'k')}\" 0",
        "EVAL \"error('boom')\" 0",
        "EVAL \"this is no lua\" 0",
        "EVALSHA 0000000000000000000000000000000000000000 0",
        "EVAL \"return redis.call('MULTI')\" 0",
        "EVAL_RO \"return redis.call('SET', 'a', 1)\" 0",
        "EVAL \"return 1\" -1",
        "EVAL x",
    ],
    &[
        "FUNCTION LOAD \"#!lua name=l\\nredis.register_function('f', function() return redis.call('INCR', 'k') end)\"",
        "SET k x",
        "FCALL f 0",
        "FCALL nosuch 0",
        "FCALL_RO f 0",
        "FUNCTION LOAD \"#!lua name=l\"",
        "FUNCTION NOSUCH",
        "FUNCTION STATS",
    ],
    &[
        "CONFIG SET maxmemory 1",
        "SET k v",
        "EVAL \"return redis.call('SET', 'k', 1)\" 0",
        "MULTI",
        "SET a 1",
        "EXEC",
        "CONFIG SET maxmemory 0",
        "CONFIG SET nosuch 1",
        "CONFIG GET x",
        "CONFIG",
    ],
    &[
        "ACL SETUSER alice on nopass ~a* +get +multi +exec +eval +auth",
        "AUTH alice x",
        "GET b",
        "SET a 1",
        "MULTI",
        "SET a 1",
        "EXEC",
        "EVAL \"return redis.call('SET', 'a', 1)\" 0",
        "AUTH default x",
        "AUTH default \"\"",
        "AUTH",
    ],
    &[
        "REPLICAOF 127.0.0.1 1",
        "SET k v",
        "EVAL \"return redis.call('SET', 'k', 1)\" 0",
        "WAIT 0 0",
        "REPLICAOF NO ONE",
        "CONFIG SET min-replicas-to-write 1",
        "SET k v",
        "CONFIG SET min-replicas-to-write 0",
    ],
    &[
        "XADD s 1 f v",
        "XADD s 1 f v",
        "XGROUP CREATECONSUMER s g c",
        "XREADGROUP GROUP g c STREAMS s >",
        "XGROUP NOSUCH s",
        "OBJECT ENCODING nokey",
        "OBJECT HELP",
        "RESTORE k 0 x",
        "RESTORE k 0 x",
        "SORT k BY",
        "HELLO 9",
        "HELLO 3 AUTH a b",
        "HELLO 2",
    ],
    &[
        "SUBSCRIBE c",
        "GET k",
        "UNSUBSCRIBE c",
        "PUBLISH c m",
        "RESET",
        "SELECT 99",
        "SWAPDB 0 99",
        "EXPIRE k x",
        "GETEX k EX -1",
    ],
];

#[test]
fn commands_and_errors_are_counted_as_on_the_server() {
    let Some(mut server) = server_or_skip("commands_and_errors_are_counted_as_on_the_server") else { return };
    let mut moonkeep = Served::default();
    for program in PROGRAMS {
        let run = |target: &mut dyn Target| {
            target.call(MAIN, &argv(&["CONFIG", "RESETSTAT"]));
            for line in *program {
                let (connection, line) = line.strip_prefix("2> ").map_or((MAIN, *line), |line| ("2", line));
                let words = words::split(line).expect("words");
                if !words.is_empty() {
                    target.call(connection, &words);
                }
            }
            counts(target)
        };
        assert_eq!(run(&mut moonkeep), run(&mut server), "{program:?}");
    }
}

#[test]
fn commands_are_told_in_order_of_name() {
    let engine = Engine::new();
    let mut client = engine.client();
    for words in [&["SET", "b", "1"][..], &["CONFIG", "GET", "x"], &["GET", "b"], &["CLIENT", "ID"], &["GET"]]
    {
        let _ = client.call(words);
    }
    let info: String = client.query(["INFO", "commandstats"]).expect("a text");
    let expected = [
        "# Commandstats",
        "cmdstat_client|id:calls=1,usec=0,usec_per_call=0.00,rejected_calls=0,failed_calls=0",
        "cmdstat_config|get:calls=1,usec=0,usec_per_call=0.00,rejected_calls=0,failed_calls=0",
        "cmdstat_get:calls=1,usec=0,usec_per_call=0.00,rejected_calls=1,failed_calls=0",
        "cmdstat_set:calls=1,usec=0,usec_per_call=0.00,rejected_calls=0,failed_calls=0",
        "",
    ];
    assert_eq!(info, expected.join("\r\n"));
}

#[test]
fn what_a_server_frees_in_the_background_is_counted() {
    let engine = Engine::new();
    let mut client = engine.client();
    let freed = |client: &mut moonkeep::Client| {
        let info: String = client.query(["INFO", "memory"]).expect("a text");
        let line = info.lines().find_map(|line| line.strip_prefix("lazyfreed_objects:").map(str::to_owned));
        line.expect("a line").parse::<u64>().expect("a number")
    };
    let fill = |client: &mut moonkeep::Client, members: usize| {
        for member in 0..members {
            client.call(["SADD", "s", &format!("m{member}")]).expect("it answers");
        }
    };
    client.call(["CONFIG", "SET", "set-max-intset-entries", "0"]).expect("it is set");
    for (members, command, counted) in
        [(64, "UNLINK", 0), (65, "UNLINK", 1), (65, "DEL", 1), (65, "GETDEL", 1), (1, "UNLINK", 1)]
    {
        fill(&mut client, members);
        let _ = client.call([command, "s"]);
        let _ = client.call(["DEL", "s"]);
        assert_eq!(freed(&mut client), counted, "{members} {command}");
    }
    client.call(["CONFIG", "SET", "lazyfree-lazy-user-del", "yes"]).expect("it is set");
    fill(&mut client, 65);
    client.call(["DEL", "s"]).expect("it goes");
    assert_eq!(freed(&mut client), 2);
    client.call(["SET", "a", "1"]).expect("it is set");
    client.call(["FLUSHALL", "ASYNC"]).expect("it goes");
    assert_eq!(freed(&mut client), 3);
    client.call(["CONFIG", "RESETSTAT"]).expect("it is reset");
    assert_eq!(freed(&mut client), 0);
}
