-- Gives a lock back once that its holder may have taken several times; it is free when it was given back as often.
--
--   KEYS[1]  the lock: the token of whoever holds it, as in lock:{order:7}
--   KEYS[2]  how often it has been taken, as in lock:{order:7}:depth
--   ARGV[1]  the caller's token, not empty
--
-- Replies how often the caller still holds it: 0 when it is free now, -1 when it was not the caller's.
--
--!contract reentrant_unlock
--!key   lock   string bytes optional rm
--!key   depth  string int(1, 1000000) optional rw rm ttl=kept
--!argv  owner  token
--!error arity, owner  "Expected two keys and a non-empty owner token"
--!error lock.type     WRONGTYPE
--!error depth.type    WRONGTYPE
--!error depth         "The depth of the lock is no count"
--!reply int(-1, 999999)
--!case lock == owner and default(depth, 1) > 1 => default(depth, 1) - 1 ; depth = default(depth, 1) - 1
--!case lock == owner                           => 0 ; del lock, del depth
--!case else                                    => -1
--!instructions 90

if #KEYS ~= 2 or #ARGV ~= 1 or ARGV[1] == "" then
  return redis.error_reply("Expected two keys and a non-empty owner token")
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

local holder = redis.call("GET", KEYS[1])
local depth = integer(redis.call("GET", KEYS[2]) or "1", 1000000)
if not depth then
  return redis.error_reply("The depth of the lock is no count")
end

if holder ~= ARGV[1] then
  return -1
end
if depth > 1 then
  return redis.call("DECR", KEYS[2])
end
redis.call("DEL", KEYS[1], KEYS[2])
return 0
