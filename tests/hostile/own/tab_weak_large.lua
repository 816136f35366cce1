-- one weak table with all there is in it, and the collector
local t = setmetatable({}, {__mode = 'kv'})
for i = 1, 500000 do t[i] = {} end
while true do collectgarbage() for i = 1, 1000 do t[i] = {} end end
