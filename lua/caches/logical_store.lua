-- Stores what a reader has refreshed on behalf of all (logical_read), unless its time was over and somebody else is at it.
--
--   KEYS[1]  the value, as in cache:{feed}
--   KEYS[2]  the time up to which it is fresh, in Unix milliseconds, as in cache:{feed}:fresh
--   KEYS[3]  the token of whoever refreshes it, as in cache:{feed}:refresh
--   ARGV[1]  the caller's token, not empty
--   ARGV[2]  the value
--   ARGV[3]  for how long it is fresh in milliseconds, from 1 to 86400000 (a day)
--
-- Replies 1 when it was stored, 0 when the caller was not the one to refresh it. The time is the server's.
--
--!contract logical_store
--!key   value    any rw ttl=dropped
--!key   fresh    any rw ttl=dropped
--!key   refresh  string bytes optional rm
--!argv  token    token
--!argv  text     bytes
--!argv  time     int(1, 86400000)
--!error arity, token  "Expected three keys, token, value and time"
--!error time          "Time must be an integer from 1 to 86400000"
--!error refresh.type  WRONGTYPE
--!reply int(0, 1)
--!case refresh == token => 1 ; value = text, fresh = now + time, del refresh
--!case else             => 0
--!instructions 110

if #KEYS ~= 3 or #ARGV ~= 3 or ARGV[1] == "" then
  return redis.error_reply("Expected three keys, token, value and time")
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

local given = integer(ARGV[3], 86400000)
if not given then
  return redis.error_reply("Time must be an integer from 1 to 86400000")
end
if redis.call("GET", KEYS[3]) ~= ARGV[1] then
  return 0
end

local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call("SET", KEYS[1], ARGV[2])
redis.call("SET", KEYS[2], now + given)
return redis.call("DEL", KEYS[3])
