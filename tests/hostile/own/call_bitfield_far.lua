-- BITFIELD makes strings of half a gigabyte by a few bytes, which nobody counts
for i = 1, 4 do redis.call('BITFIELD', 'k' .. i, 'SET', 'u8', '#536870910', 1) end
return redis.call('DBSIZE')
