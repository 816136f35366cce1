-- redis.log of one text of megabytes, many times in one call: the line is put together outside of Lua's memory before it is cut
local s = ('x'):rep(16000000)
local t = {} for i = 1, 60 do t[i] = s end
redis.log(redis.LOG_WARNING, unpack(t))
return 1
