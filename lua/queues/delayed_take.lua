-- Takes the job that is due first out of a delayed queue, for a time in which it must be acknowledged: else it is given out
-- again.
--
--   KEYS[1]  the waiting jobs: a sorted set by due time, as in jobs:{mail}:waiting
--   KEYS[2]  the bodies: a hash by name, as in jobs:{mail}:bodies
--   KEYS[3]  the running jobs: a sorted set by the end of their time, as in jobs:{mail}:running
--   ARGV[1]  the time for the job in milliseconds, from 1 to 86400000 (a day)
--
-- Replies {name, body}, or null when no job is due. The time is the server's.
--
--!contract delayed_take
--!key   waiting  zset optional rw rm ttl=kept
--!key   bodies   hash optional ro
--!key   running  zset optional rw ttl=kept
--!argv  time     int(1, 86400000)
--!error arity         "Expected three keys and the time for a job"
--!error time          "Time must be an integer from 1 to 86400000"
--!error waiting.type  WRONGTYPE
--!error running.type  WRONGTYPE
--!error bodies.type   WRONGTYPE
--!reply nil | [bytes, bytes]
--!case not exists(waiting) and not exists(running) => nil
--!case else => any ; change waiting, change running
--!writes waiting, running when reply != nil
--!instructions 160

if #KEYS ~= 3 or #ARGV ~= 1 then
  return redis.error_reply("Expected three keys and the time for a job")
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

local given = integer(ARGV[1], 86400000)
if not given then
  return redis.error_reply("Time must be an integer from 1 to 86400000")
end

local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local due = redis.call("ZRANGEBYSCORE", KEYS[1], "-inf", now, "WITHSCORES", "LIMIT", 0, 1)
local late = redis.call("ZRANGEBYSCORE", KEYS[3], "-inf", now, "WITHSCORES", "LIMIT", 0, 1)
-- The one that has waited longest: due for the first time, or because its time was over.
local job = due[1] or late[1]
if late[1] and due[1] and tonumber(late[2]) < tonumber(due[2]) then
  job = late[1]
end
local body = redis.call("HGET", KEYS[2], job or "")
if not job then
  return false
end
redis.call("ZREM", KEYS[1], job)
redis.call("ZADD", KEYS[3], now + given, job)
return {job, body or ""}
