-- table.sort with functions of C as its order
local t = {} for i = 1, 200000 do t[i] = i % 100 end
for _, f in ipairs({rawequal, next, select, tostring, redis.breakpoint, math.max}) do pcall(table.sort, t, f) end
while true do table.sort(t, rawequal) end
