-- Takes a lock that is free, and a number for its holder that is greater than that of every holder before.
--
--   KEYS[1]  the lock: a string with the token of whoever holds it
--   KEYS[2]  the counter: the last number that was given, from 0 to 9007199254740991; missing is 0; without expiry
--   ARGV[1]  the caller's token, not empty, of this attempt alone
--   ARGV[2]  the time from now in milliseconds: digits, from 1 to 604800000 (a week)
--
-- Replies {1, the number} when the lock is the caller's, {0, the last number given} when it is somebody else's.
-- Sent again with the same token, it finds its own lock: that gets the time from now and keeps its number.
--
--!contract acquire_fenced
--!key   lock   string bytes optional rw ttl=set
--!key   fence  string int(0, 9007199254740991) optional rw ttl=kept
--!argv  owner  token
--!argv  ttl    int(1, 604800000) digits
--!error arity, owner  "Expected two keys, owner token and TTL"
--!error ttl.syntax    "TTL must be a positive bounded integer"
--!error ttl.range     "Invalid TTL"
--!error fence.type    WRONGTYPE
--!error fence         "Fence is invalid or used up"
--!error lock.type     WRONGTYPE
--!reply [0, int(0, 9007199254740991)] | [1, int(0, 9007199254740991)]
--!case lock == owner and pttl(lock) > 0      => [1, default(fence, 0)] ; pttl(lock) = ttl
--!case exists(lock)                          => [0, default(fence, 0)]
--!case default(fence, 0) == 9007199254740991 => error "Fence is invalid or used up"
--!case else => [1, default(fence, 0) + 1] ; lock = owner, pttl(lock) = ttl, fence = default(fence, 0) + 1
--!writes lock, fence when reply[1] == 1
--!instructions 100

local token, ttl = ARGV[1], ARGV[2]
if #KEYS ~= 2 or #ARGV ~= 2 or token == "" then
  return redis.error_reply("Expected two keys, owner token and TTL")
end
if not string.find(ttl, "^%d+$") then
  return redis.error_reply("TTL must be a positive bounded integer")
end

local ttl_ms = tonumber(ttl)
if not ttl_ms or ttl_ms < 1 or ttl_ms > 604800000 then
  return redis.error_reply("Invalid TTL")
end

local MOST = 9007199254740991
local given = redis.call("GET", KEYS[2]) or "0"
local last = tonumber(given)
if not (given == "0" or string.find(given, "^[1-9]%d*$") and last <= MOST) then
  return redis.error_reply("Fence is invalid or used up")
end

local holder = redis.call("GET", KEYS[1])
if holder then
  if holder == token and redis.call("PTTL", KEYS[1]) > 0 then
    redis.call("PEXPIRE", KEYS[1], ttl_ms)
    return {1, last}
  end
  return {0, last}
end
if last == MOST then
  return redis.error_reply("Fence is invalid or used up")
end
redis.call("SET", KEYS[1], token, "NX", "PX", ttl_ms)
return {1, redis.call("INCR", KEYS[2])}
