//! What the stream commands read from their arguments: IDs, ends of ranges, the trimming options of XADD and XTRIM.
//! What the commands do is in `streams`.

use crate::command::args::{Args, int, is};
use crate::error::Failure;
use crate::util::num::parse_u64;
use crate::value::stream::{StreamId, Trim};

/// The longest text that is looked at as an ID.
const LONGEST_ID: usize = 127;

/// The text as C sees it, in the two parts of an ID; the second one is missing in the short form.
fn id_parts(word: &[u8]) -> Result<(&[u8], Option<&[u8]>), Failure> {
    if word.len() > LONGEST_ID {
        return Err(Failure::INVALID_STREAM_ID);
    }
    let text = word.split(|&byte| byte == 0).next().unwrap_or_default();
    match text.iter().position(|&byte| byte == b'-') {
        Some(at) => Ok((&text[..at], Some(&text[at + 1..]))),
        None => Ok((text, None)),
    }
}

/// An ID; `missing_seq` is the second part when only the first one is given.
pub(super) fn strict_id(word: &[u8], missing_seq: u64) -> Result<StreamId, Failure> {
    let (ms, seq) = id_parts(word)?;
    let seq = seq.map_or(Some(missing_seq), parse_u64);
    let (ms, seq) = parse_u64(ms).zip(seq).ok_or(Failure::INVALID_STREAM_ID)?;
    Ok(StreamId::new(ms, seq))
}

/// An ID, or `-` for the lowest one, or `+` for the highest one.
pub(super) fn parse_id(word: &[u8], missing_seq: u64) -> Result<StreamId, Failure> {
    if is(word, "-") {
        Ok(StreamId::MIN)
    } else if is(word, "+") {
        Ok(StreamId::MAX)
    } else {
        strict_id(word, missing_seq)
    }
}

/// The lower end of a range; `(` leaves the ID itself out.
pub(super) fn range_start(word: &[u8]) -> Result<StreamId, Failure> {
    match word {
        [b'(', id @ ..] if !id.is_empty() => {
            let next = strict_id(id, 0)?.next();
            next.ok_or(Failure::INVALID_START_ID)
        }
        id => parse_id(id, 0),
    }
}

/// The higher end of a range; `(` leaves the ID itself out.
pub(super) fn range_end(word: &[u8]) -> Result<StreamId, Failure> {
    match word {
        [b'(', id @ ..] if !id.is_empty() => {
            let previous = strict_id(id, u64::MAX)?.previous();
            previous.ok_or(Failure::INVALID_END_ID)
        }
        id => parse_id(id, u64::MAX),
    }
}

/// The ID that XADD gives an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NewId {
    /// `*`: made of the time.
    Auto,
    /// `ms-*`: the next number of this millisecond.
    AutoSeq(u64),
    /// As given.
    Given(StreamId),
}

impl NewId {
    fn parse(word: &[u8]) -> Result<Self, Failure> {
        match id_parts(word)? {
            (ms, Some(b"*")) => Ok(NewId::AutoSeq(parse_u64(ms).ok_or(Failure::INVALID_STREAM_ID)?)),
            _ => Ok(NewId::Given(strict_id(word, 0)?)),
        }
    }
}

/// What the trimming options depend on besides themselves.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    /// stream-node-max-entries.
    pub(super) node_max_entries: usize,
    /// The command comes from a journal.
    pub(super) replays: bool,
}

/// MAXLEN or MINID with what belongs to them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TrimOptions {
    pub(super) trim: Option<Trim>,
    pub(super) approximate: bool,
    /// The most entries that go; 0 is no limit.
    pub(super) limit: usize,
    /// Where in argv the threshold is.
    pub(super) threshold_at: usize,
    limit_given: bool,
}

impl TrimOptions {
    /// Reads the option that starts with `word`; false when it is none of these.
    fn option(&mut self, word: &[u8], args: &mut Args<'_>) -> Result<bool, Failure> {
        if args.is_done() {
            return Ok(false);
        }
        if is(word, "LIMIT") {
            let limit = usize::try_from(args.int()?);
            self.limit = limit.map_err(|_| Failure::NEGATIVE_TRIM_LIMIT)?;
            self.limit_given = true;
            return Ok(true);
        }
        let by_length = is(word, "MAXLEN");
        if !by_length && !is(word, "MINID") {
            return Ok(false);
        }
        if self.trim.is_some() {
            return Err(Failure::TWO_TRIMS);
        }
        self.approximate = args.left() >= 2 && args.take("~");
        if !self.approximate && args.left() >= 2 {
            args.take("=");
        }
        self.threshold_at = args.index();
        let threshold = args.word()?;
        self.trim = Some(if by_length {
            let length = usize::try_from(int(threshold)?);
            Trim::MaxLen(length.map_err(|_| Failure::NEGATIVE_TRIM_LENGTH)?)
        } else {
            Trim::MinId(strict_id(threshold, 0)?)
        });
        Ok(true)
    }

    /// Checks what fits together, and sets the limit of an approximate trim that gives none. In a journal LIMIT stands
    /// beside the exact trim that the approximate one became: there it means nothing.
    fn finish(&mut self, rules: &Rules) -> Result<(), Failure> {
        if self.limit > 0 && self.trim.is_none() {
            return Err(Failure::LIMIT_WITHOUT_TRIM);
        }
        if rules.replays {
            self.limit = 0;
            return Ok(());
        }
        if self.limit_given && !self.approximate {
            return Err(Failure::LIMIT_WITHOUT_TILDE);
        }
        if self.approximate && !self.limit_given {
            self.limit = match rules.node_max_entries.saturating_mul(100) {
                0 => 10_000,
                limit => limit.min(1_000_000),
            };
        }
        Ok(())
    }

    /// Reads the options of XTRIM.
    pub(super) fn parse(args: &mut Args<'_>, rules: &Rules) -> Result<Self, Failure> {
        let mut options = TrimOptions::default();
        while let Some(word) = args.next() {
            if !options.option(word, args)? {
                return Err(Failure::Syntax);
            }
        }
        if options.trim.is_none() && options.limit == 0 {
            return Err(Failure::XTRIM_WITHOUT_TRIM);
        }
        options.finish(rules)?;
        Ok(options)
    }
}

/// The options of XADD up to the ID.
#[derive(Debug, Clone, Copy)]
pub(super) struct XaddOptions {
    pub(super) nomkstream: bool,
    pub(super) trim: TrimOptions,
    pub(super) id: NewId,
    /// Where in argv the ID is.
    pub(super) id_at: usize,
}

impl XaddOptions {
    pub(super) fn parse(args: &mut Args<'_>, rules: &Rules) -> Result<Self, Failure> {
        let mut trim = TrimOptions::default();
        let (mut nomkstream, mut id) = (false, None);
        while let Some(word) = args.next() {
            if is(word, "*") {
                id = Some(NewId::Auto);
                break;
            } else if trim.option(word, args)? {
                continue;
            } else if is(word, "NOMKSTREAM") {
                nomkstream = true;
            } else {
                id = Some(NewId::parse(word)?);
                break;
            }
        }
        trim.finish(rules)?;
        let id = id.ok_or_else(|| Failure::Arity("xadd".to_owned()))?;
        Ok(XaddOptions { nomkstream, trim, id, id_at: args.index() - 1 })
    }
}
