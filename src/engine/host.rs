//! What commands ask of the engine beyond one session: to read all of the state back from an image of it. The requests
//! are in `command::host`, the image in `rdb`.

use super::Core;
use super::rdb::{Loading, Overdue, save};
use crate::command::host::HostCall;
use crate::error::Failure;
use crate::reply::Reply;
use crate::store::SessionId;

impl Core {
    pub(super) fn host(&mut self, id: SessionId, call: HostCall, out: &mut Reply) -> Result<(), Failure> {
        match call {
            HostCall::Sync { has_offsets } => {
                let image = save(&self.state, Overdue::Keep);
                self.state.follow(id, &image, has_offsets);
                return Ok(());
            }
            HostCall::Reload { save, flush, merge } => self.reload(save, flush, merge)?,
            HostCall::LoadAof => self.load_aof()?,
        }
        out.ok();
        Ok(())
    }
    fn reload(&mut self, saves: bool, flush: bool, merge: bool) -> Result<(), Failure> {
        if saves {
            self.image = Some(save(&self.state, Overdue::Pass).into());
        }
        let mut fresh = self.state.detached();
        if flush {
            fresh.forget_data();
        }
        let Some(image) = self.image.clone() else {
            self.take_data(fresh);
            return Err(Failure::CANNOT_RELOAD);
        };
        let loading = Loading { merge, overdue: Overdue::Pass };
        self.load_into(&mut fresh, &image, loading).map_err(|_| Failure::CANNOT_RELOAD)?;
        self.take_data(fresh);
        Ok(())
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
