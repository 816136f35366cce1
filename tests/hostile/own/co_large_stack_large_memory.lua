-- a burst of memory inside a coroutine inside a coroutine
local function f() local t = {} while true do t[#t + 1] = ('x'):rep(10000) .. #t end end
return coroutine.resume(coroutine.create(function() return coroutine.resume(coroutine.create(f)) end))
