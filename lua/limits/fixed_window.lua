-- Lets so many calls through in each window of time; a window begins with its first call.
--
--   KEYS[1]  the counter, as in limit:{user:7}
--   ARGV[1]  how many calls a window lets through, from 1 to 1000000
--   ARGV[2]  the length of a window in milliseconds, from 1 to 86400000 (a day)
--
-- Replies {1, calls left in the window} or {0, milliseconds until the next window}. A counter that has lost its expiry
-- gets a new one.
--
--!contract fixed_window
--!key   used    string int(0, 1000000) optional rw ttl=set
--!argv  limit   int(1, 1000000)
--!argv  window  int(1, 86400000)
--!error arity      "Expected one key, limit and window"
--!error limit      "Limit must be an integer from 1 to 1000000"
--!error window     "Window must be an integer from 1 to 86400000"
--!error used.type  WRONGTYPE
--!error used       "The counter holds no count"
--!reply [1, int(0, 999999)] | [0, int(0, 9007199254740991)]
--!case not exists(used) or pttl(used) == 0 => [1, limit - 1] ; used = 1, pttl(used) = window
--!case pttl(used) == -1 and default(used, 0) < limit =>
--!     [1, limit - default(used, 0) - 1] ; used = default(used, 0) + 1, pttl(used) = window
--!case pttl(used) == -1        => [0, window] ; pttl(used) = window
--!case default(used, 0) < limit =>
--!     [1, limit - default(used, 0) - 1] ; used = default(used, 0) + 1, pttl(used) = pttl(used)
--!case else                    => [0, pttl(used)]
--!instructions 110

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
local used = integer(redis.call("GET", KEYS[1]) or "0", 0, 1000000)
if not used then
  return redis.error_reply("The counter holds no count")
end

local wait = redis.call("PTTL", KEYS[1])
if wait == -2 or wait == 0 then
  -- No window is under way, or one has come to its end just now.
  redis.call("SET", KEYS[1], 1, "PX", window)
  return {1, limit - 1}
end
if wait == -1 then
  wait = window
  redis.call("PEXPIRE", KEYS[1], window)
end
if used < limit then
  return {1, limit - redis.call("INCR", KEYS[1])}
end
return {0, wait}
