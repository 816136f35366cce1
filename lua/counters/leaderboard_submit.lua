-- Notes a score on a board that keeps each member's best one, and the best members only.
--
--   KEYS[1]  the board: a sorted set, as in board:{game}:2026-11
--   ARGV[1]  the member, not empty
--   ARGV[2]  the score, an integer from 0 to 1000000000
--   ARGV[3]  how many members the board keeps, from 1 to 100000
--
-- Replies the member's place, 1 for the best, or 0 when it is not on the board.
--
--!contract leaderboard_submit
--!key   board   zset optional rw ttl=kept
--!argv  member  token
--!argv  score   int(0, 1000000000)
--!argv  size    int(1, 100000)
--!error arity, member  "Expected one key, member, score and size"
--!error score          "Score must be an integer from 0 to 1000000000"
--!error size           "Size must be an integer from 1 to 100000"
--!error board.type     WRONGTYPE
--!reply int(0, 100000)
--!case not exists(board) => 1 ; change board
--!case else              => any ; change board
--!instructions 130

if #KEYS ~= 1 or #ARGV ~= 3 or ARGV[1] == "" then
  return redis.error_reply("Expected one key, member, score and size")
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

local score, size = integer(ARGV[2], 0, 1000000000), integer(ARGV[3], 1, 100000)
if not score then
  return redis.error_reply("Score must be an integer from 0 to 1000000000")
end
if not size then
  return redis.error_reply("Size must be an integer from 1 to 100000")
end

redis.call("ZADD", KEYS[1], "GT", score, ARGV[1])
redis.call("ZREMRANGEBYRANK", KEYS[1], 0, -size - 1)
local place = redis.call("ZREVRANK", KEYS[1], ARGV[1])
return place and place + 1 or 0
