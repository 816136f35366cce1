-- two coroutines that resume each other in turn, as far as it goes
local a, b
a = coroutine.create(function() while true do coroutine.resume(b) coroutine.yield() end end)
b = coroutine.create(function() while true do pcall(coroutine.resume, a) coroutine.yield() end end)
while true do coroutine.resume(a) end
