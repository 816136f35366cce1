//! The order of what has none, members of sets and fields of hashes: a state whose members came in another order, and
//! comparing without looking at it.

use crate::contract::Input;
use crate::reply::ReplyRef;
use crate::store::JournalEntry;

/// The same call in the same state, but that members and fields came in reverse; None where there are none.
pub(super) fn reversed(input: &Input) -> Option<Input> {
    let mut reversed = input.clone();
    reversed.setup.iter_mut().for_each(|command| reverse(command));
    (reversed.setup != input.setup).then_some(reversed)
}

/// Reverses what a command adds, where that gives the same set or hash.
fn reverse(command: &mut [Vec<u8>]) {
    let is = |name: &[u8]| command.first().is_some_and(|word| word.eq_ignore_ascii_case(name));
    let width = if is(b"SADD") { 1 } else { 2 };
    if !(is(b"SADD") || is(b"HSET")) || command.len() < 2 {
        return;
    }
    let items = &mut command[2..];
    let mut names: Vec<&Vec<u8>> = items.iter().step_by(width).collect();
    let count = names.len();
    names.sort();
    names.dedup();
    // Of a field that is given twice the last one holds.
    if names.len() != count || !items.len().is_multiple_of(width) {
        return;
    }
    items.reverse();
    items.chunks_exact_mut(width).for_each(|item| item.reverse());
}

/// A reply as text, its arrays in one order whatever theirs is.
pub(super) fn unordered(reply: ReplyRef<'_>) -> String {
    match reply {
        ReplyRef::Array(items) | ReplyRef::Map(items) | ReplyRef::Set(items) | ReplyRef::Push(items) => {
            let mut texts: Vec<String> = items.map(unordered).collect();
            texts.sort();
            format!("[{}]", texts.join(", "))
        }
        other => format!("{other:?}"),
    }
}

/// What replicas are told, without times.
pub(super) fn effects(written: &[JournalEntry]) -> Vec<Vec<&[u8]>> {
    written.iter().map(|entry| entry.argv.iter().map(Vec::as_slice).collect()).collect()
}

/// The same in one order, of commands and of their words.
pub(super) fn unordered_effects(written: &[JournalEntry]) -> Vec<Vec<&[u8]>> {
    let mut effects = effects(written);
    effects.iter_mut().for_each(|words| words.sort());
    effects.sort();
    effects
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_no_order_is_reversed() {
        for (setup, expected) in [
            ("SADD s a b c", Some("SADD s c b a")),
            ("HSET h a 1 b 2", Some("HSET h b 2 a 1")),
            ("HSET h a 1 a 2", None),
            ("HSET h a", None),
            ("SADD s a", None),
            ("SADD", None),
            ("RPUSH l a b", None),
            ("ZADD z 1 a 2 b", None),
        ] {
            let input: Input = format!("{setup}\ncall 0").parse().expect("an input");
            let found = reversed(&input).map(|input| input.to_string());
            let expected = expected.map(|setup| format!("{setup}\nadvance 0 ms\ncall 0"));
            assert_eq!(found, expected, "{setup}");
        }
    }

    #[test]
    fn replies_are_compared_without_their_order() {
        let mut engine = crate::Engine::new().client();
        let mut reply = |words: &[&str]| engine.call(words).map(|reply| unordered(reply.view()));
        let one = reply(&["EVAL", "return {'a', {'c', 'b'}}", "0"]);
        assert_eq!(one, reply(&["EVAL", "return {{'b', 'c'}, 'a'}", "0"]));
        assert_ne!(one, reply(&["EVAL", "return {{'b', 'a'}, 'c'}", "0"]));
    }
}
