-- a replacement table that is emptied by its own __index, with the collector
local r = setmetatable({}, {__index = function(t, k) for x in pairs(t) do t[x] = nil end collectgarbage() return k:rep(3) end})
return {(('abc'):rep(100):gsub('.', r))}
