//! The options of SET and GETEX, and how their times are read. What the commands do is in `strings`.

use crate::command::args::{Args, int, is};
use crate::error::Failure;

/// What the time after EX, PX, EXAT or PXAT means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Ex,
    Px,
    Exat,
    Pxat,
}

/// EX, PX, EXAT or PXAT with its argument, which is read when the command needs it: GETEX looks at the key first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expire<'a> {
    pub(super) unit: Unit,
    pub(super) time: &'a [u8],
}

impl<'a> Expire<'a> {
    /// Reads the option that starts with `word`. It may be given again, but not beside another unit.
    fn parse(word: &[u8], args: &mut Args<'a>, before: Option<Self>) -> Result<Self, Failure> {
        const UNITS: [(&str, Unit); 4] =
            [("EX", Unit::Ex), ("PX", Unit::Px), ("EXAT", Unit::Exat), ("PXAT", Unit::Pxat)];
        let found = UNITS.iter().find(|(name, _)| is(word, name));
        let &(_, unit) = found.ok_or(Failure::Syntax)?;
        if before.is_some_and(|before| before.unit != unit) {
            return Err(Failure::Syntax);
        }
        Ok(Expire { unit, time: args.word()? })
    }

    /// Whether the time is an instant, not a span.
    pub(super) fn is_absolute(&self) -> bool {
        matches!(self.unit, Unit::Exat | Unit::Pxat)
    }

    /// The instant of expiry in Unix milliseconds.
    pub(super) fn at_ms(&self, now_ms: i64, command: &str) -> Result<i64, Failure> {
        let time = int(self.time)?;
        let ms = match self.unit {
            Unit::Ex | Unit::Exat => time.checked_mul(1000),
            Unit::Px | Unit::Pxat => Some(time),
        };
        let at = match ms {
            Some(ms) if time > 0 && self.is_absolute() => Some(ms),
            Some(ms) if time > 0 => ms.checked_add(now_ms).filter(|&at| at > 0),
            _ => None,
        };
        at.ok_or_else(|| Failure::InvalidExpire(command.to_owned()))
    }
}

/// The options of SET.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SetOptions<'a> {
    pub(super) nx: bool,
    pub(super) xx: bool,
    pub(super) get: bool,
    pub(super) keepttl: bool,
    pub(super) expire: Option<Expire<'a>>,
}

impl<'a> SetOptions<'a> {
    pub(super) fn parse(args: &mut Args<'a>) -> Result<Self, Failure> {
        let mut options = SetOptions::default();
        while let Some(word) = args.next() {
            if is(word, "NX") && !options.xx {
                options.nx = true;
            } else if is(word, "XX") && !options.nx {
                options.xx = true;
            } else if is(word, "GET") {
                options.get = true;
            } else if is(word, "KEEPTTL") && options.expire.is_none() {
                options.keepttl = true;
            } else if !options.keepttl {
                options.expire = Some(Expire::parse(word, args, options.expire)?);
            } else {
                return Err(Failure::Syntax);
            }
        }
        Ok(options)
    }
}

/// The options of GETEX.
#[derive(Debug, Clone, Copy)]
pub(super) enum GetexOptions<'a> {
    Nothing,
    Persist,
    Expire(Expire<'a>),
}

impl<'a> GetexOptions<'a> {
    pub(super) fn parse(args: &mut Args<'a>) -> Result<Self, Failure> {
        let mut options = GetexOptions::Nothing;
        while let Some(word) = args.next() {
            options = match options {
                GetexOptions::Nothing | GetexOptions::Persist if is(word, "PERSIST") => GetexOptions::Persist,
                GetexOptions::Nothing => GetexOptions::Expire(Expire::parse(word, args, None)?),
                GetexOptions::Expire(before) => {
                    GetexOptions::Expire(Expire::parse(word, args, Some(before))?)
                }
                GetexOptions::Persist => return Err(Failure::Syntax),
            };
        }
        Ok(options)
    }
}
