-- Lets so many calls through in any stretch of time of a length: exact, at the cost of an entry for each call.
--
--   KEYS[1]  the log: a sorted set of calls by their time, as in log:{user:7}
--   ARGV[1]  how many calls a stretch lets through, from 1 to 10000
--   ARGV[2]  its length in milliseconds, from 1 to 86400000 (a day)
--   ARGV[3]  the name of the call, not empty: a call that is sent again counts once
--
-- Replies {1, calls left} or {0, milliseconds until one more is let through}. The time is the server's.
--
--!contract sliding_log
--!key   log     zset optional rw rm ttl=any
--!argv  limit   int(1, 10000)
--!argv  window  int(1, 86400000)
--!argv  call    token
--!error arity     "Expected one key, limit, window and a name for the call"
--!error limit     "Limit must be an integer from 1 to 10000"
--!error window    "Window must be an integer from 1 to 86400000"
--!error call      "The name of the call is empty"
--!error log.type  WRONGTYPE
--!reply [1, int(0, 9999)] | [0, int(0, 86400000)]
--!case not exists(log) => [1, limit - 1] ; change log
--!case else            => any ; change log
--!instructions 170

if #KEYS ~= 1 or #ARGV ~= 3 then
  return redis.error_reply("Expected one key, limit, window and a name for the call")
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

local limit, window, call = integer(ARGV[1], 10000), integer(ARGV[2], 86400000), ARGV[3]
if not limit then
  return redis.error_reply("Limit must be an integer from 1 to 10000")
end
if not window then
  return redis.error_reply("Window must be an integer from 1 to 86400000")
end
if call == "" then
  return redis.error_reply("The name of the call is empty")
end

local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", now - window)
local used = redis.call("ZCARD", KEYS[1])
if redis.call("ZSCORE", KEYS[1], call) then
  return {1, math.max(0, limit - used)}
end
if used < limit then
  redis.call("ZADD", KEYS[1], now, call)
  redis.call("PEXPIRE", KEYS[1], window)
  return {1, limit - used - 1}
end

-- The call that has to leave the stretch first.
local leaving = redis.call("ZRANGE", KEYS[1], used - limit, used - limit, "WITHSCORES")
return {0, math.max(0, math.min(window, tonumber(leaving[2]) + window - now))}
