-- closures in great number, each with upvalues of its own
local t = {}
while true do local a, b, c, d, e = 1, 2, 3, 4, 5 t[#t + 1] = function() return a, b, c, d, e end end
