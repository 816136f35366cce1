-- Lets about so many calls through in any stretch of time of a length, from two counters: that of the window which is under
-- way, and that of the one before by the share of it which the stretch still covers.
--
--   KEYS[1]  the counters: a hash, as in limit:{user:7}
--   ARGV[1]  how many calls a stretch lets through, from 1 to 1000000
--   ARGV[2]  its length in milliseconds, from 1 to 86400000 (a day)
--
-- Replies {1, calls left} or {0, milliseconds until one more is let through}. The time is the server's.
--
--!contract sliding_counter
--!key   used    hash optional rw ttl=any
--!argv  limit   int(1, 1000000)
--!argv  window  int(1, 86400000)
--!error arity      "Expected one key, limit and window"
--!error limit      "Limit must be an integer from 1 to 1000000"
--!error window     "Window must be an integer from 1 to 86400000"
--!error used.type  WRONGTYPE
--!reply [1, int(0, 999999)] | [0, int(1, 172800000)]
--!case not exists(used) => [1, limit - 1] ; change used, pttl(used) = 2 * window
--!case else             => any ; change used
--!instructions 180

if #KEYS ~= 1 or #ARGV ~= 2 then
  return redis.error_reply("Expected one key, limit and window")
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

local limit, window = integer(ARGV[1], 1, 1000000), integer(ARGV[2], 1, 86400000)
if not limit then
  return redis.error_reply("Limit must be an integer from 1 to 1000000")
end
if not window then
  return redis.error_reply("Window must be an integer from 1 to 86400000")
end

local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local number, passed = math.floor(now / window), now % window
local held = redis.call("HMGET", KEYS[1], "window", "current", "previous")
local current, previous = 0, 0
if integer(held[1] or "", number, number) then
  current, previous = integer(held[2] or "", 0, 1000000) or 0, integer(held[3] or "", 0, 1000000) or 0
elseif integer(held[1] or "", number - 1, number - 1) then
  previous = integer(held[2] or "", 0, 1000000) or 0
end

local left = limit - current - math.floor(previous * (window - passed) / window)
if current >= limit then
  -- The window that is under way counts whole when the next one begins, and less from then on.
  return {0, window - passed + math.floor(window - limit * window / current) + 1}
end
if left < 1 then
  return {0, math.floor(window - (limit - current) * window / previous) + 1 - passed}
end
redis.call("HSET", KEYS[1], "window", number, "current", current + 1, "previous", previous)
redis.call("PEXPIRE", KEYS[1], 2 * window)
return {1, left - 1}
