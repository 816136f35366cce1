-- SUNIONSTORE makes a set of thousands by a few bytes, again and again, which nobody counts
local a = {} for i = 1, 7000 do a[i] = 'member of a set that is stored in many places ' .. i end
redis.call('SADD', 's', unpack(a))
for i = 1, 300 do redis.call('SUNIONSTORE', 'd' .. i, 's') redis.call('SINTERSTORE', 'e' .. i, 's', 's') end
return redis.call('DBSIZE')
