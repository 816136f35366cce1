-- Takes a value out of the cache and leaves a tombstone with the version that the database has now, so that no slow reader
-- puts an older one back.
--
--   KEYS[1]  the value, as in cache:{user:7}
--   KEYS[2]  the newest version that is known, of a value or a tombstone, as in cache:{user:7}:version
--   ARGV[1]  the version, from 1 to 9007199254740991
--   ARGV[2]  the time for the tombstone in milliseconds, from 1 to 604800000: longer than a read may take
--
-- Replies 1 when the value is gone, 0 when a newer version is known, which stays.
--
--!contract cache_invalidate
--!key   value    any rm
--!key   seen     string int(1, 9007199254740991) optional rw ttl=set
--!argv  version  int(1, 9007199254740991)
--!argv  keep     int(1, 604800000)
--!error arity      "Expected two keys, version and TTL"
--!error version    "Version must be an integer from 1 to 9007199254740991"
--!error keep       "TTL must be an integer from 1 to 604800000"
--!error seen.type  WRONGTYPE
--!error seen       "The version is no number"
--!reply int(0, 1)
--!case version >= default(seen, 0) => 1 ; del value, seen = version, pttl(seen) = keep
--!case else                        => 0
--!instructions 130

if #KEYS ~= 2 or #ARGV ~= 2 then
  return redis.error_reply("Expected two keys, version and TTL")
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

local version, keep = integer(ARGV[1], 9007199254740991), integer(ARGV[2], 604800000)
if not version then
  return redis.error_reply("Version must be an integer from 1 to 9007199254740991")
end
if not keep then
  return redis.error_reply("TTL must be an integer from 1 to 604800000")
end
local text = redis.call("GET", KEYS[2])
local seen = text and integer(text, 9007199254740991)
if text and not seen then
  return redis.error_reply("The version is no number")
end

if seen and version < seen then
  return 0
end
redis.call("DEL", KEYS[1])
redis.call("SET", KEYS[2], version, "PX", keep)
return 1
