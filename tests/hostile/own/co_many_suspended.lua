-- coroutines left suspended in great number
local kept = {}
while true do local co = coroutine.create(function(...) local t = {...} while true do coroutine.yield(t) end end) coroutine.resume(co, 1, 2, 3) kept[#kept + 1] = co end
