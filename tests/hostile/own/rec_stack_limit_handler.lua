-- the stack overflows, and the handler overflows it again
local function f() f() end
return xpcall(f, function(e) f() return e end)
