if redis.call("HSETNX", KEYS[1], "owner", ARGV[1]) == 0 or redis.call("SADD", KEYS[2], ARGV[1]) == 0 then
  return 0
end
local r = redis.pcall("INCRBY", KEYS[3], ARGV[2])
if r.err then return r end
return r
