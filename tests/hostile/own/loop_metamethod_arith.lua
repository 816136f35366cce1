-- a loop inside a metamethod of arithmetic inside a comparison of sort
local mt = {__add = function() while true do end end}
table.sort({1, 2, 3}, function(a, b) return (setmetatable({}, mt) + 1) end)
