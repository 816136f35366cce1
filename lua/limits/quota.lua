-- Takes from a quota that holds until a fixed time, as the end of the day or of the month.
--
--   KEYS[1]  what was used of the quota, as in quota:{tenant:7}:2026-11
--   ARGV[1]  how much to use, from 1 to 1000000000
--   ARGV[2]  the quota, from 1 to 1000000000
--   ARGV[3]  the time at which it begins anew, in Unix milliseconds
--
-- Replies {1, what is left} or {0, what is left}. The time is the server's.
--
--!contract quota
--!key   used   string int(0, 1000000000) optional rw ttl=set
--!argv  cost   int(1, 1000000000)
--!argv  limit  int(1, 1000000000)
--!argv  reset  int(1, 9007199254740991)
--!error arity      "Expected one key, cost, limit and reset time"
--!error cost       "Cost must be an integer from 1 to 1000000000"
--!error limit      "Limit must be an integer from 1 to 1000000000"
--!error reset      "Reset time must be a time in milliseconds"
--!error used.type  WRONGTYPE
--!error used       "The quota holds no count"
--!reply [1, int(0, 999999999)] | [0, int(0, 1000000000)]
--!case reset <= now => error "Reset time is over"
--!case default(used, 0) + cost <= limit => [1, limit - default(used, 0) - cost] ;
--!     used = default(used, 0) + cost, pttl(used) = reset - now
--!case default(used, 0) <= limit => [0, limit - default(used, 0)]
--!case else => [0, 0]
--!instructions 160

if #KEYS ~= 1 or #ARGV ~= 3 then
  return redis.error_reply("Expected one key, cost, limit and reset time")
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

local cost, limit = integer(ARGV[1], 1, 1000000000), integer(ARGV[2], 1, 1000000000)
if not cost then
  return redis.error_reply("Cost must be an integer from 1 to 1000000000")
end
if not limit then
  return redis.error_reply("Limit must be an integer from 1 to 1000000000")
end
local reset = integer(ARGV[3], 1, 9007199254740991)
if not reset then
  return redis.error_reply("Reset time must be a time in milliseconds")
end
local used = integer(redis.call("GET", KEYS[1]) or "0", 0, 1000000000)
if not used then
  return redis.error_reply("The quota holds no count")
end

local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if reset <= now then
  return redis.error_reply("Reset time is over")
end
if used + cost > limit then
  return {0, math.max(0, limit - used)}
end
redis.call("SET", KEYS[1], used + cost, "PXAT", reset)
return {1, limit - used - cost}
