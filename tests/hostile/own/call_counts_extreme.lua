-- counts at the ends of every integer type
redis.call('SADD', 's', 1, 2, 3) redis.call('HSET', 'h', 'a', 1) redis.call('ZADD', 'z', 1, 'a') redis.call('RPUSH', 'l', 1, 2, 3)
local r = {}
for _, n in ipairs({'9223372036854775807', '-9223372036854775808', '-9223372036854775807', '4294967296', '2147483648', '-1', '0', '1e18', 'nan'}) do
  for _, c in ipairs({{'SRANDMEMBER', 's', n}, {'HRANDFIELD', 'h', n}, {'ZRANDMEMBER', 'z', n}, {'SPOP', 's', n}, {'LPOP', 'l', n}, {'LRANGE', 'l', n, n}, {'GETRANGE', 'k', n, n}, {'SETRANGE', 'k', n, ''}, {'ZRANGE', 'z', n, n}, {'LINDEX', 'l', n}, {'LTRIM', 'l', n, n}, {'BITCOUNT', 'k', n, n}, {'INCRBY', 'n' .. n, n}, {'EXPIRE', 'l', n}, {'SCAN', n}, {'XRANGE', 'x', n, n}, {'ZPOPMIN', 'z', n}}) do r[#r + 1] = type(redis.pcall(unpack(c))) end
end
return #r
