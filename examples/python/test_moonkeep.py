"""Unit tests that hold the clock, and tests of the wrapper itself: python3 examples/python/test_moonkeep.py"""

import threading
import unittest

import moonkeep


class Lease(unittest.TestCase):
    """What a test of your own code looks like: an engine for each test, and nobody sleeps."""

    def setUp(self):
        self.engine = moonkeep.Engine()
        self.client = self.engine.client()
        self.client.call("SET", "lease", "me", "NX", "PX", 5000)

    def test_holds_to_its_last_millisecond(self):
        self.engine.advance_ms(5000)
        self.assertEqual(self.client.call("GET", "lease"), b"me")
        self.engine.advance_ms(1)
        self.assertIsNone(self.client.call("GET", "lease"))

    def test_goes_on_from_a_fork_in_two_ways(self):
        other = self.engine.fork()
        other.advance_ms(10_000)
        self.assertEqual(other.client().call("EXISTS", "lease"), 0)
        self.assertEqual(self.client.call("EXISTS", "lease"), 1)

    def test_is_told_as_it_was_written(self):
        journal = self.engine.journal()
        self.client.call("PEXPIRE", "lease", 1000)
        self.engine.advance_ms(1001)
        words = [words for _, _, _, words in journal]
        self.assertEqual(words, [[b"PEXPIREAT", b"lease", b"1704067201000"], [b"DEL", b"lease"]])

    def test_is_back_after_a_restore(self):
        before = self.engine.snapshot()
        hash_before = self.engine.state_hash()
        self.client.call("DEL", "lease")
        self.assertEqual(before.diff(self.engine.snapshot()), ['- lease string "me" (expires in 5000 ms)'])
        self.engine.restore(before)
        self.assertEqual(self.engine.state_hash(), hash_before)


class Wrapper(unittest.TestCase):
    def setUp(self):
        self.engine = moonkeep.Engine(seed=7)
        self.client = self.engine.client()

    def test_a_client_keeps_its_engine(self):
        self.assertEqual(moonkeep.Engine().client().call("PING"), "PONG")

    def test_a_call_that_waits_is_given_up(self):
        self.client.start("BLPOP", "queue", 0)
        self.assertEqual(self.client.poll(), (False, None))
        self.client.cancel()
        self.assertEqual(self.client.call("PING"), "PONG")

    def test_arrays_stand_in_sets_and_as_keys_as_tuples(self):
        self.client.call("HELLO", 3)
        self.assertIn(b"get", [command[0] for command in self.client.call("COMMAND", "INFO", "get")])

    def test_replies_are_values(self):
        for source, value in (
            ("return {1, 'two', false, {ok = 'fine'}}", [1, b"two", None, "fine"]),
            ("redis.setresp(3) return {double = 0.5}", 0.5),
            ("redis.setresp(3) return {map = {a = true}}", {b"a": True}),
            ("return {set = {x = true}}", frozenset([b"x"])),
            ("return {big_number = '123'}", 123),
        ):
            self.assertEqual(self.client.call("EVAL", source, 0), value)
        self.client.call("SET", b"\0k", b"a\0b")
        self.assertEqual(self.client.call("GET", b"\0k"), b"a\0b")

    def test_errors_are_told_apart(self):
        with self.assertRaisesRegex(moonkeep.ErrorReply, "^ERR unknown command 'NOSUCH'"):
            self.client.call("NOSUCH")
        with self.assertRaises(moonkeep.Failure) as caught:
            self.client.call()
        self.assertEqual(caught.exception.code, moonkeep.ERR_USAGE)
        with self.assertRaises(moonkeep.Failure) as caught:
            self.client.call("BLPOP", "queue", 0)
        self.assertEqual(caught.exception.code, moonkeep.ERR_WOULD_BLOCK)

    def test_waiting_and_messages_are_polled(self):
        other = self.engine.client()
        self.client.start("BLPOP", "queue", 0)
        self.assertEqual(self.client.poll(), (False, None))
        other.call("RPUSH", "queue", "job")
        self.assertEqual(self.client.poll(), (True, [b"queue", b"job"]))
        self.client.call("SUBSCRIBE", "news")
        self.assertIsNone(self.client.next_message())
        other.call("PUBLISH", "news", "hello")
        self.assertEqual(self.client.next_message(), [b"message", b"news", b"hello"])

    def test_a_freed_engine_refuses(self):
        self.engine.close()
        with self.assertRaises(moonkeep.Failure) as caught:
            self.client.call("PING")
        self.assertEqual(caught.exception.code, moonkeep.ERR_CLOSED)

    def test_threads_share_an_engine(self):
        script = moonkeep.Script("return redis.call('INCR', KEYS[1])")

        def work():
            with self.engine.client() as client:
                for _ in range(200):
                    script.run(client, ["n"])

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.client.call("GET", "n"), b"400")


if __name__ == "__main__":
    unittest.main()
