//! Files: what an engine saves and when, what is read back, and how a front ends.

use crate::support::memory_files::MemoryFiles;
use crate::support::served::Front;
use crate::support::server::fresh_folder;
use moonkeep::server::{Disk, InMemory, Listen};
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
    let refused = "-ERR this engine has no place for files: Builder::files gives it one, as moonkeep serve does; Engine::save_rdb gives the bytes";
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
fn files_in_memory_are_written_read_and_leave_nothing() {
    let folder = fresh_folder().expect("a folder");
    let directory = folder.to_string_lossy().into_owned();
    let builder = Engine::builder().setting("dir", &directory).expect("a folder");
    let builder =
        builder.setting("aclfile", "users.acl").expect("a file").files(Arc::new(InMemory::default()));
    let engine = builder.setting("enable-protected-configs", "yes").expect("a choice").build();
    let mut client = engine.client();
    assert_eq!(text(&mut client, "SET k v"), "+OK");
    let before = text(&mut client, "LASTSAVE");
    engine.advance(Duration::from_secs(1)).expect("a manual clock");
    assert_eq!(text(&mut client, "BGSAVE"), "+Background saving started");
    assert_ne!(text(&mut client, "LASTSAVE"), before);
    assert_eq!(text(&mut client, "ACL SETUSER alice on nopass"), "+OK");
    assert_eq!(text(&mut client, "ACL SAVE"), "+OK");
    for (change, check, reads, answer) in [
        ("SET k w", "GET k", "DEBUG RELOAD NOSAVE", "\"v\""),
        ("ACL DELUSER alice", "ACL DRYRUN alice PING", "ACL LOAD", "\"This user has no permissions"),
    ] {
        text(&mut client, change);
        assert_eq!(text(&mut client, reads), "+OK");
        assert!(text(&mut client, check).starts_with(answer), "{check}");
    }
    // A file without a name cannot be written, as on a disk.
    text(&mut client, "CONFIG SET dbfilename x");
    assert_eq!(text(&mut client, "SAVE"), "+OK");
    let no_name = client.call(["CONFIG", "SET", "dbfilename", ""]).map(|reply| format!("{reply:?}"));
    assert_eq!(no_name.expect("it is taken"), "+OK");
    assert_eq!(text(&mut client, "SAVE"), "-ERR");
    assert_eq!(std::fs::read_dir(&folder).expect("the folder").count(), 0);
    std::fs::remove_dir_all(&folder).expect("it goes");
}

#[test]
fn the_directory_of_files_must_be_there() {
    let folder = fresh_folder().expect("a folder");
    let whole = std::fs::canonicalize(&folder).expect("it is there").to_string_lossy().into_owned();
    std::fs::create_dir(folder.join("inner")).expect("it is made");
    std::fs::write(folder.join("file"), "").expect("it is written");
    let refused = |why| format!("-ERR CONFIG SET failed (possibly related to argument 'dir') - {why}");
    for files in [Arc::new(Disk) as Arc<dyn Files>, Arc::new(InMemory::default())] {
        let builder = Engine::builder().setting("dir", &whole).expect("a folder").files(files);
        let builder = builder.setting("enable-protected-configs", "yes").expect("a choice");
        let mut client = builder.build().client();
        for (directory, why) in [
            ("/no/such/folder", "No such file or directory"),
            ("nothing", "No such file or directory"),
            ("", "No such file or directory"),
            ("file", "Not a directory"),
            ("file/inner", "Not a directory"),
        ] {
            let mut reply = Reply::new();
            client.call_into(["CONFIG", "SET", "dir", directory], &mut reply).expect("it answers");
            assert_eq!(format!("{reply:?}"), refused(why), "{directory}");
        }
        let mut reply = Reply::new();
        client.call_into([&b"CONFIG"[..], b"SET", b"dir", b"\xff"], &mut reply).expect("it answers");
        assert_eq!(format!("{reply:?}"), refused("the name of a directory is UTF-8 text"));
        // With others it is all or nothing.
        assert_eq!(
            text(&mut client, "CONFIG SET maxmemory 5mb dir nothing"),
            refused("No such file or directory")
        );
        assert_eq!(text(&mut client, "CONFIG GET maxmemory"), r#"%{"maxmemory"=>"0"}"#);
        assert_eq!(text(&mut client, "CONFIG GET dir"), format!(r#"%{{"dir"=>"{whole}"}}"#));
        for (directory, path) in [("inner/", format!("{whole}/inner")), ("..", whole.clone())] {
            assert_eq!(text(&mut client, &format!("CONFIG SET dir {directory}")), "+OK");
            assert_eq!(text(&mut client, "CONFIG GET dir"), format!(r#"%{{"dir"=>"{path}"}}"#));
        }
    }
    std::fs::remove_dir_all(&folder).expect("it goes");
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
