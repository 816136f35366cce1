-- __call through tables that are called through tables
local f = function() return 1 end
for _ = 1, 300 do f = setmetatable({}, {__call = f}) end
return pcall(f)
