-- a dead function of coroutine.wrap called without end
local f = coroutine.wrap(function() end) f()
while true do pcall(f) end
