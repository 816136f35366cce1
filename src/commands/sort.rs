//! SORT and SORT_RO: the elements of a list, set or sorted set in the order of themselves or of what stands in other
//! keys, and what stands there in their place. What is equal comes in the order in which the server leaves it.

use crate::command::args::{Args, is};
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow, Origin};
use crate::error::Failure;
use crate::reply::Reply;
use crate::store::{Event, Expiry};
use crate::util::bytes::Bytes;
use crate::util::float::strtod;
use crate::value::Value;
use crate::value::list::List;
use crate::value::partial_sort::partial_sort;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "sort",
        usage: "SORT key [BY pattern#1] [LIMIT offset_count=(offset count)] [GET pattern#1...+] order=[ASC|DESC] [sorting=ALPHA] [STORE destination]",
        summary: "Sort the elements in a list, set or sorted set",
        since: "1.0.0",
        group: Group::Generic,
        complexity: "O(N+M*log(M)) where N is the number of elements in the list or set to sort, and M the number of returned elements. When the elements are not sorted, complexity is O(N).",
        acl: acl::DANGEROUS | acl::LIST | acl::SET | acl::SORTEDSET,
        flags: WRITE | DENYOOM,
        keys: &[
            at(1, RO | ACCESS),
            unknown(RO | ACCESS).note(
                "For the optional BY/GET keyword. It is marked 'unknown' because the \
                 key names derive from the content of the key we sort",
            ),
            unknown(OW | UPDATE).note(
                "For the optional STORE keyword. It is marked 'unknown' because the \
                 keyword can appear anywhere in the argument array",
            ),
        ],
        run: sort,
        ..Spec::BASE
    },
    Spec {
        name: "sort_ro",
        usage: "SORT_RO key [BY pattern#1] [LIMIT offset_count=(offset count)] [GET pattern#1...+] order=[ASC|DESC] [sorting=ALPHA]",
        summary: "Sort the elements in a list, set or sorted set. Read-only variant of SORT.",
        since: "7.0.0",
        group: Group::Generic,
        complexity: "O(N+M*log(M)) where N is the number of elements in the list or set to sort, and M the number of returned elements. When the elements are not sorted, complexity is O(N).",
        acl: acl::DANGEROUS | acl::LIST | acl::SET | acl::SORTEDSET,
        flags: READONLY,
        keys: &[
            at(1, RO | ACCESS),
            unknown(RO | ACCESS).note(
                "For the optional BY/GET keyword. It is marked 'unknown' because the \
                 key names derive from the content of the key we sort",
            ),
        ],
        run: sort_ro,
        ..Spec::BASE
    },
];

/// What is asked for.
#[derive(Default)]
struct Options<'a> {
    descending: bool,
    alpha: bool,
    /// The order is that of the key itself.
    unsorted: bool,
    by: Option<&'a [u8]>,
    gets: Vec<&'a [u8]>,
    start: i64,
    count: Option<i64>,
    store: Option<&'a [u8]>,
}

impl<'a> Options<'a> {
    /// `denied`: why BY a pattern and GET are refused, if they are.
    fn parse(argv: Argv<'a>, read_only: bool, denied: Option<[Failure; 2]>) -> Result<Self, Failure> {
        let mut found = Options::default();
        let mut args = Args::new(argv, 2);
        while let Some(word) = args.next() {
            let left = args.left();
            if is(word, "asc") {
                found.descending = false;
            } else if is(word, "desc") {
                found.descending = true;
            } else if is(word, "alpha") {
                found.alpha = true;
            } else if is(word, "limit") && left >= 2 {
                found.start = args.int()?;
                found.count = Some(args.int()?);
            } else if is(word, "store") && left >= 1 && !read_only {
                found.store = Some(args.word()?);
            } else if is(word, "by") && left >= 1 {
                let pattern = args.word()?;
                found.by = Some(pattern);
                // A pattern that names one key for all sorts nothing; no later one changes that.
                let names_many = until_nul(pattern).contains(&b'*');
                found.unsorted |= !names_many;
                if let Some([by, _]) = denied.as_ref().filter(|_| names_many) {
                    return Err(by.clone());
                }
            } else if is(word, "get") && left >= 1 {
                if let Some([_, get]) = &denied {
                    return Err(get.clone());
                }
                found.gets.push(args.word()?);
            } else {
                return Err(Failure::Syntax);
            }
        }
        Ok(found)
    }
    /// The places that are shown of so many.
    fn window(&self, len: usize) -> Range<usize> {
        let whole = i64::try_from(len).unwrap_or(i64::MAX);
        let start = self.start.clamp(0, whole);
        let end = match self.count {
            Some(count) if count >= 0 => start.saturating_add(count.min(whole)).min(whole),
            _ => whole,
        };
        start as usize..end.max(start) as usize
    }
}

/// The part of a text that a C string function sees.
fn until_nul(text: &[u8]) -> &[u8] {
    text.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// What a pattern names with the element in the place of its first `*`: a string, or the field of a hash behind `->`.
fn look_up(cx: &mut Ctx<'_>, pattern: &[u8], element: &[u8]) -> Option<Bytes> {
    let seen = until_nul(pattern);
    if seen == b"#" {
        return Some(Bytes::from(element));
    }
    let star = seen.iter().position(|&byte| byte == b'*')?;
    let arrow = seen[star + 1..].windows(2).position(|pair| pair == b"->").map(|at| star + 1 + at);
    let arrow = arrow.filter(|&arrow| arrow + 2 < seen.len());
    let behind = &pattern[star + 1..arrow.unwrap_or(pattern.len())];
    let key = [&pattern[..star], element, behind].concat();
    let value = cx.read(&key)?.value();
    match arrow {
        Some(arrow) => value.as_hash().ok()?.get(&pattern[arrow + 2..]).map(Bytes::from),
        None => Some(Bytes::from(value.as_string().ok()?.bytes().as_bytes())),
    }
}

/// An element with what it is sorted by.
struct Item {
    element: Bytes,
    score: f64,
    /// What stands in its place when texts of other keys are compared.
    by: Option<Bytes>,
}

/// A number as C's strtod reads it, where anything left over and any trouble with the range is an error.
fn number(text: &[u8]) -> Option<f64> {
    let text = until_nul(text);
    let read = strtod(text);
    let is_exact = !read.value.is_subnormal() || text.contains(&b'x') || text.contains(&b'X');
    let fits = read.consumed == text.len() && !read.out_of_range && !read.value.is_nan() && is_exact;
    fits.then_some(read.value)
}

/// The elements of a key in its own order, those that the options keep of them when they sort nothing.
fn elements(cx: &mut Ctx<'_>, key: &[u8], options: &Options<'_>) -> Result<Vec<Bytes>, Failure> {
    let Some(entry) = cx.read(key) else { return Ok(Vec::new()) };
    let (descending, unsorted) = (options.descending, options.unsorted);
    Ok(match entry.value() {
        Value::List(list) if unsorted && descending => list.iter().rev().map(Bytes::from).collect(),
        Value::List(list) => list.iter().map(Bytes::from).collect(),
        Value::Set(set) => set.iter().collect(),
        Value::ZSet(zset) if unsorted && descending => {
            zset.iter().rev().map(|(member, _)| Bytes::from(member)).collect()
        }
        Value::ZSet(zset) => zset.iter().map(|(member, _)| Bytes::from(member)).collect(),
        _ => return Err(Failure::WrongType),
    })
}

/// The server makes a sorted set large to sort it, which nobody is told of.
fn make_large(cx: &mut Ctx<'_>, key: &[u8]) {
    if let Some(mut key) = cx.edit(key) {
        if let Value::ZSet(zset) = key.value()
            && zset.is_packed()
            && let Ok(zset) = key.value_mut().as_zset_mut()
        {
            zset.make_large();
        }
        key.unchanged();
    }
}

/// The elements with what they are sorted by.
fn weighed(cx: &mut Ctx<'_>, elements: Vec<Bytes>, options: &Options<'_>) -> Result<Vec<Item>, Failure> {
    let (mut items, mut numbers) = (Vec::with_capacity(elements.len()), true);
    for element in elements {
        let mut item = Item { element, score: 0.0, by: None };
        let by = match options.by {
            Some(pattern) => look_up(cx, pattern, &item.element),
            None if options.alpha => None,
            None => Some(item.element.clone()),
        };
        match by {
            Some(by) if options.alpha => item.by = Some(by),
            Some(by) => match number(&by) {
                Some(score) => item.score = score,
                None => numbers = false,
            },
            None => {}
        }
        items.push(item);
    }
    if numbers { Ok(items) } else { Err(Failure::SORT_NOT_NUMBERS) }
}

/// Texts to be stored are compared whole, others as C strings.
fn compare_texts(one: &[u8], other: &[u8], stored: bool) -> Ordering {
    if stored { one.cmp(other) } else { until_nul(one).cmp(until_nul(other)) }
}

fn compare(one: &Item, other: &Item, options: &Options<'_>) -> Ordering {
    let stored = options.store.is_some();
    let order = match options {
        Options { alpha: false, .. } => {
            let by_score = one.score.partial_cmp(&other.score).unwrap_or(Ordering::Equal);
            by_score.then_with(|| one.element.cmp(&other.element))
        }
        Options { by: None, .. } => compare_texts(&one.element, &other.element, stored),
        _ => match (&one.by, &other.by) {
            (Some(one), Some(other)) => compare_texts(one, other, stored),
            (one, other) => one.is_some().cmp(&other.is_some()),
        },
    };
    if options.descending { order.reverse() } else { order }
}

/// What is shown: the elements in their order, within the limits.
fn sorted(cx: &mut Ctx<'_>, key: &[u8], options: &mut Options<'_>) -> Result<Vec<Bytes>, Failure> {
    let mut elements = elements(cx, key, options)?;
    let kind = cx.state.store.type_name(cx.db(), key);
    if kind == Some("zset") {
        make_large(cx, key);
    }
    // The order of a set is no order: what others repeat must not depend on it.
    if options.unsorted && kind == Some("set") && (options.store.is_some() || cx.origin == Origin::Script) {
        (options.unsorted, options.alpha, options.by) = (false, true, None);
    }
    let window = options.window(elements.len());
    if options.unsorted {
        return Ok(elements.drain(window).collect());
    }
    let is_part = window != (0..elements.len());
    let mut items = weighed(cx, elements, options)?;
    let mut by_options = |one: &Item, other: &Item| compare(one, other, options);
    if options.by.is_some() && is_part {
        if !window.is_empty() {
            partial_sort(&mut items, window.start..=window.end - 1, &mut by_options);
        }
    } else {
        items.sort_by(by_options);
    }
    Ok(items.drain(window).map(|item| item.element).collect())
}

/// A pattern can name any key: also one that the user may not read, or that another node has.
fn denied(cx: &Ctx<'_>, argv: Argv<'_>) -> Option<[Failure; 2]> {
    if cx.state.cluster.is_some() {
        return Some([Failure::NO_SORT_BY_IN_CLUSTER, Failure::NO_SORT_GET_IN_CLUSTER]);
    }
    let reaches_all = cx.reaches_all_keys(argv, ACCESS);
    (!reaches_all).then_some([Failure::SORT_BY_DENIED, Failure::SORT_GET_DENIED])
}

fn sort(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let mut options = Options::parse(argv, false, denied(cx, argv))?;
    let elements = sorted(cx, argv[1], &mut options)?;
    match options.store {
        Some(destination) => store(cx, destination, elements, &options.gets, out),
        None => show(cx, elements, &options.gets, out),
    }
    Ok(Flow::Done)
}

fn sort_ro(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let mut options = Options::parse(argv, true, denied(cx, argv))?;
    let elements = sorted(cx, argv[1], &mut options)?;
    show(cx, elements, &options.gets, out);
    Ok(Flow::Done)
}

fn show(cx: &mut Ctx<'_>, elements: Vec<Bytes>, gets: &[&[u8]], out: &mut Reply) {
    out.array(elements.len() * gets.len().max(1));
    for element in elements {
        if gets.is_empty() {
            out.bulk(&element);
        }
        for pattern in gets {
            match look_up(cx, pattern, &element) {
                Some(value) => out.bulk(&value),
                None => out.nil(),
            }
        }
    }
}

fn store(cx: &mut Ctx<'_>, destination: &[u8], elements: Vec<Bytes>, gets: &[&[u8]], out: &mut Reply) {
    let mut list = List::new();
    for element in elements {
        if gets.is_empty() {
            list.push_back(&element);
        }
        for pattern in gets {
            list.push_back(&look_up(cx, pattern, &element).unwrap_or_default());
        }
    }
    out.int(list.len() as i64);
    if list.is_empty() {
        cx.discard(destination, Event::generic("del"));
    } else {
        cx.put(destination, Value::List(Arc::new(list)), Expiry::Clear, Event::list("sortstore"));
    }
}
