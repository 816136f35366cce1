-- the same in hexadecimal, through tonumber with a base
local digits = ('f'):rep(15000000)
while true do tonumber(digits, 16) end
