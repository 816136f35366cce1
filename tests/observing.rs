//! Clients that observe and hold other ones, with exact values: MONITOR, caches with CLIENT TRACKING, CLIENT PAUSE on a clock
//! that is held. What a server says to the same is in `tests/corpus/{monitor,pause,tracking}.txt`.

use moonkeep::{Blocking, Client, Engine, Error, Message};
use std::time::Duration;

type Result = std::result::Result<(), Error>;

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

fn call(client: &mut Client, line: &str) -> String {
    match client.call(words(line)) {
        Ok(reply) => reply.to_string(),
        Err(error) => error.to_string(),
    }
}

/// All messages that have come, as redis-cli shows them.
fn messages(client: &mut Client) -> Vec<String> {
    std::iter::from_fn(|| client.try_next_message().ok().flatten()).map(|message| show(&message)).collect()
}

fn show(message: &Message) -> String {
    if message.invalidates_all() {
        return format!("{}: all", message.kind());
    }
    let keys: Vec<_> = message.invalidated_keys().map(String::from_utf8_lossy).collect();
    match message.kind() {
        "monitor" => String::from_utf8_lossy(message.payload()).into_owned(),
        kind => format!("{kind}: {}", keys.join(" ")),
    }
}

/// A client that caches, in RESP3.
fn cache(engine: &Engine, options: &str) -> Client {
    let mut client = engine.client();
    for line in ["HELLO 3".to_owned(), format!("CLIENT TRACKING ON{options}")] {
        client.call(words(&line)).expect("it answers");
    }
    client
}

#[test]
fn a_monitor_is_shown_what_runs_in_its_order() -> Result {
    let engine = Engine::new();
    let (mut monitor, mut client) = (engine.client(), engine.client());
    assert_eq!(call(&mut monitor, "MONITOR"), "OK");
    client.call(["SET", "a \"b\"", "\x00\u{7}"])?;
    client.call(["EVAL", "return redis.call('GET', KEYS[1])", "1", "k"])?;
    call(&mut client, "AUTH secret");
    call(&mut client, "CONFIG GET maxmemory");
    engine.advance(Duration::from_micros(1_500))?;
    call(&mut monitor, "PING");
    assert_eq!(
        messages(&mut monitor),
        [
            "1704067200.000000 [0 local:2] \"SET\" \"a \\\"b\\\"\" \"\\x00\\a\"",
            "1704067200.000000 [0 local:2] \"EVAL\" \"return redis.call('GET', KEYS[1])\" \"1\" \"k\"",
            "1704067200.000000 [0 lua] \"GET\" \"k\"",
            "1704067200.000000 [0 local:2] \"AUTH\" \"(redacted)\"",
            "1704067200.001500 [0 local:1] \"PING\"",
        ]
    );
    call(&mut monitor, "RESET");
    call(&mut client, "PING");
    assert_eq!(messages(&mut monitor), Vec::<String>::new());
    Ok(())
}

#[test]
fn a_call_that_waits_is_shown_once() -> Result {
    let engine = Engine::new();
    let (mut monitor, mut waiting, mut client) = (engine.client(), engine.client(), engine.client());
    monitor.call(["MONITOR"])?;
    let mut pop = waiting.start(["BLPOP", "l", "0"])?;
    client.call(["RPUSH", "l", "x"])?;
    assert!(pop.reply()?.is_some());
    drop(pop);
    // What a pause holds back is shown when it runs.
    client.call(["CLIENT", "PAUSE", "10", "WRITE"])?;
    let mut set = waiting.start(["SET", "k", "v"])?;
    client.call(["GET", "k"])?;
    engine.advance(Duration::from_millis(11))?;
    assert!(set.reply()?.is_some());
    assert_eq!(
        messages(&mut monitor),
        [
            "1704067200.000000 [0 local:2] \"BLPOP\" \"l\" \"0\"",
            "1704067200.000000 [0 local:3] \"RPUSH\" \"l\" \"x\"",
            "1704067200.000000 [0 local:3] \"GET\" \"k\"",
            "1704067200.011000 [0 local:2] \"SET\" \"k\" \"v\"",
        ]
    );
    Ok(())
}

#[test]
fn a_cache_that_waited_is_told_behind_the_reply() -> Result {
    let engine = Engine::new();
    let mut waiting = cache(&engine, "");
    let mut client = engine.client();
    client.call(["RPUSH", "to", "a"])?;
    waiting.call(["LRANGE", "to", "0", "-1"])?;
    let mut reply = moonkeep::Reply::new();
    assert!(!waiting.begin_call(["BLMOVE", "from", "to", "LEFT", "LEFT", "0"], &mut reply)?);
    client.call(["RPUSH", "from", "x"])?;
    client.call(["SET", "other", "v"])?;
    assert!(waiting.finish_call(None, &mut reply)?);
    let mut ahead = Vec::new();
    assert_eq!(waiting.messages_ahead_into(&mut ahead)?, 0);
    assert_eq!(messages(&mut waiting), ["invalidate: to"]);
    Ok(())
}

#[test]
fn what_concerns_the_caller_itself_stands_behind_its_reply() -> Result {
    let engine = Engine::new();
    let mut client = cache(&engine, "");
    client.call(["SUBSCRIBE", "ch"])?;
    client.call(["GET", "k"])?;
    client.call(["MULTI"])?;
    client.call(["SET", "k", "v"])?;
    client.call(["PUBLISH", "ch", "m"])?;
    client.call(["EXEC"])?;
    let (mut ahead, mut behind) = (Vec::new(), Vec::new());
    assert_eq!(client.messages_ahead_into(&mut ahead)?, 1);
    assert_eq!(client.messages_into(None, &mut behind)?, 1);
    assert_eq!(ahead, b">3\r\n$7\r\nmessage\r\n$2\r\nch\r\n$1\r\nm\r\n");
    assert_eq!(behind, b">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n");
    // Who reads later reads them in the same order, and what comes from others last.
    for line in ["GET k", "GET l", "SET k w"] {
        client.call(words(line))?;
    }
    engine.client().call(["SET", "l", "v"])?;
    assert_eq!(messages(&mut client), ["invalidate: k", "invalidate: l"]);
    Ok(())
}

#[test]
fn a_cache_in_resp2_is_told_through_another_client() -> Result {
    let engine = Engine::new();
    let (mut told, mut reader, mut writer) = (engine.client(), engine.client(), engine.client());
    told.call(["SUBSCRIBE", "__redis__:invalidate"])?;
    reader.call(["CLIENT", "TRACKING", "ON", "REDIRECT", "1"])?;
    assert_eq!(reader.query::<i64, _>(["CLIENT", "GETREDIR"])?, 1);
    reader.call(["MGET", "k", "l"])?;
    writer.call(["SET", "k", "v"])?;
    writer.call(["FLUSHALL"])?;
    let first = told.try_next_message()?.expect("k has changed");
    assert_eq!((first.kind(), first.channel()), ("message", &b"__redis__:invalidate"[..]));
    assert_eq!(first.invalidated_keys().collect::<Vec<_>>(), [b"k"]);
    assert_eq!(messages(&mut told), ["message: all"]);
    told.call(["UNSUBSCRIBE"])?;
    reader.call(["GET", "k"])?;
    writer.call(["SET", "k", "v"])?;
    assert_eq!(messages(&mut told), Vec::<String>::new());
    let line = call(&mut reader, "CLIENT INFO");
    assert!(line.contains(" flags=t ") && line.contains(" redir=1 "), "{line}");
    Ok(())
}

#[test]
fn a_cache_learns_that_the_one_to_be_told_is_gone() -> Result {
    let engine = Engine::new();
    let told = engine.client();
    let mut reader = cache(&engine, " REDIRECT 1");
    reader.call(["GET", "k"])?;
    drop(told);
    engine.client().call(["SET", "k", "v"])?;
    let message = reader.try_next_message()?.expect("it is told");
    assert_eq!(message.kind(), "tracking-redir-broken");
    assert_eq!(message.to_reply().to_string(), "1) \"tracking-redir-broken\"\n2) (integer) 1");
    let info = call(&mut reader, "CLIENT TRACKINGINFO");
    assert!(info.contains("broken_redirect"), "{info}");
    assert!(call(&mut reader, "CLIENT INFO").contains(" flags=tR "));
    // Nobody gets its number again.
    let mut later = engine.client();
    reader.call(["GET", "k"])?;
    engine.client().call(["SET", "k", "v"])?;
    assert_eq!(messages(&mut later), Vec::<String>::new());
    Ok(())
}

#[test]
fn caches_hear_of_what_nobody_has_called() -> Result {
    let engine = Engine::new();
    let mut reader = cache(&engine, "");
    let mut broadcast = cache(&engine, " BCAST NOLOOP PREFIX k");
    reader.call(["SET", "k", "v", "PX", "10"])?;
    reader.call(["GET", "k"])?;
    assert_eq!(messages(&mut broadcast), ["invalidate: k"]);
    engine.advance(Duration::from_millis(11))?;
    assert_eq!(messages(&mut reader), ["invalidate: k"]);
    assert_eq!(messages(&mut broadcast), ["invalidate: k"]);
    broadcast.call(["SET", "k1", "v"])?;
    assert_eq!(messages(&mut broadcast), Vec::<String>::new());
    let kept = engine.snapshot()?;
    engine.restore(&kept)?;
    engine.client().call(["PING"])?;
    assert_eq!(messages(&mut reader), ["invalidate: all"]);
    assert_eq!(messages(&mut broadcast), ["invalidate: all"]);
    engine.reset()?;
    engine.client().call(["PING"])?;
    assert_eq!(messages(&mut reader), ["invalidate: all"]);
    Ok(())
}

#[test]
fn evicted_keys_are_told_of_before_the_command_that_makes_room() -> Result {
    let engine = Engine::new();
    let mut reader = cache(&engine, "");
    reader.call(["SET", "k", &"x".repeat(1000)])?;
    reader.call(["GET", "k"])?;
    reader.call(["CONFIG", "SET", "maxmemory-policy", "allkeys-random", "maxmemory", "1"])?;
    reader.call(["PING"])?;
    let mut ahead = Vec::new();
    assert_eq!(reader.messages_ahead_into(&mut ahead)?, 1);
    assert_eq!(ahead, b">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n");
    Ok(())
}

#[test]
fn no_more_keys_are_remembered_than_a_setting_allows() -> Result {
    let engine = Engine::new();
    let mut reader = cache(&engine, "");
    let names: Vec<String> = (0..300).map(|n| format!("key:{n}")).collect();
    let mut read = vec!["MGET"];
    read.extend(names.iter().map(String::as_str));
    reader.call(&read)?;
    reader.call(["CONFIG", "SET", "tracking-table-max-keys", "50"])?;
    let known = |reader: &mut Client| {
        let stats = call(reader, "INFO stats");
        let line = stats.split("tracking_total_keys:").nth(1).expect("it is counted").to_owned();
        line.split(|c: char| !c.is_ascii_digit()).next().and_then(|n| n.parse::<u64>().ok())
    };
    // Each command forgets some more than the one before it.
    assert_eq!([known(&mut reader), known(&mut reader)], [Some(200), Some(50)]);
    let mut told: Vec<String> = messages(&mut reader);
    assert_eq!(told.len(), 250);
    told.sort_unstable();
    told.dedup();
    assert_eq!(told.len(), 250);
    Ok(())
}

#[test]
fn a_client_that_ends_caches_and_monitors_no_more() -> Result {
    let engine = Engine::new();
    let mut client = engine.client();
    let clients = |client: &mut Client, name: &str| {
        let info = call(client, "INFO everything");
        let value = info.split(&format!("{name}:")).nth(1).map(str::to_owned).unwrap_or_default();
        value.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default().to_owned()
    };
    let (one, two) = (cache(&engine, ""), cache(&engine, " BCAST PREFIX a"));
    let mut monitor = engine.client();
    monitor.call(["MONITOR"])?;
    assert_eq!(clients(&mut client, "tracking_clients"), "2");
    assert_eq!(clients(&mut client, "tracking_total_prefixes"), "1");
    client.call(["CLIENT", "KILL", "ID", "2"])?;
    drop((one, two, monitor));
    assert_eq!(clients(&mut client, "tracking_clients"), "0");
    assert_eq!(clients(&mut client, "tracking_total_prefixes"), "0");
    client.call(["SET", "a", "v"])?;
    let list = call(&mut client, "CLIENT LIST");
    assert_eq!(list.matches("id=").count(), 1, "{list}");
    Ok(())
}

#[test]
fn a_paused_call_waits_until_the_clock_has_moved() -> Result {
    let engine = Engine::new();
    let (mut client, mut other) = (engine.client(), engine.client());
    client.call(["CLIENT", "PAUSE", "100", "WRITE"])?;
    // The thread that would wait is the one that moves the clock.
    assert!(client.call(["SET", "k", "v"]).expect_err("it would wait").is_would_block());
    assert_eq!(client.query::<Option<String>, _>(["GET", "k"])?, None);
    let mut set = client.start(["SET", "k", "v"])?;
    let mut push = other.start(["RPUSH", "l", "a"])?;
    engine.advance(Duration::from_millis(100))?;
    assert!(set.reply()?.is_none() && push.reply()?.is_none());
    engine.advance(Duration::from_millis(1))?;
    assert_eq!(set.reply()?.expect("the pause is over").get::<String>()?, "OK");
    assert_eq!(push.reply()?.expect("the pause is over").get::<i64>()?, 1);
    drop((set, push));
    client.call(["CLIENT", "PAUSE", "100"])?;
    let mut unpause = other.start(["CLIENT", "UNPAUSE"])?;
    assert!(unpause.reply()?.is_none());
    drop(unpause);
    engine.advance(Duration::from_secs(1))?;
    assert_eq!(client.query::<Option<String>, _>(["GET", "k"])?.as_deref(), Some("v"));
    Ok(())
}

#[test]
fn a_clock_that_moves_by_itself_for_a_call_ends_a_pause() -> Result {
    let engine = Engine::builder().blocking(Blocking::Advance).build();
    let mut client = engine.client();
    let before_ms = engine.now_ms()?;
    client.call(["CLIENT", "PAUSE", "5000"])?;
    assert_eq!(client.query::<String, _>(["PING"])?, "PONG");
    assert_eq!(engine.now_ms()? - before_ms, 5001);
    Ok(())
}

#[test]
fn a_thread_waits_for_the_end_of_a_pause() -> Result {
    let engine = Engine::builder().blocking(Blocking::Wait).build();
    let mut client = engine.client();
    client.call(["CLIENT", "PAUSE", "5000", "WRITE"])?;
    let paused = {
        let engine = engine.clone();
        std::thread::spawn(move || engine.client().query::<i64, _>(["INCR", "n"]))
    };
    while !call(&mut client, "INFO clients").contains("blocked_clients:1") {
        std::thread::yield_now();
    }
    client.call(["CLIENT", "UNPAUSE"])?;
    assert_eq!(paused.join().expect("no panic")?, 1);
    Ok(())
}

#[test]
fn what_breaks_the_server_has_one_answer() -> Result {
    let engine = Engine::new();
    let (mut client, mut paused) = (engine.client(), engine.client());
    client.call(["CLIENT", "PAUSE", "100", "WRITE"])?;
    let mut set = paused.start(["SET", "k", "v"])?;
    // It has not begun: there is nothing to end. The server crashes, or answers twice.
    assert_eq!(client.query::<i64, _>(["CLIENT", "UNBLOCK", "2"])?, 0);
    assert_eq!(client.query::<i64, _>(["CLIENT", "UNBLOCK", "2", "ERROR"])?, 0);
    assert!(set.reply()?.is_none());
    // The server answers twice here, and tracks.
    assert_eq!(
        call(&mut client, "CLIENT TRACKING ON BCAST PREFIX a PREFIX bb PREFIX b"),
        "ERR Prefix 'bb' overlaps with another provided prefix 'b'. Prefixes for a single client must not overlap."
    );
    assert_eq!(call(&mut client, "CLIENT GETREDIR"), "(integer) -1");
    Ok(())
}

#[test]
fn what_a_pause_holds_back_can_be_killed() -> Result {
    let engine = Engine::new();
    let (mut client, mut paused) = (engine.client(), engine.client());
    client.call(["CLIENT", "PAUSE", "100", "WRITE"])?;
    let mut set = paused.start(["SET", "k", "v"])?;
    assert_eq!(client.query::<i64, _>(["CLIENT", "KILL", "ID", "2"])?, 1);
    assert!(set.reply().expect_err("it is over").is_closed());
    client.call(["CLIENT", "UNPAUSE"])?;
    assert_eq!(client.query::<i64, _>(["EXISTS", "k"])?, 0);
    Ok(())
}

#[test]
fn a_fork_knows_no_cache_no_monitor_and_no_pause() -> Result {
    let engine = Engine::new();
    let mut reader = cache(&engine, "");
    let mut monitor = engine.client();
    reader.call(["GET", "k"])?;
    monitor.call(["MONITOR"])?;
    monitor.call(["CLIENT", "PAUSE", "1000"])?;
    let fork = engine.fork()?;
    fork.client().call(["SET", "k", "v"])?;
    assert_eq!(messages(&mut reader), Vec::<String>::new());
    assert_eq!(messages(&mut monitor), Vec::<String>::new());
    Ok(())
}

#[test]
fn a_monitor_may_call_scripts_that_declare_that_they_write_nothing() -> Result {
    let engine = Engine::new();
    let mut monitor = engine.client();
    monitor.call(["MONITOR"])?;
    let refused = "ERR Replica can't interact with the keyspace";
    for (script, answer) in [
        ("return 1", refused),
        ("#!lua\nreturn 1", refused),
        ("#!lua flags=no-writes\nreturn redis.call('EXISTS', 'k')", "(integer) 0"),
    ] {
        let answered = match monitor.call(["EVAL", script, "0"]) {
            Ok(reply) => reply.to_string(),
            Err(error) => error.to_string(),
        };
        assert_eq!(answered, answer, "{script}");
    }
    Ok(())
}

#[test]
fn what_comes_once_a_held_call_is_answered_stands_behind_its_reply() -> Result {
    let engine = Engine::new();
    let (mut monitor, mut other, mut pauser) = (engine.client(), engine.client(), engine.client());
    pauser.call(["CLIENT", "PAUSE", "10", "ALL"])?;
    let mut watches = monitor.start(["MONITOR"])?;
    let mut pings = other.start(["PING"])?;
    engine.advance(Duration::from_millis(11))?;
    assert!(pings.reply()?.is_some() && watches.reply()?.is_some());
    drop(watches);
    let mut ahead = Vec::new();
    assert_eq!(monitor.messages_ahead_into(&mut ahead)?, 0);
    assert_eq!(messages(&mut monitor), ["1704067200.011000 [0 local:2] \"PING\""]);
    Ok(())
}
