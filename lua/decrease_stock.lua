-- Takes a quantity out of a stock, if the stock has it; else nothing changes.
--
--   KEYS[1]  the stock: a string with an integer from 0 to 1000000000
--   ARGV[1]  the quantity: an integer from 1 to 1000000000
--
-- Integers are canonical: decimal digits, no sign, no leading zero.
-- Replies {1, what is left} or {0, what there is}.
--
--!contract decrease_stock
--!key   stock     string int(0, 1000000000) canonical required rw ttl=kept
--!argv  quantity  int(1, 1000000000) canonical
--!error arity       "Expected one key and one argument"
--!error quantity    "Quantity must be a positive bounded integer"
--!error stock       "Stock is missing or invalid"
--!error stock.type  WRONGTYPE
--!reply [0, int(0, 999999999)] | [1, int(0, 999999999)]
--!case stock >= quantity => [1, stock - quantity] ; stock = stock - quantity
--!case else              => [0, stock]
--!writes stock when reply[1] == 1
--!instructions 100

if #KEYS ~= 1 or #ARGV ~= 1 then
  return redis.error_reply("Expected one key and one argument")
end

local find, MOST = string.find, 1000000000

-- The number in a canonical text between `least` and MOST; nil for any other text, and for a missing key (false).
local function canonical(text, least)
  if text and #text <= 10 and (text == "0" or find(text, "^[1-9]%d*$")) then
    local number = tonumber(text)
    if number >= least and number <= MOST then
      return number
    end
  end
end

local quantity = canonical(ARGV[1], 1)
if not quantity then
  return redis.error_reply("Quantity must be a positive bounded integer")
end

local stock = canonical(redis.call("GET", KEYS[1]), 0)
if not stock then
  return redis.error_reply("Stock is missing or invalid")
end
if stock < quantity then
  return {0, stock}
end
return {1, redis.call("DECRBY", KEYS[1], quantity)}
