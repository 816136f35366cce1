-- Puts what was read from the database into the cache, unless something newer was put there or invalidated it since.
--
--   KEYS[1]  the value, as in cache:{user:7}
--   KEYS[2]  the newest version that is known, of a value or a tombstone, as in cache:{user:7}:version
--   ARGV[1]  the version of what was read, from 1 to 9007199254740991
--   ARGV[2]  the value
--   ARGV[3]  the time for the value in milliseconds, from 1 to 604800000 (a week)
--   ARGV[4]  the time for which its version is remembered, from 1 to 604800000: longer than a read may take
--
-- Replies 1 when the value was put there, 0 when a newer version is known.
--
--!contract cache_refill
--!key   value    any rw ttl=set
--!key   seen     string int(1, 9007199254740991) optional rw ttl=set
--!argv  version  int(1, 9007199254740991)
--!argv  text     bytes
--!argv  ttl      int(1, 604800000)
--!argv  keep     int(1, 604800000)
--!error arity       "Expected two keys, version, value and two TTLs"
--!error version     "Version must be an integer from 1 to 9007199254740991"
--!error ttl, keep   "TTLs must be integers from 1 to 604800000"
--!error seen.type   WRONGTYPE
--!error seen        "The version is no number"
--!reply int(0, 1)
--!case version >= default(seen, 0) =>
--!     1 ; value = text, pttl(value) = ttl, seen = version, pttl(seen) = keep
--!case else => 0
--!instructions 170

if #KEYS ~= 2 or #ARGV ~= 4 then
  return redis.error_reply("Expected two keys, version, value and two TTLs")
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

local version = integer(ARGV[1], 9007199254740991)
if not version then
  return redis.error_reply("Version must be an integer from 1 to 9007199254740991")
end
local ttl, keep = integer(ARGV[3], 604800000), integer(ARGV[4], 604800000)
if not ttl or not keep then
  return redis.error_reply("TTLs must be integers from 1 to 604800000")
end
local text = redis.call("GET", KEYS[2])
local seen = text and integer(text, 9007199254740991)
if text and not seen then
  return redis.error_reply("The version is no number")
end

if seen and version < seen then
  return 0
end
redis.call("SET", KEYS[1], ARGV[2], "PX", ttl)
redis.call("SET", KEYS[2], version, "PX", keep)
return 1
