-- recursion without an end
local function f() return 1 + f() end
return pcall(f)
