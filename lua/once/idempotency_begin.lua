-- Begins a piece of work that is to be done once, whoever asks for it how often.
--
--   KEYS[1]  the result, as in once:{payment:7}
--   KEYS[2]  the token of whoever works on it, as in once:{payment:7}:worker
--   ARGV[1]  the caller's token, not empty
--   ARGV[2]  the time for the work in milliseconds, from 1 to 86400000 (a day)
--
-- Replies {"done", result}, {"started"} to whoever is to do it now, {"running"} to others.
--
--!contract idempotency_begin
--!key   result  string bytes optional ro
--!key   worker  string bytes optional rw ttl=set
--!argv  token   token
--!argv  time    int(1, 86400000)
--!error arity, token  "Expected two keys, token and time"
--!error time          "Time must be an integer from 1 to 86400000"
--!error result.type   WRONGTYPE
--!error worker.type   WRONGTYPE
--!reply ["done", bytes] | ["started"] | ["running"]
--!case exists(result)     => ["done", result]
--!case not exists(worker) => ["started"] ; worker = token, pttl(worker) = time
--!case worker == token    => ["started"] ; pttl(worker) = time
--!case else               => ["running"]
--!instructions 90

if #KEYS ~= 2 or #ARGV ~= 2 or ARGV[1] == "" then
  return redis.error_reply("Expected two keys, token and time")
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

local token, given = ARGV[1], integer(ARGV[2], 86400000)
if not given then
  return redis.error_reply("Time must be an integer from 1 to 86400000")
end
local result, worker = redis.call("GET", KEYS[1]), redis.call("GET", KEYS[2])
if result then
  return {"done", result}
end
if worker and worker ~= token then
  return {"running"}
end
redis.call("SET", KEYS[2], token, "PX", given)
return {"started"}
