-- COPY shares a long string, APPEND makes it another one of the same length, which nobody counts
redis.call('SETRANGE', 'k', 50000000, 'x')
for i = 1, 10 do redis.call('COPY', 'k', 'd' .. i) redis.call('APPEND', 'd' .. i, 'x') end
return redis.call('DBSIZE')
