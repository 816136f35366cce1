-- Gives out a block of numbers that nobody else gets.
--
--   KEYS[1]  the last number that was given out, as in ids:{orders}
--   ARGV[1]  how many numbers, from 1 to 1000000
--
-- Replies {first, last}.
--
--!contract id_block
--!key   last   string int(0, 9007199254740991) optional rw ttl=kept
--!argv  count  int(1, 1000000)
--!error arity      "Expected one key and a count"
--!error count      "Count must be an integer from 1 to 1000000"
--!error last.type  WRONGTYPE
--!error last       "The last number is no number"
--!reply [int(1, 9007199254740991), int(1, 9007199254740991)]
--!case default(last, 0) + count > 9007199254740991 => error "The numbers are used up"
--!case else => [default(last, 0) + 1, default(last, 0) + count] ; last = default(last, 0) + count
--!instructions 90

if #KEYS ~= 1 or #ARGV ~= 1 then
  return redis.error_reply("Expected one key and a count")
end

-- The integer in a canonical text, within the bounds; nil for any other text.
local function integer(text, least, most)
  if text == "0" or string.find(text, "^[1-9]%d*$") then
    local number = tonumber(text)
    if number >= least and number <= most then
      return number
    end
  end
end

local MOST = 9007199254740991
local count = integer(ARGV[1], 1, 1000000)
if not count then
  return redis.error_reply("Count must be an integer from 1 to 1000000")
end
local last = integer(redis.call("GET", KEYS[1]) or "0", 0, MOST)
if not last then
  return redis.error_reply("The last number is no number")
end
if last > MOST - count then
  return redis.error_reply("The numbers are used up")
end
redis.call("INCRBY", KEYS[1], count)
return {last + 1, last + count}
