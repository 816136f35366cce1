//! moonkeep: an embeddable, Lua-scripted state engine. See README.md and ARCHITECTURE.md.
//!
//! Layers, lowest first; a module imports only from the layers before it (a test checks it):
//! util, error, value, store, reply, command, commands, contract, script, engine, patterns, front.

pub mod util;
pub mod value;
