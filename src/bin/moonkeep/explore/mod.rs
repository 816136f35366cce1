//! `moonkeep explore`: a protocol written as a small text file is run under every schedule. Here: options, what is printed,
//! exit codes. `language` is what a file says, `parse` and `expression` read it, `check` looks for slips of the pen, `value` and
//! `play` run it, `html` draws a schedule.

mod check;
mod expression;
mod html;
mod language;
mod parse;
mod play;
mod value;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lexopt::Arg;
use moonkeep::sim::{Explore, Failure, Reduction, Report, Search};

use super::{Refusal, print};
use play::Play;

pub(super) const HELP: &str = "\
moonkeep explore: run a protocol of several clients under every schedule

Usage: moonkeep explore [OPTIONS] FILE

Prints the smallest schedule that breaks an invariant as a table, with a string that runs it again. FILE may be `-` for
standard input.

Options:
  --replay STRING     run exactly this schedule, and print it
  --html FILE         also write the schedule that is shown as a page, with a lane for each client
  --random RUNS       run so many schedules by chance instead of all
  --pct DEPTH,RUNS    so many by random priorities that change at DEPTH - 1 points
  --seed N            of what is by chance (default 0)
  --switches N        only schedules with at most so many forced switches
  --reduction KIND    what is left out of all: none, sleep-sets (default) or states
  --runs N            give up after so many schedules (default 10000000)
  --depth N           and go no further than so many steps (default 10000)
  --threads N         use so many threads (default: all cores)
  --twice             run each schedule twice, and refuse what is not the same again
  --progress          tell on standard error how far it is

Exit code: 0 every invariant holds in every schedule, 1 one is broken or a schedule met a mistake, 2 the file or an
option is wrong, 3 nothing was found but not all was tried: by chance, with a bound on switches, or up to a limit.

A file:
  setup SET stock 10                  # runs once, before the clients
  watch stock                         # keys that the table shows
  faults clock-jumps=1                # crashes lost-replies lost-requests restarts
  let unlock = file(\"unlock.lua\")     # a value for all of the file
  client A B                          # one client each; within, `client` is its name
      let got = SET lock $client NX PX 5000
      if got == nil
          note \"gives up\"
          stop
      end
      tally holders
      let stock = GET stock
      SET stock (stock - 1)
      EVAL $unlock 1 lock $client
  end
  invariant \"each holder counts\" at end: [GET stock] == 10 - tally(\"holders\")

A command begins with a capital letter; $NAME and (EXPRESSION) stand for values in it. Statements: let, if elif else
end, while end, break, stop, sleep MS, note, tally, fail. `let x = try COMMAND` keeps an error. Expressions: numbers,
texts, nil, or and not, == != < <= > >= .. + - * / %, int len item is_error is_lost now; in invariants [COMMAND],
tally, is_done, is_crashed, and `at each step`. nil, 0, \"0\" and \"\" are false. In double quotes there are the escapes
\\n \\r \\t \\xNN \\\" and \\\\.
";

struct Options {
    file: Option<PathBuf>,
    replay: Option<String>,
    html: Option<PathBuf>,
    sampled: Option<Sampled>,
    seed: u64,
    switches: Option<usize>,
    reduction: Reduction,
    runs: u64,
    depth: usize,
    threads: Option<usize>,
    twice: bool,
    progress: bool,
}

enum Sampled {
    Random(u64),
    Pct(usize, u64),
}

pub(super) fn run(parser: &mut lexopt::Parser) -> Result<ExitCode, Refusal> {
    let Some(options) = options(parser)? else {
        print(HELP.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    };
    let Some(file) = &options.file else {
        return Err(Refusal("which file? see `moonkeep explore --help`".into()));
    };
    let text = read(file)?;
    let wrong = |mistake: language::Mistake| Refusal(format!("{}:{mistake}", file.display()));
    let protocol = parse::parse(&text).map_err(wrong)?;
    check::check(&protocol).map_err(wrong)?;
    let play = Play::new(protocol, file.parent().unwrap_or(Path::new("."))).map_err(wrong)?;
    let explore = searched(play.explore(), &options);
    if let Some(schedule) = &options.replay {
        let failure = explore.replay(schedule)?;
        show(&options, file, "One schedule, run again.", &failure)?;
        return Ok(ExitCode::from(u8::from(failure.is_broken)));
    }
    let report = explore.run()?;
    let summary = summary(&report, &options);
    print(format!("{summary}\n").as_bytes())?;
    for (outcome, count) in report.outcomes() {
        print(
            format!("{count:>10}  {}\n", if outcome.is_empty() { "(nothing to tell)" } else { outcome })
                .as_bytes(),
        )?;
    }
    match report.failure() {
        Some(failure) => {
            print(b"\n")?;
            show(&options, file, &summary, failure)?;
            Ok(ExitCode::from(1))
        }
        None => {
            if let Some(path) = &options.html {
                print(format!("No schedule is shown: {} is not written.\n", path.display()).as_bytes())?;
            }
            Ok(ExitCode::from(if report.is_exhausted() { 0 } else { 3 }))
        }
    }
}

/// The text of a file, or of standard input.
fn read(file: &Path) -> Result<String, Refusal> {
    let read = match file.as_os_str().as_encoded_bytes() {
        b"-" => std::io::read_to_string(std::io::stdin()).map(String::into_bytes),
        _ => std::fs::read(file),
    };
    let bytes = read.map_err(|error| Refusal(format!("cannot read {}: {error}", file.display())))?;
    match String::from_utf8(bytes) {
        // Some editors begin a file with a mark of its encoding.
        Ok(text) => Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)),
        Err(error) => {
            let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
            Err(Refusal(format!("{}:{line}: what stands here is no UTF-8", file.display())))
        }
    }
}

fn summary(report: &Report, options: &Options) -> String {
    let whole = match options.switches {
        Some(most) if report.is_bound_exhausted() => format!("all with at most {most} forced switches"),
        _ if !report.is_exhausted() => "not all there are".into(),
        _ if options.reduction == Reduction::None => "all there are".into(),
        _ => "the others are like one of these".into(),
    };
    let failing = match report.failing() {
        0 => "none breaks an invariant".to_owned(),
        count => format!("{count} break an invariant"),
    };
    format!("{} schedules run and {} left out, {whole}: {failing}.", report.schedules(), report.pruned())
}

fn show(options: &Options, file: &Path, summary: &str, failure: &Failure) -> Result<(), Refusal> {
    print(format!("{failure}\n").as_bytes())?;
    let Some(path) = &options.html else { return Ok(()) };
    let title = file.file_name().unwrap_or_default().to_string_lossy();
    std::fs::write(path, html::page(&title, summary, failure))
        .map_err(|error| Refusal(format!("cannot write {}: {error}", path.display())))
}

fn searched<'a>(explore: Explore<'a>, options: &Options) -> Explore<'a> {
    let search = match (&options.sampled, options.switches) {
        (Some(Sampled::Random(runs)), _) => Search::Random { seed: options.seed, runs: *runs },
        (Some(Sampled::Pct(depth, runs)), _) => {
            Search::Pct { depth: *depth, runs: *runs, seed: options.seed }
        }
        (None, Some(switches)) => Search::Bounded { switches },
        (None, None) => Search::Exhaustive,
    };
    let mut explore = explore.search(search).reduction(options.reduction).limits(options.runs, options.depth);
    if let Some(threads) = options.threads {
        explore = explore.threads(threads);
    }
    if options.twice {
        explore = explore.twice();
    }
    if options.progress {
        explore = explore.progress(100_000, |progress| {
            tell!(
                "{} schedules run, {} left out, {} fail",
                progress.schedules,
                progress.pruned,
                progress.failing
            );
        });
    }
    explore
}

fn options(parser: &mut lexopt::Parser) -> Result<Option<Options>, Refusal> {
    let mut options = Options {
        file: None,
        replay: None,
        html: None,
        sampled: None,
        seed: 0,
        switches: None,
        reduction: Reduction::SleepSets,
        runs: 10_000_000,
        depth: 10_000,
        threads: None,
        twice: false,
        progress: false,
    };
    while let Some(arg) = parser.next()? {
        let name = match arg {
            Arg::Long("help") | Arg::Short('h') => return Ok(None),
            Arg::Long(name) => name.to_owned(),
            Arg::Short(name) => {
                return Err(Refusal(format!("invalid option '-{name}'; see `moonkeep explore --help`")));
            }
            Arg::Value(file) if options.file.is_none() => {
                options.file = Some(file.into());
                continue;
            }
            Arg::Value(more) => return Err(Refusal(format!("one file, not also {more:?}"))),
        };
        match name.as_str() {
            "twice" => options.twice = true,
            "progress" => options.progress = true,
            "html" => options.html = Some(parser.value()?.into()),
            name => set(&mut options, name, parser)?,
        }
    }
    match options.sampled {
        Some(Sampled::Random(0)) => Err(Refusal("--random takes a number of schedules from 1 on".into())),
        Some(Sampled::Pct(0, _) | Sampled::Pct(_, 0)) => {
            Err(Refusal("--pct takes a depth and a number of schedules, each from 1 on".into()))
        }
        Some(_) if options.switches.is_some() => {
            Err(Refusal("--switches is a bound of a search over all schedules, not of one by chance".into()))
        }
        _ => Ok(Some(options)),
    }
}

/// An option that has a value.
fn set(options: &mut Options, name: &str, parser: &mut lexopt::Parser) -> Result<(), Refusal> {
    let known = ["replay", "random", "pct", "seed", "switches", "reduction", "runs", "depth", "threads"];
    let is_by_chance = |name: &str| name == "random" || name == "pct";
    if is_by_chance(name) && options.sampled.is_some() {
        return Err(Refusal("--random and --pct: one of them, once".into()));
    }
    if !known.contains(&name) {
        return Err(Refusal(format!("invalid option '--{name}'; see `moonkeep explore --help`")));
    }
    let value = text(parser.value()?)?;
    match name {
        "replay" => options.replay = Some(value),
        "random" => options.sampled = Some(Sampled::Random(number(name, &value)?)),
        "pct" => {
            let Some((depth, runs)) = value.split_once(',') else {
                return Err(Refusal(format!("--pct takes DEPTH,RUNS, as 3,10000: not {value:?}")));
            };
            options.sampled = Some(Sampled::Pct(number(name, depth)?, number(name, runs)?));
        }
        "seed" => options.seed = number(name, &value)?,
        "switches" => options.switches = Some(number(name, &value)?),
        "runs" => options.runs = number(name, &value)?,
        "depth" => options.depth = number(name, &value)?,
        "threads" => options.threads = Some(number(name, &value)?),
        _ => {
            options.reduction = match value.as_str() {
                "none" => Reduction::None,
                "sleep-sets" => Reduction::SleepSets,
                "states" => Reduction::States,
                _ => {
                    return Err(Refusal(format!("--reduction is none, sleep-sets or states, not {value:?}")));
                }
            }
        }
    }
    Ok(())
}

fn text(value: OsString) -> Result<String, Refusal> {
    value.into_string().map_err(|value| Refusal(format!("{value:?} is no text")))
}

fn number<T: std::str::FromStr>(name: &str, value: &str) -> Result<T, Refusal> {
    value.parse().map_err(|_| Refusal(format!("--{name} takes a number, not {value:?}")))
}
