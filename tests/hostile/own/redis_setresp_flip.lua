-- redis.setresp before each call, and with what is no version
redis.call('HSET', 'h', 'a', '1') redis.call('SADD', 's', 'm') redis.call('ZADD', 'z', '1.5', 'm')
local r = {}
for _, v in ipairs({3, 2, 3, 4, 0, -1, 2 ^ 32 + 3, '3', '2', 'x', {}, 0 / 0}) do
  r[#r + 1] = tostring(pcall(redis.setresp, v))
  r[#r + 1] = {redis.call('HGETALL', 'h'), redis.call('SMEMBERS', 's'), redis.call('ZSCORE', 'z', 'm'), redis.call('GET', 'no')}
end
return {r, pcall(redis.setresp), pcall(redis.setresp, 2, 3)}
