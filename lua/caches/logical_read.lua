-- Reads a value that is refreshed before it is gone: once it is no longer fresh, one reader is asked to refresh it, and all
-- others get what there is.
--
--   KEYS[1]  the value, as in cache:{feed}
--   KEYS[2]  the time up to which it is fresh, in Unix milliseconds, as in cache:{feed}:fresh
--   KEYS[3]  the token of whoever refreshes it, as in cache:{feed}:refresh
--   ARGV[1]  the caller's token, not empty
--   ARGV[2]  the time to refresh it in milliseconds, from 1 to 3600000 (an hour)
--
-- Replies {"fresh", value}, {"refresh", value or null} to the one who is to refresh it (logical_store), {"stale", value or
-- null} to others. The time is the server's.
--
--!contract logical_read
--!key   value    string bytes optional ro
--!key   fresh    string int(0, 9007199254740991) optional ro
--!key   refresh  string bytes optional rw ttl=set
--!argv  token    token
--!argv  time     int(1, 3600000)
--!error arity, token  "Expected three keys, token and time"
--!error time          "Time must be an integer from 1 to 3600000"
--!error value.type    WRONGTYPE
--!error fresh.type    WRONGTYPE
--!error fresh         "The time of the value is no time"
--!error refresh.type  WRONGTYPE
--!reply ["fresh" | "refresh" | "stale", nil | bytes]
--!case exists(value) and default(fresh, 0) > now => ["fresh", value]
--!case not exists(refresh) => ["refresh", value] ; refresh = token, pttl(refresh) = time
--!case else                => ["stale", value]
--!instructions 120

if #KEYS ~= 3 or #ARGV ~= 2 or ARGV[1] == "" then
  return redis.error_reply("Expected three keys, token and time")
end

-- The integer in a canonical text, within the bounds; nil for any other text.
local function integer(text, least, most)
  if text == "0" or string.find(text, "^[1-9]%d*$") then
    local number = tonumber(text)
    if number >= least and number <= most then
      return number
    end
  end
end

local given = integer(ARGV[2], 1, 3600000)
if not given then
  return redis.error_reply("Time must be an integer from 1 to 3600000")
end
local value = redis.call("GET", KEYS[1])
local fresh = integer(redis.call("GET", KEYS[2]) or "0", 0, 9007199254740991)
if not fresh then
  return redis.error_reply("The time of the value is no time")
end
local refresher = redis.call("GET", KEYS[3])

local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if value and fresh > now then
  return {"fresh", value}
end
if refresher then
  return {"stale", value}
end
redis.call("SET", KEYS[3], ARGV[1], "PX", given)
return {"refresh", value}
