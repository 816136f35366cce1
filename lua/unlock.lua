-- Gives a lock back, if it is still the caller's.
--
--   KEYS[1]  the lock: a string with the token of whoever holds it
--   ARGV[1]  the caller's token, not empty
--
-- Replies 1 when the lock was the caller's and is gone now, 0 when it was not the caller's.
--
--!contract unlock
--!key   lock   string bytes optional rm
--!argv  owner  token
--!error arity, owner  "Expected one key and a non-empty owner token"
--!error lock.type     WRONGTYPE
--!reply int(0, 1)
--!case lock == owner => 1 ; del lock
--!case else          => 0
--!writes lock when reply == 1
--!instructions 40

local token = ARGV[1]
if #KEYS ~= 1 or #ARGV ~= 1 or token == "" then
  return redis.error_reply("Expected one key and a non-empty owner token")
end

if redis.call("GET", KEYS[1]) ~= token then
  return 0
end
return redis.call("DEL", KEYS[1])
