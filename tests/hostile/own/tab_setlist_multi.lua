-- a constructor that ends in thousands of results, inside another
local t = {} for i = 1, 7900 do t[i] = i end
local function all() return unpack(t) end
local big = {}
while true do big = {all(), big, all()} end
