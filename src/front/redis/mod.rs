//! The redis crate on an engine in the same process: `connection` blocks, `aio` does not, `stream` is the far end of a
//! socket in memory for the crate's own asynchronous types. `words` and `value` are the way in and out: the words of a
//! command as the crate holds them, and its value straight from the reply. RESP is made and read only where the crate
//! has nothing else: pipelines of the blocking kind come as bytes, and errors of the server are known to its parser alone.

#[cfg(feature = "redis-aio")]
pub mod aio;
mod connection;
#[cfg(feature = "sim")]
mod explored;
#[cfg(feature = "redis-aio")]
mod stream;
mod value;
mod words;

pub use connection::Connection;
pub use value::engine_error;
