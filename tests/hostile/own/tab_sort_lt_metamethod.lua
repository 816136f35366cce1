-- table.sort with __lt that does not end
local mt = {__lt = function() while true do end end}
table.sort({setmetatable({}, mt), setmetatable({}, mt), setmetatable({}, mt)})
