//! Replies: `tape` holds one, `view` reads it, `resp` turns it into RESP2 or RESP3 bytes, `convert` into Rust values.
//! Nothing here knows commands or the keyspace.

mod convert;
mod display;
mod message;
pub mod resp;
mod tape;
mod view;

pub use convert::FromReply;
pub use message::Message;
pub(crate) use message::Via;
pub use tape::{Mark, Reply, Slot};
pub use view::{Items, ReplyRef};

/// The protocol version a session or a script speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Resp {
    /// RESP2: no maps, sets, doubles or booleans.
    #[default]
    V2,
    /// RESP3.
    V3,
}

impl Resp {
    /// The number that HELLO takes.
    pub const fn number(self) -> i64 {
        match self {
            Resp::V2 => 2,
            Resp::V3 => 3,
        }
    }
}
