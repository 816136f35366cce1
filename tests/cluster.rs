//! A node of a cluster: what it answers about itself, and where commands go, held against a reference server that serves all
//! slots; and two nodes that know of each other.

use crate::support::moonkeep::Moonkeep;
use crate::support::server::clustered_server_or_skip;
use crate::support::target::{MAIN, Target, argv};
use crate::support::words;
use moonkeep::{Client, Engine, Reply};

/// What is asked of both; `@ID` stands for the identity of the node.
const PROGRAM: &str = include_str!("data/cluster_program.txt");

/// What differs from node to node: identities and ports.
fn masked(text: &str, id: &str, port: &str) -> String {
    let bus_port = port.parse::<u32>().map_or_else(|_| "0".to_owned(), |port| (port + 10_000).to_string());
    let text = text.replace(id, "@ID");
    let text = match text.split_once("\"id\"=>:").or_else(|| text.split_once("\"id\", :")) {
        Some((before, after)) => {
            before.to_owned() + after.trim_start_matches(|digit: char| digit.is_ascii_digit())
        }
        None => text,
    };
    text.replace(&bus_port, "BUS").replace(port, "PORT")
}

#[test]
fn a_node_answers_as_one_of_the_server() {
    let test = "a_node_answers_as_one_of_the_server";
    let Some((mut server, port)) = clustered_server_or_skip(test) else { return };
    let mut moonkeep = Moonkeep::of(|builder| {
        builder
            .setting("cluster-enabled", "yes")
            .and_then(|builder| builder.setting("port", "17001"))
            .expect("a node")
    });
    let mut problems = Vec::new();
    let id = |target: &mut dyn Target| {
        let id = target.call("(id)", &argv(&["CLUSTER", "MYID"]));
        String::from_utf8_lossy(id.bytes().unwrap_or_default()).into_owned()
    };
    for line in PROGRAM.lines().filter(|line| !line.is_empty() && !line.starts_with("//")) {
        let (our_id, their_id) = (id(&mut moonkeep), id(&mut server));
        let call = |target: &mut dyn Target, id: &str| {
            let words = words::split(&line.replace("@ID", id)).expect("words");
            target.call(MAIN, &words).to_string()
        };
        let ours = masked(&call(&mut moonkeep, &our_id), &our_id, "17001");
        let theirs = masked(&call(&mut server, &their_id), &their_id, &port.to_string());
        if ours != theirs {
            problems.push(format!("{line}\nserver   {theirs}\nmoonkeep {ours}"));
        }
    }
    assert!(problems.is_empty(), "{} differ:\n{}", problems.len(), problems.join("\n"));
}

fn text(client: &mut Client, line: &str) -> String {
    let mut reply = Reply::new();
    let words = words::split(line).expect("words");
    client.call_into(&words, &mut reply).expect("the engine answers");
    format!("{reply:?}")
}

/// Two nodes that share the slots, and know of each other.
pub(crate) fn two_nodes() -> [Engine; 2] {
    let id = |seed| {
        let node = Engine::builder().seed(seed).setting("cluster-enabled", "yes").expect("a node").build();
        node.client().query::<String, _>(["CLUSTER", "MYID"]).expect("an identity")
    };
    let node = |seed: u64, port: u16, other: (u64, u16), slots: std::ops::RangeInclusive<u16>| {
        let builder = Engine::builder().seed(seed).setting("cluster-enabled", "yes").expect("a node");
        let builder = builder.setting("port", &port.to_string()).expect("a port");
        let builder = builder.setting("cluster-announce-ip", "127.0.0.1").expect("an address");
        builder.cluster_node(&id(other.0), "127.0.0.1", other.1, slots).build()
    };
    [node(1, 7411, (2, 7412), 8192..=16383), node(2, 7412, (1, 7411), 0..=8191)]
}

#[test]
fn s5_two_queues_in_different_slots_are_not_moved_between() {
    let [one, two] = two_nodes();
    // {foo} is the second node's.
    for node in [&one, &two] {
        let crossing = text(&mut node.client(), "LMOVE q:{foo} q:{bar} RIGHT LEFT");
        assert_eq!(crossing, "-CROSSSLOT Keys in request don't hash to the same slot");
    }
    assert_eq!(text(&mut two.client(), "LMOVE q:{foo} proc:{foo} RIGHT LEFT"), "nil");
    assert_eq!(text(&mut two.client(), "RPUSH q:{foo} t1"), ":1");
    assert_eq!(text(&mut two.client(), "LMOVE q:{foo} proc:{foo} RIGHT LEFT"), "\"t1\"");
}

#[test]
fn a_slot_moves_from_one_node_to_the_other() {
    let [one, two] = two_nodes();
    let (mut one, mut two) = (one.client(), two.client());
    let ids =
        [&mut one, &mut two].map(|node| node.query::<String, _>(["CLUSTER", "MYID"]).expect("an identity"));
    assert_eq!(text(&mut one, "SET hello 1"), "+OK");
    assert_eq!(text(&mut two, "GET hello"), "-MOVED 866 127.0.0.1:7411");
    assert_eq!(text(&mut one, "GET foo"), "-MOVED 12182 127.0.0.1:7412");
    assert_eq!(text(&mut one, "MGET b bar"), "-CROSSSLOT Keys in request don't hash to the same slot");
    assert_eq!(text(&mut one, &format!("CLUSTER SETSLOT 866 MIGRATING {}", ids[1])), "+OK");
    assert_eq!(text(&mut two, &format!("CLUSTER SETSLOT 866 IMPORTING {}", ids[0])), "+OK");
    assert_eq!(text(&mut one, "GET hello"), "\"1\"");
    assert_eq!(text(&mut one, "GET {hello}x"), "-ASK 866 127.0.0.1:7412");
    let try_again = "-TRYAGAIN Multiple keys request during rehashing of slot";
    assert_eq!(text(&mut one, "MGET hello {hello}x"), try_again);
    assert_eq!(text(&mut two, "GET {hello}x"), "-MOVED 866 127.0.0.1:7411");
    assert_eq!(text(&mut two, "ASKING"), "+OK");
    assert_eq!(text(&mut two, "MGET hello {hello}x"), try_again);
    for _ in 0..2 {
        assert_eq!(text(&mut two, "ASKING"), "+OK");
        assert_eq!(text(&mut two, "SET {hello}x 2"), "+OK");
    }
    assert_eq!(text(&mut two, "GET {hello}x"), "-MOVED 866 127.0.0.1:7411");
    let refused =
        "-ERR Can't assign hashslot 866 to a different node while I still hold keys for this hash slot.";
    assert_eq!(text(&mut one, &format!("CLUSTER SETSLOT 866 NODE {}", ids[1])), refused);
    assert_eq!(text(&mut one, "DEL hello"), ":1");
    for node in [&mut one, &mut two] {
        assert_eq!(text(node, &format!("CLUSTER SETSLOT 866 NODE {}", ids[1])), "+OK");
    }
    assert_eq!(text(&mut two, "GET {hello}x"), "\"2\"");
    assert_eq!(text(&mut one, "GET {hello}x"), "-MOVED 866 127.0.0.1:7412");
    let nodes: String = one.query(["CLUSTER", "NODES"]).expect("nodes");
    assert!(nodes.contains("myself,master - 0 0 0 connected 0-865 867-8191\n"), "{nodes}");
    assert!(nodes.contains("127.0.0.1:7412@17412 master - 0 0 0 connected 866 8192-16383\n"), "{nodes}");
    assert_eq!(text(&mut one, &format!("CLUSTER FORGET {}", ids[1])), "+OK");
    assert_eq!(text(&mut one, "GET foo"), "-CLUSTERDOWN Hash slot not served");
    assert_eq!(text(&mut one, "GET b"), "-CLUSTERDOWN The cluster is down");
}

#[test]
fn who_waits_for_a_key_of_a_slot_that_goes_is_told_where() {
    let [one, _other] = two_nodes();
    let (mut client, mut waiting) = (one.client(), one.client());
    let other_id = one.client().query::<String, _>(["CLUSTER", "NODES"]).expect("nodes");
    let other_id =
        other_id.lines().find(|line| line.contains(":7412")).expect("another node")[..40].to_owned();
    let mut told = |waiting: &mut Client, change: &[String], end: &str| {
        let mut pending = waiting.start(["BLPOP", "hello", "0"]).expect("it waits");
        for line in change {
            assert_eq!(pending.reply().expect("no error"), None, "{line}");
            assert_eq!(text(&mut client, line), "+OK", "{line}");
        }
        let reply = pending.reply().expect("no error").expect("it is over");
        assert_eq!(format!("{reply:?}"), end);
    };
    let moves = format!("CLUSTER SETSLOT 866 NODE {other_id}");
    told(&mut waiting, &[moves], "-MOVED 866 127.0.0.1:7412");
    let imports = format!("CLUSTER SETSLOT 866 IMPORTING {other_id}");
    assert_eq!(text(&mut one.client(), &imports), "+OK");
    // A slot that is on its way here may be waited for; once it is not, its keys are elsewhere.
    let mut asking = one.client();
    assert_eq!(text(&mut asking, "ASKING"), "+OK");
    told(&mut asking, &["CLUSTER DELSLOTS 0".into()], "-CLUSTERDOWN The cluster is down");
    for line in
        ["CLUSTER ADDSLOTS 0", "CONFIG SET cluster-require-full-coverage no", "CLUSTER SETSLOT 866 STABLE"]
    {
        assert_eq!(text(&mut one.client(), line), "+OK", "{line}");
    }
    let mut unserved = one.client();
    let back = one.client().query::<String, _>(["CLUSTER", "MYID"]).expect("an identity");
    assert_eq!(text(&mut one.client(), &format!("CLUSTER SETSLOT 866 NODE {back}")), "+OK");
    told(
        &mut unserved,
        &["CLUSTER DELSLOTS 1".into(), "CLUSTER DELSLOTS 866".into()],
        "-CLUSTERDOWN Hash slot not served",
    );
    // A slot that is back at the end of the transaction was never away.
    let mut stays = one.client();
    for line in ["CLUSTER ADDSLOTS 1 866", "CONFIG SET cluster-require-full-coverage no"] {
        assert_eq!(text(&mut one.client(), line), "+OK", "{line}");
    }
    let mut pending = stays.start(["BLPOP", "hello", "0"]).expect("it waits");
    let mut client = one.client();
    for line in ["MULTI", "CLUSTER DELSLOTS 866", "CLUSTER ADDSLOTS 866"] {
        text(&mut client, line);
    }
    assert!(!text(&mut client, "EXEC").contains('-'));
    assert_eq!(pending.reply().expect("no error"), None);
    // WAIT waits for no key.
    let mut replicas = one.client();
    let mut pending = replicas.start(["WAIT", "1", "0"]).expect("it waits");
    assert_eq!(text(&mut one.client(), "CLUSTER DELSLOTS 2"), "+OK");
    assert_eq!(pending.reply().expect("no error"), None);
}

#[test]
fn readonly_is_a_flag_of_the_client() {
    let [one, _other] = two_nodes();
    let mut client = one.client();
    for (command, flags) in [
        ("READONLY", " flags=r "),
        ("READWRITE", " flags=N "),
        ("READONLY", " flags=r "),
        ("RESET", " flags=N "),
    ] {
        text(&mut client, command);
        let info: String = client.query(["CLIENT", "INFO"]).expect("a line");
        assert!(info.contains(flags), "{command}: {info}");
    }
}
