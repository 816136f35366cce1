-- Makes a number that is greater than all before it and tells when it was made: milliseconds since 2020 times 4096, and one
-- more for each further number of the same millisecond. It stays below 2^53 until the year 2089.
--
--   KEYS[1]  the last number, as in ids:{events}
--
-- Replies the number. The time is the server's; where that goes back, numbers go on from the last one.
--
--!contract time_id
--!key   last  string int(0, 9007199254740990) optional rw ttl=kept
--!error arity      "Expected one key"
--!error last.type  WRONGTYPE
--!error last       "The last number is no number"
--!reply int(1, 9007199254740991)
--!case default(last, 0) >= (now - 1577836800000) * 4096 => default(last, 0) + 1 ; last = default(last, 0) + 1
--!case else => (now - 1577836800000) * 4096 ; last = (now - 1577836800000) * 4096
--!instructions 100

if #KEYS ~= 1 or #ARGV ~= 0 then
  return redis.error_reply("Expected one key")
end

-- The integer in a canonical text, of at most so much; nil for any other text.
local function integer(text, most)
  if text == "0" or string.find(text, "^[1-9]%d*$") then
    local number = tonumber(text)
    if number <= most then
      return number
    end
  end
end

local last = integer(redis.call("GET", KEYS[1]) or "0", 9007199254740990)
if not last then
  return redis.error_reply("The last number is no number")
end

local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local number = math.max(last + 1, (now - 1577836800000) * 4096)
redis.call("SET", KEYS[1], number, "KEEPTTL")
return number
