//! The tour with the redis crate: what it makes of replies in both protocols, over both kinds of socket.

use super::servings;
use redis::{
    Client, Connection, ErrorKind, FromRedisValue, IntoConnectionInfo, ProtocolVersion, PushKind, Value, cmd,
    pipe,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::thread;

struct Tour {
    client: Client,
    connection: Connection,
    checks: u32,
}

impl Tour {
    fn same<T: Debug + PartialEq>(&mut self, got: T, want: T) {
        self.checks += 1;
        assert_eq!(got, want, "check {}", self.checks);
    }
    /// The reply to a line of words, as a value of the type that is asked for.
    fn ask<T: FromRedisValue>(&mut self, line: &str) -> T {
        let reply = words(line).query(&mut self.connection);
        reply.unwrap_or_else(|error| panic!("{line}: {error}"))
    }
    fn is<T: FromRedisValue + Debug + PartialEq>(&mut self, line: &str, want: T) {
        let got = self.ask::<T>(line);
        self.same(got, want);
    }
    fn fails(&mut self, line: &str, want: &str) {
        let error = words(line).exec(&mut self.connection).expect_err("an error");
        self.same(error.to_string().as_str(), want);
    }
    fn other(&self) -> Connection {
        self.client.get_connection().expect("it connects")
    }

    fn strings_and_keys(&mut self) {
        self.is("SET s one NX", String::from("OK"));
        self.is("SET s two NX", None::<String>);
        self.is("SET s two PXAT 4102444800000 GET", String::from("one"));
        self.is("PEXPIRETIME s", 4_102_444_800_000_u64);
        self.is("MGET s none", (String::from("two"), None::<u8>));
        self.is("INCRBYFLOAT f 2.5", 2.5);
        self.fails("INCR s", "ResponseError: value is not an integer or out of range");
        let binary: Vec<u8> = (0..=255).collect();
        cmd("SET").arg("binary").arg(&binary).exec(&mut self.connection).expect("it is set");
        self.is("GET binary", binary);
        for n in 0..100 {
            pipe().cmd("SET").arg(format!("key:{n}")).arg(n).exec(&mut self.connection).expect("it is set");
        }
        let mut scan = cmd("SCAN");
        let names = scan
            .cursor_arg(0)
            .arg("MATCH")
            .arg("key:*")
            .arg("COUNT")
            .arg(7)
            .clone()
            .iter::<String>(&mut self.connection);
        let names: BTreeSet<String> = names.expect("a scan").map(|name| name.expect("a name")).collect();
        self.same(names, (0..100).map(|n| format!("key:{n}")).collect());
    }

    fn collections(&mut self) {
        self.is("HSET h f 1 g 2", 2);
        self.is("HGETALL h", BTreeMap::from([("f".to_string(), 1), ("g".to_string(), 2)]));
        self.is("RPUSH l a b c", 3);
        self.is("LMPOP 2 none l LEFT COUNT 2", ("l".to_string(), vec!["a".to_string(), "b".to_string()]));
        self.is("BLPOP none 0.05", None::<(String, String)>);
        self.is("SADD s1 a b c", 3);
        self.is("SMEMBERS s1", BTreeSet::from(["a", "b", "c"].map(String::from)));
        self.is("SMISMEMBER s1 a z", (true, false));
        self.is("ZADD z 1 a 2.5 b inf c", 3);
        let pairs =
            [("a", 1.0), ("b", 2.5), ("c", f64::INFINITY)].map(|(member, score)| (member.to_string(), score));
        self.is("ZRANGE z 0 -1 WITHSCORES", pairs.to_vec());
        self.is("ZSCORE z b", 2.5);
        self.is("BZPOPMAX z 1", ("z".to_string(), "c".to_string(), f64::INFINITY));
        self.is("GEOADD geo 13.361389 38.115556 Palermo 15.087269 37.502669 Catania", 2);
        self.is("GEODIST geo Palermo Catania km", 166.2742);
        self.is("PFADD hll a b c", true);
        self.is("PFCOUNT hll", 3);
        self.is("BITFIELD bits SET u8 0 255 INCRBY u8 0 1", (0, 0));
        self.is("XADD st 1-1 f 1", "1-1".to_string());
        self.is("XGROUP CREATE st workers 0", "OK".to_string());
        type Entries = Vec<(String, BTreeMap<String, u8>)>;
        let entries: Entries = vec![("1-1".into(), BTreeMap::from([("f".into(), 1)]))];
        let read = vec![("st".to_string(), entries.clone())];
        self.is("XREADGROUP GROUP workers alice STREAMS st >", read);
        self.is("XAUTOCLAIM st workers bob 0 0", ("0-0".to_string(), entries, Vec::<String>::new()));
        self.is("XACK st workers 1-1", 1);
        self.is("XREAD BLOCK 10 STREAMS st $", Value::Nil);
        self.fails("LPUSH s 1", "\"WRONGTYPE\": Operation against a key holding the wrong kind of value");
    }

    fn waiting(&mut self) {
        let mut waits = self.other();
        let job = thread::spawn(move || words("BLPOP queue 20").query::<(String, String)>(&mut waits));
        while !self.ask::<String>("INFO clients").contains("blocked_clients:1") {}
        self.is("RPUSH queue job rest", 2);
        let job = job.join().expect("no panic").expect("a job");
        self.same(job, ("queue".into(), "job".into()));
    }

    fn scripts(&mut self) {
        let source = "redis.call('SET', KEYS[1], ARGV[1]) return redis.call('INCRBY', KEYS[1], 2)";
        self.is("SCRIPT FLUSH", "OK".to_string());
        let unknown = words(&format!("EVALSHA {} 1 n 40", "0".repeat(40)))
            .exec(&mut self.connection)
            .expect_err("unknown");
        self.same(unknown.kind(), ErrorKind::Server(redis::ServerErrorKind::NoScript));
        let sha: String =
            cmd("SCRIPT").arg("LOAD").arg(source).query(&mut self.connection).expect("it loads");
        self.is(&format!("EVALSHA {sha} 1 n 40"), 42);
        let mut eval = cmd("EVAL");
        let reply =
            eval.arg("return {KEYS[1], 3.9, false, {ok='fine'}}").arg(1).arg("k").query(&mut self.connection);
        self.same(reply, Ok(("k".to_string(), 3, None::<u8>, "fine".to_string())));
        let library = "#!lua name=tour\nredis.register_function('add', function(keys, args) return #keys + args[1] end)";
        let name: String =
            cmd("FUNCTION").arg("LOAD").arg(library).query(&mut self.connection).expect("it loads");
        self.same(name, "tour".into());
        self.is("FCALL add 1 n 7", 8);
        self.is("FUNCTION DELETE tour", "OK".to_string());
    }

    fn transactions(&mut self) {
        let mut all = pipe();
        all.atomic().cmd("SET").arg("t").arg(1).ignore().cmd("INCR").arg("t").cmd("GET").arg("t");
        let got = all.query::<(u8, String)>(&mut self.connection);
        self.same(got, Ok((2, "2".to_string())));
        self.is("WATCH t", "OK".to_string());
        words("SET t changed").exec(&mut self.other()).expect("it is set");
        let lost =
            pipe().atomic().cmd("SET").arg("t").arg("lost").query::<Option<(String,)>>(&mut self.connection);
        self.same(lost, Ok(None));
        self.is("GET t", "changed".to_string());
        let mut pushes = pipe();
        for n in 0..1000 {
            pushes.cmd("RPUSH").arg("piped").arg(n);
        }
        let lengths = pushes.query::<Vec<u32>>(&mut self.connection);
        self.same(lengths, Ok((1..=1000).collect()));
    }

    fn messages(&mut self) {
        let mut other = self.other();
        let mut subscriber = other.as_pubsub();
        subscriber.subscribe("news").expect("it subscribes");
        subscriber.psubscribe("n*").expect("it subscribes");
        self.is("PUBLISH news hello", 2);
        for pattern in [None, Some("n*".to_string())] {
            let message = subscriber.get_message().expect("a message");
            let got = (
                message.get_channel_name().to_string(),
                message.get_payload::<String>(),
                message.get_pattern(),
            );
            self.same(got, ("news".into(), Ok("hello".into()), Ok(pattern)));
        }
        subscriber.psubscribe("__keyevent@0__:*").expect("it subscribes");
        self.is("CONFIG SET notify-keyspace-events KEA", "OK".to_string());
        self.is("SET noted 1", "OK".to_string());
        let message = subscriber.get_message().expect("a message");
        self.same(
            (message.get_channel_name(), message.get_payload()),
            ("__keyevent@0__:set", Ok("noted".to_string())),
        );
        cmd("CONFIG")
            .arg(&["SET", "notify-keyspace-events", ""])
            .exec(&mut self.connection)
            .expect("it is set");
    }

    /// What is pushed to a client that keeps values.
    fn caching(&mut self) {
        let mut tracked = self.other();
        let (sender, pushed) = std::sync::mpsc::channel();
        tracked.set_push_sender(sender);
        words("CLIENT TRACKING ON").exec(&mut tracked).expect("it caches");
        self.is("SET cached 1", "OK".to_string());
        let value = words("GET cached").query::<u8>(&mut tracked);
        self.same(value, Ok(1));
        self.is("SET cached 2", "OK".to_string());
        words("PING").exec(&mut tracked).expect("an answer");
        let pushes = pushed.try_iter().filter(|push| push.kind == PushKind::Invalidate).map(|push| push.data);
        let dropped = vec![Value::Array(vec![Value::BulkString(b"cached".to_vec())])];
        self.same(pushes.collect::<Vec<_>>(), vec![dropped]);
    }
}

fn words(line: &str) -> redis::Cmd {
    let mut words = line.split(' ');
    let mut command = cmd(words.next().expect("a name"));
    for word in words {
        command.arg(word);
    }
    command
}

fn open(address: &str, protocol: ProtocolVersion) -> Tour {
    let url = if address.contains('/') { format!("unix://{address}") } else { format!("redis://{address}") };
    let info = url.into_connection_info().expect("an address");
    let settings = info.redis_settings().clone().set_protocol(protocol);
    let client = Client::open(info.set_redis_settings(settings)).expect("a client");
    let connection = client.get_connection().expect("it connects");
    Tour { client, connection, checks: 0 }
}

#[test]
fn clients_redis_crate_tours_the_families() {
    for serving in servings("redis-rs") {
        for protocol in [ProtocolVersion::RESP2, ProtocolVersion::RESP3] {
            let mut tour = open(&serving.address, protocol);
            tour.is("FLUSHALL", "OK".to_string());
            tour.strings_and_keys();
            tour.collections();
            tour.waiting();
            tour.scripts();
            tour.transactions();
            tour.messages();
            if protocol == ProtocolVersion::RESP3 {
                tour.caching();
            }
            tour.fails("NOSUCH a", "ResponseError: unknown command 'NOSUCH', with args beginning with: 'a' ");
            println!("{}: redis crate, {protocol:?}: {} checks", serving.address, tour.checks);
        }
    }
}
