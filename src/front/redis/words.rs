//! The words of a command of the redis crate, borrowed from it; and those of commands that come as RESP bytes.

use crate::front::request::{Bounds, Requests};
use redis::{Arg, Cmd, ErrorKind, RedisError, RedisResult};

/// Commands of up to so many words need no memory for the list of words.
const FEW_WORDS: usize = 8;

/// Runs `call` with the words of a command.
pub(super) fn with_words<T>(command: &Cmd, call: impl FnOnce(&[&[u8]]) -> RedisResult<T>) -> RedisResult<T> {
    let mut args = command.args_iter().map(word);
    let count = args.len();
    // Only the crate knows the cursor of a command that scans.
    if count == 0 || command.in_scan_mode() {
        return with_cursor(command, call);
    }
    // An array that is made of its words costs less than one that is set to none first.
    let mut next = || args.next().unwrap_or_default();
    match count {
        1 => call(&[next()]),
        2 => call(&[next(), next()]),
        3 => call(&[next(), next(), next()]),
        ..=FEW_WORDS => {
            let mut few: [&[u8]; FEW_WORDS] = [&[]; FEW_WORDS];
            few[..count].fill_with(next);
            call(&few[..count])
        }
        _ => call(&args.collect::<Vec<_>>()),
    }
}

fn word(arg: Arg<&[u8]>) -> &[u8] {
    match arg {
        Arg::Simple(word) => word,
        _ => &[],
    }
}

#[cold]
fn with_cursor<T>(command: &Cmd, call: impl FnOnce(&[&[u8]]) -> RedisResult<T>) -> RedisResult<T> {
    let mut packed = Packed::new(&command.get_packed_command());
    packed.next(call)?.unwrap_or_else(|| Err((ErrorKind::Client, "empty command").into()))
}

/// Commands as RESP bytes.
pub(super) struct Packed(Requests);

impl Packed {
    pub(super) fn new(bytes: &[u8]) -> Self {
        let mut requests = Requests::default();
        requests.buffer().extend_from_slice(bytes);
        Packed(requests)
    }
    /// Runs `call` with the words of the next command; none when there is no more.
    ///
    /// # Errors
    /// What comes is no command, or only the beginning of one.
    pub(super) fn next<T>(
        &mut self,
        call: impl FnOnce(&[&[u8]]) -> RedisResult<T>,
    ) -> RedisResult<Option<RedisResult<T>>> {
        let no_command =
            |text: String| RedisError::from((ErrorKind::Client, "these bytes are no command", text));
        let bounds = Bounds { word_max: u64::MAX, before_auth: false };
        match self.0.advance(bounds) {
            Ok(true) => {
                let result = call(&self.0.words());
                self.0.finish();
                Ok(Some(result))
            }
            Ok(false) if self.0.pending() == 0 => Ok(None),
            Ok(false) => Err(no_command("they end within it".into())),
            Err(error) => Err(no_command(error.to_string())),
        }
    }
}
