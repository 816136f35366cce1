//! The Rust API and what only it can see: sessions that end, threads that share an engine, the held clock, the journal,
//! typed replies. What a client reads is in the corpus.

use moonkeep::reply::resp::encode;
use moonkeep::{Client, Clock, Engine, Error, Journal, Reply, Script};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

const fn is_send<T: Send>() {}
const fn is_sync<T: Sync>() {}
const _: () = {
    is_send::<Engine>();
    is_sync::<Engine>();
    is_send::<Client>();
    is_send::<Reply>();
    is_sync::<Reply>();
    is_send::<Error>();
    is_sync::<Error>();
};

fn text(client: &mut Client, command: &str) -> String {
    let words: Vec<&str> = command.split_whitespace().collect();
    let mut out = Reply::new();
    match client.call_into(words, &mut out) {
        Ok(()) => format!("{out:?}"),
        Err(error) => format!("error: {error}"),
    }
}

fn texts(client: &mut Client, commands: &[&str]) -> Vec<String> {
    commands.iter().map(|command| text(client, command)).collect()
}

#[test]
fn eight_threads_lose_no_update() {
    const TIMES: i64 = 2_000;
    let engine = Engine::new();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let engine = engine.clone();
            scope.spawn(move || {
                let mut client = engine.client();
                for _ in 0..TIMES {
                    client.call(["INCR", "n"]).expect("INCR answers");
                }
            });
        }
    });
    assert_eq!(engine.client().query::<i64, _>(["GET", "n"]), Ok(8 * TIMES));
}

#[test]
fn threads_that_watch_lose_no_update_either() {
    const TIMES: i64 = 100;
    let engine = Engine::new();
    engine.client().call(["SET", "n", "0"]).expect("SET answers");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let mut client = engine.client();
            scope.spawn(move || {
                for _ in 0..TIMES {
                    while !add_one(&mut client).expect("no error") {}
                }
            });
        }
    });
    assert_eq!(engine.client().query::<i64, _>(["GET", "n"]), Ok(4 * TIMES));
}

/// Reads, then writes what follows if nobody else wrote: false when somebody did.
fn add_one(client: &mut Client) -> Result<bool, Error> {
    client.call(["WATCH", "n"])?;
    let n: i64 = client.query(["GET", "n"])?;
    client.call(["MULTI"])?;
    client.call(["SET", "n", &(n + 1).to_string()])?;
    Ok(client.query::<Option<Vec<String>>, _>(["EXEC"])?.is_some())
}

#[test]
fn a_client_moves_between_threads() {
    let mut client = Engine::new().client();
    client.call(["SELECT", "3"]).expect("SELECT answers");
    let mut client = std::thread::spawn(move || {
        client.call(["SET", "k", "v"]).expect("SET answers");
        client
    })
    .join()
    .expect("no panic");
    assert_eq!(client.query::<String, _>(["GET", "k"]), Ok("v".to_owned()));
}

#[test]
fn a_dropped_client_is_closed_with_all_it_had() {
    let engine = Engine::new();
    let mut stays = engine.client();
    let connected = |client: &mut Client| {
        let info: String = client.query(["INFO", "clients"]).expect("INFO answers");
        info.lines().find_map(|line| line.strip_prefix("connected_clients:")).map(str::to_owned)
    };
    let mut goes = engine.client();
    texts(&mut goes, &["CLIENT SETNAME goes", "WATCH k", "MULTI", "SET k 1"]);
    assert_eq!(connected(&mut stays).as_deref(), Some("2"));
    drop(goes);
    assert_eq!(connected(&mut stays).as_deref(), Some("1"));
    assert_eq!(text(&mut stays, "EXISTS k"), ":0");
    // The number of a client is never used again, though its place is.
    assert_eq!(text(&mut engine.client(), "CLIENT ID"), ":3");
    assert_eq!(text(&mut engine.client(), "CLIENT GETNAME"), "nil");
}

#[test]
fn quit_answers_and_ends_the_session() {
    let engine = Engine::new();
    let mut client = engine.client();
    assert_eq!(text(&mut client, "QUIT"), "+OK");
    let error = client.call(["PING"]).expect_err("the session has ended");
    assert!(error.is_closed() && !error.is_reply() && error.code().is_none());
    assert_eq!(
        error.to_string(),
        "the session has ended, by QUIT, CLIENT KILL or too many unread messages; open another one"
    );
    assert_eq!(text(&mut engine.client(), "PING"), "+PONG");
}

#[test]
fn client_kill_ends_others_and_itself() {
    let engine = Engine::new();
    let (mut one, mut two, mut three) = (engine.client(), engine.client(), engine.client());
    assert_eq!(texts(&mut two, &["WATCH k", "MULTI"]), ["+OK", "+OK"]);
    assert_eq!(text(&mut one, "CLIENT KILL ID 2"), ":1");
    assert!(two.call(["EXEC"]).is_err_and(|error| error.is_closed()));
    assert_eq!(text(&mut one, "CLIENT KILL ID 2"), ":0");
    assert_eq!(text(&mut one, "CLIENT KILL local:3"), "+OK");
    assert!(three.call(["PING"]).is_err_and(|error| error.is_closed()));
    assert_eq!(text(&mut one, "CLIENT KILL TYPE normal"), ":0");
    let mut four = engine.client();
    assert_eq!(text(&mut one, "CLIENT KILL TYPE normal SKIPME no"), ":2");
    assert!(one.call(["PING"]).is_err_and(|error| error.is_closed()));
    assert!(four.call(["PING"]).is_err_and(|error| error.is_closed()));
}

#[test]
fn client_reply_suppresses_replies() {
    let mut client = Engine::new().client();
    let replies = texts(
        &mut client,
        &[
            "CLIENT REPLY SKIP",
            "SET k 1",
            "GET k",
            "CLIENT REPLY OFF",
            "SET k 2",
            "NOSUCH",
            "CLIENT REPLY SKIP",
            "GET k",
            "CLIENT REPLY ON",
            "GET k",
            "CLIENT REPLY SKIP",
            "CLIENT REPLY SKIP",
            "GET k",
            "GET k",
        ],
    );
    assert_eq!(replies, ["", "", "\"1\"", "", "", "", "", "", "+OK", "\"2\"", "", "", "", "\"2\""]);
    client.call(["CLIENT", "REPLY", "OFF"]).expect("no reply is no error");
    assert_eq!(client.query::<(), _>(["SET", "k", "3"]), Ok(()));
    assert_eq!(client.query::<Option<String>, _>(["GET", "k"]), Ok(None));
}

#[test]
fn client_list_shows_what_the_engine_knows() {
    let engine = Engine::new();
    let (mut one, mut two) = (engine.client(), engine.client());
    texts(&mut one, &["CLIENT SETNAME watcher", "SELECT 2", "WATCH k", "MULTI", "SET k v", "GET k"]);
    engine.advance(Duration::from_secs(5)).expect("a manual clock");
    texts(&mut two, &["HELLO 3", "CLIENT NO-EVICT ON", "NOSUCH"]);
    let list: String = two.query(["CLIENT", "LIST"]).expect("CLIENT LIST answers");
    let lines: Vec<String> = list.lines().map(without_memory).collect();
    assert_eq!(
        lines,
        [
            "id=1 addr=local:1 laddr=local:0 fd=-1 name=watcher age=5 idle=5 flags=x db=2 sub=0 psub=0 ssub=0 multi=2 \
             qbuf=0 qbuf-free=0 argv-mem=0 multi-mem=49 rbs=1024 rbp=0 obl=0 oll=0 omem=0 events=r cmd=get \
             user=default redir=-1 resp=2",
            "id=2 addr=local:2 laddr=local:0 fd=-1 name= age=5 idle=0 flags=e db=0 sub=0 psub=0 ssub=0 multi=-1 \
             qbuf=0 qbuf-free=0 argv-mem=0 multi-mem=0 rbs=1024 rbp=0 obl=0 oll=0 omem=0 events=r cmd=client|list \
             user=default redir=-1 resp=3",
        ]
    );
    texts(&mut two, &["SELECT 2", "SET k changed"]);
    let list: String = two.query(["CLIENT", "LIST", "ID", "1"]).expect("CLIENT LIST answers");
    assert!(list.contains(" flags=xd ") && list.lines().count() == 1, "{list}");
}

#[test]
fn client_info_inside_exec_shows_the_transaction() {
    let mut client = Engine::new().client();
    texts(&mut client, &["MULTI", "PING", "CLIENT INFO"]);
    let (_, info): (String, String) = client.query(["EXEC"]).expect("EXEC answers");
    assert!(
        info.contains(" flags=x ") && info.contains(" multi=2 ") && info.contains(" cmd=exec "),
        "{info}"
    );
    let info: String = client.query(["CLIENT", "INFO"]).expect("CLIENT INFO answers");
    assert!(info.contains(" flags=N ") && info.contains(" multi=-1 "), "{info}");
}

/// A line of CLIENT LIST without the size of the session, which follows the platform.
fn without_memory(line: &str) -> String {
    let fields = line.split(' ').filter(|field| !field.starts_with("tot-mem="));
    fields.collect::<Vec<_>>().join(" ")
}

#[test]
fn debug_sleep_moves_the_clock_but_not_the_time_of_a_transaction() {
    let engine = Engine::builder().clock(Clock::manual(1_000_000)).build();
    let mut client = engine.client();
    texts(&mut client, &["SET k v PX 20", "MULTI", "DEBUG SLEEP 0.03", "PTTL k", "TIME", "GET k"]);
    assert_eq!(text(&mut client, "EXEC"), "[+OK, :20, [\"1000\", \"0\"], \"v\"]");
    assert_eq!(engine.now_ms(), Ok(1_000_030));
    assert_eq!(texts(&mut client, &["GET k", "TIME"]), ["nil", "[\"1000\", \"30000\"]"]);
    assert_eq!(text(&mut client, "DEBUG SLEEP 0.0000015"), "+OK");
    assert_eq!(text(&mut client, "TIME"), "[\"1000\", \"30001\"]");
    assert_eq!(texts(&mut client, &["DEBUG SLEEP nan", "DEBUG SLEEP -1"]), ["+OK", "+OK"]);
    assert_eq!(engine.now_ms(), Ok(1_000_030));
}

/// What the journal holds, a command a line, with the database where it is not 0.
fn lines(journal: &Journal) -> Vec<String> {
    let entries = journal.take().expect("the engine is well");
    let line = |argv: &Vec<Vec<u8>>| String::from_utf8_lossy(&argv.join(&b' ')).into_owned();
    let db = |db| if db == 0 { String::new() } else { format!("{db}: ") };
    entries.iter().map(|entry| db(entry.db) + &line(&entry.argv)).collect()
}

#[test]
fn the_journal_brackets_the_writes_of_a_transaction() {
    let engine = Engine::new();
    let mut client = engine.client();
    let journal = engine.subscribe_journal().expect("the engine is well");
    texts(&mut client, &["MULTI", "SET a 1", "GET a", "INCR a", "LPUSH a x", "EXEC"]);
    assert_eq!(lines(&journal), ["MULTI", "SET a 1", "INCR a", "EXEC"]);
    texts(&mut client, &["MULTI", "GET a", "SET a 1", "PING", "EXEC"]);
    assert_eq!(lines(&journal), ["SET a 1"]);
    texts(
        &mut client,
        &["MULTI", "GET a", "DEL nokey", "EXEC", "MULTI", "EXEC", "MULTI", "SET a 2", "DISCARD"],
    );
    assert_eq!(lines(&journal), [""; 0]);
    texts(&mut client, &["MULTI", "SELECT 1", "SET b 1", "EXEC", "FLUSHALL ASYNC", "FLUSHDB", "SWAPDB 0 0"]);
    assert_eq!(lines(&journal), ["1: SET b 1", "1: FLUSHALL ASYNC", "1: FLUSHDB", "1: SWAPDB 0 0"]);
}

#[test]
fn own_exec_does_not_break_the_next_watch() {
    let mut client = Engine::new().client();
    let commands = ["WATCH k", "MULTI", "SET k 1", "EXEC", "WATCH k", "MULTI", "SET k 2", "EXEC"];
    assert_eq!(
        texts(&mut client, &commands),
        ["+OK", "+OK", "+QUEUED", "[+OK]", "+OK", "+OK", "+QUEUED", "[+OK]"]
    );
}

#[test]
fn a_broken_exec_is_null_in_both_protocols() {
    let engine = Engine::new();
    let (mut client, mut other) = (engine.client(), engine.client());
    let mut wire = |version, client: &mut Client| {
        texts(client, &["WATCH k"]);
        texts(&mut other, &["INCR k"]);
        texts(client, &["MULTI", "PING"]);
        let mut bytes = Vec::new();
        encode(&client.call(["EXEC"]).expect("EXEC answers"), version, &mut bytes);
        String::from_utf8(bytes).expect("ascii")
    };
    assert_eq!(wire(moonkeep::reply::Resp::V2, &mut client), "*-1\r\n");
    assert_eq!(wire(moonkeep::reply::Resp::V3, &mut client), "_\r\n");
}

#[test]
fn info_follows_from_calls_clock_and_seed() {
    let info = |seed| {
        let engine = Engine::builder().seed(seed).build();
        let mut client = engine.client();
        texts(
            &mut client,
            &["SET a 1", "SET b 1 EX 5", "GET a", "GET nokey", "NOSUCH", "SELECT 3", "SET c 1"],
        );
        engine.advance(Duration::from_secs(90_000)).expect("a manual clock");
        client.query::<String, _>(["INFO"]).expect("INFO answers")
    };
    let one = info(1);
    assert_eq!(one, info(1));
    assert_ne!(one, info(2));
    for line in [
        "# Server\r\nredis_version:7.0.15\r\n",
        "uptime_in_seconds:90000\r\nuptime_in_days:1\r\n",
        "\r\n\r\n# Clients\r\nconnected_clients:1\r\n",
        "total_connections_received:1\r\ntotal_commands_processed:6\r\ninstantaneous_ops_per_sec:0\r\n",
        "expired_keys:1\r\n",
        "process_id:0\r\n",
        "used_cpu_user:0.000000\r\n",
        "# Errorstats\r\nerrorstat_ERR:count=1\r\n",
        "keyspace_hits:1\r\nkeyspace_misses:1\r\npubsub_channels:0\r\npubsub_patterns:0\r\npubsubshard_channels:0\r\n",
        "total_error_replies:1\r\n",
        "\r\n\r\n# Keyspace\r\ndb0:keys=1,expires=0,avg_ttl=0\r\ndb3:keys=1,expires=0,avg_ttl=0\r\n",
    ] {
        assert!(one.contains(line), "{line:?} in {one}");
    }
    let run_id = one.lines().find_map(|line| line.strip_prefix("run_id:")).expect("a run id");
    assert!(run_id.len() == 40 && run_id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{run_id}");
}

#[test]
fn info_takes_sections_in_its_own_order() {
    let mut client = Engine::new().client();
    let sections = |client: &mut Client, words: &[&str]| {
        let info: String = client.query(words).expect("INFO answers");
        let names = info.lines().filter_map(|line| line.strip_prefix("# "));
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(sections(&mut client, &["INFO", "keyspace", "SERVER", "server"]), ["Server", "Keyspace"]);
    assert_eq!(sections(&mut client, &["INFO", "nosuch"]), [""; 0]);
    let default = sections(&mut client, &["INFO"]);
    for word in ["default", "DEFAULT"] {
        assert_eq!(sections(&mut client, &["INFO", "nosuch", word]), default);
    }
    let all = [
        "Server",
        "Clients",
        "Memory",
        "Persistence",
        "Stats",
        "Replication",
        "CPU",
        "Modules",
        "Commandstats",
        "Errorstats",
        "Latencystats",
        "Cluster",
        "Keyspace",
    ];
    for word in ["all", "everything", "ALL"] {
        assert_eq!(sections(&mut client, &["INFO", "nosuch", word]), all);
    }
    assert_eq!(
        default,
        all.map(str::to_owned)
            .into_iter()
            .filter(|name| !["Commandstats", "Latencystats"].contains(&name.as_str()))
            .collect::<Vec<_>>()
    );
    client.call(["HELLO", "3"]).expect("HELLO answers");
    assert_eq!(text(&mut client, "INFO cluster"), "=txt:# Cluster\r\ncluster_enabled:0\r\n");
}

#[test]
fn used_memory_grows_and_shrinks_with_the_keys() {
    let mut client = Engine::new().client();
    let used = |client: &mut Client| {
        let info: String = client.query(["INFO", "memory"]).expect("INFO answers");
        let used = info.lines().find_map(|line| line.strip_prefix("used_memory:"));
        used.and_then(|text| text.parse::<u64>().ok()).expect("a number")
    };
    let before = used(&mut client);
    client.call(["SET", "big", &"x".repeat(100_000)]).expect("SET answers");
    let with = used(&mut client);
    assert!(with >= before + 100_000, "{before} {with}");
    client.call(["FLUSHALL"]).expect("FLUSHALL answers");
    assert_eq!(used(&mut client), before);
}

#[test]
fn config_shows_the_number_of_databases_and_takes_patterns_in_order() {
    let mut client = Engine::builder().databases(3).build().client();
    assert_eq!(text(&mut client, "CONFIG GET databases"), "%{\"databases\"=>\"3\"}");
    assert_eq!(text(&mut client, "SELECT 3"), "-ERR DB index is out of range");
    let names: Vec<(String, String)> =
        client.query(["CONFIG", "GET", "lua-*", "hash-max-*-entries", "*"]).expect("CONFIG GET answers");
    let names: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names[..3], ["lua-time-limit", "hash-max-listpack-entries", "hash-max-ziplist-entries"]);
    assert_eq!(names.len(), names.iter().collect::<BTreeSet<_>>().len());
    let mut rest = names[3..].to_vec();
    rest.sort_unstable();
    assert_eq!(rest, names[3..]);
}

#[test]
fn resetstat_resets() {
    let mut client = Engine::new().client();
    texts(&mut client, &["SET a 1", "GET a", "GET b", "NOSUCH", "CONFIG RESETSTAT"]);
    let info: BTreeMap<String, String> = {
        let info: String = client.query(["INFO", "stats"]).expect("INFO answers");
        let pairs = info.lines().filter_map(|line| line.split_once(':'));
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    };
    for field in ["keyspace_hits", "keyspace_misses", "total_error_replies", "total_connections_received"] {
        assert_eq!(info.get(field).map(String::as_str), Some("0"), "{field}");
    }
}

#[test]
fn replies_are_read_as_the_types_people_ask_for() -> Result<(), Error> {
    let mut client = Engine::new().client();
    client.call(["HSET", "h", "a", "1", "b", "2"])?;
    client.call(["MSET", "x", "1.5", "y", "-3"])?;
    let pairs: Vec<(String, i64)> = client.query(["HGETALL", "h"])?;
    assert_eq!(pairs, [("a".to_owned(), 1), ("b".to_owned(), 2)]);
    let map: BTreeMap<String, u16> = client.query(["HGETALL", "h"])?;
    assert_eq!(map.len(), 2);
    let flat: Vec<String> = client.query(["HGETALL", "h"])?;
    assert_eq!(flat, ["a", "1", "b", "2"]);
    let many: (f64, i32, Option<String>) = client.query(["MGET", "x", "y", "nokey"])?;
    assert_eq!(many, (1.5, -3, None));
    let queue: VecDeque<Option<f32>> = client.query(["MGET", "x", "nokey"])?;
    assert_eq!(queue, [Some(1.5), None]);
    let set: BTreeSet<String> = client.query(["HKEYS", "h"])?;
    assert_eq!(set.into_iter().collect::<String>(), "ab");
    assert_eq!(client.query::<bool, _>(["SET", "k", "v"]), Ok(true));
    assert_eq!(client.query::<bool, _>(["SET", "k", "v", "NX"]), Ok(false));
    assert_eq!(client.query::<Vec<u8>, _>(["GET", "k"]), Ok(b"v".to_vec()));
    assert_eq!(client.query::<String, _>(["INCR", "n"]), Ok("1".to_owned()));
    Ok(())
}

#[test]
fn errors_among_the_results_of_exec_are_values() -> Result<(), Error> {
    let mut client = Engine::new().client();
    texts(&mut client, &["SET s x", "MULTI", "INCR n", "INCR s", "GET s"]);
    let (n, s, text): (i64, Result<i64, Error>, String) = client.query(["EXEC"])?;
    assert_eq!((n, text.as_str()), (1, "x"));
    let error = s.expect_err("s is no number");
    assert_eq!((error.code(), error.is_reply()), (Some("ERR"), true));
    assert_eq!(error.reply_text(), Some(&b"ERR value is not an integer or out of range"[..]));
    texts(&mut client, &["MULTI", "INCR s"]);
    let whole = client.query::<Vec<i64>, _>(["EXEC"]).expect_err("an element is an error");
    assert!(whole.is_reply());
    Ok(())
}

#[test]
fn what_does_not_convert_names_both_sides() {
    let mut client = Engine::new().client();
    texts(&mut client, &["SET s text", "RPUSH l a b c"]);
    let mut refusal = |words: &[&str], read: fn(&Reply) -> Option<Error>| {
        let error = read(&client.call(words).expect("a reply")).expect("it does not convert");
        assert!(error.is_conversion() && error.code().is_none());
        error.to_string()
    };
    let range = ["LRANGE", "l", "0", "-1"];
    assert_eq!(refusal(&["GET", "s"], |reply| reply.get::<i64>().err()), "cannot read \"text\" as i64");
    assert_eq!(refusal(&["GET", "nokey"], |reply| reply.get::<String>().err()), "cannot read nil as String");
    assert_eq!(refusal(&["GET", "s"], |reply| reply.get::<Vec<i64>>().err()), "cannot read \"text\" as Vec");
    assert_eq!(
        refusal(&range, |reply| reply.get::<(String, String)>().err()),
        "cannot read [\"a\", \"b\", \"c\"] as a list of 2"
    );
    assert_eq!(
        refusal(&range, |reply| reply.get::<BTreeMap<String, String>>().err()),
        "cannot read [\"a\", \"b\", \"c\"] as pairs"
    );
    assert_eq!(refusal(&["INCRBY", "n", "300"], |reply| reply.get::<i8>().err()), "cannot read :300 as i8");
    assert_eq!(refusal(&["INCRBY", "n", "-301"], |reply| reply.get::<u64>().err()), "cannot read :-1 as u64");
}

#[test]
fn an_empty_call_is_a_usage_error() {
    let mut client = Engine::new().client();
    let nothing: [&str; 0] = [];
    let error = client.call(nothing).expect_err("no words");
    assert!(error.is_usage());
    assert_eq!(error.to_string(), "a call needs at least the name of a command");
}

#[test]
fn what_unwrap_and_assert_show_can_be_read() {
    let engine = Engine::new();
    let mut client = engine.client();
    let journal = engine.subscribe_journal().expect("a journal");
    let before = engine.snapshot().expect("a snapshot");
    let error = client.call(["LPUSH", "l"]).expect_err("too few words");
    assert_eq!(format!("{error:?}"), "Reply(\"ERR wrong number of arguments for 'lpush' command\")");
    client.call(["SELECT", "3"]).expect("SELECT answers");
    client.call(["SET", "k", "two words"]).expect("SET answers");
    let entries = journal.take().expect("entries");
    let lines: Vec<String> = entries.iter().map(ToString::to_string).collect();
    assert_eq!(lines, ["SET k \"two words\" (db 3)"]);
    assert!(format!("{entries:?}").ends_with("targets: All, argv: SET k \"two words\" }]"), "{entries:?}");
    let changes = before.diff(&engine.snapshot().expect("a snapshot"));
    assert_eq!(format!("{changes:?}"), format!("[Change({:?})]", changes[0].to_string()));
    let script = Script::new("return redis.call('GET', KEYS[1])");
    let (_, calls) = script.key("k").trace(&mut client).expect("a trace");
    assert_eq!(format!("{calls:?}"), "[TracedCall { argv: GET k, reply: \"two words\" }]");
    let shown = format!("{:?}", script.key("k").arg(1.5));
    assert!(shown.ends_with(", keys: k, args: 1.5 }"), "{shown}");
}

#[test]
fn a_reply_can_be_kept_whole() {
    let mut client = Engine::new().client();
    client.call(["HELLO", "3"]).expect("HELLO answers");
    let source = "redis.setresp(3) return {1, 'a', {map = {k = {double = 1.5}}}, {set = {x = true}}, false, true, {ok = 'OK'}, {}}";
    let all = ["EVAL", source, "0"];
    let whole: Reply = client.query(all).expect("a reply");
    assert_eq!(whole, client.call(all).expect("a reply"));
    let pair = client.query::<(Reply, Reply), _>(["EVAL", "return {{1, 2}, {err = 'BAD'}}", "0"]);
    assert_eq!(pair.expect_err("an error among the elements").code(), Some("BAD"));
}

#[test]
fn no_words_are_refused_by_each_way_to_call() {
    let mut client = Engine::new().client();
    let none: [&str; 0] = [];
    let refused = client.call(none).expect_err("no words");
    assert!(refused.is_usage());
    assert_eq!(client.call_into(none, &mut Reply::new()), Err(refused.clone()));
    assert_eq!(client.trace(none), Err(refused));
    assert_eq!(client.query::<String, _>(["PING"]), Ok("PONG".into()));
}

#[test]
fn five_keyspaces_in_one_process_know_nothing_of_each_other() {
    let engines: Vec<Engine> = (0..5).map(|_| Engine::new()).collect();
    for (number, engine) in engines.iter().enumerate() {
        let mut client = engine.client();
        client.call(["SET", "k", &number.to_string(), "PX", "1000"]).expect("SET answers");
        client.call(["SCRIPT", "LOAD", &format!("return {number}")]).expect("SCRIPT LOAD answers");
    }
    engines[2].advance(Duration::from_millis(1001)).expect("a manual clock");
    for (number, engine) in engines.iter().enumerate() {
        let left: Option<usize> = engine.client().query(["GET", "k"]).expect("GET answers");
        assert_eq!(left, (number != 2).then_some(number));
        let known: Vec<i64> = (0..5)
            .map(|other| {
                let sha = Script::new(format!("return {other}")).sha().to_string();
                engine
                    .client()
                    .query::<Vec<i64>, _>(["SCRIPT", "EXISTS", &sha])
                    .expect("SCRIPT EXISTS answers")[0]
            })
            .collect();
        assert_eq!(known, (0..5).map(|other| i64::from(other == number)).collect::<Vec<_>>());
    }
}
