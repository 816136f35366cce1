-- weak tables in great number, which the collector visits twice in one go
local t = {}
for i = 1, 1e9 do t[#t + 1] = setmetatable({{}}, {__mode = i % 2 == 0 and 'k' or 'v'}) end
