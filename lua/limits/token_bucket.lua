-- Takes tokens out of a bucket that fills at a steady rate up to its capacity.
--
--   KEYS[1]  the bucket: a hash, as in bucket:{user:7}
--   ARGV[1]  the capacity in tokens, from 1 to 1000000
--   ARGV[2]  tokens that come in a second, from 1 to 1000000
--   ARGV[3]  tokens to take, from 1 to 1000000
--
-- Replies {1, whole tokens left} or {0, milliseconds until there are enough}; -1 when the bucket never holds so many. The
-- time is the server's. Levels are counted in thousandths of a token, so that nothing is rounded away.
--
--!contract token_bucket
--!key   bucket    hash optional rw ttl=any
--!argv  capacity  int(1, 1000000)
--!argv  rate      int(1, 1000000)
--!argv  cost      int(1, 1000000)
--!error arity        "Expected one key, capacity, rate and cost"
--!error capacity     "Capacity must be an integer from 1 to 1000000"
--!error rate         "Rate must be an integer from 1 to 1000000"
--!error cost         "Cost must be an integer from 1 to 1000000"
--!error bucket.type  WRONGTYPE
--!reply [1, int(0, 999999)] | [0, int(1, 1000000000)] | [0, -1]
--!case cost > capacity    => [0, -1]
--!case not exists(bucket) =>
--!     [1, capacity - cost] ; change bucket, pttl(bucket) = (cost * 1000 + rate - 1) / rate
--!case else               => any ; change bucket
--!instructions 220

if #KEYS ~= 1 or #ARGV ~= 3 then
  return redis.error_reply("Expected one key, capacity, rate and cost")
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

local capacity, rate, cost = integer(ARGV[1], 1, 1000000), integer(ARGV[2], 1, 1000000), integer(ARGV[3], 1, 1000000)
if not capacity then
  return redis.error_reply("Capacity must be an integer from 1 to 1000000")
end
if not rate then
  return redis.error_reply("Rate must be an integer from 1 to 1000000")
end
if not cost then
  return redis.error_reply("Cost must be an integer from 1 to 1000000")
end

local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local held = redis.call("HMGET", KEYS[1], "level", "at")
if cost > capacity then
  return {0, -1}
end
local full, price = capacity * 1000, cost * 1000
local level, at = integer(held[1] or "", 0, 1000000000) or full, integer(held[2] or "", 0, 9007199254740991) or now
-- In a millisecond come as many thousandths as tokens in a second.
level = math.min(full, level + math.max(0, now - at) * rate)
if level < price then
  return {0, math.ceil((price - level) / rate)}
end
level = level - price
redis.call("HSET", KEYS[1], "level", level, "at", now)
redis.call("PEXPIRE", KEYS[1], math.ceil((full - level) / rate))
return {1, math.floor(level / 1000)}
