-- Takes a lock for reading, or gives it more time: any number of readers hold it, while no writer does.
--
--   KEYS[1]  the writer's token, as in rw:{doc:7}:writer
--   KEYS[2]  the readers: a sorted set by the end of their time, as in rw:{doc:7}:readers
--   ARGV[1]  the caller's token, not empty
--   ARGV[2]  the time from now in milliseconds, from 1 to 604800000 (a week)
--
-- Replies 1 when the caller reads, 0 when somebody writes. The time is the server's.
--
--!contract read_lock
--!key   writer   string bytes optional ro
--!key   readers  zset optional rw rm ttl=set
--!argv  token    token
--!argv  ttl      int(1, 604800000)
--!error arity, token  "Expected two keys, token and TTL"
--!error ttl           "TTL must be an integer from 1 to 604800000"
--!error writer.type   WRONGTYPE
--!error readers.type  WRONGTYPE
--!reply int(0, 1)
--!case exists(writer)      => 0
--!case not exists(readers) => 1 ; change readers, pttl(readers) = ttl
--!case else                => 1 ; change readers
--!instructions 150

if #KEYS ~= 2 or #ARGV ~= 2 or ARGV[1] == "" then
  return redis.error_reply("Expected two keys, token and TTL")
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

local token, ttl = ARGV[1], integer(ARGV[2], 604800000)
if not ttl then
  return redis.error_reply("TTL must be an integer from 1 to 604800000")
end
local writer = redis.call("GET", KEYS[1])
-- Here an error of type is raised before anything is written.
redis.call("ZCARD", KEYS[2])
if writer then
  return 0
end

local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call("ZREMRANGEBYSCORE", KEYS[2], "-inf", now)
redis.call("ZADD", KEYS[2], now + ttl, token)
local last = redis.call("ZRANGE", KEYS[2], -1, -1, "WITHSCORES")
redis.call("PEXPIREAT", KEYS[2], string.format("%.0f", math.min(tonumber(last[2]), now + 604800000)))
return 1
