-- pcall, xpcall and coroutines that try to swallow the end of the budget
local function swallow(f) for _ = 1, 1e9 do pcall(f) xpcall(f, function() f() end) coroutine.resume(coroutine.create(f)) end end
swallow(function() swallow(function() while true do end end) end)
