-- Sets a field of a hash, unless a later version of the whole has been merged already.
--
--   KEYS[1]  the hash, as in profile:{user:7}
--   KEYS[2]  the version of the last merge, as in profile:{user:7}:version
--   ARGV[1]  the version, from 1 to 9007199254740991
--   ARGV[2]  the field, not empty
--   ARGV[3]  its value; an empty one removes the field
--
-- Replies 1 when the field was merged, 0 when a later version has been.
--
--!contract merge_field
--!key   data     hash optional rw rm ttl=kept
--!key   seen     string int(1, 9007199254740991) optional rw ttl=kept
--!argv  version  int(1, 9007199254740991)
--!argv  field    token
--!argv  text     bytes
--!error arity, field  "Expected two keys, version, field and value"
--!error version       "Version must be an integer from 1 to 9007199254740991"
--!error data.type     WRONGTYPE
--!error seen.type     WRONGTYPE
--!error seen          "The version is no number"
--!reply int(0, 1)
--!case version >= default(seen, 0) and text == "" and not exists(data) => 1 ; seen = version
--!case version >= default(seen, 0) => 1 ; change data, seen = version
--!case else                        => 0
--!instructions 120

if #KEYS ~= 2 or #ARGV ~= 3 or ARGV[2] == "" then
  return redis.error_reply("Expected two keys, version, field and value")
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
-- Here an error of type is raised before anything is written.
redis.call("HLEN", KEYS[1])
local text = redis.call("GET", KEYS[2])
local seen = text and integer(text, 9007199254740991)
if text and not seen then
  return redis.error_reply("The version is no number")
end

if seen and version < seen then
  return 0
end
if ARGV[3] == "" then
  redis.call("HDEL", KEYS[1], ARGV[2])
else
  redis.call("HSET", KEYS[1], ARGV[2], ARGV[3])
end
redis.call("SET", KEYS[2], version, "KEEPTTL")
return 1
