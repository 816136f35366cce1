//! EXEC: the queued commands of a session, each through the same path, in one unit of work.

use super::Core;
use crate::command::Origin;
use crate::error::Failure;
use crate::reply::Reply;
use crate::store::SessionId;

impl Core {
    pub(super) fn exec(&mut self, id: SessionId, out: &mut Reply) -> Result<(), Failure> {
        let queue = self.state.sessions.get_mut(id).queue.take().unwrap_or_default();
        let broken = self.state.store.watch_is_broken(id);
        self.state.store.unwatch(id);
        if queue.spoiled {
            return Err(Failure::ExecAbort);
        }
        if broken {
            out.nil_array();
            return Ok(());
        }
        self.state.sessions.get_mut(id).running = Some(queue.commands.len());
        self.answer_in_exec(id, out, |_, out| out.array(queue.commands.len()));
        for words in &queue.commands {
            let argv: Vec<&[u8]> = words.iter().map(|word| &**word).collect();
            self.answer_in_exec(id, out, |core, out| core.run(id, Origin::Exec, &argv, out));
        }
        let session = self.state.sessions.get_mut(id);
        session.running = None;
        session.is_sifted = session.peer.is_some();
        Ok(())
    }
    /// A part of the reply. CLIENT REPLY holds from where it stands in a transaction, so that parts of the array are missing:
    /// a client that came through a socket gets it so.
    fn answer_in_exec(&mut self, id: SessionId, out: &mut Reply, answer: impl FnOnce(&mut Self, &mut Reply)) {
        let mark = out.mark();
        answer(self, out);
        let session = self.state.sessions.get(id);
        if !session.replies.are_sent() && session.peer.is_some() {
            out.keep_pushes_since(mark);
        }
    }
}
