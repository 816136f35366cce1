-- patterns of KEYS and SCAN with more ways than there is time for
for i = 1, 50 do redis.call('SET', ('a'):rep(1000) .. i, 1) end
redis.call('KEYS', ('*a'):rep(200) .. 'b') redis.call('KEYS', ('*?'):rep(20000)) redis.call('KEYS', ('['):rep(10000)) redis.call('SCAN', 0, 'MATCH', ('*a'):rep(100) .. 'b', 'COUNT', 1000)
return 1
