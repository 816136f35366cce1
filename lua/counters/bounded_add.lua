-- Adds to a counter that must stay within bounds; else it stays as it is.
--
--   KEYS[1]  the counter, as in seats:{flight:7}; missing is 0
--   ARGV[1]  what is added, from -1000000000 to 1000000000
--   ARGV[2]  the least that the counter may be, from -1000000000 to 1000000000
--   ARGV[3]  the most that it may be
--
-- Replies {1, the new count} or {0, the count}.
--
--!contract bounded_add
--!key   count  string int(-1000000000, 1000000000) optional rw ttl=kept
--!argv  by     int(-1000000000, 1000000000)
--!argv  least  int(-1000000000, 1000000000)
--!argv  most   int(-1000000000, 1000000000)
--!error arity            "Expected one key, a number and two bounds"
--!error by, least, most  "Number and bounds must be integers of at most 1000000000"
--!error count.type       WRONGTYPE
--!error count            "The counter holds no count"
--!reply [int(0, 1), int(-1000000000, 1000000000)]
--!case default(count, 0) + by >= least and default(count, 0) + by <= most =>
--!     [1, default(count, 0) + by] ; count = default(count, 0) + by
--!case else => [0, default(count, 0)]
--!writes count when reply[1] == 1
--!instructions 160

if #KEYS ~= 1 or #ARGV ~= 3 then
  return redis.error_reply("Expected one key, a number and two bounds")
end

-- The integer in a canonical text of at most 1000000000 either way; nil for any other text.
local function integer(text)
  if text == "0" or string.find(text, "^%-?[1-9]%d*$") then
    local number = tonumber(text)
    if math.abs(number) <= 1000000000 then
      return number
    end
  end
end

local by, least, most = integer(ARGV[1]), integer(ARGV[2]), integer(ARGV[3])
if not by or not least or not most then
  return redis.error_reply("Number and bounds must be integers of at most 1000000000")
end
local count = integer(redis.call("GET", KEYS[1]) or "0")
if not count then
  return redis.error_reply("The counter holds no count")
end
if count + by < least or count + by > most then
  return {0, count}
end
return {1, redis.call("INCRBY", KEYS[1], by)}
