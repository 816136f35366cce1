-- comparisons that compare themselves
local mt = {} mt.__eq = function(a, b) return a == b end mt.__lt = function(a, b) return a < b end mt.__le = function(a, b) return a <= b end
local a, b = setmetatable({}, mt), setmetatable({}, mt)
return {pcall(function() return a == b end), pcall(function() return a < b end), pcall(function() return a <= b end)}
