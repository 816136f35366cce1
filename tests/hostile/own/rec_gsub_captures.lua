-- gsub with as many captures as there may be, in its own callback
local function r() return (('x'):gsub(('('):rep(31) .. 'x' .. (')'):rep(31), r)) end
return {tostring(pcall(r))}
