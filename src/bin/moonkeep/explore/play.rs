//! Runs a protocol: makes a world of it, and is the body of its clients. Client code is a future that goes through statements.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use moonkeep::sim::{At, Client, Explore, Faults, View, World};
use moonkeep::{Clock, Engine};

use super::language::{Command, Invariant, Mistake, Protocol, Source, Statement};
use super::value::{LOST, Scope, Value, evaluate, word, words};

pub(super) type Names = BTreeMap<String, Value>;

/// What the names of a file mean before a client begins.
struct Before<'f> {
    names: &'f Names,
    folder: &'f Path,
}

impl Scope for Before<'_> {
    fn name(&self, name: &str) -> Option<Value> {
        self.names.get(name).cloned()
    }

    fn call(&self, name: &str, arguments: &[Value]) -> Option<Result<Value, String>> {
        let ("file", [Value::Text(path)]) = (name, arguments) else { return None };
        let path = self.folder.join(String::from_utf8_lossy(path).as_ref());
        let read = std::fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()));
        Some(read.map(Value::Text))
    }

    fn ask(&self, _: &[Vec<u8>]) -> Value {
        Value::Nil
    }
}

/// A client's names, and its time.
struct Within<'n> {
    names: &'n Names,
    now_ms: i64,
}

impl Scope for Within<'_> {
    fn name(&self, name: &str) -> Option<Value> {
        self.names.get(name).cloned()
    }

    fn call(&self, name: &str, arguments: &[Value]) -> Option<Result<Value, String>> {
        (name == "now" && arguments.is_empty()).then_some(Ok(Value::Int(self.now_ms)))
    }

    fn ask(&self, _: &[Vec<u8>]) -> Value {
        Value::Nil
    }
}

/// What an invariant sees.
struct Seen<'v, 'r> {
    names: &'v Names,
    view: &'v View<'r>,
}

impl Scope for Seen<'_, '_> {
    fn name(&self, name: &str) -> Option<Value> {
        self.names.get(name).cloned()
    }

    fn call(&self, name: &str, arguments: &[Value]) -> Option<Result<Value, String>> {
        let text = |value: &Value| String::from_utf8_lossy(&value.bytes().unwrap_or_default()).into_owned();
        let truth = |holds: bool| Ok(Value::Int(i64::from(holds)));
        Some(match (name, arguments) {
            ("tally", [what]) => Ok(Value::Int(self.view.tally(&text(what)))),
            ("is_done", [client]) => truth(self.view.is_done(&text(client))),
            ("is_crashed", [client]) => truth(self.view.is_crashed(&text(client))),
            ("now", []) => Ok(Value::Int(self.view.now_ms())),
            _ => return None,
        })
    }

    fn ask(&self, words: &[Vec<u8>]) -> Value {
        match self.view.query::<moonkeep::Reply, _>(words) {
            Ok(reply) => Value::of(&reply.view()),
            Err(error) => Value::Error(error.to_string()),
        }
    }
}

/// A protocol whose constants are known and whose set-up has its words.
pub(super) struct Play {
    protocol: Arc<Protocol>,
    names: Arc<Names>,
    setup: Vec<Vec<Vec<u8>>>,
    watched: Vec<Vec<u8>>,
    pub(super) faults: Faults,
}

/// A loop goes round so often and no more often: one without a call would never let another client go on.
const ROUNDS_MAX: usize = 100_000;

/// Mistakes of clients stand in their errors behind this.
const MISTAKE: &str = "mistake at ";

impl Play {
    /// # Errors
    /// A mistake in what is said before the clients, or a command there that is refused; a file is looked for in the folder.
    pub(super) fn new(protocol: Protocol, folder: &Path) -> Result<Self, Mistake> {
        let mut names = Names::new();
        for (name, expr) in &protocol.constants {
            let value = evaluate(expr, &Before { names: &names, folder })?;
            names.insert(name.clone(), value);
        }
        let scope = Before { names: &names, folder };
        let setup =
            protocol.setup.iter().map(|command| words(command, &scope)).collect::<Result<Vec<_>, _>>()?;
        rehearse(&protocol, &setup)?;
        let watched = protocol.watched.iter().map(|parts| word(parts, &scope)).collect::<Result<_, _>>()?;
        let faults = faults(&protocol)?;
        Ok(Play { protocol: Arc::new(protocol), names: Arc::new(names), setup, watched, faults })
    }

    /// Everything is the same in each schedule, so it is made anew for each.
    pub(super) fn explore(&self) -> Explore<'_> {
        let mut explore = Explore::new(|world: &mut World| self.build(world)).faults(self.faults);
        for invariant in &self.protocol.invariants {
            let at = if invariant.at_each_step { At::EachStep } else { At::End };
            explore = explore.invariant(&invariant.name, at, |view| self.judge(invariant, view));
        }
        explore.invariant("the protocol has no mistake", At::End, |view| {
            let names = self.protocol.clients.iter().flat_map(|clients| &clients.names);
            let errors = names.filter_map(|name| view.error(name));
            errors
                .filter_map(|error| error.strip_prefix(MISTAKE))
                .map(|text| Err(text.to_owned()))
                .next()
                .unwrap_or(Ok(()))
        })
    }

    fn build(&self, world: &mut World) {
        if let Some(ms) = self.protocol.time_ms {
            world.set_time(ms);
        }
        for command in &self.setup {
            world.setup(command);
        }
        world.watch_keys(&self.watched);
        for (number, clients) in self.protocol.clients.iter().enumerate() {
            for name in &clients.names {
                let (protocol, mut names) = (self.protocol.clone(), (*self.names).clone());
                names.insert("client".into(), Value::Text(name.clone().into_bytes()));
                world.client(name, move |client| async move {
                    let mut player = Player { client, names };
                    player.body(&protocol.clients[number].body).await.map(drop)
                });
            }
        }
    }

    fn judge(&self, invariant: &Invariant, view: &View<'_>) -> Result<(), String> {
        match evaluate(&invariant.holds, &Seen { names: &self.names, view }) {
            Ok(value) if value.is_true() => Ok(()),
            Ok(_) => Err(String::new()),
            Err(mistake) => Err(mistake.to_string()),
        }
    }
}

/// Sets an engine up as the world will be: of what is refused there nobody could say where it stands.
fn rehearse(protocol: &Protocol, setup: &[Vec<Vec<u8>>]) -> Result<(), Mistake> {
    let engine = Engine::builder().clock(Clock::manual(protocol.time_ms.unwrap_or(0))).build();
    for (command, words) in protocol.setup.iter().zip(setup) {
        if let Err(error) = engine.client().call(words) {
            return command.at.mistake(error.to_string());
        }
    }
    Ok(())
}

fn faults(protocol: &Protocol) -> Result<Faults, Mistake> {
    let mut faults = Faults::none();
    for (name, most, at) in &protocol.faults {
        match name.as_str() {
            "clock-jumps" => faults.clock_jumps = *most,
            "crashes" => faults.crashes = *most,
            "lost-replies" => faults.lost_replies = *most,
            "lost-requests" => faults.lost_requests = *most,
            "restarts" => faults.restarts = *most,
            _ => {
                return at.mistake(format!(
                    "there is no fault {name:?}: clock-jumps, crashes, lost-replies, lost-requests, restarts"
                ));
            }
        }
    }
    Ok(faults)
}

/// How a client goes on behind a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    On,
    Break,
    Stop,
}

struct Player {
    client: Client,
    names: Names,
}

/// A mistake as the error of a client.
fn told<T>(result: Result<T, Mistake>) -> Result<T, String> {
    result.map_err(|mistake| format!("{MISTAKE}{mistake}"))
}

impl Player {
    fn scope(&self) -> Within<'_> {
        Within { names: &self.names, now_ms: self.client.now_ms() }
    }

    fn value(&self, expr: &super::language::Expr) -> Result<Value, String> {
        told(evaluate(expr, &self.scope()))
    }

    async fn call(&self, command: &Command, tries: bool) -> Result<Value, String> {
        let words = told(words(command, &self.scope()))?;
        match self.client.call(&words).await {
            Ok(reply) => Ok(Value::of(&reply.view())),
            Err(error) if !tries => Err(error.to_string()),
            Err(error) if error.is_connection_lost() => Ok(Value::Error(LOST.into())),
            Err(error) => Ok(Value::Error(error.to_string())),
        }
    }

    async fn body(&mut self, body: &[Statement]) -> Result<Next, String> {
        for statement in body {
            let next = self.statement(statement).await?;
            if next != Next::On {
                return Ok(next);
            }
        }
        Ok(Next::On)
    }

    async fn statement(&mut self, statement: &Statement) -> Result<Next, String> {
        match statement {
            Statement::Let(name, source) => {
                let value = match source {
                    Source::Value(expr) => self.value(expr)?,
                    Source::Command { command, tries } => self.call(command, *tries).await?,
                };
                self.names.insert(name.clone(), value);
            }
            Statement::Run(command) => drop(self.call(command, false).await?),
            Statement::If(branches, otherwise) => {
                for (condition, body) in branches {
                    if self.value(condition)?.is_true() {
                        return Box::pin(self.body(body)).await;
                    }
                }
                return Box::pin(self.body(otherwise)).await;
            }
            Statement::While(condition, body) => {
                let mut rounds = 0;
                while self.value(condition)?.is_true() {
                    rounds += 1;
                    if rounds > ROUNDS_MAX {
                        let text = format!("this goes round more than {ROUNDS_MAX} times");
                        return told(condition.at.mistake(text));
                    }
                    match Box::pin(self.body(body)).await? {
                        Next::On => {}
                        Next::Break => break,
                        Next::Stop => return Ok(Next::Stop),
                    }
                }
            }
            Statement::Break => return Ok(Next::Break),
            Statement::Stop => return Ok(Next::Stop),
            Statement::Sleep(time) => match self.value(time)? {
                Value::Int(ms @ 0..) => self.client.sleep(Duration::from_millis(ms as u64)).await,
                other => {
                    return told(time.at.mistake(format!("{} is no time in milliseconds", other.show())));
                }
            },
            Statement::Note(text) => self.client.note(self.value(text)?.show()),
            Statement::Tally(name, by) => {
                let by = match by {
                    None => 1,
                    Some(expr) => match self.value(expr)? {
                        Value::Int(by) => by,
                        other => {
                            let text = format!("{name} is counted by an integer, not by {}", other.show());
                            return told(expr.at.mistake(text));
                        }
                    },
                };
                self.client.tally_by(name, by);
            }
            Statement::Fail(text) => return Err(self.value(text)?.show()),
        }
        Ok(Next::On)
    }
}
