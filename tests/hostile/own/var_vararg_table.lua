-- the old table of arguments, arg
local function f(...) return arg, select('#', ...) end
return {pcall(f, 1, 2, 3), pcall(function(...) return #arg end, 1, 2)}
