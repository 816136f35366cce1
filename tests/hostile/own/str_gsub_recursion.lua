-- gsub in its own callback, as deep as it goes
local function f() return (('x'):gsub('x', f)) end
return f()
