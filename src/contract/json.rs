//! Whether a text is JSON: one value of RFC 8259 and nothing behind it, nested no deeper than cjson decodes.

/// cjson decodes no deeper; a contract is asked on a thread whose stack is not known, so it is less here.
const DEPTH_MAX: usize = 200;

pub(super) fn is_json(text: &[u8]) -> bool {
    let mut reader = Reader { rest: text };
    let is_value = std::str::from_utf8(text).is_ok() && reader.value(0).is_some();
    reader.blanks();
    is_value && reader.rest.is_empty()
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    fn blanks(&mut self) {
        let count = self.rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')).count();
        self.rest = &self.rest[count..];
    }
    fn takes(&mut self, text: &[u8]) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
    fn value(&mut self, depth: usize) -> Option<()> {
        self.blanks();
        match *self.rest.first()? {
            b'[' | b'{' if depth >= DEPTH_MAX => None,
            b'[' => self.items(b"[", b"]", &mut |reader| reader.value(depth + 1)),
            b'{' => self.items(b"{", b"}", &mut |reader| {
                reader.blanks();
                reader.text()?;
                reader.blanks();
                reader.takes(b":").then_some(())?;
                reader.value(depth + 1)
            }),
            b'"' => self.text(),
            b't' => self.takes(b"true").then_some(()),
            b'f' => self.takes(b"false").then_some(()),
            b'n' => self.takes(b"null").then_some(()),
            _ => self.number(),
        }
    }
    fn items(
        &mut self,
        open: &[u8],
        close: &[u8],
        item: &mut dyn FnMut(&mut Self) -> Option<()>,
    ) -> Option<()> {
        self.takes(open).then_some(())?;
        self.blanks();
        if self.takes(close) {
            return Some(());
        }
        loop {
            item(self)?;
            self.blanks();
            if self.takes(close) {
                return Some(());
            }
            self.takes(b",").then_some(())?;
        }
    }
    fn text(&mut self) -> Option<()> {
        self.takes(b"\"").then_some(())?;
        loop {
            let (first, rest) = self.rest.split_first()?;
            self.rest = rest;
            match first {
                b'"' => return Some(()),
                b'\\' if self.takes(b"u") => {
                    let digits = self.rest.get(..4)?;
                    digits.iter().all(u8::is_ascii_hexdigit).then_some(())?;
                    self.rest = &self.rest[4..];
                }
                b'\\' => {
                    matches!(self.rest.first()?, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't')
                        .then_some(())?;
                    self.rest = &self.rest[1..];
                }
                0..0x20 => return None,
                _ => {}
            }
        }
    }
    fn digits(&mut self) -> usize {
        let count = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.rest = &self.rest[count..];
        count
    }
    fn number(&mut self) -> Option<()> {
        self.takes(b"-");
        if !self.takes(b"0") && self.digits() == 0 {
            return None;
        }
        if self.takes(b".") && self.digits() == 0 {
            return None;
        }
        if self.takes(b"e") || self.takes(b"E") {
            let _ = self.takes(b"+") || self.takes(b"-");
            return (self.digits() > 0).then_some(());
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_and_nothing_else() {
        for text in ["0", " -1.5e+3 ", "\"a\\u00e9\\n\"", "[]", "{}", "[1, {\"a\": [null, true]}]", "\"é\""]
        {
            assert!(is_json(text.as_bytes()), "{text}");
        }
        for text in [
            "", "01", "1.", "-", "+1", "[1,]", "{a:1}", "{\"a\"}", "\"\\x\"", "\"\n\"", "1 2", "nul", "[",
            "'a'", "NaN",
        ] {
            assert!(!is_json(text.as_bytes()), "{text}");
        }
        assert!(!is_json(b"\"\xff\""));
        assert!(is_json(
            "[".repeat(200)
                .as_bytes()
                .iter()
                .chain("]".repeat(200).as_bytes())
                .copied()
                .collect::<Vec<_>>()
                .as_slice()
        ));
        assert!(!is_json("[".repeat(100_000).as_bytes()));
    }
}
