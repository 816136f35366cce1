-- __newindex that leads to itself
local t = {} setmetatable(t, {__newindex = t})
return pcall(function() t.x = 1 end)
