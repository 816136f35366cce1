-- Takes a lock that its holder may take again, as often as it likes; each time it gets the time from now.
--
--   KEYS[1]  the lock: the token of whoever holds it, as in lock:{order:7}
--   KEYS[2]  how often it has been taken, as in lock:{order:7}:depth
--   ARGV[1]  the caller's token, not empty
--   ARGV[2]  the time from now in milliseconds, from 1 to 604800000 (a week)
--
-- Replies {1, how often the caller holds it} or {0, milliseconds that are left to its holder}: -1 without an end.
--
--!contract reentrant_lock
--!key   lock   string bytes optional rw ttl=set
--!key   depth  string int(1, 1000000) optional rw ttl=set
--!argv  owner  token
--!argv  ttl    int(1, 604800000)
--!error arity, owner  "Expected two keys, owner token and TTL"
--!error ttl           "TTL must be an integer from 1 to 604800000"
--!error lock.type     WRONGTYPE
--!error depth.type    WRONGTYPE
--!error depth         "The depth of the lock is no count"
--!reply [1, int(1, 1000000)] | [0, int(-1, 9007199254740991)]
--!case not exists(lock) => [1, 1] ; lock = owner, pttl(lock) = ttl, depth = 1, pttl(depth) = ttl
--!case lock == owner and default(depth, 1) == 1000000 => error "The lock was taken too often"
--!case lock == owner => [1, default(depth, 1) + 1] ;
--!     pttl(lock) = ttl, depth = default(depth, 1) + 1, pttl(depth) = ttl
--!case else          => [0, pttl(lock)]
--!writes lock, depth when reply[1] == 1
--!instructions 110

if #KEYS ~= 2 or #ARGV ~= 2 or ARGV[1] == "" then
  return redis.error_reply("Expected two keys, owner token and TTL")
end

-- The integer from 1 on in a canonical text, of at most so much; nil for any other text.
local function integer(text, most)
  if string.find(text, "^[1-9]%d*$") then
    local number = tonumber(text)
    if number <= most then
      return number
    end
  end
end

local owner, ttl = ARGV[1], integer(ARGV[2], 604800000)
if not ttl then
  return redis.error_reply("TTL must be an integer from 1 to 604800000")
end
local holder = redis.call("GET", KEYS[1])
local depth = integer(redis.call("GET", KEYS[2]) or "1", 1000000)
if not depth then
  return redis.error_reply("The depth of the lock is no count")
end

if holder and holder ~= owner then
  return {0, redis.call("PTTL", KEYS[1])}
end
if holder and depth == 1000000 then
  return redis.error_reply("The lock was taken too often")
end
depth = holder and depth + 1 or 1
redis.call("SET", KEYS[1], owner, "PX", ttl)
redis.call("SET", KEYS[2], depth, "PX", ttl)
return {1, depth}
