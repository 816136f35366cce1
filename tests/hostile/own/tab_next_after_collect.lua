-- next with a key that the collector has cleared
local t = setmetatable({}, {__mode = 'k'})
for i = 1, 100 do t[{}] = i end
local k = next(t) local n = 0
while k and n < 1000 do n = n + 1 local last = k k = nil t[last] = nil last = nil collectgarbage() k = next(t) end
return n
