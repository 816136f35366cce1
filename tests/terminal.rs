//! `moonkeep repl` on a terminal, a pseudo one: the prompt, tab, hints, open quotes, the keys that end things. Each step
//! waits for what it expects to see, however long that takes.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::{Child, Command};

/// When a terminal shows nothing for so long, nothing will come.
const SILENCE: Timespec = Timespec { tv_sec: 60, tv_nsec: 0 };

struct Terminal {
    master: File,
    child: Child,
    /// What was shown and not yet waited for.
    shown: String,
}

impl Terminal {
    fn run(words: &[&str]) -> Terminal {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo-terminal");
        grantpt(&master).and_then(|()| unlockpt(&master)).expect("its other side");
        let path = ptsname(&master, Vec::new()).expect("its name").into_string().expect("ASCII");
        let open = || OpenOptions::new().read(true).write(true).open(&path).expect("its other side opens");
        let child = Command::new(env!("CARGO_BIN_EXE_moonkeep"))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(words)
            .env("TERM", "xterm")
            .env_remove("NO_COLOR")
            .stdin(open())
            .stdout(open())
            .stderr(open())
            .spawn()
            .expect("the command starts");
        Terminal { master: master.into(), child, shown: String::new() }
    }
    fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).expect("the terminal takes keys");
    }
    /// Waits until this is shown.
    fn see(&mut self, text: &str) {
        while !self.shown.contains(text) {
            let ready =
                poll(&mut [PollFd::new(&self.master, PollFlags::IN)], Some(&SILENCE)).expect("a poll");
            assert!(ready > 0, "{text:?} is not shown, only {:?}", self.shown);
            let mut bytes = [0; 4096];
            let count = self
                .master
                .read(&mut bytes)
                .unwrap_or_else(|_| panic!("{text:?} is not shown, only {:?}", self.shown));
            self.shown.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
        let end = self.shown.find(text).map_or(0, |at| at + text.len());
        self.shown.drain(..end);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_prompt_completes_hints_and_shows_where_one_is() {
    let mut terminal = Terminal::run(&["repl", "--do", "SET stock:{p1} 10"]);
    terminal.see("moonkeep> ");
    terminal.press("GET ");
    terminal.see("moonkeep> GET \x1b[90mkey\x1b[0m");
    terminal.press("st\t");
    terminal.see("moonkeep> GET stock:{p1} ");
    terminal.press("\r");
    terminal.see("\r\n\"10\"\r\n");
    // What is typed between two prompts is lost.
    terminal.see("moonkeep> ");
    terminal.press("SELECT 1\r");
    terminal.see("moonkeep[1]> ");
    terminal.press("MULTI\r");
    terminal.see("moonkeep[1](TX)> ");
    terminal.press("DISCARD\r");
    terminal.see("moonkeep[1]> ");
    terminal.press("EVAL \"return\r40 + 2\" 0\r");
    terminal.see("(integer) 42\r\n");
    terminal.see("moonkeep[1]> ");
    terminal.press("SET k \x03");
    terminal.see("moonkeep[1]> ");
    terminal.press("GTE\r");
    terminal.see("moonkeep: did you mean GET?\r\n");
    terminal.see("moonkeep[1]> ");
    terminal.press(":prompt time\r");
    terminal.see("moonkeep 00:00:00.000[1]> ");
    terminal.press("\x04");
    assert_eq!(terminal.child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn the_history_is_kept_when_asked() {
    let path = format!("{}/history", env!("CARGO_TARGET_TMPDIR"));
    let _ = std::fs::remove_file(&path);
    let mut first = Terminal::run(&["repl", "--history", &path]);
    first.see("moonkeep> ");
    first.press("SET k kept\r");
    first.see("OK\r\n");
    first.see("moonkeep> ");
    first.press("quit\r");
    assert_eq!(first.child.wait().expect("it ends").code(), Some(0));
    let mut second = Terminal::run(&["repl", "--history", &path]);
    second.see("moonkeep> ");
    second.press("\x1b[A\x1b[A");
    second.see("SET k kept");
    second.press("\r");
    second.see("OK\r\n");
    second.see("moonkeep> ");
    second.press("\x04");
    assert_eq!(second.child.wait().expect("it ends").code(), Some(0));
    std::fs::remove_file(&path).expect("the history is there");
}
