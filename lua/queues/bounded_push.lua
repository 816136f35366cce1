-- Puts an item in front of a list that keeps the newest ones only.
--
--   KEYS[1]  the list, as in recent:{user:7}
--   ARGV[1]  the item
--   ARGV[2]  how many items the list keeps, from 1 to 100000
--
-- Replies how many items the list has then.
--
--!contract bounded_push
--!key   recent    list optional rw ttl=kept
--!argv  item      bytes
--!argv  capacity  int(1, 100000)
--!error arity        "Expected one key, an item and a capacity"
--!error capacity     "Capacity must be an integer from 1 to 100000"
--!error recent.type  WRONGTYPE
--!reply int(1, 100000)
--!case len(recent) < capacity => len(recent) + 1 ; change recent
--!case else                   => capacity ; change recent
--!instructions 70

if #KEYS ~= 1 or #ARGV ~= 2 then
  return redis.error_reply("Expected one key, an item and a capacity")
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

local capacity = integer(ARGV[2], 100000)
if not capacity then
  return redis.error_reply("Capacity must be an integer from 1 to 100000")
end
local length = redis.call("LPUSH", KEYS[1], ARGV[1])
if length > capacity then
  redis.call("LTRIM", KEYS[1], 0, capacity - 1)
end
return math.min(length, capacity)
