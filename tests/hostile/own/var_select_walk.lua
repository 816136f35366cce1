-- a walk through arguments by select: quadratic in plain sight
local t = {} for i = 1, 7900 do t[i] = i end
local function walk(...) local s = 0 for i = 1, select('#', ...) do s = s + select(i, ...) end return s end
while true do walk(unpack(t)) end
