// A tour of all families of commands with node-redis: `node tour_node_redis.js ADDRESS 2|3`, ADDRESS a unix socket or
// host:port. It flushes the server. Each value is asserted exactly; the first that differs ends it.

const assert = require("node:assert");
const { createClient, defineScript, BasicClientSideCache, RESP_TYPES } = require("redis");

const [address, protocol] = [process.argv[2], Number(process.argv[3])];
const farMs = 4102444800000; // 2100-01-01
let checks = 0;

function same(got, want) {
  checks += 1;
  const plain = (value) => JSON.parse(JSON.stringify(value, (_, v) => (Object.is(v, Infinity) ? "inf" : v)));
  const [a, b] = [plain([got]), plain([want])];
  assert.deepStrictEqual(a, b, `check ${checks}: got ${JSON.stringify(a)}, not ${JSON.stringify(b)}`);
}

async function fails(promise, text) {
  const error = await promise.then((got) => assert.fail(`no error: ${JSON.stringify(got)}`), (error) => error);
  same(error.message, text);
}

const scripts = {
  addTo: defineScript({
    SCRIPT: "return redis.call('INCRBY', KEYS[1], ARGV[1])",
    NUMBER_OF_KEYS: 1,
    parseCommand(parser, key, by) { parser.pushKey(key); parser.push(by.toString()); },
    transformReply: (reply) => reply,
  }),
};

async function connect(options = {}) {
  const [host, port] = address.split(":");
  const socket = address.includes("/") ? { path: address } : { host, port: Number(port) };
  const client = createClient({ socket, RESP: protocol, scripts, ...options });
  client.on("error", (error) => { throw error; });
  return client.connect();
}

async function keysAndStrings(r) {
  const names = Array.from({ length: 100 }, (_, n) => `key:${n}`);
  await r.mSet(Object.fromEntries(names.map((name) => [name, "1"])));
  const seen = [];
  for await (const batch of r.scanIterator({ MATCH: "key:*", COUNT: 7 })) seen.push(...batch);
  same(seen.sort(), names.sort());
  same([await r.rename("key:0", "renamed"), await r.exists(["renamed", "key:0"]), await r.unlink("key:1")], ["OK", 1, 1]);
  same([await r.set("s", "one", { NX: true }), await r.set("s", "two", { NX: true })], ["OK", null]);
  same([await r.set("s", "two", { GET: true, PXAT: farMs }), await r.pExpireTime("s")], ["one", farMs]);
  same([await r.append("s", "-three"), await r.getRange("s", 4, -1), await r.mGet(["s", "none"])], [9, "three", ["two-three", null]]);
  same([await r.incrBy("a", 41), await r.incrByFloat("a", 0.5), await r.getDel("a")], [41, "41.5", "41.5"]);
  const binary = Buffer.from(Array.from({ length: 256 }, (_, n) => n));
  await r.set("binary", binary);
  same(await r.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer }).get("binary"), binary);
  await fails(r.incr("s"), "ERR value is not an integer or out of range");
}

async function hashesAndLists(r) {
  same([await r.hSet("h", { f: "1", g: "2" }), await r.hGetAll("h")], [2, { f: "1", g: "2" }]);
  same([await r.hIncrBy("h", "f", 4), await r.hmGet("h", ["f", "none"]), await r.hDel("h", "g")], [5, ["5", null], 1]);
  same([await r.rPush("l", ["a", "b", "c"]), await r.lRange("l", 0, -1)], [3, ["a", "b", "c"]]);
  same([await r.lMove("l", "other", "LEFT", "RIGHT"), await r.lmPop(["none", "l"], "LEFT")], ["a", ["l", ["b"]]]);
  same([await r.blPop("none", 0.05), await r.lPopCount("other", 5)], [null, ["a"]]);
  const waits = await connect();
  const job = waits.blPop(["queue", "other"], 20);
  while (!/blocked_clients:1/.test(await r.info("clients")));
  same([await r.rPush("other", ["job", "rest"]), await job], [2, { key: "other", element: "job" }]);
  waits.destroy();
  await fails(r.lPush("s", "1"), "WRONGTYPE Operation against a key holding the wrong kind of value");
}

async function setsAndSortedSets(r) {
  same([await r.sAdd("s1", ["a", "b"]), await r.sAdd("s2", ["b", "c"]), await r.sInter(["s1", "s2"])], [2, 2, ["b"]]);
  same([await r.smIsMember("s1", ["a", "z"]), await r.sUnionStore("u", ["s1", "s2"])], [[1, 0], 3]);
  const members = [{ value: "a", score: 1 }, { value: "b", score: 2.5 }, { value: "c", score: Infinity }];
  same([await r.zAdd("z", members), await r.zScore("z", "b"), await r.zScore("z", "none")], [3, 2.5, null]);
  same(await r.zRangeWithScores("z", 0, -1), members);
  same([await r.zIncrBy("z", 1.5, "a"), await r.zRank("z", "b"), await r.zCount("z", "(2.5", "+inf")], [2.5, 1, 1]);
  same([await r.zRange("z", 0, 3, { BY: "SCORE" }), await r.zPopMax("z")], [["a", "b"], { value: "c", score: Infinity }]);
  same(await r.bzPopMin("z", 1), { key: "z", value: "a", score: 2.5 });
}

async function streams(r) {
  same([await r.xAdd("st", "1-1", { f: "1" }), await r.xAdd("st", "2-0", { f: "2" })], ["1-1", "2-0"]);
  same((await r.xRange("st", "-", "+")).map(({ id, message }) => [id, message]), [["1-1", { f: "1" }], ["2-0", { f: "2" }]]);
  same(await r.xGroupCreate("st", "workers", "0"), "OK");
  await fails(r.xGroupCreate("st", "workers", "0"), "BUSYGROUP Consumer Group name already exists");
  const [read] = await r.xReadGroup("workers", "alice", { key: "st", id: ">" }, { COUNT: 1 });
  same([read.name, read.messages.map(({ id, message }) => [id, message])], ["st", [["1-1", { f: "1" }]]]);
  same((await r.xPending("st", "workers")).consumers, [{ name: "alice", deliveriesCounter: 1 }]);
  same([(await r.xAutoClaim("st", "workers", "bob", 0, "0")).messages.length, await r.xAck("st", "workers", "1-1")], [1, 1]);
  same(await r.xRead({ key: "st", id: "$" }, { BLOCK: 10 }), null);
}

async function others(r) {
  const places = [{ longitude: 13.361389, latitude: 38.115556, member: "Palermo" },
    { longitude: 15.087269, latitude: 37.502669, member: "Catania" }];
  same([await r.geoAdd("geo", places), await r.geoDist("geo", "Palermo", "Catania", "km")], [2, 166.2742]);
  same(await r.geoSearch("geo", { longitude: 15, latitude: 37 }, { radius: 200, unit: "km" }, { SORT: "ASC" }), ["Catania", "Palermo"]);
  same([await r.pfAdd("hll", ["a", "b", "c"]), await r.pfCount("hll")], [1, 3]);
  same([await r.setBit("bits", 7, 1), await r.bitCount("bits"), await r.bitPos("bits", 1)], [0, 1, 7]);
}

async function scripting(r) {
  await r.scriptFlush();
  same([await r.addTo("n", 40), await r.addTo("n", 2)], [40, 42]);
  await fails(r.evalSha("0".repeat(40)), "NOSCRIPT No matching script. Please use EVAL.");
  same(await r.eval("return {KEYS[1], ARGV[1], 3.9, false, {ok='fine'}}", { keys: ["k"], arguments: ["v"] }), ["k", "v", 3, null, "fine"]);
  const library = "#!lua name=tour\nredis.register_function('add', function(keys, args) return #keys + args[1] end)";
  same([await r.functionLoad(library, { REPLACE: true }), await r.fCall("add", { keys: ["n"], arguments: ["7"] })], ["tour", 8]);
  same(await r.functionDelete("tour"), "OK");
}

async function transactions(r) {
  same(await r.multi().set("t", "1").incr("t").get("t").exec(), ["OK", 2, "2"]);
  const other = await connect();
  await r.watch("t");
  await other.set("t", "changed");
  const lost = await r.multi().set("t", "lost").exec().catch((error) => error.constructor.name);
  same([lost, await r.get("t")], ["WatchError", "changed"]);
  const lengths = await Promise.all(Array.from({ length: 1000 }, (_, n) => r.rPush("piped", `${n}`)));
  same(lengths, Array.from({ length: 1000 }, (_, n) => n + 1));
  other.destroy();
}

async function messages(r) {
  const subscriber = await connect();
  const heard = [];
  let wake = () => {};
  const hear = (...message) => { heard.push(message); wake(); };
  const until = async (count) => { while (heard.length < count) await new Promise((resolve) => { wake = resolve; }); };
  await subscriber.subscribe("news", (message, channel) => hear("message", channel, message));
  await subscriber.pSubscribe("n*", (message, channel) => hear("pmessage", channel, message));
  await subscriber.sSubscribe("shard", (message, channel) => hear("smessage", channel, message));
  same([await r.publish("news", "hello"), await r.sPublish("shard", "s")], [2, 1]);
  await until(3);
  same(heard, [["message", "news", "hello"], ["pmessage", "news", "hello"], ["smessage", "shard", "s"]]);
  await r.configSet("notify-keyspace-events", "KEA");
  await subscriber.pSubscribe("__key*@0__:*", (message, channel) => hear(channel, message));
  await r.set("noted", "1");
  await until(5);
  same(heard.slice(3), [["__keyspace@0__:noted", "set"], ["__keyevent@0__:set", "noted"]]);
  await r.configSet("notify-keyspace-events", "");
  subscriber.destroy();
}

async function caching(r) {
  if (protocol !== 3) return;
  const cache = new BasicClientSideCache();
  const cached = await connect({ clientSideCache: cache });
  await r.set("cached", "1");
  same([await cached.get("cached"), await cached.get("cached"), cache.stats().hitCount], ["1", "1", 1]);
  const dropped = new Promise((resolve) => cache.once("invalidate", resolve));
  await r.set("cached", "2");
  same([`${await dropped}`, await cached.get("cached")], ["cached", "2"]);
  cached.destroy();
}

async function observing(r) {
  const watcher = await connect();
  const seen = [];
  let wake = () => {};
  await watcher.monitor((line) => { seen.push(`${line}`.replace(/^[0-9.]+ \[(\d+) .*?\]/, "[$1]")); wake(); });
  await r.set("shown", 'a "b"');
  while (seen.length < 1) await new Promise((resolve) => { wake = resolve; });
  same(seen, ['[0] "SET" "shown" "a \\"b\\""']);
  watcher.destroy();
  await r.sendCommand(["CLIENT", "PAUSE", "60000", "WRITE"]);
  const other = await connect();
  const paused = other.incr("paused");
  while (!(await r.info("clients")).includes("blocked_clients:1")) { /* it has not come yet */ }
  same([await r.get("paused"), await r.sendCommand(["CLIENT", "UNPAUSE"]), await paused], [null, "OK", 1]);
  other.destroy();
}

async function main() {
  const r = await connect();
  await r.flushAll();
  for (const part of [keysAndStrings, hashesAndLists, setsAndSortedSets, streams, others, scripting, transactions, messages, caching, observing]) {
    await part(r);
  }
  same([await r.ping(), await r.clientSetName("tour"), await r.clientGetName()], ["PONG", "OK", "tour"]);
  await fails(r.sendCommand(["NOSUCH", "a"]), "ERR unknown command 'NOSUCH', with args beginning with: 'a' ");
  await r.close();
  console.log(`node-redis ${require("redis/package.json").version}, RESP${protocol}: ${checks} checks`);
}

main().catch((error) => { console.error(error); process.exit(1); });
