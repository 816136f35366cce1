-- Gives a place of a semaphore back.
--
--   KEYS[1]  the holders: a sorted set by the end of their time, as in semaphore:{export}
--   ARGV[1]  the caller's token, not empty
--
-- Replies 1 when the place was the caller's, 0 when it was not. The time is the server's.
--
--!contract semaphore_release
--!key   holders  zset optional rw rm ttl=kept
--!argv  token    token
--!error arity, token  "Expected one key and a non-empty token"
--!error holders.type  WRONGTYPE
--!reply int(0, 1)
--!case not exists(holders)                     => 0
--!case default(score(holders, token), 0) > now => 1 ; change holders
--!case else                                    => 0 ; change holders
--!instructions 60

if #KEYS ~= 1 or #ARGV ~= 1 or ARGV[1] == "" then
  return redis.error_reply("Expected one key and a non-empty token")
end

local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", now)
return redis.call("ZREM", KEYS[1], ARGV[1])
