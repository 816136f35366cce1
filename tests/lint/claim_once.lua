local key, done, token = KEYS[1], KEYS[2] or KEYS[1], ARGV[1]
local fresh = redis.call("SETNX", key, token)
if fresh ~= 1 then
  if redis.call("GET", key) ~= token then return redis.error_reply("ERR owned by another") end
  return 0
end
if tonumber(redis.call("EXPIRE", key, ARGV[2])) < 1 then
  return 0
end
local added = redis.pcall("SADD", done, token)
if type(added) ~= "number" then
  redis.call("DEL", key)
  return added
end
return added
