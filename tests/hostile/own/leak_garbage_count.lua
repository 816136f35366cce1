-- garbage of one script, which the next one collects (then: collectgarbage() and what count says of a string made after)
local t = {} for i = 1, 9000 do t[i] = ('x'):rep(50) .. i end return #t
