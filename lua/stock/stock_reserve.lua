-- Reserves a quantity of a stock for an order, for a time in which it must be confirmed: else stock_sweep gives it back.
--
--   KEYS[1]  the stock that is free: a string with an integer from 0 to 1000000000, as in stock:{p1}
--   KEYS[2]  what is reserved: a hash, quantity by order, as in stock:{p1}:held
--   KEYS[3]  until when: a sorted set, as in stock:{p1}:until
--   ARGV[1]  the order, not empty
--   ARGV[2]  the quantity, from 1 to 1000000
--   ARGV[3]  the time in milliseconds, from 1 to 604800000 (a week)
--
-- Replies {1, what is free} when it is reserved, now or by an earlier call for the order and quantity, which gets the time
-- from now; {0, what is free} when there is not enough, or the order has reserved another quantity. The time is the server's.
--
--!contract stock_reserve
--!key   stock     string int(0, 1000000000) required rw ttl=kept
--!key   held      hash of int(1, 1000000) optional rw ttl=kept
--!key   until     zset optional rw ttl=kept
--!argv  order     token
--!argv  quantity  int(1, 1000000)
--!argv  time      int(1, 604800000)
--!error arity, order  "Expected three keys, order, quantity and time"
--!error quantity      "Quantity must be an integer from 1 to 1000000"
--!error time          "Time must be an integer from 1 to 604800000"
--!error stock.type    WRONGTYPE
--!error stock         "Stock is missing or invalid"
--!error held.type     WRONGTYPE
--!error until.type    WRONGTYPE
--!reply [int(0, 1), int(0, 1000000000)]
--!case field(held, order) == quantity        => [1, stock] ; change until
--!case has(held, order) or stock < quantity  => [0, stock]
--!case else => [1, stock - quantity] ; stock = stock - quantity, change held, change until
--!writes stock, held, until when reply[1] == 1
--!instructions 170

if #KEYS ~= 3 or #ARGV ~= 3 or ARGV[1] == "" then
  return redis.error_reply("Expected three keys, order, quantity and time")
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

local order, quantity, given = ARGV[1], integer(ARGV[2], 1, 1000000), integer(ARGV[3], 1, 604800000)
if not quantity then
  return redis.error_reply("Quantity must be an integer from 1 to 1000000")
end
if not given then
  return redis.error_reply("Time must be an integer from 1 to 604800000")
end
local stock = integer(redis.call("GET", KEYS[1]) or "", 0, 1000000000)
if not stock then
  return redis.error_reply("Stock is missing or invalid")
end
local held = redis.call("HGET", KEYS[2], order)
-- Here an error of type is raised before anything is written.
redis.call("ZCARD", KEYS[3])

local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if held then
  -- Sent again it gets the time from now; another quantity is another reservation.
  if held ~= ARGV[2] then
    return {0, stock}
  end
  redis.call("ZADD", KEYS[3], now + given, order)
  return {1, stock}
end
if stock < quantity then
  return {0, stock}
end
redis.call("HSET", KEYS[2], order, quantity)
redis.call("ZADD", KEYS[3], now + given, order)
return {1, redis.call("DECRBY", KEYS[1], quantity)}
