-- one argument of megabytes, thousands of times in one call
local s, t = ('x'):rep(8000000), {}
for i = 1, 500 do t[i] = s end
return pcall(redis.call, 'RPUSH', 'l', unpack(t))
