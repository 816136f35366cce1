-- Writes a value, if the one that is there is the one that the caller has seen.
--
--   KEYS[1]  the value, as in config:{app}; its expiry stays
--   ARGV[1]  what the caller has seen
--   ARGV[2]  the new value
--
-- Replies {1, the new value} or {0, the value that is there, null when there is none}.
--
--!contract compare_and_set
--!key   value  string bytes optional rw ttl=kept
--!argv  seen   bytes
--!argv  text   bytes
--!error arity       "Expected one key, the value seen and the new one"
--!error value.type  WRONGTYPE
--!reply [1, bytes] | [0, nil | bytes]
--!case value == seen => [1, text] ; value = text
--!case else          => [0, value]
--!writes value when reply[1] == 1
--!instructions 40

if #KEYS ~= 1 or #ARGV ~= 2 then
  return redis.error_reply("Expected one key, the value seen and the new one")
end

local value = redis.call("GET", KEYS[1])
if value ~= ARGV[1] then
  return {0, value}
end
redis.call("SET", KEYS[1], ARGV[2], "KEEPTTL")
return {1, ARGV[2]}
