-- an error in the handler of an error in the handler, at the limit of the stack
local function f() error(setmetatable({}, {__tostring = error})) end
local function deep(n) if n == 0 then return xpcall(f, f) end return xpcall(deep, f) end
return deep(10)
