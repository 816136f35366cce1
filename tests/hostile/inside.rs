//! What happens to an engine while a script runs in it: called again, restored, flushed, dropped, killed, waited for,
//! from the script's own thread and from others. All is refused or waits; nothing is freed under the script. And
//! panics in functions of the host.

use moonkeep::{Client, Engine, Error, Limits, Reply, Snapshot};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A place for an engine that its own functions can reach.
type Slot = Arc<Mutex<Option<Engine>>>;

fn eval(client: &mut Client, script: &str) -> String {
    let mut reply = Reply::new();
    match client.call_into(["EVAL", script, "0"], &mut reply) {
        Ok(()) => format!("{reply:?}"),
        Err(error) => format!("!{error}"),
    }
}

/// An engine whose functions reach it, until this is dropped.
struct Reached {
    engine: Engine,
    slot: Slot,
}

impl Drop for Reached {
    fn drop(&mut self) {
        self.slot.lock().expect("no panic").take();
    }
}

impl std::ops::Deref for Reached {
    type Target = Engine;
    fn deref(&self) -> &Engine {
        &self.engine
    }
}

/// An engine whose scripts can call `inside`.
fn engine_with(limits: Limits, inside: impl Fn(&Engine, &mut Reply) + Send + Sync + 'static) -> Reached {
    let slot: Slot = Arc::default();
    let place = slot.clone();
    let engine = Engine::builder()
        .script_limits(limits)
        .function("inside", move |_, answer| {
            let engine = place.lock().map_err(|error| error.to_string())?.clone().ok_or("no engine")?;
            inside(&engine, answer);
            if answer.is_empty() {
                answer.nil();
            }
            Ok(())
        })
        .expect("a free name")
        .build();
    *slot.lock().expect("no panic") = Some(engine.clone());
    Reached { engine, slot }
}

#[test]
fn an_engine_cannot_be_entered_from_inside_a_script() {
    let kept: Arc<Mutex<Option<(Client, Snapshot)>>> = Arc::default();
    let inside = kept.clone();
    let engine = engine_with(Limits::default(), move |engine, answer| {
        let mut kept = inside.lock().expect("no panic");
        let (client, snapshot) = kept.as_mut().expect("set below");
        let refusals: Vec<(&str, Option<Error>)> = vec![
            ("client", engine.try_client().err()),
            ("call", client.call(["PING"]).err()),
            ("eval", client.call(["EVAL", "return 1", "0"]).err()),
            ("flush", client.call(["FLUSHALL"]).err()),
            ("flush of scripts", client.call(["SCRIPT", "FLUSH"]).err()),
            ("flush of functions", client.call(["FUNCTION", "FLUSH"]).err()),
            ("trace", client.trace(["PING"]).err()),
            ("snapshot", engine.snapshot().err()),
            ("restore", engine.restore(snapshot).err()),
            ("fork", engine.fork().err()),
            ("reset", engine.reset().err()),
            ("advance", engine.advance(Duration::from_secs(1)).err()),
            ("set_time", engine.set_time(0).err()),
            ("hash", engine.state_hash().err()),
            ("journal", engine.subscribe_journal().err()),
            ("log", engine.take_log().err()),
        ];
        let wrong: Vec<&str> = refusals
            .iter()
            .filter(|(_, error)| !error.as_ref().is_some_and(Error::is_reentered))
            .map(|(name, _)| *name)
            .collect();
        answer.bulk(wrong.join(",").as_bytes());
    });
    let mut client = engine.client();
    client.call(["SET", "k", "before"]).expect("the engine is free");
    *kept.lock().expect("no panic") = Some((engine.client(), engine.snapshot().expect("the engine is free")));
    for script in [
        "return inside()",
        "return coroutine.wrap(function() return inside() end)()",
        "return select(2, pcall(inside))",
        "return (('x'):gsub('x', function() return inside() end))",
        "local r table.sort({2, 1}, function(a, b) r = inside() return a < b end) return r",
    ] {
        assert_eq!(eval(&mut client, script), "\"\"", "{script}");
    }
    assert_eq!(client.query::<String, _>(["GET", "k"]), Ok("before".into()));
    *kept.lock().expect("no panic") = None;
}

/// Clients, snapshots and journals may be dropped anywhere, also in the middle of a script.
#[test]
fn what_is_dropped_inside_a_script_goes_when_the_script_has_ended() {
    let kept: Arc<Mutex<Vec<Client>>> = Arc::default();
    let inside = kept.clone();
    let engine = engine_with(Limits::default(), move |engine, answer| {
        inside.lock().expect("no panic").clear();
        drop(engine.clone());
        answer.int(1);
    });
    let mut client = engine.client();
    for _ in 0..10 {
        kept.lock().expect("no panic").extend((0..3).map(|_| engine.client()));
        assert_eq!(eval(&mut client, "return inside() + inside()"), ":2");
    }
    let list: String = client.query(["CLIENT", "LIST"]).expect("text");
    assert_eq!(list.lines().count(), 1, "{list}");
}

/// The last handle of an engine goes while one of its scripts runs: the client that runs it keeps it alive.
#[test]
fn an_engine_lives_as_long_as_its_last_script() {
    let slot: Slot = Arc::default();
    let place = slot.clone();
    let engine = Engine::builder()
        .function("drop_engine", move |_, answer| {
            *place.lock().map_err(|error| error.to_string())? = None;
            answer.int(1);
            Ok(())
        })
        .expect("a free name")
        .build();
    let mut client = engine.client();
    *slot.lock().expect("no panic") = Some(engine);
    assert_eq!(eval(&mut client, "drop_engine() return redis.call('INCR', 'n')"), ":1");
    assert_eq!(eval(&mut client, "return redis.call('INCR', 'n')"), ":2");
}

/// A script that runs until it is killed, and what has to wait for it.
fn while_a_script_runs(script: &'static str, meanwhile: impl FnOnce(&Engine, &mut Client)) -> String {
    let limits = Limits { work: u64::MAX, time_ms: 120_000, ..Limits::default() };
    let engine = Engine::builder().script_limits(limits).build();
    let (mut client, mut other) = (engine.client(), engine.client());
    let control = engine.script_control();
    let running = std::thread::spawn(move || eval(&mut client, script));
    while !control.is_running() {
        std::thread::yield_now();
    }
    meanwhile(&engine, &mut other);
    control.kill();
    running.join().expect("no panic")
}

const KILLED: &str = "-ERR Script killed by user with SCRIPT KILL... script: ";

/// What another thread does to an engine.
type Work = Box<dyn FnOnce(&Engine) -> Result<(), Error> + Send>;

/// What others do to the engine meanwhile waits for the script: it is not freed or emptied under it.
#[test]
fn others_wait_for_a_running_script() {
    let snapshot = Engine::new().snapshot().expect("the engine is free");
    let mut waiting = Vec::new();
    let killed = while_a_script_runs("while true do local t = {redis.call('TIME')} end", |engine, _| {
        let works: Vec<Work> = vec![
            Box::new(|engine| engine.client().call(["FLUSHALL"]).map(drop)),
            Box::new(|engine| engine.client().call(["SCRIPT", "FLUSH"]).map(drop)),
            Box::new(|engine| engine.client().call(["FUNCTION", "FLUSH"]).map(drop)),
            Box::new(move |engine| engine.restore(&snapshot)),
            Box::new(|engine| engine.fork().map(drop)),
            Box::new(|engine| engine.reset()),
            Box::new(|engine| engine.client().call(["EVAL", "return 1", "0"]).map(drop)),
        ];
        for work in works {
            let engine = engine.clone();
            waiting.push(std::thread::spawn(move || work(&engine)));
        }
    });
    assert!(killed.starts_with(KILLED), "{killed}");
    for thread in waiting {
        assert_eq!(thread.join().expect("no panic"), Ok(()));
    }
}

/// The server's BUSY, for who waits longer than busy-reply-threshold.
#[test]
fn who_waits_too_long_is_told_that_the_engine_is_busy() {
    let limits = Limits { work: u64::MAX, time_ms: 120_000, ..Limits::default() };
    let engine = Engine::builder().script_limits(limits).build();
    let mut client = engine.client();
    client.call(["CONFIG", "SET", "busy-reply-threshold", "20"]).expect("the engine is free");
    let code = "#!lua name=l\nredis.register_function('f', function() while true do end end)";
    client.call(["FUNCTION", "LOAD", code]).expect("the engine is free");
    for (call, killer, other) in [
        (["EVAL", "while true do end", "0"], "SCRIPT", "FUNCTION"),
        (["FCALL", "f", "0"], "FUNCTION", "SCRIPT"),
    ] {
        let mut waiting = engine.client();
        let control = engine.script_control();
        let running = std::thread::spawn({
            let mut client = engine.client();
            move || client.call(call).map(drop)
        });
        while !control.is_running() {
            std::thread::yield_now();
        }
        let busy = format!(
            "BUSY Redis is busy running a script. You can only call {killer} KILL or SHUTDOWN NOSAVE."
        );
        let mut reply = Reply::new();
        for words in [vec!["GET", "k"], vec!["EVAL", "return 1", "0"], vec!["FLUSHALL"]] {
            waiting.call_into(&words, &mut reply).expect("an error reply is a reply");
            assert_eq!(format!("{reply:?}"), format!("-{busy}"));
            assert_eq!(waiting.call(&words).unwrap_err().to_string(), busy);
        }
        assert_eq!(engine.snapshot().unwrap_err().to_string(), busy);
        assert_eq!(engine.try_client().unwrap_err().code(), Some("BUSY"));
        assert!(waiting.call([other, "KILL"]).is_err_and(|error| error.code() == Some("BUSY")));
        assert_eq!(waiting.query::<String, _>([killer, "KILL"]), Ok("OK".into()));
        assert!(running.join().expect("no panic").is_err());
        assert_eq!(waiting.query::<String, _>(["PING"]), Ok("PONG".into()));
    }
    client.call(["CONFIG", "SET", "busy-reply-threshold", "0"]).expect("the engine is free");
}

/// A kill reaches a script wherever it is.
#[test]
fn a_kill_reaches_every_loop() {
    for script in [
        "while true do end",
        "while true do pcall(function() while true do end end) end",
        "while true do xpcall(function() while true do end end, function() while true do end end) end",
        "coroutine.wrap(function() while true do end end)()",
        "while true do pcall(coroutine.wrap(function() while true do pcall(error) end end)) end",
        "while true do redis.call('PING') end",
        "while true do redis.pcall('NO SUCH') end",
        "string.find(('a'):rep(60), ('a*'):rep(12) .. 'b')",
        "while true do pcall(string.find, ('a'):rep(60), ('a*'):rep(12) .. 'b') end",
        "string.find(('a'):rep(8000000), ('a'):rep(4000000) .. 'b', 1, true)",
        "while true do ('x'):rep(1000000):gsub('x', 'y') end",
        "table.insert({}, -2147483647, 1)",
        "local t = {} for i = 1, 300000 do t[i] = i end while true do table.sort(t, rawequal) end",
        "local t = {} for i = 1, 1000000 do t[i] = '' end while true do table.concat(t) end",
        "while true do collectgarbage() end",
        "while true do loadstring(('a = 1 '):rep(10000)) end",
        "for i = 1, 20 do redis.call('PING') end while true do local s = ('x'):rep(1000000) .. math.random() end",
        "setmetatable({}, {__index = function() while true do end end}).x()",
        "table.sort({3, 2, 1}, function() while true do end end)",
        "load(function() while true do end end)",
    ] {
        let killed = while_a_script_runs(script, |_, _| ());
        assert!(
            killed.starts_with(KILLED) || killed.starts_with("-ERR not enough memory"),
            "{script}: {killed}"
        );
    }
}

/// After a write SCRIPT KILL is refused; the handle of the host kills anyway.
#[test]
fn after_a_write_only_the_host_kills() {
    let killed = while_a_script_runs("redis.call('SET', 'k', 'v') while true do end", |engine, client| {
        let control = engine.script_control();
        while !control.has_written() {
            std::thread::yield_now();
        }
        let refused = client.call(["SCRIPT", "KILL"]).unwrap_err();
        assert_eq!(refused.code(), Some("UNKILLABLE"));
        assert!(control.is_running());
    });
    assert!(killed.starts_with(KILLED), "{killed}");
}

/// A panic of the host's function poisons the engine, whatever the script does to catch it.
#[test]
fn a_panic_of_the_host_poisons_the_engine() {
    for script in [
        "return inside()",
        "return pcall(inside)",
        "while true do pcall(inside) end",
        "return coroutine.wrap(function() return inside() end)()",
        "return xpcall(inside, function() return 1 end)",
        "table.sort({3, 2, 1}, function(a, b) inside() return a < b end)",
        "return (('x'):gsub('x', inside))",
        "return tostring(setmetatable({}, {__tostring = inside}))",
        "return load(inside)",
    ] {
        let engine = engine_with(Limits::default(), |_, _| panic!("a function of the host"));
        let mut client = engine.client();
        let other = engine.clone();
        let panicked = catch_unwind(AssertUnwindSafe(|| eval(&mut client, script)));
        assert_eq!(panicked.unwrap_err().downcast_ref(), Some(&"a function of the host"), "{script}");
        let error = client.call(["PING"]).expect_err("poisoned");
        assert!(error.is_poisoned(), "{script}: {error}");
        let elsewhere = std::thread::spawn(move || other.try_client().map(drop)).join().expect("no panic");
        assert!(elsewhere.is_err_and(|error| error.is_poisoned()));
        let snapshot = Engine::new().snapshot().expect("the engine is free");
        engine.restore(&snapshot).expect("a restore puts all right");
        assert_eq!(eval(&mut engine.client(), "return 7"), ":7", "{script}");
    }
}
