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
        out.array(queue.commands.len());
        for words in &queue.commands {
            let argv: Vec<&[u8]> = words.iter().map(|word| &**word).collect();
            self.run(id, Origin::Exec, &argv, out);
        }
        self.state.sessions.get_mut(id).running = None;
        Ok(())
    }
}
