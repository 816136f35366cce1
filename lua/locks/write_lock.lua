-- Takes a lock for writing, or gives it more time: one writer holds it, and no reader beside it.
--
--   KEYS[1]  the writer's token, as in rw:{doc:7}:writer
--   KEYS[2]  the readers: a sorted set by the end of their time, as in rw:{doc:7}:readers
--   ARGV[1]  the caller's token, not empty
--   ARGV[2]  the time from now in milliseconds, from 1 to 604800000 (a week)
--
-- Replies {1, 0} when the caller writes, {0, readers} when somebody writes or reads. The time is the server's.
--
--!contract write_lock
--!key   writer   string bytes optional rw ttl=any
--!key   readers  zset optional ro
--!argv  token    token
--!argv  ttl      int(1, 604800000)
--!error arity, token  "Expected two keys, token and TTL"
--!error ttl           "TTL must be an integer from 1 to 604800000"
--!error writer.type   WRONGTYPE
--!error readers.type  WRONGTYPE
--!reply [1, 0] | [0, int(0, 9007199254740991)]
--!case writer == token and exists(readers) => any ; change writer
--!case writer == token => [1, 0] ; pttl(writer) = ttl
--!case exists(writer)  => [0, any]
--!case exists(readers) => any ; change writer
--!case else            => [1, 0] ; writer = token, pttl(writer) = ttl
--!writes writer when reply[1] == 1
--!instructions 130

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
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- Readers whose time is over read no longer.
local readers = redis.call("ZCOUNT", KEYS[2], string.format("(%.0f", now), "+inf")
if readers > 0 or writer and writer ~= token then
  return {0, readers}
end
redis.call("SET", KEYS[1], token, "PX", ttl)
return {1, 0}
