// A tour of all families of commands with ioredis: `node tour_ioredis.js ADDRESS 2|3`, ADDRESS a unix socket or host:port.
// It flushes the server. Each value is asserted exactly; the first that differs ends it.

const assert = require("node:assert");
const Redis = require("ioredis");

const [address, protocol] = [process.argv[2], Number(process.argv[3])];
const farMs = 4102444800000; // 2100-01-01
let checks = 0;

function same(got, want) {
  checks += 1;
  assert.deepStrictEqual(got, want, `check ${checks}: got ${JSON.stringify(got)}, not ${JSON.stringify(want)}`);
}

async function fails(promise, text) {
  const error = await promise.then((got) => assert.fail(`no error: ${JSON.stringify(got)}`), (error) => error);
  same(error.message, text);
}

function connect(options = {}) {
  const [host, port] = address.split(":");
  const place = address.includes("/") ? { path: address } : { host, port: Number(port) };
  return new Redis({ ...place, protocol, ...options });
}

async function strings(r) {
  same(await r.set("s", "one", "NX"), "OK");
  same(await r.set("s", "two", "NX"), null);
  same(await r.set("s", "two", "PXAT", farMs, "GET"), "one");
  same([await r.pexpiretime("s"), await r.append("s", "-three"), await r.getrange("s", 4, -1)], [farMs, 9, "three"]);
  same([await r.mset({ a: "1", b: "2" }), await r.mget("a", "b", "none")], ["OK", ["1", "2", null]]);
  same([await r.incrby("a", 41), await r.incrbyfloat("b", 0.5), await r.getdel("a")], [42, "2.5", "42"]);
  const binary = Buffer.from(Array.from({ length: 256 }, (_, n) => n));
  same([await r.set("binary", binary), await r.getBuffer("binary")], ["OK", binary]);
  await fails(r.incr("s"), "ERR value is not an integer or out of range");
  same([await r.set("big", "9007199254740993"), await r.get("big")], ["OK", "9007199254740993"]);
}

async function keys(r) {
  const names = Array.from({ length: 100 }, (_, n) => `key:${n}`);
  await r.mset(Object.fromEntries(names.map((name) => [name, 1])));
  const seen = [];
  for await (const batch of r.scanStream({ match: "key:*", count: 7 })) seen.push(...batch);
  same(seen.sort(), names.sort());
  same([await r.rename("key:0", "renamed"), await r.exists("renamed", "key:0"), await r.unlink("key:1")], ["OK", 1, 1]);
  same([await r.ttl("renamed"), await r.type("renamed"), await r.object("ENCODING", "renamed")], [-1, "string", "int"]);
  same(await r.restore("restored", 0, await r.dumpBuffer("renamed")), "OK");
  same([await r.rpush("unsorted", 3, 1, 2), await r.sort("unsorted", "DESC")], [3, ["3", "2", "1"]]);
}

async function hashesAndLists(r) {
  same([await r.hset("h", { f: "1", g: "2" }), await r.hgetall("h")], [2, { f: "1", g: "2" }]);
  same([await r.hincrby("h", "f", 4), await r.hmget("h", "f", "none"), await r.hdel("h", "g")], [5, ["5", null], 1]);
  same(await r.hgetall("none"), {});
  same([await r.rpush("l", "a", "b", "c"), await r.lrange("l", 0, -1)], [3, ["a", "b", "c"]]);
  same([await r.lmove("l", "other", "LEFT", "RIGHT"), await r.lmpop(2, "none", "l", "LEFT")], ["a", ["l", ["b"]]]);
  same([await r.blpop("none", 0.05), await r.lpop("other", 5)], [null, ["a"]]);
  const waits = connect();
  const job = waits.blpop("queue", "other", 20);
  while (!/blocked_clients:1/.test(await r.info("clients")));
  same([await r.rpush("other", "job", "rest"), await job], [2, ["other", "job"]]);
  waits.disconnect();
  await fails(r.lpush("s", 1), "WRONGTYPE Operation against a key holding the wrong kind of value");
}

async function setsAndSortedSets(r) {
  same([await r.sadd("s1", "a", "b"), await r.sadd("s2", "b", "c"), await r.sinter("s1", "s2")], [2, 2, ["b"]]);
  same([await r.smismember("s1", "a", "z"), await r.sunionstore("u", "s1", "s2")], [[1, 0], 3]);
  same([await r.zadd("z", 1, "a", 2.5, "b", "inf", "c"), await r.zscore("z", "b")], [3, "2.5"]);
  same(await r.zrange("z", 0, -1, "WITHSCORES"), ["a", "1", "b", "2.5", "c", "inf"]);
  same([await r.zincrby("z", 1.5, "a"), await r.zrank("z", "b"), await r.zcount("z", "(2.5", "+inf")], ["2.5", 1, 1]);
  same([await r.zrangebyscore("z", 0, 3), await r.zpopmax("z"), await r.bzpopmin("z", 1)],
    [["a", "b"], ["c", "inf"], ["z", "a", "2.5"]]);
}

async function streams(r) {
  same([await r.xadd("st", "1-1", "f", "1"), await r.xadd("st", "2-0", "f", "2")], ["1-1", "2-0"]);
  same(await r.xrange("st", "-", "+"), [["1-1", ["f", "1"]], ["2-0", ["f", "2"]]]);
  same(await r.xgroup("CREATE", "st", "workers", 0), "OK");
  await fails(r.xgroup("CREATE", "st", "workers", 0), "BUSYGROUP Consumer Group name already exists");
  const first = [["1-1", ["f", "1"]]];
  same(await r.xreadgroup("GROUP", "workers", "alice", "COUNT", 1, "STREAMS", "st", ">"), [["st", first]]);
  same(await r.xpending("st", "workers"), [1, "1-1", "1-1", [["alice", "1"]]]);
  same(await r.xautoclaim("st", "workers", "bob", 0, "0"), ["0-0", first, []]);
  same([await r.xack("st", "workers", "1-1"), await r.xread("BLOCK", 10, "STREAMS", "st", "$")], [1, null]);
}

async function others(r) {
  same(await r.geoadd("geo", 13.361389, 38.115556, "Palermo", 15.087269, 37.502669, "Catania"), 2);
  same(await r.geodist("geo", "Palermo", "Catania", "km"), "166.2742");
  same(await r.geosearch("geo", "FROMLONLAT", 15, 37, "BYRADIUS", 200, "km", "ASC"), ["Catania", "Palermo"]);
  same([await r.pfadd("hll", "a", "b", "c"), await r.pfcount("hll")], [1, 3]);
  same([await r.setbit("bits", 7, 1), await r.bitcount("bits"), await r.bitpos("bits", 1)], [0, 1, 7]);
  same(await r.bitfield("bits", "SET", "u8", 0, 255, "INCRBY", "u8", 0, 1), [1, 0]);
}

async function scripts(r) {
  await r.script("FLUSH");
  r.defineCommand("addTo", { numberOfKeys: 1, lua: "return redis.call('INCRBY', KEYS[1], ARGV[1])" });
  same([await r.addTo("n", 40), await r.addTo("n", 2)], [40, 42]);
  same((await r.pipeline().addTo("n", 1).addTo("n", 1).exec()).map(([, got]) => got), [43, 44]);
  await fails(r.evalsha("0".repeat(40), 0), "NOSCRIPT No matching script. Please use EVAL.");
  same(await r.eval("return {KEYS[1], ARGV[1], 3.9, false, {ok='fine'}}", 1, "k", "v"), ["k", "v", 3, null, "fine"]);
  await fails(r.eval("return redis.error_reply('MINE of my own')", 0), "MINE of my own");
  const library = "#!lua name=tour\nredis.register_function('add', function(keys, args) return #keys + args[1] end)";
  same([await r.function("LOAD", "REPLACE", library), await r.fcall("add", 1, "n", 7)], ["tour", 8]);
  same(await r.function("DELETE", "tour"), "OK");
}

async function transactions(r) {
  same(await r.multi().set("t", 1).incr("t").lpush("t", "x").get("t").exec().then((all) => all.map(([e, v]) => e?.message ?? v)),
    ["OK", 2, "WRONGTYPE Operation against a key holding the wrong kind of value", "2"]);
  await r.watch("t");
  const other = connect();
  await other.set("t", "changed");
  same([await r.multi().set("t", "lost").exec(), await r.get("t")], [null, "changed"]);
  const pushes = r.pipeline();
  for (let n = 0; n < 1000; n++) pushes.rpush("piped", n);
  same((await pushes.exec()).map(([, length]) => length), Array.from({ length: 1000 }, (_, n) => n + 1));
  other.disconnect();
}

async function messages(r) {
  const subscriber = connect();
  const heard = [];
  let wake = () => {};
  const hear = (...message) => { heard.push(message); wake(); };
  const until = async (count) => { while (heard.length < count) await new Promise((resolve) => { wake = resolve; }); };
  subscriber.on("message", (...m) => hear("message", ...m));
  subscriber.on("pmessage", (...m) => hear("pmessage", ...m));
  subscriber.on("smessage", (...m) => hear("smessage", ...m));
  same([await subscriber.subscribe("news"), await subscriber.psubscribe("n*"), await subscriber.ssubscribe("shard")], [1, 2, 1]);
  same([await r.publish("news", "hello"), await r.spublish("shard", "s")], [2, 1]);
  await until(3);
  same(heard, [["message", "news", "hello"], ["pmessage", "n*", "news", "hello"], ["smessage", "shard", "s"]]);
  same([await subscriber.punsubscribe("n*"), await subscriber.unsubscribe("news")], [1, 0]);
  await r.config("SET", "notify-keyspace-events", "KEA");
  same(await subscriber.psubscribe("__key*@0__:*"), 1);
  await r.set("noted", 1);
  await until(5);
  same(heard.slice(3).map((message) => message.slice(2)), [["__keyspace@0__:noted", "set"], ["__keyevent@0__:set", "noted"]]);
  await r.config("SET", "notify-keyspace-events", "");
  subscriber.disconnect();
}

async function main() {
  const r = connect();
  await r.flushall();
  for (const part of [keys, strings, hashesAndLists, setsAndSortedSets, streams, others, scripts, transactions, messages]) {
    await part(r);
  }
  same([await r.ping(), await r.client("SETNAME", "tour"), await r.client("GETNAME")], ["PONG", "OK", "tour"]);
  await fails(r.call("NOSUCH", "a"), "ERR unknown command 'NOSUCH', with args beginning with: 'a' ");
  same(await r.quit(), "OK");
  console.log(`ioredis ${require("ioredis/package.json").version}, RESP${protocol}: ${checks} checks`);
}

main().catch((error) => { console.error(error); process.exit(1); });
