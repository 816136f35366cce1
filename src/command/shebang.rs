//! The first line of a script that declares what the script is: `#!lua flags=no-writes,allow-oom`.
//! And that of a library of functions, which names it: `#!lua name=stock`. Only the line's own syntax; what the flags
//! mean for a run is in `script`.

use crate::command::libraries::FunctionFlags;
use crate::error::Failure;

/// What a script declares of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags {
    /// There is a shebang line: the flags count.
    pub(crate) declared: bool,
    pub(crate) no_writes: bool,
    pub(crate) allow_oom: bool,
    pub(crate) allow_stale: bool,
    pub(crate) no_cluster: bool,
    pub(crate) allow_cross_slot_keys: bool,
}

/// The flags, and the source without the words of its first line (the line itself stays, so that lines keep
/// their numbers).
pub(crate) fn parse(source: &[u8]) -> Result<(Flags, &[u8]), Failure> {
    let mut flags = Flags::default();
    if !source.starts_with(b"#!") {
        return Ok((flags, source));
    }
    let end = source.iter().position(|byte| matches!(byte, b'\n' | 0));
    let Some(end) = end.filter(|&end| source[end] == b'\n') else {
        return Err(Failure::SHEBANG);
    };
    let words = split_words(&source[..end]).unwrap_or_default();
    let Some((engine, options)) = words.split_first() else {
        return Err(Failure::SHEBANG_ENGINE);
    };
    if engine != b"#!lua" {
        return Err(Failure::bad_shebang("Unexpected engine in script shebang: ", engine));
    }
    flags.declared = true;
    for option in options {
        let Some(names) = option.strip_prefix(b"flags=") else {
            return Err(Failure::bad_shebang("Unknown lua shebang option: ", option));
        };
        if names.is_empty() {
            continue;
        }
        for name in names.split(|&byte| byte == b',') {
            flags.set(name)?;
        }
    }
    Ok((flags, &source[end..]))
}

/// What the first line of a library says, and the rest of it.
#[derive(Debug)]
pub(crate) struct Library<'a> {
    pub(crate) name: Vec<u8>,
    /// From the end of the first line on.
    pub(crate) code: &'a [u8],
}

/// The first line of a library.
pub(crate) fn parse_library(source: &[u8]) -> Result<Library<'_>, Failure> {
    if !source.starts_with(b"#!") {
        return Err(Failure::NO_LIBRARY_METADATA);
    }
    let end = source.iter().position(|byte| matches!(byte, b'\n' | 0));
    let (line, code) = source.split_at(end.unwrap_or(source.len()));
    if code.first() != Some(&b'\n') {
        return Err(Failure::LIBRARY_METADATA);
    }
    let words = split_words(line).unwrap_or_default();
    let Some((engine, options)) = words.split_first() else {
        return Err(Failure::LIBRARY_METADATA);
    };
    let mut name = None;
    for option in options {
        match option.split_at_checked(b"name=".len()) {
            Some((key, value)) if key.eq_ignore_ascii_case(b"name=") => {
                if name.replace(value.to_vec()).is_some() {
                    return Err(Failure::LIBRARY_NAMED_TWICE);
                }
            }
            _ => return Err(Failure::bad_library_metadata(option)),
        }
    }
    let name = name.ok_or(Failure::LIBRARY_UNNAMED)?;
    if !is_name(&name) {
        return Err(Failure::LIBRARY_NAME);
    }
    let engine = engine.get(2..).unwrap_or_default();
    if !engine.eq_ignore_ascii_case(b"lua") {
        return Err(Failure::unknown_script_engine(engine));
    }
    Ok(Library { name, code })
}

/// Whether a library or a function may have this name.
pub(crate) fn is_name(name: &[u8]) -> bool {
    !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

impl Flags {
    /// What a function declares; it always does.
    pub(crate) fn of_function(flags: FunctionFlags) -> Self {
        let (no_writes, allow_oom) = (flags.no_writes(), flags.allow_oom());
        let (allow_stale, no_cluster) = (flags.allow_stale(), flags.no_cluster());
        let allow_cross_slot_keys = flags.allow_cross_slot_keys();
        Flags { declared: true, no_writes, allow_oom, allow_stale, no_cluster, allow_cross_slot_keys }
    }

    /// Whether a script that declares what it is may take more memory: it says neither that it can do without nor that
    /// it does not write.
    pub(crate) fn may_grow(self) -> bool {
        self.declared && !self.allow_oom && !self.no_writes
    }

    fn set(&mut self, name: &[u8]) -> Result<(), Failure> {
        let flag = match name {
            b"no-writes" => &mut self.no_writes,
            b"allow-oom" => &mut self.allow_oom,
            b"allow-stale" => &mut self.allow_stale,
            b"no-cluster" => &mut self.no_cluster,
            b"allow-cross-slot-keys" => &mut self.allow_cross_slot_keys,
            _ => return Err(Failure::bad_shebang("Unexpected flag in script shebang: ", name)),
        };
        *flag = true;
        Ok(())
    }
}

/// Words as the server splits a line: blanks between them, `"…"` with escapes, `'…'`. None when a quote is open or
/// closed in the middle of a word.
fn split_words(line: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut words = Vec::new();
    let mut rest = line;
    loop {
        let blanks = rest.iter().take_while(|byte| is_blank(**byte)).count();
        rest = &rest[blanks..];
        if rest.is_empty() {
            return Some(words);
        }
        let (word, after) = first_word(rest)?;
        words.push(word);
        rest = after;
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

fn first_word(mut rest: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut word = Vec::new();
    let mut quote = None;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match quote {
            None if is_blank(byte) => return Some((word, rest)),
            None if matches!(byte, b'"' | b'\'') => quote = Some(byte),
            None => word.push(byte),
            Some(open) if byte == open => {
                let ends = rest.first().is_none_or(|next| is_blank(*next));
                return ends.then_some((word, rest));
            }
            Some(b'"') if byte == b'\\' => rest = push_escape(&mut word, rest),
            Some(b'\'') if byte == b'\\' && rest.first() == Some(&b'\'') => {
                word.push(b'\'');
                rest = &rest[1..];
            }
            Some(_) => word.push(byte),
        }
    }
    quote.is_none().then_some((word, rest))
}

/// What stands after a backslash in double quotes; the rest of the line.
fn push_escape<'a>(word: &mut Vec<u8>, rest: &'a [u8]) -> &'a [u8] {
    if let [b'x', high, low, after @ ..] = rest
        && let (Some(high), Some(low)) = ((*high as char).to_digit(16), (*low as char).to_digit(16))
    {
        word.push((high * 16 + low) as u8);
        return after;
    }
    let Some((&byte, after)) = rest.split_first() else {
        word.push(b'\\');
        return rest;
    };
    word.push(match byte {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 8,
        b'a' => 7,
        other => other,
    });
    after
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(source: &str) -> String {
        match parse(source.as_bytes()) {
            Ok((flags, rest)) => format!("{flags:?} {}", String::from_utf8_lossy(rest)),
            Err(failure) => failure.to_string(),
        }
    }

    #[test]
    fn a_line_with_flags_is_cut_off() {
        let source = b"#!lua flags=no-writes,allow-stale\nreturn 1";
        let (flags, rest) = parse(source).expect("well-formed");
        assert_eq!(rest, b"\nreturn 1");
        assert_eq!(flags, Flags { declared: true, no_writes: true, allow_stale: true, ..Flags::default() });
        assert_eq!(parse(b"return 1"), Ok((Flags::default(), &b"return 1"[..])));
    }

    #[test]
    fn errors_have_the_texts_of_the_server() {
        assert_eq!(text("#!lua"), "ERR Invalid script shebang");
        assert_eq!(text("#!not-lua\n"), "ERR Unexpected engine in script shebang: #!not-lua");
        assert_eq!(text("#!lua bad=1\n"), "ERR Unknown lua shebang option: bad=1");
        assert_eq!(text("#!lua flags=a\n"), "ERR Unexpected flag in script shebang: a");
        assert_eq!(text("#!lua \"x\n"), "ERR Invalid engine in script shebang");
    }
}
