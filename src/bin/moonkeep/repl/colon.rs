//! The commands that moonkeep adds to Redis's, all with a colon in front: the clock, snapshots, traces, files. Each is a
//! row here and a function below; help, completion and the errors derive from the rows.

use super::nearest::nearest;
use super::session::{Answer, Session, Told};
use crate::harmless;
use crate::scripts::{self, Source, Words};
use crate::time::{parse_duration, shown_instant};
use std::fmt::Write;

/// A command of moonkeep.
pub(super) struct Colon {
    pub(super) name: &'static str,
    pub(super) usage: &'static str,
    summary: &'static str,
    run: fn(&mut Session, &[Vec<u8>]) -> Told,
}

/// All of them, in the order in which `:help` shows them.
pub(super) const ALL: &[Colon] = &[
    Colon {
        name: ":advance",
        usage: "DURATION",
        summary: "move the clock on (250us, 500ms, 5s, 2m, 1h, 1d); what is due expires",
        run: advance,
    },
    Colon {
        name: ":now",
        usage: "[MS]",
        summary: "show the time, or set it, in Unix milliseconds",
        run: now,
    },
    Colon { name: ":snapshot", usage: "[NAME]", summary: "keep the state as it is now", run: snapshot },
    Colon {
        name: ":restore",
        usage: "[NAME]",
        summary: "go back to the last snapshot, or to this one; the time too",
        run: restore,
    },
    Colon {
        name: ":diff",
        usage: "[NAME]",
        summary: "show what changed since the last snapshot, or since this one",
        run: diff,
    },
    Colon {
        name: ":eval",
        usage: "FILE [KEY...] , [ARG...]",
        summary: "run a script file, as moonkeep eval does",
        run: eval,
    },
    Colon {
        name: ":check",
        usage: "FILE [KEY...] , [ARG...]",
        summary: "the same, and hold the script to its contract",
        run: check,
    },
    Colon {
        name: ":source",
        usage: "FILE",
        summary: "run the lines of a file as if they were typed",
        run: source,
    },
    Colon {
        name: ":trace",
        usage: "on|off|COMMAND",
        summary: "show what scripts call: from now on, or of this command",
        run: trace,
    },
    Colon {
        name: ":journal",
        usage: "on|off",
        summary: "show after each command what it changed",
        run: journal,
    },
    Colon { name: ":log", usage: "", summary: "show what scripts logged since the last time", run: log },
    Colon { name: ":resp", usage: "[2|3]", summary: "show the protocol version, or choose it", run: resp },
    Colon { name: ":seed", usage: "[N]", summary: "show the seed, or begin again with this one", run: seed },
    Colon {
        name: ":reset",
        usage: "",
        summary: "begin again: time, seed and set-up as the options told",
        run: reset,
    },
    Colon {
        name: ":prompt",
        usage: "time|plain",
        summary: "show the time in the prompt, or not",
        run: prompt,
    },
    Colon { name: ":help", usage: "[COMMAND]", summary: "show these commands", run: help },
    Colon { name: ":quit", usage: "", summary: "leave", run: quit },
];

/// Files that name each other could go on for ever.
const SOURCES_MAX: usize = 16;

/// The command with this name.
pub(super) fn find(name: &str) -> Option<&'static Colon> {
    ALL.iter().find(|colon| colon.name.eq_ignore_ascii_case(name))
}

pub(super) fn run(session: &mut Session, name: &str, words: &[Vec<u8>]) -> Told {
    match find(name) {
        Some(colon) => (colon.run)(session, words),
        None => Err(unknown(name)),
    }
}

fn unknown(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let begun: Vec<&str> =
        ALL.iter().map(|colon| colon.name).filter(|full| full.starts_with(&lower)).collect();
    if name.len() > 1 && !begun.is_empty() {
        return format!("there is no {name}; did you mean {}?", begun.join(" or "));
    }
    match nearest(name, ALL.iter().map(|colon| colon.name)) {
        Some(near) => format!("there is no {name}; did you mean {near}?"),
        None => format!("there is no {name}; :help lists what there is"),
    }
}

/// The error of a command that was given other words than it takes.
fn takes<T>(name: &str) -> Result<T, String> {
    let usage = find(name).map_or("", |colon| colon.usage);
    if usage.is_empty() {
        Err(format!("{name} takes no words"))
    } else {
        Err(format!("{name} takes: {usage}"))
    }
}

fn ok() -> Told {
    Ok(Answer::text("OK"))
}

fn text(word: &[u8]) -> String {
    String::from_utf8_lossy(word).into_owned()
}

/// The error of the library as moonkeep tells it.
fn told(error: moonkeep::Error) -> String {
    error.to_string()
}

fn time(session: &Session) -> Told {
    Ok(Answer::text(shown_instant(session.engine.now_ms().map_err(told)?)))
}

fn advance(session: &mut Session, words: &[Vec<u8>]) -> Told {
    let [duration] = words else { return takes(":advance") };
    let duration = parse_duration(&text(duration), ":advance").map_err(|refusal| refusal.0)?;
    session.engine.advance(duration).map_err(told)?;
    time(session)
}

fn now(session: &mut Session, words: &[Vec<u8>]) -> Told {
    match words {
        [] => {}
        [ms] => {
            let unix_ms =
                text(ms).parse().map_err(|_| format!(":now takes Unix milliseconds, not {:?}", text(ms)))?;
            session.engine.set_time(unix_ms).map_err(told)?;
        }
        _ => return takes(":now"),
    }
    time(session)
}

fn snapshot(session: &mut Session, words: &[Vec<u8>]) -> Told {
    let kept = session.engine.snapshot().map_err(told)?;
    match words {
        [] => {}
        [name] => {
            session.snapshots.insert(text(name), kept.clone());
        }
        _ => return takes(":snapshot"),
    }
    session.last = kept;
    ok()
}

/// The snapshot that a command names.
fn named(session: &Session, words: &[Vec<u8>], command: &str) -> Result<moonkeep::Snapshot, String> {
    let name = match words {
        [] => return Ok(session.last.clone()),
        [name] => text(name),
        _ => return takes(command),
    };
    let names: Vec<&str> = session.snapshots.keys().map(String::as_str).collect();
    session.snapshots.get(&name).cloned().ok_or_else(|| match names.as_slice() {
        [] => {
            format!("there is no snapshot {name:?}, nor another one with a name: :snapshot {name} keeps one")
        }
        names => format!("there is no snapshot {name:?}; there are: {}", names.join(", ")),
    })
}

fn restore(session: &mut Session, words: &[Vec<u8>]) -> Told {
    let snapshot = named(session, words, ":restore")?;
    session.engine.restore(&snapshot).map_err(told)?;
    session.last = snapshot;
    ok()
}

fn diff(session: &mut Session, words: &[Vec<u8>]) -> Told {
    let before = named(session, words, ":diff")?;
    let changes = before.diff(&session.engine.snapshot().map_err(told)?);
    if changes.is_empty() {
        return Ok(Answer::text("(no change)"));
    }
    let lines: Vec<String> = changes.iter().map(ToString::to_string).collect();
    Ok(Answer::text(lines.join("\n")))
}

/// The text of a file that a command names.
fn read(path: &[u8]) -> Result<Vec<u8>, String> {
    let path = text(path);
    std::fs::read(&path).map_err(|error| format!("cannot read {path:?}: {error}"))
}

fn eval(session: &mut Session, words: &[Vec<u8>]) -> Told {
    let [path, words @ ..] = words else { return takes(":eval") };
    let (lua, words) = (read(path)?, Words::new(words.to_vec()));
    let mut answer = session.call(&words.eval(&lua), session.traces)?;
    answer.notes.extend(words.slip(answer.failed));
    Ok(answer)
}

fn check(session: &mut Session, words: &[Vec<u8>]) -> Told {
    let [path, words @ ..] = words else { return takes(":check") };
    let (lua, words) = (read(path)?, Words::new(words.to_vec()));
    let contract = Source::File(text(path).into()).contract(&lua).map_err(|refusal| refusal.0)?;
    let script = (lua.as_slice(), contract);
    let run = scripts::run_checked(&session.engine, &mut session.client, script, &words, session.traces);
    let mut answer = session.told(run)?;
    answer.notes.extend(words.slip(answer.failed));
    Ok(answer)
}

fn source(session: &mut Session, words: &[Vec<u8>]) -> Told {
    let [name] = words else { return takes(":source") };
    if session.sources == SOURCES_MAX {
        return Err(format!("{} files name each other; :source goes no deeper", SOURCES_MAX));
    }
    let lines = read(name)?;
    session.sources += 1;
    let answer = session.run_text(&lines, Some(&text(name)));
    session.sources -= 1;
    Ok(answer)
}

/// `on` or `off`.
fn switch(words: &[Vec<u8>]) -> Option<bool> {
    match words {
        [word] if word.eq_ignore_ascii_case(b"on") => Some(true),
        [word] if word.eq_ignore_ascii_case(b"off") => Some(false),
        _ => None,
    }
}

fn trace(session: &mut Session, words: &[Vec<u8>]) -> Told {
    let Some(first) = words.first() else { return takes(":trace") };
    if let Some(on) = switch(words) {
        session.traces = on;
        return ok();
    }
    if !first.starts_with(b":") {
        return session.call(words, true);
    }
    let traces = std::mem::replace(&mut session.traces, true);
    let told = run(session, &text(first), &words[1..]);
    session.traces = traces;
    told
}

fn journal(session: &mut Session, words: &[Vec<u8>]) -> Told {
    match switch(words) {
        Some(true) => session.journal = Some(session.engine.subscribe_journal().map_err(told)?),
        Some(false) => session.journal = None,
        None => return takes(":journal"),
    }
    ok()
}

fn log(session: &mut Session, words: &[Vec<u8>]) -> Told {
    if !words.is_empty() {
        return takes(":log");
    }
    let lines = session.engine.take_log().map_err(told)?;
    if lines.is_empty() {
        return Ok(Answer::text("(nothing logged)"));
    }
    let lines: Vec<String> = lines.iter().map(|line| harmless(&line.to_string())).collect();
    Ok(Answer::text(lines.join("\n")))
}

fn resp(session: &mut Session, words: &[Vec<u8>]) -> Told {
    match words {
        [] => Ok(Answer::text(session.client.protocol().map_err(told)?.number().to_string())),
        [version] if matches!(version.as_slice(), b"2" | b"3") => {
            session.client.call([b"HELLO".as_slice(), version]).map_err(told)?;
            ok()
        }
        _ => takes(":resp"),
    }
}

fn seed(session: &mut Session, words: &[Vec<u8>]) -> Told {
    match words {
        [] => Ok(Answer::text(session.seed().to_string())),
        [number] => {
            let number = text(number)
                .parse()
                .map_err(|_| format!(":seed takes a number from 0 on, not {:?}", text(number)))?;
            session.begin_again(Some(number))?;
            ok()
        }
        _ => takes(":seed"),
    }
}

fn reset(session: &mut Session, words: &[Vec<u8>]) -> Told {
    if !words.is_empty() {
        return takes(":reset");
    }
    session.begin_again(None)?;
    ok()
}

fn prompt(session: &mut Session, words: &[Vec<u8>]) -> Told {
    session.timed_prompt = match words {
        [word] if word == b"time" => true,
        [word] if word == b"plain" => false,
        _ => return takes(":prompt"),
    };
    ok()
}

fn help(_: &mut Session, words: &[Vec<u8>]) -> Told {
    let rows: Vec<&Colon> = match words {
        [] => ALL.iter().collect(),
        [name] => {
            let name = text(name);
            let name = format!(":{}", name.trim_start_matches(':'));
            vec![find(&name).ok_or_else(|| unknown(&name))?]
        }
        _ => return takes(":help"),
    };
    let mut out = String::new();
    for Colon { name, usage, summary, .. } in rows {
        let _ = writeln!(out, "{:32} {summary}", format!("{name} {usage}"));
    }
    if words.is_empty() {
        out.push_str("Anything else is a command of Redis; \"help\" tells about those.\n");
    }
    Ok(Answer::text(out))
}

fn quit(_: &mut Session, words: &[Vec<u8>]) -> Told {
    if words.is_empty() { Ok(Answer { ends: true, ..Answer::default() }) } else { takes(":quit") }
}
