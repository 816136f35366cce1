//! Sessions that follow: what SYNC gives on the engine's front and on the reference server is held to be the same, byte for
//! byte; what replicas acknowledge; what ends a session that does not read.

use crate::support::served::Served;
use crate::support::server::server_or_skip;
use crate::support::target::{MAIN, Target, argv};
use crate::support::wire::Wire;
use crate::support::words;
use moonkeep::{Client, Engine, Reply};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// One that follows, behind its image.
struct Follower {
    image: Vec<u8>,
    stream: BufReader<UnixStream>,
}

impl Follower {
    /// Follows what is served there; `request` is how it asks.
    fn new(socket: &Path, request: &str) -> Follower {
        let stream = UnixStream::connect(socket).expect("somebody listens");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a time is set");
        let mut stream = BufReader::new(stream);
        stream.get_mut().write_all(request.as_bytes()).expect("it is asked");
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).expect("a line comes");
            let Some(length) = line.strip_prefix('$') else { continue };
            let mut image = vec![0; length.trim_end().parse().expect("a length")];
            stream.read_exact(&mut image).expect("the image comes");
            return Follower { image, stream };
        }
    }
    /// The commands that come up to the one that ends a program.
    fn read_program(&mut self) -> Vec<String> {
        let mut commands = Vec::new();
        loop {
            let command = self.read_command();
            if command == "DEL end" {
                return commands;
            }
            if command != "PING" {
                commands.push(command);
            }
        }
    }
    fn read_command(&mut self) -> String {
        let count: usize = self.read_number('*');
        let words: Vec<String> = (0..count).map(|_| self.read_word()).collect();
        words.join(" ")
    }
    fn read_word(&mut self) -> String {
        let mut word = vec![0; self.read_number('$') + 2];
        self.stream.read_exact(&mut word).expect("a word");
        word.truncate(word.len() - 2);
        String::from_utf8_lossy(&word).into_owned()
    }
    fn read_number(&mut self, mark: char) -> usize {
        let mut line = String::new();
        self.stream.read_line(&mut line).expect("a line");
        line.strip_prefix(mark).and_then(|text| text.trim_end().parse().ok()).expect("a number")
    }
}

const PROGRAMS: &[&[&str]] = &[
    &["SET a 1", "INCR a", "SET b 2 PX 1000", "EXPIRE a 10", "GETEX a PERSIST", "SETRANGE s 3 x"],
    &["SELECT 3", "SET a 1", "SELECT 9", "SET a 2", "SELECT 0", "GET a", "SET a 3"],
    &["MULTI", "SET a 1", "GET a", "EXEC", "MULTI", "SET a 1", "SELECT 5", "SET b 1", "EXEC", "SELECT 0"],
    &["MULTI", "EXEC", "MULTI", "SET a 1", "DISCARD"],
    &["EVAL \"redis.call('SET','x',1) redis.call('INCR','x') return 1\" 0", "EVAL \"return 1\" 0"],
    &[
        "EVAL \"redis.set_repl(redis.REPL_AOF) redis.call('SET','x',1) redis.set_repl(redis.REPL_ALL) redis.call('SET','y',1)\" 0",
    ],
    &["EVAL \"redis.set_repl(redis.REPL_REPLICA) redis.call('SET','x',1)\" 0", "PUBLISH c m"],
    &[
        "RPUSH l 1 2 3",
        "LPOP l 2",
        "SADD s 1",
        "SPOP s",
        "XADD x 1-1 f v",
        "HSET h f 1",
        "HINCRBYFLOAT h f 1.5",
    ],
    &["FLUSHALL", "FLUSHDB", "SWAPDB 0 1", "MOVE nokey 3", "SCRIPT LOAD \"return 1\"", "SCRIPT FLUSH"],
    &[
        "FUNCTION LOAD \"#!lua name=l\\nredis.register_function('f', function() return redis.call('SET','k','v') end)\"",
        "FCALL f 0",
        "FUNCTION FLUSH",
    ],
    &["DEBUG REPLICATE fake command", "SET after 1"],
    &[
        "PFADD h a b",
        "PFCOUNT h",
        "SETBIT k 1 1",
        "GEOADD g 1 1 m",
        "SORT l STORE d",
        "COPY a z",
        "RENAME nokey z",
    ],
];

#[test]
fn followers_read_what_those_of_the_server_read() {
    let Some(mut server) = server_or_skip("followers_read_what_those_of_the_server_read") else { return };
    let mut moonkeep = Served::default();
    let mut ours = Follower::new(&moonkeep.socket(), "SYNC\r\n");
    let mut theirs = Follower::new(&server.socket(), "SYNC\r\n");
    for program in PROGRAMS {
        for line in program.iter().chain(&["SELECT 0", "SET end 1", "DEL end"]) {
            let words = words::split(line).expect("words");
            let (got, expected) = (moonkeep.call(MAIN, &words), server.call(MAIN, &words));
            assert_eq!(got.shape(), expected.shape(), "{line}");
        }
        assert_eq!(ours.read_program(), theirs.read_program(), "{program:?}");
    }
}

#[test]
fn the_image_is_one_of_all_keys() {
    let mut moonkeep = Served::default();
    moonkeep.call(MAIN, &argv(&["SET", "k", "v"]));
    let mut follower = Follower::new(&moonkeep.socket(), "PSYNC ? -1\r\n");
    let copy = Engine::new();
    copy.load_rdb(&follower.image).expect("an image that loads");
    assert_eq!(copy.client().query::<String, _>(["GET", "k"]), Ok("v".to_owned()));
    moonkeep.call(MAIN, &argv(&["SET", "k", "w"]));
    moonkeep.call(MAIN, &argv(&["DEL", "end"]));
    moonkeep.call(MAIN, &argv(&["SET", "end", "1"]));
    moonkeep.call(MAIN, &argv(&["DEL", "end"]));
    assert_eq!(follower.read_program(), ["SELECT 0", "SET k w", "SET end 1"]);
}

fn text(client: &mut Client, line: &str) -> String {
    let mut reply = Reply::new();
    client.call_into(line.split(' ').collect::<Vec<_>>(), &mut reply).expect("the engine answers");
    format!("{reply:?}")
}

#[test]
fn becoming_a_replica_ends_those_who_wait_and_tells_followers_nothing() {
    let Some(mut server) = server_or_skip("becoming_a_replica_ends_those_who_wait") else { return };
    let mut moonkeep = Served::default();
    let sockets = [moonkeep.socket(), server.socket()];
    let mut followers = sockets.map(|socket| Follower::new(&socket, "SYNC\r\n"));
    for (target, follower) in [&mut moonkeep as &mut dyn Target, &mut server].into_iter().zip(&mut followers)
    {
        target.send("waits", &argv(&["BLPOP", "list", "0"]));
        assert_eq!(target.receive("waits"), Wire::Timeout);
        let lines = ["SET a 1", "MULTI", "SET b 1", "REPLICAOF 127.0.0.1 1", "SET c 1", "EXEC"];
        let replies = lines.map(|line| target.call(MAIN, &words::split(line).expect("words")).to_string());
        assert_eq!(replies, ["+OK", "+OK", "+QUEUED", "+QUEUED", "+QUEUED", "[+OK, +OK, +OK]"]);
        let ended =
            "-UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)";
        assert_eq!(target.receive("waits").to_string(), ended);
        assert_eq!(follower.read_command(), "SELECT 0");
        assert_eq!(follower.read_command(), "SET a 1");
        assert_eq!(target.call(MAIN, &argv(&["REPLICAOF", "NO", "ONE"])).to_string(), "+OK");
        let mut rest = Vec::new();
        follower.stream.read_to_end(&mut rest).expect("it was ended");
        assert_eq!(String::from_utf8_lossy(&rest).replace("*1\r\n$4\r\nPING\r\n", ""), "");
    }
}

#[test]
fn a_fork_of_a_replica_is_one_until_it_is_told_otherwise() {
    let engine = Engine::new();
    let mut client = engine.client();
    text(&mut client, "SET short v PX 10");
    let before = engine.snapshot().expect("a snapshot");
    assert_eq!(text(&mut client, "REPLICAOF localhost 1"), "+OK");
    let fork = engine.fork().expect("a fork");
    let mut forked = fork.client();
    for engine in [&engine, &fork] {
        engine.advance(Duration::from_millis(11)).expect("a manual clock");
        let mut client = engine.client();
        assert_eq!(text(&mut client, "SET k v"), "-READONLY You can't write against a read only replica.");
        assert_eq!(
            (text(&mut client, "GET short"), text(&mut client, "DBSIZE")),
            ("nil".into(), ":1".into())
        );
    }
    assert_eq!(text(&mut forked, "REPLICAOF no one"), "+OK");
    assert_eq!((text(&mut forked, "SET k v"), text(&mut forked, "GET short")), ("+OK".into(), "nil".into()));
    assert_eq!(text(&mut client, "ROLE"), "[\"slave\", \"localhost\", :1, \"connect\", :-1]");
    engine.restore(&before).expect("it is restored");
    assert_eq!(text(&mut client, "SET k v"), "+OK", "what it follows is a setting");
}

/// What has come for a client that is not the image.
fn stream(client: &mut Client) -> String {
    let mut bytes = Vec::new();
    client.messages_into(None, &mut bytes).expect("it is open");
    String::from_utf8_lossy(&bytes).replace("\r\n", " ")
}

#[test]
fn wait_counts_what_replicas_acknowledge() {
    let engine = Engine::new();
    let (mut client, mut replica) = (engine.client(), engine.client());
    text(&mut replica, "REPLCONF listening-port 6380");
    assert_eq!(text(&mut replica, "SYNC"), "");
    assert!(stream(&mut replica).starts_with('$'));
    text(&mut client, "SET k v");
    assert_eq!(stream(&mut replica), "*2 $6 SELECT $1 0 *3 $3 SET $1 k $1 v ");
    assert_eq!(text(&mut client, "ROLE"), "[\"master\", :50, [[\"local\", \"6380\", \"0\"]]]");
    let mut wait = client.start(["WAIT", "1", "0"]).expect("it may wait");
    assert!(wait.reply().expect("open").is_none());
    assert_eq!(stream(&mut replica), "*3 $8 REPLCONF $6 GETACK $1 * ");
    assert_eq!(text(&mut replica, "REPLCONF ACK 49"), "");
    assert!(wait.reply().expect("open").is_none());
    assert_eq!(text(&mut replica, "REPLCONF ACK 87"), "");
    assert_eq!(wait.reply().expect("open").map(|reply| format!("{reply:?}")).as_deref(), Some(":1"));
    assert_eq!(text(&mut replica, "GET k"), "-ERR Replica can't interact with the keyspace");
    assert_eq!(text(&mut replica, "SYNC"), "");
    assert_eq!(stream(&mut replica), "");
}

#[test]
fn writes_need_replicas_that_were_heard_of() {
    let engine = Engine::new();
    let (mut client, mut replica) = (engine.client(), engine.client());
    text(&mut client, "CONFIG SET min-replicas-to-write 1");
    assert_eq!(text(&mut client, "SET k v"), "-NOREPLICAS Not enough good replicas to write.");
    text(&mut replica, "PSYNC ? -1");
    assert_eq!(text(&mut client, "SET k v"), "+OK");
    engine.advance(Duration::from_secs(11)).expect("a manual clock");
    assert_eq!(text(&mut client, "SET k v"), "-NOREPLICAS Not enough good replicas to write.");
    text(&mut replica, "REPLCONF ACK 0");
    assert_eq!(text(&mut client, "SET k v"), "+OK");
    drop(replica);
    assert_eq!(text(&mut client, "SET k v"), "-NOREPLICAS Not enough good replicas to write.");
}

#[test]
fn a_replica_that_does_not_read_is_let_go() {
    let engine = Engine::new();
    let (mut client, mut replica) = (engine.client(), engine.client());
    client.call(["CONFIG", "SET", "client-output-buffer-limit", "replica 1000 0 0"]).expect("a limit");
    text(&mut replica, "SYNC");
    client.call(["SET", "k", &"x".repeat(2000)]).expect("a write");
    assert!(replica.call(["PING"]).expect_err("it was ended").is_closed());
    assert_eq!(text(&mut client, "ROLE"), "[\"master\", :2052, []]");
}
