-- a tail call that passes hundreds of thousands of arguments on and on
local function grow(n, ...) if n == 0 then return ... end return grow(n - 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ...) end
local function f(...) return f(...) end
return f(grow(3000))
