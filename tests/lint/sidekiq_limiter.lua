local key = KEYS[1]
local limit, ttl, id, now = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
redis.call("ZREMRANGEBYSCORE", key, "-inf", now - ttl)
local size = redis.call("ZCARD", key)
if size >= limit then
  local oldest = redis.call("ZRANGE", key, 0, 0, "WITHSCORES")
  return tonumber(oldest[2]) + ttl - now
end
if redis.call("ZADD", key, "NX", now, id) == 0 then
  return -1
end
redis.call("EXPIRE", key, ttl)
return 0
