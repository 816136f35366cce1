-- __gc on tables, which this Lua does not call
local n = 0
for i = 1, 1000 do setmetatable({}, {__gc = function() n = n + 1 while true do end end}) end
collectgarbage() collectgarbage()
return n
