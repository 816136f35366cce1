//! The users of an engine as a text: what a server keeps in its ACL file. Who they are and what each may do is in
//! `command::users`, the command in `commands::acl`.

use super::{Core, Engine};
use crate::error::{Error, Failure};

impl Engine {
    /// All users as a server's ACL file holds them: a line for each, passwords as their SHA-256.
    ///
    /// # Errors
    /// As [`try_client`](Self::try_client).
    pub fn save_users(&self) -> Result<Vec<u8>, Error> {
        let core = self.shared.lock()?;
        Ok(core.state.users.to_file(core.state.table))
    }
    /// Users in place of those there are: all of the text, or nothing when something in it is wrong. Clients that are
    /// another user than the default one are ended, and the default user is as in a new engine unless the text has it.
    ///
    /// ```
    /// let engine = moonkeep::Engine::new();
    /// engine.load_users(b"user alice on >secret ~orders:* +@read\n")?;
    /// let mut client = engine.client();
    /// client.call(["AUTH", "alice", "secret"])?;
    /// let refused = client.call(["SET", "orders:1", "x"]).unwrap_err();
    /// assert_eq!(refused.to_string(), "NOPERM this user has no permissions to run the 'set' command");
    /// # Ok::<(), moonkeep::Error>(())
    /// ```
    ///
    /// # Errors
    /// What is wrong with the text, in the words of ACL LOAD; else as [`try_client`](Self::try_client).
    pub fn load_users(&self, text: &[u8]) -> Result<(), Error> {
        let mut core = self.shared.lock()?;
        core.state.load_users("users", text)?;
        core.serve();
        Ok(())
    }
}

impl Core {
    /// ACL LOAD, from the file that the parameter `aclfile` names.
    pub(super) fn load_users(&mut self) -> Result<(), Failure> {
        let files = self.state.files.clone().ok_or(Failure::NO_FILES)?;
        let (directory, name) = (self.state.config.text("dir"), self.state.config.text("aclfile"));
        let text = files.read(&directory, &name);
        let text = text.map_err(|why| Failure::acl_file_unreadable(&name, &why))?;
        self.state.load_users(&name, &text)
    }
    /// ACL SAVE.
    pub(super) fn save_users(&mut self) -> Result<(), Failure> {
        let files = self.state.files.clone().ok_or(Failure::NO_FILES)?;
        let (directory, name) = (self.state.config.text("dir"), self.state.config.text("aclfile"));
        let text = self.state.users.to_file(self.state.table);
        files.write(&directory, &name, &text).map_err(|_| Failure::ACL_FILE_NOT_WRITTEN)
    }
}
