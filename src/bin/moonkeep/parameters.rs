//! Parameters of the server: which there are, and those of a configuration file.

use crate::Refusal;
use moonkeep::Engine;
use moonkeep::util::words::split_words;
use std::io::{self, Read};
use std::path::Path;

/// Files that are included from files that are included: no more than this.
const DEPTH_MAX: usize = 16;

/// Whether there is one of this name.
pub(crate) fn exists(name: &str) -> bool {
    name == "user" || Engine::builder().knows_setting(name)
}

/// Stands for standard input.
pub(crate) const STDIN: &str = "-";

/// The parameters of a file such as redis.conf, in order: what stands on several lines is joined, and an included file stands
/// where its name is.
pub(crate) fn of_file(path: &Path) -> Result<Vec<(String, String)>, Refusal> {
    let mut found = Vec::new();
    read(path, &mut found, 0)?;
    Ok(found)
}

fn read(path: &Path, found: &mut Vec<(String, String)>, depth: usize) -> Result<(), Refusal> {
    let refuse = |why: String| Refusal(format!("{}: {why}", path.display()));
    let text = content(path).map_err(|error| refuse(error.to_string()))?;
    for (at, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let at = at + 1;
        let words = split_words(line).ok_or_else(|| refuse(format!("line {at}: unbalanced quotes")))?;
        let words: Vec<_> = words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        let [name, values @ ..] = &words[..] else { continue };
        let (name, value) = (name.to_ascii_lowercase(), values.join(" "));
        match name.as_str() {
            "include" if depth == DEPTH_MAX => {
                return Err(refuse(format!("line {at}: more than {DEPTH_MAX} files include each other")));
            }
            "include" => read(Path::new(&value), found, depth + 1)?,
            _ if exists(&name) => add(found, name, value),
            _ => return Err(refuse(format!("line {at}: there is no parameter {name:?}"))),
        }
    }
    Ok(())
}

fn content(path: &Path) -> io::Result<Vec<u8>> {
    if path != Path::new(STDIN) {
        return std::fs::read(path);
    }
    let mut text = Vec::new();
    io::stdin().read_to_end(&mut text)?;
    Ok(text)
}

fn add(found: &mut Vec<(String, String)>, name: String, value: String) {
    match found.iter_mut().find(|(earlier, _)| *earlier == name && name == "save") {
        // Each line is one more rule, and an empty one takes back those before it.
        Some((_, rules)) if value.is_empty() => rules.clear(),
        Some((_, rules)) => *rules = format!("{rules} {value}").trim_start().to_owned(),
        None => found.push((name, value)),
    }
}
