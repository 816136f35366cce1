-- gsub whose callback runs gsub on what it is called for
local depth = 0
local function f(c) depth = depth + 1 if depth > 5000 then return c end return (c:gsub('.', f)) end
return #(('ab'):rep(100):gsub('.', f))
