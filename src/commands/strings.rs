//! Strings.
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow};
use crate::error::Failure;
use crate::reply::Reply;
use crate::value::Value;
pub(crate) static SPECS: &[Spec] = &[Spec { name: "get", usage: "GET key", run: get, ..Spec::BASE }];
fn get(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    match cx.read(argv[1]).map(|entry| entry.value()) {
        None => out.nil(),
        Some(Value::String(s)) => out.bulk(s.bytes().as_bytes()),
        Some(_) => return Err(Failure::WrongType),
    }
    Ok(Flow::Done)
}
