//! The same without blocking: the connection in process, and the crate's own types over a stream in memory.

use super::{CALLS, client_of, command, engine, info};
use crate::support::server::server_or_skip;
use crate::support::target::START_MS;
use futures_util::StreamExt;
use moonkeep::redis::aio::{Connection, Stream};
use moonkeep::redis::engine_error;
use moonkeep::{Clock, Engine, Loss};
use redis::aio::{ConnectionLike, MultiplexedConnection, PubSub};
use redis::{AsyncCommands, AsyncConnectionConfig, ProtocolVersion, RedisConnectionInfo, RedisResult, Value};
use std::collections::BTreeMap;
use std::task::{Context, Waker};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

const BOTH: [ProtocolVersion; 2] = [ProtocolVersion::RESP2, ProtocolVersion::RESP3];

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

async fn multiplexed(engine: &Engine, protocol: ProtocolVersion) -> MultiplexedConnection {
    // The clock is held: no call is given up because time passes.
    let config = AsyncConnectionConfig::new().set_response_timeout(None);
    let stream = Stream::new(engine);
    let opened = MultiplexedConnection::new_with_config(&info(protocol), stream, config).await;
    let (connection, driver) = opened.expect("nothing is refused");
    tokio::spawn(driver);
    connection
}

async fn answers(connection: &mut impl ConnectionLike) -> Vec<String> {
    let mut answers = Vec::new();
    for line in CALLS {
        answers.push(format!("{line}: {:?}", connection.req_packed_command(&command(line)).await));
    }
    answers
}

#[test]
fn values_are_those_of_a_connection_to_a_server_without_blocking() {
    let Some(server) = server_or_skip("values_without_blocking") else { return };
    runtime().block_on(async {
        for protocol in BOTH {
            let there = client_of(&server, protocol).get_multiplexed_async_connection().await;
            let mut there = there.expect("it accepts connections");
            redis::cmd("FLUSHALL").exec_async(&mut there).await.expect("it is up");
            let theirs = answers(&mut there).await;
            let mut here = Connection::open(&engine(), &info(protocol)).await.expect("nothing is refused");
            let mut through = multiplexed(&engine(), protocol).await;
            let ours = [answers(&mut here).await, answers(&mut through).await];
            for (ours, way) in ours.iter().zip(["in process", "over a stream"]) {
                ours.iter().zip(&theirs).for_each(|(a, b)| assert_eq!(a, b, "{protocol:?}, {way}"));
            }
        }
    });
}

async fn production<C: AsyncCommands + Clone>(mut connection: C) -> RedisResult<Vec<String>> {
    let mut seen = Vec::new();
    let () = connection.set("n", 5).await?;
    let () = connection.hset_multiple("h", &[("a", 1), ("b", 2)]).await?;
    let hash: BTreeMap<String, i32> = connection.hgetall("h").await?;
    seen.push(format!("{hash:?}"));
    let (n, old): (i64, Option<String>) =
        redis::pipe().incr("n", 1).getset("s", "x").set("t", 1).ignore().query_async(&mut connection).await?;
    seen.push(format!("{n} {old:?}"));
    let (left,): (i64,) =
        redis::pipe().atomic().decr("n", 2).del("t").ignore().query_async(&mut connection).await?;
    seen.push(format!("{left}"));
    let tripled: (i64,) =
        redis::aio::transaction_async(connection.clone(), &["n"], |mut connection, mut pipe| async move {
            let n: i64 = connection.get("n").await?;
            pipe.set("n", 3 * n).ignore().get("n").query_async(&mut connection).await
        })
        .await?;
    seen.push(format!("{tripled:?}"));
    let script = redis::Script::new("return redis.call('INCRBY', KEYS[1], ARGV[1])");
    let sum: i64 = script.key("n").arg(30).invoke_async(&mut connection).await?;
    seen.push(format!("{sum}"));
    for n in 0..25 {
        let () = connection.sadd("many", n).await?;
    }
    let found: Vec<RedisResult<u32>> = connection.sscan::<_, u32>("many").await?.collect().await;
    let mut found = found.into_iter().collect::<RedisResult<Vec<_>>>()?;
    found.sort_unstable();
    seen.push(format!("{} up to {:?}", found.len(), found.last()));
    let wrong = connection.lpush::<_, _, i64>("n", "y").await.expect_err("it holds a string");
    seen.push(format!("{:?} {:?}", wrong.kind(), wrong.code()));
    let mixed = redis::pipe().set("s", "x").lpush("s", "y").query_async::<()>(&mut connection).await;
    let mixed = mixed.expect_err("it holds a string").into_server_errors().expect("one");
    seen.push(format!("{:?}", mixed.iter().map(|(index, error)| (*index, error.code())).collect::<Vec<_>>()));
    let aborted = redis::pipe().atomic().cmd("NOSUCH").query_async::<()>(&mut connection).await;
    let aborted = aborted.expect_err("refused");
    seen.push(format!("{:?} {:?}", aborted.kind(), aborted.code()));
    Ok(seen)
}

#[test]
fn production_code_runs_unmodified_without_blocking() {
    let expected = [
        r#"{"a": 1, "b": 2}"#,
        "6 None",
        "4",
        "(12,)",
        "42",
        "25 up to Some(24)",
        r#"Extension Some("WRONGTYPE")"#,
        r#"[(1, "WRONGTYPE")]"#,
        r#"Server(ExecAbort) Some("EXECABORT")"#,
    ];
    let server = server_or_skip("production_code_runs_unmodified_without_blocking");
    runtime().block_on(async {
        for protocol in BOTH {
            let here = Connection::open(&engine(), &info(protocol)).await.expect("nothing is refused");
            assert_eq!(production(here).await.expect("no call fails"), expected, "{protocol:?}");
            let through = multiplexed(&engine(), protocol).await;
            assert_eq!(production(through).await.expect("no call fails"), expected, "{protocol:?}, a stream");
            let Some(server) = &server else { continue };
            let there = client_of(server, protocol).get_multiplexed_async_connection().await;
            let mut there = there.expect("it accepts connections");
            redis::cmd("FLUSHALL").exec_async(&mut there).await.expect("it is up");
            assert_eq!(production(there).await.expect("no call fails"), expected, "{protocol:?}, a server");
        }
    });
}

type Popped = Option<(String, String)>;

#[test]
fn a_call_that_waits_is_served_or_ends_with_the_clock() {
    runtime().block_on(async {
        let engine = engine();
        let (mut consumer, mut producer) =
            (Connection::new(engine.client()), Connection::new(engine.client()));
        let popped = tokio::join!(
            consumer.blpop::<_, Popped>("queue", 5.0),
            producer.rpush::<_, _, i64>("queue", "job")
        );
        assert_eq!(popped, (Ok(Some(("queue".into(), "job".into()))), Ok(1)));
        let over = tokio::join!(consumer.blpop::<_, Popped>("queue", 5.0), async {
            engine.advance(Duration::from_millis(5001)).expect("a manual clock");
        });
        assert_eq!(over.0, Ok(None));

        let mut through = multiplexed(&engine, ProtocolVersion::RESP3).await;
        let popped = tokio::join!(through.blpop::<_, Popped>("queue", 5.0), async {
            tokio::task::yield_now().await;
            producer.rpush::<_, _, i64>("queue", "job").await
        });
        assert_eq!(popped.0, Ok(Some(("queue".into(), "job".into()))));
    });
}

#[test]
fn clones_take_turns_and_a_dropped_call_waits_no_more() {
    runtime().block_on(async {
        let engine = engine();
        let mut consumer = Connection::new(engine.client());
        let (mut clone, mut producer) = (consumer.clone(), Connection::new(engine.client()));
        let order =
            tokio::join!(consumer.blpop::<_, Popped>("queue", 0.0), clone.incr::<_, _, i64>("n", 1), async {
                // The clone waits for its turn, so nothing is counted yet.
                let n: Option<i64> = producer.get("n").await.expect("no call fails");
                let _: i64 = producer.rpush("queue", "job").await.expect("a list");
                n
            });
        assert_eq!(order, (Ok(Some(("queue".into(), "job".into()))), Ok(1), None));

        {
            let mut waits = Box::pin(consumer.blpop::<_, Popped>("queue", 0.0));
            assert!(waits.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        assert_eq!(producer.rpush::<_, _, i64>("queue", "kept").await, Ok(1));
        assert_eq!(consumer.llen::<_, i64>("queue").await, Ok(1), "nobody took it");
        assert_eq!(consumer.get_db(), 0);
    });
}

#[test]
fn a_transaction_that_is_dropped_before_its_end_is_none() {
    runtime().block_on(async {
        let engine = engine();
        let mut connection = Connection::new(engine.client());
        engine.client().call(["CLIENT", "PAUSE", "1000", "WRITE"]).expect("it pauses");
        {
            let mut pipe = redis::pipe();
            pipe.atomic().set("a", 1);
            let mut waits = Box::pin(pipe.exec_async(&mut connection));
            assert!(waits.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        assert_eq!(connection.get::<_, Option<i64>>("a").await, Ok(None));
    });
}

#[test]
fn what_waits_goes_on_waiting_while_a_script_runs_for_long() {
    runtime().block_on(async {
        let engine = engine();
        let consumer = Connection::new(engine.client());
        let mut popping = consumer.clone();
        let mut popped = Box::pin(popping.blpop::<_, Popped>("queue", 0.0));
        let context = &mut Context::from_waker(Waker::noop());
        assert!(popped.as_mut().poll(context).is_pending());
        engine.client().call(["CONFIG", "SET", "busy-reply-threshold", "1"]).expect("it is set");
        // Who makes a client waits for the script, so both are made before.
        let (mut scripted, mut other) = (engine.client(), engine.client());
        let script = std::thread::spawn(move || scripted.call(["EVAL", "while true do end", "0"]));
        while !other.call(["PING"]).is_err_and(|error| error.code() == Some("BUSY")) {
            assert!(!script.is_finished(), "nobody was told of the script");
            std::thread::yield_now();
        }
        assert!(popped.as_mut().poll(context).is_pending(), "it is not answered BUSY");
        other.call(["SCRIPT", "KILL"]).expect("it has not written");
        assert!(script.join().expect("no panic").is_err());
        other.call(["RPUSH", "queue", "job"]).expect("a list");
        assert_eq!(popped.await, Ok(Some(("queue".into(), "job".into()))));
    });
}

#[test]
fn a_call_ends_with_its_time_on_the_clock_of_the_system() {
    runtime().block_on(async {
        let engine = Engine::builder().clock(Clock::system()).build();
        let mut consumer = Connection::new(engine.client());
        assert_eq!(consumer.blpop::<_, Popped>("queue", 0.001).await, Ok(None));
        let mut through = multiplexed(&engine, ProtocolVersion::RESP2).await;
        assert_eq!(through.blpop::<_, Popped>("queue", 0.001).await, Ok(None));
    });
}

#[test]
fn what_is_published_comes_through_a_stream() {
    runtime().block_on(async {
        for protocol in BOTH {
            let engine = engine();
            let mut publisher = Connection::new(engine.client());
            let pubsub = PubSub::new(&info(protocol), Stream::new(&engine)).await.expect("a session");
            let (mut sink, mut messages) = pubsub.split();
            sink.subscribe(&["news", "sports"]).await.expect("two channels");
            sink.psubscribe("n*").await.expect("a pattern");
            assert_eq!(publisher.publish::<_, _, i64>("news", "one").await, Ok(2));
            assert_eq!(publisher.publish::<_, _, i64>("sports", "two").await, Ok(1));
            let mut seen = Vec::new();
            for _ in 0..3 {
                let message = messages.next().await.expect("published");
                let pattern = message.get_pattern::<Option<String>>().expect("text");
                seen.push((
                    message.get_channel_name().to_owned(),
                    pattern,
                    message.get_payload::<String>().expect("text"),
                ));
            }
            let n = Some("n*".to_owned());
            let expected = [("news", None, "one"), ("news", n, "one"), ("sports", None, "two")];
            assert_eq!(seen, expected.map(|(a, b, c)| (a.to_owned(), b, c.to_owned())), "{protocol:?}");
            sink.unsubscribe("news").await.expect("subscribed");
            assert_eq!(publisher.publish::<_, _, i64>("news", "three").await, Ok(1));
            assert_eq!(messages.next().await.expect("published").get_payload(), Ok("three".to_owned()));
            drop((sink, messages));
            while publisher.publish::<_, _, i64>("sports", "nobody").await != Ok(0) {
                tokio::task::yield_now().await;
            }
        }
    });
}

#[test]
fn what_the_engine_says_ends_a_stream_as_a_socket_ends() {
    runtime().block_on(async {
        let engine = engine();
        let mut here = Connection::new(engine.client());
        let mut through = multiplexed(&engine, ProtocolVersion::RESP2).await;
        engine.lose(Loss::Replies).expect("at rest");
        let lost = here.incr::<_, _, i64>("n", 1).await.expect_err("lost");
        assert!(lost.is_connection_dropped() && engine_error(&lost).is_some());
        let lost = through.incr::<_, _, i64>("n", 1).await.expect_err("lost");
        assert!(lost.is_connection_dropped());
        engine.heal().expect("at rest");
        assert_eq!(here.get::<_, i64>("n").await, Ok(2));
        assert!(through.get::<_, i64>("n").await.is_err(), "a connection that is lost stays so");

        let mut quits = multiplexed(&engine, ProtocolVersion::RESP2).await;
        assert_eq!(redis::cmd("QUIT").query_async::<String>(&mut quits).await, Ok("OK".into()));
        assert!(quits.get::<_, Value>("n").await.expect_err("over").is_connection_dropped());
    });
}

#[test]
fn a_stream_takes_bytes_in_any_pieces() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    runtime().block_on(async {
        let mut stream = Stream::new(&engine());
        for byte in b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\nget k\r\n*9x\r\n" {
            stream.write_all(&[*byte]).await.expect("it is open");
        }
        let mut out = Vec::new();
        stream.read_to_end(&mut out).await.expect("no error");
        let expected = "+OK\r\n$1\r\nv\r\n-ERR Protocol error: invalid multibulk length\r\n";
        assert_eq!(String::from_utf8_lossy(&out), expected);
        assert!(stream.write_all(b"PING\r\n").await.is_err(), "it has ended");
    });
}

/// On an executor with threads, and generic code that wants `Send`.
#[test]
fn futures_on_a_connection_can_move_between_threads() {
    fn assert_send<T: Send>(value: T) -> T {
        value
    }
    let mut connection = Connection::new(Engine::new().client());
    let info = RedisConnectionInfo::default();
    drop(assert_send(connection.blpop::<_, Popped>("queue", 0.0)));
    drop(assert_send(Connection::open(&Engine::new(), &info)));
    assert_send(Stream::new(&Engine::new()));
    assert_eq!(Engine::builder().clock(Clock::manual(START_MS)).build().now_ms(), Ok(START_MS));
}
