//! For tests: reads the tables recorded from a real server in `tests/tables/`.

/// The rows of a table, each a list of unescaped columns; comment lines are left out.
pub(super) fn rows(table: &str) -> impl Iterator<Item = Vec<Vec<u8>>> {
    table.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').map(unescape).collect())
}

/// The bytes of a column: `\xHH` and `\\` are escapes, `""` is the empty text.
fn unescape(column: &str) -> Vec<u8> {
    if column == "\"\"" {
        return Vec::new();
    }
    let mut bytes = Vec::new();
    let mut rest = column;
    while let Some((plain, escape)) = rest.split_once('\\') {
        bytes.extend_from_slice(plain.as_bytes());
        let (byte, length) = match escape.strip_prefix('x') {
            Some(hex) => (u8::from_str_radix(&hex[..2], 16).expect("two hexadecimal digits"), 3),
            None => (b'\\', 1),
        };
        bytes.push(byte);
        rest = &escape[length..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

/// A readable form for messages.
pub(super) fn show(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}
