-- Reads a member of a board with its neighbours, the better ones first.
--
--   KEYS[1]  the board: a sorted set, as in board:{game}:2026-11
--   ARGV[1]  the member, not empty
--   ARGV[2]  how many neighbours on each side, from 0 to 1000
--
-- Replies {place of the first one, {member, score, member, score, ...}}, or null when the member is not on the board.
--
--!contract leaderboard_window
--!key   board    zset optional ro
--!argv  member   token
--!argv  radius   int(0, 1000)
--!error arity, member  "Expected one key, member and radius"
--!error radius         "Radius must be an integer from 0 to 1000"
--!error board.type     WRONGTYPE
--!reply nil | [int(1, 9007199254740991), [bytes...]]
--!case not exists(board) => nil
--!case else              => any
--!instructions 100

if #KEYS ~= 1 or #ARGV ~= 2 or ARGV[1] == "" then
  return redis.error_reply("Expected one key, member and radius")
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

local radius = integer(ARGV[2], 1000)
if not radius then
  return redis.error_reply("Radius must be an integer from 0 to 1000")
end
local place = redis.call("ZREVRANK", KEYS[1], ARGV[1])
if not place then
  return false
end
local first = math.max(0, place - radius)
return {first + 1, redis.call("ZREVRANGE", KEYS[1], first, place + radius, "WITHSCORES")}
