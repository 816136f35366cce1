//! What is lost between clients and the engine, as a broken connection loses it: DEBUG FAULT, and the engine's own switch
//! (`engine::faults`, which does it).

use super::Argv;
use super::args::is;
use crate::error::Failure;
use crate::util::num::parse_i64;

/// What is lost between clients and an engine, see [`Engine::lose`](crate::Engine::lose).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Loss {
    /// Requests do not arrive: nothing runs.
    Requests,
    /// Requests arrive and run; their replies are lost, so the caller does not know.
    Replies,
}

/// A fault that lasts until it is healed, or until it has met enough calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What is lost.
    pub loss: Loss,
    /// How many calls it still meets; without an end when none.
    pub left: Option<u64>,
    /// The names of the commands that it meets, in lower case; all when there are none.
    pub only: Vec<Vec<u8>>,
}

impl Fault {
    /// Reads `REQUESTS|REPLIES [COUNT n] [ONLY command [command ...]]`, or `HEAL`, which is no fault.
    ///
    /// # Errors
    /// Other words, a count below one.
    pub fn read(words: Argv<'_>) -> Result<Option<Box<Fault>>, Failure> {
        let (loss, mut rest) = match words {
            [word] if is(word, "heal") => return Ok(None),
            [word, rest @ ..] if is(word, "requests") => (Loss::Requests, rest),
            [word, rest @ ..] if is(word, "replies") => (Loss::Replies, rest),
            _ => return Err(Failure::FAULT_USAGE),
        };
        let mut fault = Fault { loss, left: None, only: Vec::new() };
        if let [word, count, others @ ..] = rest
            && is(word, "count")
        {
            let count = parse_i64(count).filter(|count| *count > 0).ok_or(Failure::FAULT_USAGE)?;
            fault.left = Some(count.unsigned_abs());
            rest = others;
        }
        match rest {
            [] => {}
            [word, names @ ..] if is(word, "only") && !names.is_empty() => {
                fault.only = names.iter().map(|name| name.to_ascii_lowercase()).collect();
            }
            _ => return Err(Failure::FAULT_USAGE),
        }
        Ok(Some(Box::new(fault)))
    }
    /// Whether it meets a call of this command. DEBUG always arrives and answers, so that a fault can be healed.
    pub fn meets(&self, name: &[u8]) -> bool {
        let is_wanted = |only: &Vec<u8>| name.eq_ignore_ascii_case(only);
        !is(name, "debug") && (self.only.is_empty() || self.only.iter().any(is_wanted))
    }
}
