-- Adds a job to a delayed queue, unless one of this name is in it.
--
--   KEYS[1]  the waiting jobs: a sorted set by due time, as in jobs:{mail}:waiting
--   KEYS[2]  the bodies: a hash by name, as in jobs:{mail}:bodies
--   ARGV[1]  the name of the job, not empty
--   ARGV[2]  the delay in milliseconds, from 0 to 31536000000 (a year)
--   ARGV[3]  the body
--
-- Replies 1 when the job was added, 0 when there was one of this name, waiting or running. The time is the server's.
--
--!contract delayed_add
--!key   waiting  zset optional rw ttl=kept
--!key   bodies   hash optional rw ttl=kept
--!argv  job      token
--!argv  delay    int(0, 31536000000)
--!argv  body     bytes
--!error arity, job     "Expected two keys, name of the job, delay and body"
--!error delay          "Delay must be an integer from 0 to 31536000000"
--!error bodies.type    WRONGTYPE
--!error waiting.type   WRONGTYPE
--!reply int(0, 1)
--!case has(bodies, job) => 0
--!case else             => 1 ; change waiting, change bodies
--!writes waiting, bodies when reply == 1
--!instructions 110

if #KEYS ~= 2 or #ARGV ~= 3 or ARGV[1] == "" then
  return redis.error_reply("Expected two keys, name of the job, delay and body")
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

local job, delay, body = ARGV[1], integer(ARGV[2], 31536000000), ARGV[3]
if not delay then
  return redis.error_reply("Delay must be an integer from 0 to 31536000000")
end

local known = redis.call("HEXISTS", KEYS[2], job)
-- Here an error of type is raised before anything is written.
redis.call("ZCARD", KEYS[1])
if known == 1 then
  return 0
end
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call("HSET", KEYS[2], job, body)
redis.call("ZADD", KEYS[1], now + delay, job)
return 1
