//! The targets for scripts with contracts: any text as one, as Lua, and as clauses by themselves. What the parser takes is
//! judged, run and compared twice, with the same outcome; what the VM compiles the linter reads.

use super::bodies::START_MS;
use super::kept::Kept;
use moonkeep::lint::lint;
use moonkeep::{Builder, Clock, Contract, Coverage, Engine, Input, Limits, Reply, Script};

/// How many of a contract's inputs are tried.
const INPUTS: usize = 4;
/// Larger contracts and scripts than this are not run.
const BYTES_MAX: usize = 4096;

/// Any bytes as clauses, in the header of a script or by themselves: a contract or an error with a place in the text; the
/// inputs of a contract are the same each time.
pub fn contract(input: &[u8]) {
    match Contract::parse(input) {
        Err(error) => {
            let text = error.to_string();
            let place: Vec<usize> = text.splitn(3, ':').filter_map(|part| part.parse().ok()).collect();
            let lines = lines(input);
            assert!(place.len() >= 2 && (1..=lines + 1).contains(&place[0]), "{text}");
        }
        Ok(contract) => {
            let take = || contract.inputs(1).take(INPUTS).collect::<Vec<_>>();
            assert_eq!(take(), take());
            assert_eq!(Contract::parse(input).as_ref(), Ok(&contract));
        }
    }
}

/// A script with a contract: each of some inputs is run, held to it, on two engines, one of which notes its lines; both
/// give the same, whatever it is, and no script ends the engine.
pub fn script_contract(input: &[u8]) {
    if input.len() > BYTES_MAX {
        return;
    }
    let Ok(script) = Script::new(input).checked() else { return };
    let Some(contract) = script.contract() else { return };
    for input in contract.inputs(1).take(INPUTS) {
        let coverage = Coverage::new();
        let noted = run(&script, &input, Some(&coverage));
        assert_eq!(run(&script, &input, None), noted, "where lines are noted, another outcome");
        for covered in coverage.scripts() {
            let lines = lines(&covered.source);
            assert!(covered.lines.iter().all(|line| (1..=lines).contains(&(line.line as usize))));
        }
    }
}

/// What a call comes to, and the state it leaves.
fn run(script: &Script, input: &Input, coverage: Option<&Coverage>) -> (String, u64) {
    match coverage {
        Some(coverage) => run_on(&builder().coverage(coverage).build(), script, input),
        None => ENGINES.with(|engines| engines.with(|engine| run_on(engine, script, input))),
    }
}

thread_local! {
    static ENGINES: Kept = const { Kept::new(|| builder().build()) };
}

fn builder() -> Builder {
    let limits = Limits { work: 500_000, memory: 4 << 20, traffic: 4 << 20, ..Limits::default() };
    Engine::builder().clock(Clock::manual(START_MS)).script_limits(limits)
}

fn run_on(engine: &Engine, script: &Script, input: &Input) -> (String, u64) {
    let (mut client, mut reply) = (engine.client(), Reply::new());
    for command in &input.setup {
        client.call_into(command, &mut reply).expect("the engine is free");
    }
    engine.advance(input.advance()).expect("a manual clock");
    let call = script.call().keys(&input.keys).args(&input.args);
    let outcome = match call.run_into(&mut client, &mut reply) {
        Ok(()) => format!("{reply:?}"),
        Err(error) => {
            assert!(error.is_breach(), "{error}");
            error.to_string()
        }
    };
    client.call(["SET", "probe", "alive"]).expect("the engine works afterwards");
    // What tells addresses may differ.
    let outcome = if outcome.contains("0x") { String::new() } else { outcome };
    (outcome, engine.state_hash().expect("at rest"))
}

/// Any bytes as Lua: the linter reads what the VM compiles, up to its own bounds, and finds the same each time, in places of
/// the text.
pub fn lint_scripts(input: &[u8]) {
    let found = lint(input, None);
    assert_eq!(lint(input, None), found);
    let lines = lines(input);
    match found {
        Ok(findings) => {
            assert!(findings.iter().all(|finding| (1..=lines).contains(&finding.line) && finding.column > 0));
        }
        Err(error) if ["levels lie in", "too complex"].iter().any(|bound| error.text.contains(bound)) => {}
        Err(error) => {
            // A first line with # is a shebang here and another error there.
            let load = |engine: &Engine| engine.client().call([&b"SCRIPT"[..], b"LOAD", input]).is_ok();
            let compiles = ENGINES.with(|engines| engines.with(load));
            assert!(!compiles, "{error}");
        }
    }
}

/// No less lines than the text has for Lua, where either of the two ends one.
fn lines(text: &[u8]) -> usize {
    text.split(|byte| matches!(byte, b'\n' | b'\r')).count()
}
