-- Tells a circuit breaker how a call went (breaker_allow): a success closes it, and so many failures in a row open it.
--
--   KEYS[1]  failures in a row, as in breaker:{pay}:failures
--   KEYS[2]  is there while the breaker is open, as in breaker:{pay}:open
--   KEYS[3]  the token of whoever tries, as in breaker:{pay}:trial
--   ARGV[1]  "success" or "failure"
--   ARGV[2]  how many failures open it, from 1 to 10000
--   ARGV[3]  for how long in milliseconds, from 1 to 3600000 (an hour)
--   ARGV[4]  for how long failures count in milliseconds, from 1 to 86400000 (a day): longer than it is open
--   ARGV[5]  the caller's token, not empty: while the breaker is open or tried, only the one who tries is heard
--
-- Replies the failures in a row.
--
--!contract breaker_report
--!key   failures   string int(0, 1000000) optional rw rm ttl=set
--!key   open       string bytes optional rw rm ttl=set
--!key   trial      string bytes optional rm
--!argv  how        one_of("success", "failure")
--!argv  threshold  int(1, 10000)
--!argv  time       int(1, 3600000)
--!argv  keep       int(1, 86400000)
--!argv  token      token
--!error arity, token   "Expected three keys, outcome, threshold, two times and token"
--!error how            "The outcome is success or failure"
--!error threshold      "Threshold must be an integer from 1 to 10000"
--!error time           "Time must be an integer from 1 to 3600000"
--!error keep           "The time for failures must be an integer from 1 to 86400000"
--!error failures.type  WRONGTYPE
--!error failures       "The failures are no count"
--!error open.type      WRONGTYPE
--!error trial.type     WRONGTYPE
--!reply int(0, 1000000)
--!case keep <= time => error "Failures must count for longer than the breaker is open"
--!case (exists(open) or exists(trial)) and not trial == token => default(failures, 0)
--!case how == "success" => 0 ; del failures, del open, del trial
--!case default(failures, 0) == 1000000 => error "The failures are used up"
--!case default(failures, 0) + 1 >= threshold =>
--!     default(failures, 0) + 1 ; failures = default(failures, 0) + 1, pttl(failures) = keep,
--!     open = "1", pttl(open) = time, del trial
--!case else => default(failures, 0) + 1 ; failures = default(failures, 0) + 1, pttl(failures) = keep
--!instructions 210

if #KEYS ~= 3 or #ARGV ~= 5 or ARGV[5] == "" then
  return redis.error_reply("Expected three keys, outcome, threshold, two times and token")
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

local how = ARGV[1]
if how ~= "success" and how ~= "failure" then
  return redis.error_reply("The outcome is success or failure")
end
local threshold, given, keep = integer(ARGV[2], 1, 10000), integer(ARGV[3], 1, 3600000), integer(ARGV[4], 1, 86400000)
if not threshold then
  return redis.error_reply("Threshold must be an integer from 1 to 10000")
end
if not given then
  return redis.error_reply("Time must be an integer from 1 to 3600000")
end
if not keep then
  return redis.error_reply("The time for failures must be an integer from 1 to 86400000")
end
local failures = integer(redis.call("GET", KEYS[1]) or "0", 0, 1000000)
if not failures then
  return redis.error_reply("The failures are no count")
end
local open, trial = redis.call("GET", KEYS[2]), redis.call("GET", KEYS[3])
if keep <= given then
  return redis.error_reply("Failures must count for longer than the breaker is open")
end

if (open or trial) and trial ~= ARGV[5] then
  return failures
end
if how == "success" then
  redis.call("DEL", KEYS[1], KEYS[2], KEYS[3])
  return 0
end
if failures == 1000000 then
  return redis.error_reply("The failures are used up")
end
failures = failures + 1
redis.call("SET", KEYS[1], failures, "PX", keep)
if failures >= threshold then
  redis.call("SET", KEYS[2], "1", "PX", given)
  redis.call("DEL", KEYS[3])
end
return failures
