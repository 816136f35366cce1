-- one instruction joins two hundred strings
local s = ('x'):rep(70000)
while true do local r = s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s end
