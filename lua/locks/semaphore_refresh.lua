-- Gives a place of a semaphore more time, if it is still the caller's and its time is not over.
--
--   KEYS[1]  the holders: a sorted set by the end of their time, as in semaphore:{export}
--   ARGV[1]  the caller's token, not empty
--   ARGV[2]  the time from now in milliseconds, from 1 to 604800000 (a week)
--
-- Replies 1 when the place has the new time, 0 when it is not the caller's any more. The time is the server's.
--
--!contract semaphore_refresh
--!key   holders  zset optional rw ttl=any
--!argv  token    token
--!argv  ttl      int(1, 604800000)
--!error arity, token  "Expected one key, token and TTL"
--!error ttl           "TTL must be an integer from 1 to 604800000"
--!error holders.type  WRONGTYPE
--!reply int(0, 1)
--!case default(score(holders, token), 0) > now => 1 ; change holders
--!case else                                    => 0
--!writes holders when reply == 1
--!instructions 140

if #KEYS ~= 1 or #ARGV ~= 2 or ARGV[1] == "" then
  return redis.error_reply("Expected one key, token and TTL")
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

local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ends = redis.call("ZSCORE", KEYS[1], token)
if not ends or tonumber(ends) <= now then
  return 0
end
redis.call("ZADD", KEYS[1], now + ttl, token)
local last = redis.call("ZRANGE", KEYS[1], -1, -1, "WITHSCORES")
redis.call("PEXPIREAT", KEYS[1], string.format("%.0f", math.min(tonumber(last[2]), now + 604800000)))
return 1
