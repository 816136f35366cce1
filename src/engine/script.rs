//! Scripts as values: the text and its SHA1 are made once, each run sends the SHA1 and, when the engine does not know
//! it yet, the text.

use super::Client;
use super::checked::{CheckedCall, Probe};
use crate::command::TracedCall;
use crate::contract::{Contract, ContractError, Verdict};
use crate::error::{Error, Failure};
use crate::reply::{FromReply, Reply};
use crate::util::digest::sha1_hex;
use crate::util::words::join_words;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

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
#[derive(Clone)]
pub struct Script {
    source: Vec<u8>,
    sha: [u8; 40],
    contract: Option<Arc<Contract>>,
}

/// A script with its keys and arguments.
#[derive(Clone)]
pub struct Invocation<'a> {
    script: &'a Script,
    keys: Vec<Vec<u8>>,
    args: Vec<Vec<u8>>,
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = String::from_utf8_lossy(&self.source);
        f.debug_struct("Script").field("sha", &self.sha()).field("source", &source).finish()
    }
}

impl fmt::Debug for Invocation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invocation")
            .field("sha", &self.script.sha())
            .field("keys", &format_args!("{}", join_words(&self.keys)))
            .field("args", &format_args!("{}", join_words(&self.args)))
            .finish()
    }
}

/// What may stand as a key or an argument: bytes, text, or a number as its decimal text.
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
display_args!(i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, f32, f64);
impl<T: ToArg + ?Sized> ToArg for &T {
    fn to_arg(&self) -> Vec<u8> {
        (**self).to_arg()
    }
}
impl<T: ToArg + ToOwned + ?Sized> ToArg for Cow<'_, T> {
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
        Script { source, sha, contract: None }
    }
    /// The script, held to the contract in its header. A call that the contract refuses is answered in Rust, with the
    /// error that the script has for it, and Lua is not entered. Any other call runs, and what it replied and wrote is
    /// compared with what the contract promises: where they differ, the call is an error for which
    /// [`Error::is_breach`] holds.
    ///
    /// ```
    /// use moonkeep::{Engine, Script};
    /// let take = Script::new(include_str!("../../lua/decrease_stock.lua")).checked()?;
    /// let mut client = Engine::new().client();
    /// client.call(["SET", "stock", "5"])?;
    /// assert_eq!(take.key("stock").arg(2).run::<(i64, i64)>(&mut client)?, (1, 3));
    /// let refused = take.key("stock").arg("02").run::<(i64, i64)>(&mut client).unwrap_err();
    /// assert_eq!(refused.to_string(), "Quantity must be a positive bounded integer");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A header without a contract, or with one that is wrong itself: where, and what is allowed.
    pub fn checked(self) -> Result<Self, ContractError> {
        let contract = Contract::parse(&self.source)?;
        Ok(self.with_contract(contract))
    }
    /// The script, held to a contract that stands elsewhere, as in a file beside the script, whose text and SHA1 stay
    /// what they are. See [`checked`](Self::checked).
    #[must_use]
    pub fn with_contract(mut self, contract: Contract) -> Self {
        self.contract = Some(Arc::new(contract));
        self
    }
    /// The contract that the script is held to.
    pub fn contract(&self) -> Option<&Contract> {
        self.contract.as_deref()
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
    /// Adds keys, in order.
    ///
    /// ```
    /// let script = moonkeep::Script::new("return #KEYS * 10 + #ARGV");
    /// let mut client = moonkeep::Engine::new().client();
    /// assert_eq!(script.call().keys(["a", "b"]).args(1..=3).run::<i64>(&mut client)?, 23);
    /// # Ok::<(), moonkeep::Error>(())
    /// ```
    #[must_use]
    pub fn keys<T: ToArg>(mut self, keys: impl IntoIterator<Item = T>) -> Self {
        self.keys.extend(keys.into_iter().map(|key| key.to_arg()));
        self
    }
    /// Adds arguments, in order.
    #[must_use]
    pub fn args<T: ToArg>(mut self, args: impl IntoIterator<Item = T>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.to_arg()));
        self
    }
    /// Runs the script and reads its reply as `T`.
    ///
    /// Two calls when the engine does not know the script yet: EVALSHA, then EVAL. Where a call is queued or its reply
    /// lost (MULTI, [`Engine::lose`](super::Engine::lose)), nothing tells that EVAL is needed: run it once before, or
    /// send `SCRIPT LOAD`.
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
    /// What [`Client::call_into`] refuses. A script that is held to its contract: what breaks it, and a session that is
    /// in MULTI.
    pub fn run_into(&self, client: &mut Client, out: &mut Reply) -> Result<(), Error> {
        if let Some(contract) = self.script.contract() {
            return self.checked(contract, |call| client.submit_checked(call, out)).map(|_| ());
        }
        client.call_into(self.words(b"EVALSHA", &self.script.sha), out)?;
        if out.error_message().is_some_and(|text| *text == *Failure::NoScript.to_bytes()) {
            client.call_into(self.words(b"EVAL", &self.script.source), out)?;
        }
        Ok(())
    }
    /// Runs the script and gives its reply with every `redis.call` and `redis.pcall` it made, as [`Client::trace`] does.
    ///
    /// ```
    /// let script = moonkeep::Script::new("return redis.call('INCRBY', KEYS[1], ARGV[1])");
    /// let (reply, calls) = script.key("n").arg(5).trace(&mut moonkeep::Engine::new().client())?;
    /// assert_eq!(reply.get::<i64>()?, 5);
    /// assert_eq!(calls[0].to_string(), "INCRBY n 5 -> (integer) 5");
    /// # Ok::<(), moonkeep::Error>(())
    /// ```
    ///
    /// # Errors
    /// What [`Client::trace`] refuses.
    pub fn trace(&self, client: &mut Client) -> Result<(Reply, Vec<TracedCall>), Error> {
        let Some(contract) = self.script.contract() else {
            return client.trace(self.words(b"EVAL", &self.script.source));
        };
        let mut out = Reply::new();
        let calls = self.checked(contract, |call| client.submit_checked(call, &mut out))?;
        Ok((out, calls))
    }
    /// What the script's contract says of this call in the state as it is; nothing runs. None when the script is not
    /// held to one.
    ///
    /// ```
    /// use moonkeep::{Engine, Script, Verdict};
    /// let unlock = Script::new(include_str!("../../lua/unlock.lua")).checked()?;
    /// let mut client = Engine::new().client();
    /// assert_eq!(unlock.key("lock").arg("token").verdict(&mut client)?, Some(Verdict::Accepted));
    /// client.call(["RPUSH", "lock", "a"])?;
    /// assert_eq!(unlock.key("lock").arg("token").verdict(&mut client)?, Some(Verdict::Raised("WRONGTYPE".into())));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A session that has ended, a call from inside the engine, a poisoned engine.
    pub fn verdict(&self, client: &mut Client) -> Result<Option<Verdict>, Error> {
        let Some(contract) = self.script.contract() else { return Ok(None) };
        self.checked(contract, |call| client.judge(call)).map(Some)
    }
    /// Runs the script, whatever this contract says of the call, and compares what it did with it.
    pub(crate) fn probe(&self, contract: &Contract, client: &mut Client) -> Result<Probe, Error> {
        self.checked(contract, |call| client.probe(call))
    }
    fn checked<T>(&self, contract: &Contract, run: impl FnOnce(&CheckedCall<'_>) -> T) -> T {
        let keys: Vec<&[u8]> = self.keys.iter().map(Vec::as_slice).collect();
        let args: Vec<&[u8]> = self.args.iter().map(Vec::as_slice).collect();
        let Script { source, sha, .. } = self.script;
        run(&CheckedCall { contract, source, sha, keys: &keys, args: &args })
    }
    /// The script, the keys and the arguments, for whoever sends them in its own way.
    pub(crate) fn parts(&self) -> (&Script, &[Vec<u8>], &[Vec<u8>]) {
        (self.script, &self.keys, &self.args)
    }
    fn words<'a>(&'a self, command: &'a [u8], script: &'a [u8]) -> Vec<Cow<'a, [u8]>> {
        let count = self.keys.len().to_string().into_bytes();
        let mut words = vec![command.into(), script.into(), count.into()];
        words.extend(self.keys.iter().chain(&self.args).map(|word| word.as_slice().into()));
        words
    }
}
