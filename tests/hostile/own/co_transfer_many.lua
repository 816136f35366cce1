-- thousands of values through resume and yield, without end
local t = {} for i = 1, 7000 do t[i] = i end
local co = coroutine.wrap(function(...) while true do coroutine.yield(unpack(t)) end end)
while true do co(unpack(t)) end
