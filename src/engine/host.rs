//! What commands ask of the engine beyond one session: to read all of the state back from an image of it, to write such an
//! image where the keeper of the engine wants it, to let fronts end. The requests are in `command::host`, the image in
//! `rdb`.

use super::rdb::{Loading, Overdue, save};
use super::{Core, Engine};
use crate::command::host::HostCall;
#[cfg(feature = "server")]
use crate::command::process::Process;
use crate::command::{Ctx, Origin};
use crate::error::{Error, Failure};
use crate::reply::Reply;
use crate::store::SessionId;
use std::sync::{Arc, Weak};

/// A front that can be told to end.
pub(crate) trait Stop: Send + Sync {
    /// It ends after what it is doing now.
    fn stop(&self);
}

impl Engine {
    /// The value of a parameter of the server, as CONFIG GET shows it; empty for a name that is none.
    ///
    /// # Errors
    /// When this thread is inside the engine, or the engine is poisoned.
    pub fn setting(&self, name: &str) -> Result<String, Error> {
        Ok(self.shared.lock()?.state.config.text(name))
    }
    /// Writes the file that [`Builder::files`](crate::Builder::files) keeps, as a server does that a signal ends: when the
    /// parameter `save` is set, and SHUTDOWN has not decided about it.
    ///
    /// # Errors
    /// When the file cannot be written; else as [`setting`](Self::setting).
    pub fn save_at_end(&self) -> Result<(), Error> {
        let mut core = self.shared.lock()?;
        if core.state.files.is_none()
            || core.has_shut_down
            || core.state.saving.is_given_up
            || core.state.config.save_points().is_empty()
        {
            return Ok(());
        }
        core.begin_unit();
        core.save().map_err(|_| Error::usage("the file cannot be written"))
    }
}

#[cfg(feature = "server")]
impl Engine {
    /// A front serves the engine for as long as it lives: SHUTDOWN ends it.
    pub(crate) fn add_front(&self, front: Weak<dyn Stop>, process: Arc<Process>) -> Result<(), Error> {
        let mut core = self.shared.lock()?;
        core.fronts.retain(|front| front.strong_count() > 0);
        core.fronts.push(front);
        core.state.debug.is_served = true;
        core.state.process = Some(process);
        Ok(())
    }
}

impl Core {
    pub(super) fn host(&mut self, id: SessionId, call: HostCall, out: &mut Reply) -> Result<(), Failure> {
        match call {
            HostCall::Sync { has_offsets } => {
                let image = save(&self.state, Overdue::Keep);
                self.state.follow(id, &image, has_offsets);
                return Ok(());
            }
            HostCall::Save { reply } => {
                self.save()?;
                self.state.saving.has_saved_aside |= reply != "OK";
                out.status(reply);
                return Ok(());
            }
            HostCall::LoadUsers => self.load_users()?,
            HostCall::SaveUsers => self.save_users()?,
            HostCall::Shutdown { saves, force } => return self.shut_down(id, saves, force),
            HostCall::Reload { save, flush, merge } => self.reload(save, flush, merge)?,
            HostCall::LoadAof => self.load_aof()?,
        }
        out.ok();
        Ok(())
    }
    /// Writes an image where files are.
    fn save(&mut self) -> Result<(), Failure> {
        let files = self.state.files.clone().ok_or(Failure::NO_FILES)?;
        let image = save(&self.state, Overdue::Keep);
        let config = &self.state.config;
        let written = files.write(&config.text("dir"), &config.text("dbfilename"), &image);
        self.state.saving.has_failed = written.is_err();
        written.map_err(|_| Failure::SAVE_FAILED)?;
        self.note_saved();
        Ok(())
    }
    fn note_saved(&mut self) {
        self.state.saving.saves += 1;
        self.state.saving.saved_at_s = self.state.store.now_ms().div_euclid(1000);
        self.state.saving.saved_dirty = self.state.store.dirty();
    }
    /// Saves when the setting says that it is time.
    pub(super) fn save_when_due(&mut self) {
        let changes = self.state.changes_since_save();
        if self.state.files.is_none() || changes == 0 {
            return;
        }
        let now_s = self.state.store.now_ms().div_euclid(1000);
        // Once a second is enough: that is what the setting counts in.
        if std::mem::replace(&mut self.state.saving.asked_at_s, now_s) == now_s {
            return;
        }
        let since_s = now_s - self.state.saving.saved_at_s;
        let is_due = |(seconds, least): (i64, u64)| changes >= least && since_s > seconds;
        if self.state.config.save_points().into_iter().any(is_due) {
            // A failure shows in INFO.
            let _ = self.save();
        }
    }
    fn shut_down(&mut self, id: SessionId, saves: bool, force: bool) -> Result<(), Failure> {
        let fronts: Vec<Arc<dyn Stop>> = self.fronts.iter().filter_map(Weak::upgrade).collect();
        if fronts.is_empty() {
            return Err(Failure::NOT_SERVED);
        }
        if saves && self.save().is_err() && !force {
            return Err(Failure::SHUTDOWN_FAILED);
        }
        self.has_shut_down = true;
        fronts.iter().for_each(|front| front.stop());
        Ctx::new(&mut self.state, id, Origin::Client).close_session(id);
        Ok(())
    }
    fn reload(&mut self, saves: bool, flush: bool, merge: bool) -> Result<(), Failure> {
        if saves && self.state.files.is_some() {
            self.save()?;
        } else if saves {
            self.image = Some(save(&self.state, Overdue::Keep).into());
            self.note_saved();
        }
        let mut fresh = self.state.detached();
        if flush {
            fresh.forget_data();
        }
        let Some(image) = self.saved_image() else {
            self.take_data(fresh);
            return Err(Failure::CANNOT_RELOAD);
        };
        let loading = Loading { merge, overdue: Overdue::Pass };
        self.load_into(&mut fresh, &image, loading).map_err(|_| Failure::CANNOT_RELOAD)?;
        self.take_data(fresh);
        Ok(())
    }
    /// What was saved last.
    fn saved_image(&self) -> Option<Arc<[u8]>> {
        let Some(files) = &self.state.files else { return self.image.clone() };
        let config = &self.state.config;
        files.read(&config.text("dir"), &config.text("dbfilename")).ok().map(Arc::from)
    }
    /// All keys as they are, also those whose time is over: nothing has written that they went.
    fn load_aof(&mut self) -> Result<(), Failure> {
        let image = save(&self.state, Overdue::Keep);
        let mut fresh = self.state.detached();
        fresh.forget_data();
        let loading = Loading { merge: false, overdue: Overdue::Keep };
        self.load_into(&mut fresh, &image, loading).map_err(|_| Failure::CANNOT_RELOAD)?;
        self.take_data(fresh);
        Ok(())
    }
}
