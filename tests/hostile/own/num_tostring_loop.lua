-- numbers to text and back without end
local n = 0.1
while true do n = tonumber(tostring(n * 1.1)) if n > 1e300 then n = 0.1 end end
