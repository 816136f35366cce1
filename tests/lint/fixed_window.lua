local current = redis.call("INCRBY", KEYS[1], ARGV[3] or 1)
if current == 1 or redis.call("PTTL", KEYS[1]) < 0 then
  redis.call("PEXPIRE", KEYS[1], ARGV[2])
end
if current > tonumber(ARGV[1]) then
  return { 0, redis.call("PTTL", KEYS[1]) }
end
return { 1, tonumber(ARGV[1]) - current }
