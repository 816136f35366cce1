-- a value that doubles until it is refused
redis.call('SET', 'k', ('x'):rep(1000000))
for i = 1, 30 do local v = redis.pcall('GET', 'k') if type(v) ~= 'string' then return v end redis.pcall('APPEND', 'k', v) end
return redis.call('STRLEN', 'k')
