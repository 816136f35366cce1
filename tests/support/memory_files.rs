//! Files that are kept in memory, for engines that are to save.

use moonkeep::Files;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// A place for files that takes all or, when it is full, none.
#[derive(Default)]
pub(crate) struct MemoryFiles {
    files: Mutex<BTreeMap<String, Vec<u8>>>,
    pub(crate) is_full: std::sync::atomic::AtomicBool,
}

impl Files for MemoryFiles {
    fn write(&self, directory: &str, name: &str, content: &[u8]) -> Result<(), String> {
        if self.is_full.load(std::sync::atomic::Ordering::SeqCst) {
            return Err("no room".into());
        }
        self.files.lock().expect("no panic").insert(format!("{directory}|{name}"), content.to_vec());
        Ok(())
    }
    fn read(&self, directory: &str, name: &str) -> Result<Vec<u8>, String> {
        let files = self.files.lock().expect("no panic");
        files.get(&format!("{directory}|{name}")).cloned().ok_or_else(|| "no such file".into())
    }
}
