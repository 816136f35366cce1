-- Adds an item to a Bloom filter: a set that takes little memory and may hold an item to be in it that is not, never the
-- other way round.
--
--   KEYS[1]  the filter: bits, as in seen:{crawl}
--   ARGV[1]  the item
--   ARGV[2]  how many bits it has, from 8 to 67108864: about ten for each item that it will hold
--   ARGV[3]  how many bits an item sets, from 1 to 16: seven with ten bits an item
--
-- Replies 1 when the item was not in it, 0 when it was, or seems to have been.
--
--!contract bloom_add
--!key   filter  string bytes optional rw ttl=kept
--!argv  item    bytes
--!argv  bits    int(8, 67108864)
--!argv  hashes  int(1, 16)
--!error arity        "Expected one key, item, bits and hashes"
--!error bits         "Bits must be an integer from 8 to 67108864"
--!error hashes       "Hashes must be an integer from 1 to 16"
--!error filter.type  WRONGTYPE
--!reply int(0, 1)
--!case not exists(filter) => 1 ; change filter
--!case else               => any ; change filter
--!instructions 450

if #KEYS ~= 1 or #ARGV ~= 3 then
  return redis.error_reply("Expected one key, item, bits and hashes")
end

-- The integer in a canonical text, within the bounds; nil for any other text.
local function integer(text, least, most)
  if string.find(text, "^[1-9]%d*$") then
    local number = tonumber(text)
    if number >= least and number <= most then
      return number
    end
  end
end

local bits, hashes = integer(ARGV[2], 8, 67108864), integer(ARGV[3], 1, 16)
if not bits then
  return redis.error_reply("Bits must be an integer from 8 to 67108864")
end
if not hashes then
  return redis.error_reply("Hashes must be an integer from 1 to 16")
end

-- Two hashes make all others.
local digest = redis.sha1hex(ARGV[1])
local first, step = tonumber(string.sub(digest, 1, 8), 16), tonumber(string.sub(digest, 9, 16), 16)
local new = 0
for i = 0, hashes - 1 do
  if redis.call("SETBIT", KEYS[1], (first + i * step) % bits, 1) == 0 then
    new = 1
  end
end
return new
