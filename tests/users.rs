//! Users in an engine in process: who its clients are, what becomes of users in forks and restored engines, and what
//! follows from the seed.

use moonkeep::{Engine, Error, Script};

fn users(engine: &Engine) -> Result<Vec<String>, Error> {
    engine.client().query(["ACL", "USERS"])
}

#[test]
fn clients_in_process_authenticate_as_others_do() -> Result<(), Error> {
    let engine = Engine::new();
    let mut first = engine.client();
    assert_eq!(first.query::<String, _>(["ACL", "WHOAMI"])?, "default");
    first.call(["CONFIG", "SET", "requirepass", "secret"])?;
    assert_eq!(first.query::<String, _>(["PING"])?, "PONG", "it was let in before");
    let mut second = engine.client();
    let refused = second.call(["GET", "k"]).unwrap_err();
    assert_eq!(refused.to_string(), "NOAUTH Authentication required.");
    second.call(["AUTH", "secret"])?;
    assert_eq!(second.query::<Option<String>, _>(["GET", "k"])?, None);
    Ok(())
}

#[test]
fn users_go_with_a_fork_and_stay_in_a_restore() -> Result<(), Error> {
    let engine = Engine::new();
    let mut client = engine.client();
    let before = engine.snapshot()?;
    let hash = engine.state_hash()?;
    client.call(["ACL", "SETUSER", "alice", "on", ">x", "+@all", "~*"])?;
    client.call(["AUTH", "alice", "x"])?;
    client.call(["CONFIG", "SET", "requirepass", "secret"])?;
    assert_eq!(engine.state_hash()?, hash, "users are no data");

    let fork = engine.fork()?;
    let mut other = fork.client();
    assert_eq!(other.call(["PING"]).unwrap_err().code(), Some("NOAUTH"));
    other.call(["AUTH", "alice", "x"])?;
    other.call(["ACL", "DELUSER", "alice"])?;
    assert!(other.call(["PING"]).unwrap_err().is_closed());
    assert_eq!(client.query::<String, _>(["ACL", "WHOAMI"])?, "alice", "the fork has users of its own");

    engine.restore(&before)?;
    assert_eq!(client.query::<Vec<String>, _>(["ACL", "USERS"])?, ["alice", "default"]);
    assert_eq!(client.query::<(String, String), _>(["CONFIG", "GET", "requirepass"])?.1, "secret");
    assert_eq!(engine.client().call(["PING"]).unwrap_err().code(), Some("NOAUTH"));
    Ok(())
}

#[test]
fn generated_passwords_follow_from_the_seed() -> Result<(), Error> {
    let passwords = |seed| -> Result<Vec<String>, Error> {
        let mut client = Engine::builder().seed(seed).build().client();
        [
            &["ACL", "GENPASS"][..],
            &["ACL", "GENPASS", "1"],
            &["ACL", "GENPASS", "5"],
            &["ACL", "GENPASS", "4096"],
        ]
        .into_iter()
        .map(|words| client.query(words))
        .collect()
    };
    let first = passwords(1)?;
    assert_eq!(first, passwords(1)?);
    assert_ne!(first, passwords(2)?);
    assert_eq!(first.iter().map(String::len).collect::<Vec<_>>(), [64, 1, 2, 1024]);
    assert!(first.iter().all(|password| password.bytes().all(|byte| byte.is_ascii_hexdigit())));
    Ok(())
}

#[test]
fn commands_of_users_are_told_in_order_of_name() -> Result<(), Error> {
    let mut client = Engine::new().client();
    let of_transactions: Vec<String> = client.query(["ACL", "CAT", "transaction"])?;
    assert_eq!(of_transactions, ["discard", "exec", "multi", "unwatch", "watch"]);
    client.call(["ACL", "SETUSER", "alice", "+set", "+get", "+client|list", "+client|id"])?;
    let lines: Vec<String> = client.query(["ACL", "LIST"])?;
    assert_eq!(lines[0], "user alice off resetchannels -@all +client|id +client|list +get +set");
    Ok(())
}

#[test]
fn a_deleted_user_leaves_no_session_behind() -> Result<(), Error> {
    let engine = Engine::new();
    let (mut admin, mut alice, mut waiting) = (engine.client(), engine.client(), engine.client());
    admin.call(["ACL", "SETUSER", "alice", "on", "nopass", "+@all", "~*", "&*"])?;
    alice.call(["AUTH", "alice", "x"])?;
    alice.call(["MULTI"])?;
    alice.call(["SET", "k", "v"])?;
    waiting.call(["AUTH", "alice", "x"])?;
    let mut pending = waiting.start(["BLPOP", "queue", "0"])?;
    assert!(!pending.is_ready()?);
    assert_eq!(admin.query::<i64, _>(["ACL", "DELUSER", "alice", "nobody"])?, 1);
    assert!(alice.call(["EXEC"]).unwrap_err().is_closed());
    assert!(pending.reply().is_err_and(|error| error.is_closed()));
    admin.call(["RPUSH", "queue", "1"])?;
    assert_eq!(admin.query::<i64, _>(["LLEN", "queue"])?, 1);
    assert_eq!(users(&engine)?, ["default"]);
    Ok(())
}

#[test]
fn who_loses_a_channel_is_ended() -> Result<(), Error> {
    let engine = Engine::new();
    let (mut admin, mut alice) = (engine.client(), engine.client());
    admin.call(["ACL", "SETUSER", "alice", "on", "nopass", "+@all", "&news"])?;
    alice.call(["AUTH", "alice", "x"])?;
    alice.call(["SUBSCRIBE", "news"])?;
    admin.call(["PUBLISH", "news", "one"])?;
    admin.call(["ACL", "SETUSER", "alice", "resetchannels", "&sports"])?;
    assert_eq!(admin.query::<i64, _>(["PUBLISH", "news", "two"])?, 0);
    assert_eq!(alice.try_next_message()?.map(|message| message.payload().to_vec()), Some(b"one".to_vec()));
    assert!(alice.try_next_message().unwrap_err().is_closed());
    Ok(())
}

#[test]
fn a_journal_is_replayed_whatever_the_default_user_may() -> Result<(), Error> {
    let (source, copy) = (Engine::new(), Engine::new());
    let journal = source.subscribe_journal()?;
    source.client().call(["SET", "k", "v"])?;
    let mut admin = copy.client();
    admin.call(["ACL", "SETUSER", "alice", "on", "nopass", "+get", "~*"])?;
    admin.call(["ACL", "SETUSER", "default", "off", "-@all"])?;
    copy.replay(&journal.take()?)?;
    let mut alice = copy.client();
    alice.call(["AUTH", "alice", "x"])?;
    assert_eq!(alice.query::<String, _>(["GET", "k"])?, "v");
    Ok(())
}

#[test]
fn users_are_loaded_all_or_none() -> Result<(), Error> {
    let engine = Engine::new();
    let mut client = engine.client();
    client.call(["ACL", "SETUSER", "bob", "on", "nopass", "+@all"])?;
    client.call(["AUTH", "bob", "x"])?;
    let broken =
        b"user alice on +get\n\nuser alice off\nalice\nuser a\tb on\nuser carol +nosuch %x >p ~* ~a\n\
        user dave ( +get\n";
    assert_eq!(
        engine.load_users(broken).unwrap_err().to_string(),
        "ERR WARNING: Duplicate user 'alice' found on line 3. users:4 should start with user keyword followed by the \
         username. 'users:5: username 'a\tb' contains invalid characters. users:6: Error in applying operation '+nosuch': \
         Unknown command or category name in ACL. users:6: Syntax error. users:7: Unmatched parenthesis in selector \
         definition.WARNING: ACL errors detected, no change to the previously active ACL rules was performed"
    );
    assert_eq!(client.query::<Vec<String>, _>(["ACL", "USERS"])?, ["bob", "default"]);
    engine.load_users(
        b"user alice on #2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae ~a (+get ~b)\r\n",
    )?;
    assert!(client.call(["PING"]).unwrap_err().is_closed(), "all but the default user's clients are ended");
    let lines = "user alice on #2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae ~a resetchannels -@all \
                 (~b resetchannels -@all +get)\nuser default on nopass ~* &* +@all\n";
    assert_eq!(String::from_utf8_lossy(&engine.save_users()?), lines);
    engine.load_users(lines.as_bytes())?;
    assert_eq!(String::from_utf8_lossy(&engine.save_users()?), lines);
    Ok(())
}

/// Files that a test keeps in memory.
#[derive(Default)]
struct Kept(std::sync::Mutex<std::collections::BTreeMap<String, Vec<u8>>>);

impl moonkeep::Files for Kept {
    fn write(&self, _: &str, name: &str, content: &[u8]) -> Result<(), String> {
        if name.starts_with("lost") {
            return Err("No space left on device".to_owned());
        }
        self.0.lock().map_err(|error| error.to_string())?.insert(name.to_owned(), content.to_vec());
        Ok(())
    }
    fn read(&self, _: &str, name: &str) -> Result<Vec<u8>, String> {
        let files = self.0.lock().map_err(|error| error.to_string())?;
        files.get(name).cloned().ok_or_else(|| "No such file or directory".to_owned())
    }
}

#[test]
fn users_are_kept_in_a_file() -> Result<(), Error> {
    let files = std::sync::Arc::new(Kept::default());
    let engine = |name| -> Result<Engine, Error> {
        Ok(Engine::builder().setting("aclfile", name)?.files(files.clone()).build())
    };
    let first = engine("users.acl")?;
    let mut admin = first.client();
    assert_eq!(
        admin.call(["ACL", "LOAD"]).unwrap_err().to_string(),
        "ERR Error loading ACLs, opening file 'users.acl': No such file or directory"
    );
    admin.call(["ACL", "SETUSER", "eve", "on", ">x", "+get", "~*"])?;
    admin.call(["ACL", "SAVE"])?;
    admin.call(["ACL", "SETUSER", "mallory", "on"])?;
    let mut eve = first.client();
    eve.call(["AUTH", "eve", "x"])?;
    admin.call(["ACL", "LOAD"])?;
    assert!(eve.call(["GET", "k"]).unwrap_err().is_closed());
    assert_eq!(users(&first)?, ["default", "eve"]);

    let second = engine("users.acl")?;
    assert_eq!(users(&second)?, ["default"]);
    second.client().call(["ACL", "LOAD"])?;
    assert_eq!(users(&second)?, ["default", "eve"]);
    assert_eq!(
        engine("lost.acl")?.client().call(["ACL", "SAVE"]).unwrap_err().to_string(),
        "ERR There was an error trying to save the ACLs. Please check the server logs for more information"
    );
    Ok(())
}

#[test]
fn a_contract_tells_nothing_to_who_may_not_call_its_script() -> Result<(), Box<dyn std::error::Error>> {
    let take = Script::new(include_str!("../lua/decrease_stock.lua")).checked()?;
    let engine = Engine::new();
    let mut client = engine.client();
    client.call(["ACL", "SETUSER", "alice", "on", "nopass", "+@all", "~other:*"])?;
    client.call(["AUTH", "alice", "x"])?;
    let denied = "NOPERM this user has no permissions to access one of the keys used as arguments";
    let refused = take.key("stock").arg("02").run::<(i64, i64)>(&mut client).unwrap_err();
    assert_eq!(refused.to_string(), denied);
    assert_eq!(take.key("stock").arg("02").verdict(&mut client).unwrap_err().to_string(), denied);
    let refused = take.key("other:stock").arg("02").run::<(i64, i64)>(&mut client).unwrap_err();
    assert_eq!(refused.to_string(), "Quantity must be a positive bounded integer");
    Ok(())
}
