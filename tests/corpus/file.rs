//! The text format of the transcripts: reading, comparing a reply with a recorded line, writing back.

use crate::support::target::MAIN;
use crate::support::wire::Wire;
use crate::support::words;
use std::fs;
use std::path::PathBuf;

/// One file.
pub(crate) struct Corpus {
    pub(crate) family: String,
    pub(crate) cases: Vec<Case>,
    path: PathBuf,
    /// The lines before the first case.
    preamble: Vec<String>,
}

/// One case: its steps run on an empty keyspace.
pub(crate) struct Case {
    pub(crate) title: String,
    /// What moonkeep lacks for it.
    pub(crate) waits_for: Option<String>,
    pub(crate) steps: Vec<Step>,
}

/// One line that does something, with the replies recorded below it.
pub(crate) struct Step {
    pub(crate) line: usize,
    /// The line as it stands, after the comments above it.
    pub(crate) head: String,
    pub(crate) kind: StepKind,
    pub(crate) replies: Vec<String>,
    comments: Vec<String>,
}

pub(crate) enum StepKind {
    Call(String, Vec<Vec<u8>>),
    Send(String, Vec<Vec<u8>>),
    Receive(String),
    Advance(i64),
}

impl Corpus {
    /// All files, in the order of their names.
    pub(crate) fn all() -> Vec<Corpus> {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
        let only = std::env::var("MOONKEEP_CORPUS").ok();
        let entries = fs::read_dir(&folder).expect("tests/corpus exists");
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
        paths.retain(|path| path.extension().is_some_and(|ext| ext == "txt"));
        paths.retain(|path| {
            only.as_deref().is_none_or(|only| path.file_stem().is_some_and(|stem| stem == only))
        });
        paths.sort();
        paths.into_iter().map(Corpus::load).collect()
    }

    fn load(path: PathBuf) -> Corpus {
        let text = fs::read_to_string(&path).expect("a readable corpus file");
        let family = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let mut corpus = Corpus { family, cases: Vec::new(), path, preamble: Vec::new() };
        let mut comments = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let problem = corpus.take(at + 1, line, &mut comments);
            assert!(problem.is_ok(), "{}:{}: {}", corpus.path.display(), at + 1, problem.unwrap_err());
        }
        corpus
    }

    fn take(&mut self, number: usize, line: &str, comments: &mut Vec<String>) -> Result<(), String> {
        if let Some(title) = line.strip_prefix("== ") {
            self.cases.push(Case { title: title.into(), waits_for: None, steps: Vec::new() });
            return Ok(());
        }
        let Some(case) = self.cases.last_mut() else {
            self.preamble.push(line.into());
            return Ok(());
        };
        if let Some(what) = line.strip_prefix("waits for ") {
            case.waits_for = Some(what.into());
        } else if line.starts_with("# ") {
            comments.push(line.into());
        } else if let Some(kind) = step_kind(line)? {
            let comments = std::mem::take(comments);
            case.steps.push(Step { line: number, head: line.into(), kind, replies: Vec::new(), comments });
        } else if !line.is_empty() {
            let step = case.steps.last_mut().ok_or("a reply without a command")?;
            step.replies.push(line.into());
        }
        Ok(())
    }

    /// Writes the file with the replies it now holds.
    pub(crate) fn save(&self) {
        let mut lines = self.preamble.clone();
        for (at, case) in self.cases.iter().enumerate() {
            if at > 0 {
                lines.push(String::new());
            }
            lines.push(format!("== {}", case.title));
            lines.extend(case.waits_for.iter().map(|what| format!("waits for {what}")));
            for step in &case.steps {
                lines.extend(step.comments.iter().cloned());
                lines.push(step.head.clone());
                lines.extend(step.replies.iter().cloned());
            }
        }
        fs::write(&self.path, lines.join("\n") + "\n").expect("a writable corpus file");
    }
}

fn step_kind(line: &str) -> Result<Option<StepKind>, String> {
    if let Some(time) = line.strip_prefix("advance ") {
        let ms = time.strip_suffix(" ms").and_then(|ms| ms.parse().ok()).ok_or("advance N ms")?;
        return Ok(Some(StepKind::Advance(ms)));
    }
    let end = line.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    let name = if name.is_empty() { MAIN } else { name };
    if let Some(words) = rest.strip_prefix(">> ") {
        return Ok(Some(StepKind::Send(name.into(), words::split(words)?)));
    }
    if let Some(words) = rest.strip_prefix("> ") {
        return Ok(Some(StepKind::Call(name.into(), words::split(words)?)));
    }
    Ok((rest == "<").then(|| StepKind::Receive(name.into())))
}

/// Whether a reply is what a recorded line says.
pub(crate) fn holds(expected: &str, reply: &Wire) -> bool {
    match expected.split_once(' ') {
        Some(("?", pattern)) => matches(pattern.as_bytes(), reply.to_string().as_bytes()),
        Some(("unordered", text)) => reply.sorted().to_string() == text,
        Some(("pairs", text)) => reply.sorted_pairs().to_string() == text,
        _ => reply.to_string() == expected,
    }
}

/// The line to record for a reply, in the manner of the line recorded before.
pub(crate) fn recorded(old: Option<&str>, step: &Step, reply: &Wire) -> String {
    match old.and_then(|old| old.split_once(' ')) {
        Some(("?", _)) if old.is_some_and(|old| holds(old, reply)) => old.unwrap_or_default().into(),
        Some(("unordered", _)) => format!("unordered {}", reply.sorted()),
        Some(("pairs", _)) => format!("pairs {}", reply.sorted_pairs()),
        _ if reply.is_error() || old.is_some() => reply.to_string(),
        _ => match unordered(step) {
            Some("pairs") => format!("pairs {}", reply.sorted_pairs()),
            Some(word) => format!("{word} {}", reply.sorted()),
            None => reply.to_string(),
        },
    }
}

/// How to record a command that is new in a file and whose order the server does not define.
fn unordered(step: &Step) -> Option<&'static str> {
    let StepKind::Call(_, argv) = &step.kind else { return None };
    let name = String::from_utf8_lossy(argv.first()?).to_ascii_uppercase();
    match name.as_str() {
        "SMEMBERS" | "SUNION" | "SDIFF" | "SINTER" | "KEYS" => Some("unordered"),
        _ => None,
    }
}

/// A pattern with `*` for any text.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut seen) = (0, 0);
    // Where the last star stands, and how much of the text was left to it.
    let mut star = None;
    while seen < text.len() {
        if pattern.get(at) == Some(&b'*') {
            star = Some((at, seen));
            at += 1;
        } else if pattern.get(at) == Some(&text[seen]) {
            (at, seen) = (at + 1, seen + 1);
        } else if let Some((star_at, from)) = star {
            star = Some((star_at, from + 1));
            (at, seen) = (star_at + 1, from + 1);
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(|&byte| byte == b'*')
}
