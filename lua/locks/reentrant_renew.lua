-- Gives a lock that its holder may have taken several times more time, if it is still the caller's.
--
--   KEYS[1]  the lock: the token of whoever holds it, as in lock:{order:7}
--   KEYS[2]  how often it has been taken, as in lock:{order:7}:depth
--   ARGV[1]  the caller's token, not empty
--   ARGV[2]  the time from now in milliseconds, from 1 to 604800000 (a week)
--
-- Replies 1 when the lock has the new time, 0 when it is not the caller's or has no time left.
--
--!contract reentrant_renew
--!key   lock   string bytes optional rw ttl=set
--!key   depth  string int(1, 1000000) optional rw ttl=set
--!argv  owner  token
--!argv  ttl    int(1, 604800000)
--!error arity, owner  "Expected two keys, owner token and TTL"
--!error ttl           "TTL must be an integer from 1 to 604800000"
--!error lock.type     WRONGTYPE
--!error depth.type    WRONGTYPE
--!error depth         "The depth of the lock is no count"
--!reply int(0, 1)
--!case lock == owner and pttl(lock) > 0 and exists(depth) => 1 ; pttl(lock) = ttl, pttl(depth) = ttl
--!case lock == owner and pttl(lock) > 0                   => 1 ; pttl(lock) = ttl
--!case else                                               => 0
--!writes lock, depth when reply == 1
--!instructions 110

if #KEYS ~= 2 or #ARGV ~= 2 or ARGV[1] == "" then
  return redis.error_reply("Expected two keys, owner token and TTL")
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

local owner, ttl = ARGV[1], integer(ARGV[2], 604800000)
if not ttl then
  return redis.error_reply("TTL must be an integer from 1 to 604800000")
end
local holder = redis.call("GET", KEYS[1])
if not integer(redis.call("GET", KEYS[2]) or "1", 1000000) then
  return redis.error_reply("The depth of the lock is no count")
end

if holder ~= owner or redis.call("PTTL", KEYS[1]) <= 0 then
  return 0
end
redis.call("PEXPIRE", KEYS[1], ttl)
redis.call("PEXPIRE", KEYS[2], ttl)
return 1
