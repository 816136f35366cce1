//! What `eval --coverage` and `--profile` note of the scripts that run, and how they show it: a file of lcov or HTML,
//! a table of lines, JSON.

use crate::json::Json;
use crate::scripts::Source;
use crate::{Refusal, harmless};
use moonkeep::{Builder, Coverage, Engine, LineCoverage, ScriptCoverage};
use std::path::PathBuf;

/// What is to be noted, and where it goes.
#[derive(Default)]
pub(crate) struct Noting {
    coverage: Coverage,
    file: Option<(PathBuf, Format)>,
    pub(crate) profile: bool,
}

#[derive(Clone, Copy)]
enum Format {
    Lcov,
    Html,
}

impl Noting {
    /// The file that coverage is written to; its extension says in which form.
    pub(crate) fn cover(&mut self, path: PathBuf) -> Result<(), Refusal> {
        if self.file.is_some() {
            return Err(Refusal("--coverage was given already; it writes one file".into()));
        }
        let format = match path.extension().and_then(|extension| extension.to_str()) {
            Some("info" | "lcov") => Format::Lcov,
            Some("html") => Format::Html,
            _ => {
                return Err(Refusal(format!(
                    "--coverage {}: the name ends in .info or .lcov for lcov, or in .html for a page",
                    path.display()
                )));
            }
        };
        self.file = Some((path, format));
        Ok(())
    }

    pub(crate) fn is_on(&self) -> bool {
        self.profile || self.file.is_some()
    }

    /// The engine, which notes what was asked for.
    pub(crate) fn build(&mut self, builder: Builder) -> Engine {
        if !self.is_on() {
            return builder.build();
        }
        if self.profile {
            self.coverage = Coverage::with_instructions();
        }
        builder.coverage(&self.coverage).build()
    }

    /// What the script with this text is called.
    pub(crate) fn name(&self, text: &[u8], source: &Source) {
        if self.is_on() {
            self.coverage.name_script(text, source.name());
        }
    }

    /// The scripts that ran, when a profile was asked for.
    pub(crate) fn profile(&self) -> Option<Vec<ScriptCoverage>> {
        self.profile.then(|| self.coverage.scripts())
    }

    /// Writes the file, and tells which lines did not run.
    pub(crate) fn write(&self) -> Result<(), Refusal> {
        let Some((path, format)) = &self.file else { return Ok(()) };
        let text = match format {
            Format::Lcov => self.coverage.lcov(),
            Format::Html => self.coverage.html(),
        };
        std::fs::write(path, text)
            .map_err(|error| Refusal(format!("cannot write {}: {error}", path.display())))?;
        for script in self.coverage.scripts() {
            let (covered, all) = script.covered();
            let missed = match ranges(&script.missed()) {
                none if none.is_empty() => String::new(),
                ranges => format!("; not run: {ranges}"),
            };
            tell!("coverage: {}: {covered} of {all} lines{missed}", script.name);
        }
        Ok(())
    }
}

/// Numbers in order, with those that follow each other as one: `3, 5-7`.
fn ranges(numbers: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => parts.push((number, number)),
        }
    }
    let shown = |&(first, last): &(u32, u32)| match last - first {
        0 => first.to_string(),
        _ => format!("{first}-{last}"),
    };
    parts.iter().map(shown).collect::<Vec<_>>().join(", ")
}

fn total(script: &ScriptCoverage, count: fn(&LineCoverage) -> u64) -> u64 {
    script.lines.iter().map(count).sum()
}

/// For people: each line that can run with its counts, `.` for none.
pub(crate) fn table(scripts: &[ScriptCoverage]) -> String {
    let mut text = String::new();
    for script in scripts {
        let (instructions, calls) =
            (total(script, |line| line.instructions), total(script, |line| line.calls));
        let plural = |count: u64, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
        let (instructions, calls) = (plural(instructions, "instruction"), plural(calls, "call"));
        text.push_str(&format!("profile: {}: {instructions}, {calls}\n", script.name));
        text.push_str("    hits  instructions  calls   line  source\n");
        let lines = script.source_lines();
        for line in &script.lines {
            let shown = |count: u64| if count == 0 { ".".to_owned() } else { count.to_string() };
            let source = lines.get(line.line as usize - 1).map_or("", |source| source.trim_end());
            let source = harmless(&source.replace('\t', "    "));
            text.push_str(&format!(
                "{:>8}  {:>12}  {:>5}  {:>5}  {source}\n",
                shown(line.hits),
                shown(line.instructions),
                shown(line.calls),
                line.line
            ));
        }
    }
    text
}

/// For programs.
pub(crate) fn json(scripts: &[ScriptCoverage]) -> Json {
    let int = |count: u64| Json::Int(i64::try_from(count).unwrap_or(i64::MAX));
    let line = |line: &LineCoverage| {
        Json::Object(vec![
            ("line", int(line.line.into())),
            ("hits", int(line.hits)),
            ("instructions", int(line.instructions)),
            ("calls", int(line.calls)),
        ])
    };
    let script = |script: &ScriptCoverage| {
        Json::Object(vec![
            ("script", Json::text(script.name.as_bytes())),
            ("sha", Json::text(script.sha.as_bytes())),
            ("lines", Json::List(script.lines.iter().map(line).collect())),
        ])
    };
    Json::List(scripts.iter().map(script).collect())
}
