-- Takes one of the places of a semaphore for a time, or gives a place that is the caller's more time.
--
--   KEYS[1]  the holders: a sorted set by the end of their time, as in semaphore:{export}
--   ARGV[1]  the caller's token, not empty
--   ARGV[2]  how many places there are, from 1 to 10000
--   ARGV[3]  the time in milliseconds, from 1 to 604800000 (a week)
--
-- Replies {1, holders with the caller} or {0, holders}. The time is the server's.
--
--!contract semaphore_acquire
--!key   holders  zset optional rw rm ttl=any
--!argv  token    token
--!argv  places   int(1, 10000)
--!argv  ttl      int(1, 604800000)
--!error arity, token  "Expected one key, token, places and TTL"
--!error places        "Places must be an integer from 1 to 10000"
--!error ttl           "TTL must be an integer from 1 to 604800000"
--!error holders.type  WRONGTYPE
--!reply [int(0, 1), int(0, 9007199254740991)]
--!case not exists(holders) => [1, 1] ; change holders, pttl(holders) = ttl
--!case else                => any ; change holders
--!instructions 170

if #KEYS ~= 1 or #ARGV ~= 3 or ARGV[1] == "" then
  return redis.error_reply("Expected one key, token, places and TTL")
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

local token, places, ttl = ARGV[1], integer(ARGV[2], 10000), integer(ARGV[3], 604800000)
if not places then
  return redis.error_reply("Places must be an integer from 1 to 10000")
end
if not ttl then
  return redis.error_reply("TTL must be an integer from 1 to 604800000")
end

local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", now)
local held = redis.call("ZCARD", KEYS[1])
if not redis.call("ZSCORE", KEYS[1], token) then
  if held >= places then
    return {0, held}
  end
  held = held + 1
end
redis.call("ZADD", KEYS[1], now + ttl, token)
-- The semaphore goes with its last holder.
local last = redis.call("ZRANGE", KEYS[1], -1, -1, "WITHSCORES")
redis.call("PEXPIREAT", KEYS[1], string.format("%.0f", math.min(tonumber(last[2]), now + 604800000)))
return {1, held}
