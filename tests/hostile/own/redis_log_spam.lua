-- redis.log without end, with long texts
local s = ('x'):rep(1000000)
while true do redis.log(redis.LOG_WARNING, s, 'a\r\nb\0c', 1, true) end
