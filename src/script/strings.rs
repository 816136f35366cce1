//! `string.find`, `match`, `gmatch`, `gsub` and `rep`: Lua's own loop without bound inside C, where no instruction
//! hook sees them. These charge what they do to the work budget. The matching itself is in `pattern`.

use super::base::{spend, stopped};
use super::bridge::{Call, native};
use super::convert::before_nul;
use super::pattern::{Capture, Found, Matcher, Taken, Trouble};
use super::stack::{Kind, Raised, Returned, Stack};

/// Steps of the matcher that count as one unit of work.
const STEPS_PER_WORK: u64 = 2;
/// So many steps of the matcher are paid for at once.
const STEPS_PER_SLICE: u64 = 100_000;
/// How much of a long pattern is read between two looks at the time.
const SLICE_BYTES: usize = 256 * 1024;
/// Bytes searched or copied that count as one unit of work.
pub(super) const BYTES_PER_WORK: u64 = 16;
/// After so many bytes a search for a plain text is paid for.
const LOOKED_BYTES: usize = 16 * 1024;
/// The work charged for a replacement that `gsub` makes, beside its bytes.
const REPLACEMENT_WORK: u64 = 2;

pub(super) fn find(call: Call<'_>) -> Returned {
    search(call, true)
}

pub(super) fn match_(call: Call<'_>) -> Returned {
    search(call, false)
}

/// `find` and `match`: they differ in what they return of the place.
#[inline]
fn search(call: Call<'_>, find: bool) -> Returned {
    let stack = call.stack;
    let (text, pattern) = (stack.check_text(1), stack.check_text(2));
    let start = start_position(stack, text.len());
    pay_for_reading(call, pattern)?;
    if find && (stack.truth(4) || !has_specials(call, pattern)?) {
        return find_plain(call, text, pattern, start);
    }
    let pattern = before_nul(pattern);
    let (pattern, anchored) = match pattern.strip_prefix(b"^") {
        Some(rest) => (rest, true),
        None => (pattern, false),
    };
    let mut matcher = new_matcher(call, text, pattern);
    for at in start..=text.len() {
        let found = matcher.match_at(at);
        if let Some(end) = settle(call, found, &mut matcher)? {
            if find {
                stack.push_number((at + 1) as f64);
                stack.push_number(end as f64);
                return Ok(2 + push_captures(call, text, matcher.captures(), None)?);
            }
            return push_captures(call, text, matcher.captures(), Some((at, end)));
        }
        if anchored {
            break;
        }
    }
    spend_steps(call, &mut matcher)?;
    stack.push_nil();
    Ok(1)
}

/// Charges for a pattern in which something is looked for: most are short and cost nothing.
#[inline]
fn pay_for_reading(call: Call<'_>, pattern: &[u8]) -> Result<(), Raised> {
    const SHORT: usize = 1024;
    if pattern.len() < SHORT { Ok(()) } else { spend(call, pattern.len() as u64 / BYTES_PER_WORK) }
}

/// The third argument, as an offset into a text of this length.
#[inline]
fn start_position(stack: Stack<'_>, length: usize) -> usize {
    if stack.is_none_or_nil(3) {
        return 0;
    }
    let position = stack.check_integer(3);
    let position = if position < 0 { position.saturating_add_unsigned(length as u64 + 1) } else { position };
    usize::try_from(position.max(0) - 1).unwrap_or(0).min(length)
}

/// Whether a pattern is more than a text to look for. A long one is read by slices, with a look at the time before each.
fn has_specials(call: Call<'_>, pattern: &[u8]) -> Result<bool, Raised> {
    const SPECIAL: [bool; 256] = {
        let (mut special, mut bytes) = ([false; 256], b"^$*+?.([%-".as_slice());
        while let [first, rest @ ..] = bytes {
            special[*first as usize] = true;
            bytes = rest;
        }
        special
    };
    let mut slices = before_nul(pattern).chunks(SLICE_BYTES);
    let first = slices.next().unwrap_or_default();
    let is_special = |slice: &[u8]| slice.iter().any(|byte| SPECIAL[usize::from(*byte)]);
    if is_special(first) {
        return Ok(true);
    }
    for slice in slices {
        call.charge_slice(0).map_err(|stop| stopped(call, stop))?;
        if is_special(slice) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn find_plain(call: Call<'_>, text: &[u8], wanted: &[u8], start: usize) -> Returned {
    let stack = call.stack;
    let Some(&first) = wanted.first() else {
        stack.push_number((start + 1) as f64);
        stack.push_number(start as f64);
        return Ok(2);
    };
    let (mut at, mut looked) = (start, 0);
    while text.len() - at >= wanted.len() {
        let ahead = &text[at..=text.len() - wanted.len()];
        let skipped = ahead.iter().position(|byte| *byte == first);
        let Some(skipped) = skipped else {
            looked += ahead.len();
            break;
        };
        at += skipped;
        let same = text[at..].iter().zip(wanted).take_while(|(here, wanted)| here == wanted).count();
        // A place where the search begins again takes as long as many bytes that are skipped.
        looked += skipped + same + BYTES_PER_WORK as usize;
        if looked > LOOKED_BYTES {
            spend(call, std::mem::take(&mut looked) as u64 / BYTES_PER_WORK)?;
        }
        if same == wanted.len() {
            spend(call, looked as u64 / BYTES_PER_WORK)?;
            stack.push_number((at + 1) as f64);
            stack.push_number((at + same) as f64);
            return Ok(2);
        }
        at += 1;
    }
    spend(call, looked as u64 / BYTES_PER_WORK)?;
    stack.push_nil();
    Ok(1)
}

#[inline]
fn new_matcher<'a>(call: Call<'a>, text: &'a [u8], pattern: &'a [u8]) -> Matcher<'a, impl Fn(u64) -> bool> {
    Matcher::new(text, pattern, STEPS_PER_SLICE, move |steps| {
        call.charge_slice(steps / STEPS_PER_WORK).is_ok()
    })
}

/// Charges for a match that was found, and turns trouble into an error.
#[inline]
fn settle<F: Fn(u64) -> bool>(
    call: Call<'_>,
    result: Found,
    matcher: &mut Matcher<'_, F>,
) -> Result<Option<usize>, Raised> {
    match result {
        Ok(None) => Ok(None),
        Ok(Some(end)) => {
            spend_steps(call, matcher)?;
            Ok(Some(end))
        }
        Err(Trouble::Malformed(message)) => Err(call.stack.fail(message)),
        Err(Trouble::Exhausted) => {
            spend(call, 0)?;
            Ok(None)
        }
    }
}

#[inline]
fn spend_steps<F: Fn(u64) -> bool>(call: Call<'_>, matcher: &mut Matcher<'_, F>) -> Result<(), Raised> {
    spend(call, matcher.take_steps() / STEPS_PER_WORK)
}

/// Pushes all captures, or, when there is none, the whole match if one is given.
fn push_captures(
    call: Call<'_>,
    text: &[u8],
    captures: &[Capture],
    whole: Option<(usize, usize)>,
) -> Returned {
    let stack = call.stack;
    if captures.is_empty() {
        let Some((start, end)) = whole else { return Ok(0) };
        stack.push_bytes(&text[start..end]);
        return Ok(1);
    }
    if !stack.reserve(captures.len() as i32) {
        return Err(stack.fail(b"stack overflow (too many captures)"));
    }
    call.step(captures.len() as i32).map_err(|stop| stopped(call, stop))?;
    for capture in captures {
        push_capture(stack, text, *capture)?;
    }
    Ok(captures.len() as i32)
}

fn push_capture(stack: Stack<'_>, text: &[u8], capture: Capture) -> Result<(), Raised> {
    match capture.taken {
        Taken::Open => return Err(stack.fail(b"unfinished capture")),
        Taken::Position => stack.push_number((capture.start + 1) as f64),
        Taken::Bytes(length) => stack.push_bytes(&text[capture.start..capture.start + length]),
    }
    Ok(())
}

pub(super) fn gmatch(call: Call<'_>) -> Returned {
    let stack = call.stack;
    stack.check_text(1);
    stack.check_text(2);
    stack.set_top(2);
    stack.push_number(0.0);
    stack.push_function(native(gmatch_next), 3);
    Ok(1)
}

/// The iterator of `gmatch`: text, pattern and the place to go on are its upvalues.
fn gmatch_next(call: Call<'_>) -> Returned {
    let stack = call.stack;
    let text = stack.bytes(Stack::upvalue(1)).unwrap_or_default();
    let pattern = before_nul(stack.bytes(Stack::upvalue(2)).unwrap_or_default());
    let start = stack.number(Stack::upvalue(3)).unwrap_or_default() as usize;
    pay_for_reading(call, pattern)?;
    let mut matcher = new_matcher(call, text, pattern);
    for at in start..=text.len() {
        let found = matcher.match_at(at);
        if let Some(end) = settle(call, found, &mut matcher)? {
            stack.push_number(if end == at { end + 1 } else { end } as f64);
            stack.replace(Stack::upvalue(3));
            return push_captures(call, text, matcher.captures(), Some((at, end)));
        }
    }
    spend_steps(call, &mut matcher)?;
    Ok(0)
}

/// `gsub`. A replacement that is a function or a table may run the script's code, so the places found and what
/// takes their place are kept in a Lua table, and the result is put together at the end.
pub(super) fn gsub(call: Call<'_>) -> Returned {
    let stack = call.stack;
    let (text, pattern) = (stack.check_text(1), before_nul(stack.check_text(2)));
    pay_for_reading(call, pattern)?;
    let limit = if stack.is_none_or_nil(4) { text.len() as i64 + 1 } else { stack.check_int(4).into() };
    if !matches!(stack.kind(3), Kind::Number | Kind::String | Kind::Function | Kind::Table) {
        stack.bad_argument(3, c"string/function/table expected");
    }
    stack.set_top(3);
    if matches!(stack.kind(3), Kind::Number | Kind::String) {
        stack.text(3);
    }
    let (pattern, anchored) = match pattern.strip_prefix(b"^") {
        Some(rest) => (rest, true),
        None => (pattern, false),
    };
    stack.new_table(0, 0);
    let (mut at, mut count) = (0, 0i64);
    let mut matcher = new_matcher(call, text, pattern);
    while count < limit {
        let found = matcher.match_at(at);
        if let Some(end) = settle(call, found, &mut matcher)? {
            push_replacement(call, text, matcher.captures(), (at, end))?;
            keep_replacement(stack, count, at, end);
            count += 1;
            if end > at {
                at = end;
                if anchored {
                    break;
                }
                continue;
            }
        }
        if at >= text.len() || anchored {
            break;
        }
        at += 1;
    }
    spend_steps(call, &mut matcher)?;
    push_result(call, text, count)?;
    stack.push_number(count as f64);
    Ok(2)
}

/// Pops a replacement into the table at 4, with its place in the text.
fn keep_replacement(stack: Stack<'_>, count: i64, start: usize, end: usize) {
    let at = i32::try_from(count * 3).unwrap_or(i32::MAX - 3);
    stack.raw_set_index(4, at + 3);
    stack.push_number(start as f64);
    stack.raw_set_index(4, at + 1);
    stack.push_number(end as f64);
    stack.raw_set_index(4, at + 2);
}

/// Pushes what takes the place of a match.
fn push_replacement(
    call: Call<'_>,
    text: &[u8],
    captures: &[Capture],
    place: (usize, usize),
) -> Result<(), Raised> {
    let stack = call.stack;
    let whole = &text[place.0..place.1];
    spend(call, REPLACEMENT_WORK)?;
    match stack.kind(3) {
        Kind::Function => {
            stack.copy(3);
            let arguments = push_captures(call, text, captures, Some(place))?;
            stack.call(arguments, 1);
        }
        Kind::Table => {
            match captures.first() {
                Some(first) => push_capture(stack, text, *first)?,
                None => stack.push_bytes(whole),
            }
            stack.get(3);
        }
        _ => return push_template(call, text, captures, place),
    }
    if !stack.truth(-1) {
        stack.pop(1);
        stack.push_bytes(whole);
    } else if stack.text(-1).is_none() {
        let kind = stack.type_name(-1);
        stack.push_where(1);
        stack.push_bytes(b"invalid replacement value (a ");
        stack.push_bytes(kind.to_bytes());
        stack.push_bytes(b")");
        stack.concat(4);
        return Err(Raised);
    }
    Ok(())
}

/// Pushes the replacement text with its `%0` to `%9` filled in.
fn push_template(
    call: Call<'_>,
    text: &[u8],
    captures: &[Capture],
    place: (usize, usize),
) -> Result<(), Raised> {
    let stack = call.stack;
    let template = stack.bytes(3).unwrap_or_default();
    pay_for_reading(call, template)?;
    if !template.contains(&b'%') {
        stack.copy(3);
        return Ok(());
    }
    check_template(stack, template, captures)?;
    check_size(call, filled_length(template, captures, place.1 - place.0))?;
    let made: *const [u8] = call.run(|run| {
        run.scratch.clear();
        fill_template(&mut run.scratch, template, text, captures, place);
        &raw const run.scratch[..]
    });
    stack.push_scratch(made);
    Ok(())
}

/// Refuses a template that names a capture which the match does not have.
fn check_template(stack: Stack<'_>, template: &[u8], captures: &[Capture]) -> Result<(), Raised> {
    let mut bytes = template.iter();
    while let Some(byte) = bytes.next() {
        if *byte != b'%' {
            continue;
        }
        let Some(digit @ b'1'..=b'9') = bytes.next() else { continue };
        let index = usize::from(digit - b'1');
        match captures.get(index) {
            Some(Capture { taken: Taken::Open, .. }) => return Err(stack.fail(b"unfinished capture")),
            Some(_) => {}
            None if index == 0 => {}
            None => return Err(stack.fail(b"invalid capture index")),
        }
    }
    Ok(())
}

/// How long a template will be at most: each of its captures may be as long as the whole text.
fn filled_length(template: &[u8], captures: &[Capture], whole: usize) -> usize {
    let mut bytes = template.iter();
    let mut total = 0usize;
    while let Some(&byte) = bytes.next() {
        let digit = if byte == b'%' { bytes.next().copied().unwrap_or(0) } else { 0 };
        let capture = digit.checked_sub(b'1').and_then(|index| captures.get(usize::from(index)));
        total = total.saturating_add(match (digit, capture.map(|capture| capture.taken)) {
            (b'1'..=b'9', Some(Taken::Bytes(length))) => length,
            (b'1'..=b'9', Some(_)) => 20,
            (b'0'..=b'9', _) => whole,
            _ => 1,
        });
    }
    total
}

fn fill_template(
    out: &mut Vec<u8>,
    template: &[u8],
    text: &[u8],
    captures: &[Capture],
    place: (usize, usize),
) {
    let mut bytes = template.iter();
    while let Some(&byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        // A `%` at the very end stands for the NUL that C finds there.
        let byte = bytes.next().copied().unwrap_or(0);
        let capture = byte.checked_sub(b'1').and_then(|index| captures.get(usize::from(index)));
        match (byte, capture) {
            (b'1'..=b'9', Some(Capture { start, taken: Taken::Bytes(length) })) => {
                out.extend_from_slice(&text[*start..start + length]);
            }
            (b'1'..=b'9', Some(Capture { start, .. })) => {
                out.extend_from_slice(itoa::Buffer::new().format(start + 1).as_bytes());
            }
            (b'0'..=b'9', _) => out.extend_from_slice(&text[place.0..place.1]),
            (other, _) => out.push(other),
        }
    }
}

/// Pushes the text with the `count` replacements of the table at 4.
fn push_result(call: Call<'_>, text: &[u8], count: i64) -> Result<(), Raised> {
    let stack = call.stack;
    if count == 0 {
        stack.copy(1);
        return Ok(());
    }
    let count = i32::try_from(count).unwrap_or(i32::MAX / 3 - 1);
    spend(call, count.unsigned_abs().into())?;
    let mut total = text.len();
    for index in 0..count {
        call.step(1).map_err(|stop| stopped(call, stop))?;
        total = total.saturating_add(replacement(stack, index).2.len());
    }
    check_size(call, total)?;
    let made: *const [u8] = call.run(|run| {
        run.scratch.clear();
        let mut done = 0;
        for index in 0..count {
            let (start, end, value) = replacement(stack, index);
            run.scratch.extend_from_slice(&text[done..start]);
            run.scratch.extend_from_slice(value);
            done = end;
        }
        run.scratch.extend_from_slice(&text[done..]);
        &raw const run.scratch[..]
    });
    stack.push_scratch(made);
    Ok(())
}

/// Start, end and text of a replacement; the text stays in the table at 4.
fn replacement(stack: Stack<'_>, index: i32) -> (usize, usize, &[u8]) {
    stack.raw_get_index(4, index * 3 + 1);
    stack.raw_get_index(4, index * 3 + 2);
    stack.raw_get_index(4, index * 3 + 3);
    let (start, end) = (stack.number(-3).unwrap_or_default(), stack.number(-2).unwrap_or_default());
    let value = stack.bytes(-1).unwrap_or_default();
    stack.pop(3);
    (start as usize, end as usize, value)
}

/// Refuses a text that does not fit into the memory that is left, and charges for one that does.
pub(super) fn check_size(call: Call<'_>, total: usize) -> Result<(), Raised> {
    if total > call.string_room() {
        return Err(call.stack.fail_plain(b"not enough memory"));
    }
    spend(call, total as u64 / BYTES_PER_WORK)
}

pub(super) fn rep(call: Call<'_>) -> Returned {
    let stack = call.stack;
    let piece = stack.check_text(1);
    let count = usize::try_from(stack.check_int(2)).unwrap_or(0);
    let total = piece.len().saturating_mul(count);
    check_size(call, total)?;
    // The text is made outside Lua's memory and of its frames; only its copy is Lua's.
    let made: *const [u8] = call.run(|run| {
        run.scratch.clear();
        if total > 0 {
            run.scratch.reserve(total);
            run.scratch.extend_from_slice(piece);
            while run.scratch.len() < total {
                let more = run.scratch.len().min(total - run.scratch.len());
                run.scratch.extend_from_within(..more);
            }
        }
        &raw const run.scratch[..]
    });
    stack.push_scratch(made);
    Ok(1)
}

pub(super) fn upper(call: Call<'_>) -> Returned {
    changed(call, |text, out| out.extend(text.iter().map(u8::to_ascii_uppercase)))
}

pub(super) fn lower(call: Call<'_>) -> Returned {
    changed(call, |text, out| out.extend(text.iter().map(u8::to_ascii_lowercase)))
}

pub(super) fn reverse(call: Call<'_>) -> Returned {
    changed(call, |text, out| out.extend(text.iter().rev()))
}

/// A text of the same length as the first argument.
#[inline(always)]
fn changed(call: Call<'_>, change: impl FnOnce(&[u8], &mut Vec<u8>)) -> Returned {
    let stack = call.stack;
    let text = stack.check_text(1);
    check_size(call, text.len())?;
    let made: *const [u8] = call.run(|run| {
        run.scratch.clear();
        change(text, &mut run.scratch);
        &raw const run.scratch[..]
    });
    stack.push_scratch(made);
    Ok(1)
}
