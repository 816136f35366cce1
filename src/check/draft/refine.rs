//! A draft is corrected by the calls that are made from it: what they write, remove and reply is noted, and error clauses are
//! put into the order in which the script looks.

use super::{Draft, Lab, Refusal};
use crate::contract::{Contract, Input, Verdict};
use crate::engine::Script;
use crate::error::Error;
use std::collections::BTreeSet;

/// How many calls are made.
const CALLS: usize = 1500;
/// How many of them are looked at for each order of the error clauses that is tried, and how many orders.
const ORDERED: usize = 400;
const ORDERS: usize = 40;

/// A call, and how the script refused it, if it did.
type Seen = (Input, Option<Refusal>);

impl Lab<'_> {
    pub(super) fn refine(&mut self, draft: &mut Draft) -> Result<(), Error> {
        let Ok(contract) = Contract::parse(self.text(draft)) else { return Ok(()) };
        let script = self.script.clone().with_contract(contract.clone());
        let mut seen = Vec::new();
        for input in contract.inputs(1).take(CALLS) {
            // Calls that callers are trusted not to make are none.
            if self.expected(&script, &input)?.is_none() {
                continue;
            }
            let refusal = self.run_on(&input)?.refusal();
            if refusal.is_none() {
                self.make(&input)?;
                self.count(&input.keys, &input.args)?;
            }
            if seen.len() < ORDERED {
                seen.push((input, refusal));
            }
        }
        self.order(draft, &seen)
    }
    /// Moves error clauses up as long as that makes the draft right for more of the calls.
    fn order(&mut self, draft: &mut Draft, seen: &[Seen]) -> Result<(), Error> {
        let (mut wrong, mut pairs) = self.misplaced(draft, seen)?;
        let mut left = ORDERS;
        'better: while wrong > 0 {
            for (expected, actual) in std::mem::take(&mut pairs) {
                let Some(to) = draft.errors.iter().position(|(.., answer)| *answer == expected) else {
                    continue;
                };
                for from in to + 1..draft.errors.len() {
                    if draft.errors[from].2 != actual || left == 0 {
                        continue;
                    }
                    left -= 1;
                    draft.errors[to..=from].rotate_right(1);
                    let (fewer, others) = self.misplaced(draft, seen)?;
                    if fewer < wrong {
                        (wrong, pairs) = (fewer, others);
                        continue 'better;
                    }
                    draft.errors[to..=from].rotate_left(1);
                }
            }
            break;
        }
        Ok(())
    }
    /// How many calls are refused otherwise than the draft says, and how: what it says, and what the script does.
    fn misplaced(
        &mut self,
        draft: &Draft,
        seen: &[Seen],
    ) -> Result<(usize, BTreeSet<(Refusal, Refusal)>), Error> {
        let (mut count, mut pairs) = (0, BTreeSet::new());
        let Ok(contract) = Contract::parse(self.text(draft)) else { return Ok((usize::MAX, pairs)) };
        let script = self.script.clone().with_contract(contract);
        for (input, actual) in seen {
            let (Some(Some(expected)), Some(actual)) = (self.expected(&script, input)?, actual) else {
                continue;
            };
            if expected != *actual {
                count += 1;
                pairs.insert((expected, actual.clone()));
            }
        }
        Ok((count, pairs))
    }
    /// How a script's contract says that a call is refused, if it is; none where it says nothing of the call.
    fn expected(&mut self, script: &Script, input: &Input) -> Result<Option<Option<Refusal>>, Error> {
        self.make(input)?;
        let verdict = script.call().keys(&input.keys).args(&input.args).verdict(&mut self.client);
        Ok(match verdict {
            Ok(Some(Verdict::Refused(text))) => Some(Some(Refusal::Text(text))),
            Ok(Some(Verdict::Raised(code))) => Some(Some(Refusal::Raised(code))),
            Ok(_) => Some(None),
            Err(_) => None,
        })
    }
}
