//! Code written for the redis crate, on an engine in this process and on the reference server: the same values, errors
//! and kinds on both, in RESP2 and RESP3, blocking and not.

#[cfg(feature = "redis-aio")]
#[path = "redis_crate/not_blocking.rs"]
mod not_blocking;

use crate::support::counting::allocations;
use crate::support::server::{Server, server_or_skip};
use crate::support::target::START_MS;
use moonkeep::redis::{Connection, engine_error};
use moonkeep::{Blocking, Clock, Engine, Error, Loss};
use proptest::collection::vec;
use proptest::prelude::any;
use redis::{
    Commands, ConnectionLike, ErrorKind, ProtocolVersion, RedisConnectionInfo, RedisResult, ServerErrorKind,
    Value,
};
use std::collections::BTreeMap;
use std::time::Duration;

pub(crate) fn engine() -> Engine {
    Engine::builder().clock(Clock::manual(START_MS)).build()
}

pub(crate) fn info(protocol: ProtocolVersion) -> RedisConnectionInfo {
    RedisConnectionInfo::default().set_protocol(protocol)
}

fn in_process(protocol: ProtocolVersion) -> Connection {
    Connection::open(&engine(), &info(protocol)).expect("nothing is refused")
}

pub(crate) fn client_of(server: &Server, protocol: ProtocolVersion) -> redis::Client {
    use redis::IntoConnectionInfo;
    let url = format!("redis+unix://{}", server.socket().display());
    let address = url.into_connection_info().expect("the address of a socket");
    redis::Client::open(address.set_redis_settings(info(protocol))).expect("an address")
}

/// Commands with each kind of reply, and of error.
pub(crate) const CALLS: &[&str] = &[
    "SET s hello",
    "GET s",
    "GET none",
    "SET s other NX",
    "INCR s",
    "INCRBY n 41",
    "INCRBYFLOAT f 3.25",
    "PING",
    "ECHO hi",
    "TYPE s",
    "RPUSH l a b c",
    "LRANGE l 0 -1",
    "LPOP none 2",
    "HSET h f v g w",
    "HGETALL h",
    "HRANDFIELD h 0 WITHVALUES",
    "SADD set one",
    "SMEMBERS set",
    "SPOP set 5",
    "ZADD z 1.5 a inf b -inf c 1e300 d",
    "ZRANGE z 0 -1 WITHSCORES",
    "ZSCORE z a",
    "ZMSCORE z a none b",
    "ZADD z INCR 2 a",
    "ZPOPMIN z",
    "ZRANDMEMBER none",
    "ZRANK z none",
    "GEOADD g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania",
    "GEOPOS g Palermo none",
    "GEODIST g Palermo Catania km",
    "GEOSEARCH g FROMLONLAT 15 37 BYRADIUS 200 km ASC WITHCOORD WITHDIST",
    "XADD x 1-1 f v",
    "XADD x 1-1 f v",
    "XRANGE x - +",
    "XGROUP CREATE x grp 0",
    "XREADGROUP GROUP grp me COUNT 1 STREAMS x >",
    "XREAD STREAMS x 0",
    "XPENDING x grp",
    "XINFO STREAM x",
    "XACK x grp 1-1",
    "EVAL return{1,'two',{3,{double=1.5}},false,redis.status_reply('FINE')} 0",
    "EVAL redis.setresp(3)return{{map={k=1}},{set={x=true}},{big_number='12345678901234567890'}} 0",
    "EVAL return{{verbatim_string={format='txt',string='text'}},{double=0.1},true} 0",
    "EVAL return{err='MY\u{20}own'} 0",
    "EVAL return{1,{err='INNER'}} 0",
    "EVAL return{ok='\u{e9}'} 0",
    "EVAL error('oh') 0",
    "EVALSHA ffffffffffffffffffffffffffffffffffffffff 0",
    "MULTI",
    "SET k v",
    "LPUSH s x",
    "HGETALL h",
    "EXEC",
    "EXEC",
    "MULTI",
    "NOSUCH",
    "EXEC",
    "DISCARD",
    "WATCH k",
    "UNWATCH",
    "CONFIG GET maxmemory-s*",
    "OBJECT HELP",
    "DEBUG PROTOCOL STRING",
    "DEBUG PROTOCOL INTEGER",
    "DEBUG PROTOCOL DOUBLE",
    "DEBUG PROTOCOL NULL",
    "DEBUG PROTOCOL ARRAY",
    "DEBUG PROTOCOL SET",
    "DEBUG PROTOCOL MAP",
    "DEBUG PROTOCOL ATTRIB",
    "DEBUG PROTOCOL VERBATIM",
    "DEBUG PROTOCOL BIGNUM",
    "DEBUG PROTOCOL TRUE",
    "DEBUG PROTOCOL FALSE",
    "GET",
    "NOSUCHCOMMAND a b",
    "SELECT 99",
    "SCRIPT KILL",
    "PUBLISH ch m",
    "SELECT 3",
    "DBSIZE",
    "HELLO 9",
];

pub(crate) fn command(line: &str) -> redis::Cmd {
    let mut words = line.split(' ');
    let mut command = redis::cmd(words.next().expect("a name"));
    words.for_each(|word| {
        command.arg(word);
    });
    command
}

fn answers(connection: &mut impl ConnectionLike) -> Vec<String> {
    let answer = |line: &&str| format!("{line}: {:?}", connection.req_command(&command(line)));
    CALLS.iter().map(answer).collect()
}

#[test]
fn values_are_those_of_a_connection_to_a_server() {
    let Some(server) = server_or_skip("values_are_those_of_a_connection_to_a_server") else { return };
    for protocol in [ProtocolVersion::RESP2, ProtocolVersion::RESP3] {
        let mut there = client_of(&server, protocol).get_connection().expect("it accepts connections");
        redis::cmd("FLUSHALL").exec(&mut there).expect("it is up");
        let here = answers(&mut in_process(protocol));
        for (ours, theirs) in here.iter().zip(answers(&mut there)) {
            assert_eq!(*ours, theirs, "{protocol:?}");
        }
    }
}

/// What production code does with a connection, as values that can be compared.
fn production(connection: &mut impl ConnectionLike) -> RedisResult<Vec<String>> {
    let mut seen = Vec::new();
    let () = connection.set("name", "moon")?;
    let name: Option<String> = connection.get("name")?;
    let none: Option<u8> = connection.get("none")?;
    seen.push(format!("{name:?} {none:?}"));
    let () = connection.hset_multiple("h", &[("a", 1), ("b", 2)])?;
    let hash: BTreeMap<String, i32> = connection.hgetall("h")?;
    seen.push(format!("{hash:?}"));
    let () = connection.zadd_multiple("z", &[(1.5, "x"), (0.5, "y")])?;
    let scored: Vec<(String, f64)> = connection.zrange_withscores("z", 0, -1)?;
    seen.push(format!("{scored:?}"));
    for n in 0..25 {
        let () = connection.sadd("many", n)?;
    }
    let mut found: Vec<u32> = connection.sscan::<_, u32>("many")?.collect::<RedisResult<_>>()?;
    found.sort_unstable();
    seen.push(format!("{found:?}"));
    let mut some = redis::cmd("SCAN");
    let keys = some.cursor_arg(0).arg("COUNT").arg(1).clone().iter::<String>(connection)?;
    let mut keys = keys.collect::<RedisResult<Vec<_>>>()?;
    keys.sort();
    seen.push(keys.join(" "));

    let (old, new): (String, i64) =
        redis::pipe().getset("name", "sun").incr("n", 2).set("ignored", 1).ignore().query(connection)?;
    seen.push(format!("{old} {new}"));
    let (left,): (i64,) = redis::pipe().atomic().decr("n", 1).del("ignored").ignore().query(connection)?;
    seen.push(format!("{left}"));
    let nothing: Vec<Value> = redis::pipe().atomic().query(connection)?;
    seen.push(format!("{nothing:?}"));
    let tripled: (i64,) = redis::transaction(connection, &["n"], |connection, pipe| {
        let n: i64 = connection.get("n")?;
        pipe.set("n", 3 * n).ignore().get("n").query(connection)
    })?;
    seen.push(format!("{tripled:?}"));

    let mixed = redis::pipe().set("s", "x").lpush("s", "y").get("s").query::<Vec<Value>>(connection);
    seen.push(format!("{:?}", mixed.map_err(|error| (error.kind(), error.into_server_errors()))));
    let each = redis::pipe()
        .atomic()
        .ignore_errors()
        .set("s", "x")
        .lpush("s", "y")
        .query::<Vec<RedisResult<String>>>(connection)?;
    seen.push(format!("{each:?}"));
    let wrong = connection.lpush::<_, _, i64>("s", "y").expect_err("it holds a string");
    seen.push(format!("{wrong} {:?} {:?} {:?}", wrong.kind(), wrong.code(), wrong.detail()));
    let aborted = redis::pipe().atomic().cmd("NOSUCH").query::<()>(connection).expect_err("refused");
    seen.push(format!("{:?} {:?}", aborted.kind(), aborted.code()));
    Ok(seen)
}

#[test]
fn production_code_runs_unmodified() {
    let mut expected = vec![
        r#"Some("moon") None"#,
        r#"{"a": 1, "b": 2}"#,
        r#"[("y", 0.5), ("x", 1.5)]"#,
        "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24]",
        "h many name z",
        "moon 2",
        "1",
        "[]",
        "(3,)",
    ];
    let wrong_type = "Operation against a key holding the wrong kind of value";
    let mixed = format!(
        r#"Err((Extension, Some([(1, ServerError(Extension {{ code: "WRONGTYPE", detail: Some("{wrong_type}") }}))])))"#
    );
    let each = format!(r#"[Ok("OK"), Err("WRONGTYPE": {wrong_type})]"#);
    let single = format!(r#""WRONGTYPE": {wrong_type} Extension Some("WRONGTYPE") Some("{wrong_type}")"#);
    expected.extend([&mixed, &each, &single, r#"Server(ExecAbort) Some("EXECABORT")"#]);
    let server = server_or_skip("production_code_runs_unmodified");
    for protocol in [ProtocolVersion::RESP2, ProtocolVersion::RESP3] {
        assert_eq!(production(&mut in_process(protocol)).expect("no call fails"), expected, "{protocol:?}");
        let Some(server) = &server else { continue };
        let mut there = client_of(server, protocol).get_connection().expect("it accepts connections");
        redis::cmd("FLUSHALL").exec(&mut there).expect("it is up");
        assert_eq!(production(&mut there).expect("no call fails"), expected, "{protocol:?}, a server");
    }
}

#[test]
fn scripts_and_streams_run_unmodified() {
    use redis::streams::{StreamReadOptions, StreamReadReply};
    let mut connection = in_process(ProtocolVersion::RESP2);
    let script = redis::Script::new("return {KEYS[1], ARGV[1] * 2}");
    for _ in 0..2 {
        let twice: (String, i64) =
            script.key("k").arg(21).invoke(&mut connection).expect("it is loaded first");
        assert_eq!(twice, ("k".into(), 42));
        redis::cmd("SCRIPT").arg("FLUSH").exec(&mut connection).expect("no call fails");
    }
    let id: String = connection.xadd("jobs", "*", &[("order", "O42")]).expect("a stream");
    assert_eq!(id, format!("{START_MS}-0"));
    let () = connection.xgroup_create("jobs", "workers", "0").expect("a group");
    let options = StreamReadOptions::default().group("workers", "c1").count(10);
    let read: StreamReadReply = connection.xread_options(&["jobs"], &[">"], &options).expect("one entry");
    assert_eq!(read.keys[0].ids[0].get::<String>("order"), Some("O42".into()));
    assert_eq!(connection.xack::<_, _, _, u64>("jobs", "workers", &[id]).expect("a group"), 1);
}

#[test]
fn an_aborted_transaction_tells_what_was_refused() {
    let mut connection = in_process(ProtocolVersion::RESP2);
    let mut pipe = redis::pipe();
    pipe.atomic().set("a", 1).cmd("NOSUCH").cmd("GET");
    let error = pipe.query::<()>(&mut connection).expect_err("refused");
    assert_eq!(error.kind(), ErrorKind::Server(ServerErrorKind::ExecAbort));
    let expected = "Transaction discarded because of previous errors. (Index 1: ERR unknown command 'NOSUCH', with args \
                    beginning with: ) (Index 2: ERR wrong number of arguments for 'get' command)";
    assert_eq!(error.detail(), Some(expected));
    assert_eq!(connection.exists::<_, bool>("a"), Ok(false));
}

#[test]
fn what_the_engine_says_is_told_in_the_errors_of_the_crate() {
    let engine = engine();
    let mut connection = Connection::new(engine.client());
    let error = connection.blpop::<_, Value>("queue", 1.0).expect_err("the clock is held");
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(engine_error(&error).is_some_and(Error::is_would_block));
    assert!(!error.is_connection_dropped() && !error.is_unrecoverable_error() && connection.is_open());

    engine.lose(Loss::Replies).expect("it is at rest");
    let error = connection.incr::<_, _, i64>("n", 1).expect_err("lost");
    assert!(error.is_connection_dropped() && engine_error(&error).is_some_and(Error::is_connection_lost));
    assert!(!connection.is_open() && !connection.check_connection());
    engine.heal().expect("it is at rest");
    assert_eq!(connection.incr::<_, _, i64>("n", 1), Ok(2), "it had run");
    assert!(connection.is_open());

    redis::cmd("QUIT").exec(&mut connection).expect("OK");
    let error = connection.get::<_, Value>("n").expect_err("it has ended");
    assert!(error.is_connection_dropped() && engine_error(&error).is_some_and(Error::is_closed));
    assert!(!connection.is_open());
    let empty = Connection::new(engine.client()).req_command(&redis::Cmd::new()).expect_err("no words");
    assert_eq!((empty.kind(), empty.to_string()), (ErrorKind::Client, "empty command - Client".into()));
    assert!(engine_error(&empty).is_none());
}

#[test]
fn behind_a_lost_command_a_pipeline_is_lost_too() {
    for lost in ["multi", "incrby", "exec"] {
        let mut connection = in_process(ProtocolVersion::RESP2);
        let fault = |connection: &mut Connection, words: &[&str]| {
            redis::cmd("DEBUG").arg("FAULT").arg(words).exec(connection).expect("DEBUG is never lost")
        };
        fault(&mut connection, &["REQUESTS", "COUNT", "1", "ONLY", lost]);
        let ran: RedisResult<()> =
            redis::pipe().atomic().set("a", 1).incr("b", 1).set("c", 1).query(&mut connection);
        assert!(ran.is_err_and(|error| error.is_connection_dropped()), "{lost}");
        assert!(!connection.is_open(), "{lost}");
        // Who connects anew is in no transaction.
        let left: Vec<Option<i64>> = connection.mget(&["a", "b", "c"]).expect("the fault is over");
        assert_eq!(left, [None; 3], "{lost}");
        assert!(connection.is_open());
        fault(&mut connection, &["REPLIES", "COUNT", "1", "ONLY", lost]);
        let ran: RedisResult<()> = redis::pipe().atomic().set("a", 1).query(&mut connection);
        assert_eq!(ran.is_err(), lost != "incrby", "{lost}");
        let left: Option<i64> = connection.get("a").expect("the fault is over");
        assert_eq!(left, (lost != "multi").then_some(1), "{lost}: EXEC ran, and its reply was lost");
    }
}

#[test]
fn a_call_waits_as_the_engine_was_told() {
    let engine = Engine::builder().clock(Clock::manual(START_MS)).blocking(Blocking::Advance).build();
    let mut connection = Connection::new(engine.client());
    assert_eq!(connection.blpop::<_, Option<(String, String)>>("queue", 2.5), Ok(None));
    assert_eq!(engine.now_ms().expect("at rest"), START_MS + 2501);
}

#[test]
fn a_connection_opens_with_a_user_a_version_and_a_database() {
    let engine = engine();
    let mut admin = engine.client();
    admin.call(["ACL", "SETUSER", "alice", "on", ">secret", "~*", "+@all"]).expect("rules");
    let alice = |password: &str, protocol| {
        let info = info(protocol).set_username("alice").set_password(password).set_db(3);
        Connection::open(&engine, &info)
    };
    for protocol in [ProtocolVersion::RESP2, ProtocolVersion::RESP3] {
        let mut connection = alice("secret", protocol).expect("she may");
        assert_eq!(connection.get_db(), 3);
        let who: String = redis::cmd("ACL").arg("WHOAMI").query(&mut connection).expect("a name");
        assert_eq!(who, "alice");
        let version = connection.client_mut().protocol().expect("at rest").number();
        assert_eq!(version, if protocol == ProtocolVersion::RESP3 { 3 } else { 2 });
        let error = alice("wrong", protocol).expect_err("not her password");
        assert_eq!(error.code(), Some("WRONGPASS"));
    }
}

#[test]
fn messages_wait_in_the_inbox() {
    let engine = engine();
    let mut connection = Connection::new(engine.client());
    redis::cmd("HELLO").arg(3).exec(&mut connection).expect("a version");
    let subscribed = connection.req_command(&command("SUBSCRIBE a b")).expect("two channels");
    assert_eq!(format!("{subscribed:?}"), "push(Subscribe, [bulk-string('\"a\"'), int(1)])");
    assert_eq!(connection.publish::<_, _, i64>("b", "hello"), Ok(1));
    let message = connection.client_mut().try_next_message().expect("open").expect("published");
    assert_eq!(message.payload(), b"hello");
}

#[test]
fn packed_commands_are_read_as_a_server_reads_them() {
    let mut connection = in_process(ProtocolVersion::RESP2);
    let packed = redis::pack_command(&[b"SET".to_vec(), b"k".to_vec(), b"v".to_vec()]);
    assert_eq!(connection.req_packed_command(&packed), Ok(Value::Okay));
    assert_eq!(connection.req_packed_command(b"get k\r\n"), Ok(Value::BulkString(b"v".to_vec())));
    let both = connection.req_packed_commands(b"incr n\r\nincr n\r\n", 1, 1);
    assert_eq!(both, Ok(vec![Value::Int(2)]));
    for (bytes, text) in [
        (&b"*1\r\n$4\r\nPIN"[..], "these bytes are no command - Client: they end within it"),
        (b"*1\r\n!", "these bytes are no command - Client: they end within it"),
        (b"*x\r\n\r\n", "these bytes are no command - Client: invalid multibulk length"),
        (b"", "fewer replies than are asked for - Client: 0 of 1 came"),
    ] {
        let error = connection.req_packed_command(bytes).expect_err(text);
        assert_eq!(error.to_string(), text);
    }
    assert_eq!(connection.exists::<_, bool>("k"), Ok(true), "it goes on");
    redis::cmd("CLIENT").arg("REPLY").arg("OFF").exec(&mut connection).expect("nothing is answered");
    assert_eq!(connection.req_command(&redis::cmd("PING")), Ok(Value::Nil));
}

/// The words are borrowed from the command, and of the values that most commands answer only a string needs memory.
#[test]
fn a_call_allocates_nothing_but_the_value() {
    let mut connection = Connection::new(engine().client());
    for (words, count) in [
        (&["SET", "k", "0123456789abcdef"][..], 0),
        (&["SET", "k", "v", "KEEPTTL"], 0),
        (&["GET", "k"], 1),
        (&["GET", "nobody"], 0),
        (&["INCR", "n"], 0),
        (&["SET", "k", "v", "EX", "100", "XX", "GET"], 1),
    ] {
        let mut command = redis::Cmd::new();
        for word in words {
            command.arg(*word);
        }
        let mut call = || drop(connection.req_command(&command).expect("it runs"));
        (0..3).for_each(|_| call());
        assert_eq!((0..5).map(|_| allocations(&mut call)).collect::<Vec<_>>(), [count; 5], "{words:?}");
    }
}

proptest::proptest! {
    /// Whatever bytes come, there is an answer or an error, and the connection goes on.
    #[test]
    fn no_bytes_break_a_connection(bytes in vec(any::<u8>(), 0..64), counts in (0_usize..4, 0_usize..4)) {
        let mut connection = Connection::new(Engine::new().client());
        let _ = connection.req_packed_commands(&bytes, counts.0, counts.1);
        proptest::prop_assert!(connection.check_connection());
    }
}

#[test]
fn a_lease_ends_when_the_test_says_so() {
    let engine = engine();
    let mut connection = Connection::from(engine.client());
    let taken = |connection: &mut Connection| -> bool {
        let mut set = redis::cmd("SET");
        set.arg("lease").arg("me").arg("NX").arg("PX").arg(5000);
        set.query::<Option<String>>(connection).expect("no call fails").is_some()
    };
    assert!(taken(&mut connection));
    engine.advance(Duration::from_millis(5000)).expect("a manual clock");
    assert!(!taken(&mut connection), "the last instant");
    engine.advance(Duration::from_millis(1)).expect("a manual clock");
    assert!(taken(&mut connection));
    assert_eq!(connection.into_client().query::<String, _>(["GET", "lease"]).expect("held"), "me");
}
