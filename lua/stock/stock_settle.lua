-- Ends the reservation of an order: the quantity is sold, or goes back to the stock.
--
--   KEYS[1]  the stock that is free: a string with an integer from 0 to 1000000000, as in stock:{p1}
--   KEYS[2]  what is reserved: a hash, quantity by order, as in stock:{p1}:held
--   KEYS[3]  until when: a sorted set, as in stock:{p1}:until
--   ARGV[1]  the order, not empty
--   ARGV[2]  "confirm" or "cancel"
--
-- Replies {1, what is free}, or {0, what is free} when nothing is reserved for the order, or the stock would hold too much.
--
--!contract stock_settle
--!key   stock  string int(0, 1000000000) required rw ttl=kept
--!key   held   hash of int(1, 1000000) optional rw rm ttl=kept
--!key   until  zset optional rw rm ttl=kept
--!argv  order  token
--!argv  how    one_of("confirm", "cancel")
--!error arity, order  "Expected three keys, order and what to do"
--!error how           "What to do is confirm or cancel"
--!error stock.type    WRONGTYPE
--!error stock         "Stock is missing or invalid"
--!error held.type     WRONGTYPE
--!error until.type    WRONGTYPE
--!reply [int(0, 1), int(0, 1000000000)]
--!case not has(held, order) => [0, stock]
--!case how == "confirm"     => [1, stock] ; change held, change until
--!case stock + default(field(held, order), 0) > 1000000000 => [0, stock]
--!case else => [1, stock + default(field(held, order), 0)] ;
--!     stock = stock + default(field(held, order), 0), change held, change until
--!writes stock, held, until when reply[1] == 1
--!instructions 140

if #KEYS ~= 3 or #ARGV ~= 2 or ARGV[1] == "" then
  return redis.error_reply("Expected three keys, order and what to do")
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

local order, how = ARGV[1], ARGV[2]
if how ~= "confirm" and how ~= "cancel" then
  return redis.error_reply("What to do is confirm or cancel")
end
local stock = integer(redis.call("GET", KEYS[1]) or "", 0, 1000000000)
if not stock then
  return redis.error_reply("Stock is missing or invalid")
end
local held = redis.call("HGET", KEYS[2], order)
-- Here an error of type is raised before anything is written.
redis.call("ZCARD", KEYS[3])

local quantity = integer(held or "0", 0, 1000000) or 0
if not held or how == "cancel" and stock + quantity > 1000000000 then
  return {0, stock}
end
redis.call("HDEL", KEYS[2], order)
redis.call("ZREM", KEYS[3], order)
if how == "cancel" then
  stock = redis.call("INCRBY", KEYS[1], quantity)
end
return {1, stock}
