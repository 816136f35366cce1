-- out of memory while a reply of a command is turned into tables
for i = 1, 100 do redis.call('RPUSH', 'l', unpack({('v'):rep(10000) .. i, ('w'):rep(10000) .. i})) end
local kept = {}
while true do kept[#kept + 1] = redis.call('LRANGE', 'l', 0, -1) end
