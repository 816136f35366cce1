-- Asks a circuit breaker whether a call may be made: none while it is open, one to try when that time is over.
--
--   KEYS[1]  failures in a row, as in breaker:{pay}:failures
--   KEYS[2]  is there while the breaker is open, as in breaker:{pay}:open
--   KEYS[3]  the token of whoever tries, as in breaker:{pay}:trial
--   ARGV[1]  the caller's token, not empty
--   ARGV[2]  how many failures open it, from 1 to 10000
--   ARGV[3]  the time for a trial in milliseconds, from 1 to 3600000 (an hour)
--
-- Replies {1, 0}, {1, 1} for a trial, or {0, milliseconds to wait}; breaker_report tells how the call went.
--
--!contract breaker_allow
--!key   failures   string int(0, 1000000) optional ro
--!key   open       string bytes optional ro
--!key   trial      string bytes optional rw ttl=set
--!argv  token      token
--!argv  threshold  int(1, 10000)
--!argv  time       int(1, 3600000)
--!error arity, token   "Expected three keys, token, threshold and time"
--!error threshold      "Threshold must be an integer from 1 to 10000"
--!error time           "Time must be an integer from 1 to 3600000"
--!error failures.type  WRONGTYPE
--!error failures       "The failures are no count"
--!error open.type      WRONGTYPE
--!error trial.type     WRONGTYPE
--!reply [1, int(0, 1)] | [0, int(-1, 9007199254740991)]
--!case exists(open)                      => [0, pttl(open)]
--!case default(failures, 0) < threshold  => [1, 0]
--!case not exists(trial) => [1, 1] ; trial = token, pttl(trial) = time
--!case trial == token    => [1, 1] ; pttl(trial) = time
--!case else              => [0, pttl(trial)]
--!instructions 150

if #KEYS ~= 3 or #ARGV ~= 3 or ARGV[1] == "" then
  return redis.error_reply("Expected three keys, token, threshold and time")
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

local token, threshold, given = ARGV[1], integer(ARGV[2], 1, 10000), integer(ARGV[3], 1, 3600000)
if not threshold then
  return redis.error_reply("Threshold must be an integer from 1 to 10000")
end
if not given then
  return redis.error_reply("Time must be an integer from 1 to 3600000")
end
local failures = integer(redis.call("GET", KEYS[1]) or "0", 0, 1000000)
if not failures then
  return redis.error_reply("The failures are no count")
end
local open, trial = redis.call("GET", KEYS[2]), redis.call("GET", KEYS[3])

if open then
  return {0, redis.call("PTTL", KEYS[2])}
end
if failures < threshold then
  return {1, 0}
end
if trial and trial ~= token then
  return {0, redis.call("PTTL", KEYS[3])}
end
redis.call("SET", KEYS[3], token, "PX", given)
return {1, 1}
