-- string.format with thousands of short directives for numbers that take long to print
local t = {} for i = 1, 7000 do t[i] = 1.7e308 end
local f = ('%.9g'):rep(7000)
while true do string.format(f, unpack(t)) end
