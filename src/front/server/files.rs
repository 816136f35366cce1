//! Where an engine that is served keeps files: on a disk, where a new one takes the place of the old one once it is whole, or
//! in memory, where they end with the process.

use crate::engine::Files;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The directories of this machine, see [`Builder::files`](crate::Builder::files).
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

impl Files for Disk {
    fn write(&self, directory: &str, name: &str, content: &[u8]) -> Result<(), String> {
        write_whole(&Path::new(directory).join(name), content).map_err(|error| system_text(&error))
    }
    fn read(&self, directory: &str, name: &str) -> Result<Vec<u8>, String> {
        fs::read(Path::new(directory).join(name)).map_err(|error| system_text(&error))
    }
    /// The directory must be there. Links are followed.
    fn directory(&self, from: &str, name: &str) -> Result<String, String> {
        whole_path(from, name).map_err(|error| system_text(&error))
    }
}

/// Files in memory, which are gone with the engine: SAVE, BGSAVE and ACL SAVE work as on a disk and leave nothing behind.
/// The directories are those of this machine; nothing is written there.
///
/// ```
/// use std::sync::Arc;
/// let engine = moonkeep::Engine::builder().files(Arc::new(moonkeep::server::InMemory::default())).build();
/// let mut client = engine.client();
/// assert_eq!(client.query::<String, _>(["BGSAVE"])?, "Background saving started");
/// # Ok::<(), moonkeep::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct InMemory {
    files: Mutex<BTreeMap<PathBuf, Vec<u8>>>,
}

impl Files for InMemory {
    fn write(&self, directory: &str, name: &str, content: &[u8]) -> Result<(), String> {
        // As on a disk, a file needs a name.
        if name.is_empty() {
            return Err("Is a directory".to_owned());
        }
        self.files.lock().insert(Path::new(directory).join(name), content.to_vec());
        Ok(())
    }
    fn read(&self, directory: &str, name: &str) -> Result<Vec<u8>, String> {
        let path = Path::new(directory).join(name);
        self.files.lock().get(&path).cloned().ok_or_else(|| "No such file or directory".to_owned())
    }
    fn directory(&self, from: &str, name: &str) -> Result<String, String> {
        Disk.directory(from, name)
    }
}

fn whole_path(from: &str, name: &str) -> io::Result<String> {
    if name.is_empty() {
        return Err(io::Error::from_raw_os_error(NO_ENTRY));
    }
    // The dot at its end makes the system refuse what is no directory.
    let path = fs::canonicalize(Path::new(from).join(name).join("."))?;
    path.into_os_string().into_string().map_err(|_| io::Error::other("Its whole path is no text"))
}

/// ENOENT.
const NO_ENTRY: i32 = 2;

/// An error as the system words it, without the number that Rust adds.
fn system_text(error: &io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error").map_or(text.as_str(), |(text, _)| text).to_owned()
}

fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let unfinished = path.with_file_name(format!("temp-{}-{name}", std::process::id()));
    let written = File::create(&unfinished).and_then(|mut file| {
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(&unfinished, path)
    });
    if written.is_err() {
        // What is left of it is of no use to anybody.
        let _ = fs::remove_file(&unfinished);
    }
    written
}
