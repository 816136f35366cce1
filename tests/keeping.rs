//! Files: what an engine saves and when, what is read back, and how a front ends.

use crate::support::memory_files::MemoryFiles;
use crate::support::served::Front;
use crate::support::server::fresh_folder;
use moonkeep::server::{Disk, Listen};
use moonkeep::{Client, Engine, Files, Reply};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

fn text(client: &mut Client, line: &str) -> String {
    let mut reply = Reply::new();
    client.call_into(line.split(' ').collect::<Vec<_>>(), &mut reply).expect("the engine answers");
    format!("{reply:?}")
}

fn kept(files: &impl Files, directory: &str) -> Engine {
    let engine = Engine::new();
    engine.load_rdb(&files.read(directory, "dump.rdb").expect("it was saved")).expect("it loads");
    engine
}

#[test]
fn an_engine_without_a_place_for_files_says_so() {
    let mut client = Engine::new().client();
    let refused = "-ERR this engine has no place for files: Builder::files gives it one, as moonkeep serve --dir does; Engine::save_rdb gives the bytes";
    for command in ["SAVE", "BGSAVE", "BGSAVE SCHEDULE"] {
        assert_eq!(text(&mut client, command), refused);
    }
    let not_served = "-ERR SHUTDOWN is not supported by an engine that no front serves: drop it";
    assert_eq!(text(&mut client, "SHUTDOWN"), not_served);
    assert_eq!(text(&mut client, "SHUTDOWN NOSAVE NOW FORCE"), not_served);
}

#[test]
fn a_file_on_the_disk_is_whole_and_is_loaded_again() {
    let folder = fresh_folder().expect("a folder");
    let directory = folder.to_string_lossy().into_owned();
    let engine =
        Engine::builder().setting("dir", &directory).expect("a folder").files(Arc::new(Disk)).build();
    let mut client = engine.client();
    text(&mut client, "SET k v");
    assert_eq!(text(&mut client, "BGSAVE"), "+Background saving started");
    assert_eq!(text(&mut kept(&Disk, &directory).client(), "GET k"), "\"v\"");
    text(&mut client, "SET k w");
    assert_eq!(text(&mut client, "DEBUG RELOAD NOSAVE"), "+OK");
    assert_eq!(text(&mut client, "GET k"), "\"v\"");
    let names: Vec<String> = std::fs::read_dir(&folder)
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names, ["dump.rdb"]);
    std::fs::remove_dir_all(&folder).expect("it goes");
    assert_eq!(text(&mut client, "SAVE"), "-ERR");
}

#[test]
fn an_engine_saves_by_itself_when_it_is_told_to() {
    let files = Arc::new(MemoryFiles::default());
    let builder = Engine::builder().setting("save", "10 2 100 1").expect("save points");
    let engine = builder.files(files.clone()).build();
    let mut client = engine.client();
    text(&mut client, "SET a 1");
    engine.advance(Duration::from_secs(11)).expect("a manual clock");
    assert!(files.read("/", "dump.rdb").is_err());
    text(&mut client, "SET b 1");
    engine.advance(Duration::from_secs(1)).expect("a manual clock");
    assert_eq!(text(&mut kept(&*files, "/").client(), "DBSIZE"), ":2");
    let saved_at = text(&mut client, "LASTSAVE");
    engine.advance(Duration::from_secs(200)).expect("a manual clock");
    assert_eq!(text(&mut client, "LASTSAVE"), saved_at);
    text(&mut client, "SET c 1");
    files.is_full.store(true, Ordering::SeqCst);
    engine.advance(Duration::from_secs(1)).expect("a manual clock");
    assert_eq!(text(&mut client, "LASTSAVE"), saved_at);
    assert_eq!(text(&mut client, "SAVE"), "-ERR");
    files.is_full.store(false, Ordering::SeqCst);
    engine.advance(Duration::from_secs(1)).expect("a manual clock");
    assert_eq!(text(&mut kept(&*files, "/").client(), "DBSIZE"), ":3");
}

#[test]
fn shutdown_ends_the_front_and_saves_when_asked() {
    for (command, is_saved) in [("SHUTDOWN", false), ("SHUTDOWN SAVE", true), ("SHUTDOWN NOSAVE", false)] {
        let files = Arc::new(MemoryFiles::default());
        let engine = Engine::builder().files(files.clone()).build();
        let mut front = Front::new(&engine, Listen::default());
        let mut client = engine.client();
        text(&mut client, "SET k v");
        front.when_it_serves();
        assert_eq!(text(&mut client, command), "");
        assert!(client.call(["PING"]).expect_err("it has ended").is_closed());
        front.ended().expect("it ends well");
        assert_eq!(files.read("/", "dump.rdb").is_ok(), is_saved, "{command}");
    }
}

#[test]
fn a_shutdown_that_cannot_save_is_refused_unless_forced() {
    let files = Arc::new(MemoryFiles::default());
    let engine = Engine::builder().setting("save", "1 1").expect("a save point").files(files.clone()).build();
    let mut front = Front::new(&engine, Listen::default());
    front.when_it_serves();
    let mut client = engine.client();
    text(&mut client, "SET k v");
    files.is_full.store(true, Ordering::SeqCst);
    assert_eq!(text(&mut client, "SHUTDOWN"), "-ERR Errors trying to SHUTDOWN. Check logs.");
    assert_eq!(text(&mut client, "PING"), "+PONG");
    assert_eq!(text(&mut client, "SHUTDOWN FORCE"), "");
    front.ended().expect("it ends well");
}
