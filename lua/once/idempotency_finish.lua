-- Ends a piece of work that is to be done once (idempotency_begin), with its result for all who ask later.
--
--   KEYS[1]  the result, as in once:{payment:7}
--   KEYS[2]  the token of whoever works on it, as in once:{payment:7}:worker
--   ARGV[1]  the caller's token, not empty
--   ARGV[2]  the result
--   ARGV[3]  for how long it is remembered in milliseconds, from 1 to 2592000000 (30 days)
--
-- Replies 1 when the result was kept, 0 when there is one already or the work is not the caller's any more.
--
--!contract idempotency_finish
--!key   result  string bytes optional rw ttl=set
--!key   worker  string bytes optional rm
--!argv  token   token
--!argv  text    bytes
--!argv  keep    int(1, 2592000000)
--!error arity, token  "Expected two keys, token, result and time"
--!error keep          "Time must be an integer from 1 to 2592000000"
--!error result.type   WRONGTYPE
--!error worker.type   WRONGTYPE
--!reply int(0, 1)
--!case not exists(result) and worker == token => 1 ; result = text, pttl(result) = keep, del worker
--!case else                                   => 0
--!instructions 90

if #KEYS ~= 2 or #ARGV ~= 3 or ARGV[1] == "" then
  return redis.error_reply("Expected two keys, token, result and time")
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

local keep = integer(ARGV[3], 2592000000)
if not keep then
  return redis.error_reply("Time must be an integer from 1 to 2592000000")
end
local result, worker = redis.call("GET", KEYS[1]), redis.call("GET", KEYS[2])
if result or worker ~= ARGV[1] then
  return 0
end
redis.call("SET", KEYS[1], ARGV[2], "PX", keep)
return redis.call("DEL", KEYS[2])
