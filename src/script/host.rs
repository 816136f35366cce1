//! Functions that the host registers for scripts, by the builder of an engine: opt-in, global, each by its name.
//! They get what a script passes as a reply and answer with one, so both conversions are those of commands.

use super::Coverage;
use super::base::stopped;
use super::bridge::{Call, native};
use super::convert::NAMES;
use super::limits::Limits;
use super::stack::{GLOBALS, Returned, Stack};
use crate::reply::Reply;
use std::fmt;
use std::sync::Arc;

/// A function of the host: the arguments as an array, a place for what it answers, or the text of the error that the
/// script gets.
pub type HostFunction = Arc<dyn Fn(&Reply, &mut Reply) -> Result<(), String> + Send + Sync>;

/// The functions of the host, by name.
#[derive(Clone, Default)]
pub(crate) struct HostFunctions(Vec<(String, HostFunction)>);

impl HostFunctions {
    /// Adds a function, or replaces the one of this name.
    pub(crate) fn add(&mut self, name: &str, function: HostFunction) {
        self.0.retain(|(other, _)| other != name);
        self.0.push((name.to_owned(), function));
    }
    pub(super) fn get(&self, number: usize) -> Option<HostFunction> {
        self.0.get(number).map(|(_, function)| function.clone())
    }
}

impl fmt::Debug for HostFunctions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

/// What the Lua VM of an engine is made with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) limits: Limits,
    pub(crate) functions: HostFunctions,
    /// Where it is noted which lines run; nowhere, most of the time.
    pub(crate) coverage: Option<Coverage>,
}

impl From<Limits> for Settings {
    fn from(limits: Limits) -> Self {
        Settings { limits, ..Settings::default() }
    }
}

/// Whether a script could call a function by this name: a Lua name that means nothing else.
pub(crate) fn is_free_name(name: &str) -> bool {
    const TAKEN: &str = " and break do else elseif end false for function if in local nil not or repeat return then true \
        until while KEYS ARGV _G _VERSION __redis__err__handler assert bit cjson cmsgpack collectgarbage coroutine error \
        gcinfo getmetatable ipairs load loadstring math next pairs pcall rawequal rawget rawset redis select \
        setmetatable string struct table tonumber tostring type unpack xpcall ";
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(is_word)
        && !TAKEN.contains(&format!(" {name} "))
}

/// Adds the functions to the globals. May jump.
pub(super) fn install(stack: Stack<'_>, functions: &HostFunctions) {
    for (number, (name, _)) in functions.0.iter().enumerate() {
        NAMES.iter().for_each(|name| stack.push_bytes(name));
        stack.push_number(number as f64);
        stack.push_function(native(call_host), NAMES.len() as i32 + 1);
        stack.raw_set_field(GLOBALS, name.as_bytes());
    }
}

fn call_host(call: Call<'_>) -> Returned {
    let stack = call.stack;
    let number = stack.to_number(Stack::upvalue(NAMES.len() as i32 + 1)) as usize;
    if !stack.reserve(8) {
        return Err(stack.fail(b"stack overflow"));
    }
    call.take_arguments().map_err(|stop| stopped(call, stop))?;
    let failed = call.run(|run| match run.functions.get(number) {
        Some(function) => {
            run.answer.clear();
            let result = function(&run.arguments, &mut run.answer);
            run.scratch.clear();
            if let Err(text) = &result {
                run.scratch.extend_from_slice(text.as_bytes());
            }
            result.is_err()
        }
        None => true,
    });
    if failed {
        let text = call.run(|run| std::ptr::from_ref(run.scratch.as_slice()));
        stack.push_where(1);
        stack.push_scratch(text);
        stack.concat(2);
        return Err(super::stack::Raised);
    }
    stack.set_top(0);
    call.push_answer();
    Ok(1)
}

#[cfg(test)]
mod tests {
    use super::is_free_name;

    #[test]
    fn names_are_lua_names_that_mean_nothing_else() {
        for free in ["now", "_x", "log2", "Redis"] {
            assert!(is_free_name(free), "{free}");
        }
        for taken in ["", "redis", "end", "1x", "a b", "a.b", "é", "KEYS", "a-b"] {
            assert!(!is_free_name(taken), "{taken}");
        }
    }
}
