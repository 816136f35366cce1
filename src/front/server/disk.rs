//! Files on a disk, for engines that are to keep some: a new one takes the place of the old one once it is whole.

use crate::engine::Files;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// The directories of this machine, see [`Builder::files`](crate::Builder::files).
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

impl Files for Disk {
    fn write(&self, directory: &str, name: &str, content: &[u8]) -> Result<(), String> {
        write_whole(&Path::new(directory).join(name), content).map_err(|error| error.to_string())
    }
    fn read(&self, directory: &str, name: &str) -> Result<Vec<u8>, String> {
        fs::read(Path::new(directory).join(name)).map_err(|error| error.to_string())
    }
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
