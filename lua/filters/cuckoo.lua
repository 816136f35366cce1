-- A cuckoo filter: as a Bloom filter, but items can be removed. Each item leaves a fingerprint of one byte in one of two
-- buckets of four places.
--
--   KEYS[1]  the filter: a string of four bytes a bucket, as in seen:{mail}
--   ARGV[1]  what to do: "add", "check" or "remove"
--   ARGV[2]  the item
--   ARGV[3]  how many buckets there are as a power of two, from 1 to 20
--
-- Replies 1 when the item was added, is in it (or seems to be), was removed; 0 when the filter is full, the item is not in it.
-- Add an item once, and remove only what was added.
--
--!contract cuckoo
--!key   filter  string bytes optional rw ttl=kept
--!argv  how     one_of("add", "check", "remove")
--!argv  item    bytes
--!argv  power   int(1, 20)
--!error arity        "Expected one key, what to do, item and power"
--!error how          "What to do is add, check or remove"
--!error power        "Power must be an integer from 1 to 20"
--!error filter.type  WRONGTYPE
--!reply int(0, 1)
--!case how == "check" and not exists(filter)  => 0
--!case how == "check"                         => any
--!case how == "remove" and not exists(filter) => 0
--!case how == "add" and not exists(filter)    => 1 ; change filter
--!case else                                   => any ; change filter
--!writes filter when reply == 1
--!instructions 12000

if #KEYS ~= 1 or #ARGV ~= 3 then
  return redis.error_reply("Expected one key, what to do, item and power")
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

local how, power = ARGV[1], integer(ARGV[3], 20)
if how ~= "add" and how ~= "check" and how ~= "remove" then
  return redis.error_reply("What to do is add, check or remove")
end
if not power then
  return redis.error_reply("Power must be an integer from 1 to 20")
end

local buckets = 2 ^ power
-- Here an error of type is raised; a bucket that is not there yet is empty.
local function read(bucket)
  local text = redis.call("GETRANGE", KEYS[1], bucket * 4, bucket * 4 + 3)
  return {string.byte(text .. string.rep("\0", 4 - #text), 1, 4)}
end

-- A fingerprint says where its other bucket is: the same step leads there and back.
local function other(bucket, mark)
  return bit.bxor(bucket, tonumber(string.sub(redis.sha1hex(mark), 1, 8), 16) % buckets)
end

local digest = redis.sha1hex(ARGV[2])
local mark = tonumber(string.sub(digest, 1, 2), 16) % 255 + 1
local home = tonumber(string.sub(digest, 3, 10), 16) % buckets
local places = {home, other(home, mark)}

if how ~= "add" then
  for _, bucket in ipairs(places) do
    for place, found in ipairs(read(bucket)) do
      if found == mark then
        if how == "remove" then
          redis.call("SETRANGE", KEYS[1], bucket * 4 + place - 1, "\0")
        end
        return 1
      end
    end
  end
  return 0
end

-- Moves are planned first, and made when the last mark has found a place.
local planned, order, bucket = {}, {}, places[1]
local function plan(at, moved)
  if not planned[at] then
    order[#order + 1] = at
  end
  planned[at] = moved
end
for step = 0, 50 do
  for _, candidate in ipairs(step == 0 and places or {bucket}) do
    for place, found in ipairs(read(candidate)) do
      local at = candidate * 4 + place - 1
      if found == 0 and not planned[at] then
        plan(at, mark)
        for _, moved in ipairs(order) do
          redis.call("SETRANGE", KEYS[1], moved, string.char(planned[moved]))
        end
        return 1
      end
    end
  end
  -- The mark takes a place, and the one that stood there goes on to its other bucket.
  local place = step % 4
  local at = bucket * 4 + place
  local evicted = planned[at] or read(bucket)[place + 1]
  plan(at, mark)
  mark, bucket = evicted, other(bucket, evicted)
end
return 0
