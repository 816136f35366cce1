//! The calls that failed once, in a file beside the script: blocks of lines with a blank line between them, which are tried
//! before others and stay when they are repaired.

use crate::Refusal;
use moonkeep::{CheckReport, Input};
use std::path::{Path, PathBuf};

const HEAD: &str = "\
# Calls for which the script did not keep its word; moonkeep check tries them first. Keep this file with the script.
";

/// The calls of one file.
pub(super) struct Regressions {
    path: Option<PathBuf>,
    text: String,
    inputs: Vec<Input>,
}

impl Regressions {
    pub(super) fn none() -> Self {
        Regressions { path: None, text: String::new(), inputs: Vec::new() }
    }
    /// NAME.regressions beside NAME.lua, which need not be there.
    pub(super) fn beside(script: &Path) -> Result<Self, Refusal> {
        let path = script.with_extension("regressions");
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(Refusal(format!("cannot read {path:?}: {error}"))),
        };
        let mut inputs = Vec::new();
        for (line, block) in blocks(&text) {
            let input = block.parse::<Input>().map_err(|error| {
                let (line, told) = (line + error.line() - 1, error.to_string());
                let told = told.split_once(": ").map_or(told.as_str(), |(_, told)| told);
                Refusal(format!("{}:{line}: {told}", path.display()))
            })?;
            inputs.push(input);
        }
        Ok(Regressions { path: Some(path), text, inputs })
    }
    pub(super) fn inputs(&self) -> Vec<Input> {
        self.inputs.clone()
    }
    /// Adds what failed and is not there yet.
    pub(super) fn keep(&mut self, report: &CheckReport) -> Result<(), Refusal> {
        let Some(path) = &self.path else { return Ok(()) };
        let new = report.failures().iter().filter(|failure| !self.inputs.contains(failure.input()));
        let new: Vec<String> = new
            .map(|failure| {
                let told = failure.told().replace('\n', " ");
                format!("\n# {}: {told}\n{}\n", failure.rule(), failure.input())
            })
            .collect();
        if new.is_empty() {
            return Ok(());
        }
        let head = if self.text.is_empty() { HEAD } else { "" };
        let text = format!("{}{head}{}", self.text, new.concat());
        replace(path, &text).map_err(|error| Refusal(format!("cannot write {path:?}: {error}")))
    }
}

/// Puts a text into a file, whole or not at all: what stands there is worth more than what is added.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    // A link is followed: the file that it names is the one to keep.
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let new = path.with_extension(format!("regressions.{}", std::process::id()));
    let written = std::fs::write(&new, text).and_then(|()| std::fs::rename(&new, &path));
    if written.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    written
}

/// The blocks of a text that hold more than remarks, each with the line at which it begins.
fn blocks(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut is_open = false;
    for (line, number) in text.lines().zip(1..) {
        if line.trim().is_empty() {
            is_open = false;
        } else {
            match found.last_mut().filter(|_| is_open) {
                Some((_, block)) => *block += &format!("{line}\n"),
                None => found.push((number, format!("{line}\n"))),
            }
            is_open = true;
        }
    }
    found.retain(|(_, block)| block.lines().any(|line| !line.trim_start().starts_with('#')));
    found
}
