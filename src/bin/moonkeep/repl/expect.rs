//! What may follow the words of a command that were typed already, from the tree of its arguments. The tree is read as
//! people type: options in any order, an argument that repeats takes all words up to the next known token.

use moonkeep::command::usage::{Argument, Kind};

/// Where reading stopped.
enum Read {
    /// The argument is read; words may be left.
    Done,
    /// The words are over; this may follow.
    Over(Vec<Argument>),
    /// The next word fits nothing.
    Stuck,
}

/// What may follow these words, in order; None when a word fits nothing.
pub(crate) fn rest(arguments: &[Argument], words: &[Vec<u8>]) -> Option<Vec<Argument>> {
    let mut words = words;
    match sequence(arguments, &mut words) {
        Read::Over(rest) => Some(rest),
        Read::Done => words.is_empty().then(Vec::new),
        Read::Stuck => None,
    }
}

/// What the next word may be, given what may follow.
pub(crate) fn next(rest: &[Argument]) -> Vec<&Argument> {
    let mut found = Vec::new();
    for argument in rest {
        first(argument, &mut found);
        if !argument.optional {
            break;
        }
    }
    found
}

fn first<'a>(argument: &'a Argument, found: &mut Vec<&'a Argument>) {
    match argument.kind {
        _ if argument.token.is_some() => found.push(argument),
        Kind::OneOf => argument.arguments.iter().for_each(|one| first(one, found)),
        Kind::Block => found.extend(next(&argument.arguments)),
        _ => found.push(argument),
    }
}

fn sequence(arguments: &[Argument], words: &mut &[Vec<u8>]) -> Read {
    let mut at = 0;
    loop {
        let behind = arguments[at..].iter().position(|one| !one.optional).map_or(arguments.len(), |n| at + n);
        let (mut options, later) = (arguments[at..behind].iter().collect::<Vec<_>>(), &arguments[behind..]);
        let over = |first: Vec<Argument>, options: &[&Argument], later: &[Argument]| {
            Read::Over(
                first.into_iter().chain(options.iter().copied().cloned()).chain(later.to_vec()).collect(),
            )
        };
        while let Some(place) = words.first().and_then(|word| choose(&options, word, later.is_empty())) {
            let chosen = options.remove(place);
            match argument(chosen, words, &options, later) {
                Read::Done => {}
                Read::Over(first) => return over(first, &options, later),
                Read::Stuck => return Read::Stuck,
            }
        }
        let Some((required, later)) = later.split_first() else {
            let may_go_on = words.is_empty() && !options.is_empty();
            return if may_go_on { over(Vec::new(), &options, later) } else { Read::Done };
        };
        if words.is_empty() {
            return over(vec![], &options, &arguments[behind..]);
        }
        match argument(required, words, &[], later) {
            Read::Done => at = behind + 1,
            Read::Over(first) => return over(first, &[], later),
            Read::Stuck => return Read::Stuck,
        }
    }
}

/// The option that a word begins: one with that token, else, where nothing else is to come, one without a token.
fn choose(options: &[&Argument], word: &[u8], is_last: bool) -> Option<usize> {
    let by_token = options.iter().position(|option| begins(option, word));
    by_token.or_else(|| options.iter().position(|option| is_last && is_free(option)))
}

/// Whether the word is a token that begins the argument.
fn begins(argument: &Argument, word: &[u8]) -> bool {
    let mut found = Vec::new();
    first(argument, &mut found);
    found.iter().any(|one| is_token(one, word))
}

fn is_token(argument: &Argument, word: &[u8]) -> bool {
    argument.token.is_some_and(|token| token.as_bytes().eq_ignore_ascii_case(word))
}

/// Whether any word may begin the argument.
fn is_free(argument: &Argument) -> bool {
    let mut found = Vec::new();
    first(argument, &mut found);
    found.iter().any(|one| one.token.is_none())
}

/// Reads an argument with its repetitions. `options` and `later` are what may follow: their tokens end a repetition.
fn argument(one: &Argument, words: &mut &[Vec<u8>], options: &[&Argument], later: &[Argument]) -> Read {
    let mut read = once(one, words);
    if !one.multiple {
        return read;
    }
    let again = Argument { multiple: false, token: one.token.filter(|_| one.multiple_token), ..one.clone() };
    let follows = |word: &[u8]| {
        options.iter().any(|one| begins(one, word)) || next(later).iter().any(|one| is_token(one, word))
    };
    while let Read::Done = read {
        match words.first() {
            None => return Read::Over(vec![repeated(&again)]),
            Some(word) if follows(word) || !(begins(&again, word) || is_free(&again)) => break,
            Some(_) => read = once(&again, words),
        }
    }
    read
}

/// An argument that may follow once more: `[key ...]`.
fn repeated(again: &Argument) -> Argument {
    let dots = |one: &Argument| Argument {
        name: format!("{} ...", one.name).into(),
        optional: false,
        ..one.clone()
    };
    let mut more = again.clone();
    match more.arguments.last_mut() {
        Some(last) => *last = dots(last),
        None => more = dots(&more),
    }
    Argument { optional: true, ..more }
}

/// Reads an argument once.
fn once(one: &Argument, words: &mut &[Vec<u8>]) -> Read {
    if one.token.is_some() {
        match words.split_first() {
            Some((word, rest)) if is_token(one, word) => *words = rest,
            _ => return Read::Stuck,
        }
        if one.kind == Kind::PureToken {
            return Read::Done;
        }
    }
    let inner = Argument { token: None, optional: false, ..one.clone() };
    let Some((word, rest)) = words.split_first() else { return Read::Over(vec![inner]) };
    match inner.kind {
        Kind::Block => sequence(&inner.arguments, words),
        Kind::OneOf => {
            let by_token = inner.arguments.iter().find(|one| begins(one, word));
            match by_token.or_else(|| inner.arguments.iter().find(|one| is_free(one))) {
                Some(chosen) => argument(chosen, words, &[], &[]),
                None => Read::Stuck,
            }
        }
        _ => {
            *words = rest;
            Read::Done
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use moonkeep::command::usage::{help, parse};

    /// What may follow, as a hint.
    fn hint(usage: &'static str, typed: &str) -> Option<String> {
        let arguments = parse("x", usage).expect("a usage");
        let words: Vec<Vec<u8>> = typed.split_whitespace().map(|word| word.as_bytes().to_vec()).collect();
        rest(&arguments, &words).map(|rest| help(&rest))
    }

    #[test]
    fn options_come_in_any_order_and_only_once() {
        let set = "X key value condition=[NX|XX] [GET] expiration=[EX seconds|PX milliseconds|KEEPTTL]";
        let cases = [
            ("", Some("key value [NX|XX] [GET] [EX seconds|PX milliseconds|KEEPTTL]")),
            ("k", Some("value [NX|XX] [GET] [EX seconds|PX milliseconds|KEEPTTL]")),
            ("k v get", Some("[NX|XX] [EX seconds|PX milliseconds|KEEPTTL]")),
            ("k v PX", Some("milliseconds [NX|XX] [GET]")),
            ("k v px 5 nx", Some("[GET]")),
            ("k v px 5 nx get", Some("")),
            ("k v w", None),
            ("k v nx xx", None),
        ];
        for (typed, wanted) in cases {
            assert_eq!(hint(set, typed).as_deref(), wanted, "{typed}");
        }
    }

    #[test]
    fn what_repeats_repeats_up_to_a_token() {
        let cases = [
            ("X key...", "a", Some("[key ...]")),
            ("X key... timeout", "a b", Some("[key ...] timeout")),
            (
                "X numkeys key... [WEIGHTS weight...] [COPY]",
                "1 a",
                Some("[key ...] [WEIGHTS weight [weight ...]] [COPY]"),
            ),
            (
                "X numkeys key... [WEIGHTS weight...] [COPY]",
                "1 a copy",
                Some("[WEIGHTS weight [weight ...]]"),
            ),
            ("X key data=(score member)...", "z 1", Some("member")),
            ("X key data=(score member)...", "z 1 a", Some("[score member ...]")),
            ("X [PREFIX prefix...+] [OPTIN]", "prefix a", Some("[PREFIX prefix ...] [OPTIN]")),
            ("X [PREFIX prefix...+] [OPTIN]", "prefix a prefix", Some("prefix [OPTIN]")),
            ("X STREAMS streams=(key... id...)", "streams a", Some("[key ...] id [id ...]")),
            ("X script numkeys [key...] [arg...]", "s 1 k", Some("[key ...] [arg [arg ...]]")),
            ("X key where=(FROM member|AT place=(x y)) [ANY]", "k at", Some("x y [ANY]")),
            ("X key where=(FROM member|AT place=(x y)) [ANY]", "k at 1", Some("y [ANY]")),
            ("X key where=(FROM member|AT place=(x y)) [ANY]", "k by", None),
        ];
        for (usage, typed, wanted) in cases {
            assert_eq!(hint(usage, typed).as_deref(), wanted, "{usage} / {typed}");
        }
    }

    #[test]
    fn every_command_can_be_read_to_its_end() {
        for row in moonkeep::commands().rows() {
            let Ok(arguments) = parse(row.spec.name, row.spec.usage) else { panic!("{}", row.spec.name) };
            let mut words: Vec<Vec<u8>> = Vec::new();
            for _ in 0..12 {
                let Some(rest) = rest(&arguments, &words) else { panic!("{}: {words:?}", row.spec.name) };
                let Some(next) = next(&rest).first().map(|one| one.token.unwrap_or("1").as_bytes().to_vec())
                else {
                    break;
                };
                words.push(next);
            }
        }
    }
}
