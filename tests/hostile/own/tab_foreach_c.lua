-- table.foreach and foreachi with functions of C, which no hook sees
local t = {} for i = 1, 1000000 do t[i] = i end
while true do table.foreachi(t, redis.debug) table.foreach(t, redis.debug) end
