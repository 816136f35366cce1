-- __index that looks for what it is called for
local t = setmetatable({}, {__index = function(t, k) return t[k] end})
return pcall(function() return t.x end)
