-- a table whose keys are all dead
local t = {}
while true do for i = 1, 100000 do t[i .. 'k'] = true t[i .. 'k'] = nil end end
