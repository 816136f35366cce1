-- string.byte pushes thousands of results for one instruction
local s = ('a'):rep(7900)
while true do local n = select('#', s:byte(1, -1)) end
