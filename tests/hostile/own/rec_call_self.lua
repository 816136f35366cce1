-- __call that is the table itself
local t = {} setmetatable(t, {__call = t})
return pcall(t)
