-- Gives back to the stock what was reserved and not confirmed in time.
--
--   KEYS[1]  the stock that is free: a string with an integer from 0 to 1000000000, as in stock:{p1}
--   KEYS[2]  what is reserved: a hash, quantity by order, as in stock:{p1}:held
--   KEYS[3]  until when: a sorted set, as in stock:{p1}:until
--   ARGV[1]  how many reservations to end at most, from 1 to 100
--
-- Replies {how many were ended, what is free}. The time is the server's.
--
--!contract stock_sweep
--!key   stock  string int(0, 1000000000) required rw ttl=kept
--!key   held   hash optional rw rm ttl=kept
--!key   until  zset optional rw rm ttl=kept
--!argv  most   int(1, 100)
--!error arity       "Expected three keys and how many to end"
--!error most        "How many must be an integer from 1 to 100"
--!error stock.type  WRONGTYPE
--!error stock       "Stock is missing or invalid"
--!error held.type   WRONGTYPE
--!error until.type  WRONGTYPE
--!reply [int(0, 100), int(0, 1000000000)]
--!case not exists(until)                  => [0, stock]
--!case not exists(held)                   => [any, stock] ; change until
--!case else => any ; change stock, change held, change until
--!instructions 5500

if #KEYS ~= 3 or #ARGV ~= 1 then
  return redis.error_reply("Expected three keys and how many to end")
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

local most = integer(ARGV[1], 1, 100)
if not most then
  return redis.error_reply("How many must be an integer from 1 to 100")
end
local stock = integer(redis.call("GET", KEYS[1]) or "", 0, 1000000000)
if not stock then
  return redis.error_reply("Stock is missing or invalid")
end
-- Here an error of type is raised before anything is written.
redis.call("HLEN", KEYS[2])

local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local over = redis.call("ZRANGEBYSCORE", KEYS[3], "-inf", now, "LIMIT", 0, most)
local back, ended = 0, 0
for _, order in ipairs(over) do
  local quantity = integer(redis.call("HGET", KEYS[2], order) or "0", 0, 1000000) or 0
  if stock + back + quantity > 1000000000 then
    break
  end
  back, ended = back + quantity, ended + 1
  redis.call("HDEL", KEYS[2], order)
  redis.call("ZREM", KEYS[3], order)
end
if back > 0 then
  stock = redis.call("INCRBY", KEYS[1], back)
end
return {ended, stock}
