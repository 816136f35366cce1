-- steps of the collector with every argument
local t = {} for i = 1, 200000 do t[i] = {} end
while true do for _, n in ipairs({0, 1, 100, 1e6, 2 ^ 31 - 1, -1, -2 ^ 31}) do collectgarbage('step', n) end end
