//! The Lua VM.

use crate::command::{Argv, Origin, State, VmCall};
use crate::error::Failure;
use crate::reply::Reply;
use crate::store::SessionId;

/// A Lua state with its compiled functions; holds nothing that can be observed between runs.
#[derive(Debug)]
pub(crate) struct Vm;

impl Vm {
    /// A new VM.
    pub(crate) fn new() -> Self {
        Vm
    }
    /// Runs one call.
    pub(crate) fn run(
        &mut self,
        _: &mut State,
        _: SessionId,
        _: Origin,
        _: &VmCall,
        _: Argv<'_>,
        _: &mut Reply,
    ) -> Result<(), Failure> {
        Err(Failure::text("ERR scripting arrives with the next change"))
    }
}
