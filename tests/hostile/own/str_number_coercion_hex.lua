-- tonumber reads millions of hexadecimal digits, again and again
local digits = ('f'):rep(15000000)
while true do tonumber(digits, 16) end
