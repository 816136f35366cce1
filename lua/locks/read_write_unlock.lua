-- Gives a lock back that the caller holds for reading or for writing.
--
--   KEYS[1]  the writer's token, as in rw:{doc:7}:writer
--   KEYS[2]  the readers: a sorted set by the end of their time, as in rw:{doc:7}:readers
--   ARGV[1]  the caller's token, not empty
--
-- Replies 1 when the caller held it, 0 when it did not, or its time was over. The time is the server's.
--
--!contract read_write_unlock
--!key   writer   string bytes optional rm
--!key   readers  zset optional rw rm ttl=kept
--!argv  token    token
--!error arity, token  "Expected two keys and a non-empty token"
--!error writer.type   WRONGTYPE
--!error readers.type  WRONGTYPE
--!reply int(0, 1)
--!case writer == token                         => 1 ; del writer, change readers
--!case default(score(readers, token), 0) > now => 1 ; change readers
--!case not exists(readers)                     => 0
--!case else                                    => 0 ; change readers
--!writes writer when reply == 1
--!writes readers
--!instructions 90

if #KEYS ~= 2 or #ARGV ~= 1 or ARGV[1] == "" then
  return redis.error_reply("Expected two keys and a non-empty token")
end

local writer = redis.call("GET", KEYS[1])
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- A reader whose time is over reads no longer.
redis.call("ZREMRANGEBYSCORE", KEYS[2], "-inf", now)
local read = redis.call("ZREM", KEYS[2], ARGV[1])
if writer == ARGV[1] then
  return redis.call("DEL", KEYS[1])
end
return read
