-- a plain find that fails at each of millions of places after fifteen bytes: less than one unit each, so none
local s, needle = ('a'):rep(16000000), ('a'):rep(15) .. 'b'
while true do s:find(needle, 1, true) end
