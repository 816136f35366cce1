//! The lines of a script, as the VM counts them.

/// The lines of a text: each ends with LF, CR, or both in either order, the line of a shebang with LF alone.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let (mut rest, mut is_shebang) = (text, text.starts_with(b"#!"));
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let ends = |byte: &u8| *byte == b'\n' || *byte == b'\r' && !is_shebang;
        let length = rest.iter().position(ends).unwrap_or(rest.len());
        let (line, behind) = rest.split_at(length);
        let is_pair = !is_shebang && (behind.starts_with(b"\r\n") || behind.starts_with(b"\n\r"));
        rest = behind.get(1 + usize::from(is_pair)..).unwrap_or_default();
        is_shebang = false;
        Some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn lines_end_as_in_lua() {
        let told = |text: &'static str| -> Vec<&str> {
            lines(text.as_bytes()).map(|line| std::str::from_utf8(line).unwrap()).collect()
        };
        assert_eq!(told(""), [""; 0]);
        assert_eq!(told("a\nb\rc\r\nd\n\re\n\nf\r\rg\n"), ["a", "b", "c", "d", "e", "", "f", "", "g"]);
        assert_eq!(told("#!lua a\rb\r\nc\rd"), ["#!lua a\rb\r", "c", "d"]);
    }
}
