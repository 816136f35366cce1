//! Random elements: how many SRANDMEMBER, HRANDFIELD and ZRANDMEMBER are asked for, and which ones they answer.
//! What an element looks like is for the family to say; the numbers come from the one generator of the state.

use super::Argv;
use super::args::{int, is};
use crate::error::Failure;
use crate::reply::Reply;
use crate::util::hasher::Set;
use crate::util::rng::Rng;

/// How large the reply to a negative count may become: as what a script returns.
const REPLY_MAX_BYTES: usize = 64 << 20;

/// What is asked for when there is a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Draw {
    /// How many elements.
    pub count: usize,
    /// The same element does not come twice; there may then be fewer.
    pub distinct: bool,
    /// What belongs to the element is wanted too.
    pub paired: bool,
}

impl Draw {
    /// Reads `key count [keyword]`; without a keyword the count is the last word.
    ///
    /// # Errors
    /// With the server's texts.
    pub fn parse(argv: Argv<'_>, keyword: Option<&str>) -> Result<Draw, Failure> {
        let [_, _, count, rest @ ..] = argv else { return Err(Failure::Syntax) };
        let Some(keyword) = keyword else {
            return if rest.is_empty() { Draw::of(count, false) } else { Err(Failure::Syntax) };
        };
        let draw = Draw::of(count, !rest.is_empty())?;
        match rest {
            [] => Ok(draw),
            [word] if is(word, keyword) && draw.count <= i64::MAX as usize / 2 => Ok(draw),
            [word] if is(word, keyword) => Err(Failure::OutOfRange),
            _ => Err(Failure::Syntax),
        }
    }

    fn of(count: &[u8], paired: bool) -> Result<Draw, Failure> {
        match int(count)? {
            i64::MIN => Err(Failure::NotBetween(-i64::MAX, i64::MAX)),
            count => Ok(Draw { count: count.unsigned_abs() as usize, distinct: count >= 0, paired }),
        }
    }

    /// How many elements come of a value that has `len`.
    pub fn taken(&self, len: usize) -> usize {
        if self.distinct { self.count.min(len) } else { self.count }
    }

    /// Opens the array of the reply, and has `write` write each element: the index of one among `len`.
    ///
    /// # Errors
    /// The reply would become too large.
    pub fn reply(
        &self,
        rng: &mut Rng,
        len: usize,
        flat: bool,
        out: &mut Reply,
        mut write: impl FnMut(&mut Reply, usize),
    ) -> Result<(), Failure> {
        let taken = self.taken(len);
        let width = if self.paired && flat { 2 } else { 1 };
        if taken.saturating_mul(size_of::<usize>()) > REPLY_MAX_BYTES {
            return Err(Failure::RANDOM_REPLY_TOO_LARGE);
        }
        out.array(taken * width);
        if self.distinct {
            distinct(rng, len, taken).into_iter().for_each(|index| write(out, index));
            return Ok(());
        }
        let start = out.size();
        for _ in 0..taken {
            write(out, rng.below(len as u64) as usize);
            if out.size() - start > REPLY_MAX_BYTES {
                return Err(Failure::RANDOM_REPLY_TOO_LARGE);
            }
        }
        Ok(())
    }
}

/// So many different indices below `len`, each choice as likely as any other; all of them come in order.
fn distinct(rng: &mut Rng, len: usize, count: usize) -> Vec<usize> {
    if count >= len {
        return (0..len).collect();
    }
    // Each step chooses among one index more, and takes that one instead of one that it has already.
    let mut chosen = Set::default();
    let steps = len - count..len;
    let pick = |last: usize| {
        let index = rng.below(last as u64 + 1) as usize;
        if chosen.insert(index) {
            index
        } else {
            chosen.insert(last);
            last
        }
    };
    steps.map(pick).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn distinct_elements_are_all_equally_likely() {
        let mut rng = Rng::new(1);
        let mut times = [0; 10];
        for _ in 0..10_000 {
            let chosen = distinct(&mut rng, 10, 3);
            assert_eq!(chosen.iter().collect::<BTreeSet<_>>().len(), 3);
            chosen.into_iter().for_each(|index| times[index] += 1);
        }
        assert!(times.iter().all(|times| (2_800..3_200).contains(times)), "{times:?}");
        assert_eq!(distinct(&mut rng, 4, 9), [0, 1, 2, 3]);
        assert_eq!(distinct(&mut rng, 0, 0), []);
    }

    #[test]
    fn a_count_is_read_as_the_server_reads_it() {
        let parse = |line: &str, keyword: Option<&str>| {
            let argv: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
            Draw::parse(&argv, keyword).map(|draw| (draw.count, draw.distinct, draw.paired))
        };
        assert_eq!(parse("C k 3", None), Ok((3, true, false)));
        assert_eq!(parse("C k -3", Some("with")), Ok((3, false, false)));
        assert_eq!(parse("C k -3 WITH", Some("with")), Ok((3, false, true)));
        assert_eq!(parse("C k x y", None), Err(Failure::Syntax));
        assert_eq!(parse("C k x y", Some("with")), Err(Failure::NotInteger));
        assert_eq!(parse("C k 9223372036854775807 with", Some("with")), Err(Failure::OutOfRange));
        assert!(parse("C k -9223372036854775808", None).is_err());
    }
}
