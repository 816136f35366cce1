-- arithmetic reads a number from a string of millions of digits, again and again
local digits = ('7'):rep(15000000)
local n = 0
while true do n = n + (digits + 1) end
