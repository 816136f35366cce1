-- __tostring that asks for itself
local t t = setmetatable({}, {__tostring = function() return tostring(t) end})
return pcall(tostring, t)
