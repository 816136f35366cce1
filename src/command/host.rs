//! What a command asks of the engine beyond one session: to act on all of the state, or on the process around it; and
//! where files are.

use std::time::Duration;

/// Where an engine keeps files: it touches none itself. See [`Builder::files`](crate::Builder::files).
///
/// Called under the engine's lock, from the thread that called SAVE or another command that needs it.
pub trait Files: Send + Sync {
    /// Writes a file in this directory, in place of one of the same name: all of it, or nothing.
    ///
    /// # Errors
    /// Why it was not written.
    fn write(&self, directory: &str, name: &str, content: &[u8]) -> Result<(), String>;
    /// Reads a file.
    ///
    /// # Errors
    /// Why there is nothing.
    fn read(&self, directory: &str, name: &str) -> Result<Vec<u8>, String>;
    /// The whole path of a directory that is named from within another one: what CONFIG SET makes of the parameter `dir`.
    /// Unless a place knows better, each name is one.
    ///
    /// # Errors
    /// Why there is no such directory, in the words of the system: CONFIG SET answers them.
    fn directory(&self, from: &str, name: &str) -> Result<String, String> {
        let _ = from;
        Ok(name.to_owned())
    }
}

impl std::fmt::Debug for dyn Files {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Files")
    }
}

/// A request that the engine carries out once the handler has returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostCall {
    /// DEBUG RELOAD: write an image, forget all, read it back.
    Reload {
        /// An image is made first.
        save: bool,
        /// All keys and libraries go first.
        flush: bool,
        /// What is there already gives way to what is in the image.
        merge: bool,
    },
    /// SYNC and PSYNC: an image for the session, and from then on all that is written.
    Sync {
        /// It counts bytes: PSYNC.
        has_offsets: bool,
    },
    /// SAVE and BGSAVE: write an image to the file.
    Save {
        /// What is answered then.
        reply: &'static str,
    },
    /// ACL LOAD: the users of a file in place of those there are.
    LoadUsers,
    /// ACL SAVE: write all users to the file.
    SaveUsers,
    /// SHUTDOWN: let those who serve the engine end.
    Shutdown {
        /// An image is written first.
        saves: bool,
        /// It does not matter whether that succeeds.
        force: bool,
    },
    /// DEBUG LOADAOF: forget all and rebuild it from what was written.
    LoadAof,
}

/// What was saved last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Saving {
    /// When, in Unix seconds: LASTSAVE.
    pub saved_at_s: i64,
    /// The counter of changes then.
    pub saved_dirty: u64,
    /// How many images were written.
    pub saves: u64,
    /// The last one was written by BGSAVE.
    pub has_saved_aside: bool,
    /// Keys that the last image had and that were taken.
    pub load_taken: u64,
    /// Keys that the last image had and whose time was over.
    pub load_expired: u64,
    /// SHUTDOWN NOSAVE was called beside a script: what it was about is not saved at the end.
    pub is_given_up: bool,
    /// The last image could not be written.
    pub has_failed: bool,
    /// When it was last asked whether it is time to save, in Unix seconds.
    pub asked_at_s: i64,
}

/// What DEBUG has changed in how the engine works.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Debug {
    /// Keys whose time is over go only when a command meets them: SET-ACTIVE-EXPIRE 0.
    pub keeps_expired: bool,
    /// Scripts may call any command: SET-DISABLE-DENY-SCRIPTS 1.
    pub scripts_may_all: bool,
    /// The checksums of dumps are not looked at: SET-SKIP-CHECKSUM-VALIDATION 1.
    pub skips_checksums: bool,
    /// REPLYBUFFER: after how many milliseconds the use of reply buffers is measured anew, below zero for never.
    pub reply_peak_lasts_ms: Option<i64>,
    /// REPLYBUFFER RESIZING 0: reply buffers stay as large as they are.
    pub keeps_reply_buffers: bool,
    /// How long the running script has slept.
    pub slept: Duration,
    /// Others use the engine through a front: what would end the process is not done.
    pub is_served: bool,
}

/// After how many milliseconds the use of a reply buffer is measured anew.
const REPLY_PEAK_LASTS_MS: i64 = 5000;

impl Debug {
    /// After how many milliseconds the use of a reply buffer is measured anew; none for never.
    pub fn reply_peak_lasts(&self) -> Option<i64> {
        Some(self.reply_peak_lasts_ms.unwrap_or(REPLY_PEAK_LASTS_MS)).filter(|ms| *ms >= 0)
    }
}
