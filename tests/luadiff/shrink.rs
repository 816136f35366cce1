//! Makes a differing program small: drops lines, then runs of tokens, as long as the two sides still differ.

use super::program::{Form, Program};

/// How many runs one shrinking may take.
const RUNS_MAX: usize = 600;

/// The smallest program found for which `differs` holds.
pub(crate) fn shrink(program: &Program, differs: &mut dyn FnMut(&Program) -> bool) -> Program {
    let mut best = program.clone();
    let mut runs = 0;
    let mut try_it = |candidate: &Program| {
        runs += 1;
        runs <= RUNS_MAX && differs(candidate)
    };
    if best.form != Form::Eval && best.form != Form::Load {
        let plain = Program { form: Form::Eval, ..best.clone() };
        if try_it(&plain) {
            best = plain;
        }
    }
    reduce(best.lines.clone(), &mut |lines| {
        let candidate = Program { lines: lines.to_vec(), ..best.clone() };
        let holds = try_it(&candidate);
        if holds {
            best = candidate;
        }
        holds
    });
    for at in 0..best.lines.len() {
        reduce(tokens(&best.lines[at]), &mut |pieces| {
            let mut candidate = best.clone();
            candidate.lines[at] = pieces.concat();
            let holds = try_it(&candidate);
            if holds {
                best = candidate;
            }
            holds
        });
    }
    reduce(tokens(&best.tail), &mut |pieces| {
        let candidate = Program { tail: pieces.concat(), ..best.clone() };
        let holds = try_it(&candidate);
        if holds {
            best = candidate;
        }
        holds
    });
    best
}

/// Drops ever smaller runs of items as long as `holds` says so.
fn reduce(mut items: Vec<String>, holds: &mut dyn FnMut(&[String]) -> bool) {
    let mut chunk = items.len().div_ceil(2).max(1);
    loop {
        let mut from = 0;
        while from < items.len() {
            let mut fewer = items.clone();
            fewer.drain(from..(from + chunk).min(items.len()));
            if holds(&fewer) {
                items = fewer;
            } else {
                from += chunk;
            }
        }
        if chunk == 1 {
            return;
        }
        chunk = chunk.div_ceil(2);
    }
}

/// The tokens of a line, roughly: names and numbers, texts, runs of blanks, single signs.
pub(crate) fn tokens(line: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut chars = line.chars().peekable();
    while let Some(first) = chars.next() {
        let mut token = String::from(first);
        if first == '\'' || first == '"' {
            while let Some(next) = chars.next() {
                token.push(next);
                if next == '\\' {
                    token.extend(chars.next());
                } else if next == first {
                    break;
                }
            }
        } else {
            let class = |c: char| (c.is_alphanumeric() || c == '_' || c == '.', c.is_whitespace());
            while let Some(next) = chars
                .peek()
                .copied()
                .filter(|next| class(first) != (false, false) && class(*next) == class(first))
            {
                token.push(next);
                chars.next();
            }
        }
        tokens.push(token);
    }
    tokens
}
