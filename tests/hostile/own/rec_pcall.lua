-- recursion through pcall: the limit is that of calls of C
local function f() return pcall(f) end
return f()
