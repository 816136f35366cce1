-- gsub with a table whose __index runs code without end
local t = setmetatable({}, {__index = function(t, k) while true do end end})
return string.gsub('abc', '%w', t)
