"""A tour of all families of commands with redis-py: `python tour.py ADDRESS 2|3`, ADDRESS a unix socket or host:port.

It flushes the server. Each value is asserted exactly; the first that differs ends it with a traceback. What no client
of this language shows is in the corpus.
"""

import sys
import threading

import redis
from redis.exceptions import NoScriptError, ResponseError, WatchError

FAR_MS = 4102444800000  # 2100-01-01
checks = 0


def same(got, want):
    global checks
    checks += 1
    assert got == want, f"check {checks}: got {got!r}, not {want!r}"


def fails(call, kind, text):
    try:
        got = call()
    except kind as error:
        same(str(error), text)
    else:
        raise AssertionError(f"no {kind.__name__}: {got!r}")


def connect(address, protocol, **options):
    options.setdefault("decode_responses", True)
    if "/" in address:
        return redis.Redis(unix_socket_path=address, protocol=protocol, **options)
    host, port = address.rsplit(":", 1)
    return redis.Redis(host=host, port=int(port), protocol=protocol, **options)


def strings(r):
    same(r.set("s", "one", nx=True), True)
    same(r.set("s", "two", nx=True), None)
    same(r.set("s", "two", get=True), "one")
    same(r.append("s", "-three"), 9)
    same(r.getrange("s", 4, -1), "three")
    same(r.setrange("s", 0, "TWO"), 9)
    same(r.strlen("s"), 9)
    same(r.mset({"a": "1", "b": "2"}), True)
    same(r.msetnx({"b": "3", "c": "4"}), False)
    same(r.mget("a", "s", "none"), ["1", "TWO-three", None])
    same((r.incr("a"), r.decrby("a", 5), r.incrbyfloat("b", "0.5")), (2, -3, 2.5))
    same(r.getdel("a"), "-3")
    same(r.getex("b", pxat=FAR_MS), "2.5")
    same(r.pexpiretime("b"), FAR_MS)
    same(r.lcs("s", "b", len=True), 0)
    fails(lambda: r.incr("s"), ResponseError, "value is not an integer or out of range")
    binary = bytes(range(256))
    r.set("binary", binary)
    same(r.strlen("binary"), 256)
    same(r.object("encoding", "binary"), "raw")


def keys(r):
    r.flushdb()
    r.mset({f"key:{n}": n for n in range(100)})
    same(sorted(r.scan_iter("key:*", count=7)), sorted(f"key:{n}" for n in range(100)))
    same(r.rename("key:0", "renamed"), True)
    same(r.copy("renamed", "copied"), True)
    same((r.exists("renamed", "copied", "key:0"), r.unlink("copied", "none")), (2, 1))
    same((r.pexpireat("renamed", FAR_MS), r.persist("renamed"), r.ttl("renamed")), (True, True, -1))
    same((r.type("renamed"), r.object("encoding", "renamed")), ("string", "int"))
    dump = connect(ADDRESS, PROTOCOL, decode_responses=False).dump("renamed")
    same(r.restore("restored", 0, dump), "OK")
    fails(lambda: r.restore("restored", 0, dump), ResponseError, "BUSYKEY Target key name already exists.")
    same(r.get("restored"), "0")
    same(r.move("restored", 1), True)
    same(sorted(r.keys("re*")), ["renamed"])
    same(r.swapdb(0, 1), True)
    same((r.dbsize(), r.flushall()), (1, True))
    r.rpush("unsorted", 3, 1, 2)
    r.mset({"weight_1": 30, "weight_2": 20, "weight_3": 10})
    same(r.sort("unsorted", desc=True), ["3", "2", "1"])
    same(r.sort("unsorted", by="weight_*", get=["#", "weight_*"], groups=True), [("3", "10"), ("2", "20"), ("1", "30")])


def hashes(r):
    same(r.hset("h", mapping={"f": "1", "g": "2"}), 2)
    same(r.hgetall("h"), {"f": "1", "g": "2"})
    same((r.hincrby("h", "f", 4), r.hincrbyfloat("h", "g", 0.25)), (5, 2.25))
    same((r.hsetnx("h", "f", "9"), r.hdel("h", "g", "none"), r.hexists("h", "g")), (False, 1, False))
    same(r.hmget("h", "f", "none"), ["5", None])
    same((r.hkeys("h"), r.hvals("h"), r.hlen("h"), r.hstrlen("h", "f")), (["f"], ["5"], 1, 1))
    same(r.hrandfield("h", -2, withvalues=True), [["f", "5"]] * 2 if PROTOCOL == 3 else ["f", "5", "f", "5"])
    r.hset("large", mapping={f"field:{n}": n for n in range(1000)})
    same(len(dict(r.hscan_iter("large", count=50))), 1000)
    same(r.object("encoding", "large"), "hashtable")
    fails(lambda: r.hget("s", "f"), ResponseError, "WRONGTYPE Operation against a key holding the wrong kind of value")


def lists(r):
    same((r.rpush("l", "a", "b", "c"), r.lpush("l", "z")), (3, 4))
    same(r.lrange("l", 0, -1), ["z", "a", "b", "c"])
    same((r.linsert("l", "before", "b", "x"), r.lpos("l", "x"), r.lset("l", 0, "y")), (5, 2, True))
    same((r.lrem("l", 1, "x"), r.ltrim("l", 1, -1), r.lindex("l", -1)), (1, True, "c"))
    same(r.lmove("l", "other", "LEFT", "RIGHT"), "a")
    same((r.lpop("l", 2), r.rpop("l"), r.llen("other")), (["b", "c"], None, 1))
    same(r.lmpop(2, "l", "other", direction="LEFT"), ["other", ["a"]])
    same(r.blpop("l", timeout=0.05), None)
    waits = connect(ADDRESS, PROTOCOL)
    got = []
    thread = threading.Thread(target=lambda: got.append(waits.blpop(["l", "other"], timeout=20)))
    thread.start()
    while not r.info("clients")["blocked_clients"]:
        pass
    same(r.rpush("other", "job", "rest"), 2)
    thread.join()
    same(got, [["other", "job"]] if PROTOCOL == 3 else [("other", "job")])
    same(r.lrange("other", 0, -1), ["rest"])


def sets(r):
    same((r.sadd("s1", "a", "b", "c"), r.sadd("s2", "b", "c", "d")), (3, 3))
    same(sorted(r.sinter("s1", "s2")), ["b", "c"])
    same((r.sintercard(2, ["s1", "s2"]), r.sunionstore("u", "s1", "s2")), (2, 4))
    same((set(r.sdiff("s1", "s2")), r.smismember("s1", ["a", "d"])), ({"a"}, [1, 0]))
    same((bool(r.smove("s1", "s2", "a")), r.scard("s1"), r.srem("s2", "a")), (True, 2, 1))
    same(set(r.sscan_iter("s1")), {"b", "c"})
    r.sadd("numbers", *range(10))
    same((r.object("encoding", "numbers"), set(r.smembers("numbers"))), ("intset", {str(n) for n in range(10)}))
    same(r.spop("numbers") is not None and r.scard("numbers"), 9)


def sorted_sets(r):
    same(r.zadd("z", {"a": 1, "b": 2.5, "c": 3}), 3)
    same(r.zadd("z", {"a": 5}, gt=True, ch=True), 1)
    same((r.zscore("z", "a"), r.zincrby("z", -1.5, "a"), r.zrank("z", "b"), r.zrevrank("z", "none")), (5.0, 3.5, 0, None))
    pairs = r.zrange("z", 0, -1, withscores=True)
    same([tuple(pair) for pair in pairs], [("b", 2.5), ("c", 3.0), ("a", 3.5)])
    same(r.zrange("z", "(2.5", "+inf", byscore=True, offset=0, num=1), ["c"])
    same(r.zadd("lex", {"a": 0, "b": 0, "c": 0}), 3)
    same((r.zrangebylex("lex", "[b", "+"), r.zlexcount("lex", "-", "(c")), (["b", "c"], 2))
    same((r.zunionstore("sum", {"z": 2, "lex": 1}), r.zscore("sum", "b")), (3, 5.0))
    same((r.zinter(["z", "lex"]), r.zdiff(["z", "sum"]), r.zintercard(2, ["z", "lex"])), (["b", "c", "a"], [], 3))
    same(r.zpopmin("z"), ["b", 2.5] if PROTOCOL == 3 else [("b", 2.5)])
    same(r.zmscore("z", ["a", "none"]), [3.5, None])
    same((r.zremrangebyscore("z", 3.2, "inf"), r.zcount("z", "-inf", "+inf")), (1, 1))
    same(r.zadd("z", {"inf": "inf"}), 1)
    same(r.zscore("z", "inf"), float("inf"))
    popped = r.bzpopmax("z", timeout=1)
    same(list(popped), ["z", "inf", float("inf")])


def streams(r):
    same(r.xadd("st", {"f": "1"}, id="1-1"), "1-1")
    same(r.xadd("st", {"f": "2", "g": "3"}, id="2-0"), "2-0")
    same(r.xrange("st"), [("1-1", {"f": "1"}), ("2-0", {"f": "2", "g": "3"})])
    same(r.xgroup_create("st", "workers", id="0"), True)
    fails(lambda: r.xgroup_create("st", "workers"), ResponseError, "BUSYGROUP Consumer Group name already exists")
    first = [("1-1", {"f": "1"})]
    read = r.xreadgroup("workers", "alice", {"st": ">"}, count=1)
    same(list(read.items()) if isinstance(read, dict) else read, [("st", [first])] if PROTOCOL == 3 else [["st", first]])
    pending = r.xpending_range("st", "workers", "-", "+", 10)
    same([(p["message_id"], p["consumer"], p["times_delivered"]) for p in pending], [("1-1", "alice", 1)])
    same(r.xclaim("st", "workers", "bob", 0, ["1-1"]), first)
    same(r.xautoclaim("st", "workers", "carol", 0), ["0-0", first, []])
    same((r.xack("st", "workers", "1-1"), r.xlen("st"), r.xtrim("st", maxlen=1, approximate=False)), (1, 2, 1))
    info = r.xinfo_groups("st")[0]
    same((info["name"], info["pending"], info["consumers"]), ("workers", 0, 3))
    same(r.xread({"st": "$"}, block=10), {} if PROTOCOL == 3 else [])
    fails(lambda: r.xadd("st", {"f": "1"}, id="1-1"), ResponseError,
          "The ID specified in XADD is equal or smaller than the target stream top item")


def others(r):
    same(r.geoadd("geo", (13.361389, 38.115556, "Palermo", 15.087269, 37.502669, "Catania")), 2)
    same(r.geodist("geo", "Palermo", "Catania", unit="km"), 166.2742)
    same(r.geosearch("geo", longitude=15, latitude=37, radius=200, unit="km", sort="ASC"), ["Catania", "Palermo"])
    same((r.geohash("geo", "Palermo"), r.pfadd("hll", "a", "b", "c", "a"), r.pfcount("hll")), (["sqc8b49rny0"], 1, 3))
    same((r.pfmerge("merged", "hll"), r.pfcount("merged")), (True, 3))
    same((r.setbit("bits", 7, 1), r.bitcount("bits"), r.bitpos("bits", 1), r.getbit("bits", 7)), (0, 1, 7, 1))
    same((r.bitop("NOT", "not", "bits"), r.bitcount("not")), (1, 7))
    same(r.bitfield("bits").set("u8", 0, 255).incrby("u8", 0, 1).get("u8", 0).execute(), [1, 0, 0])
    same(r.bitfield_ro("bits", "u8", 0), [0])


def scripts(r):
    r.script_flush()
    same(r.eval("return {KEYS[1], ARGV[1], 3.9, false, {ok='fine'}}", 1, "k", "v"), ["k", "v", 3, None, "fine"])
    source = "redis.call('SET', KEYS[1], ARGV[1]) return redis.call('INCRBY', KEYS[1], 2)"
    script = r.register_script(source)
    fails(lambda: r.evalsha(script.sha, 1, "n", 40), NoScriptError, "No matching script. Please use EVAL.")
    same(script(keys=["n"], args=[40]), 42)
    same((r.evalsha(script.sha, 1, "n", 1), r.script_exists(script.sha, "0" * 40)), (3, [True, False]))
    fails(lambda: r.eval("return redis.error_reply('MINE of my own')", 0), ResponseError, "MINE of my own")
    fails(lambda: r.eval_ro("return redis.call('SET', KEYS[1], 1)", 1, "n"), ResponseError,
          "Write commands are not allowed from read-only scripts. script: "
          "897afd4d23ee70efe0ede1685c1c94834429da77, on @user_script:1.")
    library = """#!lua name=tour
redis.register_function('add', function(keys, args) return redis.call('INCRBY', keys[1], args[1]) end)
redis.register_function{function_name='peek', callback=function(keys) return redis.call('GET', keys[1]) end,
                        flags={'no-writes'}}"""
    same(r.function_load(library, replace=True), "tour")
    same((r.fcall("add", 1, "n", 7), r.fcall_ro("peek", 1, "n")), (10, "10"))
    fails(lambda: r.fcall_ro("add", 1, "n", 7), ResponseError, "Can not execute a script with write flag using *_ro command.")
    same(r.function_delete("tour"), True)
    if PROTOCOL == 3:
        same(r.eval("redis.setresp(3) return redis.call('HGETALL', KEYS[1])", 1, "h"), {"f": "5"})


def transactions(r):
    with r.pipeline() as pipe:
        same(pipe.set("t", 1).incr("t").lpush("t", "x").get("t").execute(raise_on_error=False)[:2], [True, 2])
    with r.pipeline(transaction=False) as pipe:
        for n in range(1000):
            pipe.rpush("piped", n)
        same(pipe.execute(), list(range(1, 1001)))
    with r.pipeline() as pipe:
        pipe.watch("t")
        same(pipe.get("t"), "2")
        r.set("t", "changed")
        pipe.multi()
        pipe.set("t", "lost")
        fails(pipe.execute, WatchError, "Watched variable changed.")
    same(r.get("t"), "changed")
    same(r.transaction(lambda pipe: pipe.multi() or pipe.get("t"), "t"), ["changed"])


def next_message(pubsub):
    while True:
        message = pubsub.get_message(timeout=20)
        if message is not None:
            return message["type"], message["channel"], message["data"]


def messages(r):
    pubsub = r.pubsub()
    pubsub.subscribe("news")
    pubsub.psubscribe("n*")
    same([next_message(pubsub) for _ in range(2)], [("subscribe", "news", 1), ("psubscribe", "n*", 2)])
    same(r.publish("news", "hello"), 2)
    same([next_message(pubsub) for _ in range(2)], [("message", "news", "hello"), ("pmessage", "news", "hello")])
    same((r.pubsub_numsub("news"), r.pubsub_channels(), r.pubsub_numpat()), ([("news", 1)], ["news"], 1))
    pubsub.ssubscribe("shard")
    same(next_message(pubsub), ("ssubscribe", "shard", 1))
    same(r.spublish("shard", "s"), 1)
    same(next_message(pubsub), ("smessage", "shard", "s"))
    pubsub.unsubscribe()
    pubsub.punsubscribe()
    same([next_message(pubsub)[:2] for _ in range(2)], [("unsubscribe", "news"), ("punsubscribe", "n*")])
    r.config_set("notify-keyspace-events", "KEA")
    pubsub.psubscribe("__key*@0__:*")
    same(next_message(pubsub)[0], "psubscribe")
    r.set("noted", 1)
    same([next_message(pubsub) for _ in range(2)],
         [("pmessage", "__keyspace@0__:noted", "set"), ("pmessage", "__keyevent@0__:set", "noted")])
    r.config_set("notify-keyspace-events", "")
    pubsub.close()


def caching(r):
    """The client's own cache asks for a newer server, so this speaks of tracking itself."""
    tracked = connect(ADDRESS, 3, single_connection_client=True)
    dropped = []
    tracked.connection._parser.set_invalidation_push_handler(dropped.append)
    same(tracked.execute_command("CLIENT", "TRACKING", "ON"), "OK")
    r.set("cached", 1)
    same(tracked.get("cached"), "1")
    r.set("cached", 2)
    same((tracked.ping(), dropped), (True, [["invalidate", ["cached"]]]))
    tracked.close()


def observing(r):
    with r.monitor() as monitor:
        r.set("shown", 'a "b"')
        r.eval("return redis.call('GET', KEYS[1])", 1, "shown")
        seen = [monitor.next_command() for _ in range(3)]
        same([(line["db"], line["command"]) for line in seen],
             [(0, 'SET shown a "b"'), (0, "EVAL return redis.call('GET', KEYS[1]) 1 shown"), (0, "GET shown")])
        same(seen[2]["client_type"], "lua")
    same(r.client_pause(60000, all=False), True)
    paused = threading.Thread(target=lambda: connect(ADDRESS, PROTOCOL).incr("paused"))
    paused.start()
    while r.info("clients")["blocked_clients"] == 0:
        pass
    same((r.get("paused"), r.client_unpause()), (None, "OK"))
    paused.join()
    same(r.get("paused"), "1")


def connections(r):
    same((r.ping(), r.echo("hello"), r.client_setname("tour"), r.client_getname()), (True, "hello", True, "tour"))
    same((r.client_info()["name"], r.client_info()["resp"]), ("tour", str(PROTOCOL)))
    same(r.client_list(_type="normal") != [], True)
    same(r.config_get("maxmemory-policy"), {"maxmemory-policy": "noeviction"})
    same((r.info("server")["redis_version"], r.command_count() > 200), ("7.0.15", True))
    same(r.wait(0, 0), 0)
    fails(lambda: r.execute_command("NOSUCH", "a"), ResponseError,
          "unknown command 'NOSUCH', with args beginning with: 'a' ")
    other = connect(ADDRESS, PROTOCOL, db=3)
    other.set("elsewhere", 1)
    same((other.dbsize(), r.exists("elsewhere")), (1, 0))


ADDRESS, PROTOCOL = sys.argv[1], int(sys.argv[2])
client = connect(ADDRESS, PROTOCOL)
client.flushall()
for part in (keys, strings, hashes, lists, sets, sorted_sets, streams, others, scripts, transactions, messages, caching, observing, connections):
    part(client)
print(f"redis-py {redis.__version__}, RESP{PROTOCOL}: {checks} checks")
