//! The examples: each prints exactly what it says that happens, and one runs on a server too.

#[path = "../examples/fenced_write.rs"]
mod fenced_write;
#[path = "../examples/lease_on_a_held_clock.rs"]
mod lease_on_a_held_clock;
#[path = "../examples/list_queue.rs"]
mod list_queue;
#[cfg(feature = "redis")]
#[path = "../examples/production_module.rs"]
mod production_module;
#[path = "../examples/pub_sub.rs"]
mod pub_sub;
#[path = "../examples/race_on_stock.rs"]
mod race_on_stock;
#[path = "../examples/stream_worker.rs"]
mod stream_worker;
#[path = "../examples/unit_tests.rs"]
mod unit_tests;
#[path = "../examples/watch_retry.rs"]
mod watch_retry;

use std::error::Error;
use std::io::Write;

fn printed(run: impl FnOnce(&mut dyn Write) -> Result<(), Box<dyn Error>>) -> String {
    let mut out = Vec::new();
    run(&mut out).expect("an example ends well");
    String::from_utf8(out).expect("text")
}

#[test]
fn unit_tests_hold_the_clock() {
    assert_eq!(
        printed(unit_tests::run),
        "\
four calls in one instant: [true, true, true, false]
another user is not held up: true
in the last instant of the minute: false
a millisecond later: true
changed since: ~ calls:alice string \"4\" -> \"1\" (expires in 60000 ms -> expires in 60000 ms)
changed since: - calls:bob string \"1\" (expires in 60000 ms)
back in the full minute: false
"
    );
}

#[test]
fn a_race_on_stock_loses_sales_until_a_script_decides() {
    assert_eq!(
        printed(race_on_stock::run),
        "\
two buyers, each reads 10 and writes one less:
  AABB: 8 left
  ABAB: 9 left, a sale is lost
  ABBA: 9 left, a sale is lost
  BAAB: 9 left, a sale is lost
  BABA: 9 left, a sale is lost
  BBAA: 8 left
one is left, and a script checks and subtracts in one:
  A: sold, 0 left
  B: sold out, 0 left
a stock that is not there is not zero: Stock is missing or invalid
"
    );
}

#[test]
fn a_lease_that_is_over_is_not_renewed_or_released() {
    assert_eq!(
        printed(lease_on_a_held_clock::run),
        "\
0.000 s  A has the lease for 5 s
1.000 s  B wants it: refused; now A is paused
5.001 s  B has it, for that of A is over
7.000 s  A goes on
7.000 s  A renews: false
7.000 s  A releases: false
7.000 s  B still holds it: true
7.000 s  B releases: true
"
    );
}

#[test]
fn a_write_with_an_older_number_is_refused() {
    assert_eq!(
        printed(fenced_write::run),
        "\
A is holder 41 and writes 9: Written
A is paused until its lease is over
B is holder 42 and writes 8: Written
A goes on and writes 9 once more: Stale { seen: 42 }
the stock is 8
"
    );
}

#[test]
fn a_queue_on_lists_gets_back_what_a_dead_worker_had() {
    assert_eq!(
        printed(list_queue::run),
        "\
w1 takes O41 and acknowledges it: true
w1 takes O42 and dies
30 s later w2 looks after it: 0 put back, w1 may live
a millisecond later: 1 put back
and once more: 0 put back
w2 takes O42 and acknowledges it: true
w2 takes O43 and acknowledges it: true
w1 was only slow, and acknowledges O42: false
done: O41 O42 O43
"
    );
}

#[test]
fn a_message_that_is_delivered_twice_has_one_effect() {
    assert_eq!(
        printed(stream_worker::run),
        "\
C1 gets 1000-0 with order O42
C1 commits its effect: true
C1 dies before XACK
C2 claims what has waited for 30 s: 0 messages
a millisecond later C2 gets 1000-0 with order O42
it was delivered 2 times
C2 commits its effect: false
the stock went from 10 to 9
0 messages are not acknowledged, 1 is kept in the stream
"
    );
}

#[test]
fn who_is_overtaken_tries_again_and_gives_up_in_the_end() {
    assert_eq!(
        printed(watch_retry::run),
        "\
nobody comes between: Some((1100, 1))
alice pays in 100 between reading and EXEC: Some((1320, 2))
alice pays in 1 each time, 3 times: None, and her balance is 1323
"
    );
}

#[test]
fn who_listens_in_time_hears_what_is_published() {
    assert_eq!(
        printed(pub_sub::run),
        "\
published before anybody listens, heard by 0
published, heard by 1
who comes later has 0 messages
cache hears on prices:p1: 120
cache hears on prices:p1: offer ends
cache hears on __keyevent@0__:expired: offer:p1
"
    );
}

#[cfg(feature = "redis")]
const TOUR: &str = "  O41 reserves 2: Yes { left: 1 }
  O41 reserves 2: Before
  O42 reserves 2: SoldOut { left: 1 }
  O43 reserves 1: Yes { left: 0 }
  price while on offer: (90, true)
";
#[cfg(feature = "redis")]
const LATER: &str = "  price a minute later: (90, true)
  and a millisecond after that: (120, false)
";

#[cfg(feature = "redis")]
#[test]
fn a_production_module_runs_in_process_and_on_a_server_unchanged() {
    let here = format!("in this process:\n{TOUR}{LATER}");
    assert_eq!(printed(|out| production_module::run(out, None)), here);
    let test = "a_production_module_runs_in_process_and_on_a_server_unchanged";
    let Some(server) = crate::support::server::server_or_skip(test) else { return };
    let address = format!("redis+unix://{}", server.socket().display());
    let both = printed(|out| production_module::run(out, Some(&address)));
    assert_eq!(both, format!("{here}on a server:\n{TOUR}"));
}
