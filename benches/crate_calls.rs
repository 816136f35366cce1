//! Calls through the redis crate: on an engine, and on a connection that answers a constant, which shows what the crate
//! takes by itself.

use redis::{Cmd, ConnectionLike, RedisResult, Value};
use std::hint::black_box;

/// Answers the same to every command, and does nothing else.
pub(crate) struct Constant(pub(crate) Value);

impl ConnectionLike for Constant {
    fn req_command(&mut self, command: &Cmd) -> RedisResult<Value> {
        black_box(command);
        Ok(self.0.clone())
    }
    fn req_packed_command(&mut self, _: &[u8]) -> RedisResult<Value> {
        Ok(self.0.clone())
    }
    fn req_packed_commands(&mut self, _: &[u8], _: usize, count: usize) -> RedisResult<Vec<Value>> {
        Ok(vec![self.0.clone(); count])
    }
    fn get_db(&self) -> i64 {
        0
    }
    fn check_connection(&mut self) -> bool {
        true
    }
    fn is_open(&self) -> bool {
        true
    }
}

/// A call as code on the redis crate makes it: words to a command, its value to what is wanted.
pub(crate) fn call(connection: &mut dyn ConnectionLike, words: &[&[u8]]) -> Value {
    let mut command = Cmd::new();
    for word in words {
        command.arg(*word);
    }
    command.query(connection).expect("it runs")
}
