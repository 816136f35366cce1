-- Gives a lock more time, if it is still the caller's and its time is not over.
--
--   KEYS[1]  the lock: a string with the token of whoever holds it
--   ARGV[1]  the caller's token, not empty
--   ARGV[2]  the time from now in milliseconds: digits, from 1 to 604800000 (a week)
--
-- Replies 1 when the lock has the new time, 0 when it is not the caller's, has no expiry, or has no time left.
--
--!contract renew_lock
--!key   lock   string bytes optional rw ttl=set
--!argv  owner  token
--!argv  ttl    int(1, 604800000) digits
--!error arity, owner  "Expected one key, owner token and TTL"
--!error ttl.syntax    "TTL must be a positive bounded integer"
--!error ttl.range     "Invalid TTL"
--!error lock.type     WRONGTYPE
--!reply int(0, 1)
--!case lock == owner and pttl(lock) > 0 => 1 ; pttl(lock) = ttl
--!case else                             => 0
--!writes lock when reply == 1
--!instructions 60

local token, ttl = ARGV[1], ARGV[2]
if #KEYS ~= 1 or #ARGV ~= 2 or token == "" then
  return redis.error_reply("Expected one key, owner token and TTL")
end
if not string.find(ttl, "^%d+$") then
  return redis.error_reply("TTL must be a positive bounded integer")
end

local ttl_ms = tonumber(ttl)
if not ttl_ms or ttl_ms < 1 or ttl_ms > 604800000 then
  return redis.error_reply("Invalid TTL")
end

if redis.call("GET", KEYS[1]) == token and redis.call("PTTL", KEYS[1]) > 0 then
  return redis.call("PEXPIRE", KEYS[1], ttl_ms)
end
return 0
