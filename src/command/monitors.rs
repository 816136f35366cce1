//! MONITOR: who is shown each command that runs, and the line that they read of it. A command is shown once it has run, a
//! script before the commands that it calls; what may be seen of its words is in `observe`, the command in
//! `commands::monitor`.

use super::client_info::address;
use super::observe::shown;
use super::session::{SCRIPT_SESSION, Session};
use super::spec::{ADMIN, SKIP_MONITOR};
use super::table::Row;
use super::{Argv, Ctx, State};
use crate::reply::Message;
use crate::store::SessionId;
use crate::util::bytes::Bytes;
use crate::util::words::quote;

impl State {
    /// A session is shown all that runs from now on.
    pub(crate) fn begin_to_monitor(&mut self, id: SessionId) {
        let session = self.sessions.get_mut(id);
        session.monitors = true;
        // What listens is looked at as those are that listen to channels.
        session.inbox();
        self.monitors.push(id);
        self.attend();
    }
    /// A session is shown nothing more.
    pub(crate) fn end_monitoring(&mut self, id: SessionId) {
        if std::mem::take(&mut self.sessions.get_mut(id).monitors) {
            self.monitors.retain(|other| *other != id);
            self.attend();
        }
    }
    /// Shows a command that has run, unless it is one of those that are not shown, or was shown already.
    pub(super) fn show(&mut self, id: SessionId, row: &Row, argv: Argv<'_>, at_us: i64) {
        if row.spec.flags & (SKIP_MONITOR | ADMIN) == 0 {
            self.show_to_monitors(id, row, argv, at_us);
        }
    }
    #[cold]
    fn show_to_monitors(&mut self, id: SessionId, row: &Row, argv: Argv<'_>, at_us: i64) {
        let line = Bytes::from(line(self.sessions.get(id), id, &shown(row, argv), at_us));
        for monitor in self.monitors.clone() {
            let resp = self.sessions.get(monitor).resp;
            self.send_message_behind(monitor, Message::monitored(line.clone(), resp));
        }
    }
}

impl Ctx<'_> {
    /// The session is shown what runs.
    pub(crate) fn is_monitor(&self) -> bool {
        self.session().monitors
    }
    /// Shows the running command now, before what it does is shown.
    pub(crate) fn show_now(&mut self, argv: Argv<'_>) {
        if !self.state.monitors.is_empty()
            && let Ok(row) = self.state.table.resolve(argv)
        {
            self.state.show_to_monitors(self.id, row, argv, self.state.store.now_us());
        }
    }
}

/// As in `1339518083.107412 [0 127.0.0.1:60866] "keys" "*"`.
fn line(session: &Session, id: SessionId, words: &[&[u8]], at_us: i64) -> Vec<u8> {
    let (seconds, us) = (at_us.div_euclid(1_000_000), at_us.rem_euclid(1_000_000));
    let from = match &session.peer {
        _ if id == SCRIPT_SESSION => "lua".to_owned(),
        Some(peer) if peer.is_unix => format!("unix:{}", peer.address.trim_end_matches(":0")),
        _ => address(session),
    };
    let mut line = format!("{seconds}.{us:06} [{} {from}]", session.db);
    for word in words {
        line.push(' ');
        line.push_str(&quote(word));
    }
    line.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::super::session::Peer;
    use super::*;

    #[test]
    fn a_line_tells_when_where_and_what() {
        let words: [&[u8]; 3] = [b"set", b"a \"\\b", b"\x00\xff\r\n\x07"];
        let came_from = |address: &str, is_unix| {
            let peer = Peer { address: address.into(), is_unix, ..Peer::default() };
            Session { db: 9, client_id: 3, peer: Some(Box::new(peer)), ..Session::default() }
        };
        let shown = |session: &Session, id| {
            String::from_utf8_lossy(&line(session, id, &words, 1_000_002)).into_owned()
        };
        let rest = r#""set" "a \"\\b" "\x00\xff\r\n\a""#;
        assert_eq!(shown(&came_from("127.0.0.1:6", false), 1), format!("1.000002 [9 127.0.0.1:6] {rest}"));
        assert_eq!(shown(&came_from("/tmp/s:0", true), 1), format!("1.000002 [9 unix:/tmp/s] {rest}"));
        let inside = Session { client_id: 7, ..Session::default() };
        assert_eq!(shown(&inside, 1), format!("1.000002 [0 local:7] {rest}"));
        assert_eq!(shown(&inside, SCRIPT_SESSION), format!("1.000002 [0 lua] {rest}"));
    }
}
