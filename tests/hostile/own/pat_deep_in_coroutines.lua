-- the deepest pattern at the bottom of the deepest stack of coroutines
local function deep(n) if n == 0 then return pcall(string.find, ('a'):rep(1000), ('a?'):rep(190) .. 'b') end return coroutine.wrap(deep)(n - 1) end
return deep(150)
