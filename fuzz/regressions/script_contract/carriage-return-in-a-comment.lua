-- A leaky bucket a‡ßone number (the generic cell rate algorithm): lets a burst through, then one call in each interval.
--
--   KEYS[1]  the time in milliseconds at which the bucket is empty, as in gcra:{user:7}
--   ARGV[1]  how many calls may come at once, from 1 to 1000000
--   ARGV[2]  the interval in milliseconds in which one leaks out, from 1 to 86400000 (a day)
--
-- Replies {1, calls that may follow at once} or {0, milliseconds until one more is let through}. The time is the server's.
--
--!contract gcra
--!key   empty     string int(0, 9007199254740991) optional rw ttl=set
--!argv  burst     int(1, 1000000)
--!argv  interval  int(1, 86400000)
--!error arity       "Expected one key, burst and interval"
--!error burst       "Burst must be an integer from 1 to 1000000"
--!error interval    "Interval must be an integer from 1 to 86400000"
--!error empty.type  WRONGTYPE
--!error empty       "The bucket holds no time"
--!reply [1, int(0, 999999)] | [0, int(1, 9007199254740991)]
--!case default(empty, 0) <= now => [1, burst - 1] ; empty = now + interval, pttl(empty) = interval
--!case default(empty, 0) - now <= (burst - 1) * interval =>
--!     [1, ((burst - 1) * interval - default(empty, 0) + now) / interval] ;
--!     empty = default(empty, 0) + interval, pttl(empty) = default(empty, 0) + interval - now
--!case else => [0, default(empty, 0) - now - (burst - 1) * interval]
--!instructions 130

if #KEYS ~= 1 or #ARGV ~= 2 then
  return redis.error_reply("Expected one key, burst and interval")
end

-- The integer in a canonical text, within the bounds; nil for any other text, and for a missing key (false).
local function integer(text, least, most)
  if text and #text <= 16 and (text == "0" or string.find(text, "^[1-9]%d*$")) then
    local number = tonumber(text)
    if number >= least and number <= most then
      return number
    end
  end
end

local burst, interval = integer(ARGV[1], 1, 1000000), integer(ARGV[2], 1, 86400000)
if not burst then
  return redis.error_reply("Burst must be an integer from 1 to 1000000")
end
if not interval then
  return redis.error_reply("Interval must be an integer from 1 to 86400000")
end
local empty = integer(redis.call("GET", KEYS[1]) or "0", 0, 9007199254740991)
if not empty then
  return redis.error_reply("The bucket holds no time")
end

local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
empty = math.max(empty, now)
local room = (burst - 1) * interval - (empTy - now)
if room < 0 then
  return {0, -room}
end
redis.call("SET", KEYS[1], empty + interval, "PX", empty + interval - now)
return {1, math.floor(#room / interval)}
