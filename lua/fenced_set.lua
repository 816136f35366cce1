-- Writes a value on behalf of the holder of a lock, unless the holder of a later number, or this one, has written.
--
--   KEYS[1]  the value: a string
--   KEYS[2]  the greatest number that has written, from 0 to 9007199254740991; missing is 0; without expiry
--   ARGV[1]  the caller's number: an integer from 1 to 9007199254740991
--   ARGV[2]  the value to write
--
-- Integers are canonical: decimal digits, no sign, no leading zero.
-- Replies {1, the number} when the value was written, {0, the greatest number that has written} when not.
--
--!contract fenced_set
--!key   value  any rw ttl=dropped
--!key   seen   string int(0, 9007199254740991) optional rw ttl=dropped
--!argv  fence  int(1, 9007199254740991)
--!argv  text   bytes
--!error arity      "Expected two keys, fence and value"
--!error fence      "Fence must be a positive bounded integer"
--!error seen.type  WRONGTYPE
--!error seen       "Fence is invalid or used up"
--!reply [0, int(0, 9007199254740991)] | [1, int(1, 9007199254740991)]
--!case fence > default(seen, 0) => [1, fence] ; value = text, seen = fence
--!case else                     => [0, default(seen, 0)]
--!writes value, seen when reply[1] == 1
--!instructions 80

if #KEYS ~= 2 or #ARGV ~= 2 then
  return redis.error_reply("Expected two keys, fence and value")
end

-- The number in a canonical text; nil for any other text.
local function canonical(text)
  if text == "0" or string.find(text, "^[1-9]%d*$") then
    local number = tonumber(text)
    if number <= 9007199254740991 then
      return number
    end
  end
end

local fence = canonical(ARGV[1])
if not fence or fence < 1 then
  return redis.error_reply("Fence must be a positive bounded integer")
end
local seen = canonical(redis.call("GET", KEYS[2]) or "0")
if not seen then
  return redis.error_reply("Fence is invalid or used up")
end
if fence <= seen then
  return {0, seen}
end
redis.call("SET", KEYS[2], ARGV[1])
redis.call("SET", KEYS[1], ARGV[2])
return {1, fence}
