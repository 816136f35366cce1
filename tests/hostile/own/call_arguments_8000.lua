-- redis.call with as many arguments as the stack holds
local t = {} for i = 1, 7998 do t[i] = i end
return {pcall(redis.call, 'RPUSH', 'l', unpack(t, 1, 7990)), redis.call('LLEN', 'l'), pcall(redis.call, 'MSET', unpack(t, 1, 7990)), pcall(redis.call, unpack(t, 1, 7990))}
