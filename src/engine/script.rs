//! Scripts as values: the text and its SHA1 are made once, each run sends the SHA1 and, when the engine does not know
//! it yet, the text.

use super::Client;
use crate::error::Error;
use crate::reply::{FromReply, Reply};
use crate::util::sha1::sha1_hex;

/// A Lua script, ready to be run any number of times.
///
/// ```
/// use moonkeep::{Engine, Script};
/// let script = Script::new("return redis.call('INCRBY', KEYS[1], ARGV[1])");
/// let mut client = Engine::new().client();
/// assert_eq!(script.key("n").arg(5).run::<i64>(&mut client)?, 5);
/// assert_eq!(script.key("n").arg(-2).run::<i64>(&mut client)?, 3);
/// # Ok::<(), moonkeep::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Script {
    source: Vec<u8>,
    sha: [u8; 40],
}

/// A script with its keys and arguments.
#[derive(Debug, Clone)]
pub struct Invocation<'a> {
    script: &'a Script,
    keys: Vec<Vec<u8>>,
    args: Vec<Vec<u8>>,
}

/// What may stand as a key or an argument: bytes, text, or an integer as its decimal text.
pub trait ToArg {
    /// The bytes a script sees.
    fn to_arg(&self) -> Vec<u8>;
}

macro_rules! text_args {
    ($($ty:ty),*) => {$(impl ToArg for $ty { fn to_arg(&self) -> Vec<u8> { AsRef::<[u8]>::as_ref(self).to_vec() } })*};
}
macro_rules! display_args {
    ($($ty:ty),*) => {$(impl ToArg for $ty { fn to_arg(&self) -> Vec<u8> { self.to_string().into_bytes() } })*};
}
text_args!(str, String, [u8], Vec<u8>);
display_args!(i32, i64, u32, u64, usize);
impl<T: ToArg + ?Sized> ToArg for &T {
    fn to_arg(&self) -> Vec<u8> {
        (**self).to_arg()
    }
}
impl<const N: usize> ToArg for [u8; N] {
    fn to_arg(&self) -> Vec<u8> {
        self.to_vec()
    }
}

impl Script {
    /// A script of this text.
    pub fn new(source: impl AsRef<[u8]>) -> Self {
        let source = source.as_ref().to_vec();
        let sha = sha1_hex(&source);
        Script { source, sha }
    }
    /// The SHA1 of the text in lower-case hexadecimal, as EVALSHA takes it.
    pub fn sha(&self) -> &str {
        std::str::from_utf8(&self.sha).unwrap_or_default()
    }
    /// The text.
    pub fn source(&self) -> &[u8] {
        &self.source
    }
    /// Begins a call without keys or arguments.
    pub fn call(&self) -> Invocation<'_> {
        Invocation { script: self, keys: Vec::new(), args: Vec::new() }
    }
    /// Begins a call with a first key.
    pub fn key(&self, key: impl ToArg) -> Invocation<'_> {
        self.call().key(key)
    }
    /// Begins a call with a first argument and no key.
    pub fn arg(&self, arg: impl ToArg) -> Invocation<'_> {
        self.call().arg(arg)
    }
}

impl Invocation<'_> {
    /// Adds a key.
    #[must_use]
    pub fn key(mut self, key: impl ToArg) -> Self {
        self.keys.push(key.to_arg());
        self
    }
    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl ToArg) -> Self {
        self.args.push(arg.to_arg());
        self
    }
    /// Runs the script and reads its reply as `T`.
    ///
    /// # Errors
    /// The script's error reply; a reply that is no `T`; what [`Client::call`] refuses.
    pub fn run<T: FromReply>(&self, client: &mut Client) -> Result<T, Error> {
        let mut out = Reply::new();
        self.run_into(client, &mut out)?;
        out.get()
    }
    /// Runs the script into a reply that is used again; an error reply stays in `out`.
    ///
    /// # Errors
    /// What [`Client::call_into`] refuses.
    pub fn run_into(&self, client: &mut Client, out: &mut Reply) -> Result<(), Error> {
        client.call_into(self.words(b"EVALSHA", &self.script.sha), out)?;
        if out.error_message().is_some_and(|text| text.starts_with(b"NOSCRIPT")) {
            client.call_into(self.words(b"EVAL", &self.script.source), out)?;
        }
        Ok(())
    }
    fn words<'a>(&'a self, command: &'a [u8], script: &'a [u8]) -> Vec<std::borrow::Cow<'a, [u8]>> {
        let count = self.keys.len().to_string().into_bytes();
        let mut words = vec![command.into(), script.into(), count.into()];
        words.extend(self.keys.iter().chain(&self.args).map(|word| word.as_slice().into()));
        words
    }
}
